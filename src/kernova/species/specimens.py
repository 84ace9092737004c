"""Tests of single specimens: whether each is of a known group, and the sample as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import pairwise_distances_argmin

from kernova.calibration.p_values import conformal_p_values, rank_sum_p_value, select_discoveries
from kernova.errors import InputError
from kernova.shapes.landmarks import Landmarks
from kernova.species.inputs import check_enough
from kernova.species.space import SpeciesSettings
from kernova.species.splits import Labels, Split, fit_split, scores_in_group, split_in_half
from kernova.species.study import check_groups, check_shapes
from kernova.species.verdicts import NEW, USUAL, format_rate
from kernova.text import plural, quantity
from kernova.typing import Vector


class WholeSample(NamedTuple):
    """The test of all new specimens as one sample."""

    p_value: float  # of held-out known specimens as novel, by the rank-sum test
    is_more_novel: bool  # whether it is at most the level, one minus the confidence
    low_p_values: int  # number of specimens whose own p-value is at most the level
    low_p_values_expected: float  # the same, of specimens of the known groups
    sentence: str


@dataclass(frozen=True)
class SpecimenTests:
    """Tests of new specimens, one by one."""

    # One line per new specimen, in the input's order: ``id``; ``novelty``, high where it is unlike
    # the reference specimens; ``p_value``, the probability that a specimen of the known groups is
    # as novel; ``verdict``, "new" where the false discovery rate allows it and else "usual";
    # ``closest``, the group of the nearest reference specimen, and ``closest_p_value`` against that
    # group alone (1 where it is too small to test).
    rows: pd.DataFrame
    known: Landmarks  # the known specimens and the new ones
    new: Landmarks
    groups: Labels  # the groups of the known specimens
    split: Split  # all specimens, known ones first, in the space of the reference half
    settings: SpeciesSettings  # the settings of the tests

    @property
    def n_new(self) -> int:
        """Number of specimens called new."""
        return int((self.rows["verdict"] == NEW).sum())

    @property
    def whole_sample(self) -> "WholeSample":
        """The sample as a whole, whose single specimens may each be ordinary."""
        level = 1 - self.settings.confidence
        n_rows, n_low = len(self.rows), int((self.rows["p_value"] <= level).sum())
        p_value = rank_sum_p_value(self.split.holdout_scores, self.split.unknown_scores)
        is_unusual = p_value <= level
        sentence = (
            f"As a whole, the sample is {'more novel than' if is_unusual else 'as novel as'} held-"
            f"out known specimens (rank-sum test of novelty, p-value {format_rate(p_value)}): "
            f"{n_low} of {quantity(n_rows, 'specimen')} {plural(n_low, 'has', 'have')} a p-value "
            f"of {format_rate(level)} or less, where about {level * n_rows:.3g} "
            f"{plural(round(level * n_rows), 'is', 'are')} expected of known groups mixed as in "
            f"{self.known.source}."
        )
        return WholeSample(p_value, is_unusual, n_low, level * n_rows, sentence)

    @property
    def notes(self) -> list[str]:
        """Limitations of the result, as sentences."""
        n_holdout, n_rows = len(self.split.holdout), len(self.rows)
        smallest = 1 / (n_holdout + 1)
        notes = []
        if n_rows and smallest > self.settings.false_discovery_rate / n_rows:
            fewest = int(np.ceil(n_rows * smallest / self.settings.false_discovery_rate))
            notes.append(
                f"{n_holdout} held-out specimens give no p-value below {smallest:.3g}: at a false "
                f"discovery rate of {self.settings.false_discovery_rate:g}, specimens are called "
                f"new only where {fewest} or more of the {n_rows} stand out together."
            )
        return notes


def judge_specimens(
    known: Landmarks,
    groups: Sequence[str],
    new: Landmarks,
    settings: SpeciesSettings | None = None,
) -> SpecimenTests:
    """Test each new specimen against the known groups, with one split for all of them.

    Half of the known specimens are held out to calibrate p-values.

    Parameters
    ----------
    known : Landmarks
        Specimens of known groups.
    groups : sequence of str
        Their groups.
    new : Landmarks
        Specimens with the same landmarks.
    settings : SpeciesSettings, optional
        The settings; by default those of the class.
    """
    settings = settings or SpeciesSettings()
    labels = check_groups(known, groups)
    if known.coordinates.shape[1:] != new.coordinates.shape[1:]:
        raise InputError(
            f"The known specimens ({known.source}) have {known.n_landmarks} landmarks of "
            f"{known.n_dimensions} coordinates, but the new ones ({new.source}) have "
            f"{new.n_landmarks} of {new.n_dimensions}. Digitise the same landmarks."
        )
    check_enough(labels.tolist())
    check_shapes(new)
    coordinates = np.concatenate([known.coordinates, new.coordinates])
    # New specimens get a label that no known one has, so that they take no part in the split.
    all_labels = np.concatenate([labels, np.full(len(new), "")])
    rows = np.arange(len(coordinates))
    halves = split_in_half(all_labels, rows[: len(known)], settings.seed, 0)
    ids = (*known.ids, *new.ids)
    split = fit_split(coordinates, all_labels, halves, rows[len(known) :], settings, ids)
    lines = _lines(split, all_labels, new.ids, settings)
    return SpecimenTests(lines, known, new, labels, split, settings)


def _lines(
    split: Split, groups: Labels, ids: Sequence[str], settings: SpeciesSettings
) -> pd.DataFrame:
    p_values = conformal_p_values(split.holdout_scores, split.unknown_scores)
    is_new = select_discoveries(p_values, settings.false_discovery_rate)
    closest = _closest(split, groups, settings)
    return pd.DataFrame(
        {
            "id": list(ids),
            "novelty": -split.unknown_scores,
            "p_value": p_values,
            "verdict": np.where(is_new, NEW, USUAL),
            "closest": closest.groups,
            "closest_p_value": closest.p_values,
        }
    )


class _Closest(NamedTuple):
    groups: Labels
    p_values: Vector


def _closest(split: Split, groups: Labels, settings: SpeciesSettings) -> _Closest:
    """Return the group of the nearest reference specimen, and the p-values against it alone."""
    rows = split.placed.rows
    nearest = pairwise_distances_argmin(rows[split.unknown], rows[split.reference])
    closest = groups[split.reference[nearest]]
    p_values = np.ones(len(closest))
    known = np.concatenate([split.reference, split.holdout])
    for group in np.unique(closest):
        if np.count_nonzero(groups[known] == group) < settings.least_group:
            continue  # too few to test against
        is_closest = closest == group
        scores = scores_in_group(split, groups, group, split.unknown[is_closest])
        p_values[is_closest] = conformal_p_values(scores.holdout, scores.queries)
    return _Closest(closest, p_values)

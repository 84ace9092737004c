"""Species studies: whether a group of specimens is new, from landmarks, with error rates.

One group is held out as unknown, and compared with each known group: as a sample, by permutation
tests, and specimen by specimen, by a discriminant. For the novelty scores, the known groups are
repeatedly split into reference and held-out specimens; alignment, components and score are learnt
from the reference alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.errors import InputError, quoted
from kernova.progress import track
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import shapeless_rows
from kernova.species.covariates import Covariates
from kernova.species.inputs import check_enough, check_unknown
from kernova.species.pairs import Comparisons, comparisons_of
from kernova.species.space import SpeciesSettings
from kernova.species.splits import (
    Labels,
    Split,
    fit_split,
    pair_lines,
    pooled_line,
    split_in_half,
)
from kernova.species.verdicts import Verdict, is_masked, verdict_on, word_on_single_specimens
from kernova.text import quantity
from kernova.typing import Indices, Mask


@dataclass(frozen=True)
class UnknownStudy:
    """The study of one group, held out as unknown."""

    unknown: str  # the name of the group
    landmarks: Landmarks  # all specimens
    groups: Labels  # the group of each
    # One line per split, all known groups pooled: ``e_star``, ``detection_rate``,
    # ``false_alarm_bound``, ``threshold``, ``equal_error_rate``, ``auroc``, and exact bounds.
    halvings: pd.DataFrame
    # One line per known group, compared alone, hardest to distinguish first: ``status`` and
    # ``p_value`` of the permutation test, ``adjusted_p_value``, ``distance`` and others of it;
    # ``error`` of the discriminant with its interval, which is the same from both sides; and
    # ``novelty_error``, the equal error rate of the unknown's novelty among that group alone.
    pairs: pd.DataFrame
    not_compared: tuple[str, ...]  # known groups that are too small to compare
    verdict: Verdict  # the verdict on the group
    first: Split  # all specimens in the space of the first split, for pictures
    comparisons: Comparisons  # all specimens, aligned together
    settings: SpeciesSettings  # the settings of the study

    @property
    def n_unknown(self) -> int:
        """Number of unknown specimens."""
        return len(self.first.unknown)

    @property
    def summary(self) -> dict[str, Any]:
        """Means over the splits with their spreads, and the verdict, as one line of a table."""
        means = mean_and_spread(self.halvings)
        closest = self.pairs.iloc[0].to_dict() if len(self.pairs) else {}
        worst = float(self.pairs["novelty_error"].max()) if len(self.pairs) else 1.0
        return {
            "unknown": self.unknown,
            "specimens": self.n_unknown,
            "verdict": self.verdict.kind,
            "closest": self.verdict.closest or "",
            "p_value": self.verdict.p_value,
            **{name: closest.get(name, np.nan) for name in ("error", "error_low", "error_high")},
            "single_specimens": closest.get("single_specimens", ""),
            **means,
            "worst_novelty_error": worst,
            "is_masked": is_masked(means["equal_error_rate"], worst, self.settings.largest_error),
        }


@dataclass(frozen=True)
class EachStudy:
    """The studies of all groups, each held out as unknown in turn.

    ``too_small`` are groups with fewer specimens than required; they are known in every study.
    """

    studies: tuple[UnknownStudy, ...]
    too_small: tuple[str, ...]

    @property
    def summary(self) -> pd.DataFrame:
        """One line per group: e*, errors, closest group, verdict."""
        return pd.DataFrame([study.summary for study in self.studies])

    @property
    def pairs(self) -> pd.DataFrame:
        """One line per pair of an unknown and a known group."""
        parts = [study.pairs.assign(unknown=study.unknown) for study in self.studies]
        return pd.concat(parts, ignore_index=True)

    @property
    def matrix(self) -> pd.DataFrame:
        """Errors of discriminants between any two groups, symmetric; NaN on the diagonal."""
        table = self.pairs.pivot_table(index="unknown", columns="known", values="error", sort=False)
        order = [study.unknown for study in self.studies]
        others = [name for name in table.columns if name not in order]
        table = table.reindex(index=order, columns=[*order, *sorted(others)])
        # A group too small to be compared with, as a known one, may still be held out.
        square = table[order]
        table[order] = square.where(square.notna(), square.T)
        return table


def study_unknown(
    landmarks: Landmarks,
    groups: Sequence[str],
    unknown: str,
    settings: SpeciesSettings | None = None,
    covariates: Covariates | None = None,
) -> UnknownStudy:
    """Hold out one group and test whether it is new among the others.

    Parameters
    ----------
    landmarks : Landmarks
        All specimens; missing landmarks are estimated.
    groups : sequence of str
        The group of each specimen.
    unknown : str
        The group to hold out.
    settings : SpeciesSettings, optional
        The settings; by default those of the class.
    covariates : Covariates, optional
        Sex, site and the like, to adjust for.
    """
    settings = settings or SpeciesSettings()
    labels = check_groups(landmarks, groups)
    check_unknown(unknown, labels.tolist())
    _check_several_groups(labels)
    check_enough(labels.tolist(), [unknown])
    comparisons = comparisons_of(landmarks, labels, settings, covariates or Covariates())
    return _study(landmarks, labels == unknown, unknown, comparisons)


def study_each(
    landmarks: Landmarks,
    groups: Sequence[str],
    settings: SpeciesSettings | None = None,
    covariates: Covariates | None = None,
    *,
    least_specimens: int = 1,
) -> EachStudy:
    """Hold out in turn each group that has ``least_specimens`` or more."""
    settings = settings or SpeciesSettings()
    labels = check_groups(landmarks, groups)
    _check_several_groups(labels)
    found, counts = np.unique(labels, return_counts=True)
    large = [str(name) for name in found[counts >= least_specimens]]
    if not large:
        raise InputError(
            f"No group has {least_specimens} specimens; the largest has {counts.max()}. Reduce "
            "least_specimens."
        )
    check_enough(labels.tolist(), large)
    comparisons = comparisons_of(landmarks, labels, settings, covariates or Covariates())
    studies = [
        _study(landmarks, labels == name, name, comparisons)
        for name in track(large, "groups held out")
    ]
    return EachStudy(tuple(studies), tuple(str(name) for name in found[counts < least_specimens]))


def _study(
    landmarks: Landmarks, is_unknown: Mask, unknown: str, comparisons: Comparisons
) -> UnknownStudy:
    groups, settings = comparisons.groups, comparisons.settings
    known_groups, counts = np.unique(groups[~is_unknown], return_counts=True)
    compared = [str(name) for name in known_groups[counts >= settings.least_group]]
    small = [str(name) for name in known_groups[counts < settings.least_group]]
    first, pooled, pairs = _all_splits(landmarks, groups, is_unknown, compared, settings)
    table = _pair_table(pairs, unknown, compared, comparisons)
    n_unknown = int(is_unknown.sum())
    verdict = verdict_on(unknown, n_unknown, mean_and_spread(pooled), table, small, settings)
    return UnknownStudy(
        unknown, landmarks, groups, pooled, table, tuple(small), verdict, first, comparisons,
        settings,
    )  # fmt: skip


class _Lines(NamedTuple):
    """The first split, and the errors of all splits: pooled, and against each group."""

    first: Split
    pooled: pd.DataFrame
    pairs: pd.DataFrame


def _all_splits(
    landmarks: Landmarks,
    groups: Labels,
    is_unknown: Mask,
    compared: list[str],
    settings: SpeciesSettings,
) -> _Lines:
    known: Indices = np.flatnonzero(~is_unknown)
    unknown: Indices = np.flatnonzero(is_unknown)
    pooled, pairs = [], []
    first = None
    for number in track(range(settings.halvings), "halvings"):
        halves = split_in_half(groups, known, settings.seed, number)
        split = fit_split(landmarks.coordinates, groups, halves, unknown, settings, landmarks.ids)
        first = first or split
        pooled.append({"halving": number + 1, **pooled_line(split, settings.confidence)})
        lines = pair_lines(split, groups, compared)
        pairs += [{"halving": number + 1, **line} for line in lines]
    assert first is not None  # there is at least one split
    return _Lines(first, pd.DataFrame(pooled), pd.DataFrame(pairs))


def _pair_table(
    novelty: pd.DataFrame, unknown: str, compared: list[str], comparisons: Comparisons
) -> pd.DataFrame:
    """Return one line per known group, hardest to distinguish first."""
    if not compared:
        return pd.DataFrame(columns=["known", "error", "p_value", "novelty_error"])
    settings = comparisons.settings
    lines = []
    for name in track(compared, "known groups"):
        pair = comparisons.compare(unknown, name)
        error = pair.discriminant
        lines.append(
            {
                "known": name,
                "specimens": int(np.count_nonzero(comparisons.groups == name)),
                **pair.line(),
                "single_specimens": word_on_single_specimens(
                    error.error, error.high, settings.largest_error
                ),
            }
        )
    by_group = novelty.drop(columns="halving").groupby("known", sort=False)
    means = by_group.mean()
    means["novelty_error_spread"] = by_group["novelty_error"].std(ddof=1).fillna(0.0)
    table = pd.DataFrame(lines).join(means, on="known")
    order = table.assign(nearness=-table["distance"])
    order = order.sort_values(["error", "error_high", "nearness"], ascending=False, kind="stable")
    return table.loc[order.index].reset_index(drop=True)


def mean_and_spread(halvings: pd.DataFrame) -> dict[str, float]:
    """Return means over the splits by name, and standard deviations by name with ``_spread``."""
    table = halvings.drop(columns="halving")
    means = {str(name): float(value) for name, value in table.mean().items()}
    spreads = {
        f"{name}_spread": float(table[name].std(ddof=1)) if len(table) > 1 else 0.0
        for name in ("e_star", "detection_rate", "equal_error_rate", "auroc")
    }
    return {**means, **spreads}


def check_groups(landmarks: Landmarks, groups: Sequence[str]) -> Labels:
    """Return the groups as an array of text; raise unless each specimen has a group and a shape."""
    labels = np.array([str(group) for group in groups], dtype=np.str_)
    if len(labels) != len(landmarks):
        raise InputError(
            f"There are {quantity(len(landmarks), 'specimen')} but "
            f"{quantity(len(labels), 'group')}; give one group per specimen."
        )
    check_shapes(landmarks)
    return labels


def check_shapes(landmarks: Landmarks) -> None:
    """Raise if a specimen has no shape; the message names the first."""
    shapeless = shapeless_rows(landmarks.coordinates)
    if len(shapeless):
        least = max(2, landmarks.n_dimensions)
        raise InputError(
            f"Specimen {quoted(landmarks.ids[shapeless[0]])} of {landmarks.source} has no shape: "
            f"it shows fewer than {least} landmarks, or all of them coincide. Leave it out."
        )


def _check_several_groups(labels: Labels) -> None:
    if len(np.unique(labels)) < 2:
        raise InputError(
            f"All specimens are of {quoted(str(labels[0]))}, so nothing is known to compare them "
            "with."
        )

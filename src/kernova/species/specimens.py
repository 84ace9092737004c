"""Tests of single specimens: whether each is of a known group, and whether it is digitised well.

A landmark's position is compared with the position expected from all the others. With the
precision P of aligned specimens (its prior on position, size and direction is flat), and a
specimen's deviation r from the consensus, landmark l lies P_ll^-1 (P r)_l from its expected
position, and the squared length of that in its own metric is (P r)_l' P_ll^-1 (P r)_l. Every
landmark is thus compared with an alignment without itself, and no such alignment is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import pairwise_distances_argmin

from kernova.calibration.p_values import conformal_p_values, select_discoveries
from kernova.errors import InputError
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.species.inputs import check_enough
from kernova.species.space import SpeciesSettings
from kernova.species.splits import Labels, Split, depths_in_group, fit_split, split_in_half
from kernova.species.study import check_groups, check_shapes
from kernova.species.verdicts import NEW, USUAL
from kernova.text import plural, quantity
from kernova.typing import Coordinates, Indices, Mask, Matrix, Vector

# A specimen is suspicious if at most this fraction of ordinary ones deviates as much.
_SUSPICIOUS = 0.01
# The entry of the column "digitising" for a specimen without a suspicious landmark.
_IN_ORDER = "in order"


class DigitisingCheck(NamedTuple):
    """Landmarks that deviate, one entry per specimen."""

    # The number, from 1, of the deviating landmark; 0 if there is none; shape (n,).
    landmark: Indices
    is_single: Mask  # whether all others are in order without that landmark; shape (n,)
    # The largest deviation of any landmark, in multiples of that landmark's median deviation; shape
    # (n,).
    deviation: Vector
    # The fraction of ordinary specimens with a deviation at least as large; shape (n,).
    p_value: Vector


def _check_digitising(
    procrustes: GeneralizedProcrustes, ordinary: Coordinates, questioned: Coordinates
) -> DigitisingCheck:
    """Find specimens with a misplaced landmark.

    Parameters
    ----------
    procrustes : GeneralizedProcrustes
        Fitted on specimens other than these.
    ordinary : ndarray of shape (m, p, d)
        Specimens that show how far landmarks usually deviate; a few misplaced landmarks are
        tolerated.
    questioned : ndarray of shape (n, p, d)
        Specimens to check.
    """
    expected = _landmark_deviations(procrustes, ordinary)
    typical = np.median(expected, axis=0)
    typical = np.where(typical > 0, typical, 1)
    calibration = np.sort((expected / typical).max(axis=1))
    deviation = (_landmark_deviations(procrustes, questioned) / typical).max(axis=1)
    n_as_large = len(calibration) - np.searchsorted(calibration, deviation, side="left")
    p_value = (1 + n_as_large) / (len(calibration) + 1)
    level = max(_SUSPICIOUS, 1 / (len(calibration) + 1))
    in_order = float(np.quantile(calibration, 1 - level))
    landmark = np.zeros(len(questioned), dtype=np.intp)
    is_single = np.zeros(len(questioned), dtype=np.bool_)
    for row in np.flatnonzero(p_value <= level):
        culprit = _culprit(procrustes, questioned[row], typical)
        landmark[row], is_single[row] = culprit.landmark, culprit.rest <= in_order
    return DigitisingCheck(landmark, is_single, deviation, p_value)


def _landmark_deviations(procrustes: GeneralizedProcrustes, coordinates: Coordinates) -> Matrix:
    """Return the distance of each landmark from its expected position, in its own metric.

    The expectation is conditional on the specimen's other landmarks. The distance of a missing
    landmark is 0.
    """
    n_landmarks, d = procrustes.consensus_.shape
    aligned = procrustes.align(coordinates).coordinates
    rows = (aligned - procrustes.consensus_).reshape(len(aligned), -1)
    pulls = (rows @ procrustes.precision_).reshape(-1, n_landmarks, d)
    blocks = procrustes.precision_.reshape(n_landmarks, d, n_landmarks, d)
    own = np.linalg.inv(blocks[np.arange(n_landmarks), :, np.arange(n_landmarks), :])
    squared = np.einsum("nli,lij,nlj->nl", pulls, own, pulls)
    is_known = np.isfinite(coordinates).all(axis=2)
    return np.where(is_known, np.sqrt(np.maximum(squared, 0)), 0)


class _Culprit(NamedTuple):
    landmark: int
    rest: float


def _culprit(procrustes: GeneralizedProcrustes, specimen: Coordinates, typical: Vector) -> _Culprit:
    """Return the landmark without which all others deviate least.

    It need not be the one that deviates most: a misplaced landmark also moves the alignment.
    """
    known = np.flatnonzero(np.isfinite(specimen).all(axis=1))
    without = np.repeat(specimen[np.newaxis], len(known), axis=0)
    without[np.arange(len(known)), known] = np.nan
    rest = (_landmark_deviations(procrustes, without) / typical).max(axis=1)
    best = int(np.argmin(rest))
    return _Culprit(int(known[best]) + 1, float(rest[best]))


@dataclass(frozen=True)
class SpecimenTests:
    """Tests of new specimens, one by one."""

    # One line per new specimen, in the input's order: ``id``; ``depth`` among the reference
    # specimens; ``p_value``, the probability that a specimen of the known groups is as shallow;
    # ``verdict``, "new" where the false discovery rate allows it and else "usual"; ``closest``, the
    # group of the nearest reference specimen, and ``closest_p_value`` against that group alone (1
    # where it is too small to test); ``landmark``, the number of one that seems misplaced or 0,
    # ``landmark_p_value``, and ``digitising`` as text.
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
        n_suspicious = int((self.rows["landmark"] > 0).sum())
        if n_suspicious:
            have = plural(n_suspicious, "has", "have")
            notes.append(
                f"{quantity(n_suspicious, 'specimen')} {have} landmarks that seem misplaced. Check "
                "them before trusting a verdict: a digitising error looks like a new shape."
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
    lines = _lines(split, all_labels, coordinates, new.ids, settings)
    return SpecimenTests(lines, known, new, labels, split, settings)


def _lines(
    split: Split,
    groups: Labels,
    coordinates: Coordinates,
    ids: Sequence[str],
    settings: SpeciesSettings,
) -> pd.DataFrame:
    p_values = conformal_p_values(split.holdout_depths, split.unknown_depths)
    is_new = select_discoveries(p_values, settings.false_discovery_rate)
    closest = _closest(split, groups, settings)
    check = _check_digitising(
        split.space.procrustes, coordinates[split.holdout], coordinates[split.unknown]
    )
    digitising = [
        _digitising(number, is_single)
        for number, is_single in zip(check.landmark, check.is_single, strict=True)
    ]
    return pd.DataFrame(
        {
            "id": list(ids),
            "depth": split.unknown_depths,
            "p_value": p_values,
            "verdict": np.where(is_new, NEW, USUAL),
            "closest": closest.groups,
            "closest_p_value": closest.p_values,
            "landmark": check.landmark,
            "landmark_p_value": check.p_value,
            "digitising": digitising,
        }
    )


def _digitising(landmark: int, is_single: bool) -> str:
    if not landmark:
        return _IN_ORDER
    if is_single:
        return f"landmark {landmark} deviates"
    return f"several landmarks deviate, landmark {landmark} most"


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
        depths = depths_in_group(split, groups, group, split.unknown[is_closest], settings)
        p_values[is_closest] = conformal_p_values(depths.holdout, depths.queries)
    return _Closest(closest, p_values)

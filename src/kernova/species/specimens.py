"""Has a landmark been put in the wrong place? Each is held against what all the others say of it.

With the precision P of aligned specimens (its prior on position, size and direction is flat), and
a specimen's deviation r from the consensus, landmark l lies P_ll^-1 (P r)_l away from where the
others expect it, and the squared length of that in its own metric is (P r)_l' P_ll^-1 (P r)_l.
So every landmark is judged by an alignment without itself, and none is computed.

Specimens of no known group, tested one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin

from kernova.calibration.p_values import conformal_p_values, select_discoveries
from kernova.errors import InputError
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.species.inputs import check_enough
from kernova.species.space import SpeciesSettings
from kernova.species.splits import Halving, Names, depths_among, halved, halving_of
from kernova.species.study import checked_groups, refuse_shapeless
from kernova.typing import Coordinates, Matrix, Vector

# As strange as one ordinary specimen of a hundred is strange enough to be looked at.
SUSPICIOUS = 0.01


class DigitisingCheck(NamedTuple):
    """What stands out in each specimen.

    Attributes
    ----------
    landmark : ndarray of int of shape (n,)
        The number, from 1, of the landmark to look at; 0 where nothing stands out.
    is_single : ndarray of bool of shape (n,)
        Whether, without that landmark, all others are in order.
    strangeness : ndarray of shape (n,)
        Of the strangest landmark: how many times its usual deviation it is off.
    p_value : ndarray of shape (n,)
        The share of ordinary specimens with a landmark at least as strange.
    """

    landmark: NDArray[np.intp]
    is_single: NDArray[np.bool_]
    strangeness: NDArray[np.float64]
    p_value: NDArray[np.float64]


def check_digitising(
    procrustes: GeneralizedProcrustes, ordinary: Coordinates, questioned: Coordinates
) -> DigitisingCheck:
    """Look for specimens with a landmark out of place.

    Parameters
    ----------
    procrustes : GeneralizedProcrustes
        Fitted on other specimens than those given here.
    ordinary : ndarray of shape (m, p, d)
        Specimens that show how far landmarks usually stray; a few bad ones do no harm.
    questioned : ndarray of shape (n, p, d)
        Specimens to look at.

    Returns
    -------
    DigitisingCheck
        One entry per questioned specimen.
    """
    usual = landmark_deviations(procrustes, ordinary)
    typical = np.median(usual, axis=0)
    typical = np.where(typical > 0, typical, 1)
    calibration = np.sort((usual / typical).max(axis=1))
    found = landmark_deviations(procrustes, questioned) / typical
    strangeness = found.max(axis=1)
    n_as_strange = len(calibration) - np.searchsorted(calibration, strangeness, side="left")
    p_value = (1 + n_as_strange) / (len(calibration) + 1)
    level = max(SUSPICIOUS, 1 / (len(calibration) + 1))
    in_order = float(np.quantile(calibration, 1 - level))
    landmark = np.zeros(len(questioned), dtype=np.intp)
    is_single = np.zeros(len(questioned), dtype=np.bool_)
    for row in np.flatnonzero(p_value <= level):
        culprit = _culprit(procrustes, questioned[row], typical)
        landmark[row], is_single[row] = culprit.landmark, culprit.rest <= in_order
    return DigitisingCheck(landmark, is_single, strangeness, p_value)


def landmark_deviations(procrustes: GeneralizedProcrustes, coordinates: Coordinates) -> Matrix:
    """How far each landmark is from where its specimen's others expect it, in its own metric.

    0 for a missing landmark: nothing contradicts the others.
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


def _culprit(
    procrustes: GeneralizedProcrustes, specimen: Coordinates, typical: NDArray[np.float64]
) -> _Culprit:
    """Find the landmark without which all others are most in order.

    The strangest one need not be it: a landmark far out of place drags the frame along.
    """
    known = np.flatnonzero(np.isfinite(specimen).all(axis=1))
    without = np.repeat(specimen[np.newaxis], len(known), axis=0)
    without[np.arange(len(known)), known] = np.nan
    rest = (landmark_deviations(procrustes, without) / typical).max(axis=1)
    best = int(np.argmin(rest))
    return _Culprit(int(known[best]) + 1, float(rest[best]))


@dataclass(frozen=True)
class SpecimenTests:
    """Every new specimen judged by itself.

    Attributes
    ----------
    rows : DataFrame
        One line per new specimen, in the input's order: ``id``; ``depth`` among the reference
        specimens; ``p_value``, the chance that a specimen of the known groups is as shallow;
        ``verdict``, "new" where the false discovery rate allows it and else "usual"; ``closest``,
        the group of the nearest reference specimen, and ``closest_p_value`` against that group
        alone (1 where it is too small to tell);
        ``landmark``, the number of one that seems out of place or 0, ``landmark_p_value``, and
        ``digitising`` in words.
    known, new : Landmarks
        What was judged, and against what.
    groups : ndarray of str
        The groups of the known specimens.
    halving : Halving
        All specimens, known ones first, in the space of the reference half.
    settings : SpeciesSettings
        How.
    """

    rows: pd.DataFrame
    known: Landmarks
    new: Landmarks
    groups: Names
    halving: Halving
    settings: SpeciesSettings

    @property
    def n_new(self) -> int:
        """Number of specimens called new."""
        return int((self.rows["verdict"] == "new").sum())

    @property
    def notes(self) -> list[str]:
        """What a reader of the result should also know."""
        n_holdout, n_rows = len(self.halving.holdout), len(self.rows)
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
            them = "specimen has" if n_suspicious == 1 else "specimens have"
            notes.append(
                f"{n_suspicious} {them} landmarks that seem out of place. Look at them before "
                "believing a verdict: a digitising error looks like a new shape."
            )
        return notes


def judge_specimens(
    known: Landmarks,
    groups: Sequence[str],
    new: Landmarks,
    settings: SpeciesSettings | None = None,
) -> SpecimenTests:
    """Test each new specimen against the known groups, one halving for all of them.

    Parameters
    ----------
    known : Landmarks
        Specimens of known groups; half of them are held out to turn depths into p-values.
    groups : sequence of str
        Their groups.
    new : Landmarks
        Specimens with the same landmarks.
    settings : SpeciesSettings, optional
        How.

    Returns
    -------
    SpecimenTests
        One line per new specimen.
    """
    settings = settings or SpeciesSettings()
    names = checked_groups(known, groups)
    if known.coordinates.shape[1:] != new.coordinates.shape[1:]:
        raise InputError(
            f"{known.source} has {known.n_landmarks} landmarks of {known.n_dimensions} "
            f"coordinates, but {new.source} has {new.n_landmarks} of {new.n_dimensions}. Give "
            "specimens with the same landmarks."
        )
    check_enough(names.tolist())
    refuse_shapeless(new)
    coordinates = np.concatenate([known.coordinates, new.coordinates])
    # A group of their own, which no known specimen is of: new ones take no part in the halving.
    all_names = np.concatenate([names, np.full(len(new), "")])
    positions = np.arange(len(coordinates))
    split = halved(all_names, positions[: len(known)], settings.seed, 0)
    unknown = positions[len(known) :]
    ids = (*known.ids, *new.ids)
    halving = halving_of(coordinates, all_names, split, unknown, settings, ids)
    rows = _lines(halving, all_names, coordinates, new.ids, settings)
    return SpecimenTests(rows, known, new, names, halving, settings)


def _lines(
    halving: Halving,
    groups: Names,
    coordinates: Vector,
    ids: Sequence[str],
    settings: SpeciesSettings,
) -> pd.DataFrame:
    p_values = conformal_p_values(halving.holdout_depths, halving.unknown_depths)
    is_new = select_discoveries(p_values, settings.false_discovery_rate)
    closest = _closest(halving, groups, settings)
    check = check_digitising(
        halving.space.procrustes, coordinates[halving.holdout], coordinates[halving.unknown]
    )
    words = [
        "in order" if not number else _suspicion(number, is_single)
        for number, is_single in zip(check.landmark, check.is_single, strict=True)
    ]
    return pd.DataFrame(
        {
            "id": list(ids),
            "depth": halving.unknown_depths,
            "p_value": p_values,
            "verdict": np.where(is_new, "new", "usual"),
            "closest": closest.groups,
            "closest_p_value": closest.p_values,
            "landmark": check.landmark,
            "landmark_p_value": check.p_value,
            "digitising": words,
        }
    )


def _suspicion(number: int, is_single: bool) -> str:
    if is_single:
        return f"landmark {number} sticks out"
    return f"several landmarks stick out, landmark {number} most"


class _Closest(NamedTuple):
    groups: Names
    p_values: Vector


def _closest(halving: Halving, groups: Names, settings: SpeciesSettings) -> _Closest:
    """Find the group of the nearest reference specimen, and how well each specimen fits it."""
    rows = halving.placed.rows
    nearest = pairwise_distances_argmin(rows[halving.unknown], rows[halving.reference])
    closest = groups[halving.reference[nearest]]
    p_values = np.ones(len(closest))
    for group in np.unique(closest):
        reference = halving.reference[groups[halving.reference] == group]
        holdout = halving.holdout[groups[halving.holdout] == group]
        if len(reference) + len(holdout) < settings.least_group:
            continue  # so few can be told from nothing
        mine = halving.unknown[closest == group]
        depths = depths_among(rows[reference], rows[np.concatenate([holdout, mine])], settings)
        p_values[closest == group] = conformal_p_values(
            depths[: len(holdout)], depths[len(holdout) :]
        )
    return _Closest(closest, p_values)

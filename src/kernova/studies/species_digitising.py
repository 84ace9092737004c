"""Has a landmark been put in the wrong place? Each is held against what all the others say of it.

With the precision P of aligned specimens (its prior on position, size and direction is flat), and
a specimen's deviation r from the consensus, landmark l lies P_ll^-1 (P r)_l away from where the
others expect it, and the squared length of that in its own metric is (P r)_l' P_ll^-1 (P r)_l.
So every landmark is judged by an alignment without itself, and none is computed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.represent.procrustes import GeneralizedProcrustes

Coordinates = NDArray[np.float64]
Matrix = NDArray[np.float64]

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

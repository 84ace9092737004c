"""Random splits of the known specimens, and the novelty errors that each split gives.

The known specimens are split in half, group by group. Alignment, components and the score are
learnt from the reference half; the held-out half and the unknown specimens are projected and
scored. No unknown specimen has a say in the score, so its errors are those of a one-sided test.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import rankdata

from kernova.calibration.bounds import (
    binomial_upper_bound,
    critical_false_alarm,
    equal_error_rate,
    hoeffding_upper_bound,
)
from kernova.calibration.detector import Split as Halves
from kernova.errors import InputError, quoted
from kernova.shapes.completion import complete_specimens
from kernova.species.scores import ShapeScore, fit_score, scored_rows
from kernova.species.space import Placed, ShapeSpace, SpeciesSettings, fit_shape_space
from kernova.typing import Coordinates, Indices, Mask, Matrix, Vector

Labels = NDArray[np.str_]  # the group of each specimen

# The fraction of held-out specimens that may be alarms in the exact bound, fixed in advance.
_ALLOWED_FRACTION = 0.05


@dataclass(frozen=True)
class Split:
    """One random split, with all specimens in the space that its reference half defines."""

    space: ShapeSpace  # learnt from the reference specimens
    placed: Placed  # all specimens, projected
    reference: Indices  # row indices of the specimens
    holdout: Indices
    unknown: Indices
    score: ShapeScore  # learnt from the reference specimens
    rows: Matrix  # all specimens, in the coordinates that the score takes
    holdout_scores: Vector  # typicality among all reference specimens; high is usual
    unknown_scores: Vector

    @property
    def holdout_novelty(self) -> Vector:
        """Novelty of the held-out specimens; high is unusual."""
        return novelty_of(self.holdout_scores)

    @property
    def unknown_novelty(self) -> Vector:
        """Novelty of the unknown specimens; high is unusual."""
        return novelty_of(self.unknown_scores)


def novelty_of(typicality: Vector) -> Vector:
    """Return what tables and pictures show: the novelty, high where typicality is low."""
    return np.negative(typicality)


def split_in_half(groups: Labels, known: Indices, seed: int, number: int) -> Halves:
    """Split each group of the known specimens in half, at random.

    The split of a group depends on the seed and the number alone, not on the other groups. The
    reference gets the smaller half of an odd group; singletons are assigned at random.
    """
    draw = np.random.default_rng([seed, number]).random(len(groups))[known]
    _, member, counts = np.unique(groups[known], return_inverse=True, return_counts=True)
    order = np.lexsort((draw, member))
    rank = np.empty(len(known), dtype=np.intp)
    rank[order] = np.arange(len(known)) - np.repeat(np.cumsum(counts) - counts, counts)
    size = counts[member]
    is_reference = np.where(size > 1, rank < size // 2, draw < 0.5)
    return Halves(known[is_reference], known[~is_reference])


def fit_split(
    coordinates: Coordinates,
    groups: Labels,
    halves: Halves,
    unknown: Indices,
    settings: SpeciesSettings,
    ids: tuple[str, ...] | None = None,
) -> Split:
    """Learn space and score from the reference half; project and score all specimens.

    Specimens are exchanged between the halves if the reference half lacks a landmark otherwise.
    """
    is_known: Mask = np.asarray(np.isfinite(coordinates).all(axis=2))
    _check_known_landmarks(is_known, groups, halves, unknown)
    halves = with_all_landmarks(halves, groups, is_known)
    reference_ids = None if ids is None else [ids[k] for k in halves.reference]
    learnt = _with_estimates(coordinates, is_known, halves)
    space = fit_shape_space(learnt, groups[halves.reference], settings, reference_ids)
    placed = space.place(coordinates, ids)
    rows = scored_rows(placed, halves.reference, settings.score, settings)
    score = fit_score(
        rows[halves.reference],
        groups[halves.reference],
        settings.score,
        bandwidth=settings.bandwidth,
        seed=settings.seed,
    )
    scores = score.typicality(rows[np.concatenate([halves.holdout, unknown])])
    n_holdout = len(halves.holdout)
    return Split(
        space, placed, *halves, unknown, score, rows, scores[:n_holdout], scores[n_holdout:]
    )


def with_all_landmarks(halves: Halves, groups: Labels, is_known: Mask) -> Halves:
    """Exchange specimens of one group so that each landmark occurs in the reference half.

    Which ones are exchanged depends on missing landmarks alone, not on shapes. Where no exchange
    helps, the halves stay as they are.

    Parameters
    ----------
    halves : Halves
        The reference and the held-out specimens.
    groups : ndarray of str of shape (n,)
        The group of each specimen.
    is_known : ndarray of bool of shape (n, p)
        Which landmarks were digitised.

    Examples
    --------
    >>> halves = Halves(np.array([0, 1]), np.array([2, 3]))
    >>> is_known = np.array([[True, False], [True, False], [True, True], [True, True]])
    >>> with_all_landmarks(halves, np.array(["a", "b", "b", "a"]), is_known)
    Split(reference=array([0, 2]), holdout=array([1, 3]))
    """
    reference, holdout = halves.reference.copy(), halves.holdout.copy()
    while True:
        counts = is_known[reference].sum(axis=0)
        places = _exchange(reference, holdout, groups, is_known, counts)
        if places is None:
            break
        reference[places.reference], holdout[places.holdout] = (
            holdout[places.holdout],
            reference[places.reference],
        )
    return Halves(np.sort(reference), np.sort(holdout))


class _Exchange(NamedTuple):
    reference: int  # places in the halves
    holdout: int


def _exchange(
    reference: Indices, holdout: Indices, groups: Labels, is_known: Mask, counts: Indices
) -> _Exchange | None:
    """Return the first exchange after which the reference half lacks fewer landmarks."""
    is_absent = counts == 0
    for place in np.flatnonzero(is_known[holdout][:, is_absent].any(axis=1)):
        mates = np.flatnonzero(groups[reference] == groups[holdout[place]])
        if not len(mates):
            continue
        after = counts - is_known[reference[mates]] + is_known[holdout[place]]
        n_absent = (after == 0).sum(axis=1)
        if n_absent.min() < is_absent.sum():
            return _Exchange(int(mates[np.argmin(n_absent)]), int(place))
    return None


def _check_known_landmarks(
    is_known: Mask, groups: Labels, halves: Halves, unknown: Indices
) -> None:
    """Raise for a landmark that no known specimen has."""
    known = np.concatenate([halves.reference, halves.holdout])
    is_seen: Mask = np.asarray(is_known[known].any(axis=0))
    if is_seen.all():
        return
    names = [name for name in np.unique(groups[unknown]).tolist() if name]
    beside = f" beside those of {quoted(names[0])}" if names else ""
    raise InputError(
        f"Landmark {int(np.argmin(is_seen)) + 1} is missing in all known specimens{beside}, so "
        "nothing is known of it. Leave it out."
    )


def _with_estimates(coordinates: Coordinates, is_known: Mask, halves: Halves) -> Coordinates:
    """Return the reference half; a landmark that all of it lacks is estimated from both halves."""
    learnt = coordinates[halves.reference]
    is_absent: Mask = np.asarray(~is_known[halves.reference].any(axis=0))
    if is_absent.any():
        both = np.concatenate([halves.reference, halves.holdout])
        completed = complete_specimens(coordinates[both]).coordinates[: len(learnt)]
        learnt = np.where(is_absent[:, np.newaxis], completed, learnt)
    return learnt


class GroupScores(NamedTuple):
    """Typicality in one group alone.

    ``holdout`` is that of its own held-out specimens, ``queries`` that of other specimens.
    """

    holdout: Vector
    queries: Vector


def scores_in_group(split: Split, groups: Labels, group: str, queries: Indices) -> GroupScores:
    """Return the typicality of a group's held-out specimens, and of others, in the group alone."""
    holdout = split.holdout[groups[split.holdout] == group]
    rows = split.rows[np.concatenate([holdout, queries])]
    scores = split.score.typicality_in_group(rows, group)
    return GroupScores(scores[: len(holdout)], scores[len(holdout) :])


def pooled_line(split: Split, confidence: float) -> dict[str, Any]:
    """Return the errors of the unknown against all known groups together."""
    known, unknown = split.holdout_scores, split.unknown_scores
    critical = critical_false_alarm(known, unknown, confidence)
    n_alarms = int(np.sum(known <= critical.threshold))
    bound = min(hoeffding_upper_bound(n_alarms, known.size, confidence), 1.0)
    return {
        "e_star": critical.e_star,
        "detection_rate": critical.detection_rate,
        "false_alarm_bound": bound,
        "threshold": -critical.threshold,  # of novelty: specimens at or above it are detected
        "equal_error_rate": equal_error_rate(known, unknown).rate,
        "auroc": area_under_curve(known, unknown),
        "n_reference": len(split.reference),
        "n_holdout": known.size,
        **exact_bounds(known, unknown, confidence),
    }


def pair_lines(split: Split, groups: Labels, compared: list[str]) -> list[dict[str, Any]]:
    """Return the novelty errors of the unknown against each of the compared groups alone."""
    lines = []
    for group in compared:
        known, unknown = scores_in_group(split, groups, group, split.unknown)
        lines.append(
            {
                "known": group,
                "novelty_error": equal_error_rate(known, unknown).rate,
                "auroc": area_under_curve(known, unknown),
            }
        )
    return lines


def exact_bounds(known: Vector, unknown: Vector, confidence: float) -> dict[str, float]:
    """Return exact bounds on both errors, at a threshold that allows a fixed number of alarms.

    The number of alarms among the held-out specimens depends on their number alone, so the
    binomial bound on false alarms is exact. The threshold does not depend on the unknown
    specimens, so the bound on detection is exact too (Clopper and Pearson).
    """
    n_allowed = math.floor(_ALLOWED_FRACTION * known.size)
    threshold = math.nextafter(float(np.sort(known)[n_allowed]), -math.inf)
    n_detected = int(np.sum(unknown <= threshold))
    lowest = 0.0
    if n_detected:
        lowest = float(betaincinv(n_detected, unknown.size - n_detected + 1, 1 - confidence))
    return {
        "exact_false_alarm_bound": binomial_upper_bound(n_allowed, known.size, confidence),
        "exact_detection_rate": n_detected / unknown.size,
        "exact_detection_at_least": lowest,
    }


def area_under_curve(known: Vector, unknown: Vector) -> float:
    """Return the probability that an unknown specimen is less typical than a known one.

    Ties count half.
    """
    ranks = rankdata(np.concatenate([unknown, known]))[: unknown.size]
    n_pairs = known.size * unknown.size
    return float(1 - (ranks.sum() - unknown.size * (unknown.size + 1) / 2) / n_pairs)

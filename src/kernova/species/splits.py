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
from kernova.species.scores import ShapeScore, fit_score, scored_rows
from kernova.species.space import Placed, ShapeSpace, SpeciesSettings, fit_shape_space
from kernova.typing import Coordinates, Indices, Matrix, Vector

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
    """Learn space and score from the reference half; project and score all specimens."""
    reference_ids = None if ids is None else [ids[k] for k in halves.reference]
    space = fit_shape_space(
        coordinates[halves.reference], groups[halves.reference], settings, reference_ids
    )
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
        "threshold": critical.threshold,
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

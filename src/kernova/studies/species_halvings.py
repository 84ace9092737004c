"""One halving of the known specimens: what the unknown looks like against one half of them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from scipy.special import betaincinv
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from kernova.decide.false_alarms import (
    binomial_upper_bound,
    critical_false_alarm,
    equal_error_rate,
    hoeffding_upper_bound,
)
from kernova.decide.holdout import Split
from kernova.decide.permutation import rank_sum_p_value
from kernova.kernels.bandwidth import chosen_bandwidth
from kernova.kernels.functions import kernel_named
from kernova.score.depth_engines import exact_depths
from kernova.score.spatial_depth import KernelSpatialDepth
from kernova.studies.species_space import (
    Coordinates,
    Matrix,
    Placed,
    ShapeSpace,
    SpeciesSettings,
    fit_shape_space,
)

Vector = NDArray[np.float64]
Names = NDArray[np.str_]
Positions = NDArray[np.intp]

# The share of held-out specimens that the exact bound lets be alarms, fixed before any is seen.
_ALLOWED_SHARE = 0.05
# Above so many reference rows the detector may take a faster engine.
_FEW_ROWS = 2000
# Up to so many rows, all distances are there before an index of neighbours is built.
_HANDFUL = 100


@dataclass(frozen=True)
class Halving:
    """All specimens in the space of one half of the known ones.

    Attributes
    ----------
    space : ShapeSpace
        Learnt from the reference specimens.
    placed : Placed
        All specimens, projected.
    reference, holdout, unknown : ndarray of int
        Positions of the specimens.
    holdout_depths, unknown_depths : ndarray
        Depths among all reference specimens; high is usual.
    """

    space: ShapeSpace
    placed: Placed
    reference: Positions
    holdout: Positions
    unknown: Positions
    holdout_depths: Vector
    unknown_depths: Vector


def halved(groups: Names, known: Positions, seed: int, number: int) -> Split:
    """Halve each group of the known specimens, the same way whatever else is studied.

    The reference gets the smaller half of an odd group; who is alone goes where the coin falls.
    """
    draw = np.random.default_rng([seed, number]).random(len(groups))[known]
    _, member, counts = np.unique(groups[known], return_inverse=True, return_counts=True)
    order = np.lexsort((draw, member))
    place = np.empty(len(known), dtype=np.intp)
    place[order] = np.arange(len(known)) - np.repeat(np.cumsum(counts) - counts, counts)
    size = counts[member]
    is_reference = np.where(size > 1, place < size // 2, draw < 0.5)
    return Split(known[is_reference], known[~is_reference])


def halving_of(
    coordinates: Coordinates,
    groups: Names,
    split: Split,
    unknown: Positions,
    settings: SpeciesSettings,
    ids: tuple[str, ...] | None = None,
) -> Halving:
    """Learn the space from the reference alone, project all, and take depths."""
    reference_ids = None if ids is None else [ids[k] for k in split.reference]
    space = fit_shape_space(
        coordinates[split.reference], groups[split.reference], settings, reference_ids
    )
    placed = space.place(coordinates, ids)
    questions = np.concatenate([split.holdout, unknown])
    depths = depths_among(placed.rows[split.reference], placed.rows[questions], settings)
    n_holdout = len(split.holdout)
    return Halving(space, placed, *split, unknown, depths[:n_holdout], depths[n_holdout:])


def depths_among(reference: Matrix, questions: Matrix, settings: SpeciesSettings) -> Vector:
    """Kernelized depths of rows among reference rows."""
    if len(reference) > _FEW_ROWS:
        model = KernelSpatialDepth(bandwidth=settings.bandwidth, random_state=settings.seed)
        return model.fit(reference).score_samples(questions)
    width = kernel_width(settings.bandwidth, reference, settings.seed)
    return exact_depths(questions, reference, kernel_named("gaussian", width))


def kernel_width(bandwidth: "str | float", rows: Matrix, seed: int) -> float:
    """Apply a rule for the kernel's width; of few rows, without an index of neighbours."""
    if bandwidth == "nearest" and 1 < len(rows) <= _HANDFUL:
        distances = squareform(pdist(rows))
        np.fill_diagonal(distances, np.inf)
        width = float(np.median(distances.min(axis=1)))
        if width > 0:
            return width
    return chosen_bandwidth(bandwidth, rows, check_random_state(seed))


def pooled_line(halving: Halving, confidence: float) -> dict[str, Any]:
    """Judge the unknown against all known groups at once."""
    known, unknown = halving.holdout_depths, halving.unknown_depths
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
        "n_reference": len(halving.reference),
        "n_holdout": known.size,
        **exact_bounds(known, unknown, confidence),
    }


def pair_lines(
    halving: Halving, groups: Names, compared: list[str], settings: SpeciesSettings
) -> list[dict[str, Any]]:
    """Judge the unknown against each of the compared groups alone."""
    rows, lines = halving.placed.rows, []
    for group in compared:
        reference = halving.reference[groups[halving.reference] == group]
        holdout = halving.holdout[groups[halving.holdout] == group]
        questions = np.concatenate([holdout, halving.unknown])
        depths = depths_among(rows[reference], rows[questions], settings)
        known, unknown = depths[: len(holdout)], depths[len(holdout) :]
        lines.append(
            {
                "known": group,
                "n_holdout": len(holdout),
                "equal_error_rate": equal_error_rate(known, unknown).rate,
                "auroc": area_under_curve(known, unknown),
                "p_value": rank_sum_p_value(known, unknown),
                **exact_bounds(known, unknown, settings.confidence),
            }
        )
    return lines


def exact_bounds(known: Vector, unknown: Vector, confidence: float) -> dict[str, float]:
    """Bound both errors exactly, at a threshold that a fixed number of known alarms sets.

    The number of alarms among the held-out specimens follows from their number alone, so the
    binomial limit on false alarms is exact; and the threshold does not look at the unknown, so
    that on detection is exact too (Clopper and Pearson).
    """
    n_allowed = math.floor(_ALLOWED_SHARE * known.size)
    threshold = math.nextafter(float(np.sort(known)[n_allowed]), -math.inf)
    n_detected = int(np.sum(unknown <= threshold))
    lowest = (
        float(betaincinv(n_detected, unknown.size - n_detected + 1, 1 - confidence))
        if (n_detected)
        else 0.0
    )
    return {
        "exact_false_alarm_bound": binomial_upper_bound(n_allowed, known.size, confidence),
        "exact_detection_rate": n_detected / unknown.size,
        "exact_detection_at_least": lowest,
    }


def area_under_curve(known: Vector, unknown: Vector) -> float:
    """Give the chance that an unknown specimen is shallower than a known one; ties count half."""
    ranks = rankdata(np.concatenate([unknown, known]))[: unknown.size]
    n_pairs = known.size * unknown.size
    return float(1 - (ranks.sum() - unknown.size * (unknown.size + 1) / 2) / n_pairs)

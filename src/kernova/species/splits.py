"""One halving of the known specimens: what the unknown looks like against one half of them.

Small groups, compared whole: whether the unknown's depths are those of a known group.

Half of a handful of specimens says next to nothing. So alignment and components are learnt from
the other groups, and then the specimens of the two groups in question can change places: if the
unknown ones are of the known group, which of them are called unknown is chance.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from scipy.special import betaincinv
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from kernova.anomaly.depth_engines import exact_depths
from kernova.anomaly.spatial_depth import KernelSpatialDepth
from kernova.calibration.bounds import (
    binomial_upper_bound,
    critical_false_alarm,
    equal_error_rate,
    hoeffding_upper_bound,
)
from kernova.calibration.p_values import rank_sum_p_value
from kernova.calibration.splits import Split
from kernova.kernels.bandwidth import chosen_bandwidth
from kernova.kernels.functions import Gaussian, kernel_named
from kernova.species.space import Placed, ShapeSpace, SpeciesSettings, fit_shape_space
from kernova.typing import Coordinates, Indices, Matrix, Vector

Names = NDArray[np.str_]

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
    reference: Indices
    holdout: Indices
    unknown: Indices
    holdout_depths: Vector
    unknown_depths: Vector


def halved(groups: Names, known: Indices, seed: int, number: int) -> Split:
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
    unknown: Indices,
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


N_PERMUTATIONS = 999
# A known group of at least so many specimens can be halved; of two so large groups together, the
# permutations would take long.
LARGE_GROUP = 20
_MOST_SPECIMENS = 60
# Fewer others than this teach no space to compare the two groups in.
_FEWEST_OTHERS = 10


def is_compared_whole(n_known: int, n_unknown: int, n_others: int) -> bool:
    """Tell by numbers alone, before any specimen is seen, which test a known group gets."""
    is_small = n_known < LARGE_GROUP and n_known + n_unknown <= _MOST_SPECIMENS
    return is_small and n_others >= _FEWEST_OTHERS


def smallest_whole_p_value(n_known: int, n_unknown: int) -> float:
    """Give the smallest p-value that so many specimens and permutations allow."""
    return max(1 / (N_PERMUTATIONS + 1), 1 / math.comb(n_known + n_unknown, n_unknown))


def whole_group_p_value(
    coordinates: Coordinates,
    groups: Names,
    known: Indices,
    unknown: Indices,
    others: Indices,
    settings: SpeciesSettings,
) -> float:
    """Test "the unknown specimens are of this group" in a space that the other groups teach."""
    space = fit_shape_space(coordinates[others], groups[others], settings)
    rows = space.place(coordinates[np.concatenate([unknown, known])]).rows
    rng = np.random.default_rng([settings.seed, len(known), len(unknown)])
    return depth_permutation_p_value(rows, len(unknown), settings.bandwidth, rng)


def depth_permutation_p_value(
    rows: Matrix, n_unknown: int, bandwidth: "str | float", rng: np.random.Generator
) -> float:
    """Give the share of 999 re-namings, and the true one, that set the unknown as far apart.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        The unknown specimens, and behind them those of the known group.
    n_unknown : int
        How many are unknown.
    bandwidth : str or float
        Of the kernelized depth, taken from all rows, so that it favours nobody.
    rng : Generator
        Draws the re-namings.

    Returns
    -------
    float
        Low if each of the two lies shallower in the other than in itself.
    """
    width = kernel_width(bandwidth, rows, seed=0)
    squared = Gaussian(width).squared_distance(rows, rows)
    np.fill_diagonal(squared, 0)
    forms = depth_forms(squared)
    is_known = np.ones((N_PERMUTATIONS + 1, len(rows)), dtype=np.bool_)
    is_known[:, :n_unknown] = False
    is_known[1:] = rng.permuted(is_known[1:], axis=1)
    # From both sides: a known group that is scattered widely does not tell who is far from it,
    # but a compact unknown does.
    gaps = depth_gaps(forms, is_known) + depth_gaps(forms, ~is_known)
    # Re-namings that only change the order of sums are equal; rounding must not tell them apart.
    return float(np.mean(gaps >= gaps[0] - 1e-12))


def depth_forms(squared: Matrix) -> NDArray[np.float64]:
    """Give for each row x the matrix whose sum over i, j of a set is the square under its depth.

    z_i z_j (k(x,x) + k(x_i,x_j) - k(x,x_i) - k(x,x_j)), in terms of squared distances in the
    kernel's space; 0 where x is i or j, so that no row counts towards its own depth.
    """
    inverse = np.where(squared > 0, 1 / np.sqrt(np.where(squared > 0, squared, 1)), 0)
    products = (squared[:, :, None] + squared[:, None, :] - squared[None, :, :]) / 2
    return np.asarray(inverse[:, :, None] * inverse[:, None, :] * products)


def depth_gaps(forms: NDArray[np.float64], is_member: NDArray[np.bool_]) -> Vector:
    """Mean depth of members among each other less that of the rest among them, for each naming."""
    members = is_member.astype(np.float64)
    squares = np.stack([np.einsum("ij,ij->i", members @ form, members) for form in forms], axis=1)
    n_others = members.sum(axis=1, keepdims=True) - members
    depths = 1 - np.sqrt(np.maximum(squares, 0)) / np.maximum(n_others, 1)
    among = (depths * members).sum(axis=1) / members.sum(axis=1)
    outside = (depths * (1 - members)).sum(axis=1) / (1 - members).sum(axis=1)
    return np.asarray(among - outside)

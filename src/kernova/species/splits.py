"""Random splits of the known specimens, and the depths and errors that each split gives.

The known specimens are split in half, group by group. The reference half teaches alignment,
components and depths; the held-out half and the unknown specimens are projected and compared.

Half of a small group is too small to compare. Small groups are therefore compared whole, by a
permutation test: alignment and components are learnt from the other groups, and specimens of the
two groups in question are exchanged. If the unknown specimens are of the known group, the labels
"known" and "unknown" are exchangeable.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from scipy.special import betaincinv
from scipy.stats import rankdata

from kernova.anomaly.depth_engines import exact_depths
from kernova.anomaly.spatial_depth import KernelSpatialDepth
from kernova.calibration.bounds import (
    binomial_upper_bound,
    critical_false_alarm,
    equal_error_rate,
    hoeffding_upper_bound,
)
from kernova.calibration.detector import Split as Halves
from kernova.calibration.p_values import rank_sum_p_value
from kernova.kernels.bandwidth import chosen_bandwidth
from kernova.kernels.functions import Gaussian, kernel_named
from kernova.species.space import Placed, ShapeSpace, SpeciesSettings, fit_shape_space
from kernova.typing import Coordinates, Indices, Mask, Matrix, Vector

Labels = NDArray[np.str_]  # the group of each specimen

# The fraction of held-out specimens that may be alarms in the exact bound, fixed in advance.
_ALLOWED_FRACTION = 0.05
# Above so many reference rows the detector chooses a faster engine.
_EXACT_MAX_ROWS = 2000
# Up to so many rows, computing all distances is faster than building an index of neighbours.
_BRUTE_FORCE_MAX_ROWS = 100
_N_PERMUTATIONS = 999
# A known group of at least so many specimens can be split in half.
_LARGE_GROUP = 20
# With more specimens in both groups together, the permutations take too long.
_PERMUTATION_MAX_SPECIMENS = 60
# Fewer specimens of other groups cannot define a space to compare the two groups in.
_MIN_OTHERS = 10


@dataclass(frozen=True)
class Split:
    """One random split, with all specimens in the space that its reference half defines."""

    space: ShapeSpace  # learnt from the reference specimens
    placed: Placed  # all specimens, projected
    reference: Indices  # row indices of the specimens
    holdout: Indices
    unknown: Indices
    holdout_depths: Vector  # depths among all reference specimens; high is typical
    unknown_depths: Vector


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
    """Learn the space from the reference half, project all specimens and compute depths."""
    reference_ids = None if ids is None else [ids[k] for k in halves.reference]
    space = fit_shape_space(
        coordinates[halves.reference], groups[halves.reference], settings, reference_ids
    )
    placed = space.place(coordinates, ids)
    queries = np.concatenate([halves.holdout, unknown])
    depths = depths_among(placed.rows[halves.reference], placed.rows[queries], settings)
    n_holdout = len(halves.holdout)
    return Split(space, placed, *halves, unknown, depths[:n_holdout], depths[n_holdout:])


def depths_among(reference: Matrix, queries: Matrix, settings: SpeciesSettings) -> Vector:
    """Return kernelized depths of rows among reference rows."""
    if len(reference) > _EXACT_MAX_ROWS:
        model = KernelSpatialDepth(
            bandwidth=settings.bandwidth, random_state=settings.seed, far_rows="literal"
        )
        return model.fit(reference).score_samples(queries)
    width = kernel_width(settings.bandwidth, reference)
    return exact_depths(queries, reference, kernel_named("gaussian", width))


def kernel_width(bandwidth: "str | float", rows: Matrix) -> float:
    """Return the kernel width by a rule; for few rows, without an index of neighbours."""
    if bandwidth == "nearest" and 1 < len(rows) <= _BRUTE_FORCE_MAX_ROWS:
        distances = squareform(pdist(rows))
        np.fill_diagonal(distances, np.inf)
        width = float(np.median(distances.min(axis=1)))
        if width > 0:
            return width
    return chosen_bandwidth(bandwidth, rows)


class GroupDepths(NamedTuple):
    """Depths among the reference specimens of one group.

    ``holdout`` are those of its own held-out specimens, ``queries`` those of other specimens.
    """

    holdout: Vector
    queries: Vector


def depths_in_group(
    split: Split, groups: Labels, group: str, queries: Indices, settings: SpeciesSettings
) -> GroupDepths:
    """Return the depths of a group's held-out specimens, and of others, in the group alone."""
    reference = split.reference[groups[split.reference] == group]
    holdout = split.holdout[groups[split.holdout] == group]
    rows = split.placed.rows
    depths = depths_among(rows[reference], rows[np.concatenate([holdout, queries])], settings)
    return GroupDepths(depths[: len(holdout)], depths[len(holdout) :])


def pooled_line(split: Split, confidence: float) -> dict[str, Any]:
    """Return the errors of the unknown against all known groups together."""
    known, unknown = split.holdout_depths, split.unknown_depths
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


def pair_lines(
    split: Split, groups: Labels, compared: list[str], settings: SpeciesSettings
) -> list[dict[str, Any]]:
    """Return the errors of the unknown against each of the compared groups alone."""
    lines = []
    for group in compared:
        known, unknown = depths_in_group(split, groups, group, split.unknown, settings)
        lines.append(
            {
                "known": group,
                "n_holdout": len(known),
                "equal_error_rate": equal_error_rate(known, unknown).rate,
                "auroc": area_under_curve(known, unknown),
                "p_value": rank_sum_p_value(known, unknown),
                **exact_bounds(known, unknown, settings.confidence),
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
    """Return the probability that an unknown specimen is shallower than a known one.

    Ties count half.
    """
    ranks = rankdata(np.concatenate([unknown, known]))[: unknown.size]
    n_pairs = known.size * unknown.size
    return float(1 - (ranks.sum() - unknown.size * (unknown.size + 1) / 2) / n_pairs)


def is_compared_whole(n_known: int, n_unknown: int, n_others: int) -> bool:
    """Return whether a known group is compared whole; depends on the numbers alone."""
    is_small = n_known < _LARGE_GROUP and n_known + n_unknown <= _PERMUTATION_MAX_SPECIMENS
    return is_small and n_others >= _MIN_OTHERS


def smallest_whole_p_value(n_known: int, n_unknown: int) -> float:
    """Return the smallest p-value that the numbers of specimens and permutations allow."""
    return max(1 / (_N_PERMUTATIONS + 1), 1 / math.comb(n_known + n_unknown, n_unknown))


def whole_group_p_value(
    coordinates: Coordinates,
    groups: Labels,
    known: Indices,
    unknown: Indices,
    others: Indices,
    settings: SpeciesSettings,
) -> float:
    """Return the p-value of "the unknown specimens are of this group".

    The space is learnt from the other groups.
    """
    space = fit_shape_space(coordinates[others], groups[others], settings)
    rows = space.place(coordinates[np.concatenate([unknown, known])]).rows
    rng = np.random.default_rng([settings.seed, len(known), len(unknown)])
    return depth_permutation_p_value(rows, len(unknown), settings.bandwidth, rng)


def depth_permutation_p_value(
    rows: Matrix, n_unknown: int, bandwidth: "str | float", rng: np.random.Generator
) -> float:
    """Return the permutation p-value of the difference in depth between two groups.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        The unknown specimens, followed by those of the known group.
    n_unknown : int
        The number of unknown specimens.
    bandwidth : str or float
        Of the kernelized depth, computed from all rows, so that neither group is favoured.
    rng : Generator
        Draws the permutations.

    Returns
    -------
    float
        The fraction of the 999 permutations, and the true labelling, with a difference at least
        as large. Low if each group lies shallower in the other than in itself.
    """
    width = kernel_width(bandwidth, rows)
    squared = Gaussian(width).squared_distance(rows, rows)
    np.fill_diagonal(squared, 0)
    forms = depth_forms(squared)
    is_known = np.ones((_N_PERMUTATIONS + 1, len(rows)), dtype=np.bool_)
    is_known[:, :n_unknown] = False
    is_known[1:] = rng.permuted(is_known[1:], axis=1)
    # From both sides: depths in a widely scattered group do not show what is far from it, but
    # depths in a compact one do.
    gaps = depth_gaps(forms, is_known) + depth_gaps(forms, ~is_known)
    # Permutations that only change the order of sums are equal; rounding must not separate them.
    return float(np.mean(gaps >= gaps[0] - 1e-12))


def depth_forms(squared: Matrix) -> Matrix:
    """Return, for each row x, the matrix whose sum over a set gives the square root in its depth.

    z_i z_j (k(x,x) + k(x_i,x_j) - k(x,x_i) - k(x,x_j)), in terms of squared distances in the
    kernel's space; 0 where x is i or j, so that no row counts towards its own depth.
    """
    inverse = np.where(squared > 0, 1 / np.sqrt(np.where(squared > 0, squared, 1)), 0)
    products = (squared[:, :, None] + squared[:, None, :] - squared[None, :, :]) / 2
    return np.asarray(inverse[:, :, None] * inverse[:, None, :] * products)


def depth_gaps(forms: Matrix, is_member: Mask) -> Vector:
    """Return the mean depth of members in their set minus that of the rest, per labelling."""
    members = is_member.astype(np.float64)
    squares = np.stack([np.einsum("ij,ij->i", members @ form, members) for form in forms], axis=1)
    n_others = members.sum(axis=1, keepdims=True) - members
    depths = 1 - np.sqrt(np.maximum(squares, 0)) / np.maximum(n_others, 1)
    among = (depths * members).sum(axis=1) / members.sum(axis=1)
    outside = (depths * (1 - members)).sum(axis=1) / (1 - members).sum(axis=1)
    return np.asarray(among - outside)

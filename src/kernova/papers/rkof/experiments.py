"""Outlier factors of the RKOF paper, and areas, ROC curves and times on its real data.

One search of neighbours serves all factors and all numbers of neighbours. Scores are high for
outliers. Those of RKOF and LDF are logarithms of the factors, which rank rows as the factors do but
do not become equal by rounding far out.
"""

import io
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from kernova.anomaly.baselines import LocalDensityFactor, LocalPeculiarityFactor
from kernova.anomaly.local_densities import DensitySettings, known_log_factors, learn_densities
from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor
from kernova.kernels.functions import PROFILES
from kernova.neighbors.index import NeighborIndex, build_index
from kernova.neighbors.neighborhoods import (
    TIE,
    NeighborBlock,
    Neighborhoods,
    find_neighborhoods,
    neighbor_blocks,
)
from kernova.papers.rkof.data import OutlierSet
from kernova.parallel import row_blocks
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector

LPF_EXPONENT: Final = 0.5
# scikit-learn's LOF adds this to mean distances before it divides by them.
_LOF_ROUNDING: Final = 1e-10


class RankedRows(NamedTuple):
    """Scores of all rows by one method with one number of neighbours; high for outliers."""

    method: str
    k: int
    scores: Vector


def rkof_settings(kernel: str = "volcano", sigma: float = 1.0) -> DensitySettings:
    """Return the parameters of RKOF in the paper: C = 1, alpha = 1, gamma = 2."""
    return DensitySettings(PROFILES[kernel], 1.0, 1.0, 2.0, sigma)


def ldf_settings(n_columns: int) -> DensitySettings:
    """Return the parameters of the local density factor: h = 1, and the number of columns.

    Its c is not needed for scores: it bounds the factors without changing their order.
    """

    def gaussian_of_reachability(u: Vector) -> Vector:
        return -0.5 * np.maximum(u, 1.0) ** 2

    return DensitySettings(gaussian_of_reachability, 1.0, 1.0, n_columns, np.inf)


def density_factors(
    neighborhoods: Neighborhoods, numbers: Sequence[int], methods: Mapping[str, DensitySettings]
) -> list[RankedRows]:
    """Rank all rows by each ratio of densities, for each k up to the one searched for."""
    inverse = neighborhoods.index.inverse
    ranked = []
    for k in track(numbers, "densities, each k"):
        narrowed = _narrowed(neighborhoods, k)
        densities = {}
        for method, settings in methods.items():
            kernel = settings._replace(sigma=np.inf)  # densities do not depend on the weights
            if kernel not in densities:
                densities[kernel] = learn_densities(narrowed, k, settings)
            logs = known_log_factors(narrowed, densities[kernel], settings)
            ranked.append(RankedRows(method, k, logs[inverse]))
    return ranked


def _narrowed(neighborhoods: Neighborhoods, k: int) -> Neighborhoods:
    """Restrict all neighbourhoods to a smaller k once, rather than for every method."""
    cached = tuple(block.nearest(k) for block in neighborhoods.cached)
    return replace(neighborhoods, k=k, cached=cached)


def peculiarity_factors(
    neighborhoods: Neighborhoods, numbers: Sequence[int], method: str = "LPF"
) -> list[RankedRows]:
    """Rank all rows by their local peculiarity for each k; differences are computed once."""
    index = neighborhoods.index
    sums = np.zeros((len(numbers), len(index.rows)))
    for block in neighborhoods.blocks():
        powers = _powers(block, neighborhoods.queries, index.rows)
        for line, k in enumerate(numbers):
            sums[line, block.numbers] = block.sums(_within(block, k, powers))
    return [
        RankedRows(method, k, line[index.inverse]) for k, line in zip(numbers, sums, strict=True)
    ]


def peculiarities_of(X: Matrix, rows: Indices, k: int) -> Vector:
    """Return the local peculiarity of some rows among all; k may be large, nothing is cached."""
    index = build_index(X, k=k)
    own = index.inverse[rows]
    queries = index.rows[own]
    sums = np.empty(len(rows))
    for block in neighbor_blocks(index, k, queries, own, f"LPF, k = {k:,}"):
        powers = _powers(block, queries, index.rows)
        sums[block.numbers] = block.sums(_within(block, k, powers))
    return sums


def _powers(block: NeighborBlock, queries: Matrix, rows: Matrix) -> Vector:
    """Sum |p_j - o_j|^alpha over the columns, for every pair of a row and a neighbour."""
    numbers = block.spread(block.numbers)
    powers = np.zeros(len(block.indices))
    for own, others in zip(queries.T, rows.T, strict=True):
        powers += np.abs(own[numbers] - others[block.indices]) ** LPF_EXPONENT
    return powers if block.weights is None else powers * block.weights


def _within(block: NeighborBlock, k: int, powers: Vector) -> Vector:
    if k == block.k:
        return powers
    kth = block.nearest(k).kth_distances
    return np.where(block.distances <= block.spread(kth) * (1 + TIE), powers, 0.0)


class SortedNeighbors(NamedTuple):
    """The k nearest rows of every row as scikit-learn's LOF finds them, without further ties."""

    distances: Matrix
    indices: Indices


def sorted_neighbors(X: Matrix, k: int) -> SortedNeighbors:
    """Search as scikit-learn's LOF does; the first columns serve every smaller k."""
    return SortedNeighbors(*NearestNeighbors(n_neighbors=k).fit(X).kneighbors())


def local_outlier_factors(neighbors: SortedNeighbors, k: int, sigma: float = np.inf) -> Vector:
    """Return scikit-learn's local outlier factor, optionally with RKOF's weights in its last mean.

    Parameters
    ----------
    neighbors : SortedNeighbors
        From a search for ``k`` neighbours or more.
    k : int
        The number of neighbours.
    sigma : float
        How fast neighbours in sparser regions lose weight, as in RKOF; infinite for LOF.
    """
    distances, indices = neighbors.distances[:, :k], neighbors.indices[:, :k]
    kth = np.ascontiguousarray(distances[:, -1])
    blocks = row_blocks(len(kth), 4 * k, share=1 / 16)
    densities = np.empty(len(kth))
    for rows in blocks:
        reach = np.maximum(distances[rows], kth[indices[rows]])
        densities[rows] = 1 / (reach.mean(axis=1) + _LOF_ROUNDING)
    factors = np.empty(len(kth))
    for rows in blocks:
        means = _weighted_means(densities[indices[rows]], kth, indices[rows], sigma)
        factors[rows] = means / densities[rows]
    return factors


def _weighted_means(densities: Matrix, kth: Vector, indices: Indices, sigma: float) -> Vector:
    if np.isinf(sigma):
        return densities.mean(axis=1)
    positive = kth[kth > 0]
    widths = np.maximum(kth, positive.min() if len(positive) else 1.0)[indices]
    ratios = widths / widths.min(axis=1, keepdims=True)
    weights = np.exp(-0.5 * ((ratios - 1) / sigma) ** 2)
    return (weights * densities).sum(axis=1) / weights.sum(axis=1)


def searched(X: Matrix, k: int) -> Neighborhoods:
    """Return the neighbourhoods of RKOF, LDF and LPF, with ties and duplicate rows."""
    index: NeighborIndex = build_index(X, k=k)
    return find_neighborhoods(index, k)


VOLCANO: Final = "RKOF, volcano"
KERNELS: Final = (VOLCANO, "RKOF, gaussian", "RKOF, epanechnikov")
PLAIN_RKOF: Final = "RKOF, plain mean"
LOF: Final = "LOF"
WEIGHTED_LOF: Final = "LOF, weighted mean"
METHODS: Final = (*KERNELS, PLAIN_RKOF, LOF, WEIGHTED_LOF, "LDF", "LPF")
BAGGING: Final = "feature bagging (PyOD)"
LARGE_LPF: Final = "LPF, the paper's k"
TIMED: Final = (LOF, *KERNELS, "LDF", "LPF")

# In a set with more rows than this, LPF at a k of many thousands scores all outliers and a sample
# of the other rows.
MANY_ROWS: Final = 20_000
SAMPLED_ROWS: Final = 4_000
# Rounds of feature bagging: fewer if one round has more neighbours than this.
_MANY_NEIGHBORS: Final = 5_000_000
_ROUNDS, _FEWER_ROUNDS = 10, 3
_SHORT_FITS, _SHORT_SECONDS = 3, 5.0
_CURVE_POINTS: Final = 300
_QUICK_NUMBERS: Final = 6


class RealResults(NamedTuple):
    """Results on real data.

    Attributes
    ----------
    areas : DataFrame
        Area under the ROC curve: set, family, method, k, auc.
    curves : DataFrame
        ROC curves at each set's chosen k: set, method, k, false_alarms, found.
    times : DataFrame
        Seconds to fit at the chosen k, and their ratio to scikit-learn's LOF: set, family,
        method, k, seconds, ratio_to_lof.
    notes : tuple of str
        Omissions and estimates.
    """

    areas: pd.DataFrame
    curves: pd.DataFrame
    times: pd.DataFrame
    notes: tuple[str, ...]


def measure_sets(sets: Sequence[OutlierSet], *, quick: bool = False) -> RealResults:
    """Rank the rows of every set by every method, for every k.

    Parameters
    ----------
    sets : sequence of OutlierSet
        The data sets.
    quick : bool
        Only a few k; no times, no feature bagging, no LPF at a k of many thousands.
    """
    areas: list[dict[str, Any]] = []
    curves: list[pd.DataFrame] = []
    times: list[dict[str, Any]] = []
    notes: list[str] = []
    for data in track(sets, "data sets"):
        ranked = rankings(data, _few(data) if quick else data.numbers)
        if not quick and not data.is_variant:
            notes += _add_feature_bagging(data, ranked)
            notes += add_large_lpf(data, areas)
            times += _times(data)
        areas += [_area(data, one) for one in ranked]
        curves += [_curve(data, one) for one in ranked if one.k == data.chosen_k]
    return RealResults(
        pd.DataFrame(areas, columns=["set", "family", "method", "k", "auc"]),
        pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=_CURVE_COLUMNS),
        pd.DataFrame(times, columns=["set", "family", "method", "k", "seconds", "ratio_to_lof"]),
        tuple(dict.fromkeys(notes)),
    )


_CURVE_COLUMNS: Final = ["set", "method", "k", "false_alarms", "found"]


def _few(data: OutlierSet) -> tuple[int, ...]:
    """Return some k, including the smallest, the largest and the chosen one."""
    chosen = np.linspace(0, len(data.numbers) - 1, _QUICK_NUMBERS).round().astype(int)
    return tuple(sorted({*(data.numbers[number] for number in chosen), data.chosen_k}))


def rankings(data: OutlierSet, numbers: Sequence[int]) -> list[RankedRows]:
    """Rank the rows by every method and for every k, from two searches of neighbours."""
    methods = {
        **{f"RKOF, {name}": rkof_settings(name) for name in ("volcano", "gaussian")},
        "RKOF, epanechnikov": rkof_settings("epanechnikov"),
        PLAIN_RKOF: rkof_settings(sigma=np.inf),
        "LDF": ldf_settings(data.X.shape[1]),
    }
    neighborhoods = searched(data.X, max(numbers))
    ranked = density_factors(neighborhoods, numbers, methods)
    ranked += peculiarity_factors(neighborhoods, numbers)
    del neighborhoods  # gigabytes, for large sets
    neighbors = sorted_neighbors(data.X, max(numbers))
    for k in track(numbers, "LOF, each k"):
        ranked.append(RankedRows(LOF, k, local_outlier_factors(neighbors, k)))
        ranked.append(RankedRows(WEIGHTED_LOF, k, local_outlier_factors(neighbors, k, sigma=1.0)))
    return ranked


def _area(data: OutlierSet, one: RankedRows) -> dict[str, Any]:
    auc = float(roc_auc_score(data.is_outlier, one.scores))
    return {"set": data.name, "family": data.family, "method": one.method, "k": one.k, "auc": auc}


def _curve(data: OutlierSet, one: RankedRows) -> pd.DataFrame:
    false_alarms, found, _ = roc_curve(data.is_outlier, one.scores)
    # Points are evenly spaced along the curve, which is steep at one end and flat at the other.
    along = np.linspace(0, 2, _CURVE_POINTS)
    kept = np.unique(np.searchsorted(false_alarms + found, along).clip(0, len(found) - 1))
    return pd.DataFrame(
        {
            "set": data.name,
            "method": one.method,
            "k": one.k,
            "false_alarms": false_alarms[kept],
            "found": found[kept],
        }
    )


def add_large_lpf(data: OutlierSet, areas: list[dict[str, Any]]) -> list[str]:
    """Add the area of LPF at the paper's k of many thousands; return notes."""
    if data.largest_k is None:
        return []
    rows = np.arange(len(data.X))
    notes = []
    if len(rows) > MANY_ROWS:
        ordinary = np.random.default_rng(0).permutation(rows[~data.is_outlier])[:SAMPLED_ROWS]
        rows = np.concatenate([np.flatnonzero(data.is_outlier), ordinary])
        notes.append(
            f"{data.name}: LPF with k = {data.largest_k:,} scores all outliers and a sample of "
            f"{len(ordinary):,} other rows, each among all rows."
        )
    scores = peculiarities_of(data.X, rows, data.largest_k)
    sampled = data._replace(is_outlier=data.is_outlier[rows])
    areas.append(_area(sampled, RankedRows(LARGE_LPF, data.largest_k, scores)))
    return notes


def _add_feature_bagging(data: OutlierSet, ranked: list[RankedRows]) -> list[str]:
    """Add the scores of PyOD's feature bagging of LOF at the chosen k; return notes."""
    try:
        # PyOD prints a line if a package is missing, and standard output may be JSON.
        with redirect_stdout(io.StringIO()):
            from pyod.models import lof as pyod_lof  # type: ignore[import-untyped]
            from pyod.models.feature_bagging import (  # type: ignore[import-untyped]
                FeatureBagging,
            )
    except ImportError as error:
        return [
            f"Feature bagging is left out: {error}. It needs PyOD with its extra combo; install "
            'them with pip install "kernova[peers]".'
        ]
    rounds = _FEWER_ROUNDS if len(data.X) * data.chosen_k > _MANY_NEIGHBORS else _ROUNDS
    bagging = FeatureBagging(pyod_lof.LOF(n_neighbors=data.chosen_k), rounds, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about duplicate rows, which are expected
        bagging.fit(data.X)
    ranked.append(RankedRows(BAGGING, data.chosen_k, bagging.decision_scores_))
    return [f"Feature bagging takes {rounds} rounds on {data.family}."] * (rounds < _ROUNDS)


def _times(data: OutlierSet) -> list[dict[str, Any]]:
    """Time the fit of each detector at the chosen k, one after the other, on one thread."""
    k = data.chosen_k
    detectors = {
        LOF: LocalOutlierFactor(n_neighbors=k),
        **{name: RobustKernelOutlierFactor(k, name.removeprefix("RKOF, ")) for name in KERNELS},
        "LDF": LocalDensityFactor(k),
        "LPF": LocalPeculiarityFactor(k),
    }
    seconds = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about duplicate rows, which are expected
        for method in track(TIMED, "times"):
            seconds[method] = _seconds_to_fit(detectors[method], data.X)
    return [
        {
            "set": data.name,
            "family": data.family,
            "method": method,
            "k": k,
            "seconds": taken,
            "ratio_to_lof": taken / seconds[LOF],
        }
        for method, taken in seconds.items()
    ]


def _seconds_to_fit(detector: Any, X: Matrix) -> float:
    """Return the time of one fit; if it is short, the shortest of three."""
    taken: list[float] = []
    while not taken or (len(taken) < _SHORT_FITS and max(taken) < _SHORT_SECONDS):
        started = time.perf_counter()
        detector.fit(X)
        taken.append(time.perf_counter() - started)
    return min(taken)


def family_areas(areas: pd.DataFrame) -> pd.DataFrame:
    """Return mean areas over the sets of a family, as in the paper for the five of shuttle."""
    means = areas.groupby(["family", "method", "k"], sort=False)["auc"].mean()
    return means.reset_index()


def best_numbers(areas: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest k with the largest area, for each family and method."""
    ordered = family_areas(areas).sort_values(["auc", "k"], ascending=[False, True], kind="stable")
    best = ordered.groupby(["family", "method"], as_index=False, sort=False).first()
    methods = {method: n for n, method in enumerate((*METHODS, LARGE_LPF, BAGGING))}
    families = {family: n for n, family in enumerate(dict.fromkeys(areas["family"]))}
    return best.sort_values(
        ["family", "method"],
        key=lambda column: column.map(methods if column.name == "method" else families),
    ).reset_index(drop=True)

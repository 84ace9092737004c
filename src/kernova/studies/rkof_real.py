"""Areas under ROC curves, the curves themselves, and times, on the real data of the RKOF paper."""

import io
import time
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.neighbors import LocalOutlierFactor

from kernova.progress import track
from kernova.score.baselines import LocalDensityFactor, LocalPeculiarityFactor
from kernova.score.outlier_factor import RobustKernelOutlierFactor
from kernova.studies.rkof_data import OutlierSet
from kernova.studies.rkof_factors import (
    RankedRows,
    density_factors,
    ldf_settings,
    local_outlier_factors,
    peculiarities_of,
    peculiarity_factors,
    rkof_settings,
    searched,
    sorted_neighbors,
)

Matrix = NDArray[np.float64]

VOLCANO: Final = "RKOF, volcano"
KERNELS: Final = (VOLCANO, "RKOF, gaussian", "RKOF, epanechnikov")
PLAIN_RKOF: Final = "RKOF, plain mean"
LOF: Final = "LOF"
WEIGHTED_LOF: Final = "LOF, weighted mean"
METHODS: Final = (*KERNELS, PLAIN_RKOF, LOF, WEIGHTED_LOF, "LDF", "LPF")
BAGGING: Final = "feature bagging (PyOD)"
LARGE_LPF: Final = "LPF, the paper's k"
TIMED: Final = (LOF, *KERNELS, "LDF", "LPF")

# Of a set with more rows than this, LPF at a k of many thousands scores all outliers and a sample
# of the others.
_MANY_ROWS: Final = 20_000
_SAMPLED_ROWS: Final = 4_000
# Rounds of feature bagging: fewer where one round looks at more neighbours than this.
_MANY_NEIGHBORS: Final = 5_000_000
_ROUNDS, _FEWER_ROUNDS = 10, 3
_SHORT_FITS, _SHORT_SECONDS = 3, 5.0
_CURVE_POINTS: Final = 300
_QUICK_NUMBERS: Final = 6


class RealResults(NamedTuple):
    """What was measured on real data.

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
        What was left out, and what was estimated.
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
        The data.
    quick : bool
        A few k only; no times, no feature bagging, no LPF at k of many thousands.
    """
    areas: list[dict[str, Any]] = []
    curves: list[pd.DataFrame] = []
    times: list[dict[str, Any]] = []
    notes: list[str] = []
    for data in track(sets, "data sets"):
        ranked = rankings(data, _few(data) if quick else data.numbers)
        if not quick and not data.is_variant:
            notes += _add_feature_bagging(data, ranked)
            notes += _add_large_lpf(data, areas)
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
    """Choose some k, from the smallest to the largest and the chosen one among them."""
    places = np.linspace(0, len(data.numbers) - 1, _QUICK_NUMBERS).round().astype(int)
    return tuple(sorted({*(data.numbers[place] for place in places), data.chosen_k}))


def rankings(data: OutlierSet, numbers: Sequence[int]) -> list[RankedRows]:
    """Rank the rows by every method and for every k, from two searches: ours, scikit-learn's."""
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
    # Thinned evenly along the curve, since it is steep at one end and flat at the other.
    along = np.linspace(0, 2, _CURVE_POINTS)
    places = np.unique(np.searchsorted(false_alarms + found, along).clip(0, len(found) - 1))
    return pd.DataFrame(
        {
            "set": data.name,
            "method": one.method,
            "k": one.k,
            "false_alarms": false_alarms[places],
            "found": found[places],
        }
    )


def _add_large_lpf(data: OutlierSet, areas: list[dict[str, Any]]) -> list[str]:
    """Score by LPF at the k of many thousands that the paper took for it."""
    if data.largest_k is None:
        return []
    rows = np.arange(len(data.X))
    notes = []
    if len(rows) > _MANY_ROWS:
        ordinary = np.random.default_rng(0).permutation(rows[~data.is_outlier])[:_SAMPLED_ROWS]
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
    """Let PyOD bag LOF over random columns, with the chosen k."""
    try:
        # PyOD prints a line where a package it needs is missing; answers may be JSON.
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
        warnings.simplefilter("ignore")  # of copies of rows, which are known here
        bagging.fit(data.X)
    ranked.append(RankedRows(BAGGING, data.chosen_k, bagging.decision_scores_))
    return [f"Feature bagging takes {rounds} rounds on {data.family}."] * (rounds < _ROUNDS)


def _times(data: OutlierSet) -> list[dict[str, Any]]:
    """Fit each detector at the chosen k, one after the other in this run, on one thread."""
    k = data.chosen_k
    detectors = {
        LOF: LocalOutlierFactor(n_neighbors=k),
        **{name: RobustKernelOutlierFactor(k, name.removeprefix("RKOF, ")) for name in KERNELS},
        "LDF": LocalDensityFactor(k),
        "LPF": LocalPeculiarityFactor(k),
    }
    seconds = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of copies of rows, which are known here
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
    """Take the time of one fit; where that is short, the shortest of three."""
    taken: list[float] = []
    while not taken or (len(taken) < _SHORT_FITS and max(taken) < _SHORT_SECONDS):
        started = time.perf_counter()
        detector.fit(X)
        taken.append(time.perf_counter() - started)
    return min(taken)


def family_areas(areas: pd.DataFrame) -> pd.DataFrame:
    """Take the mean over the sets of a family, as the paper does for the shuttle's five."""
    means = areas.groupby(["family", "method", "k"], sort=False)["auc"].mean()
    return means.reset_index()


def best_numbers(areas: pd.DataFrame) -> pd.DataFrame:
    """Give the k with the largest area for each family and method: the smallest such k."""
    ordered = family_areas(areas).sort_values(["auc", "k"], ascending=[False, True], kind="stable")
    best = ordered.groupby(["family", "method"], as_index=False, sort=False).first()
    places = {method: place for place, method in enumerate((*METHODS, LARGE_LPF, BAGGING))}
    families = {family: place for place, family in enumerate(dict.fromkeys(areas["family"]))}
    return best.sort_values(
        ["family", "method"],
        key=lambda column: column.map(places if column.name == "method" else families),
    ).reset_index(drop=True)

"""Synthetic-1 and Synthetic-2 of the RKOF paper: the share of outliers ranked on top.

The paper shows its two sets as pictures, without the numbers behind them. What is known is how
many rows are where; the places and spreads here are ours, chosen so that what the paper prints of
its one draw comes out in most of ours.

What matters in Synthetic-1 is the gap between the small group and its cluster. At 4.5 deviations
LOF does not find all in half of the draws; at 5, as here, it needs twice the k of RKOF; at 8 both
find all soon. In Synthetic-2 it is the ring's density, the outer group's distance from it, and
that the other group lies inside: were both outside, LOF too would find all with k = 500, half of
all rows. Two groups of 10 instead of 6 and 14 let LOF find all in a third of the draws.

Theorem 1 of the RKOF paper: what a neighbourhood full of outliers does to an outlier's factor.

Let a share r of the neighbours of an outlier be outliers like itself, with its own density, and
the others be tau times as dense. If neighbours count alike, its factor is

    r + (1 - r) tau,

and if outliers count with weight omega < 1,

    (r omega + (1 - r) tau) / (r omega + 1 - r),

which is as much at r = 0 and at r = 1, and more in between. (The paper calls the second a
quadratic curve; it is a hyperbola.)
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.anomaly.local_densities import bounded_exp
from kernova.papers.rkof.experiments import (
    RankedRows,
    density_factors,
    local_outlier_factors,
    rkof_settings,
    searched,
    sorted_neighbors,
)
from kernova.progress import track
from kernova.typing import Matrix, Vector

# Synthetic-1: three Gaussians at the corners of a triangle, and outliers beyond its top.
CLUSTER_ROWS: Final = 500
TRIANGLE_SIDE: Final = 10.0
GROUP_ROWS: Final = 15
GROUP_GAP: Final = 5.0  # from the nearest cluster's centre, in units of its deviation
GROUP_DEVIATION: Final = 0.2
LONELY_PLACE: Final = (0.0, -10.0)

# Synthetic-2: a ring, a Gaussian in its middle, a few outliers between them and more outside.
RING_RADII: Final = (9.0, 10.0)
MIDDLE_DEVIATION: Final = 0.5
SMALL_GROUPS: Final = {(0.0, 5.0): 6, (14.5, 0.0): 14}  # place: rows

# For which k outliers are looked for: every one where the methods differ, then fewer.
NUMBERS: Final = {
    "Synthetic-1": (*range(10, 41), *range(42, 61, 2), *range(65, 131, 5)),
    "Synthetic-2": (*range(8, 31), 35, 40, 50, 60, 80, 100, 150, 200, 300, 500, 750, 1000),
}

# The means compared: RKOF's own weights, sharp and default, and none; and the same in LOF.
SIGMAS: Final = {"sigma = 0.1": 0.1, "sigma = 1": 1.0, "plain mean": np.inf}
METHODS: Final = (
    *(f"RKOF, {words}" for words in SIGMAS),
    "LOF, sigma = 0.1",
    "LOF, sigma = 1",
    "LOF",
)


class LabelledRows(NamedTuple):
    """Rows in the plane, and which of them are outliers."""

    rows: Matrix
    is_outlier: NDArray[np.bool_]


def synthetic_1(rng: np.random.Generator) -> LabelledRows:
    """Draw three clusters of the same variance, 15 outliers close together, and one alone."""
    angles = np.deg2rad([90, 210, 330])
    centres = TRIANGLE_SIDE / np.sqrt(3) * np.column_stack([np.cos(angles), np.sin(angles)])
    group = centres[0] + (0.0, GROUP_GAP)
    return _joined(
        [centre + rng.standard_normal((CLUSTER_ROWS, 2)) for centre in centres],
        [
            group + GROUP_DEVIATION * rng.standard_normal((GROUP_ROWS, 2)),
            np.array([LONELY_PLACE]),
        ],
    )


def synthetic_2(rng: np.random.Generator) -> LabelledRows:
    """Draw a ring, a Gaussian, and 20 outliers in two small groups."""
    angles = rng.uniform(0, 2 * np.pi, CLUSTER_ROWS)
    inner, outer = RING_RADII
    radii = np.sqrt(rng.uniform(inner**2, outer**2, CLUSTER_ROWS))  # even over the ring's area
    ring = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    middle = MIDDLE_DEVIATION * rng.standard_normal((CLUSTER_ROWS, 2))
    return _joined(
        [ring, middle],
        [
            place + GROUP_DEVIATION * rng.standard_normal((n_rows, 2))
            for place, n_rows in SMALL_GROUPS.items()
        ],
    )


SETS: Final[dict[str, Callable[[np.random.Generator], LabelledRows]]] = {
    "Synthetic-1": synthetic_1,
    "Synthetic-2": synthetic_2,
}


def drawn(name: str, seed: int) -> LabelledRows:
    """Draw one of the two sets; the same seed gives the same rows."""
    return SETS[name](np.random.default_rng(seed))


def coverage_experiment(seeds: Sequence[int]) -> pd.DataFrame:
    """Count the outliers ranked on top in many draws of both sets.

    Returns
    -------
    DataFrame
        One line per set, draw, method and k: ``found`` is the share of all outliers that is among
        as many rows with the largest factors.
    """
    lines = []
    for name in SETS:
        for seed in track(seeds, name):
            data = drawn(name, seed)
            lines += [
                {
                    "set": name,
                    "seed": seed,
                    "method": one.method,
                    "k": one.k,
                    "found": share_found(one.scores, data.is_outlier),
                }
                for one in rankings(data.rows, NUMBERS[name])
            ]
    return pd.DataFrame(lines)


def all_found_from(coverage: pd.DataFrame) -> pd.DataFrame:
    """Give, per draw and method, the k from which on all outliers are found, and where else.

    Returns
    -------
    DataFrame
        set, seed, method; ``from_k``, the smallest k such that it and all larger ones tried find
        all (missing if the largest does not); ``first_k``, the smallest that does (missing if
        none); ``best``, the largest share found, and ``best_k``, the smallest k for that.
    """
    lines = []
    for (name, seed, method), draw in coverage.groupby(["set", "seed", "method"], sort=False):
        ordered = draw.sort_values("k")
        k, found = ordered["k"].to_numpy(), ordered["found"].to_numpy()
        is_short = found < 1
        n_before = len(k) - int(np.argmax(is_short[::-1])) if is_short.any() else 0
        lines.append(
            {
                "set": name,
                "seed": seed,
                "method": method,
                "from_k": float(k[n_before]) if n_before < len(k) else np.nan,
                "first_k": np.nan if is_short.all() else float(k[np.argmin(is_short)]),
                "best": float(found.max()),
                "best_k": int(k[np.argmax(found)]),
            }
        )
    return pd.DataFrame(lines)


def _joined(usual: Sequence[Matrix], outliers: Sequence[Matrix]) -> LabelledRows:
    rows = np.concatenate([*usual, *outliers])
    n_usual = sum(map(len, usual))
    return LabelledRows(rows, np.arange(len(rows)) >= n_usual)


def share_found(scores: NDArray[np.float64], is_outlier: NDArray[np.bool_]) -> float:
    """Give the share of the outliers that is among as many rows with the highest scores."""
    n_outliers = int(is_outlier.sum())
    top = np.argsort(-scores, kind="stable")[:n_outliers]
    return float(is_outlier[top].mean())


def rankings(rows: Matrix, numbers: Sequence[int]) -> list[RankedRows]:
    """Rank the rows by RKOF and LOF, each with its mean weighted and plain, for each k."""
    neighborhoods = searched(rows, max(numbers))
    methods = {f"RKOF, {words}": rkof_settings(sigma=sigma) for words, sigma in SIGMAS.items()}
    ranked = density_factors(neighborhoods, numbers, methods)
    neighbors = sorted_neighbors(rows, max(numbers))
    for words, sigma in SIGMAS.items():
        name = "LOF" if np.isinf(sigma) else f"LOF, {words}"
        ranked += [RankedRows(name, k, local_outlier_factors(neighbors, k, sigma)) for k in numbers]
    return ranked


# How many times denser the ordinary neighbours are, and what outliers weigh, in the drawn curves.
DENSITY_RATIO: Final = 10.0
WEIGHTS: Final = (1.0, 0.5, 0.1, 0.01)
# The experiment: a group of 1, 2, ... outliers beside one cluster, and this many neighbours.
N_NEIGHBORS: Final = 30
GROUP_SIZES: Final = (*range(1, 26, 3), *range(26, N_NEIGHBORS + 2))
# "Approximately constant" is taken to be this share of the largest factor, at least.
NEARLY_ALL: Final = 0.9


def theoretical_factor(share: Vector, density_ratio: float, weight: float) -> Vector:
    """Give an outlier's factor, by the share of outliers among its neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.papers.rkof.synthetic import theoretical_factor
    >>> theoretical_factor(np.array([0.0, 0.5, 1.0]), density_ratio=10, weight=1.0)
    array([10. ,  5.5,  1. ])
    >>> theoretical_factor(np.array([0.0, 0.5, 1.0]), density_ratio=10, weight=0.1)
    array([10.        ,  9.18181818,  1.        ])
    """
    of_outliers = share * weight
    return (of_outliers + (1 - share) * density_ratio) / (of_outliers + 1 - share)


def theoretical_curves() -> pd.DataFrame:
    """Give the curves of Theorem 1: weight, share, factor."""
    share = np.linspace(0, 1, 201)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "weight": weight,
                    "share": share,
                    "factor": theoretical_factor(share, DENSITY_RATIO, weight),
                }
            )
            for weight in WEIGHTS
        ],
        ignore_index=True,
    )


def share_still_seen(weight: float, density_ratio: float = DENSITY_RATIO) -> float:
    """Give the largest share of outliers at which a factor is still nearly as large as alone.

    That is, at least :data:`NEARLY_ALL` of the factor without other outliers around.

    Examples
    --------
    >>> from kernova.papers.rkof.synthetic import share_still_seen
    >>> round(share_still_seen(1.0), 3), round(share_still_seen(0.1), 3)
    (0.111, 0.556)
    """
    # (r w + (1 - r) t) / (r w + 1 - r) = q t, solved for r.
    kept = NEARLY_ALL * density_ratio
    lost = density_ratio - kept
    return lost / (lost + weight * (kept - 1))


def theorem_experiment(seeds: Sequence[int]) -> pd.DataFrame:
    """Let a group of outliers grow until it fills its own neighbourhoods.

    Returns
    -------
    DataFrame
        One line per draw, group size and method: ``share`` of outliers among an outlier's
        neighbours, ``factor`` (the median over the group), ``kept`` (that factor as a share of
        what an outlier alone gets in the same draw), and ``found``, the share of the group that
        is ranked on top.
    """
    lines = []
    for seed in track(seeds, "Theorem 1"):
        lines += _growing_group(seed)
    table = pd.DataFrame(lines)
    alone = table[table["share"] == 0].set_index(["seed", "method"])["factor"]
    at = pd.MultiIndex.from_frame(table[["seed", "method"]])
    return table.assign(kept=table["factor"].to_numpy() / alone.loc[at].to_numpy())


def _growing_group(seed: int) -> list[dict[str, float | int | str]]:
    rng = np.random.default_rng([seed, 3])
    cluster = rng.standard_normal((CLUSTER_ROWS, 2))
    group = (GROUP_GAP, 0.0) + GROUP_DEVIATION * rng.standard_normal((max(GROUP_SIZES), 2))
    lines = []
    for size in GROUP_SIZES:
        rows = np.concatenate([cluster, group[:size]])
        is_outlier = np.arange(len(rows)) >= len(cluster)
        for one in rankings(rows, (N_NEIGHBORS,)):
            factors = bounded_exp(one.scores) if one.method.startswith("RKOF") else one.scores
            lines.append(
                {
                    "seed": seed,
                    "method": one.method,
                    "group": size,
                    "share": (size - 1) / N_NEIGHBORS,
                    "factor": float(np.median(factors[is_outlier])),
                    "found": share_found(one.scores, is_outlier),
                }
            )
    return lines


def largest_seen_shares(experiment: pd.DataFrame) -> pd.DataFrame:
    """Give, per draw and method, up to which share of outliers all of the group are on top."""
    lines = []
    for method in METHODS:
        of_method = experiment[experiment["method"] == method]
        for seed, draw in of_method.groupby("seed"):
            ordered = draw.sort_values("share")
            is_hidden = (ordered["found"] < 1).to_numpy()
            n_seen = int(np.argmax(is_hidden)) if is_hidden.any() else len(ordered)
            share = float(ordered["share"].iloc[n_seen - 1]) if n_seen else 0.0
            lines.append({"seed": seed, "method": method, "share": share})
    return pd.DataFrame(lines)

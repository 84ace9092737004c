"""Synthetic-1, Synthetic-2 and Theorem 1 of the RKOF paper.

The paper shows its two synthetic sets as pictures, without coordinates. The number of rows of each
group is known; positions and spreads are ours, chosen so that the printed results of the paper's
one draw agree with most of our draws.

In Synthetic-1 the gap between the small group and its cluster is decisive. At 4.5 standard
deviations LOF misses outliers in half of the draws; at 5, as here, it needs twice the k of RKOF; at
8 both find all outliers with a small k. In Synthetic-2 it is the density of the ring, the distance
of the outer group, and that the other group lies inside: with both outside, LOF would also find all
outliers at k = 500, half of all rows. With two groups of 10 instead of 6 and 14, LOF finds all in a
third of the draws.

Theorem 1 describes the factor of an outlier among other outliers. Let a fraction r of its
neighbours be outliers of the same density, and the others be tau times as dense. With equal weights
its factor is

    r + (1 - r) tau,

and with weight omega < 1 for outliers it is

    (r omega + (1 - r) tau) / (r omega + 1 - r),

which is equal at r = 0 and r = 1 and larger in between. (The paper calls the second a quadratic
curve; it is a hyperbola.)
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
SINGLE_OUTLIER: Final = (0.0, -10.0)

# Synthetic-2: a ring, a Gaussian in its centre, a few outliers between them and more outside.
RING_RADII: Final = (9.0, 10.0)
MIDDLE_DEVIATION: Final = 0.5
SMALL_GROUPS: Final = {(0.0, 5.0): 6, (14.5, 0.0): 14}  # position: rows

# Values of k: every one where the methods differ, then fewer.
NUMBERS: Final = {
    "Synthetic-1": (*range(10, 41), *range(42, 61, 2), *range(65, 131, 5)),
    "Synthetic-2": (*range(8, 31), 35, 40, 50, 60, 80, 100, 150, 200, 300, 500, 750, 1000),
}

# Means of densities: with RKOF's weights, sharp and default, and without; and the same in LOF.
SIGMAS: Final = {"sigma = 0.1": 0.1, "sigma = 1": 1.0, "plain mean": np.inf}
METHODS: Final = (
    *(f"RKOF, {label}" for label in SIGMAS),
    "LOF, sigma = 0.1",
    "LOF, sigma = 1",
    "LOF",
)


class LabelledRows(NamedTuple):
    """Rows with two columns, and which of them are outliers."""

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
            np.array([SINGLE_OUTLIER]),
        ],
    )


def synthetic_2(rng: np.random.Generator) -> LabelledRows:
    """Draw a ring, a Gaussian, and 20 outliers in two small groups."""
    angles = rng.uniform(0, 2 * np.pi, CLUSTER_ROWS)
    inner, outer = RING_RADII
    radii = np.sqrt(rng.uniform(inner**2, outer**2, CLUSTER_ROWS))  # uniform over its area
    ring = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    middle = MIDDLE_DEVIATION * rng.standard_normal((CLUSTER_ROWS, 2))
    return _joined(
        [ring, middle],
        [
            centre + GROUP_DEVIATION * rng.standard_normal((n_rows, 2))
            for centre, n_rows in SMALL_GROUPS.items()
        ],
    )


SETS: Final[dict[str, Callable[[np.random.Generator], LabelledRows]]] = {
    "Synthetic-1": synthetic_1,
    "Synthetic-2": synthetic_2,
}


def drawn(name: str, seed: int) -> LabelledRows:
    """Draw one of the two sets with a random seed."""
    return SETS[name](np.random.default_rng(seed))


def coverage_experiment(seeds: Sequence[int]) -> pd.DataFrame:
    """Count the outliers ranked on top in many draws of both sets.

    Returns
    -------
    DataFrame
        One line for each set, draw, method and k: ``found`` is the fraction of all outliers that
        are among as many rows with the largest factors.
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
                    "found": fraction_found(one.scores, data.is_outlier),
                }
                for one in rankings(data.rows, NUMBERS[name])
            ]
    return pd.DataFrame(lines)


def all_found_from(coverage: pd.DataFrame) -> pd.DataFrame:
    """Return the k from which on all outliers are found, for each draw and method.

    Returns
    -------
    DataFrame
        set, seed, method; ``from_k``, the smallest k such that it and all larger ones tried find
        all (missing if the largest does not); ``first_k``, the smallest that does (missing if
        none); ``best``, the largest fraction found, and ``best_k``, the smallest k for that.
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


def _joined(ordinary: Sequence[Matrix], outliers: Sequence[Matrix]) -> LabelledRows:
    rows = np.concatenate([*ordinary, *outliers])
    n_ordinary = sum(map(len, ordinary))
    return LabelledRows(rows, np.arange(len(rows)) >= n_ordinary)


def fraction_found(scores: NDArray[np.float64], is_outlier: NDArray[np.bool_]) -> float:
    """Return the fraction of the outliers that are among as many rows with the highest scores."""
    n_outliers = int(is_outlier.sum())
    top = np.argsort(-scores, kind="stable")[:n_outliers]
    return float(is_outlier[top].mean())


def rankings(rows: Matrix, numbers: Sequence[int]) -> list[RankedRows]:
    """Rank the rows by RKOF and LOF, each with its mean weighted and plain, for each k."""
    neighborhoods = searched(rows, max(numbers))
    methods = {f"RKOF, {label}": rkof_settings(sigma=sigma) for label, sigma in SIGMAS.items()}
    ranked = density_factors(neighborhoods, numbers, methods)
    neighbors = sorted_neighbors(rows, max(numbers))
    for label, sigma in SIGMAS.items():
        name = "LOF" if np.isinf(sigma) else f"LOF, {label}"
        ranked += [RankedRows(name, k, local_outlier_factors(neighbors, k, sigma)) for k in numbers]
    return ranked


# Density of ordinary neighbours relative to outliers, and weights of outliers, in the curves.
DENSITY_RATIO: Final = 10.0
WEIGHTS: Final = (1.0, 0.5, 0.1, 0.01)
# The experiment: a group of 1, 2, ... outliers beside one cluster, and the number of neighbours.
N_NEIGHBORS: Final = 30
GROUP_SIZES: Final = (*range(1, 26, 3), *range(26, N_NEIGHBORS + 2))
# Our reading of "approximately constant": at least this fraction of the largest factor.
NEARLY_ALL: Final = 0.9


def theoretical_factor(fraction: Vector, density_ratio: float, weight: float) -> Vector:
    """Return an outlier's factor by the fraction of outliers among its neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.papers.rkof.synthetic import theoretical_factor
    >>> theoretical_factor(np.array([0.0, 0.5, 1.0]), density_ratio=10, weight=1.0)
    array([10. ,  5.5,  1. ])
    >>> theoretical_factor(np.array([0.0, 0.5, 1.0]), density_ratio=10, weight=0.1)
    array([10.        ,  9.18181818,  1.        ])
    """
    of_outliers = fraction * weight
    return (of_outliers + (1 - fraction) * density_ratio) / (of_outliers + 1 - fraction)


def theoretical_curves() -> pd.DataFrame:
    """Return the curves of Theorem 1: weight, fraction ("share") and factor."""
    fraction = np.linspace(0, 1, 201)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "weight": weight,
                    "share": fraction,
                    "factor": theoretical_factor(fraction, DENSITY_RATIO, weight),
                }
            )
            for weight in WEIGHTS
        ],
        ignore_index=True,
    )


def fraction_still_seen(weight: float, density_ratio: float = DENSITY_RATIO) -> float:
    """Return the largest fraction of outliers at which a factor is still nearly as large as alone.

    That is, at least :data:`NEARLY_ALL` of the factor without other outliers around.

    Examples
    --------
    >>> from kernova.papers.rkof.synthetic import fraction_still_seen
    >>> round(fraction_still_seen(1.0), 3), round(fraction_still_seen(0.1), 3)
    (0.111, 0.556)
    """
    # (r w + (1 - r) t) / (r w + 1 - r) = q t, solved for r.
    kept = NEARLY_ALL * density_ratio
    lost = density_ratio - kept
    return lost / (lost + weight * (kept - 1))


def theorem_experiment(seeds: Sequence[int]) -> pd.DataFrame:
    """Measure factors while a group of outliers grows until it fills its own neighbourhoods.

    Returns
    -------
    DataFrame
        One line for each draw, group size and method: ``share``, the fraction of outliers among an
        outlier's neighbours; ``factor``, the median over the group; ``kept``, that factor as a
        fraction of the factor of a single outlier in the same draw; and ``found``, the fraction of
        the group that is ranked on top.
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
                    "found": fraction_found(one.scores, is_outlier),
                }
            )
    return lines


def largest_seen_fractions(experiment: pd.DataFrame) -> pd.DataFrame:
    """Return the largest fraction of outliers at which the whole group is ranked on top."""
    lines = []
    for method in METHODS:
        of_method = experiment[experiment["method"] == method]
        for seed, draw in of_method.groupby("seed"):
            ordered = draw.sort_values("share")
            is_hidden = (ordered["found"] < 1).to_numpy()
            n_seen = int(np.argmax(is_hidden)) if is_hidden.any() else len(ordered)
            fraction = float(ordered["share"].iloc[n_seen - 1]) if n_seen else 0.0
            lines.append({"seed": seed, "method": method, "share": fraction})
    return pd.DataFrame(lines)

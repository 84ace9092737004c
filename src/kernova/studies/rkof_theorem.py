"""Theorem 1 of the RKOF paper: what a neighbourhood full of outliers does to an outlier's factor.

Let a share r of the neighbours of an outlier be outliers like itself, with its own density, and
the others be tau times as dense. If neighbours count alike, its factor is

    r + (1 - r) tau,

and if outliers count with weight omega < 1,

    (r omega + (1 - r) tau) / (r omega + 1 - r),

which is as much at r = 0 and at r = 1, and more in between. (The paper calls the second a
quadratic curve; it is a hyperbola.)
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.progress import track
from kernova.score.local_densities import bounded_exp
from kernova.studies.rkof_synthetic import (
    CLUSTER_ROWS,
    GROUP_DEVIATION,
    GROUP_GAP,
    METHODS,
    rankings,
    share_found,
)

Vector = NDArray[np.float64]

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
    >>> from kernova.studies.rkof_theorem import theoretical_factor
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
    >>> from kernova.studies.rkof_theorem import share_still_seen
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

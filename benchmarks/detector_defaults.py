"""Choose the defaults of single detectors: the width of KSD, the numbers of neighbours of RKOF.

The split was written down before the first run. Choosing sees the novelty tables at even places
(0, 2, 4, ... of ``novelty_tables/index.csv``) and the outlier tables at even places (0, 2, 4, ...
of ``outlier_tables/index.csv``) only; those at odd places are for one confirming run at the end
(``--confirm``). Of the single sets, mammography and ann_thyroid may be looked at.

Columns become z-scores of the known rows (unsupervised: of all rows), constant ones are dropped.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from kernova import KernelSpatialDepth, RobustKernelOutlierFactor

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_DEFAULT_DATA = Path(__file__).parents[2] / "shared" / "data"
_RESAMPLES = 4000


class Rows(NamedTuple):
    """Known rows, rows to judge (the same ones if unsupervised), and which of these are unusual."""

    known: Matrix
    new: Matrix
    is_unusual: NDArray[np.int64]


def depth(**parameters: object) -> Callable[[Rows], Vector]:
    return lambda rows: -KernelSpatialDepth(**parameters).fit(rows.known).score_samples(rows.new)


def factor(n_neighbors: object) -> Callable[[Rows], Vector]:
    return lambda rows: (
        -RobustKernelOutlierFactor(n_neighbors).fit(rows.new).negative_outlier_factor_
    )


def neighbour_distance(k: int, is_own: bool) -> Callable[[Rows], Vector]:
    def distances(rows: Rows) -> Vector:
        search = NearestNeighbors(n_neighbors=k).fit(rows.known)
        return search.kneighbors(None if is_own else rows.new)[0][:, -1]

    return distances


NOVELTY: dict[str, Callable[[Rows], Vector]] = {
    "1-NN": neighbour_distance(1, is_own=False),
    **{
        f"KSD {rule}{'' if far == 'distance' else ', literal'}": depth(bandwidth=rule, far_rows=far)
        for rule in ("half-nearest", "nearest", "reach", "median")
        for far in ("distance", "literal")
    },
}
OUTLIERS: dict[str, Callable[[Rows], Vector]] = {
    "KNN 5": neighbour_distance(5, is_own=True),
    "LOF 20": lambda rows: -LocalOutlierFactor(20).fit(rows.new).negative_outlier_factor_,
    "isolation forest": lambda rows: (
        -IsolationForest(random_state=0).fit(rows.new).score_samples(rows.new)
    ),
    "RKOF auto": factor("auto"),
    "RKOF 20": factor(20),
    "RKOF 20 to 320": factor([20, 40, 80, 160, 320]),
}


def z_scored(known: Matrix, new: Matrix, is_unusual: NDArray[np.int64]) -> Rows:
    centre, spread = known.mean(axis=0), known.std(axis=0)
    varies = spread > 0
    scaled = [(rows[:, varies] - centre[varies]) / spread[varies] for rows in (known, new)]
    return Rows(scaled[0], scaled[1], is_unusual)


def novelty_tables(data: Path, first: int) -> Iterator[tuple[str, Rows]]:
    index = pd.read_csv(data / "novelty_tables" / "index.csv")[first::2]
    for source, name in zip(index["source"], index["name"], strict=True):
        stored = np.load(data / "novelty_tables" / f"{source}-{name}.npz")
        known, new = stored["known"].astype(float), stored["new"].astype(float)
        yield name, z_scored(known, new, stored["is_novel"])


def outlier_tables(data: Path, first: int) -> Iterator[tuple[str, Rows]]:
    for name in pd.read_csv(data / "outlier_tables" / "index.csv")["name"][first::2]:
        stored = np.load(data / "outlier_tables" / f"{name}.npz")
        X = stored["X"].astype(float)
        yield name, z_scored(X, X, stored["is_outlier"].astype(np.int64))


def compare(
    tables: Iterator[tuple[str, Rows]], methods: dict[str, Callable[[Rows], Vector]]
) -> None:
    """Print means over tables, and differences from the first method with bootstrap intervals."""
    lines = []
    for name, rows in tables:
        for method, score in methods.items():
            unusual = score(rows)
            auroc = roc_auc_score(rows.is_unusual, unusual)
            precision = average_precision_score(rows.is_unusual, unusual)
            lines.append((name, method, auroc, precision))
        print(name, flush=True)
    frame = pd.DataFrame(lines, columns=["table", "method", "AUROC", "AP"])
    baseline = next(iter(methods))
    for measure in ("AUROC", "AP"):
        values = frame.pivot_table(index="table", columns="method", values=measure)
        picks = np.random.default_rng(0).integers(0, len(values), (_RESAMPLES, len(values)))
        for method in methods:
            gains = (values[method] - values[baseline]).to_numpy()
            low, high = np.quantile(gains[picks].mean(axis=1), [0.025, 0.975])
            print(
                f"{measure:5s} {method:24s} {values[method].mean():.4f}  over {baseline}: "
                f"{gains.mean():+.4f} ({low:+.4f} to {high:+.4f}), worst {gains.min():+.3f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--confirm", action="store_true", help="use the tables at odd places")
    parser.add_argument("--only", choices=["novelty", "outliers"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    data = Path(os.environ.get("KERNOVA_DATA", _DEFAULT_DATA))
    first = 1 if options.confirm else 0
    if options.only != "outliers":
        compare(novelty_tables(data, first), NOVELTY)
    if options.only != "novelty":
        compare(outlier_tables(data, first), OUTLIERS)


if __name__ == "__main__":
    main()

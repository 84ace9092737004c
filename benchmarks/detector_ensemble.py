"""The detector ensemble on tables that had no say in it, beside its members and peers.

The split, written down before the first run
--------------------------------------------
Choosing (may be looked at as often as one likes):

- novelty tables at even places (0, 2, 4, ...) of ``novelty_tables/index.csv``;
- outlier tables at even places of ``outlier_tables/index.csv``;
- tables made from scikit-learn's bundled data sets and generators.

Confirming (looked at once, when everything is chosen, and reported with intervals):

- novelty tables at odd places of ``novelty_tables/index.csv``;
- outlier tables at odd places of ``outlier_tables/index.csv``;
- mammography, shuttle, ann_thyroid and kdd_u2r (10,000 rows of each, drawn with seed 0).

Measures: mean area under the ROC curve and mean average precision over tables, with bootstrap
intervals over tables for differences to the distance to the nearest neighbour (of the rows of one
table: to an isolation forest). Peers see z-scores, and indicators instead of categories.

``python -m benchmarks.detector_ensemble`` prints the choosing tables, ``--confirm`` the others.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.svm import OneClassSVM

from benchmarks.detector_defaults import Rows, Vector, z_scored
from kernova import DetectorEnsemble, KernelSpatialDepth, RobustKernelOutlierFactor

_DATA = Path(os.environ.get("KERNOVA_DATA", Path(__file__).parents[2] / "shared" / "data"))
_RESAMPLES = 4000
_MOST_ROWS = 10_000
_WORSE = 0.05  # a difference of AUROC worth counting

SINGLE_SETS = {
    "mammography": ("mammography", "1"),
    "shuttle": ("shuttle_test", None),
    "ann_thyroid": ("ann_thyroid", "1"),
    "kdd_u2r": ("kdd_u2r", "u2r"),
}


class Problem(NamedTuple):
    """Rows as they are, the same rows for peers, and whether rows to judge are those of fit."""

    name: str
    known: Any
    new: Any
    scaled: Rows
    is_own: bool


def novelty_problems(first: int) -> Iterator[Problem]:
    index = pd.read_csv(_DATA / "novelty_tables" / "index.csv")[first::2]
    for source, name in zip(index["source"], index["name"], strict=True):
        stored = np.load(_DATA / "novelty_tables" / f"{source}-{name}.npz")
        known, new = stored["known"].astype(float), stored["new"].astype(float)
        yield Problem(name, known, new, z_scored(known, new, stored["is_novel"]), False)


def outlier_problems(first: int) -> Iterator[Problem]:
    for name in pd.read_csv(_DATA / "outlier_tables" / "index.csv")["name"][first::2]:
        stored = np.load(_DATA / "outlier_tables" / f"{name}.npz")
        X = stored["X"].astype(float)
        yield Problem(name, X, X, z_scored(X, X, stored["is_outlier"].astype(np.int64)), True)


def single_sets() -> Iterator[Problem]:
    for name, (file, outlier) in SINGLE_SETS.items():
        frame = pd.read_parquet(_DATA / f"{file}.parquet")
        frame = frame.sample(min(len(frame), _MOST_ROWS), random_state=0).reset_index(drop=True)
        labels = frame.pop("label").astype(str)
        is_outlier = (labels != "1" if outlier is None else labels == outlier).to_numpy()
        X = pd.get_dummies(frame, dtype=float).to_numpy()
        yield Problem(name, frame, frame, z_scored(X, X, is_outlier.astype(np.int64)), True)


# --- detectors: high is strange ------------------------------------------------------------------


def ensemble_scores(problem: Problem) -> dict[str, Vector]:
    """Return the scores of the ensemble and of each member."""
    ensemble = DetectorEnsemble().fit(problem.known)
    scores = ensemble.training_scores_ if problem.is_own else ensemble.score_samples(problem.new)
    members = ensemble.member_scores(None if problem.is_own else problem.new)
    return {
        "ensemble": -scores,
        **{f"- {name}": bits.to_numpy() for name, bits in members.items() if bits.notna().all()},
    }


def by_neighbors(k: int, problem: Problem) -> Vector:
    search = NearestNeighbors(n_neighbors=k).fit(problem.scaled.known)
    return search.kneighbors(None if problem.is_own else problem.scaled.new)[0][:, -1]


def by_forest(problem: Problem) -> Vector:
    forest = IsolationForest(random_state=0).fit(problem.scaled.known)
    return -forest.score_samples(problem.scaled.new)


def by_lof(problem: Problem) -> Vector:
    if problem.is_own:
        return -LocalOutlierFactor().fit(problem.scaled.known).negative_outlier_factor_
    return (
        -LocalOutlierFactor(novelty=True)
        .fit(problem.scaled.known)
        .score_samples(problem.scaled.new)
    )


def by_one_class_svm(problem: Problem) -> Vector:
    return -OneClassSVM().fit(problem.scaled.known).score_samples(problem.scaled.new)


def by_depth(problem: Problem) -> Vector:
    depth = KernelSpatialDepth().fit(problem.scaled.known)
    scores = depth.training_depths_ if problem.is_own else depth.score_samples(problem.scaled.new)
    return -scores


def by_factor(problem: Problem) -> Vector:
    factor = RobustKernelOutlierFactor(novelty=not problem.is_own).fit(problem.scaled.known)
    if problem.is_own:
        return -factor.negative_outlier_factor_
    return -factor.score_samples(problem.scaled.new)


def by_pyod(name: str, problem: Problem) -> Vector:
    from pyod.models.copod import COPOD
    from pyod.models.ecod import ECOD
    from pyod.models.hbos import HBOS
    from pyod.models.mcd import MCD
    from pyod.models.pca import PCA

    made = {"ECOD": ECOD, "COPOD": COPOD, "HBOS": HBOS, "PCA": PCA}
    detector = MCD(random_state=0) if name == "MCD" else made[name]()
    detector.fit(problem.scaled.known)
    if problem.is_own:
        return detector.decision_scores_
    return detector.decision_function(problem.scaled.new)


PEERS: dict[str, Callable[[Problem], Vector]] = {
    "1-NN": partial(by_neighbors, 1),
    "KNN 5": partial(by_neighbors, 5),
    "isolation forest": by_forest,
    "LOF 20": by_lof,
    "one-class SVM": by_one_class_svm,
    "KSD": by_depth,
    "RKOF": by_factor,
    **{name: partial(by_pyod, name) for name in ("ECOD", "COPOD", "HBOS", "PCA", "MCD")},
}


class Measured(NamedTuple):
    """Both measures of every detector on one table."""

    table: str
    auroc: dict[str, float]
    precision: dict[str, float]


def measure(problem: Problem) -> Measured:
    warnings.simplefilter("ignore")
    scores = ensemble_scores(problem)
    for name, score in PEERS.items():
        try:
            scores[name] = score(problem)
        except (ValueError, ArithmeticError) as error:  # counts as chance
            print(f"{problem.name}: {name} failed: {error}", flush=True)
            scores[name] = np.zeros(len(problem.scaled.new))
    truth = problem.scaled.is_unusual
    finite = {name: np.nan_to_num(values) for name, values in scores.items()}
    print(problem.name, flush=True)
    return Measured(
        problem.name,
        {name: float(roc_auc_score(truth, values)) for name, values in finite.items()},
        {name: float(average_precision_score(truth, values)) for name, values in finite.items()},
    )


# --- summary -------------------------------------------------------------------------------------


def interval(gains: Vector) -> NDArray[np.float64]:
    picks = np.random.default_rng(0).integers(0, len(gains), (_RESAMPLES, len(gains)))
    return np.quantile(gains[picks].mean(axis=1), [0.025, 0.975])


def summarize(title: str, measured: list[Measured], baseline: str) -> None:
    print(f"\n{title}: {len(measured)} tables; differences from {baseline}, 95 % intervals")
    auroc = pd.DataFrame([one.auroc for one in measured])
    precision = pd.DataFrame([one.precision for one in measured])
    for name in auroc.mean().sort_values(ascending=False).index:
        lines = []
        for measure_name, values in (("AUROC", auroc), ("AP", precision)):
            gains = (values[name] - values[baseline]).to_numpy()
            low, high = interval(gains) if np.isfinite(gains).all() else (np.nan, np.nan)
            lines.append(
                f"{measure_name} {values[name].mean():.3f} {gains.mean():+.3f} "
                f"({low:+.3f} to {high:+.3f})"
            )
        worse = (auroc[name] < auroc[baseline] - _WORSE).mean()
        print(f"  {name:24s} {'  '.join(lines)}  below by {_WORSE:g}: {worse:.0%}")


def run(problems: Iterator[Problem], title: str, baseline: str) -> None:
    measured = Parallel(2)(delayed(measure)(problem) for problem in problems)
    summarize(title, measured, baseline)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--confirm", action="store_true", help="use the tables at odd places")
    options = parser.parse_args()
    first = 1 if options.confirm else 0
    run(novelty_problems(first), "Novelty", "1-NN")
    of_one_table = list(outlier_problems(first)) + (list(single_sets()) if options.confirm else [])
    run(iter(of_one_table), "Outliers of one table", "isolation forest")


if __name__ == "__main__":
    main()

"""Descriptions and classifiers of known classes against scikit-learn's, and their growth."""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from benchmarks.measuring import peak_memory_mb, report, seconds
from kernova import MulticlassDataDescription, OpenSetClassifier, save_model
from kernova.description.class_description import describe_class, extended


def three_classes(n, seed=0, n_columns=12):
    """Draw three normal classes, and rows of a fourth, unknown class."""
    centers = 1.5 * np.random.default_rng(7).normal(size=(4, n_columns))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    foreign = centers[3] + rng.normal(size=(2000, n_columns))
    return centers[y] + rng.normal(size=(n, n_columns)), y, foreign


def against_gaussian_process():
    """Bars: fit in .2 x of one optimiser start, 5,000 rows scored in .5 x of predict with std."""
    X, y, _ = three_classes(2000)
    new, _, _ = three_classes(5000, seed=1)
    target = (X**2).sum(axis=1)
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    model = MulticlassDataDescription(random_state=0)
    rows = [
        {"job": "fit", "kernova_s": seconds(lambda: model.fit(X, y), 3),
         "scikit-learn_s": seconds(lambda: process.fit(X, target))},
        {"job": "score", "kernova_s": seconds(lambda: model.membership(new), 3),
         "scikit-learn_s": seconds(lambda: process.predict(new, return_std=True), 2)},
    ]  # fmt: skip
    for row in rows:
        row["ratio"] = row["kernova_s"] / row["scikit-learn_s"]
    report("description against gaussian process", rows)


def sparse_growth(sizes=(10_000, 20_000, 40_000, 80_000, 160_000)):
    """Bar: with 500 rows per class, fit and score grow linearly; AUROC within .01 of exact."""
    rows = []
    for n in sizes:
        X, y, foreign = three_classes(n)
        fresh, _, _ = three_classes(2000, seed=99)
        model = MulticlassDataDescription(max_rows_per_class=500, random_state=0)
        fit = seconds(lambda m=model, X=X, y=y: m.fit(X, y))
        score = seconds(lambda m=model, X=X: m.score_samples(X))
        rows.append({"n": n, "fit_s": fit, "score_s": score,
                     "auroc": _auroc(model, fresh, foreign)})  # fmt: skip
        if n <= 10_000:
            exact = MulticlassDataDescription(random_state=0).fit(X, y)
            rows[-1]["exact_auroc"] = _auroc(exact, fresh, foreign)
        if len(rows) > 1:
            rows[-1]["fit_exponent"] = np.log2(fit / rows[-2]["fit_s"])
            rows[-1]["score_exponent"] = np.log2(score / rows[-2]["score_s"])
        print(rows[-1], flush=True)
    report("sparse description growth", rows)


def _auroc(model, known, foreign):
    scores = np.r_[model.score_samples(known), model.score_samples(foreign)]
    return roc_auc_score(np.r_[np.ones(len(known)), np.zeros(len(foreign))], scores)


def growing_a_class():
    """Bar: 100 rows join 4,000 five times faster than the class is fitted again."""
    rows = np.random.default_rng(0).normal(size=(4100, 12))
    old = describe_class(rows[:4000], 3.0, 1e-4)
    start = time.perf_counter()
    extended(old, rows[4000:])
    grown = time.perf_counter() - start
    anew = seconds(lambda: describe_class(rows, 3.0, 1e-4))
    report("growing a class", [{"add_s": grown, "anew_s": anew, "ratio": anew / grown}])


def five_classes(n):
    """Draw rows of five classes with ten informative columns of twenty, and as many new ones."""
    X, y = make_classification(
        n + 20_000, 20, n_informative=10, n_classes=5, n_clusters_per_class=2, random_state=0
    )
    X = scale(X)
    return X[:n], y[:n], X[n:], y[n:]


def against_support_vectors(n=20_000):
    """Bars: learn in at most 2 x, recognise in 3 x the time of SVC with probabilities."""
    X, y, new, truth = five_classes(n)
    ours, theirs = OpenSetClassifier(), SVC(probability=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        rows = [
            {"job": "learn", "kernova_s": seconds(lambda: ours.fit(X, y)),
             "scikit-learn_s": seconds(lambda: theirs.fit(X, y))},
            {"job": "recognise", "kernova_s": seconds(lambda: ours.judge(new)),
             "scikit-learn_s": seconds(lambda: theirs.predict_proba(new))},
        ]  # fmt: skip
    for row in rows:
        row["ratio"] = row["kernova_s"] / row["scikit-learn_s"]
    rows.append({"job": "accuracy", "kernova_s": ours.score(new, truth),
                 "scikit-learn_s": theirs.score(new, truth)})  # fmt: skip
    report("open-set classifier against support vectors", rows)


def open_set_growth(sizes=(20_000, 40_000, 80_000, 160_000)):
    """Bars: learning grows linearly; model files stay below 20 MB."""
    rows = []
    for n in sizes:
        X, y, new, truth = five_classes(n)
        model = OpenSetClassifier()
        fit = seconds(lambda m=model, X=X, y=y: m.fit(X, y))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "classes.kernova"
            save_model(model, path)
            megabytes = path.stat().st_size / 1e6
        judge = seconds(lambda m=model, X=new: m.judge(X))
        rows.append({"n": n, "fit_s": fit, "judge_20000_s": judge,
                     "accuracy": model.score(new, truth), "file_mb": megabytes,
                     "peak_mb": peak_memory_mb()})  # fmt: skip
        print(rows[-1], flush=True)
    report("open-set classifier growth", rows)


def main() -> None:
    against_gaussian_process()
    growing_a_class()
    sparse_growth()
    against_support_vectors()
    open_set_growth()


if __name__ == "__main__":
    main()

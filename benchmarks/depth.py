"""Kernelized spatial depth against a bare matrix product, its own exact engine, and peers."""

import itertools
import warnings

import numpy as np
from scipy.stats import spearmanr
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from benchmarks.measuring import peak_memory_mb, report, seconds
from kernova import KernelSpatialDepth


def cloud(n, rng):
    """Draw one Gaussian cloud in ten dimensions."""
    return rng.normal(size=(n, 10))


def clustered(n, rng):
    """Draw eight Gaussian clusters of different widths and sizes in ten dimensions."""
    centres = np.random.default_rng(8).normal(size=(8, 10)) * 6
    widths = np.random.default_rng(9).uniform(0.3, 1.5, size=(8, 1))
    member = rng.choice(8, size=n, p=np.arange(1, 9) / 36)
    return centres[member] + widths[member] * rng.normal(size=(n, 10))


SHAPES = {"cloud": cloud, "clustered": clustered}


def exact_against_a_bare_product():
    """Bar: at most 1.4 x the product, at most the kernel matrix + 600 MB."""
    rng = np.random.default_rng(0)
    X, queries = cloud(5000, rng), cloud(2000, rng)
    model = KernelSpatialDepth(engine="exact").fit(X)
    before = peak_memory_mb()
    depth = seconds(lambda: model.score_samples(queries), repeats=5)
    peak = peak_memory_mb()
    weights, square = rng.normal(size=(2000, 5000)), rng.normal(size=(5000, 5000))
    product = seconds(lambda: weights @ square, repeats=5)
    report(
        "exact engine against a bare product",
        [
            {
                "product_s": product,
                "depth_s": depth,
                "ratio": depth / product,
                "peak_mb_before": before,
                "peak_mb": peak,
                "kernel_matrix_mb": 5000 * 5000 * 8 / 2**20,
            }
        ],
    )


def auto_against_exact(sizes=(2500, 5000, 10000, 20000), n_queries=5000):
    """Bar at 20,000 rows: 4 x faster (fit + score), error 1e-3 of the spread, Spearman .9999."""
    rows = []
    for n in sizes:
        for shape, make in SHAPES.items():
            for bandwidth in ("nearest", "median"):
                rng = np.random.default_rng(n)
                rows.append(_compare_engines(make(n, rng), make(n_queries, rng), bandwidth))
                rows[-1] = {"n": n, "shape": shape, **rows[-1]}
                print(rows[-1], flush=True)
    report("auto engine against exact", rows)


def _compare_engines(X, queries, bandwidth):
    depths = {}

    def run(engine):
        model = KernelSpatialDepth(bandwidth=bandwidth, engine=engine, random_state=0).fit(X)
        depths[engine] = model.score_samples(queries)
        depths["chosen"] = model.engine_

    auto = seconds(lambda: run("auto"))
    chosen = depths["chosen"]
    exact = seconds(lambda: run("exact"))
    low, high = np.quantile(depths["exact"], [0.05, 0.95])
    return {
        "bandwidth": bandwidth,
        "engine": chosen,
        "auto_s": auto,
        "exact_s": exact,
        "speed_up": exact / auto,
        "spread": high - low,
        "error_in_spreads": np.abs(depths["auto"] - depths["exact"]).max() / (high - low),
        "spearman": spearmanr(depths["auto"], depths["exact"]).statistic,
    }


def few_columns(sizes=(10_000, 20_000, 40_000, 80_000)):
    """Measure growth with small neighbourhoods: two columns, bandwidth "nearest"."""
    rows = []
    for n in sizes:
        rng = np.random.default_rng(n)
        X, queries = rng.normal(size=(n, 2)), rng.normal(size=(5000, 2))
        chosen = []

        def run(X=X, queries=queries, chosen=chosen):
            model = KernelSpatialDepth(random_state=0).fit(X)
            model.score_samples(queries)
            chosen.append(model.engine_)

        rows.append({"n": n, "auto_s": seconds(run), "engine": chosen[-1]})
    for smaller, larger in itertools.pairwise(rows):
        larger["growth_exponent"] = np.log2(larger["auto_s"] / smaller["auto_s"])
    report("auto engine in two columns", rows)


def peers(n=5000, n_queries=5000):
    """Time fit + score of kernova, scikit-learn and PyOD on the same rows."""
    from pyod.models.kde import KDE
    from pyod.models.ocsvm import OCSVM

    rng = np.random.default_rng(0)
    X, queries = cloud(n, rng), cloud(n_queries, rng)
    width = KernelSpatialDepth().fit(X).bandwidth_
    # exp(-d²/width²) is scikit-learn's Gaussian with bandwidth width / √2, and gamma 1 / width².
    work = {
        "kernova auto": lambda: KernelSpatialDepth(random_state=0).fit(X).score_samples(queries),
        "kernova exact": lambda: KernelSpatialDepth(engine="exact").fit(X).score_samples(queries),
        "scikit-learn KernelDensity": lambda: (
            KernelDensity(bandwidth=width / np.sqrt(2)).fit(X).score_samples(queries)
        ),
        "scikit-learn OneClassSVM": lambda: (
            OneClassSVM(gamma=1 / width**2).fit(X).score_samples(queries)
        ),
        "PyOD KDE": lambda: KDE(bandwidth=width / np.sqrt(2)).fit(X).decision_function(queries),
        "PyOD OCSVM": lambda: OCSVM(gamma=1 / width**2).fit(X).decision_function(queries),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = {name: seconds(job, repeats=2) for name, job in work.items()}
    fastest = times["kernova auto"]
    report(
        "depth and its peers",
        [
            {"detector": name, "fit_and_score_s": time, "relative_to_kernova_auto": time / fastest}
            for name, time in times.items()
        ],
    )


if __name__ == "__main__":
    exact_against_a_bare_product()
    peers()
    few_columns()
    auto_against_exact()

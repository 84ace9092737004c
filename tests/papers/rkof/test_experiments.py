"""Factors of the RKOF paper from one search, and areas, curves and times on real data."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from kernova import LocalDensityFactor, LocalPeculiarityFactor, RobustKernelOutlierFactor
from kernova.papers.rkof import experiments
from kernova.papers.rkof.data import OutlierSet, load_sets
from tests.papers import messages
from tests.papers.stand_ins import write_rkof_sets


def rows_with_duplicates(seed=0, n_rows=200, n_columns=3):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_rows, n_columns)).round(1)  # ties
    rows[::7] = rows[0]  # duplicates
    return rows


@pytest.mark.filterwarnings("ignore:.* or more duplicates")
def test_factors_from_one_search_are_those_of_the_detectors():
    X = rows_with_duplicates()
    numbers = (3, 8, 40)
    neighborhoods = experiments.searched(X, 40)
    methods = {
        "volcano": experiments.rkof_settings(),
        "plain": experiments.rkof_settings(sigma=np.inf),
        "gaussian": experiments.rkof_settings("gaussian", 0.1),
        "LDF": experiments.ldf_settings(3),
    }
    ranked = {
        (one.method, one.k): one.scores
        for one in [
            *experiments.density_factors(neighborhoods, numbers, methods),
            *experiments.peculiarity_factors(neighborhoods, numbers),
        ]
    }
    for k in numbers:
        detectors = {
            "volcano": RobustKernelOutlierFactor(k),
            "plain": RobustKernelOutlierFactor(k, sigma=np.inf),
            "gaussian": RobustKernelOutlierFactor(k, "gaussian", sigma=0.1),
            "LDF": LocalDensityFactor(k),
            "LPF": LocalPeculiarityFactor(k),
        }
        for method, detector in detectors.items():
            factors = -detector.fit(X).negative_outlier_factor_
            scores = ranked[method, k]
            if method == "LDF":
                scores = 1 / (np.exp(-scores) + 0.1)
            elif method == "LPF":  # in the index's unit
                scores = scores * 2.0 ** (0.5 * neighborhoods.index.exponent)
            else:
                scores = np.exp(scores)
            np.testing.assert_allclose(scores, factors, rtol=1e-9)


def test_peculiarities_of_some_rows_are_those_of_all():
    X = rows_with_duplicates(1)
    rows = np.array([0, 7, 5, 199])
    whole = experiments.peculiarity_factors(experiments.searched(X, 150), (150,))[0].scores
    np.testing.assert_allclose(experiments.peculiarities_of(X, rows, 150), whole[rows], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_local_outlier_factors_over_k_are_those_of_scikit_learn(scale):
    X = scale * np.random.default_rng(0).standard_normal((300, 4))
    neighbors = experiments.sorted_neighbors(X, 60)
    for k in (1, 5, 20, 60):
        theirs = -LocalOutlierFactor(n_neighbors=k).fit(X).negative_outlier_factor_
        ours = experiments.local_outlier_factors(neighbors, k)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_weighted_local_outlier_factors_by_loops(sigma):
    X = np.random.default_rng(1).standard_normal((40, 2))
    k = 6
    nearest = [sorted(range(40), key=lambda o, p=p: math.dist(X[p], X[o]))[1:7] for p in range(40)]
    kth = [math.dist(X[p], X[nearest[p][-1]]) for p in range(40)]

    def density(p):
        return 1 / (sum(max(math.dist(X[p], X[o]), kth[o]) for o in nearest[p]) / k + 1e-10)

    def factor(p):
        smallest = min(kth[o] for o in nearest[p])
        weights = [math.exp(-((kth[o] / smallest - 1) ** 2) / (2 * sigma**2)) for o in nearest[p]]
        mean = sum(w * density(o) for w, o in zip(weights, nearest[p], strict=True)) / sum(weights)
        return mean / density(p)

    found = experiments.local_outlier_factors(experiments.sorted_neighbors(X, 9), k, sigma)
    np.testing.assert_allclose(found, [factor(p) for p in range(40)], rtol=1e-9)


def test_weighted_local_outlier_factors_of_duplicate_rows_are_finite():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], 12, axis=0)
    for rows in (X, np.vstack([X, [[5.0, 5.0]]])):
        neighbors = experiments.sorted_neighbors(rows, 5)
        assert np.isfinite(experiments.local_outlier_factors(neighbors, 5, 1.0)).all()


# --- real data ------------------------------------------------------------------------------------


def test_mammography_reaches_the_area_of_the_paper(data_folder):
    (data,) = load_sets(data_folder, ["mammography"]).sets
    ranked = experiments.rankings(data, (40, 110))
    area = {(one.method, one.k): roc_auc_score(data.is_outlier, one.scores) for one in ranked}
    assert area["RKOF, volcano", 110] >= 0.870
    assert area["RKOF, volcano", 40] >= 0.80
    assert area["RKOF, volcano", 110] > area["LOF", 110] > 0.85
    assert {method for method, _ in area} == set(experiments.METHODS)


def test_areas_curves_and_times_of_a_whole_run(tmp_path):
    write_rkof_sets(tmp_path)
    sets = load_sets(tmp_path, ["mammography", "shuttle"]).sets
    few = [one._replace(numbers=(5, 20, 60), chosen_k=20) for one in sets]
    results = experiments.measure_sets(few)
    at = results.areas.set_index(["set", "method", "k"])["auc"].sort_index()
    data = few[0]
    volcano = -RobustKernelOutlierFactor(20).fit(data.X).negative_outlier_factor_
    assert at["mammography", "RKOF, volcano", 20] == roc_auc_score(data.is_outlier, volcano)
    lof = -LocalOutlierFactor(n_neighbors=20).fit(data.X).negative_outlier_factor_
    assert at["mammography", "LOF", 20] == roc_auc_score(data.is_outlier, lof)
    lpf = -LocalPeculiarityFactor(154).fit(data.X).negative_outlier_factor_
    large = at["mammography", experiments.LARGE_LPF, 154]
    assert large == roc_auc_score(data.is_outlier, lpf)
    if not any(note.startswith("Feature bagging is left out") for note in results.notes):
        assert 0 <= at["mammography", experiments.BAGGING, 20] <= 1

    curve = results.curves.query("set == 'mammography' and method == 'LOF'")
    under = np.trapezoid(curve["found"], curve["false_alarms"])
    assert under == pytest.approx(at["mammography", "LOF", 20], abs=0.02)
    assert set(results.curves["k"]) == {20}
    assert set(results.times["method"]) == set(experiments.TIMED)
    seconds = results.times.pivot_table("seconds", index="set", columns="method")
    ratios = results.times.pivot_table("ratio_to_lof", index="set", columns="method")
    pd.testing.assert_frame_equal(ratios, seconds.div(seconds["LOF"], axis=0))
    assert (results.times["seconds"] > 0).all()

    means = (
        experiments.family_areas(results.areas)
        .set_index(["family", "method", "k"])["auc"]
        .sort_index()
    )
    subsets = [at[f"shuttle {label}", "LDF", 60] for label in (2, 3, 5, 6, 7)]
    assert means["shuttle", "LDF", 60] == pytest.approx(np.mean(subsets))
    best = experiments.best_numbers(results.areas).set_index(["family", "method"])
    areas = means["shuttle", "RKOF, gaussian"]
    assert best["auc"]["shuttle", "RKOF, gaussian"] == areas.max()
    assert best["k"]["shuttle", "RKOF, gaussian"] == areas.index[areas == areas.max()].min()


def test_of_very_many_rows_lpf_scores_outliers_and_a_sample(monkeypatch):
    monkeypatch.setattr(experiments, "MANY_ROWS", 100)
    monkeypatch.setattr(experiments, "SAMPLED_ROWS", 60)
    X = np.vstack([np.random.default_rng(0).standard_normal((150, 2)), [[9.0, 9.0], [0.0, 0.0]]])
    data = OutlierSet("x", "x", X, np.arange(152) >= 150, (5,), 5, 120)
    areas = []
    notes = experiments.add_large_lpf(data, areas)
    assert notes == [messages.SAMPLED_LPF]
    sample = np.random.default_rng(0).permutation(150)[:60]
    scores = -LocalPeculiarityFactor(120).fit(X).negative_outlier_factor_
    rows = np.concatenate([[150, 151], sample])
    assert areas[0]["auc"] == pytest.approx(roc_auc_score(rows >= 150, scores[rows]))

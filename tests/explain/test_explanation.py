"""Explanations against the literal method, and properties that they must have."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

from kernova import KernelSpatialDepth, SpatialDepth, TableEncoder
from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor
from kernova.explain.contributions import (
    Comparison,
    NoveltyScale,
    contributions_of,
    fractions_of,
    ordinary_scale,
)
from kernova.explain.explanation import explain
from kernova.progress import reporting
from tests.explain import literal


class Formula(OutlierMixin, BaseEstimator):
    """A detector whose novelty is a formula of the columns; above ``limit`` is an outlier."""

    def __init__(self, novelty, limit=3.0):
        self.novelty = novelty
        self.limit = limit

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def decision_function(self, X):
        return self.limit - self.novelty(np.asarray(X, dtype=float))

    def predict(self, X):
        return np.where(self.decision_function(X) < 0, -1, 1)


def cloud(n=300, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def share_of(explanation, row):
    return explanation[explanation["row"] == row].set_index("feature")["share"]


# --- the literal method ----------------------------------------------------------------


def mixed_table():
    random = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "length": random.normal(20, 2, 120),
            "sex": random.choice(["f", "m"], 120),
            "ripe": random.random(120) < 0.7,
            "mass": random.gamma(9, 1, 120),
        },
        index=[f"fish {i}" for i in range(120)],
    )
    table.iloc[3, [0, 3]] = [31.0, 1.0]
    table.iloc[5, 1] = "unknown"
    return table


LITERAL_CASES = {
    "array": (SpatialDepth(), cloud(80) * [1, 2, 3, 1]),
    "table": (make_pipeline(TableEncoder(), KernelSpatialDepth(bandwidth="median")), mixed_table()),
}


@pytest.mark.parametrize("case", LITERAL_CASES)
def test_shares_are_those_of_the_literal_method(case):
    model, X = LITERAL_CASES[case]
    model.fit(X)
    rows, columns = literal.rows_as_lists(X), getattr(X, "columns", None)
    labels = list(X.index) if columns is not None else list(range(len(X)))
    names = list(columns) if columns is not None else ["x0", "x1", "x2", "x3"]

    def novelty(row):
        one = [row] if columns is None else pd.DataFrame([row], columns=columns)
        return -model.decision_function(one)[0]

    explanation = explain(model, X, [3, 5, 40], n_nearest=3)
    assert len(explanation) == 12
    ordinary_novelty = -model.decision_function(X)[model.predict(X) == 1]
    for number in (3, 5, 40):
        lines = explanation[explanation["row"] == labels[number]]
        (nearest,) = set(lines["nearest"])
        others = [rows[labels.index(label)] for label in nearest]
        found = literal.contributions(novelty, rows[number], others, ordinary_novelty)
        expected = dict(zip(names, literal.shares(found), strict=True))
        for line in lines.itertuples():
            assert line.share == pytest.approx(expected[line.feature], abs=1e-9)
        whole = literal.tempered(novelty(rows[number]), ordinary_novelty) - np.mean(
            [literal.tempered(novelty(other), ordinary_novelty) for other in others]
        )
        assert found.sum() == pytest.approx(whole)
        assert list(lines["share"]) == sorted(lines["share"], reverse=True)


def test_nearest_are_the_most_ordinary_of_the_four_times_as_many_nearest():
    X = cloud(200)
    X[0, 2] = 7
    model = SpatialDepth().fit(X)
    depth, is_ordinary = model.score_samples(X), model.predict(X) == 1
    by_distance = np.argsort(np.linalg.norm(X - X[0], axis=1))
    candidates = [i for i in by_distance if is_ordinary[i] and i != 0][:12]
    deepest = sorted(candidates, key=lambda i: -depth[i])[:3]
    expected = tuple(i for i in candidates if i in deepest)
    explanation = explain(model, X, [0], n_nearest=3)
    assert set(explanation["nearest"]) == {expected}
    usual = dict(zip(explanation["feature"], explanation["ordinary_value"], strict=True))
    for j in range(4):
        assert usual[f"x{j}"] == np.median(X[list(expected), j])


def squared_length(rows, row_numbers):
    return (np.asarray(rows) ** 2).sum(axis=1) + np.prod(rows[:, :3], axis=1)


@pytest.mark.parametrize(("d", "budget"), [(3, 1000), (12, 1000), (12, 1), (40, 300)])
def test_contributions_sum_to_the_difference_within_the_budget(d, budget):
    pool = np.random.default_rng(1).normal(size=(9, d))
    others = [np.array([2, 3, 4]), np.array([5, 6, 7, 8])]
    scale = NoveltyScale(1.0, 2.0)
    n_scored = 0

    def counted(rows, row_numbers):
        nonlocal n_scored
        n_scored += len(rows)
        return squared_length(rows, row_numbers)

    comparison = Comparison(pool, np.array([70, 71]), others)
    found = contributions_of(comparison, counted, scale, budget, seed=0)
    worth = scale.tempered(squared_length(pool, None))
    expected = [worth[own] - worth[others[own]].mean() for own in range(2)]
    np.testing.assert_allclose(found.sum(axis=1), expected)
    one_pair_each = 7 * (2 + 2 * (d - 1))
    assert n_scored <= max(2 * budget + 7 * 2, one_pair_each)


def test_features_that_do_not_differ_cost_nothing():
    pool = np.random.default_rng(1).normal(size=(4, 30))
    pool[1:, 2:] = pool[0, 2:]
    sizes = []

    def counted(rows, row_numbers):
        sizes.append(len(rows))
        return squared_length(rows, row_numbers)

    comparison = Comparison(pool, np.array([0]), [np.array([1, 2, 3])])
    (found,) = contributions_of(comparison, counted, NoveltyScale(0.0, 1.0), 1000, seed=0)
    assert sum(sizes) == 3 * 2**2
    assert (found[2:] == 0).all()
    assert found[:2].all()


# --- truths ----------------------------------------------------------------------------------

# With the least share that one outlying coordinate of twelve is to have. Scores that hardly grow
# beyond the data, as a forest's, let the other coordinates count for more.
DETECTORS = [
    (SpatialDepth(), 0.7),
    (KernelSpatialDepth(bandwidth="median"), 0.7),
    (RobustKernelOutlierFactor(), 0.9),
    (RobustKernelOutlierFactor(novelty=True), 0.9),
    (IsolationForest(random_state=0), 0.6),
    (LocalOutlierFactor(novelty=True), 0.9),
    (OneClassSVM(nu=0.05), 0.75),
]


@pytest.mark.parametrize(
    ("model", "least"), DETECTORS, ids=[type(model).__name__ for model, _ in DETECTORS]
)
@pytest.mark.parametrize("d", [3, 12])
def test_one_outlying_coordinate_has_nearly_all_the_share(model, least, d):
    X = cloud(400, d)
    X[0] = X[1]
    X[0, d - 1] = 9.0
    lines = explain(sklearn.base.clone(model).fit(X), X, [0])
    assert lines["feature"].iloc[0] == f"x{d - 1}"
    assert lines["share"].iloc[0] > (0.95 if d == 3 else least)
    assert lines["value"].iloc[0] == 9.0
    assert abs(lines["ordinary_value"].iloc[0]) < 4


@pytest.mark.parametrize(("d", "rounding"), [(2, 1e-4), (9, 0.02)])
def test_equal_coordinates_share_equally(d, rounding):
    # Every row stands in the data with its first two coordinates swapped too.
    X = cloud(100, d)
    swapped = X[:, [1, 0, *range(2, d)]]
    X = np.concatenate([X, swapped, np.zeros((1, d))])
    X[-1, :2] = 6.0
    share = share_of(explain(SpatialDepth().fit(X), X, [200], n_nearest=200, budget=1), 200)
    assert share["x0"] == pytest.approx(share["x1"], abs=rounding)
    assert share["x0"] + share["x1"] > 0.8


@pytest.mark.parametrize("d", [3, 20])
def test_features_that_the_model_ignores_have_no_share(d):
    X = cloud(200, d)
    X[0, :2] = 5.0, 8.0
    X[0, 2:] = 1e6
    model = Formula(lambda X: np.abs(X[:, :2]).max(axis=1)).fit(X)
    share = share_of(explain(model, X, [0]), 0)
    assert (share.drop(["x0", "x1"]) == 0).all()
    assert share["x1"] > share["x0"] > 0


def test_terms_of_a_sum_are_attributed_to_their_features():
    X = cloud(500, 3)
    X[0] = 4.0, 2.0, -1.0
    model = Formula(lambda X: X.sum(axis=1)).fit(X)
    lines = explain(model, X, [0], n_nearest=1)
    ordinary = X[lines["nearest"].iloc[0][0]]
    difference = X[0] - ordinary
    share = share_of(lines, 0)
    for j in range(3):
        # Near enough plain: four spreads above the median lose 3 % to the logarithm's bend.
        expected = difference[j] / difference[difference > 0].sum()
        assert share[f"x{j}"] == pytest.approx(expected, abs=0.01)


def test_a_feature_that_speaks_for_a_row_takes_back_its_part():
    X = np.zeros((60, 2))
    X[:, 0] = np.linspace(0, 1, 60)
    X[1:, 1] = 1.0
    X[0] = 50.0, -9.0
    model = Formula(lambda X: X[:, 0] + X[:, 1], limit=10.0).fit(X)
    share = share_of(explain(model, X), 0)
    assert share["x0"] == 1
    assert -0.4 < share["x1"] < -0.1


def test_where_nothing_speaks_against_a_row_all_shares_are_zero():
    X = np.abs(cloud(50, 3))
    X[0] = 0.0
    model = Formula(lambda X: X.sum(axis=1), limit=100.0).fit(X)
    assert (explain(model, X, [0])["share"] == 0).all()
    same = np.ones((5, 3))  # nor between copies
    assert (explain(model, same, [2])["share"] == 0).all()


def test_a_huge_factor_does_not_hide_the_other_features():
    X = cloud(300, 2)
    X[0] = 9.0, 9.0

    def novelty(X):
        return np.where(np.abs(X[:, 1]) > 5, 1e300, 1.0) * (1 + np.abs(X[:, 0])) ** 6

    share = share_of(explain(Formula(novelty, limit=1e6).fit(X), X), 0)
    assert share["x1"] > share["x0"] > 0.01
    infinite = Formula(lambda X: np.where(X[:, 1] > 5, np.inf, np.abs(X[:, 0]))).fit(X)
    share = share_of(explain(infinite, X), 0)
    assert share["x1"] > 0.99
    assert np.isfinite(share).all()


@pytest.mark.parametrize(
    ("ordinary", "scale"),
    [
        ([0.0, 1.0, 2.0, 3.0, 4.0], NoveltyScale(2.0, 2.0)),
        ([5.0, 5.0, 5.0, 5.0, 9.0], NoveltyScale(5.0, 4.0)),
        ([-3.0, -3.0], NoveltyScale(-3.0, 3.0)),
        ([0.0], NoveltyScale(0.0, 1.0)),
        ([-1.7e308, 1.7e308], NoveltyScale(0.0, 1.7e308)),
    ],
)
def test_spread_is_positive_whatever_the_ordinary_rows_say(ordinary, scale):
    found = ordinary_scale(np.array(ordinary))
    assert found == pytest.approx(scale)
    largest = np.finfo(float).max
    assert np.isfinite(found.tempered(np.array([-largest, largest, 0.0, 1e-320]))).all()


@given(
    contributions=st.lists(st.integers(-1000, 1000), min_size=1, max_size=12).map(
        lambda row: np.array([row]) / 7
    )
)
def test_positive_shares_sum_to_one_and_keep_order_and_sign(contributions):
    (share,) = fractions_of(contributions)
    if (contributions <= 0).all():
        assert (share == 0).all()
    else:
        assert share[share > 0].sum() == pytest.approx(1)
        assert (np.sign(share) == np.sign(contributions[0])).all()
        assert (np.diff(share[np.argsort(contributions[0])]) >= 0).all()


def test_rounding_is_no_share():
    assert (fractions_of(np.array([[1e-12, -1.0, 3e-13]])) == 0).all()
    assert fractions_of(np.array([[1e-6, 1e-12]]))[0, 0] == pytest.approx(1, abs=1e-5)


# --- one answer, whatever the circumstances ---------------------------------------------------


@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_answers_are_finite_and_complete(data):
    n, d = data.draw(st.integers(2, 30)), data.draw(st.integers(1, 10))
    exponent = data.draw(st.sampled_from([-150, -3, 0, 150]))
    seed = data.draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(n, d)) * 10.0**exponent
    model = SpatialDepth().fit(X)
    row = data.draw(st.integers(0, n - 1))
    if (model.predict(X) == 1).sum() <= (model.predict(X)[row] == 1):
        return  # no ordinary row besides
    lines = explain(model, X, row, budget=data.draw(st.integers(1, 300)))
    assert sorted(lines["feature"]) == sorted(f"x{j}" for j in range(d))
    assert np.isfinite(lines["share"]).all()
    against = lines["share"][lines["share"] > 0].sum()
    assert against == pytest.approx(1) or (lines["share"] == 0).all()
    assert row not in lines["nearest"].iloc[0]


def test_same_seed_same_answer_and_other_rows_do_not_matter():
    X = cloud(200, 15)
    X[:4] *= 4
    model = SpatialDepth().fit(X)
    several = explain(model, X, [2, 0, 3])
    pd.testing.assert_frame_equal(several, explain(model, X, [2, 0, 3]))
    alone = explain(model, X, [3])
    pd.testing.assert_frame_equal(several[several["row"] == 3].reset_index(drop=True), alone)
    other = explain(model, X, [3], random_state=1)
    assert 0 < np.abs(share_of(other, 3) - share_of(alone, 3)).max() < 0.1


def test_order_of_rows_does_not_matter():
    X = pd.DataFrame(cloud(150, 5))
    X.iloc[7] *= 5
    model = SpatialDepth().fit(X.to_numpy())
    shuffled = X.sample(frac=1, random_state=3)
    there = explain(model, X, [7])
    again = explain(model, shuffled, [shuffled.index.get_loc(7)])
    pd.testing.assert_frame_equal(there, again)


def test_little_memory_and_many_batches_change_nothing(monkeypatch):
    X = cloud(120, 12)
    X[:3] *= 4
    model = SpatialDepth().fit(X)
    whole = explain(model, X, [0, 1, 2])
    monkeypatch.setattr("kernova.explain.contributions._BATCH_ROWS", 300)
    steps = []
    with sklearn.config_context(working_memory=0.01), reporting(steps.append):
        in_parts = explain(model, X, [0, 1, 2])
    pd.testing.assert_frame_equal(whole, in_parts)
    explaining = [step for step in steps if step.task == "explaining"]
    assert explaining[-1].done == explaining[-1].total == 15  # 3 rows, 5 ordinary ones each

"""Which models can be explained: each in its own sign, space and mode."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM

from kernova import CalibratedDetector, KernelSpatialDepth, SpatialDepth, TableEncoder
from kernova.anomaly.baselines import LocalDensityFactor, LocalPeculiarityFactor
from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor
from kernova.explain.explanation import explain
from kernova.explain.tables import comparable, nearest_rows
from kernova.explain.verdicts import Route, route_through
from kernova.pyod import as_pyod, from_pyod
from tests.explain import literal


def planted(n=300, d=3, seed=1):
    """A cloud whose first row is far out in its last column."""
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.geomspace(1, 10, d)
    X[0, -1] = 120.0
    return X


class MedianDistance(OutlierMixin, BaseEstimator):
    """A detector with scores and verdicts, but no decision function."""

    def fit(self, X, y=None):
        self.middle_ = np.median(X, axis=0)
        return self

    def score_samples(self, X):
        return -np.linalg.norm(X - self.middle_, axis=1)

    def predict(self, X):
        return np.where(self.score_samples(X) < -40, -1, 1)


NEW_ROW_MODELS = [
    SpatialDepth(),
    KernelSpatialDepth(bandwidth="median"),
    CalibratedDetector(SpatialDepth(), random_state=0),
    CalibratedDetector(make_pipeline(MinMaxScaler(), SpatialDepth()), random_state=0),
    make_pipeline(StandardScaler(), CalibratedDetector(SpatialDepth(), random_state=0)),
    Pipeline([("only", SpatialDepth())]),
    make_pipeline(StandardScaler(), make_pipeline(MinMaxScaler(), SpatialDepth())),
    RobustKernelOutlierFactor(novelty=True),
    LocalDensityFactor(novelty=True),
    LocalPeculiarityFactor(novelty=True),
    make_pipeline(MinMaxScaler(), RobustKernelOutlierFactor(novelty=True)),
    IsolationForest(random_state=0),
    LocalOutlierFactor(novelty=True),
    OneClassSVM(nu=0.05, gamma=1e-3),
    EllipticEnvelope(random_state=0),
    MedianDistance(),
    from_pyod(as_pyod(SpatialDepth())),
]


@pytest.mark.parametrize("model", NEW_ROW_MODELS, ids=lambda model: str(model).split("(")[0])
def test_explained_are_the_models_outliers_the_most_novel_first(model):
    X = planted()
    model.fit(X)
    method = "score_samples" if hasattr(model, "score_samples") else "decision_function"
    scores = getattr(model, method)(X)
    explanation = explain(model, X, budget=20)
    outliers = np.flatnonzero(model.predict(X) == -1)
    assert len(outliers)
    found = explanation["row"].unique()
    assert sorted(found) == outliers.tolist()
    assert (np.diff(scores[found]) >= 0).all()
    assert not {label for nearest in explanation["nearest"] for label in nearest} & set(outliers)
    first = explain(model, X, [0])
    assert first["feature"].iloc[0] == "x2"
    assert first["share"].iloc[0] > 0.6


PYOD_MODELS = [
    as_pyod(SpatialDepth()),
    as_pyod(SpatialDepth(), contamination=0.1),
    make_pipeline(StandardScaler(), as_pyod(IsolationForest(random_state=0))),
]


def check_pyod(model):
    X = planted()
    model.fit(X)
    explanation = explain(model, X, budget=20)
    assert sorted(explanation["row"].unique()) == np.flatnonzero(model.predict(X) == 1).tolist()
    found = explanation["row"].unique()
    assert (np.diff(model.decision_function(X)[found]) <= 0).all()
    first = explain(model, X, [0])
    assert first["feature"].iloc[0] == "x2"
    assert first["share"].iloc[0] > 0.6


@pytest.mark.parametrize("model", PYOD_MODELS, ids=lambda model: str(model).split("(")[0])
def test_the_sign_of_pyod_is_reversed(model):
    check_pyod(model)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", ["knn.KNN", "ecod.ECOD"])
def test_pyods_own_detectors(name):
    module, _, kind = name.partition(".")
    found = pytest.importorskip(f"pyod.models.{module}", reason="PyOD is not installed")
    check_pyod(getattr(found, kind)())


# --- training rows judged among the others ----------------------------------------------------

IN_PLACE_MODELS = [
    RobustKernelOutlierFactor(),
    RobustKernelOutlierFactor(n_neighbors=[5, 20], kernel="gaussian"),
    LocalDensityFactor(),
    LocalPeculiarityFactor(),
    make_pipeline(MinMaxScaler(), RobustKernelOutlierFactor()),
]


@pytest.mark.parametrize("model", IN_PLACE_MODELS, ids=lambda model: str(model).split("(")[0])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_outlier_factors_explain_their_own_rows(model, kind):
    X = kind(planted())
    if isinstance(X, pd.DataFrame):
        X = X.set_axis(["a", "b", "c"], axis=1)
    verdicts = model.fit_predict(X)
    factor = model[-1] if isinstance(model, Pipeline) else model
    explanation = explain(model, X, budget=20)
    rows = explanation["row"].unique()
    assert sorted(rows) == np.flatnonzero(verdicts == -1).tolist()
    assert (np.diff(factor.negative_outlier_factor_[rows]) >= 0).all()
    first = explain(model, X, [0])
    assert first["feature"].iloc[0] in ("c", "x2")
    assert first["share"].iloc[0] > 0.85


def test_a_replaced_row_is_literally_the_row_moved():
    X = planted(60)
    X[7, 1] = 30.0
    model = RobustKernelOutlierFactor(n_neighbors=6).fit(X)

    def novelty(row):
        # The other rows keep the widths and densities that fit found for them.
        return -model.score_replaced(np.array([row]), [7])[0]

    explanation = explain(model, X, [7], n_nearest=2)
    factors = -model.negative_outlier_factor_
    ordinary = factors[model.negative_outlier_factor_ >= model.offset_]
    others = X[list(explanation["nearest"].iloc[0])]
    expected = literal.shares(literal.contributions(novelty, X[7], others, ordinary))
    shares = explanation.set_index("feature")["share"]
    np.testing.assert_allclose(shares[["x0", "x1", "x2"]], expected, atol=1e-9)


def test_duplicate_rows_can_be_explained():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    X = np.concatenate([X, [[9.0, 0.0]]])
    share = explain(RobustKernelOutlierFactor(n_neighbors=30).fit(X), X).set_index("feature")
    assert share["row"].tolist() == [60, 60]
    assert share.loc["x0", "share"] == pytest.approx(1)
    assert share.loc["x1", "share"] == 0
    with pytest.warns(UserWarning, match="or more duplicates"):
        model = RobustKernelOutlierFactor(n_neighbors=5).fit(X)
    assert (explain(model, X, [60])["share"] == 0).all()  # all factors are 1


# --- models that score but do not judge -------------------------------------------------------


@pytest.mark.parametrize("model", [KernelDensity(bandwidth=5.0), GaussianMixture(random_state=0)])
def test_scores_alone_explain_rows_that_are_named(model):
    X = planted()
    explanation = explain(model.fit(X), X, [0, 7])
    assert explanation["feature"].iloc[0] == "x2"
    assert explanation["share"].iloc[0] > 0.9
    labels = {label for nearest in explanation["nearest"] for label in nearest}
    assert not labels & {0, 7}  # nobody says that these are ordinary


def test_infinite_scores_are_explained():
    X = planted()
    model = KernelDensity(kernel="tophat", bandwidth=0.3).fit(X[:100])
    assert np.isneginf(model.score_samples(X)).mean() > 0.3
    shares = explain(model, X, [0, 150, 200])["share"]
    assert np.isfinite(shares).all()


# --- tables, and where the nearest rows are found ---------------------------------------------


def fish(n=150):
    random = np.random.default_rng(8)
    return pd.DataFrame(
        {
            "length": random.normal(20, 2, n),
            "colour": random.choice(["grey", "brown"], n, p=[0.8, 0.2]),
            "ripe": random.random(n) < 0.8,
            "rings": random.integers(1, 9, n),
        }
    )


@pytest.mark.parametrize("novelty", [False, True])
def test_features_are_the_users_own_columns(novelty):
    table = fish()
    table.loc[0, "colour"] = "violet"
    table.loc[1, "rings"] = 40
    detector = RobustKernelOutlierFactor(20, novelty=novelty)
    model = make_pipeline(TableEncoder(category_weight=3.0), detector).fit(table)
    explanation = explain(model, table, [0, 1])
    top = explanation.groupby("row").first()
    assert top["feature"].tolist() == ["colour", "rings"]
    assert top["value"].tolist() == ["violet", 40]
    assert top["ordinary_value"].iloc[0] in ("grey", "brown")
    assert 1 <= top["ordinary_value"].iloc[1] <= 9
    assert (top["share"] > 0.6).all()


def test_a_pipelines_rows_may_become_sparse():
    table = pd.DataFrame({"colour": ["grey"] * 40 + ["brown"] * 39 + ["violet"], "sex": ["f"] * 80})
    model = make_pipeline(OneHotEncoder(), IsolationForest(random_state=0)).fit(table)
    explanation = explain(model, table, [79])
    assert explanation["feature"].tolist() == ["colour", "sex"]
    assert explanation["share"].tolist() == [1.0, 0.0]


X_SMALL_AND_LARGE = np.column_stack([np.linspace(0, 4, 5), [0.0, 2000.0, 1000.0, 3000.0, 4000.0]])
SPREAD = X_SMALL_AND_LARGE.std(axis=0)


@pytest.mark.parametrize(
    ("model", "scale"),
    [
        (SpatialDepth(), [1.0, 1.0]),
        (RobustKernelOutlierFactor(n_neighbors=2), [1.0, 1.0]),
        (LocalOutlierFactor(n_neighbors=2, novelty=True), [1.0, 1.0]),
        (OneClassSVM(), [1.0, 1.0]),
        (make_pipeline(StandardScaler(), SpatialDepth()), SPREAD),
        (CalibratedDetector(make_pipeline(MinMaxScaler(), SpatialDepth()), 0.9), None),
        (IsolationForest(random_state=0), [2.0, 2000.0]),
        (MedianDistance(), [2.0, 2000.0]),
    ],
    ids=lambda value: str(value).split("(")[0] if hasattr(value, "fit") else "",
)
def test_nearness_is_the_models_own_or_on_a_common_scale(model, scale):
    X = X_SMALL_AND_LARGE
    route = route_through(model.fit(X))
    if scale is None:
        scale = X[model.reference_indices_].max(axis=0) - X[model.reference_indices_].min(axis=0)
    ordinary, others = comparable(route, X, X[:2])
    for found, rows in ((ordinary, X), (others, X[:2])):
        np.testing.assert_allclose(found - found[0], (rows - X[0]) / scale)


def test_common_scale_of_constants_indicators_and_categories():
    table = pd.DataFrame(
        {
            "constant": 7.0,
            "rare": [0.0] * 9 + [4.0],
            "number": np.arange(10.0),
            "colour": ["red"] * 5 + ["blue"] * 5,
            "nothing": np.nan,
        }
    )
    new = pd.DataFrame(
        {"constant": [9.0], "rare": [2.0], "number": [np.nan], "colour": ["green"], "nothing": 1.0}
    )
    ordinary, others = comparable(Route([], IsolationForest()), table, new)
    difference = others[0] - ordinary[0]
    # Missing is filled with the median 4.5, and the quartiles are 4.5 apart.
    np.testing.assert_allclose(difference[:3], [2.0, 0.5, 1.0])
    assert np.linalg.norm(difference[3:]) == pytest.approx(1)
    assert np.linalg.norm(ordinary[0] - ordinary[9]) == pytest.approx(np.sqrt(1 + 2**2 + 1))


@pytest.mark.parametrize("size", [1e-200, 1.0, 4e307])
def test_distances_neither_overflow_nor_vanish(size):
    ordinary = np.array([[0.0, 0.0], [3.0, 4.0], [-1.0, 0.0], [3.0, -4.0]]) * size
    found = nearest_rows(np.array([[-3.0, -4.0]]) * size, ordinary, 9, leave_out=1)
    assert found.tolist() == [2, 0, 3]


def test_missing_values_are_compared_where_the_model_takes_them():
    X = planted()
    X[5:60, 1] = np.nan
    X[:, 0] = np.nan  # no value at all
    explanation = explain(IsolationForest(random_state=0).fit(X), X, [0, 5])
    assert explanation["feature"].iloc[0] == "x2"
    assert np.isfinite(explanation["share"]).all()
    lines = explanation[explanation["row"] == 5].set_index("feature")
    assert np.isnan(lines.loc["x1", "value"])
    assert lines.loc["x0", "share"] == 0  # missing there, missing here

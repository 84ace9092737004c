"""Any detector with PyOD's interface."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.covariance import EllipticEnvelope
from sklearn.linear_model import SGDOneClassSVM
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from kernova import CalibratedDetector, KernelSpatialDepth, SpatialDepth
from kernova.anomaly.baselines import LocalDensityFactor, LocalPeculiarityFactor
from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor
from kernova.pyod import (
    as_pyod,
    label_stability,
    linear_probabilities,
    unified_probabilities,
)
from tests.pyod.cases import FOREST, IS_OUTLIER, NEW, Closeness, X


class Alike(Closeness):
    """Finds all rows alike."""

    def decision_function(self, X):
        return np.zeros(len(X))


class ScoresOfItsOwn(Closeness):
    """Its scores and its decisions have nothing to do with each other."""

    def score_samples(self, X):
        return np.zeros(len(X))


OUR_FACTORS = [RobustKernelOutlierFactor, LocalDensityFactor, LocalPeculiarityFactor]
DETECTORS = [
    *(factor(novelty=True, contamination=0.1) for factor in OUR_FACTORS),
    SpatialDepth(),
    SpatialDepth(contamination=0.2),
    KernelSpatialDepth(bandwidth=3.0),
    CalibratedDetector(random_state=0),
    CalibratedDetector(FOREST, random_state=0),
    FOREST,
    OneClassSVM(nu=0.1),
    SGDOneClassSVM(random_state=0),
    EllipticEnvelope(random_state=0),
    LocalOutlierFactor(novelty=True),
    make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True, contamination=0.07)),
    make_pipeline(StandardScaler(), make_pipeline(OneClassSVM())),
    Closeness(),
]


@pytest.mark.parametrize("detector", DETECTORS, ids=repr)
def test_by_default_a_detector_keeps_its_own_threshold(detector):
    parameters = repr(detector.get_params())
    alone = clone(detector).fit(X)
    model = as_pyod(detector).fit(X)
    own = getattr(alone, "predict", lambda rows: np.sign(alone.decision_function(rows)))
    assert_array_equal(model.predict(NEW), own(NEW) == -1)
    assert 0 < model.predict(NEW).sum() < 60
    scores = getattr(alone, "score_samples", alone.decision_function)(NEW)
    assert_array_equal(model.decision_function(NEW), -scores)
    fraction = as_pyod(detector, 0.1).fit(X)
    assert_array_equal(fraction.decision_function(NEW), -scores)
    assert fraction.threshold_ == np.percentile(fraction.decision_scores_, 90)
    assert_array_equal(as_pyod(detector, None).fit(X).labels_, model.labels_)
    assert repr(detector.get_params()) == parameters  # the user's own is as it was
    assert not hasattr(detector, "n_features_in_")


def factor_in(fitted):
    """Find the outlier factor and the rows it learnt from."""
    if hasattr(fitted, "steps"):
        return factor_in(fitted[-1])
    if hasattr(fitted, "estimator_"):
        return factor_in(fitted.estimator_)[0], fitted.reference_indices_
    return fitted, np.arange(200)


@pytest.mark.parametrize(
    "detector",
    [
        LocalOutlierFactor(n_neighbors=5),
        LocalOutlierFactor(n_neighbors=5, novelty=True),
        RobustKernelOutlierFactor(n_neighbors=5),
        RobustKernelOutlierFactor(n_neighbors=[5, 10], kernel="gaussian", contamination=0.1),
        LocalDensityFactor(novelty=True),
        LocalPeculiarityFactor(),
        make_pipeline(StandardScaler(), LocalOutlierFactor()),
        CalibratedDetector(LocalOutlierFactor(), random_state=0),
        make_pipeline(StandardScaler(), CalibratedDetector(LocalOutlierFactor(), random_state=0)),
    ],
    ids=repr,
)
def test_outlier_factors_score_training_rows_without_themselves(detector):
    model = as_pyod(detector).fit(X)
    factor, rows = factor_in(model.detector_)
    assert_array_equal(model.decision_scores_[rows], -factor.negative_outlier_factor_)
    others = np.setdiff1d(np.arange(200), rows)
    assert_array_equal(model.decision_scores_[others], model.decision_function(X)[others])
    assert not np.array_equal(model.decision_scores_, model.decision_function(X))


@pytest.mark.parametrize("contamination", ["auto", 0.1])
@pytest.mark.parametrize("factor", [LocalOutlierFactor, *OUR_FACTORS])
def test_an_outlier_factor_finds_the_same_outliers_with_and_without_novelty(factor, contamination):
    alone = factor(contamination=contamination)
    model = as_pyod(alone).fit(X)
    assert_array_equal(model.labels_, alone.fit_predict(X) == -1)
    assert roc_auc_score(IS_OUTLIER, model.decision_function(NEW)) > 0.95


def test_decisions_are_taken_where_the_threshold_of_scores_is_unknown():
    model, closeness = as_pyod(ScoresOfItsOwn()).fit(X), as_pyod(Closeness()).fit(X)
    assert_array_equal(model.decision_function(NEW), closeness.decision_function(NEW))
    assert model.threshold_ == 0


def test_a_detector_without_a_threshold_takes_a_contamination():
    model = as_pyod(KernelDensity(), 0.1).fit(X)
    assert model.labels_.sum() == 20
    assert_array_equal(model.decision_scores_, -KernelDensity().fit(X).score_samples(X))


def test_tables_with_texts_lists_and_sparse_rows_reach_the_detector():
    table = pd.DataFrame({"length": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "grey")})
    encode = make_column_transformer(
        (StandardScaler(), ["length"]), (OneHotEncoder(handle_unknown="ignore"), ["colour"])
    )
    model = as_pyod(make_pipeline(encode, LocalOutlierFactor()), 0.1).fit(table)
    assert model.feature_names_in_.tolist() == ["length", "colour"]
    new = pd.DataFrame({"length": [0.0, 30.0], "colour": ["red", "blue"]})
    assert model.predict(new).tolist() == [0, 1]
    assert model.predict_proba(new)[1].tolist() == [0, 1]
    calibrated = as_pyod(CalibratedDetector(FOREST, random_state=0))
    expected = calibrated.fit(X).labels_
    for rows in (X.tolist(), coo_array(X)):
        assert_array_equal(calibrated.fit(rows).labels_, expected)
    assert get_tags(calibrated).input_tags.sparse
    assert not get_tags(as_pyod(SpatialDepth())).input_tags.sparse
    with pytest.raises(ValueError, match="X has 3 features, but AsPyod is expecting 4 features"):
        as_pyod(Closeness()).fit(X).predict(X[:, :3])


def test_parameters_inside_are_set_with_the_detector():
    model = as_pyod(LocalOutlierFactor()).set_params(detector=FOREST, detector__n_estimators=7)
    assert model.detector is FOREST
    assert FOREST.n_estimators == 7
    FOREST.set_params(n_estimators=20)
    assert repr(as_pyod(SpatialDepth())) == "AsPyod(detector=SpatialDepth())"


SIGNED = ("check_outliers_train", "check_outliers_fit_predict")  # they ask for labels -1 and +1


@pytest.mark.filterwarnings("ignore:y is not used")
def test_all_of_scikit_learns_contract_is_kept_but_the_sign():
    names = []
    for estimator, check in estimator_checks_generator(as_pyod(SpatialDepth())):
        names.append(getattr(check, "func", check).__name__)
        if names[-1] not in SIGNED:
            check(estimator)
    assert set(SIGNED) < set(names)


def test_equal_scores_are_inliers_and_higher_ones_are_outliers():
    model = as_pyod(Alike()).fit(X)
    assert model.labels_.sum() == 0
    for method in ("linear", "unify"):
        assert_array_equal(model.predict_proba(NEW, method), np.tile([1.0, 0.0], (60, 1)))
    rounding = 1 + np.array([0, 2e-16, 4e-16])
    assert linear_probabilities(np.array([1 + 4e-16, 1.5, 3]), rounding) == pytest.approx(
        [0, 0.5, 1]
    )
    assert unified_probabilities(np.array([1.0, 1.5]), 1.0, 0.0).tolist() == [0, 1]


def test_confidence_counts_the_outliers_that_the_own_threshold_found():
    model = as_pyod(SpatialDepth(contamination=0.2)).fit(X)
    with_fraction = as_pyod(SpatialDepth(), contamination=model.labels_.mean()).fit(X)
    assert model.labels_.sum() == with_fraction.labels_.sum() == 40
    scores = model.decision_function(NEW)
    expected = label_stability(scores, model.predict(NEW), model.decision_scores_, 40)
    model.set_params(contamination=0.5)  # changes nothing before the next fit
    assert_array_equal(model.predict_confidence(NEW), expected)

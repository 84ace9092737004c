"""PyOD's interface: one table of checks over its own LOF and ours, with PyOD and without."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from kernova import SpatialDepth
from kernova.pyod import AsPyod, as_pyod
from tests.pyod.cases import (
    IS_OUTLIER,
    NEW,
    X,
    lof_as_pyod,
    lof_as_pyod_without_pyod,
    needs_pyod,
    pyod_lof,
)

WITH_PYOD = (pyod_lof, lof_as_pyod)
INTERFACES = [
    *(pytest.param(interface, marks=needs_pyod) for interface in WITH_PYOD),
    lof_as_pyod_without_pyod,
]


def check_training(make):
    detector = make()
    assert detector.fit(X) is detector
    scores, labels = detector.decision_scores_, detector.labels_
    assert scores.shape == labels.shape == (200,)
    assert scores.dtype == np.float64
    assert labels.dtype == np.int64
    assert isinstance(detector.threshold_, float)
    assert_array_equal(labels, scores > detector.threshold_)
    assert labels.sum() == 20
    assert detector.contamination == 0.1
    assert detector._classes == 2
    assert (detector._mu, detector._sigma) == pytest.approx((scores.mean(), scores.std()))


def check_new_rows(make):
    detector = make().fit(X)
    scores, labels = detector.decision_function(NEW), detector.predict(NEW)
    assert scores.shape == labels.shape == (60,)
    assert scores.dtype == np.float64
    assert labels.dtype == np.int64
    assert_array_equal(labels, scores > detector.threshold_)
    assert roc_auc_score(IS_OUTLIER, scores) > 0.95


def check_probabilities(make):
    detector = make().fit(X)
    order = np.argsort(detector.decision_function(NEW))
    assert_array_equal(detector.predict_proba(NEW), detector.predict_proba(NEW, method="linear"))
    for method in ("linear", "unify"):
        probabilities = detector.predict_proba(NEW, method=method)
        assert probabilities.shape == (60, 2)
        assert probabilities.min() >= 0
        assert probabilities.max() <= 1
        assert np.ptp(probabilities[:, 1]) > 0.5
        assert_allclose(probabilities.sum(axis=1), 1)
        assert (np.diff(probabilities[order, 1]) >= 0).all()
    with pytest.raises(ValueError, match="method"):
        detector.predict_proba(NEW, method="method of my own")


def check_confidence(make):
    detector = make().fit(X)
    confidence = detector.predict_confidence(NEW)
    assert confidence.shape == (60,)
    assert confidence.min() >= 0.4  # below one half, the other label would be the likelier
    assert confidence.max() <= 1
    assert_array_equal(detector.predict(NEW, return_confidence=True)[0], detector.predict(NEW))
    assert_array_equal(detector.predict(NEW, return_confidence=True)[1], confidence)
    for method in ("linear", "unify"):
        pair = detector.predict_proba(NEW, method, return_confidence=True)
        assert_array_equal(pair[0], detector.predict_proba(NEW, method))
        assert_array_equal(pair[1], confidence)


BAD_ROWS = "contains NaN|contains infinity|Expected 2D array|Found array with 0 sample"


def check_bad_rows(make):
    detector = make()
    for method in ("decision_function", "predict", "predict_proba", "predict_confidence"):
        with pytest.raises(NotFittedError):
            getattr(detector, method)(NEW)
    missing = np.where(np.arange(4) == 2, np.nan, NEW)
    for bad in (missing, NEW[0], NEW[:0], np.full((60, 4), np.inf)):
        with pytest.raises(ValueError, match=BAD_ROWS):
            make().fit(bad)
        with pytest.raises(ValueError, match=BAD_ROWS):
            detector.fit(X).decision_function(bad)
    with pytest.raises(ValueError, match="X has 2 features, but"):
        detector.predict(NEW[:, :2])


def check_contamination(make):
    for fraction in (0, -0.5, 0.51, 2):
        with pytest.raises(ValueError, match=r"^contamination must be"):
            make(fraction)
    assert make(0.5).fit(X).labels_.sum() == 100


def check_copies(make):
    detector = make().fit(X)
    copy = clone(detector)
    assert not hasattr(copy, "decision_scores_")
    assert repr(copy) == repr(detector)
    assert copy.get_params().keys() == detector.get_params().keys() > {"contamination"}
    assert_array_equal(copy.fit(X).decision_function(NEW), detector.decision_function(NEW))
    again = pickle.loads(pickle.dumps(detector))
    assert_array_equal(again.decision_scores_, detector.decision_scores_)
    assert_array_equal(again.predict(NEW), detector.predict(NEW))
    detector.set_params(contamination=0.2)
    assert detector.fit(X).labels_.sum() == 40


def check_labels_are_not_wanted(make):
    with pytest.warns(UserWarning, match=r"^y "):
        make().fit(X, np.arange(200) > 180)


def check_fit_predict(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PyOD's own is deprecated
        assert_array_equal(make().fit_predict(X), make().fit(X).labels_)


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("make", INTERFACES)
@pytest.mark.parametrize("check", CHECKS)
def test_interface(check, make):
    check(make)


def test_the_copy_without_pyod_is_without_pyod():
    plain = type(lof_as_pyod_without_pyod())
    assert plain is not AsPyod
    assert not any(parent.__module__.startswith("pyod") for parent in plain.__mro__)
    assert not hasattr(plain, "predict_with_rejection")


@needs_pyod
@pytest.mark.parametrize("contamination", [0.03, 0.1, 0.29, 0.5])
@pytest.mark.parametrize("make", [lof_as_pyod, lof_as_pyod_without_pyod])
def test_the_same_lof_gives_pyods_own_numbers(make, contamination):
    ours, theirs = make(contamination).fit(X), pyod_lof(contamination).fit(X)
    assert_array_equal(ours.decision_scores_, theirs.decision_scores_)
    assert ours.threshold_ == theirs.threshold_
    assert_array_equal(ours.labels_, theirs.labels_)
    assert_array_equal(ours.decision_function(NEW), theirs.decision_function(NEW))
    assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    for method in ("linear", "unify"):
        expected = theirs.predict_proba(NEW, method)
        assert_allclose(ours.predict_proba(NEW, method), expected, rtol=1e-12, atol=1e-15)
    confidence = theirs.predict_confidence(NEW)
    assert_allclose(ours.predict_confidence(NEW), confidence, rtol=1e-9, atol=1e-13)


@needs_pyod
def test_what_is_left_to_pyod_works():
    from pyod.models.base import BaseDetector

    ours, theirs = lof_as_pyod().fit(X), pyod_lof().fit(X)
    assert isinstance(ours, BaseDetector)
    assert_array_equal(ours._predict_rank(NEW), theirs._predict_rank(NEW))
    # The cost of rejection is given: PyOD warns about its own default.
    labels, stats = ours.predict_with_rejection(NEW, return_stats=True, c_r=0.1)
    expected, expected_stats = theirs.predict_with_rejection(NEW, return_stats=True, c_r=0.1)
    assert_array_equal(labels, expected)
    assert stats == expected_stats
    own = as_pyod(SpatialDepth()).fit(X)
    assert set(own.predict_with_rejection(NEW, c_r=0.1)) <= {-2, 0, 1}


@needs_pyod
def test_detectors_take_part_in_pyods_tools(tmp_path, capsys):
    from pyod.models.lscp import LSCP
    from pyod.utils.data import evaluate_print

    both = [as_pyod(SpatialDepth()), as_pyod(LocalOutlierFactor())]
    combined = LSCP(both, n_bins=2, random_state=0).fit(X)
    assert roc_auc_score(IS_OUTLIER, combined.decision_function(NEW)) > 0.9
    evaluate_print("depth", IS_OUTLIER.astype(int), both[0].decision_function(NEW))
    assert capsys.readouterr().out.startswith("depth ROC:")

    persistence = pytest.importorskip("pyod.utils.persistence")  # since PyOD 3.6
    persistence.save(both[0], tmp_path / "depth.joblib")
    loaded = persistence.load(tmp_path / "depth.joblib", trusted=True)
    assert_array_equal(loaded.decision_function(NEW), both[0].decision_function(NEW))


@needs_pyod
def test_detectors_take_part_in_pyods_ensembles():
    pytest.importorskip("combo", reason="PyOD combines scores with combo, which is not installed")
    from pyod.models.combination import average
    from pyod.models.feature_bagging import FeatureBagging

    forest = IsolationForest(n_estimators=10)
    bagging = FeatureBagging(as_pyod(forest), n_estimators=3, random_state=0).fit(X)
    seeds = {part.detector.random_state for part in bagging.estimators_}
    assert len(seeds) == 3
    assert None not in seeds
    assert forest.random_state is None
    assert roc_auc_score(IS_OUTLIER, bagging.decision_function(NEW)) > 0.9

    # Bagging our LOF and PyOD's with the same seed takes the same columns.
    ours, theirs = (FeatureBagging(make(), random_state=0).fit(X) for make in WITH_PYOD)
    assert_array_equal(ours.decision_scores_, theirs.decision_scores_)
    assert_array_equal(ours.decision_function(NEW), theirs.decision_function(NEW))
    scores = np.column_stack([ours.decision_function(NEW), theirs.decision_function(NEW)])
    assert_allclose(average(scores), ours.decision_function(NEW))

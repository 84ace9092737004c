"""PyOD's detectors with scikit-learn's interface."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernova import CalibratedDetector, SpatialDepth
from kernova.errors import InputError
from kernova.pyod import as_pyod, from_pyod
from tests.pyod.cases import FOREST, HAS_PYOD, IS_OUTLIER, NEW, X


class FirstColumn(BaseEstimator):
    """A detector of the user's own in PyOD's manner, which looks at the first column only."""

    def fit(self, X, y=None):
        self.decision_scores_ = self.decision_function(X)
        self.threshold_ = 2.0
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


DETECTORS = [as_pyod(SpatialDepth())]
if HAS_PYOD:
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN
    from pyod.models.ocsvm import OCSVM

    DETECTORS += [KNN(), OCSVM(), IForest(n_estimators=10, random_state=0)]


@parametrize_with_checks([from_pyod(detector) for detector in DETECTORS])
def test_the_wrapper_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: type(detector).__name__)
def test_the_wrapper_reverses_the_sign_of_pyod(detector):
    theirs = clone(detector).fit(X)
    ours = from_pyod(detector).fit(X)
    assert_array_equal(ours.score_samples(NEW), -theirs.decision_function(NEW))
    assert_array_equal(ours.training_scores_, -theirs.decision_scores_)
    assert ours.offset_ == -theirs.threshold_
    assert_array_equal(ours.predict(NEW), np.where(theirs.predict(NEW) == 1, -1, 1))
    assert_array_equal(ours.decision_function(NEW) < 0, theirs.predict(NEW) == 1)
    assert not hasattr(detector, "decision_scores_")

    there_again = as_pyod(from_pyod(detector)).fit(X)
    assert_array_equal(there_again.decision_scores_, theirs.decision_scores_)
    assert_array_equal(there_again.labels_, theirs.labels_)
    assert there_again.threshold_ == theirs.threshold_

    in_pipeline = from_pyod(make_pipeline(StandardScaler(), detector)).fit(X)
    outside = make_pipeline(StandardScaler(), from_pyod(detector)).fit(X)
    assert_array_equal(in_pipeline.predict(NEW), outside.predict(NEW))

    with pytest.raises(InputError, match=r"Wrap it in kernova\.pyod\.from_pyod"):
        CalibratedDetector(make_pipeline(StandardScaler(), detector)).fit(X)
    calibrated = CalibratedDetector(from_pyod(detector), 0.2, random_state=0).fit(X)
    assert roc_auc_score(IS_OUTLIER, calibrated.novelty(NEW)) > 0.9


def test_a_row_at_the_threshold_is_an_inlier_and_columns_are_counted():
    model = from_pyod(FirstColumn()).fit(X)
    edge = np.repeat([[2.0], [np.nextafter(2.0, 3.0)]], 4, axis=1)
    assert model.predict(edge).tolist() == [1, -1]
    assert model.decision_function(edge)[0] == 0 > model.decision_function(edge)[1]
    with pytest.raises(ValueError, match="X has 3 features, but FromPyod is expecting 4 features"):
        model.predict(NEW[:, :3])


def test_the_wrapper_has_the_input_tags_of_its_detector():
    assert get_tags(from_pyod(as_pyod(FOREST))).input_tags.sparse
    assert not get_tags(from_pyod(as_pyod(SpatialDepth()))).input_tags.sparse

"""Members of other libraries, and the ensemble inside of other things: bounds, files, reasons."""

import pickle
import re
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from kernova import (
    CalibratedDetector,
    DetectorEnsemble,
    InputError,
    KernelSpatialDepth,
    RobustKernelOutlierFactor,
    SpatialDepth,
    load_model,
    save_model,
)
from kernova.explain import explain
from tests.anomaly import messages
from tests.anomaly.test_ensemble import merchants, mixed_table


def _pyod():
    if find_spec("pyod") is None:
        return []
    from pyod.models.ecod import ECOD
    from pyod.models.knn import KNN

    return [KNN(), ECOD(), make_pipeline(StandardScaler(), KNN())]


class FromMean:
    """A user's own detector: no scikit-learn, no parameters, and fit returns nothing."""

    def fit(self, X):
        self.mean = X.mean(axis=0)

    def decision_function(self, X):
        return -np.linalg.norm(X - self.mean, axis=1)


class Failing(OutlierMixin, BaseEstimator):
    """A detector that raises an error in fit, or in scoring rows far away, or gives no number."""

    def __init__(self, error=None, error_far=None, score=0.0):
        self.error = error
        self.error_far = error_far
        self.score = score

    def fit(self, X, y=None):
        if self.error is not None:
            raise self.error
        return self

    def score_samples(self, X):
        if self.error_far is not None and np.abs(X).max() > 100:
            raise self.error_far
        return np.full(len(X), self.score) - np.abs(X).sum(axis=1)


ROWS = np.random.default_rng(1).normal(size=(300, 3)) * [1.0, 10.0, 0.1]
ROWS[0] = [7.0, 70.0, 0.7]
NEW = np.array([[0.0, 0.0, 0.0], [6.0, 60.0, 0.6]])


# --- members -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "detector",
    [
        IsolationForest(),
        LocalOutlierFactor(novelty=True),
        OneClassSVM(),
        make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
        *_pyod(),
        SpatialDepth(),
        KernelSpatialDepth(),
        make_pipeline(StandardScaler(), KernelSpatialDepth()),
        RobustKernelOutlierFactor(novelty=True),
        DetectorEnsemble(["nearest-ranks", "columns"]),
        CalibratedDetector(IsolationForest(n_estimators=20)),
        FromMean(),
    ],
    ids=lambda detector: type(detector).__name__,
)
def test_detectors_of_any_library_judge_rows_with_the_right_sign(detector):
    ensemble = DetectorEnsemble([("other", detector)]).fit(ROWS)
    assert ensemble.left_out_ == {}
    assert ensemble.training_scores_[0] < np.quantile(ensemble.training_scores_, 0.02)
    usual, strange = ensemble.score_samples(NEW)
    assert usual > -2
    assert strange < -4
    again = DetectorEnsemble([("other", detector)]).fit(ROWS)
    np.testing.assert_array_equal(again.score_samples(NEW), [usual, strange])
    np.testing.assert_array_equal(again.training_scores_, ensemble.training_scores_)


def test_own_and_other_members_are_asked_together():
    ensemble = DetectorEnsemble(["linear", OneClassSVM(), ("mine", FromMean())]).fit(ROWS)
    scores = ensemble.member_scores(NEW)
    assert list(scores.columns) == ["linear", "OneClassSVM", "mine"]
    assert (scores.loc[1] > scores.loc[0] + 3).all()
    assert list(ensemble.members_) == list(scores.columns)


def test_a_detector_is_fitted_in_a_copy():
    detector, mine = IsolationForest(), FromMean()
    DetectorEnsemble([detector, mine]).fit(ROWS)
    assert not hasattr(detector, "estimators_")
    assert detector.random_state is None
    assert not hasattr(mine, "mean")


@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        (Failing(ValueError("Too few rows.")), "Too few rows."),
        (Failing(RuntimeError("no solver")), "RuntimeError: no solver"),
        (Failing(TypeError()), "TypeError: "),
        (Failing(MemoryError("1 TB")), "MemoryError: 1 TB"),
        (
            Failing(score=np.nan),
            "Failing did not give a finite score for each row; it gave (60,) scores, of which 60 "
            "are not finite.",
        ),
    ],
)
def test_a_member_that_fails_is_left_out_by_its_reason(failing, reason):
    ensemble = DetectorEnsemble(["linear", failing]).fit(ROWS)
    assert ensemble.left_out_ == {"Failing": reason}
    assert list(ensemble.members_) == ["linear"]
    expected = DetectorEnsemble(["linear"]).fit(ROWS).score_samples(NEW)
    np.testing.assert_array_equal(ensemble.score_samples(NEW), expected)


def test_if_all_members_fail_all_reasons_are_named():
    message = (
        "No member of the ensemble can run on these rows. first: Too few rows. "
        "second: RuntimeError: no solver"
    )
    failing = [("first", Failing(ValueError("Too few rows."))), ("second", Failing())]
    failing[1][1].error = RuntimeError("no solver")
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        DetectorEnsemble(failing).fit(ROWS)


def test_a_member_that_fails_on_new_rows_is_named():
    ensemble = DetectorEnsemble(["linear", Failing(error_far=KeyError("far"))]).fit(ROWS)
    message = "Member Failing cannot score these rows: KeyError: 'far'"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        ensemble.score_samples([[1e4, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], f"{messages.ENSEMBLE_MEMBERS}[]."),
        ("forest", f"{messages.ENSEMBLE_MEMBERS}'forest'."),
        (None, f"{messages.ENSEMBLE_MEMBERS}None."),
        (["forest"], messages.ENSEMBLE_NAME),
        (["linear", "linear"], messages.ENSEMBLE_TWICE),
        ([IsolationForest], messages.ENSEMBLE_CLASS),
        ([LocalOutlierFactor()], messages.ensemble_cannot_score("LocalOutlierFactor")),
        ([("mine", 3)], messages.ensemble_cannot_score("mine")),
    ],
)
def test_members_that_are_none_are_refused(members, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        DetectorEnsemble(members).fit(ROWS)


# --- calibration ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "way", [{"calibration": "holdout"}, {"calibration": "cross", "n_folds": 3}]
)
def test_the_bound_of_a_calibrated_ensemble_is_broken_no_more_often_than_stated(way):
    random = np.random.default_rng(3)
    skewed = random.gamma(2.0, size=(1000, 2))
    population = np.column_stack([skewed, random.integers(0, 4, size=1000)])
    ensemble = DetectorEnsemble(["nearest-standard", "columns"])
    n_repetitions, n_broken, rates = 200, 0, []
    for number in range(n_repetitions):
        rows = population[random.integers(0, 1000, size=120)]
        calibrated = CalibratedDetector(ensemble, 0.2, random_state=number, **way).fit(rows)
        rates.append(np.mean(calibrated.predict(population) == -1))
        n_broken += rates[-1] > calibrated.false_alarm_bound_
    assert binomtest(n_broken, n_repetitions, 0.05, alternative="greater").pvalue > 1e-3
    assert np.mean(rates) > 0.02  # the bound is not kept by silence


# --- files and copies ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "members", ["auto", [KernelSpatialDepth(), ("forest", IsolationForest(n_estimators=9))]]
)
def test_an_ensemble_survives_pickle_and_a_model_file(members, tmp_path):
    table, new = mixed_table(80), mixed_table(20, seed=1)
    ensemble = DetectorEnsemble(members).fit(table)
    save_model(ensemble, tmp_path / "ensemble.kernova")
    for other in (
        pickle.loads(pickle.dumps(ensemble)),
        load_model(tmp_path / "ensemble.kernova"),
    ):
        np.testing.assert_array_equal(other.score_samples(new), ensemble.score_samples(new))
        np.testing.assert_array_equal(other.training_scores_, ensemble.training_scores_)
        pd.testing.assert_frame_equal(other.member_scores(new), ensemble.member_scores(new))
        assert other.left_out_ == ensemble.left_out_
        assert other.notes_ == ensemble.notes_


def test_a_clone_has_the_same_parameters_and_is_not_fitted():
    forest = IsolationForest(n_estimators=7)
    ensemble = DetectorEnsemble([forest], contamination=0.1, random_state=3).fit(ROWS)
    copy = clone(ensemble)
    assert copy.get_params()["contamination"] == 0.1
    assert copy.members[0].n_estimators == 7
    assert copy.members[0] is not forest
    assert not hasattr(copy, "offset_")
    np.testing.assert_array_equal(copy.fit(ROWS).training_scores_, ensemble.training_scores_)


# --- reasons -------------------------------------------------------------------------------------


def test_explanations_of_own_rows_name_the_wrong_column():
    table, wrong = merchants(seed=1)
    ensemble = DetectorEnsemble().fit(table)
    found = explain(ensemble, table, rows=wrong[:6]).groupby("row", sort=False).first()["feature"]
    assert found.tolist() == ["amount", "age", "items"] * 2


def test_explanations_of_new_rows_name_the_planted_column():
    table = mixed_table(300)
    new = table.iloc[:3].copy()
    new.loc[0, "length"], new.loc[1, "count"], new.loc[2, "sex"] = 90.0, 400, "unknown"
    found = explain(DetectorEnsemble().fit(table), new, rows=[0, 1, 2], known=table)
    assert found.groupby("row", sort=False).first()["feature"].tolist() == [
        "length",
        "count",
        "sex",
    ]


def test_the_members_that_spoke_are_named():
    mixing = [[1.0, 1.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 1.0]]
    X = np.random.default_rng(0).normal(size=(300, 3)) @ mixing
    ensemble = DetectorEnsemble(["linear", "nearest-standard"]).fit(
        pd.DataFrame(X, columns=["a", "b", "c"])
    )
    new = pd.DataFrame({"a": [1.0, 0.0], "b": [-1.0, 0.0], "c": [0.0, 40.0]}, index=["x", "y"])
    spoke = ensemble.member_scores(new)
    assert spoke.idxmax(axis=1).to_dict() == {"x": "linear", "y": "nearest-standard"}
    assert list(ensemble.member_scores().index) == list(range(300))

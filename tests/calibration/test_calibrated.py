"""Any detector on one scale, with a guarantee."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array
from scipy.stats import binomtest, ncx2
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM

from kernova.anomaly.spatial_depth import KernelSpatialDepth
from kernova.calibration.bounds import false_alarm_threshold
from kernova.calibration.detector import CalibratedDetector
from kernova.errors import InputError, TooFewRowsError

LARGEST = np.finfo(np.float64).max
SMALL_FOREST = IsolationForest(n_estimators=10, random_state=0)


class Closeness(BaseEstimator):
    """A detector of the user's own that has decision_function only."""

    def fit(self, X, y=None):
        self.centre_ = np.mean(X, axis=0)
        return self

    def decision_function(self, X):
        return -np.linalg.norm(np.asarray(X) - self.centre_, axis=1)


class FirstColumn(BaseEstimator):
    """Scores that a test can choose."""

    def fit(self, X, y=None):
        self.n_rows_ = len(X)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0]


class Constant(Closeness):
    """Finds all rows alike."""

    def decision_function(self, X):
        return np.full(len(X), 3.5)


class Broken(Closeness):
    """Knows nothing of negative numbers."""

    def decision_function(self, X):
        with np.errstate(invalid="ignore"):
            return np.sqrt(X[:, 0])


class StrangenessLikePyod(Closeness):
    """High is strange, as the attribute says that PyOD's detectors leave behind."""

    def fit(self, X, y=None):
        self.decision_scores_ = -super().fit(X).decision_function(X)
        return self


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(400, 3))


DETECTORS = [
    SMALL_FOREST,
    OneClassSVM(),
    LocalOutlierFactor(novelty=True),
    EllipticEnvelope(random_state=0),
    KernelDensity(),
    make_pipeline(StandardScaler(), OneClassSVM()),
    Closeness(),
    Constant(),
]


@pytest.mark.parametrize("bound", ["binomial", "hoeffding"])
@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)
def test_every_detector_answers_on_one_scale(rows, detector, bound):
    calibrated = CalibratedDetector(detector, 0.2, bound=bound, random_state=1).fit(rows)
    reference, holdout = calibrated.reference_indices_, calibrated.holdout_indices_
    assert sorted([*reference, *holdout]) == list(range(400))
    assert len(holdout) == 200

    alone = clone(detector).fit(rows[reference])
    method = getattr(alone, "score_samples", None) or alone.decision_function
    np.testing.assert_array_equal(calibrated.score_samples(rows), method(rows))
    np.testing.assert_array_equal(calibrated.holdout_scores_, np.sort(method(rows[holdout])))
    assert false_alarm_threshold(method(rows[holdout]), 0.2, 0.95, bound) == (
        calibrated.threshold_,
        calibrated.false_alarm_bound_,
        calibrated.observed_false_alarm_,
        200,
    )

    strange = np.vstack([rows, rows * 20])
    is_novel = calibrated.score_samples(strange) <= calibrated.threshold_
    np.testing.assert_array_equal(calibrated.predict(strange), np.where(is_novel, -1, 1))
    np.testing.assert_array_equal(calibrated.decision_function(strange) < 0, is_novel)
    np.testing.assert_array_equal(calibrated.novelty(strange) >= 0, is_novel)
    assert np.mean(calibrated.predict(rows[holdout]) == -1) == calibrated.observed_false_alarm_
    if not isinstance(detector, Constant):
        assert is_novel[400:].mean() > 0.9
        assert np.median(calibrated.novelty(rows[holdout])) == pytest.approx(-1)


def test_the_threshold_itself_is_novel_and_the_next_number_is_not():
    for low, high in [(0, 1), (-3, 1e-300), (-LARGEST, LARGEST)]:
        X = np.linspace(low / 2, high / 2, 100)[:, np.newaxis] * 2
        calibrated = CalibratedDetector(FirstColumn(), 0.2, random_state=0).fit(X)
        assert calibrated.offset_ in X
        edge = [[calibrated.threshold_], [calibrated.offset_], [low], [high]]
        assert calibrated.predict(edge).tolist() == [-1, 1, -1, 1]
        decision = calibrated.decision_function(edge)
        assert np.isfinite(decision).all()
        assert decision[0] < 0 == decision[1]


def test_one_seed_repeats_everything_even_an_unseeded_detector(rows):
    unseeded = make_pipeline(StandardScaler(), IsolationForest(n_estimators=5))
    first, again, other = (
        CalibratedDetector(unseeded, random_state=seed).fit(rows) for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(first.novelty(rows), again.novelty(rows))
    np.testing.assert_array_equal(first.holdout_indices_, again.holdout_indices_)
    assert not np.array_equal(first.holdout_indices_, other.holdout_indices_)
    assert unseeded.get_params()["isolationforest__random_state"] is None
    assert CalibratedDetector(SMALL_FOREST).fit(rows).estimator_.random_state == 0


@pytest.mark.parametrize(("holdout", "n_holdout"), [(0.29, 29), (60, 60), (0.999, 99), (0.955, 95)])
def test_holdout_is_a_share_or_a_number(rows, holdout, n_holdout):
    calibrated = CalibratedDetector(Closeness(), 0.4, holdout=holdout).fit(rows[:100])
    assert calibrated.holdout_indices_.shape == (n_holdout,)
    assert calibrated.holdout_scores_.shape == (n_holdout,)


def test_tables_with_words_reach_a_pipeline_as_they_are():
    random = np.random.default_rng(4)
    table = pd.DataFrame(
        {"length": random.normal(size=300), "colour": random.choice(["red", "grey"], size=300)},
        index=random.permutation(300),
    )
    encode = make_column_transformer(
        (StandardScaler(), ["length"]), (OneHotEncoder(handle_unknown="ignore"), ["colour"])
    )
    calibrated = CalibratedDetector(make_pipeline(encode, OneClassSVM()), random_state=0).fit(table)
    assert calibrated.feature_names_in_.tolist() == ["length", "colour"]
    assert calibrated.n_features_in_ == 2
    new = pd.DataFrame({"length": [0.0, 30.0], "colour": ["red", "blue"]})
    assert calibrated.predict(new).tolist() == [1, -1]


def test_lists_and_sparse_rows_give_the_same_answer(rows):
    expected = CalibratedDetector(SMALL_FOREST, random_state=0).fit(rows).predict(rows)
    for X in (rows.tolist(), coo_array(rows)):
        calibrated = CalibratedDetector(SMALL_FOREST, random_state=0).fit(X)
        np.testing.assert_array_equal(calibrated.predict(X), expected)


def test_without_a_detector_it_is_kernel_depth_which_follows_a_ring():
    random = np.random.default_rng(2)
    angle, radius = random.uniform(0, 2 * np.pi, size=600), random.uniform(4, 5, size=600)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    calibrated = CalibratedDetector(random_state=0).fit(ring)
    assert isinstance(calibrated.estimator_, KernelSpatialDepth)
    assert calibrated.predict([[0, 0], [0, 4.5], [-4.5, 0], [9, 9]]).tolist() == [-1, 1, 1, -1]


def test_p_values_and_discoveries_point_at_the_strange_rows(rows):
    calibrated = CalibratedDetector(Closeness(), random_state=0).fit(rows)
    p = calibrated.p_values(np.vstack([rows[:50], rows[:5] + 50]))
    assert p[50:] == pytest.approx(1 / 201)
    mixed = np.vstack([rows[calibrated.holdout_indices_][:50], rows[:5] + 50])
    chosen = calibrated.discoveries(mixed, 0.1)
    assert chosen[50:].all()
    assert chosen[:50].sum() <= 3


@pytest.mark.soak
def test_the_guarantee_holds_for_the_wrapped_detector(long_bar):
    # Closeness calls novel what lies outside a circle; the share of a normal cloud outside it
    # is a non-central chi-squared tail, so the truth is known without sampling.
    random = np.random.default_rng(11)
    n_repetitions = long_bar(1000)
    failures = 0
    for seed in range(n_repetitions):
        X = random.normal(size=(200, 2))
        calibrated = CalibratedDetector(Closeness(), 0.1, random_state=seed).fit(X)
        off_centre = np.sum(calibrated.estimator_.centre_**2)
        truth = ncx2.sf(calibrated.threshold_**2, 2, off_centre)
        failures += truth > calibrated.false_alarm_bound_
    print(f"wrapped: {failures} of {n_repetitions} failed")
    assert binomtest(failures, n_repetitions, 0.05, alternative="greater").pvalue > 1e-3
    assert failures > 0  # the bound is exact here: never failing would mean that it is loose


# --- calibrating what is fitted already ----------------------------------------------------------


def test_a_fitted_detector_is_calibrated_without_fitting_it_again(rows):
    forest = clone(SMALL_FOREST).fit(rows[:200])
    calibrated = CalibratedDetector(forest).calibrate(rows[200:])
    assert calibrated.estimator_ is forest
    assert calibrated.n_features_in_ == 3
    expected = np.sort(forest.score_samples(rows[200:]))
    np.testing.assert_array_equal(calibrated.holdout_scores_, expected)


def test_calibrating_after_fit_replaces_the_rows_held_out_then(rows):
    calibrated = CalibratedDetector(SMALL_FOREST, random_state=0).fit(rows)
    fitted = calibrated.estimator_
    calibrated.calibrate(rows[:150] * 2)
    assert calibrated.estimator_ is fitted
    assert calibrated.holdout_scores_.size == 150
    assert not hasattr(calibrated, "holdout_indices_")

    before = calibrated.threshold_
    with pytest.raises(TooFewRowsError):
        calibrated.calibrate(rows[:5])
    assert calibrated.threshold_ == before
    with pytest.raises(ValueError, match="X has 2 features, but CalibratedDetector is expecting 3"):
        calibrated.calibrate(rows[:, :2])


def test_nothing_fitted_nothing_calibrated(rows):
    sentence = "There is no fitted detector to calibrate. Call fit, or give a fitted estimator."
    with pytest.raises(NotFittedError, match=f"^{re.escape(sentence)}$"):
        CalibratedDetector().calibrate(rows)
    with pytest.raises(NotFittedError, match="This IsolationForest instance is not fitted yet"):
        CalibratedDetector(SMALL_FOREST).calibrate(rows)
    unusable = CalibratedDetector(SMALL_FOREST)
    with pytest.raises(TooFewRowsError):
        unusable.fit(rows[:20])
    with pytest.raises(NotFittedError):
        unusable.guarantee()


# --- words ---------------------------------------------------------------------------------------


def test_the_guarantee_says_what_was_proven_when_it_was_proven(rows):
    calibrated = CalibratedDetector(Closeness(), 0.05, 0.999, random_state=0).fit(rows)
    sentence = (
        "With 99.9 % confidence, at most 4.53 % of ordinary rows are called novel "
        "(5 % was asked for; of 200 held-out rows 1 was)."
    )
    assert calibrated.guarantee() == sentence
    calibrated.set_params(confidence=0.5, max_false_alarm=0.01)
    assert calibrated.guarantee() == sentence


@pytest.mark.parametrize(
    ("parameters", "n_rows", "sentence"),
    [
        (
            {},
            40,
            "No threshold keeps false alarms below 0.05: 20 held-out rows prove nothing under "
            "0.14. Hold out at least 59 rows, or allow more than 0.14. With holdout=0.5 that takes "
            "118 rows in all; there are 40.",
        ),
        (
            {"holdout": 30},
            40,
            "No threshold keeps false alarms below 0.05: 30 held-out rows prove nothing under "
            "0.0951. Hold out at least 59 rows, or allow more than 0.0951. Set holdout to 59 or "
            "more; there are 40.",
        ),
        (
            {"holdout": 40},
            40,
            "holdout=40 leaves no row to learn from: there are 40 rows. Hold out fewer, or a share "
            "such as 0.5.",
        ),
        ({}, 1, "Rows to learn from and rows to hold out take at least 2 rows; got 1 sample."),
        ({}, 0, "Rows to learn from and rows to hold out take at least 2 rows; got 0 samples."),
        (
            {"holdout": 1.0},
            400,
            "holdout must be a share of the rows above 0 and below 1, or a number of rows of at "
            "least 1; got 1.0.",
        ),
        (
            {"holdout": True},
            400,
            "holdout must be a share of the rows above 0 and below 1, or a number of rows of at "
            "least 1; got True.",
        ),
        ({"bound": "exact"}, 400, "bound must be 'hoeffding' or 'binomial'; got 'exact'."),
        (
            {"estimator": LocalOutlierFactor()},
            400,
            "LocalOutlierFactor cannot score new rows: it has neither score_samples nor "
            "decision_function. Choose a detector that has one (LocalOutlierFactor: with "
            "novelty=True).",
        ),
        (
            {"estimator": StrangenessLikePyod()},
            400,
            "StrangenessLikePyod gives high scores to strange rows; here high is usual. Wrap it in "
            "kernova.pyod.from_pyod, which turns them.",
        ),
        (
            {"estimator": make_pipeline(StandardScaler(), StrangenessLikePyod())},
            400,
            "StrangenessLikePyod gives high scores to strange rows; here high is usual. Wrap it in "
            "kernova.pyod.from_pyod, which turns them.",
        ),
    ],
)
def test_refusals(rows, parameters, n_rows, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        CalibratedDetector(**{"estimator": Closeness(), **parameters}).fit(rows[:n_rows])


def test_as_many_rows_as_the_error_asks_for_are_enough(rows):
    for holdout in (0.5, 0.3, 0.77):
        with pytest.raises(TooFewRowsError) as caught:
            CalibratedDetector(Closeness(), holdout=holdout).fit(rows[:10])
        in_all = int(re.search(r"takes (\d+) rows in all", str(caught.value))[1])
        CalibratedDetector(Closeness(), holdout=holdout).fit(rows[:in_all])
        with pytest.raises(TooFewRowsError):
            CalibratedDetector(Closeness(), holdout=holdout).fit(rows[: in_all - 1])


def test_scores_that_are_no_numbers_are_refused(rows):
    positive = np.abs(rows)
    with pytest.raises(InputError, match=r"^The scores that Broken gives must be finite; \d+ of"):
        CalibratedDetector(Broken()).fit(rows)
    calibrated = CalibratedDetector(Broken()).fit(positive)
    sentence = (
        "The scores that Broken gives must be finite; 1 of 2 are not, the first at position 1. "
        "Leave such rows out."
    )
    for method in ("predict", "novelty", "p_values", "decision_function", "score_samples"):
        with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
            getattr(calibrated, method)(np.array([[1.0, 1, 1], [-1, 1, 1]]))

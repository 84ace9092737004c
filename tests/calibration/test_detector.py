"""Calibrated detectors: any detector on one scale, with a guarantee."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.stats import binomtest, ncx2
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM

from kernova.anomaly.ensemble.detector import DetectorEnsemble
from kernova.calibration.bounds import false_alarm_threshold
from kernova.calibration.detector import CalibratedDetector, novelty_of, novelty_scale
from kernova.errors import InputError, TooFewRowsError
from tests.calibration.detectors import Broken, Closeness, Constant, FirstColumn
from tests.calibration.messages import (
    BAD_DETECTORS,
    GUARANTEE,
    NOT_FINITE,
    NOTHING_TO_CALIBRATE,
)

LARGEST = np.finfo(np.float64).max
finite = st.floats(allow_nan=False, allow_infinity=False)
SMALL_FOREST = IsolationForest(n_estimators=10, random_state=0)


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
    calibrated = CalibratedDetector(detector, 0.2, bound=bound, holdout=0.5, random_state=1)
    calibrated.fit(rows)
    reference, holdout = calibrated.reference_indices_, calibrated.holdout_indices_
    assert sorted([*reference, *holdout]) == list(range(400))
    assert len(holdout) == 200

    alone = clone(detector).fit(rows[reference])
    method = getattr(alone, "score_samples", None) or alone.decision_function
    np.testing.assert_array_equal(calibrated.score_samples(rows), method(rows))
    np.testing.assert_array_equal(calibrated.holdout_scores_, np.sort(method(rows[holdout])))
    expected = false_alarm_threshold(method(rows[holdout]), 0.2, 0.95, bound)
    assert expected[1:] == (calibrated.false_alarm_bound_, calibrated.observed_false_alarm_, 200)
    assert calibrated.threshold_ == pytest.approx(expected.threshold, rel=1e-14, abs=1e-14)
    assert calibrated.threshold_ <= expected.threshold

    mixed = np.vstack([rows, rows * 20])
    is_novel = calibrated.score_samples(mixed) <= calibrated.threshold_
    np.testing.assert_array_equal(calibrated.predict(mixed), np.where(is_novel, -1, 1))
    np.testing.assert_array_equal(calibrated.decision_function(mixed) < 0, is_novel)
    np.testing.assert_array_equal(calibrated.novelty(mixed) >= 0, is_novel)
    assert np.mean(calibrated.predict(rows[holdout]) == -1) == calibrated.observed_false_alarm_
    if not isinstance(detector, Constant):
        assert is_novel[400:].mean() > 0.9
        assert np.median(calibrated.novelty(rows[holdout])) == pytest.approx(-1)


def test_the_threshold_itself_is_novel_and_the_next_number_is_not():
    for low, high in [(0, 1), (-3, 1e-300), (-LARGEST, LARGEST)]:
        X = np.linspace(low / 2, high / 2, 100)[:, np.newaxis] * 2
        calibrated = CalibratedDetector(FirstColumn(), 0.2, random_state=0).fit(X)
        assert np.abs(X / 2 - calibrated.offset_ / 2).min() <= 4 * math.ulp(max(-low, high))
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
def test_holdout_is_a_fraction_or_a_number(rows, holdout, n_holdout):
    calibrated = CalibratedDetector(Closeness(), 0.4, holdout=holdout).fit(rows[:100])
    assert calibrated.holdout_indices_.shape == (n_holdout,)
    assert calibrated.holdout_scores_.shape == (n_holdout,)


def test_tables_with_text_reach_a_pipeline_as_they_are():
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


def test_without_a_detector_it_is_the_ensemble_which_follows_a_ring():
    random = np.random.default_rng(2)
    angle, radius = random.uniform(0, 2 * np.pi, size=600), random.uniform(4, 5, size=600)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    calibrated = CalibratedDetector(random_state=0).fit(ring)
    assert isinstance(calibrated.estimator_, DetectorEnsemble)
    assert calibrated.predict([[0, 0], [0, 4.5], [-4.5, 0], [9, 9]]).tolist() == [-1, 1, 1, -1]


def test_p_values_and_discoveries_point_at_the_novel_rows(rows):
    calibrated = CalibratedDetector(Closeness(), holdout=0.5, random_state=0).fit(rows)
    p = calibrated.p_values(np.vstack([rows[:50], rows[:5] + 50]))
    assert p[50:] == pytest.approx(1 / 201)
    mixed = np.vstack([rows[calibrated.holdout_indices_][:50], rows[:5] + 50])
    chosen = calibrated.discoveries(mixed, 0.1)
    assert chosen[50:].all()
    assert chosen[:50].sum() <= 3


@pytest.mark.soak
def test_the_guarantee_holds_for_the_wrapped_detector(long_bar):
    # Closeness calls novel what lies outside a circle; the fraction of a normal cloud outside it
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


def test_as_many_rows_as_the_error_asks_for_are_enough(rows):
    for holdout in (0.5, 0.3, 0.77):
        with pytest.raises(TooFewRowsError) as caught:
            CalibratedDetector(Closeness(), holdout=holdout).fit(rows[:10])
        in_all = int(re.search(r"takes (\d+) rows in all", str(caught.value))[1])
        CalibratedDetector(Closeness(), holdout=holdout).fit(rows[:in_all])
        with pytest.raises(TooFewRowsError):
            CalibratedDetector(Closeness(), holdout=holdout).fit(rows[: in_all - 1])


def test_only_a_fitted_detector_is_calibrated(rows):
    with pytest.raises(NotFittedError, match=f"^{re.escape(NOTHING_TO_CALIBRATE)}$"):
        CalibratedDetector().calibrate(rows)
    with pytest.raises(NotFittedError, match="This IsolationForest instance is not fitted yet"):
        CalibratedDetector(SMALL_FOREST).calibrate(rows)
    unusable = CalibratedDetector(SMALL_FOREST)
    with pytest.raises(TooFewRowsError):
        unusable.set_params(holdout=0.5).fit(rows[:20])
    with pytest.raises(NotFittedError):
        unusable.guarantee()


def test_the_guarantee_is_what_was_proven_in_fit(rows):
    calibrated = CalibratedDetector(Closeness(), 0.05, 0.999, holdout=0.5, random_state=0)
    calibrated.fit(rows)
    assert calibrated.guarantee() == GUARANTEE
    calibrated.set_params(confidence=0.5, max_false_alarm=0.01)
    assert calibrated.guarantee() == GUARANTEE


@pytest.mark.parametrize(("parameters", "n_rows", "message"), BAD_DETECTORS)
def test_bad_detectors(rows, parameters, n_rows, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        CalibratedDetector(**{"estimator": Closeness(), **parameters}).fit(rows[:n_rows])


def test_scores_that_are_not_numbers_raise(rows):
    with pytest.raises(InputError, match=f"^{re.escape(NOT_FINITE[:34])}"):
        CalibratedDetector(Broken()).fit(rows)
    calibrated = CalibratedDetector(Broken()).fit(np.abs(rows))
    for method in ("predict", "novelty", "p_values", "decision_function", "score_samples"):
        with pytest.raises(InputError, match=f"^{re.escape(NOT_FINITE)}$"):
            getattr(calibrated, method)(np.array([[1.0, 1, 1], [-1, 1, 1]]))


# --- the scale of novelty: high is novel, 0 is the threshold, -1 the median held-out row ---------


@settings(deadline=None)
@given(
    st.lists(finite | st.integers(0, 3).map(float), min_size=1, max_size=20),
    st.lists(finite, min_size=1, max_size=20),
    st.floats(0.1, 0.9),
)
@example([-LARGEST] * 5, [LARGEST, 0.0], 0.2)
@example([-LARGEST] + [0.0] * 9, [LARGEST, 0.0, -LARGEST], 0.1)
@example([-LARGEST] * 3 + [LARGEST] * 20, [0.0], 0.2)
@example([0.0] * 10 + [9.0] * 20, [5e-324, -5e-324], 0.2)
def test_novelty_is_finite_falls_with_the_score_and_is_0_at_the_threshold(holdout, new, limit):
    try:
        threshold = false_alarm_threshold(holdout, limit, 0.5, "binomial").threshold
    except TooFewRowsError:
        return
    holdout = np.sort(holdout)
    scale = novelty_scale(holdout, threshold)
    assert 0 < scale < np.inf
    scores = np.sort(np.concatenate([new, holdout]))
    novelty = novelty_of(scores, threshold, scale)
    assert np.isfinite(novelty).all()
    assert (np.diff(novelty) <= 0).all()
    np.testing.assert_array_equal(novelty >= 0, scores <= threshold)
    if np.isfinite(threshold):
        assert novelty_of(np.array([threshold]), threshold, scale) == 0


@pytest.mark.parametrize(
    ("holdout", "threshold", "scale"),
    [
        ([1, 2, 3, 4, 9], 1.5, 1.5),  # from the threshold to the median
        ([1, 2, 3, 4, 9], np.nextafter(3, 0), 8),  # the median is the row just above: the range
        ([1, 2, 3, 4, 9], 4, 8),  # more than half are alarms: the range
        ([5, 5, 5], np.nextafter(5, 0), 1),  # no range either
    ],
)
def test_the_unit_of_novelty(holdout, threshold, scale):
    assert novelty_scale(np.array(holdout, dtype=float), threshold) == scale

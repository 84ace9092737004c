"""Ways to calibrate: automatic hold-out, folds, groups, batches, and calibrating again."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.ensemble import IsolationForest

from kernova import CalibratedDetector, SpatialDepth, conformal_p_values, load_model, save_model
from kernova.calibration.bounds import binomial_upper_bound
from kernova.calibration.splits import Wanted, fold_number, fold_splits, holdout_size, split_units
from kernova.errors import InputError, TooFewRowsError
from tests.calibration.detectors import Closeness, FirstColumn
from tests.calibration.messages import (
    BAD_GROUPS,
    CROSS,
    CROSS_AGAIN,
    FEW_ROWS,
    FEW_ROWS_CROSS,
    GROUPED,
    GROUPS_NEEDED,
    ONE_FRAME,
)

USUAL = Wanted(0.05, 0.95, "binomial")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(400, 3))


# --- how many rows are held out ------------------------------------------------------------------


@given(
    st.integers(2, 5000),
    st.sampled_from([0.01, 0.05, 0.1, 0.3]),
    st.sampled_from([0.5, 0.95, 0.999]),
    st.sampled_from(["binomial", "hoeffding"]),
)
@example(3, 0.3, 0.5, "binomial")
def test_the_automatic_hold_out_proves_the_rate_and_wastes_no_row(n_rows, rate, confidence, bound):
    wanted = Wanted(rate, confidence, bound)
    if not wanted.is_provable(n_rows - min(n_rows // 2, 10)) and rate != 0.05:
        with pytest.raises(TooFewRowsError) as raised:
            holdout_size(n_rows, "auto", wanted)
        # As many rows as the message asks for are enough, and one fewer is not.
        in_all = int(re.findall(r"takes (\d+) rows in all", str(raised.value))[0])
        assert holdout_size(in_all, "auto", wanted) == wanted.units_needed()
        with pytest.raises(TooFewRowsError):
            holdout_size(in_all - 1, "auto", wanted)
        return
    size = holdout_size(n_rows, "auto", wanted)
    assert 1 <= size < n_rows
    if not wanted.is_provable(size):
        assert rate == 0.05
        assert n_rows - size <= 10
        return
    half = n_rows // 2
    assert size <= max(half, wanted.units_needed())
    if size > wanted.units_needed():
        # One row fewer would allow fewer alarms.
        assert wanted.allowed(size - 1) < wanted.allowed(size)


def test_few_rows_get_the_smallest_rate_that_they_can_prove(rows):
    calibrated = CalibratedDetector(Closeness(), random_state=0).fit(rows[:40])
    assert calibrated.guarantee() == FEW_ROWS
    assert calibrated.false_alarm_bound_ == pytest.approx(binomial_upper_bound(0, 30, 0.95))
    assert calibrated.predict([[0, 0, 0], [50, 50, 50]]).tolist() == [1, -1]
    assert CalibratedDetector(Closeness()).fit(rows[:100]).false_alarm_bound_ <= 0.05
    # 30 rows more prove what was asked for.
    assert calibrated.recalibrate(rows[40:80]).false_alarm_bound_ <= 0.05


def test_many_rows_keep_most_of_them_to_learn_from():
    assert holdout_size(100_000, "auto", USUAL) <= 20_000
    assert holdout_size(4000, "auto", USUAL) < 1400


# --- folds ---------------------------------------------------------------------------------------


def test_a_row_is_novel_if_all_detectors_say_so(rows):
    calibrated = CalibratedDetector(Closeness(), calibration="cross", random_state=0).fit(rows)
    assert calibrated.guarantee() == CROSS
    assert len(calibrated.folds_) == 2
    mixed = np.vstack([rows, rows * 3])
    judgement = calibrated.judge(mixed)
    each = [fold.judge(mixed) for fold in calibrated.folds_]
    np.testing.assert_array_equal(judgement.is_novel, each[0].is_novel & each[1].is_novel)
    np.testing.assert_array_equal(judgement.novelty >= 0, judgement.is_novel)
    np.testing.assert_array_equal(calibrated.predict(mixed) == -1, judgement.is_novel)
    np.testing.assert_array_equal(calibrated.decision_function(mixed) < 0, judgement.is_novel)
    literal = np.ones(len(mixed))
    for fold in calibrated.folds_:
        scores = fold.score_samples(mixed)
        literal += [np.sum(fold.holdout_scores_ <= score) for score in scores]
    np.testing.assert_allclose(judgement.p_values, literal / 401)
    assert calibrated.holdout_scores_.shape == (400,)


def test_folds_of_few_rows_prove_the_smallest_rate_that_they_can(rows):
    calibrated = CalibratedDetector(Closeness(), calibration="cross", random_state=0)
    assert calibrated.fit(rows[:100]).guarantee() == FEW_ROWS_CROSS
    assert calibrated.false_alarm_bound_ == pytest.approx(binomial_upper_bound(0, 50, 0.95))
    assert calibrated.predict([[0, 0, 0], [50, 50, 50]]).tolist() == [1, -1]
    # Of 117 rows one fold has 59, which is enough: the bound of any fold holds for all.
    assert calibrated.fit(rows[:117]).false_alarm_bound_ <= 0.05
    assert "which takes" not in calibrated.guarantee()
    calibrated.fit(rows[:100]).recalibrate(rows[100:120])
    assert calibrated.false_alarm_bound_ <= 0.05


def test_every_row_is_held_out_of_one_fold_and_of_no_detector_twice():
    random = np.random.RandomState(0)
    units = np.repeat(np.arange(23), 3)
    splits = fold_splits(units, 23, 5, random)
    held_out = np.concatenate([split.holdout for split in splits])
    assert sorted(held_out) == list(range(69))
    sizes = {len(set(units[split.holdout])) for split in splits}
    assert sizes == {4, 5}
    for split in splits:
        assert not set(units[split.reference]) & set(units[split.holdout])
    assert fold_number(10_000, "auto", USUAL) == 5


def test_calibrating_folds_again_keeps_p_values_valid(rows):
    calibrated = CalibratedDetector(Closeness(), calibration="cross", random_state=0).fit(rows)
    before = calibrated.false_alarm_bound_
    calibrated.recalibrate(rows[:100] * 1.1)
    assert [fold.holdout_scores_.size for fold in calibrated.folds_] == [300, 300]
    assert calibrated.false_alarm_bound_ != before
    assert calibrated.guarantee() == CROSS_AGAIN
    far = np.full((1, 3), 99.0)
    # The mean of the folds' p-values: they share rows, whose number must not be counted twice.
    assert calibrated.p_values(far) == pytest.approx(1 / 301)
    calibrated.calibrate(rows[:100])
    assert calibrated.p_values(far) == pytest.approx(1 / 101)


@pytest.mark.parametrize("parameters", [{"calibration": "cross"}, {}], ids=["cross", "holdout"])
@pytest.mark.parametrize("is_grouped", [False, True])
def test_saved_models_answer_as_before(rows, tmp_path, parameters, is_grouped):
    calibrated = CalibratedDetector(SpatialDepth(), 0.1, random_state=0, **parameters)
    calibrated.fit(rows, groups=np.arange(400) // 3 if is_grouped else None)
    save_model(calibrated, tmp_path / "model.kernova")
    loaded = load_model(tmp_path / "model.kernova")
    for before, after in zip(calibrated.judge(rows), loaded.judge(rows), strict=True):
        np.testing.assert_array_equal(before, after)
    assert loaded.guarantee() == calibrated.guarantee()
    added = np.arange(30) if is_grouped else None
    loaded.recalibrate(rows[:30], groups=added)
    calibrated.recalibrate(rows[:30], groups=added)
    assert loaded.guarantee() == calibrated.guarantee()


# --- groups --------------------------------------------------------------------------------------


def test_groups_are_held_out_whole(rows):
    groups = np.arange(400) // 4
    calibrated = CalibratedDetector(Closeness(), random_state=0).fit(rows, groups=groups)
    held_out = set(groups[calibrated.holdout_indices_])
    assert not held_out & set(groups[calibrated.reference_indices_])
    assert len(held_out) == 59
    assert calibrated.guarantee() == GROUPED
    scores = calibrated.score_samples(rows)
    held_out_scores = calibrated.score_samples(rows[calibrated.holdout_indices_])
    literal = conformal_p_values(held_out_scores, scores, np.full(236, 1 / 4))
    np.testing.assert_allclose(calibrated.p_values(rows), literal)
    assert np.all(np.isin(calibrated.holdout_scores_, held_out_scores))
    with pytest.raises(InputError, match=f"^{re.escape(GROUPS_NEEDED)}$"):
        calibrated.recalibrate(rows[:5])


@pytest.mark.parametrize(("groups", "message"), BAD_GROUPS)
def test_bad_groups(rows, groups, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        CalibratedDetector(Closeness()).fit(rows[:100], groups=groups)


def test_rows_of_their_own_groups_are_rows(rows):
    alone = CalibratedDetector(Closeness(), random_state=3).fit(rows)
    grouped = CalibratedDetector(Closeness(), random_state=3).fit(rows, groups=np.arange(400))
    np.testing.assert_allclose(grouped.judge(rows).p_values, alone.judge(rows).p_values)
    assert grouped.threshold_ == alone.threshold_


def test_splitting_units_draws_what_splitting_rows_drew():
    shuffled = np.random.RandomState(4).permutation(20)
    split = split_units(np.arange(20), 20, 6, np.random.RandomState(4))
    assert split.holdout.tolist() == sorted(shuffled[:6])
    assert split.reference.tolist() == sorted(shuffled[6:])


def _grouped_sample(random, n_groups):
    """Draw groups of 1 to 20 rows with a common part: large groups are the unusual ones."""
    sizes = random.integers(1, 21, size=n_groups)
    common = random.normal(size=n_groups) * (1 + sizes / 10)
    numbers = np.repeat(np.arange(n_groups), sizes)
    return -np.abs(common[numbers] + random.normal(size=numbers.size))[:, np.newaxis], numbers


@pytest.mark.soak
def test_the_bound_holds_for_rows_of_new_groups_and_not_if_groups_are_hidden(long_bar):
    random, n_repetitions = np.random.default_rng(1), long_bar(1000)
    everyone, numbers = _grouped_sample(np.random.default_rng(2), 5000)
    weights = 1 / np.bincount(numbers)[numbers]
    broken, hidden, p_values = 0, 0, []
    for seed in range(n_repetitions):
        X, groups = _grouped_sample(random, 130)
        new, new_groups = _grouped_sample(random, 1)
        for is_hidden in (False, True):
            calibrated = CalibratedDetector(FirstColumn(), random_state=seed)
            calibrated.fit(X, groups=None if is_hidden else groups)
            rate = np.average(calibrated.judge(everyone).is_novel, weights=weights)
            if is_hidden:
                hidden += rate > calibrated.false_alarm_bound_
            else:
                broken += rate > calibrated.false_alarm_bound_
                p_values.append(calibrated.p_values(new)[random.integers(len(new_groups))])
    print(f"groups: broken in {broken} of {n_repetitions}; if they are ignored in {hidden}")
    assert binomtest(broken, n_repetitions, 0.05, alternative="greater").pvalue > 1e-3
    for level in (0.05, 0.2, 0.5):
        n_low = int(np.sum(np.array(p_values) <= level))
        assert binomtest(n_low, n_repetitions, level, alternative="greater").pvalue > 1e-3


@pytest.mark.soak
def test_p_values_of_folds_are_about_uniform_and_within_their_bound(long_bar):
    random, n_repetitions = np.random.default_rng(8), long_bar(2000)
    p_values = np.array([
        CalibratedDetector(Closeness(), 0.2, calibration="cross", n_folds=5, random_state=seed)
        .fit(random.normal(size=(100, 2)))
        .p_values(random.normal(size=(1, 2)))[0]
        for seed in range(n_repetitions)
    ])  # fmt: skip
    for level in (0.05, 0.2):
        n_low = int(np.sum(p_values <= level))
        print(f"folds: p <= {level} in {n_low} of {n_repetitions}")
        assert binomtest(n_low, n_repetitions, level).pvalue > 1e-4
        assert n_low / n_repetitions <= 2 * level + 2 * 4 / 105


# --- batches, and calibrating again --------------------------------------------------------------


def test_batches_are_judged_one_at_a_time(rows):
    calibrated = CalibratedDetector(Closeness(), random_state=0).fit(rows)
    drawn = []

    def frames():
        for start in range(0, 400, 150):
            drawn.append(start)
            yield rows[start : start + 150]
        yield rows[:0]

    judged = calibrated.score_batches(frames())
    assert drawn == []
    first = next(judged)
    assert drawn == [0]
    found = [first, *judged]
    assert [len(one.scores) for one in found] == [150, 150, 100, 0]
    whole = calibrated.judge(rows)
    for name in whole._fields:
        parts = np.concatenate([getattr(one, name) for one in found])
        np.testing.assert_array_equal(parts, getattr(whole, name))
    for one, name in ((rows, "ndarray"), (5, "int"), ("rows.csv", "str")):
        with pytest.raises(InputError, match=f"^{re.escape(ONE_FRAME.format(name))}$"):
            calibrated.score_batches(one)


def test_batches_may_be_frames_and_record_batches(rows):
    pyarrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    calibrated = CalibratedDetector(IsolationForest(n_estimators=5), random_state=0).fit(frame)
    batches = pyarrow.Table.from_pandas(frame).to_batches(max_chunksize=100)
    found = [one.novelty for one in calibrated.score_batches([*batches, frame])]
    assert len(found) == 5
    np.testing.assert_array_equal(np.concatenate(found[:4]), found[4])


def test_calibrating_again_adds_to_the_held_out_rows(rows):
    calibrated = CalibratedDetector(Closeness(), random_state=0).fit(rows[:200])
    detector, before = calibrated.estimator_, calibrated.holdout_scores_
    calibrated.recalibrate(rows[200:])
    assert calibrated.estimator_ is detector
    expected = np.sort(np.concatenate([before, detector.decision_function(rows[200:])]))
    np.testing.assert_array_equal(calibrated.holdout_scores_, expected)
    together = CalibratedDetector(detector)
    together.calibrate(np.vstack([rows[200:], rows[:200]])).recalibrate(rows[:7])
    assert together.holdout_scores_.size == 407
    assert not hasattr(calibrated, "holdout_indices_")
    # A batch in which nothing was labelled changes nothing.
    before, sentence = calibrated.holdout_scores_, calibrated.guarantee()
    assert calibrated.recalibrate(rows[:0]).holdout_scores_ is before
    assert calibrated.guarantee() == sentence

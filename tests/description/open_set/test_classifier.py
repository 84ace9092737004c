"""The open-set classifier: rates that are kept, groups, copies, negatives, rows that are added."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs

from kernova import InputError, OpenSetClassifier, load_model, save_model
from kernova.description.open_set.validation import calibration_error, leave_class_out
from tests import oracles


def blobs(n, seed, n_columns=4):
    centers = 2.5 * np.random.default_rng(3).normal(size=(3, n_columns))
    X, y = make_blobs(n, centers=centers, random_state=seed)
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.fixture(scope="module")
def fitted():
    X, y = blobs(150, 0)
    return OpenSetClassifier(n_folds=5).fit(X, y)


def test_rows_of_known_classes_are_rejected_at_the_given_rate():
    found = {rate: [] for rate in (0.01, 0.05, 0.1, 0.2)}
    for seed in range(5):
        X, y = blobs(120, seed)
        model = OpenSetClassifier(n_folds=3).fit(X, y)
        p = model.p_values(blobs(3000, 100 + seed)[0])
        for rate, rejected in found.items():
            rejected.append(float(np.mean(p <= rate)))
    for rate, rejected in found.items():
        # Five draws of 120 rows each: the rate of one is a Beta variable.
        error = np.sqrt(rate * (1 - rate) / 120 / 5)
        assert np.mean(rejected) == pytest.approx(rate, abs=3 * error + 0.01)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(90, 500), (60, 40)])
def test_rates_hold_with_more_columns_than_rows(n_rows, n_columns):
    rng = np.random.default_rng(0)
    centers = 0.3 * rng.normal(size=(3, n_columns))

    def draw(n):
        y = rng.integers(0, 3, size=n)
        return centers[y] + rng.normal(size=(n, n_columns)), y

    p = OpenSetClassifier(n_folds=3).fit(*draw(n_rows)).p_values(draw(400)[0])
    assert np.mean(p <= 0.05) < 0.15
    assert 0.05 < np.mean(p <= 0.2) < 0.35


def test_foreign_rows_are_unknown_and_known_ones_are_named(fitted):
    X, y = blobs(300, 7)
    recognized = fitted.recognize(X)
    assert np.mean(recognized == "unknown") < 0.15
    assert np.mean(recognized == y) > 0.85
    far = fitted.judge(np.full((1, 4), 50.0))
    assert fitted.recognize(np.full((1, 4), 50.0)).tolist() == ["unknown"]
    assert far.none[0] > 0.5
    assert far.none[0] > fitted.none_proba(X).mean()


def test_another_rate_needs_no_new_fit(fitted):
    X, _ = blobs(300, 7)
    counts = [int(np.sum(fitted.recognize(X, reject=rate) == "unknown")) for rate in (0, 0.1, 0.5)]
    assert counts[0] == 0
    assert counts[0] < counts[1] < counts[2]
    is_unknown = fitted.recognize(X) == "unknown"
    # Rows between two held-out ones may have p below the rate, or above it.
    novelty = -fitted.score_samples(X)
    assert novelty[is_unknown].min() >= novelty[~is_unknown].max()


def test_probabilities_are_calibrated_and_follow_the_best_class(fitted):
    X, y = blobs(2000, 11)
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(X))
    codes = np.searchsorted(fitted.classes_, y)
    assert calibration_error(np.log(p), codes, np.ones(len(codes))) < 0.03


def test_calibration_error_is_the_literal_one():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=80)
    codes = rng.integers(0, 3, size=80)
    expected = oracles.expected_calibration_error(p.max(axis=1), p.argmax(axis=1) == codes)
    assert calibration_error(np.log(p), codes, np.ones(80)) == pytest.approx(expected, rel=1e-9)


def test_a_rare_class_does_not_swallow_a_frequent_one():
    rng = np.random.default_rng(0)
    frequent, rare = rng.normal(size=(200, 4)), rng.normal(scale=3, size=(5, 4))
    model = OpenSetClassifier(n_folds=3).fit(
        np.vstack([frequent, rare]), ["frequent"] * 200 + ["rare"] * 5
    )
    new = rng.normal(size=(500, 4))
    assert np.mean(model.predict(new) == "frequent") > 0.97


def test_balanced_classes_have_equal_priors():
    X, y = blobs(300, 0)
    kept = np.flatnonzero((y != "bee") | (np.arange(300) % 10 == 0))
    new = np.full((1, 4), 8.0)
    plain = OpenSetClassifier(n_folds=2).fit(X[kept], y[kept])
    balanced = OpenSetClassifier(n_folds=2, class_weight="balanced").fit(X[kept], y[kept])
    heavy = OpenSetClassifier(n_folds=2, class_weight={"bee": 50.0}).fit(X[kept], y[kept])
    between = 0.7 * X[y == "bee"].mean(axis=0) + 0.3 * X[y == "ant"].mean(axis=0)
    of_bee = [m.predict_proba(between[None])[0, 1] for m in (plain, balanced, heavy)]
    assert of_bee[0] < of_bee[1] < of_bee[2]
    assert np.isfinite(plain.p_values(new)).all()


def test_rows_of_one_group_are_held_out_together():
    rng = np.random.default_rng(0)
    # Copies of ten specimens, whose classes are random: nothing can be learnt about others.
    specimens = rng.normal(size=(20, 3))
    labels = np.array(["a", "b"] * 10)
    X = np.repeat(specimens, 6, axis=0) + 1e-3 * rng.normal(size=(120, 3))
    y, groups = np.repeat(labels, 6), np.repeat(np.arange(20), 6)
    alone = OpenSetClassifier(n_folds=3).fit(X, y).cross_validated_
    together = OpenSetClassifier(n_folds=3).fit(X, y, groups).cross_validated_
    assert np.mean(alone.judgement.best == alone.codes) > 0.95
    assert np.mean(together.judgement.best == together.codes) < 0.8
    # Novelties, too, are those of specimens that were not seen.
    seen, unseen = alone.judgement, together.judgement
    assert np.median(np.exp(seen.log_probabilities.max(axis=1))) > 0.9
    assert len(unseen.novelty) == 120


def test_copies_across_classes_are_even_chances():
    X = np.tile(np.arange(10.0)[:, None], (2, 1))
    model = OpenSetClassifier(n_folds=2).fit(X, ["a"] * 10 + ["b"] * 10)
    p = model.predict_proba(X[:10])
    assert np.all(np.abs(p - 0.5) < 0.35)
    assert np.isfinite(model.p_values(X)).all()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0]], ["a"]),
        ([[1.0, 2.0], [1.0, 2.0]], ["a", "a"]),
        ([[1.0, 2.0], [3.0, 4.0]], ["a", "b"]),
        ([[1.0, 2.0], [1.0, 2.0]], ["a", "b"]),
        ([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], ["a", "b", "b"]),
        ([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], ["a", "a", "b"]),
    ],
)
def test_very_few_rows_are_judged_without_nan(X, y):
    model = OpenSetClassifier(n_folds=2).fit(np.array(X), y)
    judged = model.judge(np.array([[1.0, 2.0], [1e9, -1e9], [1e200, 1e200]]))
    for part in judged:
        assert np.isfinite(part[np.isfinite(part)]).all()
        assert not np.isnan(part).any()
    assert set(model.predict(np.array(X))) <= set(y)
    assert len(model.recognize(np.array(X))) == len(X)


def test_one_class_is_recognised_or_unknown():
    X, _ = blobs(60, 0)
    model = OpenSetClassifier(n_folds=3).fit(X, ["fish"] * 60)
    assert model.predict_proba(X).tolist() == [[1.0]] * 60
    assert model.recognize(np.full((1, 4), 99.0)).tolist() == ["unknown"]
    assert np.isnan(leave_class_out(model)).all()


def test_what_a_class_left_out_would_have_cost_is_what_it_costs():
    X, y = load_wine(return_X_y=True)
    promised = leave_class_out(OpenSetClassifier(n_folds=3).fit(X[::2], y[::2]))
    found = []
    for code in range(3):
        others = y[::2] != code
        without = OpenSetClassifier(n_folds=3).fit(X[::2][others], y[::2][others])
        found.append(np.mean(without.p_values(X[1::2][y[1::2] == code]) <= 0.05))
    # Some 30 rows of each class: their fractions have standard errors of .09.
    assert np.mean(found) == pytest.approx(np.mean(promised), abs=0.15)
    assert np.abs(np.array(found) - promised).max() < 0.3


def test_rejection_among_the_rows_assigned_to_each_class():
    rng = np.random.default_rng(0)

    def draw(n):
        tight, wide = rng.normal(scale=0.1, size=(n, 3)), 5 + rng.normal(scale=2, size=(n, 3))
        return np.vstack([tight, wide]), np.repeat(["tight", "wide"], n)

    (X, y), (new, _) = draw(150), draw(1000)
    pooled = OpenSetClassifier(n_folds=3, reject=0.1).fit(X, y)
    each = OpenSetClassifier(n_folds=3, reject=0.1, per_class=True).fit(X, y)
    is_tight = each.predict(new) == "tight"
    rejected = pooled.p_values(new) <= 0.1
    assert rejected.mean() == pytest.approx(0.1, abs=0.05)
    assert rejected[~is_tight].mean() > 2 * rejected[is_tight].mean()
    for part in (is_tight, ~is_tight):
        assert (each.p_values(new) <= 0.1)[part].mean() == pytest.approx(0.1, abs=0.06)


def test_unlabelled_rows_help_to_scale():
    X, y = blobs(60, 0)
    others = X * [100.0, 1, 1, 1]
    plain, helped = OpenSetClassifier(n_folds=2), OpenSetClassifier(n_folds=2)
    plain.fit(X, y)
    helped.fit(X, y, unlabelled=others)
    assert np.std(helped.scaled(X)[:, 0]) < 0.1 * np.std(plain.scaled(X)[:, 0])
    assert len(helped.cross_validated_.rows) == 60


def test_a_robust_fit_leaves_out_far_rows():
    X, y = blobs(90, 0)
    X[0] = 1e6
    model = OpenSetClassifier(n_folds=3, robust=True).fit(X, y)
    assert model.n_outliers_.sum() == 1
    assert 0 not in model.cross_validated_.rows
    new, truth = blobs(200, 5)
    assert np.mean(model.predict(new) == truth) > 0.9


def test_many_rows_are_thinned_and_keep_their_priors():
    X, y = blobs(600, 0)
    rare = np.flatnonzero((y != "cat") | (np.arange(600) % 20 == 0))
    model = OpenSetClassifier(n_folds=2, max_rows_per_class=40).fit(X[rare], y[rare])
    counts = np.bincount(model.cross_validated_.codes)
    n_cats = int(np.sum(y[rare] == "cat"))
    assert counts.tolist() == [40, 40, n_cats]
    totals = np.bincount(model.cross_validated_.codes, model.cross_validated_.weights)
    expected = [np.sum(y[rare] == name) for name in ("ant", "bee", "cat")]
    np.testing.assert_allclose(totals, expected)


# --- rows that are added -------------------------------------------------------------------------


def test_added_rows_are_as_if_they_had_been_there():
    X, y = blobs(90, 0)
    parts = OpenSetClassifier(n_folds=3).fit(X[:60], y[:60]).add(X[60:], y[60:])
    whole = OpenSetClassifier(n_folds=3).fit(X, y)
    new, _ = blobs(50, 4)
    np.testing.assert_allclose(parts.predict_proba(new), whole.predict_proba(new))
    np.testing.assert_allclose(parts.p_values(new), whole.p_values(new))


def test_a_new_class_is_added_in_its_place():
    X, y = blobs(90, 0)
    model = OpenSetClassifier(n_folds=3).fit(X, y)
    model.add(X[:1], is_not=["bee"])
    model.add(np.full((12, 4), 30.0) + np.random.default_rng(0).normal(size=(12, 4)), ["asp"] * 12)
    assert model.classes_.tolist() == ["ant", "asp", "bee", "cat"]
    assert model.predict(np.full((1, 4), 30.0)).tolist() == ["asp"]
    assert model.classes_[model._negatives.codes].tolist() == ["bee"]


def test_a_row_that_is_not_of_a_class_is_no_longer_taken_for_it():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    model = OpenSetClassifier(n_folds=3).fit(X[::2], names[::2])
    row = X[[71]]
    before = model.predict_proba(row)[0]
    best = model.classes_[before.argmax()]
    model.add(row, is_not=[best])
    assert model.recognize(row)[0] != best
    assert model.predict(row)[0] != best
    assert model.none_proba(row)[0] > 0.5
    # Rows that are not near it are judged as before.
    far = X[names == ("setosa" if best != "setosa" else "virginica")][1::2]
    untouched = OpenSetClassifier(n_folds=3).fit(X[::2], names[::2])
    np.testing.assert_allclose(model.predict_proba(far), untouched.predict_proba(far), atol=1e-3)


def test_negatives_of_unknown_classes_are_rejected(fitted):
    with pytest.raises(InputError, match="is_not names 'dog', which is no class"):
        fitted.add(np.zeros((1, 4)), is_not=["dog"])


def test_contradictions_and_mixed_labels_are_rejected(fitted):
    with pytest.raises(InputError, match="Row 0 is said to be 'ant', and not to be it"):
        fitted.add(np.zeros((1, 4)), ["ant"], is_not=["ant"])
    with pytest.raises(InputError, match="The classes are texts, but y holds '3'"):
        fitted.add(np.zeros((1, 4)), [3])
    X, y = load_iris(return_X_y=True)
    numbers = OpenSetClassifier(n_folds=2).fit(X[::5], y[::5])
    with pytest.raises(InputError, match="The classes are numbers, but y holds 'new'"):
        numbers.add(X[:1], ["new"])


def test_rates_and_weights_are_checked(fitted):
    for reject in (-0.1, 1.0, 2.0):
        with pytest.raises(InputError, match="it must be a fraction of the rows of known classes"):
            fitted.recognize(np.zeros((1, 4)), reject=reject)
    X, y = blobs(30, 0)
    with pytest.raises(InputError, match="class_weight holds -5; weights of classes must be"):
        OpenSetClassifier(class_weight={"ant": -5.0}).fit(X, y)


def test_labels_and_groups_must_fit():
    X, y = blobs(30, 0)
    model = OpenSetClassifier(n_folds=2).fit(X, y)
    with pytest.raises(InputError, match=r"y has the shape \(2,\), but there are 1 rows"):
        model.add(X[:1], ["ant", "bee"])
    with pytest.raises(InputError, match="groups for both or for neither"):
        model.add(X[:2], y[:2], groups=[0, 1])


def test_missing_labels_add_nothing():
    X, y = blobs(30, 0)
    model = OpenSetClassifier(n_folds=2).fit(X, y)
    before = model.predict_proba(X)
    model.add(X[:3], [None, np.nan, None])
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_integer_labels_stay_integers():
    X, y = load_iris(return_X_y=True)
    model = OpenSetClassifier(n_folds=2).fit(X, y).add(X[:1], [7])
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert model.predict(X[:3]).dtype.kind == "i"


# --- contract beyond scikit-learn's --------------------------------------------------------------


def test_a_model_file_gives_the_same_judgements(fitted, tmp_path):
    path = tmp_path / "classes.kernova"
    save_model(fitted, path)
    again = load_model(path)
    X, _ = blobs(40, 9)
    for a, b in zip(again.judge(X), fitted.judge(X), strict=True):
        np.testing.assert_array_equal(a, b)
    again.add(X[:5], ["ant"] * 5)


def test_judgements_of_rows_do_not_depend_on_the_others(fitted):
    X, _ = blobs(60, 9)
    whole = fitted.judge(X)
    single = fitted.judge(X[17:18])
    np.testing.assert_allclose(single.p_values, whole.p_values[17:18], rtol=1e-9)
    np.testing.assert_allclose(single.log_probabilities, whole.log_probabilities[17:18], rtol=1e-9)


def test_columns_by_name_are_checked(fitted):
    frame = pd.DataFrame(blobs(30, 0)[0], columns=list("abcd"))
    model = OpenSetClassifier(n_folds=2).fit(frame, ["x", "y", "z"] * 10)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "other"}))


def test_a_far_cell_is_refused_unless_the_fit_is_robust():
    X, y = blobs(60, 0)
    X[5, 2] = 1e300
    with pytest.raises(InputError, match=r"1e\+300"):
        OpenSetClassifier().fit(X, y)
    assert OpenSetClassifier(robust=True, n_folds=2).fit(X, y).n_outliers_.sum() >= 1

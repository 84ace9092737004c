"""Multiclass data description: scores, thresholds, growth, sparseness, robustness."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import roc_auc_score

from kernova import InputError, MulticlassDataDescription, load_model, save_model
from tests.description import messages

X, y = load_iris(return_X_y=True)
NAMES = load_iris().target_names[y]


@pytest.fixture(scope="module")
def vectors(reference_vectors):
    return reference_vectors("ref_mddkm.npz")


@pytest.mark.parametrize("i", range(5))
@pytest.mark.parametrize("centered", [False, True])
def test_uncertainties_are_those_of_the_vectors(vectors, i, centered):
    sigma, ell, noise = np.exp(vectors["theta"][i])
    ridge = (noise / sigma) ** 2
    model = MulticlassDataDescription(
        scale="none", length_scale=ell, ridge=ridge, centered=centered
    ).fit(vectors["X"], vectors["labels"])
    assert model.signal_variance_ == 1.0  # nothing was fitted
    if centered:
        tops = [1 + one.overall_mean for one in model.class_descriptions_]
        d = sigma**2 * np.array(tops) * (1 - model.membership(vectors["Xtest"]))
        np.testing.assert_allclose(
            d, np.minimum(vectors[f"scores_centred_theta{i}"], sigma**2 * np.array(tops)), atol=1e-7
        )
        return
    d = sigma**2 * model.uncertainty(vectors["Xtest"])
    np.testing.assert_allclose(d, vectors[f"scores_theta{i}"], atol=1e-8 * max(1, sigma**2))
    np.testing.assert_allclose(
        model.soft_scores(vectors["Xtest"]), vectors[f"soft_norm_theta{i}"], atol=1e-8
    )


def test_the_robust_recipe_gives_the_scores_of_the_vectors(vectors):
    model = MulticlassDataDescription().fit(vectors["X"], vectors["labels"])
    expected = vectors["fit_profile_std_scores_over_sigma2"]
    np.testing.assert_allclose(1 - model.membership(vectors["Xtest"]), expected, atol=1e-4)


def split(X, y, foreign, seed):
    rng = np.random.default_rng(seed)
    known = rng.permutation(np.flatnonzero(~np.isin(y, foreign)))
    half = len(known) // 2
    return known[:half], known[half:], np.flatnonzero(np.isin(y, foreign))


def foreign_auroc(model, X, test, foreign):
    scores = np.r_[model.score_samples(X[test]), model.score_samples(X[foreign])]
    return roc_auc_score(np.r_[np.ones(len(test)), np.zeros(len(foreign))], scores)


BARS = [
    ("iris", load_iris, "common", 0.965, 0.955),
    ("wine", load_wine, "feature", 0.955, 0.97),
    ("digits", load_digits, "common", 0.985, 0.985),
]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "load", "scale", "auroc", "accuracy"), BARS, ids=[bar[0] for bar in BARS]
)
def test_rows_of_unknown_classes_are_detected(long_bar, name, load, scale, auroc, accuracy):
    X, y = load(return_X_y=True)
    aurocs, accuracies, accepted = [], [], []
    n_seeds = max(3, long_bar(10))
    if n_seeds < 10:  # the bars are for the mean of ten draws; three may fall a little short
        auroc, accuracy = auroc - 0.01, accuracy - 0.01
    for seed in range(n_seeds):
        held_out = [[c] for c in range(3)]
        if name == "digits":
            held_out = [np.random.default_rng(100 + seed).choice(10, 3, replace=False)]
        for foreign in held_out:
            train, test, unknown = split(X, y, foreign, seed)
            model = MulticlassDataDescription(scale=scale, random_state=seed)
            model.fit(X[train], y[train])
            aurocs.append(foreign_auroc(model, X, test, unknown))
            accuracies.append((model.predict(X[test]) == y[test]).mean())
            accepted.append((model.recognize(X[test], -1) != -1).mean())
    assert np.mean(aurocs) >= auroc
    assert np.mean(accuracies) >= accuracy
    if name == "digits":
        assert 0.93 <= np.mean(accepted) <= 0.97


def test_ranks_survive_short_length_scales():
    X, y = load_digits(return_X_y=True)
    train, test, unknown = split(X, y, [3, 5, 8], 0)
    middle = MulticlassDataDescription(scale="common", length_scale="median", random_state=0)
    middle.fit(X[train], y[train])
    for factor in (1, 10, 50):
        model = MulticlassDataDescription(
            scale="common", length_scale=middle.length_scale_ / factor
        )
        model.fit(X[train], y[train])
        assert (model.uncertainty(X[test]) >= 0).all()
        # At a fiftieth of the median q itself is below all numbers.
        assert foreign_auroc(model, X, test, unknown) > 0.97, factor


def with_gross_outliers(X, y, rng):
    X = X.copy()
    for c in np.unique(y):
        inside = rng.permutation(np.flatnonzero(y == c))
        bad = inside[: max(1, len(inside) // 20)]
        X[bad] = X.mean(axis=0) + 6 * X.std(axis=0).max() * rng.normal(size=(len(bad), X.shape[1]))
    return X


@pytest.mark.parametrize(
    ("load", "scale", "foreign"), [(load_wine, "feature", [1]), (load_digits, "common", [2, 4, 6])]
)
def test_robust_descriptions_withstand_gross_outliers(load, scale, foreign):
    X, y = load(return_X_y=True)
    train, test, unknown = split(X, y, foreign, 1)
    dirty = with_gross_outliers(X[train], y[train], np.random.default_rng(0))
    clean = MulticlassDataDescription(scale=scale, random_state=0).fit(X[train], y[train])
    robust = MulticlassDataDescription(scale=scale, robust=True, random_state=0)
    robust.fit(dirty, y[train])
    fall = foreign_auroc(clean, X, test, unknown) - foreign_auroc(robust, X, test, unknown)
    assert fall <= 0.02
    assert (robust.n_outliers_ >= 1).all()
    assert robust.n_outliers_.sum() < 0.15 * len(train)


def test_adding_rows_and_classes_is_fitting_at_the_same_hyperparameters():
    model = MulticlassDataDescription(random_state=0).fit(X[y < 2][::2], NAMES[y < 2][::2])
    rest = np.r_[np.flatnonzero(y < 2)[1::2], np.flatnonzero(y == 2)]
    scaled = model.scaled(X)
    model.add(X[rest], NAMES[rest])
    anew = MulticlassDataDescription(
        scale="none", length_scale=model.length_scale_, ridge=model.ridge_
    ).fit(scaled - scaled.mean(axis=0), NAMES)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    np.testing.assert_allclose(model.thresholds_, anew.thresholds_, atol=1e-8)
    np.testing.assert_allclose(
        model.membership(X), anew.membership(scaled - scaled.mean(axis=0)), atol=1e-8
    )


def test_few_informative_rows_do_nearly_as_well():
    X, y = load_digits(return_X_y=True)
    train, test, unknown = split(X, y, [1, 7], 3)
    whole = MulticlassDataDescription(scale="common", random_state=0).fit(X[train], y[train])
    few = MulticlassDataDescription(scale="common", max_rows_per_class=30, random_state=0)
    few.fit(X[train], y[train])
    assert all(len(one.rows) == 30 for one in few.class_descriptions_)
    whole_auroc, few_auroc = (foreign_auroc(m, X, test, unknown) for m in (whole, few))
    assert few_auroc > whole_auroc - 0.02
    assert (few.recognize(X[test], -1) != -1).mean() == pytest.approx(0.95, abs=0.04)


def test_groups_are_left_out_together():
    rng = np.random.default_rng(0)
    notes = np.repeat(np.arange(20), 10)
    rows = rng.normal(size=(20, 3))[notes] + 0.05 * rng.normal(size=(200, 3))
    labels = notes % 2
    alone = MulticlassDataDescription(length_scale=1.0).fit(rows, labels)
    together = MulticlassDataDescription(length_scale=1.0).fit(rows, labels, groups=notes)
    assert (together.thresholds_ < alone.thresholds_ - 0.1).all()
    sparse = MulticlassDataDescription(length_scale=1.0, max_rows_per_class=40)
    assert (sparse.fit(rows, labels, groups=notes).thresholds_ < alone.thresholds_ - 0.1).all()
    with pytest.raises(InputError) as caught:
        together.add(rows, labels)
    assert str(caught.value) == messages.GROUPED
    with pytest.raises(InputError) as caught:
        MulticlassDataDescription().fit(rows, labels, groups=[1, 2])
    assert str(caught.value) == messages.groups(2, 200)


def test_a_class_of_one_row_takes_the_threshold_of_all_and_warns():
    labels, rows = NAMES.astype(object), X.copy()
    labels[7], rows[7] = "odd", 20.0
    with pytest.warns(UserWarning, match="odd") as warned:
        model = MulticlassDataDescription().fit(rows, labels)
    assert str(warned[0].message) == messages.alone("odd")
    assert warned[0].filename == __file__
    assert np.isfinite(model.thresholds_).all()
    assert model.recognize(rows[[7]])[0] == "odd"


def test_duplicates_across_classes_are_ambiguous():
    both = np.vstack([X[y == 0], X[y == 0]])
    labels = np.r_[np.full(50, "a"), np.full(50, "b")]
    model = MulticlassDataDescription().fit(both, labels)
    assert model.ambiguous(X[y == 0]).mean() > 0.9
    assert not model.ambiguous(X[y == 2]).any()
    assert (model.recognize(X[y == 2]) == "unknown").all()


@pytest.mark.parametrize(
    "labels", [NAMES, y, y == 1, y.astype(float), pd.Series(NAMES, dtype="category")],
    ids=["text", "ints", "bools", "floats", "categories"],
)  # fmt: skip
def test_labels_of_every_kind(labels):
    model = MulticlassDataDescription().fit(pd.DataFrame(X), labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert (model.predict(pd.DataFrame(X)) == np.asarray(labels)).mean() > 0.95
    recognized = model.recognize(pd.DataFrame(X), reject_label=None)
    assert set(recognized) <= {*model.classes_.tolist(), None}


def test_one_class_only_and_a_row_far_from_it():
    setosa = X[y == 0]
    model = MulticlassDataDescription(reject=0.2).fit(setosa[::2], NAMES[:50:2])
    assert (model.recognize(setosa[1::2]) == "setosa").mean() == pytest.approx(0.8, abs=0.15)
    far = np.array([[1e300] * 4, [-1e300] * 4])
    assert list(model.recognize(far)) == ["unknown"] * 2
    np.testing.assert_array_equal(model.membership(far), 0)
    assert list(model.predict(far)) == ["setosa"] * 2


def test_a_row_claimed_by_a_class_that_explains_it_less_is_that_class():
    model = MulticlassDataDescription().fit(X, NAMES)
    membership = model.membership(X)
    best = membership.argmax(axis=1)
    model.thresholds_ = np.where(model.classes_ == "versicolor", 0.0, 1.0)
    names = model.recognize(X)
    assert set(names) == {"versicolor"}
    assert (best != 1).any()


def test_a_saved_description_recognises_the_same(tmp_path):
    model = MulticlassDataDescription(centered=True).fit(X, NAMES)
    save_model(model, tmp_path / "model.kernova")
    again = load_model(tmp_path / "model.kernova")
    np.testing.assert_array_equal(again.membership(X), model.membership(X))
    plain = MulticlassDataDescription().fit(X, NAMES)
    save_model(plain, tmp_path / "plain.kernova")
    again = load_model(tmp_path / "plain.kernova")
    np.testing.assert_array_equal(again.recognize(X), plain.recognize(X))
    again.add(X[:5], NAMES[:5])

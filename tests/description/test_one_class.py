"""One-class Gaussian process: the literal formula, exact leave-one-out, and odd input."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from kernova import MulticlassDataDescription, OneClassGaussianProcess
from tests import oracles
from tests.description import messages


@given(
    seed=st.integers(0, 2**16),
    n_columns=st.sampled_from([1, 3, 30]),
    length_scale=st.floats(0.2, 20),
    ridge=st.sampled_from([1e-2, 1e-4]),
)
def test_scores_are_the_literal_ones_and_known_rows_are_left_out(
    seed, n_columns, length_scale, ridge
):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(15, n_columns)), rng.normal(size=(6, n_columns), scale=2)
    model = OneClassGaussianProcess("none", length_scale, ridge).fit(X)
    expected = [1 - oracles.class_uncertainty(x, X, 1.0, length_scale, np.sqrt(ridge)) for x in new]
    np.testing.assert_allclose(model.membership(new), expected, atol=1e-8)
    np.testing.assert_allclose(model.uncertainty(new), 1 - np.array(expected), atol=1e-8)
    left_out = oracles.left_out_memberships(X, length_scale, ridge)
    np.testing.assert_allclose(model.membership(X), left_out, atol=1e-8)


def test_it_is_the_only_class_of_a_description_of_several():
    X = load_digits().data[:200]
    new = load_digits().data[200:260]
    for parameters in ({}, {"scale": "common", "length_scale": "median"}, {"robust": True}):
        one = OneClassGaussianProcess(**parameters).fit(X)
        several = MulticlassDataDescription(**parameters).fit(X, np.zeros(200))
        assert one.length_scale_ == several.length_scale_
        assert one.signal_variance_ == several.signal_variance_
        assert one.n_outliers_ == several.n_outliers_.sum()
        np.testing.assert_array_equal(one.score_samples(new), several.score_samples(new))


@pytest.mark.parametrize("contamination", [0.02, 0.05, 0.2])
def test_new_rows_are_accepted_as_asked(contamination):
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(4, 4))
    known, new = rng.normal(size=(500, 4)) @ mixing, rng.normal(size=(4000, 4)) @ mixing
    model = OneClassGaussianProcess(contamination=contamination).fit(known)
    assert (model.predict(known) == -1).mean() == pytest.approx(contamination, abs=0.002)
    assert (model.predict(new) == -1).mean() == pytest.approx(contamination, abs=0.025)
    foreign = rng.normal(size=(200, 4)) @ mixing + 6 * np.abs(mixing).sum(axis=0)
    assert (model.predict(foreign) == -1).all()


def test_few_rows_describe_many():
    rng = np.random.default_rng(0)
    X, new, wide = rng.normal(size=(600, 8)), rng.normal(size=(2000, 8)), rng.normal(size=(500, 8))
    whole = OneClassGaussianProcess(random_state=0).fit(X)
    few = OneClassGaussianProcess(max_rows=100, random_state=0).fit(X)
    assert 0.92 < (few.predict(new) == 1).mean() < 0.99
    rank = np.argsort(np.argsort(few.score_samples(2 * wide)))
    assert np.corrcoef(rank, np.argsort(np.argsort(whole.score_samples(2 * wide))))[0, 1] > 0.95


def test_robust_leaves_gross_rows_out():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 3)), rng.normal(60, 1, size=(3, 3))])
    model = OneClassGaussianProcess(robust=True).fit(X)
    assert model.n_outliers_ == 3
    assert (model.predict(X[100:]) == -1).all()


def test_rows_far_away_keep_their_order():
    X = np.random.default_rng(0).normal(size=(50, 2))
    scores = OneClassGaussianProcess().fit(X).score_samples([[1e3, 0], [1e4, 0], [1e6, 0]])
    assert np.isfinite(scores).all()
    assert (np.diff(scores) < 0).all()


@pytest.mark.parametrize("length_scale", ["likelihood", "literal", "median", 0.001])
@pytest.mark.parametrize(
    "X",
    [
        np.ones((5, 2)),
        np.array([[0.0, 1.0], [1.0, 1.0]]),
        np.repeat(np.eye(3), 4, axis=0),
        np.array([[1e200], [-1e200], [3e200]]),
    ],
    ids=["copies", "two rows", "three of four", "huge"],
)
def test_odd_rows_are_ordinary(X, length_scale):
    model = OneClassGaussianProcess(length_scale=length_scale, random_state=0).fit(X)
    for rows in (X, X + 0.5, np.full((1, X.shape[1]), -1e9)):
        assert np.isfinite(model.score_samples(rows)).all()
        membership = model.membership(rows)
        assert ((membership >= 0) & (membership <= 1)).all()
        assert (model.uncertainty(rows) >= 0).all()
    assert set(model.fit_predict(X)) <= {-1, 1}


def test_one_row_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OneClassGaussianProcess().fit([[1.0, 2.0]])
    assert [str(warning.message) for warning in caught] == [messages.ONE_ROW]
    assert caught[0].filename == __file__
    assert model.predict([[1.0, 2.0], [1.1, 2.0], [9.0, 9.0]]).tolist() == [1, 1, -1]

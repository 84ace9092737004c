"""LDF and LPF against their literal formulas, and what bounds them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova import LocalDensityFactor, LocalPeculiarityFactor
from tests import oracles

RANDOM = np.random.default_rng(10)
CLOUD = np.vstack([RANDOM.normal(size=(120, 3)), [[9.0, 9, 9]]])
GRIDS = arrays(
    np.float64, st.tuples(st.integers(2, 22), st.integers(1, 3)), elements=st.integers(0, 4)
)

pytestmark = pytest.mark.filterwarnings("ignore:.*(neighbours were asked for|or more duplicates)")


@given(GRIDS, st.integers(1, 24), st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from([0.1, 2.0]))
@settings(max_examples=100, deadline=None)
def test_density_factor_is_the_literal_formula(X, k, h, c):
    model = LocalDensityFactor(k, bandwidth=h, c=c, novelty=True).fit(X)
    k = min(k, len(X) - 1)
    expected = oracles.local_density_factors(X, k, h, c)
    np.testing.assert_allclose(-model.negative_outlier_factor_, expected, rtol=1e-9)
    queries = np.vstack([X[:3], X[:3] + 0.5])
    if (X[0] != X).any():
        expected = oracles.local_density_factors(X, k, h, c, queries=queries.tolist())
        np.testing.assert_allclose(-model.score_samples(queries), expected, rtol=1e-9)


@given(GRIDS, st.integers(1, 24), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([1.0, 1e-3]))
@settings(max_examples=100, deadline=None)
def test_peculiarity_factor_is_the_literal_formula(X, k, alpha, step):
    X = X * step
    model = LocalPeculiarityFactor(k, alpha=alpha, novelty=True).fit(X)
    k = min(k, len(X) - 1)
    expected = oracles.local_peculiarity_factors(X, k, alpha)
    np.testing.assert_allclose(-model.negative_outlier_factor_, expected, rtol=1e-9)
    queries = np.vstack([X[:3], X[:3] + 0.5 * step])
    expected = oracles.local_peculiarity_factors(X, k, alpha, queries=queries.tolist())
    np.testing.assert_allclose(-model.score_samples(queries), expected, rtol=1e-9)


@pytest.mark.parametrize("k", [5, 40])
def test_both_on_a_cloud(k):
    density = LocalDensityFactor(k).fit(CLOUD).negative_outlier_factor_
    np.testing.assert_allclose(-density, oracles.local_density_factors(CLOUD, k), rtol=1e-9)
    peculiarity = LocalPeculiarityFactor(k).fit(CLOUD).negative_outlier_factor_
    np.testing.assert_allclose(-peculiarity, oracles.local_peculiarity_factors(CLOUD, k), rtol=1e-9)


@pytest.mark.parametrize("detector", [LocalDensityFactor, LocalPeculiarityFactor])
def test_of_several_numbers_the_factor_is_a_geometric_mean(detector):
    rows = CLOUD[:-1]  # without the row that only c keeps finite
    apart = np.array([-detector(k).fit(rows).negative_outlier_factor_ for k in (3, 10, 30)])
    together = -detector([10, 30, 3]).fit(rows).negative_outlier_factor_
    if detector is LocalDensityFactor:  # of the ratio m / lde, before c bounds it
        apart, together = 1 / (1 / apart - 0.1), 1 / (1 / together - 0.1)
    np.testing.assert_allclose(together, np.exp(np.log(apart).mean(axis=0)), rtol=1e-9)


def test_density_factor_lies_between_a_cluster_and_its_bound():
    model = LocalDensityFactor(10, c=0.2, novelty=True).fit(CLOUD)
    factors = -model.score_samples([[1e3, 0, 0], [1e300, 0, 0]])
    np.testing.assert_allclose(factors, 5.0, rtol=1e-12)
    alike = LocalDensityFactor(3, c=0.2).fit(np.ones((9, 2)))
    np.testing.assert_allclose(-alike.negative_outlier_factor_, 1 / 1.2, rtol=1e-12)


def test_a_row_among_duplicates_has_no_peculiarity():
    X = np.array([[0.0], [0.0], [0.0], [4.0], [4.5]])
    model = LocalPeculiarityFactor(2, novelty=True).fit(X)
    assert model.negative_outlier_factor_[:3].tolist() == [0.0, 0.0, 0.0]
    assert not np.signbit(model.negative_outlier_factor_[:3]).any()
    assert model.score_samples([[0.0]]).tolist() == [0.0]
    # Of several numbers some of which find duplicates only: next to none, but in order.
    several = LocalPeculiarityFactor([1, 3]).fit(X).negative_outlier_factor_
    assert several[0] > several[3] > several[4]
    assert several[0] == pytest.approx(0, abs=1e-200)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 30.0, 3000.0, 1e300])
def test_any_power_gives_finite_factors_in_order(alpha):
    model = LocalPeculiarityFactor(3, alpha=alpha, novelty=True).fit(CLOUD)
    assert np.isfinite(model.negative_outlier_factor_).all()
    scores = model.score_samples([[50.0, 0, 0], [500.0, 0, 0], [1e300, 0, 0]])
    assert np.isfinite(scores).all()
    assert (np.diff(scores) < 0).all() or alpha in (0.0, 1e300)


@pytest.mark.parametrize("extreme", [{"bandwidth": 1e-200}, {"bandwidth": 1e200}, {"c": 1e-320}])
def test_any_bandwidth_and_bound_give_finite_factors(extreme):
    model = LocalDensityFactor(3, **extreme, novelty=True).fit(CLOUD)
    assert np.isfinite(model.negative_outlier_factor_).all()
    assert np.isfinite(model.score_samples([[1e300, 0, 0]])).all()

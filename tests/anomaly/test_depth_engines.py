"""The faster engines stay within their error bounds."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from kernova.anomaly.depth_engines import (
    SparsePlan,
    exact_depths,
    low_rank_depths,
    sparse_depths,
    sparse_plan,
)
from kernova.kernels.functions import Gaussian, Laplacian, Linear, Matern, Polynomial
from kernova.kernels.gram import certified, growing_factors

# Differences of two sums of n² terms, each rounded.
ROUNDING = 1e-12


def rows_and_queries(seed, n=300, columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)) * rng.choice([0.2, 1.0, 5.0], size=(n, 1))
    X[11] = X[10]
    queries = np.vstack([rng.normal(size=(40, columns)), X[5:15], X[:3] + 1e-7])
    return X, queries


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(0.1), Gaussian(1.0), Gaussian(30.0), Gaussian(1e6), Laplacian(1.0), Linear(),
     Polynomial(3.0, degree=2)],
    ids=str,
)  # fmt: skip
def test_low_rank_errors_are_bounded(kernel):
    X, queries = rows_and_queries(0)
    exact = exact_depths(queries, X, kernel)
    ranks = []
    for step in growing_factors(X, kernel, 200, np.random.RandomState(0)):
        gram = certified(step, X, kernel)
        depths, errors = low_rank_depths(queries, X, kernel, gram)
        assert (np.abs(depths - exact) <= errors + ROUNDING).all()
        ranks.append(gram.rank)
    assert ranks[0] == 0
    assert len(ranks) > 1


def test_the_certified_norm_is_an_upper_bound_and_not_a_loose_one():
    X, _ = rows_and_queries(1)
    for bandwidth in (0.3, 2.0, 20.0):
        kernel = Gaussian(bandwidth)
        delta = kernel.squared_distance(X, X)
        J = np.eye(len(X)) - 1 / len(X)
        G = -0.5 * J @ delta @ J
        for step in growing_factors(X, kernel, 130, np.random.RandomState(0)):
            gram = certified(step, X, kernel)
            R = G - gram.factor @ gram.factor.T
            largest = np.linalg.eigvalsh(R)[-1]
            assert largest <= gram.residual_norm + ROUNDING * len(X)
            assert gram.residual_norm <= 10 * largest + ROUNDING * len(X)
            np.testing.assert_allclose(np.diagonal(R), gram.residual_diagonal, atol=1e-10)


@pytest.mark.parametrize("kernel", [Gaussian(30.0), Laplacian(1.0), Matern(1e4)], ids=str)
def test_low_rank_errors_are_bounded_where_rounding_is_all_that_is_left(kernel):
    """Near duplicates multiply what rounding does to the factor, up to where it fits all rows."""
    rng = np.random.default_rng(3)
    X = rng.standard_cauchy(size=(120, 3))
    X[60:] = X[:60] + 1e-9 * rng.normal(size=(60, 3))
    exact = exact_depths(X, X, kernel)
    for step in growing_factors(X, kernel, len(X), np.random.RandomState(0)):
        depths, errors = low_rank_depths(X, X, kernel, certified(step, X, kernel))
        assert (np.abs(depths - exact) <= errors + ROUNDING).all()
        assert step.gram.rank < len(X)  # centred rows have one direction less


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(1.0), Linear()], ids=str)
@pytest.mark.parametrize("distance", [1e-17, 1e-20, 1e-100])
def test_a_row_nearer_than_rounding_changes_a_depth_by_one_row_at_most(kernel, distance):
    X = np.vstack([np.zeros((1, 3)), np.random.default_rng(0).normal(size=(199, 3))])
    at_the_row, beside_it = exact_depths(np.array([[0.0] * 3, [distance] * 3]), X, kernel)
    assert abs(at_the_row - beside_it) <= 1 / len(X)


def test_sparse_depth_of_duplicates_only_is_known_up_to_rounding():
    X, kernel = np.ones((300, 3)), Gaussian(1.0)
    plan = sparse_plan(cKDTree(kernel.rescaled(X)), kernel, 1e-12)
    depths, errors = sparse_depths(X, X, kernel, plan)
    assert (np.abs(depths - 1.0) <= errors).all()


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.1), Matern(0.2, nu=2.5)], ids=str)
@pytest.mark.parametrize("cut", [1e-2, 1e-5, 1e-9])
def test_sparse_errors_are_bounded(kernel, cut):
    X, queries = rows_and_queries(2)
    plan = sparse_plan(cKDTree(kernel.rescaled(X)), kernel, cut)
    assert isinstance(plan, SparsePlan)
    depths, errors = sparse_depths(queries, X, kernel, plan)
    exact = exact_depths(queries, X, kernel)
    assert (np.abs(depths - exact) <= errors + ROUNDING).all()
    assert errors[:-3].max() <= 10 * cut  # near duplicates of a row have unbounded weights


@pytest.mark.parametrize(
    "kernel", [Gaussian(2.0), Laplacian(0.5), Matern(3.0), Matern(1.0, nu=2.5)]
)
@pytest.mark.parametrize("smallest", [0.5, 1e-3, 1e-12])
def test_reach_is_where_the_kernel_falls_to_a_value(kernel, smallest):
    radius = kernel.reach(smallest) * kernel.bandwidth
    value = kernel(np.array([[0.0]]), np.array([[radius]]))[0, 0]
    assert value == pytest.approx(smallest, rel=1e-3)

"""Costs, gradients and fitted length-scales against the reference vectors and differences."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_wine

from kernova.description.hyperparameters import (
    feature_scaling,
    fit_all_three,
    fit_length_scale,
    full_cost,
    median_distance,
    profile_cost,
    squared_norms,
)
from kernova.kernels.functions import squared_distances


@pytest.fixture(scope="module")
def vectors(reference_vectors):
    return reference_vectors("ref_mddkm.npz")


def test_costs_and_gradients_are_those_of_the_vectors(vectors):
    distances = squared_distances(vectors["X"], vectors["X"])
    for suffix, y in [("", vectors["y"]), ("_ycentred", vectors["y_centred"])]:
        for i, theta in enumerate(vectors["theta"]):
            cost = full_cost(theta, distances, y)
            assert cost.value == pytest.approx(vectors[f"cost{suffix}"][i], rel=1e-9)
            np.testing.assert_allclose(cost.gradient, vectors[f"grad{suffix}"][i], rtol=1e-6)


def test_profiled_costs_are_those_of_the_vectors(vectors):
    distances = squared_distances(vectors["X"], vectors["X"])
    for i, log_ell in enumerate(vectors["profile_log_ell"]):
        found = profile_cost(log_ell, distances, vectors["y_centred"], vectors["profile_rho"])
        assert found.cost == pytest.approx(vectors["profile_cost_ycentred"][i], rel=1e-9)
        assert np.sqrt(found.signal_variance) == pytest.approx(
            vectors["profile_sigma_ycentred"][i], rel=1e-9
        )


def test_fitted_length_scales_are_those_of_the_vectors(vectors):
    rows = feature_scaling(vectors["X"], "feature")(vectors["X"])
    log_sigma, log_ell, _ = vectors["fit_profile_std_theta"]
    found = fit_length_scale(rows, 1e-4, np.random.RandomState(0))
    assert np.log(found.length_scale) == pytest.approx(log_ell, abs=1e-3)
    assert np.log(found.signal_variance) / 2 == pytest.approx(log_sigma, abs=1e-3)
    literal = fit_all_three(vectors["X"], np.random.RandomState(0))
    assert np.log(literal.length_scale) == pytest.approx(vectors["fit_literal_theta"][1], abs=1e-3)


def test_gradient_is_that_of_the_cost():
    rows = np.random.default_rng(0).normal(size=(15, 2))
    distances, y = squared_distances(rows, rows), squared_norms(rows)
    point = np.array([0.4, 0.2, -1.0])
    error = check_grad(
        lambda p: full_cost(p, distances, y).value,
        lambda p: full_cost(p, distances, y).gradient,
        point,
    )
    assert error < 1e-4


def test_four_hundred_rows_find_nearly_the_same_length_scale():
    X = np.random.default_rng(1).normal(size=(1200, 4))
    few = fit_length_scale(X, 1e-4, np.random.RandomState(0)).length_scale
    other = fit_length_scale(X, 1e-4, np.random.RandomState(5)).length_scale
    assert few == pytest.approx(other, rel=0.15)


def test_equal_norms_explain_nothing_and_the_median_distance_is_taken():
    angles = np.linspace(0, 6, 40)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    found = fit_length_scale(rows, 1e-4, np.random.RandomState(0))
    assert found.length_scale == median_distance(squared_distances(rows, rows))
    assert found.signal_variance == 1.0


@pytest.mark.parametrize("rows", [np.zeros((1, 2)), np.ones((5, 2))], ids=["one row", "duplicates"])
def test_rows_without_distances_have_length_scale_one(rows):
    assert fit_length_scale(rows, 1e-4, np.random.RandomState(0)).length_scale == 1.0


@pytest.mark.parametrize("how", ["feature", "common", "none"])
@pytest.mark.parametrize("is_robust", [True, False])
def test_scaling_survives_every_size(how, is_robust):
    X = load_wine().data
    X = np.column_stack([X, np.full(len(X), 3.3)])
    rows = feature_scaling(X, how, is_robust=is_robust)(X)
    np.testing.assert_allclose(rows[:, -1], 0, atol=1e-12)
    huge = feature_scaling(X * 1e150, how, is_robust=is_robust)(X * 1e150)
    if how != "none":
        np.testing.assert_allclose(huge, rows, rtol=1e-9, atol=1e-9)
    if how == "feature" and not is_robust:
        np.testing.assert_allclose(rows[:, :-1].std(axis=0), 1)
    if how == "common" and not is_robust:
        assert np.sqrt((rows**2).mean()) == pytest.approx(1.0)

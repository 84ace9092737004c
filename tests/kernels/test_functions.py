"""Kernels and distances are accurate where subtraction would cancel."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from kernova import kernels
from kernova.kernels import functions
from kernova.kernels.functions import (
    KERNELS,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    kernel_named,
    squared_distances,
)

getcontext().prec = 60


def decimal_squared_distance(kernel, distance):
    """2 - 2k with 60 digits, for a stationary kernel."""
    r = Decimal(distance) / Decimal(kernel.bandwidth)
    if isinstance(kernel, Gaussian):
        value = (-r * r).exp()
    elif isinstance(kernel, Laplacian):
        value = (-r).exp()
    elif kernel.nu == 1.5:
        x = Decimal(3).sqrt() * r
        value = (1 + x) * (-x).exp()
    else:
        x = Decimal(5).sqrt() * r
        value = (1 + x + x * x / 3) * (-x).exp()
    return float(2 - 2 * value)


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.7), Laplacian(0.7), Matern(0.7), Matern(0.7, nu=2.5)], ids=str
)
def test_squared_distances_keep_their_digits_from_near_duplicates_to_far_away(kernel):
    distances = np.concatenate([np.logspace(-9, 1, 41), np.linspace(0.01, 0.3, 30)])
    found = kernel.squared_distance(np.zeros((1, 1)), distances[:, None])[0]
    wanted = [decimal_squared_distance(kernel, float(d)) for d in distances]
    np.testing.assert_allclose(found, wanted, rtol=2e-12)
    assert kernel.squared_distance(np.ones((1, 2)), np.ones((1, 2)))[0, 0] == 0.0


@pytest.mark.parametrize("columns", [2, 40])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_euclidean_distances_of_near_duplicates(columns, offset):
    rng = np.random.default_rng(columns)
    Y = rng.normal(size=(200, columns)) + offset
    X = np.vstack([Y[:50], Y[50:100] + 1e-6 * rng.normal(size=(50, columns)), Y[:3] + 1e3])
    found = squared_distances(X, Y)
    wanted = ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)
    assert (found[np.arange(50), np.arange(50)] == 0).all()


def test_clusters_far_apart_take_the_way_by_differences():
    """Most pairs cancel there; the answer must not."""
    rng = np.random.default_rng(0)
    X = 1e-3 * rng.normal(size=(120, 30)) + 1e3 * (np.arange(120) % 2)[:, None]
    wanted = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(X, X), wanted, rtol=1e-11)


@pytest.mark.parametrize("name", KERNELS)
def test_three_methods_agree(name):
    kernel = KERNELS[name]() if name == "linear" else KERNELS[name](1.3)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(70, 3)), rng.normal(size=(50, 3))
    K = kernel(X, Y)
    np.testing.assert_allclose(np.diagonal(kernel(X, X)), kernel.diagonal(X), rtol=1e-12)
    lengths = kernel.diagonal(X)[:, None] + kernel.diagonal(Y)
    np.testing.assert_allclose(kernel.squared_distance(X, Y), lengths - 2 * K, atol=1e-10)
    assert np.linalg.eigvalsh(kernel(X, X))[0] > -1e-8  # positive semidefinite


@pytest.mark.parametrize("exponent", [-900, 900])
def test_polynomial_kernel_takes_bandwidths_whose_square_is_no_number(exponent):
    X = np.random.default_rng(0).normal(size=(6, 2))
    there = Polynomial(np.ldexp(1.5, exponent))
    np.testing.assert_array_equal(there(*2 * [np.ldexp(X, exponent)]), Polynomial(1.5)(X, X))
    np.testing.assert_array_equal(
        there.diagonal(np.ldexp(X, exponent)), Polynomial(1.5).diagonal(X)
    )


def test_kernels_add_and_multiply():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    mixed = 0.5 * Gaussian(2.0) + Linear() * Polynomial(1.0, degree=2)
    wanted = 0.5 * Gaussian(2.0)(X, Y) + Linear()(X, Y) * Polynomial(1.0, degree=2)(X, Y)
    np.testing.assert_allclose(mixed(X, Y), wanted)
    np.testing.assert_allclose(mixed.diagonal(X), np.diagonal(mixed(X, X)))


def test_a_kernel_object_is_returned_unchanged():
    kernel = Gaussian(2.0)
    assert kernel_named(kernel, None) is kernel


def test_the_package_exports_the_kernels():
    for name in kernels.__all__:
        assert getattr(kernels, name) is getattr(functions, name)

"""Columns of all sizes on one scale."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kernova.cluster.standardize import fit_standardizer, standardized_rows

X = np.random.default_rng(0).normal(size=(60, 4)) @ np.diag([1e-9, 1.0, 1e7, 3.0])
X[:, 3] += 5 * X[:, 1]


def correlation_variances(rows):
    return np.linalg.eigvalsh(np.corrcoef(rows.T))[::-1]


def test_sphered_rows_have_unit_covariance():
    np.testing.assert_allclose(np.cov(standardized_rows(X, "sphere").T), np.eye(4), atol=1e-9)


def test_half_sphered_axes_keep_the_root_of_their_spread():
    variances = correlation_variances(X)
    expected = np.diag(np.sqrt(variances))
    np.testing.assert_allclose(np.cov(standardized_rows(X, "half-sphere").T), expected, atol=1e-9)


def test_zscores_and_no_standardisation():
    rows = standardized_rows(X, "zscore")
    np.testing.assert_allclose(rows, (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), atol=1e-9)
    np.testing.assert_array_equal(standardized_rows(X, "none"), X)


@pytest.mark.parametrize("how", ["sphere", "half-sphere", "zscore"])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_unit_of_a_column_does_not_matter(how, scale):
    np.testing.assert_allclose(
        np.abs(standardized_rows(X * scale, how)), np.abs(standardized_rows(X, how)), atol=1e-6
    )


def test_constant_and_repeated_columns_are_dropped():
    spoiled = np.column_stack([X, X[:, 1], np.full(60, 3.7)])
    assert standardized_rows(spoiled, "sphere").shape == (60, 4)
    assert standardized_rows(spoiled, "zscore").shape == (60, 5)
    assert standardized_rows(np.full((3, 2), 0.1), "sphere").shape == (3, 0)


def test_equal_rows_stay_equal_to_the_last_bit():
    digits = np.repeat(load_digits().data[:300], 2, axis=0)
    rows = standardized_rows(digits, "sphere")
    np.testing.assert_array_equal(rows[::2], rows[1::2])


@pytest.mark.parametrize(("n_components", "n_kept"), [(2, 2), (9, 4), (0.999999, 4), (1e-9, 1)])
@pytest.mark.parametrize("how", ["sphere", "half-sphere", "zscore"])
def test_the_strongest_axes_are_kept(how, n_components, n_kept):
    rows = standardized_rows(X, how, n_components)
    assert rows.shape[1] == n_kept
    np.testing.assert_allclose(
        np.var(rows, axis=0, ddof=1),
        correlation_variances(X)[:n_kept] ** {"sphere": 0, "half-sphere": 0.5, "zscore": 1}[how],
        rtol=1e-6,
    )


def test_new_rows_are_measured_by_the_old():
    standardizer = fit_standardizer(X, "sphere")
    np.testing.assert_allclose(standardizer(X[:5]), standardizer(X)[:5], atol=1e-12)

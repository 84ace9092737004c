"""Thin-plate splines: scipy's interpolation, derivatives, and landmarks without a spline."""

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

from kernova.shapes.thin_plate import is_spanning, spline_basis, spline_estimates
from tests.shapes.bad_inputs import error
from tests.shapes.drawn_shapes import fish

# scipy has the same kernels under other names: r² log r in the plane, r in space.
KERNELS = {2: "thin_plate_spline", 3: "linear"}


@pytest.mark.parametrize("d", [2, 3])
def test_deformation_is_that_of_scipy(d):
    source, target = fish(2, d=d)
    points = np.random.default_rng(1).normal(0, 9, (20, d))
    expected = RBFInterpolator(source, target, kernel=KERNELS[d], degree=1)(points)

    basis = spline_basis(source)

    np.testing.assert_allclose(basis.weights(points) @ target, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(basis.weights(source), np.eye(len(source)), atol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_gradients_are_differences(d):
    basis = spline_basis(fish(1, d=d)[0])
    points = np.random.default_rng(1).normal(0, 9, (20, d))
    gradients = basis.gradients(points)
    for axis in range(d):
        step = 1e-5 * np.eye(d)[axis]
        difference = (basis.weights(points + step) - basis.weights(points - step)) / 2e-5
        np.testing.assert_allclose(gradients[axis], difference, atol=1e-6)


@pytest.mark.parametrize("d", [2, 3])
def test_missing_landmarks_follow_an_affine_change(d):
    source = fish(1, d=d)[0]
    change = np.random.default_rng(2).normal(size=(d, d))
    specimen = source @ change + 3
    gappy = specimen.copy()
    gappy[[1, 4]] = np.nan
    estimates = spline_estimates(source, gappy[None], np.array([1, 4]))
    np.testing.assert_allclose(estimates[0], specimen[[1, 4]], atol=1e-8)


LINE = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
TWICE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
FLAT = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 1, 0]])


@pytest.mark.parametrize(
    ("source", "where"),
    [
        (LINE, "on one line"),
        (TWICE, "on one line"),
        (TWICE[:2], "on one line"),
        (FLAT, "in one plane"),
    ],
)
def test_landmarks_without_a_spline_raise(source, where):
    assert not is_spanning(source)
    n_landmarks, d = source.shape
    message = (
        f"{n_landmarks} landmarks do not determine a thin-plate spline: some coincide, or all lie "
        f"{where}. Give {d + 1} or more that do not."
    )
    with error(message):
        spline_basis(source)


def test_landmarks_on_a_line_have_no_spline():
    with error("A thin-plate spline needs 2 or 3 coordinates per landmark; got 1."):
        spline_basis(np.arange(4.0)[:, None])

"""Kernel profiles: their logarithms, what stands for the logarithm of zero, and custom kernels."""

import numpy as np
import pytest

from kernova.kernels.functions import PROFILES, profile_named
from tests import oracles

LITERAL = {
    "volcano": oracles.volcano,
    "gaussian": oracles.gaussian_profile,
    "epanechnikov": oracles.epanechnikov,
}
U = np.array([0.0, 1e-9, 0.3, 0.999, 1.0, 1.001, 2.0, 20.0])


@pytest.mark.parametrize("name", PROFILES)
def test_logarithms_of_the_kernels(name):
    expected = np.array([LITERAL[name](u) for u in U])
    got = profile_named(name)(U)
    np.testing.assert_allclose(np.exp(got), expected, rtol=1e-12, atol=1e-300)
    assert np.isfinite(profile_named(name)(np.array([1e150]))).all()


@pytest.mark.parametrize("name", [*PROFILES, "custom"])
def test_farther_is_never_denser_even_where_the_kernel_is_zero(name):
    profile = profile_named((lambda u: 1.0 * (u < 1)) if name == "custom" else name)
    u = np.geomspace(1e-3, 1e150, 500)
    steps = np.diff(profile(u))
    assert (steps <= 0).all()
    assert (steps[u[:-1] > 1] < 0).all()


def test_a_neighbour_at_one_width_is_at_one_width_whatever_rounding_says():
    below, at, above = PROFILES["epanechnikov"](np.array([1 - 1e-15, 1.0, 1 + 1e-15]))
    assert below == pytest.approx(at, abs=1e-12)
    assert above == pytest.approx(at, abs=1e-12)
    # Below the logarithm of every value that is not zero.
    assert at < np.log(5e-324)


def test_a_custom_kernel_gives_values_not_logarithms():
    profile = profile_named(lambda u: 1 / (1 + u))
    np.testing.assert_allclose(profile(U), -np.log1p(U), rtol=0, atol=1e-15)
    whole = profile_named(lambda u: [3 for _ in u])(U)
    np.testing.assert_allclose(whole, np.log(3))

"""Bad kernels and parameters: every message of the package in one table."""

import numpy as np
import pytest

from kernova import InputError
from kernova.kernels import Gaussian, Kernel, Laplacian, Linear, Matern
from kernova.kernels.functions import profile_named

U = np.array([0.0, 1e-9, 0.3, 0.999, 1.0, 1.001, 2.0, 20.0])
ONE_VALUE = "The kernel must give one value for each u; got shape {} for 8 values of u."
FINITE = "The kernel must give finite values of zero or more; got {}."
NO_PROFILE = (
    "There is no kernel named {!r}. Use one of volcano, gaussian, epanechnikov, or give a "
    "function of u = distance / width."
)
BANDWIDTH = "A kernel's bandwidth must be a positive number; got {}."

BAD_INPUT = {
    "bandwidth of zero": (lambda: Gaussian(0.0), BANDWIDTH.format("0.0")),
    "infinite bandwidth": (lambda: Laplacian(np.inf), BANDWIDTH.format("inf")),
    "nu": (
        lambda: Matern(1.0, nu=0.5),
        "The Matérn kernel is available for nu=1.5 and nu=2.5; got nu=0.5. For nu=0.5 take "
        "'laplacian'.",
    ),
    "negative factor": (
        lambda: -1 * Linear(),
        "A kernel can be multiplied by a positive number only; got -1.0.",
    ),
    "too few values": (lambda: profile_named(lambda u: u[:-1])(U), ONE_VALUE.format("(7,)")),
    "one value": (lambda: profile_named(lambda u: 1.0)(U), ONE_VALUE.format("()")),
    "negative values": (lambda: profile_named(lambda u: -u)(U), FINITE.format("-1e-09")),
    "NaN": (lambda: profile_named(lambda u: u * np.nan)(U), FINITE.format("nan")),
    "infinity": (lambda: profile_named(lambda u: u + np.inf)(U), FINITE.format("inf")),
    "unknown profile": (lambda: profile_named("cauchy"), NO_PROFILE.format("cauchy")),
    "no profile": (lambda: profile_named(None), NO_PROFILE.format(None)),
    "number": (lambda: profile_named(3), NO_PROFILE.format(3)),
    "list": (lambda: profile_named(["volcano"]), NO_PROFILE.format(["volcano"])),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_raises_with_a_message(name):
    make, message = BAD_INPUT[name]
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


def test_a_kernel_without_a_formula_cannot_be_called():
    with pytest.raises(TypeError, match="Kernel must define __call__"):
        Kernel()(np.zeros((1, 1)), np.zeros((1, 1)))

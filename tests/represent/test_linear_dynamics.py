"""Layers of states behind frames, against literal filters of all states and reference vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.errors import InputError
from kernova.represent.chains import smoothed_level, smoothed_level_blocks
from tests.represent import literal

NOISES = st.sampled_from([0.1, 1.0, 10.0, 300.0])
COUPLINGS = st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), max_size=3).map(tuple)


def wandering(n_frames, n_columns, seed=0):
    return 3 + np.random.default_rng(seed).normal(size=(n_frames, n_columns)).cumsum(axis=0)


def cut(Y, lengths):
    """Pieces of these lengths, and the rest."""
    return np.split(Y, np.minimum(np.cumsum(lengths, dtype=int), len(Y)))


@pytest.mark.parametrize("couplings", [(), (0.5,), (0.5, 1.0), (2.0, 2.0), (1.0, 0.5, 0.25)])
@pytest.mark.parametrize("noise", [0.1, 10.0, 1e3])
def test_smoothed_level_is_the_backward_pass_with_constant_gain(couplings, noise):
    Y = wandering(150, 2)
    expected = [literal.smoothed_level(y, couplings, noise) for y in Y.T]
    np.testing.assert_allclose(smoothed_level(Y, noise, couplings).T, expected, rtol=0, atol=1e-10)


@given(NOISES, COUPLINGS, st.lists(st.integers(0, 400), max_size=6), st.integers(1, 1500))
def test_smoothed_level_does_not_depend_on_blocks(noise, couplings, lengths, n_frames):
    Y = wandering(n_frames, 3)
    pieces = list(smoothed_level_blocks(cut(Y, lengths), noise, couplings))
    np.testing.assert_allclose(
        np.vstack(pieces), smoothed_level(Y, noise, couplings), rtol=0, atol=1e-12
    )


def test_smoothed_level_keeps_constants_and_does_not_lag():
    assert (smoothed_level(np.full((50, 2), 7.0)) == 7.0).all()
    bump = np.exp(-0.5 * (np.arange(-200, 201) / 8.0) ** 2)[:, None]
    level = smoothed_level(bump, 100.0)
    assert level.argmax() == 200
    np.testing.assert_allclose(level, level[::-1], rtol=0, atol=1e-9)


def test_nothing_in_nothing_out():
    assert smoothed_level(np.empty((0, 4))).shape == (0, 4)
    assert list(smoothed_level_blocks([np.empty((0, 4))])) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((np.ones(3),), r"The frames have shape \(3,\); give one row per frame and one column "
         r"per band\."),
        ((np.ones((3, 1)), 0.0), r"observation_noise is 0\.0; it must be a positive number\."),
        ((np.ones((3, 1)), float("nan")), r"observation_noise is nan; it must be a positive "
         r"number\."),
        ((np.ones((3, 1)), 1.0, (0.0,)), r"couplings are \(0\.0,\); they must be positive "
         r"numbers\."),
    ],
)  # fmt: skip
def test_what_cannot_be_smoothed_is_refused(arguments, sentence):
    with pytest.raises(InputError, match=f"^{sentence}$"):
        smoothed_level(*arguments)

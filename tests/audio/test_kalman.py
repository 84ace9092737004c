"""The Kalman filter of all states against reference vectors and a literal version."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.audio.chains import kalman_filter, layered_model
from kernova.errors import InputError
from tests import oracles
from tests.audio import messages


@pytest.mark.parametrize("factor", [1, 10_000])
@pytest.mark.parametrize("layers", [(8, 4, 2), (96, 24, 12)])
def test_all_states_are_those_of_the_reference(reference_vectors, layers, factor):
    stored, name = reference_vectors("ref_hlds.npz"), "_".join(map(str, layers))
    model = layered_model(layers, observation_noise=factor)
    n_middle, n_top = layers[1], layers[2]
    coupling = model.transition[n_top : n_top + n_middle, :n_top]
    np.testing.assert_array_equal(coupling, stored[f"B_{n_middle}_{n_top}"])
    found = kalman_filter(stored[f"Y_{name}"], model)
    np.testing.assert_allclose(
        found.means, stored[f"states_{name}_obs{factor}"], rtol=0, atol=1e-10
    )


@given(st.sampled_from([(1,), (3,), (4, 2), (6, 3, 1)]), st.integers(1, 8), st.integers(0, 9))
def test_any_observation_matrix(layers, n_columns, seed):
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n_columns, layers[0]))
    noise = rng.uniform(0.5, 2.0, size=len(layers))
    model = layered_model(layers, observation=H, observation_noise=0.3, state_noise=noise)
    F, _, Q, _ = oracles.hierarchical_system(layers, state_noise=noise)
    H_all = np.hstack([np.zeros((n_columns, len(F) - layers[0])), H])
    R = 0.3 * n_columns * np.eye(n_columns)
    for ours, expected in zip(model, (F, H_all, Q, R), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-15)
    Y = rng.normal(size=(12, n_columns)).cumsum(axis=0)
    means, covariances = oracles.kalman(Y, F, H_all, Q, R, np.zeros(len(F)), np.eye(len(F)))
    first = kalman_filter(Y[:5], model)
    rest = kalman_filter(Y[5:], model, mean=first.mean, covariance=first.covariance)
    for ours, expected in (
        (np.vstack([first.means, rest.means]), means),
        (rest.covariance, covariances[-1]),
    ):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-11 * max(1, abs(expected).max()))


def test_blocks_go_on_with_the_constant_gain():
    rng = np.random.default_rng(0)
    model = layered_model((6, 3, 1), observation=rng.normal(size=(7, 6)))
    Y = rng.normal(size=(3000, 7))
    whole, means = kalman_filter(Y, model), []
    assert whole.gain is not None  # the gain is reached
    mean = covariance = gain = None
    for block in np.split(Y, [1, 7, 400, 1400, 2999]):
        found = kalman_filter(block, model, mean=mean, covariance=covariance, gain=gain)
        _, mean, covariance, gain = found
        means.append(found.means)
    np.testing.assert_array_equal(np.vstack(means), whole.means)


def test_frames_of_another_width_are_rejected():
    with pytest.raises(InputError) as raised:
        kalman_filter(np.zeros((3, 5)), layered_model((4, 2)))
    assert str(raised.value) == messages.OTHER_WIDTH

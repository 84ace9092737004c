"""Kalman filter of any linear Gaussian model, frame by frame over all states at once."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from kernova.errors import InputError
from kernova.typing import Matrix, Vector

# Change of the covariance, as a correlation, below which it is taken to be constant.
_STEADY = 1e-14


class LinearModel(NamedTuple):
    """Linear Gaussian state space model."""

    transition: Matrix  # F in ``x_t = F x_{t-1} + noise``; shape (n_states, n_states)
    observation: Matrix  # H in ``y_t = H x_t + noise``; shape (n_columns, n_states)
    state_noise: Matrix  # covariance Q of the noise of the states; shape (n_states, n_states)
    # Covariance R of the noise of the observations; shape (n_columns, n_columns).
    observation_noise: Matrix


class Filtered(NamedTuple):
    """Filtered states of a block of frames, and the state of the filter after it."""

    means: Matrix  # expected states after each frame; shape (n_frames, n_states)
    mean: Vector  # expected states after the last frame; shape (n_states,)
    covariance: Matrix  # covariance of the states after the last frame; shape (n_states, n_states)
    gain: Matrix | None = None  # the gain, once it is constant; shape (n_states, n_columns) or None


def layered_model(
    layers: Sequence[int],
    *,
    observation: ArrayLike | None = None,
    observation_noise: float = 1.0,
    state_noise: Sequence[float] | None = None,
) -> LinearModel:
    """Return a hierarchical linear dynamical system (HLDS) as a single model of all states.

    Parameters
    ----------
    layers : sequence of int
        States per layer, the lowest first; each divides the one before.
    observation : array-like of shape (n_columns, layers[0]), optional
        Observation matrix of the lowest layer; the identity by default.
    observation_noise : float, default=1.0
        Factor on the variance of the observations, which is the number of columns times this.
    state_noise : sequence of float, optional
        Variance that a state of each layer gains per frame; by default the layer's size.

    Returns
    -------
    LinearModel
        States in order of layers, the highest first.

    Examples
    --------
    >>> from kernova.audio.kalman import layered_model
    >>> layered_model((2, 1)).transition
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 0., 1.]])
    """
    sizes = [int(size) for size in layers][::-1]
    noise = sizes if state_noise is None else [*state_noise][::-1]
    F = np.eye(sum(sizes))
    first = 0
    for upper, lower in pairwise(sizes):
        # B[i, s] = 2 S / N where state i of the lower layer is in group s.
        groups = np.repeat(np.eye(upper), lower // upper, axis=0)
        begin = first + upper
        F[begin : begin + lower, first:begin] = 2 * upper / lower * groups
        first = begin
    H_lowest = np.eye(sizes[-1]) if observation is None else np.asarray(observation, np.float64)
    H = np.hstack([np.zeros((len(H_lowest), first)), H_lowest])
    Q = np.diag(np.repeat(np.asarray(noise, dtype=np.float64), sizes))
    return LinearModel(F, H, Q, observation_noise * len(H) * np.eye(len(H)))


def kalman_filter(
    Y: ArrayLike,
    model: LinearModel,
    *,
    mean: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
    gain: ArrayLike | None = None,
) -> Filtered:
    """Filter frames: predict, then update by the observation, for each frame in turn.

    The covariance is updated in Joseph's form, which keeps it positive, until it is constant to
    rounding; from then on the gain is constant.

    Parameters
    ----------
    Y : array-like of shape (n_frames, n_columns)
        Frames in order of time.
    model : LinearModel
        Transition and observation of the states.
    mean : array-like of shape (n_states,), optional
        Expected states before the first frame; by default 0.
    covariance : array-like of shape (n_states, n_states), optional
        Covariance of the states before the first frame; by default the identity.
    gain : array-like of shape (n_states, n_columns), optional
        The constant gain, if a block before has reached it.

    Returns
    -------
    Filtered
        Expected states, and the start of the next block of frames.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.kalman import kalman_filter, layered_model
    >>> model = layered_model((2, 1))
    >>> frames = np.array([[1.0, 1.0], [2.0, 2.0]])
    >>> first = kalman_filter(frames[:1], model)
    >>> rest = kalman_filter(frames[1:], model, mean=first.mean, covariance=first.covariance)
    >>> bool((rest.means[-1] == kalman_filter(frames, model).mean).all())
    True
    """
    Y = np.asarray(Y, dtype=np.float64)
    F, H = model.transition, model.observation
    if Y.ndim != 2 or Y.shape[1] != len(H):
        raise InputError(
            f"The frames have shape {Y.shape}, but the model has {len(H)} columns; give one row "
            "per frame and one column for each."
        )
    x = np.zeros(len(F)) if mean is None else np.asarray(mean, dtype=np.float64)
    P = np.eye(len(F)) if covariance is None else np.asarray(covariance, dtype=np.float64)
    steady = None if gain is None else np.asarray(gain, dtype=np.float64)
    means = np.empty((len(Y), len(F)))
    for t, y in enumerate(Y):
        if steady is None:
            K, after = _updated(P, model)
            steady = K if _is_same(P, after) else None
            P = after
        else:
            K = steady
        x = F @ x
        x = x + K @ (y - H @ x)
        means[t] = x
    return Filtered(means, x, P, steady)


def _updated(P: Matrix, model: LinearModel) -> tuple[Matrix, Matrix]:
    """Return the gain of the next frame, and the covariance after its update."""
    F, H, Q, R = model
    P = F @ P @ F.T + Q
    HP = H @ P
    K = cho_solve(cho_factor(HP @ H.T + R), HP).T
    unexplained = np.eye(len(F)) - K @ H
    return K, unexplained @ P @ unexplained.T + K @ R @ K.T


def _is_same(before: Matrix, after: Matrix) -> bool:
    deviations = np.sqrt(np.diag(after))
    return bool((np.abs(after - before) <= _STEADY * np.outer(deviations, deviations)).all())

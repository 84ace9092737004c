"""Chains of states that drive each other: Kalman filter and smoother with constant coefficients.

The lowest state of a chain, the level, is observed in noise; each state drifts by the next higher
one, and the highest is a random walk. The gain of the Kalman filter does not depend on the data and
soon converges. From then on the filter is a short recursion with constant coefficients, the same
for every column, and is applied to all columns at once.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, solve_discrete_are
from scipy.signal import lfilter

from kernova.errors import InputError, quoted
from kernova.parallel import cached_blocks
from kernova.typing import Matrix, Vector

# Couplings of the paper's layers of 96, 24 and 12 states, lowest first: 2 S / N.
_PAPER_COUPLINGS = (0.5, 1.0)
# Relative change of the gain below which it is taken to be constant.
_STEADY = 1e-15
# A chain that is not steady by then has an observation noise that is far too large.
_MAX_TRANSIENT = 20_000
# Relative effect on a smoothed level below which a later frame is ignored.
_NEGLIGIBLE = 1e-17


class Chain(NamedTuple):
    """Model of independent chains of states, the lowest (the level) first."""

    # Transition matrix: each state keeps its value and adds a multiple of the next higher one;
    # shape (depth, depth).
    transition: Matrix
    state_noise: Vector  # variance that each state gains per frame; shape (depth,)
    observation_noise: float  # variance of the observations around the level
    start: Vector  # variance of each state before the first frame; shape (depth,)


def chain_of_layers(
    layers: Sequence[int], observation_noise: float, state_noise: Sequence[float]
) -> Chain:
    """Reduce layers to the chain that the means of the groups below the last layer follow.

    A mean of g states has a g-th of their variance; a state has variance 1 before the first frame.

    Parameters
    ----------
    layers : sequence of int
        States per layer, the observed layer first; each divides the one before.
    observation_noise : float
        Variance of the observations around a state of the first layer.
    state_noise : sequence of float
        Variance that a state of each layer gains per frame.

    Returns
    -------
    Chain
        As deep as there are layers.

    Examples
    --------
    >>> from kernova.audio.chains import chain_of_layers
    >>> chain = chain_of_layers((96, 24, 12), 96.0, (96.0, 24.0, 12.0))
    >>> chain.transition
    array([[1. , 0.5, 0. ],
           [0. , 1. , 1. ],
           [0. , 0. , 1. ]])
    >>> chain.state_noise, chain.observation_noise
    (array([12., 12., 12.]), 12.0)
    """
    sizes = np.asarray(layers, dtype=np.float64)
    group_sizes = sizes / sizes[-1]
    return Chain(
        _drifting(2 * sizes[1:] / sizes[:-1]),
        np.asarray(state_noise, dtype=np.float64) / group_sizes,
        float(observation_noise / group_sizes[0]),
        1 / group_sizes,
    )


def _drifting(couplings: ArrayLike) -> Matrix:
    """Return the transition of states that keep their value and drift by the next higher one."""
    return np.eye(np.size(couplings) + 1) + np.diag(np.asarray(couplings, dtype=np.float64), 1)


def transient_gains(chain: Chain) -> Matrix:
    """Return the gain of every frame until it converges; the last one is the steady gain.

    The Riccati recursion, which needs no data; it predicts before the first update.

    Examples
    --------
    >>> from kernova.audio.chains import chain_of_layers, transient_gains
    >>> transient_gains(chain_of_layers((96, 24, 12), 96.0, (96.0, 24.0, 12.0)))[-1].round(5)
    array([0.86221, 1.39078, 0.3712 ])
    """
    F, Q = chain.transition, np.diag(chain.state_noise)
    P = np.diag(chain.start)
    gains: list[Vector] = []
    for _ in range(_MAX_TRANSIENT):
        P = F @ P @ F.T + Q
        gain = P[:, 0] / (P[0, 0] + chain.observation_noise)
        P = P - np.outer(gain, P[0])
        P = (P + P.T) / 2  # rounding must not destroy the symmetry
        gains.append(gain)
        if len(gains) > 1 and (np.abs(gain - gains[-2]) <= _STEADY * np.abs(gain)).all():
            return np.array(gains)
    raise InputError(
        f"The gain has not converged after {_MAX_TRANSIENT} frames: observation_noise is too large "
        "relative to state_noise. Choose a smaller one."
    )


class _Recursion(NamedTuple):
    """A linear recursion ``s_t = A s_{t-1} + k y_t`` as one rational filter per state."""

    numerators: Matrix  # (depth, depth)
    denominator: Vector  # (depth + 1,)


def _recursion(A: Matrix, k: Vector, rows: Matrix) -> _Recursion:
    """Return the filters whose outputs are ``rows @ s_t``."""
    denominator = np.asarray(np.poly(A).real, dtype=np.float64)
    response = np.empty((len(rows), len(A)))
    state = k
    for t in range(len(A)):
        response[:, t] = rows @ state
        state = A @ state
    numerators = np.array([np.convolve(row, denominator)[: len(A)] for row in response])
    return _Recursion(numerators, denominator)


class ChainFilter(NamedTuple):
    """Gains and steady recursion of the filter of chains; they do not depend on the data."""

    transition: Matrix
    gains: Matrix
    steady: _Recursion

    @classmethod
    def of(cls, chain: Chain) -> "ChainFilter":
        """Compute the gains of a chain."""
        gains = transient_gains(chain)
        F, gain = chain.transition, gains[-1]
        A = F - np.outer(gain, F[0])
        return cls(F, gains, _recursion(A, gain, np.eye(len(F))))


class ChainMemory(NamedTuple):
    """State of a filter of chains between two blocks of frames."""

    # The states after the last frame, while the gain still changes; shape (depth, n_columns).
    states: Matrix
    # The memory of each state's recursion, once the gain is steady; shape (depth, depth, n_columns)
    # or None.
    delays: NDArray[np.float64] | None


def advance_chains(
    chains: ChainFilter, Y: Matrix, n_before: int, memory: ChainMemory
) -> tuple[NDArray[np.float64], ChainMemory]:
    """Filter the next frames; return the states, (depth, n_frames, n_columns), and the memory."""
    F, gains = chains.transition, chains.gains
    states, delays = memory
    filtered = np.empty((len(F), *Y.shape))
    # One gain per frame of the transient, which ends after some tens of frames.
    n_transient = min(max(len(gains) - n_before, 0), len(Y))
    for t in range(n_transient):
        predicted = F @ states
        states = predicted + gains[n_before + t][:, None] * (Y[t] - predicted[0])
        filtered[:, t] = states
    if n_transient < len(Y):
        numerators, denominator = chains.steady
        if delays is None:
            delays = _delays_after(states, chains)
        delays = delays.copy()
        for state, numerator in enumerate(numerators):
            filtered[state, n_transient:], delays[state] = lfilter(
                numerator, denominator, Y[n_transient:], axis=0, zi=delays[state]
            )
    return filtered, ChainMemory(states, delays)


def _delays_after(states: Matrix, chains: ChainFilter) -> NDArray[np.float64]:
    """Return the memory of each recursion that continues from these states.

    Without input, the outputs of a recursion are its memory filtered by 1 / denominator.
    """
    F, gain = chains.transition, chains.gains[-1]
    A = F - np.outer(gain, F[0])
    free = np.empty((len(F), *states.shape))  # frame, state, column
    for t in range(len(F)):
        states = A @ states
        free[t] = states
    return np.asarray(lfilter(chains.steady.denominator, [1.0], free, axis=0)).swapaxes(0, 1)


class _Smoother(NamedTuple):
    """Two recursions: forwards for the predictions, backwards over the innovations."""

    expected: _Recursion
    correction: _Recursion
    reach: int  # later frames that affect a level


@lru_cache(maxsize=64)
def _smoother(observation_noise: float, couplings: tuple[float, ...]) -> _Smoother:
    """Return the steady filter and its backward pass, both as filters of one output.

    The pass of Rauch, Tung and Striebel in the form of Bryson and Frazier: the adjoint state runs
    backwards over the innovations, and no filtered state has to be stored.
    """
    F = _drifting(couplings)
    level = np.eye(len(F))[0]
    P = solve_discrete_are(F.T, level[:, None], np.eye(len(F)), np.array([[observation_noise]]))
    variance = P[0, 0] + observation_noise
    forwards = F - np.outer(F @ P[:, 0] / variance, level)
    # The prediction of frame t uses the frames before it only: one more delay.
    expected = _recursion(forwards, F @ P[:, 0] / variance, level[None])
    delayed = _Recursion(np.pad(expected.numerators, ((0, 0), (1, 0))), expected.denominator)
    correction = _recursion(forwards.T, level / variance, P[:1])
    slowest = max(np.abs(np.linalg.eigvals(forwards)).max(), 1e-3)
    reach = int(np.ceil(np.log(_NEGLIGIBLE) / np.log(slowest)))
    return _Smoother(delayed, correction, reach)


def _apply(recursion: _Recursion, Y: Matrix, delays: Matrix) -> tuple[Matrix, Matrix]:
    """Apply the recursion of one output to all columns, from its last memory."""
    output, delays = lfilter(recursion.numerators[0], recursion.denominator, Y, axis=0, zi=delays)
    return output, delays


def smoothed_level_blocks(
    blocks: Iterable[ArrayLike],
    observation_noise: float = 10.0,
    couplings: Sequence[float] = _PAPER_COUPLINGS,
) -> Iterator[Matrix]:
    """Smooth a long sequence block by block, in constant memory.

    The output is as long as the input and lags behind it: the backward pass looks some hundred
    frames ahead, as far as later frames have an effect, so that blocks of any size give the same
    result as the whole sequence, to rounding.

    Parameters
    ----------
    blocks : iterable of array-like of shape (n_frames, n_columns)
        Consecutive parts of one sequence; empty parts are skipped.
    observation_noise : float, default=10.0
        Variance of the observations, in units of the variance that each state gains per frame.
    couplings : sequence of float, default=(0.5, 1.0)
        Factor of each higher state in the next lower one, that of the level first.

    Yields
    ------
    ndarray of shape (n_frames, n_columns)
        Smoothed levels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.chains import smoothed_level, smoothed_level_blocks
    >>> Y = np.random.default_rng(0).normal(size=(1000, 20))
    >>> pieces = list(smoothed_level_blocks([Y[:300], Y[300:]]))
    >>> bool(np.allclose(np.vstack(pieces), smoothed_level(Y), rtol=0, atol=1e-12))
    True
    """
    smoother = _checked_smoother(observation_noise, couplings)
    pieces = (Y for Y in map(_as_frames, blocks) if len(Y))
    first = next(pieces, None)
    if first is None:
        return
    # A constant is a fixed point of the chain: start at the first frame, at rest.
    origin = first[0].copy()
    delays = np.zeros((len(couplings) + 1, len(origin)))
    expected = innovation = np.empty((0, len(origin)))
    for Y in itertools.chain([first], pieces):
        forecast, delays = _apply(smoother.expected, Y - origin, delays)
        expected = np.concatenate([expected, forecast])
        innovation = np.concatenate([innovation, Y - origin - forecast])
        n_ready = len(expected) - smoother.reach
        if n_ready > 0:
            yield origin + _corrected(smoother, expected, innovation)[:n_ready]
            expected, innovation = expected[n_ready:], innovation[n_ready:]
    yield origin + _corrected(smoother, expected, innovation)


def _corrected(smoother: _Smoother, expected: Matrix, innovation: Matrix) -> Matrix:
    """Return the predictions, corrected by the innovations of this and all later frames."""
    rest = np.zeros((len(smoother.correction.denominator) - 1, expected.shape[1]))
    return expected + _apply(smoother.correction, innovation[::-1], rest)[0][::-1]


def smoothed_level(
    Y: ArrayLike,
    observation_noise: float = 10.0,
    couplings: Sequence[float] = _PAPER_COUPLINGS,
) -> Matrix:
    """Return the level of each column of a sequence, smoothed by a chain of states.

    A filter with constant gain, then the backward pass, so that the level does not lag. Before the
    first frame a column is assumed to be constant at its first value.

    Parameters
    ----------
    Y : array-like of shape (n_frames, n_columns)
        One row per frame.
    observation_noise : float, default=10.0
        Variance of the observations, in units of the variance that each state gains per frame.
    couplings : sequence of float, default=(0.5, 1.0)
        Factor of each higher state in the next lower one, that of the level first.

    Returns
    -------
    ndarray of shape (n_frames, n_columns)
        Smoothed levels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.chains import smoothed_level
    >>> steps = np.repeat([[0.0], [1.0]], 4, axis=0)
    >>> smoothed_level(steps).ravel().round(2)
    array([-0.01,  0.06,  0.17,  0.35,  0.6 ,  0.81,  0.98,  1.15])
    """
    Y = _as_frames(Y)
    if not len(Y):
        return Y
    # Blocks that fit into the cache take a quarter of the time.
    blocks = (Y[block] for block in cached_blocks(len(Y), Y.shape[1]))
    level = np.empty_like(Y)
    done = 0
    for piece in smoothed_level_blocks(blocks, observation_noise, couplings):
        level[done : done + len(piece)] = piece
        done += len(piece)
    return level


def _as_frames(Y: ArrayLike) -> Matrix:
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2:
        raise InputError(
            f"The frames have shape {Y.shape}; give one row per frame and one column per band."
        )
    if not np.isfinite(Y).all():
        raise InputError("The frames have values that are NaN or infinite.")
    return Y


def _checked_smoother(observation_noise: float, couplings: Sequence[float]) -> _Smoother:
    if not 0 < observation_noise < np.inf:
        raise InputError(
            f"observation_noise is {quoted(observation_noise)}; it must be a positive number."
        )
    if not all(0 < coupling < np.inf for coupling in couplings):
        raise InputError(
            f"couplings are {quoted(tuple(couplings))}; they must be positive numbers."
        )
    return _smoother(float(observation_noise), tuple(couplings))


# --- Kalman filter of any linear Gaussian model, frame by frame ----------------------------------

# Change of the covariance, as a correlation, below which it is taken to be constant.
_STEADY_COVARIANCE = 1e-14


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
    >>> from kernova.audio.chains import layered_model
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
    >>> from kernova.audio.chains import kalman_filter, layered_model
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
    return bool(
        (np.abs(after - before) <= _STEADY_COVARIANCE * np.outer(deviations, deviations)).all()
    )

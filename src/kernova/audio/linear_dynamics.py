"""Hierarchical linear dynamical system (HLDS): layers of states behind a sequence of frames.

Every layer drifts by the layer above it, and the lowest layer is observed in noise::

    z_t  = z_{t-1} + e
    x2_t = x2_{t-1} + B2 z_{t-1} + e
    x1_t = x1_{t-1} + B1 x2_{t-1} + e
    y_t  = H x1_t + e

A column of B is ``2 S / N`` on the ``N / S`` states of the lower layer that it drives. With H the
identity, the Kalman filter of all these states separates exactly into chains: the mean of each
group of frame columns below one state of the top layer follows a chain through all layers; the
deviations of the groups of the layer below from that mean follow a chain without the top; and so on
down. All chains of one depth share their gains. With any other H, the filter of all states
(:mod:`kernova.audio.chains`) is used.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.audio.chains import (
    ChainFilter,
    ChainMemory,
    advance_chains,
    chain_of_layers,
    kalman_filter,
    layered_model,
)
from kernova.errors import InputError, quoted
from kernova.parallel import cached_blocks
from kernova.typing import Matrix, Vector

Output = Literal["top", "level", "all"]

_OUTPUTS = ("top", "level", "all")
# Sums over layers and frames stay finite up to here.
_LARGEST_INPUT = 1e300


def layers_for(n_states: int) -> tuple[int, int, int]:
    """Return the paper's three layers for any number of states of the first.

    The second layer joins states in fours, the third joins those in twos; a layer whose size is not
    divisible joins nothing.

    Examples
    --------
    >>> from kernova.audio.linear_dynamics import layers_for
    >>> layers_for(96), layers_for(20), layers_for(7)
    ((96, 24, 12), (20, 5, 5), (7, 7, 7))
    """
    middle = n_states if n_states % 4 else n_states // 4
    return n_states, middle, middle if middle % 2 else middle // 2


class FilterState(NamedTuple):
    """State of the filter between two blocks; its size does not grow with the sequence."""

    n_frames: int  # number of frames so far
    # Memory of the chains of each depth, shallow to deep; empty with an observation matrix.
    chains: tuple[ChainMemory, ...]
    # Expected states of all layers, with an observation matrix; shape (n_states,) or None.
    mean: Vector | None = None
    covariance: Matrix | None = None  # their covariance; shape (n_states, n_states) or None
    gain: Matrix | None = None  # the gain, once it is constant; shape (n_states, n_columns) or None


class Advance(NamedTuple):
    """Filtered states of a block of frames, and the state of the filter after it."""

    states: Matrix
    state: FilterState


class HierarchicalLinearDynamics(TransformerMixin, BaseEstimator):
    """Filter a sequence of frames by a hierarchical linear dynamical system (HLDS).

    Rows are frames in order of time. Each frame is transformed to the filtered states of the
    layers: the exact Kalman filter, with the gain of every frame until it is constant. The lowest
    layer follows the level of each column, the next one the slope of each group, and the top layer
    of three is a smoothed second difference: it is zero for constants and ramps, so that a steady
    tone does not show in it.

    Parameters
    ----------
    layers : sequence of int, optional
        States per layer: one for each column of a frame (or of ``observation``) first, each number
        a divisor of the one before. By default three layers, which join states in groups of
        four and those in pairs, if divisible: (96, 24, 12) for the 96 columns of the paper.
    output : {"top", "level", "all"}, default="top"
        Layers to return: the last, the first, or all of them, the last first.
    observation_noise : float, default=1.0
        Factor on the variance of the observations, which is the number of columns times this. A
        larger one smooths more.
    state_noise : sequence of float, optional
        Variance that a state of each layer gains per frame; by default the layer's size.
    observation : array-like of shape (n_columns, n_states), optional
        Observation matrix H from the states of the first layer to the columns of a frame. By
        default the identity, for which the filter is much faster.

    Attributes
    ----------
    layers_ : tuple of int
        States per layer.
    state_noise_ : tuple of float
        Variance that a state of each layer gains per frame.
    observation_noise_ : float
        Variance of the observations.
    observation_ : ndarray of shape (n_columns, n_states) or None
        The observation matrix; None for the identity.
    gain_ : ndarray of shape (n_layers,)
        Steady gain of the deepest chains, top layer first; only without ``observation``.
    n_transient_ : int
        Number of frames until every gain is steady; only without ``observation``.
    n_features_in_ : int
        Number of columns of a frame.
    feature_names_in_ : ndarray of str
        Names of the columns, if ``fit`` was given a DataFrame.

    See Also
    --------
    kernova.audio.chains.smoothed_level : the level of each column, smoothed both ways.
    kernova.audio.chains.kalman_filter : the filter of any linear model.

    Notes
    -----
    Only the number of columns is learnt from the data. The filter starts at 0, with variance 1, and
    predicts before its first update.

    An observation matrix with a rank below the number of states of the first layer leaves
    combinations of states unobserved. Their variance grows with every frame, and so do rounding
    errors: against 60-digit arithmetic they were 1e-14 of the largest state after 12 frames and
    1e-9 after 120; in one random trial two filters differed by 1e-5 after 60.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.linear_dynamics import HierarchicalLinearDynamics
    >>> frames = np.random.default_rng(0).random((500, 96))
    >>> model = HierarchicalLinearDynamics().fit(frames)
    >>> model.layers_, model.transform(frames).shape
    ((96, 24, 12), (500, 12))

    Hours of frames come in blocks of any size:

    >>> state = model.start()
    >>> first, state = model.advance(frames[:300], state)
    >>> second, state = model.advance(frames[300:], state)
    >>> bool((np.vstack([first, second]) == model.transform(frames)).all())
    True

    Columns that are mixtures of the states of the first layer have an observation matrix:

    >>> H = np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 0.5, 1.0, 0.0], [0.0, 0.0, 0.5, 1.0]])
    >>> mixed = HierarchicalLinearDynamics(observation=H, output="level").fit(frames[:, :3])
    >>> mixed.layers_, mixed.transform(frames[:, :3]).shape
    ((4, 1, 1), (500, 4))
    """

    # Models saved before these existed have neither; both are then the identity.
    observation: ArrayLike | None = None
    observation_: Matrix | None = None

    def __init__(
        self,
        layers: Sequence[int] | None = None,
        output: Output = "top",
        observation_noise: float = 1.0,
        state_noise: Sequence[float] | None = None,
        observation: ArrayLike | None = None,
    ) -> None:
        self.layers = layers
        self.output = output
        self.observation_noise = observation_noise
        self.state_noise = state_noise
        self.observation = observation

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Rows are a sequence: the result depends on their order. scikit-learn has no tag for that;
        # this one keeps its checks from shuffling rows and has no other effect.
        tags.non_deterministic = True
        return tags

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compute the layers and their gains; only the number of columns is used.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_columns)
            Frames.
        y : ignored
            Present for the scikit-learn API.

        Returns
        -------
        HierarchicalLinearDynamics
            The model itself.
        """
        X = _within_range(validate_data(self, X, dtype=np.float64))
        self._check_parameters()
        n_columns = self.n_features_in_
        self.observation_ = self._observation_of(n_columns)
        self.layers_ = _checked_layers(self.layers, n_columns, self.observation_)
        self.state_noise_ = _checked_noise(self.state_noise, self.layers_)
        self.observation_noise_ = float(self.observation_noise * n_columns)
        if self.observation_ is None:
            filters = self._filters()
            self.gain_ = filters[-1].gains[-1][::-1].copy()
            self.n_transient_ = max(len(chains.gains) for chains in filters)
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Filter a whole sequence from its beginning.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_columns)
            Frames in order of time.

        Returns
        -------
        ndarray of shape (n_frames, n_features_out)
            The states of the layers of ``output``.
        """
        check_is_fitted(self)
        return self.advance(X, self.start()).states

    def start(self) -> FilterState:
        """Return the state before the first frame of a sequence."""
        check_is_fitted(self)
        if self.observation_ is not None:
            n_states = sum(self.layers_)
            return FilterState(0, (), np.zeros(n_states), np.eye(n_states))
        chains = tuple(
            ChainMemory(np.zeros((depth, size)), None)
            for depth, size in enumerate(self.layers_, start=1)
        )
        return FilterState(0, chains)

    def advance(self, X: ArrayLike, state: FilterState) -> Advance:
        """Filter the next frames of a sequence.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_columns)
            The frames that follow.
        state : FilterState
            State after the last block; :meth:`start` returns the first.

        Returns
        -------
        Advance
            The states of the layers of ``output``, and the state of the filter after them.
        """
        check_is_fitted(self)
        # A recording that is shorter than a frame has no frames.
        Y = validate_data(self, X, dtype=np.float64, reset=False, ensure_min_samples=0)
        _within_range(Y)
        wanted = _wanted_layers(self.output, len(self.layers_))
        if self.observation_ is not None:
            return self._advance_all_states(Y, state, wanted)
        filtered = np.empty((len(Y), sum(self.layers_[layer] for layer in wanted)))
        # Blocks that fit into the cache take a third of the time; the result is the same.
        for block in cached_blocks(len(Y), Y.shape[1]):
            filtered[block], state = _advance_layers(
                self.layers_, self._filters(), Y[block], state, wanted
            )
        return Advance(filtered, state)

    def transform_blocks(self, blocks: Iterable[ArrayLike]) -> Iterator[Matrix]:
        """Filter one sequence that comes in blocks.

        Parameters
        ----------
        blocks : iterable of array-like of shape (n_frames, n_columns)
            Consecutive parts of the sequence.

        Yields
        ------
        ndarray of shape (n_frames, n_features_out)
            The rows of :meth:`transform` of the whole sequence for these frames.
        """
        state = self.start()
        for block in blocks:
            states, state = self.advance(block, state)
            yield states

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the columns of ``transform``.

        Parameters
        ----------
        input_features : ignored
            A state belongs to no single column.

        Returns
        -------
        ndarray of str
            ``layer3_0`` is the first state of the third layer.
        """
        check_is_fitted(self)
        wanted = _wanted_layers(self.output, len(self.layers_))
        names = [f"layer{i + 1}_{j}" for i in reversed(wanted) for j in range(self.layers_[i])]
        return np.array(names, dtype=object)

    def _observation_of(self, n_columns: int) -> Matrix | None:
        return None if self.observation is None else _checked_matrix(self.observation, n_columns)

    def _advance_all_states(self, Y: Matrix, state: FilterState, wanted: range) -> Advance:
        model = layered_model(
            self.layers_,
            observation=self.observation_,
            observation_noise=self.observation_noise_ / Y.shape[1],
            state_noise=self.state_noise_,
        )
        means, mean, covariance, gain = kalman_filter(
            Y, model, mean=state.mean, covariance=state.covariance, gain=state.gain
        )
        sizes = self.layers_[::-1]  # the states of the last layer stand first
        last = len(sizes) - wanted[0]
        first = len(sizes) - 1 - wanted[-1]
        columns = slice(sum(sizes[:first]), sum(sizes[:last]))
        after = FilterState(state.n_frames + len(Y), (), mean, covariance, gain)
        return Advance(means[:, columns], after)

    def _filters(self) -> tuple[ChainFilter, ...]:
        return _chain_filters(self.layers_, self.observation_noise_, self.state_noise_)

    def _check_parameters(self) -> None:
        if self.output not in _OUTPUTS:
            raise InputError(
                f"output is {quoted(self.output)}; choose one of {', '.join(_OUTPUTS)}."
            )
        noise = self.observation_noise
        if not (isinstance(noise, Real) and 0 < noise < np.inf):
            raise InputError(f"observation_noise is {quoted(noise)}; it must be a positive number.")


@lru_cache(maxsize=64)
def _chain_filters(
    layers: tuple[int, ...], observation_noise: float, state_noise: tuple[float, ...]
) -> tuple[ChainFilter, ...]:
    """Return the filters of the chains of each depth, shallow to deep."""
    return tuple(
        ChainFilter.of(chain_of_layers(layers[:depth], observation_noise, state_noise[:depth]))
        for depth in range(1, len(layers) + 1)
    )


def _advance_layers(
    layers: Sequence[int],
    filters: Sequence[ChainFilter],
    Y: Matrix,
    state: FilterState,
    wanted: range,
) -> Advance:
    """Filter the next frames, and return the wanted layers, the last layer first.

    The states of a layer are the sum over the chains of its own and every greater depth.
    """
    means = {depth: _group_means(Y, layers[depth]) for depth in range(wanted[0], len(layers))}
    layered = {layer: np.zeros((len(Y), layers[layer])) for layer in reversed(wanted)}
    memories = list(state.chains)
    for depth, own in means.items():  # shallower chains do not reach a wanted layer
        if depth + 1 < len(layers):
            own = own - _spread(means[depth + 1], layers[depth])
        found, memories[depth] = advance_chains(
            filters[depth], own, state.n_frames, memories[depth]
        )
        for layer, states in layered.items():
            if layer <= depth:
                states += _spread(found[layer], layers[layer])
    return Advance(
        np.hstack(list(layered.values())), FilterState(state.n_frames + len(Y), tuple(memories))
    )


def _group_means(Y: Matrix, n_groups: int) -> Matrix:
    if n_groups == Y.shape[1]:
        return Y
    return np.asarray(Y.reshape(len(Y), n_groups, Y.shape[1] // n_groups).mean(axis=2))


def _spread(states: Matrix, n_columns: int) -> Matrix:
    """Return the value of its state for every column below it."""
    return np.repeat(states, n_columns // states.shape[1], axis=1)


def _within_range(rows: Matrix) -> Matrix:
    """Return the rows; raise for numbers that overflow once they are added up over layers."""
    largest = float(np.abs(rows).max(initial=0.0))
    if largest > _LARGEST_INPUT:
        raise InputError(
            f"The largest number is {largest:.3g}; the filter takes numbers up to "
            f"{_LARGEST_INPUT:g}. Rescale the columns, or correct it."
        )
    return rows


def _wanted_layers(output: Output, n_layers: int) -> range:
    everything = range(n_layers)
    return {"top": everything[-1:], "level": everything[:1], "all": everything}[output]


def _checked_matrix(observation: ArrayLike, n_columns: int) -> Matrix:
    try:
        H = np.array(observation, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"observation must be a matrix of numbers; got {type(observation).__name__}."
        ) from error
    if H.ndim != 2 or len(H) != n_columns or not H.shape[1]:
        raise InputError(
            f"observation has shape {H.shape}, but frames have {n_columns} columns; give one row "
            "for each of them and one column for each state of the first layer."
        )
    if not np.isfinite(H).all():
        raise InputError("observation has values that are NaN or infinite; correct them.")
    return H


def _checked_layers(
    layers: Sequence[int] | None, n_columns: int, observation: Matrix | None
) -> tuple[int, ...]:
    n_states = n_columns if observation is None else observation.shape[1]
    if layers is None:
        return layers_for(n_states)
    sizes = tuple(layers)
    if not sizes or not all(isinstance(size, Integral) and size > 0 for size in sizes):
        raise InputError(f"layers are {quoted(layers)}; give one positive number or more.")
    if sizes[0] != n_states:
        owner = "frames have" if observation is None else "observation has"
        raise InputError(
            f"layers are {quoted(layers)}, but {owner} {n_states} columns; the first layer must "
            "have as many."
        )
    for lower, upper in pairwise(sizes):
        if lower % upper:
            raise InputError(
                f"layers are {quoted(layers)}, but {upper} does not divide {lower}; each layer "
                "must divide the one before."
            )
    return tuple(int(size) for size in sizes)


def _checked_noise(
    state_noise: Sequence[float] | None, layers: tuple[int, ...]
) -> tuple[float, ...]:
    if state_noise is None:
        return tuple(float(size) for size in layers)
    noise = tuple(float(value) for value in state_noise)
    if len(noise) != len(layers) or not all(0 < value < np.inf for value in noise):
        raise InputError(
            f"state_noise is {quoted(state_noise)}; give one positive number for each of the "
            f"{len(layers)} layers."
        )
    return noise

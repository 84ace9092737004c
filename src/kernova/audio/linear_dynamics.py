"""The hierarchical linear dynamical system (HLDS): layers of states behind a sequence of frames.

Every layer drifts by what the layer above it says, and the lowest layer is what we see in noise::

    z_t  = z_{t-1} + e
    x2_t = x2_{t-1} + B2 z_{t-1} + e
    x1_t = x1_{t-1} + B1 x2_{t-1} + e
    y_t  = x1_t + e

A column of B is ``2 S / N`` on the ``N / S`` states of the lower layer that it drives. The Kalman
filter of all these states falls apart, without loss, into chains: the mean of each group of frame
columns below one state of the top layer follows a chain through all layers; what the groups of
the layer below differ from that mean follows a chain that lacks the top; and so on down. All
chains of one depth share their gains.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova.audio.chains import ChainFilter, ChainMemory, advance_chains, chain_of_layers
from kernova.errors import InputError
from kernova.parallel import cached_blocks
from kernova.typing import Matrix

Output = Literal["top", "level", "all"]

OUTPUTS = ("top", "level", "all")


def layers_for(n_columns: int) -> tuple[int, int, int]:
    """Give the paper's three layers for frames of any width.

    The second layer joins columns in fours, the third joins those in twos; a layer that does not
    divide so joins nothing.

    Examples
    --------
    >>> from kernova.audio.linear_dynamics import layers_for
    >>> layers_for(96), layers_for(20), layers_for(7)
    ((96, 24, 12), (20, 5, 5), (7, 7, 7))
    """
    middle = n_columns if n_columns % 4 else n_columns // 4
    return n_columns, middle, middle if middle % 2 else middle // 2


class FilterState(NamedTuple):
    """Where a filter stands between two blocks of frames; as large for an hour as for a second.

    Attributes
    ----------
    n_frames : int
        Frames seen so far.
    chains : tuple of ChainMemory
        The memory of each depth's chains, shallow to deep.
    """

    n_frames: int
    chains: tuple[ChainMemory, ...]


class Advance(NamedTuple):
    """What a block of frames became, and where the filter stands behind it."""

    states: Matrix
    state: FilterState


class HierarchicalLinearDynamics(TransformerMixin, BaseEstimator):
    """Filter a sequence of frames by a hierarchical linear dynamical system (HLDS).

    Rows are frames in order of time. Each frame becomes the filtered states of the layers behind
    it: the exact Kalman filter, with the gain of every frame until it no longer changes. The
    lowest layer follows the level of each column, the next one the slope of each group, and the
    top layer of three is a smoothed second difference: it is blind to constants and ramps, so
    that a steady tone does not show in it.

    Parameters
    ----------
    layers : sequence of int, optional
        States per layer: the columns of a frame first, each number a divisor of the one before.
        By default three layers that join columns in fours and those in twos, where they divide:
        (96, 24, 12) for the 96 columns of the paper.
    output : {"top", "level", "all"}, default="top"
        Which layers to give: the last, the first, or all of them, the last first.
    observation_noise : float, default=1.0
        Factor on the variance of the observations, which is ``layers[0]`` times this. A larger
        one smooths more.
    state_noise : sequence of float, optional
        Variance that a state of each layer gains per frame; by default the layer's size.

    Attributes
    ----------
    layers_ : tuple of int
        States per layer.
    state_noise_ : tuple of float
        Variance that a state of each layer gains per frame.
    observation_noise_ : float
        Variance of what is seen around a state of the first layer.
    gain_ : ndarray of shape (n_layers,)
        The steady gain of the deepest chains, top layer first.
    n_transient_ : int
        Frames until every gain is steady.
    n_features_in_ : int
        Columns of a frame.
    feature_names_in_ : ndarray of str
        Their names, if ``fit`` saw a DataFrame.

    See Also
    --------
    kernova.audio.chains.smoothed_level : the level of each column, smoothed both ways.
    kernova.audio.kalman.kalman_filter : the filter for any observation matrix.

    Notes
    -----
    Nothing is learnt from data but the number of columns. The filter starts at 0, with variance
    1, and predicts before its first update.

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
    """

    def __init__(
        self,
        layers: Sequence[int] | None = None,
        output: Output = "top",
        observation_noise: float = 1.0,
        state_noise: Sequence[float] | None = None,
    ) -> None:
        self.layers = layers
        self.output = output
        self.observation_noise = observation_noise
        self.state_noise = state_noise

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Work out the layers and their gains; only the number of columns is looked at.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_columns)
            Frames.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        HierarchicalLinearDynamics
            The model itself.
        """
        X = validate_data(self, X, dtype=np.float64)
        self._check_parameters()
        self.layers_ = _checked_layers(self.layers, self.n_features_in_)
        self.state_noise_ = _checked_noise(self.state_noise, self.layers_)
        self.observation_noise_ = float(self.observation_noise * self.layers_[0])
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
            The states asked for by ``output``.
        """
        check_is_fitted(self)
        return self.advance(X, self.start()).states

    def start(self) -> FilterState:
        """Give the state before the first frame of a sequence."""
        check_is_fitted(self)
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
            Where the last block left the filter; :meth:`start` gives the first.

        Returns
        -------
        Advance
            The states asked for by ``output``, and where the filter stands now.
        """
        check_is_fitted(self)
        # A recording that is shorter than a frame has none; that is no mistake.
        Y = validate_data(self, X, dtype=np.float64, reset=False, ensure_min_samples=0)
        wanted = _wanted_layers(self.output, len(self.layers_))
        filtered = np.empty((len(Y), sum(self.layers_[layer] for layer in wanted)))
        # Blocks that stay in the cache take a third of the time, and change no bit.
        for block in cached_blocks(len(Y), Y.shape[1]):
            filtered[block], state = advance_layers(
                self.layers_, self._filters(), Y[block], state, wanted
            )
        return Advance(filtered, state)

    def transform_blocks(self, blocks: Iterable[ArrayLike]) -> Iterator[Matrix]:
        """Filter one sequence that comes in blocks.

        Parameters
        ----------
        blocks : iterable of array-like of shape (n_frames, n_columns)
            Pieces of the sequence, in order.

        Yields
        ------
        ndarray of shape (n_frames, n_features_out)
            What :meth:`transform` would give for these frames within the whole.
        """
        state = self.start()
        for block in blocks:
            states, state = self.advance(block, state)
            yield states

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's sake: a state belongs to no single column.

        Returns
        -------
        ndarray of str
            ``layer3_0`` is the first state of the third layer.
        """
        check_is_fitted(self)
        wanted = _wanted_layers(self.output, len(self.layers_))
        names = [f"layer{i + 1}_{j}" for i in reversed(wanted) for j in range(self.layers_[i])]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Rows are a sequence: shuffled or alone they mean something else. scikit-learn has no tag
        # for that; this one keeps its checks from shuffling rows and changes nothing else.
        tags.non_deterministic = True
        return tags

    def _filters(self) -> tuple[ChainFilter, ...]:
        return chain_filters(self.layers_, self.observation_noise_, self.state_noise_)

    def _check_parameters(self) -> None:
        if self.output not in OUTPUTS:
            raise InputError(f"output is {self.output!r}; choose one of {', '.join(OUTPUTS)}.")
        noise = self.observation_noise
        if not (isinstance(noise, Real) and 0 < noise < np.inf):
            raise InputError(f"observation_noise is {noise!r}; it must be a positive number.")


@lru_cache(maxsize=64)
def chain_filters(
    layers: tuple[int, ...], observation_noise: float, state_noise: tuple[float, ...]
) -> tuple[ChainFilter, ...]:
    """Give the filters of the chains of each depth, shallow to deep; they depend on no data."""
    return tuple(
        ChainFilter.of(chain_of_layers(layers[:depth], observation_noise, state_noise[:depth]))
        for depth in range(1, len(layers) + 1)
    )


def advance_layers(
    layers: Sequence[int],
    filters: Sequence[ChainFilter],
    Y: Matrix,
    state: FilterState,
    wanted: range,
) -> Advance:
    """Filter the next frames and put the wanted layers together, the last layer first.

    A layer's states are the sum of what the chains of its own and every greater depth say.
    """
    means = {depth: _group_means(Y, layers[depth]) for depth in range(wanted[0], len(layers))}
    layered = {layer: np.zeros((len(Y), layers[layer])) for layer in reversed(wanted)}
    memories = list(state.chains)
    for depth, own in means.items():  # chains less deep do not reach up to a wanted layer
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
    """Give every column below a state that state's value."""
    return np.repeat(states, n_columns // states.shape[1], axis=1)


def _wanted_layers(output: Output, n_layers: int) -> range:
    everything = range(n_layers)
    return {"top": everything[-1:], "level": everything[:1], "all": everything}[output]


def _checked_layers(layers: Sequence[int] | None, n_columns: int) -> tuple[int, ...]:
    if layers is None:
        return layers_for(n_columns)
    sizes = tuple(layers)
    if not sizes or not all(isinstance(size, Integral) and size > 0 for size in sizes):
        raise InputError(f"layers are {layers!r}; give one positive number or more.")
    if sizes[0] != n_columns:
        raise InputError(
            f"layers are {layers!r}, but frames have {n_columns} columns; the first layer must "
            "have as many."
        )
    for lower, upper in pairwise(sizes):
        if lower % upper:
            raise InputError(
                f"layers are {layers!r}, but {upper} does not divide {lower}; each layer must "
                "divide the one before."
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
            f"state_noise is {state_noise!r}; give one positive number for each of the "
            f"{len(layers)} layers."
        )
    return noise

"""Candidate notes: intervals of a recording that are similar to a known class.

Intervals that overlap share their frames. The inner product of an interval's row with a known row
is a sum over the sampled frames: these products are computed once for each frame (one matrix
product) and are then only added, at offsets that are the same for every start. No row is ever
written out. :func:`best_nonoverlapping` chooses among candidates that overlap.
"""

from array import array
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError
from kernova.notes.features import FeatureSettings, floor_level, sampled_frames
from kernova.parallel import slices
from kernova.typing import Indices, Matrix, Single

# Intervals begin at every second frame.
_STEP = 2
_N_LENGTHS = 24
# Limits of the lengths, relative to the shortest and to the longest known note.
_SHORTER, _LONGER = 0.85, 1.18
# Starts per block, few enough for the processor's cache.
_STARTS_PER_BLOCK = 512
# Intervals whose mean level above the floor is lower are silence.
_SILENCE = 1.0

# Candidates that are converted to Python numbers at one time.
_CANDIDATES_PER_BLOCK = 1 << 16


class Candidates(NamedTuple):
    """Intervals that are similar to a known class, in frames."""

    starts: Indices
    stops: Indices
    codes: Indices
    similarity: Matrix


class KnownRows(Protocol):
    """Known rows, and the scorer of distances to them."""

    @property
    def rows(self) -> Matrix:
        """Weighted rows."""

    @property
    def weights(self) -> Matrix:
        """Factors of the columns."""

    @property
    def typical_scores(self) -> Matrix:
        """Typical score of a class's own notes."""

    def scorer(self) -> Callable[[Single], Single]:
        """Return the function from squared distances to all rows to a score for each class."""


class _Measure(NamedTuple):
    """Known rows in the layout of the search, and the scorer of distances to them."""

    by_position: Single  # (n_positions, n_bands, n_rows): known rows
    weights: Single  # of bands
    row_sums: Single  # of weights times known row
    squares: Single  # of known rows, without their durations
    durations: Matrix  # last column of known rows
    scores: Callable[[Single], Single]  # from squared distances, a column for each class
    typical_scores: Single


class _Products(NamedTuple):
    """Sums over the bands of each frame of a block, of which rows are made.

    The first axis is the frame number modulo ``_STEP``, so that the frames of intervals that begin
    ``_STEP`` frames apart are adjacent in memory.
    """

    with_rows: Single  # (_STEP, n_positions, n_frames / _STEP, n_rows)
    sums: Single  # (_STEP, 3, n_frames / _STEP): levels, their weighted sum, their weighted squares


def note_lengths(n_frames_of_notes: Indices) -> Indices:
    """Return the lengths of the candidates, evenly spaced by ratio."""
    shortest = max(_SHORTER * n_frames_of_notes.min(), 1.0)
    longest = max(_LONGER * n_frames_of_notes.max(), shortest)
    return np.unique(np.rint(np.geomspace(shortest, longest, _N_LENGTHS)).astype(np.intp))


def note_candidates(
    levels: Matrix,
    known: KnownRows,
    lengths: Indices,
    settings: FeatureSettings,
    *,
    min_similarity: float,
) -> Candidates:
    """Find the intervals whose similarity to a class is at least ``min_similarity``.

    Parameters
    ----------
    levels : array of shape (n_frames, n_bands)
        Levels of the recording from :func:`kernova.notes.features.levels_above`.
    known : KnownRows
    lengths : array of shape (n_lengths,)
        In frames.
    settings : FeatureSettings
    least_likeness : float
        Intervals below it are left out.
    """
    measure = _measure(known, settings)
    none = np.empty(0, np.intp)
    found = [Candidates(none, none, none, np.empty(0))]
    step = _STARTS_PER_BLOCK * _STEP
    offsets = sampled_frames(lengths, settings.n_positions).tolist()
    loud = np.concatenate([[0.0], np.cumsum(levels.mean(axis=1) - floor_level(settings))])
    for first in range(0, len(levels), step):
        piece = levels[first : first + step + int(lengths.max())]
        if len(piece) < lengths.min() or _is_silent(loud, first, len(piece), int(lengths.min())):
            continue
        products = _products(piece.astype(np.float32), measure)
        for length, at_frames in zip(lengths.tolist(), offsets, strict=True):
            starts = np.arange(0, min(step, len(piece) - length + 1), _STEP)
            at = first + starts
            is_loud = loud[at + length] - loud[at] > _SILENCE * length
            if is_loud.any():
                squared = _squared_distances(products, len(starts), at_frames, measure)
                squared += _squared_durations(length, measure, settings)
                found.append(
                    _likely(at[is_loud], length, squared[is_loud], measure, min_similarity)
                )
    return Candidates(*[np.concatenate(column) for column in zip(*found, strict=True)])


def best_nonoverlapping(starts: ArrayLike, stops: ArrayLike, gains: ArrayLike) -> Indices:
    """Choose intervals without overlap whose gains have the largest sum.

    Weighted interval scheduling: exact, in O(n log n). An interval may start where another stops.
    Intervals without gain are never chosen. Ties are resolved for the choice whose last interval
    stops first, and so on backwards; of equal intervals, the first is chosen.

    Parameters
    ----------
    starts, stops : array-like of shape (n,)
        Borders of each interval, in frames or in seconds.
    gains : array-like of shape (n,)
        Gain of each interval.

    Returns
    -------
    ndarray of int
        Indices of the chosen intervals, in order of time.

    Examples
    --------
    >>> from kernova.notes.candidates import best_nonoverlapping
    >>> best_nonoverlapping([0, 4, 5], [5, 9, 9], [2.0, 3.5, 2.0])
    array([0, 2])
    """
    starts, stops, gains = _checked_intervals(starts, stops, gains)
    useful = np.flatnonzero(gains > 0)
    order = useful[np.argsort(stops[useful], kind="stable")]
    # Number of intervals, in order of their stops, that end before this one starts.
    n_before = np.searchsorted(stops[order], starts[order], side="right")
    best = _best_sums(n_before, gains[order])
    return order[_chosen(n_before, best)]


def _measure(known: KnownRows, settings: FeatureSettings) -> _Measure:
    n_bands = (known.rows.shape[1] - 1) // settings.n_positions
    rows = known.rows
    seen = rows[:, :-1]
    by_position = seen.reshape(len(rows), settings.n_positions, n_bands).transpose(1, 2, 0)
    single = np.float32
    return _Measure(
        by_position=np.ascontiguousarray(by_position, dtype=single),
        weights=known.weights[:n_bands].astype(single),
        row_sums=(seen @ known.weights[:-1]).astype(single),
        squares=np.einsum("ij,ij->i", seen, seen).astype(single),
        durations=rows[:, -1],
        scores=known.scorer(),
        typical_scores=known.typical_scores.astype(single),
    )


def _is_silent(loud: Matrix, first: int, n_frames: int, shortest: int) -> bool:
    """Return whether no interval of the shortest length is loud enough in a block."""
    sums = loud[first : first + n_frames + 1]
    return bool(((sums[shortest:] - sums[:-shortest]) <= _SILENCE * shortest).all())


def _products(piece: Single, measure: _Measure) -> _Products:
    n_apart = -(-len(piece) // _STEP)
    piece = np.pad(piece, ((0, n_apart * _STEP - len(piece)), (0, 0)), mode="edge")
    apart = np.ascontiguousarray(piece.reshape(n_apart, _STEP, -1).transpose(1, 0, 2))
    weighted = apart * measure.weights
    sums = [
        apart.sum(axis=2),
        weighted @ measure.weights,
        np.einsum("ijk,ijk->ij", weighted, weighted),
    ]
    return _Products(np.matmul(weighted[:, None], measure.by_position), np.stack(sums, axis=1))


def _squared_distances(
    products: _Products, n_starts: int, at_frames: list[int], measure: _Measure
) -> Single:
    """Return |row - known row|^2, without durations, of intervals from every second frame on.

    A row is w (x - m), with m the mean of its levels x: hence |row|^2 = |wx|^2 - 2m w.wx + m^2|w|^2
    and row.known = x.(w known) - m w.known.
    """
    last = products.sums.shape[2] - n_starts
    shared = np.zeros((n_starts, len(measure.row_sums)), np.float32)
    sums = np.zeros((3, n_starts), np.float32)
    for position, offset in enumerate(at_frames):
        begin, phase = divmod(offset, _STEP)
        begin = min(begin, last)
        shared += products.with_rows[phase, position, begin : begin + n_starts]
        sums += products.sums[phase, :, begin : begin + n_starts]
    plain, weighted, squares = sums
    mean = plain / (len(at_frames) * len(measure.weights))
    weight = len(at_frames) * float(measure.weights @ measure.weights)
    own = squares - 2 * mean * weighted + mean**2 * weight
    shared -= mean[:, None] * measure.row_sums
    shared *= -2
    shared += own[:, None]
    shared += measure.squares
    return np.maximum(shared, 0, out=shared)


def _squared_durations(length: int, measure: _Measure, settings: FeatureSettings) -> Single:
    apart = settings.duration_weight * np.log(length) - measure.durations
    return np.asarray(apart**2, dtype=np.float32)


def _likely(
    starts: Indices, length: int, squared: Single, measure: _Measure, least: float
) -> Candidates:
    """Return the intervals that are similar enough to a class."""
    scores = measure.scores(squared)
    codes = scores.argmax(axis=1)
    similarity = scores[np.arange(len(codes)), codes] / measure.typical_scores[codes]
    kept = similarity >= least
    starts = starts[kept]
    return Candidates(starts, starts + length, codes[kept], similarity[kept].astype(np.float64))


def _best_sums(n_before: Indices, gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest sum among the first 0, 1, 2, ... intervals.

    Each sum needs earlier ones, so this is a loop over plain numbers. It takes less time than
    sorting the intervals.
    """
    sums = array("d", bytes(8 * (len(gains) + 1)))
    largest, i = 0.0, 0
    for block in slices(len(gains), _CANDIDATES_PER_BLOCK):
        for before, gain in zip(n_before[block].tolist(), gains[block].tolist(), strict=True):
            with_this = sums[before] + gain
            if with_this > largest:
                largest = with_this
            i += 1
            sums[i] = largest
    return np.frombuffer(sums, dtype=np.float64)


def _chosen(n_before: Indices, best: NDArray[np.float64]) -> Indices:
    """Return the intervals of the best sum, from the last one that raised it backwards."""
    raises = np.flatnonzero(best[1:] > best[:-1])
    # For each count of intervals, the last among them that raised the sum.
    n_raises = np.searchsorted(raises, np.arange(len(best)))
    chosen: list[int] = []
    count = len(best) - 1
    while n_raises[count]:
        last = int(raises[n_raises[count] - 1])
        chosen.append(last)
        count = int(n_before[last])
    return np.array(chosen[::-1], dtype=np.intp)


def _checked_intervals(
    starts: ArrayLike, stops: ArrayLike, gains: ArrayLike
) -> tuple[NDArray[np.number], NDArray[np.number], NDArray[np.float64]]:
    starts, stops = np.asarray(starts), np.asarray(stops)
    gains = np.asarray(gains, dtype=np.float64)
    if not (starts.ndim == 1 and starts.shape == stops.shape == gains.shape):
        raise InputError(
            f"Intervals have starts, stops and gains of shapes {starts.shape}, {stops.shape} and "
            f"{gains.shape}; give three lists of one length."
        )
    if not all(np.isfinite(values).all() for values in (starts, stops, gains)):
        raise InputError("Intervals have starts, stops or gains that are NaN or infinite.")
    if not (starts < stops).all():
        i = int((starts >= stops).argmax())
        raise InputError(
            f"Interval {i} starts at {starts[i]} and stops at {stops[i]}; it must stop later than "
            "it starts."
        )
    return starts, stops, gains

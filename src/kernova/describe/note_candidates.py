"""Every stretch of a recording that might be a note, and the class that it is most like.

Stretches that overlap share their frames. What a row shares with a known one is a sum over its
moments of one frame's levels times the known row's: these products are made once for each frame
(one matrix product) and are then only added, at offsets that are the same for every start. No row
is ever written out.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.describe.note_description import NoteDescription
from kernova.represent.note_rows import NoteLook, moments, quiet_level

Single = NDArray[np.float32]
Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

# Stretches begin at every second frame.
_STEP = 2
_N_LENGTHS = 24
# Notes may be so much shorter than the shortest known, and so much longer than the longest.
_SHORTER, _LONGER = 0.85, 1.18
# Starts that are worked on together; what they need stays in the processor's cache.
_STARTS_AT_ONCE = 512
# Levels above the floor's, on average, below which a stretch is silence.
_SILENCE = 1.0


class Candidates(NamedTuple):
    """Stretches that are like a known class, in frames."""

    starts: Indices
    stops: Indices
    codes: Indices
    likeness: Matrix


class _Products(NamedTuple):
    """What is known of each frame of a piece: the sums over bands that rows are made of."""

    with_rows: Single  # (n_positions, n_frames, n_rows)
    plain: Single
    weighed: Single
    squares: Single


def note_lengths(n_frames_of_notes: Indices) -> Indices:
    """Give the lengths that are tried, evenly spaced by ratio."""
    shortest = max(_SHORTER * n_frames_of_notes.min(), 1.0)
    longest = max(_LONGER * n_frames_of_notes.max(), shortest)
    return np.unique(np.rint(np.geomspace(shortest, longest, _N_LENGTHS)).astype(np.intp))


def note_candidates(
    levels: Matrix,
    known: NoteDescription,
    lengths: Indices,
    look: NoteLook,
    *,
    least_likeness: float,
) -> Candidates:
    """Find the stretches that are at least so like some class.

    Parameters
    ----------
    levels : array of shape (n_frames, n_bands)
        Of the recording, as :func:`kernova.represent.note_rows.levels_above` gives them.
    known : NoteDescription
    lengths : array of shape (n_lengths,)
        In frames.
    look : NoteLook
    least_likeness : float
        Stretches below are left out.
    """
    found = [
        Candidates(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))
    ]
    longest = int(lengths.max())
    step = _STARTS_AT_ONCE * _STEP
    loud = np.concatenate([[0.0], np.cumsum(levels.mean(axis=1) - quiet_level(look))])
    for first in range(0, len(levels), step):
        piece = levels[first : first + step + longest]
        if len(piece) < lengths.min() or _is_silent(loud, first, len(piece), int(lengths.min())):
            continue
        products = _products(piece.astype(np.float32), known, look)
        for length in lengths.tolist():
            n_starts = min(step, len(piece) - length + 1)
            starts = np.arange(0, max(n_starts, 0), _STEP)
            mean_level = (loud[first + starts + length] - loud[first + starts]) / length
            starts = starts[mean_level > _SILENCE]
            if len(starts) == 0:
                continue
            squared = _squared_distances(products, starts, length, known, look)
            found.append(_likely(first + starts, length, squared, known, least_likeness))
    return Candidates(*[np.concatenate(column) for column in zip(*found, strict=True)])


def _is_silent(loud: Matrix, first: int, n_frames: int, shortest: int) -> bool:
    """Tell whether no stretch of the shortest length is loud enough in a piece."""
    sums = loud[first : first + n_frames + 1]
    return bool(((sums[shortest:] - sums[:-shortest]) <= _SILENCE * shortest).all())


def _products(piece: Single, known: NoteDescription, look: NoteLook) -> _Products:
    n_bands = piece.shape[1]
    weights = known.weights[:n_bands].astype(np.float32)
    weighed: Single = piece * weights
    rows = known.rows[:, :-1].reshape(len(known.rows), look.n_positions, n_bands)
    by_position = np.ascontiguousarray(rows.transpose(1, 2, 0), dtype=np.float32)
    return _Products(
        with_rows=np.matmul(weighed, by_position),
        plain=piece.sum(axis=1),
        weighed=np.asarray(weighed @ weights, dtype=np.float32),
        squares=np.einsum("ij,ij->i", weighed, weighed),
    )


def _squared_distances(
    products: _Products, starts: Indices, length: int, known: NoteDescription, look: NoteLook
) -> Single:
    """Give |row - known row|^2 for the rows of stretches, without the rows.

    A row is w (x - m), with m the mean of its levels x: hence |row|^2 = |wx|^2 - 2m w.wx + m^2|w|^2
    and row.known = x.(w known) - m w.known.
    """
    n_bands = (known.rows.shape[1] - 1) // look.n_positions
    weights = known.weights[:-1].astype(np.float32)
    plain = np.zeros(len(starts), np.float32)
    weighed, squares = np.zeros_like(plain), np.zeros_like(plain)
    shared = np.zeros((len(starts), len(known.rows)), np.float32)
    for position, offset in enumerate(moments(length, look.n_positions).tolist()):
        at = starts + min(offset, len(products.plain) - 1)
        at = np.minimum(at, len(products.plain) - 1)
        shared += products.with_rows[position][at]
        plain += products.plain[at]
        weighed += products.weighed[at]
        squares += products.squares[at]
    mean = plain / (look.n_positions * n_bands)
    own = squares - 2 * mean * weighed + mean**2 * float(weights @ weights)
    known_sums = (known.rows[:, :-1] @ weights).astype(np.float32)
    durations = look.duration_weight * np.log(length) - known.rows[:, -1]
    theirs = np.einsum("ij,ij->i", known.rows[:, :-1], known.rows[:, :-1]) + durations**2
    shared -= mean[:, None] * known_sums
    shared *= -2
    shared += own[:, None]
    shared += theirs.astype(np.float32)
    return np.maximum(shared, 0, out=shared)


def _likely(
    starts: Indices, length: int, squared: Single, known: NoteDescription, least: float
) -> Candidates:
    likeness = known.likeness(squared)
    codes = (likeness * known.typical_scores.astype(np.float32)).argmax(axis=1)
    best = likeness[np.arange(len(codes)), codes]
    kept = best >= least
    starts = starts[kept]
    return Candidates(starts, starts + length, codes[kept], best[kept].astype(np.float64))


def pieces_of(n_frames: int, size: int) -> Iterator[slice]:
    """Cut frames into pieces of about one size, the last at least half as long as the others."""
    n_pieces = max(1, round(n_frames / size))
    borders = np.linspace(0, n_frames, n_pieces + 1).astype(int)
    for start, stop in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        yield slice(start, stop)

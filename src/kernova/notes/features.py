"""A note as one row: how loud each frequency band is at a few moments between its borders.

Levels count from the quiet of the recording itself, as log(power / floor + 3), and are smoothed by
the three-state chain of :mod:`kernova.audio.chains`, forth and back. A row holds them at two
moments after the onset, where notes often differ by a short element that does not stretch with the
note, and at evenly spaced ones, without their mean, so that loudness does not matter; the
logarithm of the duration stands last.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernova.audio.chains import smoothed_level
from kernova.audio.frames import SONG_BANDS, Bands, Framing, band_powers
from kernova.typing import Indices, Matrix, Vector

# The error of rounding to 16 bits, as power: no recording is quieter than that in earnest.
_QUIETEST = (2.0**-15) ** 2 / 12
# Frames after the onset at which every note is looked at, however long it is.
_AFTER_ONSET = (2, 5)
# Frames of quiet before and after a single note, so that its borders are smoothed as in a song.
MARGIN = 20


class NoteLook(NamedTuple):
    """What is seen of a note.

    Attributes
    ----------
    framing : Framing
        Width and hop of a frame.
    bands : Bands
        Frequency bands.
    n_positions : int
        Moments at which a note is looked at.
    offset : float
        Added to the power, in units of the floor, before the logarithm: quiet stays quiet.
    observation_noise : float
        How much the chain smooths.
    duration_weight : float
        What a note twice as long differs by, over log 2.
    floor_quantile : float
        Share of frames that a band's floor lies above.
    """

    framing: Framing
    bands: Bands = SONG_BANDS
    n_positions: int = 12
    offset: float = 3.0
    observation_noise: float = 10.0
    duration_weight: float = 12.0
    floor_quantile: float = 0.1


def framed_powers(samples: ArrayLike, look: NoteLook, *, margin: int = 0) -> Matrix:
    """Measure band powers such that frame k begins to count at k hops, with quiet around them."""
    cut = look.framing
    samples = np.asarray(samples, dtype=np.float64)
    before = (cut.width - cut.hop) // 2 + margin * cut.hop
    return band_powers(np.pad(samples, (before, before + cut.hop)), cut, look.bands)


def quiet_floor(powers: Matrix, look: NoteLook) -> Vector:
    """Give the power of each band where nothing sounds."""
    if len(powers) == 0:
        return np.full(look.bands.n_bands, _QUIETEST)
    return np.maximum(np.quantile(powers, look.floor_quantile, axis=0), _QUIETEST)


def levels_above(powers: Matrix, floor: Vector, look: NoteLook) -> Matrix:
    """Give the smoothed logarithm of the power above the floor."""
    if len(powers) == 0:
        return np.empty((0, look.bands.n_bands))
    return smoothed_level(
        np.log(powers / floor + look.offset), observation_noise=look.observation_noise
    )


def quiet_level(look: NoteLook) -> float:
    """Give the level of a frame that is as quiet as the floor."""
    return float(np.log(1 + look.offset))


def moments(n_frames: ArrayLike, n_positions: int) -> Indices:
    """Give the frames, from a note's first on, at which it is looked at.

    Examples
    --------
    >>> from kernova.notes.features import moments
    >>> moments(40, 6)
    array([ 2,  5,  5, 15, 25, 35])
    """
    n_spread = n_positions - len(_AFTER_ONSET)
    share = (np.arange(n_spread) + 0.5) / n_spread
    spread = np.rint(np.asarray(n_frames)[..., None] * share).astype(np.intp)
    early = np.broadcast_to(_AFTER_ONSET, (*spread.shape[:-1], len(_AFTER_ONSET)))
    return np.concatenate([early, spread], axis=-1)


def note_rows(levels: Matrix, starts: ArrayLike, stops: ArrayLike, look: NoteLook) -> Matrix:
    """Give one row for each note.

    Parameters
    ----------
    levels : array of shape (n_frames, n_bands)
    starts, stops : array-like of shape (n_notes,)
        In frames.
    look : NoteLook

    Returns
    -------
    array of shape (n_notes, n_positions * n_bands + 1)
    """
    starts = np.asarray(starts, dtype=np.intp)
    lengths = np.maximum(np.asarray(stops, dtype=np.intp) - starts, 1)
    at = np.minimum(starts[:, None] + moments(lengths, look.n_positions), len(levels) - 1)
    seen = levels[at].reshape(len(starts), at.shape[1] * levels.shape[1])
    seen = seen - seen.mean(axis=1, keepdims=True)
    return np.column_stack([seen, look.duration_weight * np.log(lengths)])


def single_note_row(powers: Matrix, n_frames: int, floor: Vector, look: NoteLook) -> Vector:
    """Give the row of a note cut out at its borders, as it would be in a recording so quiet.

    ``powers`` are those of :func:`framed_powers` with :data:`MARGIN`; the recording's own quiet is
    laid under them.
    """
    levels = levels_above(powers + floor, floor, look)
    return note_rows(levels, [MARGIN], [MARGIN + n_frames], look)[0]

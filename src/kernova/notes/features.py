"""Features of a note: its level in each frequency band at a few moments between its borders.

Levels are relative to the noise floor of the recording, log(power / floor + 3), and are smoothed by
the three-state chain of :mod:`kernova.audio.chains`, forwards and backwards. A row holds the levels
at two fixed moments after the onset, where notes often differ by a short element whose length does
not depend on the note's, and at evenly spaced moments, without their mean, so that loudness does
not matter. The last column is the logarithm of the duration.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernova.audio.chains import smoothed_level
from kernova.audio.frames import SONG_BANDS, Bands, Framing, band_powers
from kernova.typing import Indices, Matrix, Vector

# Power of the quantisation noise of 16 bits: the lowest noise floor that is assumed.
_LOWEST_FLOOR = (2.0**-15) ** 2 / 12
# Frames after the onset at which every note is sampled, whatever its length.
_AFTER_ONSET = (2, 5)
# Frames of silence before and after a single note, so that its borders are smoothed as in a song.
MARGIN_FRAMES = 20


class FeatureSettings(NamedTuple):
    """Settings of the features of a note."""

    framing: Framing  # width and hop of a frame
    bands: Bands = SONG_BANDS  # frequency bands
    n_positions: int = 12  # moments at which a note is sampled
    # Added to the power, in units of the floor, before the logarithm, which damps noise.
    offset: float = 3.0
    # Observation noise of the smoothing chain; larger values smooth more.
    observation_noise: float = 10.0
    duration_weight: float = 12.0  # factor of the logarithm of the duration
    # Quantile of a band's power over the frames that is taken as its noise floor.
    floor_quantile: float = 0.1


def framed_powers(samples: ArrayLike, settings: FeatureSettings, *, margin: int = 0) -> Matrix:
    """Return band powers such that frame k begins to count at k hops, with silence around them."""
    cut = settings.framing
    samples = np.asarray(samples, dtype=np.float64)
    before = (cut.width - cut.hop) // 2 + margin * cut.hop
    return band_powers(np.pad(samples, (before, before + cut.hop)), cut, settings.bands)


def noise_floor(powers: Matrix, settings: FeatureSettings) -> Vector:
    """Return the noise floor: the power of each band in the absence of sound."""
    if len(powers) == 0:
        return np.full(settings.bands.n_bands, _LOWEST_FLOOR)
    return np.maximum(np.quantile(powers, settings.floor_quantile, axis=0), _LOWEST_FLOOR)


def levels_above(powers: Matrix, floor: Vector, settings: FeatureSettings) -> Matrix:
    """Return the smoothed logarithm of the power above the floor."""
    if len(powers) == 0:
        return np.empty((0, settings.bands.n_bands))
    return smoothed_level(
        np.log(powers / floor + settings.offset), observation_noise=settings.observation_noise
    )


def floor_level(settings: FeatureSettings) -> float:
    """Return the level of a frame whose power is the noise floor."""
    return float(np.log(1 + settings.offset))


def sampled_frames(n_frames: ArrayLike, n_positions: int) -> Indices:
    """Return the frames, counted from a note's first, at which it is sampled.

    Examples
    --------
    >>> from kernova.notes.features import sampled_frames
    >>> sampled_frames(40, 6)
    array([ 2,  5,  5, 15, 25, 35])
    """
    n_spread = n_positions - len(_AFTER_ONSET)
    fraction = (np.arange(n_spread) + 0.5) / n_spread
    spread = np.rint(np.asarray(n_frames)[..., None] * fraction).astype(np.intp)
    early = np.broadcast_to(_AFTER_ONSET, (*spread.shape[:-1], len(_AFTER_ONSET)))
    return np.concatenate([early, spread], axis=-1)


def note_rows(
    levels: Matrix, starts: ArrayLike, stops: ArrayLike, settings: FeatureSettings
) -> Matrix:
    """Return one row of features for each note.

    Parameters
    ----------
    levels : array of shape (n_frames, n_bands)
    starts, stops : array-like of shape (n_notes,)
        In frames.
    settings : FeatureSettings

    Returns
    -------
    array of shape (n_notes, n_positions * n_bands + 1)
    """
    starts = np.asarray(starts, dtype=np.intp)
    lengths = np.maximum(np.asarray(stops, dtype=np.intp) - starts, 1)
    at = np.minimum(
        starts[:, None] + sampled_frames(lengths, settings.n_positions), len(levels) - 1
    )
    sampled = levels[at].reshape(len(starts), at.shape[1] * levels.shape[1])
    sampled = sampled - sampled.mean(axis=1, keepdims=True)
    return np.column_stack([sampled, settings.duration_weight * np.log(lengths)])


def single_note_row(
    powers: Matrix, n_frames: int, floor: Vector, settings: FeatureSettings
) -> Vector:
    """Return the row of a note cut out at its borders, as in a recording with this noise floor.

    ``powers`` are those of :func:`framed_powers` with :data:`MARGIN_FRAMES`; the floor is added.
    """
    levels = levels_above(powers + floor, floor, settings)
    return note_rows(levels, [MARGIN_FRAMES], [MARGIN_FRAMES + n_frames], settings)[0]

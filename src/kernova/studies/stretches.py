"""A recording of any length as stretches of a minute, each with a little of its neighbours."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

STRETCH_SECONDS = 60.0
# So much of the neighbours is heard too, so that no note is cut at a border.
MARGIN_SECONDS = 1.0


class Stretch(NamedTuple):
    """Samples, and which of them are its own.

    Attributes
    ----------
    samples : array of shape (n_samples,)
        With the margins.
    offset : int
        Place of the first of them in the recording.
    own_start, own_stop : int
        Place of the stretch without its margins, in the recording.
    """

    samples: NDArray[np.float64]
    offset: int
    own_start: int
    own_stop: int


def stretches(
    blocks: Iterable[NDArray[np.float64]], sample_rate: float, seconds: float = STRETCH_SECONDS
) -> Iterator[Stretch]:
    """Cut a recording into stretches; the last is up to twice as long as the others.

    Parameters
    ----------
    blocks : iterable of array
        The samples, in blocks of any size: the stretches do not depend on it.
    sample_rate : float
    seconds : float
        How long a stretch is without its margins.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.studies.stretches import stretches
    >>> [s.own_stop - s.own_start for s in stretches([np.zeros(1600)], 10.0)]
    [600, 1000]
    >>> [s.own_stop - s.own_start for s in stretches([np.zeros(1100)], 10.0)]
    [1100]
    """
    own, margin = round(seconds * sample_rate), round(MARGIN_SECONDS * sample_rate)
    waiting: list[NDArray[np.float64]] = []
    n_waiting = offset = own_start = 0
    for block in blocks:
        waiting.append(block)
        n_waiting += len(block)
        while offset + n_waiting - own_start > 2 * own:
            samples = np.concatenate(waiting)
            own_stop = own_start + own
            yield Stretch(samples[: own_stop + margin - offset], offset, own_start, own_stop)
            begin = max(own_stop - margin, 0)
            rest = samples[begin - offset :].copy()
            waiting, n_waiting = [rest], len(rest)
            offset, own_start = begin, own_stop
    if n_waiting and offset + n_waiting > own_start:
        samples = np.concatenate(waiting)
        yield Stretch(samples, offset, own_start, offset + n_waiting)

"""From one sample rate to another, block by block, as if the recording were one array.

Every output sample is a sum over the few input samples around its own time: with the rates'
ratio in lowest terms ``up / down``, output ``n`` is the low-pass filter laid over the input at
``n * down / up``. The pattern of filter taps repeats every ``up`` outputs, which take ``down``
inputs; so the work is done in whole periods, each with the inputs around it at hand, and neither
the size of the blocks nor where a stretch begins changes a single bit.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.errors import InputError

# Of a period; the filter is twenty times as long and must be held in memory.
_MOST_STEPS = 1 << 20


class Resampling(NamedTuple):
    """How to get from one sample rate to another.

    Attributes
    ----------
    up, down : int
        The ratio of the rates in lowest terms.
    taps : ndarray
        The low-pass filter at the rate ``up`` times the input's, behind as many zeros as bring
        its first useful output to a whole period.
    reach : int
        Input samples on either side that an output depends on.
    n_early : int
        Outputs of the filter that lie before the first useful one.
    """

    up: int
    down: int
    taps: NDArray[np.float64]
    reach: int
    n_early: int


@lru_cache(maxsize=8)
def resampling(rate_in: int, rate_out: int) -> Resampling:
    """Design the filter: a Kaiser window (5.0) over ten zero crossings on either side.

    It is the default of :func:`scipy.signal.resample_poly`, whose values the stream repeats.

    Examples
    --------
    >>> from kernova.audio.resampling import resampling
    >>> plan = resampling(44100, 32000)
    >>> plan.up, plan.down, plan.reach
    (320, 441, 14)
    """
    from scipy.signal import firwin

    up, down = rate_out // gcd(rate_in, rate_out), rate_in // gcd(rate_in, rate_out)
    if max(up, down) > _MOST_STEPS:
        raise InputError(
            f"Cannot turn {rate_in} samples per second into {rate_out}: the two have no simple "
            "ratio. Choose another sample rate."
        )
    half = 10 * max(up, down)
    low_pass = up * firwin(2 * half + 1, 1.0 / max(up, down), window=("kaiser", 5.0))
    reach = -(-half // up)
    n_zeros = -(half + reach * up) % down
    return Resampling(
        up,
        down,
        np.concatenate([np.zeros(n_zeros), low_pass]),
        reach,
        (half + reach * up + n_zeros) // down,
    )


def inputs_for(plan: Resampling, first_output: int, last_output: int) -> tuple[int, int]:
    """Give the range of input samples that the outputs need; it may reach beyond the recording."""
    period = first_output // plan.up
    return period * plan.down - plan.reach, (
        -(-last_output * plan.down // plan.up) + plan.reach + 1
    )


def resampled(
    blocks: Iterable[NDArray[np.float64]], plan: Resampling, first_output: int, last_output: int
) -> Iterator[NDArray[np.float64]]:
    """Give output samples ``first_output`` to ``last_output`` from the inputs they need.

    Parameters
    ----------
    blocks : iterable of ndarray
        Input samples in order, beginning where :func:`inputs_for` says, with zeros before the
        recording. What is missing at the end counts as zeros.
    plan : Resampling
        From :func:`resampling`.
    first_output, last_output : int
        The range wanted, counted in output samples from the start of the recording.

    Yields
    ------
    ndarray
        Output samples in order.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.resampling import resampled, resampling
    >>> plan = resampling(2, 1)
    >>> silence = [np.zeros(plan.reach + 4), np.zeros(3)]
    >>> np.concatenate(list(resampled(silence, plan, 0, 4)))
    array([0., 0., 0., 0.])
    """
    position = first_output // plan.up * plan.up
    held = np.zeros(0)
    for block in blocks:
        held = np.concatenate([held, block]) if len(held) else block
        n_periods = (len(held) - 2 * plan.reach) // plan.down
        if n_periods < 1:
            continue
        made = _whole_periods(held, plan, n_periods)
        held = held[n_periods * plan.down :]
        yield from _within(made, position, first_output, last_output)
        position += len(made)
    if position < last_output:
        n_periods = -(-(last_output - position) // plan.up)
        missing = n_periods * plan.down + 2 * plan.reach - len(held)
        held = np.concatenate([held, np.zeros(max(0, missing))])
        made = _whole_periods(held, plan, n_periods)
        yield from _within(made, position, first_output, last_output)


def _whole_periods(
    held: NDArray[np.float64], plan: Resampling, n_periods: int
) -> NDArray[np.float64]:
    from scipy.signal import upfirdn

    used = held[: n_periods * plan.down + 2 * plan.reach]
    made: NDArray[np.float64] = upfirdn(plan.taps, used, plan.up, plan.down)
    return made[plan.n_early : plan.n_early + n_periods * plan.up]


def _within(
    made: NDArray[np.float64], position: int, first: int, last: int
) -> Iterator[NDArray[np.float64]]:
    wanted = made[max(0, first - position) : max(0, last - position)]
    if len(wanted):
        yield wanted

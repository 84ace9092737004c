"""Resampling in blocks, with the same result as for the whole recording at once.

Every output sample is a sum over the few input samples around its own time. With the ratio of the
rates in lowest terms ``up / down``, output ``n`` is the low-pass filter laid over the input at
``n * down / up``. The pattern of filter taps repeats every ``up`` outputs, which take ``down``
inputs. Outputs are computed in whole periods from the inputs around them, so that the result is
the same bit by bit for any size of the blocks and any start.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import gcd
from typing import NamedTuple

import numpy as np

from kernova.errors import InputError
from kernova.typing import Samples

# Longest period; the filter is twenty times as long and is held in memory.
_MAX_STEPS = 1 << 20
_BYTES_PER_STEP = 1000  # of memory while the filter is designed


class Resampling(NamedTuple):
    """Filter from one sample rate to another."""

    up: int  # ratio of the rates in lowest terms
    down: int
    # Low-pass filter at the rate ``up`` times the input's, after as many zeros as shift its first
    # useful output to a whole period.
    taps: Samples
    reach: int  # number of input samples on either side that an output depends on
    n_early: int  # number of outputs of the filter before the first useful one


@lru_cache(maxsize=8)
def resampling(rate_in: int, rate_out: int) -> Resampling:
    """Design the filter: a Kaiser window (5.0) over ten zero crossings on either side.

    This is the default of :func:`scipy.signal.resample_poly`, whose values the stream reproduces.

    Examples
    --------
    >>> from kernova.audio.resampling import resampling
    >>> plan = resampling(44100, 32000)
    >>> plan.up, plan.down, plan.reach
    (320, 441, 14)
    """
    from scipy.signal import firwin

    up, down = _ratio(rate_in, rate_out)
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


def filter_bytes(rate_in: int, rate_out: int) -> int:
    """Return the memory that the design of the filter takes; damaged headers have odd rates.

    Examples
    --------
    >>> from kernova.audio.resampling import filter_bytes
    >>> filter_bytes(44100, 32000), filter_bytes(1_048_384, 11025)
    (441000, 1048384000)
    """
    return _BYTES_PER_STEP * max(_ratio(rate_in, rate_out))


def _ratio(rate_in: int, rate_out: int) -> tuple[int, int]:
    """Return the ratio of the rates, output to input, in lowest terms."""
    shared = gcd(rate_in, rate_out)
    up, down = rate_out // shared, rate_in // shared
    if max(up, down) > _MAX_STEPS:
        raise InputError(
            f"Cannot resample from {rate_in} to {rate_out} samples per second: the two have no "
            "simple ratio. Choose another sample rate."
        )
    return up, down


def inputs_for(plan: Resampling, first_output: int, last_output: int) -> tuple[int, int]:
    """Return the range of input samples of the outputs, which may exceed the recording."""
    period = first_output // plan.up
    return period * plan.down - plan.reach, (
        -(-last_output * plan.down // plan.up) + plan.reach + 1
    )


def resampled(
    blocks: Iterable[Samples], plan: Resampling, first_output: int, last_output: int
) -> Iterator[Samples]:
    """Yield output samples ``first_output`` to ``last_output`` from the inputs they need.

    Parameters
    ----------
    blocks : iterable of ndarray
        Input samples in order, from the start of the range of :func:`inputs_for`, with zeros
        before the recording. Missing samples at the end count as zeros.
    plan : Resampling
        Filter from :func:`resampling`.
    first_output, last_output : int
        Range of the outputs, counted from the start of the recording.

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
        outputs = _whole_periods(held, plan, n_periods)
        held = held[n_periods * plan.down :]
        yield from _within(outputs, position, first_output, last_output)
        position += len(outputs)
    if position < last_output:
        n_periods = -(-(last_output - position) // plan.up)
        missing = n_periods * plan.down + 2 * plan.reach - len(held)
        held = np.concatenate([held, np.zeros(max(0, missing))])
        outputs = _whole_periods(held, plan, n_periods)
        yield from _within(outputs, position, first_output, last_output)


def _whole_periods(held: Samples, plan: Resampling, n_periods: int) -> Samples:
    from scipy.signal import upfirdn

    used = held[: n_periods * plan.down + 2 * plan.reach]
    outputs: Samples = upfirdn(plan.taps, used, plan.up, plan.down)
    return outputs[plan.n_early : plan.n_early + n_periods * plan.up]


def _within(outputs: Samples, position: int, first: int, last: int) -> Iterator[Samples]:
    wanted = outputs[max(0, first - position) : max(0, last - position)]
    if len(wanted):
        yield wanted

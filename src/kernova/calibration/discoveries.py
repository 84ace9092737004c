"""False discoveries among rows that were selected: a bound on their number, with confidence.

Benjamini and Hochberg's rule limits the *expected* fraction of ordinary rows among those selected.
Here is a bound on the fraction in this very selection. It comes from the joint law of conformal
p-values, which is the same for all detectors and all distributions: the m calibration rows and
the ordinary ones of the n new rows are in random order.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from kernova.calibration import CONFIDENCE
from kernova.calibration.bounds import check_open_unit_interval, finite_scores, percent_rounded_up
from kernova.errors import InputError, quoted
from kernova.text import percent, quantity
from kernova.typing import Vector

_SIMULATIONS: Final = 1999
_MOST_RANKS: Final = 120
_SEED: Final = 0


class FalseDiscoveryBound(NamedTuple):
    """An upper bound on the number of ordinary rows among the selected ones."""

    most_false: int  # with the wanted confidence, no more of the selected rows are ordinary
    n_selected: int
    confidence: float

    @property
    def proportion(self) -> float:
        """The bound as a fraction of the selected rows; 0 if none was selected."""
        return self.most_false / self.n_selected if self.n_selected else 0.0

    def sentence(self) -> str:
        """Return the bound as a sentence.

        Examples
        --------
        >>> from kernova.calibration.discoveries import FalseDiscoveryBound
        >>> FalseDiscoveryBound(7, 52, 0.95).sentence()
        'With 95 % confidence, at most 7 of the 52 discoveries (13.5 %) are ordinary rows.'
        """
        start = f"With {percent(self.confidence, '.12g')} confidence, at most {self.most_false}"
        if self.n_selected == 0:
            return "There are no discoveries."
        if self.most_false == self.n_selected:
            return (
                f"How many of the {quantity(self.n_selected, 'discovery', 'discoveries')} are "
                "ordinary rows has no bound below all of them at "
                f"{percent(self.confidence, '.12g')} confidence."
            )
        found = quantity(self.n_selected, "discovery", "discoveries")
        part = percent_rounded_up(self.proportion) if self.most_false else "0 %"
        return f"{start} of the {found} ({part}) are ordinary rows."


def false_discovery_bound(
    p_values: ArrayLike, selected: ArrayLike, n_calibration: int, confidence: float = CONFIDENCE
) -> FalseDiscoveryBound:
    """Bound the number of ordinary rows among selected ones, however they were selected.

    With the given confidence, the bound holds for all selections at once: it may be computed for
    several ones, and a selection may be changed after looking at it.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        Conformal p-values of all new rows, from :func:`~kernova.conformal_p_values` without
        weights.
    selected : array-like of bool of shape (n,)
        The selected rows, such as from :func:`~kernova.select_discoveries`.
    n_calibration : int
        Number m of calibration rows that the p-values come from.
    confidence : float, default=0.95
        Probability, over the draw of calibration rows and ordinary new rows, with which it holds.

    Returns
    -------
    FalseDiscoveryBound
        ``most_false``, ``n_selected``, ``confidence``, ``proportion``.

    Notes
    -----
    Let V(l) be the number of ordinary new rows with p <= l / (m + 1). If all n new rows were
    ordinary, V would be the number of them before the l-th of the m calibration rows, in an order
    in which all arrangements are equally likely; fewer ordinary rows, and ties, make V smaller.
    For l on a grid, an envelope B(l) is chosen such that V <= B everywhere with the given
    confidence; it is the order statistic of 1,999 simulated arrangements (a fixed seed), so that
    this is exact and not only asymptotic. Of any selection S at most
    min over l of B(l) + #{rows of S with p > l / (m + 1)} rows are then ordinary (Gazin,
    Blanchard and Roquain 2024).

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import conformal_p_values, select_discoveries
    >>> from kernova import false_discovery_bound
    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(size=1000), rng.normal(-6, size=100)])
    >>> p = conformal_p_values(rng.normal(size=2000), scores)
    >>> bound = false_discovery_bound(p, select_discoveries(p, 0.1), 2000)
    >>> bound.n_selected, bound.most_false
    (117, 19)
    """
    check_open_unit_interval(confidence, "confidence")
    p, chosen = _checked(p_values, selected, n_calibration)
    n_selected = int(np.count_nonzero(chosen))
    if n_selected == 0:
        return FalseDiscoveryBound(0, 0, confidence)
    ranks = _rank_grid(n_calibration)
    envelope = _envelope(int(n_calibration), p.size, float(confidence))
    # p is a fraction of m + 1; half a step guards against rounding.
    above = n_selected - np.searchsorted(
        np.sort(p[chosen]), (ranks + 0.5) / (n_calibration + 1), side="right"
    )
    return FalseDiscoveryBound(
        int(min(n_selected, np.min(envelope + above))), n_selected, confidence
    )


def _rank_grid(n_calibration: int) -> NDArray[np.int64]:
    """Return ranks from 1 to m, all of the small ones and ever fewer of the large ones."""
    steps = np.geomspace(1, n_calibration, _MOST_RANKS)
    return np.unique(np.rint(steps).astype(np.int64))


@lru_cache(maxsize=32)
def _envelope(n_calibration: int, n_new: int, confidence: float) -> NDArray[np.int64]:
    """Return B(l) for the ranks of the grid."""
    ranks = _rank_grid(n_calibration)
    counts = _simulated_counts(ranks, n_calibration, n_new)
    tails = _tail(counts, ranks, n_calibration, n_new).min(axis=1)
    # The observed minimum and the simulated ones are exchangeable: it is among the `lowest` of
    # all with a probability of at most 1 - confidence, and else at least the next of them.
    lowest = int((1 - confidence) * (tails.size + 1) * (1 + 1e-12))
    cut = np.sort(tails)[lowest - 1] if lowest else 0.0
    return _largest_count(cut, ranks, n_calibration, n_new)


def _simulated_counts(
    ranks: NDArray[np.int64], n_calibration: int, n_new: int
) -> NDArray[np.int64]:
    """Return V at all ranks in many simulations of n ordinary rows among m calibration rows."""
    random = np.random.default_rng(_SEED)
    # Uniform order statistics are partial sums of exponential spacings; of those between two
    # ranks, only the sum is needed, which is Gamma distributed.
    steps = np.diff(ranks, prepend=0)
    gaps = random.gamma(
        np.append(steps, n_calibration + 1 - ranks[-1]), size=(_SIMULATIONS, ranks.size + 1)
    )
    counts = random.multinomial(n_new, gaps / gaps.sum(axis=1, keepdims=True))
    return np.cumsum(counts[:, :-1], axis=1)


def _tail(counts: NDArray[np.int64], ranks: NDArray[np.int64], m: int, n: int) -> Vector:
    """Return about P(V(l) >= count): negative binomial, exact as m and n grow alike.

    Only the shape of the envelope depends on it, not its validity.
    """
    return np.where(counts > 0, betainc(np.maximum(counts, 1), ranks, n / (n + m + 1)), 1.0)


def _largest_count(cut: float, ranks: NDArray[np.int64], m: int, n: int) -> NDArray[np.int64]:
    """Return, for each rank, the largest count whose tail is not below the cut."""
    low, high = np.zeros(ranks.size, dtype=np.int64), np.full(ranks.size, n, dtype=np.int64)
    while (low < high).any():
        middle = (low + high + 1) // 2
        is_within = _tail(middle, ranks, m, n) >= cut
        low, high = np.where(is_within, middle, low), np.where(is_within, high, middle - 1)
    return low


def _checked(
    p_values: ArrayLike, selected: ArrayLike, n_calibration: int
) -> tuple[Vector, NDArray[np.bool_]]:
    p, chosen = np.asarray(p_values, dtype=np.float64), np.asarray(selected)
    if p.size:
        p = finite_scores(p, "p-values")
    if chosen.dtype != np.bool_ or chosen.shape != p.shape:
        raise InputError(
            f"selected must be true or false for each of the {p.size} p-values; got an array of "
            f"{chosen.dtype} and shape {chosen.shape}."
        )
    if n_calibration < 1:
        raise InputError(f"n_calibration must be at least 1; got {quoted(n_calibration)}.")
    return p, chosen

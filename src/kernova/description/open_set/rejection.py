"""Rejection of rows of no known class, at a rate that is kept for the table as a whole.

Each member's novelty becomes bits (see :mod:`kernova.surprise`), and the mean of the bits is the
novelty of a row. Its p-value is the fraction of held-out rows of known classes that are at least as
novel: rejecting rows with p at most 0.05 rejects 5 % of the rows of known classes in expectation
(conformal prediction; Vovk, Gammerman and Shafer, 2005).
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.surprise import Surprise, learn_surprise
from kernova.typing import Indices, Vector

# The tail beyond the most novel held-out row is as wide as the mean excess of the highest tenth.
_TAIL: Final = 0.9


class NoveltyScale(NamedTuple):
    """Scales of the members, in bits."""

    members: tuple[Surprise, ...]

    def novelty(self, novelties: NDArray[np.float64]) -> Vector:
        """Return the mean of the members' bits for each row."""
        # Where one class was left without the held-out rows, the last members have no scale: they
        # tell how little one class is preferred.
        some = novelties[: len(self.members)]
        bits = [one.of(novelty) for one, novelty in zip(self.members, some, strict=True)]
        return np.mean(bits, axis=0)


def novelty_scale(held_out: NDArray[np.float64]) -> NoveltyScale:
    """Learn the scales from the members' novelties of held-out rows of known classes."""
    return NoveltyScale(tuple(learn_surprise(novelty) for novelty in held_out))


@dataclass(frozen=True)
class HeldOutNovelties:
    """Novelties of held-out rows of known classes, in increasing order, with their weights."""

    novelty: Vector
    weight_from: Vector  # total weight of this row and all more novel ones
    tail: float

    def p_values(self, novelty: Vector) -> Vector:
        """Return the fraction of held-out rows that are at least as novel.

        The row itself counts as one more. A row between two held-out ones has a p between theirs,
        so that rejecting rows with p at most 0.05 rejects 5 % of such rows in expectation, however
        few were held out. Beyond the most novel held-out row, p falls as a Pareto tail: rows
        are still ranked there, but by an extrapolation.
        """
        own = self.weight_from[0] / len(self.novelty)
        first = np.searchsorted(self.novelty, novelty, side="left")
        above = np.append(self.weight_from, 0.0)[first]
        p = (above + own * self._until_next(novelty, first)) / (self.weight_from[0] + own)
        return p / (1 + np.maximum(novelty - self.novelty[-1], 0) / self.tail)

    def _until_next(self, novelty: Vector, first: Indices) -> Vector:
        """Return how much of the gap to the next more novel held-out row is left, from 1 to 0."""
        inner = np.clip(first, 1, len(self.novelty) - 1)
        low, high = self.novelty[inner - 1], self.novelty[inner]
        gap = high - low
        left = np.divide(high - novelty, gap, out=np.ones(len(gap)), where=gap > 0)
        is_inside = (first > 0) & (first < len(self.novelty))
        return np.where(is_inside, np.clip(left, 0.0, 1.0), 1.0)

    def threshold(self, reject: float) -> float:
        """Return the novelty from which on rows are rejected at this rate."""
        candidates = np.append(self.novelty, np.inf)
        rejected = self.p_values(self.novelty) <= reject
        return float(candidates[np.argmax(np.append(rejected, True))])


def held_out_novelties(novelty: Vector, weights: Vector) -> HeldOutNovelties:
    """Order the novelties of held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> known = held_out_novelties(np.arange(19.0), np.ones(19))
    >>> known.p_values(np.array([0.0, 9.5, 18.0, 40.0])).round(3)
    array([1.   , 0.475, 0.05 , 0.002])
    """
    order = np.argsort(novelty, kind="stable")
    ordered = novelty[order]
    high = ordered[ordered > np.quantile(ordered, _TAIL)]
    tail = float(np.mean(high - high[0])) if len(high) > 1 else 0.0
    tail = tail if tail > 0 else float(np.ptp(ordered)) or 1.0
    return HeldOutNovelties(ordered, np.cumsum(weights[order][::-1])[::-1], tail)


def evidence_against(p: Vector) -> Vector:
    """Return how much likelier p is under "none of these" than under known classes.

    Known classes make p uniform. The bet against them is the mean of all densities k p^(k - 1)
    with k from 0 to 1, (1 - p + p log p) / (p log(p)^2): it needs no rows of unknown classes, and
    is no larger than it may be on average (Vovk and Wang, 2021).

    Examples
    --------
    >>> import numpy as np
    >>> evidence_against(np.array([1.0, 0.5, 0.05, 0.001])).round(2)
    array([ 0.5 ,  0.64,  1.78, 20.79])
    """
    p = np.clip(p, 1e-300, 1.0)
    log_p = np.log(p)
    near_one = p > 1 - 1e-4
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (1 - p + p * log_p) / (p * log_p**2)
    return np.where(near_one, 0.5, ratio)


class ByClass(NamedTuple):
    """Held-out novelties of each class on its own, and of all classes."""

    classes: tuple[HeldOutNovelties, ...]

    def p_values(self, novelty: Vector, best: Indices) -> Vector:
        """Return p among the held-out rows of each row's best class."""
        p = np.empty(len(novelty))
        for code, known in enumerate(self.classes):
            inside = best == code
            p[inside] = known.p_values(novelty[inside])
        return p


def by_class(novelty: Vector, codes: Indices, weights: Vector, n_classes: int) -> ByClass:
    """Order the novelties class by class; a class without any takes those of all."""
    whole = held_out_novelties(novelty, weights)
    parts = []
    for code in range(n_classes):
        inside = codes == code
        has_rows = bool(inside.any())
        parts.append(held_out_novelties(novelty[inside], weights[inside]) if has_rows else whole)
    return ByClass(tuple(parts))

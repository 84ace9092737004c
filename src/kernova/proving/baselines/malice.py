"""MALICE and NNDB: ask where the number of near rows drops, category by category.

After He and Carbonell, "Nearest-Neighbor-Based Active Learning for Rare Category Detection", NIPS
2007, and He, "Rare Category Analysis", PhD thesis, Carnegie Mellon University, 2010. A rare
category of K rows is a ball in which K rows lie unusually close together. With r the smallest
distance of any row to its K-th nearest neighbour, and n(i) the number of rows within r of row i,
row i scores the largest n(i) - n(k) over the rows k within t r of it. Categories are sought in
turn; t grows from question to question, and rows within the radius of a labelled row's category
are left out. NNDB is the case of two categories, where t starts at 1.

:class:`MaliceByPriors` is told the fraction of each category. :class:`MaliceByLadder` is told
nothing: it seeks categories of n/4, n/8, ... 2 rows in turns, and takes the fraction of a category
that was met from the rows whose nearest labelled row is of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Question
from kernova.discover.strategies.spacing import distances_to
from kernova.parallel import row_blocks
from kernova.proving.baselines.asking import Drop, RowAsker, Sizes, largest_drop, question_about
from kernova.text import quantity
from kernova.typing import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

# Distances are rounded: a ball contains the rows on its edge.
_EDGE: Final = 1 + 1e-9
_SMALLEST_SIZE: Final = 2


# --- neighbourhoods --------------------------------------------------------------------------


class Neighborhoods(Protocol):
    """Rows near each row, at the scale of each category sought."""

    @property
    def counts(self) -> Indices:
        """Number of rows near each row, itself included; shape (n_scales, n_rows)."""
        ...

    def near(self, rows: Indices, scale: int, reach: float) -> Mask:
        """Return the rows among which the count of each of these is compared."""
        ...

    def within(self, row: int, scale: int | None) -> Mask:
        """Return the rows too near a labelled one to be asked; None is the common category."""
        ...

    def sentence(self, drop: Drop, scale: int, reach: float) -> str:
        """Return why a row is asked."""
        ...


class Balls(NamedTuple):
    """Neighbourhoods by distance: the smallest ball that holds each number of rows."""

    Z: Matrix
    radii: Vector  # by scale
    counts: Indices  # rows within the radius of each row, itself included; (n_scales, n_rows)

    def near(self, rows: Indices, scale: int, reach: float) -> Mask:
        """Return the rows within ``reach`` radii of each of these."""
        found: Mask = cdist(self.Z[rows], self.Z) <= reach * self.radii[scale] * _EDGE
        return found

    def within(self, row: int, scale: int | None) -> Mask:
        """Return the rows within the radius of a category; the common one has the largest."""
        radius = self.radii.max() if scale is None else self.radii[scale]
        found: Mask = distances_to(self.Z, self.Z[row]) <= radius * _EDGE
        return found

    def sentence(self, drop: Drop, scale: int, reach: float) -> str:
        """Return why a row is asked."""
        radius = self.radii[scale]
        return (
            f"{quantity(int(self.counts[scale, drop.row]), 'row')} within {radius:.3g} of this "
            f"row, and {max(drop.size, 0):,} fewer around a row within {reach * radius:.3g}."
        )


def smallest_balls(Z: Matrix, sizes: Sequence[int]) -> Balls:
    """Return the smallest radius with so many neighbours of a row, and the rows within it.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
        Standardised rows.
    sizes : sequence of int
        Numbers of neighbours, the row itself not included.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.malice import smallest_balls
    >>> balls = smallest_balls(np.array([[0.0], [0.1], [0.25], [3.0]]), [2])
    >>> balls.radii.tolist(), balls.counts.tolist()
    ([0.15], [[2, 3, 2, 1]])
    """
    ranks = np.minimum(np.asarray(sizes, dtype=np.intp), len(Z) - 1)
    distinct, which = np.unique(ranks, return_inverse=True)
    blocks = row_blocks(len(Z), 3 * len(Z))
    smallest = np.full(len(distinct), np.inf)
    for block in blocks:
        nearest = np.partition(cdist(Z[block], Z), distinct, axis=1)[:, distinct]
        smallest = np.minimum(smallest, nearest.min(axis=0))
    counts = np.empty((len(distinct), len(Z)), dtype=np.intp)
    for block in blocks:
        distances = cdist(Z[block], Z)
        for one, radius in enumerate(smallest):
            counts[one, block] = np.count_nonzero(distances <= radius * _EDGE, axis=1)
    return Balls(Z, smallest[which], counts[which])


# --- priors given ----------------------------------------------------------------------------


@dataclass
class MaliceByPriors:
    """MALICE, told the fraction of each category.

    The most frequent category is not sought; a row of it, or of a category without a fraction,
    excludes the rows within the largest radius. A category met on the way is not sought either,
    and t does not grow when that happens. The thesis stops when all are met, or no row is left;
    here t then grows for the category sought last, and exclusions are lifted.

    Parameters
    ----------
    priors : mapping of str to float
        Fraction of the rows of each category, by name.
    first_reach : int
        The first t: 2 in MALICE, 1 in NNDB.
    rarest_first : bool
        Whether categories are sought from the rarest on, instead of from the largest.

    Examples
    --------
    >>> from kernova.proving.baselines.malice import MaliceByPriors
    >>> MaliceByPriors({"common": 0.98, "rare": 0.02}).name
    'malice'
    """

    priors: Mapping[str, float]
    first_reach: int = 2
    rarest_first: bool = False
    name: str = "malice"

    def start(self, preparation: "Preparation") -> "SearchByCategory":
        """Return a fresh asker; balls and counts are cached in the preparation."""
        Z = preparation.rows("zscore")
        sizes = Sizes.of(self.priors, len(Z), rarest_first=self.rarest_first)
        balls = cached(preparation, ("balls", sizes.rows), lambda: smallest_balls(Z, sizes.rows))
        return SearchByCategory(balls, sizes, self.first_reach)


class SearchByCategory(RowAsker):
    """One search for each rare category in turn, until an answer names it.

    Parameters
    ----------
    neighborhoods : Neighborhoods
        Rows near each row, at the scale of each category.
    sizes : Sizes
        The categories in the order of the search.
    first_reach : int
        The first t of each search.
    """

    def __init__(self, neighborhoods: Neighborhoods, sizes: Sizes, first_reach: int = 2) -> None:
        super().__init__(neighborhoods.counts.shape[1])
        self._neighborhoods, self._sizes = neighborhoods, sizes
        self._first_reach = self._reach = first_reach
        self._target = 0
        self._met: set[str] = set()
        self._is_near = np.zeros(len(self.is_asked), dtype=np.bool_)  # to a labelled row

    def _question(self, is_free: Mask) -> Question:
        is_open = is_free & ~self._is_near
        is_open = is_open if is_open.any() else is_free  # all are near a labelled row
        scale, reach = self._target, self._reach
        near = lambda rows: self._neighborhoods.near(rows, scale, reach)  # noqa: E731
        drop = largest_drop(self._neighborhoods.counts[scale], near, is_open)
        reason = self._neighborhoods.sentence(drop, scale, reach)
        return question_about(drop.row, reason, n_fewer=float(drop.size), reach=float(reach))

    def _learn(self, answer: Answer) -> None:
        label = answer.label
        is_rare = label in self._sizes.names
        is_new = label is not None and label not in self._met
        if label is not None:
            scale = self._sizes.names.index(label) if is_rare else None
            self._is_near |= self._neighborhoods.within(answer.row, scale)
            self._met.add(label)
        missing = [one for one, name in enumerate(self._sizes.names) if name not in self._met]
        if missing and missing[0] != self._target:
            self._target, self._reach = missing[0], self._first_reach
        elif answer.is_asked and not (is_rare and is_new):
            self._reach += 1


# --- priors estimated ------------------------------------------------------------------------


@dataclass
class MaliceByLadder:
    """MALICE, told nothing: assumed sizes in turns, and fractions from the categories met.

    The thesis needs the fractions. Here categories of n/4, n/8, ... 2 rows are sought in turns,
    each with a t of its own, which grows with each of its questions. The fraction of a category
    that was met is estimated by the rows whose nearest labelled row is of it. Around a labelled
    row, rows are left out within the radius of the size on the ladder next below that, but never
    within more than the radius of the size that was being sought. To leave rows out for each size
    apart, so that a question about a large size hides no small ball, took 1.6 to 3.2 times as
    many questions on each of the five published sets.

    Examples
    --------
    >>> from kernova.proving.baselines.malice import MaliceByLadder
    >>> MaliceByLadder().name
    'malice-ladder'
    """

    name: str = "malice-ladder"

    def start(self, preparation: "Preparation") -> "LadderAsker":
        """Return a fresh asker; balls and counts are cached in the preparation."""
        Z = preparation.rows("zscore")
        sizes = ladder_of_sizes(len(Z))
        balls = cached(preparation, ("balls", sizes), lambda: smallest_balls(Z, sizes))
        return LadderAsker(balls, sizes)


def ladder_of_sizes(n_rows: int) -> tuple[int, ...]:
    """Return a quarter of the rows, an eighth and so on, down to two.

    Examples
    --------
    >>> from kernova.proving.baselines.malice import ladder_of_sizes
    >>> ladder_of_sizes(100), ladder_of_sizes(5)
    ((25, 12, 6, 3), (2,))
    """
    sizes = [n_rows >> power for power in range(2, n_rows.bit_length())]
    return tuple(size for size in sizes if size >= _SMALLEST_SIZE) or (_SMALLEST_SIZE,)


class LadderAsker(RowAsker):
    """One run over assumed sizes: the turn, a reach for each size, and the nearest labels."""

    def __init__(self, balls: Balls, sizes: tuple[int, ...]) -> None:
        super().__init__(len(balls.Z))
        self._balls, self._sizes = balls, np.array(sizes)
        self._reach = [2] * len(sizes)
        self._turn = 0
        self._is_near = np.zeros(len(balls.Z), dtype=np.bool_)  # to a labelled row
        self._distance = np.full(len(balls.Z), np.inf)  # to the nearest labelled row
        self._nearest = np.full(len(balls.Z), -1, dtype=np.intp)  # its category
        self._categories: dict[str, int] = {}

    def _question(self, is_free: Mask) -> Question:
        scale, reach = self._turn, self._reach[self._turn]
        is_open = is_free & ~self._is_near
        is_open = is_open if is_open.any() else is_free
        near = lambda rows: self._balls.near(rows, scale, reach)  # noqa: E731
        drop = largest_drop(self._balls.counts[scale], near, is_open)
        reason = self._balls.sentence(drop, scale, reach)
        return question_about(drop.row, reason, n_fewer=float(drop.size), reach=float(reach))

    def _learn(self, answer: Answer) -> None:
        if answer.label is not None:
            category = self._categories.setdefault(answer.label, len(self._categories))
            distances = distances_to(self._balls.Z, self._balls.Z[answer.row])
            is_nearer = distances < self._distance
            self._distance[is_nearer] = distances[is_nearer]
            self._nearest[is_nearer] = category
            self._is_near |= distances <= self._excluded_radius(category) * _EDGE
        if answer.is_asked:
            self._reach[self._turn] += 1
            self._turn = (self._turn + 1) % len(self._sizes)

    def _excluded_radius(self, category: int) -> float:
        """Return the radius around a row of this category in which no other is asked."""
        estimated = np.count_nonzero(self._nearest == category)
        fitting = np.flatnonzero(self._sizes <= estimated)
        scale = fitting[0] if len(fitting) else -1
        return float(min(self._balls.radii[scale], self._balls.radii[self._turn]))

"""Novelty of rows: how far each lies from the labelled ones, in a metric that they teach.

The novelty of a row is the smallest, over all categories, of its distance to the nearest row of
the category, divided by the cube root of the number of rows labelled with it: a common category is
expected to extend farther. A skipped row counts as a category of its own. After 16, 32 and 64
labelled rows, distances are measured anew in a metric that is learnt from them: along directions in
which rows of one category differ, they count for less.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kernova.discover.questions import Answer
from kernova.discover.strategies.spacing import ROUNDING, Spacing, distances_to, nearest_point
from kernova.parallel import slices
from kernova.typing import Indices, Mask, Matrix, Vector

# Changing any of these by half changes the results by no more than chance.
# A category labelled n times extends n^(1/3) times as far, as a ball in three dimensions would.
_EXTENT_POWER: Final = 1 / 3
# The metric is learnt again after these numbers of labelled rows.
_RELEARN_AFTER: Final = (16, 32, 64)
# But not where that would measure more distances than these: an eighth of a second.
_MOST_MEASURED_AGAIN: Final = 20_000_000
# Weight of the Euclidean prior of the metric, in labelled rows.
_PRIOR_ANSWERS: Final = 10
_METRIC_POWER: Final = 1 / 4
# With more axes, only directions in which labelled rows differ are learnt one by one.
_MANY_AXES: Final = 300
# From so many answers at once on, or below this fraction of open rows, only these are measured.
_BULK: Final = 1000
_FEW_OPEN: Final = 0.6
# Distances to categories that are kept for the next row of the category, and in copies.
_CACHED_BYTES: Final = 64 * 2**20
_COPIED_BYTES: Final = 32 * 2**20
# With a larger fraction of rows to measure again, a fresh start is as fast.
_MOST_REVISED: Final = 0.25
_MEASURED_AT_ONCE: Final = 4_000_000


def learned_metric(rows: Matrix, labels: Sequence[str]) -> Matrix | None:
    """Return a linear map, learnt from labelled rows, that evens out the spread of categories.

    Its axes are those of the within-category covariance, shrunk towards equal variances; each is
    scaled by its variance to the power -1/4, and an axis with the mean variance is left as it is.
    Distances along a direction in which rows of one category differ much then count for less. The
    power -1/2 would make all directions equal, but a few dozen answers, some of them wrong, do not
    determine directions well enough for that.

    Parameters
    ----------
    rows : array of shape (n_labelled, n_axes)
    labels : sequence of str
        The category of each row.

    Returns
    -------
    array of shape (n_axes, n_axes), or None
        To be multiplied with rows from the right; None while no category varies.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.novelty import learned_metric
    >>> rows = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> axes = learned_metric(rows, ["a", "a", "b"])  # the first axis varies within a category
    >>> np.abs(rows @ axes).max(axis=0).round(2)
    array([4.1 , 2.94])
    """
    centred, n_free = _within_categories(rows, labels)
    scatter = centred.T @ centred
    if n_free == 0 or np.trace(scatter) == 0:
        return None
    variance = np.trace(scatter) / n_free / len(scatter)
    prior = _PRIOR_ANSWERS * variance * np.eye(len(scatter))
    variances, directions = np.linalg.eigh((scatter + prior) / (n_free + _PRIOR_ANSWERS))
    return np.asarray(directions * (variance / variances) ** _METRIC_POWER)


def in_learned_metric(Z: Matrix, rows: Indices, labels: Sequence[str]) -> Matrix | None:
    """Return all rows in the metric learnt from some; None while no category varies.

    With many axes, those along which no labelled rows differ have one variance, that of the prior:
    the result is that of :func:`learned_metric`, up to a rotation.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.novelty import in_learned_metric
    >>> Z = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> np.abs(in_learned_metric(Z, np.arange(3), ["a", "a", "b"])[0]).round(2)
    array([0.  , 2.94])
    """
    n_axes = Z.shape[1]
    if n_axes <= _MANY_AXES:
        axes = learned_metric(Z[rows], labels)
        return None if axes is None else Z @ axes
    centred, n_free = _within_categories(Z[rows], labels)
    _, spreads, directions = np.linalg.svd(centred, full_matrices=False)
    total = float((spreads**2).sum())
    if n_free == 0 or total == 0:
        return None
    prior = _PRIOR_ANSWERS * total / n_free / n_axes
    variances = (np.append(spreads**2, 0.0) + prior) / (n_free + _PRIOR_ANSWERS)
    scales = (total / n_free / n_axes / variances) ** _METRIC_POWER
    return scales[-1] * Z + (Z @ directions.T * (scales[:-1] - scales[-1])) @ directions


def _within_categories(rows: Matrix, labels: Sequence[str]) -> tuple[Matrix, int]:
    """Return rows less the mean of their category, and the degrees of freedom left."""
    _, codes, counts = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, codes, rows)
    return rows - (sums / counts[:, None])[codes], len(rows) - len(counts)


class NotedAnswer(NamedTuple):
    """An answer about a row that was not shown before."""

    answer: Answer
    is_new: bool  # whether its category was not known before


def noted_answers(shown: Iterable[Answer]) -> Iterator[NotedAnswer]:
    """Yield answers about different rows, and whether the category of each was new."""
    known: set[str | None] = {None}
    for answer in shown:
        yield NotedAnswer(answer, answer.label not in known)
        known.add(answer.label)


class RowNovelty:
    """The novelty of every row, lowered by each answer.

    Parameters
    ----------
    spacing : Spacing
        The rows.

    Attributes
    ----------
    values : array of float
        The novelty of each row; infinite before the first answer.
    rows : array of shape (n_rows, n_axes)
        The rows in the metric learnt so far.
    is_shown : array of bool
        Rows that were labelled or skipped.
    shown : list of Answer
        The answers, in order, the first about each row.
    counts : dict of str to int
        Number of rows labelled with each category.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty import RowNovelty
    >>> from kernova.discover.strategies.spacing import spacing_of
    >>> novelty = RowNovelty(spacing_of(np.array([[0.0], [1.0], [8.0]])))
    >>> noted = novelty.note([Answer(0, "common"), Answer(1, "common")])
    >>> novelty.lower(noted)
    >>> round(float(novelty.values[2]), 2)  # 7, divided by the cube root of 2
    5.56
    """

    def __init__(self, spacing: Spacing) -> None:
        n_rows = len(spacing.rows)
        self._spacing = spacing
        self._n_learned = 0
        self.rows = spacing.rows  # in the learned metric, once there is one
        self.values = np.full(n_rows, np.inf)
        self.is_shown: Mask = np.zeros(n_rows, dtype=np.bool_)
        self.shown: list[Answer] = []
        self.counts: dict[str, int] = {}
        self._shown_rows: Indices = np.empty(0, dtype=np.intp)  # a prefix of the rows of shown
        self._to_category: dict[str, Vector] = {}  # distances to the nearest row of each
        self._rows_of: dict[str, list[int]] = {}  # the rows of each category
        self._nearest = np.full(n_rows, -1, dtype=np.int32)  # the category that gives the novelty
        self._codes: dict[str | None, int] = {}  # of the categories in there

    def note(self, answers: Sequence[Answer]) -> list[NotedAnswer]:
        """Add answers to those shown, and return them without rows that were shown before.

        Novelty follows when they are passed to :meth:`lower`.
        """
        rows = [answer.row for answer in answers]
        seen = {
            row for row, is_seen in zip(rows, self.is_shown[rows].tolist(), strict=True) if is_seen
        }
        noted = []
        for answer in answers:
            row, label, _ = answer
            if row in seen:
                continue
            seen.add(row)
            noted.append(NotedAnswer(answer, label is not None and label not in self.counts))
            self.shown.append(answer)
            if label is not None:
                self.counts[label] = self.counts.get(label, 0) + 1
        self.is_shown[rows] = True
        return noted

    def lower(self, noted: Sequence[NotedAnswer]) -> None:
        """Lower novelty by answers that were noted; all at once are the same as one by one."""
        if noted and not self._relearned():
            self._lower_novelty(_rows_by_label(one.answer for one in noted))

    def copy(self) -> "RowNovelty":
        """Return the same novelty, which does not follow this one."""
        other = copy(self)
        other.values, other.is_shown = self.values.copy(), self.is_shown.copy()
        other.shown, other.counts = list(self.shown), dict(self.counts)
        other._nearest, other._codes = self._nearest.copy(), dict(self._codes)
        other._rows_of = {label: list(rows) for label, rows in self._rows_of.items()}
        # Distances can be computed again; copies must not multiply their memory.
        is_small = len(self._to_category) * self.values.nbytes <= _COPIED_BYTES
        other._to_category = dict(self._to_category) if is_small else {}
        return other

    def revised(self, answers: Sequence[Answer]) -> "RowNovelty | None":
        """Return the novelty by other answers, of which most are the same.

        Rows whose nearest category is the same as before keep their novelty.

        Returns
        -------
        RowNovelty or None
            None where a fresh start would not take longer.
        """
        other = RowNovelty(self._spacing)
        shown = _rows_by_label(one.answer for one in other.note(answers))
        if other._metric_rows() != self._metric_rows():
            return None
        other.rows, other._n_learned = self.rows, self._n_learned
        other._rows_of = {label: rows for label, rows in shown.items() if label is not None}
        changed = self._changed_categories(shown)
        open_rows = np.flatnonzero(~other.is_shown)
        codes = [self._codes[label] for label in changed if label in self._codes]
        is_new = self.is_shown[open_rows] | np.isin(self._nearest[open_rows], codes)
        new, kept = open_rows[is_new], open_rows[~is_new]
        if len(new) > _MOST_REVISED * len(open_rows):
            return None
        other._codes = dict(self._codes)
        other.values[kept], other._nearest[kept] = self.values[kept], self._nearest[kept]
        for label in (one for one in changed if one in shown):
            distances = nearest_point(self.rows[kept], self.rows[shown[label]])
            other._lower_to(distances / other._extent(label), label, kept)
        other._measure(new, shown)
        return other

    def nearest_shown(self, row: int, nearly: Vector) -> tuple[Answer, float]:
        """Return the nearest row shown and its distance, given distances up to rounding."""
        later = [answer.row for answer in self.shown[len(self._shown_rows) :]]
        self._shown_rows = np.append(self._shown_rows, later).astype(np.intp, copy=False)
        to_shown = nearly[self._shown_rows]
        candidates = np.flatnonzero(to_shown <= to_shown.min() * ROUNDING)
        rows = self._spacing.rows
        distances = distances_to(rows[self._shown_rows[candidates]], rows[row])
        first = int(np.argmin(distances))
        return self.shown[candidates[first]], float(distances[first])

    def _metric_rows(self) -> list[tuple[int, int]]:
        """Return the rows that the metric is learnt from, each with the first of its category."""
        labelled = [one for one in self.shown if one.label is not None][: _RELEARN_AFTER[-1]]
        firsts: dict[str | None, int] = {}
        return [(one.row, firsts.setdefault(one.label, one.row)) for one in labelled]

    def _changed_categories(self, shown: dict[str | None, list[int]]) -> list[str | None]:
        """Return the categories that other rows are shown of than before."""
        skipped = [one.row for one in self.shown if one.label is None]
        before: dict[str | None, list[int]] = {None: skipped}
        before.update(self._rows_of)
        changed: list[str | None] = []
        for label in dict.fromkeys([*before, *shown]):
            old, new = before.get(label, []), shown.get(label, [])
            if old != new and set(old) != set(new):
                changed.append(label)
        return changed

    def _measure(self, new: Indices, shown: dict[str | None, list[int]]) -> None:
        """Compute the novelty of some rows from all that were shown."""
        rows = np.fromiter(chain.from_iterable(shown.values()), dtype=np.intp)
        starts = np.cumsum([0, *map(len, shown.values())])[:-1]
        extents = np.array([self._extent(label) for label in shown])
        codes = np.array([self._codes.setdefault(label, len(self._codes)) for label in shown])
        for block in slices(len(new), max(1, _MEASURED_AT_ONCE // max(1, len(rows)))):
            distances = cdist(self.rows[new[block]], self.rows[rows])
            scaled = np.minimum.reduceat(distances, starts, axis=1) / extents
            self.values[new[block]] = scaled.min(axis=1)
            self._nearest[new[block]] = codes[scaled.argmin(axis=1)]

    def _extent(self, label: str | None) -> float:
        """Return by how much farther a category extends than one with a single row."""
        return 1.0 if label is None else float(self.counts[label] ** _EXTENT_POWER)

    def _lower_novelty(self, new: dict[str | None, list[int]]) -> None:
        """Lower novelty by the rows of some categories, whose counts are up to date."""
        n_open = len(self.is_shown) - np.count_nonzero(self.is_shown)
        is_bulk = sum(map(len, new.values())) >= _BULK
        # Novelty matters for open rows alone; where they are many, selecting them takes longer.
        is_selected = is_bulk or n_open < _FEW_OPEN * len(self.is_shown)
        where = np.flatnonzero(~self.is_shown) if is_selected else slice(None)
        Z = self.rows[where]
        for label, rows in new.items():
            distances = nearest_point(Z, self.rows[rows])
            if label is not None:
                distances = self._to_whole_category(label, rows, where, Z, distances)
                distances = distances / self.counts[label] ** _EXTENT_POWER
            # Distances only fall and counts only rise, so other categories stay as they are.
            self._lower_to(distances, label, where)

    def _lower_to(self, novelty: Vector, label: str | None, where: Indices | slice) -> None:
        """Lower novelty where a category lies nearer than all others."""
        before = self.values[where]
        nearest = self._nearest[where]
        nearest[novelty < before] = self._codes.setdefault(label, len(self._codes))
        self._nearest[where] = nearest
        self.values[where] = np.minimum(before, novelty)

    def _to_whole_category(
        self, label: str, new: list[int], where: Indices | slice, Z: Matrix, distances: Vector
    ) -> Vector:
        """Return distances to the nearest row of a category, given those to its new rows."""
        known = self._rows_of.setdefault(label, [])
        before = self._to_category.pop(label, None)
        if before is not None:
            distances = np.minimum(before[where], distances)
        elif known:
            distances = np.minimum(distances, nearest_point(Z, self.rows[known]))
        known.extend(new)
        if isinstance(where, slice):
            self._to_category[label] = distances
        else:
            self._to_category[label] = np.full(len(self.rows), np.inf)
            self._to_category[label][where] = distances
        while len(self._to_category) * self.values.nbytes > _CACHED_BYTES:
            del self._to_category[next(iter(self._to_category))]  # the one not used for longest
        return distances

    def _relearned(self) -> bool:
        """Learn the metric if it is due, recompute novelty, and return whether that happened.

        Only the first answers are used, so that it does not matter how many came at once.
        """
        n_labelled = sum(self.counts.values())
        most = min(n_labelled, _MOST_MEASURED_AGAIN // len(self.rows))
        n_used = max((n for n in _RELEARN_AFTER if n <= most), default=0)
        if n_used == self._n_learned:
            return False
        self._n_learned = n_used
        labelled = [(one.row, one.label) for one in self.shown if one.label is not None][:n_used]
        # Products may round equal rows differently by their position in a block, hence the
        # indexing.
        distinct = self._spacing.distinct
        rows = distinct.inverse[[row for row, _ in labelled]]
        moved = in_learned_metric(distinct.rows, rows, [label for _, label in labelled])
        if moved is None:
            return False
        self.rows = moved[distinct.inverse]
        self._recompute_novelty()
        return True

    def _recompute_novelty(self) -> None:
        self.values[:], self._nearest[:] = np.inf, -1
        self._to_category.clear()
        self._rows_of.clear()
        self._lower_novelty(_rows_by_label(self.shown))


def _rows_by_label(answers: Iterable[Answer]) -> dict[str | None, list[int]]:
    """Return the rows of answers by label, which is None for skipped ones."""
    rows: dict[str | None, list[int]] = {}
    for answer in answers:
        rows.setdefault(answer.label, []).append(answer.row)
    return rows

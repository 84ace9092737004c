"""Novelty-density strategy: ask in sparse regions, and at times in dense ones; the default.

An undiscovered category lies far from every labelled row, in one of two ways: its rows are isolated
(a sparse region), or they lie closer together than the rows around them (a dense region within the
bulk). Each question is about the row farthest from the labelled rows, where the distance is
weighted towards sparse or towards dense regions. Sparse regions are the rule. Dense ones are asked
as long as they bring new categories; after a miss the strategy waits, twice as long each time.
Labelled rows also teach a metric: along directions in which rows of one category differ, distances
count for less.

The choice and its alternatives are described in ``docs/decisions/014-default-strategy.md``.
"""

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Question, free_rows
from kernova.discover.strategies.spacing import (
    Region,
    RowFacts,
    Spacing,
    distances_to,
    nearest_point,
    row_reason,
    spacing_of,
)
from kernova.parallel import slices
from kernova.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

__all__ = ["NoveltyAsker", "NoveltyDensityStrategy", "Spacing", "learned_metric", "spacing_of"]

# Changing any of these by half changes the results by no more than chance.
# A category labelled n times extends n^(1/3) times as far, as a ball in three dimensions would.
_EXTENT_POWER: Final = 1 / 3
# The metric is learnt again after these numbers of labelled rows.
_RELEARN_AFTER: Final = (16, 32, 64)
# Weight of the Euclidean prior of the metric, in labelled rows.
_PRIOR_ANSWERS: Final = 10
_METRIC_POWER: Final = 1 / 4
_SHORTEST_WAIT: Final = 2
_LONGEST_WAIT: Final = 32
_MEMBERS: Final = 10
_MEMBER_REACH: Final = 1.5
_ALTERNATIVES: Final = 5
# At most so many rows that are open for other experts are used: their own, then their clusters'.
_OPEN_ELSEWHERE: Final = 64
# Of the rows ranked for a single expert, so many are ranked anew besides those of other experts.
_FIRST_RANKED: Final = 64
# From so many answers at once on, or below this fraction of open rows, only these are measured.
_BULK: Final = 1000
_FEW_OPEN: Final = 0.6
# Distances to categories that are kept for the next row of the category, and in copies.
_CACHED_BYTES: Final = 64 * 2**20
_COPIED_BYTES: Final = 32 * 2**20
# With a larger fraction of rows to measure again, a fresh asker is started.
_MOST_REVISED: Final = 0.25
_MEASURED_AT_ONCE: Final = 4_000_000
# Distances by another order of summation may differ by less than this factor.
_ROUNDING: Final = 1 + 1e-9


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
    >>> from kernova.discover.strategies.novelty_density import learned_metric
    >>> rows = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> axes = learned_metric(rows, ["a", "a", "b"])  # the first axis varies within a category
    >>> np.abs(rows @ axes).max(axis=0).round(2)
    array([4.1 , 2.94])
    """
    _, codes, counts = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, codes, rows)
    centred = rows - (sums / counts[:, None])[codes]
    scatter = centred.T @ centred
    n_free = len(rows) - len(counts)
    if n_free == 0 or np.trace(scatter) == 0:
        return None
    variance = np.trace(scatter) / n_free / len(scatter)
    prior = _PRIOR_ANSWERS * variance * np.eye(len(scatter))
    variances, directions = np.linalg.eigh((scatter + prior) / (n_free + _PRIOR_ANSWERS))
    return np.asarray(directions * (variance / variances) ** _METRIC_POWER)


class _Ranking(NamedTuple):
    rows: Indices  # in ascending order
    bound: float  # the highest score of the other open rows
    is_whole: bool  # whether there are no others


class _Choice(NamedTuple):
    row: int
    region: Region | None  # None: the first question of all


@dataclass
class NoveltyDensityStrategy:
    """Ask the row farthest from all labelled rows: in sparse regions, at times in dense ones.

    It needs neither a hierarchy nor the number of categories, and starts at once on tables of any
    size for which nearest neighbours can be found.

    Parameters
    ----------
    standardize : {"sphere", "half-sphere", "zscore", "none"}
        How rows are standardised.

    Notes
    -----
    The novelty of a row is the minimum, over all categories c, of its distance to the nearest row
    labelled c, divided by the cube root of the number of rows labelled c: a common category is
    expected to extend farther. With the spacing r (geometric mean of the distances to the two
    nearest distinct rows), rows in sparse regions are ranked by novelty times r^(1/2) and rows in
    dense regions by novelty times r^(-2/3). A skipped row lowers the novelty of rows near it, too.
    After 16, 32 and 64 labelled rows novelty is recomputed with :func:`learned_metric`; spacings
    stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.preparation import Preparation
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty_density import NoveltyDensityStrategy
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0]])
    >>> asker = NoveltyDensityStrategy().start(Preparation(X))
    >>> asker.propose().row
    1
    >>> asker.observe(Answer(1, "common"))
    >>> asker.propose().row
    4
    """

    standardize: Standardization = "half-sphere"
    name: str = "novelty-density"

    def start(self, preparation: "Preparation") -> "NoveltyAsker":
        """Return a fresh asker; the spacing of the rows is computed once."""
        key = ("spacing", self.standardize)
        Z = preparation.rows(self.standardize)
        return NoveltyAsker(cached(preparation, key, lambda: spacing_of(Z, preparation.n_jobs)))


class NoveltyAsker:
    """One run: the novelty of every row, and the number of questions until the next dense one."""

    def __init__(self, spacing: Spacing) -> None:
        self._spacing = spacing
        self._median_spacing = float(np.median(spacing.spacing))
        self._rows = spacing.rows  # in the learned metric, once there is one
        self._n_learned = 0
        n_rows = len(spacing.rows)
        self._novelty = np.full(n_rows, np.inf)
        self._is_asked = np.zeros(n_rows, dtype=np.bool_)
        self._shown: list[Answer] = []
        self._shown_rows: Indices = np.empty(0, dtype=np.intp)  # a prefix of the rows of _shown
        self._counts: dict[str, int] = {}
        self._to_category: dict[str, Vector] = {}  # distances to the nearest row of each
        self._rows_of: dict[str, list[int]] = {}  # the rows of each category
        self._nearest = np.full(n_rows, -1, dtype=np.int32)  # the category that gives the novelty
        self._codes: dict[str | None, int] = {}  # of the categories in there
        self._rankings: dict[tuple[Region, int], _Ranking] = {}  # valid until the next answer
        # Rows open elsewhere, and distances to them of all open rows; until the next answer.
        self._elsewhere: tuple[list[int], Vector] = ([], np.empty(0))
        self._sparse_left = 1  # questions before the next one in a dense region
        self._wait = _SHORTEST_WAIT
        self._chosen: _Choice | None = None
        self._question: Question | None = None

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left.

        Rows open for other experts count as labelled, so that experts see different regions.
        """
        if len(besides):
            return self._proposed_besides(besides)
        choice = self._choice()
        if self._question is None and choice is not None:
            open_rows = np.flatnonzero(~self._is_asked)
            region: Region = choice.region or "dense"
            scores = self._novelty[open_rows] * self._spacing.weights[region][open_rows]
            best = _best(scores, open_rows, _ALTERNATIVES + 1)
            self._question = self._question_about(choice, best, self._novelty[choice.row])
        return self._question

    def copy(self) -> "NoveltyAsker":
        """Return an asker in the same state, which does not follow this one."""
        other = copy(self)
        other._novelty, other._is_asked = self._novelty.copy(), self._is_asked.copy()
        other._shown, other._counts = list(self._shown), dict(self._counts)
        other._nearest, other._codes = self._nearest.copy(), dict(self._codes)
        other._rankings = {}
        other._rows_of = {label: list(rows) for label, rows in self._rows_of.items()}
        # Distances can be computed again; copies must not multiply their memory.
        is_small = len(self._to_category) * self._novelty.nbytes <= _COPIED_BYTES
        other._to_category = dict(self._to_category) if is_small else {}
        return other

    def revised(self, answers: Sequence[Answer]) -> "NoveltyAsker | None":
        """Return an asker that has observed other answers, of which most are the same.

        Rows whose nearest category is the same as before keep their novelty.

        Returns
        -------
        NoveltyAsker or None
            None where a fresh asker would not take longer.
        """
        other = NoveltyAsker(self._spacing)
        shown = other._noted(answers)
        if other._metric_rows() != self._metric_rows():
            return None
        other._rows, other._n_learned = self._rows, self._n_learned
        other._rows_of = {label: rows for label, rows in shown.items() if label is not None}
        changed = self._changed_categories(shown)
        open_rows = np.flatnonzero(~other._is_asked)
        codes = [self._codes[label] for label in changed if label in self._codes]
        is_new = self._is_asked[open_rows] | np.isin(self._nearest[open_rows], codes)
        new, kept = open_rows[is_new], open_rows[~is_new]
        if len(new) > _MOST_REVISED * len(open_rows):
            return None
        other._codes = dict(self._codes)
        other._novelty[kept], other._nearest[kept] = self._novelty[kept], self._nearest[kept]
        for label in (one for one in changed if one in shown):
            distances = nearest_point(self._rows[kept], self._rows[shown[label]])
            other._lower_to(distances / other._extent(label), label, kept)
        other._measure(new, shown)
        return other

    def _metric_rows(self) -> list[tuple[int, int]]:
        """Return the rows that the metric is learnt from, each with the first of its category."""
        labelled = [one for one in self._shown if one.label is not None][: _RELEARN_AFTER[-1]]
        firsts: dict[str | None, int] = {}
        return [(one.row, firsts.setdefault(one.label, one.row)) for one in labelled]

    def _changed_categories(self, shown: dict[str | None, list[int]]) -> list[str | None]:
        """Return the categories that other rows are shown of than before."""
        skipped = [one.row for one in self._shown if one.label is None]
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
            distances = cdist(self._rows[new[block]], self._rows[rows])
            scaled = np.minimum.reduceat(distances, starts, axis=1) / extents
            self._novelty[new[block]] = scaled.min(axis=1)
            self._nearest[new[block]] = codes[scaled.argmin(axis=1)]

    def _extent(self, label: str | None) -> float:
        """Return by how much farther a category extends than one with a single row."""
        return 1.0 if label is None else float(self._counts[label] ** _EXTENT_POWER)

    def _proposed_besides(self, besides: Collection[int]) -> Question | None:
        is_free = free_rows(self._is_asked, besides)
        if not is_free.any():
            return None
        region: Region = self._region() or "sparse"
        elsewhere = self._apart([int(row) for row in islice(besides, _OPEN_ELSEWHERE)])
        # Before the first answer all rows are equally novel, and no ranking is a bound.
        n_ranked = _FIRST_RANKED if self._shown else len(self._rows)
        while True:
            ranking = self._ranked(region, n_ranked)
            is_ranked_free = is_free[ranking.rows]
            free = ranking.rows[is_ranked_free]
            to_elsewhere = self._to_elsewhere(ranking, elsewhere)
            novelty = np.minimum(self._novelty[free], to_elsewhere[is_ranked_free])
            scores = novelty * self._spacing.weights[region][free]
            best = _best(scores, np.arange(len(free)), _ALTERNATIVES + 1)
            # Other rows have at most the score that they have for a single expert.
            is_found = len(best) > _ALTERNATIVES and scores[best[-1]] > ranking.bound
            if is_found or ranking.is_whole:
                choice = _Choice(int(free[best[0]]), region)
                return self._question_about(choice, free[best], novelty[best[0]])
            n_ranked *= 8

    def _to_elsewhere(self, ranking: "_Ranking", points: list[int]) -> Vector:
        """Return the distances of ranked rows to the nearest of some that are open elsewhere.

        Before the first answer all rows are ranked, and each expert who joins adds one point: the
        distances to the others are kept.
        """
        seen, distances = self._elsewhere
        is_known = ranking.is_whole and len(distances) == len(ranking.rows)
        if not (is_known and seen and points[: len(seen)] == seen):
            seen, distances = [], np.full(len(ranking.rows), np.inf)
        new = points[len(seen) :]
        if new:
            to_new = nearest_point(self._rows[ranking.rows], self._rows[new])
            distances = np.minimum(distances, to_new)
        if ranking.is_whole:
            self._elsewhere = points, distances
        return distances

    def _ranked(self, region: Region, n: int) -> "_Ranking":
        """Return the ``n`` open rows with the highest scores for a single expert."""
        if (region, n) not in self._rankings:
            rows = np.flatnonzero(~self._is_asked)
            bound, is_whole = -np.inf, n >= len(rows)
            if not is_whole:
                scores = self._novelty[rows] * self._spacing.weights[region][rows]
                order = np.argpartition(-scores, n)
                bound, rows = float(scores[order[n]]), np.sort(rows[order[:n]])
            self._rankings[region, n] = _Ranking(rows, bound, is_whole)
        return self._rankings[region, n]

    def _apart(self, rows: list[int]) -> list[int]:
        """Return the rows without those that belong to the cluster of one before them."""
        points = self._rows[rows]
        distances = cdist(points, points)
        extents = _MEMBER_REACH**2 * self._spacing.spacing[rows]
        nearest, apart = np.full(len(rows), np.inf), []
        for position, row in enumerate(rows):
            if nearest[position] > extents[position]:
                apart.append(row)
                np.minimum(nearest, distances[position], out=nearest)
        return apart

    def observe(self, answer: Answer) -> None:
        """Use a label or a skip: rows near it become less novel."""
        self.observe_all([answer])

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Use many answers: the same as observing one by one, in less time."""
        new = self._noted(answers)
        if not new:
            return
        if not self._relearned():
            self._lower_novelty(new)
        self._chosen = self._question = None
        self._elsewhere = ([], np.empty(0))
        self._rankings.clear()

    def _noted(self, answers: Sequence[Answer]) -> dict[str | None, list[int]]:
        """Take turns and count as the answers say; return their rows by label."""
        new: dict[str | None, list[int]] = {}
        rows = [answer.row for answer in answers]
        seen = {
            row for row, is_seen in zip(rows, self._is_asked[rows].tolist(), strict=True) if is_seen
        }
        for answer in answers:
            row, label, is_asked = answer
            if row in seen:
                continue
            seen.add(row)
            if is_asked:
                is_new = label is not None and label not in self._counts
                self._update_turn(self._region(), is_new)
            self._shown.append(answer)
            new.setdefault(label, []).append(row)
            if label is not None:
                self._counts[label] = self._counts.get(label, 0) + 1
        self._is_asked[rows] = True
        return new

    def _region(self) -> Region | None:
        """Return the region of the open question; None for the first question of all."""
        if not self._shown:
            return None
        return "sparse" if self._sparse_left > 0 else "dense"

    def _update_turn(self, region: Region | None, is_new: bool) -> None:
        if region == "sparse":
            self._sparse_left -= 1
        elif region == "dense" and is_new:
            self._wait = _SHORTEST_WAIT
        elif region == "dense":
            self._sparse_left = self._wait
            self._wait = min(2 * self._wait, _LONGEST_WAIT)

    def _lower_novelty(self, new: dict[str | None, list[int]]) -> None:
        """Lower novelty by the rows of some categories, whose counts are up to date."""
        n_open = len(self._is_asked) - np.count_nonzero(self._is_asked)
        is_bulk = sum(map(len, new.values())) >= _BULK
        # Novelty matters for open rows alone; where they are many, selecting them takes longer.
        is_selected = is_bulk or n_open < _FEW_OPEN * len(self._is_asked)
        where = np.flatnonzero(~self._is_asked) if is_selected else slice(None)
        Z = self._rows[where]
        for label, rows in new.items():
            distances = nearest_point(Z, self._rows[rows])
            if label is not None:
                distances = self._to_whole_category(label, rows, where, Z, distances)
                distances = distances / self._counts[label] ** _EXTENT_POWER
            # Distances only fall and counts only rise, so other categories stay as they are.
            self._lower_to(distances, label, where)

    def _lower_to(self, novelty: Vector, label: str | None, where: Indices | slice) -> None:
        """Lower novelty where a category lies nearer than all others."""
        before = self._novelty[where]
        nearest = self._nearest[where]
        nearest[novelty < before] = self._codes.setdefault(label, len(self._codes))
        self._nearest[where] = nearest
        self._novelty[where] = np.minimum(before, novelty)

    def _to_whole_category(
        self, label: str, new: list[int], where: Indices | slice, Z: Matrix, distances: Vector
    ) -> Vector:
        """Return distances to the nearest row of a category, given those to its new rows."""
        known = self._rows_of.setdefault(label, [])
        before = self._to_category.pop(label, None)
        if before is not None:
            distances = np.minimum(before[where], distances)
        elif known:
            distances = np.minimum(distances, nearest_point(Z, self._rows[known]))
        known.extend(new)
        if isinstance(where, slice):
            self._to_category[label] = distances
        else:
            self._to_category[label] = np.full(len(self._rows), np.inf)
            self._to_category[label][where] = distances
        while len(self._to_category) * self._novelty.nbytes > _CACHED_BYTES:
            del self._to_category[next(iter(self._to_category))]  # the one not used for longest
        return distances

    def _relearned(self) -> bool:
        """Learn the metric if it is due, recompute novelty, and return whether that happened.

        Only the first answers are used, so that it does not matter how many came at once.
        """
        n_labelled = sum(self._counts.values())
        n_used = max((n for n in _RELEARN_AFTER if n <= n_labelled), default=0)
        if n_used == self._n_learned:
            return False
        self._n_learned = n_used
        labelled = [(one.row, one.label) for one in self._shown if one.label is not None][:n_used]
        rows = self._spacing.rows[[row for row, _ in labelled]]
        axes = learned_metric(rows, [label for _, label in labelled])
        if axes is None:
            return False
        # Products may round equal rows differently by their position in a block, hence the
        # indexing.
        distinct = self._spacing.distinct
        self._rows = (distinct.rows @ axes)[distinct.inverse]
        self._recompute_novelty()
        return True

    def _recompute_novelty(self) -> None:
        self._novelty[:], self._nearest[:] = np.inf, -1
        self._to_category.clear()
        self._rows_of.clear()
        shown: dict[str | None, list[int]] = {}
        for one in self._shown:
            shown.setdefault(one.label, []).append(one.row)
        self._lower_novelty(shown)

    def _choice(self) -> _Choice | None:
        if self._chosen is None and not self._is_asked.all():
            if not self._shown:
                self._chosen = _Choice(self._spacing.densest, None)
            else:
                region: Region = self._region() or "sparse"
                open_rows = np.flatnonzero(~self._is_asked)
                scores = self._novelty[open_rows] * self._spacing.weights[region][open_rows]
                self._chosen = _Choice(int(open_rows[np.argmax(scores)]), region)
        return self._chosen

    # --- the question as shown --------------------------------------------------------------

    def _question_about(self, choice: _Choice, best: Indices, novelty: float) -> Question:
        row = choice.row
        nearly = nearest_point(self._spacing.rows, self._spacing.rows[row : row + 1])
        members = self._neighbors_of(row, nearly)
        others = [int(other) for other in best if other != row]
        evidence = {
            "spacing": float(self._spacing.spacing[row]),
            "share_spaced_closer": float(self._spacing.closer[row]),
            "share_spaced_wider": float(self._spacing.wider[row]),
        }
        if choice.region is None:
            reason = "No row is labelled yet, and this row lies in the densest region."
        elif not self._shown:
            evidence["novelty"] = float(novelty)
            reason = "No row is labelled yet, and this row lies far from those of other experts."
        else:
            nearest, distance = self._nearest_shown(row, nearly)
            evidence |= {
                "distance_to_shown": distance,
                "novelty": float(novelty),
                "n_shown": float(len(self._shown)),
            }
            reason = self._reason(row, choice.region, members, (nearest, distance))
        return Question(row, members, reason, evidence, tuple(others[:_ALTERNATIVES]))

    def _nearest_shown(self, row: int, nearly: Vector) -> tuple[Answer, float]:
        """Return the nearest row shown and its distance, given distances up to rounding."""
        later = [answer.row for answer in self._shown[len(self._shown_rows) :]]
        self._shown_rows = np.append(self._shown_rows, later).astype(np.intp, copy=False)
        to_shown = nearly[self._shown_rows]
        candidates = np.flatnonzero(to_shown <= to_shown.min() * _ROUNDING)
        rows = self._spacing.rows
        distances = distances_to(rows[self._shown_rows[candidates]], rows[row])
        first = int(np.argmin(distances))
        return self._shown[candidates[first]], float(distances[first])

    def _reason(
        self, row: int, region: Region, members: Indices, nearest: tuple[Answer, float]
    ) -> str:
        answer, distance = nearest
        if distance == 0:
            return "This row duplicates one that was shown, as do all remaining rows."
        spacing = self._spacing
        facts = RowFacts(
            n_group=int(np.count_nonzero(~self._is_asked[members])),
            is_more=len(members) >= _MEMBERS,
            closer=float(spacing.closer[row]),
            wider=float(spacing.wider[row]),
            n_rows=len(self._rows),
            nearest=answer,
            distance=distance,
            spacing=float(spacing.spacing[row]),
            median_spacing=self._median_spacing,
        )
        return row_reason(region, facts)

    def _neighbors_of(self, row: int, nearly: Vector) -> Indices:
        """Return the rows next to this one with a similar spacing.

        The neighbours of an isolated row usually belong to another group and lie much closer
        together: labelling them with it would label the wrong rows.

        Parameters
        ----------
        row : int
            Row index.
        nearly : array of shape (n_rows,)
            Distances to it, up to rounding.
        """
        spacing, reach = self._spacing.spacing, _MEMBER_REACH * self._spacing.spacing[row]
        near = np.flatnonzero(nearly <= reach * _ROUNDING)
        distances = distances_to(self._spacing.rows[near], self._spacing.rows[row])
        n_members = min(_MEMBERS, len(nearly))
        if len(near) >= n_members:
            reach = min(reach, np.partition(distances, n_members - 1)[n_members - 1])
        is_similar = spacing[near] * _MEMBER_REACH >= spacing[row]
        return near[(distances <= reach) & (is_similar | (distances == 0))]


def _best(scores: Vector, rows: Indices, n: int) -> Indices:
    """Return the ``n`` rows with the highest scores, the best first; ties go to the first."""
    n = min(n, len(rows))
    lowest = np.partition(scores, len(scores) - n)[len(scores) - n]
    positions = np.flatnonzero(scores >= lowest)
    return rows[positions[np.argsort(-scores[positions], kind="stable")[:n]]]

"""Novelty-density strategy: ask in sparse regions, and at times in dense ones.

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
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Need, Question, free_rows
from kernova.discover.strategies.novelty import RowNovelty, noted_answers
from kernova.discover.strategies.ranking import best_rows
from kernova.discover.strategies.spacing import (
    MEMBER_REACH,
    MOST_MEMBERS,
    Region,
    RowFacts,
    Spacing,
    nearest_point,
    row_reason,
    similar_neighbors,
    spacing_of,
)
from kernova.typing import Indices, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

_SHORTEST_WAIT: Final = 2
_LONGEST_WAIT: Final = 32
_ALTERNATIVES: Final = 5
# At most so many rows that are open for other experts are used: their own, then their clusters'.
_OPEN_ELSEWHERE: Final = 64
# Of the rows ranked for a single expert, so many are ranked anew besides those of other experts.
_FIRST_RANKED: Final = 64


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
    After 16, 32 and 64 labelled rows novelty is recomputed with
    :func:`~kernova.discover.strategies.novelty.learned_metric`; spacings stay as they are.

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
    needs: ClassVar[tuple[Need, ...]] = ("rows", "neighbors")

    def start(self, preparation: "Preparation") -> "NoveltyAsker":
        """Return a fresh asker; the spacing of the rows is computed once."""
        key = ("spacing", self.standardize)
        Z = preparation.rows(self.standardize)
        return NoveltyAsker(cached(preparation, key, lambda: spacing_of(Z, preparation.n_jobs)))


class _Regions:
    """Which region has its turn, and the number of questions until the next dense one."""

    def __init__(self) -> None:
        self._is_started = False
        self._sparse_left = 1  # questions before the next one in a dense region
        self._wait = _SHORTEST_WAIT

    @property
    def current(self) -> Region | None:
        """The region of the open question; None for the first question of all."""
        if not self._is_started:
            return None
        return "sparse" if self._sparse_left > 0 else "dense"

    def record(self, answer: Answer, *, is_new: bool) -> None:
        """Count an answer; rows that were not asked change nothing but the start."""
        region = self.current if answer.is_asked else None
        if region == "sparse":
            self._sparse_left -= 1
        elif region == "dense" and is_new:
            self._wait = _SHORTEST_WAIT
        elif region == "dense":
            self._sparse_left = self._wait
            self._wait = min(2 * self._wait, _LONGEST_WAIT)
        self._is_started = True


class NoveltyAsker:
    """One run: the novelty of every row, and the number of questions until the next dense one."""

    def __init__(self, spacing: Spacing, novelty: RowNovelty | None = None) -> None:
        self._spacing = spacing
        self._median_spacing = float(np.median(spacing.spacing))
        self._novelty = RowNovelty(spacing) if novelty is None else novelty
        self._regions = _Regions()
        self._rankings: dict[tuple[Region, int], _Ranking] = {}  # valid until the next answer
        # Rows open elsewhere, and distances to them of all open rows; until the next answer.
        self._elsewhere: tuple[list[int], Vector] = ([], np.empty(0))
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
            open_rows, scores = self._open_scores(choice.region or "dense")
            best = best_rows(scores, open_rows, _ALTERNATIVES + 1)
            self._question = self._question_about(choice, best, self._novelty.values[choice.row])
        return self._question

    def observe(self, answer: Answer) -> None:
        """Use a label or a skip: rows near it become less novel."""
        self.observe_all([answer])

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Use many answers: the same as observing one by one, in less time."""
        noted = self._novelty.note(answers)
        if not noted:
            return
        for answer, is_new in noted:
            self._regions.record(answer, is_new=is_new)
        self._novelty.lower(noted)
        self._chosen = self._question = None
        self._elsewhere = ([], np.empty(0))
        self._rankings.clear()

    def copy(self) -> "NoveltyAsker":
        """Return an asker in the same state, which does not follow this one."""
        other = copy(self)
        other._novelty, other._regions = self._novelty.copy(), copy(self._regions)
        other._rankings = {}
        return other

    def revised(self, answers: Sequence[Answer]) -> "NoveltyAsker | None":
        """Return an asker that has observed other answers, of which most are the same.

        Returns
        -------
        NoveltyAsker or None
            None where a fresh asker would not take longer.
        """
        novelty = self._novelty.revised(answers)
        if novelty is None:
            return None
        other = NoveltyAsker(self._spacing, novelty)
        for answer, is_new in noted_answers(novelty.shown):
            other._regions.record(answer, is_new=is_new)
        return other

    def _open_scores(self, region: Region) -> tuple[Indices, Vector]:
        """Return the open rows, and the score of each in a region."""
        rows = np.flatnonzero(~self._novelty.is_shown)
        return rows, self._novelty.values[rows] * self._spacing.weights[region][rows]

    def _proposed_besides(self, besides: Collection[int]) -> Question | None:
        is_free = free_rows(self._novelty.is_shown, besides)
        if not is_free.any():
            return None
        region: Region = self._regions.current or "sparse"
        elsewhere = self._apart([int(row) for row in islice(besides, _OPEN_ELSEWHERE)])
        # Before the first answer all rows are equally novel, and no ranking is a bound.
        n_ranked = _FIRST_RANKED if self._novelty.shown else len(self._novelty.rows)
        while True:
            ranking = self._ranked(region, n_ranked)
            is_ranked_free = is_free[ranking.rows]
            free = ranking.rows[is_ranked_free]
            to_elsewhere = self._to_elsewhere(ranking, elsewhere)
            novelty = np.minimum(self._novelty.values[free], to_elsewhere[is_ranked_free])
            scores = novelty * self._spacing.weights[region][free]
            best = best_rows(scores, np.arange(len(free)), _ALTERNATIVES + 1)
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
            to_new = nearest_point(self._novelty.rows[ranking.rows], self._novelty.rows[new])
            distances = np.minimum(distances, to_new)
        if ranking.is_whole:
            self._elsewhere = points, distances
        return distances

    def _ranked(self, region: Region, n: int) -> "_Ranking":
        """Return the ``n`` open rows with the highest scores for a single expert."""
        if (region, n) not in self._rankings:
            rows, scores = self._open_scores(region)
            bound, is_whole = -np.inf, n >= len(rows)
            if not is_whole:
                order = np.argpartition(-scores, n)
                bound, rows = float(scores[order[n]]), np.sort(rows[order[:n]])
            self._rankings[region, n] = _Ranking(rows, bound, is_whole)
        return self._rankings[region, n]

    def _apart(self, rows: list[int]) -> list[int]:
        """Return the rows without those that belong to the cluster of one before them."""
        points = self._novelty.rows[rows]
        distances = cdist(points, points)
        extents = MEMBER_REACH**2 * self._spacing.spacing[rows]
        nearest, apart = np.full(len(rows), np.inf), []
        for position, row in enumerate(rows):
            if nearest[position] > extents[position]:
                apart.append(row)
                np.minimum(nearest, distances[position], out=nearest)
        return apart

    def _choice(self) -> _Choice | None:
        if self._chosen is None and not self._novelty.is_shown.all():
            if not self._novelty.shown:
                self._chosen = _Choice(self._spacing.densest, None)
            else:
                region: Region = self._regions.current or "sparse"
                open_rows, scores = self._open_scores(region)
                self._chosen = _Choice(int(open_rows[np.argmax(scores)]), region)
        return self._chosen

    # --- the question as shown --------------------------------------------------------------

    def _question_about(self, choice: _Choice, best: Indices, novelty: float) -> Question:
        row = choice.row
        nearly = nearest_point(self._spacing.rows, self._spacing.rows[row : row + 1])
        members = similar_neighbors(self._spacing, row, nearly)
        others = [int(other) for other in best if other != row]
        evidence = {
            "spacing": float(self._spacing.spacing[row]),
            "share_spaced_closer": float(self._spacing.closer[row]),
            "share_spaced_wider": float(self._spacing.wider[row]),
        }
        if choice.region is None:
            reason = "No row is labelled yet, and this row lies in the densest region."
        elif not self._novelty.shown:
            evidence["novelty"] = float(novelty)
            reason = "No row is labelled yet, and this row lies far from those of other experts."
        else:
            nearest, distance = self._novelty.nearest_shown(row, nearly)
            evidence |= {
                "distance_to_shown": distance,
                "novelty": float(novelty),
                "n_shown": float(len(self._novelty.shown)),
            }
            reason = self._reason(row, choice.region, members, (nearest, distance))
        return Question(row, members, reason, evidence, tuple(others[:_ALTERNATIVES]))

    def _reason(
        self, row: int, region: Region, members: Indices, nearest: tuple[Answer, float]
    ) -> str:
        answer, distance = nearest
        if distance == 0:
            return "This row duplicates one that was shown, as do all remaining rows."
        spacing = self._spacing
        facts = RowFacts(
            n_group=int(np.count_nonzero(~self._novelty.is_shown[members])),
            is_more=len(members) >= MOST_MEMBERS,
            closer=float(spacing.closer[row]),
            wider=float(spacing.wider[row]),
            n_rows=len(self._novelty.rows),
            nearest=answer,
            distance=distance,
            spacing=float(spacing.spacing[row]),
            median_spacing=self._median_spacing,
        )
        return row_reason(region, facts)

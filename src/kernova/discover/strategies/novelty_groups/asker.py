"""Asker of the novelty-groups strategy: one run, for one expert or several."""

from collections.abc import Collection, Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from kernova.discover.questions import Answer, Question, free_rows
from kernova.discover.strategies.novelty import NotedAnswer, RowNovelty, noted_answers
from kernova.discover.strategies.novelty_groups.doubts import Doubts
from kernova.discover.strategies.novelty_groups.groups import GroupTree, OpenGroups, members_of
from kernova.discover.strategies.novelty_groups.margins import Margins
from kernova.discover.strategies.novelty_groups.reasons import (
    column_beyond,
    group_reason,
    novel_reason,
)
from kernova.discover.strategies.novelty_groups.turns import Turns
from kernova.discover.strategies.ranking import best_by_bound
from kernova.discover.strategies.spacing import (
    MOST_MEMBERS,
    Region,
    RowFacts,
    Spacing,
    nearest_point,
    row_reason,
    similar_neighbors,
)
from kernova.typing import Indices, Mask, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

Way = Literal["first", "novel", "group", "dense"]

# A row that the classifier is sure of counts a tenth, as if that much doubt were left.
_DOUBT_LEFT: Final = 0.1
_ALTERNATIVES: Final = 5
# At most so many rows that are open for other experts are used: their own, then their clusters'.
_OPEN_ELSEWHERE: Final = 64
_TINY: Final = 1e-300


class Choice(NamedTuple):
    """A row to ask, how it was chosen, its group, and the rows ranked next."""

    row: int
    way: Way
    novelty: float = np.inf
    group: int | None = None
    next_rows: tuple[int, ...] = ()


class NoveltyGroupsAsker:
    """One run: novelty, open groups, margins, doubts, and whose turn it is.

    Parameters
    ----------
    preparation : Preparation
        The table, with the names of its columns for reasons.
    spacing : Spacing
        The standardised rows and their spacing.
    inverse, firsts : array of int
        The distinct row of each row, and the row at which each distinct one appears first.
    tree : GroupTree
        Groups of distinct rows.
    novelty : RowNovelty, optional
        The novelty by answers that are known already.
    """

    def __init__(
        self,
        preparation: "Preparation",
        spacing: Spacing,
        inverse: Indices,
        firsts: Indices,
        tree: GroupTree,
        novelty: RowNovelty | None = None,
    ) -> None:
        self._table, self._spacing, self._tree = preparation, spacing, tree
        self._median_spacing = float(np.median(spacing.spacing))
        self._inverse, self._firsts = inverse, firsts
        self._novelty = RowNovelty(spacing) if novelty is None else novelty
        self._groups = OpenGroups(tree)
        self._margins = Margins(spacing.rows)
        self._doubts = Doubts(spacing.rows)
        self._turns = Turns(("novel", "group"))
        self._question: Question | None = None
        if novelty is not None:
            for noted in noted_answers(novelty.shown):
                self._count(noted)

    # --- answers ------------------------------------------------------------------------------

    def observe(self, answer: Answer) -> None:
        """Use a label or a skip."""
        self.observe_all([answer])

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Use many answers: the same as observing one by one, in less time."""
        noted = self._novelty.note(answers)
        for one in noted:
            self._count(one)
        if noted:
            self._novelty.lower(noted)
            self._question = None

    def copy(self) -> "NoveltyGroupsAsker":
        """Return an asker in the same state, which does not follow this one."""
        other = copy(self)
        other._novelty, other._groups = self._novelty.copy(), self._groups.copy()
        other._margins, other._doubts = self._margins.copy(), self._doubts.copy()
        other._turns = self._turns.copy()
        return other

    def revised(self, answers: Sequence[Answer]) -> "NoveltyGroupsAsker | None":
        """Return an asker that has observed other answers; None if a fresh one is as fast."""
        novelty = self._novelty.revised(answers)
        if novelty is None:
            return None
        return NoveltyGroupsAsker(
            self._table, self._spacing, self._inverse, self._firsts, self._tree, novelty
        )

    def _count(self, noted: NotedAnswer) -> None:
        answer, is_new = noted
        row = int(self._inverse[answer.row])
        is_doubtful = False
        if answer.is_asked:
            self._turns.record(is_new=is_new)
            is_doubtful = self._groups.is_among(row) and self._doubts.contradict(answer)
            self._doubts.add(answer)
        if not is_doubtful:
            self._groups.close(row)

    # --- questions ----------------------------------------------------------------------------

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left.

        Rows open for other experts count as labelled, so that experts see different regions.
        """
        if len(besides):
            is_free = free_rows(self._novelty.is_shown, besides)
            return self._question_about(self._choice(is_free, besides)) if is_free.any() else None
        if self._question is None and not self._novelty.is_shown.all():
            self._question = self._question_about(self._choice(~self._novelty.is_shown))
        return self._question

    def _choice(self, is_free: Mask, besides: Collection[int] = ()) -> Choice:
        if not self._novelty.shown and not len(besides):
            return Choice(self._spacing.densest, "first")
        groups = self._groups
        if len(besides):
            groups = groups.copy()
            for row in islice(besides, _OPEN_ELSEWHERE):
                groups.close(int(self._inverse[row]))
        if self._novelty.shown and self._turns.current == "group":
            return self._next_group(groups, is_free) or self._next_row("dense", is_free, besides)
        return self._next_row("novel", is_free, besides)

    def _next_row(
        self, way: Literal["novel", "dense"], is_free: Mask, besides: Collection[int]
    ) -> Choice:
        """Return the free row of the highest score, in a sparse or in a dense region."""
        rows = np.flatnonzero(is_free)
        Z = self._novelty.rows
        region: Region = "sparse" if way == "novel" else "dense"
        weights = np.log(self._spacing.weights[region][rows])
        novelty = self._novelty.values[rows]
        elsewhere = [int(row) for row in islice(besides, _OPEN_ELSEWHERE)]

        def scores(some: Indices) -> Vector:
            values = novelty[some]
            if elsewhere:
                values = np.minimum(values, nearest_point(Z[rows[some]], Z[elsewhere]))
            return _log(values) + weights[some] + self._log_doubt(rows[some])

        bounds = _log(novelty) + weights + np.log1p(_DOUBT_LEFT)
        best = best_by_bound(bounds, rows, scores, _ALTERNATIVES + 1).tolist()
        values = [float(self._novelty.values[best[0]])]
        if elsewhere:
            values.append(float(nearest_point(Z[best[:1]], Z[elsewhere])[0]))
        return Choice(best[0], way, min(values), next_rows=tuple(best[1:]))

    def _next_group(self, groups: OpenGroups, is_free: Mask) -> Choice | None:
        """Return the densest row of the open group of the highest score."""
        ranking = groups.ranking
        rows = self._firsts[self._tree.densest[ranking]]
        # Others are open elsewhere, with their groups.
        is_usable = is_free[rows] | self._novelty.is_shown[rows]
        ranking, rows = ranking[is_usable], rows[is_usable]
        if len(ranking) == 0:
            return None
        bits = np.log1p(self._tree.bits[ranking])
        best = best_by_bound(
            bits + np.log1p(_DOUBT_LEFT),
            np.arange(len(ranking)),
            lambda some: bits[some] + self._log_doubt(rows[some]),
            4 * _ALTERNATIVES,  # groups within groups have the same densest row
        )
        asked: dict[int, int] = {}  # by row, the group
        for group in ranking[best].tolist():
            row = self._densest_free(group, is_free)
            if row is not None:
                asked.setdefault(row, group)
        if not asked:
            return None
        row, *others = asked
        novelty = float(self._novelty.values[row])
        return Choice(row, "group", novelty, asked[row], tuple(others[:_ALTERNATIVES]))

    def _densest_free(self, group: int, is_free: Mask) -> int | None:
        """Return the densest row of a group that may be asked.

        Where an answer was doubtful, a row of an open group was shown.
        """
        row = int(self._firsts[self._tree.densest[group]])
        if is_free[row]:
            return row
        members = members_of(self._tree, group)
        members = members[is_free[self._firsts[members]]]
        if len(members) == 0:
            return None
        return int(self._firsts[members[np.argmin(self._tree.core[members])]])

    def _log_doubt(self, rows: Indices) -> Vector:
        margins = self._margins.of(rows, self._novelty.shown)
        return np.asarray(np.log(1 + _DOUBT_LEFT - margins))

    # --- the question as shown ----------------------------------------------------------------

    def _question_about(self, choice: Choice) -> Question:
        spacing, row, shown = self._spacing, choice.row, self._novelty.shown
        nearly = nearest_point(spacing.rows, spacing.rows[row : row + 1])
        members = self._members(choice, nearly)
        evidence = {
            "spacing": float(spacing.spacing[row]),
            "share_spaced_closer": float(spacing.closer[row]),
            "share_spaced_wider": float(spacing.wider[row]),
        }
        if choice.way == "first":
            reason = "No row is labelled yet, and this row lies in the densest region."
        elif not shown:
            evidence["novelty"] = choice.novelty
            reason = "No row is labelled yet, and this row lies far from those of other experts."
        else:
            answer, distance = self._novelty.nearest_shown(row, nearly)
            evidence |= {
                "distance_to_shown": distance,
                "novelty": choice.novelty,
                "n_shown": float(len(shown)),
            }
            if choice.group is not None:
                evidence["group_size"] = float(len(members))
                evidence["group_bits"] = float(self._tree.bits[choice.group])
            reason = self._reason(choice, members, answer, distance)
        return Question(row, members, reason, evidence, choice.next_rows)

    def _members(self, choice: Choice, nearly: Vector) -> Indices:
        """Return the rows of the group, or those near the row with a similar spacing."""
        if choice.group is None:
            return similar_neighbors(self._spacing, choice.row, nearly)
        is_member = np.zeros(len(self._firsts), dtype=np.bool_)
        is_member[members_of(self._tree, choice.group)] = True
        return np.flatnonzero(is_member[self._inverse])

    def _reason(self, choice: Choice, members: Indices, nearest: Answer, distance: float) -> str:
        if distance == 0:
            return "This row duplicates one that was shown."
        row, spacing, novelty = choice.row, self._spacing, self._novelty
        n_unmet = int(np.count_nonzero(~novelty.is_shown[members]))
        facts = RowFacts(
            n_group=n_unmet,
            is_more=choice.group is None and len(members) >= MOST_MEMBERS,
            closer=float(spacing.closer[row]),
            wider=float(spacing.wider[row]),
            n_rows=len(spacing.rows),
            nearest=nearest,
            distance=distance,
            spacing=float(spacing.spacing[row]),
            median_spacing=self._median_spacing,
        )
        if choice.way == "group":
            return group_reason(facts, len(members), len(novelty.shown), n_unmet)
        if choice.way == "dense":
            return row_reason("dense", facts)
        same = [one.row for one in novelty.shown if one.label == nearest.label]
        beyond = None if nearest.label is None else column_beyond(self._table, row, same)
        return novel_reason(facts, self._margins.likeliest(row, novelty.shown), beyond, len(same))


def _log(values: Vector) -> Vector:
    """Return logarithms; rows at distance 0 come last, and none is infinite before any answer."""
    return np.asarray(np.log(np.clip(values, _TINY, 1 / _TINY)))

"""What answers teach about directions: along which of them a category spreads by itself.

Ask strangers, and now and then a crowd: the default.

A category that nobody has met yet lies far from every row that was named, in one of two ways. Its
rows stand by themselves, as strangers; or they lie closer together than what surrounds them, as a
crowd within the bulk. Each question is about the row that is farthest from what was named, where
distance counts for more among rows that are sparse (strangers) or among rows that are dense
(crowds). Strangers are the rule. A look at crowds goes on while it finds something new; after a
miss it waits, twice as long each time. What was named also teaches which directions matter: where
rows of one category differ among themselves, distance counts for less.

How this was chosen, and what else was tried, stands in ``docs/decisions/014-default-strategy.md``.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import kept
from kernova.discover.questions import Answer, Question, free_rows
from kernova.discover.strategies.hierarchical import distances_to
from kernova.discover.strategies.spacing import (
    Look,
    RowFacts,
    Spacing,
    nearest_of,
    reason_of_row,
    spacing_of,
)
from kernova.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation
__all__ = ["NoveltyAsker", "Spacing", "StrangersAndCrowds", "spacing_of"]


# Before any answer all directions matter alike; that weighs as much as so many answers.
_PRIOR_ANSWERS: Final = 10
_POWER: Final = 1 / 4


def taught_axes(rows: Matrix, labels: Sequence[str]) -> Matrix | None:
    """Give axes along which categories spread more equally, learnt from rows that were named.

    These are the axes of the covariance within categories, shrunk towards equal variances, each
    scaled by its variance to the power -1/4; an axis with the mean variance stays as it is. Along a
    direction in which rows of one category differ much, distances then count for less. The power
    -1/2 would make them count equally, but a few dozen answers, some of them wrong, do not tell
    directions well enough for that.

    Parameters
    ----------
    rows : array of shape (n_named, n_axes)
    labels : sequence of str
        The category of each.

    Returns
    -------
    array of shape (n_axes, n_axes), or None
        To be multiplied with rows from the right; None while no category varies.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.novelty_density import taught_axes
    >>> rows = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> axes = taught_axes(rows, ["a", "a", "b"])  # the first axis varies within a category
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
    return np.asarray(directions * (variance / variances) ** _POWER)


# Each of these can be moved by half without moving the figures beyond chance.
# A category named n times reaches n^(1/3) times as far, as a ball in three dimensions would.
_REACH_POWER: Final = 1 / 3
# After so many answers, distances are measured anew along the axes they teach.
_LESSONS: Final = (16, 32, 64)
_SHORTEST_WAIT: Final = 2
_LONGEST_WAIT: Final = 32
_MEMBERS: Final = 10
_MEMBER_REACH: Final = 1.5
_ALTERNATIVES: Final = 5
# Of what others have before them, so many rows are looked at: their own, then their clusters'.
_OPEN_ELSEWHERE: Final = 64


class _Choice(NamedTuple):
    row: int
    look: Look | None  # None: the first question of all


@dataclass
class StrangersAndCrowds:
    """Ask the row farthest from what was named: among sparse rows, now and then among dense ones.

    It needs neither a hierarchy nor the number of categories, and starts at once on tables of any
    size for which nearest neighbours can be found.

    Parameters
    ----------
    standardize : {"sphere", "half-sphere", "zscore", "none"}
        How rows are standardised.

    Notes
    -----
    The novelty of a row is the smallest, over all categories c, of its distance to the nearest row
    named c, divided by the cube root of how often c was named: what is common is expected to
    reach farther. With the spacing r (geometric mean of the distances to the two nearest rows that
    differ), strangers are ranked by novelty times r^(1/2) and crowds by novelty times r^(-2/3).
    A row that was passed over counts as a place that was looked at. After 16, 32 and 64 answers
    novelty is measured anew, along :func:`taught_axes`;
    spacings stay as they were.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.preparation import Preparation
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty_density import StrangersAndCrowds
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0]])
    >>> asker = StrangersAndCrowds().start(Preparation(X))
    >>> asker.propose().row
    1
    >>> asker.observe(Answer(1, "usual"))
    >>> asker.propose().row
    4
    """

    standardize: Standardization = "half-sphere"
    name: str = "strangers-and-crowds"

    def start(self, preparation: "Preparation") -> "NoveltyAsker":
        """Return a fresh asker; the rows' spacing is worked out once."""
        key = ("spacing", self.standardize)
        Z = preparation.rows(self.standardize)
        return NoveltyAsker(kept(preparation, key, lambda: spacing_of(Z, preparation.n_jobs)))


class NoveltyAsker:
    """One run: how novel every row still is, and when to look at crowds again."""

    def __init__(self, spacing: Spacing) -> None:
        self._spacing = spacing
        self._usual_spacing = float(np.median(spacing.spacing))
        self._rows = spacing.rows  # along the axes that answers taught, once they did
        self._lesson = 0
        n_rows = len(spacing.rows)
        self._novelty = np.full(n_rows, np.inf)
        self._is_asked = np.zeros(n_rows, dtype=np.bool_)
        self._shown: list[Answer] = []
        self._shown_rows: Indices = np.empty(0, dtype=np.intp)  # of the first of them
        self._counts: dict[str, int] = {}
        self._to_category: dict[str, Vector] = {}  # distances to the nearest row of each
        self._to_open: dict[int, Vector] = {}  # distances to rows that others have before them
        self._strangers_left = 1  # before the next look at crowds
        self._wait = _SHORTEST_WAIT
        self._chosen: _Choice | None = None
        self._question: Question | None = None

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left.

        What others have before them counts as looked at, so that experts are sent apart.
        """
        if len(besides):
            return self._proposed_besides(besides)
        choice = self._choice()
        if self._question is None and choice is not None:
            open_rows = np.flatnonzero(~self._is_asked)
            look: Look = choice.look or "crowds"
            best = self._best(look, _ALTERNATIVES + 1, open_rows, self._novelty)
            self._question = self._asked_about(choice, best, self._novelty)
        return self._question

    def _proposed_besides(self, besides: Collection[int]) -> Question | None:
        free = np.flatnonzero(free_rows(self._is_asked, besides))
        if len(free) == 0:
            return None
        novelty = np.minimum(self._novelty, self._nearest_open(islice(besides, _OPEN_ELSEWHERE)))
        look: Look = self._look() or "strangers"
        best = self._best(look, _ALTERNATIVES + 1, free, novelty)
        return self._asked_about(_Choice(int(best[0]), look), best, novelty)

    def _nearest_open(self, rows: Iterable[int]) -> Vector:
        """Give the distance of every row to the nearest of those that others have before them."""
        known, self._to_open = self._to_open, {}
        nearest = np.full(len(self._rows), np.inf)
        for row in map(int, rows):
            if nearest[row] <= _MEMBER_REACH**2 * self._spacing.spacing[row]:
                continue  # it belongs to the cluster of one that was measured
            # Most were open a moment ago, too.
            found = known[row] if row in known else nearest_of(self._rows, np.array([row]))
            self._to_open[row] = found
            np.minimum(nearest, found, out=nearest)
        return nearest

    def observe(self, answer: Answer) -> None:
        """Take in a category, or that a row was passed over: what lies near is less novel now."""
        self.observe_all([answer])

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Take in many answers: the same as observing one by one, in less time."""
        together: dict[str | None, list[int]] = {}
        for answer in answers:
            if self._is_asked[answer.row]:
                continue
            if answer.is_asked:
                is_new = answer.label is not None and answer.label not in self._counts
                self._take_turns(self._look(), is_new)
            self._is_asked[answer.row] = True
            self._shown.append(answer)
            together.setdefault(answer.label, []).append(answer.row)
            if answer.label is not None:
                self._counts[answer.label] = self._counts.get(answer.label, 0) + 1
        if not together:  # nothing new was said
            return
        if not self._took_lesson():  # after one, everything has been measured anew
            for label, rows in together.items():
                self._lower_novelty(label, rows)
        self._chosen = self._question = None

    def _look(self) -> Look | None:
        """Tell what the open question looks for; None for the first question of all."""
        if not self._shown:
            return None
        return "strangers" if self._strangers_left > 0 else "crowds"

    def _take_turns(self, look: Look | None, is_new: bool) -> None:
        if look == "strangers":
            self._strangers_left -= 1
        elif look == "crowds" and is_new:
            self._wait = _SHORTEST_WAIT
        elif look == "crowds":
            self._strangers_left = self._wait
            self._wait = min(2 * self._wait, _LONGEST_WAIT)

    def _lower_novelty(self, label: str | None, rows: Sequence[int]) -> None:
        """Note what was shown of one category; its count is up to date already."""
        distances = nearest_of(self._rows, np.array(rows, dtype=np.intp))
        if label is not None:
            before = self._to_category.get(label)
            distances = distances if before is None else np.minimum(before, distances)
            self._to_category[label] = distances
            distances = distances / self._counts[label] ** _REACH_POWER
        # Distances only fall and counts only rise, so no other category need be looked at again.
        np.minimum(self._novelty, distances, out=self._novelty)

    def _took_lesson(self) -> bool:
        """Measure novelty anew, if enough was named since the last lesson; tell whether it was.

        A lesson is about the first answers only, so that it does not matter how many came at once.
        """
        n_named = sum(self._counts.values())
        lesson = max((n for n in _LESSONS if n <= n_named), default=0)
        if lesson == self._lesson:
            return False
        self._lesson = lesson
        named = [(one.row, one.label) for one in self._shown if one.label is not None][:lesson]
        rows = self._spacing.rows[[row for row, _ in named]]
        axes = taught_axes(rows, [label for _, label in named])
        if axes is None:
            return False
        # Products may round equal rows differently by their place in a block, hence the copying.
        distinct = self._spacing.distinct
        self._rows = (distinct.rows @ axes)[distinct.inverse]
        self._novelty[:] = np.inf
        self._to_category.clear()
        self._to_open.clear()
        shown: dict[str | None, list[int]] = {}
        for one in self._shown:
            shown.setdefault(one.label, []).append(one.row)
        for label, places in shown.items():
            self._lower_novelty(label, places)
        return True

    def _choice(self) -> _Choice | None:
        if self._chosen is None and not self._is_asked.all():
            if not self._shown:
                self._chosen = _Choice(self._spacing.densest, None)
            else:
                look: Look = self._look() or "strangers"
                open_rows = np.flatnonzero(~self._is_asked)
                best = self._best(look, 1, open_rows, self._novelty)
                self._chosen = _Choice(int(best[0]), look)
        return self._chosen

    def _best(self, look: Look, n: int, open_rows: Indices, novelty: Vector) -> Indices:
        """Give the ``n`` best of some rows, the best first; of equals the first in the table."""
        scores = novelty[open_rows] * self._spacing.weights[look][open_rows]
        if n == 1:
            return open_rows[[np.argmax(scores)]]
        n = min(n, len(open_rows))
        least = np.partition(scores, len(scores) - n)[len(scores) - n]
        places = np.flatnonzero(scores >= least)
        return open_rows[places[np.argsort(-scores[places], kind="stable")[:n]]]

    # --- what the expert is told ------------------------------------------------------------

    def _asked_about(self, choice: _Choice, best: Indices, novelty: Vector) -> Question:
        row = choice.row
        members = self._neighbors_of(row)
        others = [int(other) for other in best if other != row]
        evidence = {
            "spacing": float(self._spacing.spacing[row]),
            "share_spaced_closer": float(self._spacing.closer[row]),
            "share_spaced_wider": float(self._spacing.wider[row]),
        }
        if choice.look is None:
            reason = "Nothing was named yet, and rows lie closest together around this one."
        elif not self._shown:
            evidence["novelty"] = float(novelty[row])
            reason = "Nothing was named yet, and it lies far from the rows that others look at."
        else:
            nearest, distance = self._nearest_shown(row)
            evidence |= {
                "distance_to_shown": distance,
                "novelty": float(novelty[row]),
                "n_shown": float(len(self._shown)),
            }
            reason = self._reason(row, choice.look, members, (nearest, distance))
        return Question(
            row=row,
            members=members,
            reason=reason,
            evidence=evidence,
            alternatives=tuple(others[:_ALTERNATIVES]),
        )

    def _nearest_shown(self, row: int) -> tuple[Answer, float]:
        later = [answer.row for answer in self._shown[len(self._shown_rows) :]]
        self._shown_rows = np.append(self._shown_rows, later).astype(np.intp, copy=False)
        shown = self._spacing.rows[self._shown_rows]
        distances = distances_to(shown, self._spacing.rows[row])
        place = int(np.argmin(distances))
        return self._shown[place], float(distances[place])

    def _reason(self, row: int, look: Look, members: Indices, seen: tuple[Answer, float]) -> str:
        nearest, distance = seen
        if distance == 0:
            return "This row is a copy of one that was shown; so are all that are left."
        spacing = self._spacing
        facts = RowFacts(
            n_group=int(np.count_nonzero(~self._is_asked[members])),
            is_more=len(members) >= _MEMBERS,
            closer=float(spacing.closer[row]),
            wider=float(spacing.wider[row]),
            n_rows=len(self._rows),
            nearest=nearest,
            distance=distance,
            spacing=float(spacing.spacing[row]),
            usual_spacing=self._usual_spacing,
        )
        return reason_of_row(look, facts)

    def _neighbors_of(self, row: int) -> Indices:
        """Give the rows next to this one that lie as far apart as it does.

        The neighbours of a row that stands by itself are usually part of something else, and lie
        much closer together: whoever names them with it would name the wrong rows.
        """
        distances = distances_to(self._spacing.rows, self._spacing.rows[row])
        n_members = min(_MEMBERS, len(distances))
        tenth = np.partition(distances, n_members - 1)[n_members - 1]
        spacing = self._spacing.spacing
        is_near = distances <= min(tenth, _MEMBER_REACH * spacing[row])
        is_alike = spacing * _MEMBER_REACH >= spacing[row]
        return np.flatnonzero(is_near & (is_alike | (distances == 0)))

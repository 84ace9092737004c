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

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Question, free_rows
from kernova.discover.strategies.spacing import (
    Region,
    RowFacts,
    Spacing,
    distances_to,
    nearest_of,
    row_reason,
    spacing_of,
)
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
        self._to_open: dict[int, Vector] = {}  # distances to rows open for other experts
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
            best = self._best(region, _ALTERNATIVES + 1, open_rows, self._novelty)
            self._question = self._question_about(choice, best, self._novelty)
        return self._question

    def _proposed_besides(self, besides: Collection[int]) -> Question | None:
        free = np.flatnonzero(free_rows(self._is_asked, besides))
        if len(free) == 0:
            return None
        novelty = np.minimum(self._novelty, self._nearest_open(islice(besides, _OPEN_ELSEWHERE)))
        region: Region = self._region() or "sparse"
        best = self._best(region, _ALTERNATIVES + 1, free, novelty)
        return self._question_about(_Choice(int(best[0]), region), best, novelty)

    def _nearest_open(self, rows: Iterable[int]) -> Vector:
        """Return the distance of every row to the nearest row open for other experts."""
        known, self._to_open = self._to_open, {}
        nearest = np.full(len(self._rows), np.inf)
        for row in map(int, rows):
            if nearest[row] <= _MEMBER_REACH**2 * self._spacing.spacing[row]:
                continue  # it belongs to the cluster of a row already measured
            # Most rows were open at the previous call, too.
            found = known[row] if row in known else nearest_of(self._rows, np.array([row]))
            self._to_open[row] = found
            np.minimum(nearest, found, out=nearest)
        return nearest

    def observe(self, answer: Answer) -> None:
        """Use a label or a skip: rows near it become less novel."""
        self.observe_all([answer])

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Use many answers: the same as observing one by one, in less time."""
        new: dict[str | None, list[int]] = {}
        for answer in answers:
            if self._is_asked[answer.row]:
                continue
            if answer.is_asked:
                is_new = answer.label is not None and answer.label not in self._counts
                self._update_turn(self._region(), is_new)
            self._is_asked[answer.row] = True
            self._shown.append(answer)
            new.setdefault(answer.label, []).append(answer.row)
            if answer.label is not None:
                self._counts[answer.label] = self._counts.get(answer.label, 0) + 1
        if not new:
            return
        if not self._relearned():
            for label, rows in new.items():
                self._lower_novelty(label, rows)
        self._chosen = self._question = None

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

    def _lower_novelty(self, label: str | None, rows: Sequence[int]) -> None:
        """Lower novelty by rows of one category, whose count is up to date."""
        distances = nearest_of(self._rows, np.array(rows, dtype=np.intp))
        if label is not None:
            before = self._to_category.get(label)
            distances = distances if before is None else np.minimum(before, distances)
            self._to_category[label] = distances
            distances = distances / self._counts[label] ** _EXTENT_POWER
        # Distances only fall and counts only rise, so other categories stay as they are.
        np.minimum(self._novelty, distances, out=self._novelty)

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
        self._novelty[:] = np.inf
        self._to_category.clear()
        self._to_open.clear()
        shown: dict[str | None, list[int]] = {}
        for one in self._shown:
            shown.setdefault(one.label, []).append(one.row)
        for label, rows in shown.items():
            self._lower_novelty(label, rows)

    def _choice(self) -> _Choice | None:
        if self._chosen is None and not self._is_asked.all():
            if not self._shown:
                self._chosen = _Choice(self._spacing.densest, None)
            else:
                region: Region = self._region() or "sparse"
                open_rows = np.flatnonzero(~self._is_asked)
                best = self._best(region, 1, open_rows, self._novelty)
                self._chosen = _Choice(int(best[0]), region)
        return self._chosen

    def _best(self, region: Region, n: int, open_rows: Indices, novelty: Vector) -> Indices:
        """Return the ``n`` best rows, the best first; ties go to the smaller row index."""
        scores = novelty[open_rows] * self._spacing.weights[region][open_rows]
        if n == 1:
            return open_rows[[np.argmax(scores)]]
        n = min(n, len(open_rows))
        lowest = np.partition(scores, len(scores) - n)[len(scores) - n]
        positions = np.flatnonzero(scores >= lowest)
        return open_rows[positions[np.argsort(-scores[positions], kind="stable")[:n]]]

    # --- the question as shown --------------------------------------------------------------

    def _question_about(self, choice: _Choice, best: Indices, novelty: Vector) -> Question:
        row = choice.row
        members = self._neighbors_of(row)
        others = [int(other) for other in best if other != row]
        evidence = {
            "spacing": float(self._spacing.spacing[row]),
            "share_spaced_closer": float(self._spacing.closer[row]),
            "share_spaced_wider": float(self._spacing.wider[row]),
        }
        if choice.region is None:
            reason = "No row is labelled yet, and this row lies in the densest region."
        elif not self._shown:
            evidence["novelty"] = float(novelty[row])
            reason = "No row is labelled yet, and this row lies far from those of other experts."
        else:
            nearest, distance = self._nearest_shown(row)
            evidence |= {
                "distance_to_shown": distance,
                "novelty": float(novelty[row]),
                "n_shown": float(len(self._shown)),
            }
            reason = self._reason(row, choice.region, members, (nearest, distance))
        return Question(row, members, reason, evidence, tuple(others[:_ALTERNATIVES]))

    def _nearest_shown(self, row: int) -> tuple[Answer, float]:
        later = [answer.row for answer in self._shown[len(self._shown_rows) :]]
        self._shown_rows = np.append(self._shown_rows, later).astype(np.intp, copy=False)
        shown = self._spacing.rows[self._shown_rows]
        distances = distances_to(shown, self._spacing.rows[row])
        position = int(np.argmin(distances))
        return self._shown[position], float(distances[position])

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

    def _neighbors_of(self, row: int) -> Indices:
        """Return the rows next to this one with a similar spacing.

        The neighbours of an isolated row usually belong to another group and lie much closer
        together: labelling them with it would label the wrong rows.
        """
        distances = distances_to(self._spacing.rows, self._spacing.rows[row])
        n_members = min(_MEMBERS, len(distances))
        tenth = np.partition(distances, n_members - 1)[n_members - 1]
        spacing = self._spacing.spacing
        is_near = distances <= min(tenth, _MEMBER_REACH * spacing[row])
        is_similar = spacing * _MEMBER_REACH >= spacing[row]
        return np.flatnonzero(is_near & (is_similar | (distances == 0)))

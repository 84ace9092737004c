"""Planned overlap: a fraction of the asked rows gets the opinions of several experts, each blind.

Which rows are asked again follows from the project and the row's place in its table alone, so that
it depends neither on what a row looks like nor on its answers: the rows are a random sample of
those that were asked. Questions of overlap come between those of the strategy, at the rate at which
the plan creates them, and all that are left come when the strategy has none.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from kernova.discover.events import Passed, Record, RowLabelled, Undone
from kernova.discover.review.annotations import OverlapPlan
from kernova.typing import Mask
from kernova.workbench.shared import Part, SharedState

REASON: Final = (
    "For comparison: this row was labelled by another expert. That answer is shown after yours."
)
# Constants of splitmix64, which maps consecutive numbers to random ones.
_STEP, _FIRST, _SECOND = (
    np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB),
)  # fmt: skip
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))
_PERMILLE: Final = np.uint64(1000)


@dataclass(frozen=True)
class OverlapReply:
    """The planned overlap, and how much of it is done."""

    fraction: Annotated[float, "Fraction of the rows that several experts are asked about."]
    experts: Annotated[int, "Number of experts for each of these rows."]
    rows: Annotated[int, "Number of these rows that were asked and labelled so far."]
    complete: Annotated[int, "Number of those with enough opinions."]
    waiting: Annotated[int, "Number of those that the expert can be asked about now."]


def planned_rows(project: str, n_rows: int, permille: int) -> Mask:
    """Return which rows several experts are asked about.

    A larger fraction contains the rows of a smaller one, and further rows of a table change nothing
    for the earlier ones.

    Parameters
    ----------
    project : str
        Text that identifies the project.
    n_rows : int
        Number of rows of the table.
    permille : int
        The fraction, in thousandths.

    Examples
    --------
    >>> from kernova.workbench.colleagues.overlap import planned_rows
    >>> some = planned_rows("f1ce", 10_000, 100)
    >>> int(some.sum()), bool(planned_rows("f1ce", 10_000, 200)[some].all())
    (1006, True)
    """
    digest = hashlib.sha256(project.encode()).digest()
    seed = np.frombuffer(digest[:8], dtype="<u8")[0]
    with np.errstate(over="ignore"):
        mixed = seed + np.arange(1, n_rows + 1, dtype=np.uint64) * _STEP
        mixed = (mixed ^ (mixed >> _SHIFTS[0])) * _FIRST
        mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _SECOND
        mixed ^= mixed >> _SHIFTS[2]
    return np.asarray(mixed % _PERMILLE < permille)


class Overlap(Part):
    """Rows that several experts are asked about, and whose turn it is.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    """

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._mask = np.zeros(0, dtype=np.bool_)
        self._mask_of: tuple[int, int] | None = None
        self._n_read = 0
        self._last_read: Record | None = None
        self._n_done: Counter[str | None] = Counter()
        self._passed: set[tuple[str | None, int]] = set()

    @property
    def plan(self) -> OverlapPlan:
        """The plan in effect."""
        return self._shared.session.results_.annotations.overlap

    def reply(self, expert: str | None) -> OverlapReply:
        """Return the plan, and how much of it is done."""
        with self._shared.lock:
            plan, opinions = self.plan, self._shared.session.opinions_of
            n_experts = [len(opinions(row)) for row in self._asked_rows()]
            waiting = sum(1 for _ in self._waiting(expert))
        return OverlapReply(
            fraction=plan.permille / 1000,
            experts=plan.experts,
            rows=sum(n > 0 for n in n_experts),
            complete=sum(n >= plan.experts for n in n_experts),
            waiting=waiting,
        )

    def due_row(self, expert: str | None) -> int | None:
        """Return the row that an expert is to be asked about now, by the planned rate."""
        plan = self.plan
        if plan.permille == 0:
            return None
        self._catch_up()
        n_done = self._n_done[expert]
        n_asked = n_done + self._shared.session.questions_by_expert_.get(expert, 0)
        # Every row of the plan leads to so many more questions, and these are asked, too.
        further = plan.permille * (plan.experts - 1)
        is_due = (n_done + 1) * (1000 + further) <= (n_asked + 1) * further
        return self.next_row(expert) if is_due else None

    def next_row(self, expert: str | None) -> int | None:
        """Return the first row that an expert can be asked about for comparison, or None."""
        return next(self._waiting(expert), None) if self.plan.permille else None

    def can_ask(self, expert: str | None, row: int) -> bool:
        """Return whether an expert can be asked about a row for comparison."""
        if not self._is_planned()[row]:
            return False
        self._catch_up()
        return self._is_waiting(expert, row, self._shared.session.opinions_of(row))

    def comparisons_by_expert(self) -> dict[str | None, int]:
        """Return how many further opinions each expert gave, or skipped, in comparisons."""
        self._catch_up()
        return {expert: n for expert, n in self._n_done.items() if n}

    def hidden_rows(self, experts: Collection[str | None]) -> set[int]:
        """Return the rows whose labels these experts are not to see now."""
        with self._shared.lock:
            questions = self._shared.session.open_questions_
        return {one.row for who, one in questions.items() if one.is_blind and who in experts}

    def _waiting(self, expert: str | None) -> Iterator[int]:
        """Return the rows that an expert can be asked about for comparison, in order."""
        self._catch_up()
        opinions_of = self._shared.session.opinions_of
        elsewhere = {
            one.row for who, one in self._shared.session.open_questions_.items() if who != expert
        }
        for row in self._asked_rows():
            if row not in elsewhere and self._is_waiting(expert, row, opinions_of(row)):
                yield row

    def _is_waiting(self, expert: str | None, row: int, opinions: Collection[str | None]) -> bool:
        is_open = 0 < len(opinions) < self.plan.experts and expert not in opinions
        return is_open and (expert, row) not in self._passed

    def _asked_rows(self) -> list[int]:
        """Return the planned rows among those that were asked, in the order of the questions."""
        asked = np.array(self._shared.session.asked_, dtype=np.intp)
        rows: list[int] = asked[self._is_planned()[asked]].tolist()
        return rows

    def _is_planned(self) -> Mask:
        permille, n_rows = self.plan.permille, self._shared.n_rows
        if self._mask_of != (permille, n_rows):
            store = self._shared.session.project_
            project = "" if store is None else store.id
            self._mask = planned_rows(project, n_rows, permille)
            self._mask_of = (permille, n_rows)
        return self._mask

    # --- what has been done, counted record by record ----------------------------------------

    def _catch_up(self) -> None:
        """Count the answers for comparison in records that were added since the last time."""
        results = self._shared.session.results_
        end, start = results.n_records, self._n_read
        is_same = start == 0 or (start <= end and results.record(start) is self._last_read)
        if not is_same:
            self._n_done.clear()
            self._passed.clear()
            start = 0
        for number in range(start + 1, end + 1):
            record = results.record(number)
            if isinstance(record.event, Undone):
                undone = record.event.entry or record.event.number
                if undone is not None:
                    self._count(results.record(undone), -1)
            else:
                self._count(record, 1)
        self._n_read = end
        self._last_read = results.record(end) if end else None

    def _count(self, record: Record, step: int) -> None:
        event = record.event
        if not (isinstance(event, RowLabelled | Passed) and event.is_blind):
            return
        self._n_done[record.by] += step
        if isinstance(event, Passed) and step > 0:
            self._passed.add((record.by, event.row))
        elif isinstance(event, Passed):
            self._passed.discard((record.by, event.row))

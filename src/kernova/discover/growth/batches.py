"""Batches of new rows: what is stored of one, what it must fit, and the rows to ask about first."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from kernova.discover.events import PriorLabels, Record, RowsAdded
from kernova.discover.questions import OpenQuestions, Question
from kernova.errors import InputError
from kernova.text import plural, quantity

_MILLION: Final = 1_000_000


@dataclass(frozen=True)
class BatchJudgement:
    """What was found out about the rows of a batch before they were added.

    Rows are counted from 0 within the batch.

    Parameters
    ----------
    unlike : sequence of int
        Rows that look new beside all rows before, the most unusual first.
    p_values : sequence of float
        The p-value of each of them.
    groups : sequence of int
        A number for each of them; rows with the same number lie together.
    by_chance : int
        With the confidence of the judgement, no more rows would look new by chance.
    n_held_out : int
        Number of rows before the batch that show it; 0 if nothing was judged.
    n_known : int
        Number of rows that were recognised.
    """

    unlike: Sequence[int] = ()
    p_values: Sequence[float] = ()
    groups: Sequence[int] = ()
    by_chance: int = 0
    n_held_out: int = 0
    n_known: int = 0


def batch_event(
    first: int,
    n_rows: int,
    fingerprint: str,
    judgement: BatchJudgement | None = None,
    prior: PriorLabels | None = None,
) -> RowsAdded:
    """Return the event for new rows; ``judgement`` and ``prior`` count rows within the batch.

    Examples
    --------
    >>> from kernova.discover.growth.batches import BatchJudgement, batch_event
    >>> event = batch_event(60, 5, "f1ce", BatchJudgement([4], [0.001], [1], n_held_out=30))
    >>> event.unlike, event.ppm
    ((64,), (1000,))
    """
    found = judgement or BatchJudgement()
    prior = prior or PriorLabels((), ())
    return RowsAdded(
        first=first,
        n_rows=n_rows,
        fingerprint=fingerprint,
        unlike=tuple(first + int(row) for row in found.unlike),
        groups=tuple(map(int, found.groups)),
        ppm=tuple(round(_MILLION * float(p)) for p in found.p_values),
        by_chance=found.by_chance,
        n_held_out=found.n_held_out,
        n_known=found.n_known,
        labelled=tuple(first + row for row in prior.rows),
        labels=prior.labels,
    )


def check_batch(event: RowsAdded, n_rows: int) -> None:
    """Raise if new rows do not follow so many, or what is stored of them does not fit."""
    rows = (*event.unlike, *event.labelled)
    end = event.first + event.n_rows
    is_inside = all(event.first <= row < end for row in rows)
    are_distinct = len(set(event.unlike)) == len(event.unlike)
    are_labelled_once = len(set(event.labelled)) == len(event.labelled) == len(event.labels)
    of_each = len(event.unlike) == len(event.groups) == len(event.ppm)
    if event.first != n_rows or event.n_rows < 1:
        raise _damaged(f"rows were added from row {event.first} on, after {n_rows} rows")
    if not (is_inside and are_distinct and are_labelled_once and of_each):
        raise _damaged("a batch of new rows refers to other rows, or to one twice")


def _damaged(reason: str) -> InputError:
    return InputError(f"The log does not fit the table, or is damaged: {reason}.")


def batches_of(records: Sequence[Record]) -> list[RowsAdded]:
    """Return the batches of a log, in order."""
    return [one.event for one in records if isinstance(one.event, RowsAdded)]


def bound_sentence(batch: RowsAdded) -> str:
    """Return how many rows of a batch look new, and how many would by chance.

    Examples
    --------
    >>> from kernova.discover.events import RowsAdded
    >>> from kernova.discover.growth.batches import bound_sentence
    >>> batch = RowsAdded(60, 5, "f1ce", (64,), (1,), (1000,), by_chance=1, n_held_out=30)
    >>> bound_sentence(batch)
    'Of 5 new rows 1 looks new; 1 or fewer would be expected by chance.'
    >>> bound_sentence(RowsAdded(60, 5, "f1ce"))
    'Nothing was found out about these 5 new rows: there were too few rows to compare them with.'
    """
    if not batch.n_held_out:
        these = f"{plural(batch.n_rows, 'this', 'these')} {quantity(batch.n_rows, 'new row')}"
        return (
            f"Nothing was found out about {these}: there were too few rows to compare "
            f"{plural(batch.n_rows, 'it', 'them')} with."
        )
    n_new = len(batch.unlike)
    chance = "none" if batch.by_chance == 0 else f"{batch.by_chance:,} or fewer"
    found = f"{n_new:,} {plural(n_new, 'looks', 'look')}" if n_new else "none looks"
    return (
        f"Of {quantity(batch.n_rows, 'new row')} {found} new; {chance} would be expected by chance."
    )


# --- questions about the rows that look new ------------------------------------------------------


def groups_of(batch: RowsAdded) -> list[list[int]]:
    """Return the rows of a batch that look new, group by group, the most unusual first."""
    found: dict[Hashable, list[int]] = {}
    for row, group in zip(batch.unlike, batch.groups, strict=True):
        found.setdefault(group or (row,), []).append(row)  # 0 is no group
    return list(found.values())


class UnlikeRows:
    """Questions about rows that look new, one for each group of them, before all others.

    Parameters
    ----------
    batches : sequence of RowsAdded
        The batches, the earliest first.
    """

    def __init__(self, batches: Sequence[RowsAdded]) -> None:
        self._batches = tuple(batches)
        self._groups = [groups_of(one) for one in self._batches]

    def follows(self, batches: Sequence[RowsAdded]) -> bool:
        """Return whether these are the batches that the questions are about."""
        last = [one[-1] for one in (batches, self._batches) if one]
        return len(batches) == len(self._batches) and (not last or last[0] is last[1])

    def waiting(self, batch: int, closed: Collection[int]) -> list[list[int]]:
        """Return the groups of a batch of which no row is labelled or skipped."""
        return [rows for rows in self._groups[batch] if not any(row in closed for row in rows)]

    def question(
        self, closed: Mapping[int, object], open_questions: OpenQuestions, expert: str | None
    ) -> Question | None:
        """Return the next question that no other expert has; None if none is left.

        A group is done when any of its rows is labelled or skipped; the strategy goes on there.
        """
        others = set(open_questions.clusters_besides(expert).tolist())
        for number, batch in enumerate(self._batches):
            for rows in self.waiting(number, closed):
                if others.isdisjoint(rows):
                    return _question(batch, rows)
        return None


def _question(batch: RowsAdded, rows: list[int]) -> Question:
    p_value = batch.ppm[batch.unlike.index(rows[0])] / _MILLION
    alike = f" {quantity(len(rows) - 1, 'other')} of them lie near it." if len(rows) > 2 else ""
    alike = " Another of them lies near it." if len(rows) == 2 else alike
    return Question(
        row=rows[0],
        members=np.sort(np.array(rows, dtype=np.intp)),
        reason=f"It is unlike all {batch.first:,} rows before it. {bound_sentence(batch)}{alike}",
        evidence={"p_value": p_value, "rows_before": float(batch.first)},
    )

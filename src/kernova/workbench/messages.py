"""What was said, in words for people: a line of the history, an acknowledgement."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kernova.discover.events import (
    Answered,
    Changed,
    Deleted,
    Event,
    Merged,
    Passed,
    PriorLabels,
    Record,
    Renamed,
    RowLabelled,
    RowsLabelled,
    Settled,
    Skipped,
    Undone,
)

KINDS: Final[dict[type[Any], str]] = {
    PriorLabels: "prior",
    Answered: "answer",
    Skipped: "skip",
    Passed: "skip",
    RowLabelled: "label",
    RowsLabelled: "labels",
    Changed: "change",
    Renamed: "rename",
    Merged: "merge",
    Deleted: "delete",
    Settled: "settle",
    Undone: "undo",
}


class About(NamedTuple):
    """What something that is said is about: its first row and its category, if it has these."""

    row: int | None = None
    label: str | None = None


def event_words(event: Event, ids: Sequence[object]) -> str:
    """Say in a sentence what an event is about.

    Examples
    --------
    >>> from kernova.discover.events import Answered
    >>> from kernova.workbench.messages import event_words
    >>> event_words(Answered(1, "carp", others=(0,)), ["a", "b"])
    'b and 1 row like it: carp.'
    """
    match event:
        case Answered(row, label, others):
            return f"{ids[row]}{_others(len(others))}: {label}."
        case Skipped(row) | Passed(row):
            return f"{ids[row]} was skipped."
        case RowLabelled(row, label):
            return f"{ids[row]}: {label}, out of turn."
        case RowsLabelled(rows, label):
            return f"{_rows(len(rows))}: {label}, out of turn."
        case Settled(row, label):
            return f"{ids[row]} is settled: {label}."
        case Changed(question, label):
            now = "skipped" if label is None else label
            return f"The answer to question {question} became: {now}."
        case _:
            return _category_words(event)


def said_words(event: Event, ids: Sequence[object], records: Sequence[Record]) -> str:
    """Say in a sentence what an event is about; of an undo, what it took back."""
    if isinstance(event, Undone) and event.number is not None:
        return f"Taken back: {event_words(records[event.number - 1].event, ids)}"
    return event_words(event, ids)


def _category_words(event: Event) -> str:
    match event:
        case Renamed(old, new):
            return f"{old} is called {new}."
        case Merged(into, others):
            return f"{_listed(others)} became part of {into}."
        case Deleted(name):
            return f"The category {name} was deleted."
        case PriorLabels(rows, _):
            return f"{_rows(len(rows))} had a label before the first question."
        case Undone(None):
            return "What was said last was taken back."
        case Undone(number):
            return f"What was said under number {number} was taken back."
        case _:
            raise TypeError(f"{event!r} has no words")


def rows_of(event: Event) -> tuple[int, ...]:
    """Give the rows that an event names, the one it is about first."""
    match event:
        case Answered(row, _, others):
            return (row, *others)
        case Skipped(row) | Passed(row) | RowLabelled(row, _) | Settled(row, _):
            return (row,)
        case RowsLabelled(rows, _) | PriorLabels(rows, _):
            return rows
        case _:
            return ()


def about(event: Event) -> About:
    """Give what an event is about.

    Examples
    --------
    >>> from kernova.discover.events import Answered
    >>> from kernova.workbench.messages import about
    >>> about(Answered(1, "carp", others=(0,)))
    About(row=1, label='carp')
    """
    return About(next(iter(rows_of(event)), None), label_of(event))


def label_of(event: Event) -> str | None:
    """Give the category that an event speaks of, if it speaks of one."""
    for name in ("label", "new", "into", "name"):
        found = getattr(event, name, None)
        if isinstance(found, str):
            return found
    return None


def _others(count: int) -> str:
    return f" and {_rows(count)} like it" if count else ""


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

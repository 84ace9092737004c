"""Messages for log entries: one sentence per event, its rows and its category."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from kernova.discover.events import (
    Answered,
    Changed,
    Deleted,
    Event,
    Lost,
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
from kernova.text import quantity

Kind = Literal[
    "prior", "answer", "skip", "label", "labels", "change", "rename", "merge", "delete", "settle",
    "undo", "lost",
]  # fmt: skip

KINDS: Final[dict[type[Any], Kind]] = {
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
    Lost: "lost",
}


class Subject(NamedTuple):
    """First row and category of an event, None where it has none."""

    row: int | None = None
    label: str | None = None


def event_message(event: Event, ids: Sequence[object]) -> str:
    """Return a sentence that describes an event.

    Examples
    --------
    >>> from kernova.discover.events import Answered
    >>> from kernova.workbench.messages import event_message
    >>> event_message(Answered(1, "carp", others=(0,)), ["a", "b"])
    'b and 1 similar row: carp.'
    """
    match event:
        case Answered(row, label, others):
            similar = f" and {quantity(len(others), 'similar row')}" if others else ""
            return f"{ids[row]}{similar}: {label}."
        case Skipped(row) | Passed(row):
            return f"{ids[row]} was skipped."
        case RowLabelled(row, label):
            return f"{ids[row]}: {label}, labelled directly."
        case RowsLabelled(rows, label):
            return f"{quantity(len(rows), 'row')}: {label}, labelled directly."
        case Settled(row, label):
            return f"The disagreement about {ids[row]} was settled: {label}."
        case Changed(question, label):
            now = "skipped" if label is None else label
            return f"The answer to question {question} was changed to: {now}."
        case _:
            return _category_message(event)


def entry_message(event: Event, ids: Sequence[object], record_of: Callable[[int], Record]) -> str:
    """Return a sentence that describes an event; for an undo, the entry that it reverts."""
    if isinstance(event, Undone) and event.number is not None:
        return f"Undone: {event_message(record_of(event.number).event, ids)}"
    return event_message(event, ids)


def _category_message(event: Event) -> str:
    match event:
        case Renamed(old, new):
            return f"{old} was renamed to {new}."
        case Merged(into, others):
            were = "was" if len(others) == 1 else "were"
            return f"{_joined(others)} {were} merged into {into}."
        case Deleted(name):
            return f"The category {name} was deleted."
        case PriorLabels(rows, _):
            had = "was" if len(rows) == 1 else "were"
            return f"{quantity(len(rows), 'row')} {had} labelled before the first question."
        case Lost():
            return "An entry was lost, because the project file was damaged."
        case Undone(None):
            return "The last entry was undone."
        case Undone(number):
            return f"Entry {number} was undone."
        case _:
            raise TypeError(f"There is no message for {event!r}.")


def rows_of(event: Event) -> tuple[int, ...]:
    """Return the rows that an event labels, its question's row first."""
    match event:
        case Answered(row, _, others):
            return (row, *others)
        case Skipped(row) | Passed(row) | RowLabelled(row, _) | Settled(row, _):
            return (row,)
        case RowsLabelled(rows, _) | PriorLabels(rows, _):
            return rows
        case _:
            return ()


def subject_of(event: Event) -> Subject:
    """Return the first row and the category of an event.

    Examples
    --------
    >>> from kernova.discover.events import Answered
    >>> from kernova.workbench.messages import subject_of
    >>> subject_of(Answered(1, "carp", others=(0,)))
    Subject(row=1, label='carp')
    """
    return Subject(next(iter(rows_of(event)), None), label_of(event))


def label_of(event: Event) -> str | None:
    """Return the category of an event, None if it has none."""
    for name in ("label", "new", "into", "name"):
        found = getattr(event, name, None)
        if isinstance(found, str):
            return found
    return None


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

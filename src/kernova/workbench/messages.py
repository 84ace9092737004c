"""Messages for log entries: one sentence per event, its rows and its category."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    Confidence,
    Deleted,
    Event,
    Flagged,
    Grouped,
    KeyChosen,
    Lost,
    Merged,
    Noted,
    OverlapPlanned,
    Passed,
    PriorLabels,
    Record,
    Rejected,
    Renamed,
    Reopened,
    RowLabelled,
    RowsLabelled,
    RowsUnsure,
    Settled,
    Skipped,
    Tagged,
    Undone,
    Unsure,
)
from kernova.text import quantity

Kind = Literal[
    "prior", "answer", "skip", "label", "labels", "change", "rename", "merge", "delete", "settle",
    "unsure", "accept", "reopen", "reject", "note", "flag", "tag", "group", "key", "overlap",
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
    Unsure: "unsure",
    RowsUnsure: "unsure",
    Accepted: "accept",
    Reopened: "reopen",
    Rejected: "reject",
    Noted: "note",
    Flagged: "flag",
    Tagged: "tag",
    Grouped: "group",
    KeyChosen: "key",
    OverlapPlanned: "overlap",
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
        case Answered(row, label, others, confidence):
            similar = f" and {quantity(len(others), 'similar row')}" if others else ""
            return f"{ids[row]}{similar}: {label}{_sure(confidence)}."
        case Skipped() | Passed():
            return f"{ids[event.row]} was skipped."
        case RowLabelled(row, label, True, confidence):
            return f"{ids[row]}: {label}, asked without the answers of others{_sure(confidence)}."
        case RowLabelled(row, label, _, confidence):
            return f"{ids[row]}: {label}, labelled directly{_sure(confidence)}."
        case RowsLabelled(rows, label):
            return f"{quantity(len(rows), 'row')}: {label}, labelled directly."
        case Settled(row, label):
            return f"The disagreement about {ids[row]} was settled: {label}."
        case Changed(question, label):
            now = "skipped" if label is None else label
            return f"The answer to question {question} was changed to: {now}."
        case _:
            return _review_message(event, ids)


def _sure(confidence: Confidence | None) -> str:
    return "" if confidence is None else f", with {confidence} confidence"


def _review_message(event: Event, ids: Sequence[object]) -> str:
    match event:
        case Unsure(row):
            return f"{ids[row]} was left undecided."
        case Accepted(rows, names, _, _):
            of = f": {names[0]}" if len(names) == 1 else f" of {len(names)} categories"
            return f"{quantity(len(rows), 'suggestion')} accepted{of}."
        case RowsUnsure(rows):
            return f"{_few(rows, ids)} marked as undecided."
        case Reopened(rows):
            return f"{_few(rows, ids)} opened again."
        case Rejected(rows, label):
            return f"{_few(rows, ids)}: not {label}."
        case _:
            return _annotation_message(event, ids)


def _annotation_message(event: Event, ids: Sequence[object]) -> str:
    match event:
        case Noted(row, text):
            return (
                f"The note on {ids[row]} was removed."
                if text is None
                else (f"Note on {ids[row]}: {text}")
            )
        case Flagged(rows, is_on):
            return f"{_few(rows, ids)} {'flagged' if is_on else 'no longer flagged'}."
        case Tagged(rows, label, is_on):
            return f"{_few(rows, ids)}: {'also' if is_on else 'no longer also'} {label}."
        case _:
            return _category_message(event)


def _few(rows: Sequence[int], ids: Sequence[object]) -> str:
    return str(ids[rows[0]]) if len(rows) == 1 else quantity(len(rows), "row")


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
        case Grouped(names, under):
            place = "under no heading" if under is None else f"under {under}"
            return f"{_joined(names)} {'is' if len(names) == 1 else 'are'} {place} now."
        case KeyChosen(name, key):
            return f"{name} has no key now." if key is None else f"{name} has the key {key} now."
        case _:
            return _log_message(event)


def _log_message(event: Event) -> str:
    match event:
        case OverlapPlanned(0, _):
            return "No rows are asked to several experts from now on."
        case OverlapPlanned(permille, experts):
            return f"{permille / 10:g} % of rows are asked to {experts} experts from now on."
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
    """Return the rows that an event concerns, its question's row first."""
    match event:
        case Answered():
            return (event.row, *event.others)
        case _:
            row: int | None = getattr(event, "row", None)
            several: tuple[int, ...] = getattr(event, "rows", ())
            return several if row is None or isinstance(event, Changed) else (row,)


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

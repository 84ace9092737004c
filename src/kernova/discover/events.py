"""What can happen in a session, each as a value with one JSON form.

A session's log is a list of these and nothing else; :mod:`kernova.discover.ledger` says what
they mean together. Rows are places in the table, counted from 0; questions are counted from 1.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernova.discover.names import category_name
from kernova.errors import InputError


@dataclass(frozen=True, slots=True)
class PriorLabels:
    """Labels known before the first question."""

    rows: tuple[int, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """The open question was answered; other rows of its cluster may have been named with it."""

    row: int
    label: str
    others: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """The open question was passed over."""

    row: int


@dataclass(frozen=True, slots=True)
class RowLabelled:
    """A row was labelled out of turn, or labelled again."""

    row: int
    label: str


@dataclass(frozen=True, slots=True)
class Changed:
    """The answer to an earlier question became another; None: it counts as skipped."""

    question: int
    label: str | None


@dataclass(frozen=True, slots=True)
class Renamed:
    """A category got a name that no other had."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Merged:
    """Categories became one."""

    into: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """The last event that still counted counts no more."""


Event = PriorLabels | Answered | Skipped | RowLabelled | Changed | Renamed | Merged | Undone

_KINDS: dict[str, type[Event]] = {
    "prior labels": PriorLabels,
    "answered": Answered,
    "skipped": Skipped,
    "row labelled": RowLabelled,
    "changed": Changed,
    "renamed": Renamed,
    "merged": Merged,
    "undone": Undone,
}
_KIND_OF = {kind: name for name, kind in _KINDS.items()}


def effective_events(log: Sequence[Event]) -> list[Event]:
    """Give the events that still count: each undo takes the last one back, but no prior labels.

    Examples
    --------
    >>> from kernova.discover.events import Skipped, Undone, effective_events
    >>> effective_events([Skipped(4), Skipped(7), Undone()])
    [Skipped(row=4)]
    """
    effective: list[Event] = []
    for event in log:
        if not isinstance(event, Undone):
            effective.append(event)
        elif not can_undo(effective):
            raise InputError("The log is damaged: it undoes more than was done.")
        else:
            effective.pop()
    return effective


def can_undo(effective: Sequence[Event]) -> bool:
    """Tell whether there is something to undo; prior labels are where a session begins."""
    return bool(effective) and not isinstance(effective[-1], PriorLabels)


def event_to_json(event: Event) -> str:
    """Write an event as one line of JSON.

    Examples
    --------
    >>> from kernova.discover.events import Answered, event_to_json
    >>> event_to_json(Answered(3, "carp"))
    '{"event": "answered", "row": 3, "label": "carp", "others": []}'
    """
    # Not asdict: it copies every row of a named cluster, one by one.
    fields = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    return json.dumps({"event": _KIND_OF[type(event)], **fields}, ensure_ascii=False)


def event_from_json(text: str) -> Event:
    """Read what :func:`event_to_json` wrote, and nothing else.

    Examples
    --------
    >>> from kernova.discover.events import event_from_json
    >>> event_from_json('{"event": "undone"}')
    Undone()
    """
    try:
        fields = json.loads(text)
        kind = _KINDS[fields.pop("event")]
        wanted = {field.name: field.type for field in dataclasses.fields(kind)}
        if set(fields) != set(wanted):
            raise ValueError("other fields")
        values = {name: _READERS[wanted[name]](value) for name, value in fields.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"The log is damaged: {text[:200]!r} is no event.") from error
    return kind(**values)


def _row_or_number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("not a count")
    return value


def _name(value: Any) -> str:
    if type(value) is not str or category_name(value) != value:
        raise ValueError("not a name")
    return value


def _several(read: Callable[[Any], Any], values: Any) -> tuple[Any, ...]:
    if type(values) is not list:
        raise ValueError("not a list")
    return tuple(read(value) for value in values)


# How a field of each type is read; bool and float are no int here, whatever Python says.
_READERS: dict[Any, Callable[[Any], Any]] = {
    int: _row_or_number,
    str: _name,
    str | None: lambda value: None if value is None else _name(value),
    tuple[int, ...]: lambda values: _several(_row_or_number, values),
    tuple[str, ...]: lambda values: _several(_name, values),
}

"""What can happen in a session, each as a value with one JSON form.

A session's log is a list of these and nothing else; :mod:`kernova.discover.ledger` says what
they mean together. Rows are places in the table, counted from 0; questions are counted from 1.
"""

import dataclasses
import json
from collections.abc import Callable
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
class RowsLabelled:
    """Several rows were labelled out of turn, or labelled again, in one step."""

    rows: tuple[int, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Passed:
    """An expert passed over a row that somebody else had labelled meanwhile: its label stands."""

    row: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """A category went: its rows that were asked count as skipped, the others are open again."""

    name: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A disagreement about a row was ended."""

    row: int
    label: str


@dataclass(frozen=True, slots=True)
class Undone:
    """A record counts no more: the one with this number, or the last that counted."""

    number: int | None = None


Event = (
    PriorLabels
    | Answered
    | Skipped
    | Passed
    | RowLabelled
    | RowsLabelled
    | Changed
    | Renamed
    | Merged
    | Deleted
    | Settled
    | Undone
)

_KINDS: dict[str, type[Event]] = {
    "prior labels": PriorLabels,
    "answered": Answered,
    "skipped": Skipped,
    "passed": Passed,
    "row labelled": RowLabelled,
    "rows labelled": RowsLabelled,
    "changed": Changed,
    "renamed": Renamed,
    "merged": Merged,
    "deleted": Deleted,
    "settled": Settled,
    "undone": Undone,
}
_KIND_OF = {kind: name for name, kind in _KINDS.items()}


def event_to_json(event: Event) -> str:
    """Write an event as one line of JSON.

    Examples
    --------
    >>> from kernova.discover.events import Answered, event_to_json
    >>> event_to_json(Answered(3, "carp"))
    '{"event": "answered", "row": 3, "label": "carp", "others": []}'
    """
    # Not asdict: it copies every row of a named cluster, one by one.
    values = {field: getattr(event, field.name) for field in dataclasses.fields(event)}
    fields = {
        field.name: value
        for field, value in values.items()
        if not (value is None and field.default is None)
    }
    return json.dumps({"event": _KIND_OF[type(event)], **fields}, ensure_ascii=False)


def event_from_json(text: str) -> Event:
    """Read what :func:`event_to_json` wrote, and nothing else.

    Examples
    --------
    >>> from kernova.discover.events import event_from_json
    >>> event_from_json('{"event": "undone"}')
    Undone(number=None)
    """
    try:
        fields = json.loads(text)
        kind = _KINDS[fields.pop("event")]
        wanted = {field.name: field.type for field in dataclasses.fields(kind)}
        needed = {field.name for field in dataclasses.fields(kind) if field.default is not None}
        if not needed <= set(fields) <= set(wanted):
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
    int | None: _row_or_number,  # left out where there is none
    str: _name,
    str | None: lambda value: None if value is None else _name(value),
    tuple[int, ...]: lambda values: _several(_row_or_number, values),
    tuple[str, ...]: lambda values: _several(_name, values),
}

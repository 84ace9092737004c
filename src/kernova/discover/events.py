"""What can happen in a session, each as a value with one JSON form.

A session's log is a list of these and nothing else; :mod:`kernova.discover.state` says what
they mean together. Rows are places in the table, counted from 0; questions are counted from 1.

What a log keeps of each thing said: the event, and who said it, when, in which request.
"""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
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


_LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Record:
    """An event as it stands in the log; records are numbered from 1.

    Parameters
    ----------
    event : Event
        What happened.
    by : str or None
        The expert who said it; None where nobody gave a name.
    key : str or None
        What the request was called by whoever made it. A request that is repeated with its key
        is not recorded again.
    at : str
        When, as ISO 8601 in universal time; empty where that is not known.

    Examples
    --------
    >>> from kernova.discover.events import Skipped
    >>> from kernova.discover.events import Record
    >>> Record(Skipped(4), by="Anna").by
    'Anna'
    """

    event: Event
    by: str | None = None
    key: str | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A record as a person reads it: numbered, and with what became of it.

    Parameters
    ----------
    number : int
        The record's number, counted from 1; it never changes.
    at, by, event
        As in :class:`Record`.
    counts : bool
        False for what was undone, and for the undoing.
    question : int or None
        The number that the question has now, for an answer, a skip or a change that counts.
    """

    number: int
    at: str
    by: str | None
    event: Event
    counts: bool
    question: int | None


def now() -> str:
    """Give the time as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def checked_key(key: object) -> str | None:
    """Give the key if it can be one.

    Examples
    --------
    >>> from kernova.discover.events import checked_key
    >>> checked_key("answer-17")
    'answer-17'
    """
    if key is None:
        return None
    if type(key) is not str or not key.isprintable() or not 0 < len(key) <= _LONGEST_KEY:
        raise InputError(
            f"A request's key is a readable text of 1 to {_LONGEST_KEY} characters; got {key!r}."
        )
    return key

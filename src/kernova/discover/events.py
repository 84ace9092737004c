"""Events and records of a session's log, each with one JSON form.

A log is a list of records, and a record is an event with its expert, time and key.
:mod:`kernova.discover.state` defines what events mean together. Rows are row indices counted from
0; questions are counted from 1.
"""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, Literal, get_args

from kernova.discover.names import category_name
from kernova.errors import InputError, quoted

_MAX_KEY_LENGTH: Final = 200
_MAX_NOTE_LENGTH: Final = 10_000

Confidence = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class PriorLabels:
    """Labels known before the first question."""

    rows: tuple[int, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowsAdded:
    """New rows followed those of the table, which nothing can undo.

    ``first`` is the index of the first of them, and ``fingerprint`` that of their values.
    ``unlike`` holds the rows that look new beside all rows before, the most unusual first;
    ``groups`` a number for each, the same for rows that lie together; ``ppm`` their p-values in
    millionths. By chance no more than ``by_chance`` would look new; ``n_held_out`` rows show that,
    or none if nothing was judged. ``n_known`` rows were recognised. ``labelled`` are rows with a
    label known in advance.
    """

    first: int
    n_rows: int
    fingerprint: str
    unlike: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    ppm: tuple[int, ...] = ()
    by_chance: int = 0
    n_held_out: int = 0
    n_known: int = 0
    labelled: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The open question was answered; other rows of its cluster may be labelled with it."""

    row: int
    label: str
    others: tuple[int, ...] = ()
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Unsure:
    """The expert of the open question could not decide; unlike a skipped row, it is listed."""

    row: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """The open question was skipped."""

    row: int


@dataclass(frozen=True, slots=True)
class RowLabelled:
    """A row was labelled without being asked, or labelled again.

    ``is_blind`` holds for the answer of a further expert who was asked about the row, and to whom
    the answers of others were not shown.
    """

    row: int
    label: str
    confidence: Confidence | None = None
    is_blind: bool | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """The answer to an earlier question was changed; with None the question is skipped.

    ``row`` is the question's row: it identifies the question if an earlier entry is lost.
    """

    question: int
    label: str | None
    row: int | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Renamed:
    """A category got another name, which was not in use."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Merged:
    """Categories were merged into one."""

    into: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowsLabelled:
    """Several rows were labelled without being asked, or labelled again, at once."""

    rows: tuple[int, ...]
    label: str
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class RowsUnsure:
    """Rows lost their labels, since an expert could not decide; they are not asked about."""

    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """Suggestions of a model were accepted; such rows stay apart from labels given by hand.

    ``codes`` holds the position in ``names`` of each row's category, and ``permille`` the
    probability of each suggestion in thousandths.
    """

    rows: tuple[int, ...]
    names: tuple[str, ...]
    codes: tuple[int, ...]
    permille: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reopened:
    """Rows lost their labels and may be asked about; those that were asked become skipped."""

    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """Rows are not of a category; those that had its label lose it, as if reopened."""

    rows: tuple[int, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Noted:
    """A remark on a row, in place of an earlier one; with None there is none."""

    row: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Flagged:
    """Rows were flagged for later, or no longer are."""

    rows: tuple[int, ...]
    is_on: bool = True


@dataclass(frozen=True, slots=True)
class Tagged:
    """Rows got a further label beside their category, or lost it."""

    rows: tuple[int, ...]
    label: str
    is_on: bool = True


@dataclass(frozen=True, slots=True)
class Grouped:
    """Categories were put under a heading; with None they are under none."""

    names: tuple[str, ...]
    under: str | None


@dataclass(frozen=True, slots=True)
class KeyChosen:
    """A category got a key of the keyboard, which another may lose; with None it has none."""

    name: str
    key: str | None


@dataclass(frozen=True, slots=True)
class OptionSet:
    """An option of the project was set, such as the noun for its rows."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Opined:
    """An expert's labels in a file; ``codes`` holds the position in ``names`` of each row's.

    Without an expert they are those of whoever imports the file. With ``settles`` they end
    disagreements about these rows.
    """

    rows: tuple[int, ...]
    names: tuple[str, ...]
    codes: tuple[int, ...]
    expert: str | None = None
    confidence: Confidence | None = None
    settles: bool = False


@dataclass(frozen=True, slots=True)
class RowsNoted:
    """Remarks on rows, in place of earlier ones."""

    rows: tuple[int, ...]
    texts: tuple[str, ...]


# What a file of labels can bring.
ImportedPart = Opined | Accepted | RowsUnsure | RowsNoted | Flagged | Tagged | Grouped


@dataclass(frozen=True, slots=True)
class Imported:
    """Labels and remarks were read from a file, in one step; the parts apply one after another."""

    source: str
    parts: tuple[ImportedPart, ...]


@dataclass(frozen=True, slots=True)
class Passed:
    """An expert skipped a row that another had labelled: its label stays.

    ``is_blind`` is as in :class:`RowLabelled`.
    """

    row: int
    is_blind: bool | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    """A category was deleted: its asked rows become skipped, its other rows open again."""

    name: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A disagreement about a row was settled."""

    row: int
    label: str


@dataclass(frozen=True, slots=True)
class Undone:
    """A record was undone: the one with this number, or the last in effect.

    ``entry`` is the number of that record in any case; it identifies the record if an earlier entry
    is lost.
    """

    number: int | None = None
    entry: int | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Lost:
    """Stands for an entry that was damaged on disk; it has no effect but keeps its number."""


Event = (
    PriorLabels
    | RowsAdded
    | Answered
    | Skipped
    | Unsure
    | Passed
    | RowLabelled
    | RowsLabelled
    | Changed
    | Renamed
    | Merged
    | Deleted
    | Settled
    | RowsUnsure
    | Accepted
    | Reopened
    | Rejected
    | Noted
    | Flagged
    | Tagged
    | Grouped
    | KeyChosen
    | OptionSet
    | Opined
    | RowsNoted
    | Imported
    | Undone
    | Lost
)

_KINDS: dict[str, type[Event]] = {
    "prior labels": PriorLabels,
    "rows added": RowsAdded,
    "answered": Answered,
    "skipped": Skipped,
    "unsure": Unsure,
    "passed": Passed,
    "row labelled": RowLabelled,
    "rows labelled": RowsLabelled,
    "changed": Changed,
    "renamed": Renamed,
    "merged": Merged,
    "deleted": Deleted,
    "settled": Settled,
    "rows unsure": RowsUnsure,
    "accepted": Accepted,
    "reopened": Reopened,
    "rejected": Rejected,
    "noted": Noted,
    "flagged": Flagged,
    "tagged": Tagged,
    "grouped": Grouped,
    "key chosen": KeyChosen,
    "option set": OptionSet,
    "opined": Opined,
    "rows noted": RowsNoted,
    "imported": Imported,
    "undone": Undone,
    "lost": Lost,
}
# Events that close a question, each about one row.
QuestionEvent = Answered | Skipped | Unsure
# Events that change neither labels nor questions: what is noted beside them.
RemarkEvent = Noted | Flagged | Tagged | Grouped | KeyChosen | OptionSet
_KIND_OF = {kind: name for name, kind in _KINDS.items()}


def event_to_json(event: Event) -> str:
    """Return an event as one line of JSON.

    Examples
    --------
    >>> from kernova.discover.events import Answered, event_to_json
    >>> event_to_json(Answered(3, "carp"))
    '{"event": "answered", "row": 3, "label": "carp", "others": []}'
    """
    return json.dumps(_plain_fields(event), ensure_ascii=False)


def _plain_fields(event: Event) -> dict[str, Any]:
    # Not asdict: it copies every row of a labelled cluster, one by one.
    values = {one: getattr(event, one.name) for one in dataclasses.fields(event)}
    fields = {
        one.name: [_plain_fields(part) for part in value] if one.name == "parts" else value
        for one, value in values.items()
        if not (value is None and one.default is None)
    }
    return {"event": _KIND_OF[type(event)], **fields}


def event_from_json(text: str) -> Event:
    """Return the event of a text written by :func:`event_to_json`.

    Examples
    --------
    >>> from kernova.discover.events import event_from_json
    >>> event_from_json('{"event": "undone"}')
    Undone(number=None)
    """
    try:
        return event_from_fields(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InputError(f"The log is damaged: {quoted(text)} is not an event.") from error


def event_from_fields(fields: Any) -> Event:
    """Return the event of the fields of its JSON form; raise ``ValueError`` for others."""
    try:
        kind = _KINDS[fields["event"]]
        readers = _FIELDS[kind]
        values = {name: readers[name](value) for name, value in fields.items() if name != "event"}
        return kind(**values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("other fields") from error


def _row_or_number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("not a count")
    return value


def _name(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("not a name")
    return _checked_name(value)


@lru_cache(maxsize=10_000)  # few categories have many answers, which then share their text
def _checked_name(value: str) -> str:
    if category_name(value) != value:
        raise ValueError("not a name")
    return value


def _confidence(value: Any) -> Any:
    if value not in get_args(Confidence):
        raise ValueError("not a confidence")
    return value


def _switch(value: Any) -> Any:
    if type(value) is not bool:
        raise ValueError("neither on nor off")
    return value


def _note(value: Any) -> Any:
    if value is not None and (type(value) is not str or note_text(value) != value):
        raise ValueError("not a note")
    return value


def _note_of_row(value: Any) -> str:
    if type(value) is not str or note_text(value) != value:
        raise ValueError("not a note")
    return value


def _part(value: Any) -> ImportedPart:
    part = event_from_fields(value)
    if not isinstance(part, ImportedPart):
        raise ValueError("not a part of an import")
    return part


def note_text(text: object) -> str | None:
    r"""Return a remark without surrounding white space and control characters; None if empty.

    Raises
    ------
    InputError
        If it is not text, or too long.

    Examples
    --------
    >>> from kernova.discover.events import note_text
    >>> note_text("  damaged fin\n"), note_text("\n")
    ('damaged fin', None)
    """
    if type(text) is not str:
        raise InputError(f"A note must be text; got {quoted(text)}.")
    shown = "".join(one for one in text if one.isprintable() or one == "\n").strip()
    if len(shown) > _MAX_NOTE_LENGTH:
        raise InputError(
            f"A note must have at most {_MAX_NOTE_LENGTH:,} characters; got {len(shown):,}. "
            "Shorten it."
        )
    return shown or None


def _several(read: Callable[[Any], Any], values: Any) -> tuple[Any, ...]:
    if type(values) is not list:
        raise ValueError("not a list")
    return tuple(read(value) for value in values)


# Reader of a field by its type; bool and float are rejected where int is expected.
_READERS: dict[Any, Callable[[Any], Any]] = {
    int: _row_or_number,
    int | None: _row_or_number,  # omitted where there is none
    str: _name,
    Confidence | None: _confidence,
    bool: _switch,
    bool | None: _switch,  # omitted where it is not known
    str | None: lambda value: None if value is None else _name(value),
    tuple[int, ...]: lambda values: _several(_row_or_number, values),
    tuple[str, ...]: lambda values: _several(_name, values),
    tuple[ImportedPart, ...]: lambda values: _several(_part, values),
}
_FIELDS: Final = {
    kind: {one.name: _READERS[one.type] for one in dataclasses.fields(kind)} for kind in _KIND_OF
}
_FIELDS[Noted]["text"] = _note
_FIELDS[RowsNoted]["texts"] = lambda values: _several(_note_of_row, values)


@dataclass(frozen=True, slots=True)
class Record:
    """An event in the log; records are numbered from 1.

    Parameters
    ----------
    event : Event
        The event.
    by : str or None
        Name of the expert, if given.
    key : str or None
        Identifier of the request. A request repeated with the same key is not recorded again.
    at : str
        Time in UTC, in ISO 8601; empty if unknown.

    Examples
    --------
    >>> from kernova.discover.events import Record, Skipped
    >>> Record(Skipped(4), by="Anna").by
    'Anna'
    """

    event: Event
    by: str | None = None
    key: str | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A record with its number and whether it is in effect.

    Parameters
    ----------
    number : int
        The record's number, counted from 1; it never changes.
    at, by, event
        As in :class:`Record`.
    counts : bool
        Whether the record is in effect; False for undone records and for the undo itself.
    question : int or None
        Present number of the question, for an answer, a skip or a change in effect.
    """

    number: int
    at: str
    by: str | None
    event: Event
    counts: bool
    question: int | None


def now() -> str:
    """Return the present time in the format of records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def checked_key(key: object) -> str | None:
    """Return the key if it is valid.

    Examples
    --------
    >>> from kernova.discover.events import checked_key
    >>> checked_key("answer-17")
    'answer-17'
    """
    if key is None:
        return None
    if type(key) is not str or not key.isprintable() or not 0 < len(key) <= _MAX_KEY_LENGTH:
        raise InputError(
            f"key must be printable text of 1 to {_MAX_KEY_LENGTH} characters; got {quoted(key)}."
        )
    return key

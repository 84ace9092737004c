"""What a log keeps of each thing said: the event, and who said it, when, in which request."""

from dataclasses import dataclass
from datetime import UTC, datetime

from kernova.discover.events import Event
from kernova.errors import InputError

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
    >>> from kernova.discover.records import Record
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
    >>> from kernova.discover.records import checked_key
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

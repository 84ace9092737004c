"""Entries of a session's state: the label of a row, a question, and what an event changed."""

from typing import Literal, NamedTuple

from kernova.discover.events import Confidence
from kernova.discover.opinions import RowOpinions

Status = Literal["", "unsure", "accepted"]


class Entry(NamedTuple):
    """The label of a row, and the question whose answer gave it, if any.

    The status of an accepted suggestion is "accepted"; that of a row without label about which an
    expert was unsure is "unsure".
    """

    label: str | None
    question: int | None = None
    status: Status = ""
    confidence: Confidence | None = None


class AskedRow(NamedTuple):
    """The row of a question, and the rows that were labelled with it."""

    row: int
    others: tuple[int, ...] = ()


class RowBefore(NamedTuple):
    """Everything about a row before an event."""

    entry: Entry | None
    rank: int
    opinions: RowOpinions


class Step(NamedTuple):
    """What one event changed, with which it can be taken back."""

    is_question: bool
    rows: dict[int, RowBefore]
    is_batch: bool

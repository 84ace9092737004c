"""Snapshot of a project: every row with its label, and who gave it, as all exports need it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    Event,
    Imported,
    LogEntry,
    Opined,
    PriorLabels,
    RowLabelled,
    RowsLabelled,
    Settled,
)
from kernova.discover.opinions import Opinion
from kernova.discover.project.content import ProjectHead
from kernova.discover.results import SessionResults
from kernova.media.row_media import RowMedia
from kernova.tables.table import Table
from kernova.typing import Indices, Vector
from kernova.workbench.recognizer import LearntModel

#: How a row got its label, or why it has none; "" for rows that nobody has looked at.
STATUSES: Final = ("hand", "accepted", "prior", "unsure", "skipped", "")


class Authorship(NamedTuple):
    """Expert and time of a label; None where they are not known."""

    expert: str | None = None
    time: str | None = None


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A project at one moment.

    Attributes
    ----------
    ids : list
        Ids of the rows.
    id_name : str
        Name of the column of ids.
    source : str
        The table, as the user named it; empty if it is not at hand.
    head : ProjectHead
        Settings of the project.
    labels, status, experts, times, confidence : ndarray of object
        For each row its label, one of :data:`STATUSES`, who gave the label and when, and how sure
        the expert was; None where there is none.
    questions : ndarray of intp
        Number of the question whose answer gave the label; 0 for none.
    probability : ndarray
        Probability of the accepted suggestions; NaN for other rows.
    notes : dict of int to str
        Remarks.
    flagged : frozenset of int
        Flagged rows.
    tags : dict of int to tuple of str
        Further labels.
    headings : dict of str to str
        The heading of each category that is under one.
    opinions : dict of int to tuple of Opinion
        The experts' opinions about rows that several have labelled, the newest last.
    disputed : frozenset of int
        Rows whose experts disagree.
    table : Table or None
        The table, if it is at hand.
    media : RowMedia
        Pictures, sounds or outlines.
    learnt : LearntModel or None
        The model with its suggestions, if one was learnt.
    entries : list of LogEntry
        The log.
    """

    ids: list[Any]
    id_name: str
    source: str
    head: ProjectHead
    labels: NDArray[np.object_]
    status: NDArray[np.object_]
    experts: NDArray[np.object_]
    times: NDArray[np.object_]
    confidence: NDArray[np.object_]
    questions: Indices
    probability: Vector
    notes: dict[int, str]
    flagged: frozenset[int]
    tags: dict[int, tuple[str, ...]]
    headings: dict[str, str]
    opinions: dict[int, tuple[Opinion, ...]]
    disputed: frozenset[int]
    table: Table | None
    media: RowMedia
    learnt: LearntModel | None
    entries: list[LogEntry]
    made_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.ids)

    @cached_property
    def rows_with_content(self) -> list[int]:
        """Rows that are labelled, undecided, or have a remark, in the order of the table."""
        noted = [*self.notes, *self.flagged, *self.tags]
        touched = (self.status != "") & (self.status != "skipped")
        touched[noted] = True
        rows: list[int] = np.flatnonzero(touched).tolist()
        return rows

    @cached_property
    def categories(self) -> list[str]:
        """Names of all categories with a row, in the order of the table."""
        return list(dict.fromkeys(label for label in self.labels.tolist() if label is not None))

    def facts_of(self, row: int) -> dict[str, Any]:
        """Return what is known about a row's label besides its name, without what is missing."""
        probability = float(self.probability[row])
        found = {
            "status": self.status[row] or None,
            "expert": self.experts[row],
            "time": self.times[row],
            "probability": None if np.isnan(probability) else probability,
            "confidence": self.confidence[row],
            "further_labels": list(self.tags.get(row, ())) or None,
            "flagged": True if row in self.flagged else None,
            "note": self.notes.get(row),
        }
        return {name: value for name, value in found.items() if value is not None}


def snapshot_of(
    results: SessionResults,
    head: ProjectHead,
    table: Table | None = None,
    media: RowMedia | None = None,
    learnt: LearntModel | None = None,
) -> Snapshot:
    """Return the present state of a session; hold its lock meanwhile.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> from kernova.discover.project.content import ProjectHead
    >>> from kernova.workbench.exports.snapshot import snapshot_of
    >>> session = CategoryDiscovery("random").start(np.array([[0.0], [0.1], [9.0]]), ids="abc")
    >>> number = session.label_row("a", "cod", expert="Anna")
    >>> number = session.review.accept(["b"], ["cod"], [0.93])
    >>> found = snapshot_of(session.results_, ProjectHead("f1ce", 3, 1, "random", 0))
    >>> found.status.tolist(), found.probability.round(2).tolist()
    (['hand', 'accepted', ''], [nan, 0.93, nan])
    """
    entries, labels, questions = results.entries, results.labels, results.label_questions
    authors = _authors(entries, questions, results)
    kept = results.annotations
    return Snapshot(
        ids=list(results.ids),
        id_name="id" if table is None else str(table.ids.name),
        source="" if table is None else table.source,
        head=head,
        labels=labels,
        status=_statuses(results, labels, authors),
        experts=_column(len(labels), {row: one.expert for row, one in authors.items()}),
        times=_column(len(labels), {row: one.time for row, one in authors.items()}),
        confidence=_column(len(labels), results.confidences),
        questions=questions,
        probability=_probabilities(entries, results),
        notes=dict(kept.notes),
        flagged=frozenset(kept.flagged),
        tags={row: tuple(names) for row, names in kept.tags.items()},
        headings=dict(kept.headings),
        opinions={row: results.all_opinions_of(row) for row in results.shared_rows},
        disputed=frozenset(one.row for one in results.disagreements),
        table=table,
        media=RowMedia(list(map(str, results.ids))) if media is None else media,
        learnt=learnt,
        entries=entries,
    )


def _column(n_rows: int, values: Mapping[int, Any]) -> NDArray[np.object_]:
    column = np.full(n_rows, None, dtype=object)
    for row, value in values.items():
        column[row] = value
    return column


def _statuses(
    results: SessionResults, labels: NDArray[np.object_], authors: Mapping[int, Authorship]
) -> NDArray[np.object_]:
    codes = results.codes(1)
    status = np.full(len(labels), "", dtype=object)
    status[codes > 0] = "prior"
    status[[row for row in authors if codes[row] > 0]] = "hand"
    status[results.is_accepted] = "accepted"
    status[codes < 0] = "skipped"
    status[results.is_unsure] = "unsure"
    return status


# --- who gave a label ------------------------------------------------------------------------


def _authors(
    entries: Sequence[LogEntry], questions: Indices, results: SessionResults
) -> dict[int, Authorship]:
    """Return for each row with a label who gave it; prior labels have no expert."""
    candidates: dict[int, dict[str | None, Authorship]] = {}
    for entry in entries:
        if not entry.counts:
            continue
        for event, expert in _labelling_events(entry):
            for row in _labelled_rows(event, entry, questions):
                if isinstance(event, Settled):
                    candidates.pop(row, None)  # a settlement replaces all earlier opinions
                by_expert = candidates.setdefault(row, {})
                by_expert.pop(expert, None)
                by_expert[expert] = Authorship(expert, entry.at or None)
    is_labelled = results.codes(1) > 0
    is_accepted = results.is_accepted
    return {
        row: _current_author(by_expert, {} if is_accepted[row] else results.opinions_of(row))
        for row, by_expert in candidates.items()
        if is_labelled[row]
    }


def _labelling_events(entry: LogEntry) -> Iterable[tuple[Event, str | None]]:
    """Return the events of an entry that label rows, each with its expert."""
    event = entry.event
    parts: Sequence[Event] = event.parts if isinstance(event, Imported) else (event,)
    for part in parts:
        expert = part.expert if isinstance(part, Opined) else None
        yield part, entry.by if expert is None else expert


def _labelled_rows(event: Event, entry: LogEntry, questions: Indices) -> Iterable[int]:
    """Return the rows that an event labels."""
    match event:
        case Changed():
            is_labelled = event.label is not None and entry.question is not None
            return (questions == entry.question).nonzero()[0].tolist() if is_labelled else ()
        case Answered():
            return (event.row, *event.others)
        case RowLabelled() | Settled():
            return (event.row,)
        case RowsLabelled() | Accepted() | Opined():
            return event.rows
        case _:
            return ()


def _current_author(
    by_expert: dict[str | None, Authorship], opinions: dict[str | None, str]
) -> Authorship:
    """Return the latest author whose opinion stands; deleted categories remove opinions."""
    latest = list(reversed(by_expert.values()))
    return next((one for one in latest if one.expert in opinions), latest[0])


def _probabilities(entries: Sequence[LogEntry], results: SessionResults) -> Vector:
    """Return the probability with which each accepted suggestion was made."""
    found = np.full(len(results.ids), np.nan)
    for entry in entries:
        event = entry.event
        parts: Sequence[Event] = event.parts if isinstance(event, Imported) else (event,)
        for part in parts if entry.counts else ():
            if isinstance(part, Accepted):
                found[list(part.rows)] = np.array(part.permille) / 1000
    found[~results.is_accepted] = np.nan
    return found


def prior_rows(entries: Sequence[LogEntry]) -> tuple[int, ...]:
    """Return the rows that had a label before the first question.

    Examples
    --------
    >>> from kernova.workbench.exports.snapshot import prior_rows
    >>> prior_rows([])
    ()
    """
    first = entries[0].event if entries else None
    return first.rows if isinstance(first, PriorLabels) else ()

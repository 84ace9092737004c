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
    Imported,
    ImportedPart,
    KeyChosen,
    Lost,
    Merged,
    Noted,
    Opined,
    OptionSet,
    Passed,
    PriorLabels,
    Record,
    Rejected,
    Renamed,
    Reopened,
    RowLabelled,
    RowsAdded,
    RowsLabelled,
    RowsUnsure,
    Settled,
    Skipped,
    Tagged,
    Undone,
    Unsure,
)
from kernova.discover.growth.batches import bound_sentence
from kernova.noun import ROWS, Noun
from kernova.text import quantity

Kind = Literal[
    "prior", "answer", "skip", "label", "labels", "change", "rename", "merge", "delete", "settle",
    "unsure", "accept", "reopen", "reject", "note", "flag", "tag", "group", "key", "option",
    "import", "rows", "undo", "lost",
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
    OptionSet: "option",
    Imported: "import",
    RowsAdded: "rows",
    Undone: "undo",
    Lost: "lost",
}


class Subject(NamedTuple):
    """First row and category of an event, None where it has none."""

    row: int | None = None
    label: str | None = None


def event_message(event: Event, ids: Sequence[object], noun: Noun = ROWS) -> str:
    """Return a sentence that describes an event; ``noun`` is what a row is called.

    Examples
    --------
    >>> from kernova.discover.events import Answered
    >>> from kernova.workbench.messages import event_message
    >>> event_message(Answered(1, "carp", others=(0,)), ["a", "b"])
    'b and 1 similar row: carp.'
    """
    match event:
        case Answered(row, label, others, confidence):
            similar = f" and {noun.counted(len(others), 'similar')}" if others else ""
            return f"{ids[row]}{similar}: {label}{_sure(confidence)}."
        case Skipped() | Passed():
            return f"{ids[event.row]} was skipped."
        case RowLabelled(row, label, confidence, True):
            return f"{ids[row]}: {label}, asked without the answers of others{_sure(confidence)}."
        case RowLabelled(row, label, confidence, _):
            return f"{ids[row]}: {label}, labelled directly{_sure(confidence)}."
        case RowsLabelled(rows, label, confidence):
            return f"{noun.counted(len(rows))}: {label}, labelled directly{_sure(confidence)}."
        case Settled(row, label):
            return f"The disagreement about {ids[row]} was settled: {label}."
        case Changed(question, label):
            now = "skipped" if label is None else label
            return f"The answer to question {question} was changed to: {now}."
        case _:
            return _review_message(event, ids, noun)


def _sure(confidence: Confidence | None) -> str:
    return "" if confidence is None else f", with {confidence} confidence"


def _review_message(event: Event, ids: Sequence[object], noun: Noun) -> str:
    match event:
        case Unsure(row):
            return f"{ids[row]} was left undecided."
        case Accepted(rows, names, _, _):
            of = f": {names[0]}" if len(names) == 1 else f" of {len(names)} categories"
            return f"{quantity(len(rows), 'suggestion')} accepted{of}."
        case RowsUnsure(rows):
            return f"{_few(rows, ids, noun)} marked as undecided."
        case Reopened(rows):
            return f"{_few(rows, ids, noun)} opened again."
        case Rejected(rows, label):
            return f"{_few(rows, ids, noun)}: not {label}."
        case Imported(source, parts):
            return f"{_counted_parts(parts, noun)} imported from {source}."
        case _:
            return _annotation_message(event, ids, noun)


def _counted_parts(parts: Sequence[ImportedPart], noun: Noun) -> str:
    """Return how many rows an import labels; where it labels none, how many it concerns."""
    labelled = {row for one in parts if isinstance(one, Opined | Accepted) for row in one.rows}
    if labelled:
        return f"Labels of {noun.counted(len(labelled))}"
    return f"Remarks on {noun.counted(len(rows_of(Imported('', tuple(parts)))))}"


def _annotation_message(event: Event, ids: Sequence[object], noun: Noun) -> str:
    match event:
        case Noted(row, text):
            return (
                f"The note on {ids[row]} was removed."
                if text is None
                else (f"Note on {ids[row]}: {text}")
            )
        case Flagged(rows, is_on):
            return f"{_few(rows, ids, noun)} {'flagged' if is_on else 'no longer flagged'}."
        case Tagged(rows, label, is_on):
            return f"{_few(rows, ids, noun)}: {'also' if is_on else 'no longer also'} {label}."
        case _:
            return _category_message(event, noun)


def _few(rows: Sequence[int], ids: Sequence[object], noun: Noun) -> str:
    return str(ids[rows[0]]) if len(rows) == 1 else noun.counted(len(rows))


def entry_message(
    event: Event, ids: Sequence[object], record_of: Callable[[int], Record], noun: Noun = ROWS
) -> str:
    """Return a sentence that describes an event; for an undo, the entry that it reverts."""
    if isinstance(event, Undone) and event.number is not None:
        return f"Undone: {event_message(record_of(event.number).event, ids, noun)}"
    return event_message(event, ids, noun)


def _category_message(event: Event, noun: Noun) -> str:
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
            if key is None:
                return f"{name} has no key now."
            return (
                f"{name} has the {'keys' if len(key) > 1 else 'key'} {' '.join(key).upper()} now."
            )
        case _:
            return _log_message(event, noun)


def _option_message(name: str, value: str, noun: Noun) -> str:
    match name, value:
        case "noun", _:
            return f"Rows are called {value.rpartition(',')[2]}."
        case "further labels", "on":
            return f"Each {noun.one} may have further labels."
        case "further labels", _:
            return f"No {noun.one} may have further labels."
        case "overlap", _:
            permille, experts = map(int, value.split(","))
            if permille == 0:
                return f"No {noun.one} is asked to several experts from now on."
            return (
                f"{permille / 10:g} % of {noun.several} are asked to {experts} experts from now on."
            )
        case _:
            return f"The option {name} was set to {value}."


def _log_message(event: Event, noun: Noun) -> str:
    match event:
        case OptionSet(name, value):
            return _option_message(name, value, noun)
        case PriorLabels(rows, _):
            had = "was" if len(rows) == 1 else "were"
            return f"{noun.counted(len(rows))} {had} labelled before the first question."
        case RowsAdded():
            return noun.in_sentence(
                f"{quantity(event.n_rows, 'new row')} added. {bound_sentence(event)}"
            )
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
        case Imported(_, parts):
            return tuple(dict.fromkeys(row for part in parts for row in rows_of(part)))
        case _:
            row: int | None = getattr(event, "row", None)
            several: tuple[int, ...] = getattr(event, "rows", ())
            return several if row is None or isinstance(event, Changed) else (row,)


def subject_of(event: Event) -> Subject:
    """Return the first row and the category of an event; neither for an import.

    Examples
    --------
    >>> from kernova.discover.events import Answered
    >>> from kernova.workbench.messages import subject_of
    >>> subject_of(Answered(1, "carp", others=(0,)))
    Subject(row=1, label='carp')
    """
    if isinstance(event, Imported):
        return Subject()  # the file may be gone when a request is repeated
    return Subject(next(iter(rows_of(event)), None), label_of(event))


def label_of(event: Event) -> str | None:
    """Return the category of an event, None if it has none."""
    if isinstance(event, OptionSet):
        return None
    for name in ("label", "new", "into", "name"):
        found = getattr(event, name, None)
        if isinstance(found, str):
            return found
    return None


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

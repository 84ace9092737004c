"""Recovery of a damaged project: the log without what is lost, its labels, and a repaired file.

An entry that is lost leaves its number, so that later entries keep their meaning. A later entry
that cannot be applied without it, or that could then mean another row, is left out as well and
listed.
"""

import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from kernova.discover.events import (
    Changed,
    Event,
    Lost,
    Record,
    RowsAdded,
    Undone,
)
from kernova.discover.log import EventLog
from kernova.discover.project.content import ProjectContent, new_content
from kernova.discover.project.file import create_file, free_name
from kernova.discover.project.lines import FORMAT
from kernova.discover.project.reading import (
    harmless_damage,
    legible_rest,
    losses,
    read_project,
)
from kernova.errors import InputError, quoted
from kernova.files import is_there
from kernova.text import first_few


@dataclass(frozen=True)
class Recovery:
    """What is left of a project.

    Attributes
    ----------
    log : EventLog
        The log, with :class:`~kernova.discover.events.Lost` for what could not be read or applied.
    unreadable : list of int
        Numbers of the entries that are damaged or missing.
    dependent : list of int
        Numbers of the entries that are intact but depend on one of those.
    """

    log: EventLog
    unreadable: list[int]
    dependent: list[int]


def recover(content: ProjectContent) -> Recovery:
    """Replay the intact entries of a project.

    Examples
    --------
    >>> from kernova.discover.events import Answered, Record, Renamed
    >>> from kernova.discover.project.content import ProjectContent
    >>> from kernova.discover.project.recovery import recover
    >>> records = {1: Record(Answered(3, "carp")), 3: Record(Renamed("pike", "eel"))}
    >>> recovery = recover(ProjectContent(n_entries=3, records=records))
    >>> recovery.unreadable, recovery.dependent, recovery.log.state.categories
    ([2], [3], {'carp': [3]})
    """
    log = EventLog(_n_rows(content))
    unreadable, dependent = content.lost_entries, []
    added = {part.entry: part for part in content.parts[1:]}
    for number in range(1, content.last + 1):
        # Which rows were added stands a second time beside their ids.
        lost = added[number].event() if number in added else Lost()
        record = content.records.get(number, Record(lost))
        try:
            if unreadable and unreadable[0] < number:
                record = _unambiguous(record, log)
            log.append(record)
        except InputError:
            dependent.append(number)
            log.append(replace(record, event=Lost()))
    return Recovery(log, unreadable, dependent)


def _n_rows(content: ProjectContent) -> int:
    if content.head is not None:
        return content.head.n_rows
    events = [record.event for record in content.records.values()]
    first = next((one.first for one in events if isinstance(one, RowsAdded)), None)
    if first is not None:
        return first
    rows = [_largest_row(event) for event in events]
    return max(rows, default=-1) + 1


def _largest_row(event: Event) -> int:
    several = [*getattr(event, "rows", ()), *getattr(event, "others", ())]
    several += [_largest_row(part) for part in getattr(event, "parts", ())]
    rows = [one for one in (getattr(event, "row", None), *several) if isinstance(one, int)]
    return max(rows, default=-1)


def _unambiguous(record: Record, log: EventLog) -> Record:
    """Return the record with what it means; raise if a lost entry makes that uncertain."""
    match record.event:
        case Undone(number, entry):
            wanted = entry if number is None else number
            if wanted is None:
                raise InputError("It is not known which entry was undone.")
            return replace(record, event=Undone(wanted, wanted))
        case Changed(_, label, row):
            rows = [asked.row for asked in log.state.questions]
            if row is None or row not in rows:
                raise InputError("It is not known which question was changed.")
            return replace(record, event=Changed(rows.index(row) + 1, label, row))
    return record


def labels_table(content: ProjectContent, recovery: Recovery) -> pd.DataFrame:
    """Return the labelled rows: index, id, category, question and expert.

    The id is missing where the project does not hold it.
    """
    entries = recovery.log.state.entries
    labelled = sorted(row for row, entry in entries.items() if entry.label is not None)
    questions = [entries[row].question for row in labelled]
    experts = [_expert(recovery.log, row) for row in labelled]
    return pd.DataFrame(
        {
            "row": labelled,
            "id": pd.Series([content.id_of(row) for row in labelled], dtype=object),
            "category": [entries[row].label for row in labelled],
            "question": pd.Series(questions, dtype="Int64"),
            "expert": pd.Series(experts, dtype=object),
        }
    )


def _expert(log: EventLog, row: int) -> str | None:
    return next(reversed(log.state.opinions.of(row)), None)


def damage_report(path: Path, content: ProjectContent, recovery: Recovery) -> list[str]:
    """Return sentences on everything that is damaged, and on what it affects."""
    sentences = [f"{path} is damaged: {sentence}" for sentence in losses(content)]
    if recovery.dependent:
        sentences.append(
            f"These entries are intact but depend on lost ones, and were left out: "
            f"{first_few(recovery.dependent)}."
        )
    if recovery.unreadable:
        sentences.append(
            "A lost entry may have labelled, changed or renamed something, or undone another "
            "entry. Questions after it are counted anew."
        )
        sentences += [f"Readable part: {quoted(rest, 200)}" for rest in legible_rest(content)]
    return [*sentences, *harmless_damage(path, content)]


def back_up(path: Path, target: Path | None = None) -> Path:
    """Copy a project as it is now, even while it is open, and return the copy's path.

    Parameters
    ----------
    path : Path
        The project.
    target : Path, optional
        The copy, which must not exist; by default a name with the time, beside the project.
    """
    reading = read_project(path)
    if target is None:
        time = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
        target = free_name(path.with_name(f"{path.stem}-backup-{time}{path.suffix}"))
    if is_there(target):
        raise InputError(f"Cannot back up to {target}: it already exists. Choose another path.")
    if reading.content.version < FORMAT:  # with its journal, which is a second file
        write_repaired(target, reading.content, recover(reading.content))
    else:
        create_file(target, path.read_bytes())
    return target


def write_repaired(target: Path, content: ProjectContent, recovery: Recovery) -> None:
    """Write a project with everything that could be recovered; it gets an id of its own.

    Raises
    ------
    InputError
        If the settings are lost, or the file cannot be written.
    """
    if content.head is None:
        raise InputError(
            "The settings of the project are not readable, so it cannot be continued. Save its "
            "labels with `kernova project export`."
        )
    if is_there(target):
        raise InputError(
            f"Cannot write a project to {target}: it already exists. Choose another path."
        )
    records = recovery.log.records
    batches = content.as_added()
    create_file(
        target, new_content(uuid.uuid4().hex, content.head, content.digest, records, batches)
    )

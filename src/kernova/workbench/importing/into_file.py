"""Import of labels into a project file, without the table that the project is of."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kernova.discover.events import Event, Record, checked_key, now
from kernova.discover.log import EventLog, check_new_names
from kernova.discover.names import expert_name
from kernova.discover.questions import OpenQuestions
from kernova.discover.results import SessionResults
from kernova.discover.review import Review
from kernova.discover.review.reviewer import Recorder
from kernova.discover.rows import RowIds
from kernova.discover.store import ProjectStore, open_project
from kernova.errors import InputError
from kernova.workbench.importing.matching import OnConflict, import_parts, matched
from kernova.workbench.importing.part import ImportPreview, preview_of
from kernova.workbench.importing.reading import read_label_file
from kernova.workbench.messages import event_message


class ImportedFile(NamedTuple):
    """What a file of labels held, and the entry that it became; None for a preview."""

    preview: ImportPreview
    message: str | None


def import_into(
    project: Path,
    labels: Path,
    *,
    on_conflict: OnConflict = "keep",
    expert: str | None = None,
    as_expert: str | None = None,
    id_column: str | None = None,
    category_column: str | None = None,
    only_preview: bool = False,
) -> ImportedFile:
    """Add the labels of a file to a project, in one step that can be undone.

    Parameters
    ----------
    project, labels : Path
        The project, which no other program may have open, and the file of labels.
    on_conflict : {"keep", "take", "opinion"}
        Treatment of rows that have another label: keep that, replace it, or record the one of the
        file as a further opinion.
    expert : str, optional
        Who imports the file.
    as_expert : str, optional
        Whose the labels are of which the file does not say it.
    id_column, category_column : str, optional
        Columns of a table; by default they are found.
    only_preview : bool
        Whether to change nothing.
    """
    try:
        content = labels.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {labels}: {error.strerror}.") from error
    with open_project(project) as store:
        ids = _ids(store)
        log = EventLog(store.head.n_rows, store.records, store)
        results = SessionResults(RowIds(ids, store.head.n_rows), log, OpenQuestions())
        rows = {str(one): row for row, one in enumerate(ids)}
        file = read_label_file(labels.name, content, rows, id_column, category_column)
        matches = matched(file, rows)
        preview = preview_of(file, "", matches, results)
        if only_preview:
            return ImportedFile(preview, None)
        by, holder = expert_name(expert), expert_name(as_expert)
        review = Review(RowIds(ids, store.head.n_rows), _recorder(log), results.label_of)
        number = review.import_labels(
            labels.name,
            lambda: import_parts(matches, results, on_conflict, holder, by),
            expert=by,
        )
        return ImportedFile(preview, event_message(results.record(number).event, ids))


def _ids(store: ProjectStore) -> list[object]:
    digest = store.digest
    if digest is None:
        raise InputError(
            f"{store.path} does not hold the ids of its rows, since an earlier version made it. "
            "Open it once with its table by kernova discover, and import again."
        )
    return [json.loads(one) for one in digest.ids]


def _recorder(log: EventLog) -> Recorder:
    """Return a function that appends an event to a log, as a session does."""

    def record(event_of: Callable[[str | None], Event], expert: str | None, key: str | None) -> int:
        event = event_of(expert)
        check_new_names(event, log.state.has_category)
        log.append(Record(event, expert, checked_key(key), now()))
        return len(log.records)

    return record

"""Labels of all rows as a table: CSV, TSV and Parquet."""

import io

import numpy as np
import pandas as pd

from kernova.tables.records import rows_with_ids
from kernova.tables.spreadsheets import save_separated
from kernova.workbench.exports.snapshot import Snapshot

#: Between further labels in one cell.
SEPARATOR = "; "


def labels_table(snapshot: Snapshot) -> pd.DataFrame:
    """Return one line per row: id, category, who gave it and when, remarks, and prior label.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> from kernova.discover.project.content import ProjectHead
    >>> from kernova.workbench.exports.labels import labels_table
    >>> from kernova.workbench.exports.snapshot import snapshot_of
    >>> session = CategoryDiscovery("random").start(np.array([[0.0], [0.1], [9.0]]), ids="abc")
    >>> number = session.label_row("b", "cod", expert="Anna")
    >>> table = labels_table(snapshot_of(session.results_, ProjectHead("f1", 3, 1, "random", 0)))
    >>> table.loc[1, ["id", "category", "expert", "status"]].tolist()
    ['b', 'cod', 'Anna', 'hand']
    """
    columns = _columns(snapshot)
    if snapshot.table is not None:
        return rows_with_ids(snapshot.table, columns)
    return pd.DataFrame({"id": pd.Series(snapshot.ids, dtype=object), **columns})


def _columns(snapshot: Snapshot) -> dict[str, object]:
    labels, rows = snapshot.labels.tolist(), range(snapshot.n_rows)
    numbers = pd.Series(snapshot.questions, dtype="Int64")
    headings = [None if label is None else snapshot.headings.get(label) for label in labels]
    status = [one or None for one in snapshot.status]
    tags = [SEPARATOR.join(snapshot.tags.get(row, ())) or None for row in rows]
    is_flagged = np.zeros(snapshot.n_rows, dtype=np.bool_)
    is_flagged[list(snapshot.flagged)] = True
    return {
        "category": pd.array(labels, dtype="string"),
        "question": numbers.mask(numbers == 0),
        "expert": pd.array(snapshot.experts, dtype="string"),
        "time": pd.array(snapshot.times, dtype="string"),
        "status": pd.array(status, dtype="string"),
        "probability": snapshot.probability,
        "confidence": pd.array(snapshot.confidence, dtype="string"),
        "heading": pd.array(headings, dtype="string"),
        "further_labels": pd.array(tags, dtype="string"),
        "flagged": is_flagged,
        "note": pd.array([snapshot.notes.get(row) for row in rows], dtype="string"),
    }


def labels_csv(snapshot: Snapshot, *, raw: bool = False, separator: str = ",") -> bytes:
    """Return the labels as separated text; ids are written as they were read.

    Texts that a spreadsheet would run as formulas are marked with an apostrophe
    (:mod:`kernova.tables.spreadsheets`), unless ``raw`` is true.
    """
    file = io.BytesIO()
    save_separated(labels_table(snapshot), file, separator, raw=raw)
    return file.getvalue()


def labels_parquet(snapshot: Snapshot) -> bytes:
    """Return the labels as Parquet."""
    file = io.BytesIO()
    labels_table(snapshot).to_parquet(file, index=False)
    return file.getvalue()

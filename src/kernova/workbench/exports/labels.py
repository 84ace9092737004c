"""Labels of all rows as a table: CSV, TSV and Parquet."""

import io
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import numpy as np
import pandas as pd

from kernova.tables.records import rows_with_ids
from kernova.tables.spreadsheets import save_separated
from kernova.workbench.exports.snapshot import Snapshot

_SEPARATOR: Final = "; "


def joined(labels: Sequence[str]) -> str:
    """Return further labels as the text of one cell.

    Examples
    --------
    >>> from kernova.workbench.exports.labels import joined, separated
    >>> joined(["blurred", "at the edge"]), separated(joined(["a; b", "c"]))
    ('blurred; at the edge', ['a; b', 'c'])
    """
    # A label with a semicolon would become two.
    if any(";" in one for one in labels) or any(one.startswith("[") for one in labels):
        return json.dumps(list(labels), ensure_ascii=False)
    return _SEPARATOR.join(labels)


def separated(text: str) -> list[str]:
    """Return the further labels of a cell that :func:`joined` wrote."""
    if text.startswith("["):
        with suppress(ValueError):
            return [str(one) for one in json.loads(text)]
    return [one.strip() for one in text.split(";") if one.strip()]


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
    tags = [joined(snapshot.tags.get(row, ())) or None for row in rows]
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

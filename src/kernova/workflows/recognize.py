"""Recognition of known classes: a model and a new table in, a class or "unknown" per row out."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernova.audio.columns import SoundColumns
from kernova.description.recognizer import TableRecognizer
from kernova.errors import InputError, ModelFileError
from kernova.explain.explanation import explain, top_features
from kernova.persist.models import load_model
from kernova.shapes.columns import ShapeColumns
from kernova.tables.encoding import align_columns
from kernova.tables.fill_values import far_cell_notes, far_cells
from kernova.tables.records import (
    dropped_rows_notes,
    json_rows,
    rows_with_ids,
    warnings_as_notes,
)
from kernova.tables.table import Table, read_table
from kernova.text import percent
from kernova.typing import Mask, Matrix
from kernova.workflows.confusion import Confusion, confusion_of, groups_of, unknown_groups
from kernova.workflows.learn import label_texts
from kernova.workflows.settings import Missing, RecognizeSettings, missing_when_reading
from kernova.workflows.verdicts import UNKNOWN

__all__ = [
    "RecognizeResult",
    "RecognizeSettings",
    "load_recognizer",
    "read_new",
    "recognize_rows",
]

# Explaining more rows would take too long.
_MAX_EXPLAINED = 50
_FEATURES_NAMED = 3
_AS_THEY_ARE = "Such rows are judged as they are."


@dataclass(frozen=True)
class RecognizeResult:
    """The class of every new row, or "unknown"."""

    # One line for each new row, in the input's order: its id, ``recognized`` (a class, or
    # "unknown"), ``membership`` (the largest), ``ambiguous`` (claimed by several classes),
    # ``group`` (the group of unknown rows it is in, 0 if none), ``because`` (the features that
    # separate the first unknown rows from the nearest class), ``nearest`` (ids of training rows),
    # the membership of every class, and the label if there is one.
    rows: pd.DataFrame
    # Result of :func:`kernova.explain.explain` for the first unknown rows, by their indices.
    explanation: pd.DataFrame
    confusion: Confusion | None  # counts of labels against verdicts, where there are labels
    model: TableRecognizer  # the model that judged the rows
    new: Table  # the rows judged
    settings: RecognizeSettings  # numbers of rows to name and to explain
    notes: list[str]  # remarks for readers of the result

    @property
    def is_unknown(self) -> Mask:
        """Mask of the new rows that no class claims."""
        return np.asarray(self.rows["recognized"] == UNKNOWN)

    @property
    def n_unknown(self) -> int:
        """Number of new rows that no class claims."""
        return int(self.is_unknown.sum())

    @property
    def least_known_first(self) -> pd.DataFrame:
        """The unknown rows first, the lowest membership before others, then the recognised ones."""
        order = np.lexsort((self.rows["membership"], ~self.is_unknown))
        return self.rows.iloc[order]

    @property
    def summary(self) -> str:
        """One sentence: how many rows are recognised, and how many are unknown."""
        classes = self.model.classes_.tolist()
        known = str(classes[0]) if len(classes) == 1 else f"one of {len(classes)} classes"
        return (
            f"Of {len(self.rows)} new rows, {len(self.rows) - self.n_unknown} recognised as "
            f"{known} ({int(self.rows['ambiguous'].sum())} ambiguously), "
            f"{self.n_unknown} {UNKNOWN}."
        )

    @property
    def expectation(self) -> str:
        """One sentence: how many unknown rows to expect of known classes alone."""
        model = self.model
        is_claimed = (model.left_out_ >= model.description_.thresholds_).any(axis=1)
        fraction = float(1 - is_claimed.mean())
        return (
            f"If all were of known classes, about {fraction * len(self.rows):.1f} would be "
            f"{UNKNOWN}: {percent(fraction, '.1f')} of the training rows are when left out."
        )

    @property
    def sentences(self) -> list[str]:
        """All sentences that a report shows before the tables."""
        agreement = [] if self.confusion is None else self.confusion.sentences
        return [self.summary, self.expectation, *agreement, *self.notes]

    def shown(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows without the columns that say little of unknown ones."""
        every = [f"membership_{name}" for name in self.model.classes_]
        return rows.drop(columns=[*every, "recognized", "ambiguous"])

    @property
    def by_class(self) -> pd.DataFrame:
        """Count the rows of each verdict."""
        names = [*(str(name) for name in self.model.classes_), UNKNOWN]
        counts = self.rows["recognized"].value_counts()
        ambiguous = self.rows.loc[self.rows["ambiguous"], "recognized"].value_counts()
        return pd.DataFrame(
            {
                "recognized": names,
                "rows": [int(counts.get(name, 0)) for name in names],
                "ambiguous": [int(ambiguous.get(name, 0)) for name in names],
            }
        )

    @property
    def groups(self) -> pd.DataFrame:
        """One line for each group of unknown rows that lie together, the largest first."""
        return groups_of(self.rows, self.model.classes_.tolist(), self.new.labels)

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        return {
            "command": "recognize",
            "new": {"source": self.new.source, "rows": len(self.rows)},
            "settings": asdict(self.settings),
            "classes": json_rows(self.by_class),
            "unknown_rows": self.n_unknown,
            "summary": self.summary,
            "expectation": self.expectation,
            "notes": self.notes,
            "groups": json_rows(self.groups),
            "confusion": None if self.confusion is None else self.confusion.to_json_dict(),
            "rows": json_rows(self.rows),
        }


def load_recognizer(path: str | os.PathLike[str]) -> TableRecognizer:
    """Load a model that ``kernova learn`` wrote, or raise if the file holds another."""
    model = load_model(path)
    if not isinstance(model, TableRecognizer):
        raise ModelFileError(
            f"{os.fspath(path)} holds a {type(model).__name__}, not a model of classes. Pass a "
            "file written by kernova learn."
        )
    return model


def read_new(
    path: str | os.PathLike[str],
    model: TableRecognizer,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing | None = None,
    audio: str | os.PathLike[str] | None = None,
) -> Table:
    """Read the table to judge; by default missing values are treated as in training.

    A model of landmarks or sounds reads new ones as it read the training data; ``audio`` is the
    folder with the recordings of a table of selections.
    """
    missing = missing or model.encoder_.missing
    if missing == "auto" and model.encoder_.missing != "auto":
        missing = "fill"  # indicators cannot be added to a model
    if missing == "fill" and model.encoder_.missing == "refuse":
        model.encoder_.missing = "fill"  # the values to fill in were learnt in any case
    is_folder = isinstance(model.reader, SoundColumns) and Path(path).is_dir()
    if audio is not None or is_folder or os.fspath(path).lower().endswith(".tps"):
        # Plain tables do not need the packages for pictures and sounds.
        from kernova.media.opening import open_discovery_data

        _check_reader(model, os.fspath(path))
        return open_discovery_data(
            path, id_column=id_column, label_column=label_column, drop=drop, missing=missing,
            audio=audio, reader=model.reader,
        ).table  # fmt: skip
    if isinstance(model.reader, SoundColumns):
        raise InputError(
            f"The model was learnt from sounds; name the folder with the recordings of "
            f"{os.fspath(path)} with audio."
        )
    return read_table(
        path, id_column=id_column, label_column=label_column, drop=drop,
        missing=missing_when_reading(missing), categories=model.text_columns,
        reading="strict",
    )  # fmt: skip


def _check_reader(model: TableRecognizer, path: str) -> None:
    """Reject landmarks or recordings for a model that was trained on something else."""
    is_shapes = path.lower().endswith(".tps")
    kind, what = (ShapeColumns, "landmarks") if is_shapes else (SoundColumns, "sounds")
    if not isinstance(model.reader, kind):
        others = {ShapeColumns: "landmarks", SoundColumns: "sounds"}
        learnt_from = others.get(type(model.reader), "a table of features")
        raise InputError(
            f"{path} holds {what}, but the model was learnt from {learnt_from}. Name a file like "
            "the one it was learnt from."
        )


def recognize_rows(
    model: TableRecognizer, new: Table, settings: RecognizeSettings | None = None
) -> RecognizeResult:
    """Recognise every row of a table.

    Parameters
    ----------
    model : TableRecognizer
        The fitted model, such as ``kernova learn`` writes.
    new : Table
        Rows to judge, with the same columns in any order.
    settings : RecognizeSettings, optional
        Numbers of training rows to name beside each row, and of unknown rows to explain.
    """
    settings = settings or RecognizeSettings()
    features = _aligned(model, new)
    description, encoded = model.description_, model.encoded(features)
    log_membership = description.log_membership(encoded)
    membership = np.exp(log_membership)
    recognized = description.recognize(encoded, UNKNOWN).astype(str)
    is_unknown = recognized == UNKNOWN
    cells = far_cells(features, beside=model.known_table)
    notes = dropped_rows_notes(new) + far_cell_notes(new, cells, _AS_THEY_ARE, _AS_THEY_ARE)
    with warnings_as_notes(notes):
        explanation = _explained(model, features, membership, is_unknown, settings.top)
    nearest = model.nearest_ids(features, settings.n_nearest)
    columns: dict[str, Any] = {
        "recognized": recognized,
        "membership": membership.max(axis=1),
        "ambiguous": model.is_ambiguous(log_membership),
        "group": unknown_groups(model.scaled(features), is_unknown),
        "because": _reasons(explanation, len(features)),
        "nearest": [", ".join(ids) for ids in nearest],
    }
    for name, of_class in zip(model.classes_, membership.T, strict=True):
        columns[f"membership_{name}"] = of_class
    rows = rows_with_ids(new, columns)
    confusion = None
    if new.labels is not None:
        confusion = confusion_of(label_texts(new.labels), recognized, model.classes_)
    return RecognizeResult(rows, explanation, confusion, model, new, settings, notes)


def _aligned(model: TableRecognizer, new: Table) -> pd.DataFrame:
    try:
        return align_columns(new.features, model.columns)
    except InputError as error:
        raise InputError(f"{new.source} does not match the training table: {error}") from None


def _explained(
    model: TableRecognizer,
    features: pd.DataFrame,
    membership: Matrix,
    is_unknown: Mask,
    top: int,
) -> pd.DataFrame:
    """Explain what separates the first unknown rows from the closest class."""
    unknown = np.flatnonzero(is_unknown)
    order = np.argsort(membership[unknown].max(axis=1), kind="stable")
    first = unknown[order][: min(top, _MAX_EXPLAINED)]
    return explain(model, features, rows=first, known=model.known_table)


def _reasons(explanation: pd.DataFrame, n_rows: int) -> list[str]:
    features = top_features(explanation, _FEATURES_NAMED)
    reasons = [""] * n_rows
    for row, text in zip(features.index.tolist(), features, strict=True):
        reasons[row] = text
    return reasons

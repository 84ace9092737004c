"""Learning of classes: a labelled table in, a fitted recogniser and its accuracy out."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.recognizer import TableRecognizer, duplicates_across_classes
from kernova.errors import InputError, quoted
from kernova.tables.columns import category_columns
from kernova.tables.fill_values import far_cell_notes, far_cells, with_moved_cells
from kernova.tables.records import (
    dropped_rows_notes,
    json_rows,
    left_out_note,
    warnings_as_notes,
)
from kernova.tables.table import Table, read_table
from kernova.text import is_missing, percent, plural, quantity
from kernova.workflows.detectors import table_encoder
from kernova.workflows.settings import LearnSettings, Missing, missing_when_reading
from kernova.workflows.verdicts import UNKNOWN

__all__ = ["LearnResult", "LearnSettings", "label_texts", "learn_classes", "read_labelled"]

# With more classes than this, and than half of the rows, a label column is taken for ids.
_MAX_CLASSES = 50
_NEAREST_OTHERS = "Classes are learnt as if such rows had the nearest of the other values."
_LEFT_OUT = "A robust fit leaves out rows that are far from all others of their class."


@dataclass(frozen=True)
class LearnResult:
    """The classes learnt, and the leave-one-out verdicts on their own rows."""

    model: TableRecognizer  # the fitted model; it takes tables with the same columns
    # One line for each class: ``class``, ``rows``, ``outliers`` (left out by a robust fit),
    # ``threshold``, ``accepted`` (fraction of its own rows that it claims when they are left out),
    # ``recognized`` (fraction that is recognised as this class), ``unknown`` (fraction that no
    # class claims) and ``confused_with`` (classes that claim rows of it, and how many).
    classes: pd.DataFrame
    table: Table  # the training rows
    settings: LearnSettings  # parameters of the description
    notes: list[str]  # remarks for readers of the result

    @property
    def summary(self) -> str:
        """Two sentences: what was learnt, and how well left-out rows are recognised."""
        n_classes, n_rows = len(self.classes), len(self.model.labels_)
        right = float(np.average(self.classes["recognized"], weights=self.classes["rows"]))
        foreign = float(np.average(self.classes["unknown"], weights=self.classes["rows"]))
        return (
            f"{quantity(n_classes, 'class was', 'classes were')} learnt from {n_rows} rows of "
            f"{self.table.source}. With each row left out in turn, "
            f"{percent(right, '.1f')} are recognised correctly and {percent(foreign, '.1f')} "
            f"called {UNKNOWN}."
        )

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        description = self.model.description_
        return {
            "command": "learn",
            "labelled": {"source": self.table.source, "rows": len(self.model.labels_)},
            "settings": asdict(self.settings),
            "length_scale": description.length_scale_,
            "summary": self.summary,
            "notes": self.notes,
            "classes": json_rows(self.classes),
        }


def read_labelled(
    path: str | os.PathLike[str],
    label_column: str | None,
    *,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing = "refuse",
) -> Table:
    """Read the training table; it must have labels."""
    table = read_table(
        path,
        id_column=id_column,
        label_column=label_column,
        drop=drop,
        missing=missing_when_reading(missing),
        reading="strict",
    )
    if table.labels is None:
        raise InputError(
            f"{table.source} has no labels, so there are no classes to learn. Name the column that "
            "holds them with label_column."
        )
    return table


def learn_classes(
    table: Table, settings: LearnSettings | None = None, groups: NDArray[Any] | None = None
) -> LearnResult:
    """Describe the classes of a labelled table.

    Parameters
    ----------
    table : Table
        Rows with labels; those without one are left out, with a note.
    settings : LearnSettings, optional
        Parameters of the description.
    groups : array of shape (n_rows,), optional
        Rows that belong together; see :meth:`TableRecognizer.fit`.
    """
    settings = settings or LearnSettings()
    _check_settings(settings)
    assert table.labels is not None
    labels = label_texts(table.labels)
    has_label = labels.notna().to_numpy()
    notes = dropped_rows_notes(table)
    if not has_label.all():
        notes.append(left_out_note(int((~has_label).sum()), table.source, "no label"))
    if not has_label.any():
        raise InputError(
            f"No row of {table.source} has a label in column {quoted(str(table.labels.name))}. "
            "Fill in the classes of some rows."
        )
    classes = labels[has_label].to_numpy(dtype=str)
    _check_classes(classes, table)
    features = table.features[has_label].reset_index(drop=True)
    cells = far_cells(features)
    treatment = _LEFT_OUT if settings.robust else _NEAREST_OTHERS
    notes += far_cell_notes(replace(table, ids=table.ids[has_label]), cells, treatment, treatment)
    if not settings.robust:
        features = with_moved_cells(features, cells)
    model = _recognizer(features, settings)
    with warnings_as_notes(notes):
        model.fit(
            features,
            classes,
            ids=table.ids[has_label].tolist(),
            groups=None if groups is None else groups[has_label],
            reader=table.reader,
        )
    notes += _notes_on(model)
    return LearnResult(model, _by_class(model), table, settings, notes)


def label_texts(labels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return labels as texts, so that 3, 3.0 and "3" are one class; None if missing or blank.

    Examples
    --------
    >>> import pandas as pd
    >>> label_texts(pd.Series([3.0, None, 2.5])).tolist()
    ['3', None, '2.5']
    """
    texts = [_label_text(label) for label in labels.astype(object)]
    return pd.Series(texts, index=labels.index, name=labels.name, dtype=object)


def _label_text(label: Any) -> str | None:
    if is_missing(label):
        return None
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    return str(label).strip() or None


def _check_settings(settings: LearnSettings) -> None:
    if not 0 <= settings.reject < 1:
        raise InputError(
            f"reject is {settings.reject:g}; it must be a fraction of each class's own rows, from "
            "0 to below 1."
        )


def _check_classes(classes: NDArray[np.str_], table: Table) -> None:
    assert table.labels is not None
    if UNKNOWN in classes:
        raise InputError(
            f"A class of {table.source} is called {UNKNOWN!r}, which is the verdict on rows of no "
            "class. Rename it, or leave the labels of these rows empty."
        )
    n_classes = len(np.unique(classes))
    if n_classes > max(_MAX_CLASSES, len(classes) / 2):
        raise InputError(
            f"Column {quoted(str(table.labels.name))} of {table.source} looks like an id: "
            f"{n_classes} different labels in {len(classes)} rows. Name the column that holds the "
            "classes with label_column."
        )


def _recognizer(features: pd.DataFrame, settings: LearnSettings) -> TableRecognizer:
    """Return encoder and description; beside categories, the encoder scales the numbers.

    The description would scale an indicator by its own spread, and rare categories would count
    for more than anything else.
    """
    is_mixed = bool(category_columns(features).any()) and settings.scale == "feature"
    encoder = table_encoder("standard" if is_mixed else "none", settings.missing)
    description = MulticlassDataDescription(
        scale="none" if is_mixed else settings.scale,
        reject=settings.reject,
        max_rows_per_class=settings.max_rows_per_class,
        robust=settings.robust,
        random_state=settings.seed,
    )
    return TableRecognizer(encoder, description)


def _notes_on(model: TableRecognizer) -> list[str]:
    notes = []
    if len(model.classes_) == 1:
        notes.append(
            f"There is only one class, {model.classes_[0]}: rows will be recognised as that or "
            f"called {UNKNOWN}."
        )
    encoded = model.encoded(model.known_table)
    n_duplicates = int(duplicates_across_classes(encoded, model.labels_).sum())
    if n_duplicates:
        notes.append(
            f"{quantity(n_duplicates, 'row')} {plural(n_duplicates, 'has', 'have')} duplicates "
            "with another label; rows like them are ambiguous."
        )
    limit = model.description_.max_rows_per_class
    counts = pd.Series(model.labels_).value_counts().sort_index()
    if limit is not None and (counts > limit).any():
        large = ", ".join(str(name) for name in counts.index[counts > limit])
        notes.append(f"Classes described by only their {limit} most informative rows: {large}.")
    return notes


def _by_class(model: TableRecognizer) -> pd.DataFrame:
    """Return the leave-one-out verdicts on the rows of each class, as fractions."""
    thresholds = model.description_.thresholds_
    claims = model.left_out_ >= thresholds
    best = np.where(claims, model.left_out_, -1.0).argmax(axis=1)
    verdicts = np.where(claims.any(axis=1), model.classes_[best], None)
    lines = []
    for code, name in enumerate(model.classes_):
        inside = (model.labels_ == name) & ~model.is_outlier_
        others = pd.Series(verdicts[inside]).dropna()
        confused = others[others != name].value_counts()
        lines.append(
            {
                "class": str(name),
                "rows": int((model.labels_ == name).sum()),
                "outliers": int(model.description_.n_outliers_[code]),
                "threshold": float(thresholds[code]),
                "accepted": float(claims[inside, code].mean()),
                "recognized": float((verdicts[inside] == name).mean()),
                "unknown": float(pd.isna(verdicts[inside]).mean()),
                "confused_with": ", ".join(f"{other} ({n})" for other, n in confused.items()),
            }
        )
    return pd.DataFrame(lines)

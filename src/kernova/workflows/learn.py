"""From a labelled table to a model of its classes, and what that model is worth."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.description.hyperparameters import Scale
from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.recognizer import TableRecognizer, copies_across_classes
from kernova.errors import InputError
from kernova.tables.columns import category_columns
from kernova.tables.encoding import TableEncoder
from kernova.tables.records import dropped_rows_notes, json_rows
from kernova.tables.table import Table, read_table
from kernova.workflows.outlier_verdicts import warnings_as_notes

UNKNOWN = "unknown"


@dataclass(frozen=True)
class LearnSettings:
    """What a user may choose; the command line's options, one for one."""

    reject: float = 0.05
    scale: Scale = "feature"
    max_rows_per_class: int | None = 1000
    robust: bool = False
    missing: str = "refuse"
    seed: int = 0


@dataclass(frozen=True)
class LearnResult:
    """The classes learnt, and how their own rows fare when each is left out.

    Attributes
    ----------
    model : TableRecognizer
        The fitted model; it takes tables with the same columns.
    classes : DataFrame
        One line for each class: ``class``, ``rows``, ``outliers`` (left out by a robust fit),
        ``threshold``, ``accepted`` (share of its own rows that it claims when they are left out),
        ``recognized`` (share that is recognised as this class), ``unknown`` (share that no class
        claims) and ``confused_with`` (classes that take rows of it, and how many).
    table : Table
        What was learnt from.
    settings : LearnSettings
        How.
    notes : list of str
        What a reader should also know.
    """

    model: TableRecognizer
    classes: pd.DataFrame
    table: Table
    settings: LearnSettings
    notes: list[str]

    @property
    def summary(self) -> str:
        """Say in one sentence what was learnt and how well left-out rows are recognised."""
        n_classes, n_rows = len(self.classes), len(self.model.labels_)
        right = float(np.average(self.classes["recognized"], weights=self.classes["rows"]))
        foreign = float(np.average(self.classes["unknown"], weights=self.classes["rows"]))
        classes = "1 class was" if n_classes == 1 else f"{n_classes} classes were"
        return (
            f"{classes} learnt from {n_rows} rows of {self.table.source}. Each row judged by a "
            f"description without it, {100 * right:.1f} % are recognised rightly and "
            f"{100 * foreign:.1f} % called {UNKNOWN}."
        )

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
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
    missing: Literal["refuse", "drop", "fill"] = "refuse",
) -> Table:
    """Read the table to learn from; it must have labels."""
    keep = "keep" if missing == "fill" else missing
    table = read_table(
        path, id_column=id_column, label_column=label_column, drop=drop, missing=keep
    )
    if table.labels is None:
        raise InputError(
            f"{table.source} has no labels, so there are no classes to learn. Say which column "
            "holds them (--label-column)."
        )
    return table


def learn_classes(
    table: Table, settings: LearnSettings | None = None, groups: NDArray[Any] | None = None
) -> LearnResult:
    """Describe the classes of a labelled table.

    Parameters
    ----------
    table : Table
        Rows with labels; those without one are left out, and counted.
    settings : LearnSettings, optional
        How strict and by how many rows to describe classes.
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
        notes.append(_unlabelled(int((~has_label).sum()), table.source))
    if not has_label.any():
        raise InputError(
            f"No row of {table.source} has a label in column {str(table.labels.name)!r}. Fill in "
            "the classes of some rows."
        )
    names = labels[has_label].to_numpy(dtype=str)
    _check_names(names, table)
    features = table.features[has_label].reset_index(drop=True)
    model = _recognizer(features, settings)
    with warnings_as_notes(notes):
        model.fit(
            features,
            names,
            ids=table.ids[has_label].tolist(),
            groups=None if groups is None else groups[has_label],
        ).read_by(table.reader)
    notes += _notes_on(model)
    return LearnResult(model, _by_class(model), table, settings, notes)


def label_texts(labels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Give labels as texts, so that 3, 3.0 and "3" are one class; missing and blank ones as None.

    Examples
    --------
    >>> import pandas as pd
    >>> label_texts(pd.Series([3.0, None, 2.5])).tolist()
    ['3', None, '2.5']
    """
    texts = [_label_text(label) for label in labels.astype(object)]
    return pd.Series(texts, index=labels.index, name=labels.name, dtype=object)


def _label_text(label: Any) -> str | None:
    if label is None or pd.isna(label):
        return None
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    return str(label).strip() or None


def _check_settings(settings: LearnSettings) -> None:
    if not 0 <= settings.reject < 1:
        raise InputError(
            f"reject is {settings.reject:g}; it is a share of each class's own rows, from 0 to "
            "below 1."
        )


def _check_names(names: NDArray[np.str_], table: Table) -> None:
    if UNKNOWN in names:
        raise InputError(
            f"A class of {table.source} is called {UNKNOWN!r}, which is what rows of no class are "
            "called. Rename it, or leave the labels of these rows empty."
        )
    n_classes = len(np.unique(names))
    if n_classes > max(50, len(names) / 2):
        raise InputError(
            f"Column {str(table.labels.name)!r} of {table.source} looks like an id: "  # type: ignore[union-attr]
            f"{n_classes} different labels in {len(names)} rows. Name the column that holds the "
            "classes."
        )


def _recognizer(features: pd.DataFrame, settings: LearnSettings) -> TableRecognizer:
    """Build the chain; beside categories, the encoder scales numbers, so that both are comparable.

    The description would scale an indicator by its own spread, and rare categories would count
    for more than anything else.
    """
    is_mixed = bool(category_columns(features).any()) and settings.scale == "feature"
    encoder = TableEncoder(
        scaling="standard" if is_mixed else "none",
        missing="fill" if settings.missing == "fill" else "refuse",
    )
    description = MulticlassDataDescription(
        scale="none" if is_mixed else settings.scale,
        reject=settings.reject,
        max_rows_per_class=settings.max_rows_per_class,
        robust=settings.robust,
        random_state=settings.seed,
    )
    return TableRecognizer(encoder, description)


def _unlabelled(n: int, source: str) -> str:
    rows, were = ("row", "has no label and was") if n == 1 else ("rows", "have no label and were")
    return f"{n} {rows} of {source} {were} left out."


def _notes_on(model: TableRecognizer) -> list[str]:
    notes = []
    if len(model.classes_) == 1:
        notes.append(
            f"There is one class only, {model.classes_[0]}: rows will be recognised as that or "
            f"as {UNKNOWN}."
        )
    n_copies = int(copies_across_classes(model.encoded(model.known_table), model.labels_).sum())
    if n_copies:
        notes.append(
            f"{n_copies} rows have copies with another label; rows like them are ambiguous."
        )
    limit = model.description_.max_rows_per_class
    counts = pd.Series(model.labels_).value_counts().sort_index()
    if limit is not None and (counts > limit).any():
        large = ", ".join(str(name) for name in counts.index[counts > limit])
        notes.append(f"Described by {limit} of its most telling rows: {large}.")
    return notes


def _by_class(model: TableRecognizer) -> pd.DataFrame:
    """Count how the rows of each class fare when each is left out."""
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

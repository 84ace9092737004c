"""Recognition of known classes: a model and a new table in, a class or "unknown" per row out."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.audio.columns import SoundColumns
from kernova.description.recognizer import TableRecognizer
from kernova.errors import InputError, ModelFileError, quoted
from kernova.explain.classes import NothingToCompareWithError
from kernova.explain.explanation import explain, top_features
from kernova.persist.models import load_model
from kernova.shapes.columns import ShapeColumns
from kernova.tables.columns import Columns, split_columns
from kernova.tables.encoding import align_columns
from kernova.tables.fill_values import far_cell_notes, far_cells
from kernova.tables.records import (
    dropped_rows_notes,
    json_rows,
    rows_with_ids,
    warnings_as_notes,
)
from kernova.tables.table import Table, TableColumns, read_table
from kernova.text import counted, first_few, listed, plural, quantity
from kernova.typing import Mask
from kernova.workflows.class_verdicts import RowVerdicts, model_at, verdicts_on
from kernova.workflows.confusion import Confusion, confusion_of, groups_of, unknown_groups
from kernova.workflows.landmarks.alignment import LandmarkColumns
from kernova.workflows.landmarks.reading import (
    AS_WRITTEN,
    HowDigitised,
    Roles,
    check_is_table,
    read_specimens,
)
from kernova.workflows.landmarks.tables import specimens_like
from kernova.workflows.learn import label_texts
from kernova.workflows.media.reading import BY_COLUMNS, HowCompared, MediaRoles, read_new_media
from kernova.workflows.settings import Missing, RecognizeSettings, missing_when_reading

__all__ = [
    "RecognizeResult",
    "RecognizeSettings",
    "load_recognizer",
    "read_new",
    "recognize_rows",
]

# Explaining more rows would take too long.
_MAX_EXPLAINED = 50
# A model of many rows judges slowly: fewer hypothetical rows explain as well, to one digit.
_MANY_ROWS, _BUDGET, _BUDGET_OF_MANY = 5000, 1000, 300
_FEATURES_NAMED = 3
# Values and columns that a note names.
_VALUES_NAMED, _COLUMNS_NAMED = 3, 5
_ON_KEEPING = " To use one all the same"
_AS_THEY_ARE = "Such rows are judged as they are."


@dataclass(frozen=True)
class RecognizeResult:
    """The class of every new row, or "unknown"."""

    # One line for each new row, in the input's order: its id, ``recognized`` (a class, or
    # "unknown"), how sure that is (see below), ``group`` (the group of unknown rows it is in, 0 if
    # none), ``because`` (the features that separate the first unknown rows from the closest
    # class), ``nearest`` (ids of training rows), a column for each class, and the label if there
    # is one. How sure it is: ``probability`` (of the best class, given that a row is of a known
    # one), ``none`` (probability that it is of none), ``p_value``, ``margin`` (to the second
    # class), ``ranking``, ``would_change``, and ``probability_<class>``; by the published method
    # ``membership`` (the largest), ``ambiguous`` (claimed by several) and ``membership_<class>``.
    rows: pd.DataFrame
    # Result of :func:`kernova.explain.explain` for the first unknown rows, by their indices.
    explanation: pd.DataFrame
    confusion: Confusion | None  # counts of labels against verdicts, where there are labels
    verdicts: RowVerdicts  # the classes, and how sure they are
    new: Table  # the rows judged
    settings: RecognizeSettings  # rate of rejection, numbers of rows to name and to explain
    notes: list[str]  # remarks for readers of the result

    @property
    def model(self) -> TableRecognizer:
        """The model that judged the rows, at the rate of rejection that was asked for."""
        return self.verdicts.model

    @property
    def is_unknown(self) -> Mask:
        """Mask of the new rows that are of no known class."""
        return self.verdicts.is_unknown

    @property
    def n_unknown(self) -> int:
        """Number of new rows that are of no known class."""
        return int(self.is_unknown.sum())

    @property
    def least_known_first(self) -> pd.DataFrame:
        """The unknown rows first, the farthest from all classes before others, then the rest."""
        order = np.lexsort((-self.verdicts.novelty, ~self.is_unknown))
        return self.rows.iloc[order]

    @property
    def summary(self) -> str:
        """One sentence: how many rows are recognised, and how many are unknown."""
        return self.verdicts.summary()

    @property
    def expectation(self) -> str:
        """One sentence: how many unknown rows to expect of known classes alone."""
        return " ".join(self.verdicts.sentences())

    @property
    def sentences(self) -> list[str]:
        """All sentences that a report shows before the tables."""
        agreement = [] if self.confusion is None else self.confusion.sentences
        return [self.summary, self.expectation, *agreement, *self.notes]

    def shown(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows without the columns that say little of unknown ones."""
        return rows.drop(columns=self.verdicts.said_little)

    @property
    def by_class(self) -> pd.DataFrame:
        """Count the rows of each verdict."""
        return self.verdicts.by_class()

    @property
    def groups(self) -> pd.DataFrame:
        """One line for each group of unknown rows that lie together, the largest first."""
        closest = np.array(self.verdicts.names)
        return groups_of(self.rows, closest, self.verdicts.closeness, self.new.labels)

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        return {
            "command": "recognize",
            "new": {"source": self.new.source, "rows": len(self.rows)},
            "settings": asdict(self.settings),
            "reject": self.model.description_.reject,
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
    labels: str | os.PathLike[str] | None = None,
    id_pattern: str | None = None,
    digitised: HowDigitised = AS_WRITTEN,
    compared: HowCompared = BY_COLUMNS,
) -> Table:
    """Read the table to judge; by default missing values are treated as in training.

    What is missing is noted by :func:`recognize_rows`, which knows the training rows.

    A model of landmarks or sounds reads new ones as it read the training data: specimens are
    aligned to the consensus of the training specimens. Their labels may come from a table by id
    (``labels``), or from a part of their ids (``id_pattern``), and ``digitised`` says what their
    file does not. ``audio`` is the folder with the recordings of a table of selections. A model of
    pictures or embeddings reads such; ``compared`` names the embeddings of the new rows.
    """
    media_roles = MediaRoles(
        id_column, label_column, None, drop, labels, id_pattern, missing or model.encoder_.missing
    )
    others = {"audio": audio, **digitised.given}
    media = read_new_media(path, compared, media_roles, model.reader, others)
    if media is not None:
        return media
    if isinstance(model.reader, LandmarkColumns):
        given = Roles(
            id_column, label_column, drop=drop, labels=labels, id_pattern=id_pattern,
            digitised=digitised,
        )  # fmt: skip
        return _read_specimens(path, model.reader, given, missing or model.encoder_.missing)
    _check_no_labels_beside(os.fspath(path), labels, id_pattern)
    _check_as_written(digitised)
    missing = _missing_in(model, missing)
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
    if not isinstance(model.reader, ShapeColumns):
        check_is_table(path, like="the training table")
    reading: Any = "keep" if missing == "auto" else missing_when_reading(missing)
    if isinstance(model.reader, TableColumns):
        roles = _Roles(id_column, label_column, tuple(drop))
        return _read_alike(path, model.reader, roles, reading)
    return read_table(
        path, id_column=id_column, label_column=label_column, drop=drop,
        missing=reading, categories=model.text_columns,
        reading="strict",
    )  # fmt: skip


def _missing_in(model: TableRecognizer, missing: Missing | None) -> Missing:
    """Return how missing values are treated that the model may not have learnt to treat."""
    missing = missing or model.encoder_.missing
    if missing == "auto" and model.encoder_.missing != "auto":
        missing = "fill"  # indicators cannot be added to a model
    if missing == "fill" and model.encoder_.missing == "refuse":
        model.encoder_.missing = "fill"  # the values to fill in were learnt in any case
    return missing


def _read_specimens(
    path: str | os.PathLike[str], reader: LandmarkColumns, given: Roles, missing: Missing
) -> Table:
    """Align specimens like those of training; labels have the column of training by default."""
    if given.label_column is None and not given.has_labels_beside and reader.label_column:
        given = replace(given, label_column=reader.label_column, optional=(reader.label_column,))
    given = replace(
        given, usual_id=reader.id_column, may_be_raw=False, known_dimensions=reader.layout[1]
    )
    specimens = read_specimens(path, given)
    table = specimens_like(specimens, reader, "the model was learnt from", missing=missing)
    note = f"Specimens of {table.source} are aligned to the consensus of the training specimens."
    return replace(table, notes=(note, *table.notes))


def _check_no_labels_beside(
    path: str, labels: str | os.PathLike[str] | None, id_pattern: str | None
) -> None:
    given = "labels" if labels is not None else "id_pattern"
    if labels is not None or id_pattern is not None:
        raise InputError(
            f"`{given}` is for models of landmarks, pictures or embeddings. Name the column of "
            f"{path} that holds the classes with label_column."
        )


def _check_as_written(digitised: HowDigitised) -> None:
    given = [name for name, is_given in digitised.given.items() if is_given]
    if given:
        raise InputError(
            f"`{given[0]}` is for models that were learnt from landmarks. Leave it out."
        )


class _Roles(NamedTuple):
    """Columns that the user says are no features."""

    id_column: str | None
    label_column: str | None
    drop: tuple[str, ...]


def _read_alike(
    path: str | os.PathLike[str], known: TableColumns, given: _Roles, missing: Any
) -> Table:
    """Read a table like the training table: columns that were no features there are none here.

    The id and the label column are those of training, unless others are named.
    """
    taken = {given.id_column, given.label_column, *given.drop}
    free = [name for name in (known.id_column, known.label_column) if name not in taken]
    id_column = given.id_column or (known.id_column if known.id_column in free else None)
    label_column = given.label_column or (
        known.label_column if known.label_column in free else None
    )
    roles = {*taken, id_column, label_column}
    others = (*known.aside, known.id_column, known.label_column)
    aside = [name for name in others if name is not None and name not in roles]
    inherited = {id_column, label_column, *aside} - taken
    table = read_table(
        path, id_column=id_column, label_column=label_column, drop=[*given.drop, *aside],
        optional=[name for name in inherited if name is not None],
        missing=missing, like=known,
    )  # fmt: skip
    unused = [name for name in known.unused if name in table.features]
    # The model decides which columns are features, so that none can be kept in addition.
    notes = tuple(note.partition(_ON_KEEPING)[0] for note in table.notes)
    return replace(table, features=table.features.drop(columns=unused), notes=notes)


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
        Rate of rejection, numbers of training rows to name beside each row, and of unknown rows
        to explain.
    """
    settings = settings or RecognizeSettings()
    model = model_at(model, settings.reject)
    features, ignored = _aligned(model, new)
    verdicts = verdicts_on(model, features)
    cells = far_cells(features, beside=model.known_table)
    notes = dropped_rows_notes(new) + ignored + _new_row_notes(model, features, new.source)
    notes += far_cell_notes(new, cells, _AS_THEY_ARE, _AS_THEY_ARE)
    with warnings_as_notes(notes):
        explanation = _explained(verdicts, features, settings.top, notes)
    nearest = model.nearest_ids(features, settings.n_nearest)
    columns: dict[str, Any] = {
        **verdicts.columns(),
        "group": unknown_groups(model.scaled(features), verdicts.is_unknown),
        "because": _reasons(explanation, len(features)),
        "nearest": [", ".join(ids) for ids in nearest],
        **verdicts.class_columns(),
    }
    rows = rows_with_ids(new, columns)
    confusion = None
    if new.labels is not None:
        confusion = confusion_of(label_texts(new.labels), verdicts.recognized, model.classes_)
    return RecognizeResult(rows, explanation, confusion, verdicts, new, settings, notes)


def _aligned(model: TableRecognizer, new: Table) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns of the model, and a note on others."""
    known = set(model.columns)
    others = [name for name in new.features.columns.unique() if name not in known]
    has_all = known <= set(new.features.columns)
    features = new.features.drop(columns=others) if has_all else new.features
    try:
        aligned = align_columns(features, model.columns)
    except InputError as error:
        raise InputError(f"{new.source} does not match the training table: {error}") from None
    are = plural(len(others), "column that the model does not know is", "columns that the model "
                 "does not know are")  # fmt: skip
    notes = [f"{len(others):,} {are} ignored: {listed(others)}."] if others else []
    return aligned, notes


def _explained(
    verdicts: RowVerdicts, features: pd.DataFrame, top: int, notes: list[str]
) -> pd.DataFrame:
    """Explain what separates the first unknown rows from the closest class."""
    unknown = np.flatnonzero(verdicts.is_unknown)
    order = np.argsort(-verdicts.novelty[unknown], kind="stable")
    first = unknown[order][: min(top, _MAX_EXPLAINED)]
    known = verdicts.model.known_table
    budget = _BUDGET if len(known) < _MANY_ROWS else _BUDGET_OF_MANY
    try:
        return explain(verdicts.model, features, rows=first, known=known, budget=budget)
    except NothingToCompareWithError:
        # At a high rate of rejection, all training rows may be unknown themselves.
        notes.append("No reasons are given: at this rate of rejection no training row is known.")
        return explain(verdicts.model, features, rows=first[:0], known=known)


def _reasons(explanation: pd.DataFrame, n_rows: int) -> list[str]:
    features = top_features(explanation, _FEATURES_NAMED)
    reasons = [""] * n_rows
    for row, text in zip(features.index.tolist(), features, strict=True):
        reasons[row] = text
    return reasons


# --- notes on new rows beside the training rows ----------------------------------------------


def _new_row_notes(model: TableRecognizer, features: pd.DataFrame, source: str) -> list[str]:
    """Return what readers should know of new rows, which have the columns of the model."""
    columns = split_columns(features, model.encoder_.is_category_)
    return [
        *_copy_notes(model, columns),
        *_unseen_value_notes(model, columns),
        *_missing_notes(model, columns, source),
    ]


# --- copies of training rows -----------------------------------------------------------------


def _copy_notes(model: TableRecognizer, columns: Columns) -> list[str]:
    """Return a note on copies, if there are more than among the training rows themselves.

    Where columns have few values, rows are alike by chance. Models of the published method answer
    as those of version 0.1.0 did.
    """
    if model.is_published_method:
        return []
    known = split_columns(model.known_table, model.encoder_.is_category_)
    known_keys, keys = _row_keys(known), _row_keys(columns)
    n_copies = int(keys.isin(known_keys).sum())
    by_chance = float(known_keys.duplicated(keep=False).mean())
    if n_copies <= by_chance * len(keys):
        return []
    if n_copies == len(keys) == 1:
        return ["The row is also a training row; its figures say nothing about new rows."]
    are, them = (
        ("is also a training row", "it") if n_copies == 1 else ("are also training rows", "them")
    )
    return [
        f"{n_copies:,} of {quantity(len(keys), 'row')} {are}; figures on {them} say nothing about "
        "new rows."
    ]


def _row_keys(columns: Columns) -> "pd.Series[Any]":
    """Return a number for each row, the same for rows with the same values."""
    numbers = pd.DataFrame(columns.numbers + 0.0)  # 0.0 is also -0.0
    texts = {
        f"text {j}": np.append(np.asarray(of.distinct, dtype=object).astype(str), "")[of.codes]
        for j, of in enumerate(columns.texts)
    }
    table = pd.concat([numbers, pd.DataFrame(texts, index=numbers.index, dtype=object)], axis=1)
    return pd.util.hash_pandas_object(table, index=False)


# --- values that were not seen in training ---------------------------------------------------


def _unseen_value_notes(model: TableRecognizer, columns: Columns) -> list[str]:
    notes = []
    seen_by_column = zip(model.text_columns, model.encoder_.categories_, columns.texts, strict=True)
    for name, seen, texts in seen_by_column:
        counts = np.bincount(texts.codes[texts.codes >= 0], minlength=len(texts.distinct))
        known = set(seen.tolist())
        unseen = {
            str(text): int(n)
            for text, n in zip(texts.distinct, counts, strict=True)
            if n and text not in known
        }
        if unseen:
            notes.append(_unseen_note(name, unseen))
    return _first_notes(notes, "values that were not seen in training")


def _unseen_note(name: str, unseen: dict[str, int]) -> str:
    largest = sorted(unseen.items(), key=lambda item: -item[1])
    values = [f"{quoted(text)} ({quantity(n, 'row')})" for text, n in largest]
    was = "was" if len(values) == 1 else "were"
    found = first_few(values, _VALUES_NAMED)
    return f"Column {quoted(name)} holds {found}, which {was} not seen in training."


# --- missing values --------------------------------------------------------------------------


def _missing_notes(model: TableRecognizer, columns: Columns, source: str) -> list[str]:
    """Return notes on columns that have missing values now only, and on those that had them."""
    is_category = model.encoder_.is_category_
    counts = columns.count_missing(is_category)
    was_missing = _was_missing(model)
    is_filled = ~is_category | (model.encoder_.missing != "auto")
    notes = [
        f"Column {quoted(model.columns[j])} is missing in {quantity(int(counts[j]), 'row')}, but "
        f"never was in training; {_judged_as(int(counts[j]), is_filled=bool(is_filled[j]))}"
        for j in np.flatnonzero((counts > 0) & ~was_missing).tolist()
    ]
    notes = _first_notes(notes, "missing values that they never had in training")
    others = {model.columns[j]: int(counts[j]) for j in np.flatnonzero(was_missing).tolist()}
    if any(others.values()) and model.encoder_.missing == "auto":
        notes.append(
            f"{source} has missing values, as the training table has, counted by column: "
            f"{counted(others)}. Each is replaced by its column's median, or is a category of its "
            "own; whether a number is missing is one more feature."
        )
    return _empty_row_notes(columns) + notes


def _empty_row_notes(columns: Columns) -> list[str]:
    """Return a note on rows of which nothing was measured: a class says nothing about them."""
    is_empty = np.isnan(columns.numbers).all(axis=1)
    for texts in columns.texts:
        is_empty &= texts.codes < 0
    n_empty = int(is_empty.sum())
    if not n_empty:
        return []
    have, their = ("has", "its") if n_empty == 1 else ("have", "their")
    return [
        f"{quantity(n_empty, 'row')} {have} no value in any column of the model, so that "
        f"{their} class and {their} probability mean nothing; leave such rows out."
    ]


def _judged_as(n_rows: int, *, is_filled: bool) -> str:
    them, are = ("it", "is") if n_rows == 1 else ("they", "are")
    if is_filled:
        return f"{them} {are} judged as if it were ordinary."
    return f"{them} {are} judged like rows with a value that was not seen."


def _was_missing(model: TableRecognizer) -> Mask:
    """Return which columns had missing values in training."""
    was_missing = model.known_table.isna().any().to_numpy(copy=True)
    # Rows that were not kept may have had them, too; models of 0.1.0 have no indicators.
    was_missing[~model.encoder_.is_category_] |= getattr(model.encoder_, "has_indicator_", False)
    return np.asarray(was_missing)


def _first_notes(notes: list[str], what: str) -> list[str]:
    """Return the first notes, and how many more columns have the same."""
    n_others = len(notes) - _COLUMNS_NAMED
    if n_others <= 0:
        return notes
    have = "column has" if n_others == 1 else "columns have"
    return [*notes[:_COLUMNS_NAMED], f"{n_others:,} more {have} {what}."]

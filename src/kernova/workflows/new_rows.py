"""Notes on new rows beside the training rows: copies, unseen values, missing values."""

from typing import Any

import numpy as np
import pandas as pd

from kernova.description.recognizer import TableRecognizer
from kernova.errors import quoted
from kernova.tables.columns import Columns, split_columns
from kernova.text import counted, first_few, quantity
from kernova.typing import Mask

_VALUES_NAMED = 3
_COLUMNS_NAMED = 5


def new_row_notes(model: TableRecognizer, features: pd.DataFrame, source: str) -> list[str]:
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

    Where columns have few values, rows are alike by chance.
    """
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
    return _first(notes, "values that were not seen in training")


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
    notes = _first(notes, "missing values that they never had in training")
    others = {model.columns[j]: int(counts[j]) for j in np.flatnonzero(was_missing).tolist()}
    if any(others.values()) and model.encoder_.missing == "auto":
        notes.append(
            f"{source} has missing values, as the training table has, counted by column: "
            f"{counted(others)}. Each is replaced by its column's median, or is a category of its "
            "own; whether a number is missing is one more feature."
        )
    return notes


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


def _first(notes: list[str], what: str) -> list[str]:
    """Return the first notes, and how many more columns have the same."""
    n_others = len(notes) - _COLUMNS_NAMED
    if n_others <= 0:
        return notes
    have = "column has" if n_others == 1 else "columns have"
    return [*notes[:_COLUMNS_NAMED], f"{n_others:,} more {have} {what}."]

"""New rows beside those of a project: rows that are in it already, and copies under other ids."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from kernova.errors import InputError, quoted
from kernova.tables.identity import table_digest
from kernova.tables.table import Table
from kernova.text import first_few, plural, quantity
from kernova.typing import Indices, Mask

SameId = Literal["error", "skip", "rename"]

_NAMED = 5


@dataclass(frozen=True, eq=False)
class Comparison:
    """New rows beside those of a project.

    Attributes
    ----------
    kept : ndarray of int
        The rows to add.
    n_present : int
        Rows that are in the project already, with the same id and values.
    n_skipped : int
        Rows left out although their values differ from those of the row with their id.
    renamed : dict
        Ids that were taken, and the new ones.
    notes : list of str
        Remarks for the reader.
    """

    kept: Indices
    n_present: int
    n_skipped: int
    renamed: dict[str, str]
    notes: list[str]


def compared(before: Table, new: Table, same_id: SameId = "error") -> Comparison:
    """Compare new rows with those of a project.

    Parameters
    ----------
    before : Table
        All rows of the project.
    new : Table
        The new rows, with the same columns in the same order.
    same_id : {"error", "skip", "rename"}
        What is done with a row whose id is taken by a row with other values: raise an error, leave
        it out, or add it under another id.

    Raises
    ------
    InputError
        If an id is taken by a row with other values, and ``same_id`` is "error".

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.table import Table
    >>> from kernova.workbench.growing.rows_before import compared
    >>> def fish(ids, lengths):
    ...     return Table(pd.DataFrame({"length": lengths}), pd.Series(list(ids)), None, "fish.csv")
    >>> found = compared(fish("ab", [1.0, 2.0]), fish("bcd", [2.0, 3.0, 1.0]))
    >>> found.kept.tolist(), found.notes
    ([1, 2], ['1 row of fish.csv is in the project already, and was left out.', '1 row of fish.csv
    has exactly the values of another under another id: d (as a).'])
    """
    old_ids, new_ids = before.ids.tolist(), new.ids.tolist()
    old = table_digest(before.features, old_ids).row_digests
    own = table_digest(new.features, new_ids).row_digests
    place = pd.Index(old_ids, dtype=object).get_indexer(pd.Index(new_ids, dtype=object))
    is_taken = place >= 0
    is_same = is_taken & (old[place] == own)
    is_other = is_taken & ~is_same
    renamed: dict[str, str] = {}
    if is_other.any():
        if same_id == "error":
            raise _other_values(new, is_other)
        if same_id == "rename":
            renamed = _free_ids(new_ids, is_other, {*old_ids, *new_ids})
    is_left_out = is_same | (is_other if same_id == "skip" else np.zeros_like(is_other))
    kept = np.flatnonzero(~is_left_out)
    n_same, n_skipped = int(is_same.sum()), int(is_left_out.sum() - is_same.sum())
    notes = [
        *_left_out_notes(new.source, n_same, n_skipped),
        *_renamed_notes(new.source, renamed),
        *_copies_notes(new, kept, own, old_ids, old),
    ]
    return Comparison(kept, n_same, n_skipped, renamed, notes)


def _other_values(new: Table, is_other: Mask) -> InputError:
    ids = [quoted(one) for one in new.ids[is_other].head(_NAMED).tolist()]
    n_rows = int(is_other.sum())
    more = f" and {n_rows - len(ids):,} more" if n_rows > len(ids) else ""
    return InputError(
        f"{quantity(n_rows, 'row')} of {new.source} {plural(n_rows, 'has', 'have')} the id of a "
        f"row of the project, but other values: {', '.join(ids)}{more}. Correct the ids; or pass "
        "same_id='skip' to leave such rows out, or same_id='rename' to add them under other ids."
    )


def _free_ids(ids: list[Any], is_other: Mask, taken: set[Any]) -> dict[str, str]:
    renamed = {}
    for row in np.flatnonzero(is_other).tolist():
        number = 2
        while f"{ids[row]} ({number})" in taken:
            number += 1
        renamed[ids[row]] = f"{ids[row]} ({number})"
        taken.add(renamed[ids[row]])
    return renamed


def _left_out_notes(source: str, n_same: int, n_other: int) -> list[str]:
    notes = []
    if n_same:
        are, were = plural(n_same, "is", "are"), plural(n_same, "was", "were")
        notes.append(
            f"{quantity(n_same, 'row')} of {source} {are} in the project already, and {were} left "
            "out."
        )
    if n_other:
        has, was = plural(n_other, "has", "have"), plural(n_other, "was", "were")
        notes.append(
            f"{quantity(n_other, 'row')} of {source} {has} the id of a row of the project, but "
            f"other values, and {was} left out; the project's rows stay as they are."
        )
    return notes


def _renamed_notes(source: str, renamed: Mapping[str, str]) -> list[str]:
    if not renamed:
        return []
    named = first_few([f"{old} is now {new}" for old, new in renamed.items()], _NAMED)
    n_rows = len(renamed)
    return [
        f"{quantity(n_rows, 'row')} of {source} {plural(n_rows, 'has', 'have')} the id of another "
        f"row of the project, and got {plural(n_rows, 'a new one', 'new ones')}: {named}."
    ]


def _copies_notes(new: Table, kept: Indices, own: Any, old_ids: list[str], old: Any) -> list[str]:
    """Return a note on rows whose values are exactly those of another row."""
    digests = np.concatenate([old, own[kept]])
    ids = [*old_ids, *new.ids.iloc[kept].tolist()]
    first = pd.Series(np.arange(len(digests))).groupby(digests).transform("min").to_numpy()
    copies = np.flatnonzero(first < np.arange(len(digests)))
    copies = copies[copies >= len(old)]
    if not len(copies):
        return []
    named = first_few((f"{ids[row]} (as {ids[first[row]]})" for row in copies.tolist()), _NAMED)
    has = plural(len(copies), "has", "have")
    return [
        f"{quantity(len(copies), 'row')} of {new.source} {has} exactly the values of another under "
        f"another id: {named}."
    ]

"""What changed between a table and what it was, in a sentence."""

import json
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.table_digest import TableDigest

_MOST_NAMES: Final = 5


def what_changed(old: TableDigest, new: TableDigest) -> str:
    """Say which columns and rows are gone, new or otherwise, or that only their order is.

    Parameters
    ----------
    old, new : TableDigest
        What the table was like, and what it is like.

    Returns
    -------
    str
        One sentence with at most five names of each kind; empty if no difference is seen.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.discover.table_changes import what_changed
    >>> from kernova.discover.table_digest import table_digest
    >>> fish = pd.DataFrame({"length": [10, 12, 9], "sex": ["f", "m", "m"]})
    >>> later = pd.DataFrame({"length": [10, 13], "sex": ["f", "m"]})
    >>> what_changed(table_digest(fish, "abc"), table_digest(later, "ab"))
    "The row 'c' is gone; the row 'b' has other values."
    """
    if not set(old.columns) & set(new.columns) and not _renamed(old, new):
        were, are = _few(old.columns), _few(new.columns)
        return f"No column is the same: there were {were}, and now there are {are}."
    clauses = [*_columns(old, new), *_rows(old, new), *_values(old, new)]
    if not clauses:
        return ""
    whole = "; ".join(clauses)
    return f"{whole[0].upper()}{whole[1:]}."


# --- columns ---------------------------------------------------------------------------------


def _columns(old: TableDigest, new: TableDigest) -> list[str]:
    renamed = _renamed(old, new)
    gone = [name for name in _missing(old.columns, new.columns) if name not in renamed]
    came = [name for name in _missing(new.columns, old.columns) if name not in renamed.values()]
    clauses = [_about("column", gone, "gone"), _about("column", came, "new")]
    pairs = [f"{was!r} is called {name!r} now" for was, name in renamed.items()]
    if pairs:
        clauses.append(f"the column {_few(pairs, plain=True)}")
    if not (gone or came) and [renamed.get(name, name) for name in old.columns] != [*new.columns]:
        clauses.append("the columns are in another order")
    return [clause for clause in clauses if clause]


def _renamed(old: TableDigest, new: TableDigest) -> dict[str, str]:
    """Find columns that have all their values under another name."""
    came = set(_missing(new.columns, old.columns))
    under = {
        int(number): name
        for name, number in zip(new.columns, new.column_digests, strict=True)
        if name in came
    }
    gone = set(_missing(old.columns, new.columns))
    return {
        name: under[int(number)]
        for name, number in zip(old.columns, old.column_digests, strict=True)
        if name in gone and int(number) in under
    }


# --- rows ------------------------------------------------------------------------------------


def _rows(old: TableDigest, new: TableDigest) -> list[str]:
    if old.ids == new.ids:
        return []
    if np.array_equal(old.row_digests, new.row_digests):
        pairs = [
            f"{_id(was)!r} is {_id(one)!r} now"
            for was, one in zip(old.ids, new.ids, strict=True)
            if was != one
        ]
        return [f"the rows have other ids: {_few(pairs, plain=True)}"]
    gone, came = _missing(old.ids, new.ids), _missing(new.ids, old.ids)
    clauses = [_about("row", map(_id, gone), "gone"), _about("row", map(_id, came), "new")]
    if not gone and not came:
        clauses = ["the rows are in another order"]
    return [clause for clause in clauses if clause]


# --- values ----------------------------------------------------------------------------------


class _Common(NamedTuple):
    """Where the ids that both tables have stand in the one and in the other."""

    old: NDArray[np.intp]
    new: NDArray[np.intp]


def _values(old: TableDigest, new: TableDigest) -> list[str]:
    columns = _other_columns(old, new)
    rows = _other_rows(old, new)
    if len(rows) > 1 and _is_shuffled(old, new):
        return ["the rows are the same, but in another order"]
    among = f" in {_few(columns)}" if columns else ""
    if rows:
        has = "has" if len(rows) == 1 else "have"
        return [f"{_named('row', map(_id, rows))} {has} other values{among}"]
    if columns:
        has = "has" if len(columns) == 1 else "have"
        return [f"{_named('column', columns)} {has} other values"]
    return []


def _other_columns(old: TableDigest, new: TableDigest) -> list[str]:
    """Give the columns with other values; nothing can be said when there are other rows."""
    if set(old.ids) != set(new.ids):
        return []
    now = dict(zip(new.columns, new.column_digests.tolist(), strict=True))
    before = zip(old.columns, old.column_digests.tolist(), strict=True)
    return [name for name, number in before if now.get(name, number) != number]


def _other_rows(old: TableDigest, new: TableDigest) -> list[str]:
    """Give the ids of rows with other values; nothing can be said when there are other columns."""
    if set(old.columns) != set(new.columns):
        return []
    if np.array_equal(old.row_digests, new.row_digests):
        return []  # at most their ids are others
    common = _common(old, new)
    is_other = old.row_digests[common.old] != new.row_digests[common.new]
    return [old.ids[place] for place in common.old[is_other].tolist()]


def _common(old: TableDigest, new: TableDigest) -> _Common:
    place_of = {one: place for place, one in enumerate(new.ids)}
    pairs = [(place, place_of[one]) for place, one in enumerate(old.ids) if one in place_of]
    places = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return _Common(places[:, 0], places[:, 1])


def _is_shuffled(old: TableDigest, new: TableDigest) -> bool:
    return np.array_equal(np.sort(old.row_digests), np.sort(new.row_digests))


# --- words -----------------------------------------------------------------------------------


def _missing(names: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def _about(what: str, names: Iterable[object], state: str) -> str:
    found = list(names)
    is_are = "is" if len(found) == 1 else "are"
    return f"{_named(what, found)} {is_are} {state}" if found else ""


def _named(what: str, names: Iterable[object]) -> str:
    found = list(names)
    if len(found) == 1:
        return f"the {what} {found[0]!r}"
    return f"{len(found):,} {what}s ({_few(found)})"


def _few(names: Sequence[object], *, plain: bool = False) -> str:
    shown = [str(name) if plain else repr(name) for name in names[:_MOST_NAMES]]
    extra = len(names) - len(shown)
    if extra:
        return f"{', '.join(shown)} and {extra:,} more"
    return ", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1]


def _id(text: str) -> object:
    return json.loads(text)

"""A table's fingerprint: the same for the same rows, columns and ids, however they were stored.

What a table was like, in little room: enough to say later what has changed in it.

A fingerprint only tells that something did. A digest keeps the names of the columns, the ids, and a
number for each column and each row, made of all their values.

What changed between a table and what it was, in a sentence.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def table_fingerprint(table: pd.DataFrame | NDArray[np.float64], ids: Iterable[object]) -> str:
    """Give a short text that differs as soon as a value, a column's name or an id does.

    Numbers count by their value as 64-bit floats, so that a table read from CSV and the same
    table read from Parquet have the same fingerprint; missing values are all alike.

    Parameters
    ----------
    table : DataFrame or array of shape (n_rows, n_columns)
        Numbers and texts.
    ids : iterable
        What the rows are called.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.discover.table_identity import table_fingerprint
    >>> fish = pd.DataFrame({"length": [10, 12], "sex": ["f", "m"]})
    >>> one = table_fingerprint(fish, ["a", "b"])
    >>> one == table_fingerprint(fish.astype({"length": float}), ["a", "b"])
    True
    >>> one == table_fingerprint(fish, ["b", "a"])
    False
    """
    digest = hashlib.sha256()
    frame = pd.DataFrame(table)
    _add_text(digest, [len(frame), *map(str, frame.columns)])
    _add_text(digest, list(ids))
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if pd.api.types.is_numeric_dtype(column):
            _add_numbers(digest, column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            texts = column.astype(object).where(column.notna(), None)
            _add_text(digest, texts.tolist())
    return digest.hexdigest()


def _add_text(digest: "hashlib._Hash", values: list[object]) -> None:
    # JSON keeps 1 from "1" and ["ab"] from ["a", "b"]; bytes of unlike length never run together.
    written = json.dumps(values, default=str).encode()
    digest.update(f"{len(written)}:".encode())
    digest.update(written)


def _add_numbers(digest: "hashlib._Hash", numbers: NDArray[np.float64]) -> None:
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, and no minus zero
    digest.update(b"numbers:")
    digest.update(plain.astype("<f8").tobytes())


Numbers = NDArray[np.uint64]

_MISSING_TEXT: Final = np.uint64(0x6D697373696E6721)
# Each number of a digest is a sum over mixed bits; these are the constants of SplitMix64.
_MIXING: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


@dataclass(frozen=True, eq=False)
class TableDigest:
    """Names and numbers by which a changed table is compared with what it was.

    Attributes
    ----------
    columns : tuple of str
        The columns' names, in their order.
    ids : tuple of str
        The rows' ids as JSON, in their order.
    column_digests : array of shape (n_columns,)
        Of the values of each column together with the ids, in whatever order the rows are.
    row_digests : array of shape (n_rows,)
        Of the values of each row together with the columns' names, in whatever order these are.
    """

    columns: tuple[str, ...]
    ids: tuple[str, ...]
    column_digests: Numbers
    row_digests: Numbers

    def to_parts(self) -> dict[str, bytes]:
        """Give it as pieces for a file."""
        return {
            "columns": _packed(self.columns),
            "ids": _packed(self.ids),
            "column digests": self.column_digests.astype("<u8").tobytes(),
            "row digests": self.row_digests.astype("<u8").tobytes(),
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self | None:
        """Read what :meth:`to_parts` gave; None if that is not whole."""
        try:
            digest = cls(
                _unpacked(parts["columns"]),
                _unpacked(parts["ids"]),
                np.frombuffer(parts["column digests"], dtype="<u8"),
                np.frombuffer(parts["row digests"], dtype="<u8"),
            )
        except (KeyError, ValueError, TypeError, zlib.error):
            return None
        sizes = (len(digest.columns), len(digest.ids))
        is_whole = sizes == (len(digest.column_digests), len(digest.row_digests))
        return digest if is_whole else None


def table_digest(table: pd.DataFrame | NDArray[np.float64], ids: Iterable[object]) -> TableDigest:
    """Work out what to keep of a table.

    As for :func:`table_fingerprint`, numbers count by their value as
    64-bit floats, and missing values are all alike.

    Parameters
    ----------
    table : DataFrame or array of shape (n_rows, n_columns)
        Numbers and texts.
    ids : iterable
        What the rows are called.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.discover.table_identity import table_digest
    >>> fish = pd.DataFrame({"length": [10, 12], "sex": ["f", "m"]})
    >>> digest = table_digest(fish, ["a", "b"])
    >>> digest.columns, digest.ids, len(digest.row_digests)
    (('length', 'sex'), ('"a"', '"b"'), 2)
    """
    frame = pd.DataFrame(table)
    columns = tuple(map(str, frame.columns))
    texts = tuple(json.dumps(_plain(one), default=str) for one in ids)
    id_bits = _bits_of_texts(np.array(texts, dtype=object))
    row_digests = np.zeros(len(frame), dtype=np.uint64)
    column_digests = np.zeros(len(columns), dtype=np.uint64)
    for place, name in enumerate(columns):
        bits = _bits_of(frame.iloc[:, place])
        column_digests[place] = _mixed(bits ^ id_bits).sum(dtype=np.uint64)
        row_digests += _mixed(bits ^ _text_bits(name))
    return TableDigest(columns, texts, column_digests, row_digests)


def _plain(one: object) -> object:
    return one.item() if hasattr(one, "item") else one


def _bits_of(column: "pd.Series[Any]") -> Numbers:
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, and no minus zero
        return _mixed(plain.astype("<f8").view("<u8").astype(np.uint64))
    return _bits_of_texts(column.astype(object).where(column.notna(), None).to_numpy())


def _bits_of_texts(values: NDArray[np.object_]) -> Numbers:
    codes, texts = pd.factorize(values)
    known = [_text_bits(json.dumps(text, default=str)) for text in texts]
    # Missing values have the code -1, which is the last place.
    return np.array([*known, _MISSING_TEXT], dtype=np.uint64)[codes]


def _text_bits(text: str) -> np.uint64:
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _mixed(bits: Numbers) -> Numbers:
    """Scatter bits, so that sums of different things hardly ever agree."""
    for shift, factor in _MIXING:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _packed(texts: tuple[str, ...]) -> bytes:
    return zlib.compress(json.dumps(texts).encode())


def _unpacked(content: bytes) -> tuple[str, ...]:
    texts = json.loads(zlib.decompress(content))
    if type(texts) is not list or not all(type(text) is str for text in texts):
        raise ValueError("no list of texts")
    return tuple(texts)


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
    >>> from kernova.discover.table_identity import what_changed
    >>> from kernova.discover.table_identity import table_digest
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

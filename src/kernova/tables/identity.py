"""Identity of a table: its fingerprint, its digest, and a description of changes.

A fingerprint is the same for the same rows, columns and ids, however they were stored; it only
shows that something changed. A digest is small, too, but holds the column names, the ids, and one
number for each column and each row computed from all their values, enough to describe later what
changed.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import quoted, shortened
from kernova.text import plural, quantity
from kernova.typing import Indices

Numbers = NDArray[np.uint64]

_MISSING_TEXT: Final = np.uint64(0x6D697373696E6721)
# Each number of a digest is a sum over mixed bits; these are the constants of SplitMix64.
_MIXING: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_MAX_NAMES: Final = 5


def table_fingerprint(table: pd.DataFrame | NDArray[np.float64], ids: Iterable[object]) -> str:
    """Return a short text that changes with any value, column name or id.

    Numbers are compared as 64-bit floats, so that a table read from CSV and the same table read
    from Parquet have the same fingerprint; all missing values are equal.

    Parameters
    ----------
    table : DataFrame or array of shape (n_rows, n_columns)
        Numbers and texts.
    ids : iterable
        Ids of the rows.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.identity import table_fingerprint
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
            digest.update(b"numbers:")
            digest.update(_plain_floats(column).tobytes())
        else:
            _add_text(digest, _texts_of(column).tolist())
    return digest.hexdigest()


def _add_text(digest: "hashlib._Hash", values: list[object]) -> None:
    # JSON distinguishes 1 from "1" and ["ab"] from ["a", "b"]; the length separates values.
    written = json.dumps(values, default=str).encode()
    digest.update(f"{len(written)}:".encode())
    digest.update(written)


def _plain_floats(column: "pd.Series[Any]") -> NDArray[np.float64]:
    """Return little-endian floats with one NaN and no minus zero."""
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype("<f8")


def _texts_of(column: "pd.Series[Any]") -> "pd.Series[Any]":
    return column.astype(object).where(column.notna(), None)


@dataclass(frozen=True, eq=False)
class TableDigest:
    """Names and numbers by which two versions of a table are compared."""

    columns: tuple[str, ...]  # column names, in order
    ids: tuple[str, ...]  # row ids as JSON, in order
    # One number per column, of its values and the ids, independent of row order; shape
    # (n_columns,).
    column_digests: Numbers
    # One number per row, of its values and the column names, independent of column order; shape
    # (n_rows,).
    row_digests: Numbers

    def to_parts(self) -> dict[str, bytes]:
        """Return the digest as named byte strings for a file."""
        return {
            "columns": _packed(self.columns),
            "ids": _packed(self.ids),
            "column digests": self.column_digests.astype("<u8").tobytes(),
            "row digests": self.row_digests.astype("<u8").tobytes(),
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self | None:
        """Return the digest of :meth:`to_parts`; None if parts are missing or damaged."""
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
        is_complete = sizes == (len(digest.column_digests), len(digest.row_digests))
        return digest if is_complete else None


def table_digest(table: pd.DataFrame | NDArray[np.float64], ids: Iterable[object]) -> TableDigest:
    """Return the digest of a table.

    Parameters and the comparison of values are those of :func:`table_fingerprint`.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.identity import table_digest
    >>> digest = table_digest(pd.DataFrame({"length": [10, 12], "sex": ["f", "m"]}), ["a", "b"])
    >>> digest.columns, digest.ids, len(digest.row_digests)
    (('length', 'sex'), ('"a"', '"b"'), 2)
    """
    frame = pd.DataFrame(table)
    columns = tuple(map(str, frame.columns))
    texts = tuple(map(json_of_id, ids))
    id_bits = _bits_of_each(map(encode_basestring_ascii, texts))
    row_digests = np.zeros(len(frame), dtype=np.uint64)
    column_digests = np.zeros(len(columns), dtype=np.uint64)
    for position, name in enumerate(columns):
        bits = _bits_of(frame.iloc[:, position])
        column_digests[position] = _mixed(bits ^ id_bits).sum(dtype=np.uint64)
        row_digests += _mixed(bits ^ _text_bits(name))
    return TableDigest(columns, texts, column_digests, row_digests)


def json_of_id(one: object) -> str:
    """Return an id, or another value, as JSON."""
    # The encoder of texts alone takes a tenth of the time.
    if type(one) is str:
        return encode_basestring_ascii(one)
    return json.dumps(_plain(one), default=str)


def _plain(one: object) -> object:
    return one.item() if hasattr(one, "item") else one


def _bits_of(column: "pd.Series[Any]") -> Numbers:
    if pd.api.types.is_numeric_dtype(column):
        return _mixed(_plain_floats(column).view("<u8").astype(np.uint64))
    return _bits_of_texts(_texts_of(column).to_numpy())


def _bits_of_texts(values: NDArray[np.object_]) -> Numbers:
    codes, texts = pd.factorize(values)
    known = _bits_of_each(map(json_of_id, texts))
    # Missing values have the code -1, the last position.
    return np.append(known, _MISSING_TEXT)[codes]


def _bits_of_each(texts: Iterable[str]) -> Numbers:
    digests = (
        hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
        for text in texts
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _text_bits(text: str) -> np.uint64:
    return np.uint64(_bits_of_each([text])[0])


def _mixed(bits: Numbers) -> Numbers:
    """Return the bits mixed, so that sums of different values hardly ever agree."""
    for shift, factor in _MIXING:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _packed(texts: tuple[str, ...]) -> bytes:
    return zlib.compress(json.dumps(texts).encode())


def _unpacked(content: bytes) -> tuple[str, ...]:
    texts = json.loads(zlib.decompress(content))
    if type(texts) is not list or not all(type(text) is str for text in texts):
        raise ValueError("not a list of strings")
    return tuple(texts)


def describe_changes(old: TableDigest, new: TableDigest) -> str:
    """Return a sentence on removed, added, changed or reordered columns and rows.

    Parameters
    ----------
    old, new : TableDigest
        Digests of the table before and now.

    Returns
    -------
    str
        One sentence with at most five names of each kind; empty without a visible difference.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.identity import describe_changes, table_digest
    >>> fish = pd.DataFrame({"length": [10, 12, 9], "sex": ["f", "m", "m"]})
    >>> later = pd.DataFrame({"length": [10, 13], "sex": ["f", "m"]})
    >>> describe_changes(table_digest(fish, "abc"), table_digest(later, "ab"))
    "The row 'c' was removed; the row 'b' has other values."
    """
    if not set(old.columns) & set(new.columns) and not _renamed(old, new):
        before, now = _few(old.columns), _few(new.columns)
        return f"No column is the same: the columns were {before}, and are now {now}."
    clauses = [*_columns(old, new), *_rows(old, new), *_values(old, new)]
    if not clauses:
        return ""
    whole = "; ".join(clauses)
    return f"{whole[0].upper()}{whole[1:]}."


# --- columns ---------------------------------------------------------------------------------


def _columns(old: TableDigest, new: TableDigest) -> list[str]:
    renamed = _renamed(old, new)
    removed = [name for name in _missing(old.columns, new.columns) if name not in renamed]
    added = [name for name in _missing(new.columns, old.columns) if name not in renamed.values()]
    clauses = [_about("column", removed, "removed"), _about("column", added, "added")]
    pairs = [f"{quoted(before)} is now called {quoted(name)}" for before, name in renamed.items()]
    if pairs:
        clauses.append(f"the column {_few(pairs, plain=True)}")
    if not (removed or added) and [renamed.get(name, name) for name in old.columns] != [
        *new.columns
    ]:
        clauses.append("the columns are in another order")
    return [clause for clause in clauses if clause]


def _renamed(old: TableDigest, new: TableDigest) -> dict[str, str]:
    """Return the columns that have the same values under another name."""
    added = set(_missing(new.columns, old.columns))
    under = {
        int(number): name
        for name, number in zip(new.columns, new.column_digests, strict=True)
        if name in added
    }
    removed = set(_missing(old.columns, new.columns))
    return {
        name: under[int(number)]
        for name, number in zip(old.columns, old.column_digests, strict=True)
        if name in removed and int(number) in under
    }


# --- rows ------------------------------------------------------------------------------------


def _rows(old: TableDigest, new: TableDigest) -> list[str]:
    if old.ids == new.ids:
        return []
    if np.array_equal(old.row_digests, new.row_digests):
        pairs = [
            f"{quoted(_id(before))} is now {quoted(_id(one))}"
            for before, one in zip(old.ids, new.ids, strict=True)
            if before != one
        ]
        return [f"the rows have other ids: {_few(pairs, plain=True)}"]
    removed, added = _missing(old.ids, new.ids), _missing(new.ids, old.ids)
    clauses = [_about("row", map(_id, removed), "removed"), _about("row", map(_id, added), "added")]
    if not removed and not added:
        clauses = ["the rows are in another order"]
    return [clause for clause in clauses if clause]


# --- values ----------------------------------------------------------------------------------


class _Common(NamedTuple):
    """Positions, in both tables, of the ids they share."""

    old: Indices
    new: Indices


def _values(old: TableDigest, new: TableDigest) -> list[str]:
    columns = _other_columns(old, new)
    rows = _other_rows(old, new)
    if len(rows) > 1 and _is_shuffled(old, new):
        return ["the rows are the same, but in another order"]
    among = f" in {_few(columns)}" if columns else ""
    if rows:
        has = plural(len(rows), "has", "have")
        return [f"{_named('row', map(_id, rows))} {has} other values{among}"]
    if columns:
        has = plural(len(columns), "has", "have")
        return [f"{_named('column', columns)} {has} other values"]
    return []


def _other_columns(old: TableDigest, new: TableDigest) -> list[str]:
    """Return the columns with other values; none if the rows differ, where this is unknown."""
    if set(old.ids) != set(new.ids):
        return []
    now = dict(zip(new.columns, new.column_digests.tolist(), strict=True))
    before = zip(old.columns, old.column_digests.tolist(), strict=True)
    return [name for name, number in before if now.get(name, number) != number]


def _other_rows(old: TableDigest, new: TableDigest) -> list[str]:
    """Return the ids of rows with other values; none if the columns differ."""
    if set(old.columns) != set(new.columns):
        return []
    if np.array_equal(old.row_digests, new.row_digests):
        return []  # only ids may differ
    common = _common(old, new)
    is_other = old.row_digests[common.old] != new.row_digests[common.new]
    return [old.ids[position] for position in common.old[is_other].tolist()]


def _common(old: TableDigest, new: TableDigest) -> _Common:
    position_of = {one: position for position, one in enumerate(new.ids)}
    pairs = [(i, position_of[one]) for i, one in enumerate(old.ids) if one in position_of]
    positions = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return _Common(positions[:, 0], positions[:, 1])


def _is_shuffled(old: TableDigest, new: TableDigest) -> bool:
    return np.array_equal(np.sort(old.row_digests), np.sort(new.row_digests))


# --- text ------------------------------------------------------------------------------------


def _missing(names: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def _about(what: str, names: Iterable[object], state: str) -> str:
    found = list(names)
    verb = plural(len(found), "was", "were")
    return f"{_named(what, found)} {verb} {state}" if found else ""


def _named(what: str, names: Iterable[object]) -> str:
    found = list(names)
    if len(found) == 1:
        return f"the {what} {quoted(found[0])}"
    return f"{quantity(len(found), what)} ({_few(found)})"


def _few(names: Sequence[object], *, plain: bool = False) -> str:
    shown = [shortened(name) if plain else quoted(name) for name in names[:_MAX_NAMES]]
    extra = len(names) - len(shown)
    if extra:
        return f"{', '.join(shown)} and {extra:,} more"
    return ", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1]


def _id(text: str) -> object:
    return json.loads(text)

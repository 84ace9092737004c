"""What a table was like, in little room: enough to say later what has changed in it.

A fingerprint only tells that something did. A digest keeps the names of the columns, the ids, and a
number for each column and each row, made of all their values.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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

    As for :func:`~kernova.discover.fingerprint.table_fingerprint`, numbers count by their value as
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
    >>> from kernova.discover.table_digest import table_digest
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

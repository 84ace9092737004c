"""Embeddings of rows: files of vectors that stand for rows instead of their own columns.

A vector of an embedding has hundreds of numbers without a unit, none of which means anything by
itself, and most directions hold little. The strongest principal components are the columns; neither
the numbers nor the lengths of the vectors are scaled before.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernova.budget import array_header
from kernova.errors import InputError, quoted
from kernova.kernels.components import (
    Components,
    WideRows,
    component_scores,
    principal_components,
)
from kernova.parallel import row_blocks
from kernova.tables.columns import decoded
from kernova.tables.formats import npz_arrays, read_raw
from kernova.tables.separated import reading_as
from kernova.text import listed, quantity
from kernova.typing import Indices, Matrix, Vector

N_COMPONENTS: Final = 32
# Squares of larger numbers would overflow.
_LARGEST: Final = 1e100
_KEY_NAMES: Final = frozenset(("id", "ids", "key", "name", "file", "filename", "file_name", "path"))


@dataclass(frozen=True)
class Embeddings:
    """Vectors of a file, in its order, and the columns that may name their rows.

    Attributes
    ----------
    source : str
        The file, for messages.
    vectors : array of shape (n_vectors, n_numbers)
        Numbers of any type, perhaps mapped to memory.
    keys : mapping of str to list of str
        Columns that may hold the id or the file of each vector; empty if vectors are in order.
    notes : tuple of str
        Remarks on columns that are not used.
    """

    source: str
    vectors: NDArray[Any]
    keys: Mapping[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PickedRows:
    """Some rows of a file of vectors, read when they are needed."""

    vectors: NDArray[Any]
    places: Indices

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and of columns."""
        return len(self.places), int(self.vectors.shape[1])

    def __getitem__(self, rows: slice, /) -> Matrix:
        """Return some of the vectors as double precision."""
        return np.asarray(self.vectors[self.places[rows]], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class EmbeddingColumns:
    """A mapping from vectors to columns, learnt from the vectors of a table."""

    center: Vector  # mean of the vectors
    directions: Matrix  # shape (n_numbers, n_components), the strongest first

    @property
    def n_numbers(self) -> int:
        """Length of the vectors."""
        return len(self.center)

    @property
    def names(self) -> list[str]:
        """Names of the columns: ``embedding 1`` and so on."""
        return [f"embedding {number}" for number in range(1, self.directions.shape[1] + 1)]

    def rows(self, vectors: WideRows) -> Matrix:
        """Return the columns of vectors."""
        found = Components(self.center, self.directions, np.ones(self.directions.shape[1]))
        return component_scores(vectors, found)


def fit_embedding_columns(
    vectors: WideRows, source: str, n_components: int = N_COMPONENTS
) -> EmbeddingColumns:
    """Learn the components of vectors.

    Parameters
    ----------
    vectors : array-like of shape (n_rows, n_numbers)
        Finite numbers.
    source : str
        The file, for messages.
    n_components : int
        The largest number of columns.

    Raises
    ------
    InputError
        If all vectors are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.tables.embeddings import fit_embedding_columns
    >>> vectors = np.random.default_rng(0).normal(size=(50, 512)).astype(np.float16)
    >>> columns = fit_embedding_columns(vectors, "clip.npy", 3)
    >>> columns.names, columns.rows(vectors).shape
    (['embedding 1', 'embedding 2', 'embedding 3'], (50, 3))
    """
    found = principal_components(vectors, n_components, task="reading embeddings")
    if not found.directions.size:
        raise InputError(
            f"All embeddings of {source} are equal, so that there is nothing to compare. "
            "Give the embeddings of rows that differ."
        )
    return EmbeddingColumns(found.center, found.directions)


# --- reading -------------------------------------------------------------------------------------


def read_embeddings(path: str | os.PathLike[str]) -> Embeddings:
    """Read a file of embeddings; an NPY file is mapped to memory.

    Parameters
    ----------
    path : str or path
        NPY with one vector in each row; NPZ with the vectors and perhaps ``ids``; or a table
        (Parquet, Arrow, CSV, TSV) with a column of ids or file names, and one column for each
        number or one column of lists.

    Raises
    ------
    InputError
        If the file holds no vectors of numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.tables.embeddings import read_embeddings
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clip.npy"
    >>> np.save(path, np.zeros((3, 512), dtype=np.float16))
    >>> read_embeddings(path).vectors.shape
    (3, 512)
    """
    source = os.fspath(path)
    if source.lower().endswith(".npy"):
        with reading_as(source, "NPY"):
            # A mapped file takes no memory but for the rows that are read.
            vectors = _mapped(source)
        return Embeddings(source, _checked(vectors, source))
    if source.lower().endswith(".npz"):
        features, beside = npz_arrays(source)
        ids = beside.get("ids")
        keys = {} if ids is None else {"ids": [_text(one) for one in ids.tolist()]}
        return _with_all_keys(Embeddings(source, _checked(features, source), keys))
    return _with_all_keys(_of_table(source, read_raw(source, codes=True).columns))


def _mapped(source: str) -> NDArray[Any]:
    with Path(source).open("rb") as stream:
        header = array_header(stream)
        if header.n_items == 0 or len(header.shape) != 2:
            return np.empty(header.shape, dtype=header.dtype)
    return np.load(source, mmap_mode="r", allow_pickle=False)


def _checked(vectors: NDArray[Any], source: str) -> NDArray[Any]:
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise InputError(
            f"{source} holds an array of shape {vectors.shape}; embeddings need one row of numbers "
            "for each row of the table. Save them as an array of two dimensions."
        )
    if vectors.dtype.kind not in "fiu":
        raise InputError(
            f"{source} holds values of type {vectors.dtype}; embeddings are real numbers. Save "
            "them as float32."
        )
    return vectors


def _with_all_keys(found: Embeddings) -> Embeddings:
    for name, keys in found.keys.items():
        if len(keys) != len(found.vectors):
            raise InputError(
                f"{found.source} has {len(keys):,} {name} for {len(found.vectors):,} embeddings; "
                "save one for each."
            )
    return found


# --- tables of embeddings ------------------------------------------------------------------------


def _of_table(source: str, columns: pa.Table) -> Embeddings:
    """Divide the columns of a table into vectors and keys."""
    kinds = {name: decoded(columns[name]).type for name in columns.column_names}
    lists = [name for name, kind in kinds.items() if _is_list(kind)]
    texts = [name for name, kind in kinds.items() if _is_text(kind)]
    numbers = [name for name, kind in kinds.items() if _is_number(kind)]
    numbered = [name for name in numbers if _may_be_key(name, kinds[name])]
    vectors = lists[:1] or [name for name in numbers if name not in numbered]
    if not vectors:
        raise InputError(
            f"{source} holds no embeddings: its columns are {listed(kinds)}. Give a column for "
            "each number, or one column of lists."
        )
    keys = {name: [_text(one) for one in columns[name].to_pylist()] for name in [*texts, *numbered]}
    unused = [name for name in kinds if name not in (*vectors, *keys)]
    notes = (f"Columns of {source} that are not used: {listed(unused)}.",) if unused else ()
    stacked = _lists(columns[vectors[0]], source) if lists else _numbers(columns, vectors)
    return Embeddings(source, _checked(stacked, source), keys, notes)


def _is_list(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    is_list = is_list or pa.types.is_fixed_size_list(kind)
    return bool(is_list and _is_number(kind.value_type))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _may_be_key(name: str, kind: pa.DataType) -> bool:
    """Return whether a column of numbers names rows rather than being part of a vector."""
    return bool(pa.types.is_integer(kind)) and name.strip().lower() in _KEY_NAMES


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value).strip()


def _numbers(columns: pa.Table, names: list[str]) -> NDArray[Any]:
    kinds = [columns[name].type for name in names]
    is_short = all(pa.types.is_floating(kind) and kind.bit_width <= 32 for kind in kinds)
    stacked = np.empty((columns.num_rows, len(names)), dtype=np.float32 if is_short else np.float64)
    for place, name in enumerate(names):
        stacked[:, place] = columns[name].to_numpy()
    return stacked


def _lists(column: pa.ChunkedArray, source: str) -> NDArray[Any]:
    whole = column.combine_chunks()
    lengths = pa.compute.list_value_length(whole)
    if whole.null_count or len(lengths.unique()) != 1:
        row = _first_other(lengths.to_pylist())
        raise InputError(
            f"Row {row + 1} of {source} has an embedding of "
            f"{quantity(lengths[row].as_py() or 0, 'number')}, "
            f"but row 1 has one of {lengths[0].as_py() or 0}. All embeddings must have the same "
            "length."
        )
    flat = pa.compute.list_flatten(whole).to_numpy(zero_copy_only=False)
    return np.asarray(flat).reshape(len(whole), -1)


def _first_other(lengths: list[int | None]) -> int:
    others = (row for row, n in enumerate(lengths) if n is None or n != lengths[0])
    return next(others, 0)


# --- checks --------------------------------------------------------------------------------------


def check_finite(vectors: PickedRows, names: list[str], source: str) -> None:
    """Raise for the first vector with a number that is missing, infinite or too large.

    Parameters
    ----------
    vectors : PickedRows
        The vectors, row by row.
    names : list of str
        The id of each row, for the message.
    source : str
        The file.
    """
    for block, numbers in _blocks(vectors):
        is_wrong = ~(np.abs(numbers) <= _LARGEST)
        if is_wrong.any():
            row, column = np.argwhere(is_wrong)[0].tolist()
            place = int(vectors.places[block.start + row])
            number = float(numbers[row, column])
            value = "no number" if np.isnan(number) else f"{number:g}"
            raise InputError(
                f"Row {place + 1} of {source}, the embedding of "
                f"{quoted(names[block.start + row])}, has {value} in column {column + 1}. Compute "
                "it again, or leave the row out."
            )


def finite_rows(vectors: NDArray[Any]) -> PickedRows:
    """Return the vectors of finite numbers among those of a file.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.tables.embeddings import finite_rows
    >>> finite_rows(np.array([[1.0], [np.nan], [2.0]])).places
    array([0, 2])
    """
    whole = PickedRows(vectors, np.arange(len(vectors)))
    is_finite = [(np.abs(numbers) <= _LARGEST).all(axis=1) for _, numbers in _blocks(whole)]
    return PickedRows(vectors, np.flatnonzero(np.concatenate(is_finite)))


def _blocks(vectors: PickedRows) -> Iterator[tuple[slice, Matrix]]:
    n_rows, n_columns = vectors.shape
    for block in row_blocks(n_rows, 2 * n_columns):
        yield block, np.asarray(vectors[block])

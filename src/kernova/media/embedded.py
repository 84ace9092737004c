"""Rows whose features are embeddings: matched by id, by the name of a file, or in order.

The columns of the table itself are no features then; they are kept, to be shown beside the rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kernova.errors import InputError, quoted
from kernova.kernels.components import JoinedRows
from kernova.media.files import NO_FILES, RowFiles
from kernova.media.keys import NO_ENTRY, best_match, no_match
from kernova.media.request import DataRequest
from kernova.tables.columns import decoded
from kernova.tables.context import Context
from kernova.tables.embeddings import (
    EmbeddingColumns,
    Embeddings,
    PickedRows,
    check_finite,
    fit_embedding_columns,
    read_embeddings,
)
from kernova.tables.formats import RawTable
from kernova.tables.table import Table, row_ids
from kernova.text import listed, plural, quantity
from kernova.typing import Indices, Matrix


class EmbeddedRows(NamedTuple):
    """A raw table with embeddings as features, and what is needed to read it."""

    request: DataRequest  # reads these columns and no others
    raw: RawTable
    columns: EmbeddingColumns
    notes: list[str]


def embedded_rows(
    request: DataRequest,
    raw: RawTable,
    ids: Sequence[str],
    names: Sequence[str | None] = (),
) -> EmbeddedRows:
    """Return a table whose features are the components of embeddings.

    Parameters
    ----------
    request : DataRequest
        What the user wants; ``embeddings`` names the file, and ``reader`` the components of another
        table, if there are any.
    raw : RawTable
        The columns of the table as read; none of them is a feature.
    ids : sequence of str
        Row ids.
    names : sequence of str or None
        The file of each row, if rows have files.

    Raises
    ------
    InputError
        If the file cannot be used, or rows have no embedding and are not to be dropped.
    """
    assert request.embeddings is not None
    found = read_embeddings(request.embeddings)
    places, notes = _places(found, request, raw, ids, names)
    is_there = np.flatnonzero(places != NO_ENTRY)
    picked = PickedRows(found.vectors, places[is_there])
    check_finite(picked, [ids[row] for row in is_there.tolist()], found.source)
    known = request.reader if isinstance(request.reader, EmbeddingColumns) else None
    is_learnt = request.is_learnt_from([ids[row] for row in is_there.tolist()])
    of_these = PickedRows(found.vectors, picked.places[is_learnt])
    columns = _fitted(of_these, found, request) if known is None else known
    _check_length(columns, found)
    rows = np.full((len(places), len(columns.names)), np.nan)
    rows[is_there] = columns.rows(picked)
    how = (
        f"Rows are compared by their embeddings in {found.source}: "
        f"{quantity(len(columns.names), 'component')} of {columns.n_numbers:,} numbers each."
    )
    return EmbeddedRows(
        request._replace(
            keep=tuple(columns.names), only=None, reading="auto", drop=_present(request.drop, raw)
        ),
        _with_features(raw, columns, rows, request),
        columns,
        [how, *found.notes, *notes],
    )


class Features(NamedTuple):
    """A table with its features, notes on how they came about, and what is shown beside them."""

    table: Table
    notes: list[str]
    context: Context


def read_features(
    request: DataRequest,
    raw: RawTable,
    ids: Sequence[str] | None = None,
    found: RowFiles = NO_FILES,
    hidden: Sequence[str] = (),
) -> Features:
    """Return the table of a raw table: with its own features, or with embeddings if they are given.

    Parameters
    ----------
    request : DataRequest
        What the user wants.
    raw : RawTable
        The columns as read.
    ids : sequence of str, optional
        Row ids, if they are known already.
    found : RowFiles
        The files of the rows, and the columns that name them.
    hidden : sequence of str
        Columns that are not shown beside the rows.
    """
    if request.embeddings is None:
        table, notes = request.table(raw, found.columns), request.file_columns_note(found.columns)
        return Features(table, notes, request.context(raw, table, found.columns, hidden))
    if ids is None:
        ids = row_ids(raw, request.id_column, request.source).tolist()
    request, raw, columns, notes = embedded_rows(request, raw, ids, found.names)
    table = replace(request.table(raw), reader=columns)
    return Features(table, notes, request.context(raw, table, hidden=hidden))


def _present(names: Sequence[str], raw: RawTable) -> list[str]:
    """Return the columns to drop, without those that may be of the table alone."""
    return [name for name in names if name in raw.columns.column_names]


def _with_features(
    raw: RawTable, columns: EmbeddingColumns, rows: Matrix, request: DataRequest
) -> RawTable:
    """Add the features, and set all other columns aside."""
    others = raw.columns.column_names
    taken = [name for name in columns.names if name in others]
    if taken:
        raise InputError(
            f"{request.source} has a column {quoted(taken[0])} itself, which is the name of a "
            "component of its embeddings. Rename it."
        )
    table = raw.columns
    for name, column in zip(columns.names, rows.T, strict=True):
        table = table.append_column(name, pa.array(column, from_pandas=True))
    return raw._replace(columns=table, aside=frozenset(others))


def _fitted(picked: PickedRows, found: Embeddings, request: DataRequest) -> EmbeddingColumns:
    """Learn components from the vectors of the rows, and from others if there are any."""
    if request.learn_with is None:
        return fit_embedding_columns(picked, found.source)
    n_numbers, others = picked.shape[1], request.learn_with.shape[1]
    if n_numbers != others:
        raise InputError(
            f"The embeddings of {found.source} have {n_numbers:,} numbers, but those of the new "
            f"rows have {others:,}. Compute them with the same network."
        )
    return fit_embedding_columns(JoinedRows([picked, request.learn_with]), found.source)


# --- matching ------------------------------------------------------------------------------------


def _places(
    found: Embeddings,
    request: DataRequest,
    raw: RawTable,
    ids: Sequence[str],
    names: Sequence[str | None],
) -> tuple[Indices, list[str]]:
    """Return the place of each row's embedding, and notes on those that are left over."""
    if not found.keys:
        return _in_order(found, request, len(ids), has_files=len(names) > 0)
    kinds: list[Sequence[str | None]] = [ids]
    if len(names):
        kinds.append(names)
    if request.is_numbered(raw):
        # Numbers of rows match ids of something else by coincidence; texts may name files.
        kinds = [*kinds[1:], *_texts(raw), ids]
    match = best_match(found.keys, kinds, found.source)
    if match is None:
        raise no_match(found.keys, ids, "embedding", found.source, request.source)
    keys = found.keys[match.column]
    _check_all_there(match.places, ids, request, found.source)
    surplus = match.surplus(keys)
    if not surplus:
        return match.places, []
    are, them = plural(len(surplus), "is", "are"), plural(len(surplus), "It is", "They are")
    return match.places, [
        f"{quantity(len(surplus), 'embedding')} of {found.source} {are} of no row of "
        f"{request.source}: {listed(surplus)}. {them} not used."
    ]


def _texts(raw: RawTable) -> list[list[str | None]]:
    """Return the columns of texts."""
    kinds = {name: decoded(raw.columns[name]).type for name in raw.columns.column_names}
    return [
        decoded(raw.columns[name]).to_pylist()
        for name, kind in kinds.items()
        if pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ]


def _in_order(
    found: Embeddings, request: DataRequest, n_rows: int, *, has_files: bool
) -> tuple[Indices, list[str]]:
    n_vectors = len(found.vectors)
    if n_vectors != n_rows:
        what = "in the order of the rows"
        if has_files:
            what = "in the order of the rows (files in the order of their names)"
        raise InputError(
            f"{found.source} has {quantity(n_vectors, 'embedding')} for "
            f"{quantity(n_rows, 'row')} of {request.source}. Save one for each, {what}, or a table "
            "with a column of ids."
        )
    return np.arange(n_rows), []


def _check_all_there(
    places: Indices, ids: Sequence[str], request: DataRequest, source: str
) -> None:
    without = np.flatnonzero(places == NO_ENTRY).tolist()
    if without and request.missing != "drop":
        have, them = plural(len(without), "has", "have"), plural(len(without), "it", "them")
        raise InputError(
            f"{len(without):,} of {quantity(len(ids), 'row')} of {request.source} {have} no "
            f"embedding in {source}: {listed(ids[row] for row in without)}. Add {them}, or leave "
            f"{them} out with missing='drop'."
        )


def _check_length(columns: EmbeddingColumns, found: Embeddings) -> None:
    n_numbers = int(found.vectors.shape[1])
    if n_numbers != columns.n_numbers:
        raise InputError(
            f"The embeddings of {found.source} have {n_numbers:,} numbers, but those that were "
            f"learnt from have {columns.n_numbers:,}. Compute them with the same network."
        )

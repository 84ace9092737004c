"""Table of all rows: sorted by any column, filtered by text or number, page by page.

Ranks of a column and masks of a filter are computed once and kept, so that a page of a large table
takes milliseconds. Labels and statuses are read again after each change.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from kernova.errors import InputError, quoted
from kernova.text import format_value
from kernova.typing import Indices, Mask, Vector
from kernova.workbench.row_features import NumberColumn
from kernova.workbench.shared import Part, SharedState, WorkbenchError

ColumnKind = Literal["id", "label", "status", "context", "feature"]

# Columns that are shown at first; further ones can be chosen.
_FEATURES_SHOWN: Final = 24
_CONTEXT_SHOWN: Final = 8
_MOST_KEPT: Final = 64
STATUSES: Final = ("unlabelled", "labelled", "accepted", "skipped", "unsure")
_COMPARISON: Final = re.compile(r"(<=|>=|<|>|=)?\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)$")
_RANGE: Final = re.compile(
    r"([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)\s*\.\.\s*"
    r"([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)$"
)
_MISSING: Final = "missing"


@dataclass(frozen=True)
class TableColumn:
    """A column of the table view."""

    key: Annotated[str, "Its name in requests."]
    name: str
    kind: ColumnKind
    is_number: bool


@dataclass(frozen=True)
class TableReply:
    """The columns of the table view."""

    rows: int
    columns: list[TableColumn]
    shown: Annotated[list[str], "Keys of the columns that are shown at first."]
    statuses: Annotated[list[str], "All statuses that a row can have."]


@dataclass(frozen=True)
class TableLine:
    """A row of the table view."""

    row: int
    id: str
    label: str | None
    status: str
    link: Annotated[str | None, "Address of the row elsewhere."]
    values: Annotated[list[str], "Values of the columns that were asked for, in their order."]


@dataclass(frozen=True)
class TablePageReply:
    """Some rows of the table view."""

    version: int
    total: Annotated[int, "Number of rows that the filter leaves."]
    offset: int
    lines: list[TableLine]
    problem: Annotated[str, "Why nothing was looked for, if the filter cannot be read."] = ""


class TableQuery(NamedTuple):
    """Order and filter of the table view."""

    sort: str = ""  # key of a column; the order of the file without one
    descending: bool = False
    find: str = ""  # text, or a comparison of a column of numbers
    within: str = ""  # key of the column to look in; all texts without one
    status: str = ""
    label: str = ""


class UnreadableFilterError(InputError):
    """Error for a filter of numbers that is no comparison, as while it is being typed."""


class _Labelling(NamedTuple):
    """Labels and statuses of all rows, for a version of the session."""

    version: int
    names: list[str]
    codes: Indices  # position of the category, from 1
    statuses: Indices  # position in STATUSES


class Listing(Part):
    """All rows, sorted and filtered."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        discovery = shared.discovery
        self._population, self._context = discovery.population, discovery.context
        self._columns = [
            TableColumn("id", str(discovery.table.ids.name), "id", is_number=False),
            TableColumn("label", "label", "label", is_number=False),
            TableColumn("status", "status", "status", is_number=False),
            *(
                TableColumn(f"c{number}", name, "context", is_number=False)
                for number, name in enumerate(self._context.names)
            ),
            *(
                TableColumn(f"f{number}", one.name, "feature", isinstance(one, NumberColumn))
                for number, one in enumerate(self._population.columns)
            ),
        ]
        self._by_key = {one.key: one for one in self._columns}
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def description(self) -> TableReply:
        """Return the columns of the table."""
        n_context = len(self._context.names)
        first = 3 + n_context
        shown = [
            *self._columns[: 3 + min(n_context, _CONTEXT_SHOWN)],
            *self._columns[first : first + _FEATURES_SHOWN],
        ]
        keys = [one.key for one in shown]
        return TableReply(self._shared.n_rows, self._columns, keys, list(STATUSES))

    def page(
        self, query: TableQuery, columns: list[str], offset: int, limit: int
    ) -> TablePageReply:
        """Return some rows of the sorted and filtered table.

        Parameters
        ----------
        query : TableQuery
            Order and filter.
        columns : list of str
            Keys of the context columns and features whose values are wanted.
        offset, limit : int
            The first row, and how many.
        """
        chosen = [self._column(key) for key in columns]
        labelling = self._labelling()
        try:
            order = self._order(query, labelling)
        except UnreadableFilterError as error:
            return TablePageReply(labelling.version, 0, offset, [], str(error))
        lines = [
            self._line(row, chosen, labelling) for row in order[offset : offset + limit].tolist()
        ]
        return TablePageReply(labelling.version, len(order), offset, lines)

    def order(self, query: TableQuery) -> tuple[bytes, int]:
        """Return the row indices of the sorted and filtered table, and the version they hold for.

        They are little-endian unsigned 32-bit numbers.
        """
        labelling = self._labelling()
        return self._order(query, labelling).astype("<u4").tobytes(), labelling.version

    # --- values ------------------------------------------------------------------------------

    def _line(self, row: int, columns: list[TableColumn], labelling: _Labelling) -> TableLine:
        code = int(labelling.codes[row])
        row_id = self._shared.id_of(row)
        return TableLine(
            row=row,
            id=row_id,
            label=labelling.names[code - 1] if code > 0 else None,
            status=STATUSES[labelling.statuses[row]],
            link=self._context.link(row, row_id),
            values=[self._text(row, column, row_id) for column in columns],
        )

    def _text(self, row: int, column: TableColumn, row_id: str) -> str:
        if column.kind == "context":
            return self._context.texts(column.name)[row].as_py() or ""
        if column.kind == "feature":
            return format_value(self._population.value(row, int(column.key[1:])))
        return row_id if column.kind == "id" else ""

    def _column(self, key: str) -> TableColumn:
        if key not in self._by_key:
            raise WorkbenchError(
                f"The table has no column with the key {quoted(key)}; /api/table lists them.",
                "not found",
            )
        return self._by_key[key]

    def _labelling(self) -> _Labelling:
        with self._shared.lock:
            version = self._shared.version

            def read() -> _Labelling:
                results = self._shared.session.results_
                names = list(results.category_sizes)
                codes = results.codes(len(names) + 1)
                statuses = np.where(codes > 0, 1, np.where(codes < 0, 3, 0))
                statuses[results.is_accepted] = 2
                statuses[results.is_unsure] = 4
                return _Labelling(version, names, codes, statuses)

            return self._cached(("labelling", version), read)

    # --- order -------------------------------------------------------------------------------

    def _order(self, query: TableQuery, labelling: _Labelling) -> Indices:
        """Return the rows of a query, in order."""

        def sorted_rows() -> Indices:
            mask = self._mask(query, labelling)
            if not query.sort:
                order = np.arange(self._shared.n_rows)[:: -1 if query.descending else 1]
            else:
                order = self._sorted(self._column(query.sort), labelling, query.descending)
            return order if mask is None else order[mask[order]]

        return self._cached(("order", query, self._version_for(query, labelling)), sorted_rows)

    def _version_for(self, query: TableQuery, labelling: _Labelling) -> int:
        """Return the version that an order depends on; 0 if it does not depend on labels."""
        uses_labels = (
            query.sort in ("label", "status")
            or query.within in ("label", "status")
            or query.status
            or query.label
            or (query.find and not query.within)
        )
        return labelling.version if uses_labels else 0

    def _sorted(self, column: TableColumn, labelling: _Labelling, descending: bool) -> Indices:
        """Return all rows by a column; missing values come last, and equal ones in file order."""
        if column.kind in ("label", "status"):
            ranks = self._label_ranks(column, labelling)
        else:
            ranks = self._cached(("ranks", column.key), lambda: self._ranks(column))
        keys = -ranks if descending else ranks
        return np.argsort(np.where(ranks < 0, np.iinfo(np.int64).max, keys), kind="stable")

    def _label_ranks(self, column: TableColumn, labelling: _Labelling) -> Indices:
        if column.kind == "status":
            return labelling.statuses
        by_name = np.argsort(np.argsort([name.casefold() for name in labelling.names]))
        ranks = np.append(by_name, -1).astype(np.int64)
        return ranks[np.where(labelling.codes > 0, labelling.codes - 1, len(labelling.names))]

    def _ranks(self, column: TableColumn) -> Indices:
        """Return the rank of each row's value; -1 for missing ones."""
        if column.kind == "feature":
            values = self._feature_values(column)
            values = values if column.is_number else pa.array(values, pa.string())
        elif column.kind == "context":
            values = self._context.column(column.name)
        else:
            values = pa.array(self._ids())
        return _dense_ranks(values)

    def _feature_values(self, column: TableColumn) -> Any:
        frame = self._shared.discovery.table.features
        one = frame.iloc[:, int(column.key[1:])]
        if column.is_number:
            return pa.array(one.to_numpy(dtype=np.float64, na_value=np.nan), from_pandas=True)
        return one.astype(object).where(one.notna(), None).tolist()

    def _ids(self) -> list[str]:
        return [str(one) for one in self._shared.session.ids_]

    # --- filter ------------------------------------------------------------------------------

    def _mask(self, query: TableQuery, labelling: _Labelling) -> Mask | None:
        masks = []
        if query.status:
            masks.append(labelling.statuses == _status_code(query.status))
        if query.label:
            names = [name for name in labelling.names if name == query.label]
            masks.append(self._has_label(names, labelling))
        find = query.find.strip()
        if find:
            masks.append(self._found(find, query.within, labelling))
        return np.logical_and.reduce(masks) if masks else None

    def _found(self, find: str, within: str, labelling: _Labelling) -> Mask:
        column = self._column(within) if within else None
        folded = find.casefold()
        if column is not None and column.kind == "status":
            codes = [code for code, name in enumerate(STATUSES) if folded in name]
            return np.isin(labelling.statuses, codes)
        if column is not None and column.kind != "label":
            key = ("found", column.key, folded)
            return self._cached(key, lambda: self._found_in(column, find))
        names = [name for name in labelling.names if folded in name.casefold()]
        is_labelled = self._has_label(names, labelling)
        if column is not None:
            return is_labelled
        texts = self._cached("texts", self._all_texts)
        return is_labelled | self._cached(("found", "", folded), lambda: _contains(texts, find))

    def _found_in(self, column: TableColumn, find: str) -> Mask:
        if column.kind == "feature" and column.is_number:
            return _compared(self._feature_values(column), find, column.name)
        if column.kind == "feature":
            return _contains(pa.array(self._feature_values(column), pa.string()), find)
        if column.kind == "context":
            return _contains(self._context.texts(column.name), find)
        return _contains(pa.array(self._ids()), find)

    def _all_texts(self) -> Any:
        columns = [self._context.texts(name).combine_chunks() for name in self._context.names]
        return compute.binary_join_element_wise(
            pa.array(self._ids()), *columns, "\n", null_handling="replace", null_replacement=""
        )

    def _has_label(self, names: list[str], labelling: _Labelling) -> Mask:
        codes = [labelling.names.index(name) + 1 for name in names]
        return np.isin(labelling.codes, codes)

    def _cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was computed for a key, or compute it; two threads may both do so."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return made


def _status_code(status: str) -> int:
    if status not in STATUSES:
        raise InputError(f"status must be one of {', '.join(STATUSES)}; got {quoted(status)}.")
    return STATUSES.index(status)


def _dense_ranks(values: Any) -> Indices:
    """Return the rank of each value among the distinct ones; -1 for missing ones.

    Texts that are all numbers are ranked as such, others without regard to capitals.
    """
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = _as_numbers(values)
    elif not (
        pa.types.is_integer(values.type)
        or pa.types.is_floating(values.type)
        or pa.types.is_temporal(values.type)
    ):
        values = compute.utf8_lower(values.cast(pa.string()))
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    is_missing = np.asarray(compute.is_null(values, nan_is_null=True))
    ranks = np.asarray(compute.rank(values, tiebreaker="dense")).astype(np.int64)
    ranks[is_missing] = -1
    return ranks


def _as_numbers(texts: Any) -> Any:
    for kind in (pa.int64(), pa.float64()):
        try:
            return texts.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return compute.utf8_lower(texts)


def _contains(texts: Any, find: str) -> Mask:
    found = compute.match_substring(texts, find, ignore_case=True)
    return np.asarray(compute.fill_null(found, False))


def _compared(values: Any, find: str, name: str) -> Mask:
    """Return which numbers satisfy a comparison, such as "> 3" or "1..5"."""
    numbers: Vector = values.to_numpy(zero_copy_only=False).astype(np.float64)
    if find.casefold() == _MISSING:
        return np.isnan(numbers)
    if limits := _RANGE.match(find):
        return (numbers >= float(limits[1])) & (numbers <= float(limits[2]))
    comparison = _COMPARISON.match(find)
    try:
        limit = float(comparison[2]) if comparison else float("nan")
    except ValueError:
        comparison = None
    if comparison is None:
        raise UnreadableFilterError(
            f"Column {quoted(name)} holds numbers: filter it by a comparison such as > 3 or <= 5, "
            f"a range such as 1..5, a number, or the word missing; got {quoted(find)}."
        )
    return {
        "<": numbers < limit, "<=": numbers <= limit, ">": numbers > limit,
        ">=": numbers >= limit,
    }.get(comparison[1], np.isclose(numbers, limit, rtol=5e-4, atol=0))  # fmt: skip

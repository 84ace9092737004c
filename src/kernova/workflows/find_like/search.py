"""Search for the rows of a table that are like a few given ones: ranked, cut, with reasons."""

import difflib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from kernova.cluster.standardize import standardized_rows
from kernova.discover.more_like import AlikeRows, alike_rows, walk_graph
from kernova.errors import InputError, quoted
from kernova.tables.fill_values import far_cell_notes, far_cells, with_moved_cells
from kernova.tables.records import dropped_rows_notes, json_rows, json_value, rows_with_ids
from kernova.tables.table import Table
from kernova.text import quantity
from kernova.typing import Indices, Matrix
from kernova.workflows.detectors import table_encoder
from kernova.workflows.find_like.reasons import AlikeColumn, AlikeColumns
from kernova.workflows.settings import FindLikeSettings

ALIKE: Final = "alike"
OTHER: Final = "other"
# Precision and recall of the cut on tables with known categories that the method was not chosen
# on, on average, with one given row and with three: benchmarks/find_like.py, confirming.
MEASURED: Final = (
    "On 31 tables with known categories, 51 % of the rows before such a cut belonged to the "
    "category of the given row on average, and 58 % of the category were before it; with three "
    "rows given, 54 % and 68 %."
)
_MANY_IDS: Final = 10_000
_MOVED: Final = (
    "The column is scaled by its other values, and such cells count as just beyond them."
)


@dataclass(frozen=True)
class FindLikeResult:
    """All rows but the given ones by how much they are like these, with reasons for the first."""

    # One line for each row but the given ones, the most alike first: its id, ``rank``,
    # ``likeness``, ``verdict`` ("alike" before the cut, "other" behind it) and ``because`` (columns
    # in which it is as unusual as a given row, for the first rows). The index holds the row
    # indices of the table.
    rows: pd.DataFrame
    reasons: dict[int, list[AlikeColumn]]  # of the first rows, by row index
    nearest_given: dict[int, int]  # the given row that each of them was compared with
    alike: AlikeRows
    encoded: Matrix  # all rows of the table as numbers
    given: Indices
    ruled_out: Indices
    table: Table
    settings: FindLikeSettings
    notes: list[str]  # remarks for readers of the result

    @property
    def n_top(self) -> int:
        """Number of rows to show first."""
        return min(self.settings.top, len(self.rows))

    @property
    def ids(self) -> "pd.Series[Any]":
        """The rows' ids, the most alike first, by their row indices in the table."""
        return self.rows.iloc[:, 0]

    @property
    def summary(self) -> str:
        """One sentence: how many rows are before the cut, and what happens there."""
        cut, n_rows = self.alike.cut, len(self.rows)
        first = f"{cut:,} of {quantity(n_rows, 'other row')} {'is' if cut == 1 else 'are'} alike"
        if cut >= n_rows:
            return f"{first}: there is no drop after any of them."
        before, after = self.alike.arrivals[self.alike.ranking[cut - 1 : cut + 1]]
        if after <= 0:
            return f"{first}: no chain of neighbours leads from them to the next row."
        return (
            f"{first}: walks from {self._given_text} are at row {cut:,} of the ranking "
            f"{before / after:.3g} times as often as at the next one, the most marked drop."
        )

    @property
    def worth(self) -> str:
        """What is known of such cuts."""
        return MEASURED

    @property
    def _given_text(self) -> str:
        return "the given row" if len(self.given) == 1 else "the given rows"

    def id_of(self, row: int) -> Any:
        """Return the id of a row."""
        return self.table.ids.iloc[row]

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        return {
            "command": "find-like",
            "data": {"source": self.table.source, "rows": len(self.table.features)},
            "settings": asdict(self.settings),
            "given": [json_value(self.id_of(row)) for row in self.given],
            "ruled_out": [json_value(self.id_of(row)) for row in self.ruled_out],
            "alike_rows": self.alike.cut,
            "summary": self.summary,
            "worth": self.worth,
            "notes": self.notes,
            "rows": json_rows(self.rows),
            "explanations": [
                {
                    "id": json_value(self.id_of(row)),
                    "given": json_value(self.id_of(self.nearest_given[row])),
                    "features": [
                        {name: json_value(value) for name, value in one._asdict().items()}
                        for one in columns
                    ],
                }
                for row, columns in self.reasons.items()
            ],
        }


def find_like(
    table: Table,
    given: Sequence[str],
    not_given: Sequence[str] = (),
    settings: FindLikeSettings | None = None,
) -> FindLikeResult:
    """Rank the other rows of a table by how much they are like given ones.

    Parameters
    ----------
    table : Table
        The rows.
    given : sequence of str
        Ids of the rows to search from.
    not_given : sequence of str
        Ids of rows that are known not to belong to their category.
    settings : FindLikeSettings, optional
        Treatment of missing values, and how many rows to explain.

    Returns
    -------
    FindLikeResult
        The most alike row first.
    """
    settings = settings or FindLikeSettings()
    starts, ends = rows_named(table, given), rows_named(table, not_given)
    both = np.intersect1d(starts, ends)
    if len(both):
        name = quoted(str(table.ids.iloc[both[0]]))
        raise InputError(
            f"The row {name} is given both as a row to search from and as one that does not belong."
        )
    features = table.features.reset_index(drop=True)
    cells = far_cells(features)
    encoder = table_encoder("standard", settings.missing, "auto")
    encoded: Matrix = encoder.fit_transform(with_moved_cells(features, cells))
    Z = standardized_rows(encoded, "half-sphere")
    alike = alike_rows(walk_graph(Z), starts, ends)
    first = alike.ranking[: settings.top]
    nearest = starts[np.argmin(cdist(Z[first], Z[starts]), axis=1)] if len(first) else first
    nearest_given = dict(zip(first.tolist(), nearest.tolist(), strict=True))
    columns = AlikeColumns(features)
    notes = dropped_rows_notes(table) + far_cell_notes(table, cells, _MOVED, _MOVED)
    return FindLikeResult(
        _ranked(table, alike, {row: columns.text(row, one) for row, one in nearest_given.items()}),
        {row: columns.of(row, one) for row, one in nearest_given.items()},
        nearest_given,
        alike,
        encoded,
        starts,
        ends,
        table,
        settings,
        notes,
    )


def _ranked(table: Table, alike: AlikeRows, reasons: dict[int, str]) -> pd.DataFrame:
    n_rows = len(table.features)
    ranks = np.zeros(n_rows, dtype=np.intp)
    ranks[alike.ranking] = np.arange(1, len(alike.ranking) + 1)
    because = np.full(n_rows, "", dtype=object)
    for row, text in reasons.items():
        because[row] = text
    verdicts = np.where(ranks <= alike.cut, ALIKE, OTHER).astype(object)
    columns = {
        "rank": ranks, "likeness": alike.likeness, "verdict": verdicts, "because": because,
    }  # fmt: skip
    return rows_with_ids(table, columns).iloc[alike.ranking]


def rows_named(table: Table, ids: Sequence[str]) -> Indices:
    """Return the rows with these ids in ascending order, each once, or raise for the first other.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova import Table
    >>> from kernova.workflows.find_like.search import rows_named
    >>> table = Table(pd.DataFrame({"x": [1, 2]}), pd.Series(["carp", "pike"]), None, "fish.csv")
    >>> rows_named(table, ["pike", "pike"])
    array([1])
    """
    texts = table.ids.astype(str)
    places = {name: place for place, name in enumerate(texts.tolist())}
    for one in ids:
        if one not in places:
            close = difflib.get_close_matches(one, places, n=1) if len(places) < _MANY_IDS else []
            hint = f" Did you mean {quoted(close[0])}?" if close else ""
            raise InputError(f"No row of {table.source} has the id {quoted(one)}.{hint}")
    return np.unique(np.array([places[one] for one in ids], dtype=np.intp))

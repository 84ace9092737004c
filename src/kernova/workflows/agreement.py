"""Agreement of several detectors on the rows of one table: ranks side by side, and how alike.

Each detector has scores of its own kind, so that only ranks compare. Two detectors agree as far as
their ranks correlate over all rows (Spearman), and as far as they have the same rows first.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from kernova.errors import InputError
from kernova.tables.records import json_rows, json_value, rows_with_ids
from kernova.tables.table import Table
from kernova.text import quantity
from kernova.typing import Indices, Matrix
from kernova.workflows.settings import OutlierSettings


@dataclass(frozen=True)
class Agreement:
    """Ranks of the rows by several detectors, and how far these agree."""

    ranks: pd.DataFrame  # of the first rows by their indices, one column for each detector
    correlations: pd.DataFrame  # Spearman's rank correlation over all rows, detector by detector
    shared: pd.DataFrame  # number of rows that two detectors both have among their first
    n_first: int  # number of rows that count as first
    n_rows: int  # number of rows that were ranked

    @property
    def names(self) -> list[str]:
        """Names of the detectors."""
        return [str(name) for name in self.ranks.columns]

    @property
    def rows(self) -> list[int]:
        """Indices of the rows whose ranks are kept."""
        return [int(row) for row in self.ranks.index.tolist()]

    def agreeing(self, row: int) -> list[str]:
        """Return the detectors that have a row among their first."""
        ranks = self.ranks.loc[[row]].to_numpy()[0]
        return [name for name, rank in zip(self.names, ranks, strict=True) if rank <= self.n_first]

    @property
    def summary(self) -> str:
        """One sentence: how many of the first rows two detectors share, and their correlation."""
        pairs = np.triu_indices(len(self.names), 1)
        shared = self.shared.to_numpy()[pairs]
        correlations = self.correlations.to_numpy()[pairs]
        if not len(shared):
            return "There is one detector only, so that nothing can be compared."
        return (
            f"Of the first {quantity(self.n_first, 'row')}, two methods share {shared.min()} to "
            f"{shared.max()} ({np.mean(shared):.1f} on average); over all {self.n_rows:,} rows "
            f"their ranks correlate by {correlations.min():.2f} to {correlations.max():.2f}."
        )

    def table(self) -> pd.DataFrame:
        """Return, for each detector, its correlation with each other one, by name."""
        table = self.correlations.round(2).reset_index(names="method")
        first = {f"first {self.n_first} shared": self._shared_on_average()}
        return table.assign(**first)

    def _shared_on_average(self) -> list[float]:
        shared = self.shared.to_numpy(dtype=np.float64)
        n_others = max(len(shared) - 1, 1)
        return ((shared.sum(axis=1) - np.diag(shared)) / n_others).round(1).tolist()

    def to_json_dict(self, id_of: Callable[[int], Any]) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        return {
            "names": self.names,
            "first": self.n_first,
            "correlations": self.correlations.to_numpy().round(6).tolist(),
            "shared": self.shared.to_numpy().tolist(),
            "rows": [
                {
                    "id": json_value(id_of(row)),
                    "ranks": dict(zip(self.names, ranks, strict=True)),
                    "agreeing": self.agreeing(row),
                }
                for row, ranks in zip(self.rows, self.ranks.to_numpy().tolist(), strict=True)
            ],
        }


def agreement_of(scores: pd.DataFrame, shown: Indices, n_first: int) -> Agreement:
    """Compare the ranks that several detectors give to the same rows.

    Parameters
    ----------
    scores : DataFrame of shape (n_rows, n_detectors)
        Scores, high for unusual rows; each column may have a scale of its own.
    shown : ndarray of int
        The rows whose ranks are kept, by their labels.
    n_first : int
        Number of rows that count as first.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernova.workflows.agreement import agreement_of
    >>> scores = pd.DataFrame({"a": [9.0, 1.0, 2.0], "b": [0.5, 0.1, 0.9], "c": [3.0, 1.0, 2.0]})
    >>> agreement = agreement_of(scores, np.array([0, 2]), n_first=1)
    >>> agreement.ranks
       a  b  c
    0  1  2  1
    2  2  1  2
    >>> agreement.agreeing(0)
    ['a', 'c']
    >>> agreement.correlations.loc["a", "b"], agreement.shared.loc["a", "c"]
    (np.float64(0.5), np.int64(1))
    """
    ranks = scores.rank(ascending=False, method="min").astype(np.intp)
    n_first = min(n_first, len(ranks))
    is_first = (ranks.to_numpy() <= n_first).astype(np.int64)
    names = scores.columns
    return Agreement(
        ranks.loc[shown],
        pd.DataFrame(_rank_correlations(scores), names, names),
        pd.DataFrame(is_first.T @ is_first, names, names),
        n_first,
        len(ranks),
    )


def _rank_correlations(scores: pd.DataFrame) -> Matrix:
    """Return Spearman's correlations; 0 with a detector to which all rows are alike."""
    ranks = scores.rank(method="average").to_numpy()
    centred = ranks - ranks.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    is_flat = lengths == 0
    correlations = (centred.T @ centred) / np.outer(lengths + is_flat, lengths + is_flat)
    np.fill_diagonal(correlations, 1.0)
    return np.clip(correlations, -1.0, 1.0)


def member_agreement(bits: pd.DataFrame | None, shown: Indices) -> Agreement | None:
    """Return how far the members of an ensemble agree on rows, by the surprise of each.

    None for a detector without members. The surprises have one scale, so that those of two halves
    compare. Rows that are in both halves, or have far cells, are judged by other members than
    most; members that judge most rows are compared, and follow the others' mean on the rest.
    """
    if bits is None:
        return None
    kept = bits.loc[:, bits.notna().mean() > 0.5]
    if not len(kept.columns):
        return None
    means = bits.mean(axis=1)
    return agreement_of(kept.apply(lambda one: one.fillna(means)), shown, n_first=len(shown))


@dataclass(frozen=True)
class MethodComparison:
    """The rows of one table, ranked by several methods."""

    # One line for each row: its id, ``rank`` by the geometric mean of all ranks, one column with
    # the rank by each method, ``agreeing`` (number of methods that have it among their first), and
    # the label if there is one. The index holds the row indices of the table.
    rows: pd.DataFrame
    agreement: Agreement
    table: Table
    settings: OutlierSettings
    notes: list[str]

    @property
    def n_top(self) -> int:
        """Number of rows to show first."""
        return min(self.settings.top, len(self.rows))

    @property
    def ids(self) -> "pd.Series[Any]":
        """The rows' ids, the best mean rank first, by their row indices in the table."""
        return self.rows.iloc[:, 0]

    @property
    def summary(self) -> str:
        """One sentence: how many rows were ranked by how many methods."""
        n_methods = quantity(len(self.agreement.names), "method")
        n_rows = quantity(len(self.rows), "row")
        return f"{n_rows} ranked by {n_methods}; the order is that of the mean rank."

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        return {
            "command": "outliers",
            "data": {"source": self.table.source, "rows": len(self.rows)},
            "settings": asdict(self.settings),
            "notes": self.notes,
            "agreement": self.agreement.to_json_dict(lambda row: self.table.ids.iloc[row]),
            "rows": json_rows(self.rows),
        }


def compare_methods(
    table: Table, settings: OutlierSettings | None = None, methods: Sequence[str] | None = None
) -> MethodComparison:
    """Rank the rows of a table by several methods, and compare the ranks.

    Parameters
    ----------
    table : Table
        The rows.
    settings : OutlierSettings, optional
        Scaling and the methods' own parameters; ``top`` rows count as first. Its method is not
        used.
    methods : sequence of str, optional
        Names of the methods; all that the command ``outliers`` offers by default.

    Returns
    -------
    MethodComparison
        The row with the best mean rank first.
    """
    from kernova.workflows.detectors import detector_names
    from kernova.workflows.outliers import find_outliers

    settings = settings or OutlierSettings()
    if settings.max_false_alarm is not None or settings.contamination != "auto":
        raise InputError(
            "The method all compares ranks and calls no row an outlier. Leave max_false_alarm and "
            "contamination out, or choose one method."
        )
    scores, notes = {}, []
    for name in detector_names("outliers") if methods is None else methods:
        result = find_outliers(table, replace(settings, **_own_settings(name, settings)))
        # Ranks, because rows with far cells come first whatever their factor is.
        scores[name] = -result.rows["rank"].sort_index().to_numpy(dtype=np.float64)
        notes += [(name, note) for note in result.notes]
    ranks = -pd.DataFrame(scores)
    order = np.argsort(np.log(ranks.to_numpy()).mean(axis=1), kind="stable")
    agreement = agreement_of(-ranks, order[: settings.top], max(settings.top, 1))
    columns: dict[str, Any] = {
        "rank": np.argsort(order) + 1,
        **{str(name): ranks[name].to_numpy(dtype=np.intp) for name in ranks},
        "agreeing": (ranks.to_numpy() <= agreement.n_first).sum(axis=1),
    }
    rows = rows_with_ids(table, columns).iloc[order]
    return MethodComparison(rows, agreement, table, settings, _merged(notes, len(scores)))


def _own_settings(name: str, settings: OutlierSettings) -> dict[str, Any]:
    """Return what differs for one method: some take one number of neighbours only."""
    from kernova.workflows.detectors import detector_named

    own: dict[str, Any] = {"method": name, "top": 0, "path": ()}
    entry = detector_named(name, "outliers")
    for parameter in {"n_neighbors", "kernel", "bandwidth"} - entry.parameters:
        own[parameter] = getattr(OutlierSettings, parameter)
    numbers = own.get("n_neighbors", settings.n_neighbors)
    if entry.max_neighbor_numbers is not None and numbers != "auto":
        own["n_neighbors"] = numbers[: entry.max_neighbor_numbers]
    return own


def _merged(notes: list[tuple[str, str]], n_methods: int) -> list[str]:
    """Return each note once, with the methods that it is about unless it is about all."""
    methods: dict[str, list[str]] = {}
    for name, note in notes:
        methods.setdefault(note, []).append(name)
    return [
        note if len(names) == n_methods else f"{', '.join(names)}: {note}"
        for note, names in methods.items()
    ]

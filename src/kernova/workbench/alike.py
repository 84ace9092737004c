"""Rows like given ones: those before the cut that have no label yet, to be labelled together."""

import threading
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from kernova.discover.more_like import N_NEIGHBORS, WalkGraph, alike_rows, walk_graph
from kernova.text import quantity
from kernova.typing import Indices, Mask
from kernova.workbench.shared import Part, SharedState
from kernova.workflows.find_like.search import MEASURED


@dataclass(frozen=True)
class AlikeRow:
    """An unlabelled row before the cut."""

    row: int
    id: str
    likeness: Annotated[
        float, "Fraction of rows at this rank that belonged to the category on other tables."
    ]


@dataclass(frozen=True)
class GivenRow:
    """A row that was given, to find others like it."""

    row: int
    id: str
    label: str | None


@dataclass(frozen=True)
class AlikeReply:
    """Unlabelled rows that are like given ones, the most alike first."""

    row: Annotated[int, "The first given row."]
    id: str
    label: Annotated[
        str | None, "The only category of the given rows; null if they have none or several."
    ]
    given: list[GivenRow]
    words: Annotated[str, "How many there are, and what is known of such rows."]
    total: Annotated[int, "Number of unlabelled rows before the cut."]
    rows: list[AlikeRow]


class _Known(NamedTuple):
    """What the labels say: rows to search from, rows that do not belong, and unlabelled ones."""

    starts: Indices
    ends: Indices
    is_open: Mask


class Alike(Part):
    """Search for rows like given ones, with what is labelled so far."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._graph: WalkGraph | None = None
        self._graph_lock = threading.Lock()

    def more_like(self, rows: list[int], limit: int) -> AlikeReply:
        """Return the unlabelled rows before the cut, the most alike first.

        The search starts at all rows of the given rows' categories, and rows of other categories
        do not belong; of rows without a label, it starts at these.
        """
        rows = list(dict.fromkeys(rows))
        self._shared.check_rows(rows)
        known = self._known(rows)
        found: list[int] = []
        likeness = np.empty(0)
        if known.is_open.any():
            alike = alike_rows(self._walk_graph(), known.starts, known.ends)
            likeness = alike.likeness
            found = [one for one in alike.found.tolist() if known.is_open[one]]
        with self._shared.lock:
            labels = [self._shared.session.label_of(row) for row in rows]
        given = [
            GivenRow(row, self._shared.id_of(row), label)
            for row, label in zip(rows, labels, strict=True)
        ]
        names = {label for label in labels if label is not None}
        return AlikeReply(
            row=given[0].row,
            id=given[0].id,
            label=names.pop() if len(names) == 1 else None,
            given=given,
            words=_words(len(found)),
            total=len(found),
            rows=[
                AlikeRow(one, self._shared.id_of(one), round(float(likeness[one]), 4))
                for one in found[:limit]
            ],
        )

    def _known(self, rows: list[int]) -> _Known:
        with self._shared.lock:
            codes = self._shared.session.results_.codes(np.iinfo(np.intp).max)
        is_labelled = codes > 0
        is_start = np.zeros(len(codes), dtype=np.bool_)
        is_start[rows] = True
        names = np.unique(codes[rows])
        names = names[names > 0]
        is_same = np.isin(codes, names)
        # Rows without a label may belong to any category.
        is_end = is_labelled & ~is_same if len(names) else np.zeros_like(is_start)
        is_open = ~is_labelled & ~is_start
        return _Known(np.flatnonzero(is_start | is_same), np.flatnonzero(is_end), is_open)

    def _walk_graph(self) -> WalkGraph:
        """Return the graph of the table, made at the first call."""
        with self._graph_lock:
            if self._graph is None:
                preparation = self._shared.session.preparation_
                Z = preparation.rows("half-sphere")
                has_axes = Z.shape[1] > 0
                neighbors = preparation.neighbors("half-sphere", N_NEIGHBORS) if has_axes else None
                self._graph = walk_graph(Z, neighbors)
            return self._graph


def _words(n_rows: int) -> str:
    if n_rows == 0:
        return "No unlabelled row is before the cut."
    verb = "is" if n_rows == 1 else "are"
    return f"{quantity(n_rows, 'unlabelled row')} {verb} before the cut. {MEASURED}"

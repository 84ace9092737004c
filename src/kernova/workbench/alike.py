"""Rows like a given one: those before the cut that have no label yet, to be labelled together."""

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
class AlikeReply:
    """Unlabelled rows that are like a given one, the most alike first."""

    row: int
    id: str
    label: Annotated[str | None, "Category of the given row; null without one."]
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

    def more_like(self, row: int, limit: int) -> AlikeReply:
        """Return the unlabelled rows before the cut, the most alike first.

        If the row has a label, the search starts at all rows of its category, and rows of other
        categories do not belong.
        """
        row_id = self._shared.id_of(row)
        known = self._known(row)
        found: list[int] = []
        likeness = np.empty(0)
        if known.is_open.any():
            alike = alike_rows(self._walk_graph(), known.starts, known.ends)
            likeness = alike.likeness
            found = [one for one in alike.found.tolist() if known.is_open[one]]
        with self._shared.lock:
            label = self._shared.session.label_of(row)
        return AlikeReply(
            row=row,
            id=row_id,
            label=label,
            words=_words(len(found)),
            total=len(found),
            rows=[
                AlikeRow(one, self._shared.id_of(one), round(float(likeness[one]), 4))
                for one in found[:limit]
            ],
        )

    def _known(self, row: int) -> _Known:
        with self._shared.lock:
            labels = self._shared.session.labels_
        is_labelled = np.array([label is not None for label in labels], dtype=np.bool_)
        starts, ends = np.array([row], dtype=np.intp), np.empty(0, dtype=np.intp)
        if is_labelled[row]:
            is_same = labels == labels[row]
            starts = np.flatnonzero(is_same)
            ends = np.flatnonzero(is_labelled & ~is_same)
        is_open = ~is_labelled
        is_open[row] = False
        return _Known(starts, ends, is_open)

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

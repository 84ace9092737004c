"""Facts about every row that a review lists and sorts by: label, suggestion, source and doubts."""

from dataclasses import dataclass

import numpy as np

from kernova.discover.results import SessionResults
from kernova.typing import Indices, Mask, Matrix, Vector
from kernova.workbench.learnt.rows import LearntRows
from kernova.workbench.review.doubts import Doubts, doubts_about
from kernova.workbench.review.label_sources import Sources


@dataclass(frozen=True, eq=False)
class RowFacts:
    """Facts about every row, after some log entries and from one run of learning.

    Attributes
    ----------
    n_entries : int
        Number of log entries.
    generation : int or None
        Number of the run of learning; None before the first.
    names : list of str
        The categories.
    label, suggestion : ndarray of intp
        Position of the category of each row, and of the one suggested for a row without a label;
        -1 for none.
    probability : ndarray
        Of the suggestion; of an accepted one, as it was then; of a label by hand, by a model that
        was learnt without the row. NaN where nothing is known.
    margin : ndarray
        Probability by which the suggestion leads the second.
    doubts : Doubts
        What the model says against labels.
    sources : Sources
        Where labels are from.
    is_flagged, is_noted : ndarray of bool
        Rows with a flag, and with a note.
    """

    n_entries: int
    generation: int | None
    names: list[str]
    label: Indices
    suggestion: Indices
    probability: Vector
    margin: Vector
    doubts: Doubts
    sources: Sources
    is_flagged: Mask
    is_noted: Mask

    @property
    def category(self) -> Indices:
        """Position of the category that each row is listed under: its label, or its suggestion."""
        return np.where(self.label >= 0, self.label, self.suggestion)

    @property
    def is_suggested(self) -> Mask:
        """Whether each row may be asked about, and has a suggestion."""
        is_closed = self.sources.is_unsure | self.sources.is_skipped
        return (self.suggestion >= 0) & ~is_closed

    def name_of(self, position: int) -> str | None:
        """Return the name of a category by its position; None for -1."""
        return None if position < 0 else self.names[position]


def row_facts(results: SessionResults, sources: Sources, learnt: LearntRows | None) -> RowFacts:
    """Return the facts about every row; call it with the session's lock held."""
    names = list(results.category_sizes)
    label = np.maximum(results.codes(len(names)) - 1, -1)
    n_rows = len(label)
    nothing = np.full(n_rows, np.nan)
    suggestion, probability, margin = np.full(n_rows, -1, dtype=np.intp), nothing, nothing
    ranking: Indices = np.full((n_rows, 1), -1, dtype=np.intp)
    ranked: Matrix = np.zeros((n_rows, 1))
    if learnt is not None:
        positions = {name: position for position, name in enumerate(names)}
        # The last stands for no category.
        place = np.array([*(positions.get(name, -1) for name in learnt.names), -1], dtype=np.intp)
        suggestion = np.where(label >= 0, -1, place[learnt.suggested()])
        has_any = suggestion >= 0
        probability = np.where(has_any, learnt.judged.probability, np.nan)
        margin = np.where(has_any, learnt.judged.margin, np.nan)
        ranking = place[learnt.judged.ranking]
        ranked = learnt.judged.ranked_probabilities.astype(np.float64)
    is_by_hand = sources.is_labelled & ~sources.is_accepted
    doubts = doubts_about(label, ranking, ranked, is_by_hand)
    probability = np.where(is_by_hand, doubts.own, probability)
    probability = np.where(sources.is_accepted, sources.probability, probability)
    annotations = results.annotations
    return RowFacts(
        results.n_records,
        None if learnt is None else learnt.generation,
        names,
        label,
        suggestion,
        probability,
        margin,
        doubts,
        sources,
        _mask(n_rows, list(annotations.flagged)),
        _mask(n_rows, list(annotations.notes)),
    )


def _mask(n_rows: int, rows: list[int]) -> Mask:
    found = np.zeros(n_rows, dtype=np.bool_)
    found[rows] = True
    return found

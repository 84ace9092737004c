"""Comparison of two to six rows: their values column by column, with the differences marked."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np

from kernova.errors import InputError
from kernova.workbench.cards import Card, Cards
from kernova.workbench.feature_drawings import Feature, drawn_feature
from kernova.workbench.shared import Part, SharedState

FEWEST_COMPARED: Final = 2
MOST_COMPARED: Final = 6
# Of a wide table, so many columns in which the rows differ most are compared.
_MOST_COLUMNS: Final = 40
# Percentiles of different rows, as fractions: half of all rows lie between them.
_DIFFERENT: Final = 0.5


@dataclass(frozen=True)
class ComparedColumn:
    """Values of the compared rows in one column."""

    name: str
    kind: Literal["number", "category"]
    difference: Annotated[
        float,
        "Range of the percentiles, from 0 to 1; of categories, 1 if all rows have different ones.",
    ]
    is_different: Annotated[
        bool, "Whether half of all rows lie between two of the values, or the categories differ."
    ]
    features: Annotated[list[Feature], "One for each row, in the order of the rows."]


@dataclass(frozen=True)
class ComparedContext:
    """Values of the compared rows in a column that is no feature."""

    name: str
    texts: Annotated[list[str], "As written in the file; empty for missing ones."]
    is_different: bool


@dataclass(frozen=True)
class CompareReply:
    """Rows side by side, with their values in the same order of columns."""

    cards: list[Card]
    columns: Annotated[list[ComparedColumn], "In the order of the table."]
    n_columns: Annotated[
        int, "Number of features; of a wide table the columns that differ most are compared."
    ]
    context: list[ComparedContext]


@dataclass(frozen=True)
class Example:
    """A labelled row that is near another one."""

    row: int
    id: str
    label: str


@dataclass(frozen=True)
class ExamplesReply:
    """Labelled rows that are nearest to a row, the nearest first."""

    row: int
    examples: list[Example]


class Comparing(Part):
    """Rows side by side, and labelled examples to compare a row with."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._population = shared.discovery.population

    def compare(self, rows: list[int], cards: Cards) -> CompareReply:
        """Return the cards of rows, and their values column by column."""
        self._shared.check_rows(rows)
        if not FEWEST_COMPARED <= len(set(rows)) == len(rows) <= MOST_COMPARED:
            raise InputError(
                f"rows must be {FEWEST_COMPARED} to {MOST_COMPARED} different rows; got "
                f"{len(rows)}, {len(set(rows))} of them different."
            )
        differences = self._population.differences(rows)
        order = np.argsort(-differences, kind="stable")[:_MOST_COLUMNS]
        shown = [cards.card(row) for row in rows]
        return CompareReply(
            cards=shown,
            columns=[
                self._column(rows, column, float(differences[column]))
                for column in np.sort(order).tolist()
            ],
            n_columns=len(differences),
            context=[
                ComparedContext(one[0].name, texts, len(set(texts)) > 1)
                for one in zip(*(card.context for card in shown), strict=True)
                for texts in [[value.text for value in one]]
            ],
        )

    def examples(self, row: int, label: str | None, limit: int) -> ExamplesReply:
        """Return the nearest labelled row of each category, or the nearest rows of one category."""
        self._shared.check_rows([row])
        with self._shared.lock:
            labels = self._shared.session.labels_
        labels[row] = None
        rows = np.flatnonzero(labels == label if label is not None else labels != None)  # noqa: E711
        nearest = self._shared.discovery.nearest(row, rows, len(rows)).tolist()
        if label is None:  # the nearest of each
            firsts: dict[str, int] = {}
            for one in nearest:
                firsts.setdefault(labels[one], one)
            nearest = list(firsts.values())
        return ExamplesReply(
            row,
            [Example(one, self._shared.id_of(one), labels[one]) for one in nearest[:limit]],
        )

    def _column(self, rows: list[int], column: int, difference: float) -> ComparedColumn:
        features = [drawn_feature(self._population, row, column) for row in rows]
        kind = features[0].kind
        is_different = difference > 0 if kind == "category" else difference >= _DIFFERENT
        return ComparedColumn(features[0].name, kind, round(difference, 4), is_different, features)

"""Agreement of the experts of a project, from the rows that several of them have labelled.

What is measured is the opinions that were formed without seeing those of others. Opinions given
later, such as a changed answer after a discussion, would make experts look more alike than they
are; they are counted apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Annotated, Final, NamedTuple

import numpy as np

from kernova.discover.opinions import Opinion
from kernova.typing import Indices
from kernova.workbench.colleagues.agreement import (
    Coefficient,
    category_agreement,
    category_counts,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
    raw_agreement,
)
from kernova.workbench.shared import Part
from kernova.workbench.suggestions import wilson_interval

_MOST_NAMES: Final = 40  # of a confusion table; those of most rows
_MOST_CONFUSED: Final = 20
_METHOD: Final = (
    "Only answers given without seeing those of others are measured. Intervals hold 95 %: of "
    "Cohen's kappa they are asymptotic (Fleiss, Cohen and Everitt 1969), of Fleiss' kappa and "
    "Krippendorff's alpha from a bootstrap over rows, of raw agreement Wilson's."
)


@dataclass(frozen=True)
class Measure:
    """A coefficient and the interval that holds it 19 times in 20."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two experts."""

    first: Annotated[str | None, "Name of an expert; null for the one without a name."]
    second: str | None
    rows: Annotated[int, "Number of rows that both labelled without seeing each other's answer."]
    same: Annotated[int, "Number of those with the same label."]
    raw: Annotated[Measure, "Fraction of them."]
    kappa: Annotated[Measure | None, "Cohen's kappa; null where only one category was given."]


@dataclass(frozen=True)
class CategoryAgreement:
    """How often another expert gives a category, too."""

    name: str
    opinions: Annotated[int, "Number of answers with this category, on rows of several experts."]
    agreement: Annotated[float, "Fraction of the others' answers on these rows that give it, too."]


@dataclass(frozen=True)
class Confused:
    """Two categories that experts give to the same row."""

    first: str
    second: str
    rows: Annotated[int, "Number of rows with both."]


@dataclass(frozen=True)
class ConfusionTable:
    """Categories of one expert against those of another."""

    first: Annotated[str | None, "The expert of the lines; null in a table of all experts."]
    second: Annotated[str | None, "The expert of the columns."]
    is_pooled: Annotated[bool, "Whether it counts all pairs of experts, each in both directions."]
    names: Annotated[list[str], "The categories of lines and columns, at most 40."]
    counts: Annotated[list[list[int]], "Number of pairs of answers."]


@dataclass(frozen=True)
class AgreementReply:
    """Agreement of all experts."""

    rows: Annotated[int, "Number of rows that several experts labelled without seeing the others."]
    experts: list[str | None]
    raw: Annotated[float | None, "Mean fraction of agreeing pairs of experts; null without rows."]
    fleiss: Annotated[Measure | None, "Fleiss' kappa of all experts."]
    alpha: Annotated[Measure | None, "Krippendorff's alpha of all experts."]
    pairs: list[PairAgreement]
    categories: list[CategoryAgreement]
    confused: Annotated[list[Confused], "Pairs of categories, the most frequent first; at most 20."]
    table: ConfusionTable
    seen_rows: Annotated[
        int, "Further rows with several opinions, of which some were given after seeing another."
    ]
    seen_same: Annotated[int, "Number of those on which the present opinions are the same."]
    method: Annotated[str, "What is measured, and how, in sentences."]


class Ratings(NamedTuple):
    """Blind opinions as codes: rows by experts, negative for none."""

    codes: Indices
    experts: list[str | None]
    names: list[str]

    @property
    def counts(self) -> Indices:
        """How many experts gave each category to each row."""
        return category_counts(self.codes, len(self.names))


def ratings_of(opinions: Iterable[Sequence[Opinion]]) -> Ratings:
    """Return the opinions that were formed without seeing others, of rows that have two of them.

    Parameters
    ----------
    opinions : iterable of sequences of Opinion
        The opinions about each row.

    Examples
    --------
    >>> from kernova.discover.opinions import Opinion
    >>> from kernova.workbench.colleagues.measured import ratings_of
    >>> anna, bob = Opinion("carp", by="Anna", blind="carp"), Opinion("pike", by="Bob", blind="eel")
    >>> ratings_of([(anna, bob), (anna,)])
    Ratings(codes=array([[0, 1]]), experts=['Anna', 'Bob'], names=['carp', 'eel'])
    """
    blind = [
        {one.by: one.blind for one in some if one.blind is not None} for some in opinions
    ]  # fmt: skip
    rows = [labels for labels in blind if len(labels) > 1]
    experts = list(dict.fromkeys(by for labels in rows for by in labels))
    names = list(dict.fromkeys(label for labels in rows for label in labels.values()))
    column = {by: place for place, by in enumerate(experts)}
    code = {name: place for place, name in enumerate(names)}
    codes = np.full((len(rows), len(experts)), -1, dtype=np.intp)
    for row, labels in enumerate(rows):
        for by, label in labels.items():
            codes[row, column[by]] = code[label]
    return Ratings(codes, experts, names)


class Agreement(Part):
    """Measured agreement of the experts of a project."""

    def reply(self, first: str | None = None, second: str | None = None) -> AgreementReply:
        """Return the agreement; the table of confusions is of two experts if they are given."""
        with self._shared.lock:
            results = self._shared.session.results_
            shared = [results.all_opinions_of(row) for row in results.shared_rows]
        ratings = ratings_of(shared)
        counts = ratings.counts
        # Rows where fewer than two opinions are blind.
        seen = [some for some in shared if sum(one.blind is not None for one in some) < 2]
        raw = raw_agreement(counts)
        return AgreementReply(
            rows=len(ratings.codes),
            experts=ratings.experts,
            raw=raw if isfinite(raw) else None,
            fleiss=_measure(fleiss_kappa(counts)),
            alpha=_measure(krippendorff_alpha(counts)),
            pairs=_pairs(ratings),
            categories=_categories(ratings, counts),
            confused=_confused(ratings, counts),
            table=_table(ratings, counts, first, second),
            seen_rows=len(seen),
            seen_same=sum(len({one.label for one in some}) == 1 for some in seen),
            method=_METHOD,
        )


def _measure(coefficient: Coefficient) -> Measure | None:
    return Measure(*coefficient) if isfinite(coefficient.value) else None


def _pairs(ratings: Ratings) -> list[PairAgreement]:
    """Return the agreement of every two experts with rows in common, those of most rows first."""
    found = []
    for one, other in combinations(range(len(ratings.experts)), 2):
        table = confusion(ratings.codes[:, one], ratings.codes[:, other], len(ratings.names))
        n_rows, n_same = int(table.sum()), int(np.trace(table))
        if n_rows:
            raw = Measure(*wilson_interval(n_same, n_rows))
            kappa = _measure(cohen_kappa(table))
            names = ratings.experts[one], ratings.experts[other]
            found.append(PairAgreement(*names, n_rows, n_same, raw, kappa))
    return sorted(found, key=lambda pair: -pair.rows)


def _categories(ratings: Ratings, counts: Indices) -> list[CategoryAgreement]:
    agreement, opinions = category_agreement(counts), counts.sum(axis=0)
    return [
        CategoryAgreement(ratings.names[code], int(opinions[code]), float(agreement[code]))
        for code in np.argsort(-opinions, kind="stable")
    ]


def _confused(ratings: Ratings, counts: Indices) -> list[Confused]:
    """Return the pairs of categories that the same rows have, the most frequent first."""
    has = (counts > 0).astype(np.intp)
    together = np.triu(has.T @ has, 1)
    most = np.argsort(-together, axis=None, kind="stable")[:_MOST_CONFUSED]
    pairs = (divmod(int(place), max(len(ratings.names), 1)) for place in most)
    return [
        Confused(ratings.names[one], ratings.names[other], int(together[one, other]))
        for one, other in pairs
        if together[one, other]
    ]


def _table(
    ratings: Ratings, counts: Indices, first: str | None, second: str | None
) -> ConfusionTable:
    n_names = len(ratings.names)
    is_pair = first != second and first in ratings.experts and second in ratings.experts
    if is_pair:
        one, other = ratings.experts.index(first), ratings.experts.index(second)
        table = confusion(ratings.codes[:, one], ratings.codes[:, other], n_names)
    else:
        table = counts.T @ counts - np.diag(counts.sum(axis=0))
    n_of_name = table.sum(axis=0) + table.sum(axis=1)
    shown = [int(code) for code in np.argsort(-n_of_name, kind="stable") if n_of_name[code]]
    shown = shown[:_MOST_NAMES]
    return ConfusionTable(
        first if is_pair else None,
        second if is_pair else None,
        not is_pair,
        [ratings.names[code] for code in shown],
        table[np.ix_(shown, shown)].tolist(),
    )

"""Explanations of class decisions: the rows that unknown and recognised rows are compared with.

An unknown row is compared with the nearest rows of its closest class, to find the features that
separate it from that class. A recognised row is compared with the nearest rows of the class that
comes second, to find the features that decide between the two.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.open_set.classifier import Judgement, OpenSetClassifier
from kernova.errors import InputError
from kernova.explain.contributions import Novelty, NoveltyScale
from kernova.explain.tables import CANDIDATES_PER_ROW, Rows, most_ordinary, nearest_rows, picked
from kernova.explain.verdicts import Route, Standing, cannot_score
from kernova.typing import Indices, Mask, Matrix, Vector

UNKNOWN = "unknown"
# Memberships and probabilities below this count as zero.
_LEAST = 1e-300
# Claims are logarithms of ratios, and novelties bits, which need no rescaling.
CLAIM_SCALE = NoveltyScale(0.0, 1.0)
# An open-set classifier judges so many rows that are spread over a large reference, and so many of
# the nearest to each row: all would take longer than the explanation.
_SPREAD_ROWS, _NEAREST_ROWS = 2000, 100


class ClassVerdicts(Protocol):
    """The classes of some rows, and how far they are from each class."""

    @property
    def classes(self) -> Indices:
        """Code of the class of each row; -1 if it is of none."""

    def closest(self, row: int, nearest_first: Indices) -> int:
        """Return the class closest to a row, among the classes of some others."""

    def distance(self, code: int) -> Vector:
        """Return how far each row is from being a clear case of a class."""


class ClassComparison(NamedTuple):
    """The rows and classes that one row is compared with.

    ``own`` is the class of a recognised row, and the closest class of an unknown one. ``rival`` is
    the second class of a recognised row, and -1 for an unknown one.
    """

    nearest: Indices
    own: int
    rival: int


@dataclass(frozen=True)
class ClassJudge(ABC):
    """Scores rows by which of the known classes they are of, if any."""

    route: Route

    @property
    def description(self) -> Any:
        """The classifier at the end of the route."""
        return self.route.detector

    @abstractmethod
    def standing(self, X: Any) -> Standing:
        """Return the novelty of all rows of a table; outliers are those of no known class."""

    @abstractmethod
    def verdicts(self, X: Any) -> ClassVerdicts:
        """Return the classes of all rows."""

    @abstractmethod
    def supported(self, X: Any, own: Indices, rival: Indices) -> Vector:
        """Return how strongly rows support their verdicts: own before rival, or none of them."""

    def looked_at(self, points: Matrix, known_points: Matrix) -> Indices:
        """Return the rows of the reference among which rows to compare with are searched."""
        return np.arange(len(known_points))

    def points(self, X: Any) -> Matrix:
        """Return the rows on the scale of the classifier."""
        found: Matrix = self._scored(self.description.scaled, X)
        return found

    def _scored(self, score: Any, X: Any) -> Any:
        try:
            return score(self.route.transformed(X))
        except InputError:
            raise
        except ValueError as error:
            raise cannot_score(self.route.name, error) from error

    def label(self, code: int) -> Any:
        """Return the label of a class; -1 is no class."""
        return UNKNOWN if code < 0 else self.description.classes_.tolist()[code]

    def comparisons(
        self, table: Rows, reference: Rows, numbers: Indices, n_nearest: int
    ) -> list[ClassComparison]:
        """Choose the rows and classes that each row is compared with.

        The reference may be the table itself: a row is never of the class it is compared with.
        """
        chosen = picked(table, numbers)
        points, known_points = self.points(chosen), self.points(reference)
        among = self.looked_at(points, known_points)
        known, known_points = self.verdicts(picked(reference, among)), known_points[among]
        verdicts, known_classes = self.verdicts(chosen), known.classes
        found = []
        for i, own in enumerate(verdicts.classes.tolist()):
            is_other = known_classes >= 0
            if own >= 0:
                is_other &= known_classes != own
            others = np.flatnonzero(is_other)
            if len(others) == 0:
                raise _nothing_to_compare_with(self.label(own))
            order = nearest_rows(points[[i]], known_points[others], len(others), None)
            others = others[order]  # the nearest first
            other = verdicts.closest(i, known_classes[others])
            near = others[known_classes[others] == other][: CANDIDATES_PER_ROW * n_nearest]
            nearest = among[most_ordinary(near, known.distance(other), n_nearest)]
            pair = (own, other) if own >= 0 else (other, -1)
            found.append(ClassComparison(nearest, *pair))
        return found

    def support(self, comparisons: list[ClassComparison], numbers: Indices) -> Novelty:
        """Return the function that scores how strongly a row supports its class decision."""
        own = np.array([comparison.own for comparison in comparisons])
        rival = np.array([comparison.rival for comparison in comparisons])
        order = np.argsort(numbers)

        def support_of(X: Rows, row_numbers: Indices) -> Vector:
            which = order[np.searchsorted(numbers, row_numbers, sorter=order)]
            return self.supported(X, own[which], rival[which])

        return support_of

    def with_classes(
        self, explanation: pd.DataFrame, comparisons: list[ClassComparison]
    ) -> pd.DataFrame:
        """Add the class of each row, and the class that it was compared with."""
        n_features = len(explanation) // len(comparisons)
        verdicts = [self.label(one.own if one.rival >= 0 else -1) for one in comparisons]
        compared = [self.label(one.rival if one.rival >= 0 else one.own) for one in comparisons]
        return explanation.assign(
            verdict=[label for label in verdicts for _ in range(n_features)],
            compared_with=[label for label in compared for _ in range(n_features)],
        )


def class_judge(route: Route) -> ClassJudge | None:
    """Return the judge of a classifier that also rejects rows; None for any other model."""
    if isinstance(route.detector, MulticlassDataDescription):
        return MembershipJudge(route)
    return ProbabilityJudge(route) if isinstance(route.detector, OpenSetClassifier) else None


# --- memberships (MDD-KM) ----------------------------------------------------------------------


class Claims(NamedTuple):
    """Membership q_c of each row in each class, and log(q_c / threshold_c): claimed from 0 on."""

    membership: Matrix
    strength: Matrix

    @property
    def classes(self) -> Indices:
        """Code of the best class that claims each row; -1 if none does."""
        is_claimed = self.strength >= 0
        best = np.where(is_claimed, self.membership, -1.0).argmax(axis=1)
        return np.where(is_claimed.any(axis=1), best, -1)

    def closest(self, row: int, nearest_first: Indices) -> int:
        """Return the class that claims a row most, among the classes of the reference rows."""
        present = np.unique(nearest_first)
        if self.membership[row, present].max() <= _LEAST:  # too far for memberships to differ
            return int(nearest_first[0])
        return int(present[self.strength[row, present].argmax()])

    def distance(self, code: int) -> Vector:
        """Return how weakly a class claims each row."""
        return -self.strength[:, code]


@dataclass(frozen=True)
class MembershipJudge(ClassJudge):
    """Scores rows by how strongly known classes claim them."""

    def verdicts(self, X: Any) -> Claims:
        """Return the claims of all classes on all rows."""
        rows = self.points(X)
        n_classes = len(self.description.classes_)
        membership = np.column_stack([self._membership(rows, c) for c in range(n_classes)])
        return Claims(
            membership,
            np.column_stack(
                [self._strength(of_class, c) for c, of_class in enumerate(membership.T)]
            ),
        )

    def _membership(self, points: Matrix, code: int) -> Vector:
        return np.asarray(self.description.class_descriptions_[code].membership(points))

    def _strength(self, membership: Vector, code: int) -> Vector:
        threshold = max(float(self.description.thresholds_[code]), _LEAST)
        return np.asarray(np.log(np.maximum(membership, _LEAST)) - np.log(threshold))

    def standing(self, X: Any) -> Standing:
        """Return the novelty of all rows of a table; outliers are those that no class claims."""
        novelty = -self.verdicts(X).strength.max(axis=1)
        return Standing(novelty, novelty > 0)

    def supported(self, X: Any, own: Indices, rival: Indices) -> Vector:
        """Return the claim of the own class over that of the rival, or how weak the only one is."""
        points, support = self.points(X), np.zeros(len(own))
        for side, sign in ((own, np.where(rival < 0, -1.0, 1.0)), (rival, np.full(len(own), -1.0))):
            for code in np.unique(side[side >= 0]):
                inside = side == code
                strength = self._strength(self._membership(points[inside], code), code)
                support[inside] += sign[inside] * strength
        return support


# --- probabilities (open-set classifier) -------------------------------------------------------


class Probabilities(NamedTuple):
    """Logarithms of the probabilities of classes, and whether each row is of none."""

    log_probabilities: Matrix
    novelty: Vector
    is_unknown: Mask

    @property
    def classes(self) -> Indices:
        """Code of the most probable class of each row; -1 if it is unknown."""
        return np.where(self.is_unknown, -1, self.log_probabilities.argmax(axis=1))

    def closest(self, row: int, nearest_first: Indices) -> int:
        """Return the most probable class of a row, among the classes of the reference rows."""
        present = np.unique(nearest_first)
        return int(present[self.log_probabilities[row, present].argmax()])

    def distance(self, code: int) -> Vector:
        """Return how novel each row is; rows of a class are compared by this alone."""
        return self.novelty


@dataclass(frozen=True)
class ProbabilityJudge(ClassJudge):
    """Scores rows by the probabilities of classes, and by how novel they are to all of them."""

    def _judgement(self, X: Any) -> Judgement:
        found: Judgement = self._scored(self.description.judge, X)
        return found

    def verdicts(self, X: Any) -> Probabilities:
        """Return the probabilities of all classes for all rows."""
        judgement = self._judgement(X)
        is_unknown = judgement.is_unknown(self.description.reject)
        return Probabilities(judgement.log_probabilities, judgement.novelty, is_unknown)

    def standing(self, X: Any) -> Standing:
        """Return the novelty of all rows of a table; outliers are those called unknown."""
        found = self.verdicts(X)
        return Standing(found.novelty, found.is_unknown)

    def supported(self, X: Any, own: Indices, rival: Indices) -> Vector:
        """Return log P(own) - log P(rival), or the novelty of rows that are of no class."""
        judgement, rows = self._judgement(X), np.arange(len(own))
        log_p = np.maximum(judgement.log_probabilities, np.log(_LEAST))
        between = log_p[rows, own] - log_p[rows, rival]
        return np.where(rival < 0, judgement.novelty, between)

    def looked_at(self, points: Matrix, known_points: Matrix) -> Indices:
        """Return the rows nearest to each row, and others spread over a large reference."""
        n_known = len(known_points)
        if n_known <= _SPREAD_ROWS:
            return np.arange(n_known)
        spread = np.linspace(0, n_known, _SPREAD_ROWS, endpoint=False).astype(np.intp)
        near = [nearest_rows(point[None], known_points, _NEAREST_ROWS, None) for point in points]
        return np.unique(np.concatenate([spread, *near]))


class NothingToCompareWithError(InputError):
    """No row of the reference is of a known class other than the row's own."""


def _nothing_to_compare_with(own: Any) -> NothingToCompareWithError:
    if own == UNKNOWN:
        found = "no row is of a known class"
    else:
        found = f"no row is of another class than {own}"
    return NothingToCompareWithError(
        f"There is nothing to compare with: {found}. Pass the rows that the model was fitted on "
        "as known."
    )

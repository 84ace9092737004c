"""Explanations of class decisions: the rows that unknown and recognised rows are compared with.

An unknown row is compared with the nearest rows of its closest class, to find the features that
separate it from that class. A recognised row is compared with the nearest rows of the class that
comes second, to find the features that decide between the two.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.description.multiclass import MulticlassDataDescription
from kernova.errors import InputError
from kernova.explain.contributions import Novelty, NoveltyScale
from kernova.explain.tables import CANDIDATES_PER_ROW, Rows, most_ordinary, nearest_rows, picked
from kernova.explain.verdicts import Route, Standing, cannot_score
from kernova.typing import Indices, Matrix, Vector

UNKNOWN = "unknown"
# Memberships below this count as zero.
_LEAST = 1e-300
# Claims are logarithms of ratios, which need no rescaling.
CLAIM_SCALE = NoveltyScale(0.0, 1.0)


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


class ClassComparison(NamedTuple):
    """The rows and classes that one row is compared with.

    ``own`` is the class of a recognised row, and the closest class of an unknown one. ``rival`` is
    the second class of a recognised row, and -1 for an unknown one.
    """

    nearest: Indices
    own: int
    rival: int


@dataclass(frozen=True)
class ClassJudge:
    """Scores rows by how strongly known classes claim them."""

    route: Route

    @property
    def description(self) -> MulticlassDataDescription:
        """The description at the end of the route."""
        found: MulticlassDataDescription = self.route.detector
        return found

    def claims(self, X: Any) -> Claims:
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
        novelty = -self.claims(X).strength.max(axis=1)
        return Standing(novelty, novelty > 0)

    def points(self, X: Any) -> Matrix:
        """Return the rows on the scale of the description."""
        try:
            return self.description.scaled(self.route.transformed(X))
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
        known, known_points = self.claims(reference), self.points(reference)
        known_classes = known.classes
        chosen = picked(table, numbers)
        claims, points = self.claims(chosen), self.points(chosen)
        found = []
        for i, own in enumerate(claims.classes.tolist()):
            is_other = known_classes >= 0
            if own >= 0:
                is_other &= known_classes != own
            others = np.flatnonzero(is_other)
            if len(others) == 0:
                raise _nothing_to_compare_with(self.label(own))
            order = nearest_rows(points[[i]], known_points[others], len(others), None)
            others = others[order]  # the nearest first
            other = _closest_class(claims.membership[i], claims.strength[i], known_classes[others])
            near = others[known_classes[others] == other][: CANDIDATES_PER_ROW * n_nearest]
            nearest = most_ordinary(near, -known.strength[:, other], n_nearest)
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
            points, support = self.points(X), np.zeros(len(which))
            for side, sign in ((own, np.where(rival < 0, -1.0, 1.0)), (rival, -1.0 + 0 * rival)):
                for code in np.unique(side[which]):
                    if code < 0:
                        continue
                    inside = side[which] == code
                    strength = self._strength(self._membership(points[inside], code), code)
                    support[inside] += sign[which[inside]] * strength
            return support

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


def _closest_class(membership: Vector, strength: Vector, nearest_first: Indices) -> int:
    """Return the class that claims a row most, among the classes of the reference rows."""
    present = np.unique(nearest_first)
    if membership[present].max() <= _LEAST:  # too far away for memberships to differ
        return int(nearest_first[0])
    return int(present[strength[present].argmax()])


def _nothing_to_compare_with(own: Any) -> InputError:
    if own == UNKNOWN:
        found = "no row is of a known class"
    else:
        found = f"no row is of another class than {own}"
    return InputError(
        f"There is nothing to compare with: {found}. Pass the rows that the model was fitted on "
        "as known."
    )

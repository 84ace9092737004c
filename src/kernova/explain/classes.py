"""Why this class, why unknown: what is compared with what for a description of classes.

An unknown row is compared with the nearest rows of the class that explains it best: which
features take it away from that class? A recognised row is compared with the nearest rows of the
class that comes second: which features make it the one and not the other?
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.description.multiclass import MulticlassDataDescription
from kernova.errors import InputError
from kernova.explain.contributions import Novelty, NoveltyScale
from kernova.explain.tables import CANDIDATES_PER_ROW, Rows, most_ordinary, nearest_rows, picked
from kernova.explain.verdicts import Route, Standing
from kernova.typing import Indices, Matrix, Vector

UNKNOWN = "unknown"
# Memberships below this are all equally none.
_LEAST = 1e-300
# Claims are logarithms of ratios, which need no other unit.
CLAIM_SCALE = NoveltyScale(0.0, 1.0)


class Claims(NamedTuple):
    """How much of each row each class explains, and log(q_c / threshold_c): claimed from 0 on."""

    membership: Matrix
    strength: Matrix

    @property
    def classes(self) -> Indices:
        """Of the classes that claim a row, the one that explains it best; -1 if none does."""
        is_claimed = self.strength >= 0
        best = np.where(is_claimed, self.membership, -1.0).argmax(axis=1)
        return np.where(is_claimed.any(axis=1), best, -1)


class ClassQuestion(NamedTuple):
    """What one row is compared with.

    ``own`` is the class whose claim is looked at: of a recognised row its own, of an unknown one
    the closest. ``rival`` is the class that a recognised row is told from, and -1 for others.
    """

    nearest: Indices
    own: int
    rival: int


@dataclass(frozen=True)
class ClassJudge:
    """Judges rows by how strongly known classes claim them."""

    route: Route

    @property
    def description(self) -> MulticlassDataDescription:
        """The description that the rows end in."""
        found: MulticlassDataDescription = self.route.detector
        return found

    def claims(self, X: Any) -> Claims:
        """Ask all classes about all rows."""
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
        return np.asarray(self.description._classes[code].description.membership(points))

    def _strength(self, membership: Vector, code: int) -> Vector:
        threshold = max(float(self.description.thresholds_[code]), _LEAST)
        return np.asarray(np.log(np.maximum(membership, _LEAST)) - np.log(threshold))

    def standing(self, X: Any) -> Standing:
        """Judge all rows of a table: outliers are those that no class claims."""
        novelty = -self.claims(X).strength.max(axis=1)
        return Standing(novelty, novelty > 0)

    def points(self, X: Any) -> Matrix:
        """Give the rows as the description compares them."""
        try:
            return self.description._scaled(self.route.transformed(X))
        except InputError:
            raise
        except ValueError as error:
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise InputError(f"{self.route.name} cannot score these rows: {reason}.") from error

    def name(self, code: int) -> Any:
        """Give a class's name; -1 is no class."""
        return UNKNOWN if code < 0 else self.description.classes_.tolist()[code]

    def questions(
        self, table: Rows, reference: Rows, numbers: Indices, n_nearest: int
    ) -> list[ClassQuestion]:
        """Decide what each row is compared with.

        The reference may be the table itself: a row is never of the class it is compared with.
        """
        known, known_points = self.claims(reference), self.points(reference)
        known_classes = known.classes
        chosen = picked(table, numbers)
        claims, points = self.claims(chosen), self.points(chosen)
        questions = []
        for i, own in enumerate(claims.classes.tolist()):
            is_there = known_classes >= 0
            if own >= 0:
                is_there &= known_classes != own
            places = np.flatnonzero(is_there)
            if len(places) == 0:
                raise _nothing_to_compare_with(self.name(own))
            there = nearest_rows(points[[i]], known_points[places], len(places), None)
            places = places[there]  # the nearest first
            other = _closest_class(claims.membership[i], claims.strength[i], known_classes[places])
            near = places[known_classes[places] == other][: CANDIDATES_PER_ROW * n_nearest]
            nearest = most_ordinary(near, -known.strength[:, other], n_nearest)
            pair = (own, other) if own >= 0 else (other, -1)
            questions.append(ClassQuestion(nearest, *pair))
        return questions

    def answer(self, questions: list[ClassQuestion], numbers: Indices) -> Novelty:
        """Give what is shared out among features: how much speaks for what the row is called."""
        own = np.array([question.own for question in questions])
        rival = np.array([question.rival for question in questions])
        order = np.argsort(numbers)

        def speaks_for_verdict(X: Rows, row_numbers: Indices) -> Vector:
            which = order[np.searchsorted(numbers, row_numbers, sorter=order)]
            points, spoken = self.points(X), np.zeros(len(which))
            for side, sign in ((own, np.where(rival < 0, -1.0, 1.0)), (rival, -1.0 + 0 * rival)):
                for code in np.unique(side[which]):
                    if code < 0:
                        continue
                    inside = side[which] == code
                    strength = self._strength(self._membership(points[inside], code), code)
                    spoken[inside] += sign[which[inside]] * strength
            return spoken

        return speaks_for_verdict

    def named(self, answer: pd.DataFrame, questions: list[ClassQuestion]) -> pd.DataFrame:
        """Add what each row is called, and the class that it was compared with."""
        n_features = len(answer) // len(questions)
        called = [self.name(one.own if one.rival >= 0 else -1) for one in questions]
        compared = [self.name(one.rival if one.rival >= 0 else one.own) for one in questions]
        return answer.assign(
            verdict=[name for name in called for _ in range(n_features)],
            compared_with=[name for name in compared for _ in range(n_features)],
        )


def _closest_class(membership: Vector, strength: Vector, nearest_first: Indices) -> int:
    """Choose the class that claims a row most, of those that there are rows of."""
    there = np.unique(nearest_first)
    if membership[there].max() <= _LEAST:  # too far away to be told apart by what they explain
        return int(nearest_first[0])
    return int(there[strength[there].argmax()])


def _nothing_to_compare_with(own: Any) -> InputError:
    if own == UNKNOWN:
        found = "no row looked at is of a known class"
    else:
        found = f"no row looked at is of another class than {own}"
    return InputError(
        f"There is nothing to compare with: {found}. Give the rows that the model was fitted on "
        "as known."
    )

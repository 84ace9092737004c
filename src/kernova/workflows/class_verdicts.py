"""Verdicts on new rows: a class or "unknown", with probabilities or with memberships.

Models of the open-set classifier give probabilities; models of the published method (MDD-KM), and
of earlier versions, give memberships. Both have the same interface here.
"""

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.open_set.classifier import Judgement, OpenSetClassifier
from kernova.description.recognizer import TableRecognizer
from kernova.errors import InputError
from kernova.text import percent, plural, quantity
from kernova.typing import Mask, Matrix, Vector
from kernova.workflows.learn import check_reject
from kernova.workflows.verdicts import UNKNOWN

# Rows whose best class is less probable than this are listed as uncertain.
CERTAIN: Final = 0.9
_RANKED: Final = 3
_LEAST_RATE: Final = 1e-4  # rates below this are not told apart
_NOT_HELD_OUT: Final = (
    f"No training row could be held out, so that the fraction of known rows that would be called "
    f"{UNKNOWN} is not known."
)


@dataclass(frozen=True)
class RowVerdicts(ABC):
    """The class of every row, or "unknown", by one model."""

    model: TableRecognizer
    measure: ClassVar[str]  # what the closeness to a class is called

    @property
    @abstractmethod
    def recognized(self) -> NDArray[np.str_]:
        """The class of each row, or "unknown"."""

    @property
    @abstractmethod
    def closeness(self) -> Matrix:
        """How close each row is to each class; high is close."""

    @property
    @abstractmethod
    def novelty(self) -> Vector:
        """How far each row is from all classes; high is far."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Return the columns of the result that say how sure the verdict is."""

    def class_columns(self) -> dict[str, Any]:
        """Return a column of the result for each class."""
        columns = zip(self.names, self.closeness.T, strict=True)
        return {f"{self.measure}_{name}": of_class for name, of_class in columns}

    @property
    @abstractmethod
    def expected_unknown(self) -> float:
        """Fraction of rows of known classes that is called unknown, by rows held out."""

    @property
    @abstractmethod
    def aside(self) -> str:
        """A remark on the recognised rows, in brackets; may be empty."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """Return what is to be expected of the verdicts."""

    @property
    def said_little(self) -> list[str]:
        """Columns that say little of unknown rows."""
        return ["recognized", *self.class_columns()]

    @property
    def names(self) -> list[str]:
        """The known classes."""
        return [str(name) for name in self.model.classes_]

    @property
    def is_unknown(self) -> Mask:
        """Mask of the rows that are of no known class."""
        return np.asarray(self.recognized == UNKNOWN)

    def by_class(self) -> pd.DataFrame:
        """Count the rows of each verdict."""
        verdicts = [*self.names, UNKNOWN]
        counts = pd.Series(self.recognized).value_counts()
        rows = [int(counts.get(name, 0)) for name in verdicts]
        return pd.DataFrame({"recognized": verdicts, "rows": rows}).assign(**self._by_class())

    @abstractmethod
    def _by_class(self) -> dict[str, list[Any]]:
        """Return further columns of the counts, "unknown" last."""

    def summary(self) -> str:
        """Return one sentence: how many rows are recognised, and how many are unknown."""
        n_rows, n_unknown = len(self.recognized), int(self.is_unknown.sum())
        known = self.names[0] if len(self.names) == 1 else f"one of {len(self.names)} classes"
        return (
            f"Of {quantity(n_rows, 'new row')}, {n_rows - n_unknown:,} recognised as "
            f"{known}{self.aside}, {n_unknown:,} {UNKNOWN}."
        )


def verdicts_on(model: TableRecognizer, features: pd.DataFrame) -> RowVerdicts:
    """Judge rows with the columns of the model."""
    if model.is_published_method:
        log_membership = model.description_.log_membership(model.encoded(features))
        return MembershipVerdicts(model, log_membership)
    return ProbabilityVerdicts(model, model.judge(features))


def model_at(model: TableRecognizer, reject: float | None) -> TableRecognizer:
    """Return the model with another rate of rejection; None leaves it as it is."""
    if reject is None:
        return model
    check_reject(reject)
    if model.is_published_method:
        if reject == model.description_.reject:
            return model
        raise InputError(
            f"This model was learnt by the published method, mddkm, with reject="
            f"{model.description_.reject:g}, which its thresholds depend on. Learn it again with "
            "another reject, or with the method open-set, which takes any."
        )
    changed = copy.copy(model)
    changed.description_ = copy.copy(model.description_)
    changed.description_.reject = reject
    return changed


# --- probabilities -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ProbabilityVerdicts(RowVerdicts):
    """Verdicts of an open-set classifier."""

    judgement: Judgement
    measure = "probability"

    @property
    def classifier(self) -> OpenSetClassifier:
        """The classifier that judged the rows."""
        found = self.model.description_
        assert isinstance(found, OpenSetClassifier)
        return found

    @cached_property
    def recognized(self) -> NDArray[np.str_]:
        """The most probable class of each row, or "unknown"."""
        names = np.array([*self.names, UNKNOWN])
        is_unknown = self.judgement.is_unknown(self.classifier.reject)
        return names[np.where(is_unknown, len(names) - 1, self.judgement.best)]

    @cached_property
    def probabilities(self) -> Matrix:
        """Probability of each class, given that a row is of one of them."""
        return np.exp(self.judgement.log_probabilities)

    @property
    def closeness(self) -> Matrix:
        """Probability of each class."""
        return self.probabilities

    @property
    def novelty(self) -> Vector:
        """Novelty of each row, in bits."""
        return self.judgement.novelty

    @cached_property
    def probability(self) -> Vector:
        """Probability of the best class."""
        return np.asarray(self.probabilities.max(axis=1))

    @property
    def is_uncertain(self) -> Mask:
        """Mask of the recognised rows whose class is not clearly the most probable one."""
        return ~self.is_unknown & (self.probability < CERTAIN)

    def columns(self) -> dict[str, Any]:
        """Return probability, p-value, margin, ranking, and what would change the verdict."""
        first = self._first()
        p = np.take_along_axis(self.probabilities, first, axis=1)
        margin = p[:, 0] - p[:, 1] if p.shape[1] > 1 else np.ones(len(p))
        names = self.names
        ranking = [
            ", ".join(f"{names[code]} {_rounded(of)}" for code, of in zip(*line, strict=True))
            for line in zip(first.tolist(), p.tolist(), strict=True)
        ]
        return {
            "recognized": self.recognized,
            "probability": self.probability,
            "none": self.judgement.none,
            "p_value": self.judgement.p_values,
            "margin": margin,
            "ranking": ranking,
            "would_change": self._changes(first, p),
        }

    def _first(self) -> NDArray[np.intp]:
        """Return the most probable classes of each row, the first ones in order."""
        order = np.argsort(-self.judgement.log_probabilities, axis=1, kind="stable")
        return order[:, :_RANKED]

    def _changes(self, first: NDArray[np.intp], p: Matrix) -> list[str]:
        """Return what each row would be at other rates of rejection, and the class after that."""
        names, reject = self.names, self.classifier.reject
        lines = zip(
            self.is_unknown.tolist(), self.judgement.p_values.tolist(), first.tolist(), p.tolist(),
            strict=True,
        )  # fmt: skip
        texts = []
        for is_unknown, p_value, codes, of in lines:
            best = names[codes[0]]
            if not is_unknown:
                runner_up = f"{names[codes[1]]} ({_rounded(of[1])})" if len(codes) > 1 else ""
                texts.append(_if_known(p_value, runner_up))
            elif p_value > reject:
                texts.append(f"{best} without the rows that are known not to be it")
            else:
                texts.append(_if_unknown(p_value, best))
        return texts

    @property
    def said_little(self) -> list[str]:
        """Columns that say little of unknown rows."""
        return [*super().said_little, "probability", "none", "margin", "ranking"]

    @property
    def expected_unknown(self) -> float:
        """Fraction of the training rows called unknown by models without them; NaN if none."""
        tested = self.classifier.cross_validated_
        judged = tested.is_judged
        if not judged.any():
            return math.nan
        is_unknown = tested.judgement.is_unknown(self.classifier.reject)
        return float(np.average(is_unknown[judged], weights=tested.weights[judged]))

    @property
    def aside(self) -> str:
        """How many of the recognised rows are uncertain."""
        return f" ({int(self.is_uncertain.sum()):,} with a probability below {CERTAIN})"

    @property
    def expected_right(self) -> float:
        """Number of recognised rows that are right, if all are of known classes."""
        return float(self.probability[~self.is_unknown].sum())

    def sentences(self) -> list[str]:
        """Return how many rows should be right, and how many unknown, if all classes are known."""
        n_rows, n_known = len(self.recognized), int((~self.is_unknown).sum())
        fraction = self.expected_unknown
        if math.isnan(fraction):
            return [_NOT_HELD_OUT]
        unknown = (
            f"If all were of known classes, about {fraction * n_rows:,.1f} would be {UNKNOWN}"
            f": {percent(fraction, '.1f')} of the training rows are when held out"
        )
        if not n_known:
            return [f"{unknown}."]
        right = f"{self.expected_right:,.{0 if n_known >= 100 else 1}f}"
        of_rows = f"about {right} of {quantity(n_known, 'recognised row')} would be right"
        by = plural(n_known, "its probability", "their probabilities")
        return [f"{unknown}; {of_rows}, by {by}."]

    def _by_class(self) -> dict[str, list[Any]]:
        uncertain = pd.Series(self.recognized[self.is_uncertain]).value_counts()
        sums = pd.Series(self.probability).groupby(self.recognized).sum()
        return {
            "uncertain": [int(uncertain.get(name, 0)) for name in [*self.names, UNKNOWN]],
            "expected_right": [*(float(sums.get(name, 0)) for name in self.names), math.nan],
        }


def _rounded(probability: float) -> str:
    """Return a probability with two digits; only 1 itself is written as 1.

    Examples
    --------
    >>> _rounded(0.71), _rounded(0.9999), _rounded(1.0), _rounded(0.0001)
    ('0.71', '>0.99', '1.00', '<0.01')
    """
    if 0.995 <= probability < 1:
        return ">0.99"
    return "<0.01" if 0 < probability < 0.005 else f"{probability:.2f}"


def _if_known(p_value: float, runner_up: str) -> str:
    """Return from which rate on a recognised row is unknown, and which class comes second.

    Examples
    --------
    >>> _if_known(0.31244, "pike (0.20)"), _if_known(1.0, "pike (0.20)")
    ('unknown if reject is 0.313 or more; second is pike (0.20)', 'second is pike (0.20)')
    """
    rate = _three_digits(max(p_value, _LEAST_RATE), math.ceil)
    parts = [f"unknown if reject is {rate} or more"] if float(rate) < 1 else []
    return "; ".join([*parts, *([f"second is {runner_up}"] if runner_up else [])])


def _if_unknown(p_value: float, best: str) -> str:
    """Return below which rate an unknown row has a class.

    Examples
    --------
    >>> _if_unknown(0.01239, "pike"), _if_unknown(1e-9, "pike")
    ('pike if reject is below 0.0123', 'pike only if reject is 0')
    """
    if p_value < _LEAST_RATE:
        return f"{best} only if reject is 0"
    return f"{best} if reject is below {_three_digits(p_value, math.floor)}"


def _three_digits(fraction: float, rounding: Any) -> str:
    """Return a fraction with three digits, so rounded that the sentence stays true."""
    places = 2 - math.floor(math.log10(fraction))
    # A number of three digits is not moved on by its last binary digit.
    return f"{rounding(round(fraction * 10**places, 6)) / 10**places:.3g}"


# --- memberships (MDD-KM) ----------------------------------------------------------------------


@dataclass(frozen=True)
class MembershipVerdicts(RowVerdicts):
    """Verdicts of a description of classes, as published, or by a model of an earlier version."""

    log_membership: Matrix
    measure = "membership"

    @property
    def description(self) -> MulticlassDataDescription:
        """The description that judged the rows."""
        found = self.model.description_
        assert isinstance(found, MulticlassDataDescription)
        return found

    @cached_property
    def membership(self) -> Matrix:
        """Membership of each row in each class."""
        return np.exp(self.log_membership)

    @cached_property
    def recognized(self) -> NDArray[np.str_]:
        """The best class that claims each row, or "unknown"."""
        claims = self.membership >= self.description.thresholds_
        best = np.where(claims, self.log_membership, -np.inf).argmax(axis=1)
        names = np.array([*self.names, UNKNOWN])
        return names[np.where(claims.any(axis=1), best, len(names) - 1)]

    @property
    def closeness(self) -> Matrix:
        """Membership of each row in each class."""
        return self.membership

    @property
    def novelty(self) -> Vector:
        """The negated membership in the best class."""
        return -self.membership.max(axis=1)

    @cached_property
    def is_ambiguous(self) -> Mask:
        """Mask of the rows that several classes claim."""
        return np.asarray(self.model.is_ambiguous(self.log_membership))

    def columns(self) -> dict[str, Any]:
        """Return the largest membership, and whether several classes claim a row."""
        return {
            "recognized": self.recognized,
            "membership": self.membership.max(axis=1),
            "ambiguous": self.is_ambiguous,
        }

    @property
    def said_little(self) -> list[str]:
        """Columns that say little of unknown rows."""
        return [*super().said_little, "ambiguous"]

    @property
    def expected_unknown(self) -> float:
        """Fraction of the training rows that no class claims when they are left out."""
        is_claimed = (self.model.left_out_ >= self.description.thresholds_).any(axis=1)
        return float(1 - is_claimed.mean())

    @property
    def aside(self) -> str:
        """How many of the recognised rows are ambiguous."""
        return f" ({int(self.is_ambiguous.sum()):,} ambiguously)"

    def sentences(self) -> list[str]:
        """Return how many rows should be unknown if all classes are known."""
        fraction, n_rows = self.expected_unknown, len(self.recognized)
        return [
            f"If all were of known classes, about {fraction * n_rows:,.1f} would be {UNKNOWN}: "
            f"{percent(fraction, '.1f')} of the training rows are when left out."
        ]

    def _by_class(self) -> dict[str, list[Any]]:
        ambiguous = pd.Series(self.recognized[self.is_ambiguous]).value_counts()
        return {"ambiguous": [int(ambiguous.get(name, 0)) for name in [*self.names, UNKNOWN]]}

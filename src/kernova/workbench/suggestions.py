"""Precision of suggested categories: how many are right above a probability, and what is promised.

The evidence is the labelled rows, each judged by a model that was learnt without it. They are few,
and not a sample of the table: they were asked about because they are strange or doubtful, so they
are harder than most other rows. Therefore nothing is corrected for class frequencies: a strategy
that chooses rows by their columns leaves the probability of a category, given the columns, as it
is (docs/decisions/031).
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from kernova.typing import Indices, Mask, Vector

# Half widths of normal intervals that hold 95 % and three quarters.
_SHOWN_Z: Final = 1.96
_PROMISED_Z: Final = 1.15
# Inverse variance, halved, of the normal prior on intercept and log slope.
_PRIOR: Final = 0.5
# Answers that the calibrated probability counts as much as, and how much more often than answers
# unlabelled rows must be above a threshold.
_TRUST: Final = 5.0
# Fewer answers in all do not show whether the model's own probabilities may be trusted.
_ENOUGH_ANSWERS: Final = 50
_SURER: Final = 1.25
_SMALLEST: Final = 1e-6


class Interval(NamedTuple):
    """A fraction, and the interval that it is likely in."""

    estimate: float
    low: float
    high: float


def wilson_interval(n_right: float, n_all: float, z: float = _SHOWN_Z) -> Interval:
    """Return a fraction with its Wilson score interval; without any trial it is from 0 to 1.

    Examples
    --------
    >>> from kernova.workbench.suggestions import wilson_interval
    >>> [round(float(value), 3) for value in wilson_interval(9, 10)]
    [0.9, 0.596, 0.982]
    """
    if n_all <= 0:
        return Interval(float("nan"), 0.0, 1.0)
    low, high = _wilson(np.array([n_right]), np.array([n_all]), z)
    return Interval(n_right / n_all, float(low[0]), float(high[0]))


def _wilson(n_right: Vector, n_all: Vector, z: float) -> tuple[Vector, Vector]:
    n = np.maximum(n_all, _SMALLEST)
    p = n_right / n
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(np.maximum(p * (1 - p), 0) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return np.maximum((middle - half) / scale, 0.0), np.minimum((middle + half) / scale, 1.0)


class HeldOutAnswers(NamedTuple):
    """Labelled rows, each with the suggestion of a model that was learnt without it."""

    #: Probability of the suggested category; 0 if the row was called unknown.
    probability: Vector
    #: Position of the suggested category.
    suggested: Indices
    #: Whether it was right. The only row of a category cannot be: others like it will be met, too.
    is_right: Mask
    #: Weights; rows that were labelled in one step count as one answer.
    weights: Vector

    def of(self, category: int | None) -> "HeldOutAnswers":
        """Return the rows for which a category was suggested; all for None."""
        if category is None:
            return self
        return self.at(np.flatnonzero(self.suggested == category))

    def at(self, places: Indices) -> "HeldOutAnswers":
        """Return the rows at some places, in their order."""
        return HeldOutAnswers(
            self.probability[places],
            self.suggested[places],
            self.is_right[places],
            self.weights[places],
        )


class PrecisionAt(NamedTuple):
    """What is known of the suggestions from a probability on."""

    threshold: float
    rows: Annotated[int, "Number of unlabelled rows with a suggestion of at least this."]
    precision: float
    low: float
    high: float
    answers: float
    promised: float


class Precision:
    """Precision of the suggestions from any probability on, estimated from held-out answers.

    The *promise* at a threshold is the larger of

    * what cross-validation shows: the lower end of the interval that holds the precision of the
      held-out answers above the threshold three times out of four, and
    * the precision of these answers together with the calibrated probability of a row at the
      threshold, which counts as much as five answers. This holds only from 50 answers on, and if
      unlabelled rows are above the threshold clearly more often than answers are. Otherwise the
      answers are not the harder rows, and what they show may be too good.

    The promise is not smaller at a higher threshold.

    Parameters
    ----------
    held_out : HeldOutAnswers
        Labelled rows with cross-validated suggestions.
    probability : ndarray
        Probabilities of the suggestions for unlabelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.suggestions import Precision, HeldOutAnswers
    >>> p = np.linspace(0.3, 0.99, 40)
    >>> held_out = HeldOutAnswers(p, np.zeros(40, dtype=int), p > 0.5, np.ones(40))
    >>> precision = Precision(held_out, np.linspace(0, 1, 101))
    >>> precision.at(0.8).rows, precision.at(0.8).answers
    (21, 11.0)
    >>> round(precision.threshold_for(0.9), 2)
    0.5
    """

    def __init__(self, held_out: HeldOutAnswers, probability: Vector) -> None:
        self._probability = np.sort(probability)
        self._held_out = held_out.at(np.argsort(held_out.probability, kind="stable"))
        weights, right = self._held_out.weights, self._held_out.weights * self._held_out.is_right
        # Totals over this row and all with a higher probability.
        self._n_above = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        self._right_above = np.append(np.cumsum(right[::-1])[::-1], 0.0)
        self._calibration = _calibration(self._held_out)
        # From each probability, of answers and of unlabelled rows, up to certainty.
        self._steps = np.unique(np.concatenate([self._held_out.probability, self._probability]))
        self._promises = np.maximum.accumulate(self._promises_at(self._steps))

    def _promises_at(self, thresholds: Vector) -> Vector:
        """Return the promise from each threshold on, by the rows above it alone."""
        place = self._place(thresholds)
        n_above, right_above = self._n_above[place], self._right_above[place]
        shown = _wilson(right_above, n_above, _PROMISED_Z)[0]
        trusted = _TRUST * self.calibrated(thresholds)
        together = (trusted + right_above) / (_TRUST + n_above)
        n_rows = len(self._probability) - np.searchsorted(self._probability, thresholds)
        share_of_rows = n_rows / max(len(self._probability), 1)
        share_of_answers = n_above / max(float(self._n_above[0]), _SMALLEST)
        is_harder = share_of_rows >= _SURER * share_of_answers
        # The model alone, with next to no answers to test it, promises nothing.
        is_tested = (n_above >= _TRUST) & (self._n_above[0] >= _ENOUGH_ANSWERS)
        return np.maximum(shown, np.where(is_harder & is_tested, together, 0.0))

    def calibrated(self, probability: Vector) -> Vector:
        """Return how probable suggestions are right, by the held-out answers."""
        intercept, slope = self._calibration
        return np.asarray(expit(intercept + slope * _logit(probability)))

    def promised(self, thresholds: Vector) -> Vector:
        """Return the precision that is promised from each threshold on."""
        before = np.searchsorted(self._steps, thresholds, side="right") - 1
        return np.where(before < 0, 0.0, self._promises[np.maximum(before, 0)])

    def at(self, threshold: float) -> PrecisionAt:
        """Return what is known of the suggestions from a probability on."""
        place = int(self._place(np.array([threshold]))[0])
        n_answers = float(self._n_above[place])
        found = wilson_interval(float(self._right_above[place]), n_answers)
        n_rows = len(self._probability) - np.searchsorted(self._probability, threshold)
        return PrecisionAt(
            threshold, int(n_rows), *found, n_answers,
            float(self.promised(np.array([threshold]))[0]),
        )  # fmt: skip

    def threshold_for(self, precision: float) -> float | None:
        """Return the lowest threshold at which a precision is promised; None if there is none."""
        candidates = np.unique(self._probability)
        is_promised = self.promised(candidates) >= precision
        return float(candidates[np.argmax(is_promised)]) if is_promised.any() else None

    def _place(self, thresholds: Vector) -> Indices:
        return np.searchsorted(self._held_out.probability, thresholds, side="left")


def _logit(probability: Vector) -> Vector:
    return np.asarray(logit(np.clip(probability, _SMALLEST, 1 - _SMALLEST)))


def _calibration(held_out: HeldOutAnswers) -> tuple[float, float]:
    """Return intercept and slope of the logistic regression of "right" on the log odds.

    A normal prior keeps them near 0 and 1, the probabilities as they are, as long as there are
    few answers.
    """
    odds, right, weights = _logit(held_out.probability), held_out.is_right, held_out.weights

    def loss(parameters: Vector) -> tuple[float, Vector]:
        intercept, slope = parameters[0], np.exp(parameters[1])
        score = intercept + slope * odds
        error = weights * (expit(score) - right)
        value = weights @ (np.logaddexp(0, score) - right * score)
        gradient = np.array([error.sum(), slope * (error @ odds)])
        return value + _PRIOR * (parameters @ parameters), gradient + 2 * _PRIOR * parameters

    found = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B").x
    return float(found[0]), float(np.exp(found[1]))

"""Scores of any detector: which method gives them, those of held-out rows, what they prove.

High scores are ordinary throughout; a detector that has it the other way round is rejected.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from kernova._sklearn import safe_indexing
from kernova.anomaly.ensemble.foreign import last_step, scores_outliers_high
from kernova.calibration.bounds import FalseAlarmThreshold, finite_scores, percent_rounded_up
from kernova.calibration.splits import Wanted
from kernova.errors import InputError
from kernova.text import percent, plural
from kernova.typing import Indices, Vector

OF_GROUPS = "ordinary rows of other groups"
# Detectors of other libraries overflow at 1e308; their scores are checked instead.
OVERFLOW: dict[str, Any] = {"over": "ignore", "invalid": "ignore", "divide": "ignore"}


class HeldOut(NamedTuple):
    """Scores of held-out rows in increasing order, and what groups add to them."""

    scores: Vector
    weights: Vector | None  # one divided by the size of the row's group
    drawn: Vector | None  # the scores of one random row of each group, in increasing order

    @classmethod
    def scored(
        cls,
        detector: Any,
        rows: Any,
        indices: Indices,
        labels: Indices | None,
        random: np.random.RandomState,
    ) -> Self:
        """Score the rows, and draw one of each group."""
        scores = scores_by(detector, safe_indexing(rows, indices))
        if labels is None:
            return cls(np.sort(scores), None, None)
        _, group, sizes = np.unique(labels[indices], return_inverse=True, return_counts=True)
        shuffled = random.permutation(scores.size)
        _, first = np.unique(group[shuffled], return_index=True)
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], 1 / sizes[group][order], np.sort(scores[shuffled[first]]))

    def joined(self, other: "HeldOut") -> "HeldOut":
        """Return both together."""
        scores = np.concatenate([self.scores, other.scores])
        order = np.argsort(scores, kind="stable")
        if self.weights is None or other.weights is None:
            return HeldOut(scores[order], None, None)
        assert self.drawn is not None
        assert other.drawn is not None
        weights = np.concatenate([self.weights, other.weights])
        drawn = np.sort(np.concatenate([self.drawn, other.drawn]))
        return HeldOut(scores[order], weights[order], drawn)


def guarantee_sentence(
    result: FalseAlarmThreshold,
    max_false_alarm: float,
    confidence: float,
    of: str = "ordinary rows",
    by: str = "",
    held_out: str | None = None,
) -> str:
    """Return the guarantee as a sentence, rounded so that it stays true.

    Examples
    --------
    >>> from kernova.calibration.bounds import false_alarm_threshold
    >>> from kernova.calibration.scoring import guarantee_sentence
    >>> guarantee_sentence(false_alarm_threshold(range(59), 0.05, 0.95, "binomial"), 0.05, 0.95)
    'With 95 % confidence, at most 4.96 % of ordinary rows are called novel
    (5 % was asked for; of 59 held-out rows none was).'
    """
    n_alarms = round(result.observed_rate * result.n)
    called = f"{n_alarms or 'none'} {plural(n_alarms or 1, 'was', 'were')}"
    rows = held_out or f"{result.n} held-out {plural(result.n, 'row')}"
    return (
        f"With {percent(confidence, '.12g')} confidence, at most "
        f"{percent_rounded_up(result.bound)} of {of} are called novel "
        f"({percent(max_false_alarm, '.12g')} was asked for{by}; of {rows} {called})."
    )


def folds_sentence(
    result: FalseAlarmThreshold,
    wanted: Wanted,
    sizes: list[int],
    is_grouped: bool,
    share_rows: bool,
) -> str:
    """Return the guarantee of detectors that must agree, each calibrated on so many units."""
    unit = "groups" if is_grouped else "rows"
    needs = f", which takes {wanted.units_needed()} {unit} in each fold"
    if share_rows:  # the number of verdicts is larger than that of rows
        held_out = f"{result.n} verdicts of single detectors on such rows"
    else:
        by = "one from each group" if is_grouped else "each judged by its own"
        held_out = f"{result.n} rows, {by},"
    return guarantee_sentence(
        result,
        wanted.max_false_alarm,
        wanted.confidence,
        of=OF_GROUPS if is_grouped else "ordinary rows",
        by=f"{needs if result.bound > wanted.max_false_alarm else ''}; all {len(sizes)} detectors "
        f"must agree, each calibrated on at least {min(sizes)} {unit} that it was not fitted to",
        held_out=held_out,
    )


def scoring_method(detector: Any) -> Any:
    """Return the method that scores rows, high for ordinary ones, or raise."""
    name = type(detector).__name__
    if scores_outliers_high(detector):
        # Such scores would call the most ordinary rows novel.
        raise InputError(
            f"{type(last_step(detector)).__name__} gives high scores to outliers; here high scores "
            "are ordinary. Wrap it in kernova.pyod.from_pyod, which changes the sign."
        )
    for method in ("score_samples", "decision_function"):
        if hasattr(detector, method):
            return getattr(detector, method)
    raise InputError(
        f"{name} cannot score new rows: it has neither score_samples nor decision_function. "
        "Choose a detector that has one (LocalOutlierFactor: with novelty=True)."
    )


def scores_by(detector: Any, X: Any) -> Vector:
    """Return the scores of rows as finite numbers, or raise."""
    with np.errstate(**OVERFLOW):
        scores = scoring_method(detector)(X)
    return finite_scores(scores, f"scores of {type(detector).__name__}")


def seeded(detector: Any, random: np.random.RandomState) -> Any:
    """Seed every part of the detector that has no seed, so that one random_state repeats all."""
    unseeded = [
        name
        for name, value in sorted(detector.get_params(deep=True).items(), key=lambda item: item[0])
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    seeds = {name: int(random.randint(np.iinfo(np.int32).max)) for name in unseeded}
    return detector.set_params(**seeds)

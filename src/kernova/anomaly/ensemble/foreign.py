"""Detectors of other libraries, or a user's own, as members of an ensemble.

They see the standard view. What ordinary rows look like to them is learnt in folds: each row is
scored by a copy of the detector that was fitted on the other folds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernova.anomaly.ensemble.views import STANDARD, SeenRows
from kernova.errors import InputError
from kernova.typing import Indices, Matrix, Vector

_N_FOLDS = 5


@dataclass(frozen=True)
class ForeignDetector:
    """A fitted detector, and the novelties of the reference rows from copies fitted in folds."""

    detector: Any
    of_reference: Vector

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the novelties; of a reference row, the one from its fold."""
        novelty = np.empty(len(seen))
        is_own = own >= 0
        novelty[is_own] = self.of_reference[own[is_own]]
        if not is_own.all():
            novelty[~is_own] = novelty_by(self.detector, seen.under(STANDARD)[~is_own])
        return novelty


def fit_foreign_detector(
    detector: Any, seen: SeenRows, random: np.random.RandomState
) -> ForeignDetector:
    """Fit a detector on all reference rows, and copies of it on folds."""
    X = seen.under(STANDARD)
    seeded = _seeded(detector, int(random.randint(np.iinfo(np.int32).max)))
    fold_of = random.permutation(len(X)) % min(_N_FOLDS, len(X))
    of_reference = np.empty(len(X))
    for fold in range(int(fold_of.max()) + 1):
        is_in = fold_of == fold
        learnt = _fitted(seeded, X[~is_in] if not is_in.all() else X)
        of_reference[is_in] = novelty_by(learnt, X[is_in])
    return ForeignDetector(_fitted(seeded, X), of_reference)


def novelty_by(detector: Any, X: Matrix) -> Vector:
    """Return the novelty of rows by a fitted detector, high for novel ones."""
    if scores_outliers_high(detector):
        novelty = np.asarray(detector.decision_function(X), dtype=np.float64)
    else:
        method = getattr(detector, "score_samples", None) or detector.decision_function
        novelty = -np.asarray(method(X), dtype=np.float64)
    if novelty.shape != (len(X),) or not np.isfinite(novelty).all():
        raise InputError(
            f"{type(detector).__name__} did not give a finite score for each row; it gave "
            f"{novelty.shape} scores, of which {int(np.sum(~np.isfinite(novelty)))} are not finite."
        )
    return novelty


def check_can_score(detector: Any, name: str) -> None:
    """Raise InputError unless this is a detector that scores new rows."""
    methods = ("score_samples", "decision_function")
    if not hasattr(detector, "fit") or not any(hasattr(detector, one) for one in methods):
        raise InputError(
            f"Member {name} cannot score new rows: it needs fit, and score_samples or "
            "decision_function (LocalOutlierFactor: with novelty=True)."
        )


def last_step(detector: Any) -> Any:
    """Return the detector that a pipeline ends in; any other detector is its own last step."""
    return last_step(detector.steps[-1][1]) if isinstance(detector, Pipeline) else detector


def scores_outliers_high(detector: Any) -> bool:
    """Return whether this is a PyOD detector, or ends in one: there high scores are outliers."""
    marks = ("decision_scores_", "predict_confidence")  # PyOD's, after fit and before
    return any(hasattr(last_step(detector), mark) for mark in marks)


def _fitted(detector: Any, X: Matrix) -> Any:
    return clone(detector).fit(X)


def _seeded(detector: Any, seed: int) -> Any:
    parameters = detector.get_params(deep=True)
    unseeded = [
        name
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return clone(detector).set_params(**dict.fromkeys(unseeded, seed))

"""Detectors of other libraries, or a user's own, as members of an ensemble.

They see the standard view. What ordinary rows look like to them is learnt in folds: each row is
scored by a copy of the detector that was fitted on the other folds. Depths leave a row of their own
out when they score it and need no folds, between which their lowest values would differ.
"""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernova.anomaly.ensemble.views import STANDARD, SeenRows
from kernova.anomaly.spatial_depth import KernelSpatialDepth, SpatialDepth
from kernova.errors import InputError
from kernova.typing import Indices, Matrix, Vector

_N_FOLDS = 5


@dataclass(frozen=True)
class ForeignDetector:
    """A fitted detector, and the novelties of the reference rows from copies fitted in folds."""

    name: str
    detector: Any
    of_reference: Vector

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the novelties; of a reference row, the one from its fold."""
        novelty = np.empty(len(seen))
        is_own = own >= 0
        novelty[is_own] = self.of_reference[own[is_own]]
        if not is_own.all():
            try:
                novelty[~is_own] = novelty_by(self.detector, seen.under(STANDARD)[~is_own])
            except Exception as error:
                raise InputError(
                    f"Member {self.name} cannot score these rows: {_reason(error)}"
                ) from error
        return novelty


def fit_foreign_detector(
    detector: Any, name: str, seen: SeenRows, random: np.random.RandomState
) -> ForeignDetector:
    """Fit a detector on all reference rows, and copies of it on folds.

    Raises
    ------
    InputError
        If the detector raises an error of any kind; the message repeats it.
    """
    try:
        return _fitted_in_folds(detector, name, seen.under(STANDARD), random)
    except Exception as error:
        raise InputError(_reason(error)) from error


def _fitted_in_folds(
    detector: Any, name: str, X: Matrix, random: np.random.RandomState
) -> ForeignDetector:
    seeded = _seeded(detector, int(random.randint(np.iinfo(np.int32).max)))
    fitted = _fitted(seeded, X)
    if isinstance(last_step(fitted), SpatialDepth | KernelSpatialDepth):
        return ForeignDetector(name, fitted, novelty_by(fitted, X))
    fold_of = random.permutation(len(X)) % min(_N_FOLDS, len(X))
    of_reference = np.empty(len(X))
    for fold in range(int(fold_of.max()) + 1):
        is_in = fold_of == fold
        learnt = _fitted(seeded, X[~is_in] if not is_in.all() else X)
        of_reference[is_in] = novelty_by(learnt, X[is_in])
    return ForeignDetector(name, fitted, of_reference)


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
    if isinstance(detector, type):
        raise InputError(f"{detector.__name__} is a class; pass an object of it as a member.")
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


def _reason(error: Exception) -> str:
    text = str(error)
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


def _fitted(detector: Any, X: Matrix) -> Any:
    unfitted = _copy(detector)
    unfitted.fit(X)  # a user's own class need not return itself
    return unfitted


def _copy(detector: Any) -> Any:
    return clone(detector) if hasattr(detector, "get_params") else copy.deepcopy(detector)


def _seeded(detector: Any, seed: int) -> Any:
    if not hasattr(detector, "get_params"):
        return detector
    parameters = detector.get_params(deep=True)
    unseeded = [
        name
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return clone(detector).set_params(**dict.fromkeys(unseeded, seed))

"""Novelty of rows and outlier verdicts of any fitted detector, in one sign: high is novel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernova.calibration.detector import CalibratedDetector, scores_outliers_high
from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.open_set.classifier import OpenSetClassifier
from kernova.description.recognizer import TableRecognizer
from kernova.errors import InputError, quoted
from kernova.typing import Indices, Vector

# A training row scored again has the score of fit but for rounding.
_SAME_SCORE = 1e-6


class Standing(NamedTuple):
    """Novelty of each row, and whether the model calls it an outlier."""

    novelty: Vector
    is_outlier: NDArray[np.bool_] | None  # None: the model has no verdicts


class Route(NamedTuple):
    """The transformers that rows pass through, and the detector that scores them at the end."""

    transformers: list[Any]
    detector: Any

    @property
    def name(self) -> str:
        """Name of the detector, for messages."""
        return type(self.detector).__name__

    def transformed(self, X: Any) -> Any:
        """Return the rows as the detector receives them."""
        for transformer in self.transformers:
            X = transformer.transform(X)
        return X


def route_through(model: Any) -> Route:
    """Find the detector inside pipelines and calibration, and the transformers before it."""
    transformers = []
    while isinstance(model, Pipeline | CalibratedDetector | TableRecognizer):
        _check_fitted(model)
        if isinstance(model, CalibratedDetector):
            model = model.estimator_
            continue
        if isinstance(model, TableRecognizer):
            transformers.append(model.encoder_)
            model = model.description_
            continue
        if len(model) > 1:
            transformers.append(model[:-1])
        model = model[-1]
    _check_fitted(model)
    return Route(transformers, model)


@dataclass(frozen=True)
class NewRowJudge:
    """Scores any rows, by a model that can score new rows."""

    model: Any
    route: Route

    def standing(self, X: Any) -> Standing:
        """Return the novelty and the verdict of all rows of a table."""
        detector, novelty = self.route.detector, self.novelty(X)
        if not hasattr(self.model, "decision_function"):
            return Standing(novelty, _outliers_by_predict(self.model, X, self.route.name))
        # Below 0 is an outlier by scikit-learn's convention, above the threshold by PyOD's.
        limit = detector.threshold_ if scores_outliers_high(detector) else 0.0
        return Standing(novelty, novelty > limit)

    def novelty(self, X: Any, row_numbers: Indices | None = None) -> Vector:
        """Return the novelty of each row; the row numbers are not needed."""
        name = "decision_function" if hasattr(self.model, "decision_function") else "score_samples"
        scores = _scores(getattr(self.model, name), X, self.route.name)
        return scores if scores_outliers_high(self.route.detector) else -scores


@dataclass(frozen=True)
class InPlaceJudge:
    """Scores training rows, or rows that replace them, among the other training rows."""

    route: Route

    def standing(self, X: Any) -> Standing:
        """Return the novelty and the verdict that ``fit`` found for the training rows."""
        detector = self.route.detector
        scores = detector.negative_outlier_factor_
        if len(X) != len(scores):
            raise self._other_rows(f"X has {len(X)} rows and fit saw {len(scores)}")
        return Standing(_finite(-scores), scores < detector.offset_)

    def novelty(self, X: Any, row_numbers: Indices) -> Vector:
        """Return the novelty of training row ``row_numbers[i]`` if it were ``X[i]``."""

        def score(rows: Any) -> Any:
            return self.route.detector.score_replaced(self.route.transformed(rows), row_numbers)

        return -_scores(score, X, self.route.name)

    def check_are_training_rows(self, X: Any, row_numbers: Indices) -> None:
        """Raise InputError unless the rows score as the training rows of these numbers did."""
        if getattr(self.route.detector, "neighbor_recall_", 1.0) < 1:
            return  # neighbours found approximately may be others the second time
        fitted = _finite(-self.route.detector.negative_outlier_factor_)[row_numbers]
        is_other = ~np.isclose(self.novelty(X, row_numbers), fitted, _SAME_SCORE, _SAME_SCORE)
        if is_other.any():
            number = row_numbers[is_other.argmax()]
            raise self._other_rows(f"row {number} of X does not score as row {number} of fit did")

    def _other_rows(self, found: str) -> InputError:
        return InputError(
            f"With novelty=False, {self.route.name} explains the rows it was fitted on, and {found}"
            ". Give the X of fit, or fit with novelty=True."
        )


def judge_of(model: Any) -> NewRowJudge | InPlaceJudge:
    """Return the scorer of a fitted model, or raise InputError if it cannot be explained."""
    route = route_through(model)
    detector, name = route.detector, route.name
    if "precomputed" in (getattr(detector, "metric", ""), getattr(detector, "kernel", "")):
        raise InputError(
            f"{name} takes distances, not features, so no feature can be explained. Fit it on the "
            "rows themselves."
        )
    rejects = isinstance(detector, MulticlassDataDescription | OpenSetClassifier)
    if hasattr(detector, "classes_") and not rejects:
        raise InputError(f"{name} is a classifier; explain takes an outlier detector.")
    if getattr(detector, "novelty", True) is False and hasattr(detector, "score_replaced"):
        return InPlaceJudge(route)
    if hasattr(model, "decision_function") or hasattr(model, "score_samples"):
        return NewRowJudge(model, route)
    raise InputError(
        f"{name} cannot score hypothetical rows: it has neither score_samples nor "
        "decision_function. Choose a detector that has one (LocalOutlierFactor: with novelty=True)."
    )


def cannot_score(name: str, error: ValueError) -> InputError:
    """Return the error of a model that raised ValueError on the rows."""
    reason = str(error).strip().splitlines()[0].rstrip(".")
    return InputError(f"{name} cannot score these rows: {reason}.")


def _check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise _not_fitted(type(model).__name__) from None
    except TypeError:
        raise InputError(f"The model must be a fitted detector; got {quoted(model)}.") from None


def _not_fitted(name: str) -> InputError:
    return InputError(f"This {name} is not fitted yet. Call fit before explain.")


def _outliers_by_predict(model: Any, X: Any, name: str) -> NDArray[np.bool_] | None:
    """Return the outliers by ``predict``; None if it returns anything but +1 and -1."""
    if not hasattr(model, "predict"):
        return None
    verdicts = _scores(model.predict, X, name)
    return verdicts == -1 if np.isin(verdicts, (-1, 1)).all() else None


def _scores(method: Callable[[Any], Any], X: Any, name: str) -> Vector:
    try:
        scores = np.asarray(method(X), dtype=np.float64)
    except NotFittedError:
        raise _not_fitted(name) from None
    except InputError:
        raise
    except ValueError as error:
        raise cannot_score(name, error) from error
    if scores.shape != (len(X),):
        raise InputError(
            f"{name} returns scores of shape {scores.shape} for {len(X)} rows; one number for each "
            "row is needed."
        )
    if np.isnan(scores).any():
        raise InputError(f"{name} returns NaN as a score, which cannot be explained.")
    return _finite(scores)


def _finite(scores: Vector) -> Vector:
    """Replace infinite scores, such as the logarithm of a density of 0, by the largest number."""
    return np.nan_to_num(np.asarray(scores, dtype=np.float64))

"""What a detector of any make says of rows, high is usual, and who is refused."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import InputTags, _safe_indexing, get_tags
from sklearn.utils.validation import validate_data

from kernova.decide.calibrated import CalibratedDetector, last_step, scores_strangeness
from kernova.decide.false_alarms import finite_scores
from kernova.errors import InputError

Vector = NDArray[np.float64]


def usualness_in_fit(detector: Any, X: Any) -> Vector:
    """Scores of the rows that the detector was fitted on, each without itself where it can."""
    if isinstance(detector, Pipeline):
        before = detector[:-1]
        return usualness_in_fit(detector[-1], before.transform(X) if len(before) else X)
    for attribute in ("negative_outlier_factor_", "training_scores_"):
        if hasattr(detector, attribute):
            return finite(getattr(detector, attribute), detector)
    scores = usualness(detector, X)
    if isinstance(detector, CalibratedDetector):
        learnt_from = detector.reference_indices_
        rows = _safe_indexing(X, learnt_from)
        scores[learnt_from] = usualness_in_fit(detector.estimator_, rows)
    return scores


def usualness(detector: Any, X: Any) -> Vector:
    """Scores of new rows."""
    return finite(getattr(detector, _scoring_method(detector))(X), detector)


def own_threshold(detector: Any) -> float:
    """Give the strangeness above which the fitted detector itself calls rows novel."""
    if _scoring_method(detector) == "decision_function":
        return 0.0  # by scikit-learn's convention, what is below 0 there is novel
    found = last_step(detector)
    if not hasattr(found, "offset_"):
        raise InputError(
            f"{type(found).__name__} has no threshold of its own. "
            "Give as_pyod a contamination, such as 0.1."
        )
    return -float(np.ravel(found.offset_)[0])  # one-class SVMs keep it in an array


def _scoring_method(detector: Any) -> str:
    """Prefer raw scores, unless their threshold is unknown while that of decisions is known."""
    has_scores, has_decisions = (
        hasattr(detector, name) for name in ("score_samples", "decision_function")
    )
    if has_decisions and not (has_scores and hasattr(last_step(detector), "offset_")):
        return "decision_function"
    if has_scores:
        return "score_samples"
    raise InputError(
        f"{type(detector).__name__} cannot score rows: it has neither score_samples nor "
        "decision_function. Choose a detector that has one."
    )


def able_to_score_new_rows(detector: Any) -> Any:
    """Tell outlier factors, wherever they stand in the detector, that new rows will come."""
    settings = detector.get_params(deep=True).items()
    silent = [
        name for name, value in settings if name.split("__")[-1] == "novelty" and value is False
    ]
    detector.set_params(**dict.fromkeys(silent, True))
    _scoring_method(detector)  # refused now rather than after a long fit
    return detector


def check_columns(wrapper: BaseEstimator, X: Any) -> None:
    """Refuse new rows with other columns than those of ``fit``."""
    # What has no columns at all is left to the detector, which says better what to do.
    if len(getattr(X, "shape", (0, 0))) > 1:
        validate_data(wrapper, X, reset=False, skip_check_array=True)


def finite(scores: Any, detector: Any) -> Vector:
    """Give the scores of a detector as numbers, or say that they are none."""
    return finite_scores(scores, f"scores that {type(detector).__name__} gives")


def check_scores_usualness(detector: Any) -> None:
    """Refuse what is no detector, and what turns the sign already."""
    _check_is_detector(detector)
    found = last_step(detector)
    if scores_strangeness(found):
        raise InputError(
            f"{type(found).__name__} has PyOD's interface already. Use it without as_pyod."
        )


def check_scores_strangeness(detector: Any) -> None:
    """Refuse what is no detector, and what has scikit-learn's sign already."""
    _check_is_detector(detector)
    found = last_step(detector)
    if hasattr(found, "score_samples") or isinstance(found, OutlierMixin):
        raise InputError(
            f"{type(found).__name__} has scikit-learn's interface already. "
            "Use it without from_pyod."
        )


def _check_is_detector(detector: Any) -> None:
    if isinstance(detector, type):
        raise InputError(
            f"Give a detector, not its class: {detector.__name__}() instead of {detector.__name__}."
        )
    name = type(last_step(detector)).__name__
    if not all(hasattr(detector, method) for method in ("fit", "get_params", "set_params")):
        raise InputError(
            f"A detector has fit, get_params and set_params; got {name}, which has not."
        )
    if isinstance(last_step(detector), ClassifierMixin):
        raise InputError(
            f"{name} is a classifier, which tells known classes apart. Give a detector."
        )


def check_contamination(contamination: Any) -> None:
    """Refuse what is neither a share of the rows nor a wish for the detector's own threshold."""
    if keeps_own_threshold(contamination):
        return
    if not (isinstance(contamination, Real) and 0 < float(contamination) <= 0.5):
        raise InputError(
            'contamination must be "auto", None, or a number above 0 and at most 0.5; '
            f"got {contamination!r}."
        )


def keeps_own_threshold(contamination: Any) -> bool:
    """Tell whether the detector's own threshold is wanted."""
    return contamination is None or (isinstance(contamination, str) and contamination == "auto")


def input_tags_of(detector: Any, default: InputTags) -> InputTags:
    """Tell what input a detector takes, if it says so."""
    return get_tags(detector).input_tags if hasattr(detector, "__sklearn_tags__") else default

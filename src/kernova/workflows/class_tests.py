"""Tests of learnt classes on their own rows, each judged by a model that was made without it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.open_set.classifier import CrossValidated, OpenSetClassifier
from kernova.description.open_set.folds import n_folds_for
from kernova.description.open_set.validation import (
    MOST_LEFT_OUT_OF,
    calibration_error,
    leave_class_out,
)
from kernova.description.recognizer import TableRecognizer
from kernova.tables.records import json_value
from kernova.text import percent
from kernova.typing import Indices, Mask, Vector
from kernova.workflows.verdicts import UNKNOWN

# Of fewer rows than this, none may be recognised by chance.
_ENOUGH_JUDGED = 5


@dataclass(frozen=True)
class ClassTests:
    """How well classes are recognised, class by class and in all."""

    classes: pd.DataFrame  # one line for each class
    sentences: list[str]  # what was tested, by what, with which result
    figures: dict[str, Any]  # the same for programs


# --- cross-validation ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Figures:
    """Fractions of the rows that could be judged; NaN if none could."""

    recognized: float
    unknown: float
    right: float  # without rejection
    calibration_error: float


def open_set_tests(
    model: TableRecognizer, labels: NDArray[Any], *, leaves_classes_out: bool = True
) -> ClassTests:
    """Return the results of cross-validation, and of leaving every class out in turn.

    Parameters
    ----------
    model : TableRecognizer
        A model of an open-set classifier.
    labels : array of str
        The classes of all rows that were given to learn from.
    leaves_classes_out : bool
        Whether to leave classes out, which takes a fit for each.
    """
    classifier = model.description_
    assert isinstance(classifier, OpenSetClassifier)
    n_classes = len(classifier.classes_)
    found = leave_class_out(classifier) if leaves_classes_out else np.full(n_classes, np.nan)
    figures = _figures(classifier)
    n_parts = _n_parts(classifier)
    return ClassTests(
        _by_class(classifier, labels, found if leaves_classes_out else None),
        [*_sentences(classifier, figures, n_parts), *_left_out_sentences(classifier, found)],
        {
            "parts": n_parts,
            "accuracy": json_value(figures.recognized),
            "unknown": json_value(figures.unknown),
            "accuracy_without_rejection": json_value(figures.right),
            "calibration_error": json_value(figures.calibration_error),
            "found_if_unknown": json_value(_mean(found)),
        },
    )


def _held_out_verdicts(classifier: OpenSetClassifier) -> Indices:
    """Return the class code of each training row, judged without it; -1 is unknown."""
    judgement = classifier.cross_validated_.judgement
    return np.where(judgement.is_unknown(classifier.reject), -1, judgement.best)


def unjudged_classes(classifier: OpenSetClassifier) -> list[str]:
    """Return the classes of which nothing is left without the rows to judge."""
    tested = classifier.cross_validated_
    codes = np.unique(tested.codes[~tested.is_judged])
    return [str(name) for name in classifier.classes_[codes]]


def unrecognized_classes(classifier: OpenSetClassifier) -> list[str]:
    """Return the classes of which some rows were judged, but none was recognised."""
    tested, verdicts = classifier.cross_validated_, _held_out_verdicts(classifier)
    n_classes = len(classifier.classes_)
    n_judged = np.bincount(tested.codes[tested.is_judged], minlength=n_classes)
    is_right = tested.is_judged & (verdicts == tested.codes)
    n_right = np.bincount(tested.codes[is_right], minlength=n_classes)
    is_lost = (n_judged >= _ENOUGH_JUDGED) & (n_right == 0)
    return [str(name) for name in classifier.classes_[is_lost]]


def _figures(classifier: OpenSetClassifier) -> _Figures:
    tested = classifier.cross_validated_
    judged = tested.is_judged
    if not judged.any():
        return _Figures(np.nan, np.nan, np.nan, np.nan)
    codes, weights = tested.codes[judged], tested.weights[judged]
    verdicts, log_p = _held_out_verdicts(classifier)[judged], _log_probabilities(tested, judged)

    def fraction(is_so: Mask) -> float:
        return float(np.average(is_so, weights=weights))

    return _Figures(
        fraction(verdicts == codes),
        fraction(verdicts < 0),
        fraction(log_p.argmax(axis=1) == codes),
        calibration_error(log_p, codes, weights),
    )


def _log_probabilities(tested: CrossValidated, judged: Mask) -> NDArray[np.float64]:
    return tested.judgement.log_probabilities[judged]


def _n_parts(classifier: OpenSetClassifier) -> int:
    n_rows = len(classifier.cross_validated_.rows)
    n_parts = n_folds_for(n_rows) if classifier.n_folds == "auto" else int(classifier.n_folds)
    groups = classifier.training_rows.groups
    return n_parts if groups is None else min(n_parts, len(np.unique(groups)))


def _sentences(classifier: OpenSetClassifier, figures: _Figures, n_parts: int) -> list[str]:
    if not np.isfinite(figures.recognized):
        return ["Nothing could be tested: no row could be held out."]
    wrong = max(0.0, 1 - figures.recognized - figures.unknown)
    of = " of the rows assigned to each class" if classifier.per_class else ""
    has_groups = classifier.training_rows.groups is not None
    together = " with groups kept together" if has_groups else ""
    return [
        f"{n_parts}-fold cross-validation{together}: {percent(figures.recognized, '.1f')} of the "
        f"rows are recognised correctly, {percent(figures.unknown, '.1f')} are called {UNKNOWN} "
        f"(asked for: {percent(classifier.reject, '.3g')}{of}{_extrapolated(classifier)}), "
        f"{percent(wrong, '.1f')} are taken for another class.",
        f"Without rejection {percent(figures.right, '.1f')} are right; the expected calibration "
        f"error of the probabilities is {percent(figures.calibration_error, '.1f')}.",
    ]


def _extrapolated(classifier: OpenSetClassifier) -> str:
    """Return a remark if fewer rows were judged than the rate of rejection needs."""
    n_judged = int(classifier.cross_validated_.is_judged.sum())
    n_needed = math.ceil(1 / classifier.reject) - 1 if classifier.reject > 0 else 0
    return f", which needs {n_needed:,} rows" if n_judged < n_needed else ""


def _left_out_sentences(classifier: OpenSetClassifier, found: Vector) -> list[str]:
    """Return what would have been found of the class that is found least, and of all."""
    if np.isnan(found).all():
        return []
    hardest, n_tested = int(np.nanargmin(found)), int(np.isfinite(found).sum())
    name = classifier.classes_[hardest]
    sentence = f"{percent(found[hardest])} of its rows would be called {UNKNOWN}"
    if n_tested == 1:
        sentence = f"If {name} were unknown, {sentence}"
    else:
        sentence = (
            f"The class that would be hardest to detect if it were unknown is {name}: {sentence}; "
            f"on average over {n_tested:,} classes, {percent(_mean(found))}"
        )
    if len(classifier.cross_validated_.rows) > MOST_LEFT_OUT_OF:
        sentence += f" (learnt from a sample of {MOST_LEFT_OUT_OF:,} rows)"
    return [f"{sentence}."]


def _by_class(
    classifier: OpenSetClassifier, labels: NDArray[Any], found: Vector | None
) -> pd.DataFrame:
    tested, verdicts = classifier.cross_validated_, _held_out_verdicts(classifier)
    names = [str(name) for name in classifier.classes_]
    lines = []
    for code, name in enumerate(classifier.classes_):
        judged = verdicts[(tested.codes == code) & tested.is_judged]
        line: dict[str, Any] = {"class": str(name), "rows": int((labels == name).sum())}
        if classifier.robust:
            line["outliers"] = int(classifier.n_outliers_[code])
        line["recognized"] = _fraction(judged == code)
        line["unknown"] = _fraction(judged < 0)
        line["confused_with"] = _confusions(judged[(judged >= 0) & (judged != code)], names)
        if found is not None:
            line["found_if_unknown"] = float(found[code])
        lines.append(line)
    return pd.DataFrame(lines)


def _fraction(is_so: Mask) -> float:
    return float(is_so.mean()) if len(is_so) else float("nan")


def _mean(found: Vector) -> float:
    present = found[np.isfinite(found)]
    return float(present.mean()) if len(present) else float("nan")


def _confusions(others: Indices, names: list[str]) -> str:
    counts = pd.Series([names[code] for code in others.tolist()], dtype=object).value_counts()
    return ", ".join(f"{name} ({n})" for name, n in counts.items())


# --- the published method, with each row left out --------------------------------------------


def membership_tests(model: TableRecognizer) -> ClassTests:
    """Return the leave-one-out verdicts on the rows of each class, as fractions."""
    description = model.description_
    assert isinstance(description, MulticlassDataDescription)
    thresholds = description.thresholds_
    claims = model.left_out_ >= thresholds
    best = np.where(claims, model.left_out_, -1.0).argmax(axis=1)
    verdicts = np.where(claims.any(axis=1), best, -1)
    names = [str(name) for name in model.classes_]
    lines = []
    for code, name in enumerate(model.classes_):
        inside = (model.labels_ == name) & ~model.is_outlier_
        others = verdicts[inside & (verdicts >= 0) & (verdicts != code)]
        lines.append(
            {
                "class": str(name),
                "rows": int((model.labels_ == name).sum()),
                "outliers": int(description.n_outliers_[code]),
                "threshold": float(thresholds[code]),
                "accepted": float(claims[inside, code].mean()),
                "recognized": float((verdicts[inside] == code).mean()),
                "unknown": float((verdicts[inside] < 0).mean()),
                "confused_with": _confusions(others, names),
            }
        )
    classes = pd.DataFrame(lines)
    right = float(np.average(classes["recognized"], weights=classes["rows"]))
    foreign = float(np.average(classes["unknown"], weights=classes["rows"]))
    sentence = (
        f"With each row left out in turn, {percent(right, '.1f')} are recognised correctly and "
        f"{percent(foreign, '.1f')} called {UNKNOWN}."
    )
    figures = {
        "length_scale": description.length_scale_,
        "accuracy": right,
        "unknown": foreign,
    }
    return ClassTests(classes, [sentence], figures)

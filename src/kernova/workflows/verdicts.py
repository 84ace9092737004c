"""Verdicts: their words, and the verdicts on the rows of one table among themselves.

Rows are called outliers by a rule with a stated meaning only: a fraction of the rows that the user
chose, or a threshold with a proven bound. Without a rule they are ranked, and none is called an
outlier. Without known ordinary rows, only the table itself can be held out. For a bound its rows
are therefore split at random into two halves, and each half is scored by a detector (encoder
included) that was fitted on the other half only. Given the detector, the scores of a half are a
fair sample of the scores of rows drawn like those of the table. It follows:

- Each half has a threshold by :func:`~kernova.false_alarm_threshold`, at half of the allowed
  error probability, so that both hold with the confidence asked for. With that confidence, either
  detector calls at most ``max_false_alarm`` of the rows drawn like these outliers. The same holds
  for the rows of this table.
- The p-value of a row is the fraction of the rows of its half with as high a factor, itself
  included. If all rows were drawn alike, P(p <= a) <= a for every a.
- Factors of the two halves come from two detectors, and each half has its own threshold. Rows
  called outliers are therefore ranked before all others, and both by falling factor. p-values rise
  along that ranking within each half, but not always over both.

"Rows drawn like these" are rows of the same mixture, outliers included. Outliers in the table can
only raise the threshold on the factor: a table with many makes it stricter, never looser. The
bound therefore also holds for ordinary rows alone, as long as true outliers are called outliers at
least as often as ordinary rows are. It is not proven that a flagged row is an error, that all
outliers are found, or that there are any, since some row always has the highest factor.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from kernova.anomaly.parameters import checked_neighbor_numbers
from kernova.calibration.bounds import (
    allowed_false_alarms,
    check_open_unit_interval,
    false_alarm_threshold,
    percent_rounded_up,
)
from kernova.calibration.detector import split_rows
from kernova.errors import InputError, TooFewRowsError, quoted
from kernova.progress import track
from kernova.tables.fill_values import FarCells, far_cells, single_rows
from kernova.tables.records import warnings_as_notes
from kernova.text import percent, plural
from kernova.typing import Indices, Mask, Vector
from kernova.workflows.detectors import (
    detector_named,
    detector_names,
    outlier_estimator,
    unused_settings,
)
from kernova.workflows.effort import (
    SampledDetector,
    Study,
    announce_duration,
    most_fitted_rows,
    sample_note,
)
from kernova.workflows.members import detector_notes
from kernova.workflows.settings import OutlierSettings

# The values of the column "verdict" (of "recognized", for UNKNOWN) in result tables.
NOVEL: Final = "novel"
OUTLIER: Final = "outlier"
USUAL: Final = "usual"
UNKNOWN: Final = "unknown"

_BOUND: Final = "binomial"
_NO_OUTLIERS_POSSIBLE: Final = (
    "With so few rows the bound can only be proven by calling none an outlier. Give more rows, or "
    "set a larger max_false_alarm."
)
# Local densities of duplicate rows are 1e10 in scikit-learn; no other rows give such factors.
_LOF_OF_DUPLICATES: Final = 1e6


class Proof(NamedTuple):
    """The proven bound on the fraction of rows called outliers, those up to some p-value."""

    bound: float
    max_false_alarm: float
    confidence: float
    n_rows: int
    n_outliers: int
    largest_p_value: float

    def sentence(self) -> str:
        """Return it as a sentence, rounded so that it stays true."""
        called = f"{self.n_outliers or 'none'} {plural(self.n_outliers or 1, 'was', 'were')}"
        return (
            f"With {percent(self.confidence, '.12g')} confidence, at most "
            f"{percent_rounded_up(self.bound)} of rows drawn like these are called outliers "
            f"({percent(self.max_false_alarm, '.12g')} was asked for; of {self.n_rows} rows, each "
            f"scored by a detector that learnt from the other half, {called})."
        )


class JudgedPart(NamedTuple):
    """Some rows of the table, by their indices, and the fitted chain that scored them."""

    model: Pipeline
    row_indices: Indices
    scores: Vector  # high is ordinary
    threshold: float | None  # None: no rule was asked for


class Verdicts(NamedTuple):
    """Scores of all rows of the table; with a rule, verdicts; with a proof, also p-values."""

    parts: list[JudgedPart]
    scores: Vector
    is_outlier: Mask | None
    p_values: Vector | None
    proof: Proof | None
    notes: list[str]
    far_cells: list[FarCells]  # cells far beyond their columns


def judge_rows(
    features: pd.DataFrame, settings: OutlierSettings, first: BaseEstimator | None = None
) -> Verdicts:
    """Judge each row among the others; in two halves if a bound is to be proven.

    Parameters
    ----------
    features : DataFrame
        The rows.
    settings : OutlierSettings
        Method, scaling and what sets the threshold.
    first : transformer, optional
        A step before encoder and detector, learnt from the same rows as they are.
    """
    _check_settings(settings)
    unused = unused_settings(settings, "outliers")
    if len(features) < 2:
        raise InputError(
            f"Outliers are found by comparing rows; the table has {len(features)}. Give at least 2."
        )
    cells = far_cells(features)
    most_fitted = _most_fitted(features, settings, first)
    estimator = partial(
        outlier_estimator, settings, has_far_cells=bool(cells), most_fitted=most_fitted, first=first
    )
    if settings.max_false_alarm is None:
        verdicts = _among_all(features, settings, estimator, cells, most_fitted)
    else:
        rate = settings.max_false_alarm
        verdicts = _by_halves(features, settings, estimator, rate, cells, most_fitted)
    return verdicts._replace(notes=unused + verdicts.notes)


def _most_fitted(
    features: pd.DataFrame, settings: OutlierSettings, first: BaseEstimator | None
) -> int | None:
    """Return the size of the sample to learn from, None for all rows; announce a long study."""
    entry = detector_named(settings.method, "outliers")
    n_rows = len(features)
    has_halves = settings.max_false_alarm is not None
    n_fitted = n_rows // 2 if has_halves else n_rows
    most_fitted = most_fitted_rows(entry, n_fitted, n_rows)
    announce_duration(
        lambda: outlier_estimator(settings, for_new_rows=True, first=first),
        features,
        Study(entry, most_fitted or n_fitted, n_rows, 2 if has_halves else 1, not has_halves),
    )
    return most_fitted


def _among_all(
    features: pd.DataFrame,
    settings: OutlierSettings,
    estimator: Callable[..., Pipeline],
    cells: list[FarCells],
    most_fitted: int | None,
) -> Verdicts:
    """Score each row among all others; a fraction of them are outliers if one was asked for."""
    notes: list[str] = []
    chain = estimator(for_new_rows=False)
    with warnings_as_notes(notes):
        _fit(chain, features, settings)
    if most_fitted is not None:
        notes.append(sample_note(most_fitted, len(features)))
    notes += detector_notes([chain])
    scores = _training_scores(chain, features, settings)
    notes += _notes_on_duplicates(scores, settings)
    far = single_rows(cells)
    if len(far):
        scores = _with_far_rows(chain, features, far, scores)
    threshold, is_outlier = None, None
    if settings.contamination != "auto":
        threshold = float(np.quantile(scores, float(settings.contamination)))
        is_outlier = scores < threshold
        is_outlier[far] = True
    part = JudgedPart(chain, np.arange(len(features)), scores, threshold)
    return Verdicts([part], scores, is_outlier, None, None, notes, cells)


def _training_scores(chain: Pipeline, features: pd.DataFrame, settings: OutlierSettings) -> Vector:
    """Return the scores of the rows that the chain was fitted on, each among the others."""
    detector = chain[-1]
    attribute = detector_named(settings.method, "outliers").training_scores
    if isinstance(detector, SampledDetector):
        return detector.score_training_rows(chain[:-1].transform(features))
    if attribute is None:
        return np.asarray(chain.score_samples(features))
    return np.asarray(getattr(detector, attribute))


def _with_far_rows(chain: Pipeline, features: pd.DataFrame, far: Indices, scores: Vector) -> Vector:
    """Score rows with far cells as they are: the fit has moved these cells to the others."""
    encoded = features.iloc[far] if len(chain) == 1 else chain[:-1].transform(features.iloc[far])
    detector = chain[-1]
    scores = scores.copy()
    if hasattr(detector, "score_replaced"):
        scores[far] = detector.score_replaced(encoded, far)
    else:
        scores[far] = detector.score_samples(encoded)
    return scores


def _by_halves(
    features: pd.DataFrame,
    settings: OutlierSettings,
    estimator: Callable[..., Pipeline],
    max_false_alarm: float,
    cells: list[FarCells],
    most_fitted: int | None,
) -> Verdicts:
    n_rows = len(features)
    # Two thresholds, both to hold: each gets half of the allowed error probability.
    confidence = 1 - (1 - settings.confidence) / 2
    _check_enough_rows(n_rows, max_false_alarm, confidence)
    first, second = split_rows(n_rows, n_rows // 2, np.random.RandomState(settings.seed))
    notes: list[str] = []
    parts, bounds = [], []
    for learnt, judged in track([(first, second), (second, first)], "halves"):
        chain = estimator(for_new_rows=True)
        with warnings_as_notes(notes):
            _fit(chain, features.iloc[learnt], settings)
        scores = chain.score_samples(features.iloc[judged])
        found = false_alarm_threshold(scores, max_false_alarm, confidence, _BOUND)
        parts.append(JudgedPart(chain, judged, scores, found.threshold))
        bounds.append(found.bound)
    verdicts = _combined(parts, n_rows)
    # Both halves may give the same note; one of them is enough.
    kept = [f"In each half: {note}" for note in notes[:1]]
    if most_fitted is not None:
        kept.append(f"In each half: {sample_note(most_fitted, n_rows // 2)}")
    kept += [f"In each half: {note}" for note in detector_notes([parts[0].model])]
    kept += _notes_on_duplicates(verdicts.scores, settings)
    fractions = [
        allowed_false_alarms(len(part.scores), max_false_alarm, confidence, _BOUND)
        / len(part.scores)
        for part in parts
    ]
    if max(fractions) == 0:
        kept.append(_NO_OUTLIERS_POSSIBLE)
    proof = Proof(
        bound=max(bounds),
        max_false_alarm=max_false_alarm,
        confidence=settings.confidence,
        n_rows=n_rows,
        n_outliers=0 if verdicts.is_outlier is None else int(verdicts.is_outlier.sum()),
        largest_p_value=max(fractions),
    )
    return verdicts._replace(proof=proof, notes=kept, far_cells=cells)


def _combined(parts: list[JudgedPart], n_rows: int) -> Verdicts:
    """Judge the rows of each half by its own threshold, and among its own rows."""
    all_scores, p_values = np.empty(n_rows), np.empty(n_rows)
    is_outlier = np.zeros(n_rows, dtype=np.bool_)
    for _, rows, scores, threshold in parts:
        assert threshold is not None
        all_scores[rows] = scores
        is_outlier[rows] = scores <= threshold
        n_as_low = np.searchsorted(np.sort(scores), scores, side="right")
        p_values[rows] = n_as_low / len(scores)
    return Verdicts(parts, all_scores, is_outlier, p_values, None, [], [])


def _notes_on_duplicates(scores: Vector, settings: OutlierSettings) -> list[str]:
    """Warn of duplicate rows, which scikit-learn's LOF does not when it is fit for new rows."""
    if settings.method != "lof" or scores.min() > -_LOF_OF_DUPLICATES:
        return []
    n_neighbors = 20 if settings.n_neighbors == "auto" else settings.n_neighbors[0]
    return [
        f"Some rows have {n_neighbors} duplicates or more, which makes the factors of "
        "rows beside them huge and meaningless. Use more neighbours, or the method rkof."
    ]


def _check_settings(settings: OutlierSettings) -> None:
    _check_neighbor_numbers(settings)
    check_open_unit_interval(settings.confidence, "confidence")
    if settings.max_false_alarm is not None and settings.contamination != "auto":
        raise InputError(
            f"max_false_alarm={settings.max_false_alarm:g} and "
            f"contamination={quoted(settings.contamination)} both set the threshold. Give only one."
        )


def _check_neighbor_numbers(settings: OutlierSettings) -> None:
    entry = detector_named(settings.method, "outliers")
    if "n_neighbors" in entry.parameters:
        checked_neighbor_numbers(settings.n_neighbors)
        most, numbers = entry.max_neighbor_numbers, settings.n_neighbors
        if most is not None and numbers != "auto" and len(numbers) > most:
            given = ", ".join(map(str, numbers))
            others = _methods_taking("n_neighbors", without=settings.method)
            raise InputError(
                f"Method {settings.method} takes one number of neighbours; got {given}. Give one, "
                f"or use the method {others}."
            )
    if settings.path:
        checked_neighbor_numbers(settings.path)
        if "path" not in entry.parameters:
            raise InputError(
                f"A path over numbers of neighbours exists for the method "
                f"{_methods_taking('path')} only; got the method {settings.method}."
            )


def _methods_taking(parameter: str, without: str = "") -> str:
    return " or ".join(
        name
        for name in detector_names("outliers")
        if name != without and parameter in detector_named(name, "outliers").parameters
    )


def _check_enough_rows(n_rows: int, max_false_alarm: float, confidence: float) -> None:
    """Raise before the fit: what can be proven depends on the number of rows alone."""
    try:
        allowed_false_alarms(n_rows // 2, max_false_alarm, confidence, _BOUND)
    except TooFewRowsError as error:
        raise TooFewRowsError(
            f"{error} Each half of the table is held out in turn, so that takes "
            f"{2 * error.rows_needed} rows in all; there are {n_rows}.",
            rows_needed=error.rows_needed,
            smallest_provable=error.smallest_provable,
        ) from None


def _fit(chain: Pipeline, features: pd.DataFrame, settings: OutlierSettings) -> None:
    try:
        chain.fit(features)
    except InputError:
        raise
    except ValueError as error:  # scikit-learn's message about a parameter
        raise InputError(f"Method {settings.method} cannot use these settings: {error}") from error

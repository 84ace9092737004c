"""The rows of one table judged among themselves: by a convention, or by halves with a proof.

Without known ordinary rows there is nothing to hold out but the table itself. So for a proven
bound its rows are divided at random into two halves, and each half is scored by a detector
(encoder included) that learnt from the other half only. Given the detector, the scores of a half
are then a fair sample of the scores of rows drawn like those of the table, and this much follows:

- Each half has a threshold by :func:`~kernova.false_alarm_threshold`, each with half of the
  allowed doubt, so that with the confidence asked for both hold. So, with that confidence, either
  detector calls at most ``max_false_alarm`` of the rows drawn like these outliers. Of the rows of
  this table no more are called so, either.
- A row's p-value is the share of the rows of its half with as high a factor, itself included. If
  all rows were drawn alike, P(p <= a) <= a for every a.
- Factors of the two halves come from two detectors, and each half has its own threshold. So rows
  called outliers are ranked before all others, and both by falling factor. p-values rise along
  that ranking within each half, but not always over both.

"Rows drawn like these" are rows of the same mixture, outliers included. Outliers in the table can
only raise the factor that it takes to be called one: a table with many makes the threshold
stricter, never looser. So the bound also holds for ordinary rows alone, as long as true outliers
are called so at least as often as ordinary rows are. What is not proven: that a flagged row is an
error, that all outliers are found, or that there are any, since some row is always the strangest.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from kernova.anomaly.local_factor import checked_neighbor_numbers
from kernova.calibration.bounds import (
    allowed_false_alarms,
    check_open_unit_interval,
    false_alarm_threshold,
    rounded_up,
)
from kernova.calibration.splits import split_rows
from kernova.errors import InputError, TooFewRowsError
from kernova.progress import track
from kernova.typing import Indices, Vector
from kernova.workflows.detectors import (
    behind_encoder,
    check_method,
    kernel_depth,
    local_outlier_factor,
)

_BOUND = "binomial"
_NO_ROOM = (
    "With so few rows the bound can only be proven by calling none an outlier. More rows, or a "
    "larger share of false alarms, leave room for some."
)
# Local densities of copies are 1e10 in scikit-learn; no other rows give such factors.
_LOF_OF_PILES = 1e6


@dataclass(frozen=True)
class OutlierSettings:
    """What a user may choose; the command line's options, one for one."""

    method: str = "rkof"
    n_neighbors: tuple[int, ...] = (20,)
    path: tuple[int, ...] = ()
    kernel: str = "volcano"
    bandwidth: "str | float" = "nearest"
    scaling: str = "minmax"
    missing: str = "refuse"
    contamination: "str | float" = "auto"
    max_false_alarm: float | None = None
    confidence: float = 0.95
    top: int = 50
    seed: int = 0


class Proof(NamedTuple):
    """What was proven about how many rows are called outliers, those up to some p-value."""

    bound: float
    max_false_alarm: float
    confidence: float
    n_rows: int
    n_outliers: int
    largest_p_value: float

    def sentence(self) -> str:
        """Say it, rounding so that it stays true."""
        proven = (100 * Decimal(rounded_up(self.bound))).normalize()
        counted = {0: "none was", 1: "1 was"}.get(self.n_outliers, f"{self.n_outliers} were")
        return (
            f"With {100 * self.confidence:.12g} % confidence, at most {proven:f} % of rows drawn "
            f"like these are called outliers ({100 * self.max_false_alarm:.12g} % was asked for; "
            f"of {self.n_rows} rows, each scored by a detector that learnt from the other half, "
            f"{counted})."
        )


class JudgedPart(NamedTuple):
    """Some rows of the table, by their places, and the fitted chain that scored them."""

    model: Pipeline
    places: Indices
    scores: Vector  # high is usual
    threshold: float


class Verdicts(NamedTuple):
    """Every row of the table judged; with a proof, there are p-values."""

    parts: list[JudgedPart]
    scores: Vector
    is_outlier: NDArray[np.bool_]
    p_values: Vector | None
    proof: Proof | None
    notes: list[str]


def judge_rows(features: pd.DataFrame, settings: OutlierSettings) -> Verdicts:
    """Judge each row among the others; by halves if a bound is to be proven."""
    _check_settings(settings)
    if len(features) < 2:
        raise InputError(
            f"Outliers are found by comparing rows, and there is {len(features)}. Give at least 2."
        )
    if settings.max_false_alarm is None:
        return _among_themselves(features, settings)
    return _by_halves(features, settings, settings.max_false_alarm)


def _among_themselves(features: pd.DataFrame, settings: OutlierSettings) -> Verdicts:
    notes: list[str] = []
    chain = _chain(settings, for_new_rows=False)
    with warnings_as_notes(notes):
        _fitted(chain, features, settings)
    detector = chain[-1]
    is_depth = settings.method == "depth"
    scores = detector._training_depths if is_depth else detector.negative_outlier_factor_
    offset = float(detector.offset_)
    notes += _piled_up(scores, settings)
    part = JudgedPart(chain, np.arange(len(features)), scores, offset)
    return Verdicts([part], scores, scores < offset, None, None, notes)


def _by_halves(
    features: pd.DataFrame, settings: OutlierSettings, max_false_alarm: float
) -> Verdicts:
    n_rows = len(features)
    # Two thresholds, both to hold: each gets half of the allowed doubt.
    confidence = 1 - (1 - settings.confidence) / 2
    _check_enough_rows(n_rows, max_false_alarm, confidence)
    first, second = split_rows(n_rows, n_rows // 2, np.random.RandomState(settings.seed))
    notes: list[str] = []
    parts, bounds = [], []
    for learnt, judged in track([(first, second), (second, first)], "halves"):
        chain = _chain(settings, for_new_rows=True)
        with warnings_as_notes(notes):
            _fitted(chain, features.iloc[learnt], settings)
        scores = chain.score_samples(features.iloc[judged])
        found = false_alarm_threshold(scores, max_false_alarm, confidence, _BOUND)
        parts.append(JudgedPart(chain, judged, scores, found.threshold))
        bounds.append(found.bound)
    # Both halves may have the same to say; one of them is enough.
    said = [f"In each half: {note}" for note in notes[:1]]
    verdicts = _together(parts, n_rows)
    said += _piled_up(verdicts.scores, settings)
    shares = [
        allowed_false_alarms(len(part.scores), max_false_alarm, confidence, _BOUND)
        / len(part.scores)
        for part in parts
    ]
    if max(shares) == 0:
        said.append(_NO_ROOM)
    proof = Proof(
        bound=max(bounds),
        max_false_alarm=max_false_alarm,
        confidence=settings.confidence,
        n_rows=n_rows,
        n_outliers=int(verdicts.is_outlier.sum()),
        largest_p_value=max(shares),
    )
    return verdicts._replace(proof=proof, notes=said)


def _together(parts: list[JudgedPart], n_rows: int) -> Verdicts:
    """Judge the rows of each half by its own threshold, and among its own rows."""
    all_scores, p_values = np.empty(n_rows), np.empty(n_rows)
    is_outlier = np.zeros(n_rows, dtype=np.bool_)
    for _, places, scores, threshold in parts:
        all_scores[places] = scores
        is_outlier[places] = scores <= threshold
        n_as_low = np.searchsorted(np.sort(scores), scores, side="right")
        p_values[places] = n_as_low / len(scores)
    return Verdicts(parts, all_scores, is_outlier, p_values, None, [])


def _piled_up(scores: Vector, settings: OutlierSettings) -> list[str]:
    """Say what scikit-learn's LOF does not say when it is fit for new rows."""
    if settings.method != "lof" or scores.min() > -_LOF_OF_PILES:
        return []
    return [
        f"Some rows have {settings.n_neighbors[0]} copies or more, which makes the factors of rows "
        "beside them huge and meaningless. Take more neighbours, or the method rkof."
    ]


def _check_settings(settings: OutlierSettings) -> None:
    check_method(settings.method, METHODS)
    if settings.method != "depth":
        checked_neighbor_numbers(settings.n_neighbors)
    if settings.method == "lof" and len(settings.n_neighbors) > 1:
        given = ", ".join(map(str, settings.n_neighbors))
        raise InputError(
            f"Method lof takes one number of neighbours; got {given}. Give one, or take the method "
            "rkof, ldf or lpf."
        )
    if settings.path:
        checked_neighbor_numbers(settings.path)
    if settings.path and settings.method != "rkof":
        raise InputError(
            "Only for the method rkof is there a path over numbers of neighbours; got the method "
            f"{settings.method}."
        )
    check_open_unit_interval(settings.confidence, "confidence")
    if settings.max_false_alarm is not None and settings.contamination != "auto":
        raise InputError(
            "A bound on false alarms and a contamination each set the threshold. Give one of them."
        )


def _check_enough_rows(n_rows: int, max_false_alarm: float, confidence: float) -> None:
    """Fail before the fit: what can be proven depends on the number of rows alone."""
    try:
        allowed_false_alarms(n_rows // 2, max_false_alarm, confidence, _BOUND)
    except TooFewRowsError as error:
        raise TooFewRowsError(
            f"{error} Each half of the table is held out in turn, so that takes "
            f"{2 * error.rows_needed} rows in all; there are {n_rows}.",
            rows_needed=error.rows_needed,
            smallest_provable=error.smallest_provable,
        ) from None


def _chain(settings: OutlierSettings, *, for_new_rows: bool) -> Pipeline:
    detector = METHODS[settings.method](settings, for_new_rows)
    return behind_encoder(detector, settings.scaling, settings.missing)


def _fitted(chain: Pipeline, features: pd.DataFrame, settings: OutlierSettings) -> None:
    try:
        chain.fit(features)
    except InputError:
        raise
    except ValueError as error:  # scikit-learn's own sentence about a parameter
        raise InputError(f"Method {settings.method} cannot be used so: {error}") from error


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Collect what estimators warn users of; other warnings go on their way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if warning.category is not UserWarning:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
            continue
        words = str(warning.message)
        name, _, rest = words.partition(": ")
        notes.append(rest if rest and name.isidentifier() else words)


def _robust_kernel(settings: OutlierSettings, for_new_rows: bool) -> BaseEstimator:
    from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor

    return RobustKernelOutlierFactor(
        list(settings.n_neighbors),
        kernel=settings.kernel,
        contamination=settings.contamination,
        novelty=for_new_rows,
    )


def _local_outlier_factor(settings: OutlierSettings, for_new_rows: bool) -> BaseEstimator:
    # Fit for new rows in either case: so the factors of hypothetical rows explain the real ones.
    return local_outlier_factor(
        n_neighbors=settings.n_neighbors[0], contamination=settings.contamination
    )


def _local_density(settings: OutlierSettings, for_new_rows: bool) -> BaseEstimator:
    from kernova.anomaly.baselines import LocalDensityFactor

    return LocalDensityFactor(
        list(settings.n_neighbors), contamination=settings.contamination, novelty=for_new_rows
    )


def _local_peculiarity(settings: OutlierSettings, for_new_rows: bool) -> BaseEstimator:
    from kernova.anomaly.baselines import LocalPeculiarityFactor

    return LocalPeculiarityFactor(
        list(settings.n_neighbors), contamination=settings.contamination, novelty=for_new_rows
    )


def _depth(settings: OutlierSettings, for_new_rows: bool) -> BaseEstimator:
    return kernel_depth(settings.bandwidth, settings.seed, settings.contamination)


METHODS: dict[str, Callable[[OutlierSettings, bool], BaseEstimator]] = {
    "rkof": _robust_kernel,
    "lof": _local_outlier_factor,
    "ldf": _local_density,
    "lpf": _local_peculiarity,
    "depth": _depth,
}

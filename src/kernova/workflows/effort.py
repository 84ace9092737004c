"""Effort of a study: rows to learn from, rows to explain, and the time that all will take.

What is computed depends on the size of the tables only, never on a clock, so that every machine
gives the same result. The clock serves the announcement alone.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import num_samples, safe_indexing
from kernova.progress import announce, track
from kernova.text import plural, quantity
from kernova.typing import Indices, Vector
from kernova.workflows.detectors import Detector

# Fewer rows say too little about the others, however many there are.
_FEWEST_FITTED = 1000
# Rows that are scored at once: progress is reported between them.
_BLOCK_ROWS = 1 << 14

# About how many hypothetical rows explain one row, and the ordinary rows it is compared with.
_BUDGET, _FEWEST = 1000, 100
_NEAREST, _FEWEST_NEAREST = 5, 3
# Explaining takes no longer than judging, or a few seconds: this fraction of a detector's pairs,
# and so many nanoseconds for detectors without and for making and encoding cells.
_PAIRS_FRACTION = 1 / 64
_EXPLAINING_TIME = 5e9
_SCORING_A_ROW, _MAKING_A_CELL = 40_000, 500
# A hypothetical row costs as much as twice a judged one at most, and sixteen times where trees
# search the neighbours of a row far from all others (measured).
_COST, _COST_IN_TREES = 2, 16
_MOST_COLUMNS_IN_TREES = 15

# Fewer rows to judge take a few seconds.
_FEWEST_WITH_PAIRS, _FEWEST_WITH_SAMPLES = 20_000, 100_000
# Rows of the timed fits; from the second number on, ensembles draw samples of the same sizes.
_FEWEST_TIMED_ROWS, _MOST_TIMED_ROWS = 1000, 40_000
# A fit on so few rows is timed as it is: the depth takes another way from some size on.
_FITTED_WHOLE = 10_000
_TIMED_SCORES = (500, 2000, 8000, 32_000)
_SECONDS_OF_FIT, _SECONDS_OF_SCORES, _SHORTEST = 1.0, 0.2, 1e-9
_SECONDS_WORTH_SAYING = 10.0


class SampledDetector(OutlierMixin, BaseEstimator):
    """Detector that learns from a random sample of the rows, and scores all.

    For detectors whose time grows with the number of pairs of rows.

    Parameters
    ----------
    detector : estimator
        A detector that scores new rows.
    most_fitted : int
        The detector learns from so many rows at most.
    training_scores : str, default=None
        Attribute of the detector with the scores of the rows that it learnt from, each among the
        others.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Attributes
    ----------
    detector_ : estimator
        The detector, fitted on the sample.
    sample_indices_ : ndarray of int
        The rows of the sample.
    offset_ : float
        That of the detector, or 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import LocalOutlierFactor
    >>> from kernova.workflows.effort import SampledDetector
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> detector = SampledDetector(LocalOutlierFactor(novelty=True), 200, random_state=0).fit(X)
    >>> len(detector.sample_indices_), detector.predict([[0, 0], [9, 9]])
    (200, array([ 1, -1]))
    """

    def __init__(
        self,
        detector: Any,
        most_fitted: int = _FEWEST_FITTED,
        training_scores: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.detector = detector
        self.most_fitted = most_fitted
        self.training_scores = training_scores
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Draw the sample and fit the detector on it."""
        n_rows = num_samples(X)
        random = check_random_state(self.random_state)
        drawn = random.choice(n_rows, min(self.most_fitted, n_rows), replace=False)
        self.sample_indices_: Indices = np.sort(drawn)
        self.detector_ = clone(self.detector).fit(safe_indexing(X, self.sample_indices_))
        self.offset_ = float(getattr(self.detector_, "offset_", 0.0))
        return self

    def score_samples(self, X: Any) -> Vector:
        """Return the detector's scores; high is ordinary."""
        check_is_fitted(self, "detector_")
        n_rows = num_samples(X)
        scores = np.empty(n_rows)
        for start in track(range(0, n_rows, _BLOCK_ROWS), "scoring"):
            block = np.arange(start, min(start + _BLOCK_ROWS, n_rows))
            scores[block] = self.detector_.score_samples(safe_indexing(X, block))
        return scores

    def score_training_rows(self, X: Any) -> Vector:
        """Return the scores of the rows of ``fit``: those of the sample among the others of it."""
        scores = self.score_samples(X)
        if self.training_scores is not None:
            scores[self.sample_indices_] = getattr(self.detector_, self.training_scores)
        return scores

    def decision_function(self, X: Any) -> Vector:
        """Return the scores minus ``offset_``."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Vector:
        """Return -1 for outliers and +1 for others, by the detector's own threshold."""
        return np.where(self.decision_function(X) < 0, -1, 1)


def last_detector(chain: Pipeline) -> Any:
    """Return the fitted detector at the end of a chain, behind the sample that it learnt from."""
    last = chain[-1]
    return last.detector_ if isinstance(last, SampledDetector) else last


def most_fitted_rows(entry: Detector, n_fitted: int, n_judged: int) -> int | None:
    """Return the size of the sample to learn from; None stands for all rows.

    Parameters
    ----------
    entry : Detector
        The method.
    n_fitted : int
        Number of rows that it could learn from.
    n_judged : int
        Number of rows that it scores, its own included.

    Examples
    --------
    >>> from kernova.workflows.detectors import detector_named
    >>> from kernova.workflows.effort import most_fitted_rows
    >>> depth = detector_named("depth", "novelty")
    >>> most_fitted_rows(depth, 5000, 10_000), most_fitted_rows(depth, 250_000, 500_000)
    (None, 2000)
    """
    if entry.most_pairs is None:
        return None
    most = max(_FEWEST_FITTED, int(entry.most_pairs // max(n_judged, 1)))
    return most if most < n_fitted else None


def sample_note(most_fitted: int, n_rows: int) -> str:
    """Return the sentence that a detector learnt from a sample.

    Examples
    --------
    >>> from kernova.workflows.effort import sample_note
    >>> sample_note(2000, 250_000)
    'The detector learnt from 2,000 of 250,000 rows, drawn at random: all would take too long.'
    """
    return (
        f"The detector learnt from {most_fitted:,} of {quantity(n_rows, 'row')}, drawn at random: "
        "all would take too long."
    )


class Effort(NamedTuple):
    """Number of rows to explain, and the hypothetical rows to spend on each."""

    n_rows: int
    n_nearest: int
    budget: int


def explaining_effort(
    entry: Detector, n_wanted: int, n_columns: int, n_fitted: int, n_judged: int
) -> Effort:
    """Plan to explain all rows asked for if that takes no longer than judging, or a few seconds.

    First fewer hypothetical rows are spent on each, then fewer rows are explained: with d
    columns, at least 2 d hypothetical rows lie between a row and each ordinary one.
    """
    if n_wanted == 0:
        return Effort(0, _NEAREST, _BUDGET)
    in_trees = "n_neighbors" in entry.parameters and n_columns <= _MOST_COLUMNS_IN_TREES
    affordable = _EXPLAINING_TIME / (_SCORING_A_ROW + _MAKING_A_CELL * n_columns)
    if entry.most_pairs is not None:
        affordable = min(affordable, _PAIRS_FRACTION * entry.most_pairs / n_fitted)
    affordable = int(max(affordable, n_judged // (_COST_IN_TREES if in_trees else _COST)))
    budget = int(np.clip(affordable // n_wanted, _FEWEST, _BUDGET))
    n_nearest = affordable // n_wanted // (2 * n_columns)
    n_nearest = int(np.clip(n_nearest, _FEWEST_NEAREST, _NEAREST))
    needed = n_nearest * min(2 * n_columns, 2 ** min(n_columns, 20))
    return Effort(max(1, min(n_wanted, affordable // needed)), n_nearest, budget)


class Study(NamedTuple):
    """The size of a study: what is fitted how often, and what is scored."""

    entry: Detector
    n_fitted: int  # rows that each fit learns from
    n_judged: int
    n_fits: int = 1
    is_among: bool = False  # rows are scored among the others of their table

    @property
    def is_sampling(self) -> bool:
        """Whether the estimator draws samples itself, so that the fit hardly takes longer."""
        return self.entry.most_pairs is None

    @property
    def has_scores(self) -> bool:
        """Whether a fit on all rows has computed their scores."""
        is_whole = self.is_among and self.n_fitted == self.n_judged
        return is_whole and not self.is_sampling and self.entry.training_scores is not None


def announce_duration(
    make_chain: Callable[[], Pipeline], features: pd.DataFrame, study: Study
) -> None:
    """Announce how long a study will take, if that is long."""
    fewest = _FEWEST_WITH_SAMPLES if study.is_sampling else _FEWEST_WITH_PAIRS
    if study.n_judged < fewest:
        return

    def sentence() -> str | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds = estimated_seconds(make_chain, features, study)
        except (ValueError, ArithmeticError):  # a small sample may not do where the table does
            return None
        if seconds < _SECONDS_WORTH_SAYING:
            return None
        return (
            f"Judging {quantity(study.n_judged, 'row')} of "
            f"{quantity(features.shape[1], 'column')} by the method {study.entry.name} will take "
            f"about {_in_words(seconds)}."
        )

    announce(sentence)


def _in_words(seconds: float) -> str:
    """Return a duration, rounded.

    Examples
    --------
    >>> from kernova.workflows.effort import _in_words
    >>> _in_words(14), _in_words(80), _in_words(130), _in_words(9000)
    ('20 seconds', '80 seconds', '3 minutes', '2.5 hours')
    """
    if seconds <= 110:
        return f"{10 * max(1, int(np.ceil(seconds / 10)))} seconds"
    if seconds <= 5400:
        n_minutes = int(np.ceil(seconds / 60))
        return f"{n_minutes} {plural(n_minutes, 'minute')}"
    return f"{seconds / 3600:.1f} hours"


def estimated_seconds(
    make_chain: Callable[[], Pipeline], features: pd.DataFrame, study: Study
) -> float:
    """Return about how long a study takes, from the times of samples of its rows.

    Times of the processor are extrapolated, which other programs hardly disturb, and then
    multiplied by how long it took for each second of them.
    """
    started, used = time.perf_counter(), time.process_time()
    total = _processor_seconds(make_chain, features, study)
    used = time.process_time() - used
    return total * (time.perf_counter() - started) / max(used, _SHORTEST)


def _processor_seconds(
    make_chain: Callable[[], Pipeline], features: pd.DataFrame, study: Study
) -> float:
    """Time a fit that is short or draws samples as it is; extrapolate any other from two."""
    most = min(study.n_fitted, _MOST_TIMED_ROWS)
    order = np.random.default_rng(0).permutation(len(features))
    learnt = features.iloc[order[:most]]
    others = features.iloc[order[most : most + _TIMED_SCORES[-1]]]
    is_timed_whole = study.is_sampling or most <= _FITTED_WHOLE
    fits = _timed_fits(make_chain, learnt, [most] if is_timed_whole else _sizes(most))
    # Two doublings, if there were so many, say more about the growth than one.
    last, earlier = fits[-1], fits[max(0, len(fits) - 3)]
    # Ensembles judge rows that they know in another way.
    is_own = len(others) == 0 or (study.is_among and study.is_sampling)
    scored = learnt if is_own else others
    fitting = study.n_fits * last.seconds
    scoring = 0.0 if study.has_scores else study.n_judged * _seconds_per_row(last.chain, scored)
    if study.is_sampling or last.n_rows == study.n_fitted:
        return fitting + scoring
    n_doublings = np.log2(study.n_fitted / last.n_rows)
    n_timed_doublings = np.log2(last.n_rows / earlier.n_rows)
    # Fitting takes at least as long as reading the rows, and scoring at most as long as comparing.
    fit_growth = np.log2(last.seconds / earlier.seconds) / n_timed_doublings
    fitting *= 2 ** (np.clip(fit_growth, 1, 2) * n_doublings)
    if not scoring:
        return float(fitting)
    earlier_scoring = study.n_judged * _seconds_per_row(earlier.chain, scored)
    score_growth = np.log2(scoring / earlier_scoring) / n_timed_doublings
    return float(fitting + scoring * 2 ** (np.clip(score_growth, 0, 1) * n_doublings))


class _TimedFit(NamedTuple):
    chain: Pipeline
    n_rows: int
    seconds: float


def _sizes(most: int) -> list[int]:
    """Return the sizes of the fits, each twice the one before."""
    sizes = [min(_FEWEST_TIMED_ROWS, most)]
    while sizes[-1] < most:
        sizes.append(min(2 * sizes[-1], most))
    return sizes


def _timed_fits(
    make_chain: Callable[[], Pipeline], learnt: pd.DataFrame, sizes: list[int]
) -> list[_TimedFit]:
    """Time fits on more and more rows, two at least, until one takes a second."""
    fits: list[_TimedFit] = []
    for n_rows in sizes:
        started = time.process_time()
        chain = make_chain().fit(learnt.iloc[:n_rows])
        elapsed = time.process_time() - started
        fits.append(_TimedFit(chain, n_rows, max(elapsed, _SHORTEST)))
        if elapsed > _SECONDS_OF_FIT and len(fits) > 1:
            break
    return fits


def _seconds_per_row(chain: Pipeline, scored: pd.DataFrame) -> float:
    """Time the scoring of more and more rows until the difference tells what a row takes.

    What any call takes, such as the kernels among the rows of the fit, is no time of its rows.
    """
    n_rows, elapsed = 0, 0.0
    per_row = _SHORTEST
    for n_next in _TIMED_SCORES:
        if n_rows and n_next > len(scored):
            break
        n_next = min(n_next, len(scored))
        started = time.process_time()
        chain.score_samples(scored.iloc[:n_next])
        before, elapsed = elapsed, time.process_time() - started
        per_row = elapsed / n_next
        if elapsed > before:
            per_row = (elapsed - before) / (n_next - n_rows)
        is_told = n_rows > 0 and elapsed - before > _SECONDS_OF_SCORES
        n_rows = n_next
        if is_told:
            break
    return max(per_row, _SHORTEST)

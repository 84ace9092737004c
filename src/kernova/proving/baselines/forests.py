"""Isolation forests with feedback: PineForest and active anomaly detection (AAD).

After Korolev and others, "Active anomaly detection with isolation forests: coniferest", 2024, and
Das and others, "Incorporating Feedback into Tree-based Anomaly Detection", 2017, as the package
``coniferest`` has them. Asked is always the most anomalous row. These methods take two answers: a
row is an anomaly or regular. Here a row is an anomaly if its category was not met before, and
regular otherwise, so that forests turn away from every region that gave the same category twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernova.discover.questions import Answer, Question
from kernova.errors import InputError
from kernova.proving.baselines.asking import RowAsker, question_about
from kernova.typing import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

_TREES: Final = 100
_SPARE_TREES: Final = 400
_SUBSAMPLE: Final = 256
# Das and others: three in a hundred rows are expected to be anomalies.
_ANOMALIES: Final = 0.03
# With many answers one more changes a forest little: refit after each fiftieth part.
_REFIT_FRACTION: Final = 0.02
# Labels of the package.
_ANOMALY, _REGULAR = -1, 1


@dataclass
class PineForest:
    """An isolation forest that keeps, of 500 trees, the 100 that agree best with the answers.

    The seed of the forest is that of the preparation.

    Examples
    --------
    >>> from kernova.proving.baselines.forests import PineForest
    >>> PineForest().name
    'pine-forest'
    """

    name: str = "pine-forest"

    def start(self, preparation: "Preparation") -> "ForestAsker":
        """Return a fresh asker; the package ``coniferest`` must be installed."""
        maker = _coniferest("pineforest").PineForest
        return _asker(maker, preparation, n_spare_trees=_SPARE_TREES)


@dataclass
class AnomalyFeedbackForest:
    """An isolation forest whose leaves are weighted by the answers (AAD).

    Weights stay near equal ones, by a penalty that counts like the answers, and three in a hundred
    rows are expected to be anomalies; the package's own defaults leave out the penalty, and with it
    a unique solution. The seed of the forest is that of the preparation.

    Examples
    --------
    >>> from kernova.proving.baselines.forests import AnomalyFeedbackForest
    >>> AnomalyFeedbackForest().name
    'aad-forest'
    """

    name: str = "aad-forest"

    def start(self, preparation: "Preparation") -> "ForestAsker":
        """Return a fresh asker; the package ``coniferest`` must be installed."""
        maker = _coniferest("aadforest").AADForest
        return _asker(maker, preparation, budget=_ANOMALIES, prior_influence=1.0)


def _coniferest(module: str) -> Any:
    try:
        return import_module(f"coniferest.{module}")
    except ImportError:
        raise InputError(
            "Forests with feedback need the package coniferest, which is not installed. Install it "
            "with: pip install coniferest"
        ) from None


def _asker(
    maker: Callable[..., Any], preparation: "Preparation", **settings: float
) -> "ForestAsker":
    Z = preparation.rows("zscore")
    if Z.shape[1] == 0 or len(Z) < 2:  # nothing to split
        Z = np.column_stack([np.arange(max(2, len(Z)))]).astype(np.float64)
    forest = maker(
        n_trees=_TREES,
        n_subsamples=min(_SUBSAMPLE, len(Z)),
        n_jobs=1,
        random_seed=preparation.random_state,
        **settings,
    )
    forest.fit(Z)
    return ForestAsker(preparation.n_rows, Z, forest)


class ForestAsker(RowAsker):
    """One run: the forest, which changes with the answers, and the rows answered.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    Z : array of shape (n_rows, n_columns)
        Standardised rows.
    forest : object
        A fitted forest of ``coniferest``; low scores mean anomalies.
    """

    def __init__(self, n_rows: int, Z: Matrix, forest: Any) -> None:
        super().__init__(n_rows)
        self._Z, self._forest = Z, forest
        self._met: set[str] = set()
        self._answered: dict[int, int] = {}  # the package's label of each row
        self._next_fit = 1  # number of answers
        self._scores: Vector | None = None

    def _question(self, is_free: Mask) -> Question:
        if self._scores is None:
            self._scores = np.asarray(self._forest.score_samples(self._Z), dtype=np.float64)
        rows: Indices = np.flatnonzero(is_free)
        row = int(rows[np.argmin(self._scores[rows])])
        score = -float(self._scores[row])
        reason = (
            f"The forest isolates it soonest of all open rows: its anomaly score is {score:.3g}."
        )
        return question_about(row, reason, anomaly=score)

    def _learn(self, answer: Answer) -> None:
        if answer.label is None:
            return
        self._answered[answer.row] = _REGULAR if answer.label in self._met else _ANOMALY
        self._met.add(answer.label)
        n_answers = len(self._answered)
        if n_answers >= self._next_fit:
            rows = np.fromiter(self._answered, dtype=np.intp, count=n_answers)
            labels = np.fromiter(self._answered.values(), dtype=np.intp, count=n_answers)
            self._forest.fit_known(self._Z, self._Z[rows], labels)
            self._next_fit = n_answers + max(1, int(_REFIT_FRACTION * n_answers))
            self._scores = None

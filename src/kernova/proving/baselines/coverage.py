"""Coverage: ask rows that represent all others, by k-means or by farthest-first traversal.

K-means runs with k = 2, 4, 8, ... clusters, and asks the row nearest to each centre, those of large
clusters first; a row already in the order is left out (after Nguyen and Smeulders, "Active Learning
Using Pre-clustering", ICML 2004, without their classifier). Farthest-first asks the row nearest to
the mean of all, then each time the row with the largest distance to the nearest one asked
(Gonzalez, "Clustering to Minimize the Maximum Intercluster Distance", 1985). Neither uses labels.
"""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Question
from kernova.discover.strategies.spacing import distances_to
from kernova.proving.baselines.asking import OrderAsker, RowAsker, question_about
from kernova.typing import Indices, Mask, Matrix

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

# Steps of k-means: later ones move centres less than from one row to the next.
_MOST_STEPS: Final = 25
# More clusters take minutes, and a run that asks so many rows has failed.
_MOST_CLUSTERS: Final = 1024


@dataclass
class KMeansCoverage:
    """Ask the rows nearest to the centres of 2, 4, 8, ... clusters.

    After 1,024 clusters, or half as many as rows, the remaining rows follow in the table's order.
    Random starts of k-means come from the seed of the preparation.

    Examples
    --------
    >>> from kernova.proving.baselines.coverage import KMeansCoverage
    >>> KMeansCoverage().name
    'k-means'
    """

    name: str = "k-means"

    def start(self, preparation: "Preparation") -> OrderAsker:
        """Return a fresh asker; the order made so far is cached in the preparation."""
        order = cached(preparation, ("k-means order",), lambda: self._order(preparation))
        reason = "It is nearest to the centre of a cluster by k-means."
        return OrderAsker(preparation.n_rows, order.first, reason)

    def first_rows(self, preparation: "Preparation", n: int) -> Indices:
        """Return the first ``n`` rows to be asked, which no answer changes."""
        order = cached(preparation, ("k-means order",), lambda: self._order(preparation))
        return order.first(n)[:n]

    def _order(self, preparation: "Preparation") -> "CentreOrder":
        return CentreOrder(preparation.rows("zscore"), preparation.random_state)


class CentreOrder:
    """Rows nearest to centres, made cluster by cluster as they are needed.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
        Standardised rows.
    seed : int
        Seed of the starts of k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.coverage import CentreOrder
    >>> CentreOrder(np.array([[0.0], [0.1], [0.2], [5.0]]), seed=0).first(2).tolist()
    [1, 3]
    """

    def __init__(self, Z: Matrix, seed: int) -> None:
        self._Z, self._seed = Z, seed
        self._most_clusters = min(_MOST_CLUSTERS, len(Z) // 2)
        self._n_clusters = 2
        self._rows = np.empty(0, dtype=np.intp)

    def first(self, n: int) -> Indices:
        """Return at least the first ``n`` rows."""
        while len(self._rows) < n:
            if self._n_clusters > self._most_clusters:
                self._add(np.arange(len(self._Z)))
                break
            self._add(central_rows(self._Z, self._n_clusters, self._seed))
            self._n_clusters *= 2
        return self._rows

    def _add(self, rows: Indices) -> None:
        self._rows = np.concatenate([self._rows, rows[~np.isin(rows, self._rows)]])


def central_rows(Z: Matrix, n_clusters: int, seed: int) -> Indices:
    """Return the row nearest to the centre of each cluster, those of large clusters first."""
    if Z.shape[1] == 0:
        return np.zeros(1, dtype=np.intp)
    model = KMeans(n_clusters, n_init=1, max_iter=_MOST_STEPS, random_state=seed)
    with warnings.catch_warnings():
        # Tables with fewer distinct rows than clusters; the same rows are found again.
        warnings.simplefilter("ignore", ConvergenceWarning)
        owners = model.fit_predict(Z)
    sizes = np.bincount(owners, minlength=n_clusters)
    nearest = np.argmin(cdist(model.cluster_centers_, Z), axis=1)
    return nearest[np.argsort(-sizes, kind="stable")].astype(np.intp)


@dataclass
class FarthestFirst:
    """Ask the row farthest from all rows labelled so far; the first is nearest to the mean.

    Examples
    --------
    >>> from kernova.proving.baselines.coverage import FarthestFirst
    >>> FarthestFirst().name
    'farthest-first'
    """

    name: str = "farthest-first"

    def start(self, preparation: "Preparation") -> "FarthestAsker":
        """Return a fresh asker."""
        return FarthestAsker(preparation.rows("zscore"))


class FarthestAsker(RowAsker):
    """One run: the distance of each row to the nearest one answered."""

    def __init__(self, Z: Matrix) -> None:
        super().__init__(len(Z))
        self._Z = Z
        self._distance = np.full(len(Z), np.inf)
        self._from_mean = distances_to(Z, Z.mean(axis=0))

    def _question(self, is_free: Mask) -> Question:
        rows = np.flatnonzero(is_free)
        if np.isinf(self._distance[rows[0]]):
            row = int(rows[np.argmin(self._from_mean[rows])])
            return question_about(row, "It is nearest to the mean of all rows.")
        row = int(rows[np.argmax(self._distance[rows])])
        distance = float(self._distance[row])
        reason = f"It is farthest from all rows answered so far: {distance:.3g} from the nearest."
        return question_about(row, reason, distance=distance)

    def _learn(self, answer: Answer) -> None:
        np.minimum(self._distance, distances_to(self._Z, self._Z[answer.row]), out=self._distance)

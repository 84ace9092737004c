"""Labels that look wrong: what a model that was learnt without a row says against its label.

As in confident learning (Northcutt, Jiang and Chuang, 2021), a label looks wrong if the model
prefers another category, and is at least as sure of it as it is on average of the rows that are
labelled with it.
"""

from typing import NamedTuple

import numpy as np

from kernova.typing import Indices, Mask, Matrix, Vector


class Doubts(NamedTuple):
    """What a model says against the label of each row; -1 and NaN where it says nothing."""

    #: Probability of the row's own label, and the most probable other category with its own.
    own: Vector
    other: Indices
    other_probability: Vector
    looks_wrong: Mask

    @property
    def disagreement(self) -> Vector:
        """Probability by which another category leads, from -1 to 1."""
        return self.other_probability - self.own


def doubts_about(labels: Indices, ranking: Indices, probabilities: Matrix, by_hand: Mask) -> Doubts:
    """Return what a model says against the labels of rows.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Position of each row's category; -1 without a label.
    ranking, probabilities : ndarray of shape (n_rows, n_ranked)
        Positions of the most probable categories, -1 for none, and their probabilities. Those of
        labelled rows come from models that were learnt without them; all are 0 if there are none.
    by_hand : ndarray of bool
        Rows whose labels show how sure the model is of right ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.review.doubts import doubts_about
    >>> labels = np.array([0, 0, 1, 1, -1])
    >>> ranking = np.array([[0, 1], [0, 1], [1, 0], [0, 1], [0, 1]])
    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.95, 0.05], [0.6, 0.4]])
    >>> doubts = doubts_about(labels, ranking, p, labels >= 0)
    >>> doubts.looks_wrong.tolist(), doubts.disagreement.round(2).tolist()
    ([False, False, False, True, False], [-0.8, -0.6, -0.4, 0.9, nan])
    """
    is_judged = (labels >= 0) & (probabilities.sum(axis=1) > 0)
    is_own = ranking == labels[:, None]
    own = np.where(is_own, probabilities, 0.0).sum(axis=1)
    usual = _usual_probabilities(labels, own, is_judged & by_hand)
    rivals = np.where(is_own | (ranking < 0), -1.0, probabilities)
    is_sure = rivals >= np.append(usual, np.inf)[ranking]
    is_candidate = is_sure & (rivals > own[:, None]) & is_judged[:, None]
    # The rival that is shown: one that makes the label look wrong, if there is one.
    best = np.where(is_candidate, rivals + 1, rivals).argmax(axis=1)
    places = np.arange(len(labels))
    has_rival = is_judged & (rivals[places, best] >= 0)
    return Doubts(
        own=np.where(is_judged, own, np.nan),
        other=np.where(has_rival, ranking[places, best], -1),
        other_probability=np.where(
            is_judged, np.maximum(rivals[places, best], 0.0), np.nan
        ),
        looks_wrong=is_candidate.any(axis=1),
    )  # fmt: skip


def _usual_probabilities(labels: Indices, own: Vector, chosen: Mask) -> Vector:
    """Return the mean probability of the own label of each category's rows; inf without any."""
    n_categories = int(labels.max(initial=-1)) + 1
    counts = np.bincount(labels[chosen], minlength=n_categories)
    totals = np.bincount(labels[chosen], own[chosen], minlength=n_categories)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.inf)

"""Verdicts of a model on all rows, under present categories and without rejected ones.

A model is learnt from the labels of a moment. Categories that were renamed or merged since then
are found by the rows that they had; those that were deleted are suggested no longer. Categories
that an expert rejected for a row are never suggested for it again.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.typing import Indices, Vector
from kernova.workbench.recognizer import JudgedRows
from kernova.workbench.suggestions import HeldOutAnswers, Precision

Labels = NDArray[np.object_]


class LearntRows(NamedTuple):
    """Suggestions for all rows from one run of learning.

    Light enough to be kept for several runs, so that what an expert looks at stays as it was.
    """

    #: Increases with every run; runs of an earlier server have lower numbers.
    generation: int
    names: list[str]
    judged: JudgedRows
    held_out: HeldOutAnswers
    #: Labels that the model was learnt from.
    labels: Labels

    def suggested(self) -> Indices:
        """Return the position of each row's suggested category; -1 without a suggestion."""
        return np.where(self.judged.is_unknown, -1, self.judged.suggested)

    def precision_of(self, category: str | None, rows: Indices) -> Precision:
        """Return the precision of the suggestions for some rows, of one category or of all."""
        code = None if category is None else self.names.index(category)
        return Precision(self.held_out.of(code), self.judged.probability[rows])


def at_present(
    learnt: LearntRows, labels: Labels, rejected: Mapping[int, Collection[str]]
) -> LearntRows:
    """Return suggestions under the present names, without rejected and deleted categories.

    Parameters
    ----------
    learnt : LearntRows
        What was learnt.
    labels : ndarray of object
        The present label of each row, or None.
    rejected : mapping of int to collection of str
        Categories that rows are known not to be of.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.learnt.rows import LearntRows, at_present
    >>> from kernova.workbench.recognizer import JudgedRows
    >>> from kernova.workbench.suggestions import HeldOutAnswers
    >>> ranking, p = np.array([[0, 1], [0, 1], [1, 0]]), np.array([[0.6, 0.4]] * 3)
    >>> judged = JudgedRows(
    ...     np.array([-1, 0, 1]), p[:, 0], p[:, 0] - p[:, 1], *np.zeros((2, 3)),
    ...     np.zeros(3, dtype=bool), ranking, p)
    >>> held_out = HeldOutAnswers(p[:1, 0], np.zeros(1, dtype=int), p[:1, 0] > 0, np.ones(1))
    >>> then = np.array(["carp", None, None], dtype=object)
    >>> learnt = LearntRows(1, ["carp", "eel"], judged, held_out, then)
    >>> now = np.array(["common carp", None, "eel"], dtype=object)
    >>> found = at_present(learnt, now, {1: ["common carp"]})
    >>> found.names, found.judged.suggested.tolist(), found.judged.is_unknown.tolist()
    (['common carp', 'eel'], [-1, 1, 1], [False, True, False])
    """
    present = _present_names(learnt, labels)
    names = [then if now is None else now for then, now in zip(learnt.names, present, strict=True)]
    judged = learnt.judged
    gone = [code for code, name in enumerate(present) if name is None]
    if gone:
        is_unknown = judged.is_unknown | np.isin(judged.suggested, gone)
        judged = judged._replace(is_unknown=is_unknown)
    if len(set(names)) < len(names):
        judged = _merged(judged, names)
    return learnt._replace(names=names, judged=_without_rejected(judged, names, rejected))


def _present_names(learnt: LearntRows, labels: Labels) -> list[str | None]:
    """Return the present name of each category; None if no row has its label any more."""
    known = set(labels[labels != None])  # noqa: E711
    present: list[str | None] = []
    for name in learnt.names:
        if name in known:
            present.append(name)
            continue
        now = labels[learnt.labels == name]
        found, counts = np.unique(now[now != None].astype(str), return_counts=True)  # noqa: E711
        present.append(str(found[counts.argmax()]) if len(found) else None)
    return present


def _merged(judged: JudgedRows, names: list[str]) -> JudgedRows:
    """Replace merged categories by the first of them in suggestions and rankings."""
    first = np.array([names.index(name) for name in names])
    suggested = np.where(judged.suggested < 0, judged.suggested, first[judged.suggested])
    return judged._replace(suggested=suggested, ranking=first[judged.ranking])


def _without_rejected(
    judged: JudgedRows, names: list[str], rejected: Mapping[int, Collection[str]]
) -> JudgedRows:
    """Suggest the next category where the best was rejected, if it is the more probable part.

    What is left to the rejected ones counts as no category at all, as it does after learning
    again.
    """
    codes = {name: code for code, name in enumerate(names)}
    chosen = [row for row, those in rejected.items() if not codes.keys().isdisjoint(those)]
    if not chosen:
        return judged
    judged = judged._replace(**{name: part.copy() for name, part in judged._asdict().items()})
    for row in chosen:
        _reject(judged, row, {codes[name] for name in rejected[row] if name in codes})
    return judged


def _reject(judged: JudgedRows, row: int, codes: set[int]) -> None:
    ranking, p = judged.ranking[row], judged.ranked_probabilities[row]
    is_out = np.isin(ranking, list(codes))
    vetoed = float(p[is_out].sum())
    order = np.argsort(is_out, kind="stable")
    p[is_out] = 0.0
    judged.ranking[row], judged.ranked_probabilities[row] = ranking[order], p[order]
    if judged.suggested[row] < 0:
        return
    best: Vector = judged.ranked_probabilities[row]
    judged.suggested[row] = judged.ranking[row][0]
    judged.probability[row] = best[0]
    judged.margin[row] = best[0] - (best[1] if len(best) > 1 else 0.0)
    judged.none[row] = min(1.0, judged.none[row] + vetoed)
    judged.is_unknown[row] |= vetoed > best[0]

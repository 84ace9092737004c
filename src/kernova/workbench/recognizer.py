"""From the answers so far to a model of the categories, and its verdict on all other rows."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kernova.description.fitting import thresholds_of
from kernova.description.recognizer import TableRecognizer
from kernova.errors import InputError
from kernova.parallel import slices
from kernova.persist.models import save_model
from kernova.progress import track
from kernova.tables.records import json_rows
from kernova.tables.table import Table
from kernova.typing import Indices, Vector
from kernova.workflows.learn import UNKNOWN, LearnResult, LearnSettings, learn_classes

Verdict = Literal["named", "known", "ambiguous", "unknown"]

#: What the codes of ``verdicts`` stand for. A row that has a label needs no verdict.
VERDICTS: Final[tuple[Verdict, ...]] = ("named", "known", "ambiguous", "unknown")
_NAMED, _KNOWN, _AMBIGUOUS, _UNKNOWN = range(4)

FEWEST_ROWS: Final = 3
_BLOCK: Final = 2048
# So many of the unknown rows are spread out; nobody asks more before learning anew.
_SPREAD_OUT: Final = 200
_NAMED_IN_NOTE: Final = 5
# Shares of a category's own rows that it may turn away, the usual one first; and how many of the
# other rows may be turned away by all if more than the usual share is taken.
_REJECTS: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_TURNED_AWAY: Final = 0.1
_LOOKED_AT: Final = 2000
# Of the rows with a label that are as clear as a row called known, so many are recognised rightly.
_RIGHT: Final = 0.9


@dataclass(frozen=True, eq=False)
class Learnt:
    """The categories as a model knows them, and what it says of every row without a label.

    Attributes
    ----------
    model : TableRecognizer
        What ``kernova recognize`` takes.
    result : LearnResult
        How well the rows with a label are recognised when each is left out.
    verdicts : ndarray of int8 of shape (n_rows,)
        Places in :data:`VERDICTS`: 0 for a row that has a label, 1 known, 2 ambiguous (no category
        leads clearly), 3 unknown (none claims it).
    recognized : ndarray of intp of shape (n_rows,)
        Place in ``names`` of the category that claims a row; -1 where none does, or where the
        row has a label.
    membership : ndarray of shape (n_rows,)
        How well the best category explains a row, from 0 to 1; NaN where it has a label.
    names : list of str
        The categories that were learnt.
    unknown_rows : ndarray of intp
        The unknown rows in the order in which they are worth asking: those first that are least
        known, and far from one another.
    ids : list of str
        What the rows are called.
    notes : list of str
        What a reader should also know.
    """

    model: TableRecognizer
    result: LearnResult
    verdicts: NDArray[np.int8]
    recognized: Indices
    membership: Vector
    names: list[str]
    unknown_rows: Indices
    ids: list[str]
    notes: list[str]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows without a label got which verdict."""
        found = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return dict(zip(VERDICTS[1:], found[1:], strict=True))

    @property
    def summary(self) -> str:
        """Say what was learnt, how well, and what that makes of the other rows."""
        counts = self.counts
        n_rows = sum(counts.values())
        if n_rows == 0:
            return f"{self.result.summary} No other rows are left."
        others = "the other row" if n_rows == 1 else f"the {n_rows:,} other rows"
        return (
            f"{self.result.summary} Of {others}, {counts['known']:,} are known, "
            f"{counts['ambiguous']:,} ambiguous and {counts['unknown']:,} unknown."
        )

    @property
    def classes(self) -> list[dict[str, Any]]:
        """One line for each category, as plain values; with how many other rows it claims."""
        claimed = np.bincount(self.recognized[self.recognized >= 0], minlength=len(self.names))
        lines = json_rows(self.result.classes)
        return [line | {"claimed": int(claimed[code])} for code, line in enumerate(lines)]

    def rows_of(self, verdict: str) -> Indices:
        """Give the rows with a verdict: unknown ones as they are worth asking, others least sure.

        Raises
        ------
        InputError
            If there is no such verdict.
        """
        if verdict not in VERDICTS[1:]:
            raise InputError(
                f"There is no verdict {verdict!r}; choose one of {', '.join(VERDICTS[1:])}."
            )
        if verdict == "unknown":
            return self.unknown_rows
        rows = np.flatnonzero(self.verdicts == VERDICTS.index(verdict))
        return rows[np.argsort(self.membership[rows], kind="stable")]

    def line_of(self, row: int) -> dict[str, Any]:
        """Give the verdict on one row as plain values."""
        code, membership = int(self.recognized[row]), float(self.membership[row])
        return {
            "row": int(row),
            "id": self.ids[row],
            "verdict": VERDICTS[self.verdicts[row]],
            "recognized": self.names[code] if code >= 0 else None,
            "membership": None if np.isnan(membership) else membership,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``kernova recognize`` takes."""
        save_model(self.model, path)


def learn_from_answers(
    table: Table,
    labels: Sequence[str | None] | NDArray[Any],
    settings: LearnSettings | None = None,
    groups: NDArray[Any] | None = None,
) -> Learnt:
    """Describe the categories by the rows that have a label, and judge all others.

    Parameters
    ----------
    table : Table
        All rows; its own labels are not looked at.
    labels : sequence of str or None
        The category of each row, None where it has none.
    settings : LearnSettings, optional
        How strict and by how many rows to describe categories. By default missing values are
        filled in if there are any, and categories are as strict as :func:`fitting_reject` says.
    groups : array of shape (n_rows,), optional
        Rows that were named in one step have the same number. They are much alike, so none is
        left out while the others stay: what is learnt would look better than it is.

    Returns
    -------
    Learnt

    Raises
    ------
    InputError
        If too few rows have a label, or a category has a name that would be misunderstood.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.table import Table
    >>> from kernova.workbench.recognizer import learn_from_answers
    >>> fish = pd.DataFrame({"length": [1.0, 1.1, 1.3, 1.2, 7.0, 7.2, 7.3, 7.1, 30.0]})
    >>> table = Table(fish, pd.Series(list("abcdefghi"), name="id"), None, "fish.csv")
    >>> said = ["bleak", "bleak", "bleak", None, "pike", "pike", "pike", None, None]
    >>> learnt = learn_from_answers(table, said)
    >>> learnt.counts
    {'known': 2, 'ambiguous': 0, 'unknown': 1}
    >>> [learnt.line_of(row)["id"] for row in learnt.rows_of("unknown")]
    ['i']
    """
    said = pd.Series(list(labels), dtype=object, name="category")
    has_label = said.notna().to_numpy()
    names = said[has_label].astype(str).tolist()
    _check_enough(names)
    features, left_out = _columns_with_values(table.features, has_label)
    chosen = settings or LearnSettings(
        missing="fill" if features.isna().any(axis=None) else "refuse"
    )
    # The rows without a label are no fault of the table: nobody was asked about them.
    learnt_from = replace(
        table,
        features=features[has_label].reset_index(drop=True),
        ids=table.ids[has_label].reset_index(drop=True),
        labels=said[has_label].reset_index(drop=True),
        n_dropped=0,
    )
    together = None if groups is None else np.asarray(groups)[has_label]
    result = learn_classes(learnt_from, chosen, together)
    reject = fitting_reject(result.model, features[~has_label])
    if settings is None and reject != chosen.reject:
        result = learn_classes(learnt_from, replace(chosen, reject=reject), together)
    result.model.want_clear(_RIGHT)
    judged = _judged(result.model, features, np.flatnonzero(~has_label))
    return Learnt(
        model=result.model,
        result=result,
        verdicts=judged.verdicts,
        recognized=judged.recognized,
        membership=judged.membership,
        names=[str(name) for name in result.model.classes_],
        unknown_rows=judged.unknown_rows,
        ids=table.ids.astype(str).tolist(),
        notes=[
            *left_out,
            *_few_rows_notes(names),
            *_clarity_notes(result.model),
            *_of_use(result.notes),
        ],
    )


def _check_enough(names: list[str]) -> None:
    """Refuse what nothing can be learnt from, with how much would do."""
    counts = Counter(names)
    n_rows, n_names = len(names), len(counts)
    if UNKNOWN in counts:
        raise InputError(
            f"A category is called {UNKNOWN!r}, which is what rows of no category are called. "
            "Rename it, then learn again."
        )
    so_far = f"{n_rows} row{' has' if n_rows == 1 else 's have'} a name so far"
    if n_rows < FEWEST_ROWS:
        raise InputError(
            f"Too few answers to learn from: {so_far}, and at least {FEWEST_ROWS} are needed, two "
            "of them of the same category."
        )
    if max(counts.values()) < 2:
        raise InputError(
            f"Too few answers to learn from: {so_far}, each of another category. How far a "
            "category reaches is only seen where one has two rows: name another row of one."
        )
    # Beyond 50 classes, learning takes labels of which most stand once for ids.
    if n_names > max(50, n_rows / 2):
        raise InputError(
            f"Too few answers to learn from: {so_far}, of {n_names} categories. Name "
            f"{2 * n_names - n_rows} more rows of known categories, so that there are two of each "
            "on average."
        )


def fitting_reject(model: TableRecognizer, others: pd.DataFrame) -> float:
    """Choose how large a share of its own rows a category turns away.

    Were rows asked by lot, about this share of ordinary rows would be turned away, too. Rows that
    were asked because they are odd make categories claim far more than that. So the largest share
    is taken at which no more than a tenth of the other rows is turned away by all; if more are
    even at the usual share, there is something unknown, and the usual share will do.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.description.recognizer import TableRecognizer
    >>> fish = pd.DataFrame({"length": [1.0, 1.1, 1.3, 7.0, 7.1, 7.3]})
    >>> model = TableRecognizer().fit(fish, ["bleak"] * 3 + ["pike"] * 3)
    >>> fitting_reject(model, pd.DataFrame({"length": [1.05, 1.1, 7.1, 7.15]}))
    0.5
    >>> fitting_reject(model, pd.DataFrame({"length": [1.05, 1.1, 40.0, 50.0]}))
    0.05
    """
    if len(others) == 0:
        return _REJECTS[0]
    looked_at = others.iloc[:: max(1, len(others) // _LOOKED_AT)]
    membership = model.description_.membership(model.encoded(looked_at))
    codes = np.searchsorted(model.classes_, model.labels_)
    of_own = [
        model.left_out_[(codes == code) & ~model.is_outlier_, code]
        for code in range(len(model.classes_))
    ]
    # A row that is all there is of its category cannot be left out.
    of_own = [own if len(own) > 1 else np.full(1, np.nan) for own in of_own]
    fitting = _REJECTS[0]
    for reject in _REJECTS:
        claims = membership >= thresholds_of(of_own, reject, model.description_.ridge_)
        if (~claims.any(axis=1)).mean() > _TURNED_AWAY:
            break
        fitting = reject
    return fitting


def _few_rows_notes(names: list[str]) -> list[str]:
    few = sorted(name for name, count in Counter(names).items() if count < FEWEST_ROWS)
    if not few:
        return []
    named = ", ".join(few[:_NAMED_IN_NOTE])
    more = f" and {len(few) - _NAMED_IN_NOTE} more" if len(few) > _NAMED_IN_NOTE else ""
    return [f"Known by one or two rows only, so that what they claim is a guess: {named}{more}."]


def _clarity_notes(model: TableRecognizer) -> list[str]:
    """Say so where nothing is clear enough to be called known."""
    if model.lead is None or np.isfinite(model.lead):
        return []
    return [
        "No row can be called known yet: your answers, each left out in turn, are not recognised "
        f"rightly {100 * _RIGHT:.0f} times in 100, however clear they look. More answers may help, "
        "and so may whole clusters."
    ]


def _of_use(notes: list[str]) -> list[str]:
    """Leave out what the note on categories with few rows says in plainer words."""
    return [note for note in notes if not note.startswith("Nothing can be left out of ")]


def _columns_with_values(
    features: pd.DataFrame, has_label: NDArray[np.bool_]
) -> tuple[pd.DataFrame, list[str]]:
    """Leave out columns that are empty in all rows with a label: nothing is learnt about them."""
    is_empty = features[has_label].isna().all(axis=0).to_numpy()
    if not is_empty.any():
        return features, []
    if is_empty.all():
        raise InputError("The rows that have a name have no values at all: name others, too.")
    empty = [repr(str(name)) for name in features.columns[is_empty]]
    names = ", ".join(empty[:_NAMED_IN_NOTE])
    more = f" and {len(empty) - _NAMED_IN_NOTE} more" if len(empty) > _NAMED_IN_NOTE else ""
    note = f"Left out, since no row that has a name has a value there: {names}{more}."
    return features.loc[:, ~is_empty], [note]


class _Judged(NamedTuple):
    verdicts: NDArray[np.int8]
    recognized: Indices
    membership: Vector
    unknown_rows: Indices


def _judged(model: TableRecognizer, features: pd.DataFrame, rows: Indices) -> _Judged:
    """Judge rows in blocks, so that whoever listens can stop it between them."""
    verdicts = np.full(len(features), _NAMED, dtype=np.int8)
    recognized = np.full(len(features), -1, dtype=np.intp)
    membership = np.full(len(features), np.nan)
    best = np.full(len(features), -np.inf)  # logarithms tell rows apart that are far from all
    thresholds = model.description_.thresholds_
    for block in track(slices(len(rows), _BLOCK), "judging rows"):
        some = rows[block]
        log_membership = model.description_.log_membership(model.encoded(features.iloc[some]))
        claims = np.exp(log_membership) >= thresholds
        is_claimed = claims.any(axis=1)
        # A row may be foreign to the category that explains it best and yet not to another.
        claimed = np.where(claims, log_membership, -np.inf).argmax(axis=1)
        recognized[some] = np.where(is_claimed, claimed, -1)
        is_ambiguous = model.is_ambiguous(log_membership)
        verdicts[some] = np.select([~is_claimed, is_ambiguous], [_UNKNOWN, _AMBIGUOUS], _KNOWN)
        best[some] = log_membership.max(axis=1)
        membership[some] = np.exp(best[some])
    unknown = np.flatnonzero(verdicts == _UNKNOWN)
    return _Judged(verdicts, recognized, membership, _worth_asking(model, features, unknown, best))


def _worth_asking(
    model: TableRecognizer, features: pd.DataFrame, unknown: Indices, best: Vector
) -> Indices:
    """Order unknown rows: the least known first, each far from those before it; then the rest.

    A row counts by the share of unknown rows that are better known than it, times its distance to
    the nearest row before it. The least known rows alone would all lie in one far corner.
    """
    if len(unknown) < 3:
        return unknown[np.argsort(best[unknown], kind="stable")]
    by_rank = unknown[np.argsort(best[unknown], kind="stable")]
    weight = 1 - np.arange(len(by_rank)) / len(by_rank)
    rows = model.scaled(features.iloc[by_rank])
    nearest = np.full(len(by_rank), np.inf)
    is_left = np.ones(len(by_rank), dtype=np.bool_)
    order = [0]
    for _ in range(min(_SPREAD_OUT, len(by_rank)) - 1):
        last = order[-1]
        is_left[last] = False
        np.minimum(nearest, cdist(rows[[last]], rows)[0], out=nearest)
        order.append(int(np.argmax(np.where(is_left, weight * nearest, -1.0))))
    is_left[order[-1]] = False
    return np.concatenate([by_rank[order], by_rank[is_left]])

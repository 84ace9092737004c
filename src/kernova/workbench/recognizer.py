"""Model of the categories, learnt from the answers so far, and its verdict on unlabelled rows."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kernova.description.fitting import thresholds_of
from kernova.description.recognizer import TableRecognizer
from kernova.errors import InputError, quoted
from kernova.parallel import slices
from kernova.persist.models import save_model
from kernova.progress import track
from kernova.tables.records import json_rows
from kernova.tables.table import Table
from kernova.text import first_few, listed, percent, plural, quantity
from kernova.typing import Indices, Vector
from kernova.workflows.learn import LearnResult, LearnSettings, learn_classes
from kernova.workflows.verdicts import UNKNOWN

Verdict = Literal["named", "known", "ambiguous", "unknown"]

#: Names of the codes in ``verdicts``; labelled rows have the code 0.
VERDICTS: Final[tuple[Verdict, ...]] = ("named", "known", "ambiguous", "unknown")
_NAMED, _KNOWN, _AMBIGUOUS, _UNKNOWN = range(4)

_FEWEST_ROWS: Final = 3
_BLOCK: Final = 2048
# Number of unknown rows that are ordered by distance; more are rarely asked before relearning.
_SPREAD_OUT: Final = 200
_NAMED_IN_NOTE: Final = 5
# Candidates for the rejected fraction of a category's own rows, the default first; and the largest
# fraction of unlabelled rows that all categories may reject at a higher one.
_REJECTS: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_MAX_REJECTED: Final = 0.1
_LOOKED_AT: Final = 2000
# Required precision among labelled rows whose margin is as large as that of a row called known.
_PRECISION: Final = 0.9


@dataclass(frozen=True)
class LearntRow:
    """The verdict on a row."""

    row: int
    id: str
    verdict: Annotated[Verdict, '"named" for a labelled row.']
    recognized: Annotated[str | None, "The category that claims the row."]
    membership: Annotated[float | None, "Membership in the best category, from 0 to 1."]


@dataclass(frozen=True, eq=False)
class LearntModel:
    """Model of the categories, and its verdict on every unlabelled row.

    Attributes
    ----------
    model : TableRecognizer
        The model that ``kernova recognize`` reads.
    result : LearnResult
        Leave-one-out recognition of the labelled rows.
    verdicts : ndarray of int8 of shape (n_rows,)
        Positions in :data:`VERDICTS`: 0 for a labelled row, 1 known, 2 ambiguous (the margin is
        too small), 3 unknown (no category claims it).
    recognized : ndarray of intp of shape (n_rows,)
        Position in ``names`` of the category that claims a row; -1 where none does, and for
        labelled rows.
    membership : ndarray of shape (n_rows,)
        Membership in the best category, from 0 to 1; NaN for labelled rows.
    names : list of str
        The categories that were learnt.
    unknown_rows : ndarray of intp
        The unknown rows, the most informative first: low membership, and far from one another.
    ids : list of str
        Row ids.
    notes : list of str
        Remarks for the reader.
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
        """Number of unlabelled rows per verdict."""
        found = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return dict(zip(VERDICTS[1:], found[1:], strict=True))

    @property
    def summary(self) -> str:
        """Accuracy of the model and its verdicts on the other rows, in sentences."""
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
        """One line per category, with the number of unlabelled rows that it claims."""
        claimed = np.bincount(self.recognized[self.recognized >= 0], minlength=len(self.names))
        lines = json_rows(self.result.classes)
        return [line | {"claimed": int(claimed[code])} for code, line in enumerate(lines)]

    def rows_of(self, verdict: str) -> Indices:
        """Return the rows with a verdict, unknown ones by information, others by membership.

        Raises
        ------
        InputError
            If there is no such verdict.
        """
        if verdict not in VERDICTS[1:]:
            raise InputError(
                f"There is no verdict {quoted(verdict)}; choose one of {', '.join(VERDICTS[1:])}."
            )
        if verdict == "unknown":
            return self.unknown_rows
        rows = np.flatnonzero(self.verdicts == VERDICTS.index(verdict))
        return rows[np.argsort(self.membership[rows], kind="stable")]

    def line_of(self, row: int) -> LearntRow:
        """Return the verdict on one row."""
        code, membership = int(self.recognized[row]), float(self.membership[row])
        return LearntRow(
            row=int(row),
            id=self.ids[row],
            verdict=VERDICTS[self.verdicts[row]],
            recognized=self.names[code] if code >= 0 else None,
            membership=None if np.isnan(membership) else membership,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for ``kernova recognize``."""
        save_model(self.model, path)


def learn_from_answers(
    table: Table,
    labels: Sequence[str | None] | NDArray[Any],
    settings: LearnSettings | None = None,
    groups: NDArray[Any] | None = None,
) -> LearntModel:
    """Fit a model to the labelled rows, and classify all others.

    Parameters
    ----------
    table : Table
        All rows; its own labels are ignored.
    labels : sequence of str or None
        The category of each row, None if it is unlabelled.
    settings : LearnSettings, optional
        Settings of the model. By default missing values are imputed if there are any, and the
        rejected fraction is chosen by :func:`choose_reject`.
    groups : array of shape (n_rows,), optional
        Group numbers; rows labelled in one step share one. They are similar, so they are left out
        together in cross-validation, whose result would be too optimistic otherwise.

    Returns
    -------
    Learnt

    Raises
    ------
    InputError
        If too few rows are labelled, or a category has a reserved name.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.table import Table
    >>> from kernova.workbench.recognizer import learn_from_answers
    >>> fish = pd.DataFrame({"length": [1.0, 1.1, 1.3, 1.2, 7.0, 7.2, 7.3, 7.1, 30.0]})
    >>> table = Table(fish, pd.Series(list("abcdefghi"), name="id"), None, "fish.csv")
    >>> labels = ["bleak", "bleak", "bleak", None, "pike", "pike", "pike", None, None]
    >>> learnt = learn_from_answers(table, labels)
    >>> learnt.counts
    {'known': 2, 'ambiguous': 0, 'unknown': 1}
    >>> [learnt.line_of(row).id for row in learnt.rows_of("unknown")]
    ['i']
    """
    categories = pd.Series(list(labels), dtype=object, name="category")
    has_label = categories.notna().to_numpy()
    names = categories[has_label].astype(str).tolist()
    _check_enough(names)
    features, left_out = _columns_with_values(table.features, has_label)
    chosen = settings or LearnSettings(
        missing="fill" if features.isna().any(axis=None) else "refuse"
    )
    training_set = replace(
        table,
        features=features[has_label].reset_index(drop=True),
        ids=table.ids[has_label].reset_index(drop=True),
        labels=categories[has_label].reset_index(drop=True),
        n_dropped=0,  # unlabelled rows are not rows with missing values
    )
    together = None if groups is None else np.asarray(groups)[has_label]
    result = learn_classes(training_set, chosen, together)
    reject = choose_reject(result.model, features[~has_label])
    if settings is None and reject != chosen.reject:
        result = learn_classes(training_set, replace(chosen, reject=reject), together)
    result.model.fit_margin(_PRECISION)
    found = _classify(result.model, features, np.flatnonzero(~has_label))
    return LearntModel(
        model=result.model,
        result=result,
        names=[str(name) for name in result.model.classes_],
        ids=table.ids.astype(str).tolist(),
        notes=[
            *left_out,
            *_few_rows_notes(names),
            *_clarity_notes(result.model),
            *_of_use(result.notes),
        ],
        **found._asdict(),
    )


def _check_enough(names: list[str]) -> None:
    """Reject labels that are too few to learn from, and name the number required."""
    counts = Counter(names)
    n_rows, n_names = len(names), len(counts)
    if UNKNOWN in counts:
        raise InputError(
            f"A category is called {UNKNOWN!r}, which is reserved for rows of no category. Rename "
            "it, then learn again."
        )
    so_far = f"{quantity(n_rows, 'row')} {plural(n_rows, 'is', 'are')} labelled"
    if n_rows < _FEWEST_ROWS:
        raise InputError(
            f"Too few labels to learn from: {so_far}, at least {_FEWEST_ROWS} are needed, two of "
            "them in the same category."
        )
    if max(counts.values()) < 2:
        raise InputError(
            f"Too few labels to learn from: {so_far}, each in a category of its own. The extent of "
            "a category can only be estimated from two rows or more: label another row of one."
        )
    # Beyond 50 classes, learn_classes takes labels that mostly occur once for ids.
    if n_names > max(50, n_rows / 2):
        raise InputError(
            f"Too few labels to learn from: {so_far}, in {n_names} categories. Label "
            f"{2 * n_names - n_rows} more rows of known categories, so that there are two of each "
            "on average."
        )


def choose_reject(model: TableRecognizer, others: pd.DataFrame) -> float:
    """Choose the fraction of its own rows that a category rejects.

    If labelled rows were a random sample, about this fraction of in-class rows would be rejected,
    too. Rows that were asked because they are unusual make categories claim far more than that.
    So the largest fraction is taken at which all categories together reject at most a tenth of the
    unlabelled rows. If they reject more even at the default fraction, there are unknown categories,
    and the default is used.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.description.recognizer import TableRecognizer
    >>> fish = pd.DataFrame({"length": [1.0, 1.1, 1.3, 7.0, 7.1, 7.3]})
    >>> model = TableRecognizer().fit(fish, ["bleak"] * 3 + ["pike"] * 3)
    >>> choose_reject(model, pd.DataFrame({"length": [1.05, 1.1, 7.1, 7.15]}))
    0.5
    >>> choose_reject(model, pd.DataFrame({"length": [1.05, 1.1, 40.0, 50.0]}))
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
    # The only row of a category cannot be left out.
    of_own = [own if len(own) > 1 else np.full(1, np.nan) for own in of_own]
    fitting = _REJECTS[0]
    for reject in _REJECTS:
        claims = membership >= thresholds_of(of_own, reject, model.description_.ridge_)
        if (~claims.any(axis=1)).mean() > _MAX_REJECTED:
            break
        fitting = reject
    return fitting


def _few_rows_notes(names: list[str]) -> list[str]:
    few = sorted(name for name, count in Counter(names).items() if count < _FEWEST_ROWS)
    if not few:
        return []
    return [
        "These categories have only one or two labelled rows, so their extent is uncertain: "
        f"{first_few(few, _NAMED_IN_NOTE)}."
    ]


def _clarity_notes(model: TableRecognizer) -> list[str]:
    """Return a note if no margin is large enough for a row to be called known."""
    if model.margin is None or np.isfinite(model.margin):
        return []
    return [
        "No row can be called known yet: in leave-one-out cross-validation of your labels, less "
        f"than {percent(_PRECISION)} are recognised correctly at any margin. Label more rows or "
        "whole clusters."
    ]


def _of_use(notes: list[str]) -> list[str]:
    """Drop notes that the note on categories with few rows replaces."""
    return [note for note in notes if not note.startswith("Nothing can be left out of ")]


def _columns_with_values(
    features: pd.DataFrame, has_label: NDArray[np.bool_]
) -> tuple[pd.DataFrame, list[str]]:
    """Drop columns that are empty in all labelled rows."""
    is_empty = features[has_label].isna().all(axis=0).to_numpy()
    if not is_empty.any():
        return features, []
    if is_empty.all():
        raise InputError("The labelled rows have no values at all. Label other rows, too.")
    names = listed(map(str, features.columns[is_empty]), _NAMED_IN_NOTE)
    note = f"Columns without a value in any labelled row are left out: {names}."
    return features.loc[:, ~is_empty], [note]


class _Classified(NamedTuple):
    verdicts: NDArray[np.int8]
    recognized: Indices
    membership: Vector
    unknown_rows: Indices


def _classify(model: TableRecognizer, features: pd.DataFrame, rows: Indices) -> _Classified:
    """Classify rows in blocks; a progress listener can stop it between them."""
    verdicts = np.full(len(features), _NAMED, dtype=np.int8)
    recognized = np.full(len(features), -1, dtype=np.intp)
    membership = np.full(len(features), np.nan)
    best = np.full(len(features), -np.inf)  # logarithms separate rows that are far from all
    thresholds = model.description_.thresholds_
    for block in track(slices(len(rows), _BLOCK), "judging rows"):
        some = rows[block]
        log_membership = model.description_.log_membership(model.encoded(features.iloc[some]))
        claims = np.exp(log_membership) >= thresholds
        is_claimed = claims.any(axis=1)
        # The best category may reject a row that another one claims.
        claimed = np.where(claims, log_membership, -np.inf).argmax(axis=1)
        recognized[some] = np.where(is_claimed, claimed, -1)
        is_ambiguous = model.is_ambiguous(log_membership)
        verdicts[some] = np.select([~is_claimed, is_ambiguous], [_UNKNOWN, _AMBIGUOUS], _KNOWN)
        best[some] = log_membership.max(axis=1)
        membership[some] = np.exp(best[some])
    unknown = np.flatnonzero(verdicts == _UNKNOWN)
    order = _by_information(model, features, unknown, best)
    return _Classified(verdicts, recognized, membership, order)


def _by_information(
    model: TableRecognizer, features: pd.DataFrame, unknown: Indices, best: Vector
) -> Indices:
    """Order unknown rows by low membership and by distance to the rows before them.

    The weight of a row is the fraction of unknown rows with a higher membership, times its distance
    to the nearest row before it. Ordered by membership alone, the first rows would be neighbours.
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

"""Model of the categories, learnt from the answers so far, and its suggestions for other rows."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kernova.description.open_set.classifier import Judgement, OpenSetClassifier
from kernova.description.recognizer import TableRecognizer
from kernova.discover.notebook_view import summary_html
from kernova.errors import InputError, quoted
from kernova.parallel import slices
from kernova.persist.models import save_model
from kernova.progress import track
from kernova.tables.records import json_rows
from kernova.tables.table import Table
from kernova.text import first_few, percent, plural, quantity
from kernova.typing import Indices, Mask, Matrix, Vector
from kernova.workbench.suggestions import HeldOutAnswers, Precision
from kernova.workflows.learn import LearnResult, LearnSettings, learn_classes
from kernova.workflows.verdicts import UNKNOWN

Verdict = Literal["named", "known", "ambiguous", "unknown"]

#: Names of the codes in ``verdicts``; labelled rows have the code 0.
VERDICTS: Final[tuple[Verdict, ...]] = ("named", "known", "ambiguous", "unknown")
_NAMED, _KNOWN, _AMBIGUOUS, _UNKNOWN = range(4)

#: Precision that is promised of the suggestions for known rows.
PROMISED: Final = 0.9

_FEWEST_ROWS: Final = 2
_FEWEST_FOR_EXTENT: Final = 3
# Beyond this number of categories, learn_classes takes labels that mostly occur once for ids.
_MANY_CATEGORIES: Final = 50
_BLOCK: Final = 2048
# Number of unknown rows that are ordered by distance; more are rarely asked before relearning.
_SPREAD_OUT: Final = 200
_NAMED_IN_NOTE: Final = 5
_RANKED: Final = 5


class Negative(NamedTuple):
    """A row that an expert said not to be of a category."""

    row: int
    category: str


@dataclass(frozen=True)
class RankedCategory:
    """A category, and the probability that a row is of it."""

    category: str
    probability: float


@dataclass(frozen=True)
class LearntRow:
    """The suggestion for a row."""

    row: int
    id: str
    verdict: Annotated[Verdict, '"named" for a labelled row.']
    suggested: Annotated[str | None, "The most probable category; null for a labelled row."]
    probability: Annotated[float | None, "Probability of that category."]
    margin: Annotated[float | None, "Probability by which it leads the second."]
    none: Annotated[float | None, "Probability of none of the categories."]
    p_value: Annotated[
        float | None, "Fraction of the labelled rows that are at least as strange to the others."
    ]
    ranking: Annotated[list[RankedCategory], "Up to five categories, the most probable first."]


@dataclass(frozen=True, eq=False)
class LearntModel:
    """Model of the categories, and its suggestions for every unlabelled row.

    Attributes
    ----------
    result : LearnResult
        The model, which ``kernova recognize`` reads, and its cross-validation.
    judged : JudgedRows
        Probabilities and p-values of the unlabelled rows.
    held_out : HeldOutAnswers
        Labelled rows, judged by models without them.
    names : list of str
        The categories that were learnt.
    unknown_rows : ndarray of intp
        The unknown rows, the most informative first: low p-values, and far from one another.
    ids : list of str
        Row ids.
    notes : list of str
        Remarks for the reader.
    """

    result: LearnResult
    judged: "JudgedRows"
    held_out: HeldOutAnswers
    names: list[str]
    unknown_rows: Indices
    ids: list[str]
    notes: list[str] = field(default_factory=list)

    @property
    def model(self) -> TableRecognizer:
        """The model that ``kernova recognize`` reads."""
        return self.result.model

    @cached_property
    def precision(self) -> Precision:
        """Precision of the suggestions for all categories."""
        return self.precision_of(None)

    def precision_of(self, category: str | None, is_open: Mask | None = None) -> Precision:
        """Return the precision of the suggestions of one category, or of all.

        Parameters
        ----------
        category : str, optional
            A category that was learnt; None for all.
        is_open : ndarray of bool, optional
            Rows to count; by default, all that were unlabelled.
        """
        code = None if category is None else self._code(category)
        rows = self._suggested_rows(code, 0.0, is_open)
        return Precision(self.held_out.of(code), self.judged.probability[rows])

    @cached_property
    def threshold(self) -> float | None:
        """Lowest probability from which on a precision of 0.9 is promised, if any."""
        return self.precision.threshold_for(PROMISED)

    @cached_property
    def verdicts(self) -> NDArray[np.int8]:
        """Position in :data:`VERDICTS` of each row.

        0 for a labelled row, 1 known (its suggestion is among those with a promised precision of
        0.9), 2 ambiguous, 3 unknown (unlike all labelled rows).
        """
        judged = self.judged
        threshold = np.inf if self.threshold is None else self.threshold
        is_known = judged.probability >= threshold
        codes = np.select([judged.is_unknown, is_known], [_UNKNOWN, _KNOWN], _AMBIGUOUS)
        return np.where(judged.suggested < 0, _NAMED, codes).astype(np.int8)

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
        """One line per category, with the number of unlabelled rows it is suggested for."""
        inside = (self.judged.suggested >= 0) & ~self.judged.is_unknown
        suggested = np.bincount(self.judged.suggested[inside], minlength=len(self.names))
        lines = json_rows(self.result.classes)
        return [line | {"claimed": int(suggested[code])} for code, line in enumerate(lines)]

    def rows_of(self, verdict: str) -> Indices:
        """Return the rows with a verdict: known ones by probability, ambiguous ones by margin.

        Unknown rows come by information.

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
        order = -self.judged.probability if verdict == "known" else self.judged.margin
        return rows[np.argsort(order[rows], kind="stable")]

    def suggestions(self, threshold: float, category: str | None = None) -> Indices:
        """Return the rows with a suggestion from a probability on, the most probable first.

        Raises
        ------
        InputError
            If the category was not learnt.
        """
        code = None if category is None else self._code(category)
        rows = self._suggested_rows(code, threshold)
        return rows[np.argsort(-self.judged.probability[rows], kind="stable")]

    def _suggested_rows(
        self, code: int | None, threshold: float, is_open: Mask | None = None
    ) -> Indices:
        judged = self.judged
        inside = (judged.suggested >= 0) if code is None else (judged.suggested == code)
        inside &= ~judged.is_unknown & (judged.probability >= threshold)
        return np.flatnonzero(inside if is_open is None else inside & is_open)

    def _code(self, category: str) -> int:
        if category not in self.names:
            raise InputError(
                f"No category {quoted(category)} was learnt. Learn again after labelling rows of "
                "it."
            )
        return self.names.index(category)

    def line_of(self, row: int) -> LearntRow:
        """Return the suggestion for one row."""
        judged, code = self.judged, int(self.judged.suggested[row])
        verdict = VERDICTS[self.verdicts[row]]
        if code < 0:
            return LearntRow(row, self.ids[row], verdict, None, None, None, None, None, [])
        ranking = [
            RankedCategory(self.names[code], float(probability))
            for code, probability in zip(
                judged.ranking[row], judged.ranked_probabilities[row], strict=True
            )
        ]
        return LearntRow(
            row=int(row),
            id=self.ids[row],
            verdict=verdict,
            suggested=self.names[code],
            probability=float(judged.probability[row]),
            margin=float(judged.margin[row]),
            none=float(judged.none[row]),
            p_value=float(judged.p_values[row]),
            ranking=ranking,
        )

    def _repr_html_(self) -> str:
        """Return a summary for notebooks."""
        lines = self.classes
        shown = {"class": "category", "rows": "labelled rows", "recognized": "recognised"}
        columns = {
            title: [line.get(name) for line in lines]
            for name, title in {**shown, "claimed": "suggested for"}.items()
        }
        return summary_html("LearntModel", [self.summary, *self.notes], columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for ``kernova recognize``."""
        save_model(self.model, path)


def learn_from_answers(
    table: Table,
    labels: Sequence[str | None] | NDArray[Any],
    settings: LearnSettings | None = None,
    groups: NDArray[Any] | None = None,
    negatives: Sequence[Negative] = (),
) -> LearntModel:
    """Fit a model to the labelled rows, and suggest a category for all others.

    Parameters
    ----------
    table : Table
        All rows; its own labels are ignored.
    labels : sequence of str or None
        The category of each row, None if it is unlabelled. Two labelled rows are enough to begin.
    settings : LearnSettings, optional
        Settings of the model.
    groups : array of shape (n_rows,), optional
        Group numbers; rows labelled in one step share one. They are similar, so they are left out
        together in cross-validation, and count as one answer.
    negatives : sequence of Negative
        Rows that are known not to be of a category.

    Returns
    -------
    LearntModel

    Raises
    ------
    InputError
        If too few rows are labelled; see :func:`what_is_missing`.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.table import Table
    >>> from kernova.workbench.recognizer import learn_from_answers
    >>> fish = pd.DataFrame({"length": [1.0, 1.1, 1.3, 1.2, 7.0, 7.2, 7.3, 7.1, 30.0]})
    >>> table = Table(fish, pd.Series(list("abcdefghi"), name="id"), None, "fish.csv")
    >>> labels = ["bleak", "bleak", "bleak", None, "pike", "pike", "pike", None, None]
    >>> learnt = learn_from_answers(table, labels)
    >>> [learnt.line_of(row).suggested for row in (3, 7)]
    ['bleak', 'pike']
    >>> [learnt.line_of(row).id for row in learnt.rows_of("unknown")]
    ['i']
    """
    named = _without_reserved(labels)
    missing = what_is_missing(Counter(name for name in named if name is not None))
    if missing is not None:
        raise InputError(missing)
    categories = pd.Series(named, dtype=object, name="category")
    has_label = categories.notna().to_numpy()
    result = learn_classes(
        replace(table, labels=categories.set_axis(table.ids.index), n_dropped=0),
        settings or LearnSettings(),
        groups,
        leaves_classes_out=False,
    )
    model = result.model
    names = [str(name) for name in model.classes_]
    _add_negatives(model, table.features, negatives, names)
    judged = _judged(model, table.features, np.flatnonzero(~has_label))
    _rank_labelled(judged, model, np.flatnonzero(has_label))
    unknown = np.flatnonzero(judged.is_unknown)
    learnt = LearntModel(
        result=result,
        judged=judged,
        held_out=_held_out_answers(model, None if groups is None else groups[has_label]),
        names=names,
        unknown_rows=_by_information(model, table.features, unknown, judged.p_values),
        ids=table.ids.astype(str).tolist(),
        notes=[*_reserved_notes(labels), *_few_rows_notes(categories), *_of_use(result.notes)],
    )
    return replace(learnt, notes=[*learnt.notes, *_promise_notes(learnt)])


def what_is_missing(sizes: Mapping[str, int]) -> str | None:
    """Return what has to be labelled before anything can be learnt; None if nothing.

    Parameters
    ----------
    sizes : mapping of str to int
        Number of labelled rows of each category.

    Examples
    --------
    >>> from kernova.workbench.recognizer import what_is_missing
    >>> what_is_missing({"pike": 1})
    'Suggestions begin with the second labelled row; 1 row is labelled so far.'
    >>> what_is_missing({"pike": 1, "bleak": 1})
    """
    learnable = [size for name, size in sizes.items() if name != UNKNOWN]
    n_rows, n_names = sum(learnable), len(learnable)
    so_far = f"{quantity(n_rows, 'row')} {plural(n_rows, 'is', 'are')} labelled so far"
    if n_rows < _FEWEST_ROWS:
        return f"Suggestions begin with the second labelled row; {so_far}."
    if n_names > max(_MANY_CATEGORIES, n_rows / 2):
        return (
            f"Suggestions need two rows of each category on average; {so_far}, in {n_names} "
            f"categories. Label {quantity(2 * n_names - n_rows, 'more row')} of known categories."
        )
    return None


def _without_reserved(labels: Sequence[str | None] | NDArray[Any]) -> list[str | None]:
    """Take rows that an expert called unknown for unlabelled: they have no category to learn."""
    return [None if name is None or str(name) == UNKNOWN else str(name) for name in labels]


def _reserved_notes(labels: Sequence[str | None] | NDArray[Any]) -> list[str]:
    n_rows = sum(name is not None and str(name) == UNKNOWN for name in labels)
    if not n_rows:
        return []
    return [
        f"{quantity(n_rows, 'row')} labelled {UNKNOWN!r} {plural(n_rows, 'counts', 'count')} as "
        "unlabelled, since this is the verdict on rows of no category. Rename the category to "
        "learn it."
    ]


def _few_rows_notes(categories: "pd.Series[Any]") -> list[str]:
    counts = Counter(categories.dropna())
    if len(counts) == 1:
        return [
            f"There is only one category, {next(iter(counts))}, which is suggested for every row "
            "that is not unlike it. Label a row of another category, too."
        ]
    few = sorted(name for name, count in counts.items() if count < _FEWEST_FOR_EXTENT)
    if not few:
        return []
    return [
        "These categories have only one or two labelled rows, so their extent is uncertain: "
        f"{first_few(few, _NAMED_IN_NOTE)}."
    ]


def _promise_notes(learnt: LearntModel) -> list[str]:
    """Return a note if a precision of 0.9 cannot be promised for any row."""
    if learnt.threshold is not None or not (learnt.judged.suggested >= 0).any():
        return []
    return [
        f"No precision of {percent(PROMISED)} can be promised yet, so no row is called known: "
        "too few labelled rows are recognised correctly by models without them. All rows have "
        "suggestions, the most probable first."
    ]


def _of_use(notes: list[str]) -> list[str]:
    """Drop notes that every project would have, that another replaces, or on other options."""
    unused = (
        "no class is learnt from such rows.", " could not be tested, ", "only one class",
        " alone determines the class ", "class_weight=",
    )  # fmt: skip
    return [note for note in notes if not any(part in note for part in unused)]


# --- judging ---------------------------------------------------------------------------------


class JudgedRows(NamedTuple):
    """Suggestions for unlabelled rows; labelled ones have the category -1 and NaN.

    Labelled rows have a ranking by models that were learnt without them; its probabilities are 0
    where no other row has their category.
    """

    suggested: Indices
    probability: Vector
    margin: Vector
    none: Vector
    p_values: Vector
    is_unknown: Mask
    #: Positions of the most probable categories, the best first, and their probabilities.
    ranking: NDArray[np.int32]
    ranked_probabilities: NDArray[np.float32]


class _Suggested(NamedTuple):
    """The best category of some rows; probabilities include that of no category at all."""

    best: Indices
    probabilities: Matrix
    is_unknown: Mask


def _suggested(judgement: Judgement, reject: float) -> _Suggested:
    known = 1 - judgement.none[:, None]
    probabilities = np.exp(judgement.log_probabilities) * known
    return _Suggested(judgement.best, probabilities, judgement.is_unknown(reject))


def _judged(model: TableRecognizer, features: pd.DataFrame, rows: Indices) -> JudgedRows:
    """Judge rows in blocks; a progress listener can stop it between them."""
    n_rows, n_ranked = len(features), min(_RANKED, len(model.classes_))
    probability, margin, none, p_values = np.full((4, n_rows), np.nan)
    suggested = np.full(n_rows, -1, dtype=np.intp)
    is_unknown = np.zeros(n_rows, dtype=np.bool_)
    ranking = np.zeros((n_rows, n_ranked), dtype=np.int32)
    ranked = np.zeros((n_rows, n_ranked), dtype=np.float32)
    reject = _classifier(model).reject
    for block in track(slices(len(rows), _BLOCK), "judging rows"):
        some = rows[block]
        judgement = model.judge(features.iloc[some])
        found = _suggested(judgement, reject)
        order = np.argsort(-found.probabilities, axis=1, kind="stable")[:, :n_ranked]
        best = np.take_along_axis(found.probabilities, order, axis=1)
        ranking[some], ranked[some] = order, best
        suggested[some], is_unknown[some] = found.best, found.is_unknown
        probability[some] = best[:, 0]
        margin[some] = best[:, 0] - (best[:, 1] if n_ranked > 1 else 0.0)
        none[some], p_values[some] = judgement.none, judgement.p_values
    return JudgedRows(
        suggested, probability, margin, none, p_values, is_unknown, ranking, ranked
    )  # fmt: skip


def _rank_labelled(judged: JudgedRows, model: TableRecognizer, labelled: Indices) -> None:
    """Set the rankings of labelled rows, each by a model that was learnt without it."""
    tested = _classifier(model).cross_validated_
    found = _suggested(tested.judgement, 0.0).probabilities[tested.is_judged]
    order = np.argsort(-found, axis=1, kind="stable")[:, : judged.ranking.shape[1]]
    rows = labelled[tested.rows[tested.is_judged]]
    judged.ranking[rows] = order
    judged.ranked_probabilities[rows] = np.take_along_axis(found, order, axis=1)


def _classifier(model: TableRecognizer) -> OpenSetClassifier:
    classifier = model.description_
    if not isinstance(classifier, OpenSetClassifier):
        raise InputError("Suggestions need probabilities, which the method mddkm does not have.")
    return classifier


def _held_out_answers(model: TableRecognizer, groups: NDArray[Any] | None) -> HeldOutAnswers:
    """Return the labelled rows with the suggestions of models that were learnt without them."""
    classifier = _classifier(model)
    tested = classifier.cross_validated_
    found = _suggested(tested.judgement, classifier.reject)
    probability = found.probabilities[np.arange(len(found.best)), found.best]
    weights = np.ones(len(tested.rows))
    if groups is not None:
        step = np.unique(np.asarray(groups)[tested.rows], return_inverse=True)[1]
        weights = 1 / np.bincount(step)[step]
    return HeldOutAnswers(
        np.where(found.is_unknown, 0.0, probability),
        found.best,
        # A category of which nothing is left cannot be found; nor can those never met so far.
        (found.best == tested.codes) & tested.is_judged,
        weights,
    )


def _add_negatives(
    model: TableRecognizer, features: pd.DataFrame, negatives: Sequence[Negative], names: list[str]
) -> None:
    """Add what rows are not; categories that were not learnt cannot be suggested anyway."""
    known = [one for one in negatives if one.category in names]
    if known:
        rows = model.encoded(features.iloc[[one.row for one in known]])
        _classifier(model).add(rows, is_not=[one.category for one in known])


def _by_information(
    model: TableRecognizer, features: pd.DataFrame, unknown: Indices, p_values: Vector
) -> Indices:
    """Order unknown rows by low p-values and by distance to the rows before them.

    The weight of a row is the fraction of unknown rows with a higher p-value, times its distance
    to the nearest row before it. Ordered by p-value alone, the first rows would be neighbours.
    """
    by_rank = unknown[np.argsort(p_values[unknown], kind="stable")]
    if len(unknown) < 3:
        return by_rank
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

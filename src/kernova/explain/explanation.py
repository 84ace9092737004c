"""Explanation of rows: the contribution of each feature, and the nearest ordinary rows."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernova.errors import InputError, quoted
from kernova.explain.classes import CLAIM_SCALE, ClassJudge, class_judge
from kernova.explain.contributions import (
    Comparison,
    contributions_of,
    fractions_of,
    ordinary_scale,
)
from kernova.explain.tables import (
    CANDIDATES_PER_ROW,
    Rows,
    as_the_model_saw,
    check_columns,
    check_labels_differ,
    checked_rows,
    chosen_rows,
    comparable,
    feature_names,
    most_ordinary,
    nearest_rows,
    ordinary_values,
    picked,
    row_labels,
    stacked,
    values_of,
)
from kernova.explain.verdicts import InPlaceJudge, NewRowJudge, Standing, judge_of
from kernova.text import format_value, listed, truncate_middle
from kernova.typing import Indices

Judge = NewRowJudge | InPlaceJudge | ClassJudge

_COLUMNS = ("row", "feature", "value", "ordinary_value", "share", "nearest")
# Features below this fraction of the first one are not listed.
_WORTH_LISTING = 0.02
# Ordinary rows are searched among so many rows: enough to be near any row, and quickly scored.
MAX_ORDINARY = 20_000


def explain(
    model: Any,
    X: Any,
    rows: Any = None,
    *,
    known: Any = None,
    n_nearest: int = 5,
    budget: int = 1000,
    random_state: Any = 0,
    max_ordinary: int = MAX_ORDINARY,
) -> pd.DataFrame:
    """Explain rows: the features that make them outliers, and their nearest ordinary rows.

    Each row is compared with its nearest ordinary rows, one after the other. Between the two lie
    hypothetical rows that have some features of the one and the rest of the other. The model
    scores them, and a feature's contribution is what changing it from the ordinary value to
    the row's own adds to the novelty, averaged over the orders in which the features can be
    changed (its Shapley value) and over the ordinary rows. So the contributions of a row sum
    to its novelty minus the mean novelty of its nearest ordinary rows; features that the model
    ignores contribute nothing; features with the same effect contribute the same.

    All orders are taken where features are few (seven that differ, with the default budget);
    otherwise a random sample of orders, each together with its reverse.

    Novelty is the negated score. Its unit is the ordinary rows' spread (the interquartile range of
    their novelty). It is linear up to about ten units above their median and logarithmic beyond,
    so that a factor of 1e300 does not hide all other features.

    The column ``share`` is the contribution divided by the sum of the positive contributions of
    the row, so that its positive entries sum to 1 for each row. A negative entry belongs to a
    feature that makes the row more ordinary: -0.2 offsets a fifth of what the others add. If no
    contribution is positive, all entries are 0.

    Parameters
    ----------
    model : fitted detector
        A detector with ``decision_function`` or ``score_samples``: kernova's, scikit-learn's or
        PyOD's, pipelines that end in one (features are then the columns before the first
        step), and :class:`~kernova.CalibratedDetector`. An outlier factor with
        ``novelty=False`` explains the rows it was fitted on, each among the others. For an
        :class:`~kernova.OpenSetClassifier`, an unknown row is compared with the closest class, and
        contributions are to its novelty; a row of a class is compared with the class that comes
        second, and contributions are to the logarithm of the ratio of their probabilities. For a
        :class:`~kernova.MulticlassDataDescription`, they are to the strength of the claims, the
        logarithm of membership over threshold.
    X : DataFrame or array-like of shape (n_rows, n_features)
        The rows, as the model takes them.
    rows : array-like of int or bool, default=None
        Rows of ``X`` to explain: their positions from 0 on, or a mask. None takes those that the
        model calls outliers, the most novel first.
    known : DataFrame or array-like of shape (n_known, n_features), default=None
        Table with the ordinary rows, such as the rows that the model was fitted on. None takes
        them from ``X``. Rows that the model calls outliers are left out in either case.
    n_nearest : int, default=5
        Number of ordinary rows to compare each row with. They are the ones with the lowest novelty
        among the four times as many that are nearest, since the very nearest rows to an outlier
        are often almost outliers themselves. In a pipeline, distances are taken between the rows
        as its last step receives them. For a bare detector that measures distances between
        unscaled rows (kernova's, LocalOutlierFactor, OneClassSVM), they are taken between the rows
        themselves; for any other, columns are divided by the interquartile range of the ordinary
        rows first.
    budget : int, default=1000
        Approximate number of hypothetical rows to score for each row explained. At least one
        order and its reverse are taken for each ordinary row.
    random_state : int, RandomState or None, default=0
        Seed of the random orders, and of the sample of ordinary rows. The result for a row does
        not depend on the other rows to explain.
    max_ordinary : int, default=20000
        Ordinary rows are taken from so many rows at most. If the table has more, they are drawn
        at random, so that the time does not grow with the table. Classes are always compared with
        all rows.

    Returns
    -------
    DataFrame
        A line for each row and feature; the features of a row in decreasing order of ``share``.

        ``row``
            The row's label in the index of ``X``, or its position if ``X`` is an array.
        ``feature``
            The column's name; "x0", "x1" and so on if ``X`` is an array.
        ``value``, ``ordinary_value``
            The value of the row, and the median (or the most frequent value) of its nearest
            ordinary rows.
        ``share``
            The feature's relative contribution to the row's novelty.
        ``nearest``
            The labels of the nearest ordinary rows, a tuple, nearest first.
        ``verdict``, ``compared_with``
            For a description of classes only: the class of the row or "unknown", and the class of
            its nearest ordinary rows.

    See Also
    --------
    top_features : a short text for each row.
    kernova.report.figures.explanation_figure : a figure.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernova import KernelSpatialDepth
    >>> from kernova.explain import explain
    >>> random = np.random.default_rng(0)
    >>> fish = pd.DataFrame(random.normal(20, 1, size=(200, 3)), columns=["length", "width", "age"])
    >>> fish.loc[200] = [20.0, 27.0, 20.0]
    >>> model = KernelSpatialDepth(bandwidth="median").fit(fish)
    >>> explain(model, fish, rows=[200])[["row", "feature", "value", "share"]].round(2)
       row feature  value  share
    0  200   width   27.0   1.00
    1  200  length   20.0  -0.01
    2  200     age   20.0  -0.04
    """
    judge = _judge_of(model)
    _check_counts(n_nearest=n_nearest, budget=budget, max_ordinary=max_ordinary)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    table = _checked_table(X, model, "X")
    other = None if known is None else _checked_known(known, model, judge)
    if isinstance(judge, ClassJudge):
        return _explained_classes(judge, table, other or table, rows, n_nearest, budget, seed)
    reference = _reference(judge, table, other, rows is None, max_ordinary, seed)
    numbers = _rows_to_explain(rows, judge, table, reference.standing_of_all)
    if len(numbers) == 0:
        return _described(table.given, numbers, [], np.empty((0, 0)), reference.table.given)
    if isinstance(judge, InPlaceJudge):
        judge.check_are_training_rows(picked(table.seen, numbers), numbers)
    ordinary = _ordinary_rows(reference, numbers)
    candidates = _candidates(numbers, ordinary, judge, table, reference, n_nearest)
    novelty = reference.standing.novelty
    nearest = [most_ordinary(found, novelty, n_nearest) for found in candidates]
    scale = ordinary_scale(novelty[ordinary])
    comparison = _comparison(numbers, nearest, table, reference)
    fractions = fractions_of(contributions_of(comparison, judge.novelty, scale, budget, seed))
    return _described(table.given, numbers, nearest, fractions, reference.table.given)


def _explained_classes(
    judge: ClassJudge,
    table: "_Table",
    known: "_Table",
    rows: Any,
    n_nearest: int,
    budget: int,
    seed: int,
) -> pd.DataFrame:
    """Explain class decisions, each by comparison with the rows of another class."""
    numbers = _rows_to_explain(rows, judge, table, None)
    if len(numbers) == 0:
        return _described(table.given, numbers, [], np.empty((0, 0)), known.given)
    compared = judge.comparisons(table.seen, known.seen, numbers, n_nearest)
    nearest = [one.nearest for one in compared]
    own = np.arange(len(table.given)) if known is table else None
    reference = _Reference(known, Standing(np.empty(0), None), own, None)
    comparison = _comparison(numbers, nearest, table, reference)
    support = judge.support(compared, numbers)
    fractions = fractions_of(contributions_of(comparison, support, CLAIM_SCALE, budget, seed))
    explanation = _described(table.given, numbers, nearest, fractions, known.given)
    return judge.with_classes(explanation, compared)


def top_features(explanation: pd.DataFrame, n: int = 3) -> "pd.Series[str]":
    """Return a short text for each row: the features that contribute most, and their values.

    Parameters
    ----------
    explanation : DataFrame
        The result of :func:`explain`.
    n : int, default=3
        Largest number of features to list. Those without a positive contribution, or with less
        than 2 % of the first one's, are not listed.

    Returns
    -------
    Series of str
        A text for each row, by the rows' labels, in the order of ``explanation``.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.explain import top_features
    >>> explanation = pd.DataFrame({
    ...     "row": ["A7", "A7", "A7"],
    ...     "feature": ["TSH", "sex", "age"],
    ...     "value": [0.53, "f", 61],
    ...     "ordinary_value": [0.02, "m", 60],
    ...     "share": [0.8, 0.2, -0.1],
    ...     "nearest": [("B1", "C2")] * 3,
    ... })
    >>> top_features(explanation)["A7"]
    'TSH = 0.53 (usually 0.02), sex = f (usually m)'
    """
    _check_counts(n=n)
    missing = [name for name in _COLUMNS if name not in explanation.columns]
    if missing:
        raise InputError(
            f"An explanation has the columns {listed(_COLUMNS)}; missing are {listed(missing)}."
        )
    groups = explanation.groupby("row", sort=False, dropna=False)
    texts = {label: _top_text(features, n) for label, features in groups}
    labels = pd.Index(list(texts), tupleize_cols=False, name="row")
    return pd.Series(list(texts.values()), index=labels, name="features", dtype=object)


def _top_text(features: pd.DataFrame, n: int) -> str:
    first = features["share"].max()
    if first <= 0:
        return "no feature is unusual"
    against = features[features["share"] >= _WORTH_LISTING * first].nlargest(n, "share")
    return ", ".join(
        f"{truncate_middle(str(line.feature))} = {format_value(line.value, line.ordinary_value)} "
        f"({_usually(line)} {format_value(line.ordinary_value, line.value)})"
        for line in against.itertuples()
    )


def _usually(line: Any) -> str:
    known_class = getattr(line, "compared_with", None)
    return "usually" if known_class is None else f"{truncate_middle(str(known_class))}:"


def _judge_of(model: Any) -> Judge:
    judge = judge_of(model)
    return class_judge(judge.route) or judge


class _Table(NamedTuple):
    given: Rows  # with the user's labels
    seen: Rows  # as the model takes it


class _Reference(NamedTuple):
    """The rows among which ordinary ones are searched."""

    table: _Table
    standing: Standing  # of these rows
    numbers: Indices | None  # of these rows in the table to explain; None: of another table
    standing_of_all: Standing | None  # of the table to explain, where it is known


def _reference(
    judge: NewRowJudge | InPlaceJudge,
    table: _Table,
    known: _Table | None,
    needs_all: bool,
    most: int,
    seed: int,
) -> _Reference:
    """Return the known rows, or those of the table itself, or a random sample of them."""
    source = table if known is None else known
    n_rows = len(source.given)
    chosen = np.arange(n_rows)
    if n_rows > most:
        chosen = np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))
        source = _Table(picked(source.given, chosen), picked(source.seen, chosen))
    if known is not None:
        return _Reference(source, judge.standing(source.seen), None, None)
    # The rows of fit have their scores already; others are scored as few as possible.
    if needs_all or isinstance(judge, InPlaceJudge) or n_rows <= most:
        whole = judge.standing(table.seen)
        is_outlier = None if whole.is_outlier is None else whole.is_outlier[chosen]
        return _Reference(source, Standing(whole.novelty[chosen], is_outlier), chosen, whole)
    return _Reference(source, judge.standing(source.seen), chosen, None)


def _checked_table(X: Any, model: Any, what: str) -> _Table:
    rows = checked_rows(X, what)
    check_columns(rows, model, what)
    return _Table(rows, as_the_model_saw(rows, model))


def _checked_known(known: Any, model: Any, judge: Judge) -> _Table:
    if isinstance(judge, InPlaceJudge):
        raise InputError(
            f"With novelty=False, {judge.route.name} compares rows with the others it was fitted "
            "on. Leave known out, or fit with novelty=True."
        )
    return _checked_table(known, model, "known")


def _check_counts(**counts: Any) -> None:
    for name, count in counts.items():
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise InputError(f"{name} must be a whole number of at least 1; got {quoted(count)}.")


def _rows_to_explain(rows: Any, judge: Judge, table: _Table, standing: Standing | None) -> Indices:
    """Return the numbers of ``rows``; for None, of the model's outliers, the most novel first."""
    if rows is not None:
        numbers = chosen_rows(rows, len(table.given))
    else:
        novelty, is_outlier = standing or judge.standing(table.seen)
        if is_outlier is None:
            raise InputError(
                f"{judge.route.name} scores rows but has no outlier verdicts. Set rows to the rows "
                "to explain."
            )
        numbers = np.flatnonzero(is_outlier)
        numbers = numbers[np.argsort(-novelty[numbers], kind="stable")]
    check_labels_differ(row_labels(table.given)[numbers])
    return numbers


def _ordinary_rows(reference: _Reference, explained: Indices) -> Indices:
    """Return the rows that are not outliers; without verdicts, those that are not explained."""
    standing = reference.standing
    is_ordinary = np.ones(len(standing.novelty), dtype=np.bool_)
    if standing.is_outlier is not None:
        is_ordinary = ~standing.is_outlier
    elif reference.numbers is not None:
        is_ordinary = ~np.isin(reference.numbers, explained)
    if not is_ordinary.any():
        raise _nothing_to_compare_with()
    return np.flatnonzero(is_ordinary)


def _nothing_to_compare_with() -> InputError:
    return InputError(
        "There is no ordinary row to compare with: all rows are outliers or are to be explained. "
        "Pass ordinary rows as known."
    )


def _candidates(
    numbers: Indices,
    ordinary: Indices,
    judge: Judge,
    table: _Table,
    reference: _Reference,
    n_nearest: int,
) -> list[Indices]:
    """Return, for each row, its nearest ordinary rows by their positions in the reference."""
    ordinary_points, points = comparable(
        judge.route, picked(reference.table.seen, ordinary), picked(table.seen, numbers)
    )
    own = reference.numbers
    ordinary_numbers = np.empty(0, dtype=np.intp) if own is None else own[ordinary]
    candidates = []
    for i, number in enumerate(numbers.tolist()):
        position = int(np.searchsorted(ordinary_numbers, number))
        is_itself = ordinary_numbers[position : position + 1].tolist() == [number]
        found = nearest_rows(
            points[[i]],
            ordinary_points,
            CANDIDATES_PER_ROW * n_nearest,
            leave_out=position if is_itself else None,
        )
        if len(found) == 0:
            raise _nothing_to_compare_with()
        candidates.append(ordinary[found])
    return candidates


def _comparison(
    numbers: Indices, nearest: list[Indices], table: _Table, reference: _Reference
) -> Comparison:
    used, positions = np.unique(np.concatenate(nearest), return_inverse=True)
    if reference.numbers is not None:
        pool = picked(table.seen, np.concatenate([numbers, reference.numbers[used]]))
    else:
        pool = stacked(picked(table.seen, numbers), picked(reference.table.seen, used))
    ends = np.cumsum([len(found) for found in nearest])
    return Comparison(pool, numbers, np.split(len(numbers) + positions, ends[:-1]))


def _described(
    table: Rows,
    numbers: Indices,
    nearest: list[Indices],
    fractions: NDArray[np.float64],
    reference: Rows,
) -> pd.DataFrame:
    """Return the explanation: a line for each row and feature."""
    names, labels, known_labels = feature_names(table), row_labels(table), row_labels(reference)
    lines: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    own = values_of(picked(table, numbers))
    ordinary = ordinary_values(reference, nearest) if nearest else []
    for i in range(len(numbers)):
        order = np.argsort(-fractions[i], kind="stable").tolist()
        lines["feature"] += [names[j] for j in order]
        lines["value"] += [own[i][j] for j in order]
        lines["ordinary_value"] += [ordinary[i][j] for j in order]
        lines["share"] += fractions[i, order].tolist()
        lines["nearest"] += [tuple(known_labels[nearest[i]].tolist())] * len(order)
    rows = labels[np.repeat(numbers, len(names))]
    explanation = pd.DataFrame({**lines, "row": rows})
    return explanation.astype({"share": np.float64})

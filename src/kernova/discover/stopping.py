"""Stopping advice, and the random baseline: what random sampling would be expected to find.

Nothing can prove that every category was found while rows are unlabelled. A random sample would at
least bound the fraction of rows in undiscovered categories; questions chosen by a strategy give no
bound. What remains is a rule of thumb, with a count of how often it was right where the categories
were known.

If the sizes of all categories were known, the expected number of categories among q random rows
could be computed exactly. During a session only labelled rows are known, so the sizes are estimated
from them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from kernova.errors import InputError
from kernova.text import plural, quantity
from kernova.typing import Indices, Matrix, Vector

# Rule of thumb: stop when as many answers as until the last new category, and 50 more, bring none.
_WAIT_FACTOR, _EXTRA_ANSWERS = 1, 50
# An unlabelled row counts for a category by its distance to the power of minus this.
_DISTANCE_POWER: Final = 2.0
# Limits on rows per category and total work, sufficient for a curve on a page.
_ROWS_PER_CATEGORY: Final = 50
_MAX_PAIRS: Final = 1_000_000
_MAX_NUMBERS: Final = 50_000_000
_MIN_SAMPLED: Final = 200
# Keeps ratios finite for duplicates of labelled rows, which belong to their category.
_TINY: Final = 1e-12
# A longer curve is computed at fewer questions, and interpolated in between.
_MAX_TERMS: Final = 4_000_000


class Trial(NamedTuple):
    """How often the rule of thumb was right on tables with known categories."""

    tables: str
    n_right: int
    n_draws: int


#: Measured with the default strategy and an expert without mistakes; `make soak` repeats it.
TRIALS: Final = (
    Trial("the six sets of the HMS paper", 73, 74),
    Trial("four held-out sets", 28, 32),
)


@dataclass(frozen=True)
class Advice:
    """Advice on whether to continue.

    Attributes
    ----------
    asked : int
        Number of questions, including skipped ones.
    seen : int
        Number of categories found, including those with prior labels.
    since_new : int
        Number of answers since the last new category.
    questions_left : int
        Further answers without a new category until the rule of thumb would stop; 0 when it would
        stop now.
    missed_fraction : float or None
        With 95 % confidence, at most this fraction of the unlabelled rows belongs to undiscovered
        categories. None without a random sample.
    known : tuple of str
        Sentences that are facts.
    guessed : tuple of str
        Sentences that are guesses.
    sentence : str
        All sentences.
    """

    asked: int
    seen: int
    since_new: int
    questions_left: int
    missed_fraction: float | None
    known: tuple[str, ...]
    guessed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Facts, followed by guesses marked as such."""
        return " ".join([*self.known, *self.guessed])


def stopping_advice(
    labels_in_order: Sequence[str | None],
    n_rows: int,
    *,
    known_before: Collection[str] = (),
    n_labelled_before: int = 0,
    n_random: int = 0,
    confidence: float = 0.95,
) -> Advice:
    """Return facts and guesses about undiscovered categories.

    Parameters
    ----------
    labels_in_order : sequence of str or None
        The answers in the order of the questions; None for a skipped row.
    n_rows : int
        Number of rows of the table.
    known_before : collection of str
        Categories with labelled rows before the first question, which are not new.
    n_labelled_before : int
        Number of rows labelled before the first question.
    n_random : int
        How many of the last questions were about a random sample of the rows not yet asked. The
        number must be fixed beforehand; only then does the bound hold.
    confidence : float
        Confidence of the bound.

    Returns
    -------
    Advice
        With a ``sentence`` that separates facts from guesses.

    Examples
    --------
    >>> from kernova.discover.stopping import stopping_advice
    >>> advice = stopping_advice(["cod", "cod", "eel"] + ["cod"] * 40, 500)
    >>> advice.since_new, advice.questions_left
    (40, 13)
    >>> print(advice.known[0])
    Of 500 rows, 43 were asked about: 2 categories, the last new one at question 3, none in 40
    answers
    since.
    """
    _check(len(labels_in_order), n_rows, n_labelled_before, n_random, confidence)
    asked = len(labels_in_order)
    last_new, new_questions = _new_categories(labels_in_order, known_before)
    named_since = sum(label is not None for label in labels_in_order[last_new:])
    n_named = named_since + sum(label is not None for label in labels_in_order[:last_new])
    seen = len({*labels_in_order, *known_before} - {None})
    fraction = None
    if n_random and not any(number > asked - n_random for number in new_questions):
        n_drawn = sum(label is not None for label in labels_in_order[asked - n_random :])
        fraction = 1 - (1 - confidence) ** (1 / n_drawn) if n_drawn else None
    progress = Progress(asked, seen, last_new, n_named, named_since)
    return advice_after(progress, n_rows, n_labelled_before, fraction, confidence)


class Progress(NamedTuple):
    """Counts of a session from which stopping advice follows."""

    asked: int  # questions, including skipped ones
    seen: int  # categories
    last_new: int  # the question that found the last new category; 0 for none
    n_named: int  # questions that were answered
    named_since: int  # the same, since the last new category


def advice_after(
    progress: Progress,
    n_rows: int,
    n_labelled_before: int = 0,
    fraction: float | None = None,
    confidence: float = 0.95,
) -> Advice:
    """Return the advice of :func:`stopping_advice` from counts.

    ``fraction`` bounds the unlabelled rows in undiscovered categories, if a random sample does.
    """
    asked, seen, last_new, n_named, named_since = progress
    n_unlabelled = n_rows - n_labelled_before - n_named
    is_over = n_unlabelled == 0
    wanted = _WAIT_FACTOR * last_new + _EXTRA_ANSWERS
    left = 0 if is_over else min(max(0, wanted - named_since), n_unlabelled)
    facts = _Facts(asked, n_rows, seen, last_new, named_since, asked - n_named, n_unlabelled)
    return Advice(
        asked=asked,
        seen=seen,
        since_new=named_since,
        questions_left=left,
        missed_fraction=0.0 if is_over else fraction,
        known=_known(facts, fraction, confidence),
        guessed=() if is_over or asked == 0 else _guessed(left),
    )


class _Facts(NamedTuple):
    asked: int
    n_rows: int
    seen: int
    last_new: int
    since_new: int
    n_skipped: int
    n_unlabelled: int


def _new_categories(
    labels: Sequence[str | None], known_before: Collection[str]
) -> tuple[int, list[int]]:
    """Return the number of the question that found the last new category, and all such numbers."""
    found: set[str | None] = {None, *known_before}
    numbers = []
    for number, label in enumerate(labels, start=1):
        if label not in found:
            found.add(label)
            numbers.append(number)
    return (numbers[-1] if numbers else 0), numbers


def _known(facts: _Facts, fraction: float | None, confidence: float) -> tuple[str, ...]:
    if facts.n_unlabelled == 0:
        return (f"All {facts.n_rows:,} rows are labelled: {_categories(facts.seen)}, no others.",)
    if facts.asked == 0:
        return (f"None of the {quantity(facts.n_rows, 'row')} has been asked about yet.",)
    skipped = f"; {facts.n_skipped:,} skipped" if facts.n_skipped else ""
    counts = (
        f"Of {facts.n_rows:,} rows, {facts.asked:,} {plural(facts.asked, 'was', 'were')} asked "
        "about: "
        f"{_categories(facts.seen)}, {_last_new(facts)}{skipped}."
    )
    if fraction is None:
        return (
            counts,
            f"The other {facts.n_unlabelled:,} rows may contain more: questions chosen by a "
            "strategy, unlike a random sample, give no bound.",
        )
    return (
        counts,
        "The last rows were a random sample without a new category: with "
        f"{100 * confidence:g} % confidence at most {100 * fraction:.2g} % of the "
        f"{facts.n_unlabelled:,} unlabelled rows belong to undiscovered categories, if all answers "
        "are correct.",
    )


def _categories(n: int) -> str:
    return quantity(n, "category", "categories")


def _last_new(facts: _Facts) -> str:
    if facts.last_new == 0:
        return "all of them known before"
    since = f", none in {quantity(facts.since_new, 'answer')} since" if facts.since_new else ""
    return f"the last new one at question {facts.last_new:,}{since}"


def _guessed(left: int) -> tuple[str, ...]:
    n_right = sum(trial.n_right for trial in TRIALS)
    n_draws = sum(trial.n_draws for trial in TRIALS)
    answers = (
        f"after {left:,} more {plural(left, 'answer')}" if left else "now, after enough answers"
    )
    return (
        f"Guess: stop {answers} without a new category. This is a rule of thumb: as many answers "
        f"as until the last new category, and {_EXTRA_ANSWERS} more.",
        f"On {n_draws} tables with known categories it was right {n_right} times and stopped too "
        f"early on the other {n_draws - n_right}; how often it is right on other tables is not "
        "known.",
    )


def _check(
    asked: int, n_rows: int, n_labelled_before: int, n_random: int, confidence: float
) -> None:
    if n_labelled_before < 0 or asked + n_labelled_before > n_rows:
        raise InputError(
            f"A table of {n_rows} rows cannot have {asked} answers besides {n_labelled_before} "
            "labelled rows; count each row once."
        )
    if not 0 <= n_random <= asked:
        raise InputError(
            f"n_random is {n_random}, but there were {asked} questions; give how many of the last "
            "ones were sampled at random."
        )
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}; it must lie between 0 and 1.")


# --- random baseline ------------------------------------------------------------------------


def expected_by_random_sampling(sizes: ArrayLike, n_rows: int, questions: ArrayLike) -> Vector:
    """Return the expected number of categories in a random sample without replacement.

    A sample of q rows misses a category of s of n rows with probability C(n - s, q) / C(n, q).
    This is exact for whole sizes, and interpolated for others.

    Parameters
    ----------
    sizes : array-like of shape (n_categories,)
        Number of rows of each category.
    n_rows : int
        Number of rows.
    questions : array-like of int
        Sample sizes, from 0 to ``n_rows``.

    Returns
    -------
    ndarray
        One number for each of ``questions``.

    Examples
    --------
    >>> from kernova.discover.stopping import expected_by_random_sampling
    >>> expected_by_random_sampling([8, 2], 10, [0, 1, 2, 10]).round(3)
    array([0.   , 1.   , 1.356, 2.   ])
    """
    of_each = np.asarray(sizes, dtype=np.float64).reshape(-1, 1)
    sampled = np.asarray(questions, dtype=np.float64)
    _check_sample(of_each, n_rows, sampled)
    unsampled = n_rows - sampled.reshape(1, -1)
    spare = unsampled - of_each  # unsampled rows beyond those of the category
    is_found = (spare <= -1) | (unsampled == 0) & (of_each > 0)
    log_missed = (
        (gammaln(n_rows - of_each + 1) - gammaln(n_rows + 1.0))
        + gammaln(unsampled + 1)
        - gammaln(np.where(is_found, 0.0, spare) + 1)
    )
    missed = np.where(is_found, 0.0, np.exp(np.minimum(log_missed, 0.0)))
    return np.asarray((1 - missed).sum(axis=0).reshape(sampled.shape))


def estimated_sizes(Z: Matrix, labels: Sequence[str | None] | NDArray[Any]) -> dict[str, float]:
    """Estimate the number of rows of each category from the labelled rows.

    An unlabelled row is assumed to belong to one of the categories found so far. It counts for each
    by one over the squared distance to the nearest labelled row of the category, and these weights
    add up to one row. The assumption fails where categories are still undiscovered: too few are
    counted, and their rows enlarge others. Where all are found, small categories come out too
    large, so that the random baseline looks better than it is. Measured at 10 to 200 answers of the
    default strategy on eleven tables of 2 to 26 categories, the expected number of categories was
    off by 14 % of all categories (root mean square); on average it was 5 % too low after 10
    answers, and 4 to 10 % too high from 40 on.

    Large tables are subsampled: every k-th row, deterministic.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
        Standardised rows.
    labels : sequence of str or None
        Label of each row, None where unknown.

    Returns
    -------
    dict of str to float
        Sizes that add up to the number of rows, in the order of first rows; empty if no row has a
        label.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.stopping import estimated_sizes
    >>> Z = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> {name: round(size, 2) for name, size in
    ...  estimated_sizes(Z, ["cod", None, None, "eel"]).items()}
    {'cod': 2.0, 'eel': 2.0}
    """
    given = np.asarray(labels, dtype=object)
    named = np.flatnonzero(given != None)  # noqa: E711 - elementwise
    members: dict[str, list[int]] = {}
    for row in named.tolist():
        members.setdefault(str(given[row]), []).append(row)
    sizes = {name: float(len(rows)) for name, rows in members.items()}
    others = np.flatnonzero(given == None)  # noqa: E711 - elementwise
    if not members or len(others) == 0:
        return sizes
    fractions = _expected_fractions(Z, list(members.values()), others)
    return {
        name: size + len(others) * fraction
        for (name, size), fraction in zip(sizes.items(), fractions.tolist(), strict=True)
    }


def _expected_fractions(Z: Matrix, members: list[list[int]], others: Indices) -> Vector:
    """Return the estimated fraction of the other rows that belongs to each category."""
    shown = [_evenly_spaced(np.array(rows), _ROWS_PER_CATEGORY) for rows in members]
    n_shown = sum(map(len, shown))
    room = min(_MAX_PAIRS, _MAX_NUMBERS // max(1, Z.shape[1])) // n_shown
    sample = Z[_evenly_spaced(others, max(_MIN_SAMPLED, room))]
    gaps = np.column_stack([cdist(sample, Z[rows]).min(axis=1) for rows in shown])
    smallest = gaps.min(axis=1, keepdims=True)
    # Relative to the nearest, so that nothing overflows.
    nearness = ((smallest + _TINY) / (gaps + _TINY)) ** _DISTANCE_POWER
    return np.asarray((nearness / nearness.sum(axis=1, keepdims=True)).mean(axis=0))


def random_baseline_curve(
    Z: Matrix,
    labels: Sequence[str | None] | NDArray[Any],
    n_questions: int,
    *,
    prior_rows: Collection[int] = (),
) -> Vector:
    """Return the expected number of categories after 1, 2 ... random questions.

    Parameters
    ----------
    Z, labels
        As in :func:`estimated_sizes`, which states the assumptions.
    n_questions : int
        Number of questions.
    prior_rows : collection of int
        Rows with a prior label: these are not sampled, and their categories are known from the
        beginning.

    Returns
    -------
    ndarray of shape (n_questions,)
        Comparable to ``curve_`` of a session.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.stopping import random_baseline_curve
    >>> Z = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> random_baseline_curve(Z, ["a", None, None, "b"], 2).round(2)
    array([1.  , 1.67])
    """
    given = np.asarray(labels, dtype=object)
    before = {str(given[row]) for row in prior_rows if given[row] is not None}
    sizes = estimated_sizes(Z, given)
    n_open = len(given) - len(set(prior_rows))
    unknown = [min(size, float(n_open)) for name, size in sizes.items() if name not in before]
    questions = np.minimum(np.arange(1, n_questions + 1), n_open)
    knots = _knots(questions, max(64, _MAX_TERMS // max(1, len(unknown))))
    expected = expected_by_random_sampling(unknown, n_open, knots)
    if len(knots) < len(questions):
        expected = np.interp(questions, knots, expected)
    return len(before) + expected


def _knots(questions: Indices, n_max: int) -> Indices:
    """Return at most ``n_max`` of the questions, denser at the beginning, where a curve bends."""
    if len(questions) <= n_max:
        return questions
    last = len(questions) - 1
    bent = np.geomspace(1, last, n_max // 2) - 1
    even = np.linspace(0, last, n_max - n_max // 2)
    return questions[np.unique(np.concatenate([bent, even]).astype(np.intp))]


def _evenly_spaced(rows: Indices, n_max: int) -> Indices:
    """Return at most ``n_max`` of the rows, evenly spaced."""
    if len(rows) <= n_max:
        return rows
    return rows[np.arange(n_max) * len(rows) // n_max]


def _check_sample(sizes: Matrix, n_rows: int, questions: Vector) -> None:
    if not ((sizes >= 0) & (sizes <= n_rows)).all():
        raise InputError(
            f"Sizes must lie between 0 and the number of rows, {n_rows}; got sizes from "
            f"{sizes.min():g} to {sizes.max():g}."
        )
    if not ((questions >= 0) & (questions <= n_rows)).all():
        raise InputError(
            f"Between 0 and {n_rows} rows can be sampled; got {questions.min():g} to "
            f"{questions.max():g} questions."
        )

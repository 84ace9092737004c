"""Stopping advice: how many categories are probably unmet, and how rare they would have to be.

Nothing can prove that every category was found while rows are unlabelled. A random sample would at
least bound the fraction of rows in undiscovered categories; questions chosen by a strategy give no
bound. What remains is an estimate in the manner of Good and Turing: where many categories were
asked about only once, or were met late, more are to come, and those not met by q questions are the
rarer the larger q is. Its four numbers were fitted, and checked, where the categories were known.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kernova.errors import InputError
from kernova.text import plural, quantity

#: Stopping is advised when a category of this fraction of the table would probably have been met.
SMALL_CATEGORY: Final = 0.01
# Before so many answers, or with fewer categories, nothing is estimated.
_FEWEST_ANSWERS, _FEWEST_CATEGORIES = 10, 2
#: Stopping is not advised before: hardly any measured run would have been stopped so early.
FEWEST_TO_STOP: Final = 50
# After so many answers, twice as many categories are unmet as in the long run.
_EARLY_ANSWERS: Final = 20
#: Added to the expected number before limits are derived: none expected is not none.
SPARE: Final = 0.3
#: By random sampling, the power of the number of questions by which sizes fall would be one. But
#: what a strategy has not met after many questions is what it is bad at.
SIZE_POWER: Final = 0.75


class UnmetFit(NamedTuple):
    """Numbers fitted on tables with known categories.

    Attributes
    ----------
    once : float
        Unmet categories for each category that was asked about once.
    late : float
        Unmet categories for each category met by the last question; less for earlier ones.
    most : float
        Factor from the expected number to one that is seldom exceeded.
    largest : float
        Factor from the expected number, divided by a power of the number of questions, to a
        fraction of the table that the largest unmet category seldom exceeds.
    """

    once: float
    late: float
    most: float
    largest: float


class Trial(NamedTuple):
    """How often the limits were wrong when stopping was advised.

    Attributes
    ----------
    n_stops : int
        Number of runs on tables with known categories in which stopping was advised.
    n_larger : int
        How many of them had not met a category that was larger than stated.
    n_more : int
        How many of them had not met more categories than stated.
    """

    n_stops: int
    n_larger: int
    n_more: int


#: Fitted on the choosing problems of the proving ground: ``python -m benchmarks.curves_and_stops``
#: prints these lines.
UNMET_FIT: Final = UnmetFit(once=0.253, late=0.32, most=2.32, largest=0.4)
#: Measured on the confirming problems, which had no say in the numbers, by the same command.
TRIAL: Final = Trial(n_stops=175, n_larger=20, n_more=17)


class Progress(NamedTuple):
    """Counts of a session from which stopping advice follows."""

    asked: int  # questions, including skipped ones
    seen: int  # categories
    last_new: int  # the question that found the last new category; 0 for none
    n_named: int  # questions that were answered
    named_since: int  # the same, since the last new category
    n_once: int  # categories found by a question, and never asked about again
    sum_of_firsts: int  # over categories found by a question: the number of that answer


class Unmet(NamedTuple):
    """Estimate of what questions have not met.

    Attributes
    ----------
    expected : float
        Expected number of unmet categories.
    at_most : int
        A number that is seldom exceeded.
    largest : int
        Number of rows that the largest of them seldom exceeds, at least 1.
    """

    expected: float
    at_most: int
    largest: int


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
        Further answers without a new category until stopping is advised; 0 when it is now.
    missed_fraction : float or None
        With 95 % confidence, at most this fraction of the unlabelled rows belongs to undiscovered
        categories. None without a random sample.
    unmet : Unmet or None
        Estimate of what is unmet; None before ten answers and two categories, and when all rows
        are labelled.
    known : tuple of str
        Sentences that are facts.
    guessed : tuple of str
        Sentences that are estimates.
    sentence : str
        All sentences.
    """

    asked: int
    seen: int
    since_new: int
    questions_left: int
    missed_fraction: float | None
    unmet: Unmet | None
    known: tuple[str, ...]
    guessed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Facts, followed by estimates marked as such."""
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
    """Return facts and estimates about undiscovered categories.

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
        With a ``sentence`` that separates facts from estimates.

    Examples
    --------
    >>> from kernova.discover.stopping import stopping_advice
    >>> advice = stopping_advice(["cod", "cod", "eel"] + ["cod"] * 40, 500)
    >>> print(advice.known[0])
    Of 500 rows, 43 were asked about: 2 categories, the last new one at question 3, none in 40
    answers since.
    >>> print(advice.guessed[-1])
    Advice: stop after ... more answers without a new category, unless categories below 1 % of the
    table matter.
    """
    _check(len(labels_in_order), n_rows, n_labelled_before, n_random, confidence)
    asked = len(labels_in_order)
    progress, new_questions = _counted(labels_in_order, known_before)
    fraction = None
    if n_random and not any(number > asked - n_random for number in new_questions):
        n_drawn = sum(label is not None for label in labels_in_order[asked - n_random :])
        fraction = 1 - (1 - confidence) ** (1 / n_drawn) if n_drawn else None
    return advice_after(progress, n_rows, n_labelled_before, fraction, confidence)


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
    n_unlabelled = n_rows - n_labelled_before - progress.n_named
    is_over = n_unlabelled == 0
    is_early = progress.n_named < _FEWEST_ANSWERS or progress.seen < _FEWEST_CATEGORIES
    unmet = None if is_over or is_early else unmet_categories(progress, n_rows, n_unlabelled)
    left = answers_until_stop(progress, n_rows, n_unlabelled)
    return Advice(
        asked=progress.asked,
        seen=progress.seen,
        since_new=progress.named_since,
        questions_left=left,
        missed_fraction=0.0 if is_over else fraction,
        unmet=unmet,
        known=_known(progress, n_rows, n_unlabelled, fraction, confidence),
        guessed=() if is_over or progress.asked == 0 else _guessed(progress, unmet, n_rows, left),
    )


# --- what is unmet ---------------------------------------------------------------------------


def unmet_categories(
    progress: Progress, n_rows: int, n_unlabelled: int, fit: UnmetFit = UNMET_FIT
) -> Unmet:
    """Return how many categories are probably unmet, and how large they may be.

    Expected are ``once`` categories for each that was asked about only once, and ``late`` for each
    that was met by the last question, less in proportion for earlier ones. Both count more at the
    beginning, and less when few rows are left. Both limits are in proportion to that number and
    0.3 more.

    Parameters
    ----------
    progress : Progress
        Counts of the session, with at least one answer.
    n_rows : int
        Number of rows.
    n_unlabelled : int
        Number of rows without a label.
    fit : UnmetFit
        The fitted numbers.

    Examples
    --------
    >>> from kernova.discover.stopping import Progress, UnmetFit, unmet_categories
    >>> progress = Progress(80, 4, 40, 80, 40, n_once=1, sum_of_firsts=64)
    >>> unmet = unmet_categories(progress, 1000, 920, UnmetFit(0.3, 0.2, 3.0, 0.5))
    >>> round(unmet.expected, 3), unmet.at_most, unmet.largest
    (0.529, 2, 15)
    """
    share = n_unlabelled / n_rows
    expected = expected_unmet(progress.n_named, progress.n_once, progress.sum_of_firsts, fit)
    spared = (expected + SPARE) * share
    largest = fit.largest * spared / progress.n_named**SIZE_POWER
    return Unmet(
        expected=expected * share,
        at_most=min(int(fit.most * spared), n_unlabelled),
        largest=max(1, min(int(n_rows * largest), n_unlabelled)),
    )


def expected_unmet(n_named: int, n_once: int, sum_of_firsts: int, fit: UnmetFit) -> float:
    """Return the expected number of unmet categories of a table with very many rows."""
    late = sum_of_firsts / n_named
    return (fit.once * n_once + fit.late * late) * (1 + _EARLY_ANSWERS / n_named)


def answers_until_stop(
    progress: Progress, n_rows: int, n_unlabelled: int, fit: UnmetFit = UNMET_FIT
) -> int:
    """Return the number of further answers, none of them new, after which stopping is advised.

    It is as soon as a category of 1 % of the table would probably have been met, but not before 50
    answers and two categories.
    """
    if progress.seen < _FEWEST_CATEGORIES:
        return n_unlabelled

    def is_enough(n_more: int) -> bool:
        later = progress._replace(n_named=progress.n_named + n_more)
        if later.n_named < FEWEST_TO_STOP:
            return False
        unmet = unmet_categories(later, n_rows, n_unlabelled - n_more, fit)
        return unmet.largest <= max(1, SMALL_CATEGORY * n_rows)

    return bisect_left(range(n_unlabelled), True, key=is_enough)


def _counted(
    labels: Sequence[str | None], known_before: Collection[str]
) -> tuple[Progress, list[int]]:
    """Return the counts, and the numbers of the questions that found new categories."""
    times: Counter[str] = Counter()
    firsts, questions = [], []
    n_named = since = 0
    for number, label in enumerate(labels, start=1):
        if label is None:
            continue
        n_named += 1
        since += 1
        if label not in known_before and label not in times:
            firsts.append(n_named)
            questions.append(number)
            since = 0
        times[label] += 1
    progress = Progress(
        asked=len(labels),
        seen=len({*times, *known_before}),
        last_new=questions[-1] if questions else 0,
        n_named=n_named,
        named_since=since,
        n_once=sum(n == 1 and label not in known_before for label, n in times.items()),
        sum_of_firsts=sum(firsts),
    )
    return progress, questions


# --- sentences -------------------------------------------------------------------------------


def _known(
    progress: Progress, n_rows: int, n_unlabelled: int, fraction: float | None, confidence: float
) -> tuple[str, ...]:
    if n_unlabelled == 0:
        all_rows = "The only row is" if n_rows == 1 else f"All {n_rows:,} rows are"
        return (f"{all_rows} labelled: {_categories(progress.seen)}, no others.",)
    if progress.asked == 0:
        return (f"None of the {quantity(n_rows, 'row')} has been asked about yet.",)
    n_skipped = progress.asked - progress.n_named
    skipped = f"; {n_skipped:,} skipped" if n_skipped else ""
    counts = (
        f"Of {n_rows:,} rows, {progress.asked:,} {plural(progress.asked, 'was', 'were')} asked "
        f"about: {_categories(progress.seen)}, {_last_new(progress)}{skipped}."
    )
    if fraction is None:
        return (
            counts,
            f"{_others(n_unlabelled)}: questions chosen by a strategy, unlike a random sample, "
            "give no bound.",
        )
    return (
        counts,
        "The last rows were a random sample without a new category: with "
        f"{100 * confidence:g} % confidence at most {100 * fraction:.2g} % of the "
        f"{quantity(n_unlabelled, 'unlabelled row')} {plural(n_unlabelled, 'belongs', 'belong')} "
        "to undiscovered categories, if all answers are correct.",
    )


def _others(n_unlabelled: int) -> str:
    if n_unlabelled == 1:
        return "The other row may be of a further category"
    return f"The other {n_unlabelled:,} rows may contain more"


def _categories(n: int) -> str:
    return quantity(n, "category", "categories")


def _last_new(progress: Progress) -> str:
    if progress.last_new == 0:
        return "all of them known before"
    since = progress.named_since
    words = f", none in {quantity(since, 'answer')} since" if since else ""
    return f"the last new one at question {progress.last_new:,}{words}"


def _guessed(progress: Progress, unmet: Unmet | None, n_rows: int, left: int) -> tuple[str, ...]:
    if unmet is None:
        return (f"Estimate: possible from {_FEWEST_ANSWERS} answers and two categories on.",)
    n = round(unmet.expected)
    most = max(n, unmet.at_most)
    number = f"about {n:,} more {plural(n, 'category is', 'categories are')}"
    limit = f", seldom more than {most:,}" if most else ""
    fraction = 100 * unmet.largest / n_rows
    when = f"after {left:,} more {plural(left, 'answer')} without a new category" if left else "now"
    is_row = SMALL_CATEGORY * n_rows < 2
    small = "of a single row" if is_row else f"below {100 * SMALL_CATEGORY:g} % of the table"
    return (
        f"Estimate: probably {number if n else 'no other category is'} unmet{limit}. It follows "
        f"from how many categories were asked about only once ({progress.n_once:,}), and from how "
        "late new ones were met.",
        f"A category of more than {quantity(unmet.largest, 'row')} ({fraction:.2g} % of the table) "
        "would probably have been met. On tables with known categories, a larger one than stated "
        f"was unmet at {TRIAL.n_larger} of {TRIAL.n_stops} stops, and more than stated were unmet "
        f"at {TRIAL.n_more}.",
        f"Advice: stop {when}, unless categories {small} matter.",
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

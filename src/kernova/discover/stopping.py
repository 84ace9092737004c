"""Stopping advice: facts about the categories found, and a rule of thumb for more questions.

Nothing can prove that every category was found while rows are unlabelled. A random sample would at
least bound the fraction of rows in undiscovered categories; questions chosen by a strategy give no
bound. What remains is a rule of thumb, with a count of how often it was right where the categories
were known.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kernova.errors import InputError
from kernova.text import plural, quantity

# Rule of thumb: stop when as many answers as until the last new category, and 50 more, bring none.
_WAIT_FACTOR, _EXTRA_ANSWERS = 1, 50


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

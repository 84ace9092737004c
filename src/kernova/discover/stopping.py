"""When to stop asking: what is known, what is guessed, and that the two are not the same.

Nothing can prove that every category was met while rows are left unseen. Questions drawn by lot
would at least bound how many rows can belong to categories not met; questions that were chosen,
as a strategy chooses them, bound nothing. What remains is a rule of thumb, and a count of how
often it was right where the truth was known.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kernova.errors import InputError

# The rule of thumb: nothing new in as many questions again as the last new category took, and 50.
_AS_MANY_AGAIN: Final = 1
_AND_MORE: Final = 50


class Trial(NamedTuple):
    """How often the rule of thumb was right, on tables where the categories are known."""

    tables: str
    n_right: int
    n_draws: int


#: Measured with the default strategy and an expert who makes no mistake; `make soak` counts again.
TRIALS: Final = (
    Trial("the six sets of the HMS paper", 73, 74),
    Trial("four sets kept back until the end", 28, 32),
)


@dataclass(frozen=True)
class Advice:
    """Whether to go on, as far as anybody can tell.

    Attributes
    ----------
    asked : int
        Questions so far, those passed over included.
    seen : int
        Categories met, those known before included.
    since_new : int
        Answers since the last new category.
    questions_left : int
        How many more answers without a new category the rule of thumb asks for; 0 when it would
        stop.
    missed_share : float or None
        With 95 % confidence, no more than this share of the unseen rows belongs to categories not
        met. None if nothing of the kind is known: only rows drawn by lot tell.
    known : tuple of str
        Sentences that are facts.
    guessed : tuple of str
        Sentences that are not.
    sentence : str
        All of it.
    """

    asked: int
    seen: int
    since_new: int
    questions_left: int
    missed_share: float | None
    known: tuple[str, ...]
    guessed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Facts first, then guesses, marked as such."""
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
    """Say what is known and what can be guessed about categories not met so far.

    Parameters
    ----------
    labels_in_order : sequence of str or None
        The answers in the order of the questions; None where a row was passed over.
    n_rows : int
        How many rows the table has.
    known_before : collection of str
        Categories that had labelled rows before the first question: to meet them is nothing new.
    n_labelled_before : int
        How many rows had labels before the first question.
    n_random : int
        How many of the last questions were about rows drawn by lot from those not yet asked. The
        number must have been fixed beforehand; only then does the bound hold.
    confidence : float
        How sure the bound shall be.

    Returns
    -------
    Advice
        With a ``sentence`` that keeps facts and guesses apart.

    Examples
    --------
    >>> from kernova.discover.stopping import stopping_advice
    >>> advice = stopping_advice(["cod", "cod", "eel"] + ["cod"] * 40, 500)
    >>> advice.since_new, advice.questions_left
    (40, 13)
    >>> print(advice.known[0])
    Of 500 rows, 43 were asked: 2 categories, the last new one at question 3, none in 40 answers
    since.
    """
    _check(len(labels_in_order), n_rows, n_labelled_before, n_random, confidence)
    asked = len(labels_in_order)
    last_new, new_places = _new_categories(labels_in_order, known_before)
    named_since = sum(label is not None for label in labels_in_order[last_new:])
    n_named = named_since + sum(label is not None for label in labels_in_order[:last_new])
    seen = len({*labels_in_order, *known_before} - {None})
    share = None
    if n_random and not any(place > asked - n_random for place in new_places):
        n_drawn = sum(label is not None for label in labels_in_order[asked - n_random :])
        share = 1 - (1 - confidence) ** (1 / n_drawn) if n_drawn else None
    n_unseen = n_rows - n_labelled_before - n_named
    is_over = n_unseen == 0
    wanted = _AS_MANY_AGAIN * last_new + _AND_MORE
    left = 0 if is_over else min(max(0, wanted - named_since), n_unseen)
    facts = _Facts(asked, n_rows, seen, last_new, named_since, asked - n_named, n_unseen)
    return Advice(
        asked=asked,
        seen=seen,
        since_new=named_since,
        questions_left=left,
        missed_share=0.0 if is_over else share,
        known=_known(facts, share, confidence),
        guessed=() if is_over or asked == 0 else _guessed(left),
    )


class _Facts(NamedTuple):
    asked: int
    n_rows: int
    seen: int
    last_new: int
    since_new: int
    n_passed: int
    n_unseen: int


def _new_categories(
    labels: Sequence[str | None], known_before: Collection[str]
) -> tuple[int, list[int]]:
    """Give the number of the question that met the last new category, and of all that met one."""
    met: set[str | None] = {None, *known_before}
    places = []
    for place, label in enumerate(labels, start=1):
        if label not in met:
            met.add(label)
            places.append(place)
    return (places[-1] if places else 0), places


def _known(facts: _Facts, share: float | None, confidence: float) -> tuple[str, ...]:
    if facts.n_unseen == 0:
        return (f"All {facts.n_rows:,} rows have a label: {_counted(facts.seen)}, and no other.",)
    if facts.asked == 0:
        return (f"None of {facts.n_rows:,} rows was asked yet: nothing is known.",)
    said = (
        f"Of {facts.n_rows:,} rows, {facts.asked:,} {'was' if facts.asked == 1 else 'were'} asked: "
        f"{_counted(facts.seen)}, {_last(facts)}."
    )
    if facts.n_passed:
        said = f"{said[:-1]}; {facts.n_passed:,} passed over."
    if share is None:
        return (
            said,
            f"The other {facts.n_unseen:,} rows may hold more: questions that were chosen, not "
            "drawn by lot, prove nothing about them.",
        )
    return (
        said,
        f"The last rows were drawn by lot and held nothing new: with {100 * confidence:g} % "
        f"confidence at most {100 * share:.2g} % of the {facts.n_unseen:,} rows without a label "
        "belong to categories not met, if all answers were right.",
    )


def _counted(n: int) -> str:
    return f"{n:,} {'category' if n == 1 else 'categories'}"


def _last(facts: _Facts) -> str:
    if facts.last_new == 0:
        return "all of them known before"
    since = facts.since_new
    nothing = (
        "" if since == 0 else f", none in {since:,} {'answer' if since == 1 else 'answers'} since"
    )
    return f"the last new one at question {facts.last_new:,}{nothing}"


def _guessed(left: int) -> tuple[str, ...]:
    n_right = sum(trial.n_right for trial in TRIALS)
    n_draws = sum(trial.n_draws for trial in TRIALS)
    more = f"{left:,} more {'answer' if left == 1 else 'answers'}"
    enough = "there were enough answers" if left == 0 else f"it takes {more}"
    return (
        f"Guess: {enough} without a new category. This is a rule of thumb: as many as until the "
        f"last new one, and {_AND_MORE} more.",
        f"On {n_draws} tables whose categories are known it was right {n_right} times, and stopped "
        f"too early on the other {n_draws - n_right}; how often it is right on tables like yours, "
        "nobody knows.",
    )


def _check(
    asked: int, n_rows: int, n_labelled_before: int, n_random: int, confidence: float
) -> None:
    if n_labelled_before < 0 or asked + n_labelled_before > n_rows:
        raise InputError(
            f"A table of {n_rows} rows cannot have {asked} answers besides {n_labelled_before} "
            "rows with a label; count each row once."
        )
    if not 0 <= n_random <= asked:
        raise InputError(
            f"n_random is {n_random}, but there were {asked} questions; give how many of the last "
            "ones were drawn by lot."
        )
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}; it must lie between 0 and 1.")

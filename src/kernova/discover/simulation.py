"""Simulated experts: count the questions that a strategy needs on a labelled table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer, Strategy
from kernova.discover.sampling import SampledFirst
from kernova.discover.strategies import DEFAULT_STRATEGY, as_strategy
from kernova.errors import InputError
from kernova.typing import Indices

# The curves of the paper, and the area under them, end here.
AREA_QUESTIONS: Final = 200
_FIRST_ROWS: Final = 256


@dataclass(frozen=True, eq=False)
class Simulation:
    """Result of one simulated run."""

    strategy: str  # the name of the strategy
    # Rows in the order they were asked. The run ends with the question that completes the classes,
    # at ``max_questions``, or when no row is left.
    asked: Indices
    classes_seen: Indices  # number of classes asked and correctly labelled after each question
    n_classes: int  # number of classes

    @property
    def questions_to_all(self) -> int | None:
        """Number of questions until every class was found; None if that did not happen."""
        if len(self.classes_seen) == 0 or self.classes_seen[-1] < self.n_classes:
            return None
        return len(self.classes_seen)

    @property
    def area(self) -> float:
        """Mean over questions 1 to 200 of the fraction of classes seen.

        After the end of a run the curve stays constant; for a run limited by ``max_questions`` the
        area may be too low.
        """
        return float(self.curve(AREA_QUESTIONS).mean() / self.n_classes)

    def curve(self, n_questions: int) -> Indices:
        """Return classes seen after 1, 2 ... questions, constant after the last."""
        last = int(self.classes_seen[-1]) if len(self.classes_seen) else 0
        missing = max(0, n_questions - len(self.classes_seen))
        return np.concatenate([self.classes_seen[:n_questions], np.full(missing, last)])


@runtime_checkable
class FixedOrder(Protocol):
    """A strategy whose questions do not depend on the answers."""

    def first_rows(self, preparation: Preparation, n: int) -> Indices:
        """Return the first ``n`` rows to be asked."""
        ...


class _Expert:
    """Labels rows from a table, some of them wrongly, the same row always alike."""

    def __init__(self, labels: ArrayLike, error_rate: float, random_state: object) -> None:
        classes, codes = np.unique(np.asarray(labels).astype(np.str_), return_inverse=True)
        self.names: list[str] = classes.tolist()
        self.codes: Indices = codes.astype(np.intp)
        rng = check_random_state(random_state)
        is_wrong = rng.random_sample(len(codes)) < error_rate
        n_classes = len(classes)
        # With a single class there is none to be confused with.
        others = rng.randint(1, n_classes, size=len(codes)) if n_classes > 1 else 0
        self.is_correct: NDArray[np.bool_] = ~is_wrong if n_classes > 1 else np.ones_like(is_wrong)
        self.labels: Indices = np.where(self.is_correct, codes, (codes + others) % n_classes)

    def answer(self, row: int) -> Answer:
        return Answer(row, self.names[self.labels[row]])


def simulate(
    X: "ArrayLike | Preparation",
    labels: ArrayLike,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    *,
    error_rate: float = 0.0,
    random_state: "int | np.random.RandomState | None" = None,
    max_questions: int | None = None,
) -> Simulation:
    """Simulate an expert from known labels, and ask until every class is found.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns), or Preparation
        Finite numbers. A :class:`~kernova.discover.preparation.Preparation` lets many
        simulations share one hierarchy.
    labels : array-like of shape (n_rows,)
        The class of every row.
    strategy : str or Strategy
        Strategy, or a name in :data:`~kernova.discover.strategies.STRATEGIES`.
    error_rate : float, default=0.0
        Fraction of rows, chosen at random, that the expert takes for another class. A class counts
        as found only when one of its rows has been asked about and correctly labelled.
    random_state : int, RandomState instance or None, default=None
        Seed of the expert's mistakes and, for an array ``X``, of the strategy. None is 0: the same
        call gives the same result.
    max_questions : int, default=None
        Maximum number of questions; None continues until all classes are found or no row is left.

    Returns
    -------
    Simulation
        With ``asked``, ``classes_seen``, ``questions_to_all`` (None if not all were found) and
        ``area``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.simulation import simulate
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(8, 0.1, (5, 2))])
    >>> labels = ["common"] * 60 + ["rare"] * 5
    >>> simulate(X, labels, "hms-ci").questions_to_all
    2
    """
    seed = 0 if random_state is None else random_state
    preparation = X if isinstance(X, Preparation) else _prepared(X, seed)
    chosen = as_strategy(strategy)
    _check(preparation.n_rows, labels, error_rate, max_questions)
    expert = _Expert(labels, error_rate, seed)
    limit = preparation.n_rows if max_questions is None else max_questions
    if isinstance(chosen, FixedOrder):
        asked = _fixed(lambda n: chosen.first_rows(preparation, n), expert, limit)
    else:
        asked = _interactive(chosen, preparation, expert, limit)
    return Simulation(chosen.name, asked, _classes_seen(asked, expert), len(expert.names))


def _prepared(X: ArrayLike, seed: "int | np.random.RandomState") -> Preparation:
    try:
        matrix = check_array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"X must be a table of finite numbers. {reason}") from None
    own = seed if isinstance(seed, int) else int(seed.randint(2**31 - 1))
    return Preparation(matrix, random_state=own)


def _check(n_rows: int, labels: ArrayLike, error_rate: float, max_questions: int | None) -> None:
    n_labels = np.shape(labels)
    if n_labels != (n_rows,):
        raise InputError(
            f"labels must have one label for each of the {n_rows} rows; got an array of shape "
            f"{n_labels}."
        )
    if not 0 <= error_rate < 1:
        raise InputError(f"error_rate must be at least 0 and below 1; got {error_rate}.")
    if max_questions is not None and max_questions < 1:
        raise InputError(f"max_questions must be at least 1, or None; got {max_questions}.")


def _classes_seen(asked: Indices, expert: _Expert) -> Indices:
    """Return the number of correctly labelled classes after each question."""
    correct = asked[expert.is_correct[asked]]
    _, firsts = np.unique(expert.codes[correct], return_index=True)
    is_new = np.zeros(len(asked), dtype=np.intp)
    is_new[np.flatnonzero(expert.is_correct[asked])[firsts]] = 1
    return np.cumsum(is_new)


def _fixed(first_rows: Callable[[int], Indices], expert: _Expert, limit: int) -> Indices:
    """Return the start of a fixed order that contains all classes, by doubling its length."""
    n = min(limit, _FIRST_ROWS)
    while True:
        rows = first_rows(n)
        seen = _classes_seen(rows, expert)
        is_all = len(seen) > 0 and seen[-1] == len(expert.names)
        if is_all:
            return rows[: int(np.argmax(seen == seen[-1])) + 1]
        if n >= limit:
            return rows
        n = min(limit, 2 * n)


def _interactive(
    strategy: Strategy, preparation: Preparation, expert: _Expert, limit: int
) -> Indices:
    """Return the rows that a strategy asks, answered one by one."""
    asker = SampledFirst(strategy).start(preparation)
    missing = set(range(len(expert.names)))
    asked: list[int] = []
    while missing and len(asked) < limit:
        question = asker.propose()
        if question is None:
            break
        asked.append(question.row)
        asker.observe(expert.answer(question.row))
        if expert.is_correct[question.row]:
            missing.discard(int(expert.codes[question.row]))
    return np.array(asked, dtype=np.intp)

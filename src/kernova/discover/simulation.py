"""Let a labelled table play the expert, and count how many questions a strategy needs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer, Strategy
from kernova.discover.strategies import DEFAULT_STRATEGY, strategy_named
from kernova.errors import InputError
from kernova.typing import Indices

# The paper's curves end here, and so does the area under them.
AREA_QUESTIONS: Final = 200
_FIRST_LOOK: Final = 256


@dataclass(frozen=True, eq=False)
class Simulation:
    """What came of one simulated run.

    Attributes
    ----------
    strategy : str
        The name of the strategy.
    asked : array of int
        The rows in the order they were asked. The run ends with the question that completes
        the classes, at ``max_questions``, or when no row is left.
    classes_seen : array of int
        After each question, how many classes had been asked and rightly named.
    n_classes : int
        How many classes there are.
    """

    strategy: str
    asked: Indices
    classes_seen: Indices
    n_classes: int

    @property
    def questions_to_all(self) -> int | None:
        """How many questions it took to meet every class; None if that did not happen."""
        if len(self.classes_seen) == 0 or self.classes_seen[-1] < self.n_classes:
            return None
        return len(self.classes_seen)

    @property
    def area(self) -> float:
        """Mean over questions 1 to 200 of the share of classes seen.

        After the end of a run the curve stays where it was; for a run cut short by
        ``max_questions`` that is too low, if anything.
        """
        return float(self.curve(AREA_QUESTIONS).mean() / self.n_classes)

    def curve(self, n_questions: int) -> Indices:
        """Return classes seen after 1, 2 ... questions; it stays at its end after the last."""
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
    """Names rows by a table of labels, some of them wrongly, the same row always alike."""

    def __init__(self, labels: ArrayLike, error_rate: float, random_state: object) -> None:
        classes, codes = np.unique(np.asarray(labels).astype(np.str_), return_inverse=True)
        self.names: list[str] = classes.tolist()
        self.codes: Indices = codes.astype(np.intp)
        rng = check_random_state(random_state)
        is_wrong = rng.random_sample(len(codes)) < error_rate
        n_classes = len(classes)
        # One class has no other to be mistaken for.
        others = rng.randint(1, n_classes, size=len(codes)) if n_classes > 1 else 0
        self.is_right: NDArray[np.bool_] = ~is_wrong if n_classes > 1 else np.ones_like(is_wrong)
        self.said: Indices = np.where(self.is_right, codes, (codes + others) % n_classes)

    def answer(self, row: int) -> Answer:
        return Answer(row, self.names[self.said[row]])


def simulate(
    X: "ArrayLike | Preparation",
    labels: ArrayLike,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    *,
    error_rate: float = 0.0,
    random_state: "int | np.random.RandomState | None" = None,
    max_questions: int | None = None,
) -> Simulation:
    """Ask a table of known labels as if it were an expert, until every class has been met.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns), or Preparation
        Finite numbers. A :class:`~kernova.discover.preparation.Preparation` lets many
        simulations share one hierarchy.
    labels : array-like of shape (n_rows,)
        The class of every row.
    strategy : str or Strategy
        How rows are chosen; a name of :data:`~kernova.discover.strategies.STRATEGIES`.
    error_rate : float, default=0.0
        Share of rows, drawn by lot, that the expert takes for another class. A class counts as
        met only when one of its rows was asked and rightly named.
    random_state : int, RandomState instance or None, default=None
        Draws the expert's mistakes; for an array ``X`` it seeds the strategy's own lots, too.
        None is 0: the same call gives the same result.
    max_questions : int, default=None
        Stop after so many questions; None goes on until all classes are met or no row is left.

    Returns
    -------
    Simulation
        With ``asked``, ``classes_seen``, ``questions_to_all`` (None if not all were met) and
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
    chosen = strategy_named(strategy) if isinstance(strategy, str) else strategy
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
            f"There must be one label for each of the {n_rows} rows; got an array of shape "
            f"{n_labels}."
        )
    if not 0 <= error_rate < 1:
        raise InputError(f"error_rate must be at least 0 and below 1; got {error_rate}.")
    if max_questions is not None and max_questions < 1:
        raise InputError(f"max_questions must be at least 1, or None; got {max_questions}.")


def _classes_seen(asked: Indices, expert: _Expert) -> Indices:
    """Count after each question the classes that had been rightly named."""
    right = asked[expert.is_right[asked]]
    _, firsts = np.unique(expert.codes[right], return_index=True)
    is_new = np.zeros(len(asked), dtype=np.intp)
    is_new[np.flatnonzero(expert.is_right[asked])[firsts]] = 1
    return np.cumsum(is_new)


def _fixed(first_rows: Callable[[int], Indices], expert: _Expert, limit: int) -> Indices:
    """Look at ever more of a fixed order until all classes are in it."""
    n = min(limit, _FIRST_LOOK)
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
    """Ask and answer, one by one."""
    asker = strategy.start(preparation)
    missing = set(range(len(expert.names)))
    asked: list[int] = []
    while missing and len(asked) < limit:
        question = asker.propose()
        if question is None:
            break
        asked.append(question.row)
        asker.observe(expert.answer(question.row))
        if expert.is_right[question.row]:
            missing.discard(int(expert.codes[question.row]))
    return np.array(asked, dtype=np.intp)

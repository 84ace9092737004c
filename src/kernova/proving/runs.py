"""One run of a strategy on one draw of a problem, and its three measures.

Measured are the questions until all categories are met, those until 90 % of them are, and the mean
over the first 200 questions of the fraction of categories met (area). So that one hard draw does
not take hours, a strategy chooses the first 1,000 questions only; a run that has not met every
category by then goes on with the other rows in random order. Both counts are thus finite for every
strategy, and all but the first 1,000 questions cost what random sampling costs.

Random sampling itself is not one run but 200 orders of the rows: its counts are geometric means.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.questions import Answer, Asker, Question, Strategy, free_rows
from kernova.discover.sampling import SampledFirst
from kernova.discover.simulation import AREA_QUESTIONS, FixedOrder, Simulation, simulate
from kernova.typing import Indices, Matrix

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

Labels = NDArray[Any]

#: After so many questions a run is continued at random.
MOST_CHOSEN: Final = 1_000
#: Orders of the rows that random sampling is averaged over.
RANDOM_ORDERS: Final = 200
MOST_CATEGORIES: Final = 0.9
# Streams of random numbers: the rest of a run, and the orders of random sampling.
_REST, _ORDERS = 1, 2


class Measures(NamedTuple):
    """Numbers by which a run is judged.

    Attributes
    ----------
    questions : float
        Questions until all categories are met. Where the expert is wrong about every row of a
        category it is never met, and this is the number of rows.
    questions_90 : float
        Questions until 90 % of the categories are met.
    area : float
        Mean over questions 1 to 200 of the fraction of categories met.
    is_complete : bool
        Whether all categories were met.
    """

    questions: float
    questions_90: float
    area: float
    is_complete: bool


class Course(NamedTuple):
    """The measures of a run, and the question that met the first, second, ... category."""

    measures: Measures
    meetings: tuple[float, ...]  # a category that is never met: the number of rows


# --- runs of a strategy ----------------------------------------------------------------------


def measured_run(
    preparation: "Preparation",
    labels: Labels,
    strategy: Strategy,
    *,
    error_rate: float = 0.0,
    most_chosen: int = MOST_CHOSEN,
) -> Measures:
    """Return the measures of one run of a strategy.

    Parameters
    ----------
    preparation : Preparation
        The table; its seed is also that of the expert's errors and of the questions at random.
    labels : array of str
        The category of each row.
    strategy : Strategy
        What is measured.
    error_rate : float
        Fraction of rows that the expert takes for another category.
    most_chosen : int
        Number of questions after which the other rows are asked in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.preparation import Preparation
    >>> from kernova.discover.strategies import strategy_named
    >>> from kernova.proving.runs import measured_run
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(8, 0.1, (5, 2))])
    >>> labels = np.repeat(["common", "rare"], [60, 5])
    >>> measured_run(Preparation(X), labels, strategy_named("hms-ci")).questions
    2.0
    """
    course = course_of_run(
        preparation, labels, strategy, error_rate=error_rate, most_chosen=most_chosen
    )
    return course.measures


def course_of_run(
    preparation: "Preparation",
    labels: Labels,
    strategy: Strategy,
    *,
    error_rate: float = 0.0,
    most_chosen: int = MOST_CHOSEN,
) -> Course:
    """Return the course of one run of a strategy; the parameters are those of measured_run."""
    run = simulate(
        preparation,
        labels,
        continued_at_random(strategy, most_chosen),
        error_rate=error_rate,
        random_state=preparation.random_state,
    )
    return Course(measures_of(run), meetings_of(run))


def measures_of(run: Simulation) -> Measures:
    """Return the measures of a simulated run that ended with all categories or the last row."""
    enough = np.flatnonzero(run.classes_seen >= enough_of(run.n_classes))
    needed = run.questions_to_all
    return Measures(
        questions=float(len(run.asked) if needed is None else needed),
        questions_90=float(enough[0] + 1 if len(enough) else len(run.asked)),
        area=run.area,
        is_complete=needed is not None,
    )


def meetings_of(run: Simulation) -> tuple[float, ...]:
    """Return the question that met each category, in ascending order."""
    firsts = np.flatnonzero(np.diff(run.classes_seen, prepend=0)) + 1
    missing = np.full(run.n_classes - len(firsts), len(run.asked))
    return tuple(np.concatenate([firsts, missing]).astype(np.float64).tolist())


def enough_of(n_categories: int) -> int:
    """Return the smallest number of categories that is at least 90 % of them."""
    # 0.9 * 10 is 9.000000000000002 in some orders of operations, and 10 would be wrong.
    return int(np.ceil(round(MOST_CATEGORIES * n_categories, 6)))


def continued_at_random(strategy: Strategy, most_chosen: int) -> Strategy:
    """Return a strategy that asks the other rows in random order after so many questions.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.preparation import Preparation
    >>> from kernova.discover.simulation import simulate
    >>> from kernova.discover.strategies import strategy_named
    >>> from kernova.proving.runs import continued_at_random
    >>> table = Preparation(np.arange(8.0)[:, None])
    >>> run = simulate(table, np.arange(8), continued_at_random(strategy_named("nndm"), 3))
    >>> sorted(run.asked.tolist())
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    kind = _ContinuedOrder if isinstance(strategy, FixedOrder) else _Continued
    return kind(strategy, most_chosen)


class _Continued:
    """A strategy, and after so many questions random order."""

    def __init__(self, strategy: Strategy, most_chosen: int) -> None:
        self.name = strategy.name
        self._strategy, self._most_chosen = strategy, most_chosen

    def start(self, preparation: "Preparation") -> Asker:
        """Return a fresh asker."""
        # ``simulate`` sees no needs of this wrapper, so the sample of a large table is made here.
        chosen = SampledFirst(self._strategy).start(preparation)
        return _ContinuedAsker(chosen, self._most_chosen, _rest_order(preparation))


class _ContinuedOrder(_Continued):
    """The same of a strategy whose questions do not depend on the answers."""

    def first_rows(self, preparation: "Preparation", n: int) -> Indices:
        """Return the first rows to be asked."""
        assert isinstance(self._strategy, FixedOrder)
        chosen = self._strategy.first_rows(preparation, min(n, self._most_chosen))
        if n <= self._most_chosen:
            return chosen
        order = _rest_order(preparation)
        is_chosen = np.zeros(preparation.n_rows, dtype=np.bool_)
        is_chosen[chosen] = True
        return np.concatenate([chosen, order[~is_chosen[order]]])[:n]


class _ContinuedAsker:
    """One run: the strategy's own asker, then a list of rows."""

    def __init__(self, asker: Asker, most_chosen: int, order: Indices) -> None:
        self._asker, self._n_left = asker, most_chosen
        self._order, self._place = order, 0
        self._is_asked = np.zeros(len(order), dtype=np.bool_)

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question; None when no row is left."""
        question = self._asker.propose() if self._n_left > 0 else None
        return self._listed(besides) if question is None else question

    def observe(self, answer: Answer) -> None:
        """Use one answer."""
        self._is_asked[answer.row] = True
        if self._n_left > 0:
            self._n_left -= 1
            self._asker.observe(answer)

    def _listed(self, besides: Collection[int]) -> Question | None:
        is_free = free_rows(self._is_asked, besides) if len(besides) else ~self._is_asked
        while self._place < len(self._order) and self._is_asked[self._order[self._place]]:
            self._place += 1
        rows = self._order[self._place :]
        rows = rows[is_free[rows]] if len(besides) else rows
        if len(rows) == 0:
            return None
        return Question(int(rows[0]), rows[:1], "It was drawn at random.")


def _rest_order(preparation: "Preparation") -> Indices:
    seed = [preparation.random_state, _REST]
    return np.random.default_rng(seed).permutation(preparation.n_rows).astype(np.intp)


# --- random sampling -------------------------------------------------------------------------


def random_measures(labels: Labels, seed: int, n_orders: int = RANDOM_ORDERS) -> Measures:
    """Return the measures of random sampling: geometric means of the counts, the mean area.

    Parameters
    ----------
    labels : array of str
        The category of each row.
    seed : int
        Random seed.
    n_orders : int
        Number of random orders of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.runs import random_measures
    >>> random_measures(np.array(["a", "a", "a"]), seed=0).questions
    1.0
    """
    return random_course(labels, seed, n_orders=n_orders).measures


def random_course(
    labels: Labels, seed: int, *, error_rate: float = 0.0, n_orders: int = RANDOM_ORDERS
) -> Course:
    """Return the course of random sampling: geometric means over many orders of the rows.

    Parameters
    ----------
    labels : array of str
        The category of each row.
    seed : int
        Random seed.
    error_rate : float
        Fraction of rows that the expert takes for another category, drawn anew in each order.
    n_orders : int
        Number of random orders of the rows.
    """
    _, codes = np.unique(labels, return_inverse=True)
    random = np.random.default_rng([seed, _ORDERS])
    firsts = _first_places(codes, random, n_orders, error_rate)
    is_met = np.isfinite(firsts)
    areas = np.clip(AREA_QUESTIONS + 1 - firsts, 0, None).mean(axis=1) / AREA_QUESTIONS
    meetings = np.exp(np.log(np.where(is_met, firsts, len(codes))).mean(axis=0)).tolist()
    measures = Measures(
        questions=meetings[-1],
        questions_90=meetings[enough_of(len(meetings)) - 1],
        area=float(areas.mean()),
        is_complete=bool(is_met.all()),
    )
    return Course(measures, tuple(meetings))


def _first_places(
    codes: Indices, random: np.random.Generator, n_orders: int, error_rate: float
) -> Matrix:
    """Return by order, in ascending order, the question that meets each category; inf is never."""
    by_category = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[by_category], np.arange(codes.max() + 1))
    firsts = np.empty((n_orders, len(starts)))
    for order in firsts:
        places = random.permutation(len(codes)) + 1.0
        if error_rate > 0:
            places[random.random(len(codes)) < error_rate] = np.inf
        order[:] = np.minimum.reduceat(places[by_category], starts)
    return np.sort(firsts)

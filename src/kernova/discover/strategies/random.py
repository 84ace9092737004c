"""Random sampling: the baseline of every other strategy."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kernova.discover.questions import Answer, Question, free_rows
from kernova.text import quantity
from kernova.typing import Indices

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

_ALTERNATIVES: Final = 5


@dataclass
class RandomOrder:
    """Ask the rows in random order.

    Parameters
    ----------
    seed : int or None
        Seed; None takes that of the preparation.

    Examples
    --------
    >>> from kernova.discover.strategies.random import RandomOrder
    >>> RandomOrder(seed=1).name
    'random'
    """

    seed: int | None = None
    name: str = "random"

    def start(self, preparation: "Preparation") -> "ListAsker":
        """Return a fresh asker."""
        n_rows = preparation.n_rows
        reason = f"This row was drawn at random from {quantity(n_rows, 'row')}."
        return ListAsker(self.first_rows(preparation, n_rows), reason)

    def first_rows(self, preparation: "Preparation", n: int) -> Indices:
        """Return the first ``n`` rows to be asked, which no answer changes."""
        seed = preparation.random_state if self.seed is None else self.seed
        return np.random.default_rng(seed).permutation(preparation.n_rows)[:n]


class ListAsker:
    """Ask the rows of a list, each representing only itself."""

    def __init__(self, rows: Indices, reason: str) -> None:
        self._rows = rows
        self._reason = reason
        self._is_asked = np.zeros(len(rows), dtype=np.bool_)
        self._position = 0

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        while self._position < len(self._rows) and self._is_asked[self._rows[self._position]]:
            self._position += 1
        waiting = self._rows[self._position :]
        waiting = waiting[free_rows(self._is_asked, besides)[waiting]]
        if len(waiting) == 0:
            return None
        return Question(
            row=int(waiting[0]),
            members=waiting[:1].astype(np.intp),
            reason=self._reason,
            evidence={"n_open": float(len(waiting))},
            alternatives=tuple(waiting[1 : 1 + _ALTERNATIVES].tolist()),
        )

    def observe(self, answer: Answer) -> None:
        """Mark a row as asked; the answer changes nothing."""
        self._is_asked[answer.row] = True

"""Turns of several ways of asking: one that finds more asks more often.

No way of asking is best on every table, and a few answers do not tell which one is. So each asks in
proportion to the rate at which its questions met new categories. The rate starts from the rate of
all together, and what happened hundreds of questions ago counts little. Where nothing new is met
any more, rates fall for those that ask most, so that turns slowly become even again.
"""

from collections.abc import Sequence
from copy import copy
from typing import Final

# A rate starts as if the common rate had been seen in so many questions.
_PRIOR_QUESTIONS: Final = 3.0
# With each question, earlier ones count less by this factor: 200 questions count at most.
_REMEMBERED: Final = 0.995


class Turns:
    """Which way of asking has its turn.

    Parameters
    ----------
    names : sequence of str
        The ways of asking; the first has the first turn.

    Examples
    --------
    >>> from kernova.discover.strategies.novelty_groups.turns import Turns
    >>> turns = Turns(["lucky", "other"])
    >>> names = []
    >>> for _ in range(10):
    ...     names.append(turns.current)
    ...     turns.record(is_new=turns.current == "lucky")
    >>> names.count("lucky")
    7
    """

    def __init__(self, names: Sequence[str]) -> None:
        # Lists: arrays of two numbers would take ten times as long, for each of many answers.
        self._names = tuple(names)
        self._found = [0.0] * len(names)
        self._asked = [0.0] * len(names)
        self._due = [0.0] * len(names)
        self._take_turn()

    @property
    def current(self) -> str:
        """The way of asking that has its turn."""
        return self._names[self._turn]

    def record(self, *, is_new: bool) -> None:
        """Count the answer to the question of the current turn, and go on to the next one."""
        self._asked[self._turn] += 1.0
        self._found[self._turn] += is_new
        self._asked = [number * _REMEMBERED for number in self._asked]
        self._found = [number * _REMEMBERED for number in self._found]
        self._take_turn()

    def copy(self) -> "Turns":
        """Return the same turns, which do not follow these."""
        other = copy(self)
        other._found, other._asked = list(self._found), list(self._asked)
        other._due = list(self._due)
        return other

    def _take_turn(self) -> None:
        common = (sum(self._found) + 1) / (sum(self._asked) + 2)
        rates = [
            (found + _PRIOR_QUESTIONS * common) / (asked + _PRIOR_QUESTIONS)
            for found, asked in zip(self._found, self._asked, strict=True)
        ]
        total = sum(rates)
        self._due = [due + rate / total for due, rate in zip(self._due, rates, strict=True)]
        self._turn = self._due.index(max(self._due))
        self._due[self._turn] -= 1.0

"""Let every component of a mixture ask about the row it owns least (Interleave).

After Pelleg and Moore, "Active Learning for Anomaly and Rare-Category Detection", NIPS 2004. A
mixture of Gaussians is fitted to all rows; in each round every component proposes, of the rows
that it owns, the one it explains worst. Answers hold rows to their component when the mixture is
fitted again, and a category that no component stands for yet gets one of its own.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.questions import Answer, Question, Rows, free_rows
from kernova.discover.standardize import Standardization
from kernova.discover.strategies.clamped_mixture import (
    Matrix,
    Mixture,
    expectation_maximization,
    first_mixture,
    log_densities,
    memberships,
    with_component_at,
)
from kernova.discover.strategies.kept import kept

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

_FIRST_COMPONENTS: Final = 10
_FIRST_STEPS: Final = 50
# Each round goes on where the last ended; more steps make questions slower, and no better.
_STEPS_PER_ROUND: Final = 2


@dataclass
class Interleave:
    """Each component of a Gaussian mixture asks in turn about the row it owns least.

    The paper starts with as many components as there are categories. That number is seldom
    known: by default there are 10 at first, and one more for every category that none of them
    stands for.

    Parameters
    ----------
    n_components : int
        How many components to begin with.
    seed : int or None
        Where the components start is drawn by lot, and much depends on it; None takes the
        preparation's seed.
    standardize : {"sphere", "half-sphere", "zscore", "none"}
        How rows are standardised.

    Examples
    --------
    >>> from kernova.discover.strategies.interleave import Interleave
    >>> Interleave(n_components=7).name
    'interleave'
    """

    n_components: int = _FIRST_COMPONENTS
    seed: int | None = None
    standardize: Standardization = "sphere"
    name: str = "interleave"

    def start(self, preparation: "Preparation") -> "InterleaveAsker":
        """Return a fresh asker; the first mixture is kept in the preparation."""
        Z = preparation.rows(self.standardize)
        if Z.shape[1] == 0:  # every column is constant: all rows are one point
            Z = np.zeros((len(Z), 1))
        seed = preparation.random_state if self.seed is None else self.seed
        key = ("mixture", self.n_components, seed, self.standardize)
        mixture = kept(preparation, key, lambda: self._first(Z, seed))
        return InterleaveAsker(Z, mixture)

    def _first(self, Z: Matrix, seed: int) -> Mixture:
        mixture = first_mixture(Z, self.n_components, np.random.default_rng(seed))
        nobody = np.full(len(Z), -1, dtype=np.intp)
        return expectation_maximization(Z, mixture, nobody, _FIRST_STEPS)


class _Nomination(NamedTuple):
    """A row that a component owns and explains worst."""

    component: int
    row: int


class InterleaveAsker:
    """One run: the mixture, which component stands for which category, and who asks next."""

    def __init__(self, Z: Matrix, mixture: Mixture) -> None:
        self._Z = Z
        self._mixture = mixture
        self._is_asked = np.zeros(len(Z), dtype=np.bool_)
        self._category_of = np.full(len(Z), -1, dtype=np.intp)  # its component, if known
        self._component_of: dict[str, int] = {}
        self._densities, self._owner = self._ownership()
        self._round = self._nominations(~self._is_asked)

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        if self._is_asked.all():
            return None
        is_free = free_rows(self._is_asked, besides)
        # What others have before them may be all of this round, but no reason to fit again.
        due = [one for one in self._open_round() if is_free[one.row]] or self._nominations(is_free)
        if not due:
            return None
        first, *later = due
        members = np.flatnonzero(self._owner == first.component)
        density = float(self._densities[first.row, first.component])
        usual = float(np.median(self._densities[members, first.component]))
        return Question(
            row=first.row,
            members=members,
            reason=(
                f"Component {first.component + 1} of {self._mixture.n_components} explains this "
                f"row worst of the open ones it owns: its log density is {density:.3g} here, and "
                f"{usual:.3g} in the middle of all {len(members):,}."
            ),
            evidence={
                "component": float(first.component),
                "log_density": density,
                "median_log_density": usual,
                "n_owned": float(len(members)),
            },
            alternatives=tuple(one.row for one in later[:5]),
        )

    def observe(self, answer: Answer) -> None:
        """Hold the row to the component of its category from the next round on."""
        self._open_round()  # what was due before this answer must not be changed by it
        self._is_asked[answer.row] = True
        if answer.label is None:
            return
        if answer.label not in self._component_of:
            self._component_of[answer.label] = self._component_for(answer.row)
        self._category_of[answer.row] = self._component_of[answer.label]

    def _component_for(self, row: int) -> int:
        """Give a new category the component that owns its row, or one more if that is taken."""
        owner = int(self._owner[row])
        if owner not in self._component_of.values():
            return owner
        self._mixture = with_component_at(self._mixture, self._Z[row], len(self._Z))
        return self._mixture.n_components - 1

    def _open_round(self) -> list[_Nomination]:
        """Give who has still to ask; when all have, fit again and begin another round."""
        self._round = [one for one in self._round if not self._is_asked[one.row]]
        if not self._round and not self._is_asked.all():
            self._mixture = expectation_maximization(
                self._Z, self._mixture, self._category_of, _STEPS_PER_ROUND
            )
            self._densities, self._owner = self._ownership()
            self._round = self._nominations(~self._is_asked)
        return self._round

    def _ownership(self) -> tuple[Matrix, Rows]:
        densities = log_densities(self._Z, self._mixture)
        shares = memberships(densities, self._mixture.weights, self._category_of)
        return densities, np.argmax(shares, axis=1)

    def _nominations(self, is_open: NDArray[np.bool_]) -> list[_Nomination]:
        """Let every component name the open row it owns least, the first component first."""
        named = []
        for component in range(self._mixture.n_components):
            owned = np.flatnonzero((self._owner == component) & is_open)
            if len(owned):
                worst = owned[np.argmin(self._densities[owned, component])]
                named.append(_Nomination(component, int(worst)))
        return named

"""Ask where the density jumps: nearest-neighbour density differences (NNDM).

After He and Carbonell, "Nearest-Neighbor-Based Active Learning for Rare Category Detection", NIPS
2007. A rare category is a small dense ball; at its edge, the number of rows nearby falls sharply.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from kernova.discover.questions import Answer, Question, free_rows
from kernova.discover.standardize import Standardization
from kernova.discover.strategies.density_steps import (
    DensityScale,
    Matrix,
    Steepest,
    density_scales,
    steepest_row,
)
from kernova.discover.strategies.kept import kept
from kernova.discover.strategies.node_ranking import distances_to
from kernova.errors import InputError

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

# Without priors: how large rare categories might be. Sizes are asked for in turn.
_SMALLEST_SIZE: Final = 4
_LARGEST_SIZE: Final = 256


@dataclass
class DensityJumps:
    """Ask where the number of near rows falls off most (NNDM).

    The paper's method is told the number of categories and the share of each. With ``priors`` it
    is told here, too: it looks for one category after the other, the rarest first, with a window
    of its size, until an answer names it. By default nothing is known: windows for clusters of
    4, 8, 16 ... rows, up to a quarter of the table and 256, take turns. In both cases the
    neighbourhood in which a fall is looked for grows from question to question, and rows within
    the window of one that was answered are passed over. On tables of more than 4,400 rows only
    the rows with most neighbours compete, and beyond 10,000 a sample of rows sets the windows.

    Parameters
    ----------
    priors : mapping of str to float, default=None
        Share of the rows of each category, by name; None when that is not known.
    standardize : {"sphere", "half-sphere", "zscore", "none"}
        How rows are standardised.

    Examples
    --------
    >>> from kernova.discover.strategies.nndm import DensityJumps
    >>> DensityJumps({"usual": 0.98, "rare": 0.02}).name
    'nndm'
    """

    priors: Mapping[str, float] | None = None
    standardize: Standardization = "sphere"
    name: str = "nndm"

    def __post_init__(self) -> None:
        shares = [] if self.priors is None else list(self.priors.values())
        if self.priors is not None and (not shares or not all(0 < s <= 1 for s in shares)):
            raise InputError(
                "priors must give each category a share of the rows, above 0 and at most 1; "
                f"got {dict(self.priors)!r}."
            )

    def start(self, preparation: "Preparation") -> "JumpAsker":
        """Return a fresh asker; windows and counts are kept in the preparation."""
        Z = preparation.rows(self.standardize)
        labels, sizes = self._targets(len(Z))
        key = ("density", self.standardize, tuple(sizes))
        scales = kept(preparation, key, lambda: density_scales(Z, sizes))
        return JumpAsker(Z, scales, labels)

    def _targets(self, n_rows: int) -> tuple[list[str | None], list[int]]:
        """Give the categories looked for and their sizes; None where no name is known."""
        if self.priors is None:
            most = max(_SMALLEST_SIZE, min(_LARGEST_SIZE, n_rows // 4))
            sizes = [2**power for power in range(2, most.bit_length())]
            return [None] * len(sizes), sizes
        rarest_first = sorted(self.priors.items(), key=lambda item: (item[1], item[0]))
        # The most common category needs no search; alone, it is all there is.
        looked_for = rarest_first[:-1] or rarest_first
        return (
            [label for label, _ in looked_for],
            [max(2, round(share * n_rows)) for _, share in looked_for],
        )


class JumpAsker:
    """One run: which category is looked for, how far its neighbourhoods reach, what is passed."""

    def __init__(self, Z: Matrix, scales: list[DensityScale], labels: list[str | None]) -> None:
        self._Z = Z
        self._scales = scales
        self._labels = labels
        self._reach = [2] * len(scales)  # in radii; the paper's t, from 2 on
        self._is_asked = np.zeros(len(Z), dtype=np.bool_)
        self._is_passed = np.zeros(len(Z), dtype=np.bool_)
        self._found: set[str] = set()
        self._target = 0
        self._proposed: Question | None = None

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        if self._proposed is None and not self._is_asked.all():
            self._proposed = self._question(self._is_worth_asking())
        if self._proposed is None or len(besides) == 0:
            return self._proposed
        is_free = free_rows(self._is_asked, besides)
        if not is_free.any() or is_free[self._proposed.row]:
            return self._proposed if is_free.any() else None
        is_open = is_free & ~self._is_passed
        return self._question(is_open if is_open.any() else is_free)

    def observe(self, answer: Answer) -> None:
        """Pass over what lies near the row from now on, and widen the search."""
        proposed = self.propose()  # whoever replays answers does not ask for the questions
        radius = self._radius_around(answer.label)
        near = distances_to(self._Z, self._Z[answer.row]) <= radius
        self._is_passed |= near
        self._is_asked[answer.row] = True
        if answer.label is not None:
            self._found.add(answer.label)
        if proposed is not None and answer.row == proposed.row:
            self._reach[self._target] += 1
        self._target = self._next_target()
        self._proposed = None

    def _radius_around(self, label: str | None) -> float:
        if label is not None and label in self._labels:
            return self._scales[self._labels.index(label)].radius
        if any(name is not None for name in self._labels):  # a common category
            return max(scale.radius for scale in self._scales)
        return self._scales[self._target].radius

    def _next_target(self) -> int:
        """Stay with a category until it is found; without names, or with all found, take turns."""
        missing = [
            place
            for place, label in enumerate(self._labels)
            if label is not None and label not in self._found
        ]
        return missing[0] if missing else (self._target + 1) % len(self._scales)

    def _is_worth_asking(self) -> NDArray[np.bool_]:
        is_open = ~(self._is_asked | self._is_passed)
        if not is_open.any():  # all is near something asked: begin again with what is left
            self._is_passed[:] = False
            is_open = ~self._is_asked
        return is_open

    def _question(self, is_open: NDArray[np.bool_]) -> Question:
        scale = self._scales[self._target]
        reach = self._reach[self._target] * scale.radius
        best = steepest_row(self._Z, scale, reach, is_open)
        from_best = distances_to(self._Z, self._Z[best.row])
        members = np.flatnonzero(from_best <= scale.radius * (1 + 1e-9))
        return Question(
            row=best.row,
            members=members,
            reason=_reason(best, scale, reach),
            evidence={
                "n_near": float(scale.counts[best.row]),
                "n_fewer": float(best.step),
                "radius": scale.radius,
                "reach": reach,
                "size": float(scale.size),
            },
            alternatives=self._alternatives(scale, is_open, best.row),
        )

    def _alternatives(
        self, scale: DensityScale, is_open: NDArray[np.bool_], row: int
    ) -> tuple[int, ...]:
        others = np.flatnonzero(is_open)
        others = others[others != row]
        densest = others[np.argsort(-scale.counts[others], kind="stable")[:5]]
        return tuple(densest.tolist())


def _reason(best: Steepest, scale: DensityScale, reach: float) -> str:
    near = int(scale.counts[best.row])
    return (
        f"{near:,} {'row lies' if near == 1 else 'rows lie'} within {scale.radius:.3g} of here, "
        f"this one included, and {best.step:,} fewer around a row at most {reach:.3g} away: "
        f"the edge of something dense, of about {scale.size:,} rows."
    )

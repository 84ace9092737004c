"""Where density falls off steeply: counts of neighbours, and how they change nearby.

Ask where the density jumps: nearest-neighbour density differences (NNDM).

After He and Carbonell, "Nearest-Neighbor-Based Active Learning for Rare Category Detection", NIPS
2007. A rare category is a small dense ball; at its edge, the number of rows nearby falls sharply.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import kept
from kernova.discover.questions import Answer, Question, free_rows
from kernova.discover.strategies.hierarchical import distances_to
from kernova.errors import InputError
from kernova.kernels.distances import squared_distances
from kernova.parallel import row_blocks, slices
from kernova.progress import track
from kernova.typing import Indices, Matrix

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation


# Pairs looked at for one question: a quarter of a second's work. Up to 4,400 rows these are all.
_MOST_PAIRS: Final = 20_000_000
_ROWS_AT_ONCE: Final = 64
# Of more rows than this, a sample stands for all centres of balls, and a tree counts neighbours.
_MANY_ROWS: Final = 10_000
_SAMPLED_CENTRES: Final = 2_000


class DensityScale(NamedTuple):
    """How dense it is around every row, seen through a window for clusters of one size.

    Attributes
    ----------
    size : int
        How many rows a cluster is thought to have.
    radius : float
        The smallest ball around a row that holds so many, itself included.
    counts : array of int
        Rows within that radius of each row, itself included.
    """

    size: int
    radius: float
    counts: Indices


class Steepest(NamedTuple):
    """The row where most neighbours are lost nearby, and how many."""

    row: int
    step: int


def density_scales(Z: Matrix, sizes: Sequence[int]) -> list[DensityScale]:
    """Give the densest radius for each size, and the rows within it around every row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.nndm import density_scales
    >>> (scale,) = density_scales(np.array([[0.0], [0.1], [0.25], [3.0]]), [3])
    >>> scale.radius, scale.counts.tolist()
    (0.15, [2, 3, 2, 1])
    """
    wanted = [min(size, len(Z)) for size in sizes]
    limits = _densest_balls(Z, wanted)
    counts = _counts_within(Z, np.sqrt(limits))
    return [
        DensityScale(size, float(np.sqrt(limit)), counts[which])
        for which, (size, limit) in enumerate(zip(wanted, limits, strict=True))
    ]


def _densest_balls(Z: Matrix, sizes: Sequence[int]) -> NDArray[np.float64]:
    """Give for each size the smallest squared radius around a row that holds so many rows."""
    places = np.unique([size - 1 for size in sizes])
    nearest = np.full(len(places), np.inf)
    centres = Z[:: max(1, len(Z) // _SAMPLED_CENTRES)] if len(Z) > _MANY_ROWS else Z
    for block in track(row_blocks(len(centres), 2 * len(Z)), "distances"):
        squared = np.partition(squared_distances(centres[block], Z), places, axis=1)[:, places]
        nearest = np.minimum(nearest, squared.min(axis=0))
    # Distances come out a little different in other blocks: the ball must hold its own edge.
    found: NDArray[np.float64] = nearest[np.searchsorted(places, np.subtract(sizes, 1))]
    return found * (1 + 1e-9)


def _counts_within(Z: Matrix, radii: NDArray[np.float64]) -> NDArray[np.intp]:
    """Count the rows within each radius of every row."""
    counts = np.empty((len(radii), len(Z)), dtype=np.intp)
    if len(Z) > _MANY_ROWS:
        tree = cKDTree(Z)
        for which in track(range(len(radii)), "counting neighbours"):
            counts[which] = tree.query_ball_point(Z, radii[which], return_length=True)
        return counts
    for block in track(row_blocks(len(Z), 2 * len(Z)), "counting neighbours"):
        squared = squared_distances(Z[block], Z)
        for which, radius in enumerate(radii):
            counts[which, block] = np.count_nonzero(squared <= radius**2 * (1 + 1e-12), axis=1)
    return counts


def steepest_row(
    Z: Matrix, scale: DensityScale, reach: float, is_open: NDArray[np.bool_]
) -> Steepest:
    """Find the open row whose count exceeds the lowest count within ``reach`` by most.

    Rows with high counts are looked at first, and no more of them than can still win.
    """
    open_rows = np.flatnonzero(is_open)
    counts = scale.counts
    order = open_rows[np.argsort(-counts[open_rows], kind="stable")]
    order = order[: max(_ROWS_AT_ONCE, _MOST_PAIRS // len(Z))]
    floor = counts.min()
    best = Steepest(int(order[0]), -1)
    for block in slices(len(order), _ROWS_AT_ONCE):
        rows = order[block]
        if counts[rows[0]] - floor <= best.step:
            break
        within = squared_distances(Z[rows], Z) <= reach**2
        steps = counts[rows] - np.where(within, counts, len(Z) + 1).min(axis=1)
        found = int(np.argmax(steps))
        if steps[found] > best.step:
            best = Steepest(int(rows[found]), int(steps[found]))
    return best


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

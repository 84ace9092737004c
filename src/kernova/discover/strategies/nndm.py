"""Density differences of nearest neighbours (NNDM): ask where the density drops.

After He and Carbonell, "Nearest-Neighbor-Based Active Learning for Rare Category Detection", NIPS
2007. A rare category is a small dense ball; at its edge the number of near rows drops sharply.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached, saved_in_cache
from kernova.discover.questions import Answer, Question, free_rows
from kernova.discover.strategies.spacing import distances_to
from kernova.errors import InputError, quoted
from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks, slices
from kernova.progress import track
from kernova.text import quantity
from kernova.typing import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation


# Pairs compared for one question, in a quarter of a second; up to 4,400 rows these are all.
_MAX_PAIRS: Final = 20_000_000
_ROWS_AT_ONCE: Final = 64
# Above this, only a sample of rows are centres of balls, and a tree counts neighbours.
_MANY_ROWS: Final = 10_000
_SAMPLED_CENTRES: Final = 2_000
# Without priors, windows for clusters of these sizes take turns.
_SMALLEST_SIZE: Final = 4
_LARGEST_SIZE: Final = 256


@saved_in_cache
class DensityScale(NamedTuple):
    """Density around every row, for clusters of one size."""

    size: int  # assumed number of rows of a cluster
    radius: float  # radius of the smallest ball around a row that contains so many, itself included
    counts: Indices  # number of rows within that radius of each row, itself included


class Steepest(NamedTuple):
    """The row with the largest drop in the number of neighbours, and the drop."""

    row: int
    step: int


def density_scales(Z: Matrix, sizes: Sequence[int]) -> list[DensityScale]:
    """Return the smallest radius for each size, and the number of rows within it of every row.

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


def _densest_balls(Z: Matrix, sizes: Sequence[int]) -> Vector:
    """Return for each size the smallest squared radius around a row that contains so many."""
    ranks = np.unique([size - 1 for size in sizes])
    nearest = np.full(len(ranks), np.inf)
    centres = Z[:: max(1, len(Z) // _SAMPLED_CENTRES)] if len(Z) > _MANY_ROWS else Z
    for block in track(row_blocks(len(centres), 2 * len(Z)), "distances"):
        squared = np.partition(squared_distances(centres[block], Z), ranks, axis=1)[:, ranks]
        nearest = np.minimum(nearest, squared.min(axis=0))
    # Distances are rounded differently in other blocks; the ball must contain its own edge.
    found: Vector = nearest[np.searchsorted(ranks, np.subtract(sizes, 1))]
    return found * (1 + 1e-9)


def _counts_within(Z: Matrix, radii: Vector) -> Indices:
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


def steepest_row(Z: Matrix, scale: DensityScale, reach: float, is_open: Mask) -> Steepest:
    """Return the open row whose count exceeds the lowest count within ``reach`` most.

    Rows with high counts are compared first, until no other row can win.
    """
    open_rows = np.flatnonzero(is_open)
    counts = scale.counts
    order = open_rows[np.argsort(-counts[open_rows], kind="stable")]
    order = order[: max(_ROWS_AT_ONCE, _MAX_PAIRS // len(Z))]
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


@dataclass
class DensityJumps:
    """Ask where the number of near rows drops most (NNDM).

    The paper's method needs the number of categories and the fraction of each. With ``priors`` it
    searches one category after another, the rarest first, with a window of its size, until an
    answer names it. By default nothing is assumed: windows for clusters of 4, 8, 16 ... rows, up to
    a quarter of the table and 256, take turns. In both cases the neighbourhood in which a drop is
    searched grows from question to question, and rows within the window of an answered row are
    skipped. On tables of more than 4,400 rows only the rows with most neighbours compete, and above
    10,000 rows a sample sets the windows.

    Parameters
    ----------
    priors : mapping of str to float, default=None
        Fraction of the rows of each category, by name; None when unknown.
    standardize : {"sphere", "half-sphere", "zscore", "none"}
        How rows are standardised.

    Examples
    --------
    >>> from kernova.discover.strategies.nndm import DensityJumps
    >>> DensityJumps({"common": 0.98, "rare": 0.02}).name
    'nndm'
    """

    priors: Mapping[str, float] | None = None
    standardize: Standardization = "sphere"
    name: str = "nndm"

    def __post_init__(self) -> None:
        fractions = [] if self.priors is None else list(self.priors.values())
        if self.priors is not None and (
            not fractions or not all(0 < one <= 1 for one in fractions)
        ):
            raise InputError(
                "priors must give each category a fraction of the rows, above 0 and at most 1; "
                f"got {quoted(dict(self.priors))}."
            )

    def start(self, preparation: "Preparation") -> "JumpAsker":
        """Return a fresh asker; windows and counts are cached in the preparation."""
        Z = preparation.rows(self.standardize)
        labels, sizes = self._targets(len(Z))
        key = ("density", self.standardize, tuple(sizes))
        scales = cached(preparation, key, lambda: density_scales(Z, sizes))
        return JumpAsker(Z, scales, labels)

    def _targets(self, n_rows: int) -> tuple[list[str | None], list[int]]:
        """Return the categories to search for and their sizes; None where no name is known."""
        if self.priors is None:
            most = max(_SMALLEST_SIZE, min(_LARGEST_SIZE, n_rows // 4))
            sizes = [2**power for power in range(2, most.bit_length())]
            return [None] * len(sizes), sizes
        rarest_first = sorted(self.priors.items(), key=lambda item: (item[1], item[0]))
        # The most common category needs no search; alone, it is all there is.
        searched = rarest_first[:-1] or rarest_first
        return (
            [label for label, _ in searched],
            [max(2, round(fraction * n_rows)) for _, fraction in searched],
        )


class JumpAsker:
    """One run: the category searched for, the reach of its neighbourhoods, the rows skipped."""

    def __init__(self, Z: Matrix, scales: list[DensityScale], labels: list[str | None]) -> None:
        self._Z = Z
        self._scales = scales
        self._labels = labels
        self._reach = [2] * len(scales)  # in radii; the paper's t, from 2 on
        self._is_asked = np.zeros(len(Z), dtype=np.bool_)
        self._is_skipped = np.zeros(len(Z), dtype=np.bool_)
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
        is_open = is_free & ~self._is_skipped
        return self._question(is_open if is_open.any() else is_free)

    def observe(self, answer: Answer) -> None:
        """Skip rows near this one from now on, and widen the search."""
        proposed = self.propose()  # a replay passes answers without asking for questions
        radius = self._radius_around(answer.label)
        near = distances_to(self._Z, self._Z[answer.row]) <= radius
        self._is_skipped |= near
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
        """Return the same target until it is found; without names, or with all found, the next."""
        missing = [
            target
            for target, label in enumerate(self._labels)
            if label is not None and label not in self._found
        ]
        return missing[0] if missing else (self._target + 1) % len(self._scales)

    def _is_worth_asking(self) -> Mask:
        is_open = ~(self._is_asked | self._is_skipped)
        if not is_open.any():  # every open row is near an asked one: use them all again
            self._is_skipped[:] = False
            is_open = ~self._is_asked
        return is_open

    def _question(self, is_open: Mask) -> Question:
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

    def _alternatives(self, scale: DensityScale, is_open: Mask, row: int) -> tuple[int, ...]:
        others = np.flatnonzero(is_open)
        others = others[others != row]
        densest = others[np.argsort(-scale.counts[others], kind="stable")[:5]]
        return tuple(densest.tolist())


def _reason(best: Steepest, scale: DensityScale, reach: float) -> str:
    near = int(scale.counts[best.row])
    verb = "lies" if near == 1 else "lie"
    return (
        f"{quantity(near, 'row')} {verb} within {scale.radius:.3g} of this row, itself included, "
        f"and {best.step:,} fewer around a row at most {reach:.3g} away: the edge of a dense "
        f"region of about {quantity(scale.size, 'row')}."
    )

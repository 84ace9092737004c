"""From the novelty of hypothetical rows to each feature's share in a row's outlyingness."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.blocks import row_blocks
from kernova.explain.shapley import n_coalitions, planned_coalitions, shapley_values
from kernova.explain.tables import Mixtures, Rows, mixed, value_codes
from kernova.progress import track

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
RowNumbers = NDArray[np.intp]
# Tells how strange rows are; the numbers say which rows they stand in for.
Novelty = Callable[[Rows, RowNumbers], Vector]

# Novelty is counted plainly up to so many spreads of the ordinary rows, by its logarithm beyond.
_PLAIN_UP_TO = 10.0
# Contributions that sum to less than this part of a spread are rounding.
_NOTHING = 1e-9
# Enough rows for a model to work at full speed, few enough that progress is seen.
_BATCH_ROWS = 1 << 14


class Comparison(NamedTuple):
    """Rows to explain and the ordinary rows to compare each with, together in one table."""

    pool: Rows  # the rows to explain come first
    row_numbers: RowNumbers  # where those stand in the user's table
    others: list[RowNumbers]  # for each of them, places of its ordinary rows in the pool


class NoveltyScale(NamedTuple):
    """What is ordinary: the median of ordinary rows' novelty, and its spread."""

    median: float
    spread: float

    def tempered(self, novelty: Vector) -> Vector:
        """Count novelty in spreads above the median, and far out by its logarithm.

        Examples
        --------
        >>> import numpy as np
        >>> from kernova.explain.contributions import NoveltyScale
        >>> NoveltyScale(1.0, 0.1).tempered(np.array([1.0, 1.1, 2.0, 1e300])).round(1)
        array([0.0000e+00, 1.0000e+00, 8.8000e+00, 6.9147e+03])
        """
        with np.errstate(over="ignore"):
            spreads = np.nan_to_num((novelty - self.median) / self.spread)
        return _PLAIN_UP_TO * np.arcsinh(spreads / _PLAIN_UP_TO)


class _Game(NamedTuple):
    """One row against one ordinary row, shared out among the features in which they differ."""

    own: int
    other: int
    turn: int  # the ordinary row's place among the nearest
    features: RowNumbers
    budget: int

    @property
    def n_rows(self) -> int:
        return n_coalitions(len(self.features), self.budget)


def novelty_scale(ordinary: Vector) -> NoveltyScale:
    """Take the interquartile range for the spread; where it is 0, what is there instead."""
    halves = np.asarray(ordinary) / 2  # differences of huge numbers stay finite
    first, median, third = np.quantile(halves, [0.25, 0.5, 0.75])
    candidates = (third - first, halves.max() - halves.min(), abs(median), 0.5)
    spread = next(candidate for candidate in candidates if candidate > 0)
    largest = np.finfo(np.float64).max
    return NoveltyScale(2 * float(median), min(2 * float(min(spread, largest / 2)), largest))


def contributions_of(
    comparison: Comparison, novelty: Novelty, scale: NoveltyScale, budget: int, seed: int
) -> Matrix:
    """Give what each feature adds to the tempered novelty of each row to explain."""
    n_explained = len(comparison.others)
    totals = np.zeros((n_explained, comparison.pool.shape[1]))
    for batch in track(_batches(_games(comparison, budget)), "explaining"):
        plans = [
            planned_coalitions(len(game.features), game.budget, seed, game.turn) for game in batch
        ]
        mixtures = _mixtures(batch, [plan.members for plan in plans], totals.shape[1])
        worth = scale.tempered(_scored(comparison, mixtures, novelty))
        ends = np.cumsum([game.n_rows for game in batch])
        for game, plan, values in zip(batch, plans, np.split(worth, ends[:-1]), strict=True):
            totals[game.own, game.features] += shapley_values(values, plan)
    n_others = np.array([len(others) for others in comparison.others])
    return totals / n_others[:, np.newaxis]


def shares_of(contributions: Matrix) -> Matrix:
    """Divide each row by the sum of its positive contributions; without any, all are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.explain.contributions import shares_of
    >>> shares_of(np.array([[3.0, 1.0, -1.0], [-2.0, 0.0, 0.0]]))
    array([[ 0.75,  0.25, -0.25],
           [ 0.  ,  0.  ,  0.  ]])
    """
    against = np.maximum(contributions, 0).sum(axis=1, keepdims=True)
    is_something = against > _NOTHING
    return np.where(is_something, contributions / np.where(is_something, against, 1.0), 0.0)


def _games(comparison: Comparison, budget: int) -> list[_Game]:
    codes = value_codes(comparison.pool)
    return [
        _Game(
            own=own,
            other=other,
            turn=turn,
            features=np.flatnonzero(codes[own] != codes[other]),
            budget=max(1, budget // len(others)),
        )
        for own, others in enumerate(comparison.others)
        for turn, other in enumerate(others.tolist())
    ]


def _batches(games: list[_Game]) -> list[list[_Game]]:
    batches: list[list[_Game]] = [[]]
    n_rows = 0
    for game in games:
        if batches[-1] and n_rows + game.n_rows > _BATCH_ROWS:
            batches.append([])
            n_rows = 0
        batches[-1].append(game)
        n_rows += game.n_rows
    return batches


def _mixtures(batch: list[_Game], members: list[NDArray[np.bool_]], n_features: int) -> Mixtures:
    n_rows = [game.n_rows for game in batch]
    takes_own = np.zeros((sum(n_rows), n_features), dtype=np.bool_)
    ends = np.cumsum(n_rows)
    for game, own_features, end in zip(batch, members, ends.tolist(), strict=True):
        takes_own[end - game.n_rows : end, game.features] = own_features
    own = np.repeat(np.array([game.own for game in batch], dtype=np.intp), n_rows)
    other = np.repeat(np.array([game.other for game in batch], dtype=np.intp), n_rows)
    return Mixtures(own, other, takes_own)


def _scored(comparison: Comparison, mixtures: Mixtures, novelty: Novelty) -> Vector:
    """Make the hypothetical rows and score them, no more at a time than memory is to hold."""
    scores = np.empty(len(mixtures.own))
    for block in row_blocks(len(scores), 4 * comparison.pool.shape[1]):
        part = Mixtures(mixtures.own[block], mixtures.other[block], mixtures.takes_own[block])
        row_numbers = comparison.row_numbers[part.own]
        scores[block] = novelty(mixed(comparison.pool, part), row_numbers)
    return scores

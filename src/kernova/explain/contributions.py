"""Shapley values: the contribution of each feature to the novelty of a row.

A game has players, here the features in which two rows differ. A coalition of them takes the
values of one row, all others keep those of the other row, and the model scores the hypothetical
row: the worth of the coalition. A player's Shapley value is what it adds on joining, averaged over
all orders in which the players can join. The values sum to the whole difference; players who add
nothing have the value 0; players who always add the same have equal values.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.explain.tables import Mixtures, Rows, mixed, value_codes
from kernova.parallel import row_blocks
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector

# Each random order is used this many times, rotated. Where players are redundant, so that the
# first ones add everything, this leaves 0.7 of the error of independent orders (measured: 8 is
# about as good as any number from 4 to half of the players).
_ROTATIONS = 8
# The fractional parts of its multiples are spread evenly, however many are taken.
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
# Novelty is linear up to this many spreads of the ordinary rows, and logarithmic beyond.
_LINEAR_UP_TO = 10.0
# Contributions that sum to less than this, in spreads, are rounding error.
_NOTHING = 1e-9
# Enough rows for a model to work at full speed, few enough to report progress.
_BATCH_ROWS = 1 << 14
# Detectors hold several copies of the rows that they score.
_SCORING_SHARE = 0.125

# Returns the novelty of rows; the numbers are those of the rows that they replace.
Novelty = Callable[[Rows, Indices], Vector]


class Coalitions(NamedTuple):
    """Coalitions to score, and the orders of players that they come from."""

    members: NDArray[np.bool_]  # a line per coalition, a column per player
    orders: Indices | None  # None: all coalitions


def n_pairs_of_orders(n_players: int, budget: int) -> int:
    """Return the number of orders, each with its reverse, for a budget; 0 stands for all orders.

    All coalitions are taken where they are no more than the budget, or than one order and its
    reverse need.

    Examples
    --------
    >>> from kernova.explain.contributions import n_pairs_of_orders
    >>> [n_pairs_of_orders(n, budget=200) for n in (2, 7, 8, 40, 1000)]
    [0, 0, 14, 2, 1]
    """
    if n_players <= 2 or n_players <= math.log2(budget):
        return 0
    return max(1, budget // (2 * (n_players - 1)))


def n_coalitions(n_players: int, budget: int) -> int:
    """Return the number of coalitions that :func:`planned_coalitions` returns."""
    n_pairs = n_pairs_of_orders(n_players, budget)
    return 2 + 2 * n_pairs * (n_players - 1) if n_pairs else 1 << n_players


def planned_coalitions(n_players: int, budget: int, seed: int, turn: int = 0) -> Coalitions:
    """Return all coalitions, or those along random orders and their reverses.

    An order and its reverse give exact values for games in which players add alone or in pairs.
    The games of one row have successive turns, so that each continues the sequence of orders.
    """
    n_pairs = n_pairs_of_orders(n_players, budget)
    if n_pairs == 0:
        codes = np.arange(1 << n_players)[:, np.newaxis]
        return Coalitions((codes >> np.arange(n_players)) & 1 == 1, None)
    numbers = range(turn * n_pairs, (turn + 1) * n_pairs)
    forwards = np.stack([_sampled_order(number, n_players, seed) for number in numbers])
    orders = np.concatenate([forwards, forwards[:, ::-1]])
    rank = np.argsort(orders, axis=1)
    n_joined = np.arange(1, n_players)
    members = np.zeros((2 + len(orders) * len(n_joined), n_players), dtype=np.bool_)
    members[1] = True
    on_the_way = members[2:].reshape(len(orders), len(n_joined), n_players)
    np.less(rank[:, np.newaxis, :], n_joined[:, np.newaxis], out=on_the_way)
    return Coalitions(members, orders)


def _sampled_order(number: int, n_players: int, seed: int) -> Indices:
    """Return one of a sequence of random orders in which every player is early and late by turns.

    Each single order is uniformly distributed.
    """
    order = np.random.default_rng([seed, number // _ROTATIONS]).permutation(n_players)
    return np.roll(order, int(n_players * (number * _GOLDEN_RATIO % 1)))


def shapley_values(worth: Vector, coalitions: Coalitions) -> Vector:
    """Return the Shapley value of each player, from the worth of the planned coalitions.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.explain.contributions import planned_coalitions, shapley_values
    >>> coalitions = planned_coalitions(3, budget=8, seed=0)
    >>> shapley_values(coalitions.members @ np.array([5.0, 2.0, 0.0]), coalitions)
    array([5., 2., 0.])
    """
    if coalitions.orders is None:
        return _from_all_coalitions(worth, coalitions.members)
    n_orders, n_players = coalitions.orders.shape
    walks = np.empty((n_orders, n_players + 1))
    walks[:, 0], walks[:, -1] = worth[0], worth[1]
    walks[:, 1:-1] = worth[2:].reshape(n_orders, n_players - 1)
    added = np.empty((n_orders, n_players))
    np.put_along_axis(added, coalitions.orders, np.diff(walks, axis=1), axis=1)
    return added.mean(axis=0)


def _from_all_coalitions(worth: Vector, members: NDArray[np.bool_]) -> Vector:
    n_players = members.shape[1]
    size = members.sum(axis=1)
    # The probability that exactly these players have joined when one more does.
    probability = np.array(
        [1 / (n_players * math.comb(n_players - 1, s)) for s in range(n_players)]
    )
    codes = np.arange(len(worth))
    values = np.zeros(n_players)
    for player in range(n_players):
        without = codes[~members[:, player]]
        added = worth[without | (1 << player)] - worth[without]
        values[player] = probability[size[without]] @ added
    return values


class Comparison(NamedTuple):
    """Rows to explain and the ordinary rows to compare each with, together in one table."""

    pool: Rows  # the rows to explain come first
    row_numbers: Indices  # their positions in the user's table
    others: list[Indices]  # for each of them, positions of its ordinary rows in the pool


class NoveltyScale(NamedTuple):
    """Median and spread of the novelty of ordinary rows."""

    median: float
    spread: float

    def tempered(self, novelty: Vector) -> Vector:
        """Return novelty in spreads above the median, on a logarithmic scale far out.

        Examples
        --------
        >>> import numpy as np
        >>> from kernova.explain.contributions import NoveltyScale
        >>> NoveltyScale(1.0, 0.1).tempered(np.array([1.0, 1.1, 2.0, 1e300])).round(1)
        array([0.0000e+00, 1.0000e+00, 8.8000e+00, 6.9147e+03])
        """
        with np.errstate(over="ignore"):
            spreads = np.nan_to_num((novelty - self.median) / self.spread)
        return _LINEAR_UP_TO * np.arcsinh(spreads / _LINEAR_UP_TO)


class _Game(NamedTuple):
    """One row against one ordinary row; the players are the features in which they differ."""

    own: int
    other: int
    turn: int  # position of the ordinary row among the nearest
    features: Indices
    budget: int

    @property
    def n_rows(self) -> int:
        return n_coalitions(len(self.features), self.budget)


def ordinary_scale(ordinary: Vector) -> NoveltyScale:
    """Return the median and the interquartile range; another spread where that is 0."""
    halves = np.asarray(ordinary) / 2  # differences of huge numbers stay finite
    first, median, third = np.quantile(halves, [0.25, 0.5, 0.75])
    candidates = (third - first, halves.max() - halves.min(), abs(median), 0.5)
    spread = next(candidate for candidate in candidates if candidate > 0)
    largest = np.finfo(np.float64).max
    return NoveltyScale(2 * float(median), min(2 * float(min(spread, largest / 2)), largest))


def contributions_of(
    comparison: Comparison, novelty: Novelty, scale: NoveltyScale, budget: int, seed: int
) -> Matrix:
    """Return the contribution of each feature to the tempered novelty of each row to explain."""
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


def fractions_of(contributions: Matrix) -> Matrix:
    """Divide each row by the sum of its positive contributions; all are 0 if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.explain.contributions import fractions_of
    >>> fractions_of(np.array([[3.0, 1.0, -1.0], [-2.0, 0.0, 0.0]]))
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
    """Make the hypothetical rows and score them, in blocks that fit into the working memory."""
    scores = np.empty(len(mixtures.own))
    for block in row_blocks(len(scores), 4 * comparison.pool.shape[1], share=_SCORING_SHARE):
        part = Mixtures(mixtures.own[block], mixtures.other[block], mixtures.takes_own[block])
        row_numbers = comparison.row_numbers[part.own]
        scores[block] = novelty(mixed(comparison.pool, part), row_numbers)
    return scores

"""How a difference is shared out fairly among the features that make it: Shapley's values.

A game has players, here the features in which two rows differ. A coalition of them takes the
values of the one row, all others keep those of the other row, and the model says what such a
hypothetical row is worth. A player's part is what it adds on joining, averaged over all orders in
which the players could join. Parts sum to the whole difference; players who add nothing get
nothing; players who always add the same get the same.

From the novelty of hypothetical rows to each feature's share in a row's outlyingness.
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

# One random order is used so often, each time begun elsewhere. Where players make each other
# needless, so that the first ones get all, this leaves 0.7 of the error that new orders would
# (measured: 8 is about as good as any number from 4 to half of the players).
_ROTATIONS = 8
# Its multiples, without their whole parts, spread evenly however many are taken.
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


class Coalitions(NamedTuple):
    """The coalitions to be worth something, and how to read their worth."""

    members: NDArray[np.bool_]  # a line per coalition, a column per player
    orders: Indices | None  # the orders they come from; None: they are all there are


def n_pairs_of_orders(n_players: int, budget: int) -> int:
    """Tell how many orders, each with its reverse, a budget allows; 0 stands for all orders.

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
    """Tell how many coalitions :func:`planned_coalitions` plans."""
    n_pairs = n_pairs_of_orders(n_players, budget)
    return 2 + 2 * n_pairs * (n_players - 1) if n_pairs else 1 << n_players


def planned_coalitions(n_players: int, budget: int, seed: int, turn: int = 0) -> Coalitions:
    """Plan all coalitions, or those along random orders and their reverses.

    With its reverse, an order gives the exact parts of all that players add alone or in twos.
    Games of one row take turns, so that each continues the sample of orders where the last ended.
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
    on_the_way = rank[:, np.newaxis, :] < n_joined[:, np.newaxis]
    nobody, everybody = np.zeros((1, n_players), np.bool_), np.ones((1, n_players), np.bool_)
    on_the_way = on_the_way.reshape(-1, n_players)
    return Coalitions(np.concatenate([nobody, everybody, on_the_way]), orders)


def _sampled_order(number: int, n_players: int, seed: int) -> Indices:
    """Give one of a sequence of random orders in which every player is early and late by turns.

    Each order for itself is as likely as any other.
    """
    order = np.random.default_rng([seed, number // _ROTATIONS]).permutation(n_players)
    return np.roll(order, int(n_players * (number * _GOLDEN_RATIO % 1)))


def shapley_values(worth: Vector, coalitions: Coalitions) -> Vector:
    """Give each player's part, from what the planned coalitions are worth.

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
    # The share of all orders in which exactly these players have joined when one more does.
    chance = np.array([1 / (n_players * math.comb(n_players - 1, s)) for s in range(n_players)])
    codes = np.arange(len(worth))
    values = np.zeros(n_players)
    for player in range(n_players):
        without = codes[~members[:, player]]
        added = worth[without | (1 << player)] - worth[without]
        values[player] = chance[size[without]] @ added
    return values


# Tells how strange rows are; the numbers say which rows they stand in for.
Novelty = Callable[[Rows, Indices], Vector]

# Novelty is counted plainly up to so many spreads of the ordinary rows, by its logarithm beyond.
_PLAIN_UP_TO = 10.0
# Contributions that sum to less than this part of a spread are rounding.
_NOTHING = 1e-9
# Enough rows for a model to work at full speed, few enough that progress is seen.
_BATCH_ROWS = 1 << 14


class Comparison(NamedTuple):
    """Rows to explain and the ordinary rows to compare each with, together in one table."""

    pool: Rows  # the rows to explain come first
    row_numbers: Indices  # where those stand in the user's table
    others: list[Indices]  # for each of them, places of its ordinary rows in the pool


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
    features: Indices
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

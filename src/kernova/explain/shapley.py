"""How a difference is shared out fairly among the features that make it: Shapley's values.

A game has players, here the features in which two rows differ. A coalition of them takes the
values of the one row, all others keep those of the other row, and the model says what such a
hypothetical row is worth. A player's part is what it adds on joining, averaged over all orders in
which the players could join. Parts sum to the whole difference; players who add nothing get
nothing; players who always add the same get the same.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Order = NDArray[np.intp]


# One random order is used so often, each time begun elsewhere. Where players make each other
# needless, so that the first ones get all, this leaves 0.7 of the error that new orders would
# (measured: 8 is about as good as any number from 4 to half of the players).
_ROTATIONS = 8
# Its multiples, without their whole parts, spread evenly however many are taken.
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


class Coalitions(NamedTuple):
    """The coalitions to be worth something, and how to read their worth."""

    members: NDArray[np.bool_]  # a line per coalition, a column per player
    orders: Order | None  # the orders they come from; None: they are all there are


def n_pairs_of_orders(n_players: int, budget: int) -> int:
    """Tell how many orders, each with its reverse, a budget allows; 0 stands for all orders.

    All coalitions are taken where they are no more than the budget, or than one order and its
    reverse need.

    Examples
    --------
    >>> from kernova.explain.shapley import n_pairs_of_orders
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


def _sampled_order(number: int, n_players: int, seed: int) -> Order:
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
    >>> from kernova.explain.shapley import planned_coalitions, shapley_values
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

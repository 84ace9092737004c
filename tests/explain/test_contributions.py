"""Shapley values: all coalitions against all orders, and properties of sampled orders."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.explain.contributions import (
    n_coalitions,
    n_pairs_of_orders,
    planned_coalitions,
    shapley_values,
)
from tests.explain import literal

ENOUGH = 1 << 20


def worths(coalitions, worth):
    return np.array([worth(frozenset(np.flatnonzero(line))) for line in coalitions.members])


def random_worth(n_players, seed, largest_group):
    """Give every group of players, up to a size, something of its own to add."""
    random = np.random.default_rng(seed)
    groups = [
        frozenset(np.flatnonzero(random.random(n_players) < 0.5)[:largest_group])
        for _ in range(3 * n_players)
    ]
    gains = random.normal(size=len(groups))
    return lambda joined: sum(
        gain for group, gain in zip(groups, gains, strict=True) if group <= joined
    )


@given(n_players=st.integers(0, 5), seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_all_coalitions_give_what_all_orders_give(n_players, seed):
    worth = random_worth(n_players, seed, n_players)
    coalitions = planned_coalitions(n_players, ENOUGH, seed=0)
    assert coalitions.orders is None
    assert len(coalitions.members) == n_coalitions(n_players, ENOUGH) == 2**n_players
    expected = literal.shapley_values(worth, n_players)
    np.testing.assert_allclose(
        shapley_values(worths(coalitions, worth), coalitions), expected, atol=1e-12
    )


@given(
    n_players=st.integers(3, 12),
    budget=st.integers(1, 60),
    turn=st.integers(0, 9),
    seed=st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=60)
def test_sampled_parts_sum_to_the_whole_and_are_exact_for_twos(n_players, budget, turn, seed):
    coalitions = planned_coalitions(n_players, budget, seed, turn)
    assert len(coalitions.members) == n_coalitions(n_players, budget)
    worth = random_worth(n_players, seed, n_players)
    values = shapley_values(worths(coalitions, worth), coalitions)
    whole = worth(frozenset(range(n_players))) - worth(frozenset())
    assert values.sum() == pytest.approx(whole, abs=1e-9)

    in_twos = random_worth(n_players, seed, 2)
    values = shapley_values(worths(coalitions, in_twos), coalitions)
    everything = planned_coalitions(n_players, ENOUGH, seed=0)
    exact = shapley_values(worths(everything, in_twos), everything)
    np.testing.assert_allclose(values, exact, atol=1e-9)


def test_samples_are_right_on_average():
    def worth(joined):  # three are needed, and any further one is needless
        return float(len(joined) >= 3) + 2.0 * ({0, 1, 2} <= joined)

    exact = np.full(6, 1 / 6) + np.array([2 / 3, 2 / 3, 2 / 3, 0, 0, 0])
    found = []
    for seed in range(400):
        coalitions = planned_coalitions(6, 20, seed, turn=seed % 5)
        assert coalitions.orders is not None
        found.append(shapley_values(worths(coalitions, worth), coalitions))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - exact) < 4 * error).all()
    assert error.max() < 0.02


def test_orders_continue_from_turn_to_turn_and_every_player_is_early_in_some():
    n_players, budget = 40, 200
    plans = [planned_coalitions(n_players, budget, 7, turn) for turn in range(5)]
    n_pairs = n_pairs_of_orders(n_players, budget)
    assert n_pairs == 2
    forwards = np.concatenate([plan.orders[:n_pairs] for plan in plans])
    backwards = np.concatenate([plan.orders[n_pairs:] for plan in plans])
    np.testing.assert_array_equal(forwards[:, ::-1], backwards)
    np.testing.assert_array_equal(np.sort(forwards, axis=1), np.tile(np.arange(40), (10, 1)))
    assert len(np.unique(forwards, axis=0)) == 10
    # In the first eight orders, the rotations of one, nobody is always in the same half.
    position = np.argsort(forwards[:8], axis=1)
    assert (np.ptp(position, axis=0) >= 20).all()


@pytest.mark.parametrize(
    ("n_players", "budget", "n_pairs"),
    [(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 1, 1), (3, 8, 0), (8, 255, 18), (8, 256, 0), (500, 9, 1)],
)
def test_budget_decides_between_all_coalitions_and_orders(n_players, budget, n_pairs):
    assert n_pairs_of_orders(n_players, budget) == n_pairs


def test_coalitions_of_many_players_are_held_once():
    planned_coalitions(3, 1, seed=0)
    tracemalloc.start()
    coalitions = planned_coalitions(2000, 1, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.2 * coalitions.members.nbytes

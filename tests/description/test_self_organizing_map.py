"""The self-organizing map: one round is the literal one, and prototypes stand for their rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.description.possibilistic import (
    batch_update,
    closest,
    grid_places,
    linear_start,
    self_organizing_map,
)
from kernova.kernels.distances import squared_distances
from tests.description import literal


@given(
    seed=st.integers(0, 2**16),
    n_columns=st.sampled_from([1, 2, 5, 30]),
    grid=st.sampled_from([(1, 1), (3, 2), (5, 5), (1, 4)]),
    radius=st.floats(0.4, 3.0),
)
def test_a_round_is_the_literal_one(seed, n_columns, grid, radius):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, n_columns))
    prototypes, places = rng.normal(size=(grid[0] * grid[1], n_columns)), grid_places(grid)
    pull = np.exp(-squared_distances(places, places) / (2 * radius**2))
    np.testing.assert_allclose(
        batch_update(rows, closest(rows, prototypes), pull),
        literal.batch_map_round(rows, prototypes, places, radius),
        rtol=1e-9,
        atol=1e-9,
    )


def test_the_start_spreads_over_the_two_largest_components():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3)) * [1.0, 10.0, 0.1] + 5
    start = linear_start(rows, (2, 5))
    np.testing.assert_allclose(start.mean(axis=0), rows.mean(axis=0))
    spread = np.ptp(start, axis=0)
    np.testing.assert_allclose(spread[:2], 4 * rows.std(axis=0)[:2], rtol=0.1)
    assert spread[2] < 0.1
    # The longer side lies along the longer axis: five different values there, not two.
    assert len(np.unique(start[:, 1].round())) == 5


def test_prototypes_are_close_to_all_rows_and_in_the_order_of_the_grid():
    rng = np.random.default_rng(1)
    rows = rng.uniform(size=(2000, 2)) * [3.0, 1.0]
    prototypes = self_organizing_map(rows, (6, 3))
    away = np.sqrt(squared_distances(rows, prototypes).min(axis=1))
    assert away.mean() < 0.25  # 18 cells of a half by a third: 0.21 if they were cut by hand
    assert (np.diff(prototypes.reshape(6, 3, 2)[:, 1, 0]) > 0).all()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[2.0, 1.0]], [[2.0, 1.0]]),
        ([[2.0], [2.0], [1.0]], [[1.0], [2.0]]),
        (np.full((100, 2), 3.0), [[3.0, 3.0]]),
    ],
)
def test_few_different_rows_are_their_own_prototypes(rows, expected):
    np.testing.assert_array_equal(self_organizing_map(np.asarray(rows), (5, 5)), expected)


@pytest.mark.parametrize("grid", [(5, 5), (1, 1), (7, 1)])
def test_rows_on_a_line_and_constant_columns_give_finite_prototypes(grid):
    line = np.linspace(0, 1, 60)[:, None]
    for rows in (line, line * [1.0, 0.0, 2.0], np.r_[line, line * 1e6]):
        prototypes = self_organizing_map(rows, grid)
        assert prototypes.shape == (grid[0] * grid[1], rows.shape[1])
        assert np.isfinite(prototypes).all()
        assert (prototypes >= rows.min(axis=0) - 1e-9).all()
        assert (prototypes <= rows.max(axis=0) + 1e-9).all()
        np.testing.assert_array_equal(prototypes, self_organizing_map(rows, grid))

"""Graphs of nearest neighbours: exact for few rows, nearly so for many; threads do not matter."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kernova.neighbors import graph
from kernova.neighbors.graph import nearly_nearest, neighbor_graph


def groups(n, n_columns, seed=0):
    random = np.random.default_rng(seed)
    centres = 5 * random.normal(size=(6, n_columns))
    return centres[random.integers(0, 6, n)] + random.normal(size=(n, n_columns))


def true_distances(Z, k):
    return np.sort(cdist(Z, Z), axis=1)[:, 1 : k + 1]


@pytest.mark.parametrize("n_columns", [1, 3, 12])
def test_few_rows_are_searched_exactly(n_columns):
    Z = groups(400, n_columns)
    found = neighbor_graph(Z, 7)
    np.testing.assert_allclose(found.distances, true_distances(Z, 7), atol=1e-9)
    own = np.arange(len(Z))[:, None]
    gaps = np.linalg.norm(Z[found.indices] - Z[own], axis=2)
    np.testing.assert_allclose(gaps, found.distances, atol=1e-9)
    assert (found.indices != own).all()
    assert found.recall == 1


def test_duplicates_are_one_row():
    Z = groups(60, 2)
    found = neighbor_graph(np.concatenate([Z, Z[::-1], Z[:5]]), 3)
    np.testing.assert_allclose(found.distances, true_distances(Z, 3), atol=1e-9)
    np.testing.assert_array_equal(found.firsts, np.arange(60))
    np.testing.assert_array_equal(found.counts, np.r_[np.full(5, 3), np.full(55, 2)])
    np.testing.assert_array_equal(found.inverse, np.r_[0:60, 59:-1:-1, 0:5])


@pytest.mark.parametrize(("n", "n_columns_found"), [(1, 0), (2, 1), (4, 3)])
def test_there_are_no_more_neighbours_than_other_rows(n, n_columns_found):
    found = neighbor_graph(np.arange(n, dtype=float)[:, None], 5)
    assert found.distances.shape == found.indices.shape == (n, n_columns_found)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_numbers_of_any_size(factor):
    Z = groups(50, 3)
    found = neighbor_graph(Z * factor, 4)
    np.testing.assert_allclose(found.distances / factor, true_distances(Z, 4))


def test_rows_that_the_index_takes_for_one():
    Z = np.array([[1e-300], [0.0], [1.0], [2.0]])
    found = neighbor_graph(Z, 2)
    assert np.isfinite(found.distances).all()
    assert (found.indices >= 0).all()


@pytest.mark.parametrize("n_columns", [7, 24])
def test_many_rows_are_searched_nearly_exactly(n_columns):
    Z = groups(3000, n_columns) @ np.diag(0.8 ** np.arange(n_columns))
    found = nearly_nearest(Z, 10)
    truth = true_distances(Z, 10)
    distances = np.sqrt(found.squared)
    measured = np.mean(distances <= truth[:, -1:] * (1 + 1e-9))
    assert measured > 0.9
    assert abs(measured - found.recall) < 0.05
    own = np.arange(len(Z))[:, None]
    np.testing.assert_allclose(np.linalg.norm(Z[found.indices] - Z[own], axis=2), distances)
    assert (np.diff(distances, axis=1) >= 0).all()
    assert all(len(set(row)) == 10 for row in found.indices.tolist())
    assert (found.indices != own).all()


def test_the_graph_does_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(graph, "_FEW_ROWS", 100)
    Z = groups(5000, 8)
    one, three = (neighbor_graph(Z, 6, n_jobs) for n_jobs in (1, 3))
    for name, value in one._asdict().items():
        np.testing.assert_array_equal(value, getattr(three, name), err_msg=name)
    assert one.recall > 0.9


@pytest.mark.parametrize("most", [2, 3, 64])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 1000])
def test_leaves_hold_all_rows(n_rows, most):
    starts = graph._leaf_starts(n_rows, most)
    assert starts[0] == 0
    assert starts[-1] == n_rows
    assert np.diff(starts).min() >= 1
    assert np.diff(starts).max() <= most

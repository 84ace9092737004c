"""Engines find the same neighbours to the last bit and report how far they searched."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernova import InputError
from kernova.neighbors.index import build_index
from tests.neighbors.messages import NO_ALGORITHM

RANDOM = np.random.default_rng(5)
GRID = np.stack(np.meshgrid(*[np.arange(7.0)] * 3), axis=-1).reshape(-1, 3)

TABLES = {
    "cloud": RANDOM.normal(size=(700, 4)),
    "grid": GRID,
    "identity": np.eye(90),
    "far tiny cluster": np.vstack(
        [1000 + 1e-9 * RANDOM.normal(size=(300, 3)), RANDOM.normal(size=(40, 3))]
    ),
    "steps of the last digit": 1 + 2.0**-52 * RANDOM.integers(0, 40, size=(200, 2)),
    "many scales": np.ldexp(1.0, -np.arange(600))[:, None] * [1.0, 0.5],
    "duplicates": np.repeat(RANDOM.normal(size=(60, 5)), RANDOM.integers(1, 30, size=60), axis=0),
    "constant columns": np.insert(RANDOM.normal(size=(200, 3)), [0, 2], [0.7, -5.0], axis=1),
    "wide": RANDOM.normal(size=(120, 1500)),
    "one row": np.ones((1, 2)),
}


def literal_distances(queries, rows):
    return np.sqrt(((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2))


def indices_by_engine(X):
    return {engine: build_index(X, engine) for engine in ("kd_tree", "brute")}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n_wanted", [1, 7, 10**6])
def test_nothing_within_reach_is_missing(name, n_wanted):
    for index in indices_by_engine(TABLES[name]).values():
        queries = np.vstack([index.rows[:60], index.rows[:5] + 0.3, index.rows[:3] * 1e5])
        true = literal_distances(queries, index.rows)
        found = index.nearest(queries, n_wanted)
        listed = np.take_along_axis(true, found.indices, axis=1)
        np.testing.assert_allclose(found.distances, listed, rtol=1e-13, atol=1e-170)
        assert (np.diff(found.distances, axis=1) >= 0).all()
        assert found.indices.shape[1] == min(n_wanted, len(index.rows))
        np.put_along_axis(true, found.indices, np.inf, axis=1)
        # Squares below the smallest number cannot be distinguished.
        assert (true.min(axis=1) >= np.where(found.reach > 1e-150, found.reach, 0)).all()


@pytest.mark.parametrize("name", TABLES)
def test_engines_and_threads_agree_to_the_last_bit(name):
    by_tree, by_products = indices_by_engine(TABLES[name]).values()
    threaded = build_index(TABLES[name], "kd_tree", n_jobs=2)
    queries, n_all = by_tree.rows[::3], len(by_tree.rows)
    first = by_tree.nearest(queries, n_all)
    for other in (by_products, threaded):
        for one, another in zip(first, other.nearest(queries, n_all), strict=True):
            np.testing.assert_array_equal(one, another)
    radii = first.distances[:, n_all // 2]
    for other in (by_products, threaded):
        for one, another in zip(
            by_tree.within(queries, radii), other.within(queries, radii), strict=True
        ):
            np.testing.assert_array_equal(one, another)
    pairs = by_tree.within(queries, radii)
    place = np.argsort(first.indices, axis=1)[pairs.queries, pairs.indices]
    np.testing.assert_array_equal(first.distances[pairs.queries, place], pairs.distances)
    assert len(pairs.queries) >= (first.distances <= radii[:, None]).sum()


def test_where_products_cancel_the_reach_is_short():
    index = build_index(TABLES["far tiny cluster"], "brute")
    in_cluster = index.rows[:, 0] > 0.5
    found = index.nearest(index.rows[in_cluster], 10)
    assert (found.reach == 0).all()
    assert (
        build_index(TABLES["cloud"], "brute").nearest(index.rows[:9, [0] * 4], 5).reach > 0
    ).all()


@pytest.mark.parametrize(
    ("X", "k", "engine"),
    [
        (RANDOM.normal(size=(4000, 2)), 10, "kd_tree"),
        (RANDOM.normal(size=(4000, 30)), 10, "brute"),
        # Thirty columns, but the rows lie along a line.
        (np.outer(np.linspace(0, 1, 4000), RANDOM.normal(size=30)), 10, "kd_tree"),
        (RANDOM.normal(size=(40, 8)), 10, "kd_tree"),
        # A chain of leaves: a tree of unit vectors is deep, and finds nothing quickly.
        (np.eye(800), 5, "brute"),
        (np.eye(300), 5, "brute"),
    ],
)
def test_auto_takes_the_cheaper_engine(X, k, engine):
    with threadpool_limits(1):
        assert build_index(X, "auto", 1, k).engine == engine


def test_units_are_a_power_of_two_and_rows_come_back():
    X = np.ldexp(RANDOM.normal(size=(50, 2)), 700)
    index = build_index(X)
    assert 0.5 <= np.abs(index.rows).max() < 1
    np.testing.assert_array_equal(np.ldexp(index.rows[index.inverse], index.exponent), X)
    assert index.n_rows == 50
    assert not index.has_duplicates


def test_extremely_far_queries_are_clipped():
    index = build_index(np.ldexp(TABLES["cloud"], -900))
    queries = index.in_units(np.array([[1e300, -1e300, 0, 1e-280]]))
    assert (np.abs(queries) <= 2.0**400).all()
    assert np.isfinite(index.nearest(queries, 3).distances).all()
    np.testing.assert_array_equal(
        index.in_units(np.ldexp(TABLES["cloud"], -900)), index.rows[index.inverse]
    )


def test_without_duplicates_each_row_counts_once():
    index = build_index(TABLES["duplicates"]).without_duplicates()
    assert (index.counts == 1).all()
    assert len(index.inverse) == 60
    assert not index.has_duplicates


def test_an_unknown_algorithm_raises():
    with pytest.raises(InputError) as caught:
        build_index(TABLES["grid"], "ball_tree")
    assert str(caught.value) == NO_ALGORITHM

"""Neighbourhoods against a double loop: ties, duplicates, the row itself, and memory."""

import tracemalloc

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova.neighbors import neighborhoods as module
from kernova.neighbors.index import build_index
from kernova.neighbors.neighborhoods import find_neighborhoods, nearest_distances, neighbor_blocks
from tests import oracles

RANDOM = np.random.default_rng(6)


def grid(n_columns, n_steps):
    return (
        np.stack(np.meshgrid(*[np.arange(n_steps)] * n_columns), axis=-1).reshape(-1, n_columns)
        * 1.0
    )


TIED_TABLES = {
    "identity": (np.eye(60), 3),
    "identity and zero": (np.vstack([np.eye(40), np.zeros((3, 40))]), 2),
    "identity in threes": (np.repeat(np.eye(40), 3, axis=0), 5),
    "square grid": (grid(2, 9), 6),
    "cube grid": (grid(3, 5), 10),
    "grid in tenths": (grid(2, 9) * 0.1, 6),
    "grid with duplicates": (RANDOM.integers(0, 4, size=(120, 2)) * 1.0, 9),
    "circle": (
        np.c_[np.cos(np.arange(50) * np.pi / 25), np.sin(np.arange(50) * np.pi / 25)][
            np.r_[:50, [0] * 4]
        ],
        7,
    ),
    "circle and centre": (
        np.r_[[[0.0, 0.0]], np.c_[np.cos(np.arange(64)), np.sin(np.arange(64))]],
        5,
    ),
    "far tiny grid": (1000 + np.ldexp(grid(2, 8), -33), 5),
    "far tiny cluster": (
        np.vstack([1000 + 1e-9 * RANDOM.normal(size=(60, 2)), RANDOM.normal(size=(30, 2))]),
        4,
    ),
    "all duplicates": (np.ones((12, 2)), 5),
    "two rows repeated": (np.repeat([[0.0], [1.0]], [9, 4], axis=0), 6),
    "two rows": (np.array([[0.0], [3.0]]), 1),
    "one row": (np.array([[2.0, 1.0]]), 1),
}


def listed(index, block):
    """For each query of a block: its k-th distance, and its neighbours' counts and distances."""
    weights = np.ones(len(block.indices)) if block.weights is None else block.weights
    for i, number in enumerate(block.numbers):
        part = slice(block.starts[i], block.starts[i + 1])
        near = dict(zip(block.indices[part].tolist(), weights[part].tolist(), strict=True))
        assert len(near) == block.lengths[i] > 0
        assert block.totals[i] == sum(near.values())
        distances = np.ldexp(block.distances[part], index.exponent)
        assert (np.diff(distances) >= 0).all()
        yield int(number), np.ldexp(block.kth_distances[i], index.exponent), near, distances


def assert_complete(X, k, index, blocks):
    """Every distinct row comes once, with the neighbourhood that a double loop finds."""
    seen, X = set(), X.tolist()
    first_of = {int(place): row for row, place in reversed(list(enumerate(index.inverse)))}
    for block in blocks:
        assert block.k == k
        for number, kth, near, distances in listed(index, block):
            row = first_of[number]
            true_kth, true = oracles.neighborhood(X[row], X, k, left_out=row)
            assert kth == pytest.approx(true_kth, rel=1e-12)
            places = [int(index.inverse[j]) for j, _ in true]
            assert near == {place: places.count(place) for place in places}
            literal = sorted({int(index.inverse[j]): d for j, d in true}.values())
            np.testing.assert_allclose(distances, literal, rtol=1e-12)
            assert number not in seen
            seen.add(number)
    assert seen == set(range(len(index.rows)))


@pytest.mark.parametrize("engine", ["kd_tree", "brute"])
@pytest.mark.parametrize("name", TIED_TABLES)
def test_ties_are_complete(name, engine):
    X, k = TIED_TABLES[name]
    index = build_index(X, engine)
    neighborhoods = find_neighborhoods(index, k)
    for smaller in range(1, k + 1):
        assert_complete(X, smaller, index, neighborhoods.blocks(smaller))
    assert_complete(X, k, index, neighbor_blocks(index, k))
    kth = neighborhoods.kth_distances()
    np.testing.assert_array_equal(kth, neighborhoods.kth_distances(k))


@given(
    arrays(
        np.float64, st.tuples(st.integers(2, 14), st.integers(1, 3)), elements=st.integers(0, 3)
    ),
    st.integers(1, 13),
    st.sampled_from(["kd_tree", "brute"]),
    st.sampled_from([1.0, 0.1, 1e-9]),
)
@settings(max_examples=150, deadline=None)
def test_small_grids_with_duplicates(X, k, engine, step):
    X, k = X * step, min(k, len(X) - 1)
    index = build_index(X, engine)
    neighborhoods = find_neighborhoods(index, k)
    for smaller in {1, (k + 1) // 2, k}:
        assert_complete(X, smaller, index, neighborhoods.blocks(smaller))


@pytest.mark.parametrize("engine", ["kd_tree", "brute"])
@pytest.mark.parametrize("n_tied", [1, 40])
def test_distances_tie_within_a_trillionth_and_no_farther(engine, n_tied):
    angles = np.linspace(0.1, 3, n_tied)
    farther = np.c_[np.cos(angles), np.sin(angles)]
    for gap, n_seen in [(0.9e-12, 1 + n_tied), (1.1e-12, 1)]:
        rows = np.vstack([[[0.0, -1.0]], (1 + gap) * farther, [[30.0, 0]]])
        ((_, near, _),) = queried(build_index(rows, engine), 1, np.zeros((1, 2)))
        assert len(near) == n_seen


def queried(index, k, queries, left_out=None):
    answers = {}
    for block in neighbor_blocks(index, k, index.in_units(queries), left_out):
        answers.update((number, rest) for number, *rest in listed(index, block))
    assert sorted(answers) == list(range(len(queries)))
    return [answers[number] for number in range(len(queries))]


@pytest.mark.parametrize("engine", ["kd_tree", "brute"])
@pytest.mark.parametrize("k", [1, 4, 25])
def test_queries_see_all_rows_or_all_but_one_left_out(engine, k):
    X = RANDOM.integers(0, 4, size=(60, 2)) * 1.0
    index = build_index(X, engine)
    queries = np.vstack([X[:10], X[:5] + 0.5, [[9.0, 9.0]]])
    places = np.arange(len(queries)) * 3
    for left_out in (None, places):
        found = queried(index, k, queries, None if left_out is None else index.inverse[left_out])
        for i, (kth, near, _) in enumerate(found):
            hidden = None if left_out is None else int(left_out[i])
            true_kth, true = oracles.neighborhood(queries[i], X, k, left_out=hidden)
            assert kth == pytest.approx(true_kth, rel=1e-12)
            numbers = [int(index.inverse[j]) for j, _ in true]
            assert near == {number: numbers.count(number) for number in numbers}


@pytest.mark.parametrize("engine", ["kd_tree", "brute"])
def test_neighbourhoods_with_very_many_ties_are_found_again_rather_than_cached(engine):
    X = np.eye(50)
    index = build_index(X, engine)
    neighborhoods = find_neighborhoods(index, 4)
    assert len(neighborhoods.not_cached) == 50
    assert neighborhoods.cached == ()
    for _ in range(2):  # every pass anew
        assert_complete(X, 4, index, neighborhoods.blocks())
        assert_complete(X, 2, index, neighborhoods.blocks(2))
    mixed = np.vstack([np.eye(40), 5 + RANDOM.normal(size=(20, 40))])
    index = build_index(mixed, engine)
    neighborhoods = find_neighborhoods(index, 2)
    assert 0 < len(neighborhoods.not_cached) < 60
    assert_complete(mixed, 2, index, neighborhoods.blocks())


def peak_megabytes(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


FAR_AWAY = 1e20 * RANDOM.normal(size=(800, 2))  # every row is as near as every other

TIED_QUERIES = {
    "far away, by tree": (RANDOM.normal(size=(800, 2)), "kd_tree", FAR_AWAY),
    "far away, by products": (RANDOM.normal(size=(800, 2)), "brute", FAR_AWAY),
    "many columns": (np.eye(300), "brute", None),
}


@pytest.mark.parametrize("name", TIED_QUERIES)
def test_memory_stays_within_bounds_whatever_ties_there_are(name):
    """Listed whole, the first two take 13 MB at least; the last, with all columns, 200 MB."""
    rows, engine, queries = TIED_QUERIES[name]
    index = build_index(rows, engine)
    n_listed = []

    def all_passes():
        neighborhoods = find_neighborhoods(
            index, 3, None if queries is None else index.in_units(queries)
        )
        assert neighborhoods.cached == ()
        n_listed.extend(
            sum(len(block.indices) for block in neighborhoods.blocks()) for _ in range(2)
        )

    with sklearn.config_context(working_memory=8):
        peak = peak_megabytes(all_passes)
    n_queries = len(rows) if queries is None else len(queries)
    n_others = len(rows) - (queries is None)
    assert n_listed == [n_queries * n_others] * 2
    assert peak < 8


def test_blocks_do_not_change_what_is_found():
    X = np.vstack([grid(2, 20), RANDOM.normal(size=(300, 2))])
    index = build_index(X)
    whole = list(neighbor_blocks(index, 5))
    with pytest.MonkeyPatch.context() as patch, sklearn.config_context(working_memory=0.001):
        for budget in ("_BLOCK_CANDIDATES", "_BLOCK_QUERIES", "_MANY_CANDIDATES"):
            patch.setattr(module, budget, 1)
        pieces = list(neighbor_blocks(index, 5))
    assert len(pieces) > len(whole)

    def by_number(blocks):
        return {
            number: (kth, near, distances.tolist())
            for block in blocks
            for number, kth, near, distances in listed(index, block)
        }

    assert by_number(pieces) == by_number(whole)


def test_nearest_other_row_and_nearest_row_that_differs():
    X = np.array([[0.0], [0.0], [3.0], [10.0]]) * 1e200
    np.testing.assert_allclose(nearest_distances(X), np.array([0, 0, 3, 7]) * 1e200)
    np.testing.assert_allclose(
        nearest_distances(X, skip_duplicates=True), np.array([3, 3, 3, 7]) * 1e200
    )

"""Rows like a few given ones: the ranking, the cut, the likeness, and bad inputs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova import InputError, TableEncoder, more_like
from kernova.cluster.standardize import standardized_rows
from kernova.discover.more_like import alike_rows, arrivals, cut_at_drop, walk_graph
from tests.discover.messages import (
    EMPTY_TABLE,
    GIVEN_AND_RULED_OUT,
    NO_ROW_LEFT,
    NO_ROW_TO_SEARCH_FROM,
    NOT_A_POSITION,
    NOT_FINITE,
    NOT_NUMERIC,
)
from tests.oracles.more_like import linked_rows, literal_cut, walked

NONE = np.array([], dtype=np.intp)


def bulk_and_group(n_group=8, n_bulk=300, seed=0):
    """Rows of a wide bulk, and last a small dense group beside it."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(0, 1, (n_bulk, 3)), rng.normal(5, 0.1, (n_group, 3))])


@settings(max_examples=20, deadline=None)
@given(
    st.integers(3, 25), st.integers(1, 3), st.integers(0, 1000), st.integers(1, 3), st.booleans()
)
def test_arrivals_are_those_of_the_literal_walk(n_rows, n_columns, seed, n_given, has_ends):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, n_columns)) * rng.exponential(size=(n_rows, 1))
    chosen = rng.permutation(n_rows)
    starts = np.sort(chosen[: min(n_given, n_rows - 2)])
    ends = chosen[-1:] if has_ends else NONE
    graph = walk_graph(Z)
    weights = linked_rows(Z)
    np.testing.assert_allclose(graph.weights.toarray(), weights, rtol=1e-9, atol=1e-15)
    expected = walked(weights, starts, ends)
    np.testing.assert_allclose(arrivals(graph, starts, ends), expected, rtol=1e-9, atol=1e-12)
    found = alike_rows(graph, starts, ends)
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(expected), -60)
    falling = logs[found.ranking]
    assert (np.diff(falling) <= 1e-9).all()
    assert sorted([*found.ranking, *starts, *ends]) == list(range(n_rows))
    assert found.cut == (literal_cut(falling) if len(falling) > 1 else 1)


def test_a_group_is_found_from_any_of_its_rows():
    X = bulk_and_group()
    for row in range(300, 308):
        alike = more_like(X, [row])
        assert set(alike.found.tolist()) == set(range(300, 308)) - {row}
        assert alike.cut == 7


def test_likeness_falls_with_the_rank_and_is_a_probability():
    alike = more_like(bulk_and_group(), [300, 301], [5])
    along = alike.likeness[alike.ranking]
    assert (np.diff(along) <= 0).all()
    assert along.max() < 0.7
    assert along.min() > 0
    assert alike.likeness[[300, 301, 5]].tolist() == [1, 1, 0]
    assert not {300, 301, 5} & set(alike.ranking.tolist())


def test_rows_beyond_rows_that_do_not_belong_are_less_alike():
    chain = np.column_stack([np.arange(60.0), np.zeros(60)])
    beyond = set(range(51, 60))
    assert beyond.isdisjoint(more_like(chain, [40]).ranking[-9:].tolist())
    ended = more_like(chain, [40], range(41, 51))
    assert set(ended.ranking[-9:].tolist()) == beyond


def test_units_and_offsets_of_columns_do_not_matter():
    X = bulk_and_group(seed=3)
    expected = more_like(X, [302])
    scaled = more_like(X * [1e-6, 1.0, 1e6] + [5.0, 0.0, -1e7], [302])
    assert scaled.found.tolist() == expected.found.tolist()


def test_the_same_row_given_twice_counts_once():
    X = bulk_and_group()
    once, twice = more_like(X, [300]), more_like(X, [300, 300])
    assert once.ranking.tolist() == twice.ranking.tolist()
    assert once.cut == twice.cut


def test_duplicates_of_the_given_row_come_first():
    X = np.vstack([bulk_and_group(), np.repeat([[5.0, 5.0, 5.0]], 4, axis=0)])
    alike = more_like(X, [308])
    assert alike.ranking[:3].tolist() == [309, 310, 311]
    assert len(set(alike.likeness[[309, 310, 311]])) == 1


@pytest.mark.parametrize("X", [np.ones((6, 2)), np.zeros((30, 1)), np.full((2, 1), 1e300)])
def test_rows_that_are_all_equal_are_all_alike(X):
    alike = more_like(X, [1])
    assert alike.cut == len(X) - 1
    assert alike.ranking.tolist() == [row for row in range(len(X)) if row != 1]
    assert len(set(alike.likeness[alike.ranking])) == 1


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_numbers_are_ranked_like_others(scale):
    X = bulk_and_group()
    assert more_like(X * scale, [300]).found.tolist() == more_like(X, [300]).found.tolist()


def test_a_frame_with_another_index_is_ranked_by_position():
    frame = pd.DataFrame(bulk_and_group(), columns=list("abc"), index=np.arange(308) * 7)
    assert sorted(more_like(frame, [300]).found.tolist()) == list(range(301, 308))


def test_an_encoded_table_can_be_ranked():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=60), "hue": ["red"] * 55 + ["blue"] * 5})
    encoded = TableEncoder().fit_transform(frame)
    assert sorted(more_like(encoded, [55]).ranking[:4].tolist()) == [56, 57, 58, 59]


def test_two_components_are_cut_between():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0, 1, (200, 2)), rng.normal(1000, 1, (15, 2))])
    assert sorted(more_like(X, [200]).found.tolist()) == list(range(201, 215))


def test_a_drop_counts_by_the_root_of_its_rank():
    values = np.array([10.0, 8.0, 7.9, 7.8, 6.3, *np.linspace(6.2, 5, 40)])
    assert cut_at_drop(values) == 4
    assert cut_at_drop(np.zeros(50)) == 50
    assert cut_at_drop(np.array([1.0])) == 1


NAN = np.array([[1.0, np.nan], [0.0, 0.0]])
BAD = [
    (NAN, [0], (), NOT_FINITE.format(value=np.nan, row=0, column=1)),
    (np.zeros((0, 2)), [0], (), EMPTY_TABLE),
    (np.array([["a"], ["b"]]), [0], (), NOT_NUMERIC),
    (np.eye(4), [], (), NO_ROW_TO_SEARCH_FROM),
    (np.eye(4), [4], (), NOT_A_POSITION.format(name="rows", last=3, value=4)),
    (np.eye(4), [-1], (), NOT_A_POSITION.format(name="rows", last=3, value=-1)),
    (np.eye(4), [True], (), NOT_A_POSITION.format(name="rows", last=3, value=True)),
    (np.eye(4), ["a"], (), NOT_A_POSITION.format(name="rows", last=3, value="'a'")),
    (np.eye(4), [0], [9], NOT_A_POSITION.format(name="not_rows", last=3, value=9)),
    (np.eye(4), [0, 2], [2], GIVEN_AND_RULED_OUT.format(row=2)),
    (np.eye(1), [0], (), NO_ROW_LEFT.format(n_rows="1 row")),
    (np.eye(4), [0, 1], [2, 3], NO_ROW_LEFT.format(n_rows="4 rows")),
]  # fmt: skip


@pytest.mark.parametrize(("X", "rows", "not_rows", "message"), BAD)
def test_bad_inputs_are_named(X, rows, not_rows, message):
    with pytest.raises(InputError) as caught:
        more_like(X, rows, not_rows)
    assert str(caught.value) == message


def test_results_do_not_depend_on_the_order_of_what_is_given():
    X = bulk_and_group()
    one, other = more_like(X, [300, 303], [1, 2]), more_like(X, [303, 300], [2, 1])
    assert one.ranking.tolist() == other.ranking.tolist()


def test_many_rows_take_seconds():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(29_900, 4)), rng.normal(2, 0.1, (100, 4))])
    alike = alike_rows(walk_graph(standardized_rows(X, "half-sphere")), np.array([29_950]), NONE)
    assert np.mean(alike.found >= 29_900) > 0.9

"""Duplicate rows: counted, in order of appearance, and never confused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova.neighbors import index
from kernova.neighbors.index import distinct_rows

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 15), st.integers(1, 3)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, 1e300, 1 + 2**-52]),
)


def assert_is_what_a_loop_finds(X, found):
    seen = []
    for row in X.tolist():
        if row not in seen:  # 0.0 == -0.0 here too
            seen.append(row)
    assert found.rows.tolist() == seen
    assert found.counts.tolist() == [X.tolist().count(row) for row in seen]
    assert found.inverse.tolist() == [seen.index(row) for row in X.tolist()]
    np.testing.assert_array_equal(found.rows[found.inverse], X)


@given(TABLES)
@settings(max_examples=200, deadline=None)
def test_each_row_once_in_order_of_appearance(X):
    assert_is_what_a_loop_finds(X, distinct_rows(X))


COARSE_HASHES = {
    "one": lambda rows: np.zeros(len(rows), dtype=np.uint64),
    "two": lambda rows: (rows[:, 0] > 0).astype(np.uint64),
}


@pytest.mark.parametrize("name", COARSE_HASHES)
@given(TABLES)
@settings(max_examples=100, deadline=None)
def test_different_rows_with_one_hash_stay_different(name, X):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "row_hashes", COARSE_HASHES[name])
        assert_is_what_a_loop_finds(X, distinct_rows(X))


def test_rows_of_small_whole_numbers_have_different_hashes():
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(np.unique(index.row_hashes(grid))) == len(grid)
    assert len(np.unique(index.row_hashes(np.eye(300)))) == 300


def test_the_callers_rows_are_left_alone():
    X = np.asfortranarray([[-0.0, 1.0], [0.0, 1.0]])
    X.setflags(write=False)
    assert distinct_rows(X).counts.tolist() == [2]
    assert np.signbit(X[0, 0])

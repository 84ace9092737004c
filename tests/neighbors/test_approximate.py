"""Approximate neighbours: the reported recall is true; few rows are searched exactly."""

import sys

import numpy as np
import pytest

from kernova import InputError, RobustKernelOutlierFactor
from kernova.neighbors.index import build_index
from kernova.neighbors.neighborhoods import neighbor_blocks
from tests.neighbors.messages import NO_FAISS

RANDOM = np.random.default_rng(8)
CLOUD = RANDOM.normal(size=(6000, 12))


def true_recall(index, k):
    """The fraction of the true k nearest other rows that are listed, over all rows."""
    exact = build_index(index.rows, "brute")
    place = exact.inverse  # where each of the index's rows is in the other one
    kth = np.empty(len(index.rows))
    for block in neighbor_blocks(exact, k):
        kth[block.numbers] = block.kth_distances
    unit = np.ldexp(1.0, exact.exponent)
    n_hits = 0
    for block in neighbor_blocks(index, k):
        is_hit = block.distances <= block.spread(kth[place][block.numbers] * unit) * (1 + 1e-9)
        n_hits += np.minimum(block.sums(is_hit * 1.0), k).sum()
    return n_hits / (k * len(index.rows))


def test_recall_is_reported_and_true():
    index = build_index(CLOUD, "approximate", k=10)
    assert index.engine == "approximate"
    found = true_recall(index, 10)
    assert 0.9 < found < 1
    assert index.recall == pytest.approx(found, abs=0.02)
    assert 0.95 <= index.recall < 1


def test_recall_does_not_trust_single_precision():
    # Beside two rows far apart, all others are a few points in single precision.
    X = np.vstack([CLOUD * 1e-8, np.full((1, 12), 1e3), np.full((1, 12), 2e3)])
    index = build_index(X, "approximate", k=10)
    list(neighbor_blocks(index, 10))
    assert index.recall == pytest.approx(true_recall(index, 10), abs=0.05)
    assert index.recall < 0.9
    assert build_index(X, "brute").recall == 1.0


def test_more_neighbours_are_tuned_for_anew_and_all_can_be_had():
    index = build_index(CLOUD, "approximate")
    index.nearest(index.rows[:3], 5)
    n_lists = index._approximate._index.nprobe
    many = index.nearest(index.rows[:3], 2000)
    assert index._approximate._index.nprobe > n_lists
    assert (many.indices >= 0).all()
    everything = index.nearest(np.vstack([index.rows[:2], 2.0**400 + index.rows[:2]]), 6000)
    assert (np.sort(everything.indices, axis=1) == np.arange(6000)).all()
    assert np.isfinite(everything.distances).all()


def test_where_lists_hold_too_few_rows_the_nearest_are_filled_in():
    X = np.random.default_rng(0).standard_cauchy(size=(6000, 2))  # with lists of a row or two
    index = build_index(X, "approximate")
    found = index.nearest(index.rows, 12)
    is_short = (index._approximate._found(index.rows, 12) < 0).any(axis=1)
    assert is_short.any()
    exact = build_index(X, "kd_tree").nearest(index.rows[is_short], 12)
    np.testing.assert_array_equal(found.distances[is_short], exact.distances)
    np.testing.assert_array_equal(found.indices[is_short], exact.indices)


def test_scores_are_near_the_exact_ones_and_the_same_each_time():
    exact = RobustKernelOutlierFactor(20).fit(CLOUD)
    first, second = (
        RobustKernelOutlierFactor(20, algorithm="approximate").fit(CLOUD) for _ in range(2)
    )
    np.testing.assert_array_equal(first.negative_outlier_factor_, second.negative_outlier_factor_)
    assert (exact.algorithm_, first.algorithm_) == ("brute", "approximate")
    assert exact.neighbor_recall_ == 1.0
    assert 0.95 <= first.neighbor_recall_ < 1.0
    error = np.abs(first.negative_outlier_factor_ / exact.negative_outlier_factor_ - 1)
    assert np.median(error) < 0.02
    assert error.max() > 0


def test_few_rows_are_searched_exactly():
    model = RobustKernelOutlierFactor(20, algorithm="approximate").fit(CLOUD[:5000])
    exact = RobustKernelOutlierFactor(20, algorithm="brute").fit(CLOUD[:5000])
    assert model.algorithm_ == "brute"
    assert model.neighbor_recall_ == 1.0
    np.testing.assert_array_equal(model.negative_outlier_factor_, exact.negative_outlier_factor_)


@pytest.mark.parametrize("n_rows", [50, 6000])
def test_without_faiss_the_message_says_what_to_install(monkeypatch, n_rows):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(InputError) as caught:
        RobustKernelOutlierFactor(5, algorithm="approximate").fit(CLOUD[:n_rows])
    assert str(caught.value) == NO_FAISS
    assert RobustKernelOutlierFactor(5).fit(CLOUD[:50]).neighbor_recall_ == 1.0

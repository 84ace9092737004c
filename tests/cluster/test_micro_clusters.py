"""Micro-clusters stand for rows: nobody is lost, and what is rare is not drowned."""

import numpy as np
import pytest

from kernova.cluster.hierarchical_mean_shift import micro_clusters


@pytest.mark.parametrize("n_columns", [2, 20])
def test_each_micro_cluster_is_the_mean_of_its_rows(n_columns):
    rows = np.random.default_rng(0).normal(size=(500, n_columns))
    rows[100:200] = rows[:100]  # copies
    small = micro_clusters(rows, 40)
    assert len(small.centers) == 40
    for number, center in enumerate(small.centers):
        np.testing.assert_allclose(center, rows[small.assigned == number].mean(axis=0))
    apart = np.linalg.norm(rows - small.centers[small.assigned], axis=1)
    np.testing.assert_allclose(small.distance, apart)
    assert small.error == pytest.approx(np.sqrt((apart**2).mean()))
    np.testing.assert_array_equal(small.assigned[100:200], small.assigned[:100])


def test_rare_and_far_rows_get_micro_clusters_of_their_own():
    rng = np.random.default_rng(1)
    rows = np.vstack([rng.normal(size=(20_000, 4)), 12 + 0.2 * rng.normal(size=(10, 4))])
    small = micro_clusters(rows, 100)
    rare = set(small.assigned[-10:])
    assert not rare & set(small.assigned[:-10])


@pytest.mark.parametrize("n_clusters", [2, 3, 7])
def test_fewer_distinct_rows_than_asked_for(n_clusters):
    rows = np.array([[0.0], [0.0], [1.0], [1.0], [5.0]])
    small = micro_clusters(rows, n_clusters)
    assert len(small.centers) <= min(3, n_clusters)
    assert (np.bincount(small.assigned, minlength=len(small.centers)) > 0).all()
    assert np.isfinite(small.centers).all()

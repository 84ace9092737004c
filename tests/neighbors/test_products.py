"""Distances to the k-th nearest rows by products, against sorted distances."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from kernova._sklearn import threadpool_controller
from kernova.neighbors.products import kth_distances
from kernova.parallel import single_blas_thread

RANDOM = np.random.default_rng(0)
TABLES = {
    "cloud": RANDOM.normal(size=(300, 4)),
    "grid": RANDOM.integers(0, 3, size=(300, 3)).astype(float),
    "far from zero": 1e6 + RANDOM.normal(size=(300, 2)),
    "one far row": np.vstack([RANDOM.normal(size=(299, 3)), [[1e8, 0, 0]]]),
    "all alike": np.ones((5, 2)),
    "one row": np.zeros((1, 2)),
}


def sorted_distances(rows, queries, left_out):
    distances = cdist(queries, rows)
    if len(rows) > 1:
        distances[left_out >= 0, left_out[left_out >= 0]] = np.inf
    return np.sort(distances, axis=1)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("numbers", [[1], [1, 7], [20, 1, 20], [1000]])
def test_distances_are_those_of_sorting_all(name, numbers):
    rows = TABLES[name]
    queries = np.vstack([rows, rows[:1] + 0.25])
    left_out = np.append(np.arange(len(rows)), -1)
    expected = sorted_distances(rows, queries, left_out)
    places = [min(k, max(1, len(rows) - 1)) - 1 for k in numbers]
    found = kth_distances(rows, numbers, queries, left_out)
    np.testing.assert_allclose(found, expected[:, places], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("numbers", [[1], [5, 40]])
def test_single_precision_is_off_by_little(numbers):
    rows, queries = TABLES["cloud"], RANDOM.normal(size=(2000, 4))
    exact = kth_distances(rows, numbers, queries)
    found = kth_distances(rows, numbers, queries, in_single_precision=True)
    assert np.abs(found / exact - 1).max() < 1e-4
    assert np.mean(found == exact) > 0.99


def test_copies_are_at_distance_zero_in_single_precision():
    rows = np.repeat(TABLES["cloud"], 2, axis=0)
    own = np.arange(len(rows))
    found = kth_distances(rows, [1], rows, own, in_single_precision=True)
    assert np.all(found == 0)


def blas_threads():
    """Return the numbers of threads of NumPy's and SciPy's BLAS, not of libraries loaded later."""
    known = threadpool_controller().info()
    return {one["num_threads"] for one in known if one["user_api"] == "blas"}


def test_threads_that_share_the_limit_on_products_lift_it_together():
    with threadpool_limits(2, user_api="blas"):
        with single_blas_thread:
            with single_blas_thread:
                pass
            assert blas_threads() == {1}
        with ThreadPoolExecutor(4) as pool:
            jobs = [
                pool.submit(kth_distances, TABLES["cloud"], [1], TABLES["cloud"]) for _ in range(40)
            ]
        assert all(job.exception() is None for job in jobs)
        assert blas_threads() == {2}

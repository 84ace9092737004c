"""Mean shift at one bandwidth: its modes are modes, and its rules choose sensible widths."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from kernova import GaussianMeanShift
from kernova.cluster.gaussian_mean_shift import likelihood_width, silverman_width
from tests.oracles import mean_shift_climb


def test_rows_end_where_the_literal_climb_ends():
    X, _ = make_blobs([60, 30], n_features=3, random_state=0)
    X = np.vstack([X, X[:4]])
    model = GaussianMeanShift(bandwidth=1.1).fit(X)
    ends = np.array([mean_shift_climb(x, X, np.ones(len(X)), 1.1, 1e-6)[0] for x in X])
    np.testing.assert_allclose(model.cluster_centers_[model.labels_], ends, atol=2e-3)
    np.testing.assert_array_equal(
        np.bincount(model.labels_), sorted(np.bincount(model.labels_))[::-1]
    )


def test_a_new_row_climbs_rather_than_joins_the_nearest_centre():
    # A long bank of rows whose mode is at its far end, beside a small heap.
    bank = np.column_stack([np.linspace(0, 10, 200) ** 0.5 * 3.2, np.zeros(200)])
    heap = np.random.default_rng(0).normal([-1.5, 0], 0.1, size=(20, 2))
    model = GaussianMeanShift(bandwidth=0.5).fit(np.vstack([bank, heap]))
    start = [[2.0, 0.1]]
    nearest = np.linalg.norm(model.cluster_centers_ - start, axis=1).argmin()
    assert model.predict(start)[0] == model.labels_[40]
    assert model.predict([[-1.4, 0.0]])[0] == model.labels_[-1]
    assert model.labels_[40] != model.labels_[-1]
    assert nearest == model.labels_[-1] or len(model.cluster_centers_) > 2


def test_training_rows_are_predicted_as_labelled():
    X, _ = make_blobs(400, n_features=4, centers=5, random_state=2)
    model = GaussianMeanShift(bandwidth="likelihood-cv").fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("far", [1e3, 1e200, -1e300])
def test_a_row_out_of_reach_joins_the_nearest_cluster(far):
    X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    model = GaussianMeanShift(bandwidth=0.3).fit(X)
    expected = model.labels_[3] if far > 0 else model.labels_[0]
    assert model.predict([[far, far]])[0] == expected


def test_likelihood_chooses_the_width_that_a_scan_finds_best():
    rows = np.random.default_rng(0).normal(size=(120, 1)) * 3
    widths = np.exp(np.linspace(np.log(0.2), np.log(4), 120))
    apart = rows - rows.T

    def log_likelihood(width):
        densities = norm.pdf(apart, scale=width)
        np.fill_diagonal(densities, 0)
        return np.log(densities.sum(axis=1) / 119).sum()

    best = widths[np.argmax([log_likelihood(width) for width in widths])]
    assert likelihood_width(rows, np.ones(120)) == pytest.approx(best, rel=0.04)


def test_silverman_counts_duplicates():
    rows = np.array([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [4.0, 0.0]])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    assert silverman_width(distinct, counts.astype(float)) == pytest.approx(
        silverman_width(rows, np.ones(4))
    )
    assert silverman_width(rows, np.ones(4)) == pytest.approx(
        np.sqrt(rows.var(axis=0, ddof=1).mean()) * (4 / (4 * 4)) ** (1 / 6)
    )


@pytest.mark.parametrize("X", [[[3.0]], [[1.0], [1.0], [1.0]]], ids=["one row", "equal rows"])
@pytest.mark.parametrize("bandwidth", ["silverman", "likelihood-cv", 2.0])
def test_one_point_is_one_cluster(X, bandwidth):
    model = GaussianMeanShift(bandwidth=bandwidth).fit(X)
    assert set(model.labels_) == {0}
    np.testing.assert_allclose(model.cluster_centers_, X[:1])


@pytest.mark.parametrize(("bandwidth", "n_clusters"), [(1e-300, 3), (5e-324, 3), (1e300, 1)])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_extreme_widths_separate_all_rows_or_none(bandwidth, n_clusters, scale):
    X = np.repeat([[0.0], [1.0], [3.0]], 70, axis=0) * scale
    model = GaussianMeanShift(bandwidth=bandwidth).fit(X)
    assert len(model.cluster_centers_) == n_clusters
    assert model.bandwidth_ == bandwidth
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_predicting_needs_a_fit():
    with pytest.raises(NotFittedError):
        GaussianMeanShift().predict([[0.0]])

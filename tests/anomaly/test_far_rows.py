"""Rows beyond a kernel's reach: ordered by distance, and no other order changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from kernova import KernelSpatialDepth
from kernova.anomaly.far_rows import NEGLIGIBLE, mean_similarity, plateau_of
from kernova.kernels.functions import Gaussian, Laplacian, Linear, Matern
from tests import oracles

KERNELS = {
    "gaussian": (Gaussian(0.5), lambda a, b: oracles.gaussian(a, b, 0.5)),
    "laplacian": (Laplacian(0.1), lambda a, b: np.exp(-np.linalg.norm(a - b) / 0.1)),
    "matern": (Matern(0.1), lambda a, b: oracles.matern(a, b, 0.1, 1.5)),
}


def rows_and_queries(seed=0):
    """Give known rows, two of them alone, two alike and alone; and rows at all distances."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(30, 2)), [[20.0, 0], [0.0, 30], [-20.0, 0], [-20.0, 0]]])
    directions = rng.normal(size=(40, 2))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return X, np.vstack([directions * np.geomspace(0.1, 1e5, 40)[:, None], X])


@pytest.mark.parametrize("name", KERNELS)
def test_agrees_with_the_literal_formula(name):
    kernel, literal = KERNELS[name]
    X, queries = rows_and_queries()
    model = KernelSpatialDepth(kernel=kernel, engine="exact").fit(X)
    horizon = model._plateau.horizon
    expected = [oracles.kernel_spatial_depth_by_distance(x, X, literal, horizon) for x in queries]
    np.testing.assert_allclose(model.score_samples(queries), expected, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(model.training_depths_, model.score_samples(X))
    far = np.array([horizon * (1 - 1e-9), horizon * (1 + 1e-9)])
    values = [literal(np.zeros(2), np.array([r, 0.0])) for r in far]
    assert values[1] <= NEGLIGIBLE * (1 + 1e-6)
    assert values[0] >= NEGLIGIBLE * (1 - 1e-6)


@pytest.mark.parametrize("far_rows", ["distance", "literal"])
def test_far_rows_are_ordered_by_distance_only_if_asked(far_rows):
    X, _ = rows_and_queries()
    model = KernelSpatialDepth(bandwidth=0.5, far_rows=far_rows).fit(X)
    radii = np.concatenate([np.geomspace(100, 1e7, 2000), np.geomspace(1e8, 1e100, 100)])
    depths = model.score_samples(np.c_[radii, np.zeros_like(radii)])
    if far_rows == "distance":
        assert (np.diff(depths) < 0).all()
        assert model._plateau.level - depths.min() < NEGLIGIBLE
    else:
        assert np.ptp(depths) < 1e-14


def test_known_and_new_rows_that_are_alone_have_one_scale():
    """Known rows 20 and 30 away, scored among the others, and new rows at other distances."""
    X, _ = rows_and_queries()
    model = KernelSpatialDepth(bandwidth=0.5).fit(X)
    new = np.array([[0.0, -8.0], [0.0, -25.0], [0.0, -40.0]])
    distances = [min(np.linalg.norm(x - y) for y in X if (x != y).any()) for x in [*X[30:32], *new]]
    depths = np.concatenate([model.training_depths_[30:32], model.score_samples(new)])
    np.testing.assert_array_equal(rankdata(depths), rankdata(-np.array(distances)))
    literal = KernelSpatialDepth(bandwidth=0.5, far_rows="literal").fit(X)
    # Literal depth ranks the known row 20 away behind a new row 40 away.
    assert literal.training_depths_[30] < literal.score_samples(new)[-1]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.1, 0.5, 2.0, 10.0]))
def test_rows_whose_depths_differ_keep_their_order(seed, bandwidth):
    X, queries = rows_and_queries(seed)
    extended = KernelSpatialDepth(bandwidth=bandwidth).fit(X)
    literal = KernelSpatialDepth(bandwidth=bandwidth, far_rows="literal").fit(X)
    n, similarity = len(X), mean_similarity(X, Gaussian(bandwidth))
    farthest = 1 - np.sqrt((1 + similarity) / 2)  # P
    gap = farthest - extended._plateau.level
    assert -1e-15 <= gap <= similarity / n + 1 / n**2
    new = queries[:40]
    before, after = literal.score_samples(new), extended.score_samples(new)
    assert np.abs(after - before).max() <= gap + 3 * NEGLIGIBLE
    really_deeper = before[:, None] - before[None, :] > gap + 3 * NEGLIGIBLE
    assert (after[:, None] > after[None, :])[really_deeper].all()
    is_far = np.abs(before - farthest) > 2 * NEGLIGIBLE
    np.testing.assert_array_equal(after[is_far], before[is_far])
    among = literal.training_depths_, extended.training_depths_  # here P' is the plateau itself
    assert np.abs(among[0] - among[1]).max() <= 3 * NEGLIGIBLE


@pytest.mark.parametrize(
    ("engine", "kernel", "bandwidth"),
    [("low-rank", "gaussian", 1.5), ("sparse", "gaussian", 0.05), ("sparse", "matern", 0.01)],
)
def test_engines_agree_about_far_rows(engine, kernel, bandwidth):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(600, 2)), [[0.0, 50.0], [70.0, 0.0]]])
    far = np.c_[np.geomspace(100, 1e4, 50), np.zeros(50)]
    parameters = {"kernel": kernel, "bandwidth": bandwidth}
    fast = KernelSpatialDepth(engine=engine, **parameters).fit(X)
    exact = KernelSpatialDepth(engine="exact", **parameters).fit(X)
    assert fast.engine_ == engine
    assert fast._plateau.level == pytest.approx(exact._plateau.level, abs=1e-6)
    for model in (fast, exact):
        assert (np.diff(model.score_samples(far)) < 0).all()
        assert model.training_depths_.argsort()[:2].tolist() == [601, 600]
        assert model.score_samples(far).max() < model.training_depths_[:600].min()


def test_two_fits_agree_to_the_last_bit():
    X = np.random.default_rng(0).normal(size=(4600, 3))
    for parameters in (
        {"bandwidth": "median", "engine": "low-rank"}, {"bandwidth": 0.05, "engine": "sparse"},
    ):  # fmt: skip
        first, second = (KernelSpatialDepth(**parameters).fit(X) for _ in range(2))
        assert first.engine_ == parameters["engine"]
        assert first.bandwidth_ == second.bandwidth_
        np.testing.assert_array_equal(first.training_depths_, second.training_depths_)


def test_kernels_without_a_reach_are_literal():
    X, queries = rows_and_queries()
    for kernel in ("linear", "polynomial", Gaussian(0.5) + 0.5 * Linear()):
        model = KernelSpatialDepth(kernel).fit(X)
        expected = KernelSpatialDepth(kernel, far_rows="literal").fit(X).score_samples(queries)
        np.testing.assert_array_equal(model.score_samples(queries), expected)


def test_rows_all_alike_still_order_new_ones():
    model = KernelSpatialDepth().fit(np.ones((5, 2)))
    assert model._plateau.level == 0.0
    depths = model.score_samples(1 + np.array([[0.0, 0], [9, 0], [90, 0], [1e200, 0]]))
    assert (np.diff(depths) < 0).all()
    assert plateau_of(Gaussian(1e308), 1.0, 5).horizon == np.inf

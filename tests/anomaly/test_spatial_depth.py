"""Depth against the literal formula, the reference vectors, and the ways a table can be odd."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from kernova import KernelSpatialDepth, SpatialDepth
from kernova.kernels.functions import Gaussian, Kernel, Laplacian, Linear, Matern, Polynomial
from kernova.parallel import row_blocks
from tests import oracles


def exact(**parameters):
    """Give literal depths, unless something else is said."""
    return KernelSpatialDepth(engine="exact", **{"far_rows": "literal", **parameters})


def test_reference_vectors(reference_vectors):
    stored = reference_vectors("ref_ksd.npz")
    X, Q = stored["X"], stored["Q"]
    spatial = SpatialDepth().fit(X).score_samples(Q)
    np.testing.assert_allclose(spatial, stored["spatial"], rtol=0, atol=1e-12)
    for sigma in (0.2, 1.0, 5.0):
        depths = exact(bandwidth=sigma).fit(X).score_samples(Q)
        np.testing.assert_allclose(depths, stored[f"depth_sigma_{sigma}"], rtol=0, atol=1e-12)
    assert exact(bandwidth="nearest").fit(X).bandwidth_ == pytest.approx(
        stored["sigma_nn"], rel=1e-12
    )
    assert exact(bandwidth="median").fit(X).bandwidth_ == pytest.approx(
        stored["sigma_median"], rel=1e-12
    )


KERNELS = {
    "gaussian": (Gaussian(1.5), lambda a, b: oracles.gaussian(a, b, 1.5)),
    "laplacian": (Laplacian(1.5), lambda a, b: np.exp(-np.linalg.norm(a - b) / 1.5)),
    "matern 3/2": (Matern(1.5), lambda a, b: oracles.matern(a, b, 1.5, 1.5)),
    "matern 5/2": (Matern(1.5, nu=2.5), lambda a, b: oracles.matern(a, b, 1.5, 2.5)),
    "linear": (Linear(), lambda a, b: a @ b),
    "polynomial": (Polynomial(2.0, degree=2), lambda a, b: (a @ b / 4 + 1) ** 2),
    "sum": (
        Gaussian(1.0) + 0.5 * Linear(),
        lambda a, b: oracles.gaussian(a, b, 1.0) + 0.5 * (a @ b),
    ),
    "product": (
        Gaussian(2.0) * Polynomial(1.0, degree=1),
        lambda a, b: oracles.gaussian(a, b, 2.0) * (a @ b + 1),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_agrees_with_the_pairwise_sum(name):
    kernel, literal = KERNELS[name]
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 3))
    X[7] = X[3]
    queries = np.vstack([rng.normal(size=(6, 3)), X[2:5], [[30.0, 0, 0]]])
    expected = [oracles.kernel_spatial_depth(x, X, literal) for x in queries]
    depths = exact(kernel=kernel).fit(X).score_samples(queries)
    np.testing.assert_allclose(depths, expected, rtol=0, atol=1e-9)


def test_a_custom_kernel_needs_one_method_only():
    class Cosine(Kernel):
        def __call__(self, X, Y):
            return (X @ Y.T) / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    model = exact(kernel=Cosine()).fit(X)
    expected = [
        oracles.kernel_spatial_depth(x, X, lambda a, b: a @ b / np.sqrt((a @ a) * (b @ b)))
        for x in X[:5]
    ]
    np.testing.assert_allclose(model.score_samples(X[:5]), expected, atol=1e-7)
    assert model.bandwidth_ is None


def test_linear_kernel_is_the_plain_spatial_depth():
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(80, 5)) + 1e4, rng.normal(size=(20, 5)) + 1e4
    plain = SpatialDepth().fit(X).score_samples(Q)
    np.testing.assert_allclose(exact(kernel="linear").fit(X).score_samples(Q), plain, atol=1e-9)
    np.testing.assert_allclose(plain, [oracles.spatial_depth(x, X) for x in Q], atol=1e-12)


def test_same_depths_whatever_the_blocks_threads_and_row_order():
    rng = np.random.default_rng(2)
    X, Q = rng.normal(size=(1100, 4)), rng.normal(size=(70, 4))
    whole = exact().fit(X).score_samples(Q)
    with sklearn.config_context(working_memory=1), threadpool_limits(1):
        assert len(row_blocks(len(Q), len(X), share=0.5)) > 1
        blocked = exact().fit(X).score_samples(Q)
    shuffled = exact().fit(rng.permutation(X)).score_samples(Q)
    np.testing.assert_allclose(blocked, whole, rtol=0, atol=1e-12)
    np.testing.assert_allclose(shuffled, whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", ["cloud", "clusters"])
@pytest.mark.parametrize("bandwidth", ["nearest", "median"])
def test_low_rank_engine_keeps_its_promise(shape, bandwidth):
    rng = np.random.default_rng(4)
    X, Q = rng.normal(size=(2, 2500, 6))
    if shape == "clusters":
        X, Q = X + 9 * (np.arange(2500) % 5)[:, None], Q + 9 * (np.arange(2500) % 5)[:, None]
    Q = np.vstack([Q[:300], X[:100], X[:5] + 1e-9])  # near duplicates have huge weights
    reference = exact(bandwidth=bandwidth).fit(X)
    fast = KernelSpatialDepth(bandwidth=bandwidth, engine="low-rank", random_state=0).fit(X)
    depths = reference.score_samples(Q)
    spread = np.subtract(*np.quantile(depths, [0.95, 0.05]))
    assert fast.engine_ == "low-rank"
    assert fast._plan.gram.rank < len(X) / 8
    error = np.abs(fast.score_samples(Q) - depths).max()
    assert 0 < error <= 1.2e-3 * spread  # the spread is known from a sample
    assert abs(fast.offset_ - reference.offset_) <= 1.2e-3 * spread


@pytest.mark.parametrize(("kernel", "bandwidth"), [("gaussian", "nearest"), ("matern", 0.01)])
def test_sparse_engine_keeps_its_promise(kernel, bandwidth):
    rng = np.random.default_rng(4)
    X, Q = rng.normal(size=(2, 2500, 2))
    Q = np.vstack([Q[:300], X[:100], X[:5] + 1e-9, [[1e9, 0]]])
    fast = KernelSpatialDepth(kernel=kernel, bandwidth=bandwidth, random_state=0).fit(X)
    reference = exact(kernel=kernel, bandwidth=bandwidth).fit(X)
    depths = reference.score_samples(Q)
    spread = np.subtract(*np.quantile(depths, [0.95, 0.05]))
    assert fast.engine_ == "sparse"
    assert np.abs(fast.score_samples(Q) - depths).max() <= 1.2e-3 * spread
    assert abs(fast.offset_ - reference.offset_) <= 1.2e-3 * spread


def test_auto_falls_back_to_exact_where_no_small_rank_will_do():
    X = np.random.default_rng(0).normal(size=(4100, 9))
    loose = KernelSpatialDepth(bandwidth=6.0, random_state=0).fit(X)
    strict = KernelSpatialDepth(bandwidth=1.5, tolerance=1e-9, random_state=0).fit(X)
    assert (loose.engine_, strict.engine_) == ("low-rank", "exact")


@pytest.mark.parametrize("model", [SpatialDepth(), KernelSpatialDepth()], ids=["plain", "kernel"])
class TestOddTables:
    def test_one_row_is_its_own_median(self, model):
        model.fit([[1.0, 2.0]])
        near, far = model.score_samples([[1.0, 2.0], [5.0, 2.0]])
        assert near == 1.0
        assert -1e-9 < far <= 0.0

    def test_rows_all_alike(self, model):
        model.fit(np.ones((9, 3)))
        same, other = model.score_samples([[1.0, 1, 1], [2.0, 1, 1]])
        assert same == 1.0
        assert -1e-9 < other <= 0.0

    def test_constant_columns_change_nothing(self, model):
        X = np.random.default_rng(0).normal(size=(50, 2))
        wide = np.c_[X, np.full(50, 7e5)]
        np.testing.assert_allclose(
            model.fit(wide).score_samples(wide), model.fit(X).score_samples(X), atol=1e-12
        )

    @pytest.mark.parametrize(
        "disguise",
        [
            lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
            np.asfortranarray,
            lambda X: X.tolist(),
            lambda X: np.require(X, requirements="C").view(),
        ],
        ids=["frame", "fortran", "lists", "view"],
    )
    def test_disguises(self, model, disguise):
        X = np.random.default_rng(0).normal(size=(40, 3))
        expected = model.fit(X).score_samples(X)
        np.testing.assert_array_equal(model.fit(disguise(X)).score_samples(disguise(X)), expected)

    def test_float32_and_read_only(self, model):
        X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
        X.setflags(write=False)
        expected = model.fit(X.astype(np.float64)).score_samples(X.astype(np.float64))
        np.testing.assert_array_equal(model.fit(X).score_samples(X), expected)

    def test_the_callers_array_is_left_alone(self, model):
        X = np.random.default_rng(0).normal(size=(40, 3))
        model.fit(X)
        before = model.score_samples(X[:3])
        X[:] = 0
        assert not np.array_equal(model.reference_, X)
        np.testing.assert_array_equal(
            model.score_samples(np.random.default_rng(0).normal(size=(40, 3))[:3]), before
        )

    def test_sums_of_large_numbers_do_not_overflow(self, model):
        X = np.abs(np.random.default_rng(0).normal(size=(40, 3)))
        depths = model.fit(X).score_samples(X)
        huge = np.ldexp(X, 1020)
        with np.errstate(all="raise"):
            np.testing.assert_allclose(model.fit(huge).score_samples(huge), depths, atol=1e-12)

    def test_far_away_is_not_deep(self, model):
        X = np.random.default_rng(0).normal(size=(40, 3))
        far = model.fit(X).score_samples([[1e200, -1e200, 0.0], [1e308, 1e308, 1e308]])
        near = model.score_samples(np.random.default_rng(1).normal(size=(40, 3)))
        assert np.all(far <= near.min() + 1e-12)


def test_contamination_is_the_fraction_of_known_rows_called_novel():
    X = np.random.default_rng(0).normal(size=(400, 2))
    for contamination, fraction in [("auto", 0.05), (0.2, 0.2)]:
        model = KernelSpatialDepth(contamination=contamination)
        flags = model.fit_predict(X)
        assert np.mean(flags == -1) == pytest.approx(fraction, abs=0.0026)
        np.testing.assert_array_equal(flags, model.predict(X))


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements=st.sampled_from([0.0, 1.0, -1.0, 2.5, 1e-9, 3.0]),
    ),
    st.integers(-500, 500),
)
@settings(max_examples=150, deadline=None)
def test_small_tables_full_of_duplicates_at_any_scale(X, exponent):
    X = np.ldexp(X, exponent)
    for model, depth in [
        (SpatialDepth(), oracles.spatial_depth),
        (exact(), None),
    ]:
        depths = model.fit(X).score_samples(X)
        assert np.isfinite(depths).all()
        assert (depths >= 0).all()
        assert (depths <= 1).all()
        if depth is not None:
            literal = [depth(x, np.ldexp(X, -exponent)) for x in np.ldexp(X, -exponent)]
            np.testing.assert_allclose(depths, literal, atol=1e-9)

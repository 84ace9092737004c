"""RKOF against the literal formula, the reference vectors, and what its interface promises."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova import (
    LocalDensityFactor,
    LocalPeculiarityFactor,
    RobustKernelOutlierFactor,
    outlier_factor_path,
)
from kernova import parallel as blocks
from kernova.neighbors import neighborhoods
from tests import oracles
from tests.anomaly import messages

RANDOM = np.random.default_rng(9)
CLOUD = np.vstack([RANDOM.normal(size=(120, 3)), [[8.0, 8, 8], [9.0, 8, 8], [-20.0, 0, 0]]])

REFERENCES = {
    "volcano": {},
    "gaussian": {"kernel": "gaussian"},
    "volcano_s01": {"sigma": 0.1},
    "volcano_g1_a05": {"gamma": 1.0, "alpha": 0.5},
    "grid_volcano": {},
}


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute", "approximate"])
@pytest.mark.parametrize("name", REFERENCES)
def test_reference_vectors_in_any_row_order(reference_vectors, name, algorithm):
    stored = reference_vectors("ref_rkof.npz")
    X = stored["G" if name.startswith("grid") else "X"]
    orders = [np.arange(len(X)), np.arange(len(X))[::-1], RANDOM.permutation(len(X))]
    for k in (4, 8) if name.startswith("grid") else (5, 15, 40):
        model = RobustKernelOutlierFactor(k, algorithm=algorithm, **REFERENCES[name])
        for order in orders:
            factors = -model.fit(X[order]).negative_outlier_factor_
            np.testing.assert_allclose(factors, stored[f"{name}_k{k}"][order], rtol=1e-9)


def triangle(u):
    """A custom kernel, for arrays and for numbers."""
    return np.maximum(1.2 - u / 3, 0.01)


LITERAL = {
    "volcano": oracles.volcano,
    "gaussian": oracles.gaussian_profile,
    "epanechnikov": oracles.epanechnikov,
    triangle: triangle,
}
GRIDS = arrays(
    np.float64, st.tuples(st.integers(1, 22), st.integers(1, 3)), elements=st.integers(0, 4)
)
PARAMETERS = st.fixed_dictionaries(
    {
        "kernel": st.sampled_from(list(LITERAL)),
        "alpha": st.sampled_from([1.0, 0.5, 2.0, 0.0]),
        "gamma": st.sampled_from([2.0, 1.0, 0.0, 4.5, "dimension"]),
        "scale": st.sampled_from([1.0, 0.4, 2.5]),
        "sigma": st.sampled_from([1.0, 0.1, np.inf]),
    }
)


def literal_factors(X, k, parameters, **rest):
    given = dict(parameters)
    kernel = LITERAL[given.pop("kernel")]
    if given["gamma"] == "dimension":
        given["gamma"] = X.shape[1]
    return oracles.outlier_factors(X, min(k, max(1, len(X) - 1)), kernel, **given, **rest)


def assert_agree(scores, expected):
    """Where the kernel leaves a density at zero, the formula has no value, and ours is finite.

    Far away, a term of the literal sum may be below all numbers, where its weight would lift it.
    """
    assert np.isfinite(scores).all()
    is_defined = np.abs(expected) < 1e200
    np.testing.assert_allclose(-scores[is_defined], expected[is_defined], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*(neighbours were asked for|or more duplicates)")
@given(GRIDS, st.integers(1, 24), PARAMETERS, st.sampled_from([1.0, 0.1, 1e-6]))
@settings(max_examples=250, deadline=None)
def test_fast_is_the_literal_formula_for_known_rows_and_others(X, k, parameters, step):
    X = X * step
    assume((X[0] != X).any() or len(X) < 3)
    model = RobustKernelOutlierFactor(k, novelty=True, **parameters).fit(X)
    assert_agree(model.negative_outlier_factor_, literal_factors(X, k, parameters))
    if (X[0] == X).all():
        return  # then the formula has no width for other rows; see below
    queries = np.vstack([X[:3], X[:2] + 0.5 * step, X[:1] + 3 * step])
    expected = literal_factors(X, k, parameters, queries=queries.tolist())
    assert_agree(model.score_samples(queries), expected)
    places = np.arange(len(queries))[::-1] % len(X)
    expected = literal_factors(X, k, parameters, queries=queries.tolist(), places=places.tolist())
    assert_agree(model.score_replaced(queries, places), expected)


@pytest.mark.parametrize("novelty", [False, True])
@pytest.mark.parametrize("n_neighbors", [1, 6, [3, 9, 20], 500])
@pytest.mark.parametrize(
    "detector", [RobustKernelOutlierFactor, LocalDensityFactor, LocalPeculiarityFactor]
)
@pytest.mark.filterwarnings("ignore:.*(neighbours were asked for|or more duplicates)")
def test_a_row_replaced_by_itself_has_its_own_score(detector, n_neighbors, novelty):
    X = np.vstack([CLOUD, CLOUD[:30], [[0.0, 0, 0]] * 9])
    model = detector(n_neighbors, novelty=novelty).fit(X)
    numbers = RANDOM.permutation(len(X))[:50]
    np.testing.assert_array_equal(
        model.score_replaced(X[numbers], numbers), model.negative_outlier_factor_[numbers]
    )


@pytest.mark.parametrize("X", [CLOUD, np.vstack([CLOUD, CLOUD[:40], CLOUD[:40]]), np.eye(50)])
@pytest.mark.parametrize("parameters", [{}, {"kernel": "gaussian", "sigma": 0.1, "alpha": 0.7}])
@pytest.mark.filterwarnings("ignore:.*or more duplicates")
def test_the_path_is_the_separate_fits(X, parameters):
    path = outlier_factor_path(X, [30, 2, 9, 2], **parameters)
    assert list(path.columns) == [2, 9, 30]
    assert path.columns.name == "n_neighbors"
    for k in path:
        alone = RobustKernelOutlierFactor(k, **parameters).fit(X).negative_outlier_factor_
        np.testing.assert_allclose(path[k], -alone, rtol=1e-12)
    together = RobustKernelOutlierFactor([30, 2, 9, 2], novelty=True, **parameters).fit(X)
    mean = np.exp(np.log(path).mean(axis=1))
    np.testing.assert_allclose(-together.negative_outlier_factor_, mean, rtol=1e-12)
    assert together.n_neighbors_.tolist() == [30, 2, 9, 2]
    apart = [
        RobustKernelOutlierFactor(k, novelty=True, **parameters).fit(X).score_samples(X[:9] + 0.1)
        for k in path
    ]
    mean = np.exp(np.log(-np.array(apart)).mean(axis=0))
    np.testing.assert_allclose(-together.score_samples(X[:9] + 0.1), mean, rtol=1e-12)


def test_the_path_keeps_the_rows_names_and_counts_too_many_neighbours_as_all():
    frame = pd.DataFrame(CLOUD, index=[f"fish {i}" for i in range(len(CLOUD))])
    path = outlier_factor_path(frame, [5, 122, 4000])
    assert list(path.index) == list(frame.index)
    assert list(path.columns) == [5, 122, 4000]
    np.testing.assert_array_equal(path[4000], path[122])


def test_duplicate_rows_are_not_outliers_and_hide_none():
    X = np.vstack([np.tile([[0.0, 0.0]], (60, 1)), RANDOM.normal(size=(80, 2)), [[9.0, 9.0]]])
    with pytest.warns(UserWarning, match="Factor: ") as caught:
        flags = RobustKernelOutlierFactor(20).fit_predict(X)
    expected = messages.duplicates("RobustKernelOutlierFactor", 60, 141, 20)
    assert [str(warning.message) for warning in caught] == [expected]
    assert (flags[:60] == 1).all()
    assert flags[-1] == -1


def test_too_many_neighbours_and_duplicates_make_one_warning():
    with pytest.warns(UserWarning, match="Factor: ") as caught:
        LocalDensityFactor(30).fit([[1.0], [1.0], [1.0]])
    assert [str(warning.message) for warning in caught] == [messages.MANY_AND_DUPLICATES]
    with pytest.warns(UserWarning, match="Factor: ") as caught:
        LocalPeculiarityFactor([2, 9]).fit([[4.0]])
    assert [str(warning.message) for warning in caught] == [messages.NO_OTHER_ROW]
    with pytest.warns(UserWarning, match="Factor: ") as caught:
        RobustKernelOutlierFactor([2, 5]).fit([[1.0], [1.0], [1.0], [2.0], [4.0], [7.0], [9.0]])
    expected = messages.duplicates("RobustKernelOutlierFactor", 3, 7, 2)
    assert [str(warning.message) for warning in caught] == [expected]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LocalPeculiarityFactor(1).fit([[1.0], [1.0]])  # needs no width
        RobustKernelOutlierFactor(2).fit([[1.0], [1.0], [2.0]])
        RobustKernelOutlierFactor(1).fit([[1.0]])


@pytest.mark.filterwarnings("ignore:.*or more duplicates")
@pytest.mark.parametrize("n_rows", [1, 2, 3, 30])
def test_equal_rows_are_inliers_and_others_are_not(n_rows):
    model = RobustKernelOutlierFactor(1, novelty=True).fit(np.full((n_rows, 2), 7e5))
    np.testing.assert_allclose(model.negative_outlier_factor_, -1, rtol=1e-12)
    same, near, far = model.score_samples([[7e5, 7e5], [7e5, 7e5 + 1], [0.0, 0.0]])
    assert same == pytest.approx(-1, rel=1e-12)
    assert same > near > far


@pytest.mark.filterwarnings("ignore:.*or more duplicates")
def test_among_duplicates_only_the_smallest_distance_of_distinct_rows_is_the_width():
    X, queries = np.repeat([[0.0], [1.0], [6.0]], 4, axis=0), np.array([[0.4], [3.0], [7.0]])
    model = RobustKernelOutlierFactor(2, novelty=True).fit(X)
    expected = oracles.outlier_factors(X, 2, queries=queries.tolist())
    np.testing.assert_allclose(-model.score_samples(queries), expected, rtol=1e-9)


def test_rows_beyond_every_kernel_are_in_order_of_distance():
    X = np.r_[np.arange(20.0), 60, 200, 700][:, None]
    model = RobustKernelOutlierFactor(4, kernel="epanechnikov", novelty=True).fit(X)
    factors = -model.negative_outlier_factor_
    assert factors[:20].max() < factors[20] < factors[21] < factors[22] < np.inf
    scores = model.score_samples([[50.0], [-50.0], [-90.0], [-1e9], [-1e250]])
    assert (np.diff(scores[1:]) < 0).all()
    for kernel in ("volcano", "gaussian"):
        far = RobustKernelOutlierFactor(4, kernel=kernel, novelty=True).fit(X[:20])
        assert (np.diff(far.score_samples([[60.0], [1e3], [1e6], [1e50], [1e100]])) < 0).all()


def test_the_smallest_groups_of_outliers_are_found_once_k_exceeds_their_size():
    flags = RobustKernelOutlierFactor(10).fit_predict(CLOUD)
    assert (flags[-3:] == -1).all()
    assert np.mean(flags == -1) < 0.25


# The same bits whatever the blocks, the threads and the memory's layout


@pytest.mark.filterwarnings("ignore:.*or more duplicates")
def test_threads_blocks_and_layout_change_no_bit(monkeypatch):
    X = np.vstack([RANDOM.normal(size=(900, 3)), RANDOM.integers(0, 4, size=(300, 3))])
    first = RobustKernelOutlierFactor([5, 12], algorithm="kd_tree", novelty=True).fit(X)
    expected, new = first.negative_outlier_factor_, first.score_samples(X[:50] * 1.1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for parameters, table in [
        ({"algorithm": "kd_tree", "n_jobs": 2}, X),
        ({"algorithm": "kd_tree", "n_jobs": -1}, np.asfortranarray(X)),
        ({"algorithm": "brute"}, frame),
        ({"algorithm": "auto"}, X.tolist()),
    ]:
        for working_memory in (1024, 0.01):
            with (
                monkeypatch.context() as patch,
                sklearn.config_context(working_memory=working_memory),
            ):
                if working_memory < 1:
                    for budget in ("_BLOCK_CANDIDATES", "_BLOCK_QUERIES", "_MANY_CANDIDATES"):
                        patch.setattr(neighborhoods, budget, 1)
                    patch.setattr(blocks, "_CACHED_NUMBERS", 1000)
                model = RobustKernelOutlierFactor([5, 12], novelty=True, **parameters).fit(table)
                np.testing.assert_array_equal(model.negative_outlier_factor_, expected)
                queries = frame[:50] * 1.1 if table is frame else X[:50] * 1.1
                np.testing.assert_array_equal(model.score_samples(queries), new)


# Thresholds


def test_auto_is_as_lof_has_it_for_the_volcano_and_a_fence_for_others():
    assert RobustKernelOutlierFactor(10).fit(CLOUD).offset_ == -1.5
    assert RobustKernelOutlierFactor([5, 10]).fit(CLOUD).offset_ == -1.5
    for model in (
        RobustKernelOutlierFactor(10, kernel="gaussian"),
        RobustKernelOutlierFactor(10, kernel=triangle),
        LocalDensityFactor(10),
    ):
        model.fit(CLOUD)
        factors = -model.negative_outlier_factor_
        # LDF's fence is that of the ratio of densities, m / lde.
        logs = np.log(
            factors if not isinstance(model, LocalDensityFactor) else 1 / (1 / factors - 0.1)
        )
        lower, upper = np.quantile(logs, [0.25, 0.75])
        fence = np.exp(upper + 1.5 * (upper - lower))
        if isinstance(model, LocalDensityFactor):
            fence = 1 / (1 / fence + 0.1)
        assert -model.offset_ == pytest.approx(fence, rel=1e-8)
    peculiarity = LocalPeculiarityFactor(10).fit(CLOUD)
    lower, upper = np.quantile(-peculiarity.negative_outlier_factor_, [0.25, 0.75])
    assert -peculiarity.offset_ == pytest.approx(upper + 1.5 * (upper - lower), rel=1e-12)


def test_rows_alike_but_for_rounding_are_within_the_fence():
    angles = np.arange(101) * 2 * np.pi / 101
    circle = 0.3 + 0.1 * np.c_[np.cos(angles), np.sin(angles)]
    assert (RobustKernelOutlierFactor(3, kernel="gaussian").fit_predict(circle) == 1).all()


@pytest.mark.parametrize(
    "detector", [RobustKernelOutlierFactor, LocalDensityFactor, LocalPeculiarityFactor]
)
@pytest.mark.parametrize("contamination", ["auto", 0.1, 0.5, np.float32(0.25)])
def test_predictions_follow_the_scores(detector, contamination):
    model = detector(10, contamination=contamination)
    flags = model.fit_predict(CLOUD)
    assert set(flags) == {-1, 1}
    np.testing.assert_array_equal(
        flags, np.where(model.negative_outlier_factor_ < model.offset_, -1, 1)
    )
    if contamination != "auto":
        assert np.mean(flags == -1) == pytest.approx(float(contamination), abs=1 / len(CLOUD))
    other = detector(10, contamination=contamination, novelty=True).fit(CLOUD)
    np.testing.assert_array_equal(other.negative_outlier_factor_, model.negative_outlier_factor_)
    assert other.offset_ == model.offset_
    new = np.vstack([CLOUD + 0.05, CLOUD * 3])
    decisions = other.decision_function(new)
    np.testing.assert_array_equal(decisions, other.score_samples(new) - other.offset_)
    np.testing.assert_array_equal(other.predict(new), np.where(decisions < 0, -1, 1))
    assert set(other.predict(new)) == {-1, 1}

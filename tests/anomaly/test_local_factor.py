"""Random tables with duplicates, ties, tiny and huge numbers: factors are finite and invariant.

The effect of rounding is stated with each claim. Multiplying by a power of two is exact, so factors
keep their bits. Any other constant, or a shift, moves a coordinate by half its last digit; rows
here are at least 1/1000 of the largest number apart if they differ, so distances move by 1e-12
of themselves at most: ties stay ties, and factors agree to 1e-9.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova import LocalDensityFactor, LocalPeculiarityFactor, RobustKernelOutlierFactor

pytestmark = pytest.mark.filterwarnings("ignore:.*(neighbours were asked for|or more duplicates)")

NUMBERS = st.one_of(
    st.integers(1, 16), st.lists(st.integers(1, 16), min_size=1, max_size=3), st.just(10**6)
)
DETECTORS = st.one_of(
    st.builds(
        RobustKernelOutlierFactor,
        NUMBERS,
        kernel=st.sampled_from(["volcano", "gaussian", "epanechnikov"]),
        gamma=st.sampled_from([0.0, 1.0, 2.0, "dimension", 30.0]),
        scale=st.sampled_from([0.5, 1.0, 3.0]),
        sigma=st.sampled_from([0.1, 1.0, np.inf]),
    ),
    st.builds(LocalDensityFactor, NUMBERS, bandwidth=st.sampled_from([0.5, 1.0, 2.0])),
    st.builds(LocalPeculiarityFactor, NUMBERS, alpha=st.sampled_from([0.5, 1.0, 2.0])),
)
SHAPES = st.tuples(st.one_of(st.integers(1, 3), st.integers(4, 20)), st.integers(1, 3))
# Whole numbers a few steps apart are full of duplicates, ties and constant columns.
GRIDS = arrays(np.float64, SHAPES, elements=st.integers(-4, 4))
WILD = arrays(
    np.float64,
    SHAPES,
    elements=st.sampled_from(
        [0.0, -0.0, 1.0, -1.0, 3.0, 1e-9, 1 + 2**-52, 1e-150, 3e-150, -1e150, 2e150, 5e-324, 1e308]
    ),
)
QUERIES = st.sampled_from([0.0, 1.0, -7.5, 1e-300, 1e15, -1e200, 1e300, 1.7e308])


def scores(detector, X):
    found = detector.fit(X).negative_outlier_factor_
    assert np.isfinite(found).all()
    assert (found <= 0).all()
    assert np.isfinite(detector.offset_)
    return found


def with_settings(detector, **parameters):
    return type(detector)(**{**detector.get_params(), **parameters})


def assert_engines_agree_to_the_last_bit(detector, X):
    by_tree = scores(with_settings(detector, algorithm="kd_tree"), X)
    by_products = scores(with_settings(detector, algorithm="brute"), X)
    np.testing.assert_array_equal(by_tree, by_products)
    return by_tree


def assert_new_rows_are_finite(detector, X, queries):
    model = with_settings(detector, novelty=True).fit(X)
    for rows in (X, queries):
        found = model.score_samples(rows)
        assert np.isfinite(found).all()
        assert set(model.predict(rows)) <= {-1, 1}
        replaced = model.score_replaced(rows, np.arange(len(rows)) % len(X))
        assert np.isfinite(replaced).all()


@st.composite
def problems(draw):
    X = draw(GRIDS)
    return {
        "detector": draw(DETECTORS),
        "X": X,
        "order": draw(st.permutations(range(len(X)))),
        "exponent": draw(st.integers(-500, 500)),  # 1e-150 .. 1e150
        "constant": draw(st.sampled_from([0.1, 3.0, 1 / 3, 7e-140, 1.1e140])),
        "shift": draw(st.sampled_from([1.0, -3.0, 1000.0])),
        "queries": draw(arrays(np.float64, (3, X.shape[1]), elements=QUERIES)),
        "dtype": draw(st.sampled_from([np.float64, np.float32])),
    }


def check_grid(problem):
    X, detector = problem["X"], problem["detector"]
    first = assert_engines_agree_to_the_last_bit(detector, X)
    assert_new_rows_are_finite(detector, X, problem["queries"])
    converted = X.astype(problem["dtype"])
    converted.setflags(write=False)
    np.testing.assert_array_equal(scores(detector, converted), first)
    order = np.array(problem["order"])
    np.testing.assert_allclose(scores(detector, X[order]), first[order], rtol=1e-9)
    np.testing.assert_allclose(scores(detector, X + problem["shift"]), first, rtol=1e-9)

    doubled = scores(detector, np.ldexp(X, problem["exponent"]))
    multiplied = scores(detector, X * problem["constant"])
    if isinstance(detector, LocalPeculiarityFactor):  # a sum of differences to a power
        log_constant = detector.alpha * np.log(problem["constant"])
        log_power = detector.alpha * problem["exponent"] * np.log(2)
        assert_multiplied(first, multiplied, log_constant)
        assert_multiplied(first, doubled, log_power)
    else:
        np.testing.assert_array_equal(doubled, first)
        np.testing.assert_allclose(multiplied, first, rtol=1e-9)


def assert_multiplied(before, after, log_constant):
    """Where neither is beyond e^600: there, factors are only in order."""
    logs = np.log(np.where(before < 0, -before, 1.0))
    is_plain = (before < 0) & (np.abs(logs) < 600) & (np.abs(logs + log_constant) < 600)
    np.testing.assert_allclose(
        np.log(-after[is_plain]), logs[is_plain] + log_constant, rtol=0, atol=1e-9
    )
    np.testing.assert_array_equal(after == 0, before == 0)


def check_wild(detector, X, queries, random):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        first = assert_engines_agree_to_the_last_bit(detector, X)
        assert_new_rows_are_finite(detector, X, queries[:, : X.shape[1]])
    order = random.permutation(len(X))
    np.testing.assert_allclose(scores(detector, X[order]), first[order], rtol=1e-9)


def run(check, n_problems, *strategies):
    settings(
        max_examples=n_problems,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )(given(*strategies)(check))()


@pytest.mark.soak
def test_grids_with_duplicates_and_ties(long_bar):
    run(check_grid, long_bar(1500), problems())


@pytest.mark.soak
def test_numbers_of_all_sizes_at_once(long_bar):
    queries = arrays(np.float64, (3, 3), elements=QUERIES)
    random = st.builds(np.random.RandomState, st.integers(0, 99))
    run(check_wild, long_bar(500), DETECTORS, WILD, queries, random)


@pytest.mark.parametrize(
    "extreme",
    [
        {"gamma": 1e308},
        {"alpha": 1e308},
        {"alpha": 1e308, "gamma": 1e308},
        {"alpha": 1e308, "gamma": 0.0},
        {"sigma": 1e-300},
        {"sigma": 1e300},
        {"scale": 1e-300, "kernel": "gaussian"},
        {"scale": 1e300, "kernel": "epanechnikov"},
        {"n_neighbors": 10**30},
    ],
    ids=str,
)
def test_any_parameters_give_finite_factors(extreme):
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)), [[50.0, 50.0]]])
    for table in (X, np.ldexp(X, 500), np.ldexp(X, -500)):
        detector = RobustKernelOutlierFactor(**{"n_neighbors": 4, **extreme})
        assert_new_rows_are_finite(detector, table, np.array([[1e300, 0.0], [1e-300, 0.0]]))
        scores(detector, table)

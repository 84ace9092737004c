"""Random baseline: exact for known sizes, close for estimated ones."""

from fractions import Fraction
from itertools import chain
from math import comb

import numpy as np
import pandas as pd
import pytest
from benchmarks.curves_and_stops import corrected, curve_points, runs
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.discover.random_baseline import (
    CORRECTIONS,
    Corrections,
    estimated_sizes,
    expected_by_random_sampling,
    random_baseline,
)
from kernova.discover.strategies import DEFAULT_STRATEGY
from kernova.errors import InputError
from kernova.proving.problems import problem_names
from tests.discover import messages
from tests.oracles.random_baseline import corrected_curve, factor_at, sizes_by_ranks


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.data())
def test_the_expectation_is_exact(sizes, data):
    n_rows = sum(sizes)
    drawn = data.draw(st.integers(0, n_rows))
    exact = sum(1 - Fraction(comb(n_rows - size, drawn), comb(n_rows, drawn)) for size in sizes)
    assert expected_by_random_sampling(sizes, n_rows, [drawn])[0] == pytest.approx(
        float(exact), abs=1e-12
    )


@pytest.mark.parametrize("drawn", [1, 200, 50_000, 99_000, 99_999, 100_000])
def test_the_expectation_is_precise_for_large_tables(drawn):
    n_rows, sizes = 100_000, [1, 7, 120, 99_872]
    exact = sum(1 - Fraction(comb(n_rows - size, drawn), comb(n_rows, drawn)) for size in sizes)
    assert expected_by_random_sampling(sizes, n_rows, [drawn])[0] == pytest.approx(
        float(exact), abs=1e-8
    )


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(0, 50), min_size=1, max_size=5))
def test_fractional_sizes_give_rising_curves(sizes):
    n_rows = int(np.ceil(sum(sizes))) + 1
    curve = expected_by_random_sampling(sizes, n_rows, np.arange(n_rows + 1))
    assert (np.diff(curve) >= -1e-9).all()
    assert curve[0] == pytest.approx(0, abs=1e-9)
    assert curve[-1] == sum(size > 0 for size in sizes)


def test_random_samples_contain_as_many_categories_as_expected():
    rng = np.random.default_rng(0)
    labels = np.repeat(list("abcd"), [60, 25, 10, 5])
    n_met = [len(set(labels[rng.permutation(100)[:12]])) for _ in range(4000)]
    assert np.mean(n_met) == pytest.approx(
        expected_by_random_sampling([60, 25, 10, 5], 100, [12])[0], abs=0.05
    )


@pytest.mark.parametrize(
    ("sizes", "questions", "sentence"),
    [
        (
            [3, 11],
            [1],
            messages.BAD_SIZES,
        ),
        ([3], [1, 11], messages.BAD_SAMPLE_SIZE),
    ],
)
def test_bad_sizes_are_rejected(sizes, questions, sentence):
    with pytest.raises(InputError) as error:
        expected_by_random_sampling(sizes, 10, questions)
    assert str(error.value) == sentence


def labelled(labels, rows):
    given_labels = np.full(len(labels), None, dtype=object)
    given_labels[rows] = labels[rows]
    return given_labels


@st.composite
def labelled_rows(draw):
    """Draw rows of a normal distribution, no two alike, and labels of some of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(st.lists(st.sampled_from(["a", "b", "c", None, None]), min_size=2, max_size=60))
    return rng.normal(size=(len(labels), draw(st.integers(1, 4)))), labels


@settings(max_examples=80, deadline=None)
@given(labelled_rows())
def test_sizes_are_those_of_the_literal_sum(rows):
    Z, labels = rows
    sizes, literal = estimated_sizes(Z, labels), sizes_by_ranks(Z, labels)
    assert list(sizes) == list(literal)
    assert sizes == pytest.approx(literal)


def test_sizes_add_up_to_all_rows():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(500, 3))
    sizes = estimated_sizes(Z, labelled(np.repeat(["a", "b"], 250), [3, 4, 300]))
    assert sum(sizes.values()) == pytest.approx(500)
    assert list(sizes) == ["a", "b"]


def test_nothing_labelled_and_everything_labelled():
    Z = np.zeros((3, 2))
    assert estimated_sizes(Z, [None, None, None]) == {}
    assert estimated_sizes(Z, ["a", "b", "b"]) == {"a": 1, "b": 2}
    for curve in random_baseline(Z, [None, None, None], 0):
        assert curve.tolist() == []
    for curve in random_baseline(Z, [None, None, None], 2):
        assert curve.tolist() == [0, 0]


def test_duplicates_and_huge_numbers():
    Z = np.array([[0.0], [0.0], [1e300], [1e300]])
    sizes = estimated_sizes(Z, ["a", None, "b", None])
    nearest = 1 + 1 / (1 + 1 / 4)  # its own row, and most of the copy
    assert sizes == pytest.approx({"a": nearest + 1 - 0.8, "b": nearest + 1 - 0.8})


def test_a_sample_of_many_rows_gives_nearly_the_same():
    rng = np.random.default_rng(2)
    Z = np.concatenate([rng.normal(size=(60_000, 2)), rng.normal(9, 1, size=(6_000, 2))])
    labels = np.repeat(["a", "b"], [60_000, 6_000])
    sizes = estimated_sizes(Z, labelled(labels, np.arange(0, 66_000, 200)))
    assert sizes["b"] == pytest.approx(6_000, rel=0.2)


# --- the curve and its band ------------------------------------------------------------------

FACTORS = Corrections(labelled=(2, 20), middle=(1.4, 0.9), low=(0.7, 0.8), high=(3.0, 1.2))


@settings(max_examples=40, deadline=None)
@given(labelled_rows())
def test_the_curve_and_its_band_are_those_of_the_literal_formula(rows):
    Z, labels = rows
    if not set(labels) - {None}:
        return
    band = random_baseline(Z, labels, len(Z), corrections=FACTORS)
    for curve, factors in zip(band, (FACTORS.middle, FACTORS.low, FACTORS.high), strict=True):
        literal = corrected_curve(Z, labels, len(Z), FACTORS.labelled, factors)
        assert curve.tolist() == pytest.approx(literal)


@given(st.integers(1, 1000))
def test_factors_are_interpolated_between_logarithms(n_labelled):
    literal = [
        factor_at(n_labelled, CORRECTIONS.labelled, of)
        for of in (CORRECTIONS.low, CORRECTIONS.middle, CORRECTIONS.high)
    ]
    assert CORRECTIONS.at(n_labelled).tolist() == pytest.approx(literal)
    assert literal == sorted(literal)


@settings(max_examples=40, deadline=None)
@given(labelled_rows())
def test_a_band_rises_around_the_curve_and_meets_no_more_than_asked(rows):
    Z, labels = rows
    expected, low, high = random_baseline(Z, labels, len(Z))
    assert (low <= expected + 1e-12).all()
    assert (expected <= high + 1e-12).all()
    for curve in (expected, low, high):
        assert (np.diff(curve) >= -1e-9).all()
        assert (curve <= np.arange(1, len(Z) + 1)).all()


def test_the_curve_is_exact_where_all_rows_are_labelled():
    Z = np.random.default_rng(4).normal(size=(10, 2))
    exact = expected_by_random_sampling([8, 2], 10, np.arange(1, 11))
    for curve in random_baseline(Z, ["a"] * 8 + ["b"] * 2, 10):
        assert curve == pytest.approx(exact)


def test_prior_categories_count_from_the_beginning():
    Z = np.array([[0.0], [0.1], [5.0], [5.1], [5.2], [9.0]])
    labels = ["a", None, "b", None, None, "c"]
    for curve in random_baseline(Z, labels, 3, prior_rows=[0]):
        assert 1 < curve[0] < 2
        assert (np.diff(curve) > 0).all()
    whole = Corrections((1,), (1.0,), (1.0,), (1.0,))
    assert random_baseline(Z, labels, 5, prior_rows=[0], corrections=whole).expected[-1] == 3


def test_the_curve_is_close_without_correction_where_categories_are_apart():
    rng = np.random.default_rng(3)
    sizes = [600, 250, 100, 40, 10]
    truth = np.repeat(list("abcde"), sizes)
    centres = rng.normal(scale=4, size=(5, 4))[np.repeat(range(5), sizes)]
    Z = rng.normal(size=(1000, 4)) + centres
    asked = [*rng.permutation(1000)[:60], *range(995, 1000)]
    plain = Corrections((1,), (1.0,), (1.0,), (1.0,))
    curve = random_baseline(Z, labelled(truth, asked), 65, corrections=plain).expected
    exact = expected_by_random_sampling(sizes, 1000, np.arange(1, 66))
    assert curve == pytest.approx(exact, rel=0.1)


@pytest.mark.soak
def test_the_curve_is_unbiased_and_in_its_band_as_often_as_stated(data_folder, long_bar):
    """On the problems that it was fitted on; the decision record has those that it was not."""
    names = problem_names("choosing")
    names = names[:: -(-len(names) // long_bar(len(names)))]
    is_whole = names == problem_names("choosing")
    run_points = map(curve_points, runs(names, 3, DEFAULT_STRATEGY, data_folder))
    points = corrected(pd.DataFrame(chain.from_iterable(run_points)), CORRECTIONS)
    last = points[(points.position == 1) & (points.labelled >= 20)]
    by_problem = last.groupby(["labelled", "problem"])[["error", "inside"]].mean()
    means = by_problem.groupby("labelled").mean()
    print(means.round(3).to_string())
    assert means.error.abs().max() < (0.05 if is_whole else 0.3)
    assert means.inside.min() > (0.7 if is_whole else 0.2)

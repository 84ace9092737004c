"""Random baseline: exact for known sizes, close for estimated ones."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.discover.simulation import simulate
from kernova.discover.stopping import (
    estimated_sizes,
    expected_by_random_sampling,
    random_baseline_curve,
)
from kernova.errors import InputError
from tests.discover import messages


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
    assert random_baseline_curve(Z, [None, None, None], 0).tolist() == []
    assert random_baseline_curve(Z, [None, None, None], 2).tolist() == [0, 0]


def test_duplicates_and_huge_numbers():
    Z = np.array([[0.0], [0.0], [1e300], [1e300]])
    sizes = estimated_sizes(Z, ["a", None, "b", None])
    assert sizes == pytest.approx({"a": 2, "b": 2})


def test_a_sample_of_many_rows_gives_nearly_the_same():
    rng = np.random.default_rng(2)
    Z = np.concatenate([rng.normal(size=(60_000, 2)), rng.normal(9, 1, size=(6_000, 2))])
    labels = np.repeat(["a", "b"], [60_000, 6_000])
    sizes = estimated_sizes(Z, labelled(labels, np.arange(0, 66_000, 200)))
    assert sizes["b"] == pytest.approx(6_000, rel=0.2)


def test_prior_categories_count_from_the_beginning():
    Z = np.array([[0.0], [0.1], [5.0], [5.1], [5.2], [9.0]])
    labels = ["a", None, "b", None, None, "c"]
    curve = random_baseline_curve(Z, labels, 3, prior_rows=[0])
    assert 1 < curve[0] < 2
    assert (np.diff(curve) > 0).all()
    assert random_baseline_curve(Z, labels, 5, prior_rows=[0])[-1] == 3


def test_the_estimate_is_close_once_all_are_found():
    rng = np.random.default_rng(3)
    truth = np.repeat(list("abcde"), [600, 250, 100, 40, 10])
    centres = rng.normal(scale=4, size=(5, 4))[np.repeat(range(5), [600, 250, 100, 40, 10])]
    Z = rng.normal(size=(1000, 4)) + centres
    asked = simulate(Z, truth).asked
    curve = random_baseline_curve(Z, labelled(truth, asked), 100)
    exact = expected_by_random_sampling([600, 250, 100, 40, 10], 1000, np.arange(1, 101))
    error = curve - exact
    assert np.sqrt(np.mean(error**2)) < 0.15 * 5
    assert error.mean() > -0.02 * 5

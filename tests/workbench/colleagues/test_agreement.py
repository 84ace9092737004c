"""Agreement: published examples, literal formulas, statsmodels, and what the intervals cover."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.workbench.colleagues.agreement import (
    category_agreement,
    category_counts,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
    raw_agreement,
)
from tests.oracles import agreement as literal

# Cohen (1960), table 2: kappa .492.
COHEN = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
# The diagnoses of 30 patients by 6 psychiatrists in Fleiss (1971): kappa .430.
DIAGNOSES = (
    "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 "
    "144444 124444 222333 144444 224445 333335 111455 111112 224444 133555 "
    "555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
)
# Ten subjects and 14 raters, the example that most textbooks have: kappa .210.
FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
# Krippendorff (2011): four observers, twelve units, some not judged: alpha .743.
OBSERVERS = ("1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .",
             "1 2 3 3 2 4 4 1 2 5 1 .")  # fmt: skip

rows_of_opinions = st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=12)


def counted(rows, n_categories=5):
    counts = np.zeros((len(rows), n_categories), dtype=int)
    for place, row in enumerate(rows):
        for category in row:
            counts[place, category] += 1
    return counts


def units():
    columns = zip(*(line.split() for line in OBSERVERS), strict=True)
    return [[int(one) - 1 for one in column if one != "."] for column in columns]


def test_published_examples():
    assert round(cohen_kappa(COHEN).value, 3) == 0.492
    assert round(fleiss_kappa(FOURTEEN_RATERS).value, 3) == 0.210
    diagnoses = counted([[int(one) - 1 for one in row] for row in DIAGNOSES.split()])
    assert round(fleiss_kappa(diagnoses).value, 3) == 0.430
    assert round(krippendorff_alpha(counted(units())).value, 3) == 0.743


@pytest.mark.skipif(importlib.util.find_spec("statsmodels") is None, reason="not installed")
@pytest.mark.parametrize("seed", range(5))
def test_as_statsmodels(seed):
    from statsmodels.stats import inter_rater

    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 80)
    second = np.where(rng.random(80) < 0.6, first, rng.integers(0, 4, 80))
    table = confusion(first, second, 4)
    ours, theirs = cohen_kappa(table), inter_rater.cohens_kappa(table)
    assert abs(ours.value - theirs.kappa) < 1e-9
    assert abs(ours.low - theirs.kappa_low) < 1e-9
    assert abs(ours.high - theirs.kappa_upp) < 1e-9
    counts = rng.multinomial(6, rng.dirichlet(np.ones(4)), size=30)
    ours, theirs = fleiss_kappa(counts).value, inter_rater.fleiss_kappa(counts, method="fleiss")
    assert abs(ours - theirs) < 1e-9


@given(rows_of_opinions)
def test_as_the_literal_formulas(rows):
    counts, shared = counted(rows), literal.usable(rows)
    if len({one for row in shared for one in row}) < 2:
        assert np.isnan(fleiss_kappa(counts).value)
        assert np.isnan(krippendorff_alpha(counts).value)
        return
    assert fleiss_kappa(counts).value == pytest.approx(literal.fleiss(rows), abs=1e-9)
    assert krippendorff_alpha(counts).value == pytest.approx(literal.alpha(rows), abs=1e-9)
    expected = [literal.specific(rows, category) for category in range(5)]
    assert category_agreement(counts) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_two_experts_as_the_literal_formula(pairs):
    first, second = map(np.array, zip(*pairs, strict=True))
    kappa = cohen_kappa(confusion(first, second, 4))
    if len({one for pair in pairs for one in pair}) < 2:
        assert np.isnan(kappa.value)
        return
    assert kappa.value == pytest.approx(literal.cohen(pairs), abs=1e-9)
    assert kappa.low <= kappa.value + 1e-12 <= kappa.high + 2e-12


def test_complete_agreement_of_few_rows_is_not_certain():
    table = [[6, 0], [0, 4]]
    kappa, fleiss = cohen_kappa(table), fleiss_kappa([[2, 0]] * 6 + [[0, 2]] * 4)
    assert kappa.value == kappa.high == fleiss.value == fleiss.high == 1
    assert 0.3 < kappa.low == fleiss.low < 0.5


def test_no_rows_and_single_opinions_say_nothing():
    for counts in (np.zeros((0, 3)), [[1, 0, 0], [0, 1, 0]], [[0, 0, 0]]):
        assert np.isnan(fleiss_kappa(counts).value)
        assert np.isnan(krippendorff_alpha(counts).value)
        assert np.isnan(raw_agreement(counts))
        assert np.isnan(category_agreement(counts)).all()
    assert np.isnan(cohen_kappa(np.zeros((3, 3))).value)


def test_rows_without_an_opinion_are_not_counted():
    codes = np.array([[0, 0, -1], [1, -1, 2], [-1, -1, -1], [2, 2, 2]])
    assert category_counts(codes, 3).tolist() == [[2, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 3]]
    assert confusion(codes[:, 0], codes[:, 1], 3).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert raw_agreement(category_counts(codes, 3)) == pytest.approx(2 / 3)


def test_intervals_hold_what_they_say():
    """Over simulated experts with a known kappa, the 95 % intervals hold it 9 times in 10."""
    rng, n_rows, n_repeats = np.random.default_rng(1), 60, 300
    frequencies, reliability = np.array([0.5, 0.3, 0.2]), 0.7  # kappa is the reliability
    held = np.zeros(3)
    for _ in range(n_repeats):
        truth = rng.choice(3, n_rows, p=frequencies)
        codes = np.stack(
            [
                np.where(
                    rng.random(n_rows) < np.sqrt(reliability),
                    truth,
                    rng.choice(3, n_rows, p=frequencies),
                )
                for _ in range(3)
            ],
            axis=1,
        )
        counts = category_counts(codes, 3)
        pair = cohen_kappa(confusion(codes[:, 0], codes[:, 1], 3))
        found = (pair, fleiss_kappa(counts), krippendorff_alpha(counts))
        held += [one.low <= reliability <= one.high for one in found]
    print(f"\ncoverage of Cohen, Fleiss, Krippendorff: {held / n_repeats}")
    assert (held / n_repeats > 0.9).all()


def test_many_rows_take_no_time():
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 8, size=(100_000, 4))
    counts = category_counts(codes, 8)
    assert abs(krippendorff_alpha(counts).value) < 0.01

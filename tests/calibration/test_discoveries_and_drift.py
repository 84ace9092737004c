"""The bound on false discoveries, and the test for drift."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from kernova import conformal_p_values, select_discoveries
from kernova.calibration.discoveries import FalseDiscoveryBound, false_discovery_bound
from kernova.calibration.drift import deficit_p_value, drift_test

# --- false discoveries ---------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize(("m", "n", "n_novel"), [(100, 60, 0), (500, 300, 30), (50, 1000, 100)])
def test_no_selection_has_more_false_discoveries_than_bounded(m, n, n_novel, long_bar):
    # All thresholds are tried, and the worst of them counts: the bound holds for all at once.
    random, n_repetitions, n_broken = np.random.default_rng(3), long_bar(2000), 0
    for _ in range(n_repetitions):
        scores = random.normal(size=n)
        scores[:n_novel] -= 4
        p = conformal_p_values(random.normal(size=m), scores)
        is_broken = False
        for level in np.unique(np.quantile(p, np.linspace(0, 1, 30), method="lower")):
            chosen = p <= level
            bound = false_discovery_bound(p, chosen, m)
            is_broken |= chosen[n_novel:].sum() > bound.most_false
        n_broken += is_broken
    print(f"false discoveries: {m}, {n}, {n_novel}: broken in {n_broken} of {n_repetitions}")
    assert binomtest(n_broken, n_repetitions, 0.05, alternative="greater").pvalue > 1e-3


def test_clear_discoveries_have_a_useful_bound():
    random = np.random.default_rng(0)
    scores = np.concatenate([random.normal(size=1000), random.normal(-6, size=100)])
    p = conformal_p_values(random.normal(size=2000), scores)
    chosen = select_discoveries(p, 0.1)
    bound = false_discovery_bound(p, chosen, 2000)
    assert chosen[:1000].sum() <= bound.most_false <= 0.25 * chosen.sum()
    assert bound.proportion == bound.most_false / bound.n_selected
    stricter = false_discovery_bound(p, chosen, 2000, confidence=0.999)
    assert stricter.most_false > bound.most_false


@given(st.integers(1, 300), st.integers(0, 80), st.integers(0, 2**31), st.floats(0.01, 0.9995))
def test_the_bound_is_a_number_of_selected_rows_and_grows_with_them(m, n, seed, confidence):
    random = np.random.default_rng(seed)
    p = conformal_p_values(random.normal(size=m), random.normal(size=n))
    small = random.random(n) < 0.3
    large = small | (random.random(n) < 0.3)
    low, high = (
        false_discovery_bound(p, chosen, m, confidence).most_false for chosen in (small, large)
    )
    assert 0 <= low <= small.sum()
    assert low <= high <= large.sum()


@pytest.mark.parametrize(
    ("bound", "sentence"),
    [
        ((0, 0, 0.95), "There are no discoveries."),
        (
            (3, 3, 0.95),
            "How many of the 3 discoveries are ordinary rows has no bound below all of them at "
            "95 % confidence.",
        ),
        (
            (0, 9, 0.9),
            "With 90 % confidence, at most 0 of the 9 discoveries (0 %) are ordinary rows.",
        ),
    ],
)
def test_sentences(bound, sentence):
    assert FalseDiscoveryBound(*bound).sentence() == sentence


# --- drift ---------------------------------------------------------------------------------------


@pytest.mark.soak
def test_neither_ordinary_nor_few_novel_rows_are_drift(long_bar):
    random, n_repetitions, n_false = np.random.default_rng(6), long_bar(300), 0
    for seed in range(n_repetitions):
        known, new = random.normal(size=(300, 3)), random.normal(size=(300, 3))
        new[: random.integers(0, 25)] += 7
        n_false += drift_test(known, new, random_state=seed).p_value <= 0.05
    print(f"drift: {n_false} of {n_repetitions} false warnings at 5 %")
    assert binomtest(n_false, n_repetitions, 0.05, alternative="greater").pvalue > 1e-3


def test_a_shift_a_narrower_source_and_a_lost_part_are_drift():
    random = np.random.default_rng(2)
    known, new = random.normal(size=(1000, 4)), random.normal(size=(900, 4))
    assert drift_test(known, new).p_value > 0.05
    assert drift_test(known, new + np.array([0.7, 0, 0, 0])).p_value < 1e-4
    assert drift_test(known, new * 0.5).p_value < 1e-4
    result = drift_test(known, new[new[:, 0] > 0])
    assert result.p_value < 1e-6
    assert result.known_fraction > 0.3 > 0.1 > result.new_fraction
    # Half of the rows elsewhere is more than a few, unless that much is allowed.
    half = np.where(np.arange(900)[:, np.newaxis] % 2, new, new + 20)
    assert drift_test(known, half).p_value < 1e-6
    assert drift_test(known, half, allowed=0.6).p_value == 1
    assert drift_test(known[:19], new).p_value == 1


def test_a_test_for_drift_is_repeatable_and_takes_extreme_numbers():
    random = np.random.default_rng(2)
    known, new = random.normal(size=(3000, 2)), random.normal(size=(90, 2))
    assert drift_test(known, new) == drift_test(known, new)
    new[0] = 1e308
    assert drift_test(known, new).p_value > 0.01


def test_the_deficit_has_the_level_that_it_states():
    random, allowed, level = np.random.default_rng(4), 0.1, 0.05
    known = random.binomial(80, 0.4, size=4000)
    new = random.binomial(120, 0.4 * (1 - allowed), size=4000)
    n_low = sum(
        deficit_p_value(int(k), 80, int(n), 120, allowed) <= level
        for k, n in zip(known, new, strict=True)
    )
    assert n_low <= level * 4000
    assert deficit_p_value(0, 80, 0, 120, 0.1) == 1 == deficit_p_value(80, 80, 120, 120, 0.1)

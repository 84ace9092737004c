"""Comparisons of two groups: what is ruled out, and what size or covariates may explain."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from kernova.shapes import Landmarks
from kernova.species.covariates import NOT_STATED, Covariates
from kernova.species.group_tests import smallest_p_value
from kernova.species.pairs import (
    CONFOUNDED,
    COVARIATE_MAY_EXPLAIN,
    GROWTH_MAY_EXPLAIN,
    NOT_BEYOND_SIZE,
    NOT_RULED_OUT,
    RULED_OUT,
    TOO_FEW_POPULATIONS,
    TOO_FEW_SPECIMENS,
    comparisons_of,
)
from kernova.species.space import SpeciesSettings
from tests.species.drawn_shapes import OUTLINE, drawn

SETTINGS = SpeciesSettings()


def compared(landmarks, groups, first, second, settings=SETTINGS, covariates=None):
    comparisons = comparisons_of(landmarks, groups, settings, covariates or Covariates())
    return comparisons.compare(first, second)


def grown(log_sizes, groups, growth=0.25, distance=0.6, seed=0):
    """Specimens of given sizes; the outline becomes longer with size, and groups differ."""
    rng = np.random.default_rng(seed)
    ways = np.random.default_rng([0, 7]).standard_normal((12, *OUTLINE.shape))
    member = np.unique(groups, return_inverse=True)[1]
    shapes = OUTLINE + distance * ways[member] / np.linalg.norm(ways[0])
    shapes = shapes * np.column_stack([1 + growth * log_sizes, np.ones(len(groups))])[:, None]
    shapes += 0.03 * rng.standard_normal(shapes.shape)
    lengths = np.linalg.norm(shapes - shapes.mean(axis=1, keepdims=True), axis=(1, 2))
    shapes *= (np.exp(log_sizes) / lengths)[:, None, None]
    return Landmarks(tuple(f"s{k}" for k in range(len(groups))), shapes)


def with_young(n_young=15, growth=0.25):
    """60 specimens of a and 60 of b, and the young ones of a."""
    groups = np.repeat(["a", "b"], 60)
    log_sizes = np.random.default_rng(0).normal(0, 0.1, 120)
    log_sizes[:n_young] -= 1.0
    landmarks = grown(log_sizes, groups, growth)
    return landmarks, np.where(np.arange(120) < n_young, "young", groups)


def with_populations(n_first, n_second, seed=0, n=6, between=0.06, apart=0.0):
    """Groups of a few populations, which differ; b is another group, ``apart`` that of u and a."""
    rng = np.random.default_rng(seed)
    way = np.random.default_rng(3).standard_normal(OUTLINE.shape)
    shapes, groups, population = [], [], []
    for group, n_units, mean in (
        ("u", n_first, OUTLINE + apart * way), ("a", n_second, OUTLINE), ("b", 3, OUTLINE + way / 5)
    ):  # fmt: skip
        for k in range(n_units):
            own = mean + between * rng.standard_normal(OUTLINE.shape)
            shapes.append(own + 0.04 * rng.standard_normal((n, *OUTLINE.shape)))
            groups += [group] * n
            population += [f"{group}{k}"] * n
    landmarks = Landmarks(tuple(map(str, range(len(groups)))), np.concatenate(shapes))
    return landmarks, np.array(groups), np.array(population)


def test_groups_apart_are_ruled_out_and_random_halves_are_not():
    landmarks, groups = drawn({"a": 40, "b": 20})
    assert compared(landmarks, groups, "b", "a").status == RULED_OUT
    halves = np.where(groups == "a", np.where(np.arange(60) % 2, "a1", "a2"), groups)
    pair = compared(landmarks, halves, "a1", "a2")
    assert pair.status == NOT_RULED_OUT
    # Neither do sizes differ, nor shapes change with size: nothing to adjust for.
    assert pair.adjusted_for == ()
    assert np.isnan(pair.adjusted_p_value)


def test_the_other_side_of_a_pair_is_what_would_be_computed_anew():
    landmarks, groups = drawn({"a": 9, "b": 12, "c": 12}, distance=0.2)
    comparisons = comparisons_of(landmarks, groups, SETTINGS, Covariates())
    comparisons.compare("a", "b")
    turned = comparisons.compare("b", "a")
    anew = compared(landmarks, groups, "b", "a")
    for name, value in anew.line().items():
        expected = value if isinstance(value, str) else pytest.approx(value, nan_ok=True)
        assert turned.line()[name] == expected, name
    assert turned.discriminant.first_missed == anew.discriminant.first_missed


@pytest.mark.parametrize("has_populations", [False, True])
def test_a_pair_is_the_same_from_both_sides(has_populations):
    landmarks, groups = drawn({"a": 30, "b": 12, "c": 12}, distance=0.2)
    units = np.char.add(groups, (np.arange(54) % 4).astype(str))
    sex = np.where(np.arange(54) % 3, "F", "M")
    factors = {"sex": sex, **({"population": units} if has_populations else {})}
    one = compared(landmarks, groups, "a", "b", covariates=Covariates(factors)).line()
    other = compared(landmarks, groups, "b", "a", covariates=Covariates(factors)).line()
    assert one["exchanged"] == ("populations" if has_populations else "specimens")
    assert other.pop("smaller") == pytest.approx(1 - one.pop("smaller"))
    ratio = 1 / one.pop("dispersion_ratio")
    assert other.pop("dispersion_ratio") == pytest.approx(ratio, nan_ok=True)
    assert other.pop("exchanged_unknown") == one["exchanged_known"]
    assert other.pop("exchanged_known") == one["exchanged_unknown"]
    for name, value in other.items():
        expected = value if isinstance(value, str) else pytest.approx(value, nan_ok=True)
        assert one[name] == expected, name


def test_three_specimens_are_too_few_beside_three():
    landmarks, groups = drawn({"a": 3, "b": 3, "c": 20})
    pair = compared(landmarks, groups, "a", "b")
    assert (pair.status, pair.smallest_p_value) == (TOO_FEW_SPECIMENS, 0.1)


# --- size -----------------------------------------------------------------------------------


def test_young_specimens_of_a_group_are_not_ruled_out_of_it():
    landmarks, groups = with_young()
    pair = compared(landmarks, groups, "young", "a")
    assert pair.p_value <= 0.05
    assert pair.status == GROWTH_MAY_EXPLAIN
    assert pair.size.first_smaller == 1
    assert pair.line()["sizes_apart"]
    assert pair.size.remaining < pair.size.expected / 4
    assert compared(landmarks, groups, "young", "b").status == RULED_OUT


def test_with_size_as_a_variable_growth_still_explains_shapes():
    landmarks, groups = with_young()
    settings = SpeciesSettings(size=True)
    assert compared(landmarks, groups, "young", "a", settings).status == GROWTH_MAY_EXPLAIN
    assert compared(landmarks, groups, "young", "b", settings).status == RULED_OUT


def overlapping(distance, seed=0):
    """Sizes of u and a overlap, but differ; shapes differ by growth, and by ``distance``."""
    groups = np.repeat(["a", "b", "u"], [40, 40, 25])
    rng = np.random.default_rng(seed)
    log_sizes = rng.normal(0, 0.25, 105) - 0.25 * (groups == "u")
    labels = groups if distance else np.where(groups == "u", "a", groups)
    return grown(log_sizes, labels, distance=distance or 0.6, seed=seed), groups


def test_where_sizes_overlap_a_difference_beyond_size_is_found():
    pair = compared(*overlapping(0.3), "u", "a")
    assert pair.size.p_value <= 0.05
    assert 0.5 < pair.size.first_smaller < 0.9
    assert not pair.line()["sizes_apart"]
    assert (pair.status, pair.adjusted_for) == (RULED_OUT, ("size",))
    assert pair.adjusted_p_value <= 0.01


def test_where_sizes_overlap_a_difference_by_growth_is_not_one_beyond_size():
    statuses, p_values = [], []
    for seed in range(20):
        pair = compared(*overlapping(0.0, seed), "u", "a")
        statuses.append(pair.status)
        p_values.append((pair.p_value, pair.adjusted_p_value))
    assert RULED_OUT not in statuses
    raw, adjusted = np.array(p_values).T
    assert (raw <= 0.05).mean() >= 0.7
    assert (adjusted <= 0.05).sum() <= binom.ppf(0.999, 20, 0.05)


def test_without_allometry_size_is_no_growth():
    for seed in range(10):
        groups = np.repeat(["a", "b", "u"], [30, 30, 20])
        log_sizes = np.random.default_rng(seed).normal(0, 0.05, 80) - 0.5 * (groups == "u")
        landmarks = grown(log_sizes, groups, growth=0, distance=0.25, seed=seed)
        comparisons = comparisons_of(landmarks, groups, SETTINGS, Covariates())
        pair = comparisons.compare("u", "a")
        assert pair.size.is_apart
        assert pair.p_value <= 0.05
        if comparisons.growth_p_value > 0.05:
            assert pair.status in (RULED_OUT, NOT_BEYOND_SIZE)


def test_size_that_is_the_grouping_separates_nothing():
    landmarks, groups = drawn({"a": 20, "u": 12, "b": 20})
    unit = landmarks.coordinates - landmarks.coordinates.mean(axis=1, keepdims=True)
    unit /= np.linalg.norm(unit, axis=(1, 2))[:, None, None]
    unit[groups == "u"] *= 2
    pair = compared(Landmarks(landmarks.ids, unit), groups, "u", "a")
    assert np.isnan(pair.adjusted_p_value)
    assert pair.status == NOT_BEYOND_SIZE


def test_scales_make_sizes_comparable():
    landmarks, groups = drawn({"a": 12, "b": 12})
    scaled = replace(
        landmarks,
        coordinates=landmarks.coordinates / np.linspace(0.5, 2, 24)[:, None, None],
        scales=np.linspace(0.5, 2, 24),
    )
    sizes = [
        comparisons_of(one, groups, SETTINGS, Covariates()).log_sizes for one in (landmarks, scaled)
    ]
    np.testing.assert_allclose(*sizes, atol=1e-9)


# --- covariates -----------------------------------------------------------------------------


def test_the_other_sex_is_not_ruled_out_where_sex_is_given():
    landmarks, groups = drawn({"females": 30, "males": 30, "b": 30}, distance=0.3)
    sex = np.where(groups == "females", "F", "M")
    sex[groups == "b"] = np.where(np.arange(30) % 2, "F", "M")
    assert compared(landmarks, groups, "females", "males").status == RULED_OUT
    given = Covariates({"sex": sex}, has_size=True)
    pair = compared(landmarks, groups, "females", "males", covariates=given)
    assert pair.status == CONFOUNDED
    assert pair.line()["confounded_with"] == "sex"
    # Adjusting for size alone would leave the difference between sexes.
    assert (np.isnan(pair.adjusted_p_value), pair.adjusted_for) == (True, ())
    pair = compared(landmarks, groups, "females", "b", covariates=given)
    assert (pair.status, pair.adjusted_for) == (RULED_OUT, ("sex", "size"))


def test_one_male_among_females_separates_nothing():
    landmarks, groups = drawn({"females": 30, "males": 30, "b": 30}, distance=0.3)
    sex = np.where(groups == "females", "F", "M")
    samples = np.where(np.arange(90) == 30, "females", groups)  # a male, and labelled so
    pair = compared(landmarks, samples, "females", "males", covariates=Covariates({"sex": sex}))
    assert (pair.status, pair.line()["confounded_with"]) == (CONFOUNDED, "sex")


def test_few_males_among_females_leave_little_to_separate():
    landmarks, groups = drawn({"females": 30, "males": 30, "b": 30}, distance=0.3)
    sex = np.where(groups == "females", "F", "M")
    samples = np.where(np.isin(np.arange(90), [30, 31, 32]), "females", groups)
    pair = compared(landmarks, samples, "females", "males", covariates=Covariates({"sex": sex}))
    assert pair.line()["adjusted_for"] == "sex"
    assert (pair.status, pair.adjusted_p_value > 0.05) == (COVARIATE_MAY_EXPLAIN, True)


def test_a_covariate_with_as_many_levels_as_specimens_leaves_nothing():
    landmarks, groups = drawn({"a": 6, "b": 6, "c": 20})
    day = (np.arange(32) % 6).astype(str)
    box = np.array([*"aabbccaabbcc", *"a" * 20])
    hour = np.array([*"ppqqrr", *"qrprpq", *"p" * 20])
    numbers = {f"depth{k}": np.arange(32.0) ** k for k in range(1, 5)}
    given = Covariates({"day": day, "box": box, "hour": hour}, numbers)
    pair = compared(landmarks, groups, "a", "b", covariates=given)
    assert np.isnan(pair.adjusted_p_value)
    assert pair.status == CONFOUNDED


def test_blanks_are_no_level():
    landmarks, groups = drawn({"u": 14, "a": 30, "b": 20}, distance=0.5)
    sex = np.where(np.arange(64) % 2, "F", "M").astype("<U10")
    sex[[0, 3, 20, 21]] = NOT_STATED
    pair = compared(landmarks, groups, "u", "a", covariates=Covariates({"sex": sex}))
    assert pair.adjustment.is_stated.sum() == 40
    assert (pair.status, pair.line()["adjusted_for"]) == (RULED_OUT, "sex")
    sex[groups == "u"] = NOT_STATED
    pair = compared(landmarks, groups, "u", "a", covariates=Covariates({"sex": sex}))
    assert pair.line()["too_rarely_stated"] == "sex"
    assert "sex" not in pair.adjusted_for
    assert pair.status == RULED_OUT


# --- populations ----------------------------------------------------------------------------


@pytest.mark.parametrize(("n_first", "n_second"), [(2, 6), (5, 6)])
def test_populations_of_one_group_are_ruled_out_at_the_level(n_first, n_second):
    n_studies, p_values, n_apart = 60, [], 0
    for seed in range(n_studies):
        landmarks, groups, population = with_populations(n_first, n_second, seed, n=4)
        rows = landmarks.coordinates
        comparisons = comparisons_of(
            Landmarks(landmarks.ids, rows), groups, SETTINGS, Covariates({"population": population})
        )
        pair = comparisons.compare("u", "a")
        p_values.append(pair.p_value)
        n_apart += pair.status == RULED_OUT
        assert pair.exchanged == (n_first, n_second)
    smallest = smallest_p_value(n_first, n_second)
    assert min(p_values) >= smallest - 1e-12
    n_rejected = np.sum(np.array(p_values) <= 0.05)
    # 1 of 28 exchanges, and 23 of 462, are at most .05.
    assert n_apart <= n_rejected <= binom.ppf(0.999, n_studies, 0.05)
    # As specimens, populations of one group differ nearly always.
    assert compared(landmarks, groups, "u", "a").p_value <= 0.01


def test_groups_of_enough_populations_that_differ_are_ruled_out():
    landmarks, groups, population = with_populations(5, 6, apart=0.3)
    pair = compared(landmarks, groups, "u", "a", covariates=Covariates({"population": population}))
    line = pair.line()
    assert (line["status"], line["exchanged"], line["left_out"]) == (
        RULED_OUT,
        "populations",
        "one population at a time",
    )
    assert line["p_value"] == pytest.approx(1 / 462)
    assert np.isnan(line["dispersion_ratio"])


@pytest.mark.parametrize(
    ("n_first", "n_second", "smallest"), [(1, 6, 1 / 7), (2, 3, 0.1), (3, 3, 0.1)]
)
def test_few_populations_are_never_replaced_by_specimens(n_first, n_second, smallest):
    landmarks, groups, population = with_populations(n_first, n_second, apart=0.5)
    given = Covariates({"population": population}, has_size=True)
    pair = compared(landmarks, groups, "u", "a", covariates=given)
    assert pair.status == TOO_FEW_POPULATIONS
    assert pair.exchanged == (n_first, n_second)
    assert pair.smallest_p_value == pytest.approx(smallest)
    assert pair.p_value >= smallest - 1e-12
    # Nor does adjusting make of few populations what exchanging them does not allow.
    assert np.isnan(pair.adjusted_p_value) or pair.adjusted_p_value >= smallest - 1e-12


def test_the_order_of_covariates_has_no_say():
    landmarks, groups, population = with_populations(5, 6)
    region = np.char.add(groups, (np.arange(len(groups)) // 12 % 2).astype(str))
    sex = np.where(np.arange(len(groups)) % 2, "F", "M")
    factors = {"population": population, "region": region, "sex": sex}
    lines = []
    for names in (list(factors), list(factors)[::-1]):
        given = Covariates({name: factors[name] for name in names})
        lines.append(compared(landmarks, groups, "u", "a", covariates=given).line())
    assert lines[0]["exchanged_unknown"] == lines[0]["exchanged_known"] == 2  # regions
    np.testing.assert_equal(lines[0], lines[1])


@pytest.mark.parametrize(
    ("n_first", "status"), [(1, TOO_FEW_POPULATIONS), (2, NOT_RULED_OUT), (5, NOT_RULED_OUT)]
)
def test_a_mislabelled_specimen_does_not_flip_the_analysis(n_first, status):
    landmarks, groups, population = with_populations(n_first, 6)
    given = compared(landmarks, groups, "u", "a", covariates=Covariates({"population": population}))
    wrong = population.copy()
    wrong[np.flatnonzero(groups == "a")[0]] = "u0"
    pair = compared(landmarks, groups, "u", "a", covariates=Covariates({"population": wrong}))
    assert pair.line()["exchanged"] == "populations"
    assert pair.line()["shared_populations"] == "u0"
    assert pair.exchanged == (n_first, 7)  # "u0" of a counts as one more
    assert pair.status == given.status == status


def test_species_that_share_their_sites_are_adjusted_for_them():
    landmarks, groups, _ = with_populations(5, 5, apart=0.3)
    site = (np.arange(len(groups)) // 6 % 5).astype(str)
    pair = compared(landmarks, groups, "u", "a", covariates=Covariates({"site": site}))
    assert pair.line()["exchanged"] == "specimens"
    assert pair.line()["adjusted_for"].startswith("site")
    assert pair.status == RULED_OUT

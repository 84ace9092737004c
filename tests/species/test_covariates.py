"""Covariates: reading, nesting, balance between samples, and growth."""

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.species.covariates import (
    NOT_STATED,
    Covariates,
    adjustment,
    balance_notes,
    covariates_from,
    usual_covariates,
)
from kernova.species.growth import growth_p_value, growth_terms, size_difference

GROUPS = np.array(["a"] * 6 + ["b"] * 6)


def test_text_numbers_and_size_are_covariates():
    table = pd.DataFrame(
        {"sex": ["F", "M", None], "weight": ["1.5", "2", "3"], "lake": list("xyz")}
    )
    found = covariates_from(table, ["weight", "sex", "size", "sex"], "fish.csv")
    assert found.names == ("sex", "weight", "size")
    assert found.factors["sex"].tolist() == ["F", "M", "not stated"]
    assert found.numbers["weight"].tolist() == [1.5, 2.0, 3.0]
    assert found.take(np.array([2])).factors["sex"].tolist() == ["not stated"]


def test_zeros_and_ones_are_two_levels():
    found = covariates_from(pd.DataFrame({"male": [0, 1, 1, 0]}), ["male"], "fish.csv")
    assert found.factors["male"].tolist() == ["0", "1", "1", "0"]


@pytest.mark.parametrize(
    ("table", "names", "message"),
    [
        (
            pd.DataFrame({"sex": ["F"]}),
            ["site"],
            "fish.csv has no covariate 'site'. There are 'sex', and size.",
        ),
        (None, ["sex"], "fish.csv has no covariate 'sex'. There is only size."),
        (
            pd.DataFrame({"weight": ["1", "2", "3", ""]}),
            ["weight"],
            "The covariate 'weight' of fish.csv has no value for 1 specimen. Leave out these "
            "specimens, or the covariate.",
        ),
    ],
)
def test_what_is_no_covariate_is_refused(table, names, message):
    with pytest.raises(InputError) as raised:
        covariates_from(table, names, "fish.csv")
    assert str(raised.value) == message


IS_FIRST = GROUPS == "a"
POPULATION = np.array(["p1"] * 3 + ["p2"] * 3 + ["p3"] * 6)
SEX = np.tile(["F", "M"], 6)


def adjusting(numbers=None, **factors):
    covariates = Covariates(
        {name: np.array(list(of)) for name, of in factors.items()}, numbers or {}
    )
    return adjustment(covariates, np.arange(12), IS_FIRST)


def test_populations_are_nested_and_sexes_are_crossed():
    found = adjusting({"depth": np.arange(12.0)}, population=POPULATION, sex=SEX)
    assert (found.names, found.unit) == (("sex", "depth"), "population")
    assert found.design.shape == (12, 3)
    assert found.is_stated.all()
    assert (found.shared, found.confounded, found.unstated) == ((), (), ())
    # One unit per population, of either sample.
    assert found.units.tolist() == [
        *["p1 first"] * 3,
        *["p2 first"] * 3,
        *["p3 second"] * 6,
    ]


def test_each_pair_is_judged_by_itself():
    groups = np.repeat(["a", "b", "c"], 4)
    site = np.array([*"xyxy", *"xxyy", *"uvuv"])
    covariates = Covariates({"site": site})
    beside_b, beside_c = (
        adjustment(covariates, np.flatnonzero(is_in), groups[is_in] == "a")
        for is_in in (groups != "c", groups != "b")
    )
    assert (beside_b.names, beside_b.unit) == (("site",), "")
    assert (beside_c.names, beside_c.unit) == ((), "site")


def test_a_level_for_each_sample_is_confounded():
    found = adjusting(country="x" * 6 + "y" * 6, sex=SEX)
    assert (found.confounded, found.names, found.unit) == (("country",), ("sex",), "")
    # One level for both says nothing, and takes nothing.
    found = adjusting(country="x" * 12)
    assert (found.confounded, found.names) == ((), ())
    assert found.design.shape == (12, 0)


def test_of_nested_factors_the_one_with_the_fewest_levels_counts():
    region = "1" * 3 + "2" * 3 + "3" * 6
    names = ("population", "region")
    values = {"population": "abcdef" + "ghijkl", "region": region}
    for order in (names, names[::-1]):
        found = adjusting(**{name: values[name] for name in order})
        assert found.unit == "region"
        assert len(set(found.units)) == 3


def test_a_specimen_with_a_population_of_the_other_sample_leaves_it_nested():
    population = np.array([*"pqrstu", *"vvwwxx"])
    population[6] = "p"  # of b
    found = adjusting(population=population)
    assert (found.unit, found.shared) == ("population", ("p",))
    assert [found.units[0], found.units[6]] == ["p first", "p second"]


def test_a_single_specimen_makes_no_level_common_where_levels_have_several():
    groups = np.repeat(["a", "b"], [8, 24])
    site = np.repeat([*"pqrs"], 8)
    is_first = groups == "a"

    def adjusted(*rows):
        wrong = site.copy()
        wrong[list(rows)] = "p"
        return adjustment(Covariates({"site": wrong}), np.arange(32), is_first)

    assert (adjusted(8).unit, adjusted(8).shared) == ("site", ("p",))
    assert adjusted(8, 9).names == ("site",)  # two are no slip
    # In a design of blocks each level has one specimen of each sample.
    block = np.tile(np.arange(6).astype(str), 2)
    assert adjusting(block=block).names == ("block",)
    sex = np.array([*"FFFFFM", *"MMMMMM"])
    assert adjusting(sex=sex).confounded == ("sex",)


@pytest.mark.parametrize(
    ("sex", "unstated", "names"),
    [
        ([NOT_STATED] * 6 + [*"FMFMFM"], ("sex",), ()),
        ([*"FMFMFM"] + [NOT_STATED] * 5 + ["F"], ("sex",), ()),  # one of six says too little
        ([NOT_STATED, *"MFMFM"] + [NOT_STATED] * 4 + ["F", "M"], (), ("sex",)),
    ],
)
def test_blanks_are_no_level(sex, unstated, names):
    found = adjusting(sex=sex)
    assert (found.unstated, found.names, found.confounded) == (unstated, names, ())
    if names:
        assert found.is_stated.tolist() == [one != NOT_STATED for one in sex]


def test_the_only_specimen_of_a_sample_states_it():
    sex = np.array([*"F", *"FMFMF"])
    found = adjustment(Covariates({"sex": sex}), np.arange(6), np.arange(6) < 1)
    assert (found.names, found.unstated) == (("sex",), ())


def test_a_sample_of_one_sex_is_noted():
    columns = pd.DataFrame({"sex": ["F"] * 6 + ["M"] * 5 + ["F"], "id": range(12)})
    note = balance_notes(columns, GROUPS, GROUPS == "a", "b", ())
    assert note == [
        "Of the unknown specimens 100% have sex = F, of b 17%: a difference between such specimens "
        "would look the same. Add --covariate sex to adjust for it."
    ]
    assert balance_notes(columns, GROUPS, GROUPS == "a", "b", ("sex",)) == []
    apart = pd.DataFrame({"sex": ["F"] * 6 + ["M"] * 6, "x": 0})
    assert balance_notes(apart, GROUPS, GROUPS == "a", "b", ()) == [
        "Of the unknown specimens 100% have sex = F, of b 0%: a difference between such specimens "
        "would look the same. No level of sex occurs in both; --covariate sex takes that into "
        "account."
    ]
    even = pd.DataFrame({"sex": ["F", "M"] * 6})
    assert balance_notes(even, GROUPS, GROUPS == "a", "b", ()) == []
    assert balance_notes(None, GROUPS, GROUPS == "a", "b", ()) == []


def test_usual_covariates_are_known_by_name():
    assert usual_covariates(pd.DataFrame({"Sex": [1], "museum": [2]})) == ("Sex",)
    assert usual_covariates(None) == ()


def grown(n_first, n_second, shift, beyond, seed=0):
    """Two samples whose shapes change with size along the first axis, and differ in the second."""
    rng = np.random.default_rng(seed)
    log_sizes = rng.normal(0, 0.2, n_first + n_second)
    is_first = np.arange(len(log_sizes)) < n_first
    log_sizes[is_first] += shift
    rows = 0.01 * rng.standard_normal((len(log_sizes), 6))
    rows[:, 0] += 0.1 * log_sizes
    rows[is_first, 1] += beyond
    return rows, is_first, log_sizes


def test_young_specimens_differ_by_growth():
    found = size_difference(*grown(15, 40, -1.0, 0.0), np.array([0.1, 0, 0, 0, 0, 0]))
    assert found.p_value < 0.001
    assert found.first_smaller > 0.99
    assert found.expected == pytest.approx(0.1, abs=0.02)
    assert found.distance == pytest.approx(0.1, abs=0.02)
    assert found.remaining < 0.01
    assert found.is_growth
    assert found.is_apart


def test_a_difference_beyond_growth_is_not_growth():
    found = size_difference(*grown(15, 40, -1.0, 0.15), np.array([0.1, 0, 0, 0, 0, 0]))
    assert found.remaining == pytest.approx(0.15, abs=0.02)
    assert not found.is_growth


@pytest.mark.parametrize(("shift", "is_apart"), [(0.0, False), (0.2, False), (-0.8, True)])
def test_sizes_are_apart_from_nine_of_ten_pairs(shift, is_apart):
    rows, is_first, log_sizes = grown(20, 20, shift, 0.0)
    found = size_difference(rows, is_first, log_sizes, np.zeros(6))
    assert found.is_apart == is_apart
    swapped = size_difference(rows, ~is_first, log_sizes, np.zeros(6))
    assert swapped.is_apart == is_apart
    assert swapped.first_smaller == pytest.approx(1 - found.first_smaller)


def test_growth_is_tested_within_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], 20)
    log_sizes = rng.normal(0, 0.2, 40) + (groups == "b")
    between = 0.01 * rng.standard_normal((40, 6))
    between[groups == "b"] += 0.1  # a difference between groups that differ in size
    assert growth_p_value(between, log_sizes, groups, rng) > 0.05
    within = between + 0.05 * log_sizes[:, None]
    assert growth_p_value(within, log_sizes, groups, rng) == pytest.approx(0.001)


def test_without_growth_a_slope_is_significant_at_the_level():
    groups = np.repeat(["a", "b"], [8, 12])
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, log_sizes = rng.standard_normal((20, 6)), rng.standard_normal(20)
        p_values.append(growth_p_value(rows, log_sizes, groups, rng))
    # 10 of 200 are expected; 21 or more have a probability of 1 in 1,000.
    assert 2 <= np.sum(np.array(p_values) <= 0.05) <= 20


def test_sampling_errors_add_nothing_to_distances():
    slope = np.zeros(6)
    squares = [
        size_difference(*grown(5, 6, 0.0, 0.0, seed), slope).distance ** 2 for seed in range(200)
    ]
    raw = [
        np.square(np.diff([rows[~is_first].mean(0), rows[is_first].mean(0)], axis=0)).sum()
        for rows, is_first, _ in (grown(5, 6, 0.0, 0.0, seed) for seed in range(200))
    ]
    assert np.mean(squares) < np.mean(raw) / 2


def test_growth_may_be_curved():
    terms = growth_terms(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(terms, [[-1, 1], [0, 0], [1, 1]])


def test_a_sex_that_recurs_in_other_groups_is_no_population():
    groups = np.repeat(["a", "b", "c"], 8)
    sex = np.array(["F"] * 8 + ["M"] * 4 + ["juvenile"] * 4 + ["F", "M"] * 3 + ["juvenile"] * 2)
    rows = np.arange(16)
    covariates = Covariates({"sex": sex})
    found = adjustment(covariates, rows, groups[rows] == "a", groups)
    assert found.confounded == ("sex",)
    assert found.units is None
    # As populations, which occur in one group each, the same levels would be exchanged.
    other = np.where(groups == "c", "elsewhere", sex)
    found = adjustment(Covariates({"population": other}), rows, groups[rows] == "a", groups)
    assert found.unit == "population"

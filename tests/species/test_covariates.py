"""Covariates: reading, nesting, balance between samples, and growth."""

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.species.covariates import (
    Covariates,
    adjustment,
    balance_notes,
    covariates_from,
    is_nested,
    usual_covariates,
)
from kernova.species.growth import growth_terms, size_difference

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


def test_populations_are_nested_and_sexes_are_not():
    population = np.array(["p1"] * 3 + ["p2"] * 3 + ["p3"] * 6)
    sex = np.tile(["F", "M"], 6)
    assert is_nested(population, GROUPS)
    assert not is_nested(sex, GROUPS)
    assert not is_nested(np.array(["x"] * 6 + ["y"] * 6), GROUPS)  # the groups under other names
    covariates = Covariates({"population": population, "sex": sex}, {"depth": np.arange(12.0)})
    found = adjustment(covariates, np.arange(12), GROUPS)
    assert found.names == ("sex", "depth")
    assert found.design.shape == (12, 3)
    assert found.units.tolist() == population.tolist()


def test_a_sample_of_one_sex_is_noted():
    columns = pd.DataFrame({"sex": ["F"] * 6 + ["M"] * 5 + ["F"], "id": range(12)})
    note = balance_notes(columns, GROUPS, GROUPS == "a", "b", ())
    assert note == [
        "Of the unknown specimens 100% have sex = F, of b 17%: a difference between such specimens "
        "would look the same. Add --covariate sex to adjust for it."
    ]
    assert balance_notes(columns, GROUPS, GROUPS == "a", "b", ("sex",)) == []
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


def test_a_difference_beyond_growth_is_not_growth():
    found = size_difference(*grown(15, 40, -1.0, 0.15), np.array([0.1, 0, 0, 0, 0, 0]))
    assert found.remaining == pytest.approx(0.15, abs=0.02)
    assert not found.is_growth


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

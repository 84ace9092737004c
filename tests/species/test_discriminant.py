"""Discriminant errors: symmetric, as good as plain discriminants, with an honest interval."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from kernova.shapes import read_landmark_table
from kernova.species.covariates import Covariates
from kernova.species.discriminant import (
    POPULATIONS,
    POPULATIONS_OF_ONE,
    SPECIMENS,
    TENTHS,
    discriminant_error,
    mean_rate_interval,
)
from kernova.species.pairs import comparisons_of
from kernova.species.scatter import Scatter, scatter_of, shrunk_covariance
from kernova.species.space import SpeciesSettings

NONE = Scatter(np.zeros((5, 5)), 0)


def two_groups(n_first, n_second, shift, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_first + n_second, 5))
    is_first = np.arange(len(rows)) < n_first
    rows[is_first, 0] += shift
    return rows, is_first


def error_of(rows, is_first, **options):
    return discriminant_error(rows, is_first, NONE, confidence=0.95, seed=0, **options)


def literal_leave_one_out(rows, is_first):
    """Each specimen against means and covariance without itself."""
    missed = np.zeros(len(rows), dtype=bool)
    for k in range(len(rows)):
        kept = np.arange(len(rows)) != k
        first, second = rows[kept & is_first], rows[kept & ~is_first]
        scatter = scatter_of(first).plus(scatter_of(second))
        weights = np.linalg.inv(shrunk_covariance(scatter)) @ (first.mean(0) - second.mean(0))
        score = (rows[k] - (first.mean(0) + second.mean(0)) / 2) @ weights
        missed[k] = (score > 0) != is_first[k]
    return (missed[is_first].mean() + missed[~is_first].mean()) / 2


def test_the_error_is_that_of_leaving_out_each_specimen():
    rows, is_first = two_groups(12, 17, 1.5)
    assert error_of(rows, is_first).error == pytest.approx(literal_leave_one_out(rows, is_first))


@pytest.mark.parametrize("sizes", [(8, 12), (20, 20), (90, 40)])
def test_it_is_the_same_from_both_sides(sizes):
    rows, is_first = two_groups(*sizes, 1.0)
    one, other = error_of(rows, is_first), error_of(rows, ~is_first)
    assert (one.error, one.low, one.high) == (other.error, other.low, other.high)
    assert (one.first_missed, one.second_missed) == (other.second_missed, other.first_missed)


def test_groups_that_do_not_differ_are_not_distinguished():
    errors = [error_of(*two_groups(20, 20, 0.0, seed)) for seed in range(60)]
    assert np.mean([error.error for error in errors]) == pytest.approx(0.5, abs=0.05)
    assert np.mean([error.high < 0.5 for error in errors]) <= 0.1


def test_the_interval_covers_the_error_on_new_specimens():
    covered = []
    for seed in range(80):
        rows, is_first = two_groups(30, 30, 1.5, seed)
        error = error_of(rows, is_first)
        new, is_new_first = two_groups(2000, 2000, 1.5, seed + 1000)
        first, second = rows[is_first], rows[~is_first]
        scatter = scatter_of(first).plus(scatter_of(second))
        weights = np.linalg.solve(shrunk_covariance(scatter), first.mean(0) - second.mean(0))
        scores = (new - (first.mean(0) + second.mean(0)) / 2) @ weights
        truth = np.mean((scores > 0) != is_new_first)
        covered.append(error.low <= truth <= error.high)
    assert np.mean(covered) >= 0.88


def test_populations_are_left_out_whole():
    rng = np.random.default_rng(0)
    # Populations differ from each other, groups do not: only with a population's own specimens
    # in training are its others recognised.
    units = np.repeat([f"p{k}" for k in range(8)], 15)
    rows = 4 * rng.standard_normal((8, 5)).repeat(15, axis=0) + rng.standard_normal((120, 5))
    is_first = np.arange(120) < 60
    with_units = error_of(rows, is_first, units=units)
    assert with_units.left_out == POPULATIONS
    assert error_of(rows, is_first).left_out == TENTHS
    assert with_units.error > error_of(rows, is_first).error + 0.2


@pytest.mark.parametrize(
    ("n_first", "n_units", "left_out"),
    [
        (30, (0, 0), SPECIMENS),
        (31, (0, 0), TENTHS),
        (30, (1, 1), SPECIMENS),
        (30, (1, 5), POPULATIONS_OF_ONE),
        (30, (5, 1), POPULATIONS_OF_ONE),
        (30, (5, 3), POPULATIONS),
    ],
)
def test_what_is_left_out_is_told(n_first, n_units, left_out):
    rows, is_first = two_groups(n_first, 30, 1.5)
    units = None
    if n_units[0]:
        number = np.arange(len(rows))
        units = np.where(is_first, number % n_units[0], 100 + number % n_units[1]).astype(str)
    error = error_of(rows, is_first, units=units)
    assert error.left_out == left_out
    # A single population of a group says nothing of others.
    assert np.isnan([error.low, error.high]).tolist() == [left_out == POPULATIONS_OF_ONE] * 2


def test_the_interval_by_population_covers_guessing_where_groups_do_not_differ():
    covered, widths = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        units = np.repeat([f"p{k}" for k in range(8)], 6)
        rows = rng.standard_normal((8, 5)).repeat(6, axis=0) + rng.standard_normal((48, 5))
        error = error_of(rows, np.arange(48) < 24, units=units)
        assert 0 <= error.low <= error.error <= error.high <= 1
        covered.append(error.low <= 0.5 <= error.high)
        widths.append(error.high - error.low)
    assert np.mean(covered) >= 0.88
    assert np.mean(widths) < 0.95  # it excludes something


def test_an_interval_by_population_is_wider_than_one_by_specimen():
    rng = np.random.default_rng(2)
    units = np.repeat([f"p{k}" for k in range(10)], 20)
    is_first = np.arange(200) < 100
    rows = 1.5 * rng.standard_normal((10, 5)).repeat(20, axis=0) + rng.standard_normal((200, 5))
    rows[is_first, 0] += 3
    by_unit = error_of(rows, is_first, units=units)
    by_specimen = mean_rate_interval(by_unit.first_missed, by_unit.second_missed, 100, 100, 0.95)
    assert by_unit.high - by_unit.low > 1.5 * (by_specimen.high - by_specimen.low)


def test_with_populations_it_is_the_same_from_both_sides():
    rows, is_first = two_groups(24, 36, 1.0)
    units = (np.arange(60) // 6).astype(str)
    one, other = error_of(rows, is_first, units=units), error_of(rows, ~is_first, units=units)
    assert (one.error, one.left_out) == (other.error, other.left_out)
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_identical_groups_give_no_nan():
    error = error_of(np.ones((12, 5)), np.arange(12) < 6)
    assert error.error == 1.0 or error.error == 0.5
    assert np.isfinite([error.low, error.high]).all()


def test_no_error_in_few_specimens_is_not_certainty():
    interval = mean_rate_interval(0.0, 0.0, 8, 8, 0.95)
    assert interval.low == 0.0
    assert 0.1 < interval.high < 0.4


@pytest.mark.parametrize(
    ("file", "column"), [("turtles/turtles.csv", "species"), ("tropheus/tropheus.csv", "taxon")]
)
def test_on_real_groups_it_is_as_good_as_a_plain_discriminant(landmark_folder, file, column):
    table = read_landmark_table(landmark_folder / file)
    groups = table.others[column].to_numpy().astype(np.str_)
    comparisons = comparisons_of(table.landmarks, groups, SpeciesSettings(), Covariates())
    names = np.unique(groups)[:4]
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            error = comparisons.compare(first, second).discriminant.error
            is_in = np.isin(groups, [first, second])
            rows, is_first = comparisons.rows[is_in], groups[is_in] == first
            # The tangent plane has fewer dimensions than there are coordinates.
            found = cross_val_predict(
                LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1e-4, priors=[0.5, 0.5]),
                rows,
                is_first,
                cv=StratifiedKFold(10, shuffle=True, random_state=0),
            )
            plain = (np.mean(~found[is_first]) + np.mean(found[~is_first])) / 2
            assert error <= plain + 0.03, (first, second)
            assert comparisons.compare(second, first).discriminant.error == error

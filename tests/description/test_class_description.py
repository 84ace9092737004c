"""One class: memberships, leaving out and growing, against literal versions."""

import numpy as np
import pytest

from kernova.description.class_description import (
    affinities,
    describe_centered,
    describe_class,
    extended,
    leave_group_out_of_others,
    pivot_rows,
)
from tests.oracles import (
    centered_class_uncertainty,
    class_uncertainty,
    left_out_memberships,
)

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 3))
QUERIES = RNG.normal(size=(12, 3)) * 2
ELL, RIDGE = 1.7, 1e-3


def test_membership_is_the_fraction_a_class_explains():
    expected = [1 - class_uncertainty(x, ROWS, 1.0, ELL, np.sqrt(RIDGE)) for x in QUERIES]
    q = np.exp(describe_class(ROWS, ELL, RIDGE).log_membership(QUERIES))
    np.testing.assert_allclose(q, expected, atol=1e-11)


def test_centred_membership_is_measured_from_the_largest_distance():
    description = describe_centered(ROWS, ELL, RIDGE)
    d = [centered_class_uncertainty(x, ROWS, 1.0, ELL, np.sqrt(RIDGE)) for x in QUERIES]
    top = 1 + description.overall_mean
    np.testing.assert_allclose(
        np.exp(description.log_membership(QUERIES)), 1 - np.array(d) / top, atol=1e-10
    )


@pytest.mark.parametrize("ell", [0.05, 0.5, 1.7, 20.0])
def test_leaving_one_out_is_what_brute_force_gives(ell):
    expected = left_out_memberships(ROWS, ell, RIDGE)
    np.testing.assert_allclose(describe_class(ROWS, ell, RIDGE).left_out, expected, atol=1e-8)


def test_leaving_out_keeps_the_ranks_of_the_smallest_memberships():
    rows = np.arange(8.0)[:, None] + np.linspace(0, 0.7, 8)[:, None]
    q = describe_class(rows, 0.15, 1e-4).left_out  # far below what 1 - d can distinguish
    assert (q > 0).all()
    assert (q < 1e-16).all()
    assert set(np.argsort(q)[:2]) == {0, 7}  # the ends have one neighbour, the others two


def test_leaving_groups_out_is_what_brute_force_gives():
    groups = RNG.integers(0, 7, size=30)
    expected = left_out_memberships(ROWS, ELL, RIDGE, groups)
    np.testing.assert_allclose(
        describe_class(ROWS, ELL, RIDGE, groups).left_out, expected, atol=1e-8
    )


def test_rows_outside_the_description_leave_out_their_group():
    groups = RNG.integers(0, 5, size=30)
    others, groups_of_others = RNG.normal(size=(9, 3)), RNG.integers(0, 8, size=9)
    description = describe_class(ROWS, ELL, RIDGE)
    q = leave_group_out_of_others(
        description, affinities(ROWS, others, ELL), groups, groups_of_others
    )
    expected = [
        1 - class_uncertainty(x, ROWS[groups != group], 1.0, ELL, np.sqrt(RIDGE))
        for x, group in zip(others, groups_of_others, strict=True)
    ]
    np.testing.assert_allclose(q, expected, atol=1e-8)


@pytest.mark.parametrize("n_new", [1, 12])
def test_growing_a_class_is_describing_it_anew(n_new):
    grown = extended(describe_class(ROWS[:-n_new], ELL, RIDGE), ROWS[-n_new:])
    anew = describe_class(ROWS, ELL, RIDGE)
    np.testing.assert_allclose(grown.factor, anew.factor, atol=1e-10)
    np.testing.assert_allclose(grown.left_out, anew.left_out, atol=1e-8)
    np.testing.assert_allclose(
        grown.log_membership(QUERIES), anew.log_membership(QUERIES), atol=1e-9
    )


def test_duplicates_and_single_rows():
    one = describe_class(ROWS[:1], ELL, RIDGE)
    assert np.isnan(one.left_out).all()
    assert np.exp(one.log_membership(ROWS[:1]))[0] == pytest.approx(1 / (1 + RIDGE))
    duplicates = describe_class(np.repeat(ROWS[:2], 40, axis=0), ELL, 1e-8)
    q = np.exp(duplicates.log_membership(ROWS[:2]))
    assert (q < 1).all()
    assert (q > 1 - 1e-6).all()


def test_pivots_are_where_the_others_explain_least():
    kept = list(pivot_rows(ROWS, 8, ELL, np.random.RandomState(0)))
    chosen = [0]
    for _ in range(7):
        description = describe_class(ROWS[chosen], ELL, 1e-12)
        q = np.exp(description.log_membership(ROWS))
        q[chosen] = 2
        chosen.append(int(np.argmin(q)))
    assert kept == sorted(chosen)


def test_pivots_stop_at_duplicates_and_sample_very_many():
    duplicates = np.repeat(ROWS[:3], 5, axis=0)
    assert len(pivot_rows(duplicates, 10, ELL, np.random.RandomState(0))) == 3
    many = RNG.normal(size=(3000, 2))
    kept = pivot_rows(many, 20, 1.0, np.random.RandomState(0))
    assert len(np.unique(kept)) == 20

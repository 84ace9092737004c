"""Bandwidth rules: literal on ordinary rows, sensible on copies, exact at any scale."""

import numpy as np
import pytest

from kernova.kernels.bandwidth import (
    BANDWIDTH_RULES,
    median_bandwidth,
    nearest_bandwidth,
    reach_bandwidth,
)


def literal_nearest(X, statistic):
    distances = [
        min(np.linalg.norm(x - y) for j, y in enumerate(X) if j != i) for i, x in enumerate(X)
    ]
    return statistic(distances)


@pytest.mark.parametrize("columns", [1, 3, 30])
def test_rules_are_what_they_say(columns):
    X = np.random.default_rng(columns).normal(size=(60, columns)) + 1e3
    assert nearest_bandwidth(X) == pytest.approx(literal_nearest(X, np.median), rel=1e-12)
    assert reach_bandwidth(X) == pytest.approx(
        literal_nearest(X, lambda d: np.quantile(d, 0.9) / 2), rel=1e-12
    )
    medians = [np.median([np.linalg.norm(x - y) for y in X]) for x in X]
    assert median_bandwidth(X) == pytest.approx(np.median(medians), rel=1e-12)


@pytest.mark.parametrize("rule", BANDWIDTH_RULES.values())
def test_copies_never_give_a_width_of_zero(rule):
    mostly_copies = np.repeat([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]], [20, 3, 1], axis=0)
    assert 0 < rule(mostly_copies) <= 5
    assert rule(np.ones((7, 2))) == pytest.approx(1.0, rel=0.5)
    assert rule(np.ones((1, 2))) > 0


@pytest.mark.parametrize("rule", BANDWIDTH_RULES.values())
@pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
def test_scale_goes_through_exactly(rule, exponent):
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert rule(np.ldexp(X, exponent)) == np.ldexp(rule(X), exponent)


@pytest.mark.parametrize("rule", BANDWIDTH_RULES.values())
def test_row_order_does_not_matter(rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    assert rule(rng.permutation(X)) == pytest.approx(rule(X), rel=1e-12)


@pytest.mark.parametrize("rule", BANDWIDTH_RULES.values())
def test_many_rows_have_one_width_in_whatever_order_and_unit(rule):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(4500, 3)), 1)  # with many ties and duplicates
    width = rule(X)
    assert rule(X.copy()) == width
    assert rule(rng.permutation(X)) == pytest.approx(width, rel=1e-12)
    assert rule(np.ldexp(X, 300)) == np.ldexp(width, 300)


@pytest.mark.parametrize("copies", [0, 3200])
def test_median_of_many_rows_is_close_to_the_whole(copies):
    X = np.random.default_rng(0).normal(size=(5000, 2))
    X[:copies] = X[0]  # as large a part of the sample as of the rows
    whole = np.median([np.median(np.linalg.norm(X - x, axis=1)) for x in X])
    if whole == 0:
        whole = nearest_bandwidth(X)
    assert median_bandwidth(X) == pytest.approx(whole, rel=0.02)

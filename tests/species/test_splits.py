"""Random splits, their errors and the permutation test of small groups."""

import numpy as np
import pytest
from scipy.stats import beta

from kernova import KernelSpatialDepth
from kernova.kernels.bandwidth import chosen_bandwidth
from kernova.kernels.functions import Gaussian
from kernova.species.space import SpeciesSettings
from kernova.species.splits import (
    depth_forms,
    depth_gaps,
    depth_permutation_p_value,
    exact_bounds,
    is_compared_whole,
    kernel_width,
    smallest_whole_p_value,
    split_in_half,
    whole_group_p_value,
)
from tests.oracles import gaussian, kernel_spatial_depth
from tests.species.drawn_shapes import drawn


def test_halves_keep_groups_and_do_not_depend_on_the_unknown():
    groups = np.array(["a"] * 9 + ["b"] * 4 + ["c"] + ["d"] * 6)
    known = np.flatnonzero(groups != "d")

    split = split_in_half(groups, known, seed=3, number=1)

    assert sorted([*split.reference, *split.holdout]) == list(known)
    for name, expected in (("a", 4), ("b", 2)):
        assert (groups[split.reference] == name).sum() == expected
    fewer = split_in_half(groups, np.flatnonzero(groups < "b"), seed=3, number=1)
    assert set(fewer.reference) == {k for k in split.reference if groups[k] == "a"}
    other = split_in_half(groups, known, seed=3, number=2)
    assert not np.array_equal(other.reference, split.reference)


def test_exact_bounds_are_those_of_clopper_and_pearson():
    known, unknown = np.linspace(0.3, 1, 40), np.r_[np.full(7, 0.1), 0.36, 0.9]

    bounds = exact_bounds(known, unknown, 0.95)

    assert bounds["exact_false_alarm_bound"] == pytest.approx(beta.ppf(0.95, 3, 38))
    assert bounds["exact_detection_rate"] == pytest.approx(7 / 9)
    assert bounds["exact_detection_at_least"] == pytest.approx(beta.ppf(0.05, 7, 3))
    assert exact_bounds(known, known, 0.95)["exact_detection_at_least"] < 0.2


@pytest.mark.parametrize("rule", ["nearest", "reach", "median", 0.3])
@pytest.mark.parametrize("copies", [0, 4, 12])
def test_width_of_few_rows_is_that_of_the_rule(rule, copies):
    rows = np.random.default_rng(copies).standard_normal((12, 3))
    rows[:copies] = rows[0]

    found = kernel_width(rule, rows)

    assert found == pytest.approx(chosen_bandwidth(rule, rows), rel=1e-12)


def test_gaps_are_differences_of_depths_pair_by_pair():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((9, 3))
    is_member = np.array([[True] * 5 + [False] * 4, [False] * 7 + [True, True]])

    gaps = depth_gaps(depth_forms(Gaussian(1.5).squared_distance(rows, rows)), is_member)

    for gap, inside in zip(gaps, is_member, strict=True):
        depths = np.array(
            [kernel_spatial_depth(x, rows[inside], lambda a, b: gaussian(a, b, 1.5)) for x in rows]
        )
        assert gap == pytest.approx(depths[inside].mean() - depths[~inside].mean(), abs=1e-9)
        model = KernelSpatialDepth(bandwidth=1.5, far_rows="literal").fit(rows[inside])
        np.testing.assert_allclose(model.score_samples(rows), depths, atol=1e-9)


def test_exchanging_specimens_keeps_the_level(long_bar):
    rng = np.random.default_rng(0)
    n_draws = long_bar(1000)

    p_values = np.array(
        [
            depth_permutation_p_value(
                rng.standard_t(3, size=(14, 4)) * [1, 2, 3, 4], 5, "nearest", rng
            )
            for _ in range(n_draws)
        ]
    )

    for level in (0.05, 0.2, 0.5):
        assert np.mean(p_values <= level) <= level + 3.1 * np.sqrt(level / n_draws)
    assert np.mean(p_values <= 0.5) >= 0.5 - 3.1 * np.sqrt(0.5 / n_draws)


@pytest.mark.parametrize("scattered", ["known", "unknown", "neither"])
def test_distant_groups_are_separated_whichever_is_scattered(scattered):
    rng = np.random.default_rng(0)
    unknown = rng.standard_normal((6, 4)) * (1 if scattered == "unknown" else 0.1)
    known = rng.standard_normal((6, 4)) * (1 if scattered == "known" else 0.1) + 1

    p_value = depth_permutation_p_value(np.concatenate([unknown, known]), 6, "nearest", rng)

    assert p_value < 0.02


def test_equal_rows_have_a_p_value_of_one():
    assert depth_permutation_p_value(np.ones((8, 2)), 3, "nearest", np.random.default_rng(0)) == 1


def test_the_space_is_learnt_from_the_other_groups_alone():
    landmarks, groups = drawn({"a": 8, "b": 30, "c": 30, "new": 6})
    known, unknown = np.flatnonzero(groups == "a"), np.flatnonzero(groups == "new")
    others = np.flatnonzero((groups != "a") & (groups != "new"))
    settings = SpeciesSettings(components=5)

    p_value = whole_group_p_value(landmarks.coordinates, groups, known, unknown, others, settings)
    renamed = np.where(groups == "new", "a", groups)

    assert p_value <= 0.01
    # The names of the two groups in question play no part.
    assert p_value == whole_group_p_value(
        landmarks.coordinates, renamed, known, unknown, others, settings
    )
    half = split_in_half(renamed, np.flatnonzero(renamed == "a"), 0, 0)
    mixed = whole_group_p_value(landmarks.coordinates, renamed, *half, others, settings)
    assert mixed > p_value


def test_the_numbers_of_specimens_determine_the_test():
    assert is_compared_whole(19, 41, 10)
    assert not is_compared_whole(20, 5, 100)
    assert not is_compared_whole(19, 42, 100)
    assert not is_compared_whole(5, 5, 9)
    assert smallest_whole_p_value(3, 2) == 0.1
    assert smallest_whole_p_value(19, 30) == 0.001

"""Comparisons of two groups: what is ruled out, and what size or covariates may explain."""

from dataclasses import replace

import numpy as np
import pytest

from kernova.shapes import Landmarks
from kernova.species.covariates import Covariates
from kernova.species.pairs import (
    COVARIATE_MAY_EXPLAIN,
    NOT_RULED_OUT,
    RULED_OUT,
    SIZE_MAY_EXPLAIN,
    TOO_FEW_SPECIMENS,
    comparisons_of,
)
from kernova.species.space import SpeciesSettings
from tests.species.drawn_shapes import OUTLINE, drawn

SETTINGS = SpeciesSettings()


def compared(landmarks, groups, first, second, settings=SETTINGS, covariates=None):
    comparisons = comparisons_of(landmarks, groups, settings, covariates or Covariates())
    return comparisons.compare(first, second)


def grown(sizes, n_young, seed=0):
    """Groups in which the outline becomes longer with size; the first specimens are young."""
    landmarks, groups = drawn(sizes, seed=seed, noise=0.03)
    rng = np.random.default_rng(seed)
    log_sizes = rng.normal(0, 0.1, len(groups))
    for name in sizes:
        members = np.flatnonzero(groups == name)
        log_sizes[members[:n_young]] -= 1.0
    shapes = np.empty_like(landmarks.coordinates)
    ways = np.random.default_rng([0, 7]).standard_normal((12, *OUTLINE.shape))
    for k, (size, group) in enumerate(zip(log_sizes, groups, strict=True)):
        bent = OUTLINE + 0.6 * ways[list(sizes).index(group)] / np.linalg.norm(ways[0])
        bent = bent * [1 + 0.25 * size, 1] + 0.03 * rng.standard_normal(OUTLINE.shape)
        shapes[k] = bent * np.exp(size) / np.linalg.norm(bent - bent.mean(0))
    return Landmarks(landmarks.ids, shapes), groups


def test_groups_apart_are_ruled_out_and_random_halves_are_not():
    landmarks, groups = drawn({"a": 40, "b": 20})
    assert compared(landmarks, groups, "b", "a").status == RULED_OUT
    halves = np.where(groups == "a", np.where(np.arange(60) % 2, "a1", "a2"), groups)
    pair = compared(landmarks, halves, "a1", "a2")
    assert pair.status == NOT_RULED_OUT
    assert np.isnan(pair.adjusted_p_value)


def test_a_pair_is_the_same_from_both_sides():
    landmarks, groups = drawn({"a": 30, "b": 9, "c": 12}, distance=0.2)
    one = compared(landmarks, groups, "a", "b").line()
    other = compared(landmarks, groups, "b", "a").line()
    assert other.pop("smaller") == pytest.approx(1 - one.pop("smaller"))
    assert other.pop("dispersion_ratio") == pytest.approx(1 / one.pop("dispersion_ratio"))
    for name, value in one.items():
        expected = value if isinstance(value, str) else pytest.approx(value, nan_ok=True)
        assert other[name] == expected, name


def test_three_specimens_are_too_few_beside_three():
    landmarks, groups = drawn({"a": 3, "b": 3, "c": 20})
    assert compared(landmarks, groups, "a", "b").status == TOO_FEW_SPECIMENS


def test_young_specimens_of_a_group_are_not_ruled_out_of_it():
    landmarks, groups = grown({"a": 60, "b": 60}, n_young=15)
    labels = groups.astype("<U8")
    labels[:15] = "young"
    pair = compared(landmarks, labels, "young", "a")
    assert pair.p_value <= 0.05
    assert pair.status == SIZE_MAY_EXPLAIN
    assert pair.size.first_smaller > 0.95
    assert compared(landmarks, labels, "young", "b").status == RULED_OUT


def test_with_size_as_a_variable_growth_is_a_difference():
    landmarks, groups = grown({"a": 60, "b": 60}, n_young=15)
    labels = groups.astype("<U8")
    labels[:15] = "young"
    pair = compared(landmarks, labels, "young", "a", SpeciesSettings(size=True))
    assert pair.size is None
    assert pair.status == RULED_OUT


def test_the_other_sex_is_not_ruled_out_where_sex_is_given():
    landmarks, groups = drawn({"females": 30, "males": 30, "b": 30}, distance=0.3)
    sex = np.where(groups == "females", "F", "M")
    sex[groups == "b"] = np.where(np.arange(30) % 2, "F", "M")
    assert compared(landmarks, groups, "females", "males").status == RULED_OUT
    given = Covariates({"sex": sex})
    pair = compared(landmarks, groups, "females", "males", covariates=given)
    assert pair.status == COVARIATE_MAY_EXPLAIN
    assert pair.adjusted_p_value == 1.0
    assert compared(landmarks, groups, "females", "b", covariates=given).status == RULED_OUT


def test_populations_that_differ_are_no_groups():
    landmarks, groups = drawn({f"p{k}": 12 for k in range(10)}, distance=0.4)
    population = groups.copy()
    groups = np.where(np.isin(groups, ["p0", "p2", "p4", "p6", "p8"]), "a", "b")
    assert compared(landmarks, groups, "a", "b").status == RULED_OUT
    pair = compared(landmarks, groups, "a", "b", covariates=Covariates({"population": population}))
    assert pair.exchanged == "populations"
    assert pair.discriminant.left_out == "populations"
    assert pair.status == NOT_RULED_OUT


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

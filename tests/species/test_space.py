"""The shape space of the reference specimens."""

import numpy as np
import pytest

from kernova.kernels.gram import principal_directions
from kernova.shapes.features import shape_features
from kernova.species.scores import fit_score
from kernova.species.space import SpeciesSettings, fit_shape_space, within_group_weight
from kernova.species.splits import area_under_curve, fit_split, split_in_half
from kernova.species.study import study_unknown
from tests.species.drawn_shapes import drawn

QUICK = SpeciesSettings(halvings=4, components=5)


def test_the_space_is_learnt_from_the_reference_alone():
    landmarks, groups = drawn({"a": 20, "b": 20, "new": 10})
    known, unknown = np.flatnonzero(groups != "new"), np.flatnonzero(groups == "new")
    split = split_in_half(groups, known, 0, 0)
    spoilt = landmarks.coordinates.copy()
    spoilt[split.holdout] += np.random.default_rng(1).normal(size=spoilt[split.holdout].shape)
    spoilt[unknown] *= [3, -1]

    first = fit_split(landmarks.coordinates, groups, split, unknown, QUICK)
    second = fit_split(spoilt, groups, split, unknown, QUICK)

    for name in ("center", "weight", "components"):
        np.testing.assert_array_equal(getattr(first.space, name), getattr(second.space, name))
    np.testing.assert_array_equal(
        first.placed.rows[split.reference], second.placed.rows[split.reference]
    )
    assert not np.allclose(first.placed.rows[unknown], second.placed.rows[unknown])


def test_weights_bring_variance_within_groups_to_its_root():
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], 5000)
    rows = rng.standard_normal((10000, 2)) * [0.01, 1] + np.where(groups == "a", 0, 9)[:, None]

    weighted = rows @ within_group_weight(rows, groups, "within")

    within = weighted[:5000].var(axis=0)
    # A twentieth of the mean variance is added to both.
    expected = np.array([1e-4, 1]) / np.sqrt(np.array([1e-4, 1]) + 0.05 * 0.50005)
    np.testing.assert_allclose(within, expected, rtol=0.1)
    np.testing.assert_array_equal(within_group_weight(rows, groups, "none"), np.eye(2))


def test_remainder_is_what_components_do_not_show():
    landmarks, groups = drawn({"a": 30, "b": 30})
    space = fit_shape_space(landmarks.coordinates, groups, SpeciesSettings(components=3))
    whole = fit_shape_space(
        landmarks.coordinates, groups, SpeciesSettings(components=99, remainder=False)
    )

    rows, every = (one.place(landmarks.coordinates).rows for one in (space, whole))

    assert space.names == ("component 1", "component 2", "component 3", "remainder")
    np.testing.assert_allclose(rows[:, :3], every[:, :3], atol=1e-9)
    np.testing.assert_allclose(rows[:, 3], np.linalg.norm(every[:, 3:], axis=1), atol=1e-9)
    directions = principal_directions(every, 4)
    np.testing.assert_allclose(directions.T @ directions, np.eye(4), atol=1e-12)


def test_leaking_the_unknown_into_the_space_lowers_the_errors(cichlids):
    """Components fitted with the unknown point at it: the error rates would be too low."""
    landmarks, groups = cichlids
    settings = SpeciesSettings(weighting="none", remainder=False, score="depth")
    unknown = np.flatnonzero(groups == "Perissodini")
    split = split_in_half(groups, np.flatnonzero(groups != "Perissodini"), 0, 0)

    honest = fit_split(landmarks.coordinates, groups, split, unknown, settings)
    leaky = fit_shape_space(landmarks.coordinates, groups, settings)
    rows = leaky.place(landmarks.coordinates).rows
    score = fit_score(rows[split.reference], groups[split.reference], "depth")
    depths = score.typicality(rows)

    leaked = area_under_curve(depths[split.holdout], depths[unknown])
    fair = area_under_curve(honest.holdout_scores, honest.unknown_scores)
    assert fair + 0.005 < leaked


def test_features_and_size_may_replace_components():
    landmarks, groups = drawn({"a": 20, "b": 20, "new": 12})
    features = shape_features({"slender": "|4-9| / |1-6|", "snout": "angle(1-2, vertical)"})
    settings = SpeciesSettings(features=features, size=True, halvings=2)

    study = study_unknown(landmarks, groups, "new", settings)

    assert study.first.space.names == ("slender", "snout", "size")
    rows = study.first.placed.rows[study.first.reference]
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(rows.std(axis=0), 1, atol=1e-9)
    sizes = np.log(study.first.placed.centroid_sizes)
    assert np.corrcoef(sizes, study.first.placed.rows[:, 2])[0, 1] == pytest.approx(1)

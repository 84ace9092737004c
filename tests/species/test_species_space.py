import numpy as np

from kernova.linalg import principal_directions
from kernova.species.space import SpeciesSettings, fit_shape_space, within_group_weight
from kernova.species.splits import halved, halving_of
from tests.species.drawn_shapes import drawn

QUICK = SpeciesSettings(halvings=4, components=5)


def test_the_space_is_learnt_from_the_reference_alone():
    landmarks, groups = drawn({"a": 20, "b": 20, "new": 10})
    known, unknown = np.flatnonzero(groups != "new"), np.flatnonzero(groups == "new")
    split = halved(groups, known, 0, 0)
    spoilt = landmarks.coordinates.copy()
    spoilt[split.holdout] += np.random.default_rng(1).normal(size=spoilt[split.holdout].shape)
    spoilt[unknown] *= [3, -1]

    first = halving_of(landmarks.coordinates, groups, split, unknown, QUICK)
    second = halving_of(spoilt, groups, split, unknown, QUICK)

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

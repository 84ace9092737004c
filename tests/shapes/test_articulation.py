"""Articulated structures: jaws that were opened by known angles are closed again."""
# ruff: noqa: E501 -- one case, one line

import numpy as np
import pytest

from kernova.shapes.articulation import fixed_angle
from tests.shapes.bad_inputs import error

# A skull of four landmarks, the joint, and a jaw of three.
SKULL = np.array([[0.0, 0.0], [4.0, 1.0], [6.0, 0.5], [2.0, 2.0]])
JAW = np.array([[3.0, -1.0], [5.0, -1.5], [6.0, -0.8]])
PARTS = {"joint": 0, "reference": [1, 2], "rotating": [4, 5, 6]}


def turned(points, angle):
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return points @ turn


def opened(angles, *, moved=False):
    """Skulls with jaws opened by some angles, each skull in another position and direction."""
    rng = np.random.default_rng(0)
    specimens = []
    for angle in angles:
        whole = np.vstack([SKULL, turned(JAW, angle)])
        if moved:
            whole = turned(whole, rng.uniform(-np.pi, np.pi)) * rng.uniform(1, 5) + rng.normal(
                size=2
            )
        specimens.append(whole)
    return np.array(specimens)


ANGLES = np.array([-0.3, 0.0, 0.1, 0.4])


@pytest.mark.parametrize("ray", [None, 5])
def test_opened_jaws_are_brought_to_the_mean_angle(ray):
    fixed = fixed_angle(opened(ANGLES), **PARTS, ray=ray)

    np.testing.assert_allclose(np.diff(fixed.angles), np.diff(ANGLES))
    assert fixed.angle == pytest.approx(fixed.angles.mean())
    expected = opened([ANGLES.mean()] * 4)
    np.testing.assert_allclose(fixed.coordinates, expected, atol=1e-14)


def test_position_direction_and_size_do_not_matter():
    specimens = opened(ANGLES, moved=True)
    before = specimens.copy()
    fixed = fixed_angle(specimens, **PARTS)

    np.testing.assert_array_equal(specimens, before)
    np.testing.assert_array_equal(fixed.coordinates[:, :4], specimens[:, :4])
    np.testing.assert_allclose(np.diff(fixed.angles), np.diff(ANGLES))
    distances = np.linalg.norm(fixed.coordinates[:, :, None] - fixed.coordinates[:, None], axis=3)
    shapes = distances / distances[:, :1, 1:2]
    np.testing.assert_allclose(shapes, np.broadcast_to(shapes[0], shapes.shape), atol=1e-12)


def test_every_specimen_gets_the_angle_asked_for():
    fixed = fixed_angle(opened(ANGLES, moved=True), **PARTS, angle=-0.7)
    again = fixed_angle(fixed.coordinates, **PARTS)

    assert fixed.angle == -0.7
    np.testing.assert_allclose(again.angles, -0.7)


def test_angles_on_both_sides_of_half_a_turn_have_their_own_mean():
    """Means of 3.1 and -3.1 radians are at pi, not at 0."""
    shapes = [[[0.0, 0.0], [1.0, 0.0], [np.cos(a), np.sin(a)]] for a in (3.1, -3.1, 3.0)]
    fixed = fixed_angle(shapes, joint=0, reference=1, rotating=2)
    assert fixed.angle == pytest.approx((3.1 + 2 * np.pi - 3.1 + 3.0) / 3)


TRIANGLE = np.array([[[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]]])
GOOD = {"joint": 0, "reference": 1, "rotating": 2}


@pytest.mark.parametrize(
    ("specimens", "options", "message"),
    [
        (np.zeros((1, 3, 3)), {}, "Angles at a joint are fixed in the plane only; the landmarks have 3 coordinates. Give the two coordinates of the plane in which the part rotates."),
        (TRIANGLE[0], {}, "coordinates must be specimens × landmarks × 2; got an array of shape (3, 2)."),
        (np.where(TRIANGLE > 1, np.nan, TRIANGLE), {}, "1 of 1 specimens lack landmarks. Estimate them first with GeneralizedProcrustes, or leave these specimens out."),
        (TRIANGLE, {"joint": 3}, "joint must hold landmarks from 0 to 2; got [3]."),
        (TRIANGLE, {"rotating": [2, 2]}, "rotating must hold one or more landmarks, each once; got [2, 2]."),
        (TRIANGLE, {"rotating": [1, 2]}, "Landmarks [1] belong to both reference and rotating. Keep each in one of them."),
        (TRIANGLE, {"ray": 0}, "ray must hold landmarks of the rotating part; [0] are not in rotating."),
        (TRIANGLE, {"reference": 0}, "joint must be one landmark, and another than reference and ray; got [0]."),
        (TRIANGLE * [[[1, 1], [0, 0], [1, 1]]], {}, "In specimen 0 (counted from 0) the joint lies on the centroid of reference, so there is no angle. Give other landmarks, or leave it out."),
        (TRIANGLE, {"angle": 10}, "angle must lie from -2 pi to 2 pi radians; got 10."),
        (np.concatenate([TRIANGLE, TRIANGLE * [[[1, 1], [1, 1], [-1, -1]]]]), {}, "The angles at the joint have no mean direction. Give the angle wanted."),
    ],
)  # fmt: skip
def test_joints_that_cannot_be_fixed_raise(specimens, options, message):
    with error(message):
        fixed_angle(specimens, **{**GOOD, **options})

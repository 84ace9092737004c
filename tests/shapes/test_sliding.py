"""Sliding semilandmarks: geomorph's numbers, a literal version, and what sliding must do."""
# ruff: noqa: E501 -- one case, one line

import re

import numpy as np
import pytest

from kernova import GeneralizedProcrustes, InputError
from kernova.shapes import read_tps
from kernova.shapes.curves import landmarks_with_curves
from kernova.shapes.sliding import bending_energy_matrix, fit_sliding, slide_semilandmarks
from kernova.shapes.tangent import tangent_projection
from tests.shapes.bad_inputs import error
from tests.shapes.geomorph_results import results
from tests.shapes.literal_sliding import (
    literal_bending_energy,
    literal_slide,
    literal_sliding,
    rotated,
)

CRITERIA = ["bending", "procrustes"]
MADE_UP = ["made_up_2d", "made_up_3d"]


def made_up(name):
    given = results("sliding")[name]
    return np.array(given["coordinates"]), np.array(given["curves"]), given


def squares_of(shapes):
    return np.square(shapes - shapes.mean(axis=0)).sum()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", MADE_UP)
def test_sliding_is_that_of_geomorph(name, criterion):
    """Bar: every aligned coordinate of gpagen with PrinAxes=FALSE, to 1e-8."""
    specimens, curves, given = made_up(name)
    expected = given[criterion]

    slid = slide_semilandmarks(specimens, curves, criterion=criterion)

    np.testing.assert_allclose(slid.coordinates, expected["coords"], atol=1e-8)
    np.testing.assert_allclose(slid.consensus, expected["consensus"], atol=1e-8)
    np.testing.assert_allclose(slid.centroid_sizes, expected["centroid_sizes"], atol=1e-8)
    centred = slid.coordinates - slid.coordinates.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=(1, 2))
    np.testing.assert_allclose(sizes, expected["sizes_after"], atol=1e-8)
    assert squares_of(slid.coordinates) == pytest.approx(expected["total_SS"], abs=1e-8)
    projected = tangent_projection(slid.coordinates, slid.consensus)
    assert squares_of(projected) == pytest.approx(expected["projected_total_SS"], abs=1e-8)
    # geomorph counts the first rotation, and the round that it does not begin.
    assert slid.n_rounds == expected["iterations"] - 2
    assert not slid.is_converged


@pytest.mark.parametrize("criterion", CRITERIA)
def test_sliding_of_snails_is_that_of_geomorph(data_folder, criterion):
    path = data_folder / "landmarks" / "tps_as_written" / "littorina_all_landmarks.TPS"
    if not path.is_file():
        pytest.skip(f"no landmarks at {path}")
    expected = results("sliding")["littorina_summary"][criterion]
    snails, curves = landmarks_with_curves(read_tps(path))

    slid = slide_semilandmarks(snails.coordinates, curves, criterion=criterion)

    assert snails.coordinates.shape == (155, 29, 2)
    assert len(curves) == 18
    assert squares_of(slid.coordinates) == pytest.approx(expected["total_SS"], abs=1e-8)
    projected = tangent_projection(slid.coordinates, slid.consensus)
    assert squares_of(projected) == pytest.approx(expected["projected_total_SS"], abs=1e-8)
    assert slid.centroid_sizes.sum() == pytest.approx(expected["sum_of_centroid_sizes"])
    centred = slid.coordinates - slid.coordinates.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=(1, 2)).sum()
    assert sizes == pytest.approx(expected["sum_of_sizes_after_sliding"], abs=1e-8)
    squares = np.square(slid.consensus).sum()
    assert squares == pytest.approx(expected["consensus_squares"], abs=1e-8)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", MADE_UP)
def test_sliding_is_that_of_the_whole_matrices(name, criterion):
    specimens, curves, _ = made_up(name)
    expected, consensus = literal_sliding(specimens, curves.tolist(), criterion, 3)

    slid = slide_semilandmarks(specimens, curves, criterion=criterion, tolerance=0, max_iter=3)

    np.testing.assert_allclose(slid.coordinates, expected, atol=1e-12)
    np.testing.assert_allclose(slid.consensus, consensus, atol=1e-12)


@pytest.mark.parametrize("name", MADE_UP)
def test_bending_energy_is_zero_for_affine_changes_alone(name):
    specimens, _, _ = made_up(name)
    reference = specimens[0] / 50
    energy = bending_energy_matrix(reference)

    np.testing.assert_allclose(energy, literal_bending_energy(reference), rtol=1e-7, atol=1e-9)
    affine = np.column_stack([np.ones(len(reference)), reference])
    size = np.abs(energy).max()
    np.testing.assert_allclose(energy @ affine, 0, atol=1e-10 * size)
    bent = reference[:, 0] ** 2
    # In space the kernel r is conditionally negative definite.
    sign = 1 if reference.shape[1] == 2 else -1
    assert sign * bent @ energy @ bent > 0


def test_coinciding_landmarks_have_a_bending_energy():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    energy = bending_energy_matrix(square)
    assert np.isfinite(energy).all()
    np.testing.assert_allclose(energy @ square, 0, atol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", MADE_UP)
def test_points_move_along_their_tangents_to_the_minimum(name, criterion):
    """One round from a known place: no other moves along the tangents are better."""
    specimens, curves, _ = made_up(name)
    start, target = specimens[1] / 60, specimens[0] / 53
    slid = literal_slide(start, target, curves.tolist(), criterion)
    d = start.shape[1]
    energy = literal_bending_energy(target) if criterion == "bending" else np.eye(len(start))
    energy = energy * (-1 if criterion == "bending" and d == 3 else 1)

    def cost(points):
        return float(np.einsum("pd,pq,qd->", points - target, energy, points - target))

    rng = np.random.default_rng(0)
    tangents = start[curves[:, 2]] - start[curves[:, 0]]
    for _ in range(20):
        other = slid.copy()
        other[curves[:, 1]] += 1e-3 * rng.standard_normal((len(curves), 1)) * tangents
        assert cost(other) > cost(slid)


def energy_of(shapes, criterion):
    mean = shapes.mean(axis=0)
    matrix = bending_energy_matrix(mean) if criterion == "bending" else np.eye(len(mean))
    return float(np.einsum("npd,pq,nqd->", shapes - mean, matrix, shapes - mean))


@pytest.mark.parametrize(("criterion", "fraction"), [("bending", 0.05), ("procrustes", 0.1)])
def test_points_of_one_curve_come_together(criterion, fraction):
    """The same outline, digitised at other places of it: little is left of what is minimised."""
    rng = np.random.default_rng(0)
    places = np.linspace(-3, 3, 22)

    def outline():
        x = places + np.concatenate([[0], rng.uniform(-0.1, 0.1, 20), [0]])
        return np.vstack([np.column_stack([x, 1 - x**2 / 9]), [[-1.0, -1.5], [2.0, -1.0]]])

    shapes = np.array([outline() for _ in range(10)])
    curves = [[k - 1, k, k + 1] for k in range(1, 21)]
    as_digitised = GeneralizedProcrustes().fit_transform(shapes)

    slid = slide_semilandmarks(shapes, curves, criterion=criterion)

    left = energy_of(slid.coordinates, criterion) / energy_of(as_digitised, criterion)
    assert left < fraction


@pytest.mark.parametrize("criterion", CRITERIA)
def test_fixed_landmarks_are_only_rotated(criterion):
    specimens, curves, _ = made_up("made_up_2d")
    slid = slide_semilandmarks(specimens, curves, criterion=criterion)
    fixed = np.setdiff1d(np.arange(11), curves[:, 1])

    for before, after, size in zip(specimens, slid.coordinates, slid.centroid_sizes, strict=True):
        own = (before - before.mean(axis=0))[fixed] / size
        np.testing.assert_allclose(rotated(own, after[fixed]), after[fixed], atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", MADE_UP)
def test_new_specimens_slide_to_the_consensus_each_by_itself(name, criterion):
    specimens, curves, _ = made_up(name)
    model = fit_sliding(specimens[:6], curves, criterion=criterion)

    both = model.slide(specimens[6:])

    np.testing.assert_allclose(
        model.slide(specimens[7:]).coordinates, both.coordinates[1:], atol=1e-12
    )
    sizes = [np.linalg.norm(one - one.mean(axis=0)) for one in specimens[6:]]
    np.testing.assert_allclose(both.centroid_sizes, sizes)
    np.testing.assert_array_equal(both.consensus, model.reference.consensus)
    moved = model.slide(4 * specimens[6:] - 9)
    np.testing.assert_allclose(moved.coordinates, both.coordinates, atol=1e-12)
    if specimens.shape[2] == 2:
        turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
        turned = model.slide(specimens[6:] @ turn)
        np.testing.assert_allclose(turned.coordinates, both.coordinates, atol=1e-12)


ARC = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1.0, -2.0]])
NO_TANGENT = (
    "Specimen 2 (counted from 1): point 2 has no tangent: the points 1 and 3 beside it coincide "
    "(counted from 1). Correct them, or leave the specimen out."
)


@pytest.mark.parametrize(
    ("specimens", "curves", "options", "message"),
    [
        (ARC, [[0, 1, 2]], {}, "coordinates has shape (4, 2); give specimens × landmarks × 2 (or 3), one specimen or more."),
        ([ARC, np.ones((4, 2))], [[0, 1, 2]], {}, "Specimen 2 (counted from 1) has no shape: all of its landmarks coincide. Leave it out."),
        ([ARC, np.where(ARC > 1, np.nan, ARC)], [[0, 1, 2]], {}, "Specimen 2 (counted from 1) has missing or infinite coordinates. Estimate missing landmarks first, with GeneralizedProcrustes, or leave the specimen out."),
        ([ARC], [[0, 1]], {}, "curves has shape (1, 2); give rows [before, slide, after], one or more."),
        ([ARC], [[0, 1.5, 2]], {}, "curves has the type float64; give whole numbers."),
        ([ARC], [[1, 2, 4]], {}, "curves names landmark 4, but the 4 landmarks are counted from 0 to 3. Subtract 1 from numbers counted from 1."),
        ([ARC], [[0, 1, 0]], {}, "A row of curves is [1, 2, 1], counted from 1; give three different landmarks."),
        ([ARC], [[0, 1, 2], [2, 1, 3]], {}, "Landmark 2 (counted from 1) slides in 2 rows of curves; a point slides along one curve. Leave out the others."),
        ([ARC, ARC * [[1, 1], [1, 1], [0, 0], [1, 1]]], [[0, 1, 2]], {}, NO_TANGENT),
        ([ARC], [[0, 1, 2]], {"criterion": "energy"}, "criterion is 'energy'; choose one of bending, procrustes."),
        ([ARC], [[0, 1, 2]], {"tolerance": -1}, "tolerance must be at least 0 and below 1; got -1."),
        ([ARC], [[0, 1, 2]], {"max_iter": 0}, "max_iter must be a whole number of at least 1; got 0."),
    ],
)  # fmt: skip
def test_what_cannot_slide_raises(specimens, curves, options, message):
    with error(message):
        slide_semilandmarks(specimens, curves, **options)


def test_new_specimens_need_the_same_landmarks():
    model = fit_sliding([ARC, ARC * [1.2, 1]], [[0, 1, 2]], criterion="procrustes")
    message = (
        "The specimens have 3 landmarks in 2 dimensions, the reference 4 in 2. Give the same "
        "landmarks, in the same order."
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        model.slide(ARC[None, :3])

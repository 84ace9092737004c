"""Preparation of digitised specimens: curves slide, and sides are averaged."""

from dataclasses import replace

import numpy as np
import pytest

from kernova import InputError
from kernova.shapes import Landmarks
from kernova.shapes.curves import landmarks_with_curves
from kernova.shapes.preparation import distinct_ids, prepare_landmarks
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.shapes.sliding import slide_semilandmarks
from kernova.shapes.symmetry import symmetric_components
from tests.shapes.drawn_shapes import fish, moved

SLIDERS = np.array([[0, 1, 2], [1, 2, 3]])
HALF = np.array([[0.0, 1.0], [1.0, 2.0], [2.5, 1.5], [3.0, 0.5]])
BEETLE = np.concatenate([HALF, HALF * [1, -1], [[-1.0, 0.0], [4.0, 0.0]]])
PAIRS = [(0, 4), (1, 5), (2, 6), (3, 7)]
STOPPED = (
    "Sliding stopped after 9 rounds, before it converged; places along curves are approximate."
)


def named(coordinates, source="fish.tps", **entries):
    ids = tuple(f"s{k}" for k in range(len(coordinates)))
    return Landmarks(ids, coordinates, source=source, **entries)


def curved(n, seed=0, source="fish.tps"):
    """Fish with one curve of five points, from the first landmark to the fourth."""
    points = fish(n, seed, noise=0.1)
    at = np.linspace(0, 1, 5)[:, None]
    bulge = np.sin(np.pi * at)
    curves = []
    for one in points:
        along = one[3] - one[0]
        across = np.array([-along[1], along[0]])
        curves.append(((1 - at) * one[0] + at * one[3] + 0.3 * bulge * across,))
    return named(points, source, curves=tuple(tuple(lines) for lines in curves))


def beetles(n, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    return named(
        moved(BEETLE + noise * rng.standard_normal((n, *BEETLE.shape)), seed), "beetle.tps"
    )


def shapes(coordinates):
    """Specimens aligned together, so that position, size and direction do not count."""
    return GeneralizedProcrustes(coordinates.shape[2]).fit(coordinates).align(coordinates)


def centroid_sizes(coordinates):
    centred = coordinates - coordinates.mean(axis=1, keepdims=True)
    return np.linalg.norm(centred, axis=(1, 2))


# --- nothing to prepare ---------------------------------------------------------------------


def test_plain_landmarks_stay_as_they_are():
    known, new = named(fish(5)), named(fish(3, seed=1), "new.tps")
    found = prepare_landmarks([known, new])
    assert found[0] is known
    assert found[1] is new


def test_sets_with_other_landmarks_are_left_to_the_study():
    known, new = named(fish(5)), named(fish(3)[:, :4])
    assert prepare_landmarks([known, new], sliders=SLIDERS) == (known, new)


def test_curves_may_be_ignored():
    known = curved(4)
    (found,) = prepare_landmarks([known], curves="ignore")
    assert found.n_landmarks == 7
    np.testing.assert_array_equal(found.coordinates, known.coordinates)


# --- curves and sliders ---------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["bending", "procrustes"])
def test_curves_become_points_that_slide(criterion):
    known = curved(6)

    (found,) = prepare_landmarks([known], curves=criterion)

    points, sliders = landmarks_with_curves(known, tolerance=0.02)
    slid = slide_semilandmarks(points.coordinates, sliders, criterion=criterion)
    assert found.n_landmarks == 7 + 3  # both ends are landmarks
    np.testing.assert_allclose(
        shapes(found.coordinates).coordinates, shapes(slid.coordinates).coordinates, atol=1e-9
    )
    np.testing.assert_allclose(slid.centroid_sizes, centroid_sizes(points.coordinates))
    assert not any(found.curves)
    least = "bending energy" if criterion == "bending" else "Procrustes distance"
    assert found.notes == (
        "1 curve per specimen was read as 3 points beside 7 landmarks, and slid to the least "
        f"{least}. Leave curves out with --curves ignore.",
        STOPPED,
    )
    assert not slid.is_converged


def test_several_curves_and_sliding_that_converges():
    known = curved(6)
    (line,) = known.curves[0]
    same = [(line, line[::-1] * [1, 2])] * 6
    alike = replace(known, coordinates=np.stack([known.coordinates[0]] * 6), curves=tuple(same))
    (found,) = prepare_landmarks([alike], curves="procrustes")
    assert found.notes == (
        "2 curves per specimen were read as 8 points beside 7 landmarks, and slid to the least "
        "Procrustes distance. Leave curves out with --curves ignore.",
    )


def test_sizes_and_scales_are_kept():
    known = replace(curved(6), scales=np.linspace(0.1, 0.6, 6))
    (found,) = prepare_landmarks([known])
    before = landmarks_with_curves(known, tolerance=0.02).landmarks.coordinates
    # Sliding changes shapes a little, and with them the lengths of their vectors.
    np.testing.assert_allclose(centroid_sizes(found.coordinates), centroid_sizes(before), rtol=0.02)
    np.testing.assert_array_equal(found.scales, known.scales)


def test_ends_digitised_by_hand_are_still_the_landmark():
    known = curved(6)
    moved_ends = tuple(
        (lines[0] + 0.005 * np.ptp(lines[0], axis=0).max(),) for lines in known.curves
    )
    (found,) = prepare_landmarks([replace(known, curves=moved_ends)])
    assert found.n_landmarks == 10


@pytest.mark.parametrize("curves", ["bending", "procrustes", "ignore"])
def test_sliders_are_among_the_landmarks(curves):
    known = named(fish(8))

    (found,) = prepare_landmarks([known], curves=curves, sliders=SLIDERS)

    criterion = "procrustes" if curves == "procrustes" else "bending"
    slid = slide_semilandmarks(known.coordinates, SLIDERS, criterion=criterion)
    np.testing.assert_allclose(
        shapes(found.coordinates).coordinates, shapes(slid.coordinates).coordinates, atol=1e-9
    )
    least = "Procrustes distance" if curves == "procrustes" else "bending energy"
    assert found.notes[0] == f"2 semilandmarks slid to the least {least}."
    assert found.notes[1:] == (() if slid.is_converged else (STOPPED,))


def test_sliders_slide_beside_curves():
    known = curved(6)

    (found,) = prepare_landmarks([known], sliders=SLIDERS)

    points, of_curves = landmarks_with_curves(known, tolerance=0.02)
    both = np.concatenate([SLIDERS, of_curves])
    slid = slide_semilandmarks(points.coordinates, both)
    np.testing.assert_allclose(
        shapes(found.coordinates).coordinates, shapes(slid.coordinates).coordinates, atol=1e-9
    )
    assert [note.split(" ", 2)[:2] for note in found.notes] == [
        ["2", "semilandmarks"],
        ["1", "curve"],
    ]


def test_known_and_new_specimens_slide_together():
    both = named(fish(9))
    known, new = both.take(np.arange(6)), both.take(np.arange(6, 9))

    found = prepare_landmarks([known, replace(new, source="new.tps")], sliders=SLIDERS)
    (whole,) = prepare_landmarks([both], sliders=SLIDERS)

    assert [one.ids for one in found] == [known.ids, new.ids]
    assert [one.source for one in found] == ["fish.tps", "new.tps"]
    joined = np.concatenate([one.coordinates for one in found])
    np.testing.assert_array_equal(joined, whole.coordinates)
    (alone,) = prepare_landmarks([new], sliders=SLIDERS)
    assert not np.allclose(shapes(alone.coordinates).coordinates[0], shapes(joined).coordinates[6])


def test_missing_landmarks_are_estimated_before_they_slide():
    points = fish(12, noise=0.1)
    whole = points.copy()
    points[2, 6] = np.nan

    (found,) = prepare_landmarks([named(points)], sliders=SLIDERS)

    assert np.isfinite(found.coordinates).all()
    (expected,) = prepare_landmarks([named(whole)], sliders=SLIDERS)
    ours, theirs = (shapes(one.coordinates).coordinates for one in (found, expected))
    np.testing.assert_allclose(ours, theirs, atol=0.1)


def test_all_landmarks_but_sliders_keep_their_place():
    known = named(fish(8))
    (found,) = prepare_landmarks([known], sliders=SLIDERS)
    fixed = [0, 3, 4, 5, 6]
    ratio = [
        np.linalg.norm(one[:, 0] - one[:, 4], axis=1)
        / np.linalg.norm(one[:, 3] - one[:, 6], axis=1)
        for one in (found.coordinates[:, :], known.coordinates)
    ]
    np.testing.assert_allclose(*ratio)
    moved_by = np.abs(
        shapes(found.coordinates).coordinates - shapes(known.coordinates).coordinates
    ).max(axis=(0, 2))
    assert moved_by[[1, 2]].min() > moved_by[fixed].max()


# --- symmetry -------------------------------------------------------------------------------


def test_sides_are_averaged():
    known = beetles(10)

    (found,) = prepare_landmarks([known], symmetric=True)

    expected = symmetric_components(known.coordinates, PAIRS, tangent=False).symmetric
    np.testing.assert_allclose(
        shapes(found.coordinates).coordinates, shapes(expected).coordinates, atol=1e-9
    )
    # Each specimen is its own mirror image: both sides have the same lengths.
    for a, b, c, d in ((0, 1, 4, 5), (2, 3, 6, 7), (0, 8, 4, 8)):
        left = np.linalg.norm(found.coordinates[:, a] - found.coordinates[:, b], axis=1)
        right = np.linalg.norm(found.coordinates[:, c] - found.coordinates[:, d], axis=1)
        np.testing.assert_allclose(left, right)
    np.testing.assert_allclose(
        centroid_sizes(found.coordinates), centroid_sizes(known.coordinates), rtol=0.01
    )
    assert found.notes == (
        "Symmetric components are compared: left and right were averaged, by the pairs of "
        "landmarks 1-5, 2-6, 3-7, 4-8, found from the consensus. Check these pairs.",
    )


def test_sides_of_known_and_new_specimens_are_averaged_by_the_same_pairs():
    found = prepare_landmarks([beetles(10), beetles(2, seed=4)], symmetric=True)
    assert [len(one) for one in found] == [10, 2]
    assert found[0].notes == found[1].notes


def test_missing_landmarks_are_estimated_before_sides_are_averaged():
    known = beetles(12)
    points = known.coordinates.copy()
    points[3, 2] = np.nan
    (found,) = prepare_landmarks([named(points)], symmetric=True)
    assert np.isfinite(found.coordinates).all()


def test_landmarks_of_one_side_have_no_pairs():
    with pytest.raises(InputError) as raised:
        prepare_landmarks([named(fish(8, noise=0.05), "left.tps")], symmetric=True)
    assert str(raised.value) == (
        "The consensus of left.tps is not symmetric, so pairs of landmarks on the left and on the "
        "right were not found. Leave out symmetric=True, or digitise both sides."
    )


# --- what is refused ------------------------------------------------------------------------


def test_other_criteria_are_refused():
    with pytest.raises(InputError) as raised:
        prepare_landmarks([named(fish(4))], curves="splines")
    assert str(raised.value) == ("curves is 'splines'; choose one of bending, procrustes, ignore.")


def test_sliders_of_other_landmarks_are_refused():
    with pytest.raises(InputError) as raised:
        prepare_landmarks([named(fish(4))], sliders=np.array([[5, 6, 7]]))
    assert str(raised.value) == (
        "`sliders` names landmark 8, counted from 1, but the specimens of fish.tps have 7. Correct "
        "the number."
    )


def test_a_specimen_that_cannot_slide_is_named_by_its_id():
    points = fish(4).copy()
    points[2, 2] = points[2, 0]
    with pytest.raises(InputError) as raised:
        prepare_landmarks([named(points)], sliders=SLIDERS[:1])
    assert str(raised.value) == (
        "Specimen 's2': point 2 has no tangent: the points 1 and 3 beside it coincide (counted "
        "from 1). Correct them, or leave the specimen out."
    )


def test_a_new_specimen_without_the_curve_is_named_by_its_own_id():
    known, new = curved(4), named(fish(1, seed=5), "new.tps")
    new = replace(new, ids=("lost",))
    with pytest.raises(InputError) as raised:
        prepare_landmarks([known, new])
    assert str(raised.value) == (
        "Specimen 'lost' has 0 curves, others have 1. Digitise the same curves in all specimens, "
        "or leave it out."
    )


def test_ids_of_known_and_new_specimens_stay_distinct():
    assert distinct_ids([("a", "a (new)"), ("a", "b", "a (new)")]) == (
        "a", "a (new)", "a (new) (new)", "b", "a (new) (new) (new)",
    )  # fmt: skip

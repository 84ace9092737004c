"""Tangent projection: the consensus and distances of geomorph, and the plane itself."""

import numpy as np
import pytest

from kernova import GeneralizedProcrustes
from kernova.shapes.tangent import tangent_projection
from tests.shapes.bad_inputs import error
from tests.shapes.drawn_shapes import fish
from tests.shapes.geomorph_results import results

KINDS = ["projected", "unprojected"]


@pytest.mark.parametrize("kind", KINDS)
def test_alignment_is_that_of_geomorph(plethodon, kind):
    """Bar: all numbers of geomorph's gpagen, run until it converges, to 1e-8."""
    expected = results("plethodon")["converged"][kind]
    aligned = plethodon.in_frame_of(kind, expected["consensus"])
    mean = aligned.mean(axis=0)

    np.testing.assert_allclose(mean.ravel(), expected["consensus"], atol=1e-8)
    distances = np.linalg.norm(aligned - mean, axis=(1, 2))
    np.testing.assert_allclose(distances, expected["distances_to_consensus"], atol=1e-8)
    assert np.square(distances).sum() == pytest.approx(expected["total_SS"], abs=1e-8)
    variances = aligned.reshape(40, -1).var(axis=0, ddof=1)
    np.testing.assert_allclose(variances, expected["coordinate_variances"], atol=1e-8)
    total = results("plethodon")["sum_of_centroid_sizes"]
    assert plethodon.sizes.sum() == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_two_rounds_of_geomorph_are_near(plethodon, kind):
    """By default geomorph stops after two rounds, which leaves 1e-6 of a coordinate."""
    expected = results("plethodon")["geomorph_default"][kind]
    aligned = plethodon.in_frame_of(kind, expected["consensus"])

    np.testing.assert_allclose(aligned.mean(axis=0).ravel(), expected["consensus"], atol=1e-6)
    squares = np.square(aligned - aligned.mean(axis=0)).sum()
    assert squares == pytest.approx(expected["total_SS"], abs=1e-8)


def test_total_without_projection_is_that_of_the_package_shapes(plethodon):
    aligned = plethodon.aligned["unprojected"]
    squares = np.square(aligned - aligned.mean(axis=0)).sum()
    assert squares == pytest.approx(
        results("plethodon")["shapes_package"]["partial_gpa_total_SS"], abs=1e-8
    )


@pytest.mark.parametrize("d", [2, 3])
def test_projection_moves_specimens_along_the_consensus_alone(d):
    specimens = fish(12, d=d)
    procrustes = GeneralizedProcrustes(d).fit(specimens)
    aligned = procrustes.transform(specimens)
    pole = (procrustes.consensus_ / np.linalg.norm(procrustes.consensus_)).ravel()

    projected = tangent_projection(aligned, procrustes.consensus_)

    moves = (projected - aligned).reshape(12, -1)
    np.testing.assert_allclose(moves, np.outer(moves @ pole, pole), atol=1e-14)
    assert (moves @ pole > 0).all()  # the sphere bends away from its tangent plane
    # On the plane, a specimen deviates from the consensus at a right angle to it.
    np.testing.assert_allclose(projected.reshape(12, -1) @ pole, 1, atol=1e-14)
    rows = tangent_projection(aligned.reshape(12, -1), 7 * procrustes.consensus_ + 1)
    np.testing.assert_allclose(rows, projected.reshape(12, -1), atol=1e-14)


SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
COINCIDE = (
    "aligned or consensus has missing or infinite coordinates, or all landmarks of the consensus "
    "coincide. Project specimens that GeneralizedProcrustes has aligned."
)


@pytest.mark.parametrize(
    ("aligned", "consensus", "message"),
    [
        (
            SQUARE[None, :3],
            SQUARE,
            "aligned has shape (1, 3, 2) and consensus (4, 2); give specimens × landmarks × "
            "dimensions, and landmarks × dimensions.",
        ),
        (SQUARE[None], np.ones((4, 2)), COINCIDE),
        (np.where(SQUARE > 0, SQUARE, np.nan)[None], SQUARE, COINCIDE),
    ],
)
def test_what_cannot_be_projected_raises(aligned, consensus, message):
    with error(message):
        tangent_projection(aligned, consensus)

"""Estimates of missing landmarks."""

import numpy as np
import pytest

from kernova.shapes.missing import (
    ShapeModel,
    fill_missing,
    frame_directions,
    local_precision,
    shape_precision,
    similar_means,
)
from kernova.shapes.procrustes import GeneralizedProcrustes
from tests.shapes.drawn_shapes import OUTLINE, fish, moved
from tests.shapes.literal_shapes import (
    conditional_mean,
)


def test_missing_landmark_is_the_conditional_mean_of_the_known_ones():
    rng = np.random.default_rng(0)
    consensus = OUTLINE - OUTLINE.mean(axis=0)
    factor = rng.standard_normal((14, 14))
    covariance = factor @ factor.T + np.eye(14)
    precision = np.linalg.inv(covariance)
    specimens = consensus + rng.standard_normal((6, 7, 2))
    is_known = rng.random((6, 7)) < [[1], [0.9], [0.7], [0.5], [0.3], [0.8]]

    filled = fill_missing(specimens, is_known, consensus, precision)

    for specimen, known, got in zip(specimens, is_known, filled, strict=True):
        expected = conditional_mean(
            specimen.ravel(), np.repeat(known, 2), consensus.ravel(), covariance
        )
        np.testing.assert_allclose(got.ravel(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("d", "scaling", "expected"), [(2, True, 4), (2, False, 3), (3, True, 7)])
def test_frame_has_one_direction_for_each_way_to_move(d, scaling, expected):
    consensus = fish(1, d=d)[0]

    directions = frame_directions(consensus - consensus.mean(axis=0), scaling=scaling)

    np.testing.assert_allclose(directions.T @ directions, np.eye(expected), atol=1e-12)


def test_rotation_about_the_line_of_collinear_landmarks_is_no_direction():
    line = np.linspace(-1, 1, 5)[:, None] * np.array([[1.0, 0.0, 0.0]])

    directions = frame_directions(line, scaling=True)

    np.testing.assert_allclose(directions.T @ directions, np.eye(6), atol=1e-12)


def test_missing_landmarks_hardly_move_the_others(cichlids):
    """Bar: five of a hundred removed; the others move by less than 2 % of the shape spread."""
    whole = GeneralizedProcrustes().fit(cichlids)
    aligned = whole.transform(cichlids)
    spread = np.sqrt(np.square(aligned - whole.consensus_).sum(axis=(1, 2)).mean())
    is_removed = np.random.default_rng(0).random(cichlids.shape[:2]) < 0.05

    gappy = GeneralizedProcrustes().fit(np.where(is_removed[..., None], np.nan, cichlids))
    others = np.where(
        is_removed[..., None],
        0,
        gappy.transform(np.where(is_removed[..., None], np.nan, cichlids)) - aligned,
    )

    moves = np.linalg.norm(others, axis=(1, 2)) / spread
    assert np.sqrt(np.square(moves).mean()) < 0.02
    np.testing.assert_allclose(gappy.centroid_sizes_, whole.centroid_sizes_, rtol=0.05)


def test_exactly_similar_specimens_are_completed_exactly():
    specimens = moved(np.repeat(OUTLINE[None], 5, axis=0), seed=3)
    gappy = specimens.copy()
    gappy[0, 0] = gappy[2, [3, 6]] = gappy[4, 1] = np.nan
    gappy[1, 5, 0] = np.nan  # half a landmark is none

    procrustes = GeneralizedProcrustes().fit(gappy)

    whole = GeneralizedProcrustes().fit(specimens)
    np.testing.assert_allclose(procrustes.transform(gappy), whole.transform(specimens), atol=1e-6)
    np.testing.assert_allclose(procrustes.centroid_sizes_, whole.centroid_sizes_, rtol=1e-6)


@pytest.mark.parametrize("scaling", [True, False])
def test_position_of_an_incomplete_specimen_is_no_evidence(scaling):
    """Moved or turned a little, its missing landmark is expected to have moved along."""
    kept = GeneralizedProcrustes(scaling=scaling)
    aligned = kept.fit_transform(fish(200, noise=0.1))
    precision = shape_precision(aligned, kept.consensus_, scaling=scaling)
    is_known = np.ones((1, 7), dtype=bool)
    is_known[0, 3] = False
    size = np.linalg.norm(kept.consensus_)

    for direction in frame_directions(kept.consensus_, scaling=scaling).T:
        move = 0.05 * size * direction.reshape(1, 7, 2)
        here, there = (
            fill_missing(place, is_known, kept.consensus_, precision)
            for place in (aligned[:1], aligned[:1] + move)
        )
        np.testing.assert_allclose(there - here, move, atol=0.02 * 0.05 * size)


def test_similar_specimens_improve_the_estimate():
    rng = np.random.default_rng(0)
    kinds = OUTLINE + rng.standard_normal((30, 7, 2))
    specimens = np.repeat(kinds, 7, axis=0) + 0.01 * rng.standard_normal((210, 7, 2))
    gappy = moved(specimens, 0)
    gappy[::7, 2] = np.nan

    errors = {}
    for n_specimens in (49, 210):  # 42 complete ones are too few to be asked
        procrustes = GeneralizedProcrustes().fit(gappy[:n_specimens])
        model = ShapeModel(procrustes.consensus_, procrustes.precision_, procrustes.examples_)
        assert (local_precision(model, scaling=True) is None) == (n_specimens == 49)
        truth = GeneralizedProcrustes().fit_transform(specimens[:n_specimens])
        found = procrustes.transform(gappy[:n_specimens])
        errors[n_specimens] = np.linalg.norm((found - truth)[::7, 2], axis=1).mean()

    assert len(procrustes.examples_) == 180
    assert errors[210] < 0.5 * errors[49]
    nearest = similar_means(specimens[:1], specimens[::2], n_skipped=1)
    by_distance = np.argsort(np.square(specimens[::2] - specimens[0]).sum(axis=(1, 2)))
    np.testing.assert_allclose(nearest[0], specimens[::2][by_distance[1:7]].mean(axis=0))

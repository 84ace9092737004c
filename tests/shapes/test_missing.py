"""Estimates of missing landmarks."""

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

from kernova.shapes.completion import complete_specimens
from kernova.shapes.missing import (
    EstimateErrors,
    ShapeModel,
    better_estimates,
    estimate_errors,
    fill_missing,
    frame_directions,
    local_precision,
    shape_model,
    shape_precision,
    similar_means,
)
from kernova.shapes.procrustes import GeneralizedProcrustes, fit_similarity
from tests.shapes.bad_inputs import error
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


# --- the better of two estimates ------------------------------------------------------------------

_ANGLES = np.linspace(0, np.pi, 14)
ARCH = np.vstack(
    [np.column_stack([3 * np.cos(_ANGLES), np.sin(_ANGLES)]), [[0, -1], [1, -1.2], [-1, -1.1]]]
)


def bent_arches(n_specimens, rng):
    """Arches that bend smoothly, in six ways: what a spline can follow."""
    ways = 0.05 * rng.standard_normal((n_specimens, 6, 1, 1))
    x, y = ARCH[:, :1], ARCH[:, 1:]
    along = ways[:, 0] * 0.3 * x**2 + ways[:, 1] * x * y + ways[:, 2] * y**2
    across = ways[:, 3] * 0.3 * x**2 + ways[:, 4] * 0.1 * x**3 + ways[:, 5] * x * y
    return ARCH + np.concatenate([along, across], axis=2)


def noisy_arches(n_specimens, rng):
    """Arches whose landmarks vary independently: a spline follows the noise."""
    return ARCH + 0.1 * rng.standard_normal((n_specimens, *ARCH.shape))


def knocked_out(n_specimens, n_landmarks, n_missing, rng):
    """Every third specimen lacks some landmarks; True where one is known."""
    is_known = np.ones((n_specimens, n_landmarks), dtype=bool)
    for row in rng.permutation(n_specimens)[: n_specimens // 3]:
        is_known[row, rng.permutation(n_landmarks)[:n_missing]] = False
    return is_known


def squared_errors(truth, is_known):
    """Squared errors of the conditional mean and of the better estimate, in units of size 1."""
    gappy = np.where(is_known[..., None], truth, np.nan)
    procrustes = GeneralizedProcrustes().fit(gappy)
    model = ShapeModel(procrustes.consensus_, procrustes.precision_, procrustes.examples_)
    completed = procrustes.transform(gappy)
    better = better_estimates(model, completed, is_known, scaling=True)
    assert not better.is_spline[is_known.all(axis=1)].any()
    np.testing.assert_array_equal(better.coordinates[is_known], completed[is_known])

    def squares(estimate):
        total = 0
        for whole, known, got in zip(truth, is_known, estimate, strict=True):
            if not known.all():  # placed by the known landmarks, which are the same in both
                placed = fit_similarity(whole[known], got[known]).apply(whole[~known])
                total += np.square(placed - got[~known]).sum()
        return total

    return np.array([squares(completed), squares(better.coordinates)]), better.is_spline


def root_mean_squares(draw, n_missing, n_draws=20):
    totals, n_removed, n_splines = np.zeros(2), 0, 0
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        truth = draw(rng)
        is_known = knocked_out(*truth.shape[:2], n_missing, rng)
        squares, is_spline = squared_errors(truth, is_known)
        totals += squares
        n_removed += np.count_nonzero(~is_known)
        n_splines += np.count_nonzero(is_spline)
    mean, better = np.sqrt(totals / n_removed)
    return mean, better, n_splines


@pytest.mark.parametrize("n_missing", [1, 3])
def test_few_smoothly_bent_specimens_are_completed_by_splines(n_missing):
    """Bar: of eight arches, the error is a tenth or more below that of the conditional mean."""
    mean, better, n_splines = root_mean_squares(lambda rng: bent_arches(8, rng), n_missing)
    assert better < 0.9 * mean
    assert n_splines > 30  # of 40


@pytest.mark.parametrize("n_missing", [1, 3])
def test_independent_noise_is_completed_by_the_conditional_mean(n_missing):
    mean, better, n_splines = root_mean_squares(lambda rng: noisy_arches(12, rng), n_missing)
    assert better == mean
    assert n_splines == 0


@pytest.mark.parametrize(("n_specimens", "limit"), [(10, 0.95), (20, 1.05), (40, 1.05)])
def test_better_estimates_on_cichlids(cichlids, n_specimens, limit):
    """Bar: better than the conditional mean with ten fish, and never worse by a twentieth."""

    def draw(rng):
        return cichlids[rng.permutation(len(cichlids))[:n_specimens]]

    mean, better, _ = root_mean_squares(draw, 3, n_draws=10)
    assert better < limit * mean


def test_errors_are_those_of_specimens_held_out_one_by_one():
    aligned = GeneralizedProcrustes().fit_transform(fish(9, noise=0.1))
    is_known = np.array([True, True, False, True, True, False, True])
    model = shape_model(aligned, aligned.mean(axis=0), np.ones(9, dtype=bool), scaling=True)
    squares = np.zeros(2)
    for row, truth in enumerate(aligned):
        others = np.delete(aligned, row, axis=0)
        mean = others.mean(axis=0)
        covariance = np.linalg.inv(shape_precision(others, mean, scaling=True))
        columns = np.repeat(is_known, 2)
        filled = conditional_mean(truth.ravel(), columns, mean.ravel(), covariance).reshape(7, 2)
        near = np.argsort(np.square(others - filled).sum(axis=(1, 2)))[:6]
        source = others[near].mean(axis=0)
        spline = RBFInterpolator(source[is_known], truth[is_known], kernel="thin_plate_spline")
        squares += (
            np.square(filled - truth).sum(),
            np.square(spline(source[~is_known]) - truth[~is_known]).sum(),
        )

    errors = estimate_errors(model, is_known, scaling=True)

    np.testing.assert_allclose(errors, np.sqrt(squares / (9 * 2)), rtol=1e-6)


def test_estimate_with_the_smaller_error_is_taken():
    assert EstimateErrors(0.1, 0.2).taken == "conditional mean"
    assert EstimateErrors(0.2, 0.1).taken == "thin-plate spline"
    assert EstimateErrors(np.inf, np.inf).taken == "conditional mean"


def test_landmarks_that_determine_no_spline_keep_the_conditional_mean():
    """Two known landmarks of seven: no spline, and the error says so."""
    aligned = GeneralizedProcrustes().fit_transform(fish(9, noise=0.1))
    model = shape_model(aligned, aligned.mean(axis=0), np.ones(9, dtype=bool), scaling=True)
    is_known = np.arange(7) < 2
    assert estimate_errors(model, is_known, scaling=True).spline == np.inf
    better = better_estimates(model, aligned[:1], is_known[None], scaling=True)
    assert not better.is_spline.any()
    np.testing.assert_array_equal(better.coordinates, aligned[:1])


# --- completed specimens in the units of the input ------------------------------------------------


@pytest.mark.parametrize("d", [2, 3])
def test_exactly_similar_specimens_are_completed_in_their_own_units(d):
    shapes = np.repeat(fish(1, d=d), 6, axis=0)
    specimens = moved(shapes, seed=3)
    gappy = specimens.copy()
    gappy[0, 0] = gappy[2, [3, 6]] = gappy[4, 1] = np.nan
    gappy[1, 5, 0] = np.nan  # half a landmark is none

    completed = complete_specimens(gappy)

    sizes = np.ptp(specimens, axis=1).max(axis=1)[:, None, None]
    np.testing.assert_allclose(completed.coordinates / sizes, specimens / sizes, atol=1e-6)
    assert np.argwhere(completed.is_estimated).tolist() == [[0, 0], [1, 5], [2, 3], [2, 6], [4, 1]]


def test_known_landmarks_are_unchanged_and_frames_do_not_matter():
    rng = np.random.default_rng(0)
    shapes = bent_arches(9, rng)
    is_known = knocked_out(9, len(ARCH), 2, rng)
    here = complete_specimens(np.where(is_known[..., None], shapes, np.nan))
    there = complete_specimens(
        np.where(is_known[..., None], 5 * shapes[..., ::-1] * [1, -1], np.nan)
    )

    np.testing.assert_array_equal(here.coordinates[is_known], shapes[is_known])
    np.testing.assert_array_equal(here.is_estimated, ~is_known)
    assert here.is_spline.any()
    np.testing.assert_array_equal(here.is_spline, there.is_spline)
    turned = 5 * here.coordinates[..., ::-1] * [1, -1]
    np.testing.assert_allclose(there.coordinates, turned, atol=1e-6)


def test_salamanders_without_some_landmarks_are_completed(plethodon):
    """Bar: the error is below a tenth of the distance of a landmark from the centroid."""
    truth = plethodon.aligned["unprojected"]
    is_known = knocked_out(40, 12, 2, np.random.default_rng(0))
    completed = complete_specimens(np.where(is_known[..., None], truth, np.nan))
    found = np.linalg.norm((completed.coordinates - truth)[~is_known], axis=1)
    middles = np.linalg.norm(truth - truth.mean(axis=1, keepdims=True), axis=2)[~is_known]
    assert np.sqrt(np.square(found).mean()) < 0.1 * np.sqrt(np.square(middles).mean())


def test_complete_specimens_are_copied_as_they_are():
    specimens = fish(3)
    completed = complete_specimens(specimens)
    np.testing.assert_array_equal(completed.coordinates, specimens)
    assert completed.coordinates is not specimens
    assert not completed.is_estimated.any()


def test_arrays_that_are_no_specimens_raise():
    message = (
        "coordinates has shape (3, 2); give specimens × landmarks × 2 (or 3), one specimen or more."
    )
    with error(message):
        complete_specimens(np.ones((3, 2)))

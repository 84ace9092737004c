"""Generalized Procrustes analysis against other implementations and its invariances."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from kernova.shapes.procrustes import (
    GeneralizedProcrustes,
    fit_similarity,
    principal_axes,
    rotations,
)
from tests.shapes.bad_inputs import BAD_SPECIMENS, error, spoilt
from tests.shapes.drawn_shapes import OUTLINE, fish, moved
from tests.shapes.literal_shapes import (
    distance_up_to_rotation,
    iterated_consensus,
)


def test_consensus_is_that_of_scipys_procrustes_repeated(cichlids):
    for specimens in (fish(30), cichlids[::60]):
        consensus = GeneralizedProcrustes(tolerance=1e-14).fit(specimens).consensus_

        assert distance_up_to_rotation(iterated_consensus(specimens), consensus) < 1e-8


@pytest.mark.parametrize("d", [2, 3])
def test_alignment_is_that_of_morphops(d):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its docstrings hold invalid escapes
        peer = pytest.importorskip("morphops")
    specimens = fish(40, noise=0.1, d=d)

    own = GeneralizedProcrustes(d).fit_transform(specimens)
    theirs = peer.gpa(specimens, tol=1e-12, no_reflect=True)["aligned"]
    # It ends with all turned to the mean of all but the last; a few turns to the mean of all.
    for _ in range(30):
        theirs = peer.rotate(theirs, theirs.mean(axis=0), no_reflect=True)["aligned"]

    # One rotation has to bring all specimens together.
    assert distance_up_to_rotation(theirs.reshape(-1, d), own.reshape(-1, d)) < 1e-8


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.sampled_from([2, 3]),
    options=st.fixed_dictionaries({"scaling": st.booleans(), "reflection": st.booleans()}),
    gaps=st.booleans(),
)
def test_position_size_and_direction_of_specimens_do_not_matter(seed, d, options, gaps):
    # Without scaling, incomplete specimens of very different sizes need not converge.
    shapes = fish(12, seed=seed, d=d, scaling=options["scaling"])
    if gaps:
        shapes[[1, 4, 4, 7], [0, 2, 5, 6]] = np.nan
    again = moved(shapes, seed + 1, options["scaling"], mirrored=options["reflection"])

    aligned = GeneralizedProcrustes(d, **options).fit_transform(shapes)

    size = np.linalg.norm(aligned, axis=(1, 2)).max()
    other = GeneralizedProcrustes(d, **options).fit_transform(again)
    np.testing.assert_allclose(other / size, aligned / size, rtol=0, atol=1e-6 if gaps else 1e-8)
    if options["scaling"]:
        np.testing.assert_allclose(np.linalg.norm(aligned, axis=(1, 2)), 1)
    np.testing.assert_allclose(aligned.mean(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("reflection", [False, True])
def test_rotations_in_the_plane_are_those_of_the_singular_vectors(reflection):
    covariances = np.random.default_rng(0).standard_normal((200, 2, 2))
    left, _, right = np.linalg.svd(covariances)
    if not reflection:
        left[:, :, 1] *= np.linalg.det(left @ right)[:, None]

    found = rotations(covariances, reflection=reflection)

    np.testing.assert_allclose(found, left @ right, atol=1e-12)
    assert (np.linalg.det(found) > 0).all() != reflection
    np.testing.assert_array_equal(rotations(np.zeros((1, 2, 2))), [np.eye(2)])


def test_mirror_images_coincide_only_if_reflection_is_allowed():
    pair = np.stack([OUTLINE, OUTLINE * [-1, 1]])

    distances = {}
    for reflection in (False, True):
        first, second = GeneralizedProcrustes(reflection=reflection).fit_transform(pair)
        distances[reflection] = np.linalg.norm(first - second)

    assert distances[True] < 1e-12
    assert distances[False] > 0.1


def test_sizes_stay_in_the_comparison_without_scaling():
    specimens = np.stack([OUTLINE, 2 * OUTLINE + 5])
    kept = GeneralizedProcrustes(scaling=False).fit(specimens)

    small, large = kept.transform(specimens)

    np.testing.assert_allclose(large, 2 * small, atol=1e-12)
    np.testing.assert_allclose(kept.consensus_, 1.5 * small, atol=1e-12)
    np.testing.assert_allclose(kept.centroid_sizes_, np.linalg.norm([small, large], axis=(1, 2)))


def test_consensus_lies_along_the_first_axis_with_landmark_one_at_its_left():
    consensus = GeneralizedProcrustes().fit(fish(40)).consensus_

    spread = consensus.T @ consensus
    assert spread[0, 0] > spread[1, 1]
    assert abs(spread[0, 1]) < 1e-12
    assert consensus[0, 0] == consensus[:, 0].min()
    assert np.linalg.det(principal_axes(fish(1, d=3)[0])) == pytest.approx(1)


def test_each_specimen_is_aligned_by_itself():
    specimens = fish(20)
    specimens[3, 2] = specimens[5, [0, 4]] = np.nan
    procrustes = GeneralizedProcrustes()
    flat = specimens.reshape(20, -1)

    together = procrustes.fit_transform(flat)
    one_by_one = [procrustes.transform(flat[[row]])[0] for row in range(19, -1, -1)][::-1]
    found = procrustes.align(specimens)

    np.testing.assert_allclose(one_by_one, together, atol=1e-9)
    np.testing.assert_array_equal(found.coordinates, together.reshape(specimens.shape))
    np.testing.assert_array_equal(found.centroid_sizes, procrustes.centroid_sizes_)
    np.testing.assert_allclose(together.mean(axis=0), procrustes.consensus_.ravel(), atol=1e-7)
    names = procrustes.set_output(transform="pandas").transform(flat).columns
    assert list(names) == [f"x{column}" for column in range(14)]


@pytest.mark.parametrize(("options", "specimens", "message"), BAD_SPECIMENS)
def test_invalid_parameters_and_specimens_raise(options, specimens, message):
    with error(message):
        GeneralizedProcrustes(**options).fit(specimens)


def test_missing_landmarks_raise_if_asked_for():
    with pytest.raises(ValueError, match="contains NaN"):
        GeneralizedProcrustes(missing="raise").fit(spoilt((1, 2), np.nan))


def test_the_old_name_of_raising_still_works():
    procrustes = GeneralizedProcrustes(missing="refuse")
    with (
        pytest.warns(DeprecationWarning, match='use missing="raise"'),
        pytest.raises(ValueError, match="contains NaN"),
    ):
        procrustes.fit(spoilt((1, 2), np.nan))


def test_warns_if_the_consensus_does_not_converge():
    with pytest.warns(ConvergenceWarning) as told:
        make_pipeline(GeneralizedProcrustes(max_iter=1)).fit(fish(5).reshape(5, -1))
    assert str(told[0].message) == (
        "The consensus did not converge in 1 round: alignment is approximate. Increase max_iter or "
        "tolerance."
    )


def test_what_only_python_can_set_is_no_advice_on_a_command_line(monkeypatch):
    monkeypatch.setattr("kernova.shapes.procrustes._MAX_ITER", 2)
    specimens = fish(12, d=3)
    specimens[[1, 4, 4, 7], [0, 2, 5, 6]] = np.nan
    with pytest.warns(ConvergenceWarning) as told:
        GeneralizedProcrustes(3, max_iter=2).fit(specimens)
    assert str(told[0].message) == (
        "The consensus did not converge in 2 rounds: alignment is approximate. Leave out specimens "
        "or landmarks of which most are missing."
    )


def test_warns_if_incomplete_specimens_of_very_different_sizes_oscillate():
    specimens = fish(12, seed=2969, d=3)
    specimens[[1, 4, 4, 7], [0, 2, 5, 6]] = np.nan

    with pytest.warns(ConvergenceWarning, match="use scaling=True"):
        GeneralizedProcrustes(3, scaling=False).fit(specimens)
    assert GeneralizedProcrustes(3).fit(specimens).n_iter_ < 100


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("mirrored", [False, True])
def test_similarity_maps_landmarks_onto_their_images(d, mirrored):
    source = fish(1, d=d)[0]
    target = moved(source[None] * ([-1] + [1] * (d - 1) if mirrored else 1), seed=3)[0]

    similarity = fit_similarity(source, target, reflection=True)

    np.testing.assert_allclose(similarity.apply(source), target, atol=1e-12)
    assert (np.linalg.det(similarity.matrix) < 0) == mirrored


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_may_be_tiny_or_huge(factor):
    specimens = fish(6)

    found = GeneralizedProcrustes().fit(factor * specimens)

    expected = GeneralizedProcrustes().fit(specimens)
    np.testing.assert_allclose(found.consensus_, expected.consensus_, atol=1e-9)
    np.testing.assert_allclose(found.centroid_sizes_ / factor, expected.centroid_sizes_)

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from kernova import InputError
from kernova.shapes.missing import (
    ShapeModel,
    fill_missing,
    frame_directions,
    local_precision,
    shape_precision,
    similar_means,
)
from kernova.shapes.procrustes import GeneralizedProcrustes, principal_axes, rotations
from tests.shapes.literal_shapes import (
    conditional_mean,
    distance_up_to_rotation,
    iterated_consensus,
)

OUTLINE = np.array([[-3, 0], [-2, 1], [0, 1.5], [2, 0.6], [3, 0.9], [3, -0.8], [0, -1.2]])


def fish(n_specimens, seed=0, noise=0.2, d=2):
    """Outlines that vary, each of another size, elsewhere and turned."""
    rng = np.random.default_rng(seed)
    base = np.hstack([OUTLINE, 0.3 * rng.standard_normal((len(OUTLINE), d - 2))])
    shapes = base + noise * rng.standard_normal((n_specimens, *base.shape))
    return moved(shapes, seed)


def moved(shapes, seed, scaling=True, mirrored=False):
    rng = np.random.default_rng([seed, 1])
    n, _, d = shapes.shape
    if d == 2:
        angles = rng.uniform(-np.pi, np.pi, n)
        turns = np.array([[[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]] for a in angles])
    else:
        turns = Rotation.random(n, rng=rng).as_matrix()
    sizes = rng.uniform(0.1, 10, (n, 1, 1)) if scaling else 1
    if mirrored:
        shapes = shapes * np.where(rng.random((n, 1, 1)) < 0.5, [-1] + [1] * (d - 1), 1)
    return sizes * shapes @ turns + rng.uniform(-9, 9, (n, 1, d))


@pytest.fixture(scope="module")
def cichlids(data_folder):
    path = data_folder / "landmarks" / "tanganyika_cichlids" / "cichlids.csv"
    if not path.is_file():
        pytest.skip(f"no landmarks at {path}")
    table = pd.read_csv(path)
    return table.loc[:, "x1":"y21"].to_numpy(float).reshape(-1, 21, 2)


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
def test_place_size_and_direction_of_specimens_do_not_matter(seed, d, options, gaps):
    shapes = fish(12, seed=seed, d=d)
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


def test_turning_about_the_line_that_landmarks_lie_on_is_no_direction():
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


SHAPELESS = (
    "Row 2 (counted from 0) has no shape: it shows fewer than 2 landmarks, or all of them in one "
    "place. Leave it out."
)


def spoilt(place, value):
    specimens = fish(4)
    specimens[place] = value
    return specimens


@pytest.mark.parametrize(
    ("options", "specimens", "sentence"),
    [
        ({}, spoilt(2, 7.0), SHAPELESS),
        ({}, spoilt((2, slice(1, None)), np.nan), SHAPELESS),
        (
            {},
            spoilt((slice(None), 4), np.nan),
            "Landmark 5 is missing in every specimen to learn from. Leave it out.",
        ),
        (
            {},
            np.ones((3, 5)),
            "Rows of 5 columns are not two or more landmarks of 2 coordinates each "
            "(n_features=5). Give rows [x1 y1 x2 y2 ...], or another number of dimensions.",
        ),
        ({"dimensions": 3}, fish(4), "The landmarks have 2 coordinates each; dimensions is 3."),
        (
            {"dimensions": 0},
            fish(4),
            "dimensions must be a whole number of at least 1; got 0.",
        ),
        ({"max_iter": 2.5}, fish(4), "max_iter must be a whole number of at least 1; got 2.5."),
        ({"tolerance": 0}, fish(4), "The tolerance must lie between 0 and 1; got 0."),
        ({"missing": "fill"}, fish(4), "missing is 'fill'; choose one of estimate, refuse."),
    ],
)
def test_refusals(options, specimens, sentence):
    with pytest.raises(InputError) as refusal:
        GeneralizedProcrustes(**options).fit(specimens)

    assert str(refusal.value) == sentence


def test_missing_landmarks_are_refused_if_asked_for():
    with pytest.raises(ValueError, match="contains NaN"):
        GeneralizedProcrustes(missing="refuse").fit(spoilt((1, 2), np.nan))


def test_warns_when_the_consensus_has_not_settled():
    with pytest.warns(ConvergenceWarning, match="still moved after 1 rounds"):
        make_pipeline(GeneralizedProcrustes(max_iter=1)).fit(fish(5).reshape(5, -1))


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_may_be_tiny_or_huge(factor):
    specimens = fish(6)

    found = GeneralizedProcrustes().fit(factor * specimens)

    expected = GeneralizedProcrustes().fit(specimens)
    np.testing.assert_allclose(found.consensus_, expected.consensus_, atol=1e-9)
    np.testing.assert_allclose(found.centroid_sizes_ / factor, expected.centroid_sizes_)


@pytest.mark.parametrize("scaling", [True, False])
def test_where_an_incomplete_specimen_lies_is_no_evidence(scaling):
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


def test_similar_specimens_tell_what_to_expect_where_they_know_more():
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

"""Verification of detections: members of a class against recurring unknown sounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.notes.verification import (
    ACCEPT,
    REJECT,
    acceptance_threshold,
    class_distances,
    cluster_rows,
    known_classes,
)


def literal_distance(cluster, rows, n_nearest, spread, drift=0.4):
    """The formula of the module's first lines, for one cluster."""
    mean = cluster.mean(axis=0)
    order = np.argsort([((mean - row) ** 2).sum() for row in rows], kind="stable")[:n_nearest]
    apart = ((mean - rows[order].mean(axis=0)) ** 2).sum()
    return apart / spread / (1 / len(cluster) + 1 / n_nearest + drift)


def two_classes(rng, n=10, n_columns=30):
    centres = rng.normal(size=(2, n_columns)) * 5
    codes = np.repeat([0, 1], n)
    # The other class is as far away as is customary: neither narrow nor wide.
    centres[1] = centres[0] + np.sqrt(8.0) * (centres[1] - centres[0]) / (
        np.linalg.norm(centres[1] - centres[0]) / np.sqrt(n_columns)
    )
    return centres, centres[codes] + rng.normal(size=(2 * n, n_columns)), codes


def test_distances_are_the_formula():
    rng = np.random.default_rng(0)
    centres, rows, codes = two_classes(rng)
    known = known_classes(rows, codes)
    detections = np.vstack([centres[0] + rng.normal(size=(3, 30)), centres[0] + 40.0])
    distances = class_distances(detections, np.zeros(4, dtype=int), known)
    clusters = cluster_rows(detections, 0.9 * np.sqrt(2 * known[0].variance))
    for number in np.unique(clusters):
        expected = literal_distance(
            detections[clusters == number], known[0].rows, known[0].n_nearest, known[0].spread
        )
        np.testing.assert_allclose(distances[clusters == number], expected, rtol=1e-9)
    assert known[0].n_nearest == 7


def test_members_are_near_one_and_a_tight_cluster_of_outsiders_is_not():
    rng = np.random.default_rng(1)
    centres, rows, codes = two_classes(rng, n=20)
    known = known_classes(rows, codes)
    members = centres[1] + rng.normal(size=(200, 30))
    # As far from the centre as members are, but all on one side.
    aside = rng.normal(size=30)
    aside *= np.sqrt(30) / np.linalg.norm(aside)
    rejection_limit = centres[1] + aside + rng.normal(size=(8, 30)) * 0.2
    ones = np.ones(1, dtype=int)
    alone = [class_distances(one[None], ones, known)[0] for one in members]
    assert 0.6 < np.mean(alone) < 1.1
    together = class_distances(rejection_limit, np.ones(8, dtype=int), known)
    single = class_distances(rejection_limit[:1], ones, known)
    assert len(np.unique(together)) == 1
    assert together[0] > 1.5 > 1.2 > single[0]


def test_a_class_of_two_variants_accepts_both():
    rng = np.random.default_rng(2)
    kinds = np.vstack([rng.normal(size=(14, 30)), rng.normal(size=(6, 30)) + 1.2])
    other = rng.normal(size=(10, 30)) + 20
    known = known_classes(np.vstack([kinds, other]), np.repeat([0, 1], [20, 10]))
    detections = rng.normal(size=(5, 30))
    assert (class_distances(detections, np.zeros(5, dtype=int), known) < ACCEPT).all()


def test_a_diffuse_class_is_bounded_by_its_neighbours():
    rng = np.random.default_rng(3)
    tight, diffuse = rng.normal(size=(10, 30)) * 0.1 + 2, rng.normal(size=(10, 30)) * 5
    known = known_classes(np.vstack([tight, diffuse]), np.repeat([0, 1], 10))
    assert known[1].rejection_limit < 1 < REJECT < known[0].rejection_limit
    assert known_classes(tight, np.zeros(10, dtype=int))[0].rejection_limit == np.inf


@pytest.mark.parametrize(
    ("distances", "expected"),
    [
        ([], ACCEPT),
        ([2.0, 3.0], ACCEPT),
        ([0.5, 9.0], np.sqrt(ACCEPT * REJECT)),
        ([0.5, 1.4, 3.1], np.sqrt(1.4 * 3.1)),
        ([1.0, 2.9], np.sqrt(ACCEPT * 2.9)),
    ],
)
def test_the_threshold_lies_in_the_widest_gap(distances, expected):
    assert acceptance_threshold(np.array(distances, dtype=float)) == pytest.approx(expected)


@given(
    n_rows=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    n_detections=st.integers(0, 12),
    n_copies=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None)
def test_any_classes_and_detections_have_a_finite_distance(n_rows, n_detections, n_copies, seed):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(n_rows)), n_rows)
    rows = np.round(rng.normal(size=(len(codes), 4)), 1) * rng.integers(0, 2)
    known = known_classes(rows, codes)
    detections = np.tile(rng.normal(size=(n_detections, 4)), (n_copies, 1))
    taken_for = rng.integers(0, len(n_rows), size=len(detections))
    distances = class_distances(detections, taken_for, known)
    assert np.isfinite(distances).all()
    assert (distances >= 0).all()


def test_many_detections_are_clustered_in_batches():
    rng = np.random.default_rng(4)
    rows = np.vstack([rng.normal(size=(2500, 2)), rng.normal(size=(500, 2)) + 50])
    clusters = cluster_rows(rows, 30.0)
    assert len(np.unique(clusters)) == 3  # the second batch is clustered on its own
    assert len(np.unique(clusters[:2000])) == 1


def test_a_narrow_class_far_from_all_others_is_widened():
    rng = np.random.default_rng(5)
    narrow = rng.normal(size=(3, 30)) * 0.05
    far = rng.normal(size=(3, 30)) * 0.05 + 5
    known = known_classes(np.vstack([narrow, far]), np.repeat([0, 1], 3))
    # Ten times as far as the class's own rows are, and nothing beside the other class.
    find = rng.normal(size=(1, 30)) * 0.5
    assert class_distances(find, np.zeros(1, dtype=int), known)[0] < 0.5
    alone = known_classes(narrow, np.zeros(3, dtype=int))
    assert class_distances(find, np.zeros(1, dtype=int), alone)[0] > REJECT

"""Groups of finds are told apart as kin and strangers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.notes.verification import (
    KIN,
    STRANGE,
    _groups,
    kin_threshold,
    known_classes,
    strangeness,
)


def literal_strangeness(group, rows, n_nearest, spread, drift=0.4):
    """The formula of the module's first lines, for one group."""
    mean = group.mean(axis=0)
    order = np.argsort([((mean - row) ** 2).sum() for row in rows], kind="stable")[:n_nearest]
    apart = ((mean - rows[order].mean(axis=0)) ** 2).sum()
    return apart / spread / (1 / len(group) + 1 / n_nearest + drift)


def two_classes(rng, n=10, n_columns=30):
    centres = rng.normal(size=(2, n_columns)) * 5
    codes = np.repeat([0, 1], n)
    # The other class is as far away as is customary: neither narrow nor wide.
    centres[1] = centres[0] + np.sqrt(8.0) * (centres[1] - centres[0]) / (
        np.linalg.norm(centres[1] - centres[0]) / np.sqrt(n_columns)
    )
    return centres, centres[codes] + rng.normal(size=(2 * n, n_columns)), codes


def test_strangeness_is_the_formula():
    rng = np.random.default_rng(0)
    centres, rows, codes = two_classes(rng)
    known = known_classes(rows, codes)
    finds = np.vstack([centres[0] + rng.normal(size=(3, 30)), centres[0] + 40.0])
    strange = strangeness(finds, np.zeros(4, dtype=int), known)
    groups = _groups(finds, 0.9 * np.sqrt(2 * known[0].variance))
    for number in np.unique(groups):
        expected = literal_strangeness(
            finds[groups == number], known[0].rows, known[0].n_nearest, known[0].spread
        )
        np.testing.assert_allclose(strange[groups == number], expected, rtol=1e-9)
    assert known[0].n_nearest == 7


def test_kin_are_near_one_and_a_tight_group_of_strangers_is_not():
    rng = np.random.default_rng(1)
    centres, rows, codes = two_classes(rng, n=20)
    known = known_classes(rows, codes)
    kin = centres[1] + rng.normal(size=(200, 30))
    # As far from the centre as kin are, every one of them, but all on one side.
    aside = rng.normal(size=30)
    aside *= np.sqrt(30) / np.linalg.norm(aside)
    strangers = centres[1] + aside + rng.normal(size=(8, 30)) * 0.2
    ones = np.ones(1, dtype=int)
    alone = [strangeness(one[None], ones, known)[0] for one in kin]
    assert 0.6 < np.mean(alone) < 1.1
    together = strangeness(strangers, np.ones(8, dtype=int), known)
    single = strangeness(strangers[:1], ones, known)
    assert len(np.unique(together)) == 1
    assert together[0] > 1.5 > 1.2 > single[0]


def test_a_class_of_two_kinds_takes_both_in():
    rng = np.random.default_rng(2)
    kinds = np.vstack([rng.normal(size=(14, 30)), rng.normal(size=(6, 30)) + 1.2])
    other = rng.normal(size=(10, 30)) + 20
    known = known_classes(np.vstack([kinds, other]), np.repeat([0, 1], [20, 10]))
    finds = rng.normal(size=(5, 30))
    assert (strangeness(finds, np.zeros(5, dtype=int), known) < KIN).all()


def test_a_diffuse_class_is_bounded_by_its_neighbours():
    rng = np.random.default_rng(3)
    tight, diffuse = rng.normal(size=(10, 30)) * 0.1 + 2, rng.normal(size=(10, 30)) * 5
    known = known_classes(np.vstack([tight, diffuse]), np.repeat([0, 1], 10))
    assert known[1].strangers < 1 < STRANGE < known[0].strangers
    assert known_classes(tight, np.zeros(10, dtype=int))[0].strangers == np.inf


@pytest.mark.parametrize(
    ("strange", "expected"),
    [
        ([], KIN),
        ([2.0, 3.0], KIN),
        ([0.5, 9.0], np.sqrt(KIN * STRANGE)),
        ([0.5, 1.4, 3.1], np.sqrt(1.4 * 3.1)),
        ([1.0, 2.9], np.sqrt(KIN * 2.9)),
    ],
)
def test_the_threshold_lies_in_the_widest_gap(strange, expected):
    assert kin_threshold(np.array(strange, dtype=float)) == pytest.approx(expected)


@given(
    n_rows=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    n_finds=st.integers(0, 12),
    n_copies=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None)
def test_any_classes_and_finds_have_a_finite_strangeness(n_rows, n_finds, n_copies, seed):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(n_rows)), n_rows)
    rows = np.round(rng.normal(size=(len(codes), 4)), 1) * rng.integers(0, 2)
    known = known_classes(rows, codes)
    finds = np.tile(rng.normal(size=(n_finds, 4)), (n_copies, 1))
    taken_for = rng.integers(0, len(n_rows), size=len(finds))
    strange = strangeness(finds, taken_for, known)
    assert np.isfinite(strange).all()
    assert (strange >= 0).all()


def test_many_finds_are_grouped_in_lots():
    rng = np.random.default_rng(4)
    rows = np.vstack([rng.normal(size=(2500, 2)), rng.normal(size=(500, 2)) + 50])
    groups = _groups(rows, 30.0)
    assert len(np.unique(groups)) == 3  # the second lot does not know of the first
    assert len(np.unique(groups[:2000])) == 1


def test_a_narrow_class_far_from_all_others_is_given_room():
    rng = np.random.default_rng(5)
    narrow = rng.normal(size=(3, 30)) * 0.05
    far = rng.normal(size=(3, 30)) * 0.05 + 5
    known = known_classes(np.vstack([narrow, far]), np.repeat([0, 1], 3))
    # Ten times as far as the class's own rows are, and nothing beside the other class.
    find = rng.normal(size=(1, 30)) * 0.5
    assert strangeness(find, np.zeros(1, dtype=int), known)[0] < 0.5
    alone = known_classes(narrow, np.zeros(3, dtype=int))
    assert strangeness(find, np.zeros(1, dtype=int), alone)[0] > STRANGE

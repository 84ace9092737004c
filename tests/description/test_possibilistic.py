"""Possibilistic neighbours: literal formulas, stored vectors, small classes, and the map."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

from kernova import InputError, PossibilisticNeighbors
from kernova.description.possibilistic import (
    Prototypes,
    TypicalDistance,
    batch_update,
    closest,
    distances_to_own,
    grid_nodes,
    keller_memberships,
    linear_start,
    log_possibilities,
    self_organizing_map,
    typical_distance,
)
from kernova.kernels.functions import squared_distances
from tests.description import literal, messages

# --- formulas ---------------------------------------------------------------------------------


def test_stored_vectors_given_their_prototypes(reference_vectors):
    stored = reference_vectors("ref_mddkm.npz")
    X, codes, prototypes = stored["X"], stored["labels"], stored["pknn_prototypes"]
    owners = np.repeat(np.arange(3), 25)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    rows, new = (X - mean) / spread, (stored["Xtest"] - mean) / spread
    memberships = keller_memberships(prototypes, owners, rows, codes, 10)
    np.testing.assert_allclose(memberships, stored["pknn_memberships"], rtol=0, atol=1e-9)
    typical = typical_distance(distances_to_own(rows, codes, prototypes, owners), rows)
    np.testing.assert_allclose(typical, stored["pknn_eta"], rtol=1e-9)
    logs = log_possibilities(new, Prototypes(prototypes, memberships, typical), 5)
    np.testing.assert_allclose(np.exp(logs), stored["pknn_scores"], rtol=1e-9, atol=1e-12)


@given(
    seed=st.integers(0, 2**16),
    n_rows=st.integers(3, 30),
    n_columns=st.sampled_from([1, 3, 40]),
    n_neighbors=st.integers(1, 8),
    n_around=st.integers(1, 12),
)
def test_every_step_is_the_literal_one(seed, n_rows, n_columns, n_neighbors, n_around):
    rng = np.random.default_rng(seed)
    rows, new = rng.normal(size=(n_rows, n_columns)), rng.normal(size=(5, n_columns), scale=3)
    codes = np.r_[0, 1, 2, rng.integers(0, 3, n_rows - 3)]
    prototypes, owners = rng.normal(size=(9, n_columns)), np.repeat([0, 1, 2], 3)
    memberships = keller_memberships(prototypes, owners, rows, codes, n_around)
    np.testing.assert_allclose(
        memberships,
        literal.keller_memberships(prototypes, owners, rows, codes, n_around),
        rtol=0,
        atol=1e-12,
    )
    typical = typical_distance(distances_to_own(rows, codes, prototypes, owners), rows)
    np.testing.assert_allclose(
        typical, literal.typical_distance(rows, codes, prototypes, owners), rtol=1e-9
    )
    found = np.exp(
        log_possibilities(new, Prototypes(prototypes, memberships, typical), n_neighbors)
    )
    expected = [
        literal.possibilities(x, prototypes, memberships, *typical, n_neighbors) for x in new
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)


def test_rows_far_away_keep_their_order_and_class():
    prototypes = Prototypes(
        np.array([[-1.0], [1.0]]), np.array([[0.8, 0.2], [0.1, 0.9]]), TypicalDistance(0.1, 0.01)
    )
    logs = log_possibilities(np.array([[-1e3], [-2e3], [1e4]]), prototypes, 2)
    assert logs.argmax(axis=1).tolist() == [0, 0, 1]
    assert logs[0].max() > logs[1].max() > logs[2].max()
    assert np.exp(logs).max() == 0  # by plain numbers nothing would be left


# --- the estimator ----------------------------------------------------------------------------


def test_it_is_made_of_these_steps():
    X, y = load_iris(return_X_y=True)
    model = PossibilisticNeighbors(n_prototypes=(3, 2), n_neighbors=4).fit(X, y)
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    owners = np.repeat([0, 1, 2], 6)
    memberships = literal.keller_memberships(model.prototypes_, owners, rows, y, 10)
    np.testing.assert_allclose(model.prototype_memberships_, memberships, atol=1e-12)
    typical = literal.typical_distance(rows, y, model.prototypes_, owners)
    np.testing.assert_allclose(model.typical_distance_, typical, rtol=1e-9)
    expected = [
        literal.possibilities(x, model.prototypes_, memberships, *typical, 4) for x in rows[::10]
    ]
    np.testing.assert_allclose(model.membership(X[::10]), expected, rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(X[::10]), np.log(np.max(expected, axis=1)))


def test_known_rows_are_accepted_as_asked_and_foreign_ones_are_not():
    X, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    known = order[digit[order] < 7]
    train, test = known[:600], known[600:]
    model = PossibilisticNeighbors(scale="common", reject=0.1).fit(X[train], digit[train])
    named = model.recognize(X[test], reject_label=None)
    accepted = np.mean(named != None)  # noqa: E711
    assert 0.86 < accepted < 0.95
    assert (model.predict(X[test]) == digit[test]).mean() > 0.96
    foreign = X[digit >= 7]
    assert np.mean(model.recognize(foreign) == "unknown") > 0.8
    assert model.score_samples(foreign).mean() < model.score_samples(X[test]).mean()


def test_groups_are_left_out_together():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 2), scale=3)
    X = np.repeat(centres, 10, axis=0) + rng.normal(size=(200, 2), scale=0.05)
    y, groups = np.repeat([0, 1], 100), np.repeat(np.arange(20), 10)
    alone = PossibilisticNeighbors().fit(X, y).thresholds_
    together = PossibilisticNeighbors().fit(X, y, groups).thresholds_
    assert (together < 0.1 * alone).all()


def test_duplicates_in_two_classes_are_ambiguous_and_far_rows_unknown():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(30, 2))
    X = np.concatenate([shared, shared, rng.normal(8, 1, size=(30, 2))])
    model = PossibilisticNeighbors().fit(X, np.repeat(["a", "b", "c"], 30))
    assert model.ambiguous(shared).mean() > 0.8
    assert not model.ambiguous(X[60:]).any()
    assert model.recognize([[50.0, -50.0]]).tolist() == ["unknown"]
    assert model.recognize([[50.0, -50.0]], reject_label=-1).tolist() == [-1]


SMALL = {
    "one row each": ([[0.0, 0.0], [1.0, 1.0]], ["a", "b"], True),
    "one class of one row": ([[0.0], [0.1], [0.2], [5.0]], ["a", "a", "a", "b"], True),
    "duplicates only": ([[1.0, 2.0]] * 6, [0, 0, 0, 1, 1, 1], False),
    "one class": ([[0.0], [1.0], [2.0]], [7, 7, 7], False),
    "constant column": ([[0.0, 3.0], [1.0, 3.0], [4.0, 3.0], [5.0, 3.0]], [0, 0, 1, 1], False),
    "truth values": ([[0.0], [1.0], [4.0], [5.0]], [False, False, True, True], False),
    "huge numbers": ([[1e300], [-1e300], [2e300], [1e299]], [0, 0, 1, 1], False),
}


@pytest.mark.parametrize("scale", ["feature", "common", "none"])
@pytest.mark.parametrize("case", SMALL)
def test_small_classes_are_ordinary(case, scale):
    X, y, is_warned = SMALL[case]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = PossibilisticNeighbors(scale=scale).fit(X, y)
    assert [warning.category for warning in warned] == [UserWarning] * is_warned
    membership = model.membership([*X, [1e9] * len(X[0])])
    assert np.isfinite(membership).all()
    assert ((membership >= 0) & (membership <= 1)).all()
    assert np.isfinite(model.thresholds_).all()
    assert np.isfinite(model.score_samples(X)).all()
    assert set(model.recognize(X)) <= {*model.classes_.tolist(), "unknown"}
    if case not in ("duplicates only", "huge numbers"):
        assert model.predict(X).tolist() == y


def test_a_class_of_one_row_warns():
    with pytest.warns(UserWarning, match="Nothing can be left out") as warned:
        PossibilisticNeighbors().fit([[0.0], [0.1], [0.2], [5.0]], ["a", "a", "a", "b"])
    assert str(warned[0].message) == messages.alone("b")
    assert warned[0].filename == __file__


@pytest.mark.parametrize("sides", [(5,), (0, 5), (2.5, 2), (1, 2, 3)])
def test_a_grid_has_two_sides(sides):
    with pytest.raises(InputError) as caught:
        PossibilisticNeighbors(sides).fit([[0.0], [1.0]], [0, 1])
    assert str(caught.value) == messages.grid(sides)


def test_groups_need_one_for_each_row():
    with pytest.raises(InputError) as caught:
        PossibilisticNeighbors().fit([[0.0], [1.0]], [0, 1], [1])
    assert str(caught.value) == messages.groups(1, 2)


# --- the self-organizing map --------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**16),
    n_columns=st.sampled_from([1, 2, 5, 30]),
    grid=st.sampled_from([(1, 1), (3, 2), (5, 5), (1, 4)]),
    radius=st.floats(0.4, 3.0),
)
def test_a_round_is_the_literal_one(seed, n_columns, grid, radius):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, n_columns))
    prototypes, nodes = rng.normal(size=(grid[0] * grid[1], n_columns)), grid_nodes(grid)
    pull = np.exp(-squared_distances(nodes, nodes) / (2 * radius**2))
    np.testing.assert_allclose(
        batch_update(rows, closest(rows, prototypes), pull),
        literal.batch_map_round(rows, prototypes, nodes, radius),
        rtol=1e-9,
        atol=1e-9,
    )


def test_the_start_spreads_over_the_two_largest_components():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3)) * [1.0, 10.0, 0.1] + 5
    start = linear_start(rows, (2, 5))
    np.testing.assert_allclose(start.mean(axis=0), rows.mean(axis=0))
    spread = np.ptp(start, axis=0)
    np.testing.assert_allclose(spread[:2], 4 * rows.std(axis=0)[:2], rtol=0.1)
    assert spread[2] < 0.1
    # The longer side lies along the longer axis: five different values there, not two.
    assert len(np.unique(start[:, 1].round())) == 5


def test_prototypes_are_close_to_all_rows_and_in_the_order_of_the_grid():
    rng = np.random.default_rng(1)
    rows = rng.uniform(size=(2000, 2)) * [3.0, 1.0]
    prototypes = self_organizing_map(rows, (6, 3))
    away = np.sqrt(squared_distances(rows, prototypes).min(axis=1))
    assert away.mean() < 0.25  # 18 cells of a half by a third: 0.21 for equal cells
    assert (np.diff(prototypes.reshape(6, 3, 2)[:, 1, 0]) > 0).all()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[2.0, 1.0]], [[2.0, 1.0]]),
        ([[2.0], [2.0], [1.0]], [[1.0], [2.0]]),
        (np.full((100, 2), 3.0), [[3.0, 3.0]]),
    ],
)
def test_few_different_rows_are_their_own_prototypes(rows, expected):
    np.testing.assert_array_equal(self_organizing_map(np.asarray(rows), (5, 5)), expected)


@pytest.mark.parametrize("grid", [(5, 5), (1, 1), (7, 1)])
def test_rows_on_a_line_and_constant_columns_give_finite_prototypes(grid):
    line = np.linspace(0, 1, 60)[:, None]
    for rows in (line, line * [1.0, 0.0, 2.0], np.r_[line, line * 1e6]):
        prototypes = self_organizing_map(rows, grid)
        assert prototypes.shape == (grid[0] * grid[1], rows.shape[1])
        assert np.isfinite(prototypes).all()
        assert (prototypes >= rows.min(axis=0) - 1e-9).all()
        assert (prototypes <= rows.max(axis=0) + 1e-9).all()
        np.testing.assert_array_equal(prototypes, self_organizing_map(rows, grid))

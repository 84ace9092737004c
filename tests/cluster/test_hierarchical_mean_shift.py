"""The hierarchy against reference vectors, a literal version, and 2,000 awkward tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs

from kernova import HierarchicalMeanShift
from kernova.cluster.hierarchical_mean_shift import micro_clusters
from kernova.discover.preparation import Preparation
from kernova.discover.strategies.hierarchical import HierarchyOrder
from tests.oracles import mean_shift_hierarchy

VECTORS = [
    ("ref_blobs_data.npz", "data"),
    ("ref_blobs_weighted.npz", "weighted"),
    ("ref_digits300z_data.npz", "data"),
]
WHOLE_NUMBERS = {
    "born": "node_born",
    "last": "node_last",
    "size": "node_size",
    "representative": "node_rep",
    "first_member": "node_first_member",
    "lifetime": "lifetime_levels",
}


def labels_at_all_levels(model):
    return np.array([model.labels_at(level) for level in range(len(model.bandwidths_))])


@pytest.mark.parametrize("precision", ["double", "mixed"])
@pytest.mark.parametrize(("name", "reference"), VECTORS)
def test_every_node_is_that_of_the_reference_vectors(reference_vectors, name, reference, precision):
    expected = reference_vectors(name)
    model = HierarchicalMeanShift(
        reference=reference, standardize=str(expected["how"]), precision=precision
    ).fit(expected["X"])
    np.testing.assert_allclose(model.bandwidths_, expected["h"], rtol=1e-12)
    np.testing.assert_array_equal(model.n_clusters_, expected["n_clusters"])
    np.testing.assert_array_equal(labels_at_all_levels(model), expected["labels"])
    for column, key in WHOLE_NUMBERS.items():
        np.testing.assert_array_equal(model.nodes_[column], expected[key])
    # Single precision changes criteria in the fifth digit, and no label and no question.
    tolerance = 1e-9 if precision == "double" else 5e-5
    np.testing.assert_allclose(model.outlierness_, expected["outlierness"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        model.compactness_isolation_, expected["ci_max"], rtol=0, atol=tolerance
    )
    np.testing.assert_allclose(model.path_lengths_, expected["shift"], rtol=tolerance)


@pytest.mark.parametrize("name", ["ref_blobs_data.npz", "ref_digits300z_data.npz"])
def test_modes_and_standardised_rows_are_those_of_the_vectors(reference_vectors, name):
    expected = reference_vectors(name)
    model = HierarchicalMeanShift(standardize="none", precision="double").fit(expected["Z"])
    np.testing.assert_array_equal(model.standardized_, expected["Z"])
    np.testing.assert_allclose(model.modes_, expected["node_mode"], rtol=0, atol=1e-9)


def assert_is_the_literal_hierarchy(model, literal):
    nodes = literal["nodes"]
    table = model.nodes_
    np.testing.assert_allclose(model.bandwidths_, literal["bandwidths"], rtol=1e-9)
    np.testing.assert_array_equal(labels_at_all_levels(model), literal["labels"])
    for column in ("born", "last", "representative", "parent"):
        assert table[column].tolist() == [node[column] for node in nodes], column
    assert table["size"].tolist() == [len(node["members"]) for node in nodes]
    for column, key in [("compactness_isolation", "ci"), ("compactness", "compactness")]:
        np.testing.assert_allclose(table[column], [node[key] for node in nodes], atol=1e-9)
    np.testing.assert_allclose(model.modes_, [node["mode"] for node in nodes], atol=1e-9)
    for number in (0, len(nodes) // 2, len(nodes) - 1):
        assert model.members_of(number).tolist() == nodes[number]["members"]


@pytest.mark.parametrize("reference", ["data", "weighted", "centres"])
@pytest.mark.parametrize("growth", [1.1, 1.7])
def test_nodes_are_those_of_the_literal_version(reference, growth):
    X, _ = make_blobs([25, 6, 3], n_features=2, random_state=3)
    X = np.vstack([X, X[5], X[5], X[30]])  # copies
    model = HierarchicalMeanShift(
        growth=growth, reference=reference, standardize="none", precision="double"
    ).fit(X)
    assert_is_the_literal_hierarchy(model, mean_shift_hierarchy(X, growth, reference))


def test_single_precision_and_resting_centres_change_no_label_of_real_data():
    X = load_iris().data  # with copies, ties and 150 rows, more than are climbed in double
    double = HierarchicalMeanShift(precision="double").fit(X)
    mixed = HierarchicalMeanShift().fit(X)
    np.testing.assert_array_equal(labels_at_all_levels(double), labels_at_all_levels(mixed))
    np.testing.assert_array_equal(double.nodes_["representative"], mixed.nodes_["representative"])


@st.composite
def awkward_tables(draw):
    """Copies, ties, constant and collinear columns, tiny and huge numbers, few rows."""
    n = draw(st.integers(1, 12))
    n_columns = draw(st.integers(1, 4))
    numbers = draw(st.sampled_from(["grid", "normal", "sizes", "heavy"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if numbers == "grid":
        X = rng.integers(0, 3, size=(n, n_columns)).astype(float)
    elif numbers == "sizes":
        X = rng.normal(size=(n, n_columns)) * 10.0 ** rng.uniform(-150, 150, size=n_columns)
    elif numbers == "heavy":
        X = rng.standard_cauchy(size=(n, n_columns))
    else:
        X = rng.normal(size=(n, n_columns)) + draw(st.sampled_from([0.0, 1e6]))
    for spoil in draw(st.lists(st.sampled_from(["copy", "constant", "collinear"]), max_size=3)):
        if spoil == "copy":
            X[rng.integers(n)] = X[rng.integers(n)]
        elif spoil == "constant":
            X[:, rng.integers(n_columns)] = rng.normal()
        else:
            X = np.column_stack([X, X[:, 0]])
    return X


def assert_is_a_sound_hierarchy(model, n):
    nodes = model.nodes_
    numbers = nodes.to_numpy(dtype=float)
    assert np.isfinite(numbers).all()
    assert np.isfinite(model.modes_).all()
    assert np.isfinite(model.bandwidths_).all()
    assert (nodes["parent"] < 0).sum() == 1
    assert model.n_clusters_[-1] == 1
    before = np.arange(n)
    for level in range(len(model.bandwidths_)):
        labels = model.labels_at(level)
        assert len(np.unique(labels)) == model.n_clusters_[level]
        # Nested: rows that were together stay together.
        assert all(len(np.unique(labels[before == name])) == 1 for name in np.unique(before))
        before = labels
    assert sorted(set(model.labels_)) == list(range(model.labels_.max() + 1))


WAYS = ["sphere", "half-sphere", "zscore", "none"]


def check_awkward(n_examples):
    @settings(max_examples=n_examples, deadline=None, derandomize=n_examples < 500)
    @given(
        awkward_tables(),
        st.sampled_from(WAYS),
        st.sampled_from(["data", "weighted", "centres"]),
        st.sampled_from([None, None, 4]),
    )
    def check(X, standardize, reference, coreset):
        model = HierarchicalMeanShift(
            standardize=standardize, reference=reference, growth=1.3, coreset=coreset
        ).fit(X)
        assert_is_a_sound_hierarchy(model, len(X))
        assert coreset is not None or model.n_clusters_[0] == len(X)

    check()


@pytest.mark.soak
def test_awkward_tables_give_sound_hierarchies(long_bar):
    check_awkward(long_bar(2000))


def test_likely_rounding_errors_do_not_become_levels():
    # Equal rows, standardised in a product, must stay equal, or the first bandwidth is 1e-16.
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 9)), 3, axis=0)
    model = HierarchicalMeanShift().fit(X)
    assert len(np.unique(model.standardized_, axis=0)) == 40
    assert model.bandwidths_[0] > 1e-3


@pytest.mark.parametrize("standardize", WAYS)
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((1, 1)),
        np.full((5, 3), 7.0),
        np.array([[0.0], [1e-12]]),
        np.arange(3.0)[:, None] * 1e150,
        np.arange(6.0)[:, None] * np.array([1.0, 2.0, -1.0]),
        np.random.default_rng(0).normal(size=(50, 200)),
    ],
    ids=["one row", "equal rows", "two near rows", "huge", "collinear", "200 columns, 50 rows"],
)
def test_degenerate_tables(X, standardize):
    model = HierarchicalMeanShift(standardize=standardize).fit(X)
    assert_is_a_sound_hierarchy(model, len(X))


@pytest.mark.parametrize("growth", [1e3, 1e40, 1e300])
def test_absurd_growth_ends_at_once(growth):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = HierarchicalMeanShift(growth=growth).fit(X)
    assert_is_a_sound_hierarchy(model, 200)
    assert len(model.bandwidths_) <= 4


def test_threads_change_nothing():
    X, _ = make_blobs(900, n_features=3, centers=7, random_state=0)
    one = HierarchicalMeanShift(n_jobs=1).fit(X)
    two = HierarchicalMeanShift(n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.nodes_.to_numpy(), two.nodes_.to_numpy())
    np.testing.assert_array_equal(one.modes_, two.modes_)


def test_scale_and_offset_change_no_cluster():
    X, _ = make_blobs(80, n_features=2, random_state=1)
    plain = HierarchicalMeanShift(standardize="none").fit(X)
    moved = HierarchicalMeanShift(standardize="none").fit(X * 2.0**-300 + 2.0**-290)
    np.testing.assert_array_equal(labels_at_all_levels(plain), labels_at_all_levels(moved))
    np.testing.assert_allclose(plain.bandwidths_, moved.bandwidths_ * 2.0**300, rtol=1e-6)


def test_labels_are_those_of_the_level_with_the_most_persistent_clusters():
    X, y = make_blobs(
        [60, 40, 20], centers=[[0, 0], [6, 0], [3, 5]], cluster_std=0.4, random_state=5
    )
    labels = HierarchicalMeanShift().fit(X).labels_
    for group in range(3):
        assert len(set(labels[y == group])) == 1
    assert len(set(labels)) == 3


class TestCoreset:
    X, y = make_blobs([3000, 1000, 30], n_features=3, centers=[[0] * 3, [9] * 3, [-9, 9, 0]],
                      random_state=0)  # fmt: skip

    def test_every_row_is_assigned_and_small_groups_survive(self):
        model = HierarchicalMeanShift(coreset=300).fit(self.X)
        assert_is_a_sound_hierarchy(model, len(self.X))
        assert 0 < model.coreset_error_ < 1
        for group in range(3):
            assert len(set(model.labels_[self.y == group])) == 1
        rare = np.flatnonzero(self.y == 2).tolist()
        same_size = model.nodes_.query("size == 30").index
        assert rare in [model.members_of(node).tolist() for node in same_size]

    def test_rows_inside_a_micro_cluster_are_no_clusters_of_their_own(self):
        model = HierarchicalMeanShift(coreset=300).fit(self.X)
        small = micro_clusters(model.standardized_, 300)
        is_shared = np.bincount(small.assigned)[small.assigned] > 1
        nodes = model.nodes_
        singles = nodes[: len(self.X)]
        assert (singles["last"][is_shared] == -1).all()
        for column in ("lifetime", "outlierness", "compactness_isolation"):
            assert (singles[column][is_shared] == 0).all()
            assert (singles[column][~is_shared] > 0).all()
        # But the micro-clusters are, from level 0 on, shown by their innermost row.
        parent = singles["parent"][is_shared]
        assert model.n_clusters_[0] == len(small.centers)
        assert (nodes.loc[parent, "born"] == 0).all()
        innermost = nodes.loc[parent, "representative"].to_numpy()
        assert (small.distance[innermost] <= small.distance[is_shared]).all()

    def test_a_coreset_as_large_as_the_table_is_exact(self):
        few = self.X[:200]
        exact = HierarchicalMeanShift().fit(few)
        same = HierarchicalMeanShift(coreset=200).fit(few)
        np.testing.assert_array_equal(exact.nodes_.to_numpy(), same.nodes_.to_numpy())
        assert same.coreset_error_ == 0.0

    def test_the_seed_decides(self):
        first, again, other = (
            HierarchicalMeanShift(coreset=50, random_state=seed).fit(self.X) for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first.modes_, again.modes_)
        assert first.modes_.shape != other.modes_.shape or (first.modes_ != other.modes_).any()


@pytest.mark.parametrize(("name", "reference"), VECTORS)
@pytest.mark.parametrize(
    ("criterion", "farthest", "key"),
    [
        ("outlierness", False, "order_out"),
        ("outlierness", True, "order_out_had"),
        ("compactness_isolation", False, "order_ci"),
        ("compactness_isolation", True, "order_ci_had"),
    ],
)
def test_single_precision_asks_the_same_questions(
    reference_vectors, name, reference, criterion, farthest, key
):
    expected = reference_vectors(name)
    order = HierarchyOrder(
        criterion, farthest=farthest, standardize=str(expected["how"]), reference=reference
    ).first_rows(Preparation(expected["X"]), len(expected["X"]))
    np.testing.assert_array_equal(order, expected[key])

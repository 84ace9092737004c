"""Forests of classification trees, stored as a few arrays.

The trees are grown by scikit-learn. Its own forests spend most of the time on a hundred rows on
preparing each tree, and a hundred trees as objects take a long time to save and to load.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from kernova.parallel import in_threads, slices
from kernova.typing import Indices, Matrix, Vector

Kind = Literal["extra-trees", "random-forest"]

N_TREES: Final = 100
# Trees of more rows see a sample each, which keeps them small.
_ROWS_PER_TREE: Final = 4000
_THREADS_FROM: Final = 2000
# Rows of a block times trees: indices of the nodes that the rows have reached.
_PLACES: Final = 1 << 18
_LEAF: Final = -1


@dataclass(frozen=True)
class Forest:
    """Nodes of all trees, one after the other; the children of a node stand in the same arrays."""

    roots: NDArray[np.int32]
    column: NDArray[np.int32]  # that decides, or -1 for a leaf
    threshold: Vector  # rows up to this go left
    left: NDArray[np.int32]  # for a leaf, its line in ``fractions``
    right: NDArray[np.int32]
    fractions: NDArray[np.float32]  # of each class among the training rows of a leaf

    def probabilities(self, X: Matrix) -> Matrix:
        """Return the mean of the trees' class fractions."""
        rows = as_single(X)
        found = np.empty((len(rows), self.fractions.shape[1]))

        def judge(block: slice) -> None:
            found[block] = self._of_block(rows[block])

        in_threads(judge, slices(len(rows), max(1, _PLACES // len(self.roots))))
        return found

    def _of_block(self, rows: NDArray[np.float32]) -> Matrix:
        n_trees = len(self.roots)
        node = np.repeat(self.roots[None], len(rows), axis=0).ravel()
        row = np.repeat(np.arange(len(rows)), n_trees)
        moving = np.flatnonzero(self.column[node] != _LEAF)
        while len(moving):
            here = node[moving]
            column = self.column[here]
            is_left = rows[row[moving], column] <= self.threshold[here]
            there = np.where(is_left, self.left[here], self.right[here])
            node[moving] = there
            moving = moving[self.column[there] != _LEAF]
        leaves = self.left[node].reshape(len(rows), n_trees)
        total = np.zeros((len(rows), self.fractions.shape[1]))
        for of_tree in leaves.T:  # one tree after the other, so that rounding is always the same
            total += self.fractions[of_tree]
        return total / n_trees


def as_single(X: Matrix) -> NDArray[np.float32]:
    """Return numbers of 32 bits, which trees compare; larger ones become the largest."""
    limit = float(np.finfo(np.float32).max)
    return np.clip(X, -limit, limit).astype(np.float32)


def grow_forest(kind: Kind, X: Matrix, codes: Indices, weights: Vector, seed: int) -> Forest:
    """Grow a hundred trees of one kind.

    Extremely randomised trees (Geurts, Ernst and Wehenkel, 2006) see all rows and draw thresholds
    at random; the trees of a random forest (Breiman, 2001) see rows drawn with replacement.
    """
    rows = as_single(X)
    random = np.random.RandomState(seed)
    seeds = random.randint(np.iinfo(np.int32).max, size=N_TREES)
    build = ExtraTreeClassifier if kind == "extra-trees" else DecisionTreeClassifier
    sample = _sampling(kind, len(rows))
    trees: list[Any] = [None] * N_TREES

    def grow(number: int) -> None:
        drawn = sample(np.random.RandomState(seeds[number]))
        tree = build(max_features="sqrt", random_state=int(seeds[number]))
        with config_context(skip_parameter_validation=True):
            tree.fit(rows[drawn], codes[drawn], weights[drawn], check_input=False)
        trees[number] = _Grown(tree, int(codes.max()) + 1)

    in_threads(grow, range(N_TREES), None if len(rows) >= _THREADS_FROM else 1)
    return _joined(trees)


def _sampling(kind: Kind, n_rows: int) -> Callable[[np.random.RandomState], Any]:
    """Return how the rows of a tree are drawn."""
    if kind == "random-forest":
        return lambda random: random.randint(n_rows, size=min(n_rows, _ROWS_PER_TREE))
    if n_rows <= _ROWS_PER_TREE:
        return lambda random: slice(None)
    return lambda random: random.choice(n_rows, _ROWS_PER_TREE, replace=False)


class _Grown:
    """The arrays of one tree, with the classes that its rows happened to have in their places."""

    def __init__(self, model: Any, n_classes: int) -> None:
        tree = model.tree_
        self.is_leaf = tree.children_left == _LEAF
        self.column = np.where(self.is_leaf, _LEAF, tree.feature)
        self.threshold = tree.threshold
        self.left, self.right = tree.children_left, tree.children_right
        self.fractions = np.zeros((int(self.is_leaf.sum()), n_classes), dtype=np.float32)
        values = tree.value[self.is_leaf, 0]
        self.fractions[:, model.classes_] = values / values.sum(axis=1, keepdims=True)


def _joined(trees: list[_Grown]) -> Forest:
    n_nodes = np.array([len(tree.column) for tree in trees])
    n_leaves = np.array([len(tree.fractions) for tree in trees])
    first_node = np.append(0, np.cumsum(n_nodes)[:-1])
    first_leaf = np.append(0, np.cumsum(n_leaves)[:-1])
    left = []
    for tree, node, leaf in zip(trees, first_node, first_leaf, strict=True):
        place = leaf + np.cumsum(tree.is_leaf) - 1
        left.append(np.where(tree.is_leaf, place, tree.left + node))
    right = [tree.right + node for tree, node in zip(trees, first_node, strict=True)]
    return Forest(
        roots=first_node.astype(np.int32),
        column=np.concatenate([tree.column for tree in trees]).astype(np.int32),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=np.concatenate(left).astype(np.int32),
        right=np.concatenate(right).astype(np.int32),
        fractions=np.concatenate([tree.fractions for tree in trees]),
    )

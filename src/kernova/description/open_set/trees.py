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
_ROWS_PER_TREE: Final = 8000
_THREADS_FROM: Final = 2000
# Rows of a block times trees: indices of the nodes that the rows have reached.
_PLACES: Final = 1 << 18
_LEAF: Final = -1


@dataclass(frozen=True)
class Forest:
    """Nodes of all trees, one after the other.

    scikit-learn stores the left child of a node right behind it, so that only the step to the
    right child is needed.
    """

    roots: NDArray[np.int32]
    column: NDArray[np.int32]  # that decides, or -1 for a leaf
    threshold: NDArray[np.float32]  # rows up to this go left
    step: NDArray[np.int32]  # to the right child; for a leaf, its line in ``fractions``
    # Fractions of the classes among the training rows of a leaf; leaves of one class share a line.
    fractions: NDArray[np.float32]

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
            there = here + np.where(is_left, 1, self.step[here])
            node[moving] = there
            moving = moving[self.column[there] != _LEAF]
        leaves = self.step[node].reshape(len(rows), n_trees)
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
        # A leaf decides nothing; equal numbers take no room in a file.
        self.threshold = _rounded_down(np.where(self.is_leaf, 0.0, tree.threshold))
        self.step = tree.children_right - np.arange(len(self.column))
        values = tree.value[self.is_leaf, 0]
        is_mixed = np.count_nonzero(values, axis=1) > 1
        # A leaf of one class stands for its code, the others for lines of their own.
        self.leaf = model.classes_[values.argmax(axis=1)].astype(np.intp)
        self.leaf[is_mixed] = n_classes + np.arange(int(is_mixed.sum()))
        self.fractions = np.zeros((int(is_mixed.sum()), n_classes), dtype=np.float32)
        mixed = values[is_mixed]
        self.fractions[:, model.classes_] = mixed / mixed.sum(axis=1, keepdims=True)


def _rounded_down(thresholds: Vector) -> NDArray[np.float32]:
    """Return the next number of 32 bits below: numbers of 32 bits compare with it alike."""
    nearest = thresholds.astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > thresholds, below, nearest)


def _joined(trees: list[_Grown]) -> Forest:
    n_classes = trees[0].fractions.shape[1]
    first_line = _starts([len(tree.fractions) for tree in trees])
    steps = []
    for tree, line in zip(trees, first_line, strict=True):
        step = tree.step.copy()
        step[tree.is_leaf] = np.where(tree.leaf < n_classes, tree.leaf, tree.leaf + line)
        steps.append(step)
    pure = np.eye(n_classes, dtype=np.float32)
    return Forest(
        roots=_starts([len(tree.column) for tree in trees]).astype(np.int32),
        column=np.concatenate([tree.column for tree in trees]).astype(np.int32),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        step=np.concatenate(steps).astype(np.int32),
        fractions=np.concatenate([pure, *(tree.fractions for tree in trees)]),
    )


def _starts(lengths: list[int]) -> Indices:
    return np.append(0, np.cumsum(lengths)[:-1]).astype(np.intp)

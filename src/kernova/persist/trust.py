"""Trusted types of model files, and checks of those that could do harm.

The author of a file chooses which types are built from it and the values they are given. So only
these are built: types that skops trusts; kernova's own estimators and frozen value classes, which
only store what they are given; scikit-learn's decision and search trees and scipy's compressed
sparse arrays; and types that the caller names.

Trees and sparse arrays need more: compiled code uses the numbers in them as memory offsets without
checks, so a forged one could read, or crash on, any memory. They are therefore checked, and search
trees built again from their rows, before they can be used.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from kernova._moved import MODULES
from kernova._sklearn import decision_tree_type, gradient_boosting_type
from kernova.budget import ArrayHeader
from kernova.errors import InputError

# The packages whose modules are imported if a file names them. No others: `kernova.__main__`, for
# example, would start the command line.
_PACKAGES_OF_MODELS = (
    "neighbors",
    "kernels",
    "tables",
    "shapes",
    "audio",
    "images",
    "anomaly",
    "cluster",
    "description",
    "discover",
    "calibration",
)
# Of higher packages, single modules only: a note finder is made of several packages' parts, the
# detector of a large study learns from a sample, and specimens are aligned before they are judged.
_MODULES_OF_MODELS = (
    *(
        f"notes.{name}"
        for name in ("finder", "engines", "features", "description", "candidates", "verification")
    ),
    "workflows.effort",
    "workflows.landmarks.alignment",
    "surprise",
)

_SPARSE = ("csr", "csc")

_TRUSTED = {
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neighbors._ball_tree.BallTree",
    *(
        f"sklearn.metrics._dist_metrics.{name}Distance64"
        for name in ("Euclidean", "Manhattan", "Chebyshev", "Minkowski")
    ),
    *(f"scipy.sparse._{kind}.{kind}_{form}" for kind in _SPARSE for form in ("array", "matrix")),
}

# How skops stores the types above; in no other way can they be built.
_LOADERS = {
    "numpy.dtype": ("DTypeNode", "TypeNode"),
    "sklearn.tree._tree.Tree": ("TreeNode", "TypeNode"),
    "sklearn.neighbors._kd_tree.KDTree": ("ObjectNode", "TypeNode"),
    "sklearn.neighbors._ball_tree.BallTree": ("ObjectNode", "TypeNode"),
    **{
        f"scipy.sparse._{kind}.{kind}_{form}": ("SparseMatrixNode", "TypeNode")
        for kind in _SPARSE
        for form in ("array", "matrix")
    },
}

_NO_CHILD = -1


def foreign_types(
    names: Iterable[str], trusted: Iterable[str | type] | str | type = ()
) -> list[str]:
    """Return the names of types that are trusted neither by kernova nor by the caller."""
    named = [trusted] if isinstance(trusted, (str, type)) else trusted
    known = _TRUSTED | {name if isinstance(name, str) else _full_name(name) for name in named}
    return [name for name in names if name not in known and not _is_our_own(name)]


def _full_name(of_type: type) -> str:
    return f"{of_type.__module__}.{of_type.__name__}"


def _is_our_own(name: str) -> bool:
    """Return whether this is an estimator or frozen value class of kernova's packages."""
    module_name, _, class_name = name.rpartition(".")
    package, _, inside = module_name.partition(".")
    is_home = inside.partition(".")[0] in _PACKAGES_OF_MODELS or inside in _MODULES_OF_MODELS
    if package != "kernova" or not is_home or module_name in MODULES:
        return False
    try:
        found = getattr(import_module(module_name), class_name, None)
    except ImportError:
        return False
    # A name that the module only imports does not count.
    if not isinstance(found, type) or _full_name(found) != name:
        return False
    return issubclass(found, BaseEstimator) or _is_frozen_value(found)


def _is_frozen_value(found: type) -> bool:
    is_named_tuple = issubclass(found, tuple) and hasattr(found, "_fields")
    settings = getattr(found, "__dataclass_params__", None)
    return is_named_tuple or (settings is not None and settings.frozen)


def check_construction(state: dict[str, Any], headers: Mapping[str, ArrayHeader]) -> None:
    """Raise for an object of a schema whose construction itself could do harm.

    A sparse array of a billion empty rows, or a scalar of a billion bytes, takes a few letters to
    ask for, and a tree that is not given its classes reads foreign memory.
    """
    name = f"{state.get('__module__')}.{state.get('__class__')}"
    loader = str(state.get("__loader__"))
    if name in _LOADERS and loader not in _LOADERS[name]:
        raise InputError(f"an object of type {state['__class__']} is not stored as one")
    if loader == "TreeNode":
        _check_tree_arguments(state, headers)
    elif loader == "NdArrayNode":
        _check_array_node(state, name, headers)


def _check_tree_arguments(state: dict[str, Any], headers: Mapping[str, ArrayHeader]) -> None:
    try:
        _, n_classes, n_outputs = state["__reduce__"]["args"]["content"]
        given = headers[n_classes["file"]].shape == (int(n_outputs["content"]),)
    except (KeyError, TypeError, ValueError):
        given = False
    if not given:
        raise InputError("a decision tree has invalid nodes")


def _check_array_node(state: dict[str, Any], name: str, headers: Mapping[str, ArrayHeader]) -> None:
    if state.get("type") == "json":
        shape = state.get("shape")
        is_flat = isinstance(shape, dict) and len(shape.get("content", ())) == 1
        # skops gives an array of objects the elements of arrays inside it.
        if not is_flat and _holds_array(state.get("content")):
            raise InputError("an array of objects holds other arrays")
    elif name != "numpy.ndarray":
        header = headers.get(str(state.get("file")))
        if header is None or header.shape or header.dtype.type.__name__ != state.get("__class__"):
            raise InputError("a number is not stored as one")


def _holds_array(content: Any) -> bool:
    """Return whether there is an array among items, or in lists and tuples of them."""
    remaining = [content]
    while remaining:
        part = remaining.pop()
        if isinstance(part, list):
            remaining.extend(part)
        elif isinstance(part, dict):
            if part.get("__class__") in ("ndarray", "MaskedArray"):
                return True
            if part.get("__loader__") in ("ListNode", "TupleNode"):
                remaining.append(part.get("content"))
    return False


def make_harmless(model: Any) -> None:
    """Check the parts of a loaded model that compiled code relies on, or build them again."""
    from sklearn.neighbors import BallTree, KDTree

    decision_tree, gradient_boosting = decision_tree_type(), gradient_boosting_type()
    for part in _parts_within(model):
        if isinstance(part.value, (KDTree, BallTree)):
            _build_again(part)
        elif isinstance(part.value, decision_tree):
            _check_decision_tree(part)
        elif issparse(part.value):
            _check_sparse(part.value)
        elif isinstance(part.value, gradient_boosting):
            # It passes rows to compiled code without the checks that a single tree makes.
            raise InputError("gradient boosting cannot be checked for invalid memory offsets")


class _Part(NamedTuple):
    """One object inside another; ``name`` if it is an attribute, None if an item."""

    owner: Any
    name: str | None
    value: Any


def _parts_within(model: Any) -> Iterator[_Part]:
    """Yield the model and all objects inside it, each once."""
    seen: set[int] = set()
    remaining = [_Part(None, None, model)]
    while remaining:
        part = remaining.pop()
        yield part
        if id(part.value) not in seen:
            seen.add(id(part.value))
            remaining.extend(_members(part.value))


def _members(owner: Any) -> Iterator[_Part]:
    if isinstance(owner, dict):
        yield from (_Part(owner, None, value) for value in owner.values())
    elif isinstance(owner, (list, tuple, set, frozenset)):
        yield from (_Part(owner, None, value) for value in owner)
    elif isinstance(owner, np.ndarray) and owner.dtype.hasobject:
        # As a plain array: a masked one would hide what is behind its mask.
        yield from (_Part(owner, None, value) for value in np.asarray(owner).ravel())
    if not isinstance(owner, type):
        attributes = getattr(owner, "__dict__", {})
        yield from (_Part(owner, name, value) for name, value in attributes.items())


def _build_again(part: _Part) -> None:
    """Build a search tree from the rows and the metric of a loaded one, without its indices."""
    if part.name is None:
        raise InputError("a search tree is not an attribute of an estimator")
    state = part.value.__getstate__()
    rows, leaf_size, metric, weights = state[0], state[4], state[11], state[12]
    again = type(part.value)(rows, leaf_size=leaf_size, metric=metric, sample_weight=weights)
    vars(part.owner)[part.name] = again


def _check_sparse(matrix: Any) -> None:
    if matrix.format not in _SPARSE:  # the file chooses the format, whatever type it names
        raise InputError(f"a sparse array has the format {matrix.format}")
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError("a sparse array has invalid indices") from error


def _check_decision_tree(part: _Part) -> None:
    """Raise for a tree that scikit-learn cannot follow from its root to a leaf.

    The path must stay within the nodes, end after no more steps than the tree's depth, and use no
    column beyond those that the owner requires of its rows.
    """
    from sklearn.tree import BaseDecisionTree

    owner, name, tree = part
    if name != "tree_" or not isinstance(owner, BaseDecisionTree):
        raise InputError("a decision tree is not the tree_ of an estimator")
    if not (
        _asks_for_columns(owner, tree.n_features)
        # Before these two agree, any other access to the tree may leave its memory.
        and 1 <= tree.node_count == tree.capacity
        and _is_one_tree(tree.children_left, tree.children_right, tree.max_depth)
        and _columns_exist(tree)
    ):
        raise InputError("a decision tree has invalid nodes")


def _asks_for_columns(owner: Any, n_features: int) -> bool:
    own = vars(owner)
    # The owner counts columns in a method; an attribute of the same name would replace it.
    hides_a_method = any(callable(getattr(type(owner), name, None)) for name in own)
    n_asked = own.get("n_features_in_")
    return type(n_asked) is int and n_asked == n_features and not hides_a_method


def _is_one_tree(left: NDArray[np.intp], right: NDArray[np.intp], max_depth: int) -> bool:
    inner = np.flatnonzero(left != _NO_CHILD)
    children = np.concatenate([left[inner], right[inner]])
    # With one parent for every node but the root, no path from the root returns to itself.
    if not np.array_equal(np.sort(children), np.arange(1, len(left))):
        return False
    depth, level = 0, np.array([0])
    while (level := level[left[level] != _NO_CHILD]).size:
        level = np.concatenate([left[level], right[level]])
        depth += 1
    return depth <= max_depth


def _columns_exist(tree: Any) -> bool:
    columns = tree.feature[tree.children_left != _NO_CHILD]
    return bool(((columns >= 0) & (columns < tree.n_features)).all())

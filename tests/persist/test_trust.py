"""Whoever writes a file chooses what is in it: what he may not choose is never built."""

import io
import json
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import OneClassSVM
from sklearn.tree import DecisionTreeRegressor

from kernova import load_model, save_model

from .examples import ROWS, Settings, SimilarityToMean, Wave, assert_same_answers
from .forging import (
    Parts,
    array_of,
    attribute,
    dicts_in,
    list_of,
    load_error,
    node,
    put,
)
from .messages import (
    BAD_DECISION_TREE,
    BAD_SPARSE_FORMAT,
    BAD_SPARSE_INDICES,
    MISPLACED_DECISION_TREE,
    MISPLACED_SEARCH_TREE,
    TRUSTED_BY_NAME,
    cannot_rebuild,
    name_to_trust,
    not_trusted,
)


def test_user_types_are_loaded_if_named(tmp_path):
    path = tmp_path / "m.kernova"
    model = SimilarityToMean(Wave(2.0), Settings(0.5)).fit(ROWS)
    names = [f"tests.persist.examples.{name}" for name in ("Settings", "SimilarityToMean", "Wave")]
    with pytest.warns(UserWarning, match=TRUSTED_BY_NAME) as caught:
        save_model(model, path)
    assert [str(warning.message) for warning in caught] == [name_to_trust(path, names)]
    assert caught[0].filename == __file__
    assert load_error(path, trusted=SimilarityToMean) == not_trusted(path, [names[0], names[2]])
    for trusted in (names, {Settings, SimilarityToMean, Wave}, [Wave, *names[:2]]):
        loaded = load_model(path, trusted=trusted)
        assert (loaded.kernel, loaded.extra) == (Wave(2.0), Settings(0.5))
        assert_same_answers(model, loaded)


# What a forger might put in the place of a parameter, by the name that gives it away.

NOTHING = node("TupleNode", "builtins.tuple", content=[])
FUNCTIONS = "kernova.kernels.functions"

FOREIGN = {
    "os.system": node("FunctionNode", "os.system"),
    "builtins.eval": node("TypeNode", "builtins.eval"),
    "subprocess.Popen": node("ConstructorFromReduceNode", "subprocess.Popen", content=NOTHING),
    "operator.methodcaller": node("OperatorFuncNode", "operator.methodcaller", attrs=NOTHING),
    "functools.partial": node(
        "PartialNode",
        "functools.partial",
        content=dict.fromkeys(("func", "args", "kwds", "namespace"), NOTHING),
    ),
    "kernovae.kernels.functions.Gaussian": node(
        "ObjectNode", "kernovae.kernels.functions.Gaussian"
    ),
    # Ours, but no models; and the first would start the command line if it were imported.
    "kernova.__main__.main": node("FunctionNode", "kernova.__main__.main"),
    "kernova.cli.app.main": node("FunctionNode", "kernova.cli.app.main"),
    "kernova.files.replacing": node("FunctionNode", "kernova.files.replacing"),
    f"{FUNCTIONS}.kernel_named": node("FunctionNode", f"{FUNCTIONS}.kernel_named"),
    f"{FUNCTIONS}.Kernel": node("ObjectNode", f"{FUNCTIONS}.Kernel"),
    "kernova.progress.Step": node("ObjectNode", "kernova.progress.Step"),
    # What one of our modules imports is not ours.
    "kernova.calibration.detector.BaseEstimator": node(
        "ObjectNode", "kernova.calibration.detector.BaseEstimator"
    ),
    f"{FUNCTIONS}.np": node("TypeNode", f"{FUNCTIONS}.np"),
    f"{FUNCTIONS}.Nothing": node("ObjectNode", f"{FUNCTIONS}.Nothing"),
    "kernova.kernels.nowhere.Gaussian": node("ObjectNode", "kernova.kernels.nowhere.Gaussian"),
    f"{FUNCTIONS}.Gaussian.diagonal": node(
        "MethodNode",
        f"{FUNCTIONS}.Gaussian",
        content={"func": "diagonal", "obj": node("ObjectNode", f"{FUNCTIONS}.Gaussian")},
    ),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.kernova"
    save_model(OneClassSVM().fit(ROWS), path)
    return path


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_types_are_named_and_never_built(name, path, monkeypatch):
    monkeypatch.delitem(sys.modules, "kernova.__main__", raising=False)
    parts = Parts.of(path)
    put(parts.schema, "kernel", FOREIGN[name])
    parts.write(path)
    assert load_error(path) == not_trusted(path, [name])
    assert "kernova.__main__" not in sys.modules


def test_only_the_first_of_many_foreign_types_are_listed(path):
    parts = Parts.of(path)
    put(
        parts.schema,
        "kernel",
        list_of([node("TypeNode", f"evil.T{i:03}\x1b[2J") for i in range(500)]),
    )
    parts.write(path)
    names = [f"evil.T{i:03}?[2J" for i in range(10)]
    assert load_error(path) == not_trusted(path, names, ", and 490 more")


def test_a_long_name_of_a_foreign_type_is_repeated_once_and_shortened(path):
    parts = Parts.of(path)
    put(parts.schema, "kernel", node("TypeNode", f"evil.{'T' * 300}"))
    parts.write(path)
    assert load_error(path) == not_trusted(path, [f"evil.{'T' * 45}…{'T' * 49}"])


# Numbers that would lead compiled code out of its arrays


@pytest.fixture
def tree_path(tmp_path):
    path = tmp_path / "tree.kernova"
    save_model(DecisionTreeRegressor(random_state=0).fit(ROWS, ROWS[:, 0]), path)
    return path


def with_node(field, index, value):
    """Change a number in one of the nodes that have children."""

    def forge(parts):
        name = attribute(parts.schema, "nodes")["file"]
        nodes = np.load(io.BytesIO(parts.arrays[name]))
        inner = np.flatnonzero(nodes["left_child"] != -1)
        nodes[field][inner[index]] = value
        parts.arrays[name] = array_of(nodes)

    return forge


def with_number(inside, name, value):
    def forge(parts):
        whole = attribute(parts.schema, inside) if inside else parts.schema
        attribute(whole["content"]["content"], name)["content"] = json.dumps(value)

    return forge


def with_checks_hidden(parts):
    """Let an attribute stand before the method that counts the columns."""
    attributes = next(inner for inner in dicts_in(parts.schema) if "key_types" in inner)
    attributes["content"]["_validate_X_predict"] = node("TypeNode", "builtins.tuple")
    key_types = attributes["key_types"]["content"]
    key_types.append(key_types[0])


def without_nodes(parts):
    empty = node("DictNode", "builtins.dict", content={}, key_types=list_of([]))
    attribute(parts.schema, "tree_")["content"] = empty


FORGED_TREES = {
    "child beyond the end": with_node("left_child", 0, 10**6),
    "child before the start": with_node("right_child", 2, -7),
    "one child missing": with_node("right_child", 1, -1),
    "way back to the root": with_node("left_child", 3, 0),
    "two parents": with_node("right_child", 0, 1),
    "column beyond the last": with_node("feature", 1, 3),
    "column before the first": with_node("feature", 1, -2),
    "fewer nodes": with_number("tree_", "node_count", 3),
    "no nodes": with_number("tree_", "node_count", 0),
    "no nodes at all": without_nodes,
    "deeper than said": with_number("tree_", "max_depth", 1),
    "fewer columns asked for": with_number(None, "n_features_in_", 2),
    "columns no whole number": with_number(None, "n_features_in_", 3.0),
    "columns not counted": with_checks_hidden,
}


@pytest.mark.parametrize("name", FORGED_TREES)
def test_forged_decision_trees(name, tree_path):
    parts = Parts.of(tree_path)
    FORGED_TREES[name](parts)
    parts.write(tree_path)
    assert load_error(tree_path) == cannot_rebuild(tree_path, BAD_DECISION_TREE)


def array_with(inner):
    shape = node("TupleNode", "builtins.tuple", content=[node("JsonNode", "int", content="1")])
    return node("NdArrayNode", "numpy.ndarray", type="json", content=[inner], shape=shape)


def masked_array_with(inner):
    """An array that shows nothing of what it holds."""
    hidden = {"data": array_with(inner), "mask": node("JsonNode", "bool", content="true")}
    masked = f"{np.ma.MaskedArray.__module__}.MaskedArray"
    return node("MaskedArrayNode", masked, content=hidden)


@pytest.mark.parametrize(
    "put_in",
    [
        lambda tree: tree,
        lambda tree: list_of([list_of([tree])]),
        lambda tree: node("TupleNode", "builtins.tuple", content=[tree]),
        lambda tree: node("SetNode", "builtins.set", content=[tree]),
        array_with,
        masked_array_with,
    ],
    ids=["attribute", "list", "tuple", "set", "array", "masked array"],
)
def test_misplaced_decision_trees(put_in, tree_path):
    parts = Parts.of(tree_path)
    put(parts.schema, "criterion", put_in(attribute(parts.schema, "tree_")))
    parts.write(tree_path)
    assert load_error(tree_path) == cannot_rebuild(tree_path, MISPLACED_DECISION_TREE)


def test_misplaced_search_trees(tree_path):
    save_model(LocalOutlierFactor(novelty=True).fit(ROWS), tree_path)
    parts = Parts.of(tree_path)
    put(parts.schema, "algorithm", list_of([attribute(parts.schema, "_tree")]))
    parts.write(tree_path)
    assert load_error(tree_path) == cannot_rebuild(tree_path, MISPLACED_SEARCH_TREE)


def test_forged_search_trees_are_built_anew(tmp_path):
    """Indices that lead out of the rows are not even looked at."""
    path = tmp_path / "m.kernova"
    model = LocalOutlierFactor(novelty=True).fit(ROWS)
    save_model(model, path)
    parts = Parts.of(path)
    (indices,) = (
        name
        for name, content in parts.arrays.items()
        if np.array_equal(np.sort(np.load(io.BytesIO(content)), axis=None), np.arange(80))
    )
    parts.arrays[indices] = array_of(np.full(80, 2**40))
    parts.write(path)
    assert_same_answers(model, load_model(path))


def beyond_the_columns():
    matrix = scipy.sparse.csr_array(np.eye(3))
    matrix.indices[1] = 10**6
    return matrix


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (beyond_the_columns(), BAD_SPARSE_INDICES),
        (scipy.sparse.dia_array(np.eye(3)), BAD_SPARSE_FORMAT),
    ],
    ids=["index", "format"],
)
def test_forged_sparse_arrays(matrix, reason, tmp_path):
    path = tmp_path / "m.kernova"
    honest = scipy.sparse.csr_array(np.eye(3))
    save_model(FunctionTransformer(kw_args={"matrix": honest}).fit(ROWS), path)
    parts = Parts.of(path)
    buffer = io.BytesIO()
    scipy.sparse.save_npz(buffer, matrix)
    (name,) = parts.arrays
    parts.arrays[name] = buffer.getvalue()
    parts.write(path)
    assert load_error(path) == cannot_rebuild(path, reason)

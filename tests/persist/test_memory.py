"""Forged models are rejected, or loaded, with little memory and in little time."""

import io
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import OneClassSVM

from kernova import TableEncoder, load_model, save_model
from tests.memory import readings

from .examples import ROWS
from .forgeries import FORGERIES, forge
from .forging import Parts, array_of, attribute, list_of, load_error, node, put
from .messages import BAD_DECISION_TREE, cannot_rebuild, too_large

MODELS = sorted((Path(__file__).parents[1] / "data" / "models").glob("*.kernova"))
N_FORGED = 500


@pytest.mark.soak
def test_forged_models_take_little_memory_and_time(tmp_path, long_bar):
    paths = []
    for seed in range(long_bar(N_FORGED)):
        choose = random.Random(seed)
        forgery = FORGERIES[seed % len(FORGERIES)]
        paths.append(tmp_path / f"{seed}-{forgery.__name__}.kernova")
        forge(choose.choice(MODELS), paths[-1], forgery, choose)

    found = readings("model", paths)

    assert len(found) == len(paths)
    assert [fault for reading in found for fault in reading.faults()] == []
    print(
        f"{len(found)} forged models: peak {max(r.peak for r in found) / 1e6:.0f} MB, "
        f"{max(r.seconds for r in found):.2f} s; {sum(r.kind != '' for r in found)} rejected"
    )


# --- by name --------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.kernova"
    save_model(OneClassSVM().fit(ROWS), path)
    return path


def forged_error(path, new):
    parts = Parts.of(path)
    put(parts.schema, "kernel", new(parts))
    parts.write(path)
    return load_error(path)


def test_a_scalar_of_gigabytes_is_not_built(path):
    """numpy.void of a number is that many zeros; 1.6 kB took 6.6 GB."""

    def scalar(parts):
        parts.arrays["forged.npy"] = array_of(np.array(6_600_000_000))
        return node("NdArrayNode", "numpy.void", type="numpy", file="forged.npy", __id__=9000)

    assert forged_error(path, scalar) == cannot_rebuild(path, "a number is not stored as one")


def test_a_sparse_array_of_a_billion_rows_is_not_built(path):
    name = "scipy.sparse._csr.csr_matrix"
    shape = node("JsonNode", "builtins.str", content="[1000000000, 1]")
    arguments = node("TupleNode", "builtins.tuple", content=[shape])
    message = forged_error(
        path, lambda _: node("ConstructorFromReduceNode", name, content=arguments)
    )
    reason = "an object of type csr_matrix is not stored as one"
    assert message == cannot_rebuild(path, reason)


@pytest.mark.parametrize("n_outputs", ["1000000000", "2", "-1", '"1"'])
def test_a_tree_without_its_classes_is_not_built(path, n_outputs):
    def tree(parts):
        parts.arrays["forged.npy"] = array_of(np.ones(1, np.intp))
        classes = node("NdArrayNode", "numpy.ndarray", type="numpy", file="forged.npy", __id__=9000)
        numbers = [node("JsonNode", "builtins.str", content=text) for text in ("2", n_outputs)]
        arguments = node("TupleNode", "builtins.tuple", content=[numbers[0], classes, numbers[1]])
        state = node("DictNode", "builtins.dict", content={}, key_types=list_of([]))
        name = "sklearn.tree._tree.Tree"
        return node("TreeNode", name, content=state, __reduce__={"args": arguments})

    assert forged_error(path, tree) == cannot_rebuild(path, BAD_DECISION_TREE)


@pytest.mark.parametrize("shape", [(10**12,), (10**9, 0)])
def test_an_array_that_claims_more_than_it_has_is_not_built(path, shape):
    def array(parts):
        buffer = io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(buffer, header)
        parts.arrays["forged.npy"] = buffer.getvalue()
        return node("NdArrayNode", "numpy.ndarray", type="numpy", file="forged.npy", __id__=9000)

    reason = "an array claims more elements than it has"
    assert forged_error(path, array) == cannot_rebuild(path, reason)


def test_deep_nesting_is_found_before_it_is_parsed(path):
    def lists(_):
        inner = list_of([])
        for _ in range(260):
            inner = list_of([inner])
        return inner

    reason = "its objects are nested more than 500 levels deep"
    assert forged_error(path, lists) == cannot_rebuild(path, reason)


def test_brackets_in_texts_are_no_depth(tmp_path):
    """Categories such as pandas' intervals have brackets that are never closed."""
    rows = pd.DataFrame({"age": [f'[{number}, \\" ' for number in range(2_000)], "b": 1.0})
    save_model(TableEncoder().fit(rows), tmp_path / "m.kernova")
    assert len(load_model(tmp_path / "m.kernova").categories_[0]) == 2_000


def test_a_claim_of_a_billion_columns_is_rejected(path):
    parts = Parts.of(path)
    attribute(parts.schema, "n_features_in_")["content"] = "1000000000"
    parts.write(path)
    assert load_error(path) == too_large(path, "100,000", "80")


def test_models_of_100_mb_need_no_option(tmp_path):
    model = FunctionTransformer(kw_args={"rows": np.random.default_rng(0).normal(size=(10**6, 13))})
    save_model(model.fit([[0.0]]), tmp_path / "m.kernova")
    (found,) = readings("model", [tmp_path / "m.kernova"])
    assert (found.kind, found.faults()) == ("", [])
    assert found.size > 100e6

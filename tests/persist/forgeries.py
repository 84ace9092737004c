"""Forged model files, one function for each kind; all take a good model's parts and a generator."""

import copy
import io
import json
import struct
import zipfile

import numpy as np
from scipy.sparse import csr_array, save_npz

from .forging import Parts, array_of, dicts_in, list_of, node, zip_of

HUGE = [10**6, 10**8, 10**9, 2**31 - 1, 2**63 - 1, 10**30, -1]


def _slot(parts, choose):
    """Return a dict of attributes, and the name of one of them."""
    owners = [
        found["content"]
        for found in dicts_in(parts.schema)
        if found.get("__loader__") == "DictNode" and found.get("content")
    ]
    owner = choose.choice(owners)
    return owner, choose.choice(sorted(owner))


def _place(parts, choose, new):
    owner, name = _slot(parts, choose)
    owner[name] = new


def _array_node(parts, content, number=90_000, type_name="numpy.ndarray"):
    name = f"forged{number}.npy"
    parts.arrays[name] = content
    return node("NdArrayNode", type_name, type="numpy", file=name, __id__=number)


def _header_only(shape, descr="<f8", content=b""):
    buffer = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + content


def _text(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


# --- arrays -------------------------------------------------------------------------------------


def claim_a_huge_array(parts, choose):
    shape = choose.choice([(10**12,), (10**6, 10**6), (10**9, 0), (0, 10**9), (2**40, 0, 2**40)])
    _place(parts, choose, _array_node(parts, _header_only(shape)))


def claim_huge_elements(parts, choose):
    descr = choose.choice(["<U1000000000", "|V1000000000", "|S2000000000", "<U0", "|V0"])
    shape = choose.choice([(1,), (0,), (10**9,)])
    _place(parts, choose, _array_node(parts, _header_only(shape, descr)))


def store_zeros(parts, choose):
    n_bytes = choose.choice([10**7, 3 * 10**7, 6 * 10**7])
    _place(parts, choose, _array_node(parts, _header_only((n_bytes // 8,), content=bytes(n_bytes))))


def ask_for_a_huge_scalar(parts, choose):
    kind = choose.choice(["void", "bytes_", "str_", "object_", "float64", "datetime64"])
    value = np.array(choose.choice([10**9, 6 * 10**9, 2**31]))
    _place(parts, choose, _array_node(parts, array_of(value), type_name=f"numpy.{kind}"))


def repeat_an_array_in_an_array(parts, choose):
    array = _array_node(parts, array_of(np.zeros(10**6, np.int8)))
    row = list_of([copy.deepcopy(array) for _ in range(choose.choice([10, 300, 2000]))])
    shape = node("TupleNode", "builtins.tuple", content=[_text(1), _text(1)])
    objects = node("NdArrayNode", "numpy.ndarray", type="json", content=[row], shape=shape)
    _place(parts, choose, objects)


def store_many_arrays(parts, choose):
    small = array_of(np.zeros(1))
    count = choose.choice([1_000, 10_000])
    arrays = [_array_node(parts, small, 100_000 + number) for number in range(count)]
    _place(parts, choose, list_of(arrays))


def store_a_sparse_bomb(parts, choose):
    buffer = io.BytesIO()
    save_npz(buffer, csr_array((choose.choice([10, 10**7]), 5)), compressed=True)
    parts.arrays["forged.npz"] = buffer.getvalue()
    sparse = node("SparseMatrixNode", "scipy.sparse._csr.csr_array", type="scipy",
                  file="forged.npz", __id__=90_000)  # fmt: skip
    _place(parts, choose, sparse)


# --- construction -------------------------------------------------------------------------------

_BUILT = [
    "scipy.sparse._csr.csr_matrix", "scipy.sparse._csc.csc_array", "numpy.dtype",
    "sklearn.neighbors._kd_tree.KDTree", "sklearn.tree._tree.Tree", "builtins.bytes",
    "builtins.list", "numpy.ndarray", "kernova.anomaly.spatial_depth.SpatialDepth",
]  # fmt: skip
_BUILDERS = ["ConstructorFromReduceNode", "LossNode", "ListNode", "SetNode", "TupleNode",
             "ObjectNode", "DictNode"]  # fmt: skip


def build_from_huge_numbers(parts, choose):
    number = choose.choice(HUGE)
    arguments = node("TupleNode", "builtins.tuple", content=[_text([number, 1]), _text(number)][
        : choose.choice([1, 2])])  # fmt: skip
    loader = choose.choice(_BUILDERS)
    content = arguments["content"] if loader in ("ListNode", "SetNode", "TupleNode") else arguments
    built = node(loader, choose.choice(_BUILT), content=content)
    built["__reduce__"] = {"args": arguments}
    _place(parts, choose, built)


def _tree(parts, n_outputs, nodes=b""):
    n_classes = _array_node(parts, array_of(np.ones(1, np.intp)), 91_000)
    values = _array_node(parts, nodes or array_of(np.zeros((1, 1, 1))), 91_001)
    arguments = node("TupleNode", "builtins.tuple", content=[_text(2), n_classes, _text(n_outputs)])
    state = {"max_depth": _text(1), "node_count": _text(1), "nodes": values, "values": values}
    attributes = node("DictNode", "builtins.dict", content=state,
                      key_types=list_of([node("TypeNode", "builtins.str")] * 4))  # fmt: skip
    return node("TreeNode", "sklearn.tree._tree.Tree", content=attributes,
                __reduce__={"args": arguments})  # fmt: skip


def ask_for_a_tree_of_many_outputs(parts, choose):
    _place(parts, choose, _tree(parts, choose.choice(HUGE)))


def copy_one_array_into_many_trees(parts, choose):
    zeros = _header_only((5_000, 1, 25), content=bytes(10**6))
    _place(parts, choose, list_of([_tree(parts, 1, zeros) for _ in range(choose.choice([5, 500]))]))


def claim_many_columns(parts, choose):
    number = _text(choose.choice(HUGE))
    for found in dicts_in(parts.schema):
        for name in ("n_features_in_", "n_samples_fit_", "n_features", "n_outputs_", "node_count"):
            if name in found:
                found[name] = number


def enlarge_numbers(parts, choose):
    """Replace some of the whole numbers."""
    for found in list(dicts_in(parts.schema)):
        text = found.get("content")
        if isinstance(text, str) and text.isdigit() and choose.random() < 0.3:
            found["content"] = str(choose.choice(HUGE))


# --- schemas ------------------------------------------------------------------------------------


def nest(parts, choose):
    inner = _text("end")
    for _ in range(choose.choice([100, 400])):
        inner = list_of([inner])
    _place(parts, choose, inner)


def nest_json(parts, choose):
    depth = choose.choice([1_000, 100_000])
    opening = choose.choice(["[", '{"a":'])
    content = opening * depth + "1" + (depth * {"[": "]"}.get(opening, "}"))
    _place(parts, choose, node("JsonNode", "builtins.str", content=content))


def _many(parts, choose, make):
    count = choose.choice([2_000, 20_000, 60_000])
    _place(parts, choose, list_of([make(number) for number in range(count)]))


def store_many_numbers(parts, choose):
    _many(parts, choose, _text)


def store_many_types(parts, choose):
    _many(parts, choose, lambda _: node("TypeNode", "builtins.int"))


def store_many_functions(parts, choose):
    _many(parts, choose, lambda _: node("FunctionNode", "numpy.exp"))


def store_many_estimators(parts, choose):
    name = "sklearn.preprocessing._data.StandardScaler"
    _many(parts, choose, lambda _: node("ObjectNode", name))


def store_empty_lists(parts, choose):
    text = "[" + "[]," * choose.choice([10**4, 10**6, 2 * 10**6]) + "1]"
    loader = choose.choice(["JsonNode", "ListNode"])
    content = text if loader == "JsonNode" else json.loads(text)
    _place(parts, choose, node(loader, "builtins.list", content=content))


def store_a_long_text(parts, choose):
    _place(parts, choose, _text(choose.choice(["x", "é", "[", '"']) * 10 ** choose.choice([5, 7])))


def give_long_names(parts, choose):
    found = choose.choice([f for f in dicts_in(parts.schema) if "__class__" in f])
    found[choose.choice(["__class__", "__module__", "__loader__"])] = "x" * 10**6


def mix_up(parts, choose):
    """Exchange loaders, classes and contents, or take them away."""
    found = [f for f in dicts_in(parts.schema) if "__loader__" in f]
    for _ in range(choose.choice([1, 3, 10])):
        one, other = choose.choice(found), choose.choice(found)
        key = choose.choice(["__loader__", "__class__", "content", "__id__", "file", "type"])
        if key in other and choose.random() < 0.8:
            one[key] = copy.deepcopy(other[key])
        else:
            one.pop(key, None)


SCHEMA_FORGERIES = [
    claim_a_huge_array, claim_huge_elements, store_zeros, ask_for_a_huge_scalar,
    repeat_an_array_in_an_array, store_many_arrays, store_a_sparse_bomb, build_from_huge_numbers,
    ask_for_a_tree_of_many_outputs, copy_one_array_into_many_trees, claim_many_columns,
    enlarge_numbers, nest, nest_json, store_many_numbers, store_many_types, store_many_functions,
    store_many_estimators, store_empty_lists, store_a_long_text, give_long_names, mix_up,
]  # fmt: skip


# --- archives -----------------------------------------------------------------------------------


def _content(parts):
    dump = zip_of({"schema.json": json.dumps(parts.schema), **parts.arrays})
    return {"kernova.json": json.dumps(parts.header), "model.skops": dump}


def damage_bytes(parts, choose):
    whole = bytearray(zip_of(_content(parts)))
    for _ in range(choose.choice([1, 5, 50])):
        whole[choose.randrange(len(whole))] = choose.randrange(256)
    return bytes(whole)


def claim_other_sizes(parts, choose):
    content = _content(parts)
    is_inside = choose.random() < 0.5
    whole = bytearray(content["model.skops"] if is_inside else zip_of(content))
    at = choose.choice([i for i in range(len(whole)) if whole[i : i + 4] == b"PK\x01\x02"])
    whole[at + 24 : at + 28] = struct.pack("<I", choose.choice([0, 10**8, 2**32 - 2]))
    return zip_of({**content, "model.skops": bytes(whole)}) if is_inside else bytes(whole)


def write_a_long_header(parts, choose):
    long = choose.choice(["[" * 10**6, '{"format": 1, "a": [' + "0," * 10**6, " " * 3 * 10**7])
    return zip_of({**_content(parts), "kernova.json": long}, zipfile.ZIP_DEFLATED)


def write_many_entries(parts, choose):
    empty = {f"{number}": b"" for number in range(choose.choice([5_000, 20_000]))}
    return zip_of({**_content(parts), **empty})


def pack_twice(parts, choose):
    zeros = zip_of({"schema.json": b"[" * 3 * 10**7}, zipfile.ZIP_DEFLATED)
    dump = choose.choice([zeros, zip_of({"a.npz": zeros, "schema.json": b"{}"}), bytes(6 * 10**7)])
    return zip_of({**_content(parts), "model.skops": dump}, zipfile.ZIP_DEFLATED)


ARCHIVE_FORGERIES = [
    damage_bytes, claim_other_sizes, write_a_long_header, write_many_entries, pack_twice,
]  # fmt: skip
FORGERIES = [*SCHEMA_FORGERIES, *ARCHIVE_FORGERIES]


def forge(source, target, forgery, choose):
    """Write a forged copy of a model file."""
    parts = Parts.of(source)
    if forgery in SCHEMA_FORGERIES:
        forgery(parts, choose)
        parts.write(target)
    else:
        target.write_bytes(forgery(parts, choose))

"""Files that are damaged or not model files raise one message each."""

import io
import json
import os
import pickle
import random
import re
import struct
import warnings
import zipfile

import joblib
import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import OneClassSVM

from kernova import ModelFileError, load_model, save_model

from .examples import ROWS, assert_same_answers
from .forging import (
    Parts,
    array_of,
    attribute,
    dicts_in,
    list_of,
    load_error,
    node,
    put,
    zip_of,
)
from .messages import (
    DAMAGED,
    FOLDER,
    NEWER,
    NO_FILE,
    NOT_OURS,
    OTHER_SKLEARN,
    OTHER_VERSIONS,
    PICKLE,
    SHARED_ARRAY,
    SHARED_NUMBER,
    UNCLEAR,
    UNREADABLE,
    cannot_rebuild,
    not_an_estimator,
    too_large,
    zip_without,
)

MODEL = make_pipeline(StandardScaler(), OneClassSVM()).fit(ROWS)


@pytest.fixture(scope="module")
def good_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "m.kernova"
    save_model(MODEL, path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, good_bytes):
    """A good file, to be spoilt."""
    path = tmp_path / "m.kernova"
    path.write_bytes(good_bytes)
    return path


def joblib_bytes(compress):
    buffer = io.BytesIO()
    joblib.dump(MODEL, buffer, compress=compress)
    return buffer.getvalue()


def flipped(good, position):
    return good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :]


def with_header(good, text):
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        return zip_of({"kernova.json": text, "model.skops": archive.read("model.skops")})


def header(**entries):
    return json.dumps({"format": 1, "kernova": "0.1.0", **entries})


def newer(entry):
    return lambda good: with_header(good, header(format=9, kernova="1.4.0", **entry))


BAD_FILES = {
    "empty": (lambda good: b"", NOT_OURS),
    "text": (lambda good: b"a,b\n1,2\n", NOT_OURS),
    "pickle": (lambda good: pickle.dumps(MODEL), PICKLE),
    "joblib": (lambda good: joblib_bytes(0), PICKLE),
    "compressed joblib": (lambda good: joblib_bytes(3), NOT_OURS),
    "other zip": (
        lambda good: zip_of({"a.txt": "a"}),
        zip_without("kernova.json"),
    ),
    "empty zip": (lambda good: zip_of({}), NOT_OURS),
    "half of ours": (
        lambda good: zip_of({"kernova.json": header()}),
        zip_without("model.skops"),
    ),
    "cut short": (lambda good: good[:-100], DAMAGED),
    "cut to a stub": (lambda good: good[:10], DAMAGED),
    "flipped in the header": (
        lambda good: flipped(good, good.index(b"kernova.json") + 20),
        DAMAGED,
    ),
    "flipped in the model": (lambda good: flipped(good, len(good) // 2), DAMAGED),
    "rubbish inside": (
        lambda good: zip_of({"kernova.json": header(), "model.skops": b"?"}),
        DAMAGED,
    ),
    "header no JSON": (lambda good: with_header(good, b"\xff{"), UNCLEAR),
    "header deep": (lambda good: with_header(good, "[" * 10**5), UNCLEAR),
    "header a list": (lambda good: with_header(good, "[1]"), UNCLEAR),
    "header without format": (lambda good: with_header(good, '{"kernova": "0.1.0"}'), UNCLEAR),
    "header without version": (lambda good: with_header(good, '{"format": 1}'), UNCLEAR),
    "format true": (lambda good: with_header(good, header(format=True)), UNCLEAR),
    "format 0": (lambda good: with_header(good, header(format=0)), UNCLEAR),
    "format a word": (lambda good: with_header(good, header(format="1")), UNCLEAR),
    "version for the terminal": (
        lambda good: with_header(good, header(format=2, kernova="\x1b[2J")),
        UNCLEAR,
    ),
    "newer": (
        newer({"new": "entry"}),
        NEWER,
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(name, path, good_bytes):
    spoil, message = BAD_FILES[name]
    path.write_bytes(spoil(good_bytes))
    assert load_error(path) == f"{path} {message}"


def test_paths_without_a_file(path, tmp_path):
    missing = tmp_path / "no.kernova"
    assert load_error(missing) == NO_FILE.format(missing)
    assert load_error(tmp_path) == FOLDER.format(tmp_path)
    beneath = path / "m.kernova"
    assert load_error(beneath) == UNREADABLE.format(beneath, "Not a directory")
    assert load_error("a\0b") == UNREADABLE.format("a\0b", "embedded null byte")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert load_error(tmp_path / "pipe") == f"{tmp_path / 'pipe'} {NOT_OURS}"


def test_paths_are_taken_as_text_too(path):
    assert_same_answers(MODEL, load_model(str(path)))


# Contents that would never end


def deflated_zeros(n_bytes):
    return zip_of({"0.npy": bytes(n_bytes)}, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    ("model", "needed_mb"),
    [
        (bytes(3 * 10**6), "9"),
        (deflated_zeros(15 * 10**6), "45"),
        (zip_of({"a": deflated_zeros(10**6), "b": deflated_zeros(10**7)}), "22"),
    ],
    ids=["outside", "inside", "inside an array inside"],
)
def test_bombs_are_not_unpacked(model, needed_mb, path):
    parts = {"kernova.json": header(), "model.skops": model}
    path.write_bytes(zip_of(parts, zipfile.ZIP_DEFLATED))
    assert load_error(path, memory_mb=4) == too_large(path, needed_mb, "4")


def test_a_claim_of_terabytes_is_not_believed(path, good_bytes):
    """The size stands in the directory at the end of a zip, four bytes for each entry."""
    at = good_bytes.rindex(b"PK\x01\x02")
    path.write_bytes(good_bytes[: at + 24] + struct.pack("<I", 2**32 - 2) + good_bytes[at + 28 :])
    assert load_error(path) == too_large(path, "12,885", "80")


def test_objects_that_refer_to_each_other_without_end(path):
    """Thirty lists, each of the next one ten times: short to write, endless to walk through."""
    parts = Parts.of(path)
    lists = node("JsonNode", "builtins.str", content='"end"', __id__=1000)
    for number in range(1001, 1031):
        lists = {**list_of([lists, *9 * [{"__id__": number - 1}]]), "__id__": number}
    put(parts.schema, "kernel", lists)
    parts.write(path)
    assert load_error(path) == cannot_rebuild(path, SHARED_NUMBER)


def test_one_array_under_many_names(path):
    parts = Parts.of(path)
    array = attribute(parts.schema, "support_vectors_")
    copies = [{**array, "__id__": 1000 + i} for i in range(1000)]
    put(parts.schema, "kernel", list_of(copies))
    parts.write(path)
    assert load_error(path) == cannot_rebuild(path, SHARED_ARRAY)


# Contents that are not a model


class WritesFile:
    """Does it when unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_inside_is_never_read(path, tmp_path):
    marker = tmp_path / "the pickle was read"
    parts = Parts.of(path)
    array = np.array([WritesFile(marker)], dtype=object)
    parts.arrays[attribute(parts.schema, "support_vectors_")["file"]] = array_of(array)
    parts.write(path)
    reason = "ValueError: Object arrays cannot be loaded when allow_pickle=False"
    assert load_error(path) == cannot_rebuild(path, reason)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("root", "kind"),
    [
        (list_of([]), "list"),
        (node("TypeNode", "builtins.int"), "type"),
        (node("TupleNode", "builtins.tuple", content=[]), "tuple"),
    ],
    ids=["list", "class", "tuple"],
)
def test_contents_that_are_not_an_estimator(root, kind, path):
    parts = Parts.of(path)
    parts._replace(schema={**root, "protocol": parts.schema["protocol"]}).write(path)
    assert load_error(path) == cannot_rebuild(path, not_an_estimator(kind))


# Other versions


def test_another_scikit_learn_gives_one_warning(path):
    parts = Parts.of(path)
    versions = [inner for inner in dicts_in(parts.schema) if "_sklearn_version" in inner]
    assert len(versions) == 3  # the pipeline and its two steps
    for inner in versions:
        inner["_sklearn_version"]["content"] = '"1.5.2"'
    parts.write(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = load_model(path)
    assert [str(warning.message) for warning in caught] == [OTHER_SKLEARN.format(path)]
    assert caught[0].filename == __file__
    assert_same_answers(MODEL, loaded)


@pytest.mark.parametrize(("versions", "message"), OTHER_VERSIONS, ids=["others", "rubbish"])
def test_other_versions_are_named_when_a_model_cannot_be_rebuilt(versions, message, path):
    parts = Parts.of(path)
    parts.header.update(versions)
    parts.schema["protocol"] = 99
    parts.write(path)
    found = re.sub(r"\(.*\)", "(...)", load_error(path))
    assert found == cannot_rebuild(path, "...", message)


# Random changes of bytes


def loaded_unless_rejected(path):
    """The model, or None; any other error but the one for model files comes through."""
    try:
        return load_model(path)
    except ModelFileError:
        return None


def mutated(data, chance):
    """One of the things that disks, networks and editors do to files."""
    start = chance.randrange(len(data))
    stop = min(len(data), start + chance.choice([1, 1, 1, 2, 16, 500]))
    noise = bytes(chance.randrange(256) for _ in range(stop - start))
    kind = chance.choice(["overwrite", "overwrite", "flip", "delete", "insert", "cut", "move"])
    if kind == "overwrite":
        return data[:start] + noise + data[stop:]
    if kind == "flip":
        return flipped(data, start)
    if kind == "delete":
        return data[:start] + data[stop:]
    if kind == "insert":
        return data[:start] + noise + data[start:]
    if kind == "cut":
        return data[:start]
    return data[:start] + data[stop:] + data[start:stop]


@pytest.mark.soak
def test_mutated_bytes_load_to_the_same_model_or_not_at_all(path, good_bytes, long_bar):
    n_loaded = 0
    for seed in range(long_bar(5000)):
        chance = random.Random(seed)
        # The zip's own directory is a small part of the file and the one that has no checksum.
        tail = chance.choice([0, len(good_bytes) - 250])
        path.write_bytes(good_bytes[:tail] + mutated(good_bytes[tail:], chance))
        loaded = loaded_unless_rejected(path)
        if loaded is not None:
            assert_same_answers(MODEL, loaded)
            n_loaded += 1
    assert 0 < n_loaded < long_bar(5000) / 2


def spoil_one_value(schema, chance):
    """Change, drop or exchange one value somewhere in a schema."""
    places = [(inner, key) for inner in dicts_in(schema) for key in inner]
    (inner, key), (other, other_key) = chance.choices(places, k=2)
    kind = chance.choice(["drop", "exchange", "replace"])
    if kind == "drop":
        del inner[key]
    elif kind == "exchange":
        inner[key] = json.loads(json.dumps(other[other_key]))
    else:
        inner[key] = chance.choice([None, -1, 2**70, 1e400, "", "numpy", "\ud800", [], {}, True])


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:.*was saved with scikit-learn")
def test_forged_contents_load_or_are_rejected(path, long_bar):
    """Forged contents give a model or a message, never another error."""
    forest = IsolationForest(n_estimators=2, max_samples=8, random_state=0)
    save_model(make_pipeline(FunctionTransformer(np.tanh), forest).fit(ROWS), path)
    whole = Parts.of(path)
    n_loaded = 0
    for seed in range(long_bar(2000)):
        parts = whole._replace(schema=json.loads(json.dumps(whole.schema)))
        chance = random.Random(seed)
        for _ in range(chance.choice([1, 1, 2, 5])):
            spoil_one_value(parts.schema, chance)
        parts.write(path, zipfile.ZIP_STORED)
        n_loaded += loaded_unless_rejected(path) is not None
    assert 0 < n_loaded < long_bar(2000) / 2

"""Model files as zip archives: header, dump of the model, and checks of both.

The skops dump inside is made independent of the run when it is written, and its references are
checked before it is used.
"""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import load_npz, save_npz
from sklearn.base import BaseEstimator

from kernova._moved import moved_classes
from kernova._version import __version__
from kernova.budget import (
    ArrayHeader,
    Budget,
    array_header,
    budget_of,
    default_limit,
    zip_directory_bytes,
)
from kernova.errors import InputError, ModelFileError, shortened
from kernova.persist.trust import check_construction

FORMAT = 1

_HEADER = "kernova.json"
_MODEL = "model.skops"

# Above this a model is stored uncompressed: deflating long arrays takes seconds, gains little.
_DEFLATE_UP_TO_BYTES = 64 * 2**20
_LONGEST_HEADER = 1 << 16

# Measured: memory that skops takes for an object, with its part of the parsed schema, more for
# those that carry a list of all trusted types, and what JSON takes for anything else.
_BYTES_PER_OBJECT = 1_900
_BYTES_PER_TRUSTING_OBJECT = 4_000
_BYTES_PER_VALUE = 90
_COPIES_OF_SCHEMA = 4
_VALUES_PER_OBJECT = 6
_BYTES_PER_COLUMN = 100
# A search tree is built again from its rows, with bounds of its nodes.
_COPIES = {"TreeNode": 2, "MaskedArrayNode": 2, "KDTree": 6, "BallTree": 6}
_DEEPEST = 500
_MOST_EMPTY = 10**6  # rows of an array without columns
_BLOCK_BYTES = 1 << 20

_NAME_OURS = "Pass a model file written by kernova."
_COPY_AGAIN = "Copy it again from an undamaged file, or save the model again."

_SCHEMA = "schema.json"
# Whether two equal numbers, strings or classes are one object is up to Python and means nothing.
_WITHOUT_IDENTITY = ("JsonNode", "TypeNode")


class Archive(NamedTuple):
    """Contents of a model file: the versions that wrote it, and the unchecked dump."""

    written_with: dict[str, str]
    model: bytes


def versions_here() -> dict[str, str]:
    """Return the versions that decide whether a model can be rebuilt."""
    import skops

    return {
        "kernova": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "skops": skops.__version__,
    }


# Writing


def packed(model: BaseEstimator, dumped: bytes) -> bytes:
    """Return the bytes of a model file."""
    name = f"{type(model).__module__}.{type(model).__qualname__}"
    header = {"format": FORMAT, "model": name, **versions_here()}
    parts = {_HEADER: json.dumps(header, indent=2).encode(), _MODEL: dumped}
    if len(dumped) <= _DEFLATE_UP_TO_BYTES:
        packed = zipped(parts, ZIP_DEFLATED)
        # A file that is too small for what it holds would not be loaded without being asked to.
        if _dump_bytes(dumped) <= default_limit(len(packed)):
            return packed
    return zipped(parts, ZIP_STORED)


def zipped(parts: dict[str, bytes], compression: int) -> bytes:
    """Zip the parts reproducibly: the same parts give the same bytes on every day and machine."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            info = ZipInfo(name)  # dated 1980 unless told otherwise
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, content, compress_type=compression)
    return buffer.getvalue()


# Reading


def read_archive(path: Path) -> Archive:
    """Read a model file; the error says why it is not one."""
    header, model = _read_parts(path)
    return Archive(_checked_header(path, header), model)


def _read_parts(path: Path) -> tuple[bytes, bytes]:
    try:
        with _opened(path) as file:
            _check_beginning(path, file.read(4))
            return _unzipped(path, file, budget_of(path, ModelFileError))
    except ModelFileError:
        raise
    except Exception as error:
        # zipfile raises a dozen kinds of error for damaged zips; one message covers them all.
        raise ModelFileError(f"{path} is damaged or cut short. {_COPY_AGAIN}") from error


def _opened(path: Path) -> BinaryIO:
    try:
        is_folder, is_odd = path.is_dir(), path.exists() and not path.is_file()
        # Opening a pipe would wait for its writer.
        file = None if is_folder or is_odd else path.open("rb")
    except FileNotFoundError:
        raise ModelFileError(f"There is no model file {shortened(path)}. {_NAME_OURS}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"Cannot read {shortened(path)}: {reason}. {_NAME_OURS}") from error
    if file is None:
        raise _not_ours(path, ": it is a folder" if is_folder else "")
    return file


def _check_beginning(path: Path, first_bytes: bytes) -> None:
    if first_bytes[:1] == b"\x80":
        raise ModelFileError(
            f"{path} is not a kernova model but a pickle, which may run any program when it is "
            "read. Load it where you trust it, and save the model with kernova.save_model."
        )
    if first_bytes != b"PK\x03\x04":
        raise _not_ours(path)


def _unzipped(path: Path, file: BinaryIO, budget: Budget) -> tuple[bytes, bytes]:
    budget.check(zip_directory_bytes(file))
    with ZipFile(file) as archive:
        names = archive.namelist()
        if _HEADER not in names:
            raise _not_ours(path, f": it is a zip without {_HEADER}")
        if _MODEL not in names:
            raise _not_ours(path, f": it is a zip without {_MODEL}")
        if archive.getinfo(_HEADER).file_size > _LONGEST_HEADER:
            raise _unclear_header(path)
        budget.check(3 * _claimed_bytes([archive]))
        header, model = archive.read(_HEADER), archive.read(_MODEL)
    budget.check(_dump_bytes(model, budget))
    return header, model


def _dump_bytes(model: bytes, budget: Budget | None = None) -> int:
    """Return the memory that building a model takes, by the sizes in its dump.

    Nothing is unpacked before its size was compared with the budget.
    """
    needed = len(model) + 2 * zip_directory_bytes(io.BytesIO(model))
    _check(budget, needed)
    with ZipFile(io.BytesIO(model)) as dump:
        # Each array is read as bytes first.
        needed += 3 * _claimed_bytes([dump])
        _check(budget, needed)
        needed += 2 * _claimed_bytes(_zips_inside(dump))
        _check(budget, needed)
        return needed + _schema_bytes(dump.read(_SCHEMA))


def _check(budget: Budget | None, needed: int) -> None:
    if budget is not None:
        budget.check(needed)


def _claimed_bytes(archives: list[ZipFile]) -> int:
    """Return the claimed sizes of all entries; zipfile reads none beyond them."""
    entries = [entry for archive in archives for entry in archive.infolist()]
    if any(entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for entry in entries):
        raise BadZipFile("a compression that kernova does not use")
    return sum(entry.file_size for entry in entries)


def _schema_bytes(schema: bytes) -> int:
    """Return the memory that the objects of a schema take, from its text."""
    n_objects = schema.count(b"{")
    n_values = schema.count(b",") + schema.count(b"[") + schema.count(b"\\u005")
    # Any letter may be written as a number, to hide a word.
    hidden = len(re.findall(rb"\\u00[2-7]", schema))
    n_trusting = schema.count(b"ObjectNode") + schema.count(b"FunctionNode") + hidden
    return (
        _COPIES_OF_SCHEMA * len(schema)
        + _BYTES_PER_OBJECT * n_objects
        + _BYTES_PER_VALUE * max(0, n_values - _VALUES_PER_OBJECT * n_objects)
        + _BYTES_PER_TRUSTING_OBJECT * n_trusting
    )


def _zips_inside(dump: ZipFile) -> list[ZipFile]:
    """Return the zips in a dump: sparse matrices are stored so, under any name."""
    contents = [dump.read(entry) for entry in dump.infolist() if _is_zip(dump, entry)]
    return [ZipFile(io.BytesIO(content)) for content in contents]


def _is_zip(dump: ZipFile, entry: ZipInfo) -> bool:
    with dump.open(entry) as content:
        return content.read(2) == b"PK"


def _checked_header(path: Path, text: bytes) -> dict[str, str]:
    try:
        header = json.loads(text)
        number, writer = header["format"], header["kernova"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unclear_header(path) from error
    if type(number) is not int or number < 1 or not _is_version(writer):
        raise _unclear_header(path)
    if number > FORMAT:
        raise ModelFileError(
            f"{path} was written by kernova {writer} (format {number}); this is kernova "
            f"{versions_here()['kernova']} and reads formats up to {FORMAT}: upgrade kernova."
        )
    return {name: header[name] for name in versions_here() if _is_version(header.get(name))}


def _is_version(text: Any) -> bool:
    # A forged header must not write control characters to the terminal.
    return isinstance(text, str) and re.fullmatch(r"[0-9A-Za-z.+!_-]{1,60}", text) is not None


def _not_ours(path: Path, because: str = "") -> ModelFileError:
    return ModelFileError(f"{path} is not a kernova model{because}. {_NAME_OURS}")


def _unclear_header(path: Path) -> ModelFileError:
    return _not_ours(path, f": its {_HEADER} does not say which format it is in")


# The dump inside


def canonical(dumped: bytes) -> bytes:
    """Return a skops dump without what differs between runs: addresses, random names, dates."""
    with ZipFile(io.BytesIO(dumped)) as archive:
        names: dict[str, str] = {}
        schema = _renumbered(json.loads(archive.read(_SCHEMA)), {}, names)
        arrays = {new: _settled(new, archive.read(old)) for old, new in names.items()}
    return zipped({**arrays, _SCHEMA: json.dumps(schema).encode()}, ZIP_STORED)


def _renumbered(state: Any, seen: dict[Any, Any], names: dict[str, str]) -> Any:
    """Return the state with objects and files numbered in the order of their occurrence."""
    if isinstance(state, list):
        return [_renumbered(item, seen, names) for item in state]
    if not isinstance(state, dict):
        return state
    # A saved dict may have keys of the same names; their values are dicts, never int or str.
    address, file = state.get("__id__"), state.get("file")
    is_object = isinstance(address, int) and state.get("__loader__") not in _WITHOUT_IDENTITY
    if is_object and address in seen:
        return seen[address]
    tidy = {key: _renumbered(value, seen, names) for key, value in state.items()}
    if isinstance(address, int):
        del tidy["__id__"]
    if is_object:
        tidy["__id__"] = len(seen) + 1
        seen[address] = tidy
    if state.get("__loader__") == "SetNode":
        tidy["content"].sort(key=json.dumps)
    if isinstance(file, str):
        tidy["file"] = names.setdefault(file, f"{len(names)}{Path(file).suffix}")
    return tidy


def _settled(name: str, content: bytes) -> bytes:
    """Return an array's file as it will be after loading and saving it once more."""
    buffer = io.BytesIO()
    if name.endswith(".npz"):
        save_npz(buffer, load_npz(io.BytesIO(content)))  # its indices become as narrow as possible
    elif name.endswith(".npy") and b"'descr': [" in content[:64]:
        structured = np.load(io.BytesIO(content), allow_pickle=False)
        np.save(buffer, _without_padding(structured), allow_pickle=False)
    return buffer.getvalue() or content


def _without_padding(structured: NDArray[Any]) -> NDArray[Any]:
    """Clear the gaps between the fields, which hold uninitialised memory."""
    clean = np.zeros(structured.shape, structured.dtype)
    for field in structured.dtype.names or ():
        clean[field] = structured[field]
    return clean


def check_schema(dumped: bytes, budget: Budget | None = None) -> None:
    """Raise for a schema whose objects refer to each other in ways that `canonical` never writes.

    skops walks through everything behind a reference, which takes a forger a few bytes: twenty
    objects, each a list of the next one ten times, would never end. So an object that occurs twice
    must be written out twice, and every array belongs to one object. Arrays must be as large as
    they claim, and what copies them counts each time.
    """
    with ZipFile(io.BytesIO(dumped)) as archive:
        text = archive.read(_SCHEMA)
        _check_depth(text)
        schema = json.loads(text)
        headers = _array_headers(archive)
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    spelling: dict[object, Any] = {}
    owner: dict[str, object] = {}
    needed = 0
    for state in _nodes_in(schema):
        number, file = state.get("__id__"), state.get("file")
        is_number = isinstance(number, (int, float, str))
        if is_number and spelling.setdefault(number, state) != state:
            raise InputError("two objects have one number")
        if isinstance(file, str) and not (number and owner.setdefault(file, number) == number):
            raise InputError("two objects claim one array")
        check_construction(state, headers)
        needed += _copied_bytes(state, sizes) + _columns_bytes(state)
        _check(budget, needed)


def _check_depth(schema: bytes) -> None:
    """Raise for objects inside objects without end, before JSON is parsed."""
    # Without escaped letters, every quotation mark begins or ends a text.
    plain = schema.replace(b"\\\\", b"").replace(b'\\"', b"")
    depth, is_text = 0, np.uint8(0)
    for start in range(0, len(plain), _BLOCK_BYTES):
        letters = np.frombuffer(plain, np.uint8, min(_BLOCK_BYTES, len(plain) - start), start)
        inside = np.bitwise_xor.accumulate(letters == ord('"')).view(np.uint8) ^ is_text
        opening = (letters == ord("{")) | (letters == ord("["))
        closing = (letters == ord("}")) | (letters == ord("]"))
        steps = (opening.astype(np.int8) - closing) * (inside == 0)
        depths = depth + np.cumsum(steps, dtype=np.int64)
        if depths.max() > _DEEPEST:
            raise InputError(f"its objects are nested more than {_DEEPEST} levels deep")
        depth, is_text = int(depths[-1]), inside[-1]


def _array_headers(archive: ZipFile) -> dict[str, ArrayHeader]:
    """Return the headers of all arrays; raise for one that is shorter than it claims."""
    headers = {}
    for entry in archive.infolist():
        with archive.open(entry) as content:
            if content.read(6) != b"\x93NUMPY":
                continue
        with archive.open(entry) as content:
            header = headers[entry.filename] = array_header(content)
        if header.n_bytes > max(entry.file_size, header.dtype.itemsize * _MOST_EMPTY):
            raise InputError("an array claims more elements than it has")
    return headers


def _copied_bytes(state: dict[str, Any], sizes: dict[str, int]) -> int:
    """Return the size of arrays that an object copies, which others may hold, too."""
    times = _COPIES.get(str(state.get("__loader__"))) or _COPIES.get(str(state.get("__class__")))
    if not times:
        return 0
    files = [node["file"] for node in _nodes_in(state) if isinstance(node.get("file"), str)]
    return times * sum(sizes.get(file, 0) for file in files)


def _columns_bytes(state: dict[str, Any]) -> int:
    """Return what an estimator may need for the columns that it claims to have been fitted on."""
    found = state.get("n_features_in_")
    text = found.get("content") if isinstance(found, dict) else None
    is_whole = isinstance(text, str) and re.fullmatch("[0-9]{1,20}", text) is not None
    return _BYTES_PER_COLUMN * int(str(text)) if is_whole else 0


def _nodes_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all dictionaries of a schema, without recursion."""
    remaining = [schema]
    while remaining:
        state = remaining.pop()
        if isinstance(state, list):
            remaining.extend(state)
        elif isinstance(state, dict):
            remaining.extend(state.values())
            yield state


# --- classes that have moved ------------------------------------------------------------------


def with_current_names(dumped: bytes) -> bytes:
    """Return a skops dump in which moved classes have their current names."""
    with ZipFile(io.BytesIO(dumped)) as archive:
        schema = json.loads(archive.read(_SCHEMA))
        if not _rename_classes(schema, moved_classes()):
            return dumped
        parts = {name: archive.read(name) for name in archive.namelist()}
    return zipped({**parts, _SCHEMA: json.dumps(schema).encode()}, ZIP_STORED)


def _rename_classes(schema: Any, new_names: dict[str, str]) -> bool:
    """Rename classes in place; return whether there was one to rename."""
    is_changed = False
    for state in _nodes_in(schema):
        new = new_names.get(f"{state.get('__module__')}.{state.get('__class__')}")
        if new is not None:
            state["__module__"], _, state["__class__"] = new.rpartition(".")
            is_changed = True
    return is_changed

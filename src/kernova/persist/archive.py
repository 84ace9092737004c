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
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import load_npz, save_npz
from sklearn.base import BaseEstimator

from kernova._version import __version__
from kernova.errors import InputError, ModelFileError

FORMAT = 1

_HEADER = "kernova.json"
_MODEL = "model.skops"

# Above this a model is stored uncompressed: deflating long arrays takes seconds, gains little ...
_DEFLATE_UP_TO_BYTES = 64 * 2**20
# ... so a file that unpacks to more than the larger of these two was not written by kernova.
_ROOM_AT_LEAST_BYTES = 256 * 2**20
_ROOM_PER_BYTE = 100

_NAME_OURS = "Pass a model file written by kernova."
_COPY_AGAIN = "Copy it again from an undamaged file, or save the model again."

SCHEMA = "schema.json"
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
    compression = ZIP_DEFLATED if len(dumped) <= _DEFLATE_UP_TO_BYTES else ZIP_STORED
    return zipped({_HEADER: json.dumps(header, indent=2).encode(), _MODEL: dumped}, compression)


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
            return _unzipped(path, file, room=_room(path.stat().st_size))
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
        raise ModelFileError(f"There is no model file {path}. {_NAME_OURS}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"Cannot read {path}: {reason}. {_NAME_OURS}") from error
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


def _unzipped(path: Path, file: BinaryIO, room: int) -> tuple[bytes, bytes]:
    with ZipFile(file) as archive:
        names = archive.namelist()
        if _HEADER not in names:
            raise _not_ours(path, f": it is a zip without {_HEADER}")
        if _MODEL not in names:
            raise _not_ours(path, f": it is a zip without {_MODEL}")
        _reject_bomb(path, [archive], room)
        header, model = archive.read(_HEADER), archive.read(_MODEL)
    with ZipFile(io.BytesIO(model)) as dump:
        _reject_bomb(path, [dump], room)
        _reject_bomb(path, _zips_inside(dump), room)
    return header, model


def _room(size: int) -> int:
    return max(_ROOM_AT_LEAST_BYTES, _ROOM_PER_BYTE * size)


def _reject_bomb(path: Path, archives: list[ZipFile], room: int) -> None:
    """Raise if the claimed sizes of the entries are too large; zipfile reads none beyond them."""
    claimed = sum(entry.file_size for archive in archives for entry in archive.infolist())
    if claimed > room:
        raise ModelFileError(
            f"{path} claims to unpack to {claimed / 2**20:,.0f} MiB, which no kernova model of "
            f"its size does. {_NAME_OURS}"
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
        schema = _renumbered(json.loads(archive.read(SCHEMA)), {}, names)
        arrays = {new: _settled(new, archive.read(old)) for old, new in names.items()}
    return zipped({**arrays, SCHEMA: json.dumps(schema).encode()}, ZIP_STORED)


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


def check_schema(dumped: bytes) -> None:
    """Raise for a schema whose objects refer to each other in ways that `canonical` never writes.

    skops walks through everything behind a reference, which takes a forger a few bytes: twenty
    objects, each a list of the next one ten times, would never end. So an object that occurs twice
    must be written out twice, and every array belongs to one object.
    """
    with ZipFile(io.BytesIO(dumped)) as archive:
        schema = json.loads(archive.read(SCHEMA))
    spelling: dict[object, Any] = {}
    owner: dict[str, object] = {}
    for state in nodes_in(schema):
        number, file = state.get("__id__"), state.get("file")
        is_number = isinstance(number, (int, float, str))
        if is_number and spelling.setdefault(number, state) != state:
            raise InputError("two objects have one number")
        if isinstance(file, str) and not (number and owner.setdefault(file, number) == number):
            raise InputError("two objects claim one array")


def nodes_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all dictionaries of a schema, without recursion."""
    remaining = [schema]
    while remaining:
        state = remaining.pop()
        if isinstance(state, list):
            remaining.extend(state)
        elif isinstance(state, dict):
            remaining.extend(state.values())
            yield state

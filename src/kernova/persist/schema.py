"""What a skops dump looks like inside: made the same in every run, and checked before use."""

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import load_npz, save_npz

from kernova.errors import InputError
from kernova.persist.archive import zipped

_SCHEMA = "schema.json"

# Whether two equal numbers, strings or classes are one object is Python's whim; it means nothing.
_WITHOUT_IDENTITY = ("JsonNode", "TypeNode")


def canonical(dumped: bytes) -> bytes:
    """Free a skops dump of what differs between runs: addresses, random names, dates, padding."""
    with ZipFile(io.BytesIO(dumped)) as archive:
        names: dict[str, str] = {}
        schema = _renumbered(json.loads(archive.read(_SCHEMA)), {}, names)
        arrays = {new: _settled(new, archive.read(old)) for old, new in names.items()}
    return zipped({**arrays, _SCHEMA: json.dumps(schema).encode()}, ZIP_STORED)


def _renumbered(state: Any, seen: dict[Any, Any], names: dict[str, str]) -> Any:
    """Give objects and files numbers in the order in which they are met."""
    if isinstance(state, list):
        return [_renumbered(item, seen, names) for item in state]
    if not isinstance(state, dict):
        return state
    # A saved dict may have keys of the same names; behind those stand dicts, never int or str.
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
    """Give an array the form that it will have after it was loaded and saved once more."""
    buffer = io.BytesIO()
    if name.endswith(".npz"):
        save_npz(buffer, load_npz(io.BytesIO(content)))  # its indices become as narrow as can be
    elif name.endswith(".npy") and b"'descr': [" in content[:64]:
        structured = np.load(io.BytesIO(content), allow_pickle=False)
        np.save(buffer, _without_padding(structured), allow_pickle=False)
    return buffer.getvalue() or content


def _without_padding(structured: NDArray[Any]) -> NDArray[Any]:
    """Clear the gaps between the fields: they hold whatever memory held."""
    clean = np.zeros(structured.shape, structured.dtype)
    for field in structured.dtype.names or ():
        clean[field] = structured[field]
    return clean


def check_schema(dumped: bytes) -> None:
    """Refuse a schema whose objects refer to each other in ways that `canonical` never writes.

    A reference costs a forger a few bytes and skops a walk through all that stands behind it:
    twenty objects, each a list of the next one ten times, would keep it busy for ever. So an
    object that comes twice must be spelt out twice, and every array belongs to one object.
    """
    with ZipFile(io.BytesIO(dumped)) as archive:
        remaining = [json.loads(archive.read(_SCHEMA))]
    spelling: dict[object, Any] = {}
    owner: dict[str, object] = {}
    while remaining:
        state = remaining.pop()
        if isinstance(state, list):
            remaining.extend(state)
        elif isinstance(state, dict):
            remaining.extend(state.values())
            number, file = state.get("__id__"), state.get("file")
            is_number = isinstance(number, (int, float, str))
            if is_number and spelling.setdefault(number, state) != state:
                raise InputError("two objects go by one number")
            if isinstance(file, str) and not (number and owner.setdefault(file, number) == number):
                raise InputError("two objects claim one array")

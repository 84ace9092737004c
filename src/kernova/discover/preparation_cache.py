"""Preparation cache: results computed before the first question, saved beside a project.

The file is a zip of arrays in the format of :func:`numpy.save` and one JSON text with their
structure. Only the types in ``SAVED_TYPES`` are built from it. A file that is damaged, truncated,
or from another table or version is ignored, and everything is computed again.
"""

import hashlib
import json
from collections.abc import Hashable
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as array_format

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.discover.preparation import (
    SAVED_TYPES,
    Preparation,
    PreparedParts,
    cached_values,
    restore,
)
from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError
from kernova.files import replacing

_FORMAT: Final = 1
_TEXT: Final = "parts.json"
# Packages whose version may change the last digit of the results.
_PACKAGES: Final = ("kernova", "numpy", "scipy", "sklearn")
_PLAIN: Final = (bool, int, float, str, type(None))


def prepare(session: CategoryDiscovery, cache: Path | None, key: str = "") -> bool:
    """Do the costly work before the first question, or restore its results from a file.

    The questions are identical with and without the file.

    Parameters
    ----------
    session : CategoryDiscovery
        A started session.
    cache : Path or None
        The file; it is written if it is missing or does not fit. None for no file.
    key : str
        Anything else that must agree, such as the fingerprint of the table. The numbers, the
        strategy with its settings, the seed and the package versions are compared in any case.

    Returns
    -------
    bool
        Whether all results came from the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> from kernova.discover.preparation_cache import prepare
    >>> rows = np.array([[0.0], [0.1], [0.2], [9.0]])
    >>> cache = pathlib.Path(tempfile.mkdtemp()) / "rows.cache"
    >>> [prepare(CategoryDiscovery().start(rows), cache) for _ in range(2)]
    [False, True]
    """
    session.prepare(sample_only=True)
    if cache is None:
        session.prepare()
        return False
    preparation = session.preparation_
    whole_key = _whole_key(session, key)
    found = _read(cache, whole_key)
    if found is not None:
        _restore(preparation, found)
    session.prepare()
    computed = _computed(preparation)
    is_complete = found is not None and _names(computed) <= _names(found)
    if not is_complete and any(computed.values()):
        _write(cache, whole_key, computed)
    return is_complete


def _whole_key(session: CategoryDiscovery, key: str) -> str:
    """Return a digest of table, settings and versions.

    A strategy without a ``repr`` of its settings never matches.
    """
    preparation = session.preparation_
    X = np.ascontiguousarray(preparation.X)
    parts = [
        str(_FORMAT),
        key,
        repr(session.strategy_),
        repr(preparation.random_state),
        repr(X.shape),
        hashlib.sha256(X.data).hexdigest(),
        *(f"{name} {import_module(name).__version__}" for name in _PACKAGES),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


Parts = dict[str, Any]


def _computed(preparation: Preparation) -> Parts:
    """Return the results to save; values that cannot be written are quickly recomputed."""
    values = {}
    for key, value in cached_values(preparation).items():
        try:
            _Writer().tree(value)
        except _NotSavableError:
            continue
        values[key] = value
    parts = preparation.parts
    return {"rows": parts.rows, "hierarchies": parts.hierarchies, "values": values}


def _names(parts: Parts) -> set[Hashable]:
    return {(kind, name) for kind, named in parts.items() for name in named}


def _restore(preparation: Preparation, parts: Parts) -> None:
    preparation.restore(PreparedParts(parts["rows"], parts["hierarchies"]))
    restore(preparation, parts["values"])


# --- the file --------------------------------------------------------------------------------


def _write(path: Path, key: str, parts: Parts) -> None:
    writer = _Writer()
    text = json.dumps({"format": _FORMAT, "key": key, "parts": writer.tree(parts)})
    try:
        with replacing(path) as scratch, ZipFile(scratch, "w", ZIP_STORED) as archive:
            archive.writestr(_TEXT, text)
            for number, array in enumerate(writer.arrays):
                with archive.open(f"{number}.npy", "w", force_zip64=True) as file:
                    array_format.write_array(file, array, allow_pickle=False)
    except (InputError, OSError):
        return  # a read-only folder or a full disk: the next start computes again


def _read(path: Path, key: str) -> Parts | None:
    try:
        if not path.is_file():  # opening a pipe would block
            return None
        with ZipFile(path) as archive:
            if any(entry.compress_type != ZIP_STORED for entry in archive.infolist()):
                return None  # not written by kernova; it might unpack to any size
            head = json.loads(archive.read(_TEXT))
            if (head["format"], head["key"]) != (_FORMAT, key):
                return None
            parts = _Reader(archive).value(head["parts"])
        return parts if set(parts) == {"rows", "hierarchies", "values"} else None
    except Exception:  # noqa: BLE001 - a damaged file can raise almost anything
        return None


class _NotSavableError(Exception):
    """A value of a type that is not saved."""


class _Writer:
    """Convert values into a JSON tree and a list of arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray[Any, Any]] = []
        self._numbers: dict[int, int] = {}

    def tree(self, value: Any) -> Any:
        if isinstance(value, float) and not isinstance(value, np.generic):
            return {"float": value.hex()}
        if isinstance(value, _PLAIN) and not isinstance(value, np.generic):
            return value
        if isinstance(value, np.ndarray | np.generic):
            return {"array": self._number(np.asanyarray(value)), "is_scalar": np.isscalar(value)}
        if isinstance(value, HierarchicalMeanShift):
            return {"hierarchy": self.tree(value.get_params()), "fitted": self.tree(_fitted(value))}
        return self._tree_of_several(value)

    def _tree_of_several(self, value: Any) -> Any:
        kind = type(value).__name__
        if isinstance(value, dict):
            return {"pairs": [[self.tree(key), self.tree(one)] for key, one in value.items()]}
        if isinstance(value, tuple) and SAVED_TYPES.get(kind) is type(value):
            return {"record": kind, "fields": [self.tree(one) for one in value]}
        if type(value) in (list, tuple):
            return {kind: [self.tree(one) for one in value]}
        raise _NotSavableError(kind)

    def _number(self, array: "np.ndarray[Any, Any]") -> int:
        """Return the number of an array; a repeated one is written once."""
        if array.dtype.hasobject:
            raise _NotSavableError(str(array.dtype))
        if id(array) not in self._numbers:
            self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)  # which also keeps its id from being reused
        return self._numbers[id(array)]


class _Reader:
    """Convert a tree back into values."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._arrays: dict[int, np.ndarray[Any, Any]] = {}

    def value(self, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        kind = next(iter(tree))
        inside = tree[kind]
        if kind == "float":
            return float.fromhex(inside)
        if kind == "array":
            array = self._array(int(inside))
            return array[()] if tree["is_scalar"] else array
        if kind == "hierarchy":
            model = HierarchicalMeanShift(**self.value(inside))
            model.__dict__.update(self.value(tree["fitted"]))
            return model
        return self._several(kind, inside, tree)

    def _several(self, kind: str, inside: Any, tree: dict[str, Any]) -> Any:
        if kind == "pairs":
            return {self.value(key): self.value(one) for key, one in inside}
        if kind == "record":
            return SAVED_TYPES[inside](*map(self.value, tree["fields"]))
        return {"list": list, "tuple": tuple}[kind](map(self.value, inside))

    def _array(self, number: int) -> "np.ndarray[Any, Any]":
        if number not in self._arrays:
            with self._archive.open(f"{number}.npy") as file:
                self._arrays[number] = array_format.read_array(file, allow_pickle=False)
                file.read()  # to the end, where the checksum is compared
        return self._arrays[number]


def _fitted(model: HierarchicalMeanShift) -> dict[str, Any]:
    settings = model.get_params()
    return {name: value for name, value in vars(model).items() if name not in settings}

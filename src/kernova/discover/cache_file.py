"""Cache files: computed results beside a project, which can be computed again at any time.

A cache file is a zip of arrays in the format of :func:`numpy.save` and one JSON text with their
structure. Only the types in ``SAVED_TYPES`` are built from it. A file that is damaged, truncated,
too large, or from another table or version is not read.
"""

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as array_format

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.discover.preparation import SAVED_TYPES
from kernova.errors import InputError
from kernova.files import replacing
from kernova.typing import Matrix

_FORMAT: Final = 1
_TEXT: Final = "parts.json"
# Packages whose version may change the last digit of the results.
_PACKAGES: Final = ("kernova", "numpy", "scipy", "sklearn")
_PLAIN: Final = (bool, int, float, str, type(None))


def cache_key(X: Matrix, *settings: str) -> str:
    """Return a digest of a table, settings and package versions.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.cache_file import cache_key
    >>> len(cache_key(np.zeros((3, 2)), "settings"))
    64
    """
    X = np.ascontiguousarray(X)
    versions = (f"{name} {import_module(name).__version__}" for name in _PACKAGES)
    numbers = hashlib.sha256(X.data if X.size else b"").hexdigest()
    parts = [str(_FORMAT), *settings, repr(X.shape), numbers, *versions]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_savable(value: Any) -> bool:
    """Return whether a cache file can hold a value.

    Examples
    --------
    >>> from kernova.discover.cache_file import is_savable
    >>> is_savable({"row": (1, 2.5)}), is_savable(object())
    (True, False)
    """
    try:
        _Writer().tree(value)
    except _NotSavableError:
        return False
    return True


def write_cache(path: Path, key: str, value: Any) -> None:
    """Write a value, as a whole or not at all; a folder that cannot be written to is no error.

    Parameters
    ----------
    path : path
        The file, which is replaced.
    key : str
        Everything that the value depends on, see :func:`cache_key`.
    value : object
        A value for which :func:`is_savable` is true.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.discover.cache_file import read_cache, write_cache
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.cache"
    >>> write_cache(path, "key", {"points": np.array([1.0, 2.0])})
    >>> read_cache(path, "key"), read_cache(path, "another")
    ({'points': array([1., 2.])}, None)
    """
    writer = _Writer()
    text = json.dumps({"format": _FORMAT, "key": key, "parts": writer.tree(value)})
    try:
        with replacing(path) as scratch, ZipFile(scratch, "w", ZIP_STORED) as archive:
            archive.writestr(_TEXT, text)
            for number, array in enumerate(writer.arrays):
                with archive.open(f"{number}.npy", "w", force_zip64=True) as file:
                    array_format.write_array(file, array, allow_pickle=False)
    except (InputError, OSError):
        return  # a read-only folder or a full disk: the next start computes again


def read_cache(path: Path, key: str, most_bytes: int | None = None) -> Any | None:
    """Return the value of a file; None if it is missing, damaged, too large or of another key."""
    try:
        if not path.is_file():  # opening a pipe would block
            return None
        if most_bytes is not None and path.stat().st_size > most_bytes:
            return None
        with ZipFile(path) as archive:
            if any(entry.compress_type != ZIP_STORED for entry in archive.infolist()):
                return None  # not written by kernova; it might unpack to any size
            head = json.loads(archive.read(_TEXT))
            if (head["format"], head["key"]) != (_FORMAT, key):
                return None
            return _Reader(archive).value(head["parts"])
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

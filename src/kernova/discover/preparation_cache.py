"""What a session works out before its first question, kept in a file beside its project.

The file is a zip of arrays, as :func:`numpy.save` writes them, and one text that says how they
belong together. No type is built from it but the few that are named here. Whatever is wrong with
it (damaged, cut short, of another table, of another version), everything is worked out anew, and
nobody need know.
"""

import hashlib
import json
from collections.abc import Callable, Hashable
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as array_format

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.discover.preparation import Preparation, PreparedParts, bring_back, kept_values
from kernova.discover.session import CategoryDiscovery
from kernova.discover.strategies.interleave import Mixture
from kernova.discover.strategies.nndm import DensityScale
from kernova.discover.strategies.spacing import Spacing
from kernova.errors import InputError
from kernova.files import replacing
from kernova.neighbors.duplicates import DistinctRows

_FORMAT: Final = 1
_TEXT: Final = "parts.json"
# What changes the last digit of what is worked out.
_PACKAGES: Final = ("kernova", "numpy", "scipy", "sklearn")
# Values with named fields that may be built from a file.
_RECORDS: Final[dict[str, Callable[..., Any]]] = {
    kind.__name__: kind for kind in (PreparedParts, Spacing, DistinctRows, Mixture, DensityScale)
}
_PLAIN: Final = (bool, int, float, str, type(None))


def prepare(session: CategoryDiscovery, cache: Path | None, key: str = "") -> bool:
    """Do what is costly before the first question, or bring it back from a file.

    The questions are the same, to the last bit, with and without the file.

    Parameters
    ----------
    session : CategoryDiscovery
        A session that was started.
    cache : Path or None
        The file; it is written if it is not there, or holds something else. None for none.
    key : str
        What else must be the same for the file to count, such as the table's fingerprint. The
        numbers themselves, the strategy with its settings, the seed and the versions of what
        computes are looked at in any case.

    Returns
    -------
    bool
        Whether everything came from the file.

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
    if cache is None:
        session.prepare()
        return False
    preparation = session._preparation
    whole_key = _whole_key(session, key)
    found = _read(cache, whole_key)
    if found is not None:
        _bring_back(preparation, found)
    session.prepare()
    now = _worked_out(preparation)
    is_complete = found is not None and _names(now) <= _names(found)
    if not is_complete and any(now.values()):
        _write(cache, whole_key, now)
    return is_complete


def _whole_key(session: CategoryDiscovery, key: str) -> str:
    """Tell tables, settings and versions apart.

    A strategy that does not say what it is made of is another one each time.
    """
    X = np.ascontiguousarray(session._preparation.X)
    said = [
        str(_FORMAT),
        key,
        repr(session._chosen),
        repr(session._preparation.random_state),
        repr(X.shape),
        hashlib.sha256(X.data).hexdigest(),
        *(f"{name} {import_module(name).__version__}" for name in _PACKAGES),
    ]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


Parts = dict[str, Any]


def _worked_out(preparation: Preparation) -> Parts:
    """Give what there is to keep; what cannot be written is quickly made of what can."""
    values = {}
    for key, value in kept_values(preparation).items():
        try:
            _Writer().tree(value)
        except _NotKeptError:
            continue
        values[key] = value
    parts = preparation.parts
    return {"rows": parts.rows, "hierarchies": parts.hierarchies, "values": values}


def _names(parts: Parts) -> set[Hashable]:
    return {(kind, name) for kind, named in parts.items() for name in named}


def _bring_back(preparation: Preparation, parts: Parts) -> None:
    preparation.bring_back(PreparedParts(parts["rows"], parts["hierarchies"]))
    bring_back(preparation, parts["values"])


# --- the file --------------------------------------------------------------------------------


def _write(path: Path, key: str, parts: Parts) -> None:
    writer = _Writer()
    text = json.dumps({"format": _FORMAT, "key": key, "parts": writer.tree(parts)})
    try:
        with replacing(path) as scratch, ZipFile(scratch, "w", ZIP_STORED) as archive:
            archive.writestr(_TEXT, text)
            for place, array in enumerate(writer.arrays):
                with archive.open(f"{place}.npy", "w", force_zip64=True) as file:
                    array_format.write_array(file, array, allow_pickle=False)
    except (InputError, OSError):
        return  # a folder that cannot be written, or a full disk: next time it takes as long again


def _read(path: Path, key: str) -> Parts | None:
    try:
        if not path.is_file():  # opening a pipe would wait for whoever writes to it
            return None
        with ZipFile(path) as archive:
            if any(entry.compress_type != ZIP_STORED for entry in archive.infolist()):
                return None  # not written here, and may unpack to anything
            head = json.loads(archive.read(_TEXT))
            if (head["format"], head["key"]) != (_FORMAT, key):
                return None
            parts = _Reader(archive).value(head["parts"])
        return parts if set(parts) == {"rows", "hierarchies", "values"} else None
    except Exception:  # noqa: BLE001 - there are dozens of ways to be no such file
        return None


class _NotKeptError(Exception):
    """Something that is not worth, or not safe, to be written."""


class _Writer:
    """Turn values into a tree that JSON can say, and a list of arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray[Any, Any]] = []
        self._places: dict[int, int] = {}

    def tree(self, value: Any) -> Any:
        if isinstance(value, float) and not isinstance(value, np.generic):
            return {"float": value.hex()}
        if isinstance(value, _PLAIN) and not isinstance(value, np.generic):
            return value
        if isinstance(value, np.ndarray | np.generic):
            return {"array": self._place(np.asanyarray(value)), "is_scalar": np.isscalar(value)}
        if isinstance(value, HierarchicalMeanShift):
            return {"hierarchy": self.tree(value.get_params()), "fitted": self.tree(_fitted(value))}
        return self._tree_of_several(value)

    def _tree_of_several(self, value: Any) -> Any:
        kind = type(value).__name__
        if isinstance(value, dict):
            return {"pairs": [[self.tree(key), self.tree(one)] for key, one in value.items()]}
        if isinstance(value, tuple) and _RECORDS.get(kind) is type(value):
            return {"record": kind, "fields": [self.tree(one) for one in value]}
        if type(value) in (list, tuple):
            return {kind: [self.tree(one) for one in value]}
        raise _NotKeptError(kind)

    def _place(self, array: "np.ndarray[Any, Any]") -> int:
        """Give the array's number; one that is met again is written once."""
        if array.dtype.hasobject:
            raise _NotKeptError(str(array.dtype))
        if id(array) not in self._places:
            self._places[id(array)] = len(self.arrays)
            self.arrays.append(array)  # which also keeps its id from being given to another
        return self._places[id(array)]


class _Reader:
    """Turn a tree back into values."""

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
            return _RECORDS[inside](*map(self.value, tree["fields"]))
        return {"list": list, "tuple": tuple}[kind](map(self.value, inside))

    def _array(self, place: int) -> "np.ndarray[Any, Any]":
        if place not in self._arrays:
            with self._archive.open(f"{place}.npy") as file:
                self._arrays[place] = array_format.read_array(file, allow_pickle=False)
                file.read()  # to the end, where the checksum is compared
        return self._arrays[place]


def _fitted(model: HierarchicalMeanShift) -> dict[str, Any]:
    settings = model.get_params()
    return {name: value for name, value in vars(model).items() if name not in settings}

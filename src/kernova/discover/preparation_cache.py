"""Preparation cache: results computed before the first question, saved beside a project.

A file that is damaged, truncated, or from another table or version is ignored, and everything is
computed again: see :mod:`kernova.discover.cache_file`.
"""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from kernova.discover.cache_file import cache_key, is_savable, read_cache, write_cache
from kernova.discover.preparation import Preparation, PreparedParts, cached_values, restore
from kernova.discover.session import CategoryDiscovery

_PARTS = {"rows", "hierarchies", "values"}


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
        write_cache(cache, whole_key, computed)
    return is_complete


def _whole_key(session: CategoryDiscovery, key: str) -> str:
    """Return a digest of table, settings and versions.

    A strategy without a ``repr`` of its settings never matches.
    """
    preparation = session.preparation_
    seed = repr(preparation.random_state)
    return cache_key(preparation.X, key, repr(session.strategy_), seed)


Parts = dict[str, Any]


def _computed(preparation: Preparation) -> Parts:
    """Return the results to save; values that cannot be written are quickly recomputed."""
    values = {key: one for key, one in cached_values(preparation).items() if is_savable(one)}
    parts = preparation.parts
    return {"rows": parts.rows, "hierarchies": parts.hierarchies, "values": values}


def _names(parts: Parts) -> set[Hashable]:
    return {(kind, name) for kind, named in parts.items() for name in named}


def _restore(preparation: Preparation, parts: Parts) -> None:
    preparation.restore(PreparedParts(parts["rows"], parts["hierarchies"]))
    restore(preparation, parts["values"])


def _read(path: Path, key: str) -> Parts | None:
    found = read_cache(path, key)
    return found if isinstance(found, dict) and set(found) == _PARTS else None

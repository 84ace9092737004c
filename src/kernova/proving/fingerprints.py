"""Fingerprints of runs: digests of the code, the settings and the packages that a run depends on.

A run of yesterday's code must not be compared with one of today's under the same name. The code is
that of the strategy's module, of all modules of kernova that it imports, directly or not, and of
those that draw and measure. Comments, docstrings and layout do not count.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import kernova
from kernova.discover.questions import Strategy
from kernova.proving.runs import RANDOM_ORDERS
from kernova.typing import Matrix

_SOURCE: Final = Path(kernova.__file__).parent
# Measuring and drawing. Their imports do not count: the simulation imports every strategy, and what
# is drawn has a digest of its own.
_MEASURING: Final = ("proving.runs", "discover.simulation", "discover.sampling")
_DRAWING: Final = ("proving.problems", "proving.generators", "proving.tables", "proving.sounds")
_PACKAGES: Final = ("numpy", "scipy", "scikit-learn", "coniferest")
_MODULE: Final = re.compile(r"kernova(\.\w+)+")
_DIGEST_BYTES: Final = 8


def fingerprint(strategy: Strategy, most_chosen: int) -> str:
    """Return the fingerprint of a strategy's runs.

    Parameters
    ----------
    strategy : Strategy
        The strategy; what it is told must not depend on a draw.
    most_chosen : int
        Number of questions after which runs go on at random.

    Examples
    --------
    >>> from kernova.discover.strategies import strategy_named
    >>> from kernova.proving.fingerprints import fingerprint
    >>> fingerprint(strategy_named("nndm"), 100) == fingerprint(strategy_named("nndm"), 200)
    False
    """
    modules = {*imported_modules(type(strategy).__module__), "kernova.discover.preparation"}
    modules |= {f"kernova.{name}" for name in (*_MEASURING, *_DRAWING)}
    parts = [
        *(f"{name} {code_digest(_path_of(name))}" for name in sorted(modules)),
        *(f"{name} {_version(name)}" for name in _PACKAGES),
        described(strategy),
        f"{most_chosen} {RANDOM_ORDERS}",
    ]
    return _digest("\n".join(parts).encode())


def rows_digest(X: Matrix, labels: Iterable[Any]) -> str:
    """Return a digest of the rows and labels of a draw.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.fingerprints import rows_digest
    >>> rows_digest(np.zeros((2, 1)), ["a", "b"]) == rows_digest(np.zeros((2, 1)), ["b", "a"])
    False
    """
    named = "\n".join(map(str, labels))
    return _digest(f"{X.shape}\n{named}\n".encode() + X.tobytes())


def described(value: Any) -> str:
    """Return a text of an object's type and settings, the same in every process.

    Examples
    --------
    >>> from kernova.discover.strategies import strategy_named
    >>> from kernova.proving.fingerprints import described
    >>> described(strategy_named("hms-ci-had")) == described(strategy_named("hms-ci"))
    False
    """
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{described(key)}: {described(inner)}" for key, inner in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(described, value))})"
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    settings = getattr(value, "__dict__", None)
    return name if settings is None else f"{name}{described(settings)}"


# --- code ------------------------------------------------------------------------------------


@cache
def imported_modules(module: str) -> frozenset[str]:
    """Return a module of kernova, and all that it imports, directly or not.

    Examples
    --------
    >>> from kernova.proving.fingerprints import imported_modules
    >>> sorted(imported_modules("kernova.text"))
    ['kernova.errors', 'kernova.text']
    """
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _path_of(name)
        if name not in found and path.is_file():
            found.add(name)
            waiting += _imports(path)
    return frozenset(found)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            # A name that is imported from a package may be a module.
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.append(node.value)  # of a module that is imported by its name, when needed
    return tuple(name for name in names if _MODULE.fullmatch(name))


def _path_of(module: str) -> Path:
    inner = _SOURCE.joinpath(*module.split(".")[1:])
    file = inner.with_name(f"{inner.name}.py")
    return file if file.is_file() else inner / "__init__.py"


@cache
def code_digest(path: Path) -> str:
    """Return a digest of a module's code, without comments and docstrings."""
    if not path.is_file():
        return ""
    tree = _tree(path)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return _digest(ast.dump(tree).encode())


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def _is_text(part: ast.AST) -> bool:
    return (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()

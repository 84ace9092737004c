"""Saving and loading of fitted estimators, without pickle and with trusted types only.

A model file is a zip of two parts:

``kernova.json``
    The format's number, and the versions of kernova, scikit-learn, numpy and skops that wrote it.
``model.skops``
    The estimator as plain arrays and JSON, in the format of ``skops.io``.

Saving the same model twice gives the same bytes.
"""

import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernova.budget import budget_of, memory_limit
from kernova.errors import InputError, ModelFileError, quoted
from kernova.files import replacing
from kernova.persist.archive import (
    Archive,
    canonical,
    check_schema,
    packed,
    read_archive,
    versions_here,
    with_current_names,
)
from kernova.persist.trust import foreign_types, make_harmless
from kernova.text import first_few

__all__ = ["load_model", "save_model"]

_NAMES_SHOWN = 10


def save_model(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator to one file, without pickle.

    The bytes are first read back and compared: a model that cannot be restored exactly raises an
    error when it is saved, not when it is needed.

    Parameters
    ----------
    model : estimator
        Any fitted scikit-learn estimator: one of kernova's or of scikit-learn's own, a pipeline
        of them, or one of yours that holds plain values, arrays and importable classes.
    path : path-like
        The file to write, usually with the extension ``.kernova``. It is written whole or not at
        all.

    Raises
    ------
    InputError
        If ``model`` is not a fitted estimator, holds something that cannot be restored (the
        message names it), or ``path`` cannot be written.

    Warns
    -----
    UserWarning
        If the model holds types, such as classes of your own, which :func:`load_model` trusts
        only if they are named in ``trusted``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from sklearn.svm import OneClassSVM
    >>> from kernova import load_model, save_model
    >>> rows = np.array([[0.0], [1.0], [2.0]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "known.kernova"
    >>> save_model(OneClassSVM(nu=0.2).fit(rows), path)
    >>> load_model(path)
    OneClassSVM(nu=0.2)
    """
    _check_fitted_estimator(model)
    dump = _dumped(model)
    whole = packed(model, dump.data)
    with replacing(path) as scratch:
        scratch.write_bytes(whole)
    foreign = foreign_types(dump.types_to_trust)
    if foreign:
        warnings.warn(
            f"{Path(path)} holds types that load_model trusts only by name: load it with "
            f"trusted={foreign}.",
            stacklevel=2,
        )


def load_model(
    path: str | os.PathLike[str],
    *,
    trusted: Iterable[str | type] | str | type = (),
    memory_mb: float | None = None,
) -> Any:
    """Load a model that :func:`save_model` wrote.

    Parameters
    ----------
    path : path-like
        The model file.
    trusted : sequence of str or type, default=()
        Types of your own that the file may hold, such as a kernel class, by full name
        (``"my_package.kernels.Wave"``) or as the class itself. Name only types that you know: the
        author of the file chose the values that they are given.
    memory_mb : float, optional
        Megabytes of memory that loading may take; by default 80 and 16 for each megabyte of the
        file, or the environment variable ``KERNOVA_MEMORY_MB``. Models that :func:`save_model`
        writes need no more.

    Returns
    -------
    estimator
        The model as it was saved.

    Raises
    ------
    ModelFileError
        If the file is not a kernova model, is damaged, was written by a newer kernova, or holds
        types that are not trusted.

    Warns
    -----
    UserWarning
        If another version of scikit-learn wrote the file, so that results may differ.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from kernova import load_model
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> _ = path.write_text("not a model")
    >>> load_model(path)
    Traceback (most recent call last):
        ...
    kernova.errors.ModelFileError: ...notes.txt is not a kernova model. ...
    """
    source = Path(path)
    with memory_limit(memory_mb):
        loaded = _loaded(source, read_archive(source), trusted)
    if loaded.other_sklearn:
        warnings.warn(
            f"{source} was saved with scikit-learn {loaded.other_sklearn}; this is scikit-learn "
            f"{sklearn.__version__}, which may give other results. Fit and save the model again to "
            "be sure.",
            stacklevel=2,
        )
    return loaded.model


# Saving


def _check_fitted_estimator(model: Any) -> None:
    if isinstance(model, type):
        raise InputError(f"save_model takes a fitted estimator; got the class {model.__name__}.")
    name = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise InputError(f"save_model takes a fitted estimator; got an object of type {name}.")
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise InputError(f"Cannot save this {name}: it is not fitted. Call fit first.") from error


class _Dump(NamedTuple):
    """The bytes of an object, and the types in them that skops does not trust by itself."""

    data: bytes
    types_to_trust: list[str]


def _dumped(model: BaseEstimator) -> _Dump:
    try:
        return _round_trip(model)
    except Exception as error:
        culprit = _smallest_culprit(_Culprit("", model, error))
        path, part = culprit.path.lstrip("."), type(culprit.part).__name__
        what = f"its {path} (of type {part})" if path else "it"
        raise InputError(
            f"Cannot save this {type(model).__name__}: {what} cannot be restored from a file "
            f"({_in_short(culprit.error)}). A model may hold plain values, arrays, and classes "
            "and functions that can be imported."
        ) from error


def _round_trip(value: Any) -> _Dump:
    """Dump, load and dump again; both dumps must be the same to the byte."""
    import skops.io

    data = canonical(skops.io.dumps(value))
    check_schema(data)
    # These types are safe to build: the bytes were just made of objects in memory.
    types_to_trust = skops.io.get_untrusted_types(data=data)
    back = skops.io.loads(data, trusted=types_to_trust)
    if canonical(skops.io.dumps(back)) != data:
        raise InputError("it differs after loading")
    make_harmless(back)
    return _Dump(data, types_to_trust)


class _Culprit(NamedTuple):
    """A part of a model that cannot be saved, its path in the model, and the error."""

    path: str
    part: Any
    error: Exception


def _smallest_culprit(culprit: _Culprit, above: frozenset[int] = frozenset()) -> _Culprit:
    above = above | {id(culprit.part)}
    for name, part in _named_parts(culprit.part):
        if id(part) in above:
            continue
        try:
            _round_trip(part)
        except Exception as error:  # noqa: BLE001 - any error marks the part as the culprit
            return _smallest_culprit(_Culprit(culprit.path + name, part, error), above)
    return culprit


def _named_parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{quoted(key)}]", part) for key, part in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{i}]", part) for i, part in enumerate(value))
    elif hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType)):
        yield from ((f".{name}", part) for name, part in vars(value).items())


# Loading


class _Loaded(NamedTuple):
    """A model, and the version of scikit-learn that saved it if it is not this one."""

    model: BaseEstimator
    other_sklearn: str | None


def _loaded(source: Path, archive: Archive, trusted: Iterable[str | type] | str | type) -> _Loaded:
    import skops.io

    try:
        check_schema(archive.model, budget_of(source, ModelFileError))
        dump = with_current_names(archive.model)
        types_to_trust = skops.io.get_untrusted_types(data=dump)
        foreign = foreign_types(types_to_trust, trusted)
        if foreign:
            raise _foreign_types_error(source, foreign)
        loaded = _built(_Dump(dump, types_to_trust))
        make_harmless(loaded.model)
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(
            f"{source} holds a model that cannot be rebuilt here ({_in_short(error)}). "
            f"{_other_versions(archive.written_with)}"
        ) from error
    return loaded


def _built(dump: _Dump) -> _Loaded:
    """Build the objects of a dump whose types have all been checked."""
    import skops.io

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = skops.io.loads(dump.data, trusted=dump.types_to_trust)
    if not isinstance(model, BaseEstimator):
        raise InputError(f"it holds a {type(model).__name__}, not an estimator")
    other = None
    for warning in caught:
        # One estimator inside another gives one such warning each; the caller gets one in all.
        if isinstance(warning.message, InconsistentVersionWarning):
            other = _printable(str(warning.message.original_sklearn_version))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return _Loaded(model, other)


def _foreign_types_error(source: Path, names: list[str]) -> ModelFileError:
    shown = [_printable(name) for name in names]
    return ModelFileError(
        f"{source} holds types that kernova does not trust: {first_few(shown, _NAMES_SHOWN)}. "
        "Only if you know them and trust the file's author, pass their names as trusted=[...]."
    )


def _other_versions(written_with: dict[str, str]) -> str:
    here = versions_here()
    differing = [name for name, version in written_with.items() if version != here[name]]
    if not differing:
        return "Save the model again where it was fitted."
    then = ", ".join(f"{name} {written_with[name]}" for name in differing)
    now = ", ".join(f"{name} {here[name]}" for name in differing)
    return f"It was written with {then}; this is {now}."


def _in_short(error: Exception) -> str:
    first_line = str(error).strip().partition("\n")[0]
    kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    return _printable(f"{kind}{first_line}")


def _printable(text: str) -> str:
    """Replace control characters, which an untrusted text could send to the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:200]

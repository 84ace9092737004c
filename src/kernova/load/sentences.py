"""Columns named in a sentence, however many there are."""

from collections.abc import Iterable, Mapping

_MOST_NAMES = 20


def listed(names: Iterable[object]) -> str:
    """Quote the names, the first twenty of them.

    Examples
    --------
    >>> from kernova.load.sentences import listed
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    return _first_few([repr(name) for name in names])


def counted(counts: Mapping[str, int]) -> str:
    """Quote the names that count at least one, each with its count.

    Examples
    --------
    >>> from kernova.load.sentences import counted
    >>> counted({"a": 2, "b": 0})
    "'a' 2"
    """
    return _first_few([f"{name!r} {count}" for name, count in counts.items() if count])


def _first_few(phrases: list[str]) -> str:
    extra = len(phrases) - _MOST_NAMES
    return ", ".join([*phrases[:_MOST_NAMES], *([f"and {extra} more"] if extra > 0 else [])])

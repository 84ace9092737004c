"""Errors that kernova raises on purpose.

A message says what happened, what was got, and what to do. It names parameters of the library;
the command line translates them to its options, prints the message alone and exits with code 2.
Errors of input are ``ValueError``, as scikit-learn's contract expects.

What a message repeats of its input is short: :func:`quoted` and :func:`shortened` leave out the
middle of long values, and :class:`KernovaError` that of long words and of long messages.
"""

import math
import re
import reprlib
import unicodedata
from numbers import Integral
from typing import Final

# Characters of a path, of a list of names, and of any other value in a message.
LONGEST_ECHO: Final = 200
_LONGEST_VALUE: Final = 80
_LONGEST_MESSAGE: Final = 1200
_LONG_WORD: Final = re.compile(rf"\S{{{LONGEST_ECHO + 1},}}")
# Containers up to this size are written as Python writes them.
_MOST_ITEMS: Final = 50


def shortened(text: object, most: int = LONGEST_ECHO) -> str:
    """Return a text without its middle if it is long; names often differ at their ends.

    Examples
    --------
    >>> from kernova.errors import shortened
    >>> shortened("mean_radius_of_the_left_ventricle", 20)
    'mean_radiu…ventricle'
    """
    text = str(text)
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def quoted(value: object, most: int = _LONGEST_VALUE) -> str:
    r"""Return a value as Python writes it, in at most ``most`` characters.

    Texts stand in quotation marks, with invisible characters escaped.

    Examples
    --------
    >>> from kernova.errors import quoted
    >>> print(quoted("wren"), quoted(2.5), quoted("x" * 1000, 12), quoted("a\u202eb"))
    'wren' 2.5 'xxxxx…xxxx' 'a\u202eb'
    """
    if isinstance(value, str):
        return shortened(repr(_visible_start(shortened(value, most - 2))), most)
    try:
        is_large = isinstance(value, list | tuple | set | frozenset | dict)
        is_large = is_large and len(value) > _MOST_ITEMS  # type: ignore[arg-type]
        return shortened(reprlib.repr(value) if is_large else repr(value), most)
    # Python does not write whole numbers of thousands of digits; objects may fail in any way.
    except Exception:  # noqa: BLE001
        if isinstance(value, int):
            return f"a number of {math.ceil(value.bit_length() * math.log10(2)):,} digits"
        return f"a {type(value).__name__}"


def concise(message: str) -> str:
    """Return a message without the middle of its long words; 1,200 characters at most."""
    words = _LONG_WORD.sub(lambda found: shortened(found[0]), message)
    return shortened(words, _LONGEST_MESSAGE)


def _visible_start(text: str) -> str:
    """Return a text that begins with a combining mark with a dotted circle to carry it."""
    is_mark = unicodedata.category(text[:1] or " ").startswith("M")
    return f"\u25cc{text}" if is_mark else text


class KernovaError(Exception):
    """Root of all errors that kernova raises on purpose.

    Parameters
    ----------
    message : str
        One or two sentences. The middle of a word of more than 200 characters is left out.
    """

    def __init__(self, message: object = "", *details: object) -> None:
        super().__init__(concise(message) if isinstance(message, str) else message, *details)


class InputError(KernovaError, ValueError):
    """A file, a table or an argument cannot be used as it is."""


class MissingValuesError(InputError):
    """A table has missing values, and ``missing`` does not say how to treat them.

    Attributes
    ----------
    found : str
        The columns with missing values, as a sentence without advice.
    """

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(f"{found} {advice}")
        self.found = found


class TooFewRowsError(InputError):
    """Too few held-out rows to prove the wanted false-alarm rate.

    Attributes
    ----------
    rows_needed : int
        The smallest number of held-out rows that would prove it.
    smallest_provable : float
        The smallest false-alarm rate that the given rows can prove.
    """

    def __init__(self, message: str, *, rows_needed: int, smallest_provable: float) -> None:
        super().__init__(message)
        self.rows_needed = rows_needed
        self.smallest_provable = smallest_provable


class ModelFileError(InputError):
    """A model file is not one of kernova's, is damaged, or holds types that are not trusted."""


class MediaError(InputError):
    """A picture or a recording that belongs to a row cannot be shown."""


class MissingMediaError(MediaError):
    """A row has no picture, sound or outline, or there is no such row."""


class NotSavedError(InputError):
    """An answer could not be written to its project, so it does not count."""


class BlockedUndoError(InputError):
    """An entry of a log cannot be undone, because a later one depends on it.

    Attributes
    ----------
    number, later : int
        Numbers of the entry, and of the one that depends on it.
    """

    def __init__(self, message: str, *, number: int, later: int) -> None:
        super().__init__(message)
        self.number = number
        self.later = later


def check_count(value: object, name: str, least: int) -> None:
    """Raise if the value is not a whole number of at least ``least``."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (is_whole and int(value) >= least):  # type: ignore[call-overload]
        raise InputError(f"{name} must be a whole number of at least {least}; got {quoted(value)}.")

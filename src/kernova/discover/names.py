"""Names of categories and experts: validation and normalisation."""

import math
import unicodedata
from numbers import Integral, Real

import numpy as np

from kernova.errors import InputError, quoted, shortened
from kernova.text import with_visible_marks

_MAX_EXPERT_LENGTH = 100
_MAX_CATEGORY_LENGTH = 1000


def category_name(label: object) -> str:
    r"""Return the category name of a label.

    Surrounding white space is removed, inner white space becomes single spaces, and Unicode is
    normalised, so that names which look alike are equal. Numbers are written in decimal.

    Parameters
    ----------
    label : object
        Text or a number.

    Returns
    -------
    str
        The name.

    Raises
    ------
    InputError
        If no readable text is left.

    Examples
    --------
    >>> from kernova.discover.names import category_name
    >>> category_name("  great  crested grebe\n"), category_name(3), category_name(3.0)
    ('great crested grebe', '3', '3')
    """
    name = _single_spaced(_text_of(label))
    if not name:
        raise InputError(
            f"A category needs a name; got {quoted(label)}. To leave the row unlabelled, skip the "
            "question."
        )
    if not _is_readable(name):
        raise InputError(
            f"A category name must be readable text; got {quoted(name)}. Type it again."
        )
    return name


def check_new_category(name: str) -> None:
    r"""Raise if nobody should give this name to a category that does not exist yet.

    Existing names stay usable, whatever they hold: projects of earlier versions have them.

    Parameters
    ----------
    name : str
        A name from :func:`category_name`.

    Raises
    ------
    InputError
        If the name has invisible characters, nothing but marks, or more than 1,000 characters.

    Examples
    --------
    >>> from kernova.discover.names import check_new_category
    >>> check_new_category("carp")
    >>> check_new_category("ca\u200brp")
    Traceback (most recent call last):
        ...
    kernova.errors.InputError: A category name must not contain invisible characters; got
    'ca\u200brp'. Type it again.
    """
    if len(name) > _MAX_CATEGORY_LENGTH:
        raise InputError(
            f"A category name must have at most {_MAX_CATEGORY_LENGTH:,} characters; got "
            f"{len(name):,}. Give it a shorter name."
        )
    if not _is_visible(name):
        raise InputError(
            f"A category name must not contain invisible characters; got {_shown(name)}. Type it "
            "again."
        )
    if not _has_letters(name):
        raise InputError(
            f"A category name must be readable text; got {quoted(name)}. Type it again."
        )


def expert_name(expert: object, *, is_stored: bool = False) -> str | None:
    """Return the name of an expert, normalised as category names are; None stays None.

    Parameters
    ----------
    expert : object
        Text, or None for an unnamed expert.
    is_stored : bool
        Whether it was read from a project, where it may have invisible characters: earlier versions
        took them.

    Returns
    -------
    str or None
        The name.

    Raises
    ------
    InputError
        If it is not readable text, or too long.

    Examples
    --------
    >>> from kernova.discover.names import expert_name
    >>> expert_name(" Anna  B. "), expert_name(None)
    ('Anna B.', None)
    """
    if expert is None:
        return None
    # Longer text need not be looked at; normalising it takes time.
    is_short = isinstance(expert, str) and len(expert) <= _MAX_EXPERT_LENGTH * 4
    name = _single_spaced(str(expert)) if is_short else ""
    is_clear = is_stored or (_is_visible(name) and _has_letters(name))
    if not name or not _is_readable(name) or len(name) > _MAX_EXPERT_LENGTH or not is_clear:
        raise InputError(
            f"An expert name must be readable text of 1 to {_MAX_EXPERT_LENGTH} characters; got "
            f"{quoted(expert)}."
        )
    return name


def is_missing_label(label: object) -> bool:
    """Return whether a prior label is missing: None, NaN, a pandas missing value, or blank.

    Examples
    --------
    >>> from kernova.discover.names import is_missing_label
    >>> [is_missing_label(label) for label in (None, float("nan"), " ", 0, "carp")]
    [True, True, True, False, False]
    """
    if label is None or (isinstance(label, str) and not label.strip()):
        return True
    if isinstance(label, Real) and not isinstance(label, Integral):
        return math.isnan(float(label))
    # pandas' NaT and NA have no numeric type; their text identifies them.
    return not isinstance(label, str | Integral) and str(label) in ("NaT", "<NA>")


def _single_spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _is_readable(name: str) -> bool:
    # Surrogates (Cs) are undecodable bytes; control characters (Cc) come from stray keys.
    return not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name)


def _is_visible(name: str) -> bool:
    return with_visible_marks(name) == name


def _has_letters(name: str) -> bool:
    # Marks (M) alone combine with whatever stands before the name.
    return any(unicodedata.category(letter)[0] in "LNPS" for letter in name)


def _shown(name: str) -> str:
    return f"'{shortened(with_visible_marks(name), 80)}'"


def _text_of(label: object) -> str:
    if isinstance(label, str):
        return str(label)  # NumPy strings become Python's
    if is_missing_label(label):
        return ""
    if isinstance(label, bool | np.bool_):
        return str(label)
    if isinstance(label, Integral):
        return _digits_of(int(label))
    if isinstance(label, Real):
        return f"{float(label):.0f}" if float(label).is_integer() else str(label)
    raise InputError(
        f"A category name must be text or a number; got {quoted(label)}, a {type(label).__name__}."
    )


def _digits_of(number: int) -> str:
    try:
        return str(number)
    except ValueError as error:  # Python does not write numbers of thousands of digits
        raise InputError(
            f"A category name must be readable text; got {quoted(number)}. Type it again."
        ) from error

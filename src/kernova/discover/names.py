"""What may be the name of a category or an expert: readable text, told apart by what is seen."""

import math
import unicodedata
from numbers import Integral, Real

import numpy as np

from kernova.errors import InputError

_LONGEST_EXPERT = 100


def category_name(label: object) -> str:
    r"""Give the name that a label stands for.

    Spaces around it go, spaces within become single, and letters written in two ways get one
    form, so that names which look alike are alike. Numbers become their usual text.

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
        If nothing readable is left.

    Examples
    --------
    >>> from kernova.discover.names import category_name
    >>> category_name("  great  crested grebe\n"), category_name(3), category_name(3.0)
    ('great crested grebe', '3', '3')
    """
    name = _single_spaced(_text_of(label))
    if not name:
        raise InputError(
            f"A category needs a name; got {label!r}. To pass over the row, skip the question."
        )
    if not _is_readable(name):
        raise InputError(f"A category's name is readable text; got {name!r}. Type it again.")
    return name


def expert_name(expert: object) -> str | None:
    """Give the name of an expert, cleaned as names of categories are; None stays None.

    Parameters
    ----------
    expert : object
        Text, or None where nobody gave a name.

    Returns
    -------
    str or None
        The name.

    Raises
    ------
    InputError
        If it is no readable text.

    Examples
    --------
    >>> from kernova.discover.names import expert_name
    >>> expert_name(" Anna  B. "), expert_name(None)
    ('Anna B.', None)
    """
    if expert is None:
        return None
    name = _single_spaced(expert) if isinstance(expert, str) else ""
    if not name or not _is_readable(name) or len(name) > _LONGEST_EXPERT:
        raise InputError(
            f"An expert's name is readable text of 1 to {_LONGEST_EXPERT} letters; got {expert!r}."
        )
    return name


def is_missing_label(label: object) -> bool:
    """Tell whether a prior label says nothing: None, NaN, a missing value of pandas, or blanks.

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
    # pandas' NaT and NA are of no number type, and are known by their text.
    return str(label) in ("NaT", "<NA>") and not isinstance(label, str)


def _single_spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _is_readable(name: str) -> bool:
    # Surrogates (Cs) are bytes that were no text; control characters (Cc) come from stray keys.
    return not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name)


def _text_of(label: object) -> str:
    if isinstance(label, str):
        return str(label)  # NumPy's texts become Python's
    if is_missing_label(label):
        return ""
    if isinstance(label, bool | np.bool_):
        return str(label)
    if isinstance(label, Integral):
        return str(int(label))
    if isinstance(label, Real):
        return f"{float(label):.0f}" if float(label).is_integer() else str(label)
    raise InputError(
        f"A category's name is text or a number; got {label!r}, a {type(label).__name__}."
    )

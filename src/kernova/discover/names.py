"""What may be the name of a category: a piece of readable text, told apart by what is seen."""

import math
import unicodedata
from numbers import Integral, Real

import numpy as np

from kernova.errors import InputError


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
    name = " ".join(unicodedata.normalize("NFC", _text_of(label)).split())
    if not name:
        raise InputError(
            f"A category needs a name; got {label!r}. To pass over the row, skip the question."
        )
    # Surrogates (Cs) are bytes that were no text; control characters (Cc) come from stray keys.
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise InputError(f"A category's name is readable text; got {name!r}. Type it again.")
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

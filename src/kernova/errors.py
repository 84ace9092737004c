"""Errors that kernova raises on purpose.

A message says what happened, what was got, and what to do. It names parameters of the library;
the command line translates them to its options, prints the message alone and exits with code 2.
Errors of input are ``ValueError``, as scikit-learn's contract expects.
"""

from numbers import Integral


class KernovaError(Exception):
    """Root of all errors that kernova raises on purpose."""


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


def check_count(value: object, name: str, least: int) -> None:
    """Raise if the value is not a whole number of at least ``least``."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (is_whole and int(value) >= least):  # type: ignore[call-overload]
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}.")

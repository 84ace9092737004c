"""Every error a user can meet.

An error sentence says what happened, what was got, and what to do. The command line prints it
alone and leaves with exit code 2; the library raises it. All of them are ``ValueError``, because
scikit-learn's contract expects that of bad input.
"""

from numbers import Integral


class KernovaError(Exception):
    """Root of all errors that kernova raises on purpose."""


class InputError(KernovaError, ValueError):
    """A file, a table or an argument cannot be used as it is."""


class MissingValuesError(InputError):
    """A table has missing values, and nobody said what to do with them.

    Attributes
    ----------
    found : str
        Where they are, as a sentence without advice.
    """

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(f"{found} {advice}")
        self.found = found


class TooFewRowsError(InputError):
    """So few rows prove nothing as strong as what was asked for.

    Attributes
    ----------
    rows_needed : int
        The smallest number of held-out rows that would do.
    smallest_provable : float
        The smallest false-alarm rate that the rows at hand can prove.
    """

    def __init__(self, message: str, *, rows_needed: int, smallest_provable: float) -> None:
        super().__init__(message)
        self.rows_needed = rows_needed
        self.smallest_provable = smallest_provable


class ModelFileError(InputError):
    """A model file is not ours, is damaged, or holds what we do not trust."""


class MediaError(InputError):
    """A picture or a recording that belongs to a row cannot be shown."""


class MissingMediaError(MediaError):
    """A row has no picture, sound or outline, or there is no such row."""


class NotSavedError(InputError):
    """An answer could not be written to its project, so it does not count."""


def check_count(value: object, name: str, least: int) -> None:
    """Refuse what is no whole number, or too small a one."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (is_whole and int(value) >= least):  # type: ignore[call-overload]
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}.")

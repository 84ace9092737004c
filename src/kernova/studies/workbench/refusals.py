"""What a workbench cannot do, in words for people and a code for programs."""

from typing import Literal

from kernova.errors import InputError

Code = Literal["preparing", "failed", "not found", "nothing learnt"]


class WorkbenchError(InputError):
    """Something is not there, or not yet.

    Parameters
    ----------
    message : str
        The sentence for people.
    code : str
        What kind of refusal it is, for programs.
    """

    def __init__(self, message: str, code: Code) -> None:
        super().__init__(message)
        self.code = code


def no_row(row: int, n_rows: int) -> WorkbenchError:
    """Say that there is no such row."""
    return WorkbenchError(
        f"There is no row {row}: the table has {n_rows:,}, counted from 0.", "not found"
    )


def not_prepared() -> WorkbenchError:
    """Say that the first question takes a while."""
    return WorkbenchError(
        "The table is still being prepared. Ask again in a moment; how far it is says "
        "/api/session.",
        "preparing",
    )


def never_prepared(reason: str) -> WorkbenchError:
    """Say that there will be no question."""
    return WorkbenchError(
        f"The table could not be prepared, so nothing is asked. {reason}", "failed"
    )

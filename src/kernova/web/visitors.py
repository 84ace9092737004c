"""Sender of a request: a script, a browser, or the browser of an invited expert."""

from contextvars import ContextVar
from typing import Final, NamedTuple

from kernova.workbench import WorkbenchError


class Visitor(NamedTuple):
    """Browser and name of whoever sends a request; a script with the token has neither."""

    browser: str | None = None
    name: str | None = None


_SCRIPT: Final = Visitor()
_VISITOR: Final = ContextVar("visitor", default=_SCRIPT)


def welcome(visitor: Visitor) -> None:
    """Remember the sender of the request that is being handled."""
    _VISITOR.set(visitor)


def visitor() -> Visitor:
    """Return the sender of the request that is being handled."""
    return _VISITOR.get()


def check_expert(expert: str | None) -> None:
    """Raise if the browser of an invited expert sends a request under another name.

    Examples
    --------
    >>> from kernova.web.visitors import Visitor, check_expert, welcome
    >>> welcome(Visitor("a browser", "Anna"))
    >>> check_expert("Bob")
    Traceback (most recent call last):
        ...
    kernova.workbench.shared.WorkbenchError: This browser was invited as 'Anna', and can work under
    this name only; got 'Bob'.
    >>> welcome(Visitor())
    """
    name = visitor().name
    if name is not None and expert != name:
        got = "no name" if expert is None else f"'{expert}'"
        raise WorkbenchError(
            f"This browser was invited as '{name}', and can work under this name only; got {got}.",
            "forbidden",
        )


def check_host() -> None:
    """Raise if an invited expert asks for what only those can do who run the server."""
    if visitor().name is not None:
        raise WorkbenchError(
            "Invited experts cannot invite others. Ask whoever runs kernova for another link.",
            "forbidden",
        )

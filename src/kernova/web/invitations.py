"""Invitations: links that let one expert each in, under a name that is bound to the browser.

A link contains a random code, which works once: it is exchanged for a cookie by a button, so that
programs which look at links use nothing up. It expires, and can be revoked, which also ends the
sessions that it started. Codes are kept as hashes in memory only; they end with the server.
"""

import hashlib
import secrets
import socket
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal, NamedTuple

from kernova.errors import InputError, quoted
from kernova.web.login import INVITATION_PATH, Key

INVITATION_HOURS: Final = 72
_MOST_INVITATIONS: Final = 100
# An address for documentation: choosing a route to it sends nothing.
_ELSEWHERE: Final = ("192.0.2.1", 9)


@dataclass(frozen=True)
class Reach:
    """Addresses under which a server is reached.

    Parameters
    ----------
    addresses : tuple of str
        URLs of the page, the one to send to others first.
    is_for_others : bool
        Whether other machines can reach the page.
    """

    addresses: tuple[str, ...] = ("http://127.0.0.1/",)
    is_for_others: bool = False


@dataclass(frozen=True)
class InvitationShown:
    """An invitation without its link, which is shown only once."""

    name: str
    state: Annotated[
        Literal["open", "used", "expired"], "Used: a browser has logged in with the link."
    ]
    until: Annotated[str, "When the link expires, in UTC."]


class _Invitation(NamedTuple):
    name: str
    end: float  # of the monotonic clock
    until: str
    code: bytes | None  # None once it is used


class Invitations:
    """Invitations of a server; safe to use from any thread.

    Parameters
    ----------
    key : Key
        The credentials of the server, where sessions are started and ended.
    reach : Reach
        Addresses for the links.
    hours : float
        Time until an unused link expires.

    Examples
    --------
    >>> from kernova.web.invitations import Invitations
    >>> from kernova.web.login import Key
    >>> invitations = Invitations(Key("open sesame"))
    >>> [link] = invitations.invite("Anna")
    >>> code = link.partition("=")[2]
    >>> invitations.name_of(code), invitations.redeem(code), invitations.redeem(code)
    ('Anna', 'Anna', None)
    """

    def __init__(
        self, key: Key, reach: Reach | None = None, *, hours: float = INVITATION_HOURS
    ) -> None:
        self.key = key
        self.reach = reach or Reach()
        self._hours = hours
        self._by_name: dict[str, _Invitation] = {}
        self._lock = threading.Lock()

    def invite(self, name: str) -> list[str]:
        """Return new links for an expert, one for each address; earlier ones become void."""
        code = secrets.token_urlsafe(16)
        until = datetime.now(UTC) + timedelta(hours=self._hours)
        invitation = _Invitation(
            name, time.monotonic() + 3600 * self._hours, until.isoformat(timespec="seconds"),
            _hashed(code),
        )  # fmt: skip
        with self._lock:
            if name not in self._by_name and len(self._by_name) >= _MOST_INVITATIONS:
                raise InputError(
                    f"There are {_MOST_INVITATIONS} invitations already. Revoke one first."
                )
            self._by_name[name] = invitation
        return [invitation_link(address, code) for address in self.reach.addresses]

    def name_of(self, code: str) -> str | None:
        """Return the expert whom a code would let in; None if it is not valid."""
        wanted = _hashed(code)
        with self._lock:
            found = next((one for one in self._by_name.values() if one.code == wanted), None)
        return None if found is None or time.monotonic() > found.end else found.name

    def redeem(self, code: str) -> str | None:
        """Use a code up; return the expert whom it lets in, None if it is not valid."""
        name = self.name_of(code)
        if name is None:
            return None
        with self._lock:
            invitation = self._by_name.get(name)
            if invitation is None or invitation.code != _hashed(code):
                return None  # another request was faster
            self._by_name[name] = invitation._replace(code=None)
        return name

    def revoke(self, name: str) -> None:
        """End an invitation and the sessions that it started.

        Raises
        ------
        InputError
            If the expert is not invited.
        """
        with self._lock:
            invitation = self._by_name.pop(name, None)
        if invitation is None:
            raise InputError(f"There is no invitation of {quoted(name)} to revoke.")
        self.key.end_sessions_of(name)

    @property
    def names(self) -> list[str]:
        """The invited experts."""
        with self._lock:
            return list(self._by_name)

    def shown(self) -> list[InvitationShown]:
        """Return all invitations, the oldest first."""
        with self._lock:
            invitations = list(self._by_name.values())
        return [InvitationShown(one.name, _state(one), one.until) for one in invitations]


def _state(invitation: _Invitation) -> Literal["open", "used", "expired"]:
    if invitation.code is None:
        return "used"
    return "expired" if time.monotonic() > invitation.end else "open"


def invitation_link(address: str, code: str) -> str:
    """Return the link of an invitation.

    Examples
    --------
    >>> from kernova.web.invitations import invitation_link
    >>> invitation_link("http://192.168.1.7:8317/", "abc")
    'http://192.168.1.7:8317/invitation?code=abc'
    """
    return f"{address.rstrip('/')}{INVITATION_PATH}?code={code}"


def network_address() -> str | None:
    """Return the address of this machine in its network, if it has one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(_ELSEWHERE)
            return str(line.getsockname()[0])
        except OSError:
            return None


def _hashed(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()

"""By which names the server may be spoken to, and from which pages.

A page elsewhere can have its own name point to this machine (DNS rebinding), and so speak to the
server as if to its own. The ``Host`` header gives it away: it still holds that page's name.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import Final

_HOST: Final = re.compile(r"(\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(:[0-9]{1,5})?")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Hosts:
    """The names that a request may address the server by.

    Parameters
    ----------
    names : iterable of str
        Names and addresses.
    any_address : bool
        Whether any numeric address will do, as where the server listens on every interface; a
        number cannot be pointed elsewhere.

    Examples
    --------
    >>> from kernova.web.hosts import LOOPBACK, Hosts
    >>> hosts = Hosts(LOOPBACK)
    >>> [hosts.takes(host) for host in ("localhost:8317", "[::1]:8317", "evil.example:8317")]
    [True, True, False]
    """

    def __init__(self, names: Iterable[str] = LOOPBACK, *, any_address: bool = False) -> None:
        self.names = {name.lower() for name in names}
        self.any_address = any_address

    def takes(self, host: str) -> bool:
        """Tell whether the value of a Host header is one of ours; the port may be another's."""
        written = _HOST.fullmatch(host)
        if written is None:
            return False
        name = (written["address"] or written["name"]).lower()
        return name in self.names or (self.any_address and _is_address(name))


def hosts_for(address: str) -> Hosts:
    """Give the names for a server that listens at an address.

    Examples
    --------
    >>> from kernova.web.hosts import hosts_for
    >>> sorted(hosts_for("127.0.0.1").names)
    ['127.0.0.1', '::1', 'localhost']
    """
    if is_loopback(address):
        return Hosts((*LOOPBACK, address))
    if _is_address(address) and ipaddress.ip_address(address).is_unspecified:
        return Hosts((*LOOPBACK, socket.gethostname(), socket.getfqdn()), any_address=True)
    return Hosts((address,))


def is_loopback(address: str) -> bool:
    """Tell whether an address cannot be reached from another machine."""
    if _is_address(address):
        return ipaddress.ip_address(address).is_loopback
    return address.lower() == "localhost"


def is_same_origin(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Tell whether a request comes from a page of this server.

    Examples
    --------
    >>> from kernova.web.hosts import is_same_origin
    >>> is_same_origin("http://localhost:8317", None, "localhost:8317")
    True
    >>> is_same_origin("http://localhost:9999", "same-site", "localhost:8317")
    False
    """
    if origin is None:
        return fetch_site == "same-origin"
    # A proxy may add TLS on the way: what names the page is the host, with its port.
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

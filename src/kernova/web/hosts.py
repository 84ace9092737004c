"""Names and origins of a server: values of the Host header, loopback addresses, its own pages."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import Final

_HOST: Final = re.compile(r"(\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(:[0-9]{1,5})?")
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


class Hosts:
    """Allowed values of the Host header.

    Parameters
    ----------
    names : iterable of str
        Names and addresses.
    any_address : bool
        Whether any numeric address is allowed, as for a server on all interfaces; DNS rebinding
        needs a name.

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
        """Return whether the value of a Host header is allowed, with any port."""
        written = _HOST.fullmatch(host)
        if written is None:
            return False
        name = (written["address"] or written["name"]).lower()
        return name in self.names or (self.any_address and _is_address(name))


def hosts_for(address: str) -> Hosts:
    """Return the allowed names of a server that listens at an address.

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
    """Return whether an address is reachable from this machine only."""
    if _is_address(address):
        return ipaddress.ip_address(address).is_loopback
    return address.lower() == "localhost"


def is_same_origin(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Return whether a request comes from a page of this server.

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
    # A proxy may add TLS, so the scheme may differ.
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

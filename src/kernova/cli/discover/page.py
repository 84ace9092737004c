"""The page of ``kernova discover``: where it is served, who gets in, and its links."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kernova.cli.console import console, print_error, print_json, progress_listener
from kernova.cli.discover.colleagues import print_invitations
from kernova.cli.discover.ending import print_beginning, print_end

if TYPE_CHECKING:
    import threading

    from kernova.media.row_media import RowMedia
    from kernova.web.serve import Endpoint
    from kernova.workbench.discovery import Discovery

_LARGEST_TOKEN_FILE: Final = 4096


class Place(NamedTuple):
    """Options that say where the page is served, and who gets in."""

    host: str
    port: int | None
    token: str | None
    token_file: Path | None
    tls_cert: Path | None
    tls_key: Path | None


def bound_endpoint(place: Place) -> "Endpoint":
    """Reserve the address of the page before any work is done."""
    from kernova.errors import InputError

    try:
        from kernova.web.hosts import is_loopback
        from kernova.web.serve import bind_endpoint, tls_context
    except ModuleNotFoundError as error:
        raise InputError(
            f"The page needs {error.name}, which is not installed: pip install 'kernova[web]', or "
            "pass --terminal."
        ) from error
    if place.tls_cert is None and place.tls_key is not None:
        raise InputError("--tls-key needs the certificate of the key; pass it with --tls-cert.")
    token = _token(place)
    tls = None if place.tls_cert is None else tls_context(place.tls_cert, place.tls_key)
    endpoint = bind_endpoint(place.host, place.port, token, tls=tls)
    if tls is None and not is_loopback(place.host):
        print_error(
            "The page is served without TLS: anyone on the network path to "
            f"{place.host} can read the token and all answers."
        )
    return endpoint


def _token(place: Place) -> str | None:
    """Return the token of the options or the environment, None for a random one."""
    from kernova.errors import InputError
    from kernova.web.serve import check_token

    if place.token is not None and place.token_file is not None:
        raise InputError("--token and --token-file both set the token; leave one of them out.")
    if place.token is not None:
        return place.token
    if place.token_file is not None:
        token = _read_token(place.token_file)
        check_token(token, f"The token in {place.token_file}")
        return token
    from_environment = os.environ.get("KERNOVA_TOKEN")
    if from_environment is not None:
        check_token(from_environment, "The token in the variable KERNOVA_TOKEN")
    return from_environment


def _read_token(path: Path) -> str:
    import stat

    from kernova.errors import InputError

    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_TOKEN_FILE + 1)
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        raise InputError(f"Cannot read the token file {path}: {error.strerror}.") from error
    # Of Windows, the mode says nothing.
    if os.name == "posix" and stat.S_ISREG(mode) and mode & 0o044:
        print_error(
            f"Other users of this machine can read the token file {path}; make it private with "
            "chmod 600."
        )
    try:
        token = content.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"The token file {path} is not UTF-8 text.") from error
    if len(content) > _LARGEST_TOKEN_FILE:
        raise InputError(
            f"The token file {path} has more than {_LARGEST_TOKEN_FILE} bytes. It must contain the "
            "token and nothing else."
        )
    return token


def serve_page(
    discovery: "Discovery",
    media: "RowMedia",
    endpoint: "Endpoint",
    *,
    as_json: bool,
    opens: bool,
    invited: Sequence[str] = (),
) -> None:
    """Serve the page until it is stopped."""
    from kernova.web.login import open_browser
    from kernova.web.serve import serve
    from kernova.workbench import Workbench

    workbench = Workbench(discovery, media)
    workbench.report.command = shown_command(sys.argv[1:])

    def print_link() -> None:
        _print_link(endpoint, as_json)

    def announce() -> None:
        _print_address(discovery, endpoint, as_json, invited)
        if opens:
            open_browser(endpoint.address, endpoint.key)

    # The preparation runs in a thread of its own, and is given the progress bars by hand.
    with progress_listener() as watch, _calling_at_enter(print_link, not as_json and _has_keys()):
        workbench.prepare(watch=watch)
        serve(workbench, endpoint, on_ready=announce, on_signal=print_link)
    if not as_json:
        print_end(discovery, console())


def shown_command(words: list[str]) -> str:
    """Return the command that was typed, without the token, for readers of a report.

    Examples
    --------
    >>> from kernova.cli.discover.page import shown_command
    >>> shown_command(["discover", "a b.csv", "--token", "secret", "--token=secret"])
    "kernova discover 'a b.csv'"
    """
    from shlex import join

    secret = [
        word.startswith("--token=") or word == "--token" or before == "--token"
        for before, word in zip(["", *words], words, strict=False)
    ]
    return join(
        ["kernova", *(word for word, hidden in zip(words, secret, strict=True) if not hidden)]
    )


def _print_address(
    discovery: "Discovery", endpoint: "Endpoint", as_json: bool, invited: Sequence[str]
) -> None:
    links = {name: endpoint.invitations.invite(name) for name in invited}
    if as_json:
        answer = {
            "url": endpoint.new_link(),
            "address": endpoint.address,
            "token": endpoint.token,
            "project": str(discovery.project),
            **({"invitations": links} if links else {}),
        }
        print_json(answer, one_line=True)
        return
    print_beginning(discovery, console())
    _print_link(endpoint, as_json)
    print_invitations(links, endpoint.reach)
    _print_ways(endpoint)


def _print_link(endpoint: "Endpoint", as_json: bool = False) -> None:
    """Print a new one-time link."""
    from kernova.web.login import LINK_MINUTES

    link = endpoint.new_link()
    if as_json:
        print_json({"url": link, "address": endpoint.address}, one_line=True)
        return
    # An address that breaks over two lines cannot be clicked.
    console().print(
        f"Open {link} in a browser: the link works once, within {LINK_MINUTES} minutes.",
        markup=False,
        soft_wrap=True,
    )
    sys.stdout.flush()


def _print_ways(endpoint: "Endpoint") -> None:
    """Print how to get another link, and how others log in."""
    import signal
    import socket

    from kernova.web.hosts import is_loopback

    out = console()
    if not is_loopback(endpoint.host):
        name = socket.gethostname() if endpoint.is_for_all else endpoint.host
        address = endpoint.address_at(name)
        sentence = f"On other machines, open {address} and enter the token."
        out.print(sentence, markup=False, soft_wrap=True)
    if _has_keys():
        out.print("Press Enter for a new link, Ctrl-C to stop.")
    elif hasattr(signal, "SIGUSR1"):
        out.print(f"kill -USR1 {os.getpid()} prints a new link; Ctrl-C stops.")
    else:
        out.print("Press Ctrl-C to stop.")
    sys.stdout.flush()


def _has_keys() -> bool:
    """Return whether someone can press keys here."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


@contextmanager
def _calling_at_enter(act: Callable[[], None], is_wanted: bool) -> Iterator[None]:
    """Call a function in a thread whenever Enter is pressed."""
    import threading

    if not is_wanted:
        yield
        return
    end = threading.Event()

    def watch() -> None:
        with suppress(OSError, ValueError):
            while not end.is_set() and _next_line(end):
                if not end.is_set():
                    act()

    watching = threading.Thread(target=watch, name="kernova-keys", daemon=True)
    watching.start()
    try:
        yield
    finally:
        end.set()
        watching.join(1)


def _next_line(end: "threading.Event") -> bool:
    """Wait for a line of the terminal, or for the end; return False after Ctrl-D."""
    import select

    descriptor = sys.stdin.fileno()
    if not hasattr(os, "tcgetpgrp"):  # Windows, where the thread ends with the process
        return bool(sys.stdin.readline())
    while not end.is_set():
        is_ready = bool(select.select([descriptor], [], [], 0.2)[0])
        # In the background, reading would stop the process.
        if is_ready and os.tcgetpgrp(descriptor) == os.getpgrp():
            return bool(os.read(descriptor, 1024))
        if is_ready:
            end.wait(0.2)
    return True

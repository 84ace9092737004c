"""``kernova discover``: every category of a table in few questions, on a page or at a prompt."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from kernova.cli.console import (
    Target,
    console,
    print_error,
    print_json,
    progress_bars,
    progress_listener,
    reporting_errors,
    table_target,
    write_targets,
)
from kernova.cli.options import (
    MAX_SEED,
    TABLE_FORMATS,
    Drop,
    IdColumn,
    MemoryMb,
    Missing,
    Raw,
    check_targets,
    examples,
)
from kernova.workflows.settings import SimulationSettings

if TYPE_CHECKING:
    import threading

    from kernova.cli.terminal import EscapingConsole
    from kernova.media.row_media import RowMedia
    from kernova.web.serve import Endpoint
    from kernova.workbench.discovery import Discovery

_DISPLACED = 1  # exit code if the answers are in a rescue file

EXAMPLE = examples(
    "kernova discover --demo",
    "kernova discover galaxies.csv --id-column id --drop label --images thumbnails.zip",
    "kernova discover wines.csv --id-column wine --drop cultivar --terminal -o categories.csv",
)


@reporting_errors
def discover(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            help=f"Table of rows ({TABLE_FORMATS}), landmarks (TPS), a Raven "
            "selection table, or a folder of recordings.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Use built-in images of handwritten digits.")
    ] = False,
    terminal: Annotated[
        bool,
        typer.Option("--terminal", help="Ask at the terminal, or read answers from a pipe."),
    ] = False,
    project: Annotated[
        Path | None,
        typer.Option(
            help="File with the answers; an existing one is continued (by default DATA's name with "
            ".kernova-project, in this folder)."
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Strategy that chooses the questions: novelty-groups (default), novelty-density, "
            "hms-ci, hms-ci-had, hms-out, hms-out-had, nndm, interleave, ms-interleave or random; "
            "stored in the project."
        ),
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|ZIP|COLUMN",
            help="Images of the rows: a folder, an archive, or a column of file names.",
        ),
    ] = None,
    audio: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|COLUMN", help="Sounds of the rows: a folder, or a column of file names."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the page (8317, or the next free one)."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to serve the page at; a token is required if other machines can reach it."
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            help="Access token for the page (random by default). Other users of this machine can "
            "see it in the process list; prefer --token-file or the variable KERNOVA_TOKEN."
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File that contains the access token.")
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Serve HTTPS with this certificate (PEM)."),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Private key of the certificate (PEM, unencrypted); by default in the same file.",
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print a link to the page without opening it.")
    ] = False,
    questions: Annotated[
        int | None,
        typer.Option(min=1, help="With --terminal: stop after this number of questions."),
    ] = None,
    id_column: IdColumn = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of categories known in advance, empty where unknown; it is not a feature.",
        ),
    ] = None,
    drop: Drop = None,
    missing: Missing = SimulationSettings.missing,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write a table with every row's category here."),
    ] = None,
    raw: Raw = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_SEED,
            help="Random seed of strategies that sample at random (0); stored in the project.",
        ),
    ] = None,
    memory_mb: MemoryMb = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print a summary as JSON at the end; questions go to stderr."),
    ] = False,
) -> None:
    """Ask about the rows of DATA, one at a time, to find every category in few questions.

    A page opens in the browser; --terminal asks at a prompt instead. Each question shows a row
    with its picture, sound or outline, its unusual values, the reason for the question, and the
    rows that it represents. Answer with a category, a known one or a new one. Each answer is saved
    before the next question; stop at any time, and run the same command to continue.
    """
    from kernova.media.opening import demo_data, open_discovery_data
    from kernova.workbench.discovery import default_project, open_discovery

    _check_combination(data, demo, terminal, questions)
    place = _Place(host, port, token, token_file, tls_cert, tls_key)
    if demo:
        _check_demo(
            {
                "--images": images, "--audio": audio, "--id-column": id_column,
                "--label-column": label_column, "--drop": drop,
            }
        )  # fmt: skip
    project_path = project or default_project("digits" if data is None else data)
    check_targets(output, None, kept=[project_path] if data is None else [data, project_path])
    with ExitStack() as stack:
        endpoint = None if terminal else stack.enter_context(_bind_endpoint(place))
        opened = (
            demo_data()
            if data is None
            else open_discovery_data(
                data,
                id_column=id_column,
                label_column=label_column,
                drop=drop or (),
                missing=missing,
                images=images,
                audio=audio,
            )
        )
        stack.callback(opened.media.close)
        discovery = open_discovery(
            opened.table,
            project_path,
            strategy=strategy,
            seed=seed,
            missing=missing,
            notes=opened.notes,
        )
        stack.callback(discovery.session.close)
        if endpoint is None:
            # JSON has standard output to itself.
            _ask_at_terminal(discovery, console(stderr=as_json), questions)
        else:
            _serve_page(discovery, opened.media, endpoint, as_json=as_json, opens=not no_browser)
        discovery.session.close()  # notices a project that is no longer in its place
        _finish(
            discovery, table_target(output, discovery.rows, raw=raw), as_json, terminal=terminal
        )


# --- checks ----------------------------------------------------------------------------------


def _check_combination(
    data: Path | None, demo: bool, terminal: bool, questions: int | None
) -> None:
    from kernova.errors import InputError

    if data is None and not demo:
        raise InputError("There is no table to ask about. Name one, or pass --demo.")
    if data is not None and demo:
        raise InputError(f"--demo has its own table; leave out {data}, or leave out --demo.")
    if questions is not None and not terminal:
        raise InputError(
            "--questions limits the questions at the terminal: pass --terminal with it, or leave "
            "it out."
        )


def _check_demo(table_options: "dict[str, object]") -> None:
    from kernova.errors import InputError

    given = [name for name, value in table_options.items() if value]
    if given:
        raise InputError(
            f"--demo has its own table and images; leave out {' and '.join(given)}, or leave out "
            "--demo."
        )


# --- on a page -------------------------------------------------------------------------------


_LARGEST_TOKEN_FILE: Final = 4096


class _Place(NamedTuple):
    """Options that say where the page is served, and who gets in."""

    host: str
    port: int | None
    token: str | None
    token_file: Path | None
    tls_cert: Path | None
    tls_key: Path | None


def _bind_endpoint(place: _Place) -> "Endpoint":
    """Reserve the address of the page before any work is done."""
    from kernova.errors import InputError

    try:
        from kernova.web.access import is_loopback
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


def _token(place: _Place) -> str | None:
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


def _serve_page(
    discovery: "Discovery", media: "RowMedia", endpoint: "Endpoint", *, as_json: bool, opens: bool
) -> None:
    """Serve the page until it is stopped."""
    from kernova.web.login import open_browser
    from kernova.web.serve import serve
    from kernova.workbench import Workbench

    workbench = Workbench(discovery, media)

    def print_link() -> None:
        _print_link(endpoint, as_json)

    def announce() -> None:
        _print_address(discovery, endpoint, as_json)
        if opens:
            open_browser(endpoint.address, endpoint.key)

    # The preparation runs in a thread of its own, and is given the progress bars by hand.
    with progress_listener() as watch, _calling_at_enter(print_link, not as_json and _has_keys()):
        workbench.prepare(watch=watch)
        serve(workbench, endpoint, on_ready=announce, on_signal=print_link)
    if not as_json:
        _print_end(discovery, console())


def _print_address(discovery: "Discovery", endpoint: "Endpoint", as_json: bool) -> None:
    if as_json:
        answer = {
            "url": endpoint.new_link(),
            "address": endpoint.address,
            "token": endpoint.token,
            "project": str(discovery.project),
        }
        print_json(answer, one_line=True)
        return
    _print_beginning(discovery, console())
    _print_link(endpoint, as_json)
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

    from kernova.web.access import is_loopback

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


# --- at the terminal -------------------------------------------------------------------------


def _ask_at_terminal(discovery: "Discovery", out: "EscapingConsole", questions: int | None) -> None:
    from kernova.cli.prompt import Dialogue, line_reader

    _print_beginning(discovery, out)
    is_person = sys.stdin.isatty()
    if is_person:
        out.print("Choosing the first question; this takes longer the first time.")
    _prepare(discovery)
    dialogue = Dialogue(discovery, out, line_reader(discovery, out), is_person=is_person)
    dialogue.run(questions)
    _print_end(discovery, out)


def _prepare(discovery: "Discovery") -> None:
    """Prepare the first question; of a large table the rest, too, while questions are asked."""
    import threading

    session = discovery.session

    def prepare_rest() -> None:
        with suppress(Exception):  # the question that needs it raises it again
            discovery.prepare()

    with progress_bars():
        session.prepare(sample_only=True)
        if not session.is_ready_:
            discovery.prepare()
            return
    # A daemon, so that the program can exit at once: no file depends on this thread.
    threading.Thread(target=prepare_rest, daemon=True).start()


# --- beginning and end -----------------------------------------------------------------------


def _print_beginning(discovery: "Discovery", out: "EscapingConsole") -> None:
    out.print_notes(discovery.notes)
    if discovery.is_resumed:
        out.print_lines(f"Continuing {discovery.project}: {discovery.summary}")
    else:
        out.print_lines(f"Answers are saved in {discovery.project}.")


def _print_end(discovery: "Discovery", out: "EscapingConsole") -> None:
    """Print the progress so far, advice on stopping, and where the answers are."""
    out.print()
    discovery.session.close()
    is_saved = f"All answers are saved in {discovery.project}; run the same command to continue."
    out.print_lines(
        discovery.summary,
        *discovery.advice.known,
        *discovery.advice.guessed,
        *([is_saved] if discovery.warning is None else []),
    )


def _finish(discovery: "Discovery", output: Target, as_json: bool, *, terminal: bool) -> None:
    written = write_targets({"output": output})
    if as_json:
        print_json({**discovery.to_json_dict(), "files": written}, one_line=not terminal)
    else:
        console().print_lines(*(f"{name}: {path}" for name, path in written.items()))
    if discovery.warning is not None:
        print_error(discovery.warning)
        raise typer.Exit(_DISPLACED)

"""``kernova discover`` with a page: where it is, how far the preparation is, what came of it.

``kernova discover``: meet every category of a table in few questions.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernova.cli.console import MAX_SEED, answering, complain, console, print_json, progress_bars
from kernova.cli.options import Drop, IdColumn, Missing, check_targets

if TYPE_CHECKING:
    from rich.console import Console

    from kernova.media.row_media import RowMedia
    from kernova.progress import Listener, Step
    from kernova.web.serve import Place
    from kernova.workbench.discovery import Discovery


def place_for_page(host: str, port: int | None, token: str | None) -> "Place":
    """Find where the page is to be served, before any work is done."""
    from kernova.errors import InputError

    try:
        from kernova.web.access import is_loopback
        from kernova.web.serve import find_place
    except ModuleNotFoundError as error:
        raise InputError(
            f"The page needs {error.name}, which is not installed: pip install 'kernova[web]', or "
            "pass --terminal."
        ) from error
    place = find_place(host, port, token)
    if not is_loopback(host):
        complain(
            f"There is no TLS: whoever listens on the way to {host} sees the token and all answers."
        )
    return place


def show_page(
    discovery: "Discovery", media: "RowMedia", place: "Place", *, as_json: bool, opens: bool
) -> None:
    """Serve the page until someone leaves."""
    from kernova.web.serve import open_browser, serve
    from kernova.workbench import Workbench

    workbench = Workbench(discovery, media)

    def tell() -> None:
        _print_address(discovery, place, as_json)
        if opens:
            open_browser(place.url)

    with _bars() as watch:
        workbench.prepare(watch=watch)
        serve(workbench, place, on_ready=tell)
    if not as_json:
        print_end(discovery, console())


def _print_address(discovery: "Discovery", place: "Place", as_json: bool) -> None:
    if as_json:
        answer: dict[str, Any] = {
            "url": place.url,
            "address": place.address,
            "token": place.token,
            "project": str(discovery.project),
        }
        print(json.dumps(answer), flush=True)
        return
    out = console()
    for note in discovery.notes:
        out.print(note, markup=False)
    if discovery.is_resumed:
        out.print(f"Going on with {discovery.project}: {discovery.summary}", markup=False)
    else:
        out.print(f"Answers are kept in {discovery.project}.", markup=False)
    # An address that breaks over two lines cannot be clicked.
    out.print(f"Open {place.url} in a browser; Ctrl-C leaves.", markup=False, soft_wrap=True)
    sys.stdout.flush()


def print_end(discovery: "Discovery", out: "Console") -> None:
    """Say how far it is, whether to go on, and where everything is."""
    out.print()
    out.print(discovery.summary, markup=False)
    for sentence in (*discovery.advice.known, *discovery.advice.guessed):
        out.print(sentence, markup=False)
    out.print(
        f"Everything is saved in {discovery.project}; the same command goes on from here.",
        markup=False,
    )


@contextmanager
def _bars() -> "Iterator[Listener | None]":
    """Show how far the preparation is, if a person is watching; it runs in another thread."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(step: "Step") -> None:
            if step.task not in tasks:
                tasks[step.task] = bars.add_task(step.task, total=step.total)
            is_done = step.done >= step.total
            bars.update(
                tasks[step.task], completed=step.done, total=step.total, visible=not is_done
            )

        yield show


EXAMPLE = (
    "\b\nExamples:\n"
    "  kernova discover --demo\n"
    "  kernova discover galaxies.csv --id-column id --drop label --images thumbnails.zip\n"
    "  kernova discover wines.csv --id-column wine --drop cultivar --terminal -o categories.csv"
)


@answering
def discover(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            help="Table of rows (CSV, TSV, Parquet, Arrow, NPY or NPZ), landmarks (TPS), or a "
            "selection table of Raven.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Ask about handwritten digits that are here already.")
    ] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Ask here, at the terminal, or from a pipe.")
    ] = False,
    project: Annotated[
        Path | None,
        typer.Option(
            help="File that keeps the answers; if it is there, go on where it stands "
            "(DATA's name with .kernova-project, in this folder)."
        ),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help="How questions are chosen; a project remembers it.")
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|ZIP|COLUMN",
            help="Pictures of the rows: a folder, an archive, or the column that names the files.",
        ),
    ] = None,
    audio: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|COLUMN",
            help="Sounds of the rows: a folder, or the column that names the files.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Where the page is served (8317, or the next that is free)."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Address to serve the page at; others than this machine need a token."),
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="What must be known to see the page (drawn by lot).")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the page's address, and open nothing.")
    ] = False,
    questions: Annotated[
        int | None,
        typer.Option(min=1, help="Ask so many questions at most, this time; with --terminal."),
    ] = None,
    id_column: IdColumn = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of categories known before, empty where none is; no feature.",
        ),
    ] = None,
    drop: Drop = None,
    missing: Missing = "refuse",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write every row's category here.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=MAX_SEED, help="For strategies that draw lots; a project remembers it (0)."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON at the end; ask on stderr.")
    ] = False,
) -> None:
    """Ask about the rows of DATA, one at a time, so that every category is met soon.

    A page opens in the browser; --terminal asks at a prompt instead. Each question shows a row:
    its picture, sound or outline, what stands out in it, why it is asked, and which rows it stands
    for. Name its category, a known one or a new one. Each answer is on the disk before the next
    question; leave when you like, and the same command goes on from there.
    """
    from kernova.media.opening import demo_data, open_discovery_data
    from kernova.workbench.discovery import default_project, open_discovery

    _check_words(data, demo, terminal, questions)
    if demo:
        _check_demo(
            {
                "--images": images, "--audio": audio, "--id-column": id_column,
                "--label-column": label_column, "--drop": drop,
            }
        )  # fmt: skip
    kept_in = project or default_project("digits" if data is None else data)
    check_targets(output, None, kept=[kept_in] if data is None else [data, kept_in])
    with ExitStack() as left:
        place = None if terminal else left.enter_context(place_for_page(host, port, token))
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
        left.callback(opened.media.close)
        discovery = open_discovery(
            opened.table, kept_in, strategy=strategy, seed=seed, missing=missing, notes=opened.notes
        )
        left.callback(discovery.session.close)
        if place is None:
            # JSON has standard output to itself.
            _converse(discovery, console(stderr=as_json), questions)
        else:
            show_page(discovery, opened.media, place, as_json=as_json, opens=not no_browser)
        _finish(discovery, output, as_json, terminal=terminal)


def _check_words(data: Path | None, demo: bool, terminal: bool, questions: int | None) -> None:
    from kernova.errors import InputError

    if data is None and not demo:
        raise InputError("There is no table to ask about. Name one, or pass --demo.")
    if data is not None and demo:
        raise InputError(f"--demo brings its own table; leave out {data}, or leave out --demo.")
    if questions is not None and not terminal:
        raise InputError(
            "--questions counts what is asked at the terminal: pass --terminal with it. A page is "
            "left when you like."
        )


def _check_demo(of_a_table: "dict[str, object]") -> None:
    from kernova.errors import InputError

    given = [name for name, value in of_a_table.items() if value]
    if given:
        raise InputError(
            f"--demo brings its own table and pictures; leave out {' and '.join(given)}, or leave "
            "out --demo."
        )


def _converse(discovery: "Discovery", out: "Console", questions: int | None) -> None:
    from kernova.cli.prompt import Dialogue, line_reader

    for note in discovery.notes:
        out.print(note, markup=False)
    if discovery.is_resumed:
        out.print(f"Going on with {discovery.project}: {discovery.summary}", markup=False)
    else:
        out.print(f"Answers are kept in {discovery.project}.", markup=False)
    is_person = sys.stdin.isatty()
    if is_person:
        out.print("Choosing the first question; the first time ever, that takes a while longer.")
    with progress_bars():
        discovery.prepare()
    dialogue = Dialogue(discovery, out, line_reader(discovery, out), is_person=is_person)
    dialogue.run(questions)
    print_end(discovery, out)


def _finish(discovery: "Discovery", output: Path | None, as_json: bool, *, terminal: bool) -> None:
    from kernova.tables.formats import save_table

    if output is not None:
        save_table(discovery.rows, output)
    if as_json:
        files = {} if output is None else {"output": str(output)}
        print_json({**discovery.to_json_dict(), "files": files}, in_one_line=not terminal)
    elif output is not None:
        console().print(f"output: {output}", markup=False)

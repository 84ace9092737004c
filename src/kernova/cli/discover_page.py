"""``kernova discover`` with a page: where it is, how far the preparation is, what came of it."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kernova.cli.console import complain, console

if TYPE_CHECKING:
    from rich.console import Console

    from kernova.progress import Listener, Step
    from kernova.studies.discovery import Discovery
    from kernova.studies.row_media import RowMedia
    from kernova.web.serve import Place


def place_for_page(host: str, port: int | None, token: str | None) -> "Place":
    """Find where the page is to be served, before any work is done."""
    from kernova.errors import InputError

    try:
        from kernova.web.hosts import is_loopback
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
    from kernova.studies.workbench import Workbench
    from kernova.web.serve import open_browser, serve

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

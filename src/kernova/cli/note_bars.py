"""A progress bar for the recording that is being searched, and one for all of them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernova.progress import Step


@contextmanager
def bars_by_file() -> Iterator[None]:
    """Show progress as bars, if a person is watching; a bar that is full makes room for the next.

    A folder may hold thousands of recordings, and a terminal has some forty lines.
    """
    from kernova.progress import reporting

    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(step: "Step") -> None:
            if step.task not in tasks:
                tasks[step.task] = bars.add_task(step.task, total=step.total)
            bars.update(tasks[step.task], completed=step.done, total=step.total)
            if step.done >= step.total:
                bars.remove_task(tasks.pop(step.task))

        with reporting(show):
            yield

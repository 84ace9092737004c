"""How commands speak: errors in one sentence, progress on a terminal, tables for people.

Answers go to standard output; progress and errors go to standard error. Nothing here, nor in any
command's own file, imports the library before the command runs: ``--help`` stays quick.
"""

import functools
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import typer

from kernova.cli.readable import in_one_line
from kernova.cli.streams import give_up_printing, words_for

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from kernova.progress import Step

BAD_INPUT = 2
INTERRUPTED = 130
MAX_SEED = 2**32 - 1  # NumPy's generator takes no larger one
_PIPED_WIDTH = 160

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def answering(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Turn what can go wrong into one sentence and an exit code: 2 bad input, 130 interrupted."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        from kernova.errors import KernovaError, MissingValuesError

        try:
            answer = command(*args, **kwargs)
            sys.stdout.flush()  # what cannot be printed is told here, not by Python at the end
            return answer
        except MissingValuesError as error:
            complain(f"{error.found} Fill them in, or pass --missing drop or --missing fill.")
            raise typer.Exit(BAD_INPUT) from None
        except KernovaError as error:
            complain(str(error))
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            complain("There is not enough memory for this. Take fewer rows or columns.")
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            give_up_printing(sys.stdout)
            complain(words_for(error))
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            complain("Interrupted; no file was left half-written.")
            raise typer.Exit(INTERRUPTED) from None

    return run


def complain(sentence: str) -> None:
    """Print an error for people, in one line, whatever the names in it hold."""
    try:
        print(f"kernova: {in_one_line(sentence)}", file=sys.stderr)
    except OSError:  # where nobody can be told, the exit code still says it
        give_up_printing(sys.stderr)


@contextmanager
def warnings_in_words() -> Iterator[None]:
    """Print what the library warns of while the block runs, each sentence once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for sentence in dict.fromkeys(str(warning.message) for warning in caught):
        complain(sentence)


def console(*, stderr: bool = False) -> "Console":
    """Give the console that answers are printed on, or what is asked while they are to be JSON."""
    from kernova.cli.readable_console import ReadableConsole

    # A file or a pipe has no width of its own: wide enough that tables need not break lines.
    is_piped = not (sys.stderr if stderr else sys.stdout).isatty()
    width = _PIPED_WIDTH if is_piped else None
    return ReadableConsole(stderr=stderr, highlight=False, soft_wrap=is_piped, width=width)


@contextmanager
def progress_bars() -> Iterator[None]:
    """Show the library's progress as bars while the block runs, if a person is watching."""
    from kernova.progress import reporting

    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
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

        with reporting(show):
            yield


def print_json(answer: dict[str, Any], *, in_one_line: bool = False) -> None:
    """Print an answer for programs."""
    indent = None if in_one_line else 2
    print(json.dumps(answer, indent=indent, allow_nan=False, default=_plain), flush=True)


def _plain(value: Any) -> Any:
    """Turn NumPy's and pandas' scalars into Python's; whatever else it is, into its text."""
    return value.item() if hasattr(value, "item") else str(value)


def print_table(rows: "pd.DataFrame", title: str) -> None:
    """Print a table for people; cells are text, never markup."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left")
    for name, column in rows.items():
        is_number = column.dtype.kind in "fiu"
        table.add_column(escape(str(name)), justify="right" if is_number else "left")
    for values in rows.itertuples(index=False):
        table.add_row(*(escape(_cell(value)) for value in values))
    console().print(table)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)

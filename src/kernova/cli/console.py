"""What is printed is read, never obeyed: names from a table must not move a terminal's cursor.

Standard input and output as they may be: closed, full, of few letters, or left by the reader.

A console for people on which names from a table are shown, never obeyed.

How commands speak: errors in one sentence, progress on a terminal, tables for people.

Answers go to standard output; progress and errors go to standard error. Nothing here, nor in any
command's own file, imports the library before the command runs: ``--help`` stays quick.

Folders and JSON files that commands leave behind.

A progress bar for the recording that is being searched, and one for all of them.
"""

import errno
import functools
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TextIO, TypeVar

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from kernova.progress import Step


# Control characters, halves of characters, separators of lines, and what turns the direction of
# everything after it; spaces, tabs and ends of lines stay.
_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BREAKS: Final = str.maketrans({"\n": r"\n", "\t": r"\t"})


def readable(text: str) -> str:
    r"""Write out what a terminal would obey instead of show.

    Examples
    --------
    >>> from kernova.cli.console import readable
    >>> print(readable("\x1b[31mred"))
    \x1b[31mred
    """
    return _OBEYED.sub(_written_out, text)


def in_one_line(text: str) -> str:
    r"""Write out ends of lines, too: a name must not look like the next answer.

    Examples
    --------
    >>> from kernova.cli.console import in_one_line
    >>> print(in_one_line("a name\nSaved: another"))
    a name\nSaved: another
    """
    return readable(text).translate(_BREAKS)


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def ready_streams() -> None:
    """Make sure that there is something to read from and to write to, and that any text fits.

    A stream that was closed leaves its number to the next file that is opened: what is printed
    would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


def end_as_if_interrupted() -> None:
    """Let a process that is told to end put its files in order, as after Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def words_for(error: OSError) -> str:
    """Say what the system refused, where no one could say it better before.

    Examples
    --------
    >>> from kernova.cli.console import words_for
    >>> words_for(OSError(28, "No space left on device"))
    'Nothing more can be printed: No space left on device. What was saved stays.'
    """
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"Cannot work with {error.filename}: {reason}. What was saved stays."
    if isinstance(error, FileNotFoundError):  # the folder a process was started in may go
        return f"Cannot work in this folder: {reason}. What was saved stays."
    # Files have names, streams have not.
    return f"Nothing more can be printed: {reason}. What was saved stays."


def give_up_printing(stream: TextIO) -> None:
    """Let what is still to be printed go nowhere, instead of failing once more at the end."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


class ReadableConsole(Console):
    """A console on which every text, also in a table, is only shown."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Take a text as it is to be seen."""
        return super().render_str(readable(text), **options)

    def on_broken_pipe(self) -> None:
        """Tell that the reader left, as whoever prints otherwise would be told."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


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
    pass

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


def made_folder(path: Path) -> Path:
    """Give the folder, made if need be; if that cannot be, say why."""
    from kernova.errors import InputError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"Cannot make the folder {path}: {reason}. Name another.") from error
    return path


def save_json(answer: dict[str, Any], path: Path) -> None:
    """Write an answer for programs; the file is either whole or not there."""
    from kernova.files import replacing

    with replacing(path) as scratch:
        scratch.write_text(json.dumps(answer, indent=2, allow_nan=False) + "\n")


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

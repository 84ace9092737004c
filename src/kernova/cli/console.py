"""Command output: errors in one sentence, text for people, JSON for programs.

Results go to standard output; progress and errors go to standard error. Neither this module nor
any command's own file imports the library or Rich before a command runs: ``--help`` stays quick.
"""

import functools
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TextIO, TypeVar

import typer

from kernova.cli.options import in_options, running
from kernova.errors import concise
from kernova.text import escaped_letter, with_visible_marks

if TYPE_CHECKING:
    from typing import Protocol

    import pandas as pd

    from kernova.cli.terminal import EscapingConsole
    from kernova.progress import Listener, Step

    class Reportable(Protocol):
        """Result of a command that can be printed as JSON."""

        def to_json_dict(self) -> dict[str, Any]:
            """Return the result as values that JSON has."""

    class HasRows(Reportable, Protocol):
        """Result with a verdict on each row of a table."""

        @property
        def rows(self) -> pd.DataFrame:
            """Return one line for each row."""


BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
_PIPED_WIDTH: Final = 160
# Control characters, lone surrogates and line separators; spaces, tabs and ends of lines stay.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LINE_BREAKS: Final = str.maketrans({"\n": r"\n", "\t": r"\t"})

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
VerdictTable = TypeVar("VerdictTable", bound="HasRows")


# --- escaping --------------------------------------------------------------------------------


def escaped(text: str) -> str:
    r"""Escape control and invisible characters before printing.

    A name in a table must not move the cursor, nor reverse the text after it.

    Examples
    --------
    >>> from kernova.cli.console import escaped
    >>> print(escaped("\x1b[31mred"))
    \x1b[31mred
    """
    return with_visible_marks(_CONTROLS.sub(lambda found: escaped_letter(found[0]), text))


def escaped_line(text: str) -> str:
    r"""Escape ends of lines, too: a name must not look like the next line of output.

    Examples
    --------
    >>> from kernova.cli.console import escaped_line
    >>> print(escaped_line("a name\nSaved: another"))
    a name\nSaved: another
    """
    return escaped(text).translate(_LINE_BREAKS)


# --- standard streams ------------------------------------------------------------------------


def prepare_streams() -> None:
    """Replace closed standard streams by the null device, and print any character somehow.

    A stream that was closed leaves its file number to the next file that is opened: output would
    go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


def treat_termination_as_interrupt() -> None:
    """Let a process that is asked to terminate clean up its files, as after Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def discard_output(stream: TextIO) -> None:
    """Send what is still buffered to the null device, instead of failing again at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)


# --- errors and warnings ---------------------------------------------------------------------


def reporting_errors(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Turn errors of a command into one sentence and an exit code: 2 bad input, 130 interrupted."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        from kernova.errors import KernovaError

        with running(command):
            try:
                with _reading_within(kwargs.get("memory_mb")):
                    result = command(*args, **kwargs)
                sys.stdout.flush()  # a full disk is reported here, not by Python at exit
                return result
            except KeyboardInterrupt:
                print_error("Interrupted; no file was left half-written.")
                raise typer.Exit(INTERRUPTED) from None
            except (KernovaError, MemoryError, OSError) as error:
                if isinstance(error, OSError):
                    discard_output(sys.stdout)
                print_error(_error_message(error))
                raise typer.Exit(BAD_INPUT) from None

    return run


@contextmanager
def _reading_within(memory_mb: object) -> Iterator[None]:
    """Set the memory in which files are read; the environment reaches every thread of a command."""
    if memory_mb is None:
        yield
        return
    from kernova.budget import MEMORY_VARIABLE

    before = os.environ.get(MEMORY_VARIABLE)
    os.environ[MEMORY_VARIABLE] = str(memory_mb)
    try:
        yield
    finally:
        if before is None:
            del os.environ[MEMORY_VARIABLE]
        else:
            os.environ[MEMORY_VARIABLE] = before


def _error_message(error: Exception) -> str:
    from kernova.errors import MissingValuesError

    if isinstance(error, MissingValuesError):
        return (
            f"{error.found} Fill them in, or pass --missing auto, --missing drop or --missing fill."
        )
    if isinstance(error, MemoryError):
        return "There is not enough memory for this. Use fewer rows or columns."
    return describe_os_error(error) if isinstance(error, OSError) else str(error)


def describe_os_error(error: OSError) -> str:
    """Return a sentence about an error of the operating system that no caller has explained.

    Examples
    --------
    >>> from kernova.cli.console import describe_os_error
    >>> print(describe_os_error(OSError(28, "No space left on device")))
    Cannot write to standard output: No space left on device. Saved files are unaffected.
    """
    reason = error.strerror or str(error)
    if error.filename is not None:
        failed = f"Cannot use {error.filename}"
    elif isinstance(error, FileNotFoundError):  # the folder a process was started in may be gone
        failed = "Cannot work in this folder"
    else:  # files have names, streams have none
        failed = "Cannot write to standard output"
    return f"{failed}: {reason}. Saved files are unaffected."


def print_error(message: str) -> None:
    """Print an error or a warning on one line of standard error, with options for parameters."""
    try:
        print(f"kernova: {escaped_line(in_options(concise(message)))}", file=sys.stderr)
    except OSError:  # the exit code still reports the error
        discard_output(sys.stderr)


@contextmanager
def printing_warnings() -> Iterator[None]:
    """Print the library's warnings at the end of the block, each message once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print_error(message)


# --- text for people -------------------------------------------------------------------------


def console(*, stderr: bool = False) -> "EscapingConsole":
    """Return the console for results, or for questions while standard output is for JSON."""
    from kernova.cli.terminal import EscapingConsole

    # A file or a pipe has no width of its own: wide enough that tables need not break lines.
    is_piped = not (sys.stderr if stderr else sys.stdout).isatty()
    width = _PIPED_WIDTH if is_piped else None
    return EscapingConsole(stderr=stderr, highlight=False, soft_wrap=is_piped, width=width)


@contextmanager
def progress_bars() -> Iterator[None]:
    """Show the library's progress as bars while the block runs, if standard error is a terminal.

    What the library announces, such as a long computation, is printed there in any case.
    """
    from kernova.progress import announcing, reporting

    with announcing(print_error), progress_listener() as show:
        if show is None:
            yield
            return
        with reporting(show):
            yield


@contextmanager
def progress_listener() -> "Iterator[Listener | None]":
    """Yield a function that draws steps as progress bars, or None if nobody is watching.

    A bar that is full makes room for the next: a folder may hold thousands of recordings, and a
    terminal has some forty lines.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from kernova.progress import TimeLeft

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}
        left: dict[str, TimeLeft] = {}

        def show(step: "Step") -> None:
            if step.task not in tasks:
                name = escaped_line(step.task)
                tasks[step.task] = bars.add_task(name, total=step.total, left="")
                left[step.task] = TimeLeft()
            left[step.task].note(step)
            words = left[step.task].words
            bars.update(tasks[step.task], completed=step.done, total=step.total, left=words)
            if step.done >= step.total:
                bars.remove_task(tasks.pop(step.task))

        yield show


# --- JSON for programs -----------------------------------------------------------------------


def print_json(answer: Mapping[str, Any], *, one_line: bool = False) -> None:
    """Print a result for programs."""
    print(_json_text(answer, indent=None if one_line else 2), flush=True)


def save_json(answer: Mapping[str, Any], path: Path) -> None:
    """Write a result for programs; the file is either whole or not there."""
    from kernova.files import replacing

    with replacing(path) as scratch:
        scratch.write_text(_json_text(answer, indent=2) + "\n")


def _json_text(answer: Mapping[str, Any], indent: int | None) -> str:
    import json

    return json.dumps(_plain_values(answer), indent=indent, allow_nan=False, default=str)


def _plain_values(value: Any) -> Any:
    """Return nested values as JSON has them, by the rule that all tables follow."""
    from kernova.tables.records import json_value

    if isinstance(value, Mapping):
        return {key: _plain_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_values(inner) for inner in value]
    return value if isinstance(value, str | int) else json_value(value)


# --- the end of a command --------------------------------------------------------------------


class Target(NamedTuple):
    """File that a command writes if the user gave its path."""

    path: Path | None
    write: Callable[[Path], object]


def table_target(path: Path | None, rows: "pd.DataFrame", *, raw: bool) -> Target:
    """Return the target for a table; ``raw`` writes formula-like texts as they are."""

    def write(path: Path) -> None:
        from kernova.tables.formats import save_table

        save_table(rows, path, raw=raw)

    return Target(path, write)


def page_target(path: Path | None, make_page: Callable[[], str]) -> Target:
    """Return the target for a report, which is made only if it is to be written."""

    def write(path: Path) -> None:
        from kernova.report.page import save_page

        save_page(make_page(), path)

    return Target(path, write)


def model_target(path: Path | None, model: object) -> Target:
    """Return the target for a fitted model."""

    def write(path: Path) -> None:
        from kernova.persist.models import save_model

        save_model(model, path)

    return Target(path, write)


def write_targets(targets: Mapping[str, Target]) -> dict[str, str]:
    """Write the files that the user asked for, and return their paths."""
    written = {}
    with progress_bars():
        for name, target in targets.items():
            if target.path is not None:
                target.write(target.path)
                written[name] = str(target.path)
    return written


def print_result(
    result: "Reportable",
    written: dict[str, str],
    *,
    as_json: bool,
    show: "Callable[[EscapingConsole], None]",
    hint: str = "",
) -> None:
    """Print a command's result and the files that it wrote.

    Parameters
    ----------
    result : Reportable
        What the command computed.
    written : dict of str to str
        Paths of the files, from :func:`write_targets`.
    as_json : bool
        Print JSON instead of text.
    show : callable
        Prints the result for people.
    hint : str
        Printed where no file was asked for.
    """
    if as_json:
        answer = result.to_json_dict()
        if "notes" in answer:
            answer["notes"] = [in_options(str(note)) for note in answer["notes"]]
        if "worth" in answer:
            answer["worth"] = in_options(str(answer["worth"]))
        print_json({**answer, "files": written})
        return
    out = console()
    show(out)
    lines = [f"{name}: {path}" for name, path in written.items()] or [hint]
    if any(lines):
        out.print()
        out.print_lines(*lines)


def finish_verdicts(
    result: VerdictTable,
    output: Path | None,
    report: Path | None,
    page: Callable[[VerdictTable], str],
    show: "Callable[[EscapingConsole, VerdictTable], None]",
    *,
    as_json: bool,
    table: str,
    model: Target | None = None,
    raw: bool = False,
) -> None:
    """Write a table of verdicts and its report, then print the result.

    Parameters
    ----------
    result : result with ``rows``
        What the command computed.
    output, report : Path or None
        Files to write.
    page : callable
        Makes the report from the result.
    show : callable
        Prints the result for people.
    as_json : bool
        Print JSON instead of text.
    table : str
        Name of a table for the hint that is printed where no file was asked for.
    model : Target, optional
        Further file to write.
    raw : bool
        Write formula-like texts as they are.
    """
    targets = {
        "output": table_target(output, result.rows, raw=raw),
        "report": page_target(report, lambda: page(result)),
    }
    if model is not None:
        targets["model"] = model
    print_result(
        result,
        write_targets(targets),
        as_json=as_json,
        show=lambda out: show(out, result),
        hint=f"Write them all with -o {table}; see them with --report report.html.",
    )

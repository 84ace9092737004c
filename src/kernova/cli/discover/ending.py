"""Beginning and end of ``kernova discover``: what is printed, and the files at the end."""

from typing import TYPE_CHECKING, Final

import typer

from kernova.cli.console import Target, console, print_error, print_json, write_targets

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workbench.discovery import Discovery

DISPLACED: Final = 1  # exit code if the answers are in a rescue file


def print_beginning(discovery: "Discovery", out: "EscapingConsole") -> None:
    """Print the notes, and where the answers are."""
    out.print_notes(discovery.notes)
    if discovery.is_resumed:
        out.print_lines(f"Continuing {discovery.project}: {discovery.summary}")
    else:
        out.print_lines(f"Answers are saved in {discovery.project}.")


def print_end(discovery: "Discovery", out: "EscapingConsole") -> None:
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


def finish(discovery: "Discovery", output: Target, as_json: bool, *, terminal: bool) -> None:
    """Write the files that were asked for, and a summary as JSON."""
    written = write_targets({"output": output})
    if as_json:
        print_json({**discovery.to_json_dict(), "files": written}, one_line=not terminal)
    else:
        console().print_lines(*(f"{name}: {path}" for name, path in written.items()))
    if discovery.warning is not None:
        print_error(discovery.warning)
        raise typer.Exit(DISPLACED)

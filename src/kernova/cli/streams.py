"""Standard input and output as they may be: closed, full, of few letters, or left by the reader."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO


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
    >>> from kernova.cli.streams import words_for
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

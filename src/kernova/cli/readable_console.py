"""A console for people on which names from a table are shown, never obeyed."""

import errno
import os
from typing import Any

from rich.console import Console
from rich.text import Text

from kernova.cli.readable import readable


class ReadableConsole(Console):
    """A console on which every text, also in a table, is only shown."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Take a text as it is to be seen."""
        return super().render_str(readable(text), **options)

    def on_broken_pipe(self) -> None:
        """Tell that the reader left, as whoever prints otherwise would be told."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

"""A console for people on which names from a table are shown, never obeyed."""

from typing import Any

from rich.console import Console
from rich.text import Text

from kernova.cli.readable import readable


class ReadableConsole(Console):
    """A console on which every text, also in a table, is only shown."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Take a text as it is to be seen."""
        return super().render_str(readable(text), **options)

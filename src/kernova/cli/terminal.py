"""Rich console for text and tables, in which control characters are escaped."""

import errno
import math
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from kernova.cli.console import escaped
from kernova.cli.options import in_options

if TYPE_CHECKING:
    import pandas as pd


class EscapingConsole(Console):
    """Console that escapes control characters in every text, also in the cells of a table."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text with its control characters escaped."""
        return super().render_str(escaped(text), **options)

    def on_broken_pipe(self) -> None:
        """Raise the error that ``print`` would raise; Rich would exit."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def print_lines(self, *lines: str) -> None:
        """Print lines of text; square brackets in them are no markup."""
        for line in lines:
            self.print(line, markup=False)

    def print_notes(self, notes: Iterable[str]) -> None:
        """Print the library's notes on a result, with options in place of parameters."""
        self.print_lines(*map(in_options, notes))

    def print_section(self, title: str, lines: Iterable[str]) -> None:
        """Print a title and indented lines below it."""
        self.print(title, style="bold", markup=False)
        self.print_lines(*(f"  {line}" for line in lines))

    def print_table(self, rows: "pd.DataFrame", title: str | None = None) -> None:
        """Print a table; cells are text, never markup."""
        table = Table(title=None if title is None else escape(title), title_justify="left")
        for name, column in rows.items():
            is_number = column.dtype.kind in "fiu"
            table.add_column(escape(str(name)), justify="right" if is_number else "left")
        for values in rows.itertuples(index=False):
            table.add_row(*(escape(_cell(value)) for value in values))
        self.print(table)


def _cell(value: Any) -> str:
    """Return the text of a cell; a number that does not exist is an empty one."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)

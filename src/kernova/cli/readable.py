"""What is printed is read, never obeyed: names from a table must not move a terminal's cursor."""

import re
from typing import Final

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
    >>> from kernova.cli.readable import readable
    >>> print(readable("\x1b[31mred"))
    \x1b[31mred
    """
    return _OBEYED.sub(_written_out, text)


def in_one_line(text: str) -> str:
    r"""Write out ends of lines, too: a name must not look like the next answer.

    Examples
    --------
    >>> from kernova.cli.readable import in_one_line
    >>> print(in_one_line("a name\nSaved: another"))
    a name\nSaved: another
    """
    return readable(text).translate(_BREAKS)


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()

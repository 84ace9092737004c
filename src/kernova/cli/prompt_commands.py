"""Commands typed at the prompt of ``kernova discover --terminal``, parsed from a line.

A line is the name of a category unless it begins with a command's word.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

HELP = """\
NAME                    the row belongs to this category, a known one or a new one
all NAME                so do all unlabelled rows that the question represents
skip                    skip this row
undo                    undo the last entry; may be repeated
change 3 = NAME         change the answer to question 3 (nothing after the =: skip it)
label ID = NAME         label another row
rename OLD = NEW        rename a category
merge NAME = A, B       merge the categories A and B into NAME
delete NAME             delete a category; rows asked about count as skipped
settle ID = NAME        settle a disagreement between experts about a row
list                    list the categories, and the rows that experts disagree about
quit                    stop; the same command continues from here (also Ctrl-D and Ctrl-C)
=NAME                   exactly this name, even if it is one of the commands above"""

_WITHOUT_ARGUMENT = {
    "?": "help", "help": "help", "skip": "skip", "undo": "undo", "list": "list", "quit": "quit",
    "exit": "quit",
}  # fmt: skip
_WITH_EQUALS = {
    "change": "change 3 = NAME",
    "label": "label ID = NAME",
    "rename": "rename OLD = NEW",
    "merge": "merge NAME = A, B",
    "settle": "settle ID = NAME",
}
_WITH_NAME = ("all", "delete")
COMMAND_WORDS = (
    *(word for word in _WITHOUT_ARGUMENT if word != "?"),
    *_WITH_EQUALS,
    *_WITH_NAME,
)


@dataclass(frozen=True)
class Command:
    """A parsed line.

    Parameters
    ----------
    action : str
        What to do: "name", "all", a word of the help, "nothing", or "incomplete" for a command
        without its arguments.
    left, right : str
        Arguments: a single one on the left; with ``=``, those before and after it. Of an
        incomplete command, its usage and the line.
    is_exact : bool
        Whether the name is to be taken literally, without a suggestion.
    """

    action: str
    left: str = ""
    right: str = ""
    is_exact: bool = False


def parse_command(line: str) -> Command:
    """Return the command that a line stands for.

    Examples
    --------
    >>> from kernova.cli.prompt_commands import parse_command
    >>> parse_command("carp")
    Command(action='name', left='carp', right='', is_exact=False)
    >>> parse_command("rename carp = Carp")
    Command(action='rename', left='carp', right='Carp', is_exact=False)
    >>> [parse_command(line).action for line in ("=undo", "undo", "undo it")]
    ['name', 'undo', 'name']
    """
    line = line.strip()
    if not line:
        return Command("nothing")
    if line.startswith("="):
        return Command("name", line[1:].strip(), is_exact=True)
    if line.lower() in _WITHOUT_ARGUMENT:
        return Command(_WITHOUT_ARGUMENT[line.lower()])
    word, _, rest = line.partition(" ")
    if word.lower() in _WITH_NAME:
        name = rest.strip()
        exact = name.startswith("=")
        return Command(word.lower(), name.removeprefix("=").strip(), is_exact=exact)
    if word.lower() in _WITH_EQUALS:
        return _two_sided(word.lower(), rest, line)
    return Command("name", line)


def _two_sided(word: str, rest: str, line: str) -> Command:
    # A name may contain a = of its own; one with spaces around it is the command's.
    separator = " = " if " = " in f"{rest} " else "="
    left, found, right = f"{rest} ".partition(separator)
    if not found or not left.strip():
        return Command("incomplete", _WITH_EQUALS[word], line)
    return Command(word, left.strip(), right.strip())


class Suggestion(NamedTuple):
    """Known categories that begin with a typed name; the expert decides which one is meant."""

    typed: Command
    matches: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Matches, and what to type for one of them or for a new category."""
        typed = self.typed.left
        known = " and ".join(f'"{name}"' for name in self.matches)
        choice = f"Press Enter for {known}" if len(self.matches) == 1 else "Type more of the name"
        return f'"{typed}" begins {known}. {choice}, or type {typed} again for a new category.'


def suggestion_for(command: Command, categories: Iterable[str]) -> Suggestion | None:
    """Return the known categories that begin with a new name, None if there are none.

    Examples
    --------
    >>> from kernova.cli.prompt_commands import Command, suggestion_for
    >>> print(suggestion_for(Command("name", "Car"), ["carp", "eel"]).sentence)
    "Car" begins "carp". Press Enter for "carp", or type Car again for a new category.
    """
    known = list(categories)
    if command.action not in ("name", "all") or command.is_exact or command.left in known:
        return None
    start = command.left.casefold()
    matches = tuple(name for name in known if start and name.casefold().startswith(start))
    return Suggestion(command, matches) if matches else None

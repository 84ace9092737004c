"""What a line typed at a question means: a category's name, or something to be done."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

HELP = """\
NAME                    the row is of this category, a known one or a new one
all NAME                so are all rows that the question stands for and that have no name yet
skip                    pass over this row
undo                    take back what was said last; may be repeated
change 3 = NAME         answer question 3 differently (nothing behind the =: as if skipped)
label ID = NAME         name another row, out of turn
rename OLD = NEW        give a category another name
merge NAME = A, B       make the categories A and B part of NAME
delete NAME             let a category go; rows that were asked count as skipped
settle ID = NAME        end a disagreement between experts about a row
list                    show the categories, and where experts disagree
quit                    leave; the same command goes on from here (so do Ctrl-D and Ctrl-C)
=NAME                   exactly this name, even if it is one of the words above"""

_ALONE = {
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
WORDS = (*(word for word in _ALONE if word != "?"), *_WITH_EQUALS, *_WITH_NAME)


@dataclass(frozen=True)
class Saying:
    """A line understood.

    Parameters
    ----------
    act : str
        What to do: "name", "all", a word of the help, "nothing", or "puzzle" for a line that is
        half a command.
    left, right : str
        What it is about: a name stands on the left; where there is a ``=``, what is before and
        behind it.
    is_exact : bool
        Whether the name is meant to the letter, so that no other is to be offered.
    """

    act: str
    left: str = ""
    right: str = ""
    is_exact: bool = False


def understood(line: str) -> Saying:
    """Say what a line means.

    Examples
    --------
    >>> from kernova.cli.prompt_commands import understood
    >>> understood("carp")
    Saying(act='name', left='carp', right='', is_exact=False)
    >>> understood("rename carp = Carp")
    Saying(act='rename', left='carp', right='Carp', is_exact=False)
    >>> understood("=undo").act, understood("undo").act, understood("undo it").act
    ('name', 'undo', 'name')
    """
    line = line.strip()
    if not line:
        return Saying("nothing")
    if line.startswith("="):
        return Saying("name", line[1:].strip(), is_exact=True)
    if line.lower() in _ALONE:
        return Saying(_ALONE[line.lower()])
    word, _, rest = line.partition(" ")
    if word.lower() in _WITH_NAME:
        name = rest.strip()
        exact = name.startswith("=")
        return Saying(word.lower(), name.removeprefix("=").strip(), is_exact=exact)
    if word.lower() in _WITH_EQUALS:
        return _two_sided(word.lower(), rest, line)
    return Saying("name", line)


def _two_sided(word: str, rest: str, line: str) -> Saying:
    # A name may hold a = of its own; one with spaces around it is the command's.
    parting = " = " if " = " in f"{rest} " else "="
    left, found, right = f"{rest} ".partition(parting)
    if not found or not left.strip():
        return Saying("puzzle", _WITH_EQUALS[word], line)
    return Saying(word, left.strip(), right.strip())


class Offer(NamedTuple):
    """A name was typed that begins others: which is meant is asked, never guessed."""

    typed: Saying
    begun: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Say what can be typed now."""
        known = " and ".join(f'"{name}"' for name in self.begun)
        typed = self.typed.left
        if len(self.begun) == 1:
            return f'"{typed}" begins {known}. Enter takes that; {typed} again is a new category.'
        return f'"{typed}" begins {known}. Type more of it; {typed} again is a new category.'


def offer_for(saying: Saying, categories: Iterable[str]) -> Offer | None:
    """Give the known categories that a new name begins, if it begins any.

    Examples
    --------
    >>> from kernova.cli.prompt_commands import Saying, offer_for
    >>> print(offer_for(Saying("name", "Car"), ["carp", "eel"]).sentence)
    "Car" begins "carp". Enter takes that; Car again is a new category.
    """
    known = list(categories)
    if saying.act not in ("name", "all") or saying.is_exact or saying.left in known:
        return None
    start = saying.left.casefold()
    begun = tuple(name for name in known if start and name.casefold().startswith(start))
    return Offer(saying, begun) if begun else None

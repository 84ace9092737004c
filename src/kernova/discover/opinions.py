"""What each expert last said of a row, and where they do not agree.

The last word spoken stands as the row's label, whoever spoke it. Where the experts' last words
differ, that is a disagreement, until they agree or somebody settles it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Word(NamedTuple):
    """What somebody said of a row, and the question it answered, if it answered one."""

    label: str
    question: int | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row that experts name differently.

    Parameters
    ----------
    row : int
        The row's place in the table.
    opinions : dict of str (or None) to str
        The last word of each expert, the latest last; None is whoever gave no name.
    label : str
        What stands until it is settled.
    """

    row: int
    opinions: dict[str | None, str]
    label: str


class Opinions:
    """The last word of each expert about each row.

    Examples
    --------
    >>> from kernova.discover.opinions import Opinions, Word
    >>> opinions = Opinions()
    >>> opinions.say([3, 4], "Anna", Word("carp"))
    >>> opinions.say([3], "Bob", Word("pike"))
    >>> list(opinions.disputed()), opinions.of(3)
    ([3], {'Anna': 'carp', 'Bob': 'pike'})
    >>> opinions.settle(3, "pike")
    >>> list(opinions.disputed())
    []
    """

    def __init__(self) -> None:
        self._words: dict[int, dict[str | None, Word]] = {}
        self._shared: dict[int, None] = {}  # rows of which several have spoken
        self._settled: dict[int, str] = {}

    def of(self, row: int) -> dict[str | None, str]:
        """Give what each expert last said of a row, the latest last."""
        return {by: word.label for by, word in self._words.get(row, {}).items()}

    def latest(self, row: int) -> Word | None:
        """Give the last word about a row."""
        words = self._words.get(row)
        return next(reversed(words.values())) if words else None

    def n_experts(self, row: int) -> int:
        """Count who has spoken about a row."""
        return len(self._words.get(row, ()))

    def disputed(self) -> Iterator[int]:
        """Give the rows that experts name differently and that nobody has settled."""
        for row in self._shared:
            labels = {word.label for word in self._words[row].values()}
            if len(labels) > 1 and row not in self._settled:
                yield row

    def say(self, rows: Iterable[int], by: str | None, word: Word) -> None:
        """Note the word of an expert about rows."""
        for row in rows:
            words = self._words.setdefault(row, {})
            words.pop(by, None)  # what is said again comes last
            words[by] = word
            if len(words) > 1:
                self._shared.setdefault(row)
                if self._settled.get(row, word.label) != word.label:
                    del self._settled[row]  # somebody still does not agree

    def forget(self, row: int) -> None:
        """Let nobody have said anything about a row."""
        self._words.pop(row, None)
        self._shared.pop(row, None)
        self._settled.pop(row, None)

    def settle(self, row: int, label: str) -> None:
        """End a disagreement."""
        self._settled[row] = label

    def rename(self, old: set[str], new: str) -> None:
        """Let all that was said of some categories be said of another."""
        for words in self._words.values():
            for by, word in words.items():
                if word.label in old:
                    words[by] = word._replace(label=new)
        for row, label in self._settled.items():
            if label in old:
                self._settled[row] = new

    def delete(self, name: str) -> None:
        """Let nobody have named any row so."""
        for row, words in list(self._words.items()):
            for by in [by for by, word in words.items() if word.label == name]:
                del words[by]
            if len(words) < 2:
                self._shared.pop(row, None)
            if not words:
                del self._words[row]
        self._settled = {
            row: label
            for row, label in self._settled.items()
            if label != name and row in self._shared
        }

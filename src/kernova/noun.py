"""The noun for a table's rows: galaxies, recordings, payments.

Sentences are written about rows. :meth:`Noun.in_sentence` puts the user's own noun in their place,
and leaves quoted names, which are data, as they are.
"""

import re
from typing import Final, NamedTuple

from kernova.errors import InputError, quoted

_LONGEST: Final = 40
_VOWELS: Final = "aeiou"
_HISSING: Final = ("s", "x", "z", "ch", "sh")
# A quoted name, or the word itself with the indefinite article before it, if there is one.
_ROW: Final = re.compile(
    r"""(?P<kept>(?<!\w)'[^']{0,500}'(?!\w)|"[^"]{0,500}"|“[^”]{0,500}”)"""
    r"""|(?P<article>\b[Aa] )?\b(?P<word>[Rr]ows?)\b"""
)


class Noun(NamedTuple):
    """Singular and plural of what a row is called.

    Examples
    --------
    >>> from kernova.noun import Noun
    >>> galaxies = Noun("galaxy", "galaxies")
    >>> galaxies.counted(1), galaxies.counted(1200, "other")
    ('1 galaxy', '1,200 other galaxies')
    """

    one: str = "row"
    several: str = "rows"

    def of(self, n: int) -> str:
        """Return the noun for a number of things, without the number."""
        return self.one if n == 1 else self.several

    def counted(self, n: int, adjective: str = "") -> str:
        """Return a number with the noun, and perhaps an adjective between them."""
        return " ".join(word for word in (f"{n:,}", adjective, self.of(n)) if word)

    def in_sentence(self, sentence: str) -> str:
        """Return a sentence about rows with this noun; quoted names stay.

        Examples
        --------
        >>> from kernova.noun import Noun
        >>> Noun("image", "images").in_sentence("A row of 'row 7' is one of 12 rows.")
        "An image of 'row 7' is one of 12 images."
        """
        return sentence if self == ROWS else _ROW.sub(self._replaced, sentence)

    def _replaced(self, found: re.Match[str]) -> str:
        if found["kept"]:
            return found["kept"]
        word = self.several if found["word"].lower() == "rows" else self.one
        if found["word"][0] == "R":
            word = word[0].upper() + word[1:]
        article = found["article"] or ""
        if article and word[0].lower() in _VOWELS:
            article = f"{article[0]}n "
        return f"{article}{word}"


ROWS: Final = Noun()


def noun_from(text: str) -> Noun:
    """Return the noun that a text names: a singular, or singular and plural with a comma between.

    Raises
    ------
    InputError
        If it is neither.

    Examples
    --------
    >>> from kernova.noun import noun_from
    >>> noun_from("galaxy"), noun_from("leaf, leaves")
    (Noun(one='galaxy', several='galaxies'), Noun(one='leaf', several='leaves'))
    """
    words = [" ".join(word.split()) for word in text.split(",")]
    is_readable = all(word.isprintable() and 0 < len(word) <= _LONGEST for word in words)
    if len(words) > 2 or not is_readable or not all(word[0].isalpha() for word in words):
        raise InputError(
            f"noun must say what a row is called, as in 'galaxy', or with its plural, as in "
            f"'leaf,leaves'; got {quoted(text)}."
        )
    return Noun(words[0], words[1] if len(words) == 2 else plural_of(words[0]))


def plural_of(word: str) -> str:
    """Return the regular plural of an English noun.

    Examples
    --------
    >>> from kernova.noun import plural_of
    >>> [plural_of(word) for word in ("fish", "galaxy", "survey", "specimen")]
    ['fishes', 'galaxies', 'surveys', 'specimens']
    """
    lower = word.lower()
    if lower.endswith("y") and lower[-2:-1] not in ("", *_VOWELS):
        return f"{word[:-1]}ies"
    return f"{word}es" if lower.endswith(_HISSING) else f"{word}s"

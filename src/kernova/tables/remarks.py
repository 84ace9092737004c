"""Remarks on the columns of a table: how their texts were read, and what is in doubt.

:class:`Remarks` collects one phrase for each column while a table is read, and joins phrases of the
same kind into one sentence.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kernova.errors import quoted
from kernova.tables.columns import FEW_CATEGORIES
from kernova.tables.dates import Moments, moments_note
from kernova.tables.quantities import Conversion, Decimal
from kernova.tables.texts import ColumnTexts, first_with_other_capitals, written_numbers
from kernova.text import first_few, plural, quantity

_BETWEEN_THOUSANDS: Final = "[0-9][ '’\\x{00a0}\\x{2009}\\x{202f}][0-9]"
# Sentences in the order in which they are printed; lone ones are written for one column each.
_SENTENCES: Final = {
    "numbers": "Texts of {source} were read as numbers: {found}.",
    "units": "",
    "truths": "Texts of {source} were read as 1 and 0: {found}.",
    "moments": "",
    "words": "Texts of {source} were read as missing values: {found}.",
    "many": "Of the columns of {source}, {found} {has} more than "
    f"{FEW_CATEGORIES} different texts; rows are compared by how often theirs occurs.",
    "codes": "Digits of {source} with zeros before them are codes, used as categories: {found}.",
    "written": "Texts of {source} that begin with numbers are used as categories, which are equal "
    "or different: {found}. To compare them as numbers, write these alone.",
    "capitals": "Categories of {source} that differ in capitals only count as different: {found}.",
    "rising": "Whole numbers of {source} that rise from row to row are used as features: {found}. "
    "If they number the rows, drop them.",
    "used": "{source} has no better features, so these columns are used: {found}.",
}


@dataclass
class Remarks:
    """Phrases about the columns of a table, by the kind of their sentence."""

    source: str
    phrases: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    reasons: dict[str, str] = field(default_factory=dict)  # why columns are left out

    def add(self, kind: str, name: str, detail: str = "") -> None:
        """Add a column to a sentence, with a detail in parentheses."""
        self.phrases[kind].append(f"{quoted(name)} ({detail})" if detail else quoted(name))

    def add_sentence(self, kind: str, name: str, rest: str) -> None:
        """Add a sentence of its own on a column."""
        self.phrases[kind].append(f"Column {quoted(name)} of {self.source} {rest}")

    def add_words(self, name: str, words: Mapping[str, int]) -> None:
        """Add which words stand for missing values in a column, with their numbers of rows."""
        found = {word.strip(): n for word, n in words.items() if word.strip()}
        if found:
            cells = first_few([f"{quoted(word)} {n}" for word, n in found.items()], 4)
            self.add("words", name, cells)

    def add_truth(self, name: str, texts: ColumnTexts) -> None:
        """Add the words that were read as 1 and 0."""
        self.add(
            "truths", name, first_few([quoted(text) for text in texts.distinct.to_pylist()], 4)
        )

    def add_moments(self, name: str, moments: Moments, features: list[str]) -> None:
        """Add what became of dates or times."""
        self.phrases["moments"].append(moments_note(name, moments, features, self.source))

    def add_category(self, name: str, texts: ColumnTexts, *, is_code: bool) -> None:
        """Add why the texts of a category may be something else, or equal."""
        n_distinct = len(texts.distinct)
        if n_distinct > FEW_CATEGORIES:
            self.add("many", name, f"{n_distinct:,}")
        if is_code:
            self.add("codes", name, quoted(texts.first(r"^0[0-9]")))
        elif written_numbers(texts):
            self.add("written", name, quoted(texts.first("[^0-9]")))
        pair = first_with_other_capitals(texts)
        if pair is not None:
            self.add("capitals", name, f"{quoted(pair[0])}, {quoted(pair[1])}")

    def add_quantities(
        self,
        name: str,
        texts: ColumnTexts,
        counts: Mapping[str, int],
        found: Conversion,
        decimal: Decimal,
    ) -> None:
        """Add how the numbers of a column of text were read; ``counts`` has their units."""
        how = _how_written(texts, found, decimal)
        if how:
            self.phrases["numbers"].append(f"{quoted(name)} {' '.join(how)}")
        units = sorted(filter(None, counts), key=lambda unit: (-counts[unit], unit))
        if len(units) > 1 and found.unit:
            self.add_sentence(
                "units", name,
                f"mixes the units {first_few(units)}; all numbers were converted to {found.unit}.",
            )  # fmt: skip
        n_plain = counts.get("", 0)
        if found.unit and n_plain:
            self.add_sentence(
                "units", name,
                f"has {quantity(n_plain, 'number')} without a unit, taken to be in {found.unit}.",
            )  # fmt: skip

    def sentences(self, *, is_new: bool) -> list[str]:
        """Return all sentences; of rows that are read like known ones, fewer are needed."""
        said = []
        for kind, sentence in _SENTENCES.items():
            found = self.phrases.get(kind, [])
            if not sentence:
                said += found
            elif found and not (is_new and kind == "truths"):
                has = plural(len(found), "has", "have")
                said.append(sentence.format(source=self.source, found=first_few(found), has=has))
        if self.reasons:
            reasons = [f"{quoted(name)} ({why})" for name, why in self.reasons.items()]
            said.append(
                f"Columns of {self.source} that are not used as features: {first_few(reasons)}. To "
                f"use one all the same, pass keep={quoted(next(iter(self.reasons)))}."
            )
        return said


def _how_written(texts: ColumnTexts, found: Conversion, decimal: Decimal) -> list[str]:
    """Return how the numbers of a column of text are written."""
    how = [f"in {found.unit}"] if found.unit else []
    if decimal == "comma":
        how.append("with decimal commas")
    elif texts.has(","):
        how.append("with commas between thousands")
    if texts.has(_BETWEEN_THOUSANDS):
        how.append("with blanks or apostrophes between thousands")
    multiples = [unit for unit, factor in found.factors.items() if unit and not found.unit]
    if multiples:
        how.append(f"with {first_few(multiples)} for thousands, millions or billions")
    if texts.has(r"\("):
        how.append("with parentheses for negative numbers")
    return how

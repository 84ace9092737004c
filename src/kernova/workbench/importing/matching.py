"""Labels of a file against those of a project: matches, conflicts, and what an import changes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kernova.discover.events import (
    Accepted,
    Flagged,
    Grouped,
    ImportedPart,
    Opined,
    RowsNoted,
    RowsUnsure,
    Tagged,
)
from kernova.discover.results import SessionResults
from kernova.workbench.importing.lines import LabelFile, LabelLine

#: Treatment of rows that have another label already: keep it, replace it, or record both.
OnConflict = Literal["keep", "take", "opinion"]


class Conflict(NamedTuple):
    """A row whose label in the file is another one than in the project."""

    row: int
    mine: str
    theirs: str


@dataclass(frozen=True, eq=False)
class Matches:
    """Lines of a file, matched with the rows of a project.

    Attributes
    ----------
    lines : list of (int, LabelLine)
        Lines that say something of a row of the project.
    unknown : list of str
        Ids that the project does not have.
    n_empty : int
        Number of lines without a label or a remark.
    n_repeated : int
        Number of lines that repeat the row and the expert of an earlier one, which they replace.
    """

    lines: list[tuple[int, LabelLine]]
    unknown: list[str]
    n_empty: int
    n_repeated: int

    @property
    def rows(self) -> set[int]:
        """Rows that the file labels."""
        return {row for row, line in self.lines if line.category is not None}


def matched(file: LabelFile, rows: Mapping[str, int]) -> Matches:
    """Match the lines of a file with the rows of a project.

    Examples
    --------
    >>> from kernova.workbench.importing.lines import LabelFile, LabelLine
    >>> from kernova.workbench.importing.matching import matched
    >>> lines = [LabelLine(("a",), "carp"), LabelLine(("z",), "eel"), LabelLine(("b",))]
    >>> found = matched(LabelFile("labels.csv", lines), {"a": 0, "b": 1})
    >>> found.rows, found.unknown, found.n_empty
    ({0}, ['z'], 1)
    """
    kept: dict[tuple[int, str | None, bool], LabelLine] = {}
    unknown: dict[str, None] = {}
    n_empty = n_repeated = 0
    for line in file.lines:
        row = next((rows[one] for one in line.ids if one in rows), None)
        if row is None:
            unknown[line.ids[0] if line.ids else ""] = None
        elif line.is_empty:
            n_empty += 1
        else:
            key = (row, line.expert, line.category is None)
            n_repeated += key in kept
            kept.pop(key, None)
            kept[key] = line
    return Matches(
        [(key[0], line) for key, line in kept.items()], list(unknown), n_empty, n_repeated
    )


def conflicts(matches: Matches, results: SessionResults) -> Iterator[Conflict]:
    """Yield the rows whose standing label in the file differs from that in the project."""
    for row, line in matches.lines:
        mine = results.label_of(row)
        if line.is_standing and line.category is not None and mine not in (None, line.category):
            yield Conflict(row, str(mine), line.category)


def categories_of(matches: Matches) -> Counter[str]:
    """Return the number of rows of each category of a file."""
    return Counter(
        line.category for _, line in matches.lines if line.category is not None and line.is_standing
    )


def import_parts(
    matches: Matches,
    results: SessionResults,
    on_conflict: OnConflict,
    expert: str | None,
    by: str | None,
) -> list[ImportedPart]:
    """Return what an import changes in a project; what is there already is left out.

    Parameters
    ----------
    matches : Matches
        The lines of the file.
    results : SessionResults
        The project now.
    on_conflict : {"keep", "take", "opinion"}
        Treatment of rows that have another label: keep that, replace it, or record the one of the
        file as a further opinion.
    expert : str or None
        Whose the labels are of which the file does not say it; None for who imports them.
    by : str or None
        Who imports the file.
    """
    named = [
        (row, line if line.expert is not None or expert is None else line._replace(expert=expert))
        for row, line in matches.lines
    ]
    by_hand = [
        (row, line) for row, line in named if line.category is not None and not _is_accepted(line)
    ]
    return [
        *_opinions(by_hand, results, on_conflict, by),
        *_accepted([(row, line) for row, line in named if _is_accepted(line)], results, by_hand),
        *_undecided(named, results, {row for row, _ in by_hand}),
        *_remarks(named, results, is_kept=on_conflict == "keep"),
    ]


def _is_accepted(line: LabelLine) -> bool:
    is_accepted = line.status == "accepted" and line.probability is not None
    return is_accepted and line.category is not None


class _Kind(NamedTuple):
    """What the opinions of one part have in common; those that count come last."""

    is_standing: bool
    settles: bool
    expert: str | None
    confidence: str | None


def _opinions(
    lines: list[tuple[int, LabelLine]],
    results: SessionResults,
    on_conflict: OnConflict,
    by: str | None,
) -> Iterator[Opined]:
    parts: dict[_Kind, dict[int, str]] = {}
    for row, line in lines:
        label = results.label_of(row)
        if _is_there(row, line, results, by) or (on_conflict == "keep" and label is not None):
            continue
        differs = on_conflict == "take" and line.is_standing and label not in (None, line.category)
        settles = differs or (line.is_settled and label is None)
        kind = _Kind(line.is_standing, settles, line.expert, line.confidence)
        parts.setdefault(kind, {})[row] = str(line.category)
    for kind in sorted(parts, key=lambda kind: (kind.is_standing, kind.settles)):
        of_rows = parts[kind]
        names, codes = _coded(of_rows.values())
        yield Opined(
            tuple(of_rows), names, codes, kind.expert, kind.confidence, kind.settles  # type: ignore[arg-type]
        )  # fmt: skip


def _is_there(row: int, line: LabelLine, results: SessionResults, by: str | None) -> bool:
    """Return whether the expert has given the row this label already."""
    holder = by if line.expert is None else line.expert
    opinions = results.opinions_of(row)
    is_same = opinions.get(holder) == line.category and holder in opinions
    return is_same and (results.label_of(row) == line.category or not line.is_standing)


def _accepted(
    lines: list[tuple[int, LabelLine]],
    results: SessionResults,
    by_hand: Iterable[tuple[int, LabelLine]],
) -> Iterator[Accepted]:
    """Yield accepted suggestions of rows without a label; they replace none."""
    labelled = {row for row, _ in by_hand}
    kept = {
        row: line
        for row, line in lines
        if results.label_of(row) is None and row not in labelled
    }  # fmt: skip
    if kept:
        names, codes = _coded(str(line.category) for line in kept.values())
        permille = tuple(round(1000 * (line.probability or 0.0)) for line in kept.values())
        yield Accepted(tuple(kept), names, codes, permille)


def _undecided(
    lines: list[tuple[int, LabelLine]], results: SessionResults, labelled: set[int]
) -> Iterator[RowsUnsure]:
    rows = {
        row: None
        for row, line in lines
        if line.status == "unsure"
        and line.category is None
        and row not in labelled
        and results.label_of(row) is None
        and results.status_of(row) != "unsure"
    }
    if rows:
        yield RowsUnsure(tuple(rows))


def _remarks(
    lines: list[tuple[int, LabelLine]], results: SessionResults, *, is_kept: bool
) -> Iterator[RowsNoted | Flagged | Tagged | Grouped]:
    """Yield notes, flags, further labels and headings that are not there yet."""
    known = results.annotations
    notes = {
        row: line.note
        for row, line in lines
        if line.note is not None
        and line.note != known.notes.get(row)
        and not (is_kept and row in known.notes)
    }
    if notes:
        yield RowsNoted(tuple(notes), tuple(notes.values()))
    flagged = {row: None for row, line in lines if line.is_flagged and row not in known.flagged}
    if flagged:
        yield Flagged(tuple(flagged))
    tags: dict[str, dict[int, None]] = {}
    for row, line in lines:
        for tag in line.tags:
            if tag not in known.tags.get(row, {}):
                tags.setdefault(tag, {})[row] = None
    yield from (Tagged(tuple(rows), tag) for tag, rows in tags.items())
    yield from _headings(lines, known.headings, is_kept=is_kept)


def _headings(
    lines: list[tuple[int, LabelLine]], known: Mapping[str, str], *, is_kept: bool
) -> Iterator[Grouped]:
    under: dict[str, dict[str, None]] = {}
    for _, line in lines:
        name, heading = line.category, line.heading
        if name is None or heading is None or known.get(name) == heading:
            continue
        if not (is_kept and name in known):
            under.setdefault(heading, {})[name] = None
    yield from (Grouped(tuple(names), heading) for heading, names in under.items())


def _coded(labels: Iterable[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the distinct labels, and the position of each among them."""
    position: dict[str, int] = {}
    codes = tuple(position.setdefault(label, len(position)) for label in labels)
    return tuple(position), codes

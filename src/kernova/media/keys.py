"""Matching of rows with the entries of another file, by id or by the name of a media file.

Keys are compared as written first. A key may also be the path of a row's file, its name, or its
name without a suffix; or the row's id may be one of these for a key that is a path.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from kernova.errors import InputError, quoted
from kernova.media.files import FileNames
from kernova.text import listed, quantity
from kernova.typing import Indices

NO_ENTRY: Final = -1


class Matched(NamedTuple):
    """For each row the number of its entry."""

    places: Indices  # -1 where there is none
    column: str  # name of the keys

    @property
    def n_found(self) -> int:
        """Number of rows with an entry."""
        return int(np.count_nonzero(self.places != NO_ENTRY))

    def surplus(self, keys: Sequence[str]) -> list[str]:
        """Return the keys of entries that are of no row."""
        is_used = np.zeros(len(keys), dtype=np.bool_)
        is_used[self.places[self.places != NO_ENTRY]] = True
        return [keys[place] for place in np.flatnonzero(~is_used).tolist()]


def best_match(
    keys: Mapping[str, Sequence[str]], rows: Sequence[Sequence[str | None]], source: str
) -> Matched | None:
    """Return the match of most rows, over columns of keys and over names of rows.

    Parameters
    ----------
    keys : mapping of str to sequence of str
        Columns of the other file that may hold keys.
    rows : sequence of sequence of str or None
        Names of the rows, one sequence for each kind: ids, files.
    source : str
        The other file, for messages.

    Returns
    -------
    Matched or None
        None if no row has an entry.

    Raises
    ------
    InputError
        If a key is repeated, or two rows have the same entry.

    Examples
    --------
    >>> from kernova.media.keys import best_match
    >>> keys = {"file": ["wild/b.jpg", "wild/a.jpg"]}
    >>> best_match(keys, [["a", "b", "c"]], "clip.parquet").places
    array([ 1,  0, -1])
    """
    matches = [(_matched(column, texts, names), texts) for column, texts in keys.items()
               for names in rows]  # fmt: skip
    if not matches:
        return None
    # Of equally good ones the first: ids before files, and columns in the file's order.
    best, texts = max(matches, key=lambda one: one[0].n_found)
    if best.n_found == 0:
        return None
    _check_once(best, texts, source)
    return best


def _matched(column: str, keys: Sequence[str], names: Sequence[str | None]) -> Matched:
    exact = {key: place for place, key in reversed(list(enumerate(keys)))}
    places = [exact.get(name, NO_ENTRY) if name else NO_ENTRY for name in names]
    if NO_ENTRY in places:
        by_name = FileNames(list(exact), "")
        for row, name in enumerate(names):
            if name and places[row] == NO_ENTRY:
                key = by_name.by_name_or_stem(name) or by_name.by_name_or_stem(_last_part(name))
                places[row] = NO_ENTRY if key is None else exact[key]
    return Matched(np.array(places, dtype=np.intp), column)


def _last_part(name: str) -> str:
    """Return a path's last part without its suffix."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return last.rpartition(".")[0] or last


def _check_once(match: Matched, keys: Sequence[str], source: str) -> None:
    """Raise if a key that was used is repeated, or serves two rows."""
    used = match.places[match.places != NO_ENTRY]
    places, counts = np.unique(used, return_counts=True)
    if (counts > 1).any():
        place = int(places[counts.argmax()])
        raise InputError(
            f"{quoted(keys[place])} in column {quoted(match.column)} of {source} stands for "
            f"{quantity(int(counts.max()), 'row')}. Name each row by its id, or by its path."
        )
    wanted = {keys[place] for place in places.tolist()}
    seen: set[str] = set()
    for place, key in enumerate(keys):
        if key in wanted and key in seen:
            raise InputError(
                f"{quoted(key)} is repeated in column {quoted(match.column)} of {source}: row "
                f"{place + 1} has it again. Give each row one entry."
            )
        seen.add(key)


def no_match(
    keys: Mapping[str, Sequence[str]], ids: Sequence[str], what: str, source: str, of: str
) -> InputError:
    """Return the error for a file of which no entry is of any row, with examples of both.

    Parameters
    ----------
    keys, source
        As for :func:`best_match`.
    ids : sequence of str
        Ids of the rows.
    what : str
        What the entries are, such as "embedding".
    of : str
        The file of the rows.
    """
    examples = ", or ".join(
        f"{listed(texts[:3])} in {quoted(name)}" for name, texts in keys.items()
    )
    return InputError(
        f"No row of {of} has an {what} in {source}: the row ids are {listed(ids[:3])}, and the "
        f"keys are {examples}. Name the rows by id or by file."
    )

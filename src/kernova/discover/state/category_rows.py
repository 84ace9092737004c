"""The rows of each category and the discovery curve, kept up to date row by row."""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np


class _Moves(NamedTuple):
    """Rows that leave a category, and rows that come to one."""

    leaving: dict[int, str]
    coming: dict[int, str]


class CategoryRows:
    """The rows of each category and the discovery curve, kept up to date row by row.

    Rows have ranks, in the order in which they were first labelled or skipped.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    """

    def __init__(self, n_rows: int) -> None:
        self.ranks = array("q", bytes(8 * n_rows))
        self._of: dict[str, list[int]] = {}
        self._is_ordered = True  # whether the categories are in the order of their first rows
        self._asked_ranks = array("q")  # of the rows of all questions
        self._curve: list[int] = []
        self._is_current = True  # whether the curve is
        self._moves: _Moves | None = None  # of rows that are moved together

    def __contains__(self, name: str) -> bool:
        return name in self._of

    def __getitem__(self, name: str) -> list[int]:
        return self._of[name]

    def resize(self, n_rows: int) -> None:
        """Let the table have more rows, or fewer again."""
        n_new = n_rows - len(self.ranks)
        self.ranks.frombytes(bytes(8 * max(0, n_new)))
        del self.ranks[n_rows:]

    def by_name(self) -> dict[str, list[int]]:
        """Return the rows of each category; the categories in the order of their first rows."""
        if not self._is_ordered:
            ranks = self.ranks
            self._of = dict(sorted(self._of.items(), key=lambda item: ranks[item[1][0]]))
            self._is_ordered = True
        return self._of

    def curve(self) -> list[int]:
        """Return the number of categories with a row up to that of each question."""
        if not self._is_current:
            firsts = np.sort([self.ranks[rows[0]] for rows in self._of.values()])
            asked = np.frombuffer(self._asked_ranks, dtype=np.int64)
            self._curve = np.searchsorted(firsts, asked, side="right").tolist()
            self._is_current = True
        return self._curve

    def add_question(self, row: int) -> None:
        """Extend the curve by a question, after its rows were labelled."""
        self._asked_ranks.append(self.ranks[row])
        if self._is_current:
            self._curve.append(len(self._of))

    def drop_question(self) -> None:
        """Take back the last question, before its rows lose their labels."""
        self._asked_ranks.pop()
        if self._is_current:
            self._curve.pop()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Add and remove many rows at the end of the block, at once.

        To remove rows one by one from a list takes time that is quadratic in their number. Nothing
        may be read within the block.
        """
        moves = self._moves = _Moves({}, {})
        try:
            yield
        finally:
            self._moves = None
            self._move(moves)

    def _move(self, moves: _Moves) -> None:
        removed: dict[str, set[int]] = {}
        added: dict[str, list[int]] = {}
        for row, name in moves.leaving.items():
            removed.setdefault(name, set()).add(row)
        for row, name in moves.coming.items():
            added.setdefault(name, []).append(row)
        for name in removed.keys() | added.keys():
            gone = removed.get(name, ())
            rows = [row for row in self._of.get(name, ()) if row not in gone]
            # Sorting merges what is in order already.
            rows = sorted((*rows, *added.get(name, ())), key=self.ranks.__getitem__)
            if rows:
                self._of[name] = rows
            else:
                del self._of[name]
        self._is_ordered = self._is_current = False

    def add(self, row: int, name: str) -> None:
        """Add a row to a category."""
        if self._moves is not None:
            self._moves.coming[row] = name
            return
        rows = self._of.setdefault(name, [])
        ranks = self.ranks
        if rows and ranks[rows[-1]] > ranks[row]:
            insort(rows, row, key=ranks.__getitem__)
        else:
            rows.append(row)
        if rows[0] == row:
            self._first_changed(ranks[row])
            self._is_ordered = self._is_ordered and self._is_newest(name, ranks[row])

    def remove(self, row: int, name: str) -> None:
        """Remove a row from a category."""
        if self._moves is not None:
            if self._moves.coming.pop(row, None) is None:
                self._moves.leaving[row] = name
            return
        rows, rank = self._of[name], self.ranks[row]
        position = bisect_left(rows, rank, key=self.ranks.__getitem__)
        del rows[position]
        if position == 0:
            self._first_changed(rank)
            self._is_ordered = self._is_ordered and not rows
        if not rows:
            del self._of[name]

    def rename(self, old: set[str], new: str) -> None:
        """Replace categories by another, which may have rows of its own."""
        of_all = [self._of.pop(name) for name in (*old, new) if name in self._of]
        # Sorting merges lists that are in order already.
        self._of[new] = sorted((row for rows in of_all for row in rows), key=self.ranks.__getitem__)
        self._is_ordered = False
        self._is_current = self._is_current and len(of_all) == 1

    def _first_changed(self, rank: int) -> None:
        if self._asked_ranks and rank <= self._asked_ranks[-1]:
            self._is_current = False

    def _is_newest(self, name: str, rank: int) -> bool:
        """Return whether a category whose first row has this rank belongs to the end."""
        latest = reversed(self._of.items())
        if next(latest)[0] != name:
            return False
        before = next(latest, None)
        return before is None or self.ranks[before[1][0]] < rank

"""Annotations of rows and categories: notes, flags, further labels, headings, keys and overlap.

None of it changes the labels that strategies see, so it is kept apart from the state of the
session.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from kernova.discover.events import (
    Deleted,
    Event,
    Flagged,
    Grouped,
    Imported,
    KeyChosen,
    Merged,
    Noted,
    OptionSet,
    Rejected,
    Renamed,
    RowsNoted,
    Tagged,
)

Key = TypeVar("Key", int, str)

#: Events that change annotations.
ANNOTATING: Final = (
    Noted, Flagged, Tagged, Rejected, Grouped, KeyChosen, OptionSet, Renamed, Merged, Deleted,
    Imported,
)  # fmt: skip


class OverlapPlan(NamedTuple):
    """Rows that several experts are asked about, in thousandths, and the experts for each."""

    permille: int = 0
    experts: int = 2


class Annotations:
    """Notes, flags, further labels and rejected categories of rows; headings, keys and overlap.

    Parameters
    ----------
    events : iterable of Event
        Events in effect, in order; those of other kinds change nothing.

    Attributes
    ----------
    notes : dict of int to str
        Remarks by row.
    flagged : dict of int to None
        The flagged rows, in the order in which they were flagged.
    tags : dict of int to dict of str to None
        Further labels by row, in order.
    rejected : dict of int to dict of str to None
        Categories that a row is known not to be of.
    headings : dict of str to str
        The heading of each category that is under one.
    keys : dict of str to (str or None)
        The key that was chosen for a category; None if it is to have none.
    options : dict of str to str
        Options of the project that were set, by name.

    Examples
    --------
    >>> from kernova.discover.events import Grouped, Renamed, Tagged
    >>> from kernova.discover.review import Annotations
    >>> found = Annotations([Tagged((3,), "blurred"), Grouped(("carp", "pike"), "fish")])
    >>> found.apply(Renamed("carp", "common carp"))
    >>> found.tags, found.headings
    ({3: {'blurred': None}}, {'pike': 'fish', 'common carp': 'fish'})
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.notes: dict[int, str] = {}
        self.flagged: dict[int, None] = {}
        self.tags: dict[int, dict[str, None]] = {}
        self.rejected: dict[int, dict[str, None]] = {}
        self.headings: dict[str, str] = {}
        self.keys: dict[str, str | None] = {}
        self.options: dict[str, str] = {}
        for event in events:
            self.apply(event)

    @property
    def overlap(self) -> OverlapPlan:
        """The fraction of rows that several experts are asked about, and how many experts."""
        numbers = self.options.get("overlap", "0,2").split(",")
        return OverlapPlan(*map(int, numbers))

    def apply(self, event: Event) -> None:
        """Apply the next event in effect."""
        match event:
            case Noted(row, text):
                _put_or_drop(self.notes, row, text)
            case Flagged(rows, is_on):
                self._flag(rows, is_on=is_on)
            case Tagged(rows, label, is_on):
                _mark(self.tags, rows, label, is_on=is_on)
            case Rejected(rows, label):
                _mark(self.rejected, rows, label, is_on=True)
            case RowsNoted(rows, texts):
                self.notes |= dict(zip(rows, texts, strict=True))
            case Imported(_, parts):
                for part in parts:
                    self.apply(part)
            case _:
                self._apply_to_categories(event)

    def _apply_to_categories(self, event: Event) -> None:
        match event:
            case Grouped(names, under):
                for name in names:
                    _put_or_drop(self.headings, name, under)
            case KeyChosen(name, key):
                self._choose_key(name, key)
            case OptionSet(name, value):
                self.options[name] = value
            case Renamed(old, new):
                self._rename({old: new})
            case Merged(into, others):
                self._rename(dict.fromkeys(others, into))
            case Deleted(name):
                self._delete(name)

    def _flag(self, rows: Iterable[int], *, is_on: bool) -> None:
        for row in rows:
            if is_on:
                self.flagged[row] = None
            else:
                self.flagged.pop(row, None)

    def _choose_key(self, name: str, key: str | None) -> None:
        """Assign a key to a category; another that had it has none then."""
        for other, used in list(self.keys.items()):
            if key is not None and used == key:
                del self.keys[other]
        self.keys[name] = key

    def _rename(self, new_names: Mapping[str, str]) -> None:
        for labels in (self.tags, self.rejected):
            for row, names in labels.items():
                if not new_names.keys().isdisjoint(names):
                    labels[row] = {new_names.get(name, name): None for name in names}
        for old, new in new_names.items():
            if old in self.headings:
                self.headings.setdefault(new, self.headings.pop(old))
            if old in self.keys:
                self.keys.setdefault(new, self.keys.pop(old))

    def _delete(self, name: str) -> None:
        self.headings.pop(name, None)
        self.keys.pop(name, None)
        _mark(self.tags, list(self.tags), name, is_on=False)
        _mark(self.rejected, list(self.rejected), name, is_on=False)


def _mark(
    labels: dict[int, dict[str, None]], rows: Iterable[int], name: str, *, is_on: bool
) -> None:
    """Add a name to the labels of rows, or remove it."""
    for row in rows:
        names = labels.setdefault(row, {})
        if is_on:
            names[name] = None
        else:
            names.pop(name, None)
        if not names:
            del labels[row]


def _put_or_drop(values: dict[Key, str], key: Key, value: str | None) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value

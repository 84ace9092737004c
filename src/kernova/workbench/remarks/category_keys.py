"""Keys of categories: given out in order of discovery, then constant.

A key depends on the log alone, so that it is the same after a restart, and no key moves because
another category appears, is emptied or renamed. An expert may choose another key.
"""

import string
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    Deleted,
    Event,
    Merged,
    PriorLabels,
    Record,
    Renamed,
    RowLabelled,
    RowsLabelled,
    Settled,
    Undone,
)

#: The keys in order: the digits, then 0 and another digit, then 0 and a letter.
KEYS: Final = (
    *"123456789",
    *(f"0{second}" for second in string.digits + string.ascii_lowercase),
)


class CategoryKeys:
    """Keys of the categories in a log, which is read as it grows.

    Examples
    --------
    >>> from kernova.discover.events import Record, Renamed, RowLabelled
    >>> from kernova.workbench.remarks import CategoryKeys
    >>> log = [Record(RowLabelled(0, "carp")), Record(RowLabelled(1, "eel"))]
    >>> log += [Record(Renamed("carp", "common carp")), Record(RowLabelled(2, "pike"))]
    >>> keys = CategoryKeys()
    >>> keys.read(len(log), lambda number: log[number - 1])
    >>> keys.of(["common carp", "eel", "pike"], chosen={})
    ['1', '2', '3']
    >>> keys.of(["common carp", "eel", "pike"], chosen={"pike": "1"})
    ['3', '2', '1']
    """

    def __init__(self) -> None:
        self._n_read = 0
        self._of: dict[str, str] = {}
        self._former: dict[str, str] = {}  # of categories that were merged or deleted
        self._uses: dict[str, tuple[int, int]] = {}  # numbers of its first and its last record

    def read(self, n_records: int, record_of: Callable[[int], Record]) -> None:
        """Read the records that were added to the log since the last call."""
        if n_records < self._n_read:  # some were taken back, because they could not be saved
            self._n_read = 0
            for read in (self._of, self._former, self._uses):
                read.clear()
        for number in range(self._n_read + 1, n_records + 1):
            event = record_of(number).event
            if isinstance(event, Undone):
                undone = event.number or event.entry
                if undone is not None:
                    self._undo(record_of(undone).event, undone)
            else:
                self._apply(event, number)
        self._n_read = n_records

    def of(self, names: Iterable[str], chosen: Mapping[str, str | None]) -> list[str | None]:
        """Return each category's key, None where there are more categories than keys.

        Parameters
        ----------
        names : iterable of str
            The categories.
        chosen : mapping of str to (str or None)
            Keys that experts chose; whoever loses one gets that of the category that took it.
        """
        takers = {key: name for name, key in chosen.items() if key is not None}
        return [
            chosen[name] if name in chosen else self._key_besides(name, takers) for name in names
        ]

    def _key_besides(self, name: str, takers: Mapping[str, str]) -> str | None:
        key = self._of.get(name)
        for _ in takers:
            if key is not None and key in takers:
                key = self._of.get(takers[key])
        return None if key in takers else key

    def _apply(self, event: Event, number: int) -> None:
        match event:
            case Renamed(old, new):
                self._move(old, new)
            case Merged(into, others):
                self._use(into, number)
                for name in others:
                    self._release(name)
            case Deleted(name):
                self._release(name)
        for name in _labels(event):
            self._use(name, number)

    def _undo(self, event: Event, number: int) -> None:
        match event:
            case Renamed(old, new):
                self._move(new, old)
            case Merged(_, others):
                for name in others:
                    self._assign(name)
            case Deleted(name):
                self._assign(name)
        for name in _labels(event):
            if self._uses.get(name) == (number, number):  # as if it had never been typed
                del self._uses[name]
                self._of.pop(name, None)

    def _use(self, name: str, number: int) -> None:
        first, _ = self._uses.get(name, (number, number))
        self._uses[name] = first, number
        self._assign(name)

    def _assign(self, name: str) -> None:
        if name in self._of:
            return
        taken = set(self._of.values())
        wanted = (*([self._former[name]] if name in self._former else []), *KEYS)
        key = next((one for one in wanted if one not in taken), None)
        if key is not None:
            self._of[name] = key

    def _release(self, name: str) -> None:
        if name in self._of:
            self._former[name] = self._of.pop(name)

    def _move(self, old: str, new: str) -> None:
        """Let a renamed category keep its key."""
        if old in self._of:
            key = self._of.pop(old)
            self._of[new] = key
        if old in self._uses:
            self._uses[new] = self._uses.pop(old)


def _labels(event: Event) -> Iterable[str]:
    """Return the categories that an event gives to rows."""
    match event:
        case (
            Answered(label=label)
            | RowLabelled(label=label)
            | RowsLabelled(label=label)
            | Settled(label=label)
        ):
            return (label,)
        case Changed(label=str(label)):
            return (label,)
        case PriorLabels(_, labels):
            return dict.fromkeys(labels)
        case Accepted(names=names):
            return names
        case _:
            return ()

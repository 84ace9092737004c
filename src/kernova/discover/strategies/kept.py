"""What a strategy works out for a table once, kept as long as the table's preparation lives.

Undoing an answer replays all others from a fresh start, so a start must cost next to nothing.
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

Value = TypeVar("Value")

_kept: "WeakKeyDictionary[Preparation, dict[Hashable, object]]" = WeakKeyDictionary()


def kept(preparation: "Preparation", key: Hashable, make: Callable[[], Value]) -> Value:
    """Return what ``make`` gave when it was first called for this table and key."""
    of_table = _kept.setdefault(preparation, {})
    if key not in of_table:
        of_table[key] = make()
    return cast(Value, of_table[key])


def kept_values(preparation: "Preparation") -> dict[Hashable, object]:
    """Return everything that strategies have worked out for this table so far, by its key."""
    return dict(_kept.get(preparation, {}))


def bring_back(preparation: "Preparation", values: dict[Hashable, object]) -> None:
    """Keep values that were worked out for the same table before, unless there are some."""
    _kept[preparation] = values | _kept.get(preparation, {})

"""Reasons of the novelty-groups strategy: what sets a row apart from those labelled so far."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kernova.discover.preparation import cached
from kernova.discover.strategies.novelty_groups.margins import Likeliest
from kernova.discover.strategies.spacing import (
    RowFacts,
    distance_sentence,
    rarity_sentence,
    row_reason,
)
from kernova.errors import quoted
from kernova.text import quantity
from kernova.typing import Indices, Mask

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

# With a smaller difference between the two likeliest categories, a row lies between them.
_BETWEEN: Final = 0.2
# Of fewer labelled rows, most others are beyond in some column.
_FEWEST_TO_COMPARE: Final = 3
# Beyond by less than this, in deviations of the column, is not worth a word.
_SMALLEST_EXCESS: Final = 0.25
# Where more rows are as isolated, the distance says more.
_RARE: Final = 0.02


class Beyond(NamedTuple):
    """A column in which a row is beyond all labelled rows of a category."""

    name: str
    is_high: bool
    excess: float  # in standard deviations of the column


def novel_reason(
    facts: RowFacts, likeliest: Likeliest | None, beyond: Beyond | None, n_same: int
) -> str:
    """Return why a novel row is asked.

    Parameters
    ----------
    facts : RowFacts
        The row, and the nearest one shown.
    likeliest : Likeliest or None
        The two likeliest categories, if two are known.
    beyond : Beyond or None
        A column in which the row is beyond the nearest category.
    n_same : int
        Number of rows labelled with the nearest category.

    Examples
    --------
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty_groups.reasons import Beyond, novel_reason
    >>> from kernova.discover.strategies.spacing import RowFacts
    >>> facts = RowFacts(1, False, 0.9, 0.1, 500, Answer(3, "spiral"), 6.0, 1.2, 2.0)
    >>> novel_reason(facts, None, Beyond("redness", True, 2.0), 12).partition(". ")[0]
    "Nearest to 'spiral', but its 'redness' is higher than that of any of the 12 rows labelled so"
    """
    if likeliest is not None and likeliest.margin < _BETWEEN:
        lead = (
            f"Between {quoted(likeliest.first)} and {quoted(likeliest.second)}: by the labels so "
            "far, neither is much more likely."
        )
    elif beyond is not None and facts.nearest.label is not None:
        side = "higher" if beyond.is_high else "lower"
        lead = (
            f"Nearest to {quoted(facts.nearest.label)}, but its {quoted(beyond.name)} is {side} "
            f"than that of any of the {n_same:,} rows labelled so."
        )
    else:
        return row_reason("sparse", facts)
    is_rare = facts.wider <= _RARE and facts.n_rows > 1 / _RARE
    alone = facts._replace(n_group=1)
    return f"{lead} {rarity_sentence(facts) if is_rare else distance_sentence(alone)}"


def group_reason(facts: RowFacts, n_group: int, n_shown: int, n_unmet: int) -> str:
    """Return why a row of a group is asked.

    Parameters
    ----------
    facts : RowFacts
        The row, and the nearest one shown.
    n_group : int
        Number of rows of the group.
    n_shown : int
        Number of rows labelled or skipped so far.
    n_unmet : int
        Number of rows of the group that were not.

    Examples
    --------
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty_groups.reasons import group_reason
    >>> from kernova.discover.strategies.spacing import RowFacts
    >>> facts = RowFacts(14, False, 0.1, 0.9, 500, Answer(3, "common"), 6.0, 1.2, 2.0)
    >>> lead, _, rest = group_reason(facts, 14, 212, 14).partition("; ")
    >>> lead, rest.partition(".")[0]
    ('One of 14 rows that lie close together and apart from others',
     'none of the 212 rows shown is among them')
    """
    if n_unmet < n_group:
        lead = (
            f"One of {quantity(n_group, 'row')} that lie close together: the label of another of "
            "them differs from that of the nearest row, so another one is asked."
        )
    else:
        lead = (
            f"One of {quantity(n_group, 'row')} that lie close together and apart from others; "
            f"{_none_of(n_shown)} among them."
        )
    return f"{lead} {distance_sentence(facts)}"


def _none_of(n_shown: int) -> str:
    return "the row shown is not" if n_shown == 1 else f"none of the {n_shown:,} rows shown is"


def column_beyond(preparation: "Preparation", row: int, same: Sequence[int]) -> Beyond | None:
    """Return the column in which a row exceeds labelled rows most, if it does in any.

    Parameters
    ----------
    preparation : Preparation
        The table; without names of columns there is nothing to say.
    row : int
        Row index.
    same : sequence of int
        Labelled rows of one category.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.preparation import Preparation
    >>> from kernova.discover.strategies.novelty_groups.reasons import column_beyond
    >>> X = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 5.0], [9.0, 6.0]])
    >>> column_beyond(Preparation(X, columns=["length", "width"]), 3, [0, 1, 2]).name
    'length'
    """
    if not preparation.columns or len(same) < _FEWEST_TO_COMPARE:
        return None
    spread = cached(preparation, ("spread of columns",), lambda: _spread(preparation))
    known, value = preparation.X[np.asarray(same, dtype=np.intp)], preparation.X[row]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        above, below = (value - known.max(axis=0)) / spread, (known.min(axis=0) - value) / spread
    excess = np.nan_to_num(np.maximum(above, below), nan=0.0, posinf=0.0)
    column = int(np.argmax(excess))
    if excess[column] < _SMALLEST_EXCESS:
        return None
    is_high = bool(above[column] > below[column])
    return Beyond(preparation.columns[column], is_high, float(excess[column]))


def _spread(preparation: "Preparation") -> "Indices":
    """Return the deviation of each column; infinite where it has two values only, or one."""
    X = preparation.X
    low, high = X.min(axis=0), X.max(axis=0)
    has_more: Mask = ((low < X) & (high > X)).any(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # nothing is said of columns beyond 1e154
        return np.where(has_more, X.std(axis=0), np.inf)

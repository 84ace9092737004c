"""How far apart the rows of a table lie, and how far they are from some of them.

Why a stranger or a crowd is worth a question, in words that need no unit of distance.
"""

from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kernova.discover.questions import Answer
from kernova.neighbors.duplicates import DistinctRows, distinct_rows
from kernova.neighbors.index import build_index
from kernova.parallel import slices
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector

Look = Literal["strangers", "crowds"]

# Each of these can be moved by half without moving the figures beyond chance.
_POWERS: Final[dict[Look, float]] = {"strangers": 1 / 2, "crowds": -2 / 3}
# The first question is about the row with the nearest tenth neighbour.
_BULK_NEIGHBOR: Final = 10
_BLOCK: Final = 4096
_TOGETHER: Final = 64


class Spacing(NamedTuple):
    """How far apart rows lie, row by row.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_axes)
        The standardised rows.
    spacing : ndarray of shape (n_rows,)
        Geometric mean of the distances to the two nearest rows that differ.
    closer, wider : ndarrays of shape (n_rows,)
        Share of rows with a smaller spacing, and with a larger one.
    densest : int
        The row whose tenth nearest is nearest.
    weights : dict
        What a row's novelty is multiplied with, for each look.
    distinct : DistinctRows
        The standardised rows without copies.
    """

    rows: Matrix
    spacing: Vector
    closer: Vector
    wider: Vector
    densest: int
    weights: dict[Look, Vector]
    distinct: DistinctRows


def spacing_of(Z: Matrix, n_jobs: int | None = None) -> Spacing:
    """Measure how far apart rows lie; copies of a row are no neighbours of it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.spacing import spacing_of
    >>> spacing_of(np.array([[0.0], [1.0], [1.0], [5.0]])).spacing.round(3)
    array([2.236, 2.   , 2.   , 4.472])
    """
    spacing, to_tenth = _neighbor_distances(Z, n_jobs)
    ascending = np.sort(spacing)
    closer = np.searchsorted(ascending, spacing) / len(Z)
    wider = 1 - np.searchsorted(ascending, spacing, side="right") / len(Z)
    weights = {look: spacing**power for look, power in _POWERS.items()}
    return Spacing(Z, spacing, closer, wider, int(np.argmin(to_tenth)), weights, distinct_rows(Z))


def _neighbor_distances(Z: Matrix, n_jobs: int | None) -> tuple[Vector, Vector]:
    """Give each row's spacing, and its distance to the tenth row that differs."""
    if np.ptp(Z, axis=0).max(initial=0.0) == 0:
        return np.ones(len(Z)), np.zeros(len(Z))
    index = build_index(Z, n_jobs=n_jobs, k=_BULK_NEIGHBOR)
    n_distinct = len(index.rows)
    tenth = min(_BULK_NEIGHBOR, max(1, n_distinct // 4))  # of few rows, the tenth is not near
    second = min(2, n_distinct - 1)
    spacing, to_tenth = np.empty(n_distinct), np.empty(n_distinct)
    for block in track(slices(n_distinct, _BLOCK), "spacing"):
        distances = index.nearest(index.rows[block], max(tenth, second) + 1).distances
        spacing[block] = np.sqrt(distances[:, 1]) * np.sqrt(distances[:, second])
        to_tenth[block] = distances[:, tenth]
    spacing = np.ldexp(spacing, index.exponent)
    return np.maximum(spacing, np.finfo(float).tiny)[index.inverse], to_tenth[index.inverse]


def nearest_of(Z: Matrix, rows: Indices) -> Vector:
    """Give the distance of every row to the nearest of some.

    Each distance is worked out as for a single row, so that it does not matter whether rows are
    named together or one by one.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_of(np.array([[0.0], [1.0], [5.0]]), np.array([0, 2]))
    array([0., 1., 0.])
    """
    nearest = np.full(len(Z), np.inf)
    for some in slices(len(rows), _TOGETHER):
        for block in slices(len(Z), _BLOCK):
            np.minimum(
                nearest[block], cdist(Z[block], Z[rows[some]]).min(axis=1), out=nearest[block]
            )
    return nearest


# A group reaches 1.5 of its spacings: what is two away belongs to something else.
_UNLIKE: Final = 2.0
_MOST_TIMES: Final = 1000


class RowFacts(NamedTuple):
    """What is known of a row that is to be asked.

    Attributes
    ----------
    n_group : int
        How many rows without a name it stands for, itself among them.
    is_more : bool
        Whether the group may be larger than what was counted.
    closer, wider : float
        Share of rows that lie closer together than those around this one, and farther apart.
    n_rows : int
        How many rows there are.
    nearest : Answer
        What was said of the nearest row that was seen.
    distance : float
        How far that one is.
    spacing, usual_spacing : float
        How far apart rows lie here, and in the middle of the table.
    """

    n_group: int
    is_more: bool
    closer: float
    wider: float
    n_rows: int
    nearest: Answer
    distance: float
    spacing: float
    usual_spacing: float


def reason_of_row(look: Look, facts: RowFacts) -> str:
    """Say what the row is like, how far it is from what was named, and how rare that is.

    Examples
    --------
    >>> from kernova.discover.questions import Answer
    >>> seen = Answer(3, "usual")
    >>> facts = RowFacts(14, False, 0.1, 0.9, 500, seen, 6.0, 1.2, 2.0)
    >>> reason_of_row("crowds", facts).partition(":")[0]
    'A tight group of 14 rows, unlike anything named so far'
    """
    is_group = look == "crowds" and facts.n_group > 1
    times = facts.distance / (facts.spacing if is_group else facts.usual_spacing)
    novel = "unlike anything" if times >= _UNLIKE else "not far from what was"
    named = "skipped" if facts.nearest.label is None else f"named {facts.nearest.label!r}"
    unit = "they are from each other" if is_group else "neighbours usually are"
    sentence = (
        f"{_beginning(look, facts)}, {novel} named so far: the nearest, {named}, is "
        f"{_far(times)} {unit}."
    )
    return sentence if look == "crowds" else f"{sentence} {_rarity(facts)}"


def _beginning(look: Look, facts: RowFacts) -> str:
    rows = f"{'at least ' if facts.is_more else ''}{facts.n_group:,} rows"
    if look == "strangers":
        several = f"{rows[0].upper()}{rows[1:]} that stand apart"
        return "A row that stands apart" if facts.n_group == 1 else several
    if facts.n_group == 1:
        return "A row"
    return f"A {'tight ' if facts.wider >= 0.5 else ''}group of {rows}"


def _far(times: float) -> str:
    if times > _MOST_TIMES:
        return f"over {_MOST_TIMES:,} times as far away as"
    if times < 1.05:
        return "no farther away than"
    return (
        f"{times:.2g} times as far away as" if times < 10 else f"{times:,.0f} times as far away as"
    )


def _rarity(facts: RowFacts) -> str:
    n_wider = round(facts.wider * facts.n_rows)
    if n_wider == 0:
        return "No row stands more apart."
    if facts.wider < 0.01:
        verb = "stands" if n_wider == 1 else "stand"
        return f"Only {n_wider:,} of {facts.n_rows:,} rows {verb} more apart."
    return f"{100 * facts.closer:.0f} % of all rows stand less apart."

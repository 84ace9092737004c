"""Row spacing: distances between rows, and reasons for a question in terms of them."""

from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kernova.discover.preparation import saved_in_cache
from kernova.discover.questions import Answer
from kernova.neighbors.graph import NeighborGraph, neighbor_graph
from kernova.neighbors.index import DistinctRows
from kernova.parallel import slices
from kernova.text import percent, quantity
from kernova.typing import Indices, Matrix, Vector

Region = Literal["sparse", "dense"]

# Changing these by half changes the results by no more than chance.
_POWERS: Final[dict[Region, float]] = {"sparse": 1 / 2, "dense": -2 / 3}
# The first question is about the row with the nearest tenth neighbour.
BULK_NEIGHBOR: Final = 10
_BLOCK: Final = 4096
_ROWS_AT_ONCE: Final = 64
# A group extends 1.5 of its spacings, so a row two spacings away belongs to another.
_FAR: Final = 2.0
MEMBER_REACH: Final = 1.5
MOST_MEMBERS: Final = 10
_MAX_RATIO: Final = 1000
_USUAL: Final = "neighbours typically are"
# Distances by another order of summation may differ by less than this factor.
ROUNDING: Final = 1 + 1e-9

saved_in_cache(DistinctRows)


@saved_in_cache
class Spacing(NamedTuple):
    """Distances between neighbouring rows of a table."""

    rows: Matrix  # the standardised rows; shape (n_rows, n_axes)
    # Geometric mean of the distances to the two nearest distinct rows; shape (n_rows,).
    spacing: Vector
    # Fraction of rows with a smaller spacing, and with a larger one; shape (n_rows,).
    closer: Vector
    wider: Vector
    densest: int  # the row with the smallest distance to its tenth neighbour
    weights: dict[Region, Vector]  # factor of a row's novelty, for each kind of region
    distinct: DistinctRows  # the standardised rows without duplicates


def spacing_of(Z: Matrix, n_jobs: int | None = None) -> Spacing:
    """Compute the spacing of rows; duplicates of a row are not its neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.spacing import spacing_of
    >>> spacing_of(np.array([[0.0], [1.0], [1.0], [5.0]])).spacing.round(3)
    array([2.236, 2.   , 2.   , 4.472])
    """
    return spacing_from(Z, neighbor_graph(Z, BULK_NEIGHBOR, n_jobs))


def spacing_from(Z: Matrix, graph: NeighborGraph) -> Spacing:
    """Return the spacing of rows whose ten nearest neighbours are known."""
    spacing, to_tenth = _neighbor_distances(graph)
    ascending = np.sort(spacing)
    places = np.searchsorted(ascending, ascending)  # in ascending order, searches are fast
    order = np.argsort(spacing, kind="stable")
    closer, wider = np.empty(len(Z)), np.empty(len(Z))
    closer[order] = places / len(Z)
    wider[order] = 1 - np.searchsorted(ascending, ascending, side="right") / len(Z)
    weights = {region: spacing**power for region, power in _POWERS.items()}
    distinct = DistinctRows(Z[graph.firsts] + 0.0, graph.counts, graph.inverse)
    return Spacing(Z, spacing, closer, wider, int(np.argmin(to_tenth)), weights, distinct)


def _neighbor_distances(graph: NeighborGraph) -> tuple[Vector, Vector]:
    """Return the spacing of each row, and its distance to the tenth distinct row."""
    n_distinct, k = graph.distances.shape
    if k == 0:
        return np.ones(len(graph.inverse)), np.zeros(len(graph.inverse))
    tenth = min(BULK_NEIGHBOR, max(1, n_distinct // 4))  # in a small table the tenth is far away
    first, second = graph.distances[:, 0], graph.distances[:, min(2, k) - 1]
    spacing = np.maximum(np.sqrt(first) * np.sqrt(second), np.finfo(float).tiny)
    return spacing[graph.inverse], graph.distances[:, min(tenth, k) - 1][graph.inverse]


def nearest_point(Z: Matrix, points: Matrix) -> Vector:
    """Return the distance of every row to the nearest of some points.

    Each distance is computed as for a single row, so that labelling rows together or one by one
    makes no difference.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_point(np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [5.0]]))
    array([0., 1., 0.])
    """
    if len(points) == 1:
        return cdist(points, Z)[0]  # several times as fast as with the arguments exchanged
    nearest = np.full(len(Z), np.inf)
    for some in slices(len(points), _ROWS_AT_ONCE):
        for block in slices(len(Z), _BLOCK):
            np.minimum(
                nearest[block], cdist(points[some], Z[block]).min(axis=0), out=nearest[block]
            )
    return nearest


def distances_to(points: Matrix, row: Vector) -> Vector:
    """Return the distance of every point to one row, by differences: exactly 0 for equal ones."""
    difference = points - row
    return np.sqrt(np.einsum("ij,ij->i", difference, difference))


def similar_neighbors(spacing: Spacing, row: int, nearly: Vector) -> Indices:
    """Return the rows next to one with a similar spacing, itself included, in ascending order.

    The neighbours of an isolated row usually belong to another group and lie much closer together:
    labelling them with it would label the wrong rows.

    Parameters
    ----------
    spacing : Spacing
        The rows.
    row : int
        Row index.
    nearly : array of shape (n_rows,)
        Distances to it, up to rounding.
    """
    reach = MEMBER_REACH * spacing.spacing[row]
    near = np.flatnonzero(nearly <= reach * ROUNDING)
    distances = distances_to(spacing.rows[near], spacing.rows[row])
    n_members = min(MOST_MEMBERS, len(nearly))
    if len(near) >= n_members:
        reach = min(reach, np.partition(distances, n_members - 1)[n_members - 1])
    is_similar = spacing.spacing[near] * MEMBER_REACH >= spacing.spacing[row]
    return near[(distances <= reach) & (is_similar | (distances == 0))]


class RowFacts(NamedTuple):
    """Facts about a row to be asked."""

    n_group: int  # number of unlabelled rows in its group, itself included
    is_more: bool  # whether the group may be larger than that
    closer: float  # fraction of rows with a smaller spacing than this row, and with a larger one
    wider: float
    n_rows: int  # number of rows of the table
    nearest: Answer  # the answer for the nearest row shown so far
    distance: float  # the distance to that row
    spacing: float  # the spacing of this row, and the median over the table
    median_spacing: float


def row_reason(region: Region, facts: RowFacts) -> str:
    """Return why a row is asked: its group, its distance to labelled rows, and how rare that is.

    Examples
    --------
    >>> from kernova.discover.questions import Answer
    >>> nearest = Answer(3, "common")
    >>> facts = RowFacts(14, False, 0.1, 0.9, 500, nearest, 6.0, 1.2, 2.0)
    >>> row_reason("dense", facts).partition(":")[0]
    'A dense group of 14 rows, far from every row labelled so far'
    """
    is_group = region == "dense" and facts.n_group > 1
    ratio = _ratio(facts, is_group=is_group)
    unit = "its rows are from each other" if is_group else _USUAL
    novelty = "far from every" if ratio >= _FAR else "not far from a"
    sentence = (
        f"{_subject(region, facts)}, {novelty} row labelled so far: the nearest, "
        f"{_label(facts)}, is {_times(ratio)} {unit}."
    )
    return sentence if region == "dense" else f"{sentence} {rarity_sentence(facts)}"


def distance_sentence(facts: RowFacts) -> str:
    """Return how far away the nearest row shown is.

    Examples
    --------
    >>> from kernova.discover.questions import Answer
    >>> distance_sentence(RowFacts(1, False, 0.9, 0.1, 500, Answer(3, "cod"), 6.0, 1.2, 2.0))
    "The nearest row shown, labelled 'cod', is 3 times as far away as neighbours typically are."
    """
    is_group = facts.n_group > 1
    unit = "they are from each other" if is_group else _USUAL
    ratio = _times(_ratio(facts, is_group=is_group))
    return f"The nearest row shown, {_label(facts)}, is {ratio} {unit}."


def _ratio(facts: RowFacts, *, is_group: bool) -> float:
    """Return the distance to the nearest row shown in terms of that between neighbours."""
    return facts.distance / (facts.spacing if is_group else facts.median_spacing)


def _label(facts: RowFacts) -> str:
    return "skipped" if facts.nearest.label is None else f"labelled {facts.nearest.label!r}"


def _subject(region: Region, facts: RowFacts) -> str:
    rows = f"{'at least ' if facts.is_more else ''}{quantity(facts.n_group, 'row')}"
    if region == "sparse":
        return "An isolated row" if facts.n_group == 1 else f"An isolated group of {rows}"
    if facts.n_group == 1:
        return "A row"
    return f"A {'dense ' if facts.wider >= 0.5 else ''}group of {rows}"


def _times(ratio: float) -> str:
    if ratio > _MAX_RATIO:
        return f"over {_MAX_RATIO:,} times as far away as"
    if ratio < 1.05:
        return "no farther away than"
    return (
        f"{ratio:.2g} times as far away as" if ratio < 10 else f"{ratio:,.0f} times as far away as"
    )


def rarity_sentence(facts: RowFacts) -> str:
    """Return how many rows are more isolated."""
    n_wider = round(facts.wider * facts.n_rows)
    if n_wider == 0:
        return "No row is more isolated."
    if facts.wider < 0.01:
        verb = "is" if n_wider == 1 else "are"
        return f"Only {n_wider:,} of {quantity(facts.n_rows, 'row')} {verb} more isolated."
    return f"{percent(facts.closer)} of all rows are less isolated."

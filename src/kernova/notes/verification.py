"""Tell finds that are kin of a known class from strangers that look a little like it.

One find alone says little. But a stranger that is taken for a known class is often met again and
again in a recording, and its instances are more like each other than like the class. So finds are
gathered into groups that are as close to each other as a class's own rows are, and each group is
compared as a whole with the rows of its class that are nearest to it, most of them, so that a
class may have two kinds:

    strangeness = |group's mean - their mean|^2 / spread / (1/n_group + 1/n_nearest + drift)

It is about 1 where the group comes from the class: the means of n and m rows differ by 1/n + 1/m of
the spread, and recordings differ by a little more, the drift. The threshold is laid where a class's
groups leave the widest gap. Where no group is kin beyond doubt, the class is not in the recording,
and nobody is given the benefit of the doubt.
"""

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from kernova.kernels.distances import squared_distances
from kernova.typing import Indices, Matrix, Vector

# A group's rows lie within this share of the typical distance of two rows of the class.
_TOGETHER = 0.9
# How far a class's mean wanders from recording to recording, as a share of its spread.
_DRIFT = 0.4
# The share of a class's rows that a group is compared with.
_NEAREST_SHARE = 0.7
# A class's spread leans on the other classes', as so many rows of its own would.
_ROWS_OF_OTHERS = 3.0
# Other classes are usually so many times as far from a class as its own rows are; where they are
# farther, few rows have not yet shown how wide the class is. That counts as so many rows.
_CUSTOMARY, _ROWS_OF_CUSTOM = 8.0, 2.0
# The share of the other classes' rows that a class's threshold may take in: a class so diffuse that
# it holds the others too must be stricter with everybody.
_OTHERS_TAKEN_IN = 0.1
# The threshold is looked for between these; 1 is expected of kin.
KIN, STRANGE = 1.3, 3.2
# Linking n rows takes n^2 distances; more finds than this are gathered in several lots.
_ROWS_AT_ONCE = 2000


class KnownClass(NamedTuple):
    """The rows of a class, and how far they are apart, squared.

    Attributes
    ----------
    rows : array of shape (n_rows, n_columns)
    n_nearest : int
        How many of them a group is compared with.
    spread : float
        How far a row is expected from the mean of its nearest, were these many.
    variance : float
        How far a row is expected from the mean of all; two rows are twice as far apart.
    strangers : float
        The strangeness that most rows of the other classes exceed, infinite without any.
    """

    rows: Matrix
    n_nearest: int
    spread: float
    variance: float
    strangers: float = np.inf


def known_classes(rows: Matrix, codes: Indices) -> list[KnownClass]:
    """Learn the spread of each class, leaning on the others where there are few rows.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    codes : array of shape (n_rows,)
        Their classes, counted from 0.
    """
    members = [rows[codes == code] for code in range(int(codes.max()) + 1)]
    n_nearest = [max(min(2, len(own)), round(_NEAREST_SHARE * len(own))) for own in members]
    to_nearest = [_squares_to_nearest(own, k) for own, k in zip(members, n_nearest, strict=True)]
    sums = np.array([squares.sum() for squares in to_nearest])
    about_mean = np.array([((own - own.mean(axis=0)) ** 2).sum() for own in members])
    counts = np.array([len(own) for own in members])
    alone = _half_of_nearest_squared(rows)
    spreads = _leaning(sums, np.where(counts > 1, counts, 0), alone)
    variances = _leaning(about_mean, counts - 1, alone)
    known = [
        KnownClass(*values) for values in zip(members, n_nearest, spreads, variances, strict=True)
    ]
    return [_beside_others(one, rows[codes != code]) for code, one in enumerate(known)]


def _beside_others(known: KnownClass, others: Matrix) -> KnownClass:
    """Learn from the other classes how wide a class may be, and where strangers begin."""
    if len(others) == 0:
        return known
    ones = np.ones(len(others))
    apart = float(np.median(_strangeness(others, ones, known))) * known.spread
    n = len(known.rows) + _ROWS_OF_OTHERS
    spread = (n * known.spread + _ROWS_OF_CUSTOM * apart / _CUSTOMARY) / (n + _ROWS_OF_CUSTOM)
    known = known._replace(spread=spread)
    strange = _strangeness(others, ones, known)
    return known._replace(strangers=float(np.quantile(strange, _OTHERS_TAKEN_IN)))


def _strangeness(means: Matrix, sizes: Vector, known: KnownClass) -> Vector:
    """Compare the means of groups with the rows of a class that are nearest to each."""
    squared = squared_distances(means, known.rows)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, : known.n_nearest]
    apart = ((means - known.rows[nearest].mean(axis=1)) ** 2).sum(axis=1) / known.spread
    return np.asarray(apart / (1 / sizes + 1 / known.n_nearest + _DRIFT))


def _leaning(sums: Vector, counts: Indices, alone: float) -> list[float]:
    """Give the mean of each class, drawn towards that of all classes where it has few rows."""
    pooled = sums.sum() / counts.sum() if counts.sum() else alone
    means = (sums + _ROWS_OF_OTHERS * pooled) / (counts + _ROWS_OF_OTHERS)
    return list(np.maximum(means, 1e-12).tolist())


def _squares_to_nearest(rows: Matrix, n_nearest: int) -> Vector:
    """Give how far each row is from the mean of the nearest others, as if there were many."""
    n_others = min(n_nearest, len(rows) - 1)
    if n_others < 1:
        return np.empty(0)
    squared = squared_distances(rows, rows)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :n_others]
    apart = ((rows - rows[nearest].mean(axis=1)) ** 2).sum(axis=1)
    return np.asarray(apart / (1 + 1 / n_others))


def _half_of_nearest_squared(rows: Matrix) -> float:
    """Give a spread where every class has one row: the next class is all there is to go by."""
    if len(rows) < 2:
        return float((rows**2).sum() / 2) or 1.0
    squared = squared_distances(rows, rows)
    np.fill_diagonal(squared, np.inf)
    return float(squared.min()) / 2


def strangeness(rows: Matrix, codes: Indices, known: list[KnownClass]) -> Vector:
    """Tell how far the group of each find is from the class it was taken for: 1 is no distance.

    Parameters
    ----------
    rows : array of shape (n_finds, n_columns)
    codes : array of shape (n_finds,)
        The class that each is taken for.
    known : list of KnownClass
    """
    strange = np.empty(len(rows))
    for code in np.unique(codes).tolist():
        inside, one = np.flatnonzero(codes == code), known[code]
        groups = _groups(rows[inside], _TOGETHER * np.sqrt(2 * one.variance))
        sizes = np.bincount(groups).astype(np.float64)
        means = np.zeros((len(sizes), rows.shape[1]))
        np.add.at(means, groups, rows[inside])
        means /= sizes[:, None]
        strange[inside] = _strangeness(means, sizes, one)[groups]
    return strange


def _groups(rows: Matrix, distance: float) -> Indices:
    """Give each row the number of its group: rows whose mean distance is at most so much."""
    groups = np.zeros(len(rows), dtype=np.intp)
    n_groups = 0
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        lot = rows[start : start + _ROWS_AT_ONCE]
        if len(lot) == 1:
            mine = np.zeros(1, dtype=np.intp)
        else:
            mine = fcluster(linkage(lot, "average"), distance, "distance").astype(np.intp) - 1
        groups[start : start + len(lot)] = n_groups + mine
        n_groups += int(mine.max()) + 1
    return groups


def kin_threshold(strange: Vector, low: float = KIN, high: float = STRANGE) -> float:
    """Give the strangeness from which on finds of a class are strangers.

    Parameters
    ----------
    strange : array of shape (n_finds,)
        Of all finds that were taken for one class in a recording.
    low, high : float
        Below are kin, above strangers, whatever the others are.

    Returns
    -------
    float
        The middle of the widest gap, by ratio, that the values leave between the bounds; ``low`` if
        none lies below it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.notes.verification import kin_threshold
    >>> round(kin_threshold(np.array([0.8, 1.5, 2.9])), 3)
    2.086
    >>> kin_threshold(np.array([1.5, 2.9]))
    1.3
    """
    if not (strange <= low).any():
        return low
    inside = np.log(strange[(strange > low) & (strange < high)])
    marks = np.concatenate([[np.log(low)], np.sort(inside), [np.log(high)]])
    widest = int(np.diff(marks).argmax())
    return float(np.exp((marks[widest] + marks[widest + 1]) / 2))

"""Tell finds that are kin of a known class from strangers that look a little like it.

One find alone says little. But a stranger that is taken for a known class is often met again and
again in a recording, and its instances are more like each other than like the class. So finds are
gathered into groups that are as close to each other as a class's own rows are, and each group is
compared with its class as a whole:

    strangeness = |group's mean - class's mean|^2 / spread / (1/n_group + 1/n_class + drift)

It is about 1 where the group comes from the class: the means of n and m rows differ by 1/n + 1/m of
the spread, and recordings differ by a little more, the drift. The threshold is laid where a class's
groups leave the widest gap.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

# A group's rows lie within this share of the typical distance of two rows of the class.
_TOGETHER = 0.9
# How far a class's mean wanders from recording to recording, as a share of its spread.
_DRIFT = 0.4
# The threshold is looked for between these; 1 is expected of kin.
KIN, STRANGE = 1.5, 3.2
# Linking n rows takes n^2 distances; more finds than this are gathered in several lots.
_ROWS_AT_ONCE = 2000


class KnownClasses(NamedTuple):
    """What is known of each class."""

    centres: Matrix
    spreads: Vector
    counts: Indices


def strangeness(rows: Matrix, codes: Indices, known: KnownClasses) -> Vector:
    """Tell how far the group of each find is from the class it was taken for: 1 is no distance.

    Parameters
    ----------
    rows : array of shape (n_finds, n_columns)
    codes : array of shape (n_finds,)
        The class that each is taken for.
    known : KnownClasses
    """
    strange = np.empty(len(rows))
    for code in np.unique(codes).tolist():
        inside = np.flatnonzero(codes == code)
        spread, centre = known.spreads[code], known.centres[code]
        groups = _groups(rows[inside], _TOGETHER * np.sqrt(2 * spread))
        sizes = np.bincount(groups)
        means = np.zeros((len(sizes), rows.shape[1]))
        np.add.at(means, groups, rows[inside])
        means /= sizes[:, None]
        apart = ((means - centre) ** 2).sum(axis=1) / spread
        strange[inside] = (apart / (1 / sizes + 1 / known.counts[code] + _DRIFT))[groups]
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


def widest_gap(strange: Vector, low: float = KIN, high: float = STRANGE) -> float:
    """Give the middle of the widest gap, by ratio, that the values leave between two bounds."""
    inside = np.log(strange[(strange > low) & (strange < high)])
    marks = np.concatenate([[np.log(low)], np.sort(inside), [np.log(high)]])
    widest = int(np.diff(marks).argmax())
    return float(np.exp((marks[widest] + marks[widest + 1]) / 2))


def kin_thresholds(strange: Vector, codes: Indices, n_classes: int) -> Vector:
    """Give, for each class, the strangeness from which on its finds are strangers."""
    return np.array([widest_gap(strange[codes == code]) for code in range(n_classes)])

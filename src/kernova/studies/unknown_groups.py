"""Which unknown rows lie together: perhaps a class that nobody has named yet."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.discover.gaussian_mean_shift import GaussianMeanShift

Matrix = NDArray[np.float64]

# Fewer rows than this are no group.
SMALLEST_GROUP = 3
# Of more unknown rows, so many make the density; the others climb it.
_MOST_ROWS = 2000
_IDS_NAMED = 5
# Rows so many times as far from their nearest as is usual stand alone.
_LONELY = 3.0


def unknown_groups(rows: Matrix, is_unknown: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Give each unknown row the number of its group: 1 is the largest, 0 is none.

    Groups are the hills of a Gaussian density over the unknown rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [9.0]])
    >>> unknown_groups(rows, np.arange(8) > 0)
    array([0, 1, 1, 1, 2, 2, 2, 0])
    """
    groups = np.zeros(len(rows), dtype=np.intp)
    unknown = rows[is_unknown]
    if len(unknown) < SMALLEST_GROUP:
        return groups
    shown = unknown
    if len(unknown) > _MOST_ROWS:
        chosen = np.random.default_rng(0).choice(len(unknown), _MOST_ROWS, replace=False)
        shown = unknown[np.sort(chosen)]
    hills = GaussianMeanShift(_width(shown)).fit(shown)
    labels = hills.labels_ if shown is unknown else hills.predict(unknown)
    groups[is_unknown] = _numbered(labels)
    return groups


def _width(rows: Matrix) -> float:
    """Choose the density's width: the likeliest, but wide enough for groups to be seen.

    The likeliest width of a few lonely rows would melt all others together, so these have no say
    in it. In many columns it sees each row alone; since two rows melt from half of their distance
    on, half of the usual distance to the second nearest lets a row and its two nearest be one.
    """
    distances = cKDTree(rows).query(rows, SMALLEST_GROUP)[0]
    nearest, farthest_of_group = distances[:, 1], distances[:, -1]
    usual = float(np.median(nearest))
    is_lonely = nearest > _LONELY * usual
    chosen = rows if usual == 0 or (~is_lonely).sum() < SMALLEST_GROUP else rows[~is_lonely]
    likeliest = float(GaussianMeanShift("likelihood-cv").fit(chosen).bandwidth_)
    return max(likeliest, float(np.median(farthest_of_group)) / 2)


def groups_of(
    rows: pd.DataFrame, classes: list[Any], labels: "pd.Series[Any] | None"
) -> pd.DataFrame:
    """Describe the groups in a table of recognised rows: size, nearest class, labels, some ids."""
    ids = rows.columns[0]
    membership = rows[[f"membership_{name}" for name in classes]].to_numpy()
    lines = []
    for number in range(1, int(rows["group"].max()) + 1 if len(rows) else 1):
        inside = (rows["group"] == number).to_numpy()
        closest = str(classes[int(membership[inside].mean(axis=0).argmax())])
        line = {"group": number, "rows": int(inside.sum()), "closest_class": closest}
        if labels is not None:
            line["labels"] = _counted(labels[inside])
        named = ", ".join(rows.loc[inside, ids].head(_IDS_NAMED))
        line["ids"] = named + (", …" if inside.sum() > _IDS_NAMED else "")
        lines.append(line)
    columns = ["group", "rows", "closest_class", *(["labels"] if labels is not None else []), "ids"]
    return pd.DataFrame(lines, columns=columns)


def _numbered(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    counts = np.bincount(labels)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= SMALLEST_GROUP]
    numbers = np.zeros(len(counts), dtype=np.intp)
    numbers[order] = np.arange(1, len(order) + 1)
    return np.asarray(numbers[labels])


def _counted(labels: "pd.Series[Any]", most: int = 3) -> str:
    counts = labels.value_counts()
    words = [f"{name} ({n})" for name, n in counts.head(most).items()]
    return ", ".join(words + (["…"] if len(counts) > most else []))

"""How verdicts agree with labels, where there are labels.

Which unknown rows lie together: perhaps a class that nobody has named yet.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.cluster.gaussian_mean_shift import GaussianMeanShift
from kernova.typing import Matrix

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Confusion:
    """Labels against verdicts.

    Attributes
    ----------
    counts : DataFrame
        A line for each label, known classes first, and a column for each verdict, "unknown" last.
    foreign : tuple of str
        Labels that are no class of the model: "unknown" is the right verdict on their rows.
    n_unlabelled : int
        Rows without a label, which are not counted.
    """

    counts: pd.DataFrame
    foreign: tuple[str, ...]
    n_unlabelled: int

    @property
    def known(self) -> pd.DataFrame:
        """The lines of known classes."""
        return self.counts.drop(index=list(self.foreign))

    @property
    def n_known(self) -> int:
        """Labelled rows of known classes."""
        return int(self.known.to_numpy().sum())

    @property
    def n_right(self) -> int:
        """Rows of known classes that are recognised as what they are."""
        return sum(int(self.counts.loc[name, name]) for name in self.known.index)

    @property
    def n_turned_away(self) -> int:
        """Rows of known classes that are called unknown."""
        return int(self.known[UNKNOWN].sum())

    @property
    def n_foreign(self) -> int:
        """Labelled rows of classes that the model does not know."""
        return int(self.counts.loc[list(self.foreign)].to_numpy().sum())

    @property
    def n_foreign_right(self) -> int:
        """Those of them that are rightly called unknown."""
        return int(self.counts.loc[list(self.foreign), UNKNOWN].sum())

    @property
    def sentences(self) -> list[str]:
        """Say how often verdicts are right."""
        said = []
        if self.n_known:
            wrong = self.n_known - self.n_right - self.n_turned_away
            said.append(
                f"Rows labelled with known classes: {self.n_known}, of which {self.n_right} "
                f"({100 * self.n_right / self.n_known:.1f} %) recognised rightly, "
                f"{self.n_turned_away} called {UNKNOWN}, {wrong} taken for another class."
            )
        if self.n_foreign:
            said.append(
                f"Rows of classes never met in learning ({_few(self.foreign)}): "
                f"{self.n_foreign}, of which {self.n_foreign_right} "
                f"({100 * self.n_foreign_right / self.n_foreign:.1f} %) rightly called {UNKNOWN}."
            )
        if self.n_unlabelled:
            said.append(f"Rows without a label, counted in neither: {self.n_unlabelled}.")
        return said

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
        return {
            "known_rows": self.n_known,
            "known_right": self.n_right,
            "known_called_unknown": self.n_turned_away,
            "foreign_labels": list(self.foreign),
            "foreign_rows": self.n_foreign,
            "foreign_called_unknown": self.n_foreign_right,
            "unlabelled_rows": self.n_unlabelled,
            "counts": [
                {"label": str(label), "verdict": str(verdict), "rows": int(n)}
                for label, line in self.counts.iterrows()
                for verdict, n in line.items()
                if n
            ],
        }


def confusion_of(
    labels: "pd.Series[Any]", verdicts: NDArray[np.str_], classes: Iterable[Any]
) -> Confusion:
    """Count labels, as texts with None where there is none, against verdicts.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> labels = pd.Series(["carp", "pike", "eel", None])
    >>> verdicts = np.array(["carp", "unknown", "unknown", "carp"])
    >>> confusion_of(labels, verdicts, ["carp", "pike"]).counts
          carp  pike  unknown
    carp     1     0        0
    pike     0     0        1
    eel      0     0        1
    """
    names = [str(name) for name in classes]
    has_label = labels.notna().to_numpy()
    seen = sorted(set(labels[has_label]))
    foreign = [name for name in seen if name not in set(names)]
    lines = [name for name in names if name in set(seen)] + foreign
    verdict_names = [*names, UNKNOWN]
    places = pd.Index(lines).get_indexer(pd.Index(labels[has_label]))
    given = pd.Index(verdict_names).get_indexer(pd.Index(verdicts[has_label]))
    table = np.zeros((len(lines), len(verdict_names)), dtype=np.intp)
    np.add.at(table, (places, given), 1)
    counts = pd.DataFrame(table, index=lines, columns=verdict_names)
    return Confusion(counts, tuple(foreign), int((~has_label).sum()))


def _few(names: tuple[str, ...], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


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

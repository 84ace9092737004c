"""Recognition results summarised: agreement of verdicts with labels, groups of unknown rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.cluster.gaussian_mean_shift import GaussianMeanShift
from kernova.tables.fill_values import drawn_in
from kernova.text import first_few, percent
from kernova.typing import Indices, Mask, Matrix
from kernova.workflows.verdicts import UNKNOWN

_LABELS_NAMED = 5
_LABELS_PER_GROUP = 3
_IDS_NAMED = 5
# Fewer rows than this are no group.
_MIN_GROUP = 3
# Of more unknown rows, a random sample of this size makes the density; the others climb it.
_MAX_ROWS = 2000
# Rows so many times as far from their nearest as the median row are isolated.
_ISOLATED = 3.0


@dataclass(frozen=True)
class Confusion:
    """Counts of labels against verdicts."""

    # A line for each label, known classes first, and a column for each verdict, "unknown" last.
    counts: pd.DataFrame
    # Labels that are no class of the model: "unknown" is the right verdict on their rows.
    foreign: tuple[str, ...]
    n_unlabelled: int  # rows without a label, which are not counted

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
        """Rows of known classes that are recognised correctly."""
        return sum(int(self.counts.loc[name, name]) for name in self.known.index)

    @property
    def n_called_unknown(self) -> int:
        """Rows of known classes that are called unknown."""
        return int(self.known[UNKNOWN].sum())

    @property
    def n_foreign(self) -> int:
        """Labelled rows of classes that the model does not know."""
        return int(self.counts.loc[list(self.foreign)].to_numpy().sum())

    @property
    def n_foreign_right(self) -> int:
        """Those of them that are correctly called unknown."""
        return int(self.counts.loc[list(self.foreign), UNKNOWN].sum())

    @property
    def sentences(self) -> list[str]:
        """Sentences on how often verdicts are correct."""
        sentences = []
        if self.n_known:
            wrong = self.n_known - self.n_right - self.n_called_unknown
            sentences.append(
                f"Rows labelled with known classes: {self.n_known:,}, of which {self.n_right:,} "
                f"({percent(self.n_right / self.n_known, '.1f')}) recognised correctly, "
                f"{self.n_called_unknown:,} called {UNKNOWN}, {wrong:,} taken for another class."
            )
        if self.n_foreign:
            sentences.append(
                f"Rows of classes absent from the training data "
                f"({first_few(self.foreign, _LABELS_NAMED)}): {self.n_foreign:,}, of which "
                f"{self.n_foreign_right:,} "
                f"({percent(self.n_foreign_right / self.n_foreign, '.1f')}) correctly called "
                f"{UNKNOWN}."
            )
        if self.n_unlabelled:
            sentences.append(f"Rows without a label, counted in neither: {self.n_unlabelled:,}.")
        return sentences

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        return {
            "known_rows": self.n_known,
            "known_right": self.n_right,
            "known_called_unknown": self.n_called_unknown,
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
    line_of = pd.Index(lines).get_indexer(pd.Index(labels[has_label]))
    column_of = pd.Index(verdict_names).get_indexer(pd.Index(verdicts[has_label]))
    table = np.zeros((len(lines), len(verdict_names)), dtype=np.intp)
    np.add.at(table, (line_of, column_of), 1)
    counts = pd.DataFrame(table, index=lines, columns=verdict_names)
    return Confusion(counts, tuple(foreign), int((~has_label).sum()))


def unknown_groups(rows: Matrix, is_unknown: Mask) -> Indices:
    """Return the number of each row's group of unknown rows: 1 is the largest, 0 is none.

    Groups are the modes of a Gaussian density over the unknown rows, found by mean shift. They may
    be classes that the model has not learnt.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [9.0]])
    >>> unknown_groups(rows, np.arange(8) > 0)
    array([0, 1, 1, 1, 2, 2, 2, 0])
    """
    groups = np.zeros(len(rows), dtype=np.intp)
    unknown = drawn_in(rows[is_unknown])
    if len(unknown) < _MIN_GROUP:
        return groups
    sample = unknown
    if len(unknown) > _MAX_ROWS:
        chosen = np.random.default_rng(0).choice(len(unknown), _MAX_ROWS, replace=False)
        sample = unknown[np.sort(chosen)]
    modes = GaussianMeanShift(_bandwidth(sample)).fit(sample)
    labels = modes.labels_ if sample is unknown else modes.predict(unknown)
    groups[is_unknown] = _numbered(labels)
    return groups


def _bandwidth(rows: Matrix) -> float:
    """Choose the density's bandwidth by likelihood, but wide enough for groups to form.

    A few isolated rows would make it so wide that all others merge, so they are left out. In many
    columns the likeliest bandwidth leaves each row alone. Two rows merge from half of their
    distance on, so half of the median distance to the second nearest row lets a row and its two
    nearest form a group.
    """
    distances = cKDTree(rows).query(rows, _MIN_GROUP)[0]
    nearest, farthest_of_group = distances[:, 1], distances[:, -1]
    typical = float(np.median(nearest))
    is_isolated = nearest > _ISOLATED * typical
    is_usable = typical > 0 and (~is_isolated).sum() >= _MIN_GROUP
    chosen = rows[~is_isolated] if is_usable else rows
    likeliest = float(GaussianMeanShift("likelihood-cv").fit(chosen).bandwidth_)
    return max(likeliest, float(np.median(farthest_of_group)) / 2)


def groups_of(
    rows: pd.DataFrame,
    classes: NDArray[Any],
    closeness: Matrix,
    labels: "pd.Series[Any] | None",
) -> pd.DataFrame:
    """Describe the groups in a table of recognised rows: size, closest class, labels, some ids."""
    ids = rows.columns[0]
    lines = []
    for number in range(1, int(rows["group"].max()) + 1 if len(rows) else 1):
        inside = (rows["group"] == number).to_numpy()
        closest = str(classes[int(closeness[inside].mean(axis=0).argmax())])
        line = {"group": number, "rows": int(inside.sum()), "closest_class": closest}
        if labels is not None:
            line["labels"] = _most_frequent(labels[inside])
        named = ", ".join(rows.loc[inside, ids].head(_IDS_NAMED))
        line["ids"] = named + (", …" if inside.sum() > _IDS_NAMED else "")
        lines.append(line)
    columns = ["group", "rows", "closest_class", *(["labels"] if labels is not None else []), "ids"]
    return pd.DataFrame(lines, columns=columns)


def _numbered(labels: Indices) -> Indices:
    counts = np.bincount(labels)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= _MIN_GROUP]
    numbers = np.zeros(len(counts), dtype=np.intp)
    numbers[order] = np.arange(1, len(order) + 1)
    return np.asarray(numbers[labels])


def _most_frequent(labels: "pd.Series[Any]") -> str:
    counts = labels.value_counts()
    named = [f"{label} ({n})" for label, n in counts.head(_LABELS_PER_GROUP).items()]
    return ", ".join(named + (["…"] if len(counts) > _LABELS_PER_GROUP else []))

"""How verdicts agree with labels, where there are labels."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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

"""The six sets of the HMS paper, made ready as its experiments were.

Three of them are balanced in the source, so classes are thinned out to sizes that halve from one
to the next; a seed decides which class becomes rare, and which of its rows are kept. Abalone and
yeast are taken whole, so that their seeds all give the same rows.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.progress import track
from kernova.tables.table import read_table
from kernova.typing import Indices, Matrix

Labels = NDArray[np.str_]

SHUTTLE_ROWS: Final = 4_000
_RINGS: Final = (3, 22)


class DiscoverySet(NamedTuple):
    """Rows to ask about, and what an expert who is always right would answer.

    Attributes
    ----------
    name : str
        The set.
    X : ndarray of shape (n_rows, n_columns)
        Finite numbers, as they stand in the file.
    labels : ndarray of shape (n_rows,)
        The category of each row, as text.
    is_drawn : bool
        Whether another seed gives other rows.
    """

    name: str
    X: Matrix
    labels: Labels
    is_drawn: bool


class _Source(NamedTuple):
    """Which rows of a file make the set, and what becomes of its columns and labels."""

    rows: Callable[[Labels, np.random.Generator], Indices] | None = None  # None: all, in order
    left_out: tuple[str, ...] = ()
    relabel: Callable[["pd.Series[str]"], "pd.Series[str]"] = lambda labels: labels


def discovery_sets(
    folder: Path, seed: int, names: Sequence[str] | None = None
) -> dict[str, DiscoverySet]:
    """Return the named sets, or all six, from a folder of Parquet files with a column "label".

    Parameters
    ----------
    folder : Path
        Where ``abalone.parquet``, ``letter.parquet`` and the others are.
    seed : int
        What is drawn; one seed gives each set the same rows whichever others are asked for.
    names : sequence of str, optional
        Which sets; all of :data:`SET_NAMES` by default.
    """
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; name the one that holds the data sets.")
    wanted = SET_NAMES if names is None else tuple(names)
    for name in wanted:
        if name not in _SOURCES:
            raise InputError(
                f"There is no discovery set {name!r}; choose from {', '.join(SET_NAMES)}."
            )
    return {name: _drawn(folder, name, seed) for name in track(wanted, "reading data")}


def _drawn(folder: Path, name: str, seed: int) -> DiscoverySet:
    source = _SOURCES[name]
    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise InputError(
            f"There is no {path.name} in {folder}; put the set there, with its classes in a "
            'column "label".'
        )
    table = read_table(path, label_column="label")
    assert table.labels is not None  # or the column would have been missed
    features = table.features.drop(columns=list(source.left_out))
    X = features.to_numpy(dtype=np.float64)
    labels = source.relabel(table.labels.astype(str)).to_numpy(dtype=np.str_)
    if source.rows is None:
        return DiscoverySet(name, X, labels, is_drawn=False)
    # The name takes part, so that one seed does not make the same draws in every set.
    rng = np.random.default_rng([seed, *name.encode()])
    kept = source.rows(labels, rng)
    return DiscoverySet(name, X[kept], labels[kept], is_drawn=True)


def thinned_rows(labels: Labels, sizes: Sequence[int], rng: np.random.Generator) -> Indices:
    """Draw as many rows of each class as one of ``sizes`` says; lots decide which size is whose.

    The rows come in random order: where two of them tie, the first is asked, and that must not
    tell their class.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.papers.hms.data import thinned_rows
    >>> labels = np.repeat(["a", "b", "c"], 50)
    >>> rows = thinned_rows(labels, (32, 8, 4), np.random.default_rng(0))
    >>> sorted(int(size) for size in np.unique(labels[rows], return_counts=True)[1])
    [4, 8, 32]
    """
    classes = np.unique(labels)
    if len(classes) != len(sizes):
        raise InputError(
            f"There are {len(sizes)} sizes for {len(classes)} classes; take the set whole, as it "
            "was published."
        )
    kept = []
    for label, size in zip(rng.permutation(classes), sizes, strict=True):
        rows = np.flatnonzero(labels == label)
        if len(rows) < size:
            raise InputError(
                f"Class {str(label)!r} has {len(rows)} rows, but {size} are to be drawn; take the "
                "set whole, as it was published."
            )
        kept.append(rng.choice(rows, size, replace=False))
    return rng.permutation(np.concatenate(kept))


def rows_of_every_class(labels: Labels, n_rows: int, rng: np.random.Generator) -> Indices:
    """Draw ``n_rows`` at random, again and again until every class is among them."""
    n_classes = len(np.unique(labels))
    for _ in range(10_000):
        kept = rng.permutation(len(labels))[:n_rows]
        if len(np.unique(labels[kept])) == n_classes:
            return kept
    raise InputError(
        f"{n_rows} random rows of {len(labels)} do not hold all {n_classes} classes; take the set "
        "whole, as it was published."
    )


def _clipped_rings(labels: "pd.Series[str]") -> "pd.Series[str]":
    return labels.astype(int).clip(*_RINGS).astype(str)


_SEGMENT_SIZES: Final = (256, 128, 64, 32, 16, 8, 8)
_DIGIT_SIZES: Final = (512, 256, 128, 64, 32, 16, 8, 8, 8, 8)
_LETTER_SIZES: Final = (512, 512, 256, 256, 128, 128, 64, 64, 32, 32, 16, 16, *[8] * 14)
_SOURCES: Final = {
    "abalone": _Source(left_out=("sex",), relabel=_clipped_rings),
    "shuttle": _Source(lambda labels, rng: rows_of_every_class(labels, SHUTTLE_ROWS, rng)),
    "optdigits": _Source(lambda labels, rng: thinned_rows(labels, _DIGIT_SIZES, rng)),
    "letter": _Source(lambda labels, rng: thinned_rows(labels, _LETTER_SIZES, rng)),
    "segment": _Source(lambda labels, rng: thinned_rows(labels, _SEGMENT_SIZES, rng)),
    "yeast": _Source(),
}
SET_NAMES: Final = tuple(_SOURCES)


# --- sets that no choice was made on --------------------------------------------------------------


def kept_back_sets(seed: int) -> dict[str, DiscoverySet]:
    """Return four sets that take no part in choosing a strategy, each hard in its own way.

    ``bulk`` is one heavy-tailed class with rare ones outside, at its edge and inside it;
    ``chains`` has spirals, rings and what lies within them; ``heavy tails`` has categories whose
    own outliers are stranger than the rare ones; ``digits`` are scikit-learn's, thinned out.

    Examples
    --------
    >>> from kernova.papers.hms.data import kept_back_sets
    >>> {name: one.X.shape for name, one in kept_back_sets(0).items()}
    {'bulk': (3000, 6), 'chains': (1500, 3), 'heavy tails': (2000, 5), 'digits': (340, 64)}
    """
    makers = {"bulk": _bulk, "chains": _chains, "heavy tails": _heavy_tails, "digits": _digits}
    sets = {}
    for name, make in makers.items():
        rng = np.random.default_rng([seed, *name.encode()])
        groups = make(rng)
        X = np.concatenate(groups)
        labels = np.repeat([f"c{j}" for j in range(len(groups))], [len(rows) for rows in groups])
        order = rng.permutation(len(X))
        sets[name] = DiscoverySet(name, X[order], labels[order], is_drawn=True)
    return sets


def _bulk(rng: np.random.Generator) -> list[Matrix]:
    mixing = rng.standard_normal((6, 6)) / 2 + np.eye(6)
    sizes = (100, 50, 40, 25, 15, 10, 10)
    groups = [rng.standard_t(3, (3000 - sum(sizes), 6)) @ mixing]
    for size, reach in zip(sizes, (3, 2, 1, 0.3, 5, 3, 1.5), strict=True):
        direction = rng.standard_normal(6)
        centre = reach * np.sqrt(6) * direction / np.linalg.norm(direction)
        groups.append((centre + rng.uniform(0.08, 0.3) * rng.standard_normal((size, 6))) @ mixing)
    return groups


def _chains(rng: np.random.Generator) -> list[Matrix]:
    turns = rng.uniform(0.5, 3.0, 900) * np.pi
    spiral = np.column_stack([turns * np.cos(turns), turns * np.sin(turns), 0 * turns])
    angles = rng.uniform(0, 2 * np.pi, 300)
    ring = np.column_stack([12 + 4 * np.cos(angles), 4 * np.sin(angles), np.cos(angles)])
    line = np.linspace(-9, 9, 150)
    chain = np.column_stack([line, 0.1 * line**2 - 14, 3 + 0 * line])
    sites = ((12, 0, 0), (0, 0, 0), (12, 0, 4), (-6, -6, 6), (4.5, 0, 0.8))
    spots = [
        np.array(site) + rng.normal(0, 0.35, (size, 3))
        for site, size in zip(sites, (70, 40, 20, 12, 8), strict=True)
    ]
    return [rows + rng.normal(0, 0.3, rows.shape) for rows in (spiral, ring, chain)] + spots


def _heavy_tails(rng: np.random.Generator) -> list[Matrix]:
    sizes = (900, 450, 250, 150, 90, 60, 40, 25, 15, 10, 10)
    return [
        rng.normal(0, 4, 5) + rng.uniform(0.2, 1.0) * rng.standard_t(2, (size, 5)) for size in sizes
    ]


def _digits(rng: np.random.Generator) -> list[Matrix]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    sizes = (160, 80, 40, 20, 10, 6, 6, 6, 6, 6)
    rows = thinned_rows(y.astype(str), sizes, rng)
    return [X[rows][y[rows] == digit] for digit in range(10)]

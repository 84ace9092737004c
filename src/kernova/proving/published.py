"""Published counts of questions for rare categories, and the five sets they were measured on.

He, "Rare Category Analysis", PhD thesis, Carnegie Mellon University, 2010: questions until every
category is met, on sets of the UCI repository. Counts of random sampling and of Interleave are
means over 100 runs; all others come from one run without chance.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.typing import Indices, Matrix

Labels = NDArray[np.str_]

# Questions until every category is met; None where the thesis gives no count.
PUBLISHED: Final[dict[str, dict[str, int | None]]] = {
    "ecoli": {
        "random": 43,
        "interleave": 41,
        "malice": 36,
        "seder": 20,
        "grade": 6,
        "grade-li": 32,
    },
    "glass": {
        "random": 31,
        "interleave": 24,
        "malice": 18,
        "seder": 22,
        "grade": 14,
        "grade-li": 14,
    },
    "page_blocks": {
        "random": 199,
        "interleave": 77,
        "malice": 23,
        "seder": 36,
        "grade": None,
        "grade-li": None,
    },
    "abalone": {
        "random": 483,
        "interleave": 333,
        "malice": 179,
        "seder": 316,
        "grade": 149,
        "grade-li": 318,
    },
    "shuttle": {
        "random": 512,
        "interleave": 140,
        "malice": 87,
        "seder": 249,
        "grade": 33,
        "grade-li": 36,
    },
}

# The sets of the thesis: rows, columns, classes, and the fraction of the smallest class.
SHAPES: Final = {
    "ecoli": (336, 7, 6, 0.0268),
    "glass": (214, 9, 6, 0.0421),
    "page_blocks": (5473, 10, 5, 0.0051),
    "abalone": (4177, 7, 20, 0.0034),
    "shuttle": (4515, 9, 7, 0.0013),
}

_SMALL_ECOLI: Final = ("omL", "imL", "imS")
_RINGS: Final = (3, 22)
_SHUTTLE_TRAINING_ROWS: Final = 43_500
_THINNED_SHUTTLE: Final = ("1", "4", "5")


class PublishedSet(NamedTuple):
    """One of the five sets: its rows as in the file, and the category of each row as text."""

    name: str
    X: Matrix
    labels: Labels


def published_sets(folder: Path, seed: int) -> dict[str, PublishedSet]:
    """Return the five sets as the thesis describes them, rebuilt from Parquet files.

    Parameters
    ----------
    folder : Path
        The folder of ``abalone.parquet``, ``shuttle.parquet`` and
        ``rare_categories/ecoli.parquet`` and so on.
    seed : int
        Seed of the tenth of the rows of the classes 1, 4 and 5 of shuttle, and of the order of all
        rows: of tied rows most strategies ask the first, and files are often sorted by category.
    """
    makers: dict[str, Callable[[], PublishedSet]] = {
        "ecoli": lambda: _ecoli(folder),
        "glass": lambda: _whole("glass", folder / "rare_categories" / "glass.parquet"),
        "page_blocks": lambda: _whole(
            "page_blocks", folder / "rare_categories" / "page_blocks.parquet"
        ),
        "abalone": lambda: _abalone(folder),
        "shuttle": lambda: _shuttle(folder, seed),
    }
    return {name: _shuffled(make(), seed) for name, make in makers.items()}


def _shuffled(one: PublishedSet, seed: int) -> PublishedSet:
    rows = np.random.default_rng([seed, *one.name.encode()]).permutation(len(one.X))
    return one._replace(X=one.X[rows], labels=one.labels[rows])


def _whole(name: str, path: Path) -> PublishedSet:
    if not path.is_file():
        raise InputError(f"The published set {name} needs the file {path}, which does not exist.")
    table = pd.read_parquet(path)
    numbers = table.drop(columns="label").select_dtypes("number").to_numpy(dtype=np.float64)
    return PublishedSet(name, numbers, table["label"].astype(str).to_numpy(dtype=np.str_))


def _ecoli(folder: Path) -> PublishedSet:
    whole = _whole("ecoli", folder / "rare_categories" / "ecoli.parquet")
    is_small = np.isin(whole.labels, _SMALL_ECOLI)
    return whole._replace(labels=np.where(is_small, "+".join(_SMALL_ECOLI), whole.labels))


def _abalone(folder: Path) -> PublishedSet:
    whole = _whole("abalone", folder / "abalone.parquet")
    rings = np.clip(whole.labels.astype(np.intp), *_RINGS)
    return whole._replace(labels=rings.astype(np.str_))


def _shuttle(folder: Path, seed: int) -> PublishedSet:
    whole = _whole("shuttle", folder / "shuttle.parquet")
    labels = whole.labels[:_SHUTTLE_TRAINING_ROWS]
    rows = _thinned(labels, np.random.default_rng(seed))
    return PublishedSet("shuttle", whole.X[rows], labels[rows])


def _thinned(labels: Labels, rng: np.random.Generator) -> Indices:
    """Return all rows of small classes and a tenth of those of the others, in their order."""
    kept = [np.flatnonzero(~np.isin(labels, _THINNED_SHUTTLE))]
    for name in _THINNED_SHUTTLE:
        rows = np.flatnonzero(labels == name)
        kept.append(rng.choice(rows, len(rows) // 10, replace=False))
    return np.sort(np.concatenate(kept))

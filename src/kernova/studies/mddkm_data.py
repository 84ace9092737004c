"""Labelled sets for "none of these": some classes are known, the others are held out.

iris, wine and digits come with scikit-learn; optdigits, letter, segment and yeast are of the UCI
repository, and have to be given.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.describe.feature_scaling import Scale
from kernova.errors import InputError
from kernova.load.tables import read_table

Matrix = NDArray[np.float64]
Codes = NDArray[np.intp]

# How each set's columns are scaled: by one number where they are alike (lengths of petals, pixels,
# moments on one scale), each by its own spread where units are mixed.
_SCALES: Final[dict[str, Scale]] = {
    "iris": "common",
    "wine": "feature",
    "digits": "common",
    "optdigits": "common",
    "letter": "common",
    "segment": "feature",
    "yeast": "feature",
}
SET_NAMES: Final = tuple(_SCALES)
BUILT_IN: Final = ("iris", "wine", "digits")
# Sets from files are thinned to this; those that come with scikit-learn are taken whole.
MOST_ROWS: Final = 1_500
# Sets of few classes lose each of them in turn, sets of many lose three at once.
_FEW_CLASSES: Final = 3
_HELD_OUT: Final = 3


class LabelledSet(NamedTuple):
    """Rows and their classes, numbered from 0, and how the columns want to be scaled."""

    name: str
    X: Matrix
    codes: Codes
    scale: Scale


class Split(NamedTuple):
    """Half of the known rows to train on; the other half and all foreign rows to be judged.

    ``codes`` of foreign rows among the new ones are -1.
    """

    held_out: str
    train: Matrix
    train_codes: Codes
    new: Matrix
    new_codes: Codes


def labelled_sets(folder: Path | None, names: Sequence[str]) -> list[LabelledSet]:
    """Return the named sets, those that scikit-learn lacks from a folder of Parquet files."""
    if folder is not None and not folder.is_dir():
        raise InputError(f"There is no folder {folder}; name the one that holds the data sets.")
    for name in names:
        if name not in SET_NAMES:
            raise InputError(f"There is no set {name!r} here; choose from {', '.join(SET_NAMES)}.")
    return [_built_in(name) if name in BUILT_IN else _from_file(folder, name) for name in names]


def _built_in(name: str) -> LabelledSet:
    from sklearn import datasets

    X, codes = getattr(datasets, f"load_{name}")(return_X_y=True)
    return LabelledSet(name, np.asarray(X, dtype=np.float64), codes.astype(np.intp), _SCALES[name])


def _from_file(folder: Path | None, name: str) -> LabelledSet:
    if folder is None:
        raise InputError(
            f"{name} does not come with scikit-learn; name a folder that holds {name}.parquet."
        )
    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise InputError(
            f"There is no {path.name} in {folder}; put the set there, with its classes in a "
            'column "label".'
        )
    table = read_table(path, label_column="label")
    assert table.labels is not None  # or the column would have been missed
    codes = np.unique(table.labels.astype(str).to_numpy(dtype=np.str_), return_inverse=True)[1]
    X = table.features.to_numpy(dtype=np.float64)
    return LabelledSet(name, X, np.asarray(codes), _SCALES[name])


def splits(labelled: LabelledSet, seed: int) -> list[Split]:
    """Draw what is known, what is foreign, and which half of the known rows trains.

    Examples
    --------
    >>> from kernova.studies.mddkm_data import labelled_sets, splits
    >>> iris, = labelled_sets(None, ["iris"])
    >>> [(one.held_out, one.train.shape, one.new.shape) for one in splits(iris, 0)]
    [('0', (50, 4), (100, 4)), ('1', (50, 4), (100, 4)), ('2', (50, 4), (100, 4))]
    """
    # The name takes part, so that one seed does not make the same draws in every set.
    rng = np.random.default_rng([seed, *labelled.name.encode()])
    rows = np.arange(len(labelled.X))
    if len(rows) > MOST_ROWS and labelled.name not in BUILT_IN:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    X, codes = labelled.X[rows], labelled.codes[rows]
    classes = np.unique(codes)
    return [_split(X, codes, these, rng) for these in _foreign(classes, labelled.name, seed)]


def _foreign(classes: Codes, name: str, seed: int) -> list[Codes]:
    """Return which classes are held out: each in turn where they are few, else three at once.

    Which three matters far more than which rows (digits: from .974 to .999 by the three), so in as
    many seeds as there are classes each of them is held out three times, in an order by lot.
    """
    n_classes = len(classes)
    if n_classes <= _FEW_CLASSES:
        return [classes[[place]] for place in range(n_classes)]
    order = np.random.default_rng([seed // n_classes, *name.encode()]).permutation(classes)
    places = (_HELD_OUT * seed + np.arange(_HELD_OUT)) % n_classes
    return [np.sort(order[places])]


def _split(X: Matrix, codes: Codes, foreign: Codes, rng: np.random.Generator) -> Split:
    known = np.setdiff1d(codes, foreign)
    is_train = np.zeros(len(X), dtype=bool)
    for code in known:
        inside = rng.permutation(np.flatnonzero(codes == code))
        is_train[inside[: (len(inside) + 1) // 2]] = True
    renumbered = np.where(np.isin(codes, known), np.searchsorted(known, codes), -1)
    held_out = ", ".join(str(code) for code in foreign)
    return Split(held_out, X[is_train], renumbered[is_train], X[~is_train], renumbered[~is_train])

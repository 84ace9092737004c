"""Labelled sets for "none of these": some classes are known, the others are held out.

iris, wine and digits come with scikit-learn; optdigits, letter, segment and yeast are of the UCI
repository, and have to be given.

Six ways to say how well each known class claims a row.

Every method on every split, and what length-scale and ridge do.
"""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from kernova.description.hyperparameters import Scale, feature_scaling, median_distance
from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.possibilistic import PossibilisticNeighbors
from kernova.errors import InputError
from kernova.kernels.distances import squared_distances
from kernova.progress import track
from kernova.tables.table import read_table
from kernova.typing import Indices, Matrix

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
    codes: Indices
    scale: Scale


class Split(NamedTuple):
    """Half of the known rows to train on; the other half and all foreign rows to be judged.

    ``codes`` of foreign rows among the new ones are -1.
    """

    held_out: str
    train: Matrix
    train_codes: Indices
    new: Matrix
    new_codes: Indices


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
    >>> from kernova.papers.mddkm.experiments import labelled_sets, splits
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


def _foreign(classes: Indices, name: str, seed: int) -> list[Indices]:
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


def _split(X: Matrix, codes: Indices, foreign: Indices, rng: np.random.Generator) -> Split:
    known = np.setdiff1d(codes, foreign)
    is_train = np.zeros(len(X), dtype=bool)
    for code in known:
        inside = rng.permutation(np.flatnonzero(codes == code))
        is_train[inside[: (len(inside) + 1) // 2]] = True
    renumbered = np.where(np.isin(codes, known), np.searchsorted(known, codes), -1)
    held_out = ", ".join(str(code) for code in foreign)
    return Split(held_out, X[is_train], renumbered[is_train], X[~is_train], renumbered[~is_train])


_Model = TypeVar("_Model", MulticlassDataDescription, PossibilisticNeighbors)

MDD_KM: Final = "MDD-KM"
GP_PER_CLASS: Final = "GP per class"
PKNN: Final = "PKNN"
SVM: Final = "one-class SVM"
LOF: Final = "LOF"
NEAREST: Final = "1-NN distance"


class Claimed(NamedTuple):
    """How well each class claims each new row, and how many known ones are accepted.

    Columns of ``claims`` are classes; the larger the number, the better the claim. ``accepted`` is
    the share of unseen known rows that pass a threshold, NaN for methods that have none.
    """

    claims: Matrix
    accepted: float


Method = Callable[[Split, Scale, int], Claimed]
_MOST_NEIGHBORS = 20
_NU = 0.1


def shared_description(split: Split, scale: Scale, seed: int) -> MulticlassDataDescription:
    """Fit MDD-KM."""
    model = MulticlassDataDescription(scale=scale, random_state=seed)
    return quietly_fitted(model, split)


def quietly_fitted(model: _Model, split: Split) -> _Model:
    """Fit a model; that half of a tiny class is one row need not be told every time."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Nothing can be left out", category=UserWarning)
        return model.fit(split.train, split.train_codes)


def _shared(split: Split, scale: Scale, seed: int) -> Claimed:
    model = shared_description(split, scale, seed)
    return Claimed(model.log_membership(split.new), _accepted(model, split))


def _possibilistic(split: Split, scale: Scale, seed: int) -> Claimed:
    model = quietly_fitted(PossibilisticNeighbors(scale=scale), split)
    return Claimed(model.membership(split.new), _accepted(model, split))


def _accepted(model: _Model, split: Split) -> float:
    named = model.recognize(split.new[split.new_codes >= 0], reject_label=None)
    return float(np.mean([name is not None for name in named]))


def _each_alone(score: Callable[[Matrix, Matrix, int], NDArray[np.float64]]) -> Method:
    """Let every class score the new rows by its own rows alone, on one scale for all."""

    def claimed(split: Split, scale: Scale, seed: int) -> Claimed:
        scaling = feature_scaling(split.train, scale)
        rows, new = scaling(split.train), scaling(split.new)
        n_classes = int(split.train_codes.max()) + 1
        claims = [score(rows[split.train_codes == code], new, seed) for code in range(n_classes)]
        return Claimed(np.column_stack(claims), np.nan)

    return claimed


def _gaussian_process(rows: Matrix, new: Matrix, seed: int) -> NDArray[np.float64]:
    # Not OneClassGaussianProcess, which scores copies of known rows as if those were not known.
    alone = Split("", rows, np.zeros(len(rows), dtype=np.intp), new, np.empty(0, dtype=np.intp))
    return shared_description(alone, "none", seed).log_membership(new)[:, 0]


def _support_vectors(rows: Matrix, new: Matrix, seed: int) -> NDArray[np.float64]:
    return np.asarray(OneClassSVM(gamma="scale", nu=_NU).fit(rows).decision_function(new))


def _local_outlier_factor(rows: Matrix, new: Matrix, seed: int) -> NDArray[np.float64]:
    if len(rows) == 1:  # without neighbours there is no factor, so this class claims nothing
        return np.full(len(new), np.finfo(np.float64).min)
    with warnings.catch_warnings():  # of copies in a class
        warnings.filterwarnings("ignore", message="Duplicate values")
        factor = LocalOutlierFactor(min(_MOST_NEIGHBORS, len(rows) - 1), novelty=True).fit(rows)
    return np.asarray(factor.score_samples(new))


def _nearest(rows: Matrix, new: Matrix, seed: int) -> NDArray[np.float64]:
    return np.asarray(-np.sqrt(squared_distances(new, rows).min(axis=1)))


METHODS: Final[dict[str, Method]] = {
    MDD_KM: _shared,
    GP_PER_CLASS: _each_alone(_gaussian_process),
    PKNN: _possibilistic,
    SVM: _each_alone(_support_vectors),
    LOF: _each_alone(_local_outlier_factor),
    NEAREST: _each_alone(_nearest),
}


# Length-scales in units of the median distance between training rows.
LENGTH_SCALES: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
RIDGES: Final = (1e-8, 1e-6, 1e-4, 1e-2, 1.0)
_HEAT_SEEDS: Final = 3


class Drawn(NamedTuple):
    """A split of a set, and what it was drawn with."""

    labelled: LabelledSet
    seed: int
    split: Split


class Results(NamedTuple):
    """All that was measured.

    Attributes
    ----------
    runs : DataFrame
        Area, closed accuracy and accepted share by set, seed, held-out classes and method.
    heat : DataFrame
        Area by length-scale and ridge, by the logarithm of q, by d, and at the fitted one.
    """

    runs: pd.DataFrame
    heat: pd.DataFrame


def draws(sets: Sequence[LabelledSet], seeds: int) -> list[Drawn]:
    """Return all splits of all sets."""
    return [
        Drawn(labelled, seed, split)
        for labelled in sets
        for seed in range(seeds)
        for split in splits(labelled, seed)
    ]


def measure(drawn: Sequence[Drawn]) -> Results:
    """Run every method on every split; of one set, the heat map."""
    lines = [_line(one, method) for one in track(drawn, "splits") for method in METHODS]
    names = {one.labelled.name for one in drawn}
    of = "digits" if "digits" in names else drawn[0].labelled.name
    heated = [one for one in drawn if one.labelled.name == of and one.seed < _HEAT_SEEDS]
    heat = [line for one in track(heated, "heat map") for line in _heat_lines(one)]
    return Results(pd.DataFrame(lines), pd.DataFrame(heat))


def means_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return area and accuracy by set and method: means over seeds and held-out classes."""
    keys = ["set", "method"]
    means = runs.groupby(keys, sort=False)[["auroc", "accuracy", "accepted"]].mean()
    # A seed is a draw; classes held out in turn within it are not.
    by_seed = runs.groupby([*keys, "seed"], sort=False)["auroc"].mean()
    return means.assign(deviation=by_seed.groupby(keys, sort=False).std(ddof=1)).reset_index()


def auroc(claims: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the area under the ROC curve of known against foreign, by the best claim."""
    return float(roc_auc_score(codes >= 0, claims.max(axis=1)))


def accuracy(claims: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the share of known rows whose best claim is that of their own class."""
    is_known = codes >= 0
    return float((claims[is_known].argmax(axis=1) == codes[is_known]).mean())


def _line(drawn: Drawn, method: str) -> dict[str, Any]:
    labelled, seed, split = drawn
    claims, accepted = METHODS[method](split, labelled.scale, seed)
    return {
        "set": labelled.name,
        "seed": seed,
        "held_out": split.held_out,
        "method": method,
        "auroc": auroc(claims, split.new_codes),
        "accuracy": accuracy(claims, split.new_codes),
        "accepted": accepted,
    }


def _heat_lines(drawn: Drawn) -> list[dict[str, Any]]:
    labelled, seed, split = drawn
    rows = feature_scaling(split.train, labelled.scale)(split.train)
    median = median_distance(squared_distances(rows, rows))
    fitted = shared_description(split, labelled.scale, seed)
    shared = {
        "set": labelled.name,
        "seed": seed,
        "held_out": split.held_out,
        "fitted_length_scale": fitted.length_scale_ / median,
        "fitted_auroc": auroc(fitted.log_membership(split.new), split.new_codes),
    }
    lines = []
    for factor in LENGTH_SCALES:
        for ridge in RIDGES:
            model = MulticlassDataDescription(labelled.scale, factor * median, ridge)
            claims = quietly_fitted(model, split).log_membership(split.new)
            by_uncertainty = np.exp(claims) - 1  # -d / sigma^2
            lines.append(
                {
                    **shared,
                    "length_scale": factor,
                    "ridge": ridge,
                    "auroc": auroc(claims, split.new_codes),
                    "auroc_by_d": auroc(by_uncertainty, split.new_codes),
                }
            )
    return lines

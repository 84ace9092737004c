"""Open-set recognition on labelled tables: some classes are known, the others are held out.

iris, wine and digits come with scikit-learn; optdigits, letter, segment and yeast of the UCI
repository have to be provided. Six methods score every test row by every known class. MDD-KM is
also run on a grid of length-scales and ridges.
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
from kernova.kernels.functions import squared_distances
from kernova.papers.claims import check_data_folder, checked_names, read_labelled_file
from kernova.progress import track
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
# Sets from files are subsampled to this; those of scikit-learn are used whole.
MOST_ROWS: Final = 1_500
# Of few classes each is held out in turn, of many three at once.
_FEW_CLASSES: Final = 3
_HELD_OUT: Final = 3


class LabelledSet(NamedTuple):
    """Rows, their classes, numbered from 0, and the scaling of the columns."""

    name: str
    X: Matrix
    codes: Indices
    scale: Scale


class Split(NamedTuple):
    """Training rows, half of each known class; and test rows, all the others (``new``).

    The codes of rows of held-out classes are -1.
    """

    held_out: str
    train: Matrix
    train_codes: Indices
    new: Matrix
    new_codes: Indices


def labelled_sets(folder: Path | None, names: Sequence[str]) -> list[LabelledSet]:
    """Return the named sets; those that scikit-learn lacks are read from Parquet files."""
    if folder is not None:
        check_data_folder(folder)
    names = checked_names(names, SET_NAMES)
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
    table = read_labelled_file(folder / f"{name}.parquet")
    codes = np.unique(table.labels.to_numpy(dtype=np.str_), return_inverse=True)[1]
    X = table.features.to_numpy(dtype=np.float64)
    return LabelledSet(name, X, np.asarray(codes), _SCALES[name])


def splits(labelled: LabelledSet, seed: int) -> list[Split]:
    """Draw the held-out classes and the training rows.

    Examples
    --------
    >>> from kernova.papers.mddkm.experiments import labelled_sets, splits
    >>> iris, = labelled_sets(None, ["iris"])
    >>> [(one.held_out, one.train.shape, one.new.shape) for one in splits(iris, 0)]
    [('0', (50, 4), (100, 4)), ('1', (50, 4), (100, 4)), ('2', (50, 4), (100, 4))]
    """
    # The name is part of the seed, so that draws of different sets are independent.
    rng = np.random.default_rng([seed, *labelled.name.encode()])
    rows = np.arange(len(labelled.X))
    if len(rows) > MOST_ROWS and labelled.name not in BUILT_IN:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    X, codes = labelled.X[rows], labelled.codes[rows]
    held_out = _held_out_classes(np.unique(codes), labelled.name, seed)
    return [_split(X, codes, classes, rng) for classes in held_out]


def _held_out_classes(classes: Indices, name: str, seed: int) -> list[Indices]:
    """Return the classes to hold out: each in turn if they are few, else three at once.

    The choice of the three matters far more than that of the rows (digits: areas from .974 to
    .999). So each class is held out three times in as many seeds as there are classes, in random
    order.
    """
    n_classes = len(classes)
    if n_classes <= _FEW_CLASSES:
        return [classes[[number]] for number in range(n_classes)]
    order = np.random.default_rng([seed // n_classes, *name.encode()]).permutation(classes)
    chosen = (_HELD_OUT * seed + np.arange(_HELD_OUT)) % n_classes
    return [np.sort(order[chosen])]


def _split(X: Matrix, codes: Indices, left_out: Indices, rng: np.random.Generator) -> Split:
    known = np.setdiff1d(codes, left_out)
    is_train = np.zeros(len(X), dtype=bool)
    for code in known:
        inside = rng.permutation(np.flatnonzero(codes == code))
        is_train[inside[: (len(inside) + 1) // 2]] = True
    renumbered = np.where(np.isin(codes, known), np.searchsorted(known, codes), -1)
    held_out = ", ".join(str(code) for code in left_out)
    return Split(held_out, X[is_train], renumbered[is_train], X[~is_train], renumbered[~is_train])


_Model = TypeVar("_Model", MulticlassDataDescription, PossibilisticNeighbors)

MDD_KM: Final = "MDD-KM"
GP_PER_CLASS: Final = "GP per class"
PKNN: Final = "PKNN"
SVM: Final = "one-class SVM"
LOF: Final = "LOF"
NEAREST: Final = "1-NN distance"


class ClassScores(NamedTuple):
    """Scores of each test row by each class, and the fraction of known rows that are accepted.

    Columns of ``scores`` are classes; rows of a class have high scores. ``accepted`` is the
    fraction of known test rows that pass the threshold, NaN for methods that have none.
    """

    scores: Matrix
    accepted: float


Method = Callable[[Split, Scale, int], ClassScores]
_MOST_NEIGHBORS = 20
_NU = 0.1


def shared_description(split: Split, scale: Scale, seed: int) -> MulticlassDataDescription:
    """Fit MDD-KM."""
    model = MulticlassDataDescription(scale=scale, random_state=seed)
    return quietly_fitted(model, split)


def quietly_fitted(model: _Model, split: Split) -> _Model:
    """Fit a model without the warning about classes of a single training row."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Nothing can be left out", category=UserWarning)
        return model.fit(split.train, split.train_codes)


def _shared(split: Split, scale: Scale, seed: int) -> ClassScores:
    model = shared_description(split, scale, seed)
    return ClassScores(model.log_membership(split.new), _accepted(model, split))


def _possibilistic(split: Split, scale: Scale, seed: int) -> ClassScores:
    model = quietly_fitted(PossibilisticNeighbors(scale=scale), split)
    return ClassScores(model.membership(split.new), _accepted(model, split))


def _accepted(model: _Model, split: Split) -> float:
    labels = model.recognize(split.new[split.new_codes >= 0], reject_label=None)
    return float(np.mean([label is not None for label in labels]))


def _each_alone(score: Callable[[Matrix, Matrix, int], NDArray[np.float64]]) -> Method:
    """Return a method that scores test rows by each class alone, with one common scaling."""

    def scored(split: Split, scale: Scale, seed: int) -> ClassScores:
        scaling = feature_scaling(split.train, scale)
        rows, new = scaling(split.train), scaling(split.new)
        n_classes = int(split.train_codes.max()) + 1
        scores = [score(rows[split.train_codes == code], new, seed) for code in range(n_classes)]
        return ClassScores(np.column_stack(scores), np.nan)

    return scored


def _gaussian_process(rows: Matrix, new: Matrix, seed: int) -> NDArray[np.float64]:
    # Not OneClassGaussianProcess: it scores duplicates of training rows as if these were absent.
    alone = Split("", rows, np.zeros(len(rows), dtype=np.intp), new, np.empty(0, dtype=np.intp))
    return shared_description(alone, "none", seed).log_membership(new)[:, 0]


def _support_vectors(rows: Matrix, new: Matrix, seed: int) -> NDArray[np.float64]:
    return np.asarray(OneClassSVM(gamma="scale", nu=_NU).fit(rows).decision_function(new))


def _local_outlier_factor(rows: Matrix, new: Matrix, seed: int) -> NDArray[np.float64]:
    if len(rows) == 1:  # no neighbours, so no factor: the class accepts nothing
        return np.full(len(new), np.finfo(np.float64).min)
    with warnings.catch_warnings():  # duplicate rows in a class
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
    """A split of a data set, and its seed."""

    labelled: LabelledSet
    seed: int
    split: Split


class Results(NamedTuple):
    """Results of all methods on all splits.

    Attributes
    ----------
    runs : DataFrame
        Area, accuracy of known rows and accepted fraction by set, seed, held-out classes, method.
    heat : DataFrame
        Area by length-scale and ridge, by the logarithm of q and by d, and with fitted values.
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
    """Run every method on every split, and the heat map on one data set."""
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
    # Classes held out in turn within a seed are not independent draws.
    by_seed = runs.groupby([*keys, "seed"], sort=False)["auroc"].mean()
    return means.assign(deviation=by_seed.groupby(keys, sort=False).std(ddof=1)).reset_index()


def auroc(scores: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the area under the ROC curve of known against held-out classes, by the best score."""
    return float(roc_auc_score(codes >= 0, scores.max(axis=1)))


def accuracy(scores: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the fraction of known rows whose best score is that of their own class."""
    is_known = codes >= 0
    return float((scores[is_known].argmax(axis=1) == codes[is_known]).mean())


def _line(drawn: Drawn, method: str) -> dict[str, Any]:
    labelled, seed, split = drawn
    scores, accepted = METHODS[method](split, labelled.scale, seed)
    return {
        "set": labelled.name,
        "seed": seed,
        "held_out": split.held_out,
        "method": method,
        "auroc": auroc(scores, split.new_codes),
        "accuracy": accuracy(scores, split.new_codes),
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
            scores = quietly_fitted(model, split).log_membership(split.new)
            by_uncertainty = np.exp(scores) - 1  # -d / sigma^2
            lines.append(
                {
                    **shared,
                    "length_scale": factor,
                    "ridge": ridge,
                    "auroc": auroc(scores, split.new_codes),
                    "auroc_by_d": auroc(by_uncertainty, split.new_codes),
                }
            )
    return lines

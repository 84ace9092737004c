"""Six ways to say how well each known class claims a row."""

import warnings
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from kernova.describe.data_description import MulticlassDataDescription
from kernova.describe.feature_scaling import Scale, feature_scaling
from kernova.describe.possibilistic import PossibilisticNeighbors
from kernova.kernels.distances import squared_distances
from kernova.studies.mddkm_data import Split

Matrix = NDArray[np.float64]
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

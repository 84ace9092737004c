"""Rows, models and a user's own classes, which have to live in a module that can be imported."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin

from kernova.kernels.functions import Kernel

ROWS = np.random.default_rng(0).normal(size=(80, 3))
NEW_ROWS = np.random.default_rng(1).normal(scale=3, size=(40, 3))
# What those need to take three columns whose defaults do not.
FOR_THREE_COLUMNS = {"GeneralizedProcrustes": {"dimensions": 1}}

_METHODS = ("score_samples", "decision_function", "predict", "p_values", "novelty", "transform")
_STORED_ANSWERS = ("negative_outlier_factor_", "offset_", "labels_", "modes_")


@dataclass(frozen=True)
class Wave(Kernel):
    """A user's own kernel."""

    length: float = 1.0

    def __call__(self, X, Y):
        return np.cos((X.sum(axis=1)[:, None] - Y.sum(axis=1)) / self.length)


class Settings(NamedTuple):
    """A user's own value."""

    width: float


class SimilarityToMean(OutlierMixin, BaseEstimator):
    """A user's own detector, which holds a kernel and anything else."""

    def __init__(self, kernel=None, extra=None):
        self.kernel = kernel
        self.extra = extra

    def fit(self, X, y=None):
        self.mean_ = np.mean(X, axis=0, keepdims=True)
        return self

    def score_samples(self, X):
        return self.kernel(np.asarray(X), self.mean_)[:, 0]


def assert_same_answers(model, other, rows=NEW_ROWS):
    """Every method of both gives the same bits, and so does what they know of their own rows."""
    methods = [name for name in _METHODS if callable(getattr(model, name, None))]
    stored = [name for name in _STORED_ANSWERS if hasattr(model, name)]
    assert methods or stored
    for name in methods:
        expected, got = getattr(model, name)(rows), getattr(other, name)(rows)
        np.testing.assert_array_equal(got, expected, err_msg=name, strict=True)
    for name in stored:
        np.testing.assert_array_equal(getattr(other, name), getattr(model, name), err_msg=name)

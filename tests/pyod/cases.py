"""Rows and detectors that the tests of PyOD's interface share."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from kernova import pyod as wrapper
from kernova.pyod import as_pyod

HAS_PYOD = importlib.util.find_spec("pyod") is not None
needs_pyod = pytest.mark.skipif(not HAS_PYOD, reason="PyOD is not installed (extra `peers`)")

_random = np.random.default_rng(0)
X = np.vstack([_random.normal(size=(195, 4)), _random.uniform(-9, 9, size=(5, 4))])
NEW = np.vstack([_random.normal(size=(45, 4)), _random.uniform(-9, 9, size=(15, 4))])
IS_OUTLIER = np.arange(60) >= 45
FOREST = IsolationForest(n_estimators=20, random_state=0)


class Closeness(BaseEstimator):
    """A detector of the user's own, with decision_function only and no column checks."""

    def fit(self, X, y=None):
        self.centre_ = np.mean(X, axis=0)
        return self

    def decision_function(self, X):
        return 3 - np.linalg.norm(np.asarray(X) - self.centre_, axis=1)


def pyod_lof(contamination=0.1):
    from pyod.models.lof import LOF

    return LOF(contamination=contamination)


def lof_as_pyod(contamination=0.1):
    return as_pyod(LocalOutlierFactor(), contamination)


def lof_as_pyod_without_pyod(contamination=0.1):
    """Make it from a second copy of the module, for which there is no PyOD."""
    name = "kernova_pyod_without_pyod"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, wrapper.__file__)
        sys.modules[name] = importlib.util.module_from_spec(spec)  # or pickle could not find it
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "pyod.models.base", None)
            spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].as_pyod(LocalOutlierFactor(), contamination)

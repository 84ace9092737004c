"""Bad input of PyOD's interface: each raises with a message that says what to do."""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernova import SpatialDepth
from kernova.errors import InputError
from kernova.pyod import as_pyod, from_pyod
from tests.pyod.cases import FOREST, Closeness, X, lof_as_pyod_without_pyod


class Broken(Closeness):
    """Gives no number for its second row."""

    def decision_function(self, X):
        return np.where(np.arange(len(X)) == 1, np.nan, 0.0)


class WithoutScores(Closeness):
    """Almost a detector of PyOD, but fit stores no scores."""


BAD_INPUT = {
    "a list": (
        lambda: as_pyod([1, 2]),
        "A detector needs fit, get_params and set_params; list does not have them all.",
    ),
    "a class": (
        lambda: as_pyod(SpatialDepth),
        "Pass a detector, not its class: SpatialDepth() instead of SpatialDepth.",
    ),
    "a classifier": (
        lambda: as_pyod(make_pipeline(StandardScaler(), LogisticRegression())),
        "LogisticRegression is a classifier. Pass an outlier detector.",
    ),
    "a clusterer": (
        lambda: as_pyod(KMeans()),
        "KMeans cannot score rows: it has neither score_samples nor decision_function. Choose a "
        "detector that has one.",
    ),
    "twice": (
        lambda: as_pyod(make_pipeline(StandardScaler(), as_pyod(SpatialDepth()))),
        "AsPyod has PyOD's interface already. Use it without as_pyod.",
    ),
    "twice, set later": (
        lambda: as_pyod(FOREST).set_params(detector=as_pyod(SpatialDepth())).fit(X),
        "AsPyod has PyOD's interface already. Use it without as_pyod.",
    ),
    "back from an outlier factor": (
        lambda: from_pyod(LocalOutlierFactor()),
        "LocalOutlierFactor has scikit-learn's interface already. Use it without from_pyod.",
    ),
    "back from where it is": (
        lambda: from_pyod(FOREST),
        "IsolationForest has scikit-learn's interface already. Use it without from_pyod.",
    ),
    "back from where it is, set later": (
        lambda: from_pyod(as_pyod(FOREST)).set_params(detector=FOREST).fit(X),
        "IsolationForest has scikit-learn's interface already. Use it without from_pyod.",
    ),
    "back twice": (
        lambda: from_pyod(from_pyod(as_pyod(FOREST))),
        "FromPyod has scikit-learn's interface already. Use it without from_pyod.",
    ),
    "back without scores": (
        lambda: from_pyod(WithoutScores()).fit(X),
        "WithoutScores is not a detector of PyOD: it has no decision_scores_ after fit. Pass one "
        "of PyOD's detectors.",
    ),
    "no fraction": (
        lambda: as_pyod(FOREST, True),
        'contamination must be "auto", None, or a number above 0 and at most 0.5; got True.',
    ),
    "no fraction, set later": (
        lambda: as_pyod(FOREST).set_params(contamination="Auto").fit(X),
        'contamination must be "auto", None, or a number above 0 and at most 0.5; got \'Auto\'.',
    ),
    "no threshold": (
        lambda: as_pyod(make_pipeline(StandardScaler(), KernelDensity())).fit(X),
        "KernelDensity has no threshold of its own. Set contamination in as_pyod, for example to "
        "0.1.",
    ),
    "a method": (
        lambda: as_pyod(FOREST).fit(X).predict_proba(X, "logistic"),
        'method must be "linear" or "unify"; got \'logistic\'.',
    ),
    "scores that are no numbers": (
        lambda: as_pyod(Broken()).fit(X),
        "The scores that Broken gives must be finite; 1 of 200 are not, the first at position 1. "
        "Leave such rows out.",
    ),
    "costs without a fraction": (
        lambda: as_pyod(FOREST).fit(X).compute_rejection_stats(),
        "The cost of rejection depends on the fraction of outliers; set contamination to it, as "
        "a number above 0 and at most 0.5, instead of 'auto'.",
    ),
    "costs without PyOD": (
        lambda: lof_as_pyod_without_pyod().fit(X).compute_rejection_stats(),
        "Only PyOD computes the cost of rejection. Install it: pip install pyod.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_raises_with_a_message(name):
    attempt, message = BAD_INPUT[name]
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        attempt()

"""Bad input of explain: each raises with a message that says what to do."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernova import CalibratedDetector, InputError, SpatialDepth, TableEncoder
from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor
from kernova.description.recognizer import TableRecognizer
from kernova.explain.explanation import explain
from kernova.pyod import as_pyod
from tests.explain.cases import CLASSES, DEPTH, FRAME_DEPTH, KINDS, KNOWN, TABLE, X, one


class Odd(BaseEstimator):
    """A detector that returns the given scores."""

    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def decision_function(self, X):
        return np.resize(self.scores, (len(X), *np.shape(self.scores)[1:]))


def with_nan():
    rows = X.copy()
    rows[7, 1] = np.nan
    return rows


RKOF = RobustKernelOutlierFactor().fit(X)
NO_ORDINARY = (
    "There is no ordinary row to compare with: all rows are outliers or are to be explained. Pass "
    "ordinary rows as known."
)
BAD_INPUT = {
    "unfitted": (
        lambda: explain(SpatialDepth(), X),
        "This SpatialDepth is not fitted yet. Call fit before explain.",
    ),
    "unfitted pipeline": (
        lambda: explain(make_pipeline(StandardScaler(), SpatialDepth()), X),
        "This Pipeline is not fitted yet. Call fit before explain.",
    ),
    "unfitted calibration": (
        lambda: explain(CalibratedDetector(), X),
        "This CalibratedDetector is not fitted yet. Call fit before explain.",
    ),
    "unfitted as in PyOD": (
        lambda: explain(as_pyod(SpatialDepth()), X),
        "This AsPyod is not fitted yet. Call fit before explain.",
    ),
    "no model": (
        lambda: explain("depth", X),
        "The model must be a fitted detector; got 'depth'.",
    ),
    "no scores of new rows": (
        lambda: explain(LocalOutlierFactor().fit(X), X),
        "LocalOutlierFactor cannot score hypothetical rows: it has neither score_samples nor "
        "decision_function. Choose a detector that has one (LocalOutlierFactor: with "
        "novelty=True).",
    ),
    "classifier": (
        lambda: explain(LogisticRegression().fit(X, X[:, 0] > 0), X),
        "LogisticRegression is a classifier; explain takes an outlier detector.",
    ),
    "distances": (
        lambda: explain(
            LocalOutlierFactor(metric="precomputed", novelty=True).fit(np.ones((30, 30))), X
        ),
        "LocalOutlierFactor takes distances, not features, so no feature can be explained. Fit it "
        "on the rows themselves.",
    ),
    "no verdicts": (
        lambda: explain(KernelDensity().fit(X), X),
        "KernelDensity scores rows but has no outlier verdicts. Set rows to the rows to explain.",
    ),
    "verdicts of another kind": (
        lambda: explain(GaussianMixture(random_state=0).fit(X), X),
        "GaussianMixture scores rows but has no outlier verdicts. Set rows to the rows to explain.",
    ),
    "row out of range": (
        lambda: explain(DEPTH, X, [3, 80]),
        "There is no row 80: X has rows 0 to 79.",
    ),
    "negative row": (lambda: explain(DEPTH, X, [-1]), "There is no row -1: X has rows 0 to 79."),
    "row twice": (lambda: explain(DEPTH, X, [3, 5, 3]), "rows contains row 3 more than once."),
    "labels for rows": (
        lambda: explain(FRAME_DEPTH, TABLE, ["r4"]),
        "rows must be row numbers or a mask of true and false; got 'r4'.",
    ),
    "fractions for rows": (
        lambda: explain(DEPTH, X, [1.5]),
        "rows must be row numbers or a mask of true and false; got 1.5.",
    ),
    "rows of rows": (
        lambda: explain(DEPTH, X, [[1, 2], [3, 4]]),
        "rows must be a list of row numbers; got an array of 2 axes.",
    ),
    "short mask": (
        lambda: explain(DEPTH, X, [True, False]),
        "The mask has 2 entries for the 80 rows of X.",
    ),
    "labels twice": (
        lambda: explain(FRAME_DEPTH, TABLE.set_axis(["s"] * 80), [4, 9]),
        "Several of the rows to explain have the label 's'. Pass X with a unique index, such as "
        "X.reset_index(drop=True).",
    ),
    "other columns": (
        lambda: explain(FRAME_DEPTH, TABLE.rename(columns={"b": "d"})),
        "X has other columns than the model saw: missing 'b'; extra 'd'. Pass the columns of fit, "
        "in their order.",
    ),
    "other order": (
        lambda: explain(FRAME_DEPTH, TABLE[["b", "a", "c"]]),
        "X has other columns than the model saw: the order differs. Pass the columns of fit, in "
        "their order.",
    ),
    "other number of columns": (
        lambda: explain(DEPTH, X[:, :2]),
        "X has 2 columns; the model saw 3 in fit.",
    ),
    "known with other columns": (
        lambda: explain(DEPTH, X, known=X[:, :2]),
        "known has 2 columns; the model saw 3 in fit.",
    ),
    "columns of one name": (
        lambda: explain(Odd([1.0]).fit(X), TABLE.set_axis(["a", "b", "b"], axis=1), [4]),
        "X has several columns named 'b'; rename them.",
    ),
    "one axis": (
        lambda: explain(DEPTH, X[0]),
        "X must be a table with at least one row and one column; got shape (3,).",
    ),
    "no rows": (
        lambda: explain(FRAME_DEPTH, TABLE.iloc[:0]),
        "X must be a table with at least one row and one column; got shape (0, 3).",
    ),
    "ragged": (lambda: explain(DEPTH, [[1, 2], [3]]), "X must be rows of equal length."),
    "sparse": (
        lambda: explain(DEPTH, csr_matrix(X)),
        "X is sparse; explain needs dense rows. Take X.toarray().",
    ),
    "NaN": (
        lambda: explain(DEPTH, with_nan()),
        "SpatialDepth cannot score these rows: Input X contains NaN.",
    ),
    "missing in a table": (
        lambda: explain(
            make_pipeline(TableEncoder(), SpatialDepth()).fit(TABLE), TABLE.replace(8.0, np.nan)
        ),
        "The table has missing values (NaN), counted by column: 'b' 1. Fill them in, drop those "
        "rows, or encode with missing='auto' or missing='fill'.",
    ),
    "scores of two kinds": (
        lambda: explain(Odd([[1.0, 2.0]]).fit(X), X),
        "Odd returns scores of shape (80, 2) for 80 rows; one number for each row is needed.",
    ),
    "scores that are none": (
        lambda: explain(Odd([1.0, np.nan]).fit(X), X),
        "Odd returns NaN as a score, which cannot be explained.",
    ),
    "all outliers": (lambda: explain(Odd([-1.0]).fit(X), X), NO_ORDINARY),
    "single row": (lambda: explain(DEPTH, X[[4]]), NO_ORDINARY),
    "single ordinary row": (lambda: explain(DEPTH, np.zeros((1, 3)), [0]), NO_ORDINARY),
    "all rows named": (lambda: explain(KernelDensity().fit(X), X, range(80)), NO_ORDINARY),
    "not the rows of fit": (
        lambda: explain(RKOF, X[::-1], [4]),
        "With novelty=False, RobustKernelOutlierFactor explains the rows it was fitted on, and "
        "row 4 of X does not score as row 4 of fit did. Give the X of fit, or fit with "
        "novelty=True.",
    ),
    "fewer rows than in fit": (
        lambda: explain(RKOF, X[:50]),
        "With novelty=False, RobustKernelOutlierFactor explains the rows it was fitted on, and X "
        "has 50 rows and fit saw 80. Give the X of fit, or fit with novelty=True.",
    ),
    "known beside the rows of fit": (
        lambda: explain(RKOF, X, known=X),
        "With novelty=False, RobustKernelOutlierFactor compares rows with the others it was "
        "fitted on. Leave known out, or fit with novelty=True.",
    ),
    "no known class": (
        lambda: explain(CLASSES, one(c=30.0), rows=[0]),
        "There is nothing to compare with: no row is of a known class. Pass the rows that the "
        "model was fitted on as known.",
    ),
    "no other class": (
        lambda: explain(CLASSES, one(), rows=[0], known=KNOWN[KINDS == "carp"]),
        "There is nothing to compare with: no row is of another class than carp. Pass the rows "
        "that the model was fitted on as known.",
    ),
    "NaN in a row to recognise": (
        lambda: explain(CLASSES, one(c=np.nan), rows=[0], known=KNOWN),
        "MulticlassDataDescription cannot score these rows: Input X contains NaN.",
    ),
    "unfitted recogniser": (
        lambda: explain(TableRecognizer(), KNOWN),
        "This TableRecognizer is not fitted yet. Call fit before explain.",
    ),
    "n_nearest": (
        lambda: explain(DEPTH, X, n_nearest=0),
        "n_nearest must be a whole number of at least 1; got 0.",
    ),
    "budget": (
        lambda: explain(DEPTH, X, budget=2.5),
        "budget must be a whole number of at least 1; got 2.5.",
    ),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_raises_with_a_message(name):
    attempt, message = BAD_INPUT[name]
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        attempt()

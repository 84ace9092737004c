"""How explanations are asked for and read: rows, labels, known rows, words, and refusals."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernova import CalibratedDetector, InputError, SpatialDepth, TableEncoder
from kernova.explain import explain, top_features
from kernova.pyod import as_pyod
from kernova.score.outlier_factor import RobustKernelOutlierFactor

COLUMNS = ["row", "feature", "value", "ordinary_value", "share", "nearest"]
random = np.random.default_rng(3)
X = random.normal(size=(80, 3))
X[4] = 0.0, 8.0, 0.0
X[9] = 5.0, 5.0, 5.0
TABLE = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"r{i}" for i in range(80)])
DEPTH = SpatialDepth().fit(X)
FRAME_DEPTH = SpatialDepth().fit(TABLE)


# --- rows and labels -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        [4, 9],
        (4, 9),
        np.array([4, 9], dtype=np.uint8),
        range(4, 10, 5),
        np.isin(np.arange(80), [4, 9]),
        pd.Series(np.isin(np.arange(80), [4, 9])),
        np.isin(np.arange(80), [4, 9]).tolist(),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_may_be_numbers_or_a_mask(rows):
    explanation = explain(DEPTH, X, rows)
    assert list(explanation.columns) == COLUMNS
    assert explanation["row"].tolist() == [4, 4, 4, 9, 9, 9]
    pd.testing.assert_frame_equal(explanation, explain(DEPTH, X, [4, 9]))


def test_rows_come_in_the_order_asked_for():
    assert explain(DEPTH, X, [9, 4])["row"].unique().tolist() == [9, 4]
    assert explain(DEPTH, X, 9)["row"].unique().tolist() == [9]


@pytest.mark.parametrize("rows", [[], np.zeros(80, dtype=bool), None])
def test_nothing_to_explain_gives_an_empty_table(rows):
    inner = np.argsort(-DEPTH.score_samples(X))[:40]  # none of them is an outlier
    explanation = explain(DEPTH, X, rows) if rows is not None else explain(DEPTH, X[inner])
    assert list(explanation.columns) == COLUMNS
    assert len(explanation) == 0
    assert len(top_features(explanation)) == 0


def test_names_and_labels_are_the_users():
    of_table, of_array = explain(FRAME_DEPTH, TABLE, [4, 9]), explain(DEPTH, X, [4, 9])
    assert of_table["row"].tolist() == ["r4"] * 3 + ["r9"] * 3
    assert of_table["feature"].iloc[0] == "b"
    assert of_array["feature"].iloc[0] == "x1"
    np.testing.assert_array_equal(of_table["share"], of_array["share"])
    np.testing.assert_array_equal(of_table["value"], of_array["value"])
    numbered = [tuple(f"r{i}" for i in nearest) for nearest in of_array["nearest"]]
    assert of_table["nearest"].tolist() == numbered
    assert all(type(label) is int for label in of_array["nearest"].iloc[0])


def test_names_may_be_given_to_a_model_that_saw_none():
    named = explain(DEPTH, TABLE, [4])
    pd.testing.assert_frame_equal(named, explain(FRAME_DEPTH, TABLE, [4]))


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_product([["north", "south"], range(40)]),
        pd.date_range("2024-01-01", periods=80),
        pd.Index(np.arange(80) / 2),
    ],
    ids=lambda index: type(index).__name__,
)
def test_any_index_labels_the_rows(index):
    table = TABLE.set_axis(index)
    explanation = explain(FRAME_DEPTH, table, [4, 9])
    assert explanation["row"].unique().tolist() == [index[4], index[9]]
    assert set(explanation["nearest"].iloc[0]) < set(index)
    assert top_features(explanation).index.tolist() == [index[4], index[9]]


def test_values_are_as_they_were_given():
    table = pd.DataFrame(
        {
            "n": pd.array([1, 2, 3, 4] * 20, dtype="Int64"),
            "kind": pd.Categorical(["p", "q"] * 40),
            "sure": [True] * 79 + [False],
            "text": pd.array(["u"] * 78 + [None, "v"], dtype="string"),
            "mass": [2.0, 4.0] * 40,
        }
    )
    encoder = TableEncoder(missing="fill")
    model = make_pipeline(encoder, SpatialDepth()).fit(table)
    lines = explain(model, table, [79]).set_index("feature")
    assert lines["value"].to_dict() == {"n": 4, "kind": "q", "sure": False, "text": "v", "mass": 4}
    usual = lines["ordinary_value"].to_dict()
    assert (usual["sure"], usual["text"]) == (True, "u")
    nearest = table.loc[list(lines["nearest"].iloc[0])]
    assert usual["n"] == nearest["n"].median()
    assert usual["kind"] == nearest["kind"].mode().iloc[0]


# --- known rows ------------------------------------------------------------------------------


def test_new_rows_are_compared_with_known_ones():
    known = TABLE.drop(["r4", "r9"])
    model = SpatialDepth().fit(known)
    new = pd.DataFrame([[0.0, 8.0, 0.0], [0.1, 0.1, 0.1]], columns=["a", "b", "c"])
    explanation = explain(model, new, known=known)
    assert explanation["row"].tolist() == [0, 0, 0]
    assert explanation["feature"].iloc[0] == "b"
    assert set(explanation["nearest"].iloc[0]) < set(known.index)
    together = pd.concat([new, known])
    same = explain(model, together, [0])
    np.testing.assert_allclose(same["share"], explanation["share"], atol=0.02)


def test_known_rows_may_hold_other_categories():
    kinds = pd.DataFrame({"kind": pd.Categorical(["p", "q"] * 40), "mass": np.linspace(1, 2, 80)})
    new = pd.DataFrame({"kind": pd.Categorical(["z"]), "mass": [1.5]})
    model = make_pipeline(TableEncoder(category_weight=9.0), SpatialDepth()).fit(kinds)
    explanation = explain(model, new, [0], known=kinds)
    assert explanation["feature"].iloc[0] == "kind"
    assert explanation["value"].iloc[0] == "z"
    assert explanation["ordinary_value"].iloc[0] in ("p", "q")


# --- words -----------------------------------------------------------------------------------


def test_top_features_in_words():
    explanation = pd.DataFrame(
        {
            "row": ["A7"] * 4 + ["B1"] * 2,
            "feature": ["TSH", "colour", "T3", "age", "TSH", "T3"],
            "value": [0.53, "red", 12.0, np.nan, 1.0, 2.0],
            "ordinary_value": [0.02, "blue", 12.004, 60.0, 1.0, 2.0],
            "share": [0.5, 0.3, 0.15, 0.05, 0.0, -0.0],
            "nearest": [("C", "D")] * 6,
        }
    )
    words = top_features(explanation)
    assert words.to_dict() == {
        "A7": "TSH = 0.53 (usually 0.02), colour = red (usually blue), T3 = 12 (usually 12.004)",
        "B1": "no feature speaks against it",
    }
    assert top_features(explanation, n=1)["A7"] == "TSH = 0.53 (usually 0.02)"
    assert top_features(explanation, n=9)["A7"].endswith(", age = missing (usually 60)")
    with pytest.raises(InputError) as caught:
        top_features(explanation.drop(columns=["share"]))
    assert str(caught.value) == (
        "An explanation has the columns 'row', 'feature', 'value', 'ordinary_value', 'share', "
        "'nearest'; missing are 'share'."
    )


def test_package_and_function_of_one_name_can_both_be_called():
    code = """
import sys
import kernova
if sys.argv[1] == "package first":
    from kernova.explain import top_features
kernova._HOME_OF.setdefault("explain", "kernova.explain")
from kernova import explain
import numpy as np
X = np.vstack([np.random.default_rng(0).normal(size=(50, 2)), [[9.0, 0.0]]])
print(explain(kernova.SpatialDepth().fit(X), X, [50])["feature"].iloc[0])
from kernova.explain import explain, top_features
"""
    for order in ("package first", "function first"):
        run = subprocess.run(
            [sys.executable, "-c", code, order], capture_output=True, text=True, check=False
        )
        assert (run.stdout, run.stderr) == ("x0\n", "")


# --- refusals --------------------------------------------------------------------------------


class Odd(BaseEstimator):
    """A detector that gives whatever it was told to."""

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
    "There is no ordinary row to compare with: all rows looked at are outliers, or are to be "
    "explained. Give ordinary rows as known."
)
REFUSALS = {
    "unfitted": (
        lambda: explain(SpatialDepth(), X),
        "This SpatialDepth is not fitted yet. Call fit before explaining what it says.",
    ),
    "unfitted pipeline": (
        lambda: explain(make_pipeline(StandardScaler(), SpatialDepth()), X),
        "This Pipeline is not fitted yet. Call fit before explaining what it says.",
    ),
    "unfitted calibration": (
        lambda: explain(CalibratedDetector(), X),
        "This CalibratedDetector is not fitted yet. Call fit before explaining what it says.",
    ),
    "unfitted as in PyOD": (
        lambda: explain(as_pyod(SpatialDepth()), X),
        "This AsPyod is not fitted yet. Call fit before explaining what it says.",
    ),
    "no model": (
        lambda: explain("depth", X),
        "The model is to be a fitted detector; got 'depth'.",
    ),
    "no scores of new rows": (
        lambda: explain(LocalOutlierFactor().fit(X), X),
        "LocalOutlierFactor cannot score hypothetical rows: it has neither score_samples nor "
        "decision_function. Choose a detector that has one (LocalOutlierFactor: with "
        "novelty=True).",
    ),
    "classifier": (
        lambda: explain(LogisticRegression().fit(X, X[:, 0] > 0), X),
        "LogisticRegression tells classes apart; explain takes a detector of outliers.",
    ),
    "distances": (
        lambda: explain(
            LocalOutlierFactor(metric="precomputed", novelty=True).fit(np.ones((30, 30))), X
        ),
        "LocalOutlierFactor takes distances, not features, so no feature can be blamed. Fit it on "
        "the rows themselves.",
    ),
    "no verdicts": (
        lambda: explain(KernelDensity().fit(X), X),
        "KernelDensity scores rows but calls none of them outliers. Say which rows to explain.",
    ),
    "row out of range": (
        lambda: explain(DEPTH, X, [3, 80]),
        "There is no row 80: X has rows 0 to 79.",
    ),
    "negative row": (lambda: explain(DEPTH, X, [-1]), "There is no row -1: X has rows 0 to 79."),
    "row twice": (lambda: explain(DEPTH, X, [3, 5, 3]), "rows names row 3 more than once."),
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
        "Several of the rows to explain are labelled 's'. Give X an index without repetitions, "
        "such as X.reset_index(drop=True).",
    ),
    "other columns": (
        lambda: explain(FRAME_DEPTH, TABLE.rename(columns={"b": "d"})),
        "X has other columns than the model saw: missing 'b'; extra 'd'. Give it the columns of "
        "fit, in their order.",
    ),
    "other order": (
        lambda: explain(FRAME_DEPTH, TABLE[["b", "a", "c"]]),
        "X has other columns than the model saw: the order differs. Give it the columns of fit, "
        "in their order.",
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
        "rows, or encode with missing='fill'.",
    ),
    "scores of two kinds": (
        lambda: explain(Odd([[1.0, 2.0]]).fit(X), X),
        "Odd gives scores of shape (80, 2) for 80 rows; one number for each row is needed.",
    ),
    "scores that are none": (
        lambda: explain(Odd([1.0, np.nan]).fit(X), X),
        "Odd gives NaN as a score, which cannot be explained.",
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
    "n_nearest": (
        lambda: explain(DEPTH, X, n_nearest=0),
        "n_nearest must be a whole number of at least 1; got 0.",
    ),
    "budget": (
        lambda: explain(DEPTH, X, budget=2.5),
        "budget must be a whole number of at least 1; got 2.5.",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_say_what_to_do(name):
    ask, sentence = REFUSALS[name]
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        ask()


def test_an_ordinary_row_is_explained_too_and_not_by_itself():
    inner = np.argsort(-DEPTH.score_samples(X))[20]
    assert DEPTH.predict(X)[inner] == 1
    explanation = explain(DEPTH, X, [inner], n_nearest=99)
    (nearest,) = set(explanation["nearest"])
    assert set(nearest) == set(np.flatnonzero(DEPTH.predict(X) == 1)) - {inner}

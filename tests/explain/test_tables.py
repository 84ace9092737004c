"""Input and output of explanations: rows, labels, known rows, and short texts."""

import importlib

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from kernova import InputError, SpatialDepth, TableEncoder
from kernova.explain.explanation import explain, top_features
from kernova.explain.tables import ordinary_values
from tests.explain import messages
from tests.explain.cases import DEPTH, FRAME_DEPTH, TABLE, X

COLUMNS = ["row", "feature", "value", "ordinary_value", "share", "nearest"]


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


def test_rows_come_in_the_given_order():
    assert explain(DEPTH, X, [9, 4])["row"].unique().tolist() == [9, 4]
    assert explain(DEPTH, X, 9)["row"].unique().tolist() == [9]


@pytest.mark.parametrize("rows", [[], np.zeros(80, dtype=bool), None])
def test_nothing_to_explain_gives_an_empty_table(rows):
    inner = np.argsort(-DEPTH.score_samples(X))[:40]  # none of them is an outlier
    explanation = explain(DEPTH, X, rows) if rows is not None else explain(DEPTH, X[inner])
    assert list(explanation.columns) == COLUMNS
    assert len(explanation) == 0
    assert len(top_features(explanation)) == 0


def test_names_and_labels_are_those_of_the_user():
    of_table, of_array = explain(FRAME_DEPTH, TABLE, [4, 9]), explain(DEPTH, X, [4, 9])
    assert of_table["row"].tolist() == ["r4"] * 3 + ["r9"] * 3
    assert of_table["feature"].iloc[0] == "b"
    assert of_array["feature"].iloc[0] == "x1"
    np.testing.assert_array_equal(of_table["share"], of_array["share"])
    np.testing.assert_array_equal(of_table["value"], of_array["value"])
    numbered = [tuple(f"r{i}" for i in nearest) for nearest in of_array["nearest"]]
    assert of_table["nearest"].tolist() == numbered
    assert all(type(label) is int for label in of_array["nearest"].iloc[0])


def test_a_model_fitted_without_names_explains_a_table_with_names():
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
    ordinary = lines["ordinary_value"].to_dict()
    assert (str(ordinary["sure"]), ordinary["text"]) == ("True", "u")
    nearest = table.loc[list(lines["nearest"].iloc[0])]
    assert ordinary["n"] == nearest["n"].median()
    assert ordinary["kind"] == nearest["kind"].mode().iloc[0]


@pytest.mark.parametrize(
    ("column", "ordinary"),
    [
        (["b", "a", "a", "b", "c"], "b"),  # as common as "a", and nearer
        (["b", "a", "a", None, None], "a"),
        ([None, None, None, "a", None], "a"),
        ([None, None, None, None, None], None),
        ([5.0, np.nan, 1.0, np.nan, 2.0], 2.0),
        ([5, 1, 1, 1, 9], 1.0),
        ([1.7e308, 1.6e308, 1.7e308, 1.6e308, np.nan], 1.65e308),
        ([True, False, True, False, True], True),
    ],
)
def test_ordinary_values_are_medians_or_most_frequent_values(column, ordinary):
    table = pd.DataFrame({"column": [*column, "z" if isinstance(ordinary, str) else column[0]]})
    ((found,),) = ordinary_values(table, [np.arange(5)])
    assert found == (pytest.approx(ordinary) if isinstance(ordinary, float) else ordinary)
    assert isinstance(found, float) == isinstance(ordinary, float)


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


# --- texts -----------------------------------------------------------------------------------


def test_top_features_are_short_texts():
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
    texts = top_features(explanation)
    assert texts.to_dict() == {
        "A7": "TSH = 0.53 (usually 0.02), colour = red (usually blue), T3 = 12 (usually 12.004)",
        "B1": "no feature is unusual",
    }
    assert top_features(explanation, n=1)["A7"] == "TSH = 0.53 (usually 0.02)"
    assert top_features(explanation.assign(share=[1, 0.02, 0.019, 0, 0, 0]))["A7"] == (
        "TSH = 0.53 (usually 0.02), colour = red (usually blue)"
    )
    unlabelled = top_features(explanation.replace({"row": {"A7": np.nan}}))
    assert unlabelled.tolist() == texts.tolist()
    assert top_features(explanation, n=9)["A7"].endswith(", age = missing (usually 60)")
    with pytest.raises(InputError) as caught:
        top_features(explanation.drop(columns=["share"]))
    assert str(caught.value) == messages.NO_SHARE


def test_the_package_can_be_called_like_its_function():
    # If the package is imported before kernova.explain is used, that name is the package.
    package = importlib.import_module("kernova.explain")
    pd.testing.assert_frame_equal(
        package(DEPTH, X, [4], budget=9), explain(DEPTH, X, [4], budget=9)
    )


def test_an_ordinary_row_is_explained_too_and_not_by_itself():
    inner = np.argsort(-DEPTH.score_samples(X))[20]
    assert DEPTH.predict(X)[inner] == 1
    explanation = explain(DEPTH, X, [inner], n_nearest=99)
    (nearest,) = set(explanation["nearest"])
    assert set(nearest) == set(np.flatnonzero(DEPTH.predict(X) == 1)) - {inner}
    (among_known,) = set(explain(DEPTH, X, [inner], known=X, n_nearest=99)["nearest"])
    assert set(among_known) == {*nearest, inner}  # there it is another row, a duplicate

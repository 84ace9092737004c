"""Tables of every kind in an ensemble: accepted with finite scores, or refused by a sentence."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.exceptions import NotFittedError

from kernova import DetectorEnsemble, InputError
from kernova.tables.encoding import align_columns
from tests.anomaly import messages
from tests.anomaly.test_ensemble import mixed_table


def assert_finite(ensemble, *tables):
    """All results for the training rows and some others are numbers."""
    scores = [ensemble.training_scores_, *(ensemble.score_samples(table) for table in tables)]
    for some in scores:
        assert np.isfinite(some).all()
        assert some.max(initial=-np.inf) <= 0
    assert set(ensemble.left_out_).isdisjoint(ensemble.members_)


def refused(message):
    return pytest.raises(InputError, match=f"^{re.escape(message)}$")


ROWS = np.random.default_rng(0).normal(size=(60, 3))
FAR = np.array([[1e300, -1e300, 0.0], [1e-300, np.nan, 1.7e308]])


@pytest.mark.parametrize(
    "X",
    [
        ROWS[:2],
        ROWS[:3],
        ROWS[:, [0, 0, 0]],
        np.ones((20, 3)),
        np.full((9, 3), np.nan),
        np.repeat(ROWS[:3], 20, axis=0),
        np.where(ROWS > 1, np.nan, ROWS),
        np.column_stack([ROWS[:, :2], np.full(60, np.nan)]),
        ROWS * 1e300,
        ROWS * 1e-310,
        np.vstack([ROWS, FAR]),
        np.vstack([ROWS, [[1.7e308] * 3, [-1.7e308] * 3]]),
        np.round(ROWS),
        (10 * ROWS).astype(np.int8),
        ROWS > 0,
        ROWS.astype(np.float32),
        ROWS.astype(object),
        ROWS.tolist(),
        pd.DataFrame(ROWS).astype("Float64"),
        pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(np.round(ROWS))),
    ],
)
def test_tables_of_numbers_of_any_kind_have_finite_scores(X):
    assert_finite(DetectorEnsemble().fit(X), X, FAR, ROWS, ROWS[:1])


@settings(max_examples=40, deadline=None)
@given(
    arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6),
        elements=st.one_of(
            st.floats(allow_infinity=False), st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1.7e308])
        ),
    )
)
def test_any_finite_numbers_have_finite_scores(X):
    assert_finite(DetectorEnsemble().fit(X[1:] if len(X) > 2 else X), X)


@pytest.mark.parametrize("X", [ROWS[:, :1], np.round(ROWS[:, :1])])
def test_one_column_is_enough(X):
    ensemble = DetectorEnsemble().fit(X)
    assert_finite(ensemble, X)
    assert ensemble.score_samples([[0.0], [50.0]]).argmin() == 1


def test_a_thousand_columns_leave_out_correlations_and_say_so():
    random = np.random.default_rng(0)
    ensemble = DetectorEnsemble(members=["nearest-standard", "linear"]).fit(
        random.normal(size=(50, 1000))
    )
    assert ensemble.left_out_ == {
        "linear": "Correlations of 1000 columns would take long; the limit is 400."
    }
    new = random.normal(size=(2, 1000))
    new[1] += 1
    assert ensemble.score_samples(new).argmin() == 1


def test_rows_that_are_all_alike_are_usual_and_any_other_row_is_strange():
    ensemble = DetectorEnsemble().fit(pd.DataFrame({"a": [1.0] * 30, "b": ["x"] * 30}))
    new = pd.DataFrame({"a": [1.0, 2.0, 1.0], "b": ["x", "x", "y"]})
    usual, *others = ensemble.score_samples(new)
    assert (ensemble.training_scores_ == usual).all()
    assert max(others) < usual
    assert ensemble.notes_ == (
        "Columns 'a', 'b' are constant; a row is compared in them only if it differs.",
    )


# --- frames --------------------------------------------------------------------------------------


def nullable_table(n_rows=80):
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "whole": pd.array(random.integers(0, 50, n_rows), dtype="Int64"),
            "flag": pd.array(random.random(n_rows) > 0.5, dtype="boolean"),
            "text": pd.array(random.choice(list("abc"), n_rows), dtype="string"),
            "level": pd.Categorical(random.choice(list("xyz"), n_rows)),
            "number": pd.array(random.normal(size=n_rows), dtype="Float64"),
            "plain": random.random(n_rows) > 0.5,
        }
    )


def plain(table):
    kinds = {"whole": float, "flag": bool, "text": object, "level": object, "number": float}
    return table.astype(kinds)


def test_nullable_types_are_read_like_plain_ones():
    table = nullable_table()
    scores = DetectorEnsemble().fit(table).training_scores_
    np.testing.assert_array_equal(scores, DetectorEnsemble().fit(plain(table)).training_scores_)


def test_missing_values_of_any_type_count():
    table = nullable_table()
    ensemble = DetectorEnsemble().fit(table)
    new = nullable_table().iloc[:6].reset_index(drop=True)
    for row, name in enumerate(["whole", "flag", "text", "level", "number"]):
        new.loc[row, name] = pd.NA
    scores = ensemble.score_samples(new)
    assert scores[:5].max() < np.quantile(ensemble.training_scores_, 0.05)
    table.loc[:40, ["whole", "flag", "text", "level", "number"]] = pd.NA
    assert_finite(DetectorEnsemble().fit(table), table, new)


def test_unknown_levels_are_strange():
    table = mixed_table(200)
    new = table.iloc[:2].assign(sex=["f", "unknown"])
    assert DetectorEnsemble().fit(table).score_samples(new).argmin() == 1


class OtherFrame:
    """A frame of another library that gives its columns by the Arrow interface, as polars does."""

    def __init__(self, table):
        self.table = pa.Table.from_pandas(table)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", [pa.Table.from_pandas, OtherFrame])
def test_frames_of_other_libraries_are_tables(kind):
    table, new = mixed_table(100), mixed_table(9, seed=1)
    ensemble = DetectorEnsemble().fit(table)
    other = DetectorEnsemble().fit(kind(table))
    np.testing.assert_array_equal(other.score_samples(kind(new)), ensemble.score_samples(new))
    assert list(other.feature_names_in_) == list(table.columns)


def test_polars_frames_are_tables():
    polars = pytest.importorskip("polars")
    table = mixed_table(100)
    expected = DetectorEnsemble().fit(table).training_scores_
    got = DetectorEnsemble().fit(polars.from_pandas(table)).training_scores_
    np.testing.assert_array_equal(got, expected)


def test_columns_in_another_order_are_refused_and_can_be_aligned():
    table = mixed_table(100)
    ensemble = DetectorEnsemble().fit(table)
    reordered = table[table.columns[::-1]]
    with pytest.raises(ValueError, match="must be in the same order"):
        ensemble.score_samples(reordered)
    aligned = align_columns(reordered, ensemble.feature_names_in_)
    np.testing.assert_array_equal(ensemble.score_samples(aligned), ensemble.training_scores_)


def test_missing_and_extra_columns_are_named():
    table = mixed_table(100)
    ensemble = DetectorEnsemble().fit(table)
    with pytest.raises(ValueError, match="now missing:\n- width"):
        ensemble.score_samples(table.drop(columns="width"))
    with pytest.raises(ValueError, match="unseen at fit time:\n- depth"):
        ensemble.score_samples(table.assign(depth=1.0))


def test_arrays_of_objects_are_scored_by_an_ensemble_of_mixed_columns():
    table = mixed_table(100)
    ensemble = DetectorEnsemble().fit(table)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        scores = ensemble.score_samples(table.to_numpy())
    np.testing.assert_array_equal(scores, ensemble.training_scores_)


def test_lone_surrogates_and_the_mark_of_missing_values_are_levels_like_others():
    texts = pd.Series(["x", "\udc80", "\x00", None, "x", "x"], dtype=object)
    table = pd.DataFrame({"text": texts, "number": np.arange(6.0)})
    assert_finite(DetectorEnsemble().fit(table), table)


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (scipy.sparse.csr_matrix(ROWS), messages.ENSEMBLE_SPARSE),
        (scipy.sparse.coo_array(ROWS), messages.ENSEMBLE_SPARSE),
        (np.array([["a", 1.0], ["b", 2.0]], dtype=object), messages.ENSEMBLE_TEXT),
        (np.array([[10**400], [1]], dtype=object), messages.ENSEMBLE_TOO_LARGE),
        (pd.DataFrame({"a": [10**400, 1]}), messages.ENSEMBLE_DIGITS),
        (pd.DataFrame(ROWS, columns=["a", "a", "b"]), messages.ENSEMBLE_SAME_NAMES),
        (pd.DataFrame({"a": [1.0, np.inf]}), messages.ENSEMBLE_INFINITE),
        (pd.DataFrame({"a": [1.0, -np.inf], "b": ["x", "y"]}), messages.ENSEMBLE_INFINITE),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 2)}), messages.ENSEMBLE_DATES),
        (pd.DataFrame({"a": [1.0]}), messages.ensemble_size("1 row", "1 column", "2 rows")),
        (pd.DataFrame(index=[0, 1]), messages.ensemble_size("2 rows", "0 columns", "2 rows")),
    ],
)
def test_tables_that_cannot_be_used_are_refused_by_a_sentence(X, message):
    with refused(message):
        DetectorEnsemble().fit(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[np.inf, 0.0], [1.0, 2.0]]), "contains infinity"),
        (ROWS[:1], "1 sample"),
        (ROWS[:, 0], "Expected 2D array"),
        (ROWS[:, :, np.newaxis], "dim 3"),
        (np.empty((0, 3)), "0 sample"),
        (pd.Series(ROWS[:, 0]), "2-dimensional"),
        (None, "Expected 2D array"),
        (ROWS + 1j, "Complex data not supported"),
    ],
)
def test_arrays_that_cannot_be_used_are_refused_as_scikit_learn_does(X, message):
    with pytest.raises(ValueError, match=message):
        DetectorEnsemble().fit(X)


def test_new_rows_that_cannot_be_used_are_refused_by_a_sentence():
    table = mixed_table(50)
    ensemble = DetectorEnsemble().fit(table)
    with refused(messages.ENSEMBLE_WAS_NUMBER):
        ensemble.score_samples(table.iloc[:2].assign(length=pd.Series([1.0, "long"], dtype=object)))
    with refused(messages.ENSEMBLE_SPARSE):
        ensemble.score_samples(scipy.sparse.csr_matrix(ROWS))
    with refused(messages.ensemble_size("0 rows", "5 columns", "1 row")):
        ensemble.score_samples(table.iloc[:0])


def test_nothing_is_scored_before_fit():
    for ask in (
        lambda ensemble: ensemble.training_scores_,
        lambda ensemble: ensemble.score_samples(ROWS),
        lambda ensemble: ensemble.member_scores(),
    ):
        with pytest.raises(NotFittedError):
            ask(DetectorEnsemble())

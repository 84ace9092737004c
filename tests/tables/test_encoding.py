"""Encoding of tables: scaling, categories, missing values, and tables that do not match."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from kernova import InputError, TableEncoder, read_table
from kernova.tables.encoding import align_columns
from tests.tables.messages import OTHER_COLUMNS, WRONG_ORDER

FISH = pd.DataFrame(
    {
        "length": [10.0, 12.0, 17.0, 11.0],
        "sex": ["f", "m", "f", "?"],
        "rings": [3, 4, 4, 9],
        "ripe": [True, False, False, False],
    }
)


@pytest.mark.parametrize(
    ("scaling", "peer"),
    [("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("none", "passthrough")],
)
def test_agrees_with_scikit_learns_own_transformers(scaling, peer):
    weight = 1.7
    own = TableEncoder(scaling=scaling, category_weight=weight).fit(FISH)
    theirs = make_column_transformer(
        (peer, ["length", "rings"]), (OneHotEncoder(sparse_output=False), ["sex", "ripe"])
    ).fit_transform(FISH)

    names = ["length", "rings", "sex=?", "sex=f", "sex=m", "ripe=0", "ripe=1"]
    encoded = own.set_output(transform="pandas").transform(FISH)

    np.testing.assert_allclose(encoded[names[:2]], theirs[:, :2], rtol=0, atol=1e-14)
    np.testing.assert_allclose(encoded[names[2:]], theirs[:, 2:] * weight / np.sqrt(2))
    assert list(encoded) == [
        *("length", "sex=?", "sex=f", "sex=m", "sex=(other)"),
        *("rings", "ripe=0", "ripe=1", "ripe=(other)"),
    ]
    assert (encoded[["sex=(other)", "ripe=(other)"]] == 0).all(axis=None)


@given(
    # pandas 2 ends a text at its first null character.
    known=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3),
        min_size=1,
        max_size=8,
    ),
    weight=st.floats(1e-3, 1e3),
)
def test_rows_that_differ_in_one_category_are_its_weight_apart(known, weight):
    encoder = TableEncoder(category_weight=weight).fit(pd.DataFrame({"a": known, "b": 1.0}))
    values = [*dict.fromkeys(known), "never seen"]

    encoded = encoder.transform(pd.DataFrame({"a": values, "b": 1.0}))

    np.testing.assert_allclose(pdist(encoded), weight, rtol=1e-12)


columns_of_numbers = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
@given(X=columns_of_numbers)
def test_numbers_of_any_size_are_scaled(scaling, X):
    encoded = TableEncoder(scaling=scaling).fit_transform(X)

    assert np.isfinite(encoded).all()
    size = np.abs(X).max(axis=0)
    is_constant = np.ptp(X / np.where(size > 0, size, 1), axis=0) < 1e-12
    assert np.abs(encoded[:, is_constant] / np.maximum(size[is_constant], 1)).max(initial=0) < 1e-12
    varied = encoded[:, ~is_constant]
    if scaling == "standard":
        np.testing.assert_allclose(varied.mean(axis=0), 0, atol=1e-3)
        np.testing.assert_allclose(varied.std(axis=0), 1, atol=1e-3)
    else:
        assert (varied.min(axis=0) == 0).all()
        assert (varied.max(axis=0) == 1).all()


def test_robust_scaling_is_not_moved_by_a_few_gross_numbers():
    rng = np.random.default_rng(0)
    clean = rng.normal(5, 2, size=(200, 1))
    spoiled = clean.copy()
    spoiled[:20] += rng.uniform(5, 60, size=(20, 1))  # too many to be far cells
    robust = TableEncoder(scaling="robust").fit(spoiled)
    standard = TableEncoder().fit(clean)
    assert robust.transform(clean).std() == pytest.approx(standard.transform(clean).std(), rel=0.3)
    assert TableEncoder().fit(spoiled).transform(clean).std() < 0.3
    # Most of the column is one value: the mean distance from it is the scale.
    rare = np.array([[0.0]] * 9 + [[10.0]])
    np.testing.assert_allclose(TableEncoder("robust").fit_transform(rare)[-1], 10.0)


def test_without_scaling_numbers_are_untouched():
    X = np.array([[1e300, -1e-300], [0.1, 1e155]])

    np.testing.assert_array_equal(TableEncoder(scaling="none").fit_transform(X), X)


@pytest.mark.parametrize("exponent", [-1000, -660, 0, 990])
@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_the_unit_of_a_column_does_not_matter(scaling, exponent):
    X = np.random.default_rng(3).normal(size=(50, 3))
    unit = np.ldexp(1.0, exponent)
    encoder = TableEncoder(scaling=scaling)

    np.testing.assert_array_equal(encoder.fit_transform(X * unit), encoder.fit_transform(X))


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_a_constant_column_keeps_raw_differences(scaling):
    encoder = TableEncoder(scaling=scaling).fit([[5.0, 0.3], [5.0, 0.1 + 0.2]])

    np.testing.assert_allclose(
        encoder.transform([[5, 0.3], [7.5, -1.7]]), [[0, 0], [2.5, -2]], atol=1e-15
    )


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_a_huge_value_stays_finite_with_its_square(scaling):
    encoder = TableEncoder(scaling=scaling).fit([[1e-300, 1e308], [2e-300, 1e308]])

    encoded = encoder.transform([[1e300, -1e308], [-1e300, 1e308]])

    assert np.sign(encoded).tolist() == [[1, -1], [-1, 0]]
    assert np.isfinite(np.sum((encoded[0] - encoded[1]) ** 2))


def test_missing_values_are_rejected_by_name_or_filled_from_fit():
    holes = pd.DataFrame(
        {"a": [1.0, np.nan, 3.0, 10.0], "b": ["u", "v", None, "v"], "c": [1, 2, 3, 4]}
    )
    sentence = (
        "The table has missing values (NaN), counted by column: 'a' 1, 'b' 1. Fill them in, drop "
        "those rows, or encode with missing='auto' or missing='fill'."
    )
    with pytest.raises(InputError) as caught:
        TableEncoder().fit(holes)
    assert str(caught.value) == sentence
    strict = TableEncoder().fit(holes.dropna())
    with pytest.raises(InputError) as caught:
        strict.transform(holes)
    assert str(caught.value) == sentence

    encoder = TableEncoder(scaling="none", missing="fill", category_weight=np.sqrt(2)).fit(holes)
    new = pd.DataFrame({"a": [pd.NA], "b": [None], "c": [np.nan]}, dtype=object)
    assert encoder.transform(new).tolist() == [[3, 0, 1, 0, 2.5]]
    # The scale is that of the values seen, not of those filled in.
    np.testing.assert_allclose(
        clone(encoder).set_params(scaling="standard").fit(holes).transform(new)[0, 0],
        (3 - 14 / 3) / np.std([1, 3, 10]),
    )


def test_medians_do_not_overflow():
    encoder = TableEncoder(missing="fill").fit([[1.7e308], [1.7e308], [np.nan]])

    assert encoder.number_fill_.tolist() == [1.7e308]


@pytest.mark.parametrize(
    "ripe",
    [
        [True, False],
        [1, 0],
        np.array([1.0, 0.0]),
        ["1", "0"],
        pd.array([True, False], dtype="boolean"),
        pd.Categorical([1, 0]),
        pd.Series([True, False], dtype=object),
    ],
)
def test_a_category_is_the_same_however_it_is_stored(ripe):
    encoder = TableEncoder(category_weight=1.0).fit(FISH[["ripe"]])

    encoded = encoder.transform(pd.DataFrame({"ripe": ripe}))

    np.testing.assert_allclose(encoded * np.sqrt(2), [[0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    "numbers",
    [
        [1.5, 2.0],
        np.array([1.5, 2], dtype=np.float32),
        pd.array([1.5, 2], dtype="Float64"),
        pd.Series([1.5, 2], dtype=object),
        [Decimal("1.5"), Decimal(2)],
        pd.Categorical([1.5, 2]),
    ],
)
def test_a_number_is_the_same_however_it_is_stored(numbers):
    encoder = TableEncoder(scaling="none").fit(FISH[["length"]])

    encoded = encoder.transform(pd.DataFrame({"length": numbers}))

    assert encoded.tolist() == [[1.5], [2]]
    assert encoded.dtype == np.float64


def test_an_array_can_replace_the_table():
    encoder = TableEncoder().fit(FISH)

    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        encoded = encoder.transform(FISH.to_numpy(dtype=object))

    np.testing.assert_array_equal(encoded, encoder.transform(FISH))


KINDS = "features are numbers, true/false or text. Drop it or turn it into numbers."
CORRECT = "correct it or drop the column."
BAD_TABLES = [
    (FISH.iloc[:0], "The table has 0 rows and 4 columns; at least one of each is needed."),
    (FISH[[]], "The table has 4 rows and 0 columns; at least one of each is needed."),
    (
        FISH.assign(rings=["3", "IV", "V", "6"]),
        f"Column 'rings' held numbers in fit, but row 1 now holds '3'; {CORRECT}",
    ),
    (
        FISH.assign(rings=[3, None, "V", 6]),
        f"Column 'rings' held numbers in fit, but row 3 now holds 'V'; {CORRECT}",
    ),
    (
        FISH.assign(rings=[3, np.inf, -np.inf, 6]),
        f"Column 'rings' holds an infinite number in row 2; {CORRECT}",
    ),
    (
        FISH.assign(rings=pd.Timestamp("2024-02-29")),
        f"Column 'rings' holds datetime64 values; {KINDS}",
    ),
    (FISH.assign(rings=1j), f"Column 'rings' holds complex values; {KINDS}"),
    (FISH.assign(sex=[[1], [2], [3], [4]]), f"Column 'sex' holds mixed values; {KINDS}"),
    (FISH.assign(sex=date(2024, 2, 29)), f"Column 'sex' holds date values; {KINDS}"),
    (
        FISH[["sex", "length", "rings", "ripe"]],
        WRONG_ORDER,
    ),
]


@pytest.mark.parametrize(("table", "sentence"), BAD_TABLES)
def test_tables_unlike_the_fitted_one_are_rejected(table, sentence):
    encoder = TableEncoder().fit(FISH)

    with pytest.raises(InputError) as caught:
        encoder.transform(table)

    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("parameters", "table", "sentence"),
    [
        (
            {"scaling": "log"},
            FISH,
            "scaling is 'log'; choose one of standard, robust, minmax, none.",
        ),
        ({"missing": "drop"}, FISH, "missing is 'drop'; choose one of refuse, fill, auto."),
        (
            {"category_weight": 0},
            FISH,
            "category_weight is 0; it must be 'auto' or a positive number.",
        ),
        (
            {"category_weight": "1"},
            FISH,
            "category_weight is '1'; it must be 'auto' or a positive number.",
        ),
        (
            {"missing": "fill"},
            FISH.assign(length=np.nan),
            "Column 'length' holds no value, so nothing can fill it; drop it.",
        ),
        (
            {"missing": "fill"},
            FISH.assign(sex=None),
            "Column 'sex' holds no value, so nothing can fill it; drop it.",
        ),
        (
            {},
            FISH.assign(length=pd.Timestamp("2024-02-29")),
            f"Column 'length' holds datetime64 values; {KINDS}",
        ),
        ({}, FISH.assign(sex=[{}, "a", "b", "c"]), f"Column 'sex' holds mixed values; {KINDS}"),
        ({}, FISH.assign(sex=[(), "a", "b", "c"]), f"Column 'sex' holds tuple values; {KINDS}"),
    ],
)
def test_what_cannot_be_fitted_is_rejected(parameters, table, sentence):
    with pytest.raises(InputError) as caught:
        TableEncoder(**parameters).fit(table)

    assert str(caught.value) == sentence


def test_columns_are_aligned_by_name():
    shuffled = FISH[["ripe", "rings", "length", "sex"]]

    pd.testing.assert_frame_equal(align_columns(shuffled, FISH.columns), FISH)
    encoder = TableEncoder().fit(FISH)
    pd.testing.assert_frame_equal(align_columns(shuffled, encoder.feature_names_in_), FISH)


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (["length", "sex", "rings"], "missing 'ripe'"),
        (["length", "sex", "rings", "ripe", "age", "mass"], "extra 'age', 'mass'"),
        (["Length", "sex", "rings", "ripe"], "missing 'length'; extra 'Length'"),
        (["length", "sex", "rings", "ripe", "sex"], "repeated 'sex'"),
        (
            [f"c{i}" for i in range(22)],
            "missing 'length', 'sex', 'rings', 'ripe'; extra "
            + ", ".join(f"'c{i}'" for i in range(20))
            + ", and 2 more",
        ),
    ],
)
def test_columns_that_cannot_be_aligned_are_named(names, fault):
    table = pd.DataFrame([[0] * len(names)], columns=names)

    with pytest.raises(InputError) as caught:
        align_columns(table, FISH.columns)

    assert str(caught.value) == OTHER_COLUMNS.format(fault)


def test_real_mixed_columns_become_finite_numbers(data_folder):
    path = data_folder / "kdd_u2r.parquet"
    features = read_table(path, label_column="label", reading="strict").features

    encoded = (
        TableEncoder(scaling="minmax", category_weight=2**0.5)
        .set_output(transform="pandas")
        .fit_transform(features)
    )

    assert encoded.shape == (60821, 41 - 3 + (3 + 1) + (23 + 1) + (8 + 1))
    assert encoded.min(axis=None) == 0
    assert encoded.max(axis=None) == 1
    assert (encoded[["land", "num_outbound_cmds"]] == 0).all(axis=None)


# --- what a category, and a missing value, count for --------------------------------------------


def mixed(n_rows, n_values, seed=0):
    random = np.random.default_rng(seed)
    numbers = pd.DataFrame(random.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    return numbers.assign(kind=random.integers(n_values, size=n_rows).astype(str))


@pytest.mark.parametrize("n_values", [2, 5, 40, 400])
@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_a_category_varies_at_most_like_a_column_of_numbers(scaling, n_values):
    table = mixed(2000, n_values)
    encoded = TableEncoder(scaling).set_output(transform="pandas").fit_transform(table)
    is_number = encoded.columns.isin(["a", "b", "c"])
    of_numbers = encoded.loc[:, is_number].var(ddof=0).median()
    of_category = encoded.loc[:, ~is_number].var(ddof=0).sum()
    assert 0.45 * of_numbers < of_category < 1.05 * of_numbers
    assert encoded.shape[1] <= 3 + 51


def test_gross_errors_are_not_hidden_by_a_category_of_many_values():
    table = mixed(2000, 400)
    table.loc[:9, "b"] = np.linspace(12, 20, 10)
    for scaling in ("standard", "minmax"):
        X = TableEncoder(scaling).fit_transform(table)
        nearest = NearestNeighbors(n_neighbors=15).fit(X).kneighbors()[0][:, -1]
        assert set(np.argsort(-nearest)[:10]) == set(range(10))


def test_values_beyond_fifty_are_one_number_by_their_frequency():
    table = pd.DataFrame({"kind": ["x"] * 100 + [f"k{i}" for i in range(60)]})
    encoder = TableEncoder().fit(table)
    assert list(encoder.get_feature_names_out()) == ["kind (frequency)"]
    common, rare, unseen = encoder.transform(pd.DataFrame({"kind": ["x", "k7", "?"]})).ravel()
    assert common > rare > unseen
    assert encoder.transform(table).std() == pytest.approx(1)
    literal = TableEncoder(category_weight=1.0).fit(table)
    assert literal.transform(table).shape == (160, 62)


def test_missing_values_get_an_indicator_and_a_category():
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0, 5.0], "b": [1.0, 2.0, 3.0, 4.0]})
    table["sex"] = ["f", None, "m", "f"]
    encoder = TableEncoder(missing="auto").fit(table)
    names = ["a", "a (missing)", "b", "sex=(missing)", "sex=f", "sex=m", "sex=(other)"]
    assert list(encoder.get_feature_names_out()) == names
    encoded = pd.DataFrame(encoder.transform(table), columns=names)
    assert encoded["a (missing)"].tolist() == [0, np.sqrt(2), 0, 0]
    assert encoded["a"][1] == encoded["a"][2]  # the median
    assert encoded["sex=(missing)"].tolist() == [0, 1, 0, 0]
    new = pd.DataFrame({"a": [np.nan], "b": [np.nan], "sex": ["?"]})
    assert np.isfinite(encoder.transform(new)).all()


def test_a_column_without_values_is_constant():
    table = pd.DataFrame({"a": [np.nan, np.nan], "b": [1.0, 2.0], "c": [None, None]})
    encoded = TableEncoder(missing="auto").fit(table.astype({"c": object})).transform(table)
    assert np.isfinite(encoded).all()


class PolarsLike:
    """A frame that, like those of polars, only exports Arrow's stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_frames_of_other_libraries_are_tables():
    expected = TableEncoder().fit_transform(FISH)
    arrow = pa.Table.from_pandas(FISH)
    for frame in (arrow, PolarsLike(arrow), FISH.convert_dtypes()):
        np.testing.assert_array_equal(TableEncoder().fit_transform(frame), expected)


def test_sparse_matrices_are_rejected_with_a_sentence():
    with pytest.raises(InputError, match=r"^The table is a sparse matrix, .*; pass X\.toarray\(\)"):
        TableEncoder().fit(csr_matrix(np.eye(3)))

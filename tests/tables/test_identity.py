"""Identity of a table: fingerprints, digests, and descriptions of changes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.tables.identity import (
    TableDigest,
    describe_changes,
    table_digest,
    table_fingerprint,
)

FISH = pd.DataFrame(
    {
        "length": [10.0, np.nan, 0.0, 7.5],
        "sex": ["f", None, "m", "m"],
        "age": [1, 2, 3, 4],
    }
)


IDS = ["a", "b", "c", "d"]


def changed(table, ids=IDS, before=FISH, ids_before=IDS):
    return describe_changes(table_digest(before, ids_before), table_digest(table, ids))


CASES = [
    (FISH.drop(columns="sex"), IDS, "The column 'sex' was removed."),
    (FISH.assign(depth=1.0), IDS, "The column 'depth' was added."),
    (
        FISH.drop(columns=["sex", "age"]).assign(depth=1.0),
        IDS,
        "2 columns ('sex' and 'age') were removed; the column 'depth' was added.",
    ),
    (
        FISH.rename(columns={"sex": "Sex", "age": "Age"}),
        IDS,
        "The column 'sex' is now called 'Sex' and 'age' is now called 'Age'.",
    ),
    (FISH[["age", "sex", "length"]], IDS, "The columns are in another order."),
    (FISH.iloc[:3], IDS[:3], "The row 'd' was removed."),
    (FISH.iloc[[0, 3]], ["a", "d"], "2 rows ('b' and 'c') were removed."),
    (pd.concat([FISH, FISH.iloc[:1]]), [*IDS, 5], "The row 5 was added."),
    (FISH.iloc[[1, 0, 2, 3]], ["b", "a", "c", "d"], "The rows are in another order."),
    (FISH.iloc[[1, 0, 2, 3]], IDS, "The rows are the same, but in another order."),
    (FISH, ["a", "B", "c", "e"], "The rows have other ids: 'b' is now 'B' and 'd' is now 'e'."),
    (FISH.assign(age=[1, 2, 3, 5]), IDS, "The row 'd' has other values in 'age'."),
    (
        FISH.assign(age=[1, 9, 3, 5], length=[10.0, np.nan, 0.5, 7.5]),
        IDS,
        "3 rows ('b', 'c' and 'd') have other values in 'length' and 'age'.",
    ),
    (FISH.assign(sex=["f", "None", "m", "m"]), IDS, "The row 'b' has other values in 'sex'."),
    (
        FISH.assign(age=["1", "2", "3", "4"]),
        IDS,
        "4 rows ('a', 'b', 'c' and 'd') have other values in 'age'.",
    ),
    (
        FISH.assign(age=[1, 2, 3, 5]).drop(columns="sex"),
        IDS,
        "The column 'sex' was removed; the column 'age' has other values.",
    ),
    (
        FISH.assign(age=[0, 2, 3, 4]).iloc[:3],
        IDS[:3],
        "The row 'd' was removed; the row 'a' has other values.",
    ),
    (
        pd.DataFrame({"x": [1.0], "y": [2.0]}),
        ["q"],
        "No column is the same: the columns were 'length', 'sex' and 'age', and are now "
        "'x' and 'y'.",
    ),
]


@pytest.mark.parametrize(("table", "ids", "sentence"), CASES)
def test_changes_are_described(table, ids, sentence):
    assert changed(table, ids) == sentence


def test_equal_tables_have_no_changes():
    same = FISH.assign(length=pd.array([10, None, -0.0, 7.5], dtype="Float64"))
    assert changed(same.astype({"sex": "category"}), pd.Series(IDS)) == ""


def test_long_lists_of_names_are_shortened():
    table = pd.DataFrame(np.arange(40.0).reshape(20, 2), columns=["x", "y"])
    ids = [f"{10**17 + row}" for row in range(20)]
    later = changed(table.assign(y=0.0).iloc[5:], ids[5:], table, ids)
    assert later == (
        "5 rows ('100000000000000000', '100000000000000001', '100000000000000002', "
        "'100000000000000003' and '100000000000000004') were removed; 15 rows "
        "('100000000000000005', '100000000000000006', '100000000000000007', "
        "'100000000000000008', '100000000000000009' and 10 more) have other values."
    )


VALUES = st.sampled_from([0.0, 1.0, 2.5, np.nan])
TEXTS = st.sampled_from(["x", "y", None])


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 4))
    names = draw(st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True))
    columns = {
        name: draw(
            st.lists(VALUES, min_size=n_rows, max_size=n_rows)
            | st.lists(TEXTS, min_size=n_rows, max_size=n_rows)
        )
        for name in names
    }
    ids = draw(st.permutations(["p", "q", "r", "s", 1]))[:n_rows]
    return pd.DataFrame(columns), ids


@settings(max_examples=200, deadline=None)
@given(tables(), tables())
def test_every_other_fingerprint_has_a_description(one, other):
    sentence = describe_changes(table_digest(*one), table_digest(*other))
    is_same = table_fingerprint(*one) == table_fingerprint(*other)
    assert (sentence == "") == is_same


def test_a_digest_is_restored_from_its_parts_only():
    digest = table_digest(FISH, IDS)
    parts = digest.to_parts()
    again = TableDigest.from_parts(parts)
    assert describe_changes(digest, again) == ""
    assert (again.columns, again.ids) == (digest.columns, digest.ids)
    assert again.row_digests.tolist() == digest.row_digests.tolist()
    for name in parts:
        assert TableDigest.from_parts({**parts, name: b"?"}) is None
        assert TableDigest.from_parts({**parts, name: parts["columns"]}) is None or (
            name == "columns"
        )
    assert TableDigest.from_parts({}) is None


FEW_FISH = pd.DataFrame({"length": [10.0, np.nan, 0.0], "sex": ["f", None, "m"]})
FEW_IDS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("table", "ids"),
    [
        (FEW_FISH, ["a", "c", "b"]),
        (FEW_FISH, ["a", "b", 3]),
        (FEW_FISH.rename(columns={"sex": "Sex"}), FEW_IDS),
        (FEW_FISH[["sex", "length"]], FEW_IDS),
        (FEW_FISH.assign(length=[10.0, np.nan, np.nextafter(0.0, 1)]), FEW_IDS),
        (FEW_FISH.assign(length=[10.0, 0.0, 0.0]), FEW_IDS),
        (FEW_FISH.assign(sex=["f", "None", "m"]), FEW_IDS),
        (FEW_FISH.assign(sex=["f", "", "m"]), FEW_IDS),
        (FEW_FISH.assign(length=["10.0", None, "0.0"]), FEW_IDS),
        (FEW_FISH.iloc[:2], FEW_IDS[:2]),
        (FEW_FISH.iloc[::-1], FEW_IDS),
    ],
)
def test_a_fingerprint_distinguishes_tables(table, ids):
    assert table_fingerprint(table, ids) != table_fingerprint(FEW_FISH, FEW_IDS)


def test_a_fingerprint_does_not_depend_on_storage():
    wanted = table_fingerprint(FEW_FISH, FEW_IDS)
    same = FEW_FISH.assign(length=pd.array([10, None, 0], dtype="Int64"))
    assert table_fingerprint(same, pd.Series(FEW_IDS)) == wanted
    assert table_fingerprint(FEW_FISH.astype({"sex": "category"}), np.array(FEW_IDS)) == wanted
    assert table_fingerprint(FEW_FISH.assign(length=[10.0, -np.nan, -0.0]), FEW_IDS) == wanted
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert table_fingerprint(np.asfortranarray(X), [0, 1]) == table_fingerprint(
        pd.DataFrame(X.astype(np.float32)), range(2)
    )

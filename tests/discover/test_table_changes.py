"""Changed data is refused with what changed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.discover.session import CategoryDiscovery
from kernova.discover.table_identity import (
    TableDigest,
    table_digest,
    table_fingerprint,
    what_changed,
)
from kernova.errors import InputError
from tests.discover.scripted import ShuffledRows

FISH = pd.DataFrame(
    {
        "length": [10.0, np.nan, 0.0, 7.5],
        "sex": ["f", None, "m", "m"],
        "age": [1, 2, 3, 4],
    }
)
IDS = ["a", "b", "c", "d"]


def changed(table, ids=IDS, before=FISH, ids_before=IDS):
    return what_changed(table_digest(before, ids_before), table_digest(table, ids))


CASES = [
    (FISH.drop(columns="sex"), IDS, "The column 'sex' is gone."),
    (FISH.assign(depth=1.0), IDS, "The column 'depth' is new."),
    (
        FISH.drop(columns=["sex", "age"]).assign(depth=1.0),
        IDS,
        "2 columns ('sex' and 'age') are gone; the column 'depth' is new.",
    ),
    (
        FISH.rename(columns={"sex": "Sex", "age": "Age"}),
        IDS,
        "The column 'sex' is called 'Sex' now and 'age' is called 'Age' now.",
    ),
    (FISH[["age", "sex", "length"]], IDS, "The columns are in another order."),
    (FISH.iloc[:3], IDS[:3], "The row 'd' is gone."),
    (FISH.iloc[[0, 3]], ["a", "d"], "2 rows ('b' and 'c') are gone."),
    (pd.concat([FISH, FISH.iloc[:1]]), [*IDS, 5], "The row 5 is new."),
    (FISH.iloc[[1, 0, 2, 3]], ["b", "a", "c", "d"], "The rows are in another order."),
    (FISH.iloc[[1, 0, 2, 3]], IDS, "The rows are the same, but in another order."),
    (FISH, ["a", "B", "c", "e"], "The rows have other ids: 'b' is 'B' now and 'd' is 'e' now."),
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
        "The column 'sex' is gone; the column 'age' has other values.",
    ),
    (
        FISH.assign(age=[0, 2, 3, 4]).iloc[:3],
        IDS[:3],
        "The row 'd' is gone; the row 'a' has other values.",
    ),
    (
        pd.DataFrame({"x": [1.0], "y": [2.0]}),
        ["q"],
        "No column is the same: there were 'length', 'sex' and 'age', and now there are 'x' and "
        "'y'.",
    ),
]


@pytest.mark.parametrize(("table", "ids", "sentence"), CASES)
def test_what_changed_is_said(table, ids, sentence):
    assert changed(table, ids) == sentence


def test_what_did_not_change_is_not_said():
    same = FISH.assign(length=pd.array([10, None, -0.0, 7.5], dtype="Float64"))
    assert changed(same.astype({"sex": "category"}), pd.Series(IDS)) == ""


def test_of_many_names_only_a_few_are_given():
    table = pd.DataFrame(np.arange(40.0).reshape(20, 2), columns=["x", "y"])
    ids = [f"{10**17 + row}" for row in range(20)]
    later = changed(table.assign(y=0.0).iloc[5:], ids[5:], table, ids)
    assert later == (
        "5 rows ('100000000000000000', '100000000000000001', '100000000000000002', "
        "'100000000000000003' and '100000000000000004') are gone; 15 rows ('100000000000000005', "
        "'100000000000000006', '100000000000000007', '100000000000000008', '100000000000000009' "
        "and 10 more) have other values."
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
def test_something_is_said_whenever_the_fingerprint_differs(one, other):
    sentence = what_changed(table_digest(*one), table_digest(*other))
    is_same = table_fingerprint(*one) == table_fingerprint(*other)
    assert (sentence == "") == is_same


def test_a_digest_comes_back_from_its_parts_and_nothing_else_does():
    digest = table_digest(FISH, IDS)
    parts = digest.to_parts()
    again = TableDigest.from_parts(parts)
    assert what_changed(digest, again) == ""
    assert (again.columns, again.ids) == (digest.columns, digest.ids)
    assert again.row_digests.tolist() == digest.row_digests.tolist()
    for name in parts:
        assert TableDigest.from_parts({**parts, name: b"?"}) is None
        assert TableDigest.from_parts({**parts, name: parts["columns"]}) is None or (
            name == "columns"
        )
    assert TableDigest.from_parts({}) is None


def test_a_session_refuses_a_changed_table_with_what_changed(tmp_path):
    path = tmp_path / "fish"
    X = np.arange(12.0).reshape(6, 2)
    session = CategoryDiscovery(ShuffledRows())
    session.start(X, project=path).close()
    X[4, 1] = -1
    with pytest.raises(InputError) as caught:
        session.start(X, project=path)
    assert str(caught.value) == (
        f"The project {path} is about another table: the row 4 has other values in '1'. Give the "
        "table that the project was begun with, or name another project."
    )

"""Result tables: ids and labels beside the results, values for JSON, notes."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from kernova.tables.records import (
    dropped_rows_notes,
    json_rows,
    json_value,
    rows_with_ids,
    warnings_as_notes,
)
from kernova.tables.table import read_table


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.nan, None),
        (None, None),
        (pd.NA, None),
        (pd.NaT, None),
        (np.inf, "inf"),
        (np.float32("-inf"), "-inf"),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        ("inf", "inf"),
        ([1, None], [1, None]),
    ],
)
def test_every_value_has_one_form_in_json(value, written):
    found = json_value(value)
    assert found == written
    assert type(found) is type(written)
    json.dumps(found, allow_nan=False)


def test_rows_are_dictionaries_of_such_values():
    rows = pd.DataFrame({"id": ["a", "b"], "factor": [np.inf, np.nan], "n": [1, 2]})
    assert json_rows(rows) == [
        {"id": "a", "factor": "inf", "n": 1},
        {"id": "b", "factor": None, "n": 2},
    ]


def test_an_id_column_whose_name_is_taken_gets_another(tmp_path):
    (tmp_path / "t.csv").write_text("rank,kind,x\np,u,1\nq,v,\nr,v,3\n")
    table = read_table(tmp_path / "t.csv", id_column="rank", label_column="kind", missing="drop")
    rows = rows_with_ids(table, {"rank": [2, 1], "kind": [0, 0]})
    assert rows.columns.tolist() == ["rank_", "rank", "kind", "kind_"]
    assert rows["rank_"].tolist() == ["p", "r"]
    assert dropped_rows_notes(table) == [
        f"1 row of {tmp_path / 't.csv'} has missing values and was left out."
    ]


def test_user_warnings_become_notes_and_others_stay_warnings():
    notes = []

    def work():
        with warnings_as_notes(notes):
            warnings.warn("Detector: be careful: now", UserWarning, stacklevel=1)
            warnings.warn("no colon", UserWarning, stacklevel=1)
            warnings.warn("overflow", RuntimeWarning, stacklevel=1)

    with pytest.warns(RuntimeWarning, match="overflow"):
        work()
    assert notes == ["be careful: now", "no colon"]

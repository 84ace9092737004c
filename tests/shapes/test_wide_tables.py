"""Wide tables of landmarks."""

import numpy as np
import pandas as pd
import pytest

from kernova.shapes import (
    groups_from_pattern,
    groups_from_table,
    landmark_columns,
    read_landmark_table,
    read_tps,
)
from tests.shapes.bad_inputs import (
    BAD_TABLES,
    error,
)


def test_the_cichlids_are_the_same_in_three_files(data_folder):
    folder = data_folder / "landmarks" / "tanganyika_cichlids"
    fish, others = read_landmark_table(folder / "cichlids.csv")
    as_tps = read_tps(folder / "cichlids.tps")
    raw = read_tps(folder / "all_bodyshape.tps")

    assert fish.ids == as_tps.ids == groups_from_pattern("^([^_]+)_", raw.ids)
    np.testing.assert_array_equal(fish.coordinates, as_tps.coordinates)
    np.testing.assert_allclose(raw.coordinates, as_tps.coordinates, rtol=0, atol=5.1e-7)
    assert list(others) == ["species", "species_code", "genus", "tribe", "sex"]
    assert list(others.index) == list(fish.ids)
    assert others["sex"].isna().sum() == 740
    tribes = groups_from_table(folder / "cichlids.csv", as_tps.ids, group_column="tribe")
    assert list(tribes) == others["tribe"].to_list()
    counts = pd.Series(tribes).value_counts()
    assert (len(counts), counts["Lamprologini"], counts["Tylochromini"]) == (14, 907, 9)


@pytest.mark.parametrize(
    "content",
    [
        "id,sex,x1,y1,x2,y2\n007,f,1.5,2,3,4\n08,,5,6,,\n",
        "sex,ID,x1,x2,y1,y2\nf,007,1.5,3,2,4\n,08,5,NA,6,NA\n",
        "id;sex;X_1;Y_1;X_2;Y_2\n007;f;1,5;2;3;4\n08;;5;6;NA;NA\n",
        '"id","sex","1.X","1.Y","2.X","2.Y"\n"007","f",1.5,2,3,4\n"08",,5,6,NA,NA\n',
        "id,sex,X1.X,X1.Y,X2.X,X2.Y\n007,f,1.5,2,3,4\n08,,5,6,NaN,NaN\n",
        "fish,sex,LM1_x,LM1_y,landmark 2 x,landmark 2 y\n007,f,1.5,2,3,4\n08,,5,6,,\n",
    ],
)
def test_a_wide_table_in_every_variant(tmp_path, content):
    (tmp_path / "wide.csv").write_text(content)
    fish, others = read_landmark_table(tmp_path / "wide.csv")
    assert fish.ids == ("007", "08")
    np.testing.assert_array_equal(fish.coordinates, [[[1.5, 2], [3, 4]], [[5, 6], [np.nan] * 2]])
    assert list(others) == ["sex"]
    assert others.loc["007", "sex"] == "f"
    assert pd.isna(others.loc["08", "sex"])


def test_a_wide_table_in_space_without_ids_and_with_negative_marks(tmp_path):
    (tmp_path / "wide.csv").write_text("x1,y1,z1\n1,2,3\n-1,2,3\n")
    fish, others = read_landmark_table(tmp_path / "wide.csv", negative="missing")
    assert fish.ids == ("1", "2")
    np.testing.assert_array_equal(fish.coordinates, [[[1, 2, 3]], [[np.nan] * 3]])
    assert others.shape == (2, 0)


@pytest.mark.parametrize(("content", "options", "message"), BAD_TABLES)
def test_bad_tables(tmp_path, monkeypatch, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    with error(message):
        read_landmark_table("bad.csv", **options)


@pytest.mark.parametrize(
    ("names", "third"),
    [
        ("id x1 y1 x2 y2 x3 y3", ("x3", "y3")),
        ("Y1 Y2 Y3 X1 X2 X3 sex", ("X3", "Y3")),
        ("LM1_X LM1_Y LM2_X LM2_Y LM3_X LM3_Y", ("LM3_X", "LM3_Y")),
        ("x.1 y.1 x.2 y.2 x.3 y.3", ("x.3", "y.3")),
        ("1.X 1.Y 2.X 2.Y 3.X 3.Y", ("3.X", "3.Y")),
        ("x1 y1 z1 x2 y2 z2 x3 y3 z3", ("x3", "y3", "z3")),
    ],
)
def test_columns_of_landmarks_are_recognised(names, third):
    columns = landmark_columns(names.split())
    assert len(columns) == 3
    assert columns[2] == third


@pytest.mark.parametrize(
    "names",
    [
        "",
        "id length width",
        "x1 y1 x2 y2",  # two points have no shape, and may be a box
        "x1 x2 x3 x4",
        "x1 y1 x2 y2 x4 y4",
        "x1 y1 x2 y2 x3",
        "x0 y0 x1 y1 x2 y2",
        "x1 y1 z1 x2 y2 x3 y3",
        "x1 y1 x2 y2 x3 y3 X_3",
        "x1 y1 x2 y2 x999999 y999999",
    ],
)
def test_ordinary_columns_are_not_taken_for_landmarks(names):
    assert landmark_columns(names.split()) is None

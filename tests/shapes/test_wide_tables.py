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
from kernova.shapes.column_names import columns_of_coordinates, misunderstood
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
        ("x0 y0 x1 y1 x2 y2", ("x2", "y2")),
        ("p1x p1y p2x p2y p3x p3y site", ("p3x", "p3y")),
        ("pt1.X pt1.Y pt2.X pt2.Y pt3.X pt3.Y", ("pt3.X", "pt3.Y")),
        ("x[1] y[1] x[2] y[2] x[3] y[3]", ("x[3]", "y[3]")),
        ("X(1) Y(1) X(2) Y(2) X(3) Y(3)", ("X(3)", "Y(3)")),
        ("LM1(x) LM1(y) LM2(x) LM2(y) LM3(x) LM3(y)", ("LM3(x)", "LM3(y)")),
        ("nasion_x nasion_y inion_x inion_y lambda_x lambda_y", ("lambda_x", "lambda_y")),
        ("L1_x L1_y M_x M_y R1_x R1_y", ("R1_x", "R1_y")),
        ("x y x.1 y.1 x.2 y.2", ("x.2", "y.2")),
        ("X Y Z X.1 Y.1 Z.1 X.2 Y.2 Z.2", ("X.2", "Y.2", "Z.2")),
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
        "x0 y0 x1 y1 x3 y3",
        "x1 y1 z1 x2 y2 x3 y3",
        "x1 y1 x2 y2 x3 y3 X_3",
        "x1 y1 x2 y2 x999999 y999999",
        "x2 y2 x3 y3 x4 y4",
        "x y x.1 y.1",
        "nasion_x nasion_y inion_x inion_y",
        "nasionx nasiony inionx iniony lambdax lambday",
        "nasion_x nasion_y inion_x inion_y lambda_x",
        "lm1_x lm1_y lm2_x lm2_y lm4_x lm4_y",
        "a1x a1y a2x a2y a3x a3y b1x b1y b2x b2y b3x b3y",  # which of the two?
        "accel_x accel_y accel_z gyro_x gyro_y gyro_z mag_x mag_y mag_z turn_x turn_y turn_z",
        "length_x length_y width_x width_y depth_x depth_y",  # of two joined tables
        "mean_x mean_y sd_x sd_y skew_x skew_y",
        "accel1_x accel1_y accel2_x accel2_y accel3_x accel3_y",
        "V1 V2 V3 V4 V5 V6",
    ],
)
def test_ordinary_columns_are_not_taken_for_landmarks(names):
    assert landmark_columns(names.split()) is None


def test_the_first_of_names_made_unique_is_a_landmark(tmp_path):
    for header in ("id,x,y,x.1,y.1,x.2,y.2", "id,x0,y0,x1,y1,x2,y2", "id,a_x,a_y,b_x,b_y,c_x,c_y"):
        (tmp_path / "wide.csv").write_text(f"{header}\nfish,1,2,3,4,5,7\n")
        landmarks, others = read_landmark_table(tmp_path / "wide.csv")
        assert landmarks.ids == ("fish",)
        assert landmarks.coordinates.tolist() == [[[1, 2], [3, 4], [5, 7]]]
        assert others.columns.empty
    (tmp_path / "wide.csv").write_text("x,y,x.1,y.1\n1,2,3,4\n")
    landmarks = read_landmark_table(tmp_path / "wide.csv").landmarks
    assert (landmarks.ids, landmarks.n_landmarks) == (("1",), 2)


MISUNDERSTOOD = {
    "x1 y1 x2 y2 x4 y4": "x1 and y1: there is no x of landmark 3",
    "lm1_x lm1_y lm2_x lm2_y lm3_x lm3_y lm4_x": "lm1_x and lm1_y: there is no y of landmark 4",
    "x2 y2 x3 y3 x4 y4": "x2 and y2: there is no x of landmark 1",
    "x_a y_a x_b y_b x_c y_c": "x_a and y_a: their names are not understood",
    "length_x length_y width_x width_y depth_x depth_y": (
        "length_x and length_y: their names are not understood"
    ),
    "a_x a_y b_x b_y c_x c_y d_x": "a_x and a_y: there is no y of landmark d",
}


@pytest.mark.parametrize("names", MISUNDERSTOOD)
def test_columns_that_only_look_like_landmarks_are_noted(names):
    which, _, why = MISUNDERSTOOD[names].partition(": ")
    assert misunderstood(names.split()) == (
        f"Columns such as {which} look like landmarks, but {why}; they are compared as they are."
    )


@pytest.mark.parametrize("names", ["x1 y1 x2 y2", "x1 y1 x2 y2 x3 y3", "length width", "x y z"])
def test_other_columns_are_not_noted(names):
    assert misunderstood(names.split()) is None


def test_coordinates_without_names_of_axes():
    def numbered(stem, count):
        return ["id", *(f"{stem}{number}" for number in range(1, count + 1))]

    assert columns_of_coordinates(numbered("RawCoord", 6))[2] == ("RawCoord5", "RawCoord6")
    assert len(columns_of_coordinates(numbered("ProcCoord", 9))[0]) == 3
    assert len(columns_of_coordinates(numbered("Coord", 12), 3)) == 4
    assert columns_of_coordinates(numbered("Coord", 4)) is None
    assert columns_of_coordinates(numbered("Coord", 7)) is None
    assert columns_of_coordinates([*numbered("Coord", 11), "Coord13"]) is None
    assert columns_of_coordinates(numbered("V", 6)) is None
    assert columns_of_coordinates(numbered("V", 6), 2)[0] == ("V1", "V2")
    assert columns_of_coordinates(numbered("V", 6) + numbered("W", 6), 2) is None

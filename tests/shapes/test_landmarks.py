"""Landmark files: every real one reads, what is written comes back, damage never passes."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernova import InputError
from kernova.shapes import (
    Landmarks,
    groups_from_pattern,
    groups_from_table,
    read_landmark_table,
    read_tps,
    write_tps,
)
from tests.shapes.bad_landmark_files import (
    BAD_GROUPS,
    BAD_LANDMARKS,
    BAD_PATTERNS,
    BAD_TABLES,
    BAD_TPS,
)
from tests.shapes.literal_tps import compare_with_literal, literal_records

SNAILS = """\
LM=3
4074.5 2088
NA NA
-3.25 1e2
CURVES=2
POINTS=2
1 2
3 4
POINTS=1
5 6
OUTLINES=1
POINTS=0
IMAGE=035_EXP_sxt_M.JPG
ID=snail 7
SCALE=0.5
COMMENT=broken = mended
COMMENT=
VARIABLES=OrigNum=7

LM=3
1 2
3 4
5 6
IMAGE=138_SHL_ltr_H.JPG
ID=008
SCALE=
"""


def check_snails(snails):
    assert snails.ids == ("snail 7", "008")
    expected = [[[4074.5, 2088], [np.nan] * 2, [-3.25, 100]], [[1, 2], [3, 4], [5, 6]]]
    np.testing.assert_array_equal(snails.coordinates, expected)
    np.testing.assert_array_equal(snails.scales, [0.5, np.nan])
    assert snails.images == ("035_EXP_sxt_M.JPG", "138_SHL_ltr_H.JPG")
    assert snails.variables == ("OrigNum=7", "")
    assert snails.comments == (("broken = mended", ""), ())
    curves = [[points.tolist() for points in lines] for lines in snails.curves]
    assert curves == [[[[1, 2], [3, 4]], [[5, 6]]], []]
    assert [[points.shape for points in lines] for lines in snails.outlines] == [[(0, 2)], []]
    np.testing.assert_array_equal(snails.is_missing, [[False, True, False], [False] * 3])


def mixed_line_ends(text):
    ends = ["\n", "\r\n", "\r"]
    return "".join(line + ends[k % 3] for k, line in enumerate(text.splitlines()))


DRESSES = {
    "as it is": SNAILS.encode(),
    "CRLF": SNAILS.replace("\n", "\r\n").encode(),
    "CR": SNAILS.replace("\n", "\r").encode(),
    "mixed line ends": mixed_line_ends(SNAILS).encode(),
    "no final line end": SNAILS.rstrip().encode(),
    "byte order mark": SNAILS.encode("utf-8-sig"),
    "end of a DOS file": SNAILS.encode() + b"\x1a",
    "lower case": re.sub(r"(?m)^[A-Z]+(?==)", lambda word: word[0].lower(), SNAILS).encode(),
    "decimal commas": re.sub(r"(\d)\.(\d)", r"\1,\2", SNAILS).encode(),
    "blanks": re.sub(r"(?m)^([A-Z]*)=(.*)$", r" \1  = \2 \t\n\n", SNAILS).encode(),
    "tabs": re.sub(r"(?m)^([-\dNA][^=]*) ", "\\1\t ", SNAILS).encode(),
}


@pytest.mark.parametrize("content", DRESSES.values(), ids=DRESSES)
def test_one_file_in_every_dress(tmp_path, content):
    (tmp_path / "snails.tps").write_bytes(content)
    check_snails(read_tps(tmp_path / "snails.tps"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_letters_beyond_ascii(tmp_path, encoding):
    (tmp_path / "a.tps").write_bytes("LM=0\nID=Ångström n° 3\n".encode(encoding))
    landmarks = read_tps(tmp_path / "a.tps")
    assert landmarks.ids == ("Ångström n° 3",)
    assert landmarks.coordinates.shape == (1, 0, 2)


def test_letters_that_only_windows_has_and_bytes_that_nobody_has(tmp_path):
    (tmp_path / "a.tps").write_bytes(b"LM=0\nID=c\x9cur\n")
    assert read_tps(tmp_path / "a.tps").ids == ("cœur",)
    (tmp_path / "a.tps").write_bytes(b"LM=0\nID=\xe9\x81\xfc\n")
    assert read_tps(tmp_path / "a.tps").ids == ("é\x81ü",)


REAL = {
    "tanganyika_cichlids/all_bodyshape.tps": (2197, 21, 0, 0),
    "tanganyika_cichlids/cichlids.tps": (2197, 21, 0, 0),
    "tps_as_written/littorina_laura_raw.TPS": (52, 9, 1, 52),
    "tps_as_written/littorina_all_landmarks.TPS": (155, 9, 1, 155),
    "tps_as_written/otolith_Landmarks_S_TUDO.TPS": (49, 11, 0, 49),
    "tps_as_written/trilobite_AMNH_28896_C.tps": (1, 16, 4, 1),
    "tps_as_written/trilobite_AMNH_28902_C.tps": (1, 16, 4, 1),
    "tps_as_written/trilobite_ANU_35207_C.tps": (1, 16, 4, 1),
}


def same(left, right):
    for name in ("ids", "images", "variables", "comments"):
        assert getattr(left, name) == getattr(right, name)
    for name in ("coordinates", "scales"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), strict=True)
    for name in ("curves", "outlines"):
        for some, others in zip(getattr(left, name), getattr(right, name), strict=True):
            for points, other in zip(some, others, strict=True):
                np.testing.assert_array_equal(points, other, strict=True)


def test_files_that_are_not_listed_read_and_come_back_too(data_folder, tmp_path):
    root = data_folder / "landmarks"
    found = [p for p in root.rglob("*") if p.suffix.lower() == ".tps"]
    for path in found:
        if str(path.relative_to(root)) not in REAL:
            landmarks = read_tps(path)
            compare_with_literal(landmarks, literal_records(path.read_bytes()))
            write_tps(landmarks, tmp_path / "again.tps")
            same(landmarks, read_tps(tmp_path / "again.tps"))


@pytest.mark.parametrize("name", REAL)
def test_every_real_file_reads_and_comes_back(data_folder, tmp_path, name):
    path = data_folder / "landmarks" / name
    landmarks = read_tps(path)
    n_specimens, n_landmarks, n_curves, n_scales = REAL[name]

    assert landmarks.coordinates.shape == (n_specimens, n_landmarks, 2)
    assert not landmarks.is_missing.any()
    assert np.isfinite(landmarks.scales).sum() == n_scales
    assert {len(lines) for lines in landmarks.curves} == {n_curves}
    n_points = {20} if "littorina" in name else {30} if "trilobite" in name else set()
    assert {len(points) for lines in landmarks.curves for points in lines} == n_points
    compare_with_literal(landmarks, literal_records(path.read_bytes()))
    write_tps(landmarks, tmp_path / "again.tps")
    same(landmarks, read_tps(tmp_path / "again.tps"))


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


def test_merged_files_are_named_by_their_images(data_folder):
    snails = read_tps(data_folder / "landmarks/tps_as_written/littorina_all_landmarks.TPS")
    assert snails.ids == snails.images
    species = groups_from_pattern("_(sxt|ltr)_", snails.images)
    assert (species.count("sxt"), species.count("ltr")) == (65, 90)


# --- write, then read ------------------------------------------------------------------------

numbers = st.floats(allow_nan=False, allow_infinity=False)
characters = st.characters(blacklist_categories=["Cs", "Cc"]) | st.just("=")
texts = st.text(characters, max_size=12).map(str.strip)


@st.composite
def any_landmarks(draw):
    n_dimensions = draw(st.sampled_from([2, 3]))
    n_landmarks = draw(st.integers(0, 4))
    ids = draw(st.lists(texts.filter(bool), min_size=1, max_size=4, unique=True))

    def points(n_points):
        point = st.lists(numbers, min_size=n_dimensions, max_size=n_dimensions)
        missing = st.just([math.nan] * n_dimensions)
        drawn = draw(st.lists(point | missing, min_size=n_points, max_size=n_points))
        return np.array(drawn, dtype=float).reshape(n_points, n_dimensions)

    def lines():
        return tuple(points(draw(st.integers(0, 3))) for _ in range(draw(st.integers(0, 2))))

    scale = st.floats(min_value=0, exclude_min=True, allow_infinity=False) | st.just(math.nan)
    return Landmarks(
        ids=tuple(ids),
        coordinates=np.stack([points(n_landmarks) for _ in ids]),
        scales=np.array([draw(scale) for _ in ids]),
        images=tuple(draw(texts) for _ in ids),
        variables=tuple(draw(texts) for _ in ids),
        comments=tuple(tuple(draw(st.lists(texts, max_size=2))) for _ in ids),
        curves=tuple(lines() for _ in ids),
        outlines=tuple(lines() for _ in ids),
    )


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(landmarks=any_landmarks())
def test_what_is_written_comes_back(tmp_path_factory, landmarks):
    path = tmp_path_factory.mktemp("written") / "any.tps"
    write_tps(landmarks, path)
    again = read_tps(path)
    same(landmarks, again)
    assert np.array_equal(np.signbit(landmarks.coordinates), np.signbit(again.coordinates))


@pytest.mark.parametrize("text", [" a", "a\nb", "a\r", "a\0", "\ud800"])
def test_texts_that_would_not_come_back_are_not_written(tmp_path, text):
    landmarks = Landmarks(("a",), np.zeros((1, 1, 2)), images=(text,))
    message = (
        f"The IMAGE {text!r} of specimen 'a' cannot stand on one line of a TPS file; remove outer "
        "blanks, line ends and damaged characters."
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        write_tps(landmarks, tmp_path / "a.tps")
    assert list(tmp_path.iterdir()) == []


# --- switches --------------------------------------------------------------------------------


def test_negative_coordinates_are_values_or_missing_landmarks(tmp_path):
    (tmp_path / "a.tps").write_text("LM=3\n-1 -1\n2 -0,5\n-0.0 3\nCURVES=1\nPOINTS=1\n-1 4\n")
    values = read_tps(tmp_path / "a.tps")
    missing = read_tps(tmp_path / "a.tps", negative="missing")

    assert values.coordinates.tolist() == [[[-1, -1], [2, -0.5], [0, 3]]]
    assert missing.is_missing.tolist() == [[True, True, False]]
    assert np.isnan(missing.coordinates[0, :2]).all()
    assert np.isnan(missing.curves[0][0]).all()


def test_scales_are_applied_only_when_asked_for(tmp_path):
    (tmp_path / "a.tps").write_text(SNAILS.replace("SCALE=\n", "SCALE=2\n"))
    snails = read_tps(tmp_path / "a.tps")
    scaled = read_tps(tmp_path / "a.tps", scaled=True)

    np.testing.assert_array_equal(scaled.coordinates[0], snails.coordinates[0] * 0.5)
    np.testing.assert_array_equal(scaled.coordinates[1], snails.coordinates[1] * 2)
    np.testing.assert_array_equal(scaled.curves[0][0], snails.curves[0][0] * 0.5)
    assert scaled.scales.tolist() == [1, 1]
    same(scaled, scaled.in_real_units())


def record(number, **keywords):
    return f"LM=1\n{number} 0\n" + "".join(f"{key}={text}\n" for key, text in keywords.items())


@pytest.mark.parametrize(
    ("text", "ids_from", "ids"),
    [
        (record(1, ID="a") + record(2, ID="b"), "auto", ("a", "b")),
        (record(1, ID="a", IMAGE="p") + record(2, ID="a", IMAGE="q"), "auto", ("p", "q")),
        (record(1, ID="a", IMAGE="p") + record(2, IMAGE="q"), "auto", ("p", "q")),
        (record(1, ID="a", IMAGE="p") + record(2, ID="b", IMAGE="q"), "image", ("p", "q")),
        (record(1, IMAGE="p") + record(2, IMAGE="q"), "auto", ("p", "q")),
        (record(1) + record(2), "auto", ("1", "2")),
        (record(1, ID="a") + record(2, ID="a"), "number", ("1", "2")),
    ],
)
def test_what_names_the_specimens(tmp_path, text, ids_from, ids):
    (tmp_path / "a.tps").write_text(text)
    assert read_tps(tmp_path / "a.tps", ids_from=ids_from).ids == ids


def test_points_in_space(tmp_path):
    (tmp_path / "a.tps").write_text("lm3=2\n1 2 3\n4 5 6\nID=a\nCURVES=1\nPOINTS=1\n7 8 9\n")
    landmarks = read_tps(tmp_path / "a.tps")
    assert landmarks.coordinates.tolist() == [[[1, 2, 3], [4, 5, 6]]]
    assert landmarks.curves[0][0].tolist() == [[7, 8, 9]]


def test_some_of_the_specimens_keep_all_that_is_known_of_them(tmp_path):
    (tmp_path / "a.tps").write_text(SNAILS)
    snails = read_tps(tmp_path / "a.tps")
    same(snails.take([1, 0]).take([1, 0]), snails)
    same(snails.take([False, True]), snails.take([1]))
    assert snails.take([1]).ids == ("008",)
    assert snails.take(np.array([], dtype=int)).coordinates.shape == (0, 3, 2)


# --- tables and groups -----------------------------------------------------------------------


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
def test_a_wide_table_in_every_dress(tmp_path, content):
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


def test_groups_stay_text_whatever_they_look_like(tmp_path):
    (tmp_path / "g.csv").write_text("site,id,sp\n1,007, 01 \n2,7,1\n1,x y,NA\n2,z,\n1,007,01\n")
    groups = groups_from_table(tmp_path / "g.csv", ["x y", "007", "7"], group_column="sp")
    assert groups == ("NA", "01", "1")
    sites = groups_from_table(tmp_path / "g.csv", ["01"], group_column="site", id_column="sp")
    assert sites == ("1",)


def test_groups_from_ids():
    assert groups_from_pattern(r"(?:a|b)(\d+)$", ["xa12", "b3"]) == ("12", "3")


# --- refusals --------------------------------------------------------------------------------


def refusal(message):
    return pytest.raises(InputError, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize(("content", "options", "message"), BAD_TPS)
def test_bad_tps_files(tmp_path, monkeypatch, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.tps").write_bytes(content)
    with refusal(message):
        read_tps("bad.tps", **options)


@pytest.mark.parametrize(("content", "options", "message"), BAD_TABLES)
def test_bad_tables(tmp_path, monkeypatch, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    with refusal(message):
        read_landmark_table("bad.csv", **options)


@pytest.mark.parametrize(("content", "options", "message"), BAD_GROUPS)
def test_bad_groups(tmp_path, monkeypatch, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    with refusal(message):
        groups_from_table("bad.csv", ["a", "b"], **options)


@pytest.mark.parametrize(("pattern", "message"), BAD_PATTERNS)
def test_bad_patterns(pattern, message):
    with refusal(message):
        groups_from_pattern(pattern, ["a_1", "b", "c_"])


@pytest.mark.parametrize(("fields", "message"), BAD_LANDMARKS)
def test_landmarks_that_cannot_be(fields, message):
    with refusal(message):
        Landmarks(**{"ids": ("a",), "coordinates": np.zeros((1, 2, 2)), **fields})


def test_a_file_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refusal("There is no file none.tps; check its name and folder."):
        read_tps("none.tps")
    with refusal(". is a folder; name a file in it."):
        read_tps(".")

"""Landmark files of other programs: every format is recognised, read and written."""
# ruff: noqa: E501 -- one case, one line

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova import InputError
from kernova.shapes import (
    Landmarks,
    groups_from_column,
    is_landmark_file,
    read_landmarks,
    read_tps,
    write_landmarks,
)
from kernova.shapes.formats.reading import landmark_format, values_as_header
from tests.shapes.bad_formats import BAD_FILES
from tests.shapes.bad_inputs import error

IDS = ("fish_1", "fish_2")
POINTS = np.array([[[0, 0.5], [4, 0], [4.25, 3]], [[0, 0], [-5, 1e-3], [5, 3]]])

TPS = "LM=3\n0 .5\n4 0\n4.25 3\nID=fish_1\nLM=3\n0 0\n-5 0.001\n5 3\nID=fish_2\n"
MORPHOLOGIKA = """\
[individuals]
2
[landmarks]
3
[Dimensions]
2
[names]
fish_1
fish_2
[wireframe]
1 2
2 3
[rawpoints]
'#1
0 0.5
4 0
4.25 3

'#2
0 0
-5 0.001
5 3
"""
FILES = {
    "fish.tps": TPS,
    "tps.txt": TPS,
    "labels.nts": "1 2L 6 0 DIM=2\nfish_1 fish_2\n0 .5 4 0 4.25 3\n0 0 -5 1E-3 5 3\n",
    "wrapped.NTS": "\"a comment\n' another\n1 2 L 6 0 dim=2\nfish_1\nfish_2\n0 .5 4\n0 4.25 3 0 0\n-5 .001 5\n3\n",
    "columns.nts": "1 2L 6L 0 DIM=2\nfish_1 fish_2\na b c d e f\n0 .5 4 0 4.25 3\n0 0 -5 1e-3 5 3\n",
    "first.dta": "1 2B 6 0 DIM=2\nfish_1 0 .5 4 0 4.25 3\nfish_2 0 0 -5 0.001 5 3\n",
    "last.dta": "1 2E 6 0 99 DIM=2\n0 0.5 4 0 4.25 3 fish_1\n0 0 -5 0.001 5 3 fish_2\n",
    "nts.txt": '" as text\n1 2L 6 0 DIM=2\nfish_1 fish_2\n0,5 0,5 4 0 4,25 3\n0 0 -5 ,001 5 3\n'.replace(
        "0,5 0,5", "0 0,5"
    ),
    "morphologika.txt": MORPHOLOGIKA,
    "remark.txt": "' by hand\r\n" + MORPHOLOGIKA.replace("\n", "\r\n"),
    "tabs.txt": "fish_1\t0\t0.5\t4\t0\t4.25\t3\nfish_2\t0\t0\t-5\t0.001\t5\t3\n",
    "comma.txt": "fish_1,0,0.5,4,0,4.25,3\nfish_2,0,0,-5,0.001,5,3\n",
    "semicolon.csv": "fish_1;0;0,5;4;0;4,25;3\nfish_2;0;0;-5;0,001;5;3\n",
    "blanks.dat": "fish_1 0 0.5 4 0  4.25 3\nfish_2 0 0 -5 .001 5 3\n",
    "header.txt": "ID\tRawCoord1\tRawCoord2\tRawCoord3\tRawCoord4\tRawCoord5\tRawCoord6\n"
    "fish_1\t0\t0.5\t4\t0\t4.25\t3\nfish_2\t0\t0\t-5\t0.001\t5\t3\n",
    "quoted.csv": '"ID","V1","V2","V3","V4","V5","V6"\n"fish_1",0,0.5,4,0,4.25,3\n'
    '"fish_2",0,0,-5,0.001,5,3\n',
    "wide.csv": "id,x1,y1,x2,y2,x3,y3\nfish_1,0,0.5,4,0,4.25,3\nfish_2,0,0,-5,0.001,5,3\n",
    "wide.txt": '"id"\t"X1"\t"Y1"\t"X2"\t"Y2"\t"X3"\t"Y3"\n'
    "fish_1\t0\t0.5\t4\t0\t4.25\t3\nfish_2\t0\t0\t-5\t0.001\t5\t3\n",
}
FORMATS = {"tps": 2, "nts": 6, "morphologika": 2, "rows": 6, "table": 2}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_landmarks(tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name].encode())
    landmarks, others = read_landmarks(tmp_path / name)
    assert landmarks.ids == IDS
    np.testing.assert_array_equal(landmarks.coordinates, POINTS)
    assert landmarks.source == str(tmp_path / name)
    assert others is None or others.shape == (2, 0)
    missing = read_landmarks(tmp_path / name, negative="missing").landmarks
    assert missing.is_missing.tolist() == [[False] * 3, [False, True, False]]


def test_every_format_is_recognised(tmp_path):
    found = []
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
        found.append(landmark_format(tmp_path / name))
        # Rows of numbers without names may be anything, unless a header calls them coordinates.
        is_known = found[-1] != "rows" or name == "header.txt"
        assert is_landmark_file(tmp_path / name) == is_known
    assert {kind: found.count(kind) for kind in FORMATS} == FORMATS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", "id,length,width\na,1,2\n"),
        ("box.csv", "id,x1,y1,x2,y2\na,1,2,3,4\n"),
        ("numbers.csv", "1,2,3\n4,5,6\n"),
        ("empty.csv", ""),
        ("binary.csv", "\0\1\2"),
        ("stata.dta", "<stata_dta><header>"),
        ("notes.txt", "' a remark\n"),
        ("picture.png", "LM=3\n"),
    ],
)
def test_other_files_are_not_taken_for_landmarks(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert not is_landmark_file(tmp_path / name)
    assert not is_landmark_file(tmp_path / "absent.csv")
    assert not is_landmark_file(tmp_path)


def test_points_in_space(tmp_path):
    expected = np.arange(18.0).reshape(2, 3, 3)
    rows = [" ".join(str(number) for number in range(9 * k, 9 * k + 9)) for k in range(2)]
    (tmp_path / "a.nts").write_text("1 2 9 0 DIM=3\n" + "\n".join(rows))
    (tmp_path / "b.nts").write_text("1 2 9 0\n" + "\n".join(rows))  # 9 is not divisible by 2
    (tmp_path / "c.txt").write_text("".join(f"{k} {row}\n" for k, row in enumerate(rows, 1)))
    names = ",".join(f"{axis}{number}" for number in (1, 2, 3) for axis in "xyz")
    (tmp_path / "d.csv").write_text(f"{names}\n" + "\n".join(rows).replace(" ", ","))
    points = "\n".join(f"{3 * k} {3 * k + 1} {3 * k + 2}" for k in range(6))
    head = "[individuals]\n2\n[landmarks]\n3\n[dimensions]\n3\n[rawpoints]\n"
    (tmp_path / "e.txt").write_text(head + points)
    tps = points.split("\n")
    (tmp_path / "f.tps").write_text("LM3=3\n" + "\n".join([*tps[:3], "LM3=3", *tps[3:]]))
    for path in sorted(tmp_path.iterdir()):
        dimensions = 3 if path.name == "c.txt" else None
        landmarks = read_landmarks(path, dimensions=dimensions).landmarks
        assert landmarks.ids == ("1", "2"), path
        np.testing.assert_array_equal(landmarks.coordinates, expected)


def test_a_guessed_dimension_is_noted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a,0,0,1,0,1,1,0,1,2,2,3,3\n")
    plane, space = read_landmarks("a.txt"), read_landmarks("a.txt", dimensions=3)
    assert plane.landmarks.coordinates.shape == (1, 6, 2)
    assert plane.landmarks.notes == (
        "The 12 numbers of a specimen of a.txt were read as 6 landmarks in the plane. If they are "
        "4 in space, pass dimensions=3.",
    )
    assert space.landmarks.coordinates.shape == (1, 4, 3)
    assert space.landmarks.notes == ()


def test_a_matrix_of_two_columns_is_one_specimen(tmp_path):
    (tmp_path / "skull 7.nts").write_text('"one specimen\n1 4 2 1 -1 dim=2\n0 1\n2 3\n-1 -1\n6 7\n')
    skull = read_landmarks(tmp_path / "skull 7.nts").landmarks
    assert skull.ids == ("skull 7",)
    np.testing.assert_array_equal(skull.coordinates[0], [[0, 1], [2, 3], [np.nan] * 2, [6, 7]])


def test_missing_landmarks_of_every_format(tmp_path):
    (tmp_path / "a.nts").write_text("1 1 6 1 -999 DIM=2\n0 0 -999 -999.0 5 3\n")
    (tmp_path / "b.nts").write_text("1 1 6 0 DIM=2\n0 0 NA NA 5 3\n")
    (tmp_path / "c.txt").write_text("1\t0\t0\t\tNaN\t5\t3\n")
    head = "[individuals]\n1\n[landmarks]\n3\n[dimensions]\n2\n[rawpoints]\n"
    (tmp_path / "d.txt").write_text(head + "0 0\nNA NA\n5 3\n")
    for path in sorted(tmp_path.iterdir()):
        landmarks = read_landmarks(path).landmarks
        assert landmarks.is_missing.tolist() == [[False, True, False]], path


LABELS = "[labels]\nsex site\n[labelvalues]\nF 007\nM 8\n[groups]\ncarp 1 ide 1\n"


def test_labels_variables_and_columns_are_beside_the_landmarks(tmp_path):
    (tmp_path / "a.txt").write_text(MORPHOLOGIKA.replace("[wire", LABELS + "[wire"))
    (tmp_path / "b.tps").write_text(
        TPS.replace("fish_1\n", "fish_1\nVARIABLES=sex=F,site=007,group=carp\n")
        + "VARIABLES=sex=M\nVARIABLES=site=8, group=ide\n"
    )
    names = "\t".join(f"Coord{k}" for k in range(1, 7))
    (tmp_path / "c.txt").write_text(
        f"ID\tsex\tsite\tgroup\t{names}\n"
        "fish_1\tF\t007\tcarp\t0\t0.5\t4\t0\t4.25\t3\nfish_2\tM\t8\tide\t0\t0\t-5\t0.001\t5\t3\n"
    )
    (tmp_path / "d.csv").write_text(
        "id,sex,site,group,x1,y1,x2,y2,x3,y3\n"
        "fish_1,F,007,carp,0,0.5,4,0,4.25,3\nfish_2,M,8,ide,0,0,-5,0.001,5,3\n"
    )
    for path in sorted(tmp_path.iterdir()):
        specimens = read_landmarks(path)
        np.testing.assert_array_equal(specimens.landmarks.coordinates, POINTS)
        assert list(specimens.others) == ["sex", "site", "group"]
        assert specimens.others.index.tolist() == list(IDS)
        assert specimens.others["sex"].tolist() == ["F", "M"]
        assert groups_from_column(specimens, "site") == ("007", "8")
        assert groups_from_column(specimens, "group") == ("carp", "ide")
        message = f"{path} has no column 'tribe' to use as group column. Its columns are "
        with pytest.raises(InputError, match=f"^{re.escape(message)}"):
            groups_from_column(specimens, "tribe")


def test_one_label_may_have_blanks_and_no_name(tmp_path):
    values = "[labelvalues]\nLake Malawi\nLake Victoria\n"
    (tmp_path / "a.txt").write_text(MORPHOLOGIKA.replace("[wire", values + "[wire"))
    specimens = read_landmarks(tmp_path / "a.txt")
    assert specimens.others["label"].tolist() == ["Lake Malawi", "Lake Victoria"]


def test_groups_that_a_file_does_not_have_raise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tps").write_text(TPS)
    with error(
        "a.tps has landmarks only and no column 'sex'; give the groups in a table, or by a "
        "pattern in the ids."
    ):
        groups_from_column(read_landmarks("a.tps"), "sex")
    (tmp_path / "a.tps").write_text(TPS + "VARIABLES=sex=M\n")
    with error(
        "1 of 2 specimens of a.tps have no 'sex': 'fish_1'; give them one, or leave them out."
    ):
        groups_from_column(read_landmarks("a.tps"), "sex")


@pytest.mark.parametrize(("name", "content", "options", "message"), BAD_FILES)
def test_bad_files(tmp_path, monkeypatch, name, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content)
    with error(message):
        read_landmarks(name, **options)


def test_files_that_cannot_be_opened_raise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("none.tps", "none.nts", "none.txt", "none.csv"):
        with error(f"There is no file {name}; check its name and folder."):
            read_landmarks(name)
    (tmp_path / "wide.nts").write_bytes("1 1 2 0".encode("utf-16"))
    with error("wide.nts is text in UTF-16; save it as UTF-8."):
        read_landmarks("wide.nts")


LONG = " 1" * 100_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.txt", "a" + LONG),
        ("rows.txt", "a 1 2 3 4 5 6\nb" + LONG),
        ("rows.txt", "a 1 2 3 4 5 6\n" * 3000),
        ("groups.txt", MORPHOLOGIKA + "[groups]\n" + LONG),
        ("names.txt", MORPHOLOGIKA + "[labels]\n" + "a\n" * 5000),
        ("claims.nts", "1 1000 1000 0 DIM=2\n1 2 3\n"),
    ],
)
def test_files_that_need_too_much_memory_raise(tmp_path, monkeypatch, name, content):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNOVA_MEMORY_MB", "1")
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=rf"^{name} \(.* MB\) needs at least .* MB of memory"):
        read_landmarks(name)


def test_one_long_line_of_a_matrix_is_read_word_by_word(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNOVA_MEMORY_MB", "1")
    (tmp_path / "a.nts").write_text(f"1 10 10000 0 DIM=2\n{LONG}")
    assert read_landmarks(tmp_path / "a.nts").landmarks.coordinates.shape == (10, 5000, 2)


# --- damage: a reader raises InputError or reads, and never anything else --------------------------


@pytest.mark.parametrize("name", ["labels.nts", "first.dta", "morphologika.txt", "header.txt"])
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_files_raise_or_are_read(tmp_path_factory, name, data):
    content = bytearray(FILES[name].encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["cut", "remove", "change"]))
        if kind == "cut":
            content = content[: place + 1]
        elif kind == "remove" and len(content) > 1:
            del content[place]
        else:
            content[place] = data.draw(st.sampled_from(b"0123456789.,-[]LBE'\"=x \t\n\xe9"))
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(bytes(content))
    sentence = error_of(path)
    assert sentence is None or str(path) in sentence


def error_of(path):
    try:
        read_landmarks(path)
    except InputError as raised:
        return str(raised)
    return None


# --- writing --------------------------------------------------------------------------------------


def test_real_files_pass_through_every_format(data_folder, tmp_path):
    path = data_folder / "landmarks" / "tps_as_written" / "otolith_Landmarks_S_TUDO.TPS"
    if not path.is_file():
        pytest.skip(f"no landmarks at {path}")
    otoliths = read_tps(path)
    for suffix in (".tps", ".nts", ".csv", ".tsv"):
        write_landmarks(tmp_path / f"again{suffix}", otoliths)
        again = read_landmarks(tmp_path / f"again{suffix}").landmarks
        np.testing.assert_array_equal(again.coordinates, otoliths.coordinates)
        ids = (
            ["_".join(name.split()) for name in otoliths.ids] if suffix == ".nts" else otoliths.ids
        )
        assert list(again.ids) == list(ids)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("suffix", [".tps", ".nts", ".csv", ".tsv"])
def test_written_landmarks_are_restored(tmp_path, suffix, d):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((4, 5, d)) * 10.0 ** rng.integers(-8, 8, (4, 5, 1))
    points[1, 2] = points[3, 0] = np.nan
    points[0, 0, 0] = 9999  # so another number must stand for missing ones
    fish = Landmarks(("a", "b-1", "007", "ä"), points)
    path = tmp_path / f"fish{suffix}"
    write_landmarks(path, fish, groups=["carp", "carp", "ide", "ide"])
    specimens = read_landmarks(path)

    assert specimens.landmarks.ids == fish.ids
    np.testing.assert_array_equal(specimens.landmarks.coordinates, points)
    if suffix != ".nts":
        assert groups_from_column(specimens, "group") == ("carp", "carp", "ide", "ide")


def test_the_group_of_a_tps_file_replaces_an_earlier_one(tmp_path):
    fish = Landmarks(("a", "b"), np.zeros((2, 1, 2)), variables=("sex=F, group=x, site=3", ""))
    write_landmarks(tmp_path / "a.tps", fish, groups=["carp", "ide"])
    assert read_tps(tmp_path / "a.tps").variables == ("sex=F, site=3, group=carp", "group=ide")


NEXUS = """\
#NEXUS
BEGIN DATA;
  DIMENSIONS NTAX=3 NCHAR=4;
  FORMAT DATATYPE=CONTINUOUS MISSING=?;
  CHARSTATELABELS 1 x1, 2 y1, 3 x2, 4 y2;
  MATRIX
    a 0.5 -1.0 ? ?
    'b''s fish' 0.0 0.0 1e-05 2.0
    '12' 1.0 1.0 1.0 1.0
  ;
END;
BEGIN SETS;
  TAXSET 'big carp' = 1 3;
  TAXSET ide = 2;
END;
"""


def test_nexus_file_has_continuous_characters_and_sets_of_taxa(tmp_path):
    points = [[[0.5, -1], [np.nan] * 2], [[0, 0], [1e-5, 2]], [[1, 1], [1, 1]]]
    fish = Landmarks(("a", "b's fish", "12"), np.array(points))
    write_landmarks(tmp_path / "fish.nex", fish, groups=["big carp", "ide", "big carp"])
    assert (tmp_path / "fish.nex").read_text() == NEXUS
    write_landmarks(tmp_path / "fish.nex", fish)
    assert (tmp_path / "fish.nex").read_text() == NEXUS[: NEXUS.index("BEGIN SETS")]


def test_formulas_in_ids_are_marked_in_tables(tmp_path):
    fish = Landmarks(("=1+2",), np.zeros((1, 1, 2)))
    write_landmarks(tmp_path / "a.csv", fish)
    assert pd.read_csv(tmp_path / "a.csv")["id"].tolist() == ["'=1+2"]


@pytest.mark.parametrize(
    ("name", "ids", "groups", "message"),
    [
        ("a.dat", ("a",), None, "Cannot write landmarks to a.dat: its extension is '.dat'. Use one of .tps, .nts, .nex, .csv, .tsv."),
        ("a.csv", ("a",), ["x", "y"], "There are 2 groups for 1 specimens; give one for each."),
        ("a.nts", ("a b", "a_b"), None, "Two ids are the same with underscores in place of blanks, which labels of NTS files cannot have. Rename one, or write another format."),
        ("a.nex", ("a\nb",), None, r"The name 'a\nb' cannot stand on one line of a NEXUS file; remove line ends and damaged characters."),
    ],
)  # fmt: skip
def test_what_cannot_be_written_raises(tmp_path, monkeypatch, name, ids, groups, message):
    monkeypatch.chdir(tmp_path)
    with error(message):
        write_landmarks(name, Landmarks(ids, np.zeros((len(ids), 3, 2))), groups)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    ["p1,8.9,53.7,9.2,52.7,5.5,54.2", "p1 jord 8.9 53.7 9.2 52.7 5.5 54.2", "1,9,5.5,2,6,3,7,1.5"],
)
def test_values_in_place_of_names_are_found(tmp_path, line):
    (tmp_path / "rows.txt").write_text(line)
    assert values_as_header(tmp_path / "rows.txt")[0] in ("p1", "1")


@pytest.mark.parametrize(
    "line",
    ["id,0,1,2,3,4,5,6", "id,400.5,401.5,402.5,403.5,404.5,405.5", "id,9.5,8.5,7.5,6.5,5.5,4.5",
     "id,x1,y1,x2,y2,x3,y3", "5.1,3.5,1.4,0.2,iris", "a,3,1,2,6,4,5", ""],
)  # fmt: skip
def test_names_may_be_numbers_that_rise_or_fall(tmp_path, line):
    (tmp_path / "table.csv").write_text(line)
    assert values_as_header(tmp_path / "table.csv") == []
    assert values_as_header(tmp_path / "absent.csv") == []
    assert values_as_header("table.parquet") == []


def test_a_file_without_anything_digitised_raises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.tps").write_text("LM=0\nIMAGE=a.jpg\nLM=0\nIMAGE=b.jpg\n")
    with pytest.raises(InputError) as raised:
        read_landmarks("empty.tps")
    assert str(raised.value) == (
        "empty.tps has 2 specimens, but neither landmarks (LM=0) nor curves: nothing was "
        "digitised. Digitise the images, or name another file."
    )


def test_unknown_keywords_of_tps_files_are_skipped_with_a_note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "LM=2\n1 2\n4 5\nRADII=2\n1\n2\nSCLE=3\nID={}\nCHAIN=1\n1 2 3\n"
    Path("more.tps").write_text(text.format("a") + text.format("b"))
    landmarks = read_landmarks("more.tps").landmarks
    assert landmarks.ids == ("a", "b")
    assert landmarks.coordinates.tolist() == [[[1, 2], [4, 5]]] * 2
    assert landmarks.notes == (
        "Keywords of more.tps that are not known were skipped: RADII= (2 lines), SCLE= (2 lines), "
        "CHAIN= (2 lines).",
    )

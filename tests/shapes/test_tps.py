"""TPS files: every real one is read, what is written is restored, invalid ones raise."""

import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernova import InputError
from kernova.shapes import (
    Landmarks,
    read_tps,
    write_tps,
)
from kernova.shapes.tps import variables_of
from tests.shapes.bad_inputs import (
    BAD_TPS,
    error,
)
from tests.shapes.literal_tps import compare_with_literal, literal_records
from tests.shapes.tps_samples import SNAILS, assert_same, check_snails


def mixed_line_ends(text):
    ends = ["\n", "\r\n", "\r"]
    return "".join(line + ends[k % 3] for k, line in enumerate(text.splitlines()))


VARIANTS = {
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


@pytest.mark.parametrize("content", VARIANTS.values(), ids=VARIANTS)
def test_one_file_in_every_variant(tmp_path, content):
    (tmp_path / "snails.tps").write_bytes(content)
    check_snails(read_tps(tmp_path / "snails.tps"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_letters_beyond_ascii(tmp_path, encoding):
    (tmp_path / "a.tps").write_bytes("LM=0\nID=Ångström n° 3\n".encode(encoding))
    landmarks = read_tps(tmp_path / "a.tps")
    assert landmarks.ids == ("Ångström n° 3",)
    assert landmarks.coordinates.shape == (1, 0, 2)


def test_windows_letters_and_undefined_bytes(tmp_path):
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


def test_files_that_are_not_listed_are_read_and_restored(data_folder, tmp_path):
    root = data_folder / "landmarks"
    found = [p for p in root.rglob("*") if p.suffix.lower() == ".tps"]
    for path in found:
        if str(path.relative_to(root)) not in REAL:
            landmarks = read_tps(path)
            compare_with_literal(landmarks, literal_records(path.read_bytes()))
            write_tps(landmarks, tmp_path / "again.tps")
            assert_same(landmarks, read_tps(tmp_path / "again.tps"))


@pytest.mark.parametrize("name", REAL)
def test_every_real_file_is_read_and_restored(data_folder, tmp_path, name):
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
    assert_same(landmarks, read_tps(tmp_path / "again.tps"))


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
def test_written_files_are_restored(tmp_path_factory, landmarks):
    path = tmp_path_factory.mktemp("written") / "any.tps"
    write_tps(landmarks, path)
    again = read_tps(path)
    # A specimen without any point is not digitised yet, unless none is.
    pairs = zip(landmarks.curves, landmarks.outlines, strict=True)
    has_points = [bool(landmarks.n_landmarks or curves or outlines) for curves, outlines in pairs]
    landmarks = landmarks.take(has_points) if any(has_points) else landmarks
    assert_same(landmarks, again)
    assert np.array_equal(np.signbit(landmarks.coordinates), np.signbit(again.coordinates))


@pytest.mark.parametrize("text", [" a", "a\nb", "a\r", "a\0", "\ud800"])
def test_texts_that_would_not_be_restored_are_not_written(tmp_path, text):
    landmarks = Landmarks(("a",), np.zeros((1, 1, 2)), images=(text,))
    message = (
        f"The IMAGE {text!r} of specimen 'a' cannot stand on one line of a TPS file; remove outer "
        "blanks, line ends and damaged characters."
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        write_tps(landmarks, tmp_path / "a.tps")
    assert list(tmp_path.iterdir()) == []


def test_negative_coordinates_are_values_or_missing_landmarks(tmp_path):
    (tmp_path / "a.tps").write_text("LM=3\n-1 -1\n2 -0,5\n-0.0 3\nCURVES=1\nPOINTS=1\n-1 4\n")
    values = read_tps(tmp_path / "a.tps")
    missing = read_tps(tmp_path / "a.tps", negative="missing")

    assert values.coordinates.tolist() == [[[-1, -1], [2, -0.5], [0, 3]]]
    assert missing.is_missing.tolist() == [[True, True, False]]
    assert np.isnan(missing.coordinates[0, :2]).all()
    assert np.isnan(missing.curves[0][0]).all()


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
def test_source_of_the_ids(tmp_path, text, ids_from, ids):
    (tmp_path / "a.tps").write_text(text)
    assert read_tps(tmp_path / "a.tps", ids_from=ids_from).ids == ids


def test_points_in_space(tmp_path):
    (tmp_path / "a.tps").write_text("lm3=2\n1 2 3\n4 5 6\nID=a\nCURVES=1\nPOINTS=1\n7 8 9\n")
    landmarks = read_tps(tmp_path / "a.tps")
    assert landmarks.coordinates.tolist() == [[[1, 2, 3], [4, 5, 6]]]
    assert landmarks.curves[0][0].tolist() == [[7, 8, 9]]


@pytest.mark.parametrize(("content", "options", "message"), BAD_TPS)
def test_bad_tps_files(tmp_path, monkeypatch, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.tps").write_bytes(content)
    with error(message):
        read_tps("bad.tps", **options)


def test_missing_files_and_folders_raise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with error("There is no file none.tps; check its name and folder."):
        read_tps("none.tps")
    with error(". is a folder; name a file in it."):
        read_tps(".")


def test_records_that_are_not_yet_digitised_are_skipped_with_a_note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "LM=0\nIMAGE=p.jpg\n" + A_FISH + "LM=0\nID=c\nSCALE=2\n" + "LM=0\n" + B_FISH
    (tmp_path / "fish.tps").write_text(text)
    fish = read_tps("fish.tps")

    assert fish.ids == ("a", "b")
    assert fish.coordinates.tolist() == [[[1, 2]], [[3, 4]]]
    assert fish.notes == (
        "3 of 5 records of fish.tps have no landmarks (LM=0) and were skipped: 'p.jpg', 'c', '4'.",
    )
    assert fish.take([1]).notes == fish.notes
    assert read_tps("fish.tps", ids_from="number").ids == ("2", "5")


A_FISH, B_FISH = "LM=1\n1 2\nID=a\n", "LM=1\n3 4\nID=b\n"


def test_landmarks_from_curves_alone_are_no_unfinished_records(tmp_path):
    curve = "LM=0\nCURVES=1\nPOINTS=1\n1 2\n"
    (tmp_path / "a.tps").write_text(curve + curve)
    shells = read_tps(tmp_path / "a.tps")
    assert shells.coordinates.shape == (2, 0, 2)
    assert shells.notes == ()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["sex=F, site=3"], {"sex": "F", "site": "3"}),
        (["", "sex=F", "", "site=3"], {"sex": "F", "site": "3"}),
        (["sex=F;site=03"], {"sex": "F", "site": "03"}),
        (["length=1,5,sex=F"], {"length": "1,5", "sex": "F"}),
        (["sex = F , place=Lake, north"], {"sex": "F", "place": "Lake, north"}),
        (["sex=, site=3"], {"site": "3"}),
        (["male"], {"variables": "male"}),
        (["formula=a=b"], {"formula": "a=b"}),
    ],
)
def test_variables_are_columns(tmp_path, lines, expected):
    variables = "".join(f"VARIABLES={line}\n" for line in lines)
    (tmp_path / "a.tps").write_text(A_FISH + variables + B_FISH)
    table = variables_of(read_tps(tmp_path / "a.tps"))
    assert table.loc["a"].to_dict() == expected
    assert table.loc["b"].tolist() == [None] * len(expected)
    assert table.index.tolist() == ["a", "b"]


def test_no_variables_are_no_columns(tmp_path):
    (tmp_path / "a.tps").write_text(A_FISH + "VARIABLES=\n" + B_FISH)
    assert variables_of(read_tps(tmp_path / "a.tps")) is None


def test_variables_of_real_snails(data_folder):
    folder = data_folder / "landmarks" / "tps_as_written"
    snails = read_tps(folder / "littorina_all_landmarks.TPS")
    table = variables_of(snails)
    assert list(table) == ["OrigNum"]
    assert table["OrigNum"].isna().sum() == 1
    assert table["OrigNum"].dropna().str.fullmatch(r"\d+").all()

"""Files of specimens as tables: every format, ids, labels, missing landmarks, and bad input."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernova import InputError
from kernova.workflows.landmarks.alignment import LOG_SIZE
from kernova.workflows.landmarks.reading import HowDigitised
from kernova.workflows.learn import read_labelled
from kernova.workflows.novelty import read_known_and_new
from kernova.workflows.outliers import read_rows
from tests.workflows.landmarks import messages, specimens
from tests.workflows.landmarks.specimens import KNOWN, KNOWN_IDS, known, wide, with_gaps


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fish(points=None, **others):
    points = known() if points is None else points
    return wide(points, **{"id": KNOWN_IDS, "species": KNOWN, "depth": np.arange(60.0), **others})


def tps(path="fish.tps", points=None, **more):
    return as_text(path, specimens.tps(known() if points is None else points, KNOWN_IDS, **more))


def csv(path="fish.csv", frame=None, **how):
    (fish() if frame is None else frame).to_csv(path, index=False, **how)
    return path


def labels(path="species.csv", id_column="id"):
    pd.DataFrame({id_column: KNOWN_IDS[::-1], "species": KNOWN[::-1]}).to_csv(path, index=False)
    return path


# --- formats -------------------------------------------------------------------------------------


def as_text(path, text):
    Path(path).write_text(text)
    return path


FILES = {
    "tps": lambda: tps(),
    "nts": lambda: as_text("fish.nts", specimens.nts(known(), KNOWN_IDS)),
    "morphologika": lambda: as_text(
        "fish.txt", specimens.morphologika(known(), KNOWN_IDS, KNOWN)
    ),
    "csv": lambda: csv(),
    "csv of R": lambda: csv(frame=fish().assign(**{"": range(60)})[["", *fish().columns]]),
    "capitals and blanks": lambda: csv(
        frame=fish().rename(columns=lambda name: f" {name.upper()}" if name[1:].isdigit() else name)
    ),
    "decimal commas": lambda: csv(sep=";", decimal=","),
    "other order": lambda: csv(frame=fish()[list(fish().columns)[::-1]]),
    "parquet": lambda: fish().to_parquet("fish.parquet") or "fish.parquet",
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_every_format_gives_the_same_rows(kind):
    rows = read_rows(FILES[kind]())
    expected = read_rows(tps("same.tps"))
    np.testing.assert_allclose(rows.features, expected.features, atol=1e-8)
    assert rows.ids.tolist() == KNOWN_IDS
    assert list(rows.features.columns)[:3] == ["x1 (aligned)", "y1 (aligned)", "x2 (aligned)"]


def test_three_dimensions():
    table = read_rows(tps(points=known(dimensions=3)))
    assert table.features.shape == (60, 18)
    assert table.notes == (messages.ALIGNED_SOLIDS.format("fish.tps"),)


def test_what_was_done_is_said():
    assert read_rows(tps()).notes == (messages.ALIGNED.format("fish.tps"),)
    table = read_rows(csv(frame=fish(museum="X")), label_column="species")
    assert table.notes == (
        messages.ALIGNED_TABLE.format("fish.csv"),
        messages.NOT_COMPARED.format("fish.csv"),
    )
    assert table.labels.tolist() == KNOWN
    dropped = read_rows("fish.csv", label_column="species", drop=["depth", "museum"])
    assert dropped.notes == table.notes[:1]


def test_raw_coordinates_are_columns_like_any_other():
    table = read_rows(csv(), id_column="id", label_column="species", raw_coordinates=True)
    np.testing.assert_array_equal(table.features[["x1", "y6"]], fish()[["x1", "y6"]])
    assert not any("aligned" in note for note in table.notes)


PLAIN = {
    "two landmarks may be a box": ["x1", "y1", "x2", "y2"],
    "one coordinate is absent": ["x1", "y1", "x2", "y2", "x3"],
    "numbers of one axis": ["x1", "x2", "x3", "x4"],
}


@pytest.mark.parametrize("kind", PLAIN)
def test_tables_that_only_resemble_landmarks_are_taken_as_they_are(kind):
    frame = fish()[PLAIN[kind]]
    table = read_rows(csv(frame=frame))
    assert table.notes == ()
    pd.testing.assert_frame_equal(table.features, frame, check_exact=False)


NUMBERS = [f"{axis}{number}" for number in range(1, 7) for axis in "xy"]


def renamed(name, **others):
    """Return specimens whose coordinates are named by position, axis (0 or 1) and number."""
    return fish(**others).rename(
        columns={old: name(k, k % 2, k // 2 + 1) for k, old in enumerate(NUMBERS)}
    )


NAMES = {
    "from 0": lambda k, axis, number: f"{'xy'[axis]}{number - 1}",
    "a prefix": lambda k, axis, number: f"p{number}{'XY'[axis]}",
    "brackets": lambda k, axis, number: f"LM{number} ({'xy'[axis]})",
    "anatomy": lambda k, axis, number: f"{'abcdef'[number - 1] * 3}_{'xy'[axis]}",
    "made unique": lambda k, axis, number: "xy"[axis] + (f".{number - 1}" if number > 1 else ""),
    "geomorph": lambda k, axis, number: f"Coord{k + 1}",
    "MorphoJ": lambda k, axis, number: f"ProcCoord{k + 1}",
}


@pytest.mark.parametrize("suffix", ["csv", "txt", "parquet"])
@pytest.mark.parametrize("kind", NAMES)
def test_names_of_other_programs_are_landmarks_too(kind, suffix):
    frame, path = renamed(NAMES[kind]), f"fish.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        csv(path, frame, sep="," if suffix == "csv" else "\t")
    table = read_labelled(path, "species", id_column="id")
    expected = read_labelled(tps("same.tps"), None, id_pattern="^([a-z]+)_")
    np.testing.assert_allclose(table.features, expected.features, atol=1e-8)
    assert table.labels.tolist() == KNOWN
    is_guessed = messages.GUESSED.format(path) in table.notes
    assert is_guessed == (kind in ("geomorph", "MorphoJ"))
    raw = read_rows(path, label_column="species", id_column="id", raw_coordinates=True)
    assert raw.features.shape == (60, 12)


def test_columns_that_only_look_like_landmarks_are_compared_as_they_are_with_a_note():
    table = read_rows(csv(frame=renamed(NAMES["a prefix"]).drop(columns=["p3X", "p3Y"])))
    assert messages.LOOK_LIKE_LANDMARKS in table.notes
    raw = read_rows("fish.csv", raw_coordinates=True)
    assert messages.LOOK_LIKE_LANDMARKS not in raw.notes


def test_numbered_columns_are_landmarks_if_their_dimension_is_given():
    path = csv(frame=renamed(lambda k, axis, number: f"V{k + 1}"))
    assert "V1" in read_rows(path).features
    table = read_rows(path, label_column="species", digitised=HowDigitised(dimensions=3))
    assert table.features.shape == (60, 12)
    assert table.reader.layout == (4, 3)
    known_and_new = read_known_and_new(
        path, path, label_column="species", digitised=HowDigitised(dimensions=3)
    )
    assert known_and_new.new.features.shape == (60, 12)


def test_rows_without_a_header():
    frame = fish()[["id", *NUMBERS]]
    path = csv("fish.txt", frame, header=False, sep="\t")
    with pytest.raises(InputError, match=re.escape(messages.NO_HEADER)):
        read_rows(path)
    rows = read_rows(path, digitised=HowDigitised(dimensions=2))
    np.testing.assert_allclose(rows.features, read_rows(tps()).features, atol=1e-8)
    assert rows.ids.tolist() == KNOWN_IDS
    named = csv("known.csv", fish()[["depth"]].assign(length=np.arange(60) ** 2))
    with pytest.raises(InputError, match=r"^The first line of fish\.txt holds values"):
        read_known_and_new(named, path)


def test_ids_and_negative_coordinates_of_tps_files():
    text = specimens.tps(known()[:5] - known()[:5].min() + 1, ["same"] * 5)
    text = text.replace("\n", "\n-1 -1\n", 1).replace("LM=6", "LM=7", 1)
    text = text.replace("LM=6\n", "LM=7\n3 4\n")
    with pytest.raises(InputError, match="have the same ID=same"):
        read_rows(as_text("fish.tps", text))
    how = HowDigitised(ids_from="number", negative="missing")
    table = read_rows("fish.tps", digitised=how)
    assert table.ids.tolist() == ["1", "2", "3", "4", "5"]
    assert messages.ONE_ESTIMATED in table.notes


def test_a_code_of_missing_landmarks_is_no_landmark():
    points = known() - known().min() + 1
    points[2, 3] = -999
    for path in (tps(points=points), csv(frame=fish(points))):
        with pytest.raises(InputError) as raised:
            read_rows(path)
        assert str(raised.value) == messages.CODE_OF_MISSING.format(KNOWN_IDS[2], path)
        table = read_rows(path, digitised=HowDigitised(negative="missing"))
        assert any("is missing, in 1 of 60 specimens" in note for note in table.notes)


def test_a_dimension_that_the_file_tells_cannot_be_another():
    with pytest.raises(InputError) as raised:
        read_rows(tps(), digitised=HowDigitised(dimensions=3))
    assert str(raised.value) == messages.OTHER_DIMENSION
    named = csv("known.csv", fish()[["depth"]].assign(length=np.arange(60) ** 2))
    with pytest.raises(InputError, match=r"^`negative` is for specimens that are aligned"):
        read_rows(named, digitised=HowDigitised(negative="missing"))


# --- ids and labels ------------------------------------------------------------------------------


def test_ids_need_not_be_there_or_differ():
    numbers = [str(number) for number in range(1, 61)]
    assert read_rows(csv(frame=fish().drop(columns="id"))).ids.tolist() == numbers
    assert read_rows(csv(frame=fish(id="same"))).ids.tolist() == numbers
    named = csv(frame=fish().rename(columns={"id": "fish"}))
    assert read_rows(named, id_column="fish").ids.tolist() == KNOWN_IDS


@pytest.mark.parametrize("own", ["id", "fish"])
@pytest.mark.parametrize("beside", ["id", "fish"])
@pytest.mark.parametrize("file", ["csv", "parquet", "tps"])
def test_labels_come_from_a_table_by_id(file, own, beside):
    frame = fish().rename(columns={"id": own}).drop(columns="species")
    path = f"specimens.{file}"
    if file == "tps":
        tps(path)
    elif file == "csv":
        csv(path, frame)
    else:
        frame.to_parquet(path)
    table = read_labelled(path, "species", labels=labels(id_column=beside))
    assert table.labels.tolist() == KNOWN
    assert table.ids.tolist() == KNOWN_IDS
    named = read_labelled(path, "species", labels="species.csv", id_column=beside)
    assert named.ids.tolist() == KNOWN_IDS


def test_labels_come_from_a_part_of_the_ids():
    for path in (tps(), csv()):
        table = read_labelled(path, None, id_pattern="^([a-z]+)_")
        assert table.labels.tolist() == KNOWN


def test_variables_of_tps_files_are_labels_and_groups():
    variables = [f"species={name};pond={row % 8}" for row, name in enumerate(KNOWN)]
    table = read_labelled(tps(variables=variables), "species", group_column="pond")
    assert table.labels.tolist() == KNOWN
    assert table.groups.tolist() == [str(row % 8) for row in range(60)]
    assert messages.ONE_NOT_COMPARED.format("fish.tps") not in table.notes
    table = read_labelled("fish.tps", "species")
    assert messages.ONE_NOT_COMPARED.format("fish.tps") in table.notes


def test_every_specimen_needs_a_label_of_the_table():
    frame = pd.DataFrame({"id": KNOWN_IDS, "species": ["", "", *KNOWN[2:]]})
    frame.to_csv("species.csv", index=False)
    with pytest.raises(InputError) as raised:
        read_labelled(tps(), "species", labels="species.csv")
    assert str(raised.value) == messages.UNLABELLED


# --- sizes, and missing landmarks ----------------------------------------------------------------


def test_sizes_are_in_real_units_if_there_are_scales():
    plain, scaled = (read_rows(path, size=True) for path in (tps(), tps("s.tps", scale=0.01)))
    assert plain.notes == (messages.SIZES_OF_THE_FILE.format("fish.tps"),)
    assert scaled.notes == (messages.SIZES_IN_REAL_UNITS.format("s.tps"),)
    difference = scaled.features[LOG_SIZE] - plain.features[LOG_SIZE]
    np.testing.assert_allclose(difference, np.log(0.01))
    assert LOG_SIZE not in read_rows("s.tps").features


def test_sizes_with_and_without_scales_do_not_compare():
    some = specimens.tps(known()[:2], KNOWN_IDS[:2])
    others = specimens.tps(known()[2:], KNOWN_IDS[2:], scale=0.01)
    with pytest.raises(InputError) as raised:
        read_rows(as_text("fish.tps", some + others), size=True)
    assert str(raised.value) == messages.NO_SCALES.format("fish.tps")
    assert len(read_rows("fish.tps").features) == 60  # shapes do


@pytest.mark.parametrize("file", ["csv", "tps"])
def test_missing_landmarks(file):
    gaps = with_gaps(known())
    path = csv(frame=fish(gaps)) if file == "csv" else tps(points=gaps)
    for missing in ("auto", "fill"):
        table = read_rows(path, missing=missing)
        assert len(table.features) == 60
        assert messages.ESTIMATED.format(path) in table.notes
    complete = read_rows(path, missing="drop")
    assert (len(complete.features), complete.n_dropped) == (51, 9)
    with pytest.raises(InputError) as raised:
        read_rows(path, missing="refuse")
    assert str(raised.value) == messages.LACKING.format(path)


def test_landmarks_that_all_specimens_lack():
    tps(points=with_gaps(known(), every=1))
    with pytest.raises(InputError) as raised:
        read_rows("fish.tps", missing="drop")
    assert str(raised.value) == messages.ALL_LACKING.format("fish.tps")


# --- bad input -----------------------------------------------------------------------------------


def changed(row, column, value):
    frame = fish().astype({column: object})
    frame.loc[row, column] = value
    return csv(frame=frame)


def all_of(row, value):
    points = known()
    points[row] = value
    return csv(frame=fish(points))


BAD_FILES = {
    "half a landmark": lambda: changed(4, "x3", None),
    "text": lambda: changed(4, "x3", "high"),
    "infinite": lambda: changed(4, "x3", "inf"),
    "never seen": lambda: csv(frame=fish(with_gaps(known(), every=1, landmark=2))),
    "one point": lambda: all_of(5, 1.0),
    "no landmark": lambda: all_of(5, np.nan),
    "tiny": lambda: csv(frame=fish(known() * 1e-305)),
    "two landmarks": lambda: tps(points=known()[:, :2]),
    "broken": lambda: as_text("fish.tps", "LM=3\n1 2\nID=a\n"),
}
READERS = {
    "learn": lambda path: read_labelled(path, "species" if path.endswith("csv") else None),
    "outliers": read_rows,
    "novelty": lambda path: read_known_and_new(path, path),
}


@pytest.mark.parametrize("kind", BAD_FILES)
@pytest.mark.parametrize("reader", READERS)
def test_bad_files(kind, reader):
    path = BAD_FILES[kind]()
    largest = f"{np.abs(known()).max() * 1e-305:.3g}"
    with pytest.raises(InputError) as raised:
        READERS[reader](path)
    assert str(raised.value) == messages.BAD_FILES[kind].replace("{largest}", largest)


BAD_ROLES = {
    "a coordinate as label": {"label_column": "x3"},
    "a coordinate to drop": {"label_column": "species", "drop": ["y2"]},
    "a column to keep": {"label_column": "species", "keep": ["depth"]},
    "no such group": {"label_column": "species", "group_column": "pond"},
    "no labels": {},
    "size of raw coordinates": {"label_column": "species", "raw_coordinates": True, "size": True},
    "labels beside raw coordinates": {
        "label_column": "species", "raw_coordinates": True, "labels": "species.csv",
    },
    "column and pattern": {"label_column": "species", "id_pattern": "^([a-z]+)_"},
    "labels without a column": {"labels": "species.csv"},
    "another column of labels": {"labels": "species.csv", "label_column": "genus"},
    "pattern": {"id_pattern": "("},
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_ROLES)
def test_bad_roles_of_a_table(kind):
    labels()
    with pytest.raises(InputError) as raised:
        read_labelled(csv(), **{"label_column": None, **BAD_ROLES[kind]})
    assert str(raised.value) == messages.BAD_ROLES[kind].format("fish.csv")


BAD_ROLES_OF_TPS = {
    "label": {"label_column": "species"},
    "drop": {"drop": ["depth"]},
    "keep": {"keep": ["depth"]},
    "id": {"id_column": "fish"},
    "raw coordinates": {"raw_coordinates": True},
}


@pytest.mark.parametrize("kind", BAD_ROLES_OF_TPS)
def test_bad_roles_of_a_file_of_landmarks(kind):
    with pytest.raises(InputError) as raised:
        read_rows(tps(), **BAD_ROLES_OF_TPS[kind])
    assert str(raised.value) == messages.BAD_ROLES_OF_TPS[kind].format("fish.tps")


def test_tables_without_landmarks_have_no_size():
    with pytest.raises(InputError) as raised:
        read_rows(csv(frame=fish()[["species", "depth", "x1"]]), size=True)
    assert str(raised.value) == messages.NO_SIZE_OF_TABLES.format("fish.csv")

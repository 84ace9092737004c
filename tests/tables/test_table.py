"""Tables read from files of every format, and files that cannot be read."""

import gzip
import os
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernova import InputError, read_table
from tests.tables.messages import (
    BAD_FILES,
    FOLDER,
    MISSING_VALUES,
    NO_FILE,
    NO_TEXT,
    UNREADABLE,
    encoded,
)

FISH = pd.DataFrame(
    {
        "fish": ["007", "012345678901234567", "NA"],
        "length": [10.5, 0.1, -2e-300],
        "sex": ["f", "m", "f"],
        "ripe": [True, False, True],
        "rings": [3, 2**60, 5],
        "tribe": ["a", "b", "a"],
    }
)


def separated(separator):
    return lambda path: FISH.to_csv(path, sep=separator, index=False)


def stream(path):
    table = pa.Table.from_pandas(FISH)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def with_coded_columns(path):
    FISH.astype({"sex": "category", "tribe": "category", "fish": "category"}).to_parquet(path)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("fish.csv", separated(",")),
        ("FISH.CSV", separated(",")),
        ("semicolons.csv", separated(";")),
        ("bom.csv", lambda path: FISH.to_csv(path, index=False, encoding="utf-8-sig")),
        ("crlf.csv", lambda path: FISH.to_csv(path, index=False, lineterminator="\r\n")),
        ("indexed.csv", FISH.to_csv),
        ("indexed_by_r.csv", FISH.set_axis([1, 2, 3]).to_csv),
        ("trailing.csv", lambda path: FISH.assign(**{"": None}).to_csv(path, index=False)),
        ("fish.csv.gz", separated(",")),
        ("fish.tsv", separated("\t")),
        ("indexed.tsv", lambda path: FISH.to_csv(path, sep="\t")),
        ("fish.tsv.gz", separated("\t")),
        ("fish.txt", separated("\t")),
        ("fish.parquet", FISH.to_parquet),
        ("coded.parquet", with_coded_columns),
        ("sampled.parquet", lambda path: FISH.set_axis([7, 3, 5]).to_parquet(path)),
        ("by_fish.parquet", lambda path: FISH.set_index("fish").to_parquet(path)),
        ("fish.feather", FISH.to_feather),
        ("fish.arrow", FISH.to_feather),
        ("stream.arrow", stream),
    ],
)
def test_every_format_gives_the_same_table(tmp_path, name, write):
    write(tmp_path / name)

    table = read_table(tmp_path / name, id_column="fish", label_column="tribe")

    expected = FISH[["length", "sex", "ripe", "rings"]].astype({"ripe": "int64"})
    pd.testing.assert_frame_equal(table.features, expected, check_dtype=False, check_exact=True)
    assert table.features["ripe"].dtype.kind == "i"
    assert table.ids.name == "fish"
    assert table.ids.to_list() == FISH["fish"].to_list()
    assert table.labels.name == "tribe"
    assert table.labels.to_list() == ["a", "b", "a"]
    assert table.source == str(tmp_path / name)
    assert table.n_dropped == 0


def test_without_an_id_column_rows_are_numbered_from_1(tmp_path):
    (tmp_path / "two.csv").write_text("a,b\n1,x\n2,y\n")

    table = read_table(tmp_path / "two.csv", drop="b")

    assert list(table.features) == ["a"]
    assert table.ids.to_list() == ["1", "2"]
    assert table.ids.name == "row"
    assert table.labels is None


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_carries_names_ids_and_labels(tmp_path, save):
    X = np.array([[1.5, 2.0], [3.0, 4.0]])
    save(
        tmp_path / "all.npz",
        X=X,
        y=np.array([b"u", b"v"]),
        ids=np.array([b"01", b"02"]),
        feature_names=["p", "q"],
    )
    save(tmp_path / "alone.npz", anything=X.astype(">f4"))

    table = read_table(tmp_path / "all.npz")
    pd.testing.assert_frame_equal(table.features, pd.DataFrame(X, columns=["p", "q"]))
    assert table.ids.to_list() == ["01", "02"]
    assert table.labels.to_list() == ["u", "v"]
    assert read_table(tmp_path / "all.npz", drop=["y", "ids"]).ids.to_list() == ["1", "2"]
    assert read_table(tmp_path / "all.npz", id_column="y").ids.to_list() == ["u", "v"]

    alone = read_table(tmp_path / "alone.npz", id_column="x1")
    assert alone.ids.to_list() == ["2", "4"]
    assert alone.features.to_dict("list") == {"x0": [1.5, 3.0]}


@pytest.mark.parametrize("dtype", ["?", "i1", ">i8", "u2", "f2", ">f4", "f8", "longdouble"])
def test_arrays_of_any_number_type_are_read(tmp_path, dtype):
    array = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    np.save(tmp_path / "a.npy", np.asfortranarray(array))

    table = read_table(tmp_path / "a.npy")

    np.testing.assert_array_equal(table.features.to_numpy(dtype=float), array.astype(float))
    assert list(table.features) == ["x0", "x1"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1).filter(
                str.strip
            ),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        unique_by=lambda row: row[0],
    )
)
def test_ids_and_numbers_survive_text_exactly(tmp_path, rows):
    path = tmp_path / "any.csv"
    pd.DataFrame(rows, columns=["id", "x"]).to_csv(path, index=False)

    table = read_table(path, id_column="id")

    assert table.ids.to_list() == [text for text, _ in rows]
    assert table.features["x"].to_list() == [number for _, number in rows]


def test_missing_values_are_rejected_dropped_or_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "id,a,b,c\np,1,u,True\nq,,v,False\nr,NaN,None,True\ns,4,NA,False\nt,5,v,\nu,6,w,True\n"
    (tmp_path / "holes.csv").write_text(text)

    with pytest.raises(InputError) as caught:
        read_table("holes.csv", id_column="id")
    assert str(caught.value) == MISSING_VALUES

    dropped = read_table("holes.csv", id_column="id", label_column="b", missing="drop")
    assert dropped.ids.to_list() == ["p", "s", "u"]
    assert dropped.labels.isna().to_list() == [False, True, False]
    assert dropped.features.to_dict("list") == {"a": [1, 4, 6], "c": [1, 0, 1]}
    assert list(dropped.features.index) == list(dropped.ids.index) == [0, 1, 2]
    assert dropped.n_dropped == 3
    assert read_table("holes.csv", missing="drop", drop=["id"]).ids.to_list() == ["1", "6"]

    kept = read_table("holes.csv", id_column="id", missing="keep")
    assert kept.n_dropped == 0
    assert kept.features.isna().sum().to_dict() == {"a": 2, "b": 2, "c": 1}
    assert kept.features["c"].dtype.kind == "f"


def test_numbers_stored_as_text_are_numbers(tmp_path):
    pd.DataFrame({"a": ["1.5", "007", None], "b": [None, None, None]}).to_parquet(
        tmp_path / "t.parquet"
    )

    features = read_table(tmp_path / "t.parquet", missing="keep", keep="b").features

    np.testing.assert_array_equal(
        features.to_numpy(float), [[1.5, np.nan], [7, np.nan], [np.nan] * 2]
    )


def test_categories_may_be_many_or_look_a_little_like_numbers(tmp_path):
    few = [f"c{i}" for i in range(50)]
    many = [f"c{i % 60}" for i in range(120)]
    codes = [str(i % 7) if i % 5 < 2 else "may" for i in range(120)]
    pd.DataFrame({"few": few}).to_csv(tmp_path / "few.csv", index=False)
    pd.DataFrame({"many": many, "codes": codes}).to_csv(tmp_path / "many.csv", index=False)

    assert read_table(tmp_path / "few.csv", reading="strict").features["few"].to_list() == few
    assert read_table(tmp_path / "many.csv").features.to_dict("list") == {
        "many": many,
        "codes": codes,
    }


@pytest.mark.parametrize("sign", [1, -1])
def test_names_may_be_numbers_in_order(tmp_path, sign):
    spectra = pd.DataFrame(np.arange(2000.0).reshape(2, -1)).rename(columns=lambda j: f"{sign * j}")
    spectra.to_csv(tmp_path / "spectra.csv", index=False)

    assert read_table(tmp_path / "spectra.csv").features.equals(spectra)


def test_lines_may_be_long(tmp_path):
    (tmp_path / "long.csv").write_text(f"id,a\n{'x' * 3_000_000},1\n")

    assert read_table(tmp_path / "long.csv", id_column="id").ids.str.len().to_list() == [3_000_000]


def test_lines_may_end_inside_quotes_wherever_the_reader_pauses(tmp_path):
    poems = [f"{i}" + "\n" * 1000 for i in range(17_000)]
    pd.DataFrame({"id": poems, "a": 1}).to_csv(tmp_path / "poems.csv", index=False)

    assert read_table(tmp_path / "poems.csv", id_column="id").ids.to_list() == poems


@pytest.mark.parametrize(
    ("name", "content", "arguments", "message"),
    BAD_FILES,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_files_raise_one_message(tmp_path, monkeypatch, name, content, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)

    with pytest.raises(InputError) as caught:
        read_table(name, **arguments)

    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["nowhere.csv", "no/where.csv", "file.csv/x.csv", "nul\0.csv"])
def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.csv").write_text("a\n1\n")

    with pytest.raises(InputError) as caught:
        read_table(name)

    assert str(caught.value) == NO_FILE.format(name)


def test_a_folder_is_not_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.parquet").mkdir()

    with pytest.raises(InputError) as caught:
        read_table("parts.parquet")

    assert str(caught.value) == FOLDER


@pytest.fixture
def ordinary_user():
    """Root may read everything, so it becomes nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_that_may_not_be_read_is_named(tmp_path, request):
    path = tmp_path / "secret.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    request.getfixturevalue("ordinary_user")

    with pytest.raises(InputError) as caught:
        read_table(path)

    assert str(caught.value) == UNREADABLE.format(path)


UNNAMED_FISH = FISH.drop(columns="fish")
WHOLE_FILES = {
    "csv": UNNAMED_FISH.to_csv().encode(),
    "csv.gz": gzip.compress(UNNAMED_FISH.to_csv().encode()),
    "parquet": encoded(UNNAMED_FISH.to_parquet),
    "arrow": encoded(UNNAMED_FISH.to_feather),
    "npy": encoded(np.save, np.arange(12.0).reshape(4, 3)),
    "npz": encoded(np.savez, X=np.arange(6.0).reshape(2, 3), ids=["a", "b"]),
}


@pytest.mark.parametrize("ending", sorted(WHOLE_FILES.keys() - {"csv"}))
def test_a_truncated_file_is_rejected(tmp_path, ending):
    whole, path = WHOLE_FILES[ending], tmp_path / f"cut.{ending}"
    path.write_bytes(whole)
    read_table(path)

    for length in range(0, len(whole), max(1, len(whole) // 200)):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_table(path)


@pytest.mark.parametrize("ending", WHOLE_FILES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_read_or_rejected_but_nothing_else(tmp_path, ending, data):
    content = bytearray(WHOLE_FILES[ending])
    positions = st.integers(0, len(content) - 1)
    changes = data.draw(st.dictionaries(positions, st.integers(0, 255), max_size=8))
    for position, byte in changes.items():
        content[position] = byte
    path = tmp_path / f"damaged.{ending}"
    path.write_bytes(content)

    with suppress(InputError):
        table = read_table(path, missing="keep")
        assert len(table.features) == len(table.ids) > 0


def test_real_tables_are_read_whole(data_folder):
    shapes = {
        "abalone": (4177, 8),
        "kdd_u2r": (60821, 41),
        "letter": (20000, 16),
        "mammography": (11183, 6),
        "shuttle_test": (14500, 9),
        "yeast": (1484, 8),
    }
    for name, shape in shapes.items():
        path = data_folder / f"{name}.parquet"
        table = read_table(path, label_column="label", reading="strict")
        assert table.features.shape == shape
        pd.testing.assert_series_equal(table.labels, pd.read_parquet(path)["label"])
    path = data_folder / "kdd_u2r.parquet"
    texts = read_table(path, label_column="label", reading="strict").features
    assert list(texts.select_dtypes(exclude="number")) == ["protocol_type", "service", "flag"]


@pytest.mark.parametrize(("array", "what"), [("ids", "ids"), ("feature_names", "feature names")])
def test_halves_of_characters_are_rejected_as_names(tmp_path, monkeypatch, array, what):
    monkeypatch.chdir(tmp_path)
    np.savez("odd.npz", X=np.eye(2), **{array: np.array(["a", "\udcff"])})
    with pytest.raises(InputError) as caught:
        read_table("odd.npz")
    assert str(caught.value) == NO_TEXT.format(what)


def test_numbers_beyond_the_floating_point_range_become_the_largest_in_it(tmp_path):
    path = tmp_path / "far.csv"
    path.write_text("a,b,c\n1,1.8e308,x\n2,,y\n3,-1e999,x\n4,0.5,y\n")
    table = read_table(path, missing="keep")
    largest = np.finfo(np.float64).max
    np.testing.assert_array_equal(table.features["b"], [largest, np.nan, -largest, 0.5])
    assert list(table.features["a"]) == [1, 2, 3, 4]

    path.write_text("a,b\n1,1.8e308\n2,inf\n")
    with pytest.raises(
        InputError, match=r"'b' of .* holds an infinite number in row 2; correct it"
    ):
        read_table(path)


def test_a_group_column_is_no_feature_and_loses_the_rows_that_are_dropped(tmp_path):
    path = tmp_path / "fish.csv"
    path.write_text("length,pond,kind\n1,a,x\n,a,x\n3,b,y\n")
    table = read_table(path, label_column="kind", group_column="pond", missing="drop")
    assert list(table.features) == ["length"]
    assert table.groups.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="has no column 'lake' to use as group column"):
        read_table(path, group_column="lake")
    with pytest.raises(InputError, match="cannot be both label and group"):
        read_table(path, label_column="kind", group_column="kind")

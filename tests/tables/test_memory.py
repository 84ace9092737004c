"""Tables from elsewhere: small files that stand for huge ones, and damaged ones, stay cheap."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest

from kernova import InputError, read_table
from tests.memory import check_damaged, readings

from .bombs import BOMBS, damaged, good_files

N_DAMAGED = 1_500
# Files that can be read within their budget, or are rejected for another reason.
CHEAP = {
    "many_entries", "many_text_columns", "many_quotes", "one_long_line", "wide_letters",
}  # fmt: skip
TOO_LARGE = re.compile(
    r"\S+ \([\d.]+ MB\) needs at least [\d,]+ MB of memory, more than the [\d,]+ MB allowed for a "
    r"file of its size\. If you trust it, allow more with memory_mb=\.\.\. or the environment "
    r"variable KERNOVA_MEMORY_MB\."
)


def faults(found):
    return [fault for reading in found for fault in reading.faults()]


@pytest.mark.soak
def test_small_files_that_stand_for_huge_tables_are_rejected(tmp_path, long_bar):
    bombs = BOMBS[: max(17, long_bar(len(BOMBS)))]
    found = readings("table", [write(tmp_path / write.__name__) for write in bombs])

    assert faults(found) == []
    for write, reading in zip(bombs, found, strict=True):
        is_rejected = TOO_LARGE.fullmatch(reading.message) is not None
        assert is_rejected or write.__name__ in CHEAP, reading


@pytest.mark.soak
def test_damaged_files_take_little_memory_and_time(tmp_path, long_bar):
    check_damaged("table", tmp_path, good_files(), damaged, long_bar(N_DAMAGED))


# --- ordinary files -------------------------------------------------------------------------


def survey(n_rows):
    """Rows of repeated words and whole numbers, which a compressor reduces to a tenth."""
    choose = np.random.default_rng(0)
    places = choose.choice(["Torgersen", "Biscoe", "Dream"], n_rows // 40 + 1)
    return pd.DataFrame(
        {
            "island": np.repeat(places, 40)[:n_rows],
            "species": choose.choice(
                ["Adelie", "Gentoo", "Chinstrap"], n_rows, p=[0.9, 0.05, 0.05]
            ),
            "year": np.repeat(np.arange(n_rows // 1000 + 1) % 30 + 1990, 1000)[:n_rows],
            "count": choose.poisson(0.2, n_rows),
            "flipper": np.round(choose.normal(200, 5, n_rows) / 5) * 5,
        }
    )


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "zstd.parquet", "arrow"])
def test_large_ordinary_tables_need_no_option(tmp_path, ending):
    rows, path = survey(500_000 if ending == "csv" else 150_000), tmp_path / f"survey.{ending}"
    if ending.endswith("parquet"):
        rows.to_parquet(path, compression="zstd" if "zstd" in ending else "snappy")
    elif ending == "arrow":
        rows.to_feather(path)
    else:
        rows.to_csv(path, index=False)

    (found,) = readings("table", [path])

    assert (found.kind, found.faults()) == ("", [])
    if ending == "csv.gz":
        unpacked = len(gzip.decompress(path.read_bytes()))
        assert 10 < unpacked / path.stat().st_size < 25


def test_large_archives_of_numbers_need_no_option(tmp_path):
    path = tmp_path / "rows.npz"
    np.savez(path, X=np.random.default_rng(0).normal(size=(100_000, 20)))
    (found,) = readings("table", [path])
    assert (found.kind, found.faults()) == ("", [])


def wide_rows(n_rows, n_columns):
    rows = np.random.default_rng(0).normal(size=(n_rows, n_columns)).round(2)
    return pd.DataFrame(rows, columns=[f"c{j}" for j in range(n_columns)])


@pytest.mark.parametrize("ending", ["csv", "npy", "parquet", "arrow"])
@pytest.mark.parametrize("shape", [(20, 10_000), (50, 20_000)])
def test_wide_tables_of_numbers_need_no_option(tmp_path, ending, shape):
    rows, path = wide_rows(*shape), tmp_path / f"wide.{ending}"
    write = {
        "csv": lambda: rows.to_csv(path, index=False),
        "npy": lambda: np.save(path, rows.to_numpy()),
        "parquet": lambda: rows.to_parquet(path),
        "arrow": lambda: rows.to_feather(path),
    }
    write[ending]()

    (found,) = readings("table", [path])

    assert (found.kind, found.faults()) == ("", [])


def test_wide_text_is_read_in_passes_as_in_one(tmp_path):
    rows = wide_rows(5, 4_500)
    rows.insert(2_000, 'the, "id"', list("abcde"))
    rows["sex"] = list("fmfmf")
    path = tmp_path / "wide.csv"
    rows.to_csv(path, index=False)

    table = read_table(path, id_column='the, "id"')

    assert list(table.ids) == list("abcde")
    pd.testing.assert_frame_equal(table.features, rows.drop(columns='the, "id"'))


def test_wide_text_of_ragged_rows_or_repeated_names_is_reported(tmp_path):
    path = tmp_path / "wide.csv"
    names = ",".join(f"c{j}" for j in range(4_500))
    path.write_text(f"{names}\n{'1,' * 4_499}1\n{'1,' * 4_498}1\n")
    with pytest.raises(InputError, match=r"^Row 2 of .* has 4499 fields where the header has 4500"):
        read_table(path)
    path.write_text(f"{names},c7\n{'1,' * 4_500}1\n")
    with pytest.raises(InputError, match="has two columns named 'c7'; rename one"):
        read_table(path, reading="strict")


# --- raising the limit ----------------------------------------------------------------------


@pytest.fixture
def zeros(tmp_path):
    """An archive that needs more than its budget, though less than the machine has."""
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, X=np.zeros((400_000, 10), np.int8))
    return path


def test_a_parameter_raises_the_limit(zeros):
    with pytest.raises(InputError, match="needs at least 92 MB of memory, more than the 80 MB"):
        read_table(zeros)
    assert len(read_table(zeros, memory_mb=200).ids) == 400_000


def test_the_environment_raises_the_limit(zeros, monkeypatch):
    monkeypatch.setenv("KERNOVA_MEMORY_MB", "200")
    assert len(read_table(zeros).ids) == 400_000
    with pytest.raises(InputError, match="more than the 50 MB allowed"):
        read_table(zeros, memory_mb=50)


@pytest.mark.parametrize("value", ["much", "-1", "0", "inf", "nan"])
def test_a_limit_that_is_no_number_is_reported(zeros, monkeypatch, value):
    message = f"must be a positive number of megabytes; got {value!r}."
    with pytest.raises(InputError, match=f"^memory_mb {re.escape(message)}$"):
        read_table(zeros, memory_mb=value)
    monkeypatch.setenv("KERNOVA_MEMORY_MB", value)
    with pytest.raises(InputError, match=f"^KERNOVA_MEMORY_MB {re.escape(message)}$"):
        read_table(zeros)

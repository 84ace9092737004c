"""Columns of every kind: how each is read, and that whatever was assumed is said."""
# ruff: noqa: E501 -- one case, one line

import numpy as np
import pandas as pd
import pytest

from kernova import read_table
from kernova.workflows.outliers import find_outliers
from kernova.workflows.settings import OutlierSettings
from tests.tables import messages

N = 60
RANDOM = np.random.default_rng(0)
DAYS = pd.date_range("2024-01-01", periods=N)
LEVELS = [f"{i % 3 + 1}" if i % 4 else "A" for i in range(N)]
TEXT, NUMBER, NONE = "text", "number", "no feature"

# name of the column, cells, what they are read as, and the notes
COLUMNS = {
    "whole numbers with a few letters": (LEVELS, TEXT, [messages.WRITTEN.format("'A'")]),
    "blood pressure": ([f"{110 + i % 9}/80" for i in range(N)], TEXT, [messages.WRITTEN.format("'110/80'")]),
    "codes": (["01067", "10115", "20095"] * 20, TEXT, [messages.CODES.format("'01067'")]),
    "seats": (["12A", "14B", "3C"] * 20, TEXT, [messages.WRITTEN.format("'12A'")]),
    "capitals": (["Red", "red ", "blue"] * 20, TEXT, [messages.CAPITALS.format("'Red', 'red'")]),
    "few texts": (["red", "green", "blue"] * 20, TEXT, []),
    "unknown categories": (["u", "v", "unknown"] * 20, TEXT, []),
    "missing categories": (["u", "v", "?"] * 20, TEXT, [messages.MISSING_WORDS.format("'?' 20")]),
    "blank categories": (["u", "v", "  "] * 20, TEXT, []),
    "intervals": (pd.cut(RANDOM.normal(size=N), 3), TEXT, []),
    "nullable truths": (pd.array([True, None, False] * 20, "boolean"), NUMBER, []),
    "nullable numbers": (pd.array([1, None, 3] * 20, "Int64"), NUMBER, []),
    "huge numbers": ([10**25 + i % 7 * 10**24 for i in range(N)], NUMBER, []),
    "rising numbers": (np.cumsum([1, 2, 3] * 20), NUMBER, [messages.RISING]),
    "multiples": (["1.5k", "900", "2k"] * 20, NUMBER, [messages.NUMBERS.format("with k for thousands, millions or billions")]),
    "hashes": (RANDOM.integers(2**60, 2**62, N), NONE, [messages.IDS.format("'a' (whole numbers of 16 digits or more, different in all rows)")]),
    "descriptions": ([f"seen near the house {i}" for i in range(N)], NONE, [messages.IDS.format("'a' (60 different texts in 60 rows)")]),
    "phone numbers": ([f"+49 {i}3456789" for i in range(100, 100 + N)], NONE, [messages.IDS.format("'a' (60 different texts in 60 rows)")]),
    "money": (["5 USD", "6 EUR"] * 30, NONE, [messages.IDS.format("'a' (mixes the units EUR, USD)")]),
    "dates in one number": (DAYS.strftime("%Y%m%d").astype(int), NUMBER, [messages.DATES.format("dates", "days since 2024-01-01")]),
    "months": (DAYS.strftime("%b %Y"), NUMBER, [messages.DATES.format("dates", "days since 2024-01-01")]),
    "periods": (pd.period_range("2024-01-01", periods=N, freq="D"), NUMBER, [messages.DATES.format("dates", "days since 2024-01-01")]),
    "mail dates": (DAYS.strftime("%a, %d %b %Y %H:%M:%S +0000"), NUMBER, [messages.DATES.format("dates", "days since 2024-01-01") + " Hours are those of UTC."]),
    "named zones": (DAYS.strftime("%Y-%m-%d %H:%M:%S UTC"), NUMBER, [messages.DATES.format("dates", "days since 2024-01-01") + " Hours are those of UTC."]),
    "stored zones": (DAYS.tz_localize("Asia/Tokyo"), NUMBER, [messages.DATES.format("dates", "days since 2024-01-01") + " Hours are those of Asia/Tokyo."]),
    "empty dates": (["0000-00-00", *DAYS.strftime("%Y-%m-%d")[1:]], NUMBER, [messages.DATES.format("dates", "days since 2024-01-01"), messages.MISSING_WORDS.format("'0000-00-00' 1")]),
    "durations": ([f"{20 + i % 9}:10:00" for i in range(N)], NUMBER, [messages.DATES.format("durations", "seconds")]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_read_and_noted(name):
    cells, kind, notes = COLUMNS[name]
    frame = pd.DataFrame({"a": cells, "b": RANDOM.normal(size=N)})
    table = read_table(frame, missing="keep")
    assert sorted(table.notes) == sorted(notes)
    found = [one for one in table.features if one.startswith("a")]
    if kind == NONE:
        assert found == []
    else:
        is_number = pd.api.types.is_numeric_dtype(table.features[found[0]].dtype)
        assert is_number == (kind == NUMBER)
    encoded = read_table(frame, missing="auto")
    result = find_outliers(encoded, OutlierSettings(method="rkof", top=0))
    assert np.isfinite(result.rows["factor"]).all()


@pytest.mark.parametrize(
    "name",
    ["customer_id", "account number", "card_number", "phone", "zip", "Postal Code", "Invoice No."],
)
def test_ids_by_their_names(name):
    frame = pd.DataFrame({name: RANDOM.choice(10**6, 200, replace=False), "b": range(0, 400, 2)})
    table = read_table(frame)
    assert list(table.features) == ["b"]
    assert f"'{name}' (an id by its name, with 200 values)" in table.notes[-1]


@pytest.mark.parametrize(
    "name", ["identity", "number of rooms", "order", "valid", "paid", "casino"]
)
def test_names_that_are_not_of_ids(name):
    frame = pd.DataFrame({name: RANDOM.choice(10**6, 200, replace=False), "b": 1.5})
    assert list(read_table(frame).features) == [name]


def test_the_only_columns_are_used_and_named():
    ids = pd.DataFrame({"a": range(N), "b": [f"n{i}" for i in range(N)]})
    table = read_table(ids)
    assert list(table.features) == ["a"]
    assert table.notes[0] == messages.NO_BETTER.format("'a' (numbers the rows)")


def test_a_stored_index_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": [1.0, 2.5]}, index=pd.Index(["u", "v"], name="fish")).to_parquet("i.parquet")
    table = read_table("i.parquet")
    assert table.notes == ("The index of i.parquet is not used as features: 'fish'.",)
    assert list(read_table("i.parquet", id_column="fish").ids) == ["u", "v"]


# The default width of depth sees a row's nearest neighbour, and errors may be close to each other.
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("method", "factor"), [("rkof", 10), ("rkof", 100), ("depth", 100)])
def test_gross_errors_rank_first_beside_a_category_of_400_values(seed, factor, method):
    random = np.random.default_rng(seed)
    numbers = random.normal(50, 10, size=(2000, 3))
    errors = random.choice(2000, 10, replace=False)
    numbers[errors, random.integers(0, 3, 10)] *= factor
    frame = pd.DataFrame(numbers, columns=["amount", "items", "fee"])
    frame["merchant"] = [f"M{i}" for i in random.choice(400, 2000, p=random.dirichlet([0.5] * 400))]
    result = find_outliers(read_table(frame), OutlierSettings(method=method, top=0))
    assert set(result.rows["row"].head(10).astype(int) - 1) == set(errors)

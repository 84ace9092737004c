"""New rows are read as the known ones were, or rejected with a sentence that says why not."""
# ruff: noqa: E501 -- one case, one line

import numpy as np
import pandas as pd
import pytest

from kernova import InputError
from kernova.workflows.novelty import read_known_and_new
from tests.tables import messages

N = 40
KILOGRAMS = [f"{50 + i}.5 kg" for i in range(N)]
DAYS = pd.date_range("2024-01-01", periods=N)
ISO, AMBIGUOUS = DAYS.strftime("%Y-%m-%d"), ["01/02/2024", "03/04/2024"] * (N // 2)
COMPACT = DAYS.strftime("%Y%m%d")
COMMAS = [f"1,{100 + 7 * i}" for i in range(N)]
DURATIONS = [f"{20 + i}:10:00" for i in range(N)]
CODES = ["01067", "04109", "10115", "20095"] * (N // 4)
LATE = "a (days since 2024-01-01)"


def read_pair(folder, known, new, separator=","):
    """Read two tables with the same numbers beside column "a"."""
    for name, cells in (("known.csv", known), ("new.csv", new)):
        beside = np.random.default_rng(0).normal(size=len(cells))
        frame = pd.DataFrame({"a": cells, "b": beside})
        frame.to_csv(folder / name, index=False, sep=separator)
    return read_known_and_new("known.csv", "new.csv", missing="auto")


# cells of known and new rows, the feature, its values in new rows, and a note
ALIKE = {
    "another unit": (KILOGRAMS, ["70000 g", "60 kg"], "a", [70, 60], messages.CONVERTED),
    "no unit": (KILOGRAMS, ["70.5", "60"], "a", [70.5, 60], messages.NO_UNIT),
    "no values": (KILOGRAMS, ["", ""], "a", [np.nan, np.nan], None),
    "new multiples": (["1.5k", "900"] * 20, ["3k", "800"], "a", [3000, 800], None),
    "only yes": (["yes", "no"] * 20, ["yes", "yes"], "a", [1, 1], None),
    "true for yes": (["yes", "no"] * 20, ["true", "false"], "a", [1, 0], None),
    "codes without zeros": (CODES, ["10115", "99999"], "a", ["10115", "99999"], None),
    "zeros before numbers": (list(range(0, 3 * N, 3)), ["007", "12"], "a", [7, 12], None),
    "an unseen category": (["u", "v"] * 20, ["u", "w"], "a", ["u", "w"], None),
    "another form of dates": (ISO, ["03.01.2024", "09.01.2024"], LATE, [2, 8], None),
    "no dates": (ISO, ["", ""], LATE, [np.nan, np.nan], None),
    "words for no dates": (ISO, ["-", "?"], LATE, [np.nan, np.nan], None),
    "dates in one number": (COMPACT, [20240103, 20240109], LATE, [2, 8], None),
    "dates in one number no more": (COMPACT, ["2024-01-03", "2024-01-09"], LATE, [2, 8], None),
    "short durations": (DURATIONS, ["1:00:00", "30:00:00"], "a (seconds)", [3600, 108000], None),
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
def test_new_rows_are_read_alike(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    known, new, feature, values, note = ALIKE[name]
    tables = read_pair(tmp_path, known, new)
    assert list(tables.new.features) == list(tables.known.features)
    found = tables.new.features[feature].tolist()
    if isinstance(values[0], str):
        assert found == values
    else:
        np.testing.assert_allclose(found, values)
    assert note is None or note in tables.new.notes


def test_a_decimal_mark_is_that_of_the_known_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known, ambiguous = [f"0,{i + 10}" for i in range(N)], ["1,234", "1,100"]
    assert read_pair(tmp_path, known, ambiguous, ";").new.features["a"].tolist() == [1.234, 1.1]
    thousands = [f"7,{100 + i}.5" for i in range(N)]
    tables = read_pair(tmp_path, thousands, ["7.100,5", "7.101,5"])
    assert tables.new.features["a"].tolist() == [7100.5, 7101.5]
    assert messages.OTHER_MARK in tables.new.notes


UNLIKE = {
    "another unit": (KILOGRAMS, ["140 lb", "150 lb"], messages.OTHER_UNIT.format("lb", "kg")),
    "a new unit": ([0.5 * i for i in range(N)], ["7 kg", "9 kg"], messages.OTHER_UNIT.format("kg", "no unit")),
    "a text among quantities": (KILOGRAMS, ["70 kg", "heavy"], messages.NOT_SUCH.format("numbers", "'heavy'")),
    "a text among truths": (["yes", "no"] * 20, ["yes", "maybe"], messages.NOT_SUCH.format("yes and no", "'maybe'")),
    "a text among dates": (ISO, ["2024-01-03", "soon"], messages.NOT_SUCH.format("dates or times", "'soon'")),
    "times for dates": (ISO, ["10:30", "11:45"], messages.OTHER_KIND),
    "dates for numbers": ([0.5 * i for i in range(N)], ["2024-01-03", "2024-01-04"], messages.OTHER_KIND),
    "numbers for dates": (ISO, [20240103, 20240104], messages.NO_DATES),
    "no such day": (COMPACT, [20240103, 20240199], messages.NO_DATES),
    "month and day exchanged": (AMBIGUOUS, ["12/31/2024", "01/02/2024"], messages.OTHER_ORDER),
}  # fmt: skip


@pytest.mark.parametrize("name", UNLIKE)
def test_new_rows_of_another_kind_are_rejected(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    known, new, message = UNLIKE[name]
    with pytest.raises(InputError) as caught:
        read_pair(tmp_path, known, new)
    assert str(caught.value) == message

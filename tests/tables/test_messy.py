"""Tables as people keep them: units, dates, ids, words for missing values, odd files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernova import InputError, read_table
from kernova.tables.dates import Moments, moment_columns, plan_of
from kernova.tables.quantities import conversion, quantities
from kernova.workflows.novelty import read_known_and_new
from tests.tables.messages import BAD_OBJECTS, IDS
from tests.tables.test_encoding import PolarsLike

N = 40


def column(texts, name="a", **arguments):
    """Read one column of texts beside one of numbers."""
    frame = pd.DataFrame({name: texts, "b": np.random.default_rng(0).normal(size=len(texts))})
    return read_table(frame, missing="keep", **arguments)


@pytest.mark.parametrize(
    ("texts", "numbers", "note"),
    [
        (["70.1 kg", "12 kg"], [70.1, 12], "'a' in kg"),
        (["12.3%", "7 %"], [12.3, 7], "'a' in %"),
        (["1,234.5", "7"], [1234.5, 7], "'a' with commas between thousands"),
        (["€ 12", "€ 1.5"], [12, 1.5], "'a' in €"),
        (["$1,200", "-$5.5"], [1200, -5.5], "'a' in $ with commas between thousands"),
        (["12 EUR", "1,5 EUR"], [12, 1.5], "'a' in EUR with decimal commas"),
        (["1 234,5", "2,25"], [1234.5, 2.25], "'a' with decimal commas"),
        (["1.234,56", "7"], [1234.56, 7], "'a' with decimal commas"),
        (["0,125", "0,250"], [0.125, 0.25], "'a' with decimal commas"),
        (["(300)", "2.5e3"], [-300, 2500], "'a' with parentheses for negative numbers"),
        (["$(1,200)", "$5"], [-1200, 5], "'a' in $ with commas between thousands with paren"),
        (["1.5k", "900"], [1500, 900], "'a' with k for thousands, millions or billions"),
        (["$1.5M", "$900k"], [1.5e6, 9e5], "'a' in $"),
        (["300 K", "310.5 K"], [300, 310.5], "'a' in K"),
        (["1'234.5", "7"], [1234.5, 7], "'a' with blanks or apostrophes between thousands"),
        (["70 kg", "71"], [70, 71], "'a' of the table has 1 number without a unit, taken to be in"),
        (["-3 °C", "\u22125 °C"], [-3, -5], "'a' in °C"),
        ([" 1.5 ", "n.d.", "-"], [1.5, np.nan, np.nan], "'a' ('n.d.' 1, '-' 1)"),
    ],
)
def test_numbers_are_read_as_people_write_them(texts, numbers, note):
    table = column(texts)
    np.testing.assert_allclose(table.features["a"], numbers)
    assert note is None or any(note in sentence for sentence in table.notes)


def test_a_comma_is_read_as_in_the_rest_of_the_file():
    frame = pd.DataFrame({"a": ["1,234", "5,678"], "b": ["0,5", "0,75"]})
    assert read_table(frame).features["a"].tolist() == [1.234, 5.678]
    assert read_table(frame[["a"]]).features["a"].tolist() == [1234, 5678]


def test_units_are_converted_only_where_that_is_safe():
    table = column(["1 kg", "500 g", "2 kg"])
    assert table.features["a"].tolist() == [1, 0.5, 2]
    assert "mixes the units kg, g; all numbers were converted to kg." in " ".join(table.notes)
    texts = ["1 kg", "3 lb", "2 kg"]
    assert column(texts).notes == (IDS.format("'a' (mixes the units kg, lb)"),)
    table = column(texts, keep="a")
    assert table.features["a"].tolist() == texts
    assert "so its texts are not used as numbers" in " ".join(table.notes)
    assert conversion({"mW": 1, "MW": 1}).factors["MW"] == pytest.approx(1e9)


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1, max_size=20),
    st.sampled_from(["", " kg", "%", " m/s²"]),
)
def test_formatted_numbers_are_read_back(numbers, unit):
    point = [f"{number:,.2f}{unit}" for number in numbers]
    comma = [text.translate(str.maketrans(",.", ".,")) for text in point]
    np.testing.assert_allclose(quantities(pa.array(point)).by_point, numbers)
    np.testing.assert_allclose(quantities(pa.array(comma)).by_comma, numbers)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=12), min_size=1, max_size=12))
def test_any_texts_are_read_or_rejected_with_a_message(texts):
    try:
        table = column(texts)
    except InputError:
        return
    assert len(table.features) == len(texts)
    assert all(kind.kind in "biufOU" or kind == "str" for kind in table.features.dtypes)


@pytest.mark.parametrize(
    "texts",
    [
        ["2024-02-29", "2024-03-01"],
        ["2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"],
        ["29/02/2024", "01/03/2024"],
        ["02/29/2024", "03/01/2024"],
        ["29.02.2024", "01.03.2024"],
        ["29 Feb 2024", "1 Mar 2024"],
        pd.to_datetime(["2024-02-29", "2024-03-01"]),
        pd.to_datetime(["2024-02-29", "2024-03-01"]).date,
    ],
    ids=str,
)
def test_dates_become_days(texts):
    table = column(texts, "seen")
    assert table.features["seen (days since 2024-01-01)"].tolist() == [59, 60]
    assert table.notes[0].startswith("Column 'seen' of the table holds dates; used as")


def test_times_and_durations_become_numbers():
    assert column(["10:30", "23:00"]).features["a (hour)"].tolist() == [10.5, 23]
    waits = pd.to_timedelta([90, 30], unit="s")
    assert column(waits).features["a (seconds)"].tolist() == [90, 30]


def test_ambiguous_dates_are_named():
    assert "Day and month could be exchanged" in column(["01/02/2024", "03/04/2024"]).notes[0]


def test_hours_and_weekdays_are_features_where_rows_are_uneven_over_them():
    random = np.random.default_rng(0)
    days = np.datetime64("2023-01-02") + np.arange(0, 7 * 52).astype("timedelta64[D]")
    workdays = days[np.is_busday(days)].astype("datetime64[us]")
    even = workdays + (random.uniform(0, 24, len(workdays)) * 3600e6).astype("timedelta64[us]")
    night = workdays + (random.normal(0, 2, len(workdays)) * 3600e6).astype("timedelta64[us]")
    plan = plan_of(Moments("date", even))
    assert (plan.has_weekday, plan.first_hour, plan.first_day) == (True, None, None)
    hours = moment_columns("t", Moments("date", night), plan_of(Moments("date", night)))["t (hour)"]
    assert np.ptp(hours) < 16  # cut open by day, not at midnight
    assert plan_of(Moments("date", workdays)).first_hour is None


def test_ids_constants_and_free_text_are_proposed_as_no_features():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({
        "row": np.arange(1, N + 1), "shuffled": random.permutation(N) + 7,
        "customer": [f"C{i}" for i in range(N)], "country": "DE", "empty": None,
        "x": random.normal(size=N), "kind": ["u", "v"] * (N // 2),
    })  # fmt: skip
    table = read_table(frame)
    assert list(table.features) == ["x", "kind"]
    assert table.notes == (
        "Columns of the table that are not used as features: 'row' (numbers the rows), 'shuffled' "
        "(numbers the rows), 'empty' (no values), 'customer' (40 different texts in 40 rows), "
        "'country' (always DE). To use one all the same, pass keep='row'.",
    )
    kept = read_table(frame, keep=["row", "country"]).features
    assert list(kept) == ["row", "country", "x", "kind"]
    assert list(read_table(frame[["row", "customer"]]).features) == ["row"]


def test_yes_and_no_are_numbers():
    table = column(["yes", "No", None, "no"])
    np.testing.assert_array_equal(table.features["a"], [1, 0, np.nan, 0])
    assert "'a' ('yes', 'No', 'no')" in table.notes[0]
    for stored in (pd.array([True, None, False], "boolean"), pd.Categorical(["x", None, "y"])):
        assert column(stored).features["a"].isna().tolist() == [False, True, False]


MESSY_FILES = {
    "tabs": ("t.csv", b"a\tb\n1\t2\n3\t5\n", "t.csv is separated by tabs, and was read so."),
    "semicolons": ("s.csv", b"a;b\n1,5;2\n2,25;5\n", "with decimal commas"),
    "bars": ("p.txt", b"a|b\n1|2\n3|5\n", "p.txt is separated by vertical bars"),
    "Latin-1": ("l.csv", "a,\u00e9\n1,2\n2,7\n".encode("latin-1"), "read as Windows-1252"),
    "UTF-16": ("u.csv", "a,\u00e9\n1,2\n2,7\n".encode("utf-16"), None),
    "blanks": ("b.txt", b"a  b\n1 2\n 3  5\n", "b.txt is separated by blanks, and was read so."),
    "comments": ("c.csv", b"# x\n# y\na,b\n1,2\n3,5\n", "2 lines of c.csv that begin with # left"),
    "last comment": ("c.csv", b"a,b\n1,2\n3,5\n# end\n", "1 line of c.csv that begins with # left"),
    "marked header": ("c.csv", b"# x\n#a,b\n1,2\n3,5\n", "1 line of c.csv that begins with # left"),
    "Excel": ("x.csv", b"sep=;\na;b\n1;2\n3;5\n", None),
    "last commas": ("x.csv", b"a,b\n1,2,\n3,5,\n", None),
    "codes": (
        "z.csv",
        b"a,b\n01067,1\n10115,2\n",
        "Digits of z.csv with zeros before them are codes",
    ),
    "lines in quotation marks": ("q.csv", b'a,b\n"x\ny",1\nz,2\n', None),
    "names": ("n.csv", b"a,,a\n1,2,3\n2,4,1\n", "'column 2' (without a name), 'a (2)'"),
    "empty rows": ("e.csv", b"a,b\n1,2\n3,5\n,\n,\n", "2 empty rows at the end of e.csv left out."),
}


@pytest.mark.parametrize("name", MESSY_FILES)
def test_odd_files_are_read_with_a_sentence(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    file, content, note = MESSY_FILES[name]
    (tmp_path / file).write_bytes(content)
    table = read_table(file)
    assert len(table.features) == 2
    assert table.features.shape[1] >= 2
    assert (note is None and not table.notes) or any(note in sentence for sentence in table.notes)


def test_frames_in_memory_and_sparse_matrices_are_tables(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 0.0, 3.0], "k": ["u", "v", "u"]})
    arrow = pa.Table.from_pandas(frame)
    cells = frame.set_axis(["x0", "x1"], axis=1).to_numpy(dtype=object)
    assert read_table(cells).features["x1"].tolist() == ["u", "v", "u"]
    masked = np.ma.masked_equal([[1.0, 2.0], [3.0, 0.0]], 0.0)
    np.testing.assert_array_equal(
        read_table(masked, missing="keep").features, [[1, 2], [3, np.nan]]
    )
    for given_frame in (frame, arrow, PolarsLike(arrow), frame.convert_dtypes()):
        assert read_table(given_frame).features.to_dict("list") == frame.to_dict("list")
    matrix = scipy.sparse.random(30, 4, 0.5, "csr", random_state=0)
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    for source in (matrix, tmp_path / "m.npz", matrix.tocoo()):
        np.testing.assert_array_equal(read_table(source).features, matrix.toarray())
    huge = scipy.sparse.csr_matrix((10**6, 10**6))
    with pytest.raises(InputError, match="needs at least"):
        read_table(huge)


@pytest.mark.parametrize("name", BAD_OBJECTS)
def test_objects_that_are_no_tables(name):
    given, message = BAD_OBJECTS[name]
    with pytest.raises(InputError) as caught:
        read_table(given)
    assert str(caught.value) == message


def write_pair(folder, known, new):
    known.to_csv(folder / "known.csv", index=False)
    new.to_csv(folder / "new.csv", index=False)
    return read_known_and_new(folder / "known.csv", folder / "new.csv")


def test_new_rows_are_read_like_known_ones(tmp_path):
    random = np.random.default_rng(0)
    known = pd.DataFrame({
        "row": np.arange(N), "mass": [f"{x:.1f} kg" for x in random.normal(70, 5, N)],
        "code": ["007", "x1", "x2", "x3"] * (N // 4), "country": "DE", "same": 1,
        "seen": pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"),
    })  # fmt: skip
    new = pd.DataFrame({
        "mass": ["71000 g", "64 kg"], "code": ["007", "007"], "country": ["DE", "FR"], "same": 1,
        "seen": ["03.01.2024", "-"],
    })  # fmt: skip
    known_table, new_table = write_pair(tmp_path, known, new)
    assert list(new_table.features) == list(known_table.features)
    assert "country" in new_table.features
    assert new_table.features["mass"].tolist() == [71, 64]
    assert new_table.features["code"].tolist() == ["007", "007"]
    np.testing.assert_array_equal(new_table.features["seen (days since 2024-01-01)"], [2, np.nan])
    with pytest.raises(InputError, match=r"has the unit lb, but the known rows have kg; convert"):
        write_pair(tmp_path, known, new.assign(mass="140 lb"))


def test_dates_that_are_all_later_are_not_compared(tmp_path):
    random = np.random.default_rng(0)
    known = pd.DataFrame(
        {"when": pd.date_range("2023-01-01", periods=N), "x": random.normal(size=N)}
    )
    new = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=5), "x": random.normal(size=5)})
    tables = write_pair(tmp_path, known, new)
    assert [list(table.features) for table in tables] == [["x"], ["x"]]
    assert "No date of" in tables.new.notes[-1]

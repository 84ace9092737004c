"""One table of bad inputs over all entry points: the library and the command line.

Both give the same message, with options instead of parameters on the command line, which exits
with code 2 and writes nothing.
"""

import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import InputError
from kernova.cli.app import app
from kernova.workflows.novelty import find_novelties, read_known_and_new
from kernova.workflows.outliers import find_outliers, read_rows
from kernova.workflows.settings import NoveltySettings
from tests.tables.messages import AUTO, BAD_FILES

HOW_TO_FILL = "Fill them in, or pass --missing auto, --missing drop or --missing fill."
OPTION_OF = {
    "max_false_alarm": "--max-false-alarm",
    "holdout=0.5": "--holdout 0.5",
    "id_column": "--id-column",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with good tables in it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["length", "width"])
    frame.to_csv("known.csv", index=False)
    frame.head(5).to_csv("new.csv", index=False)
    return tmp_path


def with_options(message):
    for parameter, option in OPTION_OF.items():
        message = message.replace(parameter, option)
    return re.sub(r"keep='(\w+)'", r"--keep \1", message)


def answer(*arguments, command="novelty"):
    """Run the command line; return its exit code and its message."""
    result = CliRunner().invoke(app, [command, *arguments])
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stderr.removeprefix("kernova: ").rstrip("\n")


def library(known, new):
    with pytest.raises(InputError) as caught:
        find_novelties(*read_known_and_new(known, new), NoveltySettings())
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [case[:2] + case[3:] for case in BAD_FILES if case[2] in ({}, AUTO)],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
@pytest.mark.parametrize("role", ["known", "new"])
def test_bad_files(folder, name, content, message, role):
    (folder / name).write_bytes(content)
    pair = (name, "new.csv") if role == "known" else ("known.csv", name)
    assert library(*pair) == message
    assert answer(*pair, "-o", "out.csv") == (2, with_options(message))
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [case[:2] + case[3:] for case in BAD_FILES if case[2] in ({}, AUTO)],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_bad_files_for_outliers(folder, name, content, message):
    (folder / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        find_outliers(read_rows(name))
    assert str(caught.value) == message
    assert answer(name, "-o", "out.csv", command="outliers") == (2, with_options(message))
    assert not (folder / "out.csv").exists()


def write(path, text):
    path.write_text(text)


def pair_of(cells):
    """Return a table with these texts beside a column of numbers."""
    lengths = np.random.default_rng(0).normal(size=200)
    return "length,width\n" + "".join(
        f"{length},{cell}\n" for length, cell in zip(lengths, cells, strict=True)
    )


BAD_PAIRS = {
    "1 row known": (
        lambda folder: write(folder / "known.csv", "length,width\n1,2\n"),
        "Rows to learn from and rows to hold out need at least 2 rows; got 1 sample.",
    ),
    "other columns": (
        lambda folder: write(folder / "new.csv", "length,height,mass\n1,2,3\n"),
        "new.csv does not match known.csv: The columns of the new table are not those of the known "
        "one: missing 'width'; extra 'height', 'mass'. Give both tables the same columns.",
    ),
    "text in a number column of new": (
        lambda folder: write(folder / "new.csv", "length,width\n1,wide\n2,wide\n"),
        "Column 'width' held numbers in fit, but row 1 now holds 'wide'; correct it or drop the "
        "column.",
    ),
    "another unit in new": (
        lambda folder: (
            write(folder / "known.csv", pair_of(f"{i % 9}.5 kg" for i in range(200))),
            write(folder / "new.csv", "length,width\n1,2 lb\n2,3 lb\n"),
        ),
        "Column 'width' of new.csv has the unit lb, but the known rows have kg; convert one of "
        "them.",
    ),
    "a unit in new alone": (
        lambda folder: write(folder / "new.csv", "length,width\n1,2 kg\n2,3 kg\n"),
        "Column 'width' of new.csv has the unit kg, but the known rows have no unit; convert one "
        "of them.",
    ),
    "some texts in a number column of new": (
        lambda folder: write(folder / "new.csv", "length,width\n1,2\n2,wide\n"),
        "Column 'width' of new.csv is a column of numbers, but row 2 holds 'wide'; correct it or "
        "drop the column.",
    ),
    "a third answer in new": (
        lambda folder: (
            write(folder / "known.csv", pair_of(["yes", "no"] * 100)),
            write(folder / "new.csv", "length,width\n1,yes\n2,maybe\n"),
        ),
        "Column 'width' of new.csv is a column of yes and no, but row 2 holds 'maybe'; correct it "
        "or drop the column.",
    ),
    "dates in a number column of new": (
        lambda folder: write(folder / "new.csv", "length,width\n1,2024-02-29\n2,2024-03-01\n"),
        "Column 'width' of new.csv holds dates or times of another kind than the known rows; "
        "correct it or drop the column.",
    ),
    "no dates in a date column of new": (
        lambda folder: (
            write(folder / "known.csv", pair_of(f"2024-01-{i % 28 + 1:02}" for i in range(200))),
            write(folder / "new.csv", "length,width\n1,2024-01-03\n2,soon\n"),
        ),
        "Column 'width' of new.csv is a column of dates or times, but row 2 holds 'soon'; correct "
        "it or drop the column.",
    ),
    "month before day in new": (
        lambda folder: (
            write(folder / "known.csv", pair_of(["01/02/2024", "03/04/2024"] * 100)),
            write(folder / "new.csv", "length,width\n1,12/31/2024\n"),
        ),
        "Column 'width' of new.csv has dates of the form %m/%d/%Y, but those of the known rows "
        "were read as %d/%m/%Y; write all as year-month-day, such as 2024-12-31.",
    ),
    "missing file": (
        lambda folder: (folder / "new.csv").unlink(),
        "There is no file new.csv; check its name and folder.",
    ),
    "directory": (
        lambda folder: ((folder / "new.csv").unlink(), (folder / "new.csv").mkdir()),
        "known.csv and new.csv must both be folders or ZIP archives of pictures, or both tables. "
        "Name two such.",
    ),
}


@pytest.mark.parametrize("name", BAD_PAIRS)
def test_bad_pairs(folder, name):
    spoil, message = BAD_PAIRS[name]
    spoil(folder)
    assert library("known.csv", "new.csv") == message
    assert answer("known.csv", "new.csv") == (2, with_options(message))


def test_missing_values_name_the_columns_and_the_option(folder):
    write(folder / "new.csv", "length,width\n1,\n,2\n3,\n")
    found = "new.csv has missing values, counted by column: 'length' 1, 'width' 2."
    assert answer("known.csv", "new.csv", "--missing", "refuse") == (2, f"{found} {HOW_TO_FILL}")


BAD_OPTIONS = {
    ("--method", "depth", "--bandwidth", "wide"): (
        "There is no bandwidth rule named 'wide'. Use one of half-nearest, "
        "nearest, reach, median, or a "
        "positive number."
    ),
    ("--method", "depth", "--bandwidth", "-1"): (
        "The bandwidth must be a positive number or the name of a rule "
        "(half-nearest, nearest, reach, median); "
        "got -1.0."
    ),
    ("--method", "depth", "--bandwidth", "nan"): (
        "The bandwidth must be a positive number or the name of a rule "
        "(half-nearest, nearest, reach, median); "
        "got nan."
    ),
    ("--confidence", "95"): "--confidence must be a number above 0 and below 1; got 95.0.",
    ("--max-false-alarm", "0"): "--max-false-alarm must be a number above 0 and below 1; got 0.0.",
    ("--holdout", "1.5"): (
        "--holdout must be 'auto', a fraction of the rows above 0 and below 1, or a number of rows "
        "of at least 1; got 1.5."
    ),
    ("--false-discovery-rate", "2"): (
        "--false-discovery-rate must be a number above 0 and below 1; got 2.0."
    ),
    ("--id-column", "fish"): (
        "new.csv has no column 'fish' to use as id column. Its columns are 'length', 'width'."
    ),
    ("--drop", "lenght"): (
        "new.csv has no column 'lenght' to drop. Did you mean 'length'? Its columns are 'length', "
        "'width'."
    ),
    ("-o", "out.docx"): (
        "Cannot write a table to out.docx: its extension is '.docx'. Use one of .csv, .tsv, "
        ".parquet, .arrow, .feather, .json."
    ),
    ("-o", "nowhere/out.csv"): (
        "Cannot write nowhere/out.csv: there is no folder nowhere. Name a file that can be "
        "written."
    ),
    ("-o", "./known.csv"): (
        "Cannot write known.csv: it is one of the tables to read. Name a file that can be written."
    ),
    ("--save-model", "page.html", "--report", "page.html"): (
        "Cannot write page.html: it is named twice. Name a file that can be written."
    ),
    ("--report", "page.pdf"): (
        "Cannot write a page to page.pdf: its extension is '.pdf'. Use one of .html, .htm."
    ),
    ("--save-model", "."): (
        "Cannot write .: it is a folder. Name a file that can be written."
    ),
}  # fmt: skip


@pytest.mark.parametrize("option", BAD_OPTIONS, ids=" ".join)
def test_bad_options(folder, option):
    assert answer("known.csv", "new.csv", *option) == (2, BAD_OPTIONS[option])


BAD_OUTLIER_OPTIONS = {
    ("--neighbors", "10,few"): (
        "--neighbors takes whole numbers separated by commas, such as 10,20,40; got '10,few'."
    ),
    ("--method", "rkof", "--neighbors", "0"): (
        "--neighbors must be a whole number of 1 or more, a list of such numbers, or "
        '"auto"; got (0,).'
    ),
    ("--path", "5,,9"): (
        "--path takes whole numbers separated by commas, such as 10,20,40; got '5,,9'."
    ),
    ("--path", "5,9", "--method", "depth"): (
        "A path over numbers of neighbours exists for the method rkof only; got the method depth."
    ),
    ("--contamination", "lots"): (
        'The contamination must be "auto" or a number above 0 and at most 0.5; got \'lots\'.'
    ),
    ("--contamination", "nan"): (
        'The contamination must be "auto" or a number above 0 and at most 0.5; got nan.'
    ),
    ("--max-false-alarm", "1"): "--max-false-alarm must be a number above 0 and below 1; got 1.0.",
    ("--max-false-alarm", "0.1", "--confidence", "95"): (
        "--confidence must be a number above 0 and below 1; got 95.0."
    ),
    ("--max-false-alarm", "0.01"): (
        "No threshold keeps false alarms below 0.01: 100 held-out rows cannot prove a rate below "
        "0.0363. Hold out at least 368 rows, or set --max-false-alarm above 0.0363. Each half of "
        "the table is held out in turn, so that takes 736 rows in all; there are 200."
    ),
    ("--bandwidth", "wide", "--method", "depth"): (
        "There is no bandwidth rule named 'wide'. Use one of half-nearest, "
        "nearest, reach, median, or a "
        "positive number."
    ),
    ("--id-column", "fish"): (
        "known.csv has no column 'fish' to use as id column. Its columns are 'length', 'width'."
    ),
    ("-o", "./known.csv"): (
        "Cannot write known.csv: it is one of the tables to read. Name a file that can be written."
    ),
    ("-o", "out.html", "--report", "out.html"): (
        "Cannot write a table to out.html: its extension is '.html'. Use one of .csv, .tsv, "
        ".parquet, .arrow, .feather, .json."
    ),
    ("--report", "page.pdf"): (
        "Cannot write a page to page.pdf: its extension is '.pdf'. Use one of .html, .htm."
    ),
}  # fmt: skip


@pytest.mark.parametrize("option", BAD_OUTLIER_OPTIONS, ids=" ".join)
def test_bad_options_for_outliers(folder, option):
    assert answer("known.csv", *option, command="outliers") == (2, BAD_OUTLIER_OPTIONS[option])


def test_one_row_has_no_outlier(folder):
    write(folder / "new.csv", "length,width\n1,2\n")
    assert answer("new.csv", command="outliers") == (
        2,
        "Outliers are found by comparing rows; the table has 1. Give at least 2.",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["known.csv"],
        ["known.csv", "new.csv", "--method", "magic"],
        ["known.csv", "new.csv", "--seed", str(2**32)],
        ["--what"],
    ],
)
def test_bad_usage_exits_with_code_2_too(folder, arguments):
    code, complaint = answer(*arguments)
    assert code == 2
    assert "Error" in complaint

"""Values of any length and spelling: errors are short, and come at once.

An error repeats at most 200 characters of its input, whatever the input and wherever it stands.
"""

import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import kernova
from kernova import InputError
from kernova.audio.annotations import Segment, check_segments, read_annotations, write_annotations
from kernova.audio.reading import audio_info, read_audio
from kernova.cli.app import app
from kernova.discover.names import category_name, check_new_category, expert_name
from kernova.discover.session import CategoryDiscovery
from kernova.errors import KernovaError, concise, quoted, shortened
from kernova.media.opening import open_discovery_data
from kernova.media.pictures import reduced_picture
from kernova.shapes import Landmarks, groups_from_pattern, read_landmark_table, read_tps, write_tps
from kernova.shapes.features import read_shape_features, shape_features
from kernova.text import counted, first_few, listed
from kernova.textfiles import number_in, read_text

MEGABYTE = "x" * 10**6
WORDS = "x y " * 250_000
LONGEST_ECHO, SECONDS = 200, 2.0
GRID = '"ooTextFile" "TextGrid" 0 2 <exists> 1 "IntervalTier" "a" 0 2 '
RAVEN = "Selection\tBegin Time (s)\tEnd Time (s)\tAnnotation\n"


def longest_echo(message, letters="xy "):
    """Return the length of the longest run of these letters in a message."""
    longest = run = 0
    for letter in message:
        run = run + 1 if letter in letters else 0
        longest = max(longest, run)
    return longest


def rejected(call, *arguments, **options):
    """Return the message, which came at once."""
    start = time.process_time()
    with pytest.raises(KernovaError) as caught:
        call(*arguments, **options)
    assert time.process_time() - start < SECONDS
    return str(caught.value)


# --- numbers -----------------------------------------------------------------------------------

# Spellings that other readers take, and that are no numbers here.
NO_NUMBERS = {
    "overflow": "1e400",
    "large exponent": "1e" + "9" * 5000,
    "overflow of 5 million digits": "9" * 5_000_000,
    "5 million digits and a letter": "9" * 5_000_000 + "x",
    "hexadecimal": "0x1F",
    "prefix alone": "0x",
    "underscore": "1_000",
    "Arabic digits": "\u0661\u0662",
    "wide digits": "\uff11\uff12",
    "nan": "nan",
    "signed NaN": "-NaN",
    "inf": "inf",
    "infinity": "-Infinity",
    "1.#INF": "1.#INF",
    "two points": "1.2.3",
    "two signs": "--1",
    "points": "1." * 16_000,
    "fraction": "1/2",
    "complex": "1+2j",
    "true": "True",
}
NUMBERS = {
    "5,000 digits behind the point": ("0." + "3" * 5000, 1 / 3),
    "5 million digits behind the point": ("0." + "3" * 5_000_000, 1 / 3),
    "5,000 leading zeros": ("0" * 5000 + "2", 2.0),
    "5,000 digits and an exponent": ("2" + "0" * 5000 + "e-5000", 2.0),
    "underflow": ("1e-400", 0.0),
    "comma": ("1,5", 1.5),
    "no digit before the point": (".5", 0.5),
}


def annotation(kind, number):
    return {
        "csv": ("a.csv", f'start,end,label\n0,"{number}",a\n'),
        "raven": ("a.txt", f"{RAVEN}1\t0\t{number}\ta\n"),
        "audacity": ("a.txt", f"0\t{number}\ta\n"),
        "textgrid": ("a.TextGrid", f'{GRID}1 0 {number} "a"'),
    }[kind]


@pytest.mark.parametrize("kind", ["csv", "raven", "audacity", "textgrid"])
@pytest.mark.parametrize("spelling", NO_NUMBERS)
def test_annotations_with_what_is_no_number(tmp_path, monkeypatch, kind, spelling):
    monkeypatch.chdir(tmp_path)
    name, text = annotation(kind, NO_NUMBERS[spelling])
    (tmp_path / name).write_text(text, encoding="utf-8")
    message = rejected(read_annotations, name, format=kind)
    assert len(message) < 300


@pytest.mark.parametrize("kind", ["csv", "raven", "audacity", "textgrid"])
@pytest.mark.parametrize("spelling", NUMBERS)
def test_annotations_with_long_numbers(tmp_path, kind, spelling):
    number, value = NUMBERS[spelling]
    name, text = annotation(kind, number)
    (tmp_path / name).write_text(text)
    if kind == "csv" and len(number) > 10**5:
        assert "a field is too long" in rejected(read_annotations, tmp_path / name)
    else:
        assert read_annotations(tmp_path / name, format=kind)[0].end == value


@pytest.mark.parametrize("spelling", NO_NUMBERS)
def test_landmarks_with_what_is_no_number(tmp_path, monkeypatch, spelling):
    monkeypatch.chdir(tmp_path)
    number = NO_NUMBERS[spelling]
    is_missing = spelling == "nan"
    for text in (f"LM=1\n1 {number}\n", f"LM=1\n1 2\nSCALE={number}\n", f"LM={number}\n1 2\n"):
        (tmp_path / "a.tps").write_text(text, encoding="utf-8")
        if not (is_missing and "SCALE" in text):
            assert len(rejected(read_tps, "a.tps")) < 350
    assert number_in(number) is None


@pytest.mark.parametrize("spelling", NUMBERS)
def test_landmarks_with_long_numbers(tmp_path, spelling):
    number, value = NUMBERS[spelling]
    (tmp_path / "a.tps").write_text(f"LM=1\n1 {number}\n")
    assert read_tps(tmp_path / "a.tps").coordinates.tolist() == [[[1.0, value]]]


@pytest.mark.parametrize("digits", [4_299, 5_000, 5_000_000])
@pytest.mark.parametrize("where", ["tiers", "intervals", "count", "formula", "toml", "name"])
def test_whole_numbers_of_thousands_of_digits(tmp_path, monkeypatch, digits, where):
    """Python itself raises for more than 4,300 digits."""
    monkeypatch.chdir(tmp_path)
    number = "9" * digits
    files = {
        "tiers": ("a.TextGrid", f'"ooTextFile" "TextGrid" 0 2 <exists> {number}'),
        "intervals": ("a.TextGrid", f'{GRID}{number} 0 1 "a"'),
        "count": ("a.tps", f"LM={number}\n1 2\n"),
        "toml": ("a.toml", f"a = {number}\n"),
        "formula": ("a.txt", f"a = |1-{number}|\n"),
    }
    if where == "name":
        assert len(rejected(check_new_category, number)) < 120
        return
    name, text = files[where]
    (tmp_path / name).write_text(text)
    read = {"TextGrid": read_annotations, "tps": read_tps}.get(name.split(".")[1])
    assert len(rejected(read or read_shape_features, name)) < 400


def test_thousands_of_leading_zeros(tmp_path):
    zeros = "0" * 5000
    (tmp_path / "a.TextGrid").write_text(f'{GRID}{zeros}1 0 1 "a"')
    assert len(read_annotations(tmp_path / "a.TextGrid")) == 1
    assert shape_features({"a": f"|1-{zeros}2|"}).landmarks == {1, 2}


# --- what errors repeat ------------------------------------------------------------------------


def table(folder, *columns, rows=("1,2,3", "4,5,6", "7,8,9")):
    (folder / "t.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    return folder / "t.csv"


def asked(folder):
    session = CategoryDiscovery("random").start(np.arange(6.0).reshape(3, 2))
    session.next_question()
    return session


def landmarks(ids, **options):
    return Landmarks(tuple(ids), np.zeros((len(ids), 2, 2)), **options)


def grid(folder, text):
    (folder / "a.TextGrid").write_text(text)
    return folder / "a.TextGrid"


def lines(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


CALLS = {
    "missing file": lambda f, x: read_text(x),
    "missing table": lambda f, x: kernova.read_table(x),
    "missing model": lambda f, x: kernova.load_model(x),
    "missing recording": lambda f, x: audio_info(x),
    "missing sound": lambda f, x: read_audio(x),
    "missing landmarks": lambda f, x: read_tps(x),
    "missing features": lambda f, x: read_shape_features(x),
    "missing data": lambda f, x: open_discovery_data(x),
    "file to write": lambda f, x: write_tps(landmarks("a"), f / x / "a.tps"),
    "long name to write": lambda f, x: write_tps(landmarks("a"), f / f"{x}.tps"),
    "annotation to write": lambda f, x: write_annotations([], f / x, format=x),
    "id column": lambda f, x: kernova.read_table(table(f, "a", "b", "c"), id_column=x),
    "column to drop": lambda f, x: kernova.read_table(table(f, "a", "b", "c"), drop=[x]),
    "label column": lambda f, x: kernova.read_table(table(f, "a", "b", "c"), label_column=x),
    "two columns": lambda f, x: kernova.read_table(table(f, x, x, "c"), reading="strict"),
    "its columns": lambda f, x: kernova.read_table(table(f, x, "b", "c"), id_column="d"),
    "ids": lambda f, x: kernova.read_table(
        table(f, "id", "b", "c", rows=[f"{x},1,2"] * 2), id_column="id"
    ),
    "pictures": lambda f, x: open_discovery_data(table(f, "a", "b", "c"), images=x),
    "recordings": lambda f, x: open_discovery_data(table(f, "a", "b", "c"), audio=x),
    "picture": lambda f, x: reduced_picture(b"", x, 64),
    "format": lambda f, x: read_annotations(table(f, "start", "end", "label"), format=x),
    "role": lambda f, x: read_annotations(table(f, "start", "end", "label"), columns={x: "a"}),
    "column of a role": lambda f, x: read_annotations(
        table(f, "start", "end", "label"), columns={"label": x}
    ),
    "columns of annotations": lambda f, x: read_annotations(table(f, x, "b", "c")),
    "first line": lambda f, x: read_annotations(lines(f, "a.txt", x)),
    "number": lambda f, x: read_annotations(lines(f, "a.txt", f"1\t2\ta\n{x}\t2\ta\n")),
    "label": lambda f, x: check_segments([Segment(1, 1, x)]),
    "recording of a label": lambda f, x: check_segments([Segment(1, 1, "a", file=x)]),
    "source": lambda f, x: check_segments([Segment(1, 1, "a")], source=x),
    "tier": lambda f, x: read_annotations(grid(f, f"{GRID}0"), tier=x),
    "tiers": lambda f, x: read_annotations(grid(f, f"{GRID}0".replace('"a"', f'"{x}"')), tier="b"),
    "class of a tier": lambda f, x: read_annotations(grid(f, GRID.replace("IntervalTier", x))),
    "text for a number": lambda f, x: read_annotations(grid(f, f'{GRID}1 "{x}"')),
    "keyword": lambda f, x: read_tps(lines(f, "a.tps", f"LM=0\n{x}=1\n1 2\n")),
    "no keyword": lambda f, x: read_tps(lines(f, "a.tps", f"LM=0\n{x}\n")),
    "count": lambda f, x: read_tps(lines(f, "a.tps", f"LM={x}\n")),
    "point": lambda f, x: read_tps(lines(f, "a.tps", f"LM=1\n{x}\n")),
    "scale": lambda f, x: read_tps(lines(f, "a.tps", f"LM=0\nSCALE={x}\n")),
    "repeated id": lambda f, x: read_tps(lines(f, "a.tps", f"LM=0\nID={x}\n" * 2)),
    "id of a specimen": lambda f, x: read_tps(
        lines(f, "a.tps", f"LM=2\n1 2\n3 4\nID={x}\nLM=1\n1 2\nID=b\nLM=1\n1 2\nID=c\n")
    ),
    "source of ids": lambda f, x: read_tps(lines(f, "a.tps", "LM=0\n"), ids_from=x),
    "ids of landmarks": lambda f, x: landmarks([x, x]),
    "comment": lambda f, x: write_tps(landmarks("a", comments=((x + "\n",),)), f / "a.tps"),
    "specimens without scale": lambda f, x: landmarks([x, "b"]).in_real_units(),
    "coordinate": lambda f, x: read_landmark_table(table(f, "id", "x1", "y1", rows=[f"a,1,{x}"])),
    "no coordinates": lambda f, x: read_landmark_table(table(f, x, "b", "c")),
    "pattern": lambda f, x: groups_from_pattern(x, ["a"]),
    "unmatched": lambda f, x: groups_from_pattern("_(a)_", [x]),
    "feature": lambda f, x: shape_features({x: "|1-1|"}),
    "formula": lambda f, x: shape_features({"a": x}),
    "line of features": lambda f, x: read_shape_features(lines(f, "a.txt", x[:90_000])),
    "key of features": lambda f, x: read_shape_features(lines(f, "a.toml", f"{x[:1900]} = 1")),
    "category": lambda f, x: check_new_category(category_name(x)),
    "expert": lambda f, x: expert_name(x),
    "answer": lambda f, x: asked(f).answer(x),
    "key of a request": lambda f, x: asked(f).answer("a", key=x),
    "expert who answers": lambda f, x: asked(f).answer("a", expert=x),
    "renamed": lambda f, x: asked(f).rename(x, "b"),
    "row": lambda f, x: asked(f).label_row(x, "a"),
    "row of an array": lambda f, x: asked(f).label_row(tuple(x), "a"),
    "strategy": lambda f, x: CategoryDiscovery(x).start(np.zeros((3, 2))),
    "number of neighbours": lambda f, x: kernova.RobustKernelOutlierFactor(n_neighbors=x).fit(
        np.eye(9)
    ),
    "bandwidth": lambda f, x: kernova.KernelSpatialDepth(bandwidth=x).fit(np.eye(9)),
    "column of a frame": lambda f, x: CategoryDiscovery().start(pd.DataFrame({x: ["a", "b"]})),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("value", [MEGABYTE, WORDS], ids=["word", "words"])
@pytest.mark.parametrize("call", CALLS)
def test_errors_are_short_whatever_the_input(folder, call, value):
    message = rejected(CALLS[call], folder, value)
    assert longest_echo(message) <= LONGEST_ECHO
    assert len(message) <= 800


@pytest.mark.parametrize(
    "words",
    [
        ["novelty", "{}", "t.csv"],
        ["novelty", "t.csv", "{}.csv"],
        ["outliers", "t.csv", "--id-column", "{}"],
        ["outliers", "t.csv", "--drop", "{}"],
        ["outliers", "t.csv", "--neighbors", "{}"],
        ["outliers", "t.csv", "--bandwidth", "{}", "--method", "depth"],
        ["outliers", "t.csv", "-o", "{}.csv"],
        ["outliers", "t.csv", "--report", "{}"],
        ["discover", "t.csv", "--images", "{}"],
        ["discover", "t.csv", "--project", "{}"],
        ["species", "{}.tps"],
        ["notes", "evaluate", "{}", "a"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("value", ["x" * 100_000, "x y " * 25_000], ids=["word", "words"])
def test_commands_print_short_errors(folder, words, value):
    table(folder, "a", "b", "c")
    start = time.process_time()
    result = CliRunner().invoke(app, [word.format(value) for word in words])
    assert time.process_time() - start < 5 * SECONDS
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    # Typer itself prints errors of usage in a frame, where a path may fill many lines.
    if result.stderr.startswith("kernova: "):
        assert longest_echo(result.stderr) <= LONGEST_ECHO
        assert len(result.stderr) <= 1300


# --- the functions that shorten ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("carp", "'carp'"),
        ("it's", '"it\'s"'),
        ("a\u200b\u202e\n\ud800", r"'a\u200b\u202e\n\ud800'"),
        ("\u0301", "'\u25cc\u0301'"),
        (2.5, "2.5"),
        (None, "None"),
        (10**5000, "a number of 5,001 digits"),
        ({"b": 1, "a": 2}, "{'b': 1, 'a': 2}"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_written_as_python_writes_them(value, text):
    assert quoted(value) == text


class Broken:
    def __repr__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "value",
    [
        MEGABYTE,
        MEGABYTE.encode(),
        "\U000e0001" * 1000,
        list(range(10**6)),
        [MEGABYTE] * 3,
        {MEGABYTE: MEGABYTE},
        np.arange(10.0**6),
        pd.DataFrame({MEGABYTE: [1]}),
        10**100_000,
        Broken(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_long_values_are_shortened(value):
    start = time.process_time()
    assert len(quoted(value)) <= 80
    assert time.process_time() - start < SECONDS


def test_lists_of_names_are_shortened():
    assert listed(["a", "b", "c"], most=2) == "'a', 'b', and 1 more"
    for many in ([MEGABYTE] * 5, [f"column {k}" for k in range(10**5)]):
        assert len(listed(many)) <= LONGEST_ECHO + 20 * len("'', ")
        assert len(first_few(many)) <= LONGEST_ECHO + 20 * len(", ")
        assert listed(many).endswith(" more")
    assert len(counted({MEGABYTE: 1, "b": 2})) <= LONGEST_ECHO


def test_messages_keep_their_beginning_and_end():
    assert shortened("abcdefghij", 5) == "ab…ij"
    message = str(InputError(f"There is no file {MEGABYTE}; check its name."))
    assert message.startswith("There is no file xxx")
    assert message.endswith("xxx; check its name.")
    assert len(message) == len("There is no file ; check its name.") + LONGEST_ECHO - 1
    assert len(concise(WORDS)) == 1200

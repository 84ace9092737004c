"""``kernova discover`` with control characters in names, pipes, links and long names."""

import os

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.errors import concise
from kernova.report.page import escaped
from tests.cli import messages
from tests.cli.twelve_fish import COLUMNS, RANDOM, twelve_fish

folder = twelve_fish

RED = "\x1b[31m"
LINK = "\x1b]8;;http://evil.example\x07"
BACKWARDS = "\u202e"


def run(*arguments, said="", exit_code=0):
    result = CliRunner().invoke(app, ["discover", *arguments, "--terminal"], input=said)
    assert result.exit_code == exit_code, result.output
    return result


def rejected(*arguments):
    result = run(*arguments, exit_code=2)
    assert result.stdout == ""
    return result.stderr


@pytest.mark.parametrize("asked_on", ["stdout", "stderr"])
def test_control_characters_of_a_table_are_escaped(folder, asked_on):
    table = pd.read_csv("fish.csv", dtype=str)
    table["fish"] = [f"{RED}{LINK}{BACKWARDS}{name}\nSaved: 1" for name in table["fish"]]
    table["sex"] = RED + table["sex"]
    table.rename(columns={"sex": f"{LINK}sex"}).to_csv(f"{RED}.csv", index=False)
    words = [f"{RED}.csv", *COLUMNS, *RANDOM, *(["--json"] if asked_on == "stderr" else [])]
    result = run(*words, said="carp\nskip\nlist\nundo\n")
    text = getattr(result, asked_on)
    assert r"Question 1: \x1b[31m\x1b]8;;http://evil.example\x07\u202e0" in text
    assert r"\nSaved: 1 is " in text
    assert text.splitlines()[0] == messages.SAVED_IN.replace("fish", r"\x1b[31m")
    for letter in (RED[0], "\x07", BACKWARDS):
        assert letter not in result.output


def test_errors_are_one_line_of_escaped_text(folder):
    sentence = messages.NO_FILE.format(name=r"\x1b[31m\nfish.csv")
    assert rejected(f"{RED}\nfish.csv") == f"kernova: {sentence}\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["pipe.csv", "pipe.parquet", "pipe.tps"])
def test_a_pipe_is_not_waited_for(folder, name):
    os.mkfifo(name)
    assert rejected(name) == f"kernova: {messages.PIPE.format(name=name)}\n"


def test_circular_links(folder):
    (folder / "loop.csv").symlink_to("loop.csv")
    assert rejected("loop.csv") == f"kernova: {messages.CIRCULAR_LINK}\n"


@pytest.mark.parametrize("length", [256, 5000])
def test_names_that_no_file_can_have(folder, length):
    name = "p" * length
    for words, sentence in (
        (["fish.csv", *COLUMNS, "--project", name], messages.LONG_PROJECT_NAME),
        ([f"{name}.csv"], messages.LONG_INPUT_NAME),
        (["fish.csv", *COLUMNS, "-o", f"{name}.csv"], messages.LONG_OUTPUT_NAME),
    ):
        assert rejected(*words) == f"kernova: {concise(sentence.format(name=name))}\n"


# Characters of names in files, and how they are printed; those that a script needs stay.
PRINTED = {
    "carp\u200b": r"carp\u200b",
    "\u202ecarp": r"\u202ecarp",
    "\u2067carp\u2069": r"\u2067carp\u2069",
    "\ufeffcarp": r"\ufeffcarp",
    "car\u00adp": r"car\xadp",
    "carp\nSaved: 1": r"carp\nSaved: 1",
    "carp\udcff": r"carp\udcff",
    "\u0645\u06cc\u200c\u062e": "\u0645\u06cc\u200c\u062e",
    "\u0915\u094d\u200d\u0937": "\u0915\u094d\u200d\u0937",
}


@pytest.mark.parametrize("name", PRINTED)
def test_file_names_are_printed_with_escapes(folder, name):
    printed = PRINTED[name]
    assert rejected(f"{name}.csv") == f"kernova: {messages.NO_FILE.format(name=f'{printed}.csv')}\n"
    (folder / f"{name}.tps").write_text("LM=1\n")
    message = rejected(f"{name}.tps")
    assert message.startswith(f"kernova: Line 1 of {printed}.tps (specimen 1): LM=1 announces")
    assert message.count("\n") == 1


@pytest.mark.parametrize("name", PRINTED)
def test_column_names_and_ids_are_shown_with_escapes_in_reports(name):
    shown = escaped(name)
    assert shown == PRINTED[name].replace(r"\n", "\n").replace(r"\udcff", "\ufffd")

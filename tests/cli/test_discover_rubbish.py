"""``kernova discover`` with names and files that nobody would give on purpose."""

import os

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from tests.cli.twelve_fish import COLUMNS, RANDOM, twelve_fish

folder = twelve_fish

RED = "\x1b[31m"
LINK = "\x1b]8;;http://evil.example\x07"
BACKWARDS = "\u202e"


def run(*arguments, said="", exit_code=0):
    result = CliRunner().invoke(app, ["discover", *arguments, "--terminal"], input=said)
    assert result.exit_code == exit_code, result.output
    return result


def refused(*arguments):
    result = run(*arguments, exit_code=2)
    assert result.stdout == ""
    return result.stderr


@pytest.mark.parametrize("asked_on", ["stdout", "stderr"])
def test_a_terminal_obeys_nothing_that_stands_in_a_table(folder, asked_on):
    table = pd.read_csv("fish.csv", dtype=str)
    table["fish"] = [f"{RED}{LINK}{BACKWARDS}{name}\nSaved: 1" for name in table["fish"]]
    table["sex"] = RED + table["sex"]
    table.rename(columns={"sex": f"{LINK}sex"}).to_csv(f"{RED}.csv", index=False)
    words = [f"{RED}.csv", *COLUMNS, *RANDOM, *(["--json"] if asked_on == "stderr" else [])]
    result = run(*words, said="carp\nskip\nlist\nundo\n")
    text = getattr(result, asked_on)
    assert r"Question 1: \x1b[31m\x1b]8;;http://evil.example\x07\u202e0" in text
    assert r"\nSaved: 1 is " in text
    assert text.splitlines()[0] == r"Answers are kept in \x1b[31m.kernova-project."
    for letter in (RED[0], "\x07", BACKWARDS):
        assert letter not in result.output


def test_complaints_are_one_line_and_are_not_obeyed_either(folder):
    assert refused(f"{RED}\nfish.csv") == (
        "kernova: There is no file \\x1b[31m\\nfish.csv; check its name and folder.\n"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["pipe.csv", "pipe.parquet", "pipe.tps"])
def test_a_pipe_is_not_waited_for(folder, name):
    os.mkfifo(name)
    assert refused(name) == (f"kernova: {name} is no file but a pipe or a device; name a file.\n")


def test_links_in_a_circle(folder):
    (folder / "loop.csv").symlink_to("loop.csv")
    assert refused("loop.csv") == (
        "kernova: loop.csv cannot be read: Too many levels of symbolic links. Make it readable, or "
        "name another file.\n"
    )


@pytest.mark.parametrize("length", [256, 5000])
def test_names_that_no_file_can_have(folder, length):
    name = "p" * length
    assert refused("fish.csv", *COLUMNS, "--project", name) == (
        f"kernova: Cannot begin a project at {name}: File name too long. Name another place.\n"
    )
    assert refused(f"{name}.csv") == (
        f"kernova: {name}.csv cannot be read: File name too long. Make it readable, or name "
        "another file.\n"
    )
    assert refused("fish.csv", *COLUMNS, "-o", f"{name}.csv") == (
        f"kernova: Cannot write {name}.csv: File name too long. Name a place that can be written.\n"
    )

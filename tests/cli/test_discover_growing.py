"""``kernova discover`` of a project alone, and with ``--add``."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.discover.store import open_project
from tests.workbench.growing.tables import write_batch, write_first

PROJECT = "first.kernova-project"


@pytest.fixture
def folder(tmp_path, monkeypatch, few_trees):
    monkeypatch.chdir(tmp_path)
    write_first(tmp_path)
    run("first.csv", "--id-column", "id", "--drop", "group", "--terminal", said="one\n" * 3)
    write_batch(tmp_path, 1, n_new=3)
    return tmp_path


def run(*words, said="", exit_code=0):
    result = CliRunner().invoke(app, ["discover", *words], input=said)
    assert result.exit_code == exit_code, result.output
    return result


def test_a_project_alone_is_continued(folder):
    out = run(PROJECT, "--terminal").stdout
    assert f"Continuing {PROJECT}: 3 questions asked, 3 rows of 150 labelled, 1 category." in out
    assert "Continuing" in run("--project", PROJECT, "--terminal").stdout


def test_new_rows_are_asked_about_after_they_were_added(folder):
    out = run(PROJECT, "--add", "batch-1.csv", "--terminal", said="odd\n").stdout
    assert "43 rows of batch-1.csv were added; the project has 193 rows now." in out
    assert "It is unlike all 150 rows before it. Of 43 new rows" in out
    assert 'is "odd", a new category.' in out


def test_a_night_without_a_person(folder):
    words = (PROJECT, "--add", "batch-1.csv", "--report", "night.html", "--json", "-o", "all.csv")
    result = run(*words)
    answer = json.loads(result.stdout)
    assert (answer["command"], answer["rows"]) == ("discover", 193)
    (batch,) = answer["batches"]
    assert (batch["added"], batch["number"], len(batch["rows"])) == (43, 1, 43)
    assert batch["counts"]["new"] >= 3
    assert batch["sentences"][1] == (
        f"Of 43 new rows {batch['counts']['new']} look new; {batch['by_chance']} or fewer would be "
        "expected by chance."
    )
    assert answer["files"] == {"output": "all.csv", "report": "night.html"}
    page = (folder / "night.html").read_text()
    assert batch["sentences"][1] in page
    assert "b1-40" in page
    assert "http" not in page.replace("http-equiv", "")
    again = json.loads(run(*words).stdout)
    assert (again["rows"], again["batches"][0]["added"]) == (193, 0)
    assert "Nothing was added" in (folder / "night.html").read_text()


def test_without_json_the_result_is_printed(folder):
    lines = run(PROJECT, "--add", "batch-1.csv", "--report", "night.html").stdout.splitlines()
    assert lines[0] == "43 rows of batch-1.csv were added; the project has 193 rows now."
    assert lines[-1] == "report: night.html"


def test_a_project_in_use_is_an_error_and_nothing_is_added(folder):
    with open_project(PROJECT):
        result = run(PROJECT, "--add", "batch-1.csv", "--json", exit_code=2)
    assert result.stderr == (
        f"kernova: The project {PROJECT} is open in another process. Close it there first.\n"
    )
    assert not (folder / "night.html").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["none.kernova-project"],
            "There is no project none.kernova-project; check its name and folder.",
        ),
        (
            [PROJECT, "--report", "night.html"],
            "--report is about new rows; name their file with --add, or leave it out.",
        ),
        (
            [PROJECT, "--same-id", "skip", "--missing-columns", "fill"],
            "--same-id and --missing-columns are about new rows; name their file with --add, or "
            "leave it out.",
        ),
        (
            ["--demo", "--add", "batch-1.csv"],
            "--demo has its own table, to which nothing is added; leave out --add.",
        ),
        (
            [PROJECT, "--project", "other.kernova-project"],
            f"{PROJECT} is a project, and --project names another: other.kernova-project. Leave "
            "one out.",
        ),
        (
            [PROJECT, "--add", "none.csv", "--json"],
            "There is no file none.csv; check its name and folder.",
        ),
    ],
)
def test_what_cannot_be_done_is_said(folder, words, sentence):
    before = (folder / PROJECT).read_bytes()
    assert run(*words, "--terminal" if "--json" not in words else "--json", exit_code=2).stderr == (
        f"kernova: {sentence}\n"
    )
    assert (folder / PROJECT).read_bytes() == before


def test_a_table_that_was_moved_is_given_once(folder):
    (folder / "first.csv").rename(folder / "start.csv")
    result = run(PROJECT, "--terminal", exit_code=2)
    assert result.stderr == (
        f"kernova: The table of the project {PROJECT} is no longer at {folder / 'first.csv'}. Move "
        "it back, or pass its place now: --data FOLDER/first.csv.\n"
    )
    run(PROJECT, "--data", "start.csv", "--terminal")
    run(PROJECT, "--terminal")


def test_specimens_are_added(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    mean = np.array([[0, 0], [4, 0], [5, 2], [2, 4], [0, 3]], dtype=float)

    def write(name, ids, shape=mean):
        texts = []
        for one in ids:
            points = shape + rng.normal(0, 0.05, shape.shape)
            lines = "\n".join(f"{x:.4f} {y:.4f}" for x, y in points)
            texts.append(f"LP=5\n{lines}\nID={one}\n".replace("LP", "LM"))
        (tmp_path / name).write_text("".join(texts))

    write("old.tps", [f"f{number}" for number in range(60)])
    bent = mean + np.array([[0, 0], [0, 2], [0, 0], [0, -2], [0, 0]])
    write("usual.tps", [f"g{number}" for number in range(10)])
    write("bent.tps", ["h0", "h1", "h2"], bent)
    run("old.tps", "--terminal")
    words = ("old.kernova-project", "--add", "usual.tps", "--add", "bent.tps", "--json")
    answer = json.loads(run(*words, "--report", "night.html").stdout)
    usual, odd = answer["batches"]
    assert usual["counts"]["new"] <= usual["by_chance"]
    assert odd["counts"]["new"] == 3
    assert "3 rows of 73" not in run("old.kernova-project", "--terminal").stderr
    assert "data:image/png" in (tmp_path / "night.html").read_text()

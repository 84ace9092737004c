"""Files of every command, opened in a spreadsheet: no cell that was read becomes a formula."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import Landmarks, write_tps
from kernova.audio.annotations import Segment, read_annotations, write_annotations
from kernova.cli.app import app
from kernova.tables.spreadsheets import original_text, safe_text
from tests.cli.aviary import DUSK
from tests.species.drawn_shapes import drawn
from tests.tables.formulas import NAMES, cells_of, is_formula
from tests.web.in_process import Expert, opened, served

KINDS = ["=kind(1)", "@eel"]
TABLE = ["table.csv", "--id-column", "@id"]
COMMANDS = {
    "novelty": ["novelty", "table.csv", *TABLE, "--label-column", "-kind",
                "--max-false-alarm", "0.2", "-o", "out.csv"],
    "outliers": ["outliers", *TABLE, "--label-column", "-kind", "-o", "out.tsv"],
    "recognize": ["recognize", "model.kernova", *TABLE, "--label-column", "-kind", "-o", "out.csv"],
    "simulate": ["simulate", *TABLE, "--label-column", "-kind", "--strategies", "random",
                 "-o", "out.csv"],
    "discover": ["discover", "asked.csv", "--id-column", "@id", "--label-column", "-kind",
                 "--strategy", "random", "--terminal", "-o", "out.csv"],
    "each": ["species", "fish.tps", "--groups", "groups.csv", "--group-column", "=group", "--each",
             "--halvings", "2", "--components", "4", "-o", "out.csv"],
    "unknown": ["species", "fish.tps", "--groups", "groups.csv", "--group-column", "=group",
                "--unknown", NAMES[0], "--halvings", "2", "--components", "4", "-o", "out.csv"],
}  # fmt: skip
SIMULATED = {"simulate"}  # whose lines hold no text from the table


def run(*arguments, typed=None):
    result = CliRunner().invoke(app, list(map(str, arguments)), input=typed)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formulas")
    rng = np.random.default_rng(0)
    near = np.arange(64) < 56
    rows = pd.DataFrame(rng.normal(size=(64, 2)) + np.where(near, 0, 9)[:, None])
    rows.columns = ["=width", "+length"]
    rows.insert(0, "@id", [f"{NAMES[i % len(NAMES)]}-{i}" for i in range(64)])
    rows["-kind"] = np.where(near, *KINDS)
    rows.to_csv(folder / "table.csv", index=False)
    rows["-kind"] = rows["-kind"].where(np.arange(64) % 4 == 0)
    rows.to_csv(folder / "asked.csv", index=False)
    landmarks, groups = drawn({NAMES[0]: 20, "@eel": 20, "-2+3": 20}, seed=3)
    ids = tuple(f"={group}_{k}" for k, group in enumerate(groups))
    write_tps(Landmarks(ids, landmarks.coordinates, source="fish.tps"), folder / "fish.tps")
    pd.DataFrame({"id": ids, "=group": groups}).to_csv(folder / "groups.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("learn", *TABLE, "--label-column", "-kind", "-o", "model.kernova")
    return folder


@pytest.fixture
def folder(inputs, tmp_path, monkeypatch):
    for path in inputs.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def formulas_in(*paths):
    return [cell for path in paths for row in cells_of(path) for cell in row if is_formula(cell)]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_cell_of_a_table_is_a_formula(name, folder):
    typed = "==a category\n@another\nquit\n" if name == "discover" else None
    run(*COMMANDS[name], typed=typed)
    (path,) = folder.glob("out.*")
    marked = cells_of(path)
    assert formulas_in(path) == []
    run(*COMMANDS[name], "--raw", typed="quit\n" if name == "discover" else None)
    raw = cells_of(path)
    assert bool(formulas_in(path)) is (name not in SIMULATED)
    assert [[original_text(cell) for cell in row] for row in marked] == raw
    assert [[safe_text(cell) for cell in row] for row in raw] == marked


def test_no_cell_of_a_download_is_a_formula(folder):
    bench = opened(folder, data="asked.csv", id_column="@id", label_column="-kind", drop=())
    with served(bench) as client:
        anna = Expert(client, "=Anna()")
        anna.ask()
        anna.answer("-a+b")
        content = client.get("/api/downloads/labels.csv").content
        raw = bench.exports.labels_csv(raw=True)
        parquet = client.get("/api/downloads/labels.parquet").content
    (folder / "marked.csv").write_bytes(content)
    (folder / "raw.csv").write_bytes(raw)
    assert formulas_in(folder / "marked.csv") == []
    assert {"=Anna()", "-a+b", "@id", *KINDS} <= set(formulas_in(folder / "raw.csv"))
    assert pd.read_parquet(io.BytesIO(parquet))["category"].eq("-a+b").any()


@pytest.mark.parametrize("raw", [[], ["--raw"]], ids=["marked", "raw"])
def test_no_cell_of_notes_is_a_formula(birds, raw):
    """Labels come back exactly, also to a search that is continued."""
    names = {"buzz": "=1+2", "falling": "@x", "rising": "-"}
    notes = [n._replace(label=names[n.label]) for n in read_annotations("lesson.selections.txt")]
    write_annotations(notes, "lesson.csv", format="csv", raw=bool(raw))
    assert [note.label for note in read_annotations("lesson.csv")] == [n.label for n in notes]
    run("notes", "learn", "lesson.wav", "lesson.csv", "-o", "m.kernova")
    find = ["notes", "find", "m.kernova", DUSK[0], "--format", "csv", "-o", "found", "--json"]
    found, again = (
        json.loads(run(*find, "--combined", "all.csv", *raw).stdout)["recordings"][0]
        for _ in range(2)
    )
    assert (found["outcome"], again["outcome"]) == ("searched", "done before")
    assert again["notes"] == found["notes"]
    assert {note["label"] for note in found["notes"]} <= set(names.values())
    run("notes", "check", "m.kernova", "lesson.wav", "lesson.csv", "-o", "checked", *raw)
    written = [Path("all.csv"), Path("lesson.csv"), *Path("found").glob("*.csv"),
               *Path("checked").glob("*.csv")]  # fmt: skip
    assert len(written) == 7
    assert bool(formulas_in(*written)) is bool(raw)


def test_a_search_with_raw_does_not_count_as_one_without(birds):
    find = ["notes", "find", "model.kernova", DUSK[0], "-o", "found", "--json"]
    outcomes = {
        format: [
            json.loads(run(*find, "--format", format, *raw).stdout)["recordings"][0]["outcome"]
            for raw in ([], ["--raw"])
        ]
        for format in ("csv", "raven")
    }
    assert outcomes == {"csv": ["searched"] * 2, "raven": ["searched", "done before"]}


def test_foreign_tables_of_notes_are_read_as_they_are(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("label,start,end\n'=1,0,1\n")
    assert read_annotations(path)[0].label == "'=1"


@pytest.mark.parametrize("format", ["raven", "audacity", "textgrid"])
def test_annotations_for_other_programs_are_not_marked(format, tmp_path):
    note = Segment(0.0, 1.0, "=1+2", low_hz=1.0, high_hz=2.0)
    write_annotations([note], tmp_path / "notes.txt", format=format, duration=2)
    assert "=1+2" in (tmp_path / "notes.txt").read_text()
    assert "'=1+2" not in (tmp_path / "notes.txt").read_text()

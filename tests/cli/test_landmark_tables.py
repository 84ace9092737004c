"""Landmarks for ``kernova learn``, ``recognize``, ``outliers`` and ``novelty``."""

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from tests.cli import landmark_messages as messages
from tests.workflows.landmarks import specimens
from tests.workflows.landmarks.specimens import (
    KNOWN,
    KNOWN_IDS,
    NEW,
    NEW_IDS,
    known,
    new,
    wide,
    with_gaps,
)

pytestmark = pytest.mark.usefixtures("few_trees")

BESIDE = ["--labels", "species.csv", "--label-column", "species"]
IN_IDS = ["--id-pattern", "^([a-z]+)_"]
# The cheapest of each command.
LEARN = ["learn", "--method", "mddkm"]
NOVELTY = ["novelty", "--method", "lof", "--max-false-alarm", "0.3"]
OUTLIERS = ["outliers", "--method", "lof"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("fish.tps", specimens.tps(known(), KNOWN_IDS))
    write("new.tps", specimens.tps(new(), NEW_IDS))
    write("turned.tps", specimens.tps(new(laid_by=5), NEW_IDS))
    write("gaps.tps", specimens.tps(with_gaps(known(), every=60), KNOWN_IDS))
    write("five.tps", specimens.tps(new()[:, :5], NEW_IDS))
    write("broken.tps", "LM=3\n1 2\nID=a\n")
    wide(known(), id=KNOWN_IDS, species=KNOWN, depth=range(60)).to_csv("fish.csv", index=False)
    names = {"id": KNOWN_IDS + NEW_IDS, "species": KNOWN + NEW}
    pd.DataFrame(names).to_csv("species.csv", index=False)
    return tmp_path


def write(path, text):
    Path(path).write_text(text)


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # neither bars where nobody watches, nor Python's warnings
    return result.stdout


def test_species_are_learnt_and_recognised(folder):
    text = run("learn", "fish.tps", *BESIDE, "-o", "model.kernova")
    assert text.startswith("2 classes were learnt from 60 rows of fish.tps.\n")
    assert messages.LANDMARKS_ALIGNED.format("fish.tps") in text
    text = run("recognize", "model.kernova", "new.tps", *BESIDE, "-o", "classes.csv",
               "--report", "page.html")  # fmt: skip
    assert messages.LIKE_TRAINING_SPECIMENS.format("new.tps") in text
    assert "(eel): 3, of which 3 (100.0 %) correctly called unknown." in text
    first = pd.read_csv("classes.csv")
    assert first["specimen"].tolist() == NEW_IDS
    run("recognize", "model.kernova", "turned.tps", *IN_IDS, "-o", "turned.csv")
    assert pd.read_csv("turned.csv")["recognized"].tolist() == first["recognized"].tolist()
    assert Path("page.html").read_text().startswith("<!doctype html>")


def test_a_table_of_landmarks_is_learnt_aligned_or_raw(folder):
    words = [*LEARN, "fish.csv", "--label-column", "species", "-o", "model.kernova", "--json"]
    aligned, raw = json.loads(run(*words)), json.loads(run(*words, "--raw-coordinates"))
    assert messages.LANDMARKS_OF_A_TABLE.format("fish.csv") in aligned["notes"]
    assert not any("aligned" in note for note in raw["notes"])
    assert aligned["accuracy"] > 0.9
    assert raw["accuracy"] < 0.8
    answer = json.loads(run("recognize", "model.kernova", "fish.csv", "--json"))
    assert answer["confusion"]["known_rows"] == 60


def test_size_is_one_more_column(folder):
    text = run(*LEARN, "fish.tps", *IN_IDS, "-o", "model.kernova", "--size")
    assert messages.LANDMARKS_WITH_SIZE in text
    assert run("recognize", "model.kernova", "new.tps")  # the model knows that it has sizes


def test_outliers(folder):
    eels = specimens.laid(specimens.shapes(["eel"] + ["carp"] * 59), seed=2)
    write("fish.tps", specimens.tps(eels, KNOWN_IDS))
    text = run(*OUTLIERS, "fish.tps", "--top", "1", "-o", "ranked.csv", "--report", "page.html")
    assert messages.LANDMARKS_ALIGNED.format("fish.tps") in text
    assert pd.read_csv("ranked.csv")["specimen"][0] == KNOWN_IDS[0]
    first = json.loads(run(*OUTLIERS, "fish.tps", "--json"))["rows"][0]
    assert first["specimen"] == KNOWN_IDS[0]
    assert "(aligned) = " in first["because"]
    assert messages.LANDMARKS_WITH_SIZE in run(*OUTLIERS, "fish.tps", "--top", "0", "--size")


def test_novelty(folder):
    words = ["--json", "-o", "verdicts.csv", "--report", "page.html"]
    first, turned = (
        json.loads(run(*NOVELTY, "fish.tps", path, *words)) for path in ("new.tps", "turned.tps")
    )
    assert first["notes"][0] == messages.LANDMARKS_ALIGNED.format("fish.tps")
    verdicts = [row["verdict"] for row in first["rows"]]
    assert verdicts[10:] == ["novel"] * 3
    assert [row["verdict"] for row in turned["rows"]] == verdicts
    # A table and a TPS file of the same landmarks compare.
    answer = json.loads(run(*NOVELTY, "fish.csv", "new.tps", "--label-column", "species", *words))
    assert [row["verdict"] for row in answer["rows"]] == verdicts


def test_what_the_files_do_not_tell_is_an_option(folder):
    unnamed = wide(known(), id=KNOWN_IDS, species=KNOWN)
    coordinates = [name for name in unnamed.columns if name[0] in "xy"]
    places = {name: f"V{number}" for number, name in enumerate(coordinates, 1)}
    unnamed.rename(columns=places).to_csv("unnamed.csv", index=False)
    text = run(*OUTLIERS, "unnamed.csv", "--label-column", "species", "--dimensions", "2")
    assert "unnamed.csv holds 6 landmarks in two dimensions (V1, V2 … V11, V12)" in text
    write("twice.tps", specimens.tps(known(), ["a"] * 60))
    result = CliRunner().invoke(app, [*OUTLIERS, "twice.tps"])
    assert result.stderr.endswith("ids must differ. Rename one, or set --ids-from.\n")
    assert run(*OUTLIERS, "twice.tps", "--ids-from", "number", "--negative", "values")
    run(*LEARN, "unnamed.csv", "--label-column", "species", "--dimensions", "2", "-o", "m.kernova")
    assert run("recognize", "m.kernova", "unnamed.csv", "--top", "0")
    assert run("recognize", "m.kernova", "twice.tps", "--ids-from", "number", "--top", "0")
    assert run(*NOVELTY, "unnamed.csv", "twice.tps", "--label-column", "species",
               "--dimensions", "2", "--ids-from", "number")  # fmt: skip


def test_huge_coordinates_are_refused_without_a_warning(folder):
    points = known()
    points[0, 0] = 1e308
    write("huge.tps", specimens.tps(points, KNOWN_IDS))
    result = CliRunner().invoke(app, [*OUTLIERS, "huge.tps"])
    assert result.stderr.startswith("kernova: The largest coordinate is 1e+308;")
    assert result.stderr.count("\n") == 1


BAD_INPUT = {
    "no labels": [*LEARN, "fish.tps", "-o", "out.kernova"],
    "labels without a column": [
        *LEARN, "fish.tps", "-o", "out.kernova", "--labels", "species.csv",
    ],
    "column and pattern": [*LEARN, "fish.tps", "-o", "out.kernova", *BESIDE, *IN_IDS],
    "raw coordinates of tps": [*OUTLIERS, "fish.tps", "--raw-coordinates"],
    "size of raw coordinates": [*OUTLIERS, "fish.csv", "--raw-coordinates", "--size"],
    "size of a table": [*NOVELTY, "species.csv", "species.csv", "--size", "--keep", "id"],
    "a column to keep": [*OUTLIERS, "fish.csv", "--keep", "depth"],
    "a coordinate to drop": [*OUTLIERS, "fish.csv", "--drop", "x3"],
    "ids of tps": [*OUTLIERS, "fish.tps", "--id-column", "fish"],
    "missing landmarks": [*OUTLIERS, "gaps.tps", "--missing", "refuse"],
    "other landmarks": [*NOVELTY, "fish.tps", "five.tps"],
    "other landmarks than the model's": ["recognize", "model.kernova", "five.tps"],
    "landmarks for a table": [*NOVELTY, "species.csv", "fish.tps", "--keep", "id"],
    "over its labels": [
        *LEARN, "fish.tps", "-o", "species.kernova", "--labels", "species.kernova",
    ],
    "over the labels of new specimens": [
        "recognize", "model.kernova", "new.tps", *BESIDE, "-o", "species.csv",
    ],
    "no file": [*OUTLIERS, "absent.tps"],
    "broken file": [*OUTLIERS, "broken.tps"],
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kernova"
    write(path.with_suffix(".tps"), specimens.tps(known(), KNOWN_IDS))
    run(*LEARN, str(path.with_suffix(".tps")), *IN_IDS, "-o", str(path))
    return path.read_bytes()


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_reported_in_one_sentence_and_leaves_nothing(folder, model, name):
    Path("model.kernova").write_bytes(model)
    Path("species.kernova").write_bytes(model)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = CliRunner().invoke(app, BAD_INPUT[name])
    assert (result.exit_code, result.stderr) == (2, f"kernova: {messages.LANDMARK_TABLES[name]}\n")
    assert result.stdout == ""
    assert {path: path.read_bytes() for path in folder.iterdir()} == before

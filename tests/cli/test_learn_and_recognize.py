"""``kernova learn`` and ``kernova recognize``: text, JSON, files and errors."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import SpatialDepth, save_model
from kernova.cli.app import app
from kernova.cli.options import in_options, running
from kernova.cli.recognize import learn, recognize
from kernova.description.recognizer import TableRecognizer
from tests.cli import messages
from tests.tables.messages import BAD_FILES
from tests.workflows.tables import two_kinds

pytestmark = pytest.mark.usefixtures("few_trees")

LEARN = ["learn", "labelled.csv", "--label-column", "kind", "--id-column", "fish"]
RECOGNIZE = ["recognize", "model.kernova", "new.csv", "--id-column", "fish"]


def named(frame, prefix):
    frame.insert(0, "fish", [f"{prefix}{i:03}" for i in range(len(frame))])
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named(two_kinds(), "known").to_csv("labelled.csv", index=False)
    new = two_kinds(20, seed=1)
    # Five that lie together, far from both kinds.
    new.iloc[15:, :3] = np.random.default_rng(2).normal(size=(5, 3)) / 2 + [0, 60, 0]
    new.loc[15:, "kind"] = "eel"
    named(new, "new").to_csv("new.csv", index=False)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # neither bars where nobody watches, nor Python's warnings
    return result.stdout


def test_text_for_people(folder):
    text = run(*LEARN, "-o", "model.kernova")
    assert text.startswith(messages.LEARNT)
    assert text.endswith("\nmodel: model.kernova\n")
    text = run(*RECOGNIZE, "--label-column", "kind", "--top", "2")
    lines = text.splitlines()
    assert lines[0].startswith("Of 20 new rows, ")
    assert lines[0].endswith(" unknown.")
    assert messages.UNKNOWN_CLASS in text
    assert "b = 6" in text
    assert "eel (5)" in text
    assert lines[-1] == "Write them all with -o classes.csv; see them with --report report.html."


def test_json_for_programs(folder):
    answer = json.loads(run(*LEARN, "-o", "model.kernova", "--reject", "0.1", "--json"))
    assert answer["settings"]["reject"] == 0.1
    assert answer["files"] == {"model": "model.kernova"}
    assert [line["class"] for line in answer["classes"]] == ["carp", "pike"]
    assert [line["rows"] for line in answer["classes"]] == [30, 30]
    assert answer["accuracy_without_rejection"] == 1.0
    assert 0.8 < answer["accuracy"] <= 1.0
    assert 0 <= answer["calibration_error"] < 0.05
    assert answer["found_if_unknown"] == np.mean(
        [line["found_if_unknown"] for line in answer["classes"]]
    )
    words = ["--json", "-o", "out.csv", "--report", "page.html", "--label-column", "kind"]
    answer = json.loads(run(*RECOGNIZE, *words))
    assert answer["files"] == {"output": "out.csv", "report": "page.html"}
    assert answer["confusion"]["foreign_labels"] == ["eel"]
    assert answer["confusion"]["foreign_called_unknown"] == 5
    assert answer["groups"][0]["labels"] == "eel (5)"
    rows = answer["rows"]
    assert list(rows[0]) == [
        "fish", "recognized", "probability", "none", "p_value", "margin", "ranking",
        "would_change", "group", "because", "nearest", "probability_carp", "probability_pike",
        "kind",
    ]  # fmt: skip
    assert [row["fish"] for row in rows] == [f"new{i:03}" for i in range(20)]
    assert all(row["nearest"].startswith("known0") for row in rows)
    written = pd.read_csv("out.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(written, pd.DataFrame(rows))
    assert Path("page.html").read_text().startswith("<!doctype html>")


def test_the_published_method_has_memberships(folder):
    answer = json.loads(run(*LEARN, "--method", "mddkm", "-o", "model.kernova", "--json"))
    assert {"length_scale", "accuracy", "unknown"} < set(answer)
    assert "threshold" in answer["classes"][0]
    rows = json.loads(run(*RECOGNIZE, "--json"))["rows"]
    assert list(rows[0]) == [
        "fish", "recognized", "membership", "ambiguous", "group", "because", "nearest",
        "membership_carp", "membership_pike", "kind",
    ]  # fmt: skip


def test_the_rate_of_rejection_can_be_changed_without_learning(folder):
    run(*LEARN, "-o", "model.kernova")
    few, many = (json.loads(run(*RECOGNIZE, "--json", "--reject", rate)) for rate in ("0", "0.5"))
    assert (few["reject"], many["reject"]) == (0.0, 0.5)
    assert few["unknown_rows"] == 0
    assert many["unknown_rows"] >= 8


def test_groups_and_columns_to_keep(folder):
    frame = pd.read_csv("labelled.csv").assign(pond=np.arange(60) // 6, constant=1.0)
    frame.to_csv("labelled.csv", index=False)
    text = run(*LEARN, "-o", "model.kernova", "--group-column", "pond", "--keep", "constant")
    assert "10-fold cross-validation with groups kept together: " in text
    from kernova import load_model

    assert load_model("model.kernova").columns == ["a", "b", "c", "constant"]


@pytest.mark.parametrize("method", ["open-set", "mddkm"])
@pytest.mark.parametrize("name", [
    "recognized", "group", "membership", "membership_carp", "p_value", "probability_carp",
])  # fmt: skip
def test_ids_and_labels_are_written_under_any_name(folder, name, method):
    run(*LEARN, "-o", "model.kernova", "--method", method)
    for role, column in (("--id-column", "fish"), ("--label-column", "kind")):
        new = pd.read_csv("new.csv").rename(columns={column: name})
        new.to_csv("named.csv", index=False)
        other = ["--drop", "kind"] if column == "fish" else ["--drop", "fish"]
        run("recognize", "model.kernova", "named.csv", role, name, *other, "-o", "out.csv",
            "--report", "page.html")  # fmt: skip
        out = pd.read_csv("out.csv")
        written = f"{name}_" if f"{name}_" in out else name
        assert out[written].tolist() == new[name].tolist()


def test_a_class_of_one_row_is_noted(folder):
    frame = pd.read_csv("labelled.csv")
    frame.loc[0, "kind"] = "eel"
    frame.to_csv("labelled.csv", index=False)
    assert "eel could not be tested, because it has only one row." in run(*LEARN, "-o", "m.kernova")


def table(path, text):
    Path(path).write_text(text)


def same_rows():
    frame = pd.read_csv("labelled.csv")
    frame[["a", "b", "c"]] = 1.0
    frame.to_csv("labelled.csv", index=False)


def no_labels():
    pd.read_csv("labelled.csv").assign(kind=None).to_csv("labelled.csv", index=False)


def unknown_class():
    pd.read_csv("labelled.csv").replace("pike", "unknown").to_csv("labelled.csv", index=False)


def published():
    run(*LEARN, "-o", "model.kernova", "--method", "mddkm")


def other_model():
    save_model(SpatialDepth().fit(np.eye(3)), "model.kernova")


BAD_INPUT = {
    "no label column": (
        None, ["learn", "labelled.csv", "-o", "out.kernova", "--drop", "fish", "--drop", "kind"],
    ),
    "no labels": (no_labels, [*LEARN, "-o", "out.kernova"]),
    "suffix": (None, [*LEARN, "-o", "out.pkl"]),
    "no folder": (None, [*LEARN, "-o", "nowhere/out.kernova"]),
    "reject": (None, [*LEARN, "-o", "out.kernova", "--reject", "1.5"]),
    "reject of new rows": (None, [*RECOGNIZE, "--reject", "-0.5"]),
    "reject of memberships": (published, [*RECOGNIZE, "--reject", "0.2"]),
    "group column": (None, [*LEARN, "-o", "out.kernova", "--group-column", "pond"]),
    "groups are classes": (None, [*LEARN, "-o", "out.kernova", "--group-column", "kind"]),
    "rows per class": (None, [*LEARN, "-o", "out.kernova", "--max-rows-per-class", "few"]),
    "a class named unknown": (unknown_class, [*LEARN, "-o", "out.kernova"]),
    "no model": (None, ["recognize", "labelled.csv", "new.csv", "-o", "out.csv"]),
    "other model": (other_model, [*RECOGNIZE, "-o", "out.csv"]),
    "other columns": (
        lambda: table("new.csv", "fish,a,B,c\nx,1,2,3\n"), [*RECOGNIZE, "-o", "out.csv"],
    ),
    "over its input": (None, [*RECOGNIZE, "-o", "new.csv"]),
    "text for numbers": (
        lambda: table("new.csv", "fish,a,b,c\nx,1,2,high\ny,1,2,low\n"),
        [*RECOGNIZE, "-o", "out.csv"],
    ),
    "missing values": (
        lambda: table("new.csv", "fish,a,b,c\nx,1,2,\n"),
        [*RECOGNIZE, "-o", "out.csv", "--missing", "refuse"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_reported_in_one_sentence_and_leaves_nothing(folder, model_of_two_kinds, name):
    Path("model.kernova").write_bytes(model_of_two_kinds)
    change, words = BAD_INPUT[name]
    if change is not None:
        change()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stderr) == (2, f"kernova: {messages.RECOGNIZE[name]}\n")
    assert result.stdout == ""
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [case[:2] + case[3:] for case in BAD_FILES if not case[2]],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_bad_files_are_rejected_by_both(folder, model_of_two_kinds, name, content, sentence):
    (folder / name).write_bytes(content)
    (folder / "model.kernova").write_bytes(model_of_two_kinds)
    for words in (["learn", name, "-o", "out.kernova"],
                  ["recognize", "model.kernova", name, "-o", "out.csv"]):  # fmt: skip
        result = CliRunner().invoke(app, words)
        with running(learn if words[0] == "learn" else recognize):
            assert (result.exit_code, result.stderr) == (2, f"kernova: {in_options(sentence)}\n")
    assert not list(folder.glob("out.*"))


@pytest.fixture(scope="session")
def model_of_two_kinds(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kernova"
    frame = two_kinds()
    save_model(TableRecognizer().fit(frame[["a", "b", "c"]], frame["kind"].to_numpy(str)), path)
    return path.read_bytes()


def test_rows_that_are_all_one_row_can_be_learnt(folder):
    same_rows()
    text = run(*LEARN, "-o", "model.kernova")
    assert "60 rows have duplicates with another label; rows like them are ambiguous." in text
    table("new.csv", "fish,a,b,c\nx,1,1,1\ny,1,1,2\n")
    rows = json.loads(run(*RECOGNIZE, "--json"))["rows"]
    assert rows[0]["probability"] < 0.6
    assert rows[1]["recognized"] == "unknown"
    run(*LEARN, "-o", "model.kernova", "--method", "mddkm")
    rows = json.loads(run(*RECOGNIZE, "--json"))["rows"]
    assert [row["ambiguous"] for row in rows] == [True, False]
    assert rows[1]["recognized"] == "unknown"


def test_the_model_in_the_file_is_a_recognizer(folder):
    from kernova import load_model

    run(*LEARN, "-o", "model.kernova", "--robust", "--scale", "common", "--seed", "3")
    model = load_model("model.kernova")
    assert isinstance(model, TableRecognizer)
    settings = model.description_.get_params()
    assert (settings["robust"], settings["scale"], settings["random_state"]) == (True, "common", 3)

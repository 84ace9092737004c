"""``kernova species``: text, JSON, files and errors."""

import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import Landmarks, read_tps, write_tps
from kernova.cli.app import app
from kernova.cli.console import printing_warnings
from tests.cli import messages
from tests.cli.at_work import wait_until_at_work
from tests.species.drawn_shapes import drawn

QUICK = ["--halvings", "2", "--components", "4"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Fish of four groups, one of them apart; and five to be tested, one of them apart."""
    folder = tmp_path_factory.mktemp("species")
    landmarks, groups = drawn({"carp": 24, "pike": 24, "eel": 20, "newt": 12}, seed=3)
    groups = groups.tolist()
    ids = tuple(f"{group}_{k}" for k, group in enumerate(groups))
    landmarks = Landmarks(ids, landmarks.coordinates, source="fish.tps")
    write_tps(landmarks, folder / "fish.tps")
    pd.DataFrame({"specimen": ids, "species": groups}).to_csv(folder / "groups.csv", index=False)
    wide = pd.DataFrame(landmarks.coordinates.reshape(len(ids), -1))
    wide.columns = [f"{a}{k}" for k in range(1, landmarks.n_landmarks + 1) for a in "xy"]
    wide.insert(0, "species", groups)
    wide.insert(0, "id", ids)
    wide.to_csv(folder / "wide.csv", index=False)
    is_newt = np.array(groups) == "newt"
    write_tps(landmarks.take(~is_newt), folder / "known.tps")
    write_tps(landmarks.take(is_newt), folder / "newts.tps")
    return folder


@pytest.fixture
def folder(files, monkeypatch, tmp_path):
    for path in files.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, ["species", *arguments])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


GROUPS = ["--groups", "groups.csv", "--group-column", "species"]


def test_one_group_for_people(folder):
    text = run(
        "fish.tps", *GROUPS, "--unknown", "newt", *QUICK, "--report", "r.html", "-o", "o.csv"
    )
    assert text.startswith("newt looks new: at 95% confidence its 12 specimens are not of any of ")
    assert "Known groups, the hardest to separate first" in text
    assert text.endswith("\noutput: o.csv\nreport: r.html\n")
    page = Path("r.html").read_text()
    assert "<h1>Is newt new?</h1>" in page
    assert page.index("newt looks new") < page.index("<table")
    rows = pd.read_csv("o.csv")
    assert len(rows) == 12
    assert rows["id"].str.startswith("newt_").all()
    assert (rows["verdict"] == "new").any()


def test_a_wide_table_a_pattern_and_a_table_of_groups_give_the_same_answer(folder):
    words = ["--unknown", "newt", *QUICK, "--json"]
    answers = [
        json.loads(run(*where, *words))
        for where in (
            ["fish.tps", *GROUPS],
            ["fish.tps", "--id-pattern", "^([a-z]+)_"],
            ["wide.csv", "--group-column", "species"],
            ["wide.csv", *GROUPS, "--id-column", "specimen"],
        )
    ]
    assert answers[0]["verdict"]["kind"] == "looks new"
    assert answers[0]["verdict"]["closest"] == answers[0]["pairs"][0]["known"]
    assert {pair["known"] for pair in answers[0]["pairs"]} == {"carp", "pike", "eel"}
    assert len(answers[0]["halvings"]) == 2
    assert answers[0]["settings"]["components"] == 4
    assert all(answer == answers[0] for answer in answers[1:])


def test_every_group_in_turn(folder):
    answer = json.loads(run("fish.tps", *GROUPS, "--each", *QUICK, "-o", "o.csv", "--json"))
    assert [line["unknown"] for line in answer["groups"]] == ["carp", "eel", "newt", "pike"]
    matrix = answer["matrix"]
    assert matrix["unknown"] == matrix["known"]
    for place, rates in enumerate(matrix["equal_error_rate"]):
        assert [rate is None for rate in rates] == [k == place for k in range(4)]
    rows = pd.read_csv("o.csv")
    assert rows["verdict"].tolist() == [line["verdict"] for line in answer["groups"]]
    text = run("fish.tps", *GROUPS, "--each", "--least-specimens", "13", *QUICK, "--top", "2")
    assert text.startswith("3 of 3 groups would look new if they were unknown.\n")
    assert "1 smaller group was never held out." in text
    assert "... and 1 more." in text


def test_specimens_one_by_one(folder):
    new = read_tps("newts.tps")
    spoilt = new.coordinates.copy()
    spoilt[0, 2] += [0.7, 0.5] * np.ptp(spoilt[0], axis=0)
    write_tps(Landmarks(new.ids, spoilt), "spoilt.tps")
    where = ["known.tps", "--id-pattern", "^([a-z]+)_"]
    text = run(*where, "--test", "spoilt.tps", "-o", "o.csv", "--report", "r.html")
    assert "of 12 specimens of spoilt.tps look like none of the known groups" in text
    rows = pd.read_csv("o.csv")
    assert list(rows["id"]) == list(new.ids)
    assert rows.loc[0, "digitising"] == "landmark 3 deviates"
    assert "Specimens to check" in Path("r.html").read_text()
    answer = json.loads(run(*where, "--test", "spoilt.tps", "--json"))
    assert answer["new_specimens"] == (rows["verdict"] == "new").sum()
    assert [row["landmark"] for row in answer["rows"]] == rows["landmark"].tolist()


def test_features_of_a_file_are_measured_on_aligned_shapes(folder):
    Path("f.txt").write_text("slender = |1-4| / |2-6|\ntilt = angle(1-2, vertical)\nlong = |1-4|\n")
    words = ["fish.tps", *GROUPS, "--unknown", "newt", "--halvings", "1", "--features", "f.txt"]
    answer = json.loads(run(*words, "--json"))
    assert answer["notes"][0].startswith("tilt: measured on aligned shapes")
    assert answer["notes"][1].startswith("long: measured on shapes of centroid size 1")
    assert answer["settings"]["features"]["tilt"] == "angle(1-2, vertical)"


def test_missing_landmarks_are_estimated_and_counted(folder):
    text = Path("fish.tps").read_text().splitlines()
    text[1] = "NA NA"
    Path("fish.tps").write_text("\n".join(text))
    said = run("fish.tps", *GROUPS, "--unknown", "eel", *QUICK, "--top", "0")
    assert "landmarks of fish.tps are missing, in 1 of 80 specimens" in said


def test_warnings_are_printed_once_each(capsys):
    with printing_warnings():
        for words in ("It still moved.", "It is thin.", "It still moved."):
            warnings.warn(words, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "kernova: It still moved.\nkernova: It is thin.\n"


# --- bad input -------------------------------------------------------------------------------


_UNKNOWN = ["--unknown", "newt"]
BAD_INPUT = {
    "no question": ["fish.tps", *GROUPS],
    "two questions": ["fish.tps", *GROUPS, *_UNKNOWN, "--each"],
    "no groups": ["fish.tps", *_UNKNOWN],
    "no group column": ["fish.tps", "--groups", "groups.csv", *_UNKNOWN],
    "wrong group column": [
        "fish.tps", "--groups", "groups.csv", "--group-column", "genus", *_UNKNOWN,
    ],
    "wrong column of a wide table": ["wide.csv", "--group-column", "genus", *_UNKNOWN],
    "specimens without a group": [
        "fish.tps", "--groups", "short.csv", "--group-column", "species", *_UNKNOWN,
    ],
    "misspelt group": ["fish.tps", *GROUPS, "--unknown", "Newts"],
    "no such group": ["fish.tps", *GROUPS, "--unknown", "trout"],
    "pattern and column": ["fish.tps", *GROUPS, "--id-pattern", "(a)", *_UNKNOWN],
    "single specimens": ["lonely.csv", "--group-column", "species", "--unknown", "s1"],
    "single specimens, each": [
        "lonely.csv", "--group-column", "species", "--each", "--least-specimens", "1",
    ],
    "two landmarks": ["pins.csv", "--group-column", "species", "--unknown", "b"],
    "no large group": ["fish.tps", *GROUPS, "--each", "--least-specimens", "99"],
    "other landmarks": ["fish.tps", *GROUPS, "--test", "few.tps"],
    "known specimens": ["fish.tps", *GROUPS, "--test", "newts.tps"],
    "feature of a missing landmark": ["fish.tps", *GROUPS, *_UNKNOWN, "--features", "f.txt"],
    "no feature file": ["fish.tps", *GROUPS, *_UNKNOWN, "--features", "nofile.toml"],
    "no file": ["nofile.tps", *GROUPS, *_UNKNOWN],
    "low confidence": ["fish.tps", *GROUPS, *_UNKNOWN, "--confidence", "0.3"],
    "false discovery rate": ["fish.tps", *GROUPS, *_UNKNOWN, "--false-discovery-rate", "2"],
    "bandwidth rule": ["fish.tps", *GROUPS, *_UNKNOWN, "--bandwidth", "wide"],
    "over its input": ["fish.tps", *GROUPS, *_UNKNOWN, "-o", "groups.csv"],
    "report suffix": ["fish.tps", *GROUPS, *_UNKNOWN, "--report", "page.pdf"],
}  # fmt: skip


def test_bad_input_is_reported_in_one_sentence_and_leaves_nothing(folder):
    n = read_tps("fish.tps").n_landmarks
    Path("short.csv").write_text("specimen,species\ncarp_0,carp\n")
    Path("lonely.csv").write_text(
        "id,species,x1,y1,x2,y2,x3,y3\n" + "".join(f"{k},s{k},0,0,{k},1,2,{k}\n" for k in range(5))
    )
    Path("few.tps").write_text("LM=3\n0 0\n1 0\n0 1\nID=a\n")
    Path("f.txt").write_text(f"long = |1-{n + 1}|\n")
    Path("pins.csv").write_text("id,species,x1,y1,x2,y2\n1,a,0,0,1,1\n2,a,0,0,2,1\n3,b,0,0,1,3\n")
    before = {path.name for path in folder.iterdir()}
    for case, words in BAD_INPUT.items():
        result = CliRunner().invoke(app, ["species", *words])
        assert "Traceback" not in result.output
        sentence = messages.SPECIES[case].format(n=n, one_more=n + 1)
        assert (result.exit_code, result.stderr) == (2, f"kernova: {sentence}\n"), case
        assert result.stdout == ""
    assert {path.name for path in folder.iterdir()} == before


def test_an_interrupt_leaves_no_file(folder):
    command = [sys.executable, "-m", "kernova", "species", "fish.tps", *GROUPS, "--each",
               "--halvings", "100000", "-o", "o.csv", "--report", "r.html"]  # fmt: skip
    before = {path.name for path in folder.iterdir()}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    wait_until_at_work(process)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "kernova: Interrupted; no file was left half-written.\n"
    assert {path.name for path in folder.iterdir()} == before

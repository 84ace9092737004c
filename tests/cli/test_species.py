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
from kernova.shapes import read_landmarks
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
    assert text.startswith(
        "newt looks new: at 95% confidence its 12 specimens are not a random sample of any of the "
        "3 known groups compared (permutation tests of mean shape, largest p-value 0.001).\n"
    )
    assert (
        "\nSingle specimens are distinguished from those of eel, the group with the largest error: "
        in text
    )
    assert "Known groups, the hardest to distinguish first" in text
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
    assert answers[0]["settings"]["score"] == "likelihood-ratio"
    assert all(answer == answers[0] for answer in answers[1:])


def test_every_group_in_turn(folder):
    answer = json.loads(run("fish.tps", *GROUPS, "--each", *QUICK, "-o", "o.csv", "--json"))
    assert [line["unknown"] for line in answer["groups"]] == ["carp", "eel", "newt", "pike"]
    matrix = answer["matrix"]
    assert matrix["groups"] == matrix["others"]
    for place, rates in enumerate(matrix["discriminant_error"]):
        assert [rate is None for rate in rates] == [k == place for k in range(4)]
    rows = pd.read_csv("o.csv")
    assert rows["verdict"].tolist() == [line["verdict"] for line in answer["groups"]]
    text = run("fish.tps", *GROUPS, "--each", "--least-specimens", "13", *QUICK, "--top", "2")
    assert text.startswith(
        "3 of 3 groups would look new if they were unknown: they differ in mean shape from every "
        "other group compared.\nSingle specimens are distinguished in 6 of 6 pairs of groups by a "
    )
    assert "Never held out, since they are smaller: newt." in text
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
    assert rows.loc[0, "digitising"] == "single landmark 3"
    assert "Specimens to check" in Path("r.html").read_text()
    answer = json.loads(run(*where, "--test", "spoilt.tps", "--json"))
    assert answer["new_specimens"] == (rows["verdict"] == "new").sum()
    assert [row["digitising"] for row in answer["rows"]] == rows["digitising"].tolist()
    assert answer["whole_sample"]["sentence"] in text.replace("\n", " ")
    assert answer["whole_sample"]["is_more_novel"]


def test_features_of_a_file_are_measured_on_aligned_shapes(folder):
    Path("f.txt").write_text("slender = |1-4| / |2-6|\ntilt = angle(1-2, vertical)\nlong = |1-4|\n")
    words = ["fish.tps", *GROUPS, "--unknown", "newt", "--halvings", "1", "--features", "f.txt"]
    answer = json.loads(run(*words, "--json"))
    tilt = next(k for k, note in enumerate(answer["notes"]) if note.startswith("tilt: "))
    assert answer["notes"][tilt].startswith("tilt: measured on aligned shapes")
    assert answer["notes"][tilt + 1].startswith("long: measured on shapes of centroid size 1")
    assert answer["settings"]["features"]["tilt"] == "angle(1-2, vertical)"


def test_missing_landmarks_are_estimated_and_counted(folder):
    text = Path("fish.tps").read_text().splitlines()
    text[1] = "NA NA"
    Path("fish.tps").write_text("\n".join(text))
    said = run("fish.tps", *GROUPS, "--unknown", "eel", *QUICK, "--top", "0")
    assert "landmarks of fish.tps are missing, in 1 of 80 specimens" in said


def test_covariates_are_columns_of_either_table_or_size(folder):
    wide = pd.read_csv("wide.csv")
    wide.insert(1, "sex", ["F" if k % 3 else "M" for k in range(80)])
    wide.loc[wide["species"] == "newt", "sex"] = "M"
    wide.to_csv("wide.csv", index=False)
    wide[["id", "species", "sex"]].to_csv("sexes.csv", index=False)
    words = ["--group-column", "species", "--unknown", "newt", *QUICK, "--json"]
    without = json.loads(run("wide.csv", *words))
    assert "Add --covariate sex to adjust for it." in without["notes"][0]
    given = json.loads(run("wide.csv", *words, "--covariate", "sex", "--covariate", "size"))
    assert given["covariates"] == ["sex", "size"]
    assert all(pair["adjusted_p_value"] is not None for pair in given["pairs"])
    assert any(
        note.startswith("The tests of samples are adjusted for sex and size; ")
        for note in given["notes"]
    )
    beside = json.loads(
        run(
            "fish.tps", "--groups", "sexes.csv", *words, "--covariate", "sex", "--covariate", "size"
        )
    )
    assert beside["pairs"] == given["pairs"]
    each = ["--group-column", "species", "--each", *QUICK, "--json", "--covariate", "sex"]
    assert json.loads(run("wide.csv", *each))["covariates"] == ["sex"]


@pytest.mark.parametrize("score", ["neighbors", "mahalanobis", "depth"])
def test_other_scores_change_novelty_alone(folder, score):
    words = ["fish.tps", *GROUPS, "--unknown", "newt", *QUICK, "--json"]
    usual, other = json.loads(run(*words)), json.loads(run(*words, "--score", score))
    assert other["settings"]["score"] == score
    assert other["verdict"]["sentence"] == usual["verdict"]["sentence"]
    novelty = [[row["novelty"] for row in one["rows"]] for one in (usual, other)]
    assert novelty[0] != novelty[1]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tps", "a.nts"])
def test_aligned_specimens_are_written_with_their_groups(folder, name):
    text = run("fish.tps", *GROUPS, "--unknown", "newt", *QUICK, "--aligned", name)
    assert text.endswith(f"\naligned: {name}\n")
    found = read_landmarks(name)
    assert found.landmarks.ids == read_tps("fish.tps").ids
    np.testing.assert_allclose(found.landmarks.coordinates.mean(axis=1), 0, atol=1e-5)
    if name != "a.nts":  # which has no place for groups
        groups = pd.read_csv("groups.csv")["species"].tolist()
        assert found.others["group"].tolist() == groups


def test_every_question_gives_aligned_specimens(folder):
    where = ["known.tps", "--id-pattern", "^([a-z]+)_"]
    run(*where, "--test", "newts.tps", "--aligned", "t.csv")
    table = pd.read_csv("t.csv")
    assert table["group"].value_counts().to_dict() == {"carp": 24, "pike": 24, "eel": 20, "new": 12}
    run("fish.tps", *GROUPS, "--each", *QUICK, "--aligned", "e.nex")
    assert "NTAX=80" in Path("e.nex").read_text().upper().replace(" ", "")


def test_sliders_and_curves_slide_before_specimens_are_compared(folder):
    Path("s.csv").write_text("before,slide,after\n1,2,3\n2,3,4\n")
    words = [*GROUPS, "--unknown", "newt", *QUICK, "--json"]
    answer = json.loads(run("fish.tps", *words, "--sliders", "s.csv"))
    assert "2 semilandmarks slid to the least bending energy." in answer["notes"]
    plain = json.loads(run("fish.tps", *words))
    assert plain["pairs"][0]["distance"] != answer["pairs"][0]["distance"]

    landmarks = read_tps("fish.tps")
    ends = landmarks.coordinates[:, [0, 1, 2, 3]]
    fish = Landmarks(
        landmarks.ids, landmarks.coordinates[:, [0, 3, 4, 5, 6, 7, 8]], curves=ends[:, None]
    )
    write_tps(fish, "curves.tps")
    note = "1 curve per specimen was read as 2 points beside 7 landmarks, and slid to the least {}."
    for curves, least in (("bending", "bending energy"), ("procrustes", "Procrustes distance")):
        answer = json.loads(run("curves.tps", *words, "--curves", curves, "--aligned", "a.csv"))
        told = [one for one in answer["notes"] if one.startswith(note.format(least))]
        assert told == [f"{note.format(least)} Leave curves out with --curves ignore."]
        assert read_landmarks("a.csv").landmarks.n_landmarks == 9
    ignored = json.loads(run("curves.tps", *words, "--curves", "ignore", "--aligned", "a.csv"))
    assert not any(one.startswith("1 curve") for one in ignored["notes"])
    assert read_landmarks("a.csv").landmarks.n_landmarks == 7


def test_sides_are_averaged(folder):
    rng = np.random.default_rng(0)
    half = np.array([[0.0, 1.0], [1.0, 2.0], [2.5, 1.5], [3.0, 0.5]])
    whole = np.concatenate([half, half * [1, -1], [[-1.0, 0.0], [4.0, 0.0]]])
    beetles = whole + 0.05 * rng.standard_normal((40, 10, 2))
    ids = tuple(f"{'old' if k < 28 else 'new'}_{k}" for k in range(40))
    write_tps(Landmarks(ids, beetles), "beetles.tps")
    where = ["beetles.tps", "--id-pattern", "^([a-z]+)_", "--unknown", "new", *QUICK]
    answer = json.loads(run(*where, "--symmetric", "--aligned", "a.csv", "--json"))
    assert any("by the pairs of landmarks 1-5, 2-6, 3-7, 4-8" in one for one in answer["notes"])
    points = read_landmarks("a.csv").landmarks.coordinates
    left, right = (np.linalg.norm(points[:, a] - points[:, b], axis=1) for a, b in ((0, 1), (4, 5)))
    np.testing.assert_allclose(left, right)


def test_digitising_is_checked_before_sides_are_averaged(folder):
    rng = np.random.default_rng(0)
    half = np.array([[0.0, 1.0], [1.0, 2.0], [2.5, 1.5], [3.0, 0.5]])
    whole = np.concatenate([half, half * [1, -1], [[-1.0, 0.0], [4.0, 0.0]]])
    beetles = whole + 0.05 * rng.standard_normal((40, 10, 2))
    beetles[5, 2] += 1
    beetles[7, 3] = np.nan
    ids = tuple(f"{'old' if k < 28 else 'new'}_{k}" for k in range(40))
    write_tps(Landmarks(ids, beetles), "beetles.tps")
    where = ["beetles.tps", "--id-pattern", "^([a-z]+)_", *QUICK, "--symmetric", "--json"]
    for question in (["--unknown", "new"], ["--each"]):
        answer = json.loads(run(*where, *question))
        found = [(one["id"], one["landmarks"]) for one in answer["digitising"]]
        assert found == [("old_5", "3")]
        assert (
            "1 of 400 landmarks of beetles.tps are missing, in 1 of 40 specimens; each was "
            "estimated from the others." in answer["notes"]
        )


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
    "bandwidth rule": ["fish.tps", *GROUPS, *_UNKNOWN, "--score", "depth", "--bandwidth", "wide"],
    "score": ["fish.tps", *GROUPS, *_UNKNOWN, "--score", "novelty"],
    "no such covariate": ["fish.tps", *GROUPS, *_UNKNOWN, "--covariate", "sex"],
    "covariate of single specimens": [
        "known.tps", "--id-pattern", "^([a-z]+)_", "--test", "newts.tps", "--covariate", "size",
    ],
    "size twice": ["fish.tps", *GROUPS, *_UNKNOWN, "--size", "--covariate", "size"],
    "one side": ["fish.tps", *GROUPS, *_UNKNOWN, "--symmetric"],
    "sliders of other landmarks": ["fish.tps", *GROUPS, *_UNKNOWN, "--sliders", "s.csv"],
    "over its sliders": [
        "fish.tps", *GROUPS, *_UNKNOWN, "--sliders", "s.csv", "--aligned", "s.csv",
    ],
    "aligned suffix": ["fish.tps", *GROUPS, *_UNKNOWN, *QUICK, "--aligned", "a.png"],
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
    Path("s.csv").write_text("before,slide,after\n1,2,99\n")
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


def test_curves_alone_are_compared_without_a_warning(folder):
    text = Path("fish.tps").read_text()
    n_landmarks = text.partition("\n")[0].removeprefix("LM=")
    as_curves = text.replace(f"LM={n_landmarks}", f"LM=0\nCURVES=1\nPOINTS={n_landmarks}")
    Path("curves.tps").write_text(as_curves)
    answer = run("curves.tps", "--id-pattern", "^([a-z]+)_", "--each", *QUICK)
    assert "points beside 0 landmarks" in answer


def test_numbers_without_axes_are_landmarks_of_the_given_dimension(folder):
    wide = pd.read_csv("wide.csv")
    n_columns = len(wide.columns) - 2
    wide.columns = ["id", "species", *(f"Coord{k}" for k in range(1, n_columns + 1))]
    wide.to_csv("coord.csv", index=False)
    words = ["coord.csv", "--group-column", "species", "--each", *QUICK]
    dimensions = 3 if n_columns % 3 == 0 else 2
    assert "pass --dimensions 3" not in run(*words, "--dimensions", str(dimensions))

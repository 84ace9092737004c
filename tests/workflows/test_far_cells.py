"""One huge cell: every workflow names it, and finds the other rows as without it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import InputError
from kernova.cli.app import app
from kernova.shapes.landmarks import Landmarks
from kernova.species.results import answer_each, answer_specimens
from kernova.species.space import SpeciesSettings
from kernova.tables.table import Table
from kernova.workbench.discovery import open_discovery
from kernova.workflows.learn import LearnSettings, learn_classes
from kernova.workflows.novelty import NoveltySettings, find_novelties
from kernova.workflows.outliers import OutlierSettings, find_outliers
from kernova.workflows.recognize import recognize_rows
from kernova.workflows.simulate import SimulationSettings, simulate_strategies

pytestmark = pytest.mark.usefixtures("few_trees")

LARGEST = float(np.finfo(np.float64).max)
SENTINELS = (1e200, LARGEST, -LARGEST, -999.0, -9999.0, 9.97e36, 1e20, 999999.0, 2147483647.0)
PLANTED = np.arange(6)


def table_of(rows, source="fish.csv"):
    features = pd.DataFrame(rows, columns=["mass", "length", "depth"])
    ids = pd.Series([f"F{i}" for i in range(len(rows))], name="fish")
    return Table(features, ids, pd.Series(["carp", "pike"] * (len(rows) // 2), name="kind"), source)


def rows_with_outliers(n=200):
    random = np.random.default_rng(0)
    rows = random.normal(10, 1, (n, 3))
    rows[PLANTED] += 5 * random.choice([-1, 1], (len(PLANTED), 3))
    return rows


def with_cell(rows, value, row=50):
    changed = rows.copy()
    changed[row, 1] = value
    return changed


def factors_of(result):
    return result.rows.sort_index()["factor"].to_numpy()


@pytest.mark.parametrize("value", SENTINELS)
@pytest.mark.parametrize("method", ["rkof", "lof", "ldf", "lpf", "depth"])
def test_other_outliers_rank_as_without_the_cell(method, value):
    settings = OutlierSettings(method=method, top=3)
    rows = rows_with_outliers()
    # The same row with the nearest of the other values: what the detector learns from.
    edge = np.delete(rows[:, 1], 50)
    moved = with_cell(rows, edge.max() if value > 0 else edge.min())
    alone = find_outliers(table_of(moved), replace(settings, top=0))
    beside = find_outliers(table_of(with_cell(rows, value)), settings)
    first = beside.rows.iloc[0]
    assert (first["fish"], first["rank"]) == ("F50", 1)
    assert first["because"].startswith("length = ")
    others = np.delete(np.arange(200), 50)
    np.testing.assert_array_equal(factors_of(beside)[others], factors_of(alone)[others])
    assert len(beside.notes) == 1
    assert "Column 'length' of fish.csv holds " in beside.notes[0]


@pytest.mark.parametrize("method", ["rkof", "depth"])
def test_a_proven_threshold_learns_from_other_rows(method):
    settings = OutlierSettings(method=method, max_false_alarm=0.2, top=3)
    result = find_outliers(table_of(with_cell(rows_with_outliers(), 1e200)), settings)
    row = result.rows.loc[50]
    assert row["verdict"] == "outlier"
    assert row["p_value"] <= 0.05
    assert result.rows.iloc[0]["fish"] == "F50"
    assert set(result.rows.index[: 7 if method == "rkof" else 20]) >= {50, 0, 1}


def test_a_code_in_many_rows_is_judged_by_other_columns():
    rows = rows_with_outliers()
    coded = rows.copy()
    coded[100:130, 2] = -999
    result = find_outliers(table_of(coded), OutlierSettings(contamination=0.05, top=0))
    assert "holds -999 in 30 rows" in result.notes[0]
    assert "such rows are judged by other columns" in result.notes[0]
    assert set(result.rows.index[:6]) == set(PLANTED)
    assert result.n_outliers == 10


def test_ordinary_rows_are_left_as_they_are():
    result = find_outliers(table_of(rows_with_outliers()), OutlierSettings(top=0))
    assert result.notes == []


@pytest.mark.parametrize(
    "method", ["depth", "spatial-depth", "isolation-forest", "one-class-svm", "lof"]
)
def test_novelty_keeps_its_verdicts(method):
    rows = np.random.default_rng(1).normal(10, 1, (300, 3))
    new = np.r_[rows[:10] + 0.01, [[30.0, 10, 10], [10, 10, 10]]]
    own = {"bandwidth": "median"} if method == "depth" else {}
    settings = NoveltySettings(method=method, **own)
    known = table_of(with_cell(with_cell(rows, 1e200, 3), -LARGEST, 4), "known.csv")
    result = find_novelties(known, table_of(with_cell(new, 1e300, 11), "new.csv"), settings)
    alone = find_novelties(table_of(rows, "known.csv"), table_of(new, "new.csv"), settings)
    assert result.rows["because"][11].startswith("length = 1e+300 (usually ")
    assert alone.rows["because"][10].startswith("mass = 30 (usually ")
    is_same = result.is_novel[:11] == alone.is_novel[:11]
    assert is_same.sum() >= 10
    assert result.is_novel[10] or method == "isolation-forest"
    assert [note.split(" holds")[0] for note in result.notes[:2]] == [
        "Column 'length' of known.csv",
        "Column 'length' of new.csv",
    ]
    assert alone.notes == []


def test_learning_and_recognising():
    random = np.random.default_rng(0)
    rows = random.normal(10, 1, (100, 3))
    rows[1::2, 0] += 20
    learnt = learn_classes(table_of(with_cell(rows, 1e200)))
    alone = learn_classes(table_of(rows))
    assert "Column 'length' of fish.csv holds 1e+200 in 1 row ('F50')" in learnt.notes[0]
    assert learnt.classes["recognized"].min() >= alone.classes["recognized"].min() - 0.05
    robust = learn_classes(table_of(with_cell(rows, 1e200)), LearnSettings(robust=True))
    assert "A robust fit leaves out rows" in robust.notes[0]
    assert robust.classes["outliers"].sum() == 1
    assert "F50" not in robust.model.ids_
    new = table_of(with_cell(rows[:40], LARGEST, 7), "new.csv")
    result = recognize_rows(learnt.model, new)
    assert result.rows.loc[7, "recognized"] == "unknown"
    assert "length = 1.798e+308" in result.rows.loc[7, "because"]
    assert result.n_unknown < 10
    assert any("Column 'length' of new.csv holds 1.798e+308" in note for note in result.notes)


def test_simulation_and_discovery(tmp_path):
    rows = np.random.default_rng(0).normal(10, 1, (60, 3))
    rows[1::2, 0] += 20
    table = table_of(with_cell(rows, 1e200))
    settings = SimulationSettings(strategies=("hms-ci",), seeds=1)
    simulated = simulate_strategies(table, settings)
    moved = table_of(with_cell(rows, np.delete(rows[:, 1], 50).max()))
    alone = simulate_strategies(moved, settings)
    asked, as_alone = (one.runs["hms-ci"][0].asked for one in (simulated, alone))
    assert asked.tolist() == as_alone.tolist()
    assert "holds 1e+200 in 1 row" in simulated.notes[0]
    discovery = open_discovery(replace(table, labels=None), tmp_path / "fish.kernova-project")
    try:
        assert "holds 1e+200 in 1 row" in discovery.notes[0]
        assert np.abs(discovery.encoded).max() < 10
    finally:
        discovery.session.close()


def landmarks_of(n, seed, source):
    random = np.random.default_rng(seed)
    outline = np.array([[0, 0], [9, 0], [9, 5], [4, 8], [0, 5.0]])
    ids = tuple(f"S{seed}-{i}" for i in range(n))
    return Landmarks(ids, outline + random.normal(0, 0.2, (n, 5, 2)), source=source)


def test_far_landmarks_count_as_missing():
    known, new = landmarks_of(40, 1, "known.tps"), landmarks_of(10, 2, "new.tps")
    known.coordinates[3, 2, 0] = 1e200
    new.coordinates[4, 1, 1] = LARGEST
    settings = SpeciesSettings(halvings=2, components=2)
    answer = answer_specimens(known, ["carp", "pike"] * 20, new, settings)
    notes = " ".join(answer.notes)
    assert "1 landmark of known.tps lies far beyond" in notes
    assert "such as landmark 2 of 'S2-4' at " in notes
    each = answer_each(known, ["carp", "pike"] * 20, settings)
    assert "treated as missing, such as landmark 3 of 'S1-3' at 1e+200" in " ".join(each.notes)
    # All of a specimen in another unit is no error: alignment removes it.
    other_unit = landmarks_of(40, 1, "known.tps")
    other_unit.coordinates[3] *= 1e6
    (note,) = answer_each(other_unit, ["carp", "pike"] * 20, settings).notes
    assert note.startswith("No covariate was given")


COMMANDS = {
    "outliers": ["fish.csv", "--top", "3"],
    "novelty": ["fish.csv", "fish.csv"],
    "learn": ["fish.csv", "-o", "out.kernova"],
    "recognize": ["fish.kernova", "fish.csv"],
    "simulate": ["fish.csv", "--seeds", "1", "--strategies", "hms-ci"],
}
REPORTED = {"outliers", "novelty", "recognize"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = table_of(with_cell(rows_with_outliers(), 1e200))
    table.features.assign(fish=table.ids, kind=table.labels).to_csv("fish.csv", index=False)
    run("learn", "fish.csv", "-o", "fish.kernova")
    return tmp_path


def run(command, *arguments):
    columns = ["--id-column", "fish", "--label-column", "kind"]
    result = CliRunner().invoke(app, [command, *arguments, *columns], env={"COLUMNS": "999"})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_the_note(folder, command):
    note = "holds 1e+200 in 1 row ('F50'), far beyond all its other values"
    page = ["--report", "page.html"] if command in REPORTED else []
    shown = " ".join(run(command, *COMMANDS[command], *page).split())
    assert note in shown
    assert "pass --missing fill or --missing drop" in shown
    if command == "learn":
        (folder / "out.kernova").unlink()
    answer = json.loads(run(command, *COMMANDS[command], "--json"))
    assert any(note in one for one in answer["notes"])
    if page:
        assert "holds 1e+200 in 1 row" in (folder / "page.html").read_text()


@pytest.mark.parametrize("is_object", [False, True])
def test_complex_columns_are_refused(is_object):
    table = table_of(rows_with_outliers())
    numbers = table.features["mass"] + 1j
    features = table.features.assign(mass=numbers.astype(object) if is_object else numbers)
    spoiled = replace(table, features=features)
    for work in (find_outliers, learn_classes, lambda one: find_novelties(one, table)):
        with pytest.raises(InputError, match="omplex"):
            work(spoiled)

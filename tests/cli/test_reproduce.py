"""The reproductions as commands."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.papers.rkof import synthetic as rkof_synthetic
from kernova.papers.rkof import synthetic as rkof_theorem
from tests.papers.test_reproduce_hms import stand_ins as hms_stand_ins
from tests.papers.test_reproduce_rkof import FEW_NUMBERS, stand_ins


def test_reproduce_ksd_leaves_numbers_and_pictures(tmp_path):
    target = tmp_path / "deep" / "ksd"
    result = CliRunner().invoke(
        app,
        ["reproduce", "ksd", "--folder", str(target), "--seeds", "2", "--repetitions", "20"],
    )
    assert result.exit_code == 0, result.output
    assert "ring: spatial depth of the empty centre" in result.stdout
    numbers = json.loads((target / "ksd.json").read_text())
    assert len(numbers["seeds"]) == 2
    pictures = {path.name for path in target.glob("*.png")}
    assert {"cloud.png", "ring.png", "masking.png", "theorem.png"} <= pictures


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "ksd"
    result = CliRunner().invoke(app, ["reproduce", "ksd", "--folder", str(target)])
    assert result.exit_code == 2
    assert result.stderr == (
        f"kernova: Cannot make the folder {target}: Not a directory. Name another.\n"
    )


@pytest.fixture
def few(monkeypatch):
    """Take few k and few sizes of groups: the whole of it takes minutes."""
    monkeypatch.setattr(rkof_synthetic, "NUMBERS", FEW_NUMBERS)
    monkeypatch.setattr(rkof_theorem, "GROUP_SIZES", (1, 16, 31))


def test_reproduce_rkof_leaves_a_page_tables_and_pictures(tmp_path, few):
    data, target = tmp_path / "data", tmp_path / "deep" / "rkof"
    data.mkdir()
    stand_ins(data)
    (data / "ann_thyroid.parquet").unlink()
    options = ["--data", str(data), "--datasets", "mammography, ann_thyroid", "--seeds", "2"]
    result = CliRunner().invoke(app, ["reproduce", "rkof", *options, "--quick", "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "Synthetic-1, LOF: all 16" in result.stdout
    assert f"there is no ann_thyroid.parquet nor ann-test.data in {data}." in result.stdout
    assert {path.name for path in target.iterdir()} == {
        "report.html",
        "rkof.json",
        *(f"{name}.png" for name in ("synthetic-1", "synthetic-2", "theorem")),
        *(f"{name}.png" for name in ("areas", "roc", "best-k")),
        *(f"{name}.csv" for name in ("claims", "coverage", "coverage_draws", "theorem")),
        *(f"{name}.csv" for name in ("theorem_curves", "areas", "best_k", "roc", "times")),
    }
    numbers = json.loads((target / "rkof.json").read_text())
    areas = pd.read_csv(target / "areas.csv")
    assert set(areas["set"]) == {"mammography"}
    assert len(numbers["areas"]) == len(areas)
    assert numbers["coverage"][0]["set"] == "Synthetic-1"
    html = (target / "report.html").read_text()
    assert html.count("<img ") == 6
    assert "Mammography: these are not the paper&#x27;s rows" in html


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--data", "nowhere"],
            "There is no folder nowhere; name the one that holds the data sets.",
        ),
        (
            ["--datasets", "titanic"],
            "There is no data set named 'titanic' here. Take some of kdd_u2r, kdd_u2r_idf, "
            "mammography, ann_thyroid, shuttle.",
        ),
    ],
)
def test_reproduce_rkof_refuses_what_it_cannot_use(options, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["reproduce", "rkof", *options])
    assert result.exit_code == 2
    assert result.stderr == f"kernova: {sentence}\n"


def test_reproduce_hms_leaves_a_page_tables_and_pictures(tmp_path):
    data, target = tmp_path / "data", tmp_path / "deep" / "hms"
    data.mkdir()
    hms_stand_ins(data)
    options = ["--data", str(data), "--sets", "yeast", "--seeds", "1", "--quick"]
    result = CliRunner().invoke(app, ["reproduce", "hms", *options, "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "Without HAD, the better of" in result.stdout
    assert "Taken whole, so drawn once: yeast." in result.stdout
    assert {path.name for path in target.iterdir()} == {
        "report.html",
        "hms.json",
        "curves-yeast.png",
        "growth.png",
        *(f"{name}.csv" for name in ("claims", "questions", "areas", "runs", "growth")),
        *(f"{name}.csv" for name in ("references", "modes")),
    }
    numbers = json.loads((target / "hms.json").read_text())
    assert len(numbers["runs"]) == len(pd.read_csv(target / "runs.csv"))


def test_reproduce_hms_refuses_a_folder_without_the_set(tmp_path):
    options = ["--data", str(tmp_path), "--sets", "abalone", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["reproduce", "hms", *options])
    assert result.exit_code == 2
    assert result.stderr == (
        f"kernova: There is no abalone.parquet in {tmp_path}; put the set there, with its classes "
        'in a column "label".\n'
    )

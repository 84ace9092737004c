"""``kernova reproduce``: files, tables and errors."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from tests.cli import messages
from tests.papers.stand_ins import use_few_numbers, write_hms_sets, write_rkof_sets
from tests.proving.stand_ins import use_tiny_problems


def test_reproduce_ksd_writes_numbers_and_figures(tmp_path):
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
    sentence = messages.NO_NEW_FOLDER.format(folder=target)
    assert (result.exit_code, result.stderr) == (2, f"kernova: {sentence}\n")


def test_reproduce_rkof_writes_a_report_tables_and_figures(tmp_path, monkeypatch):
    use_few_numbers(monkeypatch)
    data, target = tmp_path / "data", tmp_path / "deep" / "rkof"
    data.mkdir()
    write_rkof_sets(data)
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


@pytest.mark.parametrize("options", messages.RKOF)
def test_reproduce_rkof_reports_missing_data(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["reproduce", "rkof", *options.split()])
    assert (result.exit_code, result.stderr) == (2, f"kernova: {messages.RKOF[options]}\n")


def test_reproduce_hms_writes_a_report_tables_and_figures(tmp_path):
    data, target = tmp_path / "data", tmp_path / "deep" / "hms"
    data.mkdir()
    write_hms_sets(data)
    options = ["--data", str(data), "--sets", "yeast", "--seeds", "1", "--quick"]
    result = CliRunner().invoke(app, ["reproduce", "hms", *options, "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "Without HAD, the better of" in result.stdout
    assert "Used whole, so drawn once: yeast." in result.stdout
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


def test_reproduce_hms_reports_a_missing_set(tmp_path):
    options = ["--data", str(tmp_path), "--sets", "abalone", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["reproduce", "hms", *options])
    sentence = messages.NO_HMS_SET.format(folder=tmp_path)
    assert (result.exit_code, result.stderr) == (2, f"kernova: {sentence}\n")


def run_suite(folder, *options):
    words = ["reproduce", "hms", "--suite", "--data", str(folder), "--part", "all", "--jobs", "1"]
    return CliRunner().invoke(app, [*words, "-o", str(folder / "out"), *options])


def test_the_suite_of_some_problems_and_strategies(tmp_path, monkeypatch):
    use_tiny_problems(monkeypatch)
    options = ["--problems", "tiny-b", "--draws", "1", "--strategies", "nndm,farthest-first"]
    result = run_suite(tmp_path, *options)
    assert result.exit_code == 0, result.output
    assert "1 problem, up to 1 draw each." in result.stdout
    runs = pd.read_csv(tmp_path / "out" / "runs.csv")
    assert set(runs["problem"]) == {"tiny-b"}
    assert set(runs["strategy"]) == {"nndm", "farthest-first", "random"}
    numbers = json.loads((tmp_path / "out" / "suite.json").read_text())
    assert (numbers["reference"], numbers["draws"]) == ("nndm", 1)


@pytest.mark.parametrize("options", messages.SUITE)
def test_options_of_the_suite_that_do_not_fit(options, tmp_path, monkeypatch):
    use_tiny_problems(monkeypatch)
    result = run_suite(tmp_path, *options.split())
    assert (result.exit_code, result.stderr) == (2, f"kernova: {messages.SUITE[options]}\n")


def test_options_of_the_suite_are_not_those_of_the_six_sets(tmp_path):
    words = ["reproduce", "hms", "--data", str(tmp_path), "--problems", "tiny-a"]
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stderr) == (2, f"kernova: {messages.NO_SUITE}\n")

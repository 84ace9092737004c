"""``kernova novelty``: text, JSON, files and interruption."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import load_model
from kernova.cli.app import app
from kernova.tables.spreadsheets import original_cells
from tests.cli.at_work import wait_until_at_work

KERNOVA = [sys.executable, "-m", "kernova"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    known = pd.DataFrame(rng.normal(size=(260, 2)), columns=["length", "width"])
    new = pd.DataFrame(rng.normal(size=(30, 2)), columns=["length", "width"])
    new.iloc[3] = [9.0, -9.0]
    new.insert(0, "fish", [f"{i:018d}" for i in range(30)])
    known.to_csv("known.csv", index=False)
    new.to_parquet("new.parquet", index=False)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # no bars where nobody watches
    return result.stdout


def test_text_for_people(folder):
    text = run("novelty", "known.csv", "new.parquet", "--id-column", "fish")
    assert "of 30 new rows are novel; if all were ordinary, 1." in text
    assert "With 95 % confidence, at most" in text
    assert "000000000000000003" in text
    assert "Write them all with -o verdicts.csv" in text


def test_json_for_programs(folder):
    answer = json.loads(
        run(
            "novelty",
            "known.csv",
            "new.parquet",
            "--id-column",
            "fish",
            "--json",
            "-o",
            "v.csv",
            "--bandwidth",
            "reach",
        )
    )
    assert answer["held_out_rows"] == 124
    assert 0 < answer["false_alarm_bound"] <= 0.05
    assert answer["files"] == {"output": "v.csv"}
    rows = answer["rows"]
    assert [row["fish"] for row in rows] == [f"{i:018d}" for i in range(30)]
    assert rows[3]["novelty"] > 0
    assert answer["novel_rows"] == sum(row["verdict"] == "novel" for row in rows)
    assert rows[3]["because"].startswith(("length = 9 (usually ", "width = -9 (usually "))
    first = answer["explanations"][0]
    assert first["id"] == rows[3]["fish"]
    assert {one["feature"] for one in first["features"]} == {"length", "width"}
    assert sum(row["because"] != "" for row in rows) == len(answer["explanations"]) == 10
    written = pd.read_csv("v.csv", dtype={"fish": str}, keep_default_na=False)
    assert written.to_dict(orient="records") == rows


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "arrow", "json"])
def test_every_output_format_keeps_ids_as_text(folder, ending):
    run("novelty", "known.csv", "new.parquet", "--id-column", "fish", "-o", f"out.{ending}")
    path = Path(f"out.{ending}")
    readers = {
        "csv": lambda: pd.read_csv(path, dtype={"fish": str}),
        "tsv": lambda: pd.read_csv(path, sep="\t", dtype={"fish": str}),
        "parquet": lambda: pd.read_parquet(path),
        "feather": lambda: pd.read_feather(path),
        "arrow": lambda: pd.read_feather(path),
        "json": lambda: pd.DataFrame(json.loads(path.read_text())),
    }
    back = readers[ending]()
    assert list(back.columns) == ["fish", "novelty", "p_value", "verdict", "because"]
    assert back["fish"][7] == f"{7:018d}"


@pytest.mark.parametrize("name", ["novelty", "p_value", "verdict", "because"])
def test_ids_are_written_under_any_name(folder, name):
    ids = ["=cmd()", "[bold]x[/bold]", "[/red]", "日本", *(f"fish {i}" for i in range(26))]
    new = pd.read_parquet("new.parquet").drop(columns="fish")
    new.insert(0, name, ids)
    new.to_csv("new.csv", index=False)
    text = run("novelty", "known.csv", "new.csv", "--id-column", name, "--top", "30",
               "--false-discovery-rate", "0.1", "-o", "out.csv", "--report", "p.html")  # fmt: skip
    assert all(one in text for one in ids)
    out = pd.read_csv("out.csv")
    assert list(out.columns) == [
        f"{name}_", "novelty", "p_value", "verdict", "discovery", "because",
    ]  # fmt: skip
    assert list(original_cells(out)[f"{name}_"]) == ids


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (["carp", None], ["carp", None]),
        ([1.5, float("nan")], [1.5, None]),
        ([float("inf"), 2.0], ["inf", 2.0]),
        (pd.to_datetime(["2020-01-31", None]), ["2020-01-31 00:00:00", None]),
    ],
)
def test_json_of_labels_that_are_missing_or_infinite(folder, labels, shown):
    new = pd.read_parquet("new.parquet").head(2).assign(label=labels)
    new.to_parquet("labelled.parquet")
    words = ["--id-column", "fish", "--label-column", "label", "--json"]
    answer = json.loads(run("novelty", "known.csv", "labelled.parquet", *words))
    assert [row["label"] for row in answer["rows"]] == shown


def test_a_saved_model_gives_the_same_novelties(folder):
    answer = json.loads(
        run("novelty", "known.csv", "new.parquet", "--id-column", "fish", "--json",
            "--save-model", "m.kernova", "--report", "page.html")
    )  # fmt: skip
    assert Path("page.html").read_text().startswith("<!doctype html>")
    model = load_model("m.kernova")
    new = pd.read_parquet("new.parquet").drop(columns="fish")
    np.testing.assert_array_equal(model.novelty(new), [row["novelty"] for row in answer["rows"]])


def test_an_interrupt_leaves_no_file_and_exit_code_130(folder):
    rng = np.random.default_rng(0)
    # A minute of work and more, so that no machine is done before the signal comes.
    big = pd.DataFrame(rng.normal(size=(60_000, 12)))
    big.columns = [f"x{j}" for j in range(12)]
    big.to_parquet("big.parquet")
    big.head(20_000).to_parquet("queries.parquet")
    command = [*KERNOVA, "novelty", "big.parquet", "queries.parquet", "--bandwidth", "1.5",
               "-o", "out.csv", "--report", "page.html"]  # fmt: skip
    # A process of its own group, so that the signal meets it alone.
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        # A shell that runs the tests in the background has them, and so the command, ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    wait_until_at_work(process)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 130
    assert complaint.endswith("kernova: Interrupted; no file was left half-written.\n")
    assert {path.name for path in folder.iterdir()} == {
        "known.csv", "new.parquet", "big.parquet", "queries.parquet",
    }  # fmt: skip

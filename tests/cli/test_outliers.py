"""``kernova outliers``: text, JSON, files and interruption."""

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

from kernova.cli.app import app
from kernova.tables.spreadsheets import original_cells
from tests.cli import messages
from tests.cli.at_work import wait_until_at_work


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 2)), columns=["length", "width"])
    rows.loc[3, "width"] = -30.0
    rows.insert(0, "fish", [f"{i:018d}" for i in range(120)])
    rows["kind"] = ["carp", None] * 60
    rows.to_csv("fish.csv", index=False)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, ["outliers", "fish.csv", *COLUMNS, *arguments])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # neither bars where nobody watches, nor Python's warnings
    return result.stdout


COLUMNS = ["--id-column", "fish", "--label-column", "kind"]


def test_text_for_people(folder):
    text = run("--top", "2")
    lines = text.splitlines()
    assert lines[:2] == messages.RANKED_ONLY
    table = [line for line in lines if "0000" in line]
    assert len(table) == 2
    assert "000000000000000003" in table[0]
    assert "width = -30 (usually " in table[0]
    assert lines[-1] == "Write them all with -o outliers.csv; see them with --report report.html."


def test_notes_are_printed(folder):
    text = run("--method", "rkof", "--neighbors", "150", "--top", "0")
    assert messages.TOO_MANY_NEIGHBOURS in text


def test_json_for_programs(folder):
    words = ["--method", "rkof", "--max-false-alarm", "0.1", "--neighbors", "5",
             "--neighbors", "10,20", "--top", "3", "--json", "-o", "ranked.csv",
             "--report", "page.html"]  # fmt: skip
    answer = json.loads(run(*words))
    assert answer["settings"]["n_neighbors"] == [5, 10, 20]
    assert answer["files"] == {"output": "ranked.csv", "report": "page.html"}
    assert answer["proof"]["bound"] <= 0.1
    assert answer["worth"].startswith("With 95 % confidence, at most ")
    assert len(answer["thresholds"]) == 2
    rows = answer["rows"]
    assert len(rows) == 120
    assert list(rows[0]) == ["fish", "rank", "factor", "p_value", "verdict", "because", "kind"]
    assert {row["kind"] for row in rows} == {"carp", None}
    assert answer["outlier_rows"] == sum(row["verdict"] == "outlier" for row in rows)
    explained = answer["explanations"]
    assert [one["id"] for one in explained] == [row["fish"] for row in rows[:3]]
    odd = next(one for one in explained if one["id"] == "000000000000000003")
    assert odd["features"][0]["feature"] == "width"
    assert odd["features"][0]["value"] == -30
    assert 0.9 < odd["features"][0]["share"] <= 1
    assert len(odd["nearest"]) == 5
    assert set(odd["nearest"]) <= {row["fish"] for row in rows}
    written = pd.read_csv("ranked.csv", dtype={"fish": str}, keep_default_na=False)
    assert list(written["fish"]) == [row["fish"] for row in rows]
    assert list(written["because"]) == [row["because"] for row in rows]
    assert Path("page.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["rank", "factor", "p_value", "verdict", "because"])
def test_ids_are_written_under_any_name(folder, name):
    ids = ["=cmd()", "[bold]x[/bold]", "[/red]", "日本", *(f"fish {i}" for i in range(116))]
    rows = pd.read_csv("fish.csv").drop(columns=["fish", "kind"])
    rows.iloc[:4] = [[50, 0], [0, 50], [-50, 0], [0, -50]]
    rows.insert(0, name, ids)
    rows.to_csv("named.csv", index=False)
    result = CliRunner().invoke(
        app, ["outliers", "named.csv", "--id-column", name, "--max-false-alarm", "0.1",
              "--method", "rkof", "--top", "4", "-o", "out.csv", "--report", "p.html"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert all(one in result.stdout for one in ids[:4])
    out = pd.read_csv("out.csv")
    assert out.columns[0] == f"{name}_"
    assert sorted(original_cells(out)[f"{name}_"]) == sorted(ids)


def test_an_interrupt_leaves_no_file_and_exit_code_130(folder):
    rng = np.random.default_rng(0)
    np.save("big.npy", rng.normal(size=(40_000, 30)))
    command = [sys.executable, "-m", "kernova", "outliers", "big.npy", "-o", "out.csv",
               "--report", "page.html"]  # fmt: skip
    # A process of its own group, so that the signal meets it alone.
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        # A shell that runs the tests in the background has them, and so the command, ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    wait_until_at_work(process)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=300)
    assert process.returncode == 130
    assert complaint.endswith("kernova: Interrupted; no file was left half-written.\n")
    assert {path.name for path in folder.iterdir()} == {"fish.csv", "big.npy"}


def test_all_methods_side_by_side(folder):
    text = run("--method", "all", "--top", "3", "-o", "ranks.csv", "--report", "page.html")
    assert text.startswith("120 rows ranked by 7 methods; the order is that of the mean rank.\n")
    assert "Correlation of the ranks over all rows" in text
    ranks = pd.read_csv("ranks.csv", dtype={"fish": str})
    methods = ["ensemble", "isolation-forest", "rkof", "lof", "ldf", "lpf", "depth"]
    assert list(ranks.columns) == ["fish", "rank", *methods, "agreeing", "kind"]
    assert ranks["fish"][0] == "000000000000000003"
    assert (ranks.loc[0, methods] == 1).all()
    assert "Who agrees on each row" in Path("page.html").read_text()
    answer = json.loads(run("--method", "all", "--top", "3", "--json"))
    assert answer["agreement"]["names"] == methods
    assert answer["agreement"]["rows"][0]["agreeing"] == methods

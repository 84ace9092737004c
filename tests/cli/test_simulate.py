"""``kernova simulate``: text, files, JSON and errors."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from tests.cli import messages


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(7, 0.2, (4, 2))]))
    rows = rows.add_prefix("x").assign(kind=["common"] * 40 + ["rare"] * 4)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def run(*words):
    return CliRunner().invoke(app, ["simulate", *map(str, words)])


def test_it_prints_a_table_and_leaves_files(data, tmp_path):
    lines, picture = tmp_path / "runs.csv", tmp_path / "curves.png"
    result = run(
        *(data, "--label-column", "kind", "--strategies", "hms-ci, random", "--seeds", 2),
        *("-o", lines, "--picture", picture),
    )
    assert result.exit_code == 0, result.output
    assert "44 rows of 2 classes, the rarest with 4; 2 runs of each strategy." in result.stdout
    assert "hms-ci " in result.stdout
    assert "nndm" not in result.stdout
    assert f"output: {lines}\npicture: {picture}\n" in result.stdout
    assert len(pd.read_csv(lines)) == 4
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_json_for_programs(data):
    result = run(data, "--label-column", "kind", "--questions", 3, "--error-rate", 0.1, "--json")
    answer = json.loads(result.stdout)
    assert answer["settings"]["questions"] == 3
    assert answer["settings"]["error_rate"] == 0.1
    assert all(len(one["curve"]) <= 3 for one in answer["runs"])


@pytest.mark.parametrize("options", messages.SIMULATE)
def test_bad_options(data, options, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = run(data, "--label-column", "kind", *options.split())
    assert (result.exit_code, result.stderr) == (2, f"kernova: {messages.SIMULATE[options]}\n")

"""The option --memory-mb: how much memory a command may read each file in."""

import os

import numpy as np
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app

COMMANDS = ["novelty", "outliers", "learn", "recognize", "simulate", "discover", "species",
            "notes learn", "notes find", "notes check"]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_read_files_have_the_option(command):
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert "--memory-mb" in result.output


def test_a_file_that_needs_more_names_the_option_which_then_reads_it(tmp_path):
    path = tmp_path / "zeros.npz"
    rows = np.zeros((60_000, 60), np.int8)
    rows[:, 0] = np.arange(60_000) % 7
    np.savez_compressed(path, X=rows)

    result = CliRunner().invoke(app, ["outliers", str(path), "--memory-mb", "50"])
    assert result.exit_code == 2
    # Rows times columns times the bytes of a cell, and those of the ids and columns.
    assert result.stderr == (
        f"kernova: {path} ({os.path.getsize(path) / 1e6:.2g} MB) needs at least 77 MB of memory, "  # noqa: PTH202
        "more than the 50 MB allowed for a file of its size. If you trust it, allow more with "
        "--memory-mb MB or the environment variable KERNOVA_MEMORY_MB.\n"
    )
    assert "KERNOVA_MEMORY_MB" not in os.environ


def test_the_limit_must_be_positive(tmp_path):
    result = CliRunner().invoke(app, ["outliers", "x.csv", "--memory-mb", "0"])
    assert result.exit_code == 2
    assert "--memory-mb" in result.output

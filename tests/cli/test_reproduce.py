"""The reproduction as a command."""

import json

from typer.testing import CliRunner

from kernova.cli.app import app


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

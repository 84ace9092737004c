"""Standard streams that are closed, full, of another encoding, or a closed pipe; signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from kernova.cli.console import discard_output, prepare_streams, reporting_errors
from kernova.cli.terminal import EscapingConsole
from tests.cli import messages
from tests.cli.twelve_fish import COLUMNS, RANDOM, twelve_fish

folder = twelve_fish

COMMAND = [sys.executable, "-m", "kernova", "discover", "fish.csv", *COLUMNS, *RANDOM, "--terminal"]


def run(shell, **variables):
    """Run the command as a shell's line has it."""
    done = subprocess.run(
        ["bash", "-c", shell.format(discover=" ".join(COMMAND))], capture_output=True, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables}, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("error", "sentence"), messages.OS_ERRORS)
def test_errors_of_the_system_are_one_sentence(capsys, error, sentence):
    @reporting_errors
    def command():
        raise error

    with pytest.raises(typer.Exit) as left:
        command()
    assert left.value.exit_code == 2
    assert capsys.readouterr() == ("", f"kernova: {sentence}\n")


def test_a_closed_pipe_raises():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        with pytest.raises(BrokenPipeError, match="Broken pipe"):
            EscapingConsole(file=pipe).print("something")
        discard_output(pipe)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_device_is_reported_once(folder):
    assert run("{discover} < /dev/null > /dev/full") == (2, "", f"kernova: {messages.FULL}\n")


def test_closed_streams(folder):
    assert run("{discover} <&- >&- 2>&-") == (0, "", "")
    assert Path("fish.kernova-project").read_bytes()[:15] == b"kernova-project"


def test_a_closed_stream_is_replaced(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    prepare_streams()
    with sys.stdin as silent:
        assert silent.readline() == ""


def test_characters_that_a_terminal_does_not_have(folder):
    code, text, complaint = run("echo é | {discover}", PYTHONIOENCODING="latin-1:strict")
    assert (code, complaint) == (0, "")
    assert "1 question asked, 1 row of 12 labelled, 1 category." in text


def test_termination_is_handled_as_ctrl_c(folder):
    pipe = subprocess.PIPE
    process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    process.stdin.write("carp\n")
    process.stdin.flush()
    assert any(line.startswith("Saved: ") for line in process.stdout)
    process.send_signal(signal.SIGTERM)
    text, complaint = process.communicate(timeout=300)
    assert (process.returncode, complaint) == (0, "")
    assert text.splitlines()[-1] == messages.ALL_SAVED
    assert not Path("fish.kernova-project-wal").exists()  # it was closed


def test_ctrl_c_during_imports_prints_nothing(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    done = subprocess.run(
        [sys.executable, "-c", "from kernova.__main__ import main; main()"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")

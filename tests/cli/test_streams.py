"""Commands whose input or output is closed, full, of few letters, or left; and told to end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from kernova.cli.console import ReadableConsole, answering, give_up_printing, ready_streams
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


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            BrokenPipeError(32, "Broken pipe"),
            "Nothing more can be printed: Broken pipe. What was saved stays.",
        ),
        (
            OSError(36, "File name too long", "pictures"),
            "Cannot work with pictures: File name too long. What was saved stays.",
        ),
        (
            FileNotFoundError(2, "No such file or directory"),
            "Cannot work in this folder: No such file or directory. What was saved stays.",
        ),
    ],
)
def test_what_the_system_refuses_is_a_sentence(capsys, error, sentence):
    @answering
    def command():
        raise error

    with pytest.raises(typer.Exit) as left:
        command()
    assert left.value.exit_code == 2
    assert capsys.readouterr() == ("", f"kernova: {sentence}\n")


def test_a_reader_who_left_is_told_as_everybody_is():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        with pytest.raises(BrokenPipeError, match="Broken pipe"):
            ReadableConsole(file=pipe).print("something")
        give_up_printing(pipe)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_what_cannot_be_printed_is_told_once(folder):
    assert run("{discover} < /dev/null > /dev/full") == (
        2,
        "",
        "kernova: Nothing more can be printed: No space left on device. What was saved stays.\n",
    )


def test_closed_streams_are_as_good_as_silent_ones(folder):
    assert run("{discover} <&- >&- 2>&-") == (0, "", "")
    assert Path("fish.kernova-project").read_bytes()[:15] == b"SQLite format 3"


def test_a_stream_that_was_closed_is_replaced(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    ready_streams()
    with sys.stdin as silent:
        assert silent.readline() == ""


def test_letters_that_a_terminal_does_not_have(folder):
    code, text, complaint = run("echo é | {discover}", PYTHONIOENCODING="latin-1:strict")
    assert (code, complaint) == (0, "")
    assert "1 question asked, 1 row of 12 named, 1 category." in text


def test_a_process_that_is_told_to_end_leaves_as_after_ctrl_c(folder):
    pipe = subprocess.PIPE
    process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    process.stdin.write("carp\n")
    process.stdin.flush()
    assert any(line.startswith("Saved: ") for line in process.stdout)
    process.send_signal(signal.SIGTERM)
    text, complaint = process.communicate(timeout=300)
    assert (process.returncode, complaint) == (0, "")
    assert text.splitlines()[-1] == (
        "Everything is saved in fish.kernova-project; the same command goes on from here."
    )
    assert not Path("fish.kernova-project-wal").exists()  # it was closed


def test_ctrl_c_while_modules_are_read_leaves_without_a_word(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    done = subprocess.run(
        [sys.executable, "-c", "from kernova.__main__ import main; main()"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")

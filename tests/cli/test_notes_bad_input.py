"""``kernova notes`` with bad input, and interrupted by Ctrl-C."""

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import SpatialDepth, save_model
from kernova.audio.annotations import ANNOTATION_ENDINGS, read_annotations
from kernova.cli.app import app
from kernova.cli.notes import interruption_message
from kernova.notes.demo import SAMPLE_RATE
from kernova.notes.journal import JOURNAL_NAME
from tests.cli import messages
from tests.cli.aviary import CHECK, DUSK, FIND, LEARN, run

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")


def contents(birds):
    return {path: path.read_bytes() for path in Path(birds).rglob("*") if path.is_file()}


# --- bad input --------------------------------------------------------------------------------


QUIET = {
    "silence": lambda: soundfile.write("x.wav", np.zeros(40000), SAMPLE_RATE),
    "noise": lambda: soundfile.write(
        "x.wav", np.random.default_rng(0).normal(0, 0.1, 60000), SAMPLE_RATE
    ),
    "shorter than a frame": lambda: soundfile.write("x.wav", np.full(20, 0.5), SAMPLE_RATE),
    "one sample": lambda: soundfile.write("x.wav", [0.5], SAMPLE_RATE),
}


@pytest.mark.parametrize(
    ("sound", "kind"),
    [*zip(QUIET, ANNOTATION_ENDINGS, strict=True), ("silence", "csv"), ("silence", "textgrid")],
)
def test_where_there_is_nothing_nothing_is_found_and_that_is_written(birds, sound, kind):
    QUIET[sound]()
    answer = json.loads(run(*FIND, "x.wav", "-o", "found", "--format", kind, "--json"))
    assert answer["recordings"][0]["notes"] == []
    assert read_annotations(answer["recordings"][0]["files"][0], format=kind) == []


def test_a_file_that_cannot_be_read_in_the_middle_of_a_run(birds):
    Path("night/day.wav").write_text("no sound")
    words = [*FIND, "night", "-o", "found", "--combined", "all.csv"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert result.stderr.startswith("kernova: night/day.wav cannot be read as a recording: ")
    assert len(result.stderr.splitlines()) == 1
    assert "in 2 recordings (0.3 minutes). Could not be searched: 1." in result.stdout
    assert set(pd.read_csv("all.csv")["file"]) == {"night/dawn.wav", "night/dusk.wav"}
    assert "Searched before and skipped: 2. Could not be searched: 1." in run(*words, exit_code=1)
    answer = json.loads(run(*FIND, "night/day.wav", "nowhere.wav", "--json", exit_code=2))
    assert [one["outcome"] for one in answer["recordings"]] == ["failed", "failed"]
    assert answer["recordings"][1]["remark"].startswith("There is no file nowhere.wav;")


def marks(text):
    return lambda: Path("marks.txt").write_text(text)


def other_model():
    save_model(SpatialDepth().fit(np.eye(3)), "model.kernova")


def quiet_mark():
    soundfile.write("x.wav", np.zeros(40000), SAMPLE_RATE)
    marks("0.1\t0.2\ta\n")()


def short_mark():
    soundfile.write("x.wav", np.random.default_rng(0).normal(0, 0.1, (22050, 2)), SAMPLE_RATE)
    marks("0.5\t0.501\ta\n")()


def no_sound():
    soundfile.write("x.wav", [], SAMPLE_RATE)
    marks("0.0\t0.005\ta\n")()


MARKED = ["notes", "learn", "lesson.wav", "marks.txt", "-o", "out.kernova"]
BAD_INPUT = {
    "past the end": (marks("1.0\t1.1\tbuzz\n99.0\t99.1\tbuzz\n"), MARKED),
    "overlap": (marks("1.0\t1.1\tbuzz\n1.05\t1.2\tbuzz\n"), MARKED),
    "overlap in a check": (
        marks("1.0\t1.1\tbuzz\n1.05\t1.2\tbuzz\n"), [*CHECK, "lesson.wav", "marks.txt"],
    ),
    "a class called none": (marks("1.0\t1.1\tnone\n"), MARKED),
    "no labels": (marks("1.0\t1.1\t\n"), MARKED),
    "unknown label to learn": (None, [*LEARN, "--labels", "buzz,trill", "-o", "out.kernova"]),
    "unknown label to find": (None, [*FIND, "night", "--labels", "trill"]),
    "empty labels": (None, [*FIND, "night", "--labels", " ,"]),
    "no annotation": (None, ["notes", "learn", "lesson.wav", "-o", "out.kernova"]),
    "unknown format": (marks("what is this\n"), MARKED),
    "unknown column": (
        marks("onset,end,label\n1,2,a\n"), [*MARKED, "--annotation-format", "csv"],
    ),
    "half a column": (None, [*LEARN, "--column", "label", "-o", "out.kernova"]),
    "a silent note": (quiet_mark, ["notes", "learn", "x.wav", "marks.txt", "-o", "out.kernova"]),
    "a note shorter than a frame": (
        short_mark, ["notes", "learn", "x.wav", "marks.txt", "-o", "out.kernova"],
    ),
    "a recording of no length": (
        no_sound, ["notes", "learn", "x.wav", "marks.txt", "-o", "out.kernova"],
    ),
    "no model": (None, ["notes", "find", "lesson.wav", "night"]),
    "other model": (other_model, [*FIND, "night"]),
    "empty folder": (lambda: Path("empty").mkdir(), [*FIND, "empty"]),
    "figures without a folder": (None, [*FIND, "night", "--plot"]),
    "a file for a folder": (None, [*FIND, "night", "-o", "lesson.wav"]),
    "combined suffix": (None, [*FIND, "night", "--combined", "all.txt"]),
    "over a file of others": (
        lambda: Path("night/dusk.csv").write_text("mine"),
        [*FIND, "night/dusk.wav", "--format", "csv", "-o", "night"],
    ),
    "threshold": (None, [*FIND, "night", "--threshold", "nan"]),
    "no channel": (None, [*FIND, "night/dusk.wav", "--channel", "0"]),
    "a channel to learn that is not there": (None, [*LEARN, "--channel", "2", "-o", "out.kernova"]),
    "tolerance": (None, [*CHECK, *DUSK, "--tolerance", "-1"]),
    "model suffix": (None, [*LEARN, "-o", "out.pkl"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_reported_in_one_sentence_and_leaves_nothing(birds, case):
    change, words = BAD_INPUT[case]
    if change is not None:
        change()
    before = contents(birds)
    result = CliRunner().invoke(app, words)
    seconds = soundfile.info("lesson.wav").duration
    sentence = messages.NOTES[case].replace("{seconds}", f"{seconds:.9g}")
    assert (result.exit_code, result.stderr) == (2, f"kernova: {sentence}\n")
    assert result.stdout == ""
    after = contents(birds)
    after.pop(birds / "night" / "kernova-notes.jsonl", None)
    assert after == before


# --- interruptions ----------------------------------------------------------------------------


def test_messages_of_an_interruption():
    assert interruption_message(3, 9, Path("found")) == messages.NOTES_INTERRUPTED.format(3, 9)
    assert interruption_message(3, 9, None) == messages.NOTES_INTERRUPTED_WITHOUT_OUTPUT


@pytest.fixture
def ctrl_c_after_the_first():
    """Press Ctrl-C, as it were, as soon as the first recording is done."""
    journal = Path("found") / JOURNAL_NAME

    def press():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if journal.exists() and '"done"' in journal.read_text():
                break
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield watcher
    watcher.join()
    signal.signal(signal.SIGINT, before)


# Between opening a file and taking it into care, Python cannot be interrupted cleanly.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupted_it_keeps_what_is_done_and_goes_on(birds, ctrl_c_after_the_first):
    for place in range(8):
        shutil.copy("night/dusk.wav", f"night/{place}.wav")
    words = [*FIND, "night", "-o", "found", "--format", "csv"]
    ctrl_c_after_the_first.start()
    result = CliRunner().invoke(app, words)
    n_done = len(list(Path("found").glob("*.csv")))
    assert 1 <= n_done < 10
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr in {
        f"kernova: {messages.NOTES_INTERRUPTED.format(n, 10)}\n" for n in (n_done - 1, n_done)
    }
    answer = json.loads(run(*words, "--json"))
    outcomes = [one["outcome"] for one in answer["recordings"]]
    # One may have been written, and not yet been noted down.
    assert n_done - 1 <= outcomes.count("done before") <= n_done
    assert set(outcomes) <= {"searched", "done before"}
    assert len(list(Path("found").iterdir())) == 11

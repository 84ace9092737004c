"""``kernova notes`` and bad input: refusals in one sentence, Ctrl-C."""

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
from kernova.cli.notes_find import _interrupted
from kernova.notes.demo import SAMPLE_RATE
from kernova.notes.journal import JOURNAL_NAME
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
    assert "Done before, and not again: 2. Could not be searched: 1." in run(*words, exit_code=1)
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
REFUSALS = {
    "past the end": (
        marks("1.0\t1.1\tbuzz\n99.0\t99.1\tbuzz\n"), MARKED,
        "marks.txt cannot be used: 'buzz' from 99 s to 99.1 s lies past the end of the recording "
        "({seconds:.9g} s). Correct it.",
    ),
    "overlap": (
        marks("1.0\t1.1\tbuzz\n1.05\t1.2\tbuzz\n"), MARKED,
        "marks.txt cannot be used: 'buzz' from 1 s to 1.1 s and 'buzz' from 1.05 s to 1.2 s "
        "overlap. Correct it.",
    ),
    "overlap in a check": (
        marks("1.0\t1.1\tbuzz\n1.05\t1.2\tbuzz\n"), [*CHECK, "lesson.wav", "marks.txt"],
        "marks.txt cannot be used: 'buzz' from 1 s to 1.1 s and 'buzz' from 1.05 s to 1.2 s "
        "overlap. Correct it.",
    ),
    "a class called none": (
        marks("1.0\t1.1\tnone\n"), MARKED,
        "A class called 'none' cannot be told from no note at all; give it another name.",
    ),
    "no labels": (
        marks("1.0\t1.1\t\n"), MARKED, "There is no labelled note in marks.txt.",
    ),
    "unknown label to learn": (
        None, [*LEARN, "--labels", "buzz,trill", "-o", "out.kernova"],
        "No note is labelled 'trill'. The labels are 'buzz', 'falling', 'rising'.",
    ),
    "unknown label to find": (
        None, [*FIND, "night", "--labels", "trill"],
        "The model knows no class 'trill'. Its classes are 'buzz', 'falling', 'rising'.",
    ),
    "empty labels": (
        None, [*FIND, "night", "--labels", " ,"],
        "--labels got ' ,'; name at least one label.",
    ),
    "no annotation": (
        None, ["notes", "learn", "lesson.wav", "-o", "out.kernova"],
        "lesson.wav has no annotation: name the file that says where its notes are behind it.",
    ),
    "unknown format": (
        marks("what is this\n"), MARKED,
        "Cannot tell what kind of annotation marks.txt is from its first line, 'what is this'; "
        "say so with --annotation-format, one of 'raven', 'audacity', 'textgrid', 'csv'.",
    ),
    "unknown column": (
        lambda: Path("marks.txt").write_text("onset,end,label\n1,2,a\n"),
        [*MARKED, "--annotation-format", "csv"],
        "marks.txt has no column 'start'; its columns are 'onset', 'end', 'label'. Say which one "
        "holds the start: --column start=NAME.",
    ),
    "half a column": (
        None, [*LEARN, "--column", "label", "-o", "out.kernova"],
        "--column got 'label'; write ROLE=NAME, such as label=Species.",
    ),
    "a silent note": (
        quiet_mark, ["notes", "learn", "x.wav", "marks.txt", "-o", "out.kernova"],
        "A clip of 'a' is silent; leave it out, or look at where the note was marked.",
    ),
    "a note shorter than a frame": (
        short_mark, ["notes", "learn", "x.wav", "marks.txt", "-o", "out.kernova"],
        "A note lasts 1.0 ms, which is less than one frame of 8.0 ms; leave it out.",
    ),
    "a recording of no length": (
        no_sound, ["notes", "learn", "x.wav", "marks.txt", "-o", "out.kernova"],
        "x.wav holds no sound at all: it is 0 s long. Leave it out, or record or copy it again.",
    ),
    "no model": (
        None, ["notes", "find", "lesson.wav", "night"],
        "lesson.wav is not a kernova model. Name a file that save_model wrote.",
    ),
    "other model": (
        other_model, [*FIND, "night"],
        "model.kernova holds a SpatialDepth, which finds no notes. Name a file that kernova notes "
        "learn wrote.",
    ),
    "empty folder": (
        lambda: Path("empty").mkdir(), [*FIND, "empty"],
        "There is no recording in the folder empty: no file in it, or below it, ends in .wav, "
        ".flac, .ogg.",
    ),
    "pictures to nowhere": (
        None, [*FIND, "night", "--plot"],
        "Pictures need a folder to go to; name one with -o.",
    ),
    "a file for a folder": (
        None, [*FIND, "night", "-o", "lesson.wav"],
        "lesson.wav is a file; -o needs a folder for the notes of each recording.",
    ),
    "combined ending": (
        None, [*FIND, "night", "--combined", "all.txt"],
        "Cannot write a combined table to all.txt: its ending is '.txt'. Take one of .csv.",
    ),
    "over a result of others": (
        lambda: Path("night/dusk.csv").write_text("mine"),
        [*FIND, "night/dusk.wav", "--format", "csv", "-o", "night"],
        "Cannot write night/dusk.csv: it is there already, and no search wrote it, or it was "
        "changed since. Move it away, or name another folder.",
    ),
    "threshold": (
        None, [*FIND, "night", "--threshold", "nan"],
        "--threshold is nan; it is a number from 0 on.",
    ),
    "no channel": (
        None, [*FIND, "night/dusk.wav", "--channel", "0"],
        "--channel is '0'; it is mean, or the number of a channel from 1 on.",
    ),
    "a channel to learn that is not there": (
        None, [*LEARN, "--channel", "2", "-o", "out.kernova"],
        "lesson.wav has no channel 2; it has 1. Take 'mean' or a number from 1 to 1.",
    ),
    "tolerance": (
        None, [*CHECK, *DUSK, "--tolerance", "-1"],
        "tolerance must be a number from zero on; got -1.0.",
    ),
    "model ending": (
        None, [*LEARN, "-o", "out.pkl"],
        "Cannot write a model to out.pkl: its ending is '.pkl'. Take one of .kernova.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_are_one_sentence_and_leave_nothing(birds, case):
    change, words, sentence = REFUSALS[case]
    if change is not None:
        change()
    before = contents(birds)
    result = CliRunner().invoke(app, words)
    seconds = soundfile.info("lesson.wav").duration
    said = sentence.replace("{seconds:.9g}", f"{seconds:.9g}")
    assert (result.exit_code, result.stderr) == (2, f"kernova: {said}\n")
    assert result.stdout == ""
    after = contents(birds)
    after.pop(birds / "night" / "kernova-notes.jsonl", None)
    assert after == before


# --- interruptions ----------------------------------------------------------------------------


def test_what_is_said_when_interrupted():
    assert _interrupted(3, 9, Path("found")) == (
        "Interrupted. 3 of 9 recordings are done, and their notes are in found; the same command "
        "goes on from there."
    )
    assert _interrupted(3, 9, None) == "Interrupted; nothing was to be written."


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
    assert result.stderr.endswith(
        " of 10 recordings are done, and their notes are in found; the same command goes on from "
        "there.\n"
    )
    answer = json.loads(run(*words, "--json"))
    outcomes = [one["outcome"] for one in answer["recordings"]]
    # One may have been written, and not yet been noted down.
    assert n_done - 1 <= outcomes.count("done before") <= n_done
    assert set(outcomes) <= {"searched", "done before"}
    assert len(list(Path("found").iterdir())) == 11

"""``kernova notes``: text, JSON and files, on synthetic bird song."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernova.audio.annotations import ANNOTATION_ENDINGS, read_annotations, write_annotations
from kernova.audio.reading import read_audio
from kernova.notes.evaluation import Compared, check_notes
from tests.cli.aviary import CHECK, CLASSES, DUSK, FIND, LEARN, run

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")


def test_text_for_people(birds):
    text = run(*LEARN, "-o", "again.kernova")
    assert text.startswith("3 classes were learnt from 33 notes in 1 recording.\n")
    assert text.endswith("\nmodel: again.kernova\n")
    text = run(*FIND, "night/dusk.wav", "-o", "found", "--plot", "--combined", "all.csv")
    assert "notes found in 1 recording (0.1 minutes).\n" in text
    assert text.endswith("\nfolder: found\ncombined: all.csv\n")
    assert {path.name for path in Path("found").iterdir()} == {
        "dusk.selections.txt", "dusk.png", "kernova-notes.jsonl",
    }  # fmt: skip
    assert Path("found/dusk.png").read_bytes().startswith(b"\x89PNG")
    again = run(*FIND, "night/dusk.wav", "-o", "found", "--plot")
    assert "Searched before and skipped: 1." in again
    text = run(*FIND, "night/dusk.wav")
    assert text.endswith(
        "\nWrite them with -o FOLDER, or all to one table with --combined notes.csv.\n"
    )


def test_json_for_programs_and_the_detections_are_correct(birds):
    answer = json.loads(run(*FIND, "night", "-o", "found", "--combined", "all.csv", "--json"))
    assert answer["classes"] == CLASSES
    assert answer["files"] == {"folder": "found", "combined": "all.csv"}
    compared = []
    for one in answer["recordings"]:
        path = Path(one["recording"])
        assert one["outcome"] == "searched"
        assert one["files"] == [f"found/{path.stem}.selections.txt"]
        found = read_annotations(one["files"][0])
        assert [note.label for note in found] == [note["label"] for note in one["notes"]]
        truth = read_annotations(f"truth/{path.stem}.selections.txt")
        compared.append(Compared(truth, found, one["seconds"]))
    check = check_notes(compared, CLASSES)
    assert check.note_f > 0.85
    assert check.n_false <= 1
    combined = pd.read_csv("all.csv")
    assert combined["file"].unique().tolist() == ["night/dawn.wav", "night/dusk.wav"]
    assert len(combined) == sum(len(one["notes"]) for one in answer["recordings"])


def test_check_counts_what_find_finds(birds):
    found = json.loads(run(*FIND, "night/dusk.wav", "--json"))["recordings"][0]["notes"]
    answer = json.loads(run(*CHECK, *DUSK, "--json", "-o", "checked"))
    assert {line["class"]: line["found"] for line in answer["notes"]} == {
        name: sum(note["label"] == name for note in found) for name in CLASSES
    }
    assert [line["class"] for line in answer["windows"]] == [*CLASSES, "none"]
    best = max(line["f"] for line in answer["thresholds"])
    assert best >= answer["note_f"] > 0.85
    assert {Path(path).name for path in answer["files"]} == {
        "check-notes.csv", "check-windows.csv", "check-confusion.csv", "check-thresholds.csv",
        "check-confusion.png", "check-thresholds.png", "check-01-dusk.png",
    }  # fmt: skip
    assert all(Path(path).stat().st_size for path in answer["files"])
    confusion = pd.read_csv("checked/check-confusion.csv")
    assert confusion["annotated"].tolist() == [*CLASSES, "none"]
    text = run(*CHECK, *DUSK)
    assert text.startswith(f"Of 30 notes, {sum(line['right'] for line in answer['notes'])} were ")
    assert text.endswith("\nWrite tables and figures with -o FOLDER.\n")


def test_several_recordings_are_checked_together_by_one_table(birds):
    truth = [
        note._replace(file=f"night/{name}.wav")
        for name in ("dusk", "dawn")
        for note in read_annotations(f"truth/{name}.selections.txt")
    ]
    write_annotations(truth, "truth.csv", format="csv")
    answer = json.loads(run(*CHECK, "truth.csv", "--json"))
    assert sum(line["true"] for line in answer["notes"]) == 60
    assert answer["recordings"] == ["night/dusk.wav", "night/dawn.wav"]


@pytest.mark.parametrize("kind", ANNOTATION_ENDINGS)
def test_every_format_is_learnt_from_and_written(birds, kind):
    marks = f"marks{ANNOTATION_ENDINGS[kind]}"
    write_annotations(read_annotations("lesson.selections.txt"), marks, format=kind)
    run("notes", "learn", "lesson.wav", marks, "-o", "other.kernova",
        "--annotation-format", kind)  # fmt: skip
    assert Path("other.kernova").read_bytes() == Path("model.kernova").read_bytes()
    run(*FIND, "night/dusk.wav", "--format", kind, "-o", "found")
    written = read_annotations(f"found/dusk{ANNOTATION_ENDINGS[kind]}")
    expected = json.loads(run(*FIND, "night/dusk.wav", "--json"))["recordings"][0]["notes"]
    assert [note.label for note in written] == [note["label"] for note in expected]


def test_clips_teach_what_the_recording_they_were_cut_from_does(birds):
    Path("clips").mkdir()
    lines = ["Clip;Kind"]
    for place, note in enumerate(read_annotations("lesson.selections.txt")):
        clip = read_audio("lesson.wav", note.start, note.end)
        soundfile.write(f"clips/{place}.wav", clip.samples, clip.sample_rate)
        lines.append(f"clips/{place}.wav;{note.label}")
    Path("index.csv").write_text("\n".join(lines) + "\n")
    run("notes", "learn", "index.csv", "--column", "file=Clip", "--column", "label=Kind",
        "-o", "clips.kernova")  # fmt: skip
    notes = [
        json.loads(run("notes", "find", model, "night/dusk.wav", "--json"))["recordings"][0]
        for model in ("model.kernova", "clips.kernova")
    ]
    assert notes[0]["notes"] == notes[1]["notes"]


def test_labels_and_thresholds(birds):
    answer = json.loads(run(*LEARN, "--labels", "buzz,rising", "-o", "two.kernova", "--json"))
    assert [line["class"] for line in answer["classes"]] == ["buzz", "rising"]
    checked = json.loads(run("notes", "check", "two.kernova", *DUSK, "--json"))
    assert checked["foreign_labels"] == ["falling"]
    assert [line["class"] for line in checked["notes"]] == ["buzz", "rising"]
    only = json.loads(run(*FIND, "night/dusk.wav", "--labels", "buzz", "--json"))
    assert {note["label"] for note in only["recordings"][0]["notes"]} == {"buzz"}
    strict = json.loads(run(*FIND, "night/dusk.wav", "--threshold", "1e9", "--json"))
    assert strict["recordings"][0]["notes"] == []
    assert strict["summary"] == "0 notes found in 1 recording (0.1 minutes)."


def test_one_channel_is_learnt_from_and_searched(birds):
    for name in ("lesson.wav", "night/dusk.wav"):
        audio = read_audio(name)
        hiss = np.random.default_rng(0).normal(0, 0.2, len(audio.samples))
        soundfile.write(Path(name).name, np.c_[hiss, audio.samples], audio.sample_rate)
    shutil.move("dusk.wav", "night/stereo.wav")
    run(*LEARN, "--channel", "2", "-o", "second.kernova")
    find = ["notes", "find", "second.kernova", "night/stereo.wav"]
    usual, same, first = (
        json.loads(run(*words, "--json"))["recordings"][0]["notes"]
        for words in ([*FIND, "night/dusk.wav"], find, [*find, "--channel", "1"])
    )
    assert same == usual  # the channel is remembered with the model
    assert len(first) < 3
    checked = ["notes", "check", "second.kernova", "night/stereo.wav", DUSK[1], "--json"]
    f = [json.loads(run(*checked, *more))["note_f"] for more in ([], ["--channel", "1"])]
    assert f[0] > 0.85 > f[1]
    run(*find, "-o", "found")
    table = pd.read_csv("found/stereo.selections.txt", sep="\t")
    assert set(table["Channel"]) == {2}
    assert set(table["View"]) == {"Spectrogram 2"}
    assert "Searched before" not in run(*find, "-o", "found", "--channel", "mean")


def test_the_paper_preset_can_be_learnt_and_searched_with(birds):
    answer = json.loads(run(*LEARN, "--preset", "paper", "-o", "paper.kernova", "--json"))
    assert answer["preset"] == "paper"
    text = run("notes", "check", "paper.kernova", *DUSK)
    assert "Note by note (onset within 20 ms)" in text

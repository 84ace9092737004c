"""Training annotations: pairs of recordings and annotations, and tables of notes."""

from pathlib import Path

import pytest

from kernova.audio.annotations import (
    ANNOTATION_ENDINGS,
    Segment,
    write_annotations,
)
from kernova.errors import InputError
from kernova.notes.training import AnnotationReading, read_training_annotations
from tests.notes import messages
from tests.notes.loud_finder import write_song

NOTES = [Segment(0.1, 0.2, "a"), Segment(0.3, 0.4, "b"), Segment(0.5, 0.6, "a")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.wav", "two.flac", "clips/a1.wav", "clips/b1.wav"):
        write_song(Path(name))
    return tmp_path


def text(path, content):
    Path(path).write_text(content)
    return path


def training(*sources, labels=None, **reading):
    return read_training_annotations(sources, AnnotationReading(**reading), labels=labels)


def marked(found):
    return {
        one.info.path.as_posix(): [(n.start, n.end, n.label) for n in one.segments]
        for one in found.recordings
    }


@pytest.mark.parametrize("kind", ANNOTATION_ENDINGS)
def test_a_recording_and_its_annotation_in_every_format(folder, kind):
    path = f"marks{ANNOTATION_ENDINGS[kind]}"
    write_annotations(NOTES, path, format=kind, duration=1.0)
    found = training("one.wav", path)
    assert marked(found) == {"one.wav": [note[:3] for note in NOTES]}
    assert (found.labels, found.n_notes, found.remarks) == (["a", "b"], 3, [])
    assert not found.recordings[0].is_clip
    assert training("one.wav", path, labels=["b"]).labels == ["b"]


def test_several_recordings_and_several_annotations_of_one(folder):
    text("1.txt", "0.1\t0.2\ta\n")
    text("2.txt", "0.5\t0.6\tb\n")
    found = training("one.wav", "1.txt", "2.txt", "two.flac", "2.txt")
    assert marked(found) == {
        "one.wav": [(0.1, 0.2, "a"), (0.5, 0.6, "b")],
        "two.flac": [(0.5, 0.6, "b")],
    }


def test_a_table_of_several_recordings_is_read_from_its_folder_or_for_one_of_them(folder):
    content = "file,label,start,end\n../one.wav,a,0.1,0.2\n../two.flac,b,0.3,0.4\n"
    text("clips/index.csv", content)
    assert marked(training("clips/index.csv")) == {
        "clips/../one.wav": [(0.1, 0.2, "a")],
        "clips/../two.flac": [(0.3, 0.4, "b")],
    }
    assert marked(training("two.flac", "clips/index.csv")) == {"two.flac": [(0.3, 0.4, "b")]}


@pytest.mark.parametrize(
    ("content", "reading"),
    [
        ("file,label\nclips/a1.wav,01\nclips/b1.wav,b\n", {}),
        ("label;file;sr\n01;clips/a1.wav;8000\nb;clips/b1.wav;8000\n", {}),
        ("Clip,Kind\nclips/a1.wav,01\nclips/b1.wav,b\n",
         {"columns": {"file": "Clip", "label": "Kind"}}),
        ("file,label,start,end\nclips/a1.wav,01,0,1\nclips/b1.wav,b,0.001,0.995\n", {}),
    ],
)  # fmt: skip
def test_clips_of_one_note_each(folder, content, reading):
    found = training(text("index.csv", content), **reading)
    assert found.labels == ["01", "b"]
    assert [one.is_clip for one in found.recordings] == [True, True]


def test_notes_without_a_label_are_left_out_and_counted(folder):
    found = training("one.wav", text("1.txt", "0.1\t0.2\t\n0.3\t0.4\ta\n"))
    assert found.n_notes == 1
    assert found.remarks == [messages.UNLABELLED]


def test_overlaps_by_rounding_are_trimmed(folder):
    found = training("one.wav", text("1.txt", "0.1\t0.205\ta\n0.2\t0.4\tb\n"))
    assert marked(found)["one.wav"] == [(0.1, 0.2, "a"), (0.2, 0.4, "b")]


BAD_INPUT = {
    "no annotation": (["one.wav"], None),
    "no annotation before the next": (["one.wav", "two.flac", "1.txt"], None),
    "no recording": (["1.txt"], "0.1\t0.2\ta\n"),
    "other recordings": (["one.wav", "1.txt"], "file,label,start,end\nthree.wav,a,0.1,0.2\n"),
    "past the end": (["one.wav", "1.txt"], "0.9\t1.2\ta\n"),
    "overlap": (["one.wav", "1.txt"], "0.1\t0.4\ta\n0.2\t0.5\tb\n"),
    "no such label": (["one.wav", "1.txt"], "0.1\t0.4\ta\n"),
    "no label at all": (["one.wav", "1.txt"], "0.1\t0.4\t\n"),
    "no file": (["nowhere.wav", "1.txt"], "0.1\t0.4\ta\n"),
    "no clip": (["index.csv"], "file,label\nclips/a1.wav,a\nclips/none.wav,b\n"),
    "a clip without a label": (["index.csv"], "file,label\nclips/a1.wav,\n"),
    "a quotation mark": (["index.csv"], 'file,label\nclips/a1.wav,"a\n'),
    "no columns": (["index.csv"], "name,kind\nclips/a1.wav,a\n"),
}


@pytest.mark.parametrize("case", messages.TRAINING)
def test_bad_annotations_are_rejected(folder, case):
    sources, content = BAD_INPUT[case]
    if content is not None:
        text("1.txt" if "1.txt" in sources else "index.csv", content)
    with pytest.raises(InputError) as raised:
        training(*sources, labels=["b"] if case == "no such label" else None)
    assert str(raised.value) == messages.TRAINING[case]

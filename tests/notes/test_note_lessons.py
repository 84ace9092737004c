"""Which annotation is about which recording, as people name them on the command line."""

import re
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

from kernova.audio.annotations import (
    ANNOTATION_ENDINGS,
    Segment,
    read_annotations,
    write_annotations,
)
from kernova.audio.reading import read_audio
from kernova.errors import InputError
from kernova.notes.demo import SAMPLE_RATE, STRANGER, write_note_demo
from kernova.notes.training import AnnotationReading, read_lessons
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


def lessons(*sources, labels=None, **reading):
    return read_lessons(sources, AnnotationReading(**reading), labels=labels)


def marked(found):
    return {
        one.info.path.as_posix(): [(n.start, n.end, n.label) for n in one.segments]
        for one in found.recordings
    }


@pytest.mark.parametrize("kind", ANNOTATION_ENDINGS)
def test_a_recording_and_its_annotation_in_every_format(folder, kind):
    path = f"marks{ANNOTATION_ENDINGS[kind]}"
    write_annotations(NOTES, path, format=kind, duration=1.0)
    found = lessons("one.wav", path)
    assert marked(found) == {"one.wav": [note[:3] for note in NOTES]}
    assert (found.labels, found.n_notes, found.remarks) == (["a", "b"], 3, [])
    assert not found.recordings[0].is_clip
    assert lessons("one.wav", path, labels=["b"]).labels == ["b"]


def test_several_recordings_and_several_annotations_of_one(folder):
    text("1.txt", "0.1\t0.2\ta\n")
    text("2.txt", "0.5\t0.6\tb\n")
    found = lessons("one.wav", "1.txt", "2.txt", "two.flac", "2.txt")
    assert marked(found) == {
        "one.wav": [(0.1, 0.2, "a"), (0.5, 0.6, "b")],
        "two.flac": [(0.5, 0.6, "b")],
    }


def test_a_table_of_several_recordings_is_read_from_its_folder_or_for_one_of_them(folder):
    content = "file,label,start,end\n../one.wav,a,0.1,0.2\n../two.flac,b,0.3,0.4\n"
    text("clips/index.csv", content)
    assert marked(lessons("clips/index.csv")) == {
        "clips/../one.wav": [(0.1, 0.2, "a")],
        "clips/../two.flac": [(0.3, 0.4, "b")],
    }
    assert marked(lessons("two.flac", "clips/index.csv")) == {"two.flac": [(0.3, 0.4, "b")]}


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
    found = lessons(text("index.csv", content), **reading)
    assert found.labels == ["01", "b"]
    assert [one.is_clip for one in found.recordings] == [True, True]


def test_what_has_no_label_is_left_out_and_counted(folder):
    found = lessons("one.wav", text("1.txt", "0.1\t0.2\t\n0.3\t0.4\ta\n"))
    assert found.n_notes == 1
    assert found.remarks == ["Annotations without a label, left out: 1."]


def test_notes_that_people_rounded_into_each_other_are_parted(folder):
    found = lessons("one.wav", text("1.txt", "0.1\t0.205\ta\n0.2\t0.4\tb\n"))
    assert marked(found)["one.wav"] == [(0.1, 0.2, "a"), (0.2, 0.4, "b")]


REFUSALS = {
    "no annotation": (
        ["one.wav"], None, {},
        "one.wav has no annotation: name the file that says where its notes are behind it.",
    ),
    "no annotation before the next": (
        ["one.wav", "two.flac", "1.txt"], None, {},
        "one.wav has no annotation: name the file that says where its notes are behind it.",
    ),
    "no recording": (
        ["1.txt"], "0.1\t0.2\ta\n", {},
        "1.txt does not say which recording each note is in. Name the recording before it, or "
        "give it a column 'file'.",
    ),
    "other recordings": (
        ["one.wav", "1.txt"], "file,label,start,end\nthree.wav,a,0.1,0.2\n", {},
        "1.txt holds no note of one.wav; it is about 'three.wav'.",
    ),
    "past the end": (
        ["one.wav", "1.txt"], "0.9\t1.2\ta\n", {},
        "1.txt cannot be used: 'a' from 0.9 s to 1.2 s lies past the end of the recording (1 s). "
        "Correct it.",
    ),
    "overlap": (
        ["one.wav", "1.txt"], "0.1\t0.4\ta\n0.2\t0.5\tb\n", {},
        "1.txt cannot be used: 'a' from 0.1 s to 0.4 s and 'b' from 0.2 s to 0.5 s overlap. "
        "Correct it.",
    ),
    "no such label": (
        ["one.wav", "1.txt"], "0.1\t0.4\ta\n", {"labels": ["b"]},
        "No note is labelled 'b'. The labels are 'a'.",
    ),
    "no label at all": (
        ["one.wav", "1.txt"], "0.1\t0.4\t\n", {},
        "There is no labelled note in 1.txt.",
    ),
    "no file": (
        ["nowhere.wav", "1.txt"], "0.1\t0.4\ta\n", {},
        "There is no file nowhere.wav; check its name and folder.",
    ),
    "no clip": (
        ["index.csv"], "file,label\nclips/a1.wav,a\nclips/none.wav,b\n", {},
        "There is no file clips/none.wav; check its name and folder.",
    ),
    "a clip without a label": (
        ["index.csv"], "file,label\nclips/a1.wav,\n", {},
        "Line 2 of index.csv lacks a file or a label; correct it.",
    ),
    "a quotation mark": (
        ["index.csv"], 'file,label\nclips/a1.wav,"a\n', {},
        "index.csv cannot be read as separated text; a quotation mark is never closed, or stands "
        "where none belongs.",
    ),
    "no columns": (
        ["index.csv"], "name,kind\nclips/a1.wav,a\n", {},
        "index.csv has no column 'start'; its columns are 'name', 'kind'. Say which one holds the "
        "start: columns={'start': ...}.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(folder, case):
    sources, content, options, sentence = REFUSALS[case]
    if content is not None:
        text("1.txt" if "1.txt" in sources else "index.csv", content)
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        lessons(*sources, **options)


# --- made-up birds ----------------------------------------------------------------------------


def test_the_demo_marks_what_is_sung(tmp_path):
    files = write_note_demo(tmp_path)
    assert set(read_lessons([files.lesson, files.marks]).labels) == {"rising", "falling", "buzz"}
    audio = read_audio(files.night / "dusk.wav")
    assert audio.sample_rate == SAMPLE_RATE
    notes = read_annotations(files.truth[0])
    assert STRANGER not in {note.label for note in notes}
    loud = abs(audio.samples) > 0.05
    for note in notes:
        inside = loud[round(note.start * SAMPLE_RATE) : round(note.end * SAMPLE_RATE)]
        before = loud[round((note.start - 0.03) * SAMPLE_RATE) : round(note.start * SAMPLE_RATE)]
        assert inside.mean() > 0.3
        assert not before.any()
    again = write_note_demo(tmp_path)
    assert_array_equal(read_audio(again.night / "dusk.wav").samples, audio.samples)

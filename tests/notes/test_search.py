"""Searching many recordings: names, resuming, and files that cannot be read."""

import os
import re
from pathlib import PurePosixPath

import pytest

from kernova.audio.annotations import ANNOTATION_FORMATS, Segment, read_annotations
from kernova.audio.reading import AUDIO_SUFFIXES
from kernova.errors import InputError
from kernova.notes.journal import JOURNAL_NAME
from kernova.notes.search import (
    Recording,
    SearchSettings,
    combined_segments,
    fingerprint_of,
    recordings_in,
)
from tests.notes import messages
from tests.notes.loud_finder import LoudFinder, write_song
from tests.notes.searching import NOTES, contents, outcomes, search, write_songs


@pytest.fixture
def songs(tmp_path):
    return write_songs(tmp_path / "songs")


# --- files and names of results -----------------------------------------------------------


def test_folders_are_searched_recursively_and_nothing_twice(tmp_path, monkeypatch):
    for name in ("z.wav", "b/x.flac", "b/.hidden.wav", ".git/a.wav", "a/deep/y.OGG", "b/x.txt"):
        write = tmp_path / name
        write.parent.mkdir(parents=True, exist_ok=True)
        write.touch()
    found = recordings_in([tmp_path / "b" / "x.flac", tmp_path])
    assert found == [
        Recording(tmp_path / "b/x.flac", PurePosixPath("x.flac")),
        Recording(tmp_path / "z.wav", PurePosixPath("z.wav")),
        Recording(tmp_path / "a/deep/y.OGG", PurePosixPath("a/deep/y.OGG")),
    ]
    monkeypatch.chdir(tmp_path / "b")
    assert len(recordings_in(["x.flac", "../b/x.flac", tmp_path / "b"])) == 1


def test_recordings_of_one_name_have_results_of_their_own(tmp_path):
    write_song(tmp_path / "1" / "a.wav", NOTES[0])
    write_song(tmp_path / "1" / "a.flac", NOTES[1])
    write_song(tmp_path / "2" / "a.wav", *NOTES)
    write_song(tmp_path / "2" / "A.wav")
    write_song(tmp_path / "2" / "below" / "a.wav")
    out = tmp_path / "out"
    results = search([tmp_path / "1", tmp_path / "2"], out)
    written = {str(r.files[0].relative_to(out)): r.path.relative_to(tmp_path) for r in results}
    assert {name: str(path) for name, path in written.items()} == {
        "a.csv": "1/a.flac",
        "a.wav.csv": "1/a.wav",
        "A-2.csv": "2/A.wav",
        "a-3.csv": "2/a.wav",
        "below/a.csv": "2/below/a.wav",
    }
    for result in results:
        assert read_annotations(result.files[0]) == result.segments
    # In another order, and another day, each keeps its name.
    again = search([tmp_path / "2", tmp_path / "1"], out)
    assert {r.path: r.files for r in again} == {r.path: r.files for r in results}
    assert {r.outcome for r in again} == {"done before"}


@pytest.mark.parametrize("kind", ANNOTATION_FORMATS)
def test_every_format_is_written_and_read_back(songs, tmp_path, kind):
    write_song(songs / "silent.wav")
    settings = SearchSettings(format=kind)
    first = search(songs, tmp_path / kind, settings)
    again = search(songs, tmp_path / kind, settings)
    for one, other in zip(first, again, strict=True):
        assert one.seconds == other.seconds == 1.0
        assert [note[:3] for note in one.segments] == [note[:3] for note in other.segments]
    assert [len(result.segments) for result in first] == [2, 2, 2, 0]
    assert contents(tmp_path / kind)[first[3].files[0].name] or kind == "audacity"


def test_without_a_folder_nothing_is_written(songs):
    before = contents(songs)
    results = search(songs, None)
    assert [len(result.segments) for result in results] == [2, 2, 2]
    assert contents(songs) == before


def test_labels_are_kept_or_not(songs, tmp_path):
    (result, *_) = search(songs, tmp_path / "out", SearchSettings(labels=["low"]))
    assert [note.label for note in result.segments] == ["low"]
    combined = combined_segments([result])
    assert combined == [result.segments[0]._replace(file=str(songs / "a.wav"))]


@pytest.mark.parametrize("suffix", [".aif", ".aiff", ".oga", ".WAV"])
def test_recordings_of_every_listed_format_are_found_in_folders(tmp_path, suffix):
    path = tmp_path / "songs" / f"a{suffix}"
    write_song(path, *NOTES, format={".oga": "OGG", ".WAV": "WAV"}.get(suffix, "AIFF"))
    (found,) = search(tmp_path / "songs", tmp_path / "out")
    assert (found.outcome, found.files) == ("searched", (tmp_path / "out" / "a.csv",))


# --- resuming ---------------------------------------------------------------------------------


def test_finished_recordings_are_skipped(songs, tmp_path):
    out = tmp_path / "out"
    search(songs, out)
    before = contents(out)
    finder = LoudFinder()
    assert set(outcomes(search(songs, out, finder=finder)).values()) == {"done before"}
    assert finder.searched == []
    assert contents(out) == before


CHANGES = {
    "the recording": lambda songs, out: write_song(songs / "b.wav", NOTES[0]),
    "its time": lambda songs, out: os.utime(songs / "b.wav", ns=(1, 1)),
    "no result": lambda songs, out: (out / "b.csv").unlink(),
    "a journal cut in its last line": lambda songs, out: cut(out, -1, 20),
    "a journal damaged in the middle": lambda songs, out: cut(out, 4, 20),
}


def cut(out, number, n_bytes):
    lines = (out / JOURNAL_NAME).read_bytes().splitlines(keepends=True)
    lines[number] = lines[number][:-n_bytes]
    (out / JOURNAL_NAME).write_bytes(b"".join(lines))


@pytest.mark.parametrize("change", CHANGES)
def test_changed_recordings_are_searched_again_and_only_those(songs, tmp_path, change):
    out = tmp_path / "out"
    search(songs, out)
    CHANGES[change](songs, out)
    finder = LoudFinder()
    results = search(songs, out, finder=finder)
    assert [path.name for path in finder.searched] == ["c.wav" if "last" in change else "b.wav"]
    assert read_annotations(out / "b.csv") == LoudFinder().find(songs / "b.wav")
    assert {r.outcome for r in search(songs, out)} == {"done before"}
    assert all(result.outcome != "failed" for result in results)


def test_other_models_and_labels_begin_anew_and_other_formats_stand_beside(songs, tmp_path):
    out = tmp_path / "out"
    search(songs, out)
    for settings in (SearchSettings("csv", fingerprint="other"), SearchSettings("csv", ["low"])):
        assert set(outcomes(search(songs, out, settings)).values()) == {"searched"}
        assert set(outcomes(search(songs, out, settings)).values()) == {"done before"}
    assert set(outcomes(search(songs, out, SearchSettings("raven"))).values()) == {"searched"}
    last = SearchSettings("csv", ["low"])
    assert set(outcomes(search(songs, out, last)).values()) == {"done before"}
    assert {"a.csv", "a.selections.txt"} < set(contents(out))


def test_pictures_asked_for_later_are_drawn(songs, tmp_path):
    def draw(recording, segments, path):
        path.write_text(f"{recording.name}: {len(segments)}")

    out = tmp_path / "out"
    search(songs, out)
    results = search(songs, out, draw=draw)
    assert outcomes(results)["a.wav"] == "searched"
    assert results[0].files == (out / "a.csv", out / "a.png")
    assert (out / "a.png").read_text() == "a.wav: 2"
    assert outcomes(search(songs, out, draw=draw))["a.wav"] == "done before"
    assert outcomes(search(songs, out))["a.wav"] == "done before"


def test_fingerprints_tell_models_and_options_apart(tmp_path):
    for name, content in (("one", b"1"), ("same", b"1"), ("other", b"2")):
        (tmp_path / name).write_bytes(content)
    one = fingerprint_of(tmp_path / "one", {"threshold": 0.5})
    assert one == fingerprint_of(tmp_path / "same", {"threshold": 0.5})
    assert one != fingerprint_of(tmp_path / "other", {"threshold": 0.5})
    assert one != fingerprint_of(tmp_path / "one", {"threshold": None})


# --- files of others  --------------------------------------------------------------------


def rejected(message):
    return pytest.raises(InputError, match=f"^{re.escape(message)}$")


def foreign(path):
    return rejected(messages.FOREIGN_RESULT.format(path=path))


def test_files_of_others_are_never_replaced(songs):
    (songs / "b.csv").write_text("by hand")
    finder = LoudFinder()
    with foreign(songs / "b.csv"):
        search(songs, songs, finder=finder)
    assert finder.searched == []
    assert (songs / "b.csv").read_text() == "by hand"


def test_corrections_by_hand_stay(songs, tmp_path):
    out = tmp_path / "out"
    search(songs, out)
    (out / "b.csv").write_text("file,label,start,end,score,low,high\n,right,0.1,0.2,,,\n")
    (_, corrected, _) = search(songs, out)
    assert corrected.outcome == "done before"
    assert corrected.segments == [Segment(0.1, 0.2, "right")]
    with foreign(out / "b.csv"):
        search(songs, out, SearchSettings("csv", fingerprint="other"))


# --- unreadable files ----------------------------------------------------------------------


def test_a_bad_file_in_the_middle_is_reported_and_the_rest_done(songs, tmp_path):
    (songs / "b.wav").write_bytes(b"RIFF, or so it says")
    write_song(songs / "empty.wav", seconds=0)
    results = search([songs, tmp_path / "missing.wav"], tmp_path / "out")
    assert list(outcomes(results).values()) == [
        "searched", "failed", "searched", "failed", "failed",
    ]  # fmt: skip
    assert results[1].remark.startswith(f"{songs / 'b.wav'} cannot be read as a recording: ")
    assert [result.remark for result in results[3:]] == [
        messages.RECORDINGS["no-sound.wav"].format(path=songs / "empty.wav"),
        messages.NO_FILE.format(path=tmp_path / "missing.wav"),
    ]
    assert set(contents(tmp_path / "out")) == {"a.csv", "c.csv", JOURNAL_NAME}
    # Once it is there, only that is done.
    write_song(songs / "b.wav", NOTES[0])
    assert outcomes(search(songs, tmp_path / "out"))["b.wav"] == "searched"


def test_a_truncated_recording_is_searched_with_a_remark(songs, tmp_path):
    content = (songs / "a.wav").read_bytes()
    (songs / "a.wav").write_bytes(content[: len(content) // 2 + 22])
    (result, *_) = search(songs, tmp_path / "out")
    assert result.outcome == "searched"
    assert result.remark.startswith(f"{songs / 'a.wav'} is truncated: ")
    assert [note.label for note in result.segments] == ["high"]


def test_folders_without_recordings_are_rejected(tmp_path):
    message = messages.NO_RECORDING_IN_FOLDER
    with rejected(message.format(path=tmp_path, suffixes=", ".join(AUDIO_SUFFIXES))):
        recordings_in([tmp_path])
    with rejected(messages.NO_RECORDING):
        recordings_in([])

"""Recordings of every kind and in every state, through the library and the command line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kernova import InputError, NoteFinder, Segment, load_model, save_model
from kernova.audio.annotations import read_annotations
from kernova.audio.reading import read_audio
from kernova.cli.app import app
from kernova.notes.demo import SAMPLE_RATE, write_note_demo
from kernova.notes.training import read_training_annotations
from tests.notes import messages

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

SECONDS = 3.0


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Three seconds of song, its notes, and models that know them."""
    folder = tmp_path_factory.mktemp("trained")
    files = write_note_demo(folder)
    training = [(files.training, read_annotations(files.annotations))]
    for preset in ("song", "paper"):
        save_model(NoteFinder(preset).fit_recordings(training), folder / f"{preset}.kernova")
    dusk = read_audio(files.night / "dusk.wav", 0.0, SECONDS)
    soundfile.write(folder / "reference.wav", dusk.samples, SAMPLE_RATE)
    return folder


@pytest.fixture
def here(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("reference.wav", "song.kernova", "paper.kernova"):
        shutil.copy(trained / name, tmp_path)
    return tmp_path


def sound(change=lambda samples: samples, rate=SAMPLE_RATE, **how):
    def write(path):
        soundfile.write(
            path, change(read_audio("reference.wav", sample_rate=rate).samples), rate, **how
        )

    return write


def with_a_hole(samples):
    samples[5000] = np.nan
    return samples


def begun(n_bytes):
    """Write a recording, and keep the beginning of the file."""

    def cut(path):
        sound()(path)
        Path(path).write_bytes(Path(path).read_bytes()[:n_bytes])

    return cut


HALF = 44 + 2 * round(SECONDS / 2 * SAMPLE_RATE)  # a header, and samples of 16 bits


ALL, SOME, NOTHING = "all", "some", "nothing"
# How a recording is written, and which of the reference notes are found in it; None if it cannot be
# read. Remarks and errors are in messages.RECORDINGS.
KINDS = {
    "8-bit.wav": (sound(subtype="PCM_U8"), ALL),
    "24-bit.wav": (sound(subtype="PCM_24"), ALL),
    "float.wav": (sound(subtype="FLOAT"), ALL),
    "double.wav": (sound(subtype="DOUBLE"), ALL),
    "overdriven.wav": (sound(lambda x: 30 * x, subtype="FLOAT"), ALL),
    "stereo.wav": (sound(lambda x: np.c_[x, x]), ALL),
    "six-channels.flac": (sound(lambda x: np.tile(x[:, None], 6)), ALL),
    "vorbis.ogg": (sound(), ALL),
    "apple.aiff": (sound(), ALL),
    "44100.wav": (sound(rate=44100), ALL),
    "8000.wav": (sound(rate=8000), SOME),
    "cut.wav": (begun(HALF), SOME),
    "silence.wav": (sound(np.zeros_like), NOTHING),
    "shorter-than-a-frame.wav": (sound(lambda x: x[15000:15040]), NOTHING),
    "one-sample.wav": (sound(lambda x: [0.5]), NOTHING),
    "no-sound.wav": (sound(lambda x: []), None),
    "no-number.wav": (sound(with_a_hole, subtype="FLOAT"), None),
    "half-a-header.wav": (begun(30), None),
    "words.wav": (lambda path: Path(path).write_text("no sound"), None),
    "no-bytes.wav": (lambda path: Path(path).touch(), None),
    "cut.flac": (begun(20_000), None),
}


def message(name, path):
    """Return the remark or error about a recording; mostly there is none."""
    return messages.RECORDINGS.get(name, "").format(path=path)


def holds(found, reference, part):
    """Whether all, some or none of the reference notes are among those found, and no others."""
    common = {(label, round(start, 1)) for label, start in found}
    wanted = {(label, round(start, 1)) for label, start in reference}
    if part == NOTHING:
        return not found
    return common <= wanted if part == SOME else len(common & wanted) >= 0.8 * len(wanted)


@pytest.mark.parametrize("name", KINDS)
def test_a_recording_of_any_kind_is_searched_or_rejected_by_the_library(here, name):
    write, part = KINDS[name]
    write(name)
    finder = load_model("song.kernova")
    if part is None and name != "no-sound.wav":
        with pytest.raises(InputError) as raised:
            finder.find(name)
        assert str(raised.value) == message(name, name)
        return
    reference = [(note.label, note.start) for note in finder.find("reference.wav")]
    assert len(reference) >= 8
    found = [(note.label, note.start) for note in finder.find(name)]
    assert holds(found, reference, part or NOTHING)


@pytest.mark.parametrize("preset", ["song", "paper"])
def test_a_folder_of_all_kinds_is_searched_and_unreadable_files_are_reported(here, preset):
    for name, (write, _) in KINDS.items():
        Path("all").mkdir(exist_ok=True)
        write(f"all/{name}")
    # Pictures of all of them would take long.
    for name in ("one-sample.wav", "shorter-than-a-frame.wav", "silence.wav", "words.wav"):
        shutil.copytree("all", "few", ignore=lambda _, names, n=name: {*names} - {n},
                        dirs_exist_ok=True)  # fmt: skip
    model = f"{preset}.kernova"
    for folder, more in (("all", []), ("few", ["--plot"])):
        words = ["notes", "find", model, folder, "-o", f"{folder}-found", *more, "--json"]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 1
        answer = json.loads(result.stdout)
        paths = sorted(path.as_posix() for path in Path(folder).iterdir())
        assert [one["recording"] for one in answer["recordings"]] == paths
        printed = [line.removeprefix("kernova: ") for line in result.stderr.splitlines()]
        assert printed == [one["remark"] for one in answer["recordings"] if one["remark"]]
        for one in answer["recordings"]:
            path = one["recording"]
            _, part = KINDS[Path(path).name]
            assert one["remark"] == message(Path(path).name, path)
            assert one["outcome"] == ("failed" if part is None else "searched")
            assert len(one["files"]) == (0 if part is None else 1 + len(more))
            assert all(Path(file).stat().st_size for file in one["files"])
            if part == NOTHING:
                assert one["notes"] == []
                assert read_annotations(one["files"][0]) == []


def rejected(words):
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


def test_annotations_past_the_end_of_a_truncated_recording_are_rejected(here):
    begun(HALF)("cut.wav")
    Path("marks.txt").write_text("0.5\t0.6\tbuzz\n2.0\t2.1\tbuzz\n")
    learn = ["notes", "learn", "cut.wav", "marks.txt", "-o", "out.kernova"]
    check = ["notes", "check", "song.kernova", "cut.wav", "marks.txt"]
    assert rejected(learn) == rejected(check) == f"kernova: {messages.PAST_A_TRUNCATED_END}\n"
    with pytest.raises(InputError) as raised:
        read_training_annotations(["cut.wav", "marks.txt"])
    assert str(raised.value) == messages.PAST_A_TRUNCATED_END


def test_a_clip_without_sound_is_rejected(here):
    sound(lambda x: [])("none.wav")
    Path("index.csv").write_text("file,label\nreference.wav,a\nnone.wav,b\n")
    assert rejected(["notes", "learn", "index.csv", "-o", "out.kernova"]) == (
        f"kernova: {messages.EMPTY_CLIP}\n"
    )


@pytest.mark.parametrize("preset", ["song", "paper"])
def test_an_annotation_may_hold_no_note(here, preset):
    sound(np.zeros_like)("silence.wav")
    Path("marks.txt").touch()
    check = ["notes", "check", f"{preset}.kernova", "silence.wav", "marks.txt"]
    result = CliRunner().invoke(app, check)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(messages.CHECK_OF_NOTHING)
    assert "no labelled note" in rejected(
        ["notes", "learn", "silence.wav", "marks.txt", "-o", "out.kernova"]
    )


def test_a_check_reports_missing_frequencies(here):
    sound(rate=8000)("8000.wav")
    Path("marks.txt").write_text("0.5\t0.6\tbuzz\n")
    result = CliRunner().invoke(app, ["notes", "check", "song.kernova", "8000.wav", "marks.txt"])
    assert message("8000.wav", "8000.wav") in " ".join(result.stdout.split())


def test_marks_that_overlap_can_be_learnt_by_hand(here):
    marks = [Segment(0.5, 0.6, "a"), Segment(0.55, 0.65, "b")]
    finder = NoteFinder().fit_recordings([("reference.wav", marks)])
    assert finder.classes_.tolist() == ["a", "b"]

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
from kernova.notes.training import read_lessons

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

SECONDS = 3.0


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """Three seconds of song, its notes, and models that know them."""
    folder = tmp_path_factory.mktemp("taught")
    files = write_note_demo(folder)
    lesson = [(files.lesson, read_annotations(files.marks))]
    for preset in ("song", "paper"):
        save_model(NoteFinder(preset).fit_recordings(lesson), folder / f"{preset}.kernova")
    dusk = read_audio(files.night / "dusk.wav", 0.0, SECONDS)
    soundfile.write(folder / "usual.wav", dusk.samples, SAMPLE_RATE)
    return folder


@pytest.fixture
def here(taught, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("usual.wav", "song.kernova", "paper.kernova"):
        shutil.copy(taught / name, tmp_path)
    return tmp_path


def sound(change=lambda samples: samples, rate=SAMPLE_RATE, **how):
    def write(path):
        soundfile.write(
            path, change(read_audio("usual.wav", sample_rate=rate).samples), rate, **how
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
# What is written, what is found of the usual notes, and what is said; a file that cannot be read
# is one of which nothing but a sentence comes.
KINDS = {
    "8-bit.wav": (sound(subtype="PCM_U8"), ALL, ""),
    "24-bit.wav": (sound(subtype="PCM_24"), ALL, ""),
    "float.wav": (sound(subtype="FLOAT"), ALL, ""),
    "double.wav": (sound(subtype="DOUBLE"), ALL, ""),
    "overdriven.wav": (sound(lambda x: 30 * x, subtype="FLOAT"), ALL, ""),
    "stereo.wav": (sound(lambda x: np.c_[x, x]), ALL, ""),
    "six-channels.flac": (sound(lambda x: np.tile(x[:, None], 6)), ALL, ""),
    "vorbis.ogg": (sound(), ALL, ""),
    "44100.wav": (sound(rate=44100), ALL, ""),
    "8000.wav": (
        sound(rate=8000), SOME,
        "{path} holds nothing above 4 kHz (8000 samples per second), and the model listens up to "
        "11 kHz: notes may be missed.",
    ),
    "cut.wav": (
        begun(HALF), SOME,
        "{path} is cut short: its header promises 3.000 s, and 1.500 s are there, which are read.",
    ),
    "silence.wav": (sound(np.zeros_like), NOTHING, ""),
    "shorter-than-a-frame.wav": (sound(lambda x: x[15000:15040]), NOTHING, ""),
    "one-sample.wav": (sound(lambda x: [0.5]), NOTHING, ""),
    "no-sound.wav": (
        sound(lambda x: []), None,
        "{path} holds no sound at all: it is 0 s long. Record or copy it again.",
    ),
    "no-number.wav": (
        sound(with_a_hole, subtype="FLOAT"), None,
        "{path} holds a sample that is no number at 0.226757 s; repair it or cut it out.",
    ),
    "half-a-header.wav": (
        begun(30), None,
        "{path} cannot be read as a recording: Error in WAV file. No 'data' chunk marker. Save it "
        "as WAV, FLAC or OGG.",
    ),
    "words.wav": (
        lambda path: Path(path).write_text("no sound"), None,
        "{path} cannot be read as a recording: Format not recognised. Save it as WAV, FLAC or OGG.",
    ),
    "no-bytes.wav": (
        lambda path: Path(path).touch(), None,
        "{path} is empty, with not even a header; record or copy it again.",
    ),
    "cut.flac": (
        begun(20_000), None,
        "{path} is damaged or cut short: it promises 3.000 s and cannot be read on from 0.000 s. "
        "Copy it again, or read a stretch before that.",
    ),
}  # fmt: skip


def holds(found, usual, share):
    """Whether all, some or none of the usual notes are among those found, and no others."""
    common = {(label, round(start, 1)) for label, start in found}
    wanted = {(label, round(start, 1)) for label, start in usual}
    if share == NOTHING:
        return not found
    return common <= wanted if share == SOME else len(common & wanted) >= 0.8 * len(wanted)


@pytest.mark.parametrize("name", KINDS)
def test_a_recording_of_any_kind_is_searched_or_refused_by_the_library(here, name):
    write, share, sentence = KINDS[name]
    write(name)
    finder = load_model("song.kernova")
    if share is None and name != "no-sound.wav":
        with pytest.raises(InputError) as refusal:
            finder.find(name)
        assert str(refusal.value) == sentence.format(path=name)
        return
    usual = [(note.label, note.start) for note in finder.find("usual.wav")]
    assert len(usual) >= 8
    found = [(note.label, note.start) for note in finder.find(name)]
    assert holds(found, usual, share or NOTHING)


@pytest.mark.parametrize("preset", ["song", "paper"])
def test_a_folder_of_all_kinds_is_searched_and_what_cannot_be_is_told(here, preset):
    for name, (write, _, _) in KINDS.items():
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
        said = [line.removeprefix("kernova: ") for line in result.stderr.splitlines()]
        assert said == [one["remark"] for one in answer["recordings"] if one["remark"]]
        for one in answer["recordings"]:
            path = one["recording"]
            _, share, sentence = KINDS[Path(path).name]
            assert one["remark"] == sentence.format(path=path)
            assert one["outcome"] == ("failed" if share is None else "searched")
            assert len(one["files"]) == (0 if share is None else 1 + len(more))
            assert all(Path(file).stat().st_size for file in one["files"])
            if share == NOTHING:
                assert one["notes"] == []
                assert read_annotations(one["files"][0]) == []


def refused(words):
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


def test_marks_past_the_end_of_a_recording_cut_short_say_that_it_is(here):
    begun(HALF)("cut.wav")
    Path("marks.txt").write_text("0.5\t0.6\tbuzz\n2.0\t2.1\tbuzz\n")
    sentence = (
        "marks.txt cannot be used: 'buzz' from 2 s to 2.1 s lies past the end of the recording "
        "(1.5 s). Correct it. cut.wav is cut short: its header promises 3.000 s, and 1.500 s "
        "are there, which are read."
    )
    learn = ["notes", "learn", "cut.wav", "marks.txt", "-o", "out.kernova"]
    assert refused(learn) == f"kernova: {sentence}\n"
    assert refused(["notes", "check", "song.kernova", "cut.wav", "marks.txt"]) == (
        f"kernova: {sentence}\n"
    )
    with pytest.raises(InputError, match=r"^marks\.txt cannot be used: .* which are read\.$"):
        read_lessons(["cut.wav", "marks.txt"])


def test_a_clip_without_sound_is_named(here):
    sound(lambda x: [])("none.wav")
    Path("index.csv").write_text("file,label\nusual.wav,a\nnone.wav,b\n")
    assert refused(["notes", "learn", "index.csv", "-o", "out.kernova"]) == (
        "kernova: none.wav holds no sound at all: it is 0 s long. Leave it out, or record or copy "
        "it again.\n"
    )


@pytest.mark.parametrize("preset", ["song", "paper"])
def test_an_annotation_may_say_that_there_is_no_note(here, preset):
    sound(np.zeros_like)("silence.wav")
    Path("marks.txt").touch()
    check = ["notes", "check", f"{preset}.kernova", "silence.wav", "marks.txt"]
    result = CliRunner().invoke(app, check)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "Of 0 notes, 0 were found within 20 ms of their onset; 0 finds are false, 0.00 a minute.\n"
        "F over notes 1.000, over windows 1.000; 0.0 % of windows are wrong.\n"
    )
    assert "no labelled note" in refused(
        ["notes", "learn", "silence.wav", "marks.txt", "-o", "out.kernova"]
    )


def test_a_check_says_that_the_recording_lacks_high_sounds(here):
    sound(rate=8000)("8000.wav")
    Path("marks.txt").write_text("0.5\t0.6\tbuzz\n")
    result = CliRunner().invoke(app, ["notes", "check", "song.kernova", "8000.wav", "marks.txt"])
    assert KINDS["8000.wav"][2].format(path="8000.wav") in " ".join(result.stdout.split())


def test_marks_that_overlap_can_be_learnt_by_hand(here):
    marks = [Segment(0.5, 0.6, "a"), Segment(0.55, 0.65, "b")]
    finder = NoteFinder().fit_recordings([("usual.wav", marks)])
    assert finder.classes_.tolist() == ["a", "b"]

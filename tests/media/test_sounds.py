"""Sounds of rows: clips, slowed-down WAV files, and spectrograms."""

import io
import sys
import wave

import numpy as np
import pytest
from PIL import Image

from kernova.audio.reading import AUDIO_SUFFIXES
from kernova.errors import InputError, MediaError, MissingMediaError
from kernova.media.files import FolderFiles
from kernova.media.opening import open_discovery_data
from kernova.media.sounds import SoundInterval, SoundRows, colours, spectrogram_picture
from tests.media import messages

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

RATE = 32000


def tone(hertz, seconds, rate=RATE):
    return 0.3 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


@pytest.fixture
def song(tmp_path):
    """Two seconds of faint noise, with notes of 2 and 4 kHz at 0.5 and 1.5 s."""
    samples = np.random.default_rng(0).normal(0, 0.001, 2 * RATE)
    for start, hertz in ((0.5, 2000), (1.5, 4000)):
        first = round(start * RATE)
        samples[first : first + RATE // 10] += tone(hertz, 0.1)
    soundfile.write(tmp_path / "song.wav", samples, RATE)
    return tmp_path


def rows(folder, *intervals):
    ids = [f"note-{k}" for k in range(len(intervals))]
    return SoundRows(ids, FolderFiles(folder, AUDIO_SUFFIXES), intervals)


def played(content):
    with wave.open(io.BytesIO(content)) as stream:
        samples = np.frombuffer(stream.readframes(stream.getnframes()), "<i2") / 32767
        return samples, stream.getframerate()


def loudest_hertz(samples, rate):
    return float(np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples))


# --- sounds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("slowness", [1, 2, 4, 8])
def test_slowed_sounds_are_longer_and_lower_by_the_factor(song, slowness):
    samples, rate = played(rows(song, SoundInterval("song.wav", 0.5, 0.6)).sound(0, slowness))
    # With a context of 60 ms before and after.
    assert len(samples) / rate == pytest.approx(slowness * 0.22)
    assert loudest_hertz(samples, rate) == pytest.approx(2000 / slowness, rel=0.01)
    assert rate >= 8000
    assert np.abs(samples).max() == pytest.approx(0.8, abs=0.02)
    assert abs(samples[0]) < 0.01


def test_a_stretch_at_the_edge_has_nothing_before_it(song):
    clip = rows(song, SoundInterval("song.wav", 0.0, 0.2)).clip(0)
    assert (clip.start, clip.note_start, clip.note_end) == (0.0, 0.0, 0.2)
    assert clip.seconds == pytest.approx(0.3)
    assert len(clip.note) == 6400


def test_a_whole_recording_is_cut_to_half_a_minute(tmp_path):
    soundfile.write(tmp_path / "hour.wav", np.zeros(40 * 4000), 4000)
    clip = rows(tmp_path, SoundInterval("hour.wav")).clip(0)
    assert clip.seconds == pytest.approx(30.5)


def test_a_sample_rate_below_the_slowness_terminates(tmp_path):
    with wave.open(str(tmp_path / "odd.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(1)
        file.writeframes(b"\1\2" * 3)
    samples, rate = played(rows(tmp_path, SoundInterval("odd.wav")).sound(0, 8))
    assert (len(samples), rate) == (3 * 8192, 8192)


def test_silence_stays_silent(tmp_path):
    soundfile.write(tmp_path / "quiet.wav", np.zeros(4000), 4000)
    sounds = rows(tmp_path, SoundInterval("quiet.wav"))
    samples, rate = played(sounds.sound(0, 8))
    assert not samples.any()
    assert rate == 8000
    assert sounds.spectrogram(0).highest_hz == 2000


@pytest.mark.parametrize(
    ("interval", "sentence"),
    [
        (
            SoundInterval("song.wav", 2.5, 3.0),
            messages.BEYOND_THE_END,
        ),
        (
            SoundInterval("broken.wav"),
            "{folder}/broken.wav cannot be read as a recording: Format not recognised. Save it as "
            "WAV, FLAC or OGG.",
        ),
        (
            SoundInterval("gone.wav"),
            messages.NO_FILE.replace("{name}", "gone.wav"),
        ),
    ],
)
def test_unreadable_sounds_are_errors(song, interval, sentence):
    (song / "broken.wav").write_bytes(b"no sound at all" * 10)
    with pytest.raises(MediaError) as rejected:
        rows(song, interval).sound(0)
    assert str(rejected.value) == sentence.format(folder=song)


def test_rows_without_a_sound_and_other_slownesses_are_rejected(song):
    sounds = rows(song, None, SoundInterval("song.wav"))
    assert [sounds.has(row) for row in (0, 1, 2)] == [False, True, False]
    with pytest.raises(
        MissingMediaError, match=messages.NOTHING_OF_ROW.format(id="note-0", what="sound")
    ):
        sounds.sound(0)
    with pytest.raises(MissingMediaError, match=messages.NO_ROW.format(row=2, last=1)):
        sounds.spectrogram(2)
    with pytest.raises(MediaError, match=messages.OTHER_SLOWNESS):
        sounds.sound(1, 3)


def test_without_soundfile_the_error_names_the_package(song, monkeypatch):
    (song / "notes.csv").write_text("file,start,end,low\nsong.wav,0.5,0.6,1\n")
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(InputError) as rejected:
        open_discovery_data(song / "notes.csv", audio=song)
    assert str(rejected.value) == (
        "Reading recordings needs soundfile, which is not installed: pip install 'kernova[audio]'."
    )


# --- spectrograms ----------------------------------------------------------------------------


def brightness(png):
    """Return the brightness of each pixel, low frequencies first."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return np.asarray(image, dtype=float).sum(axis=2)[::-1]


def test_a_note_is_bright_at_its_time_and_frequency(song):
    drawn = rows(
        song, SoundInterval("song.wav", 0.5, 0.6), SoundInterval("song.wav", 1.5, 1.6)
    ).spectrogram(1)
    assert (drawn.lowest_hz, drawn.highest_hz) == (0.0, 5000.0)
    assert (drawn.start, drawn.seconds) == pytest.approx((1.44, 0.22))
    bright = brightness(drawn.png)
    height, width = bright.shape
    assert (width, height) == (640, 240)
    hertz = bright.sum(axis=1).argmax() / (height - 1) * drawn.highest_hz
    assert hertz == pytest.approx(4000, abs=60)
    loud = np.flatnonzero(bright[round(0.8 * height)] > 500)
    borders = np.array([drawn.note_start, drawn.note_end]) / drawn.seconds * width
    np.testing.assert_allclose([loud[0], loud[-1]], borders, atol=0.05 * width)


def test_a_faint_note_is_as_bright_as_a_loud_one(song):
    samples, _ = soundfile.read(song / "song.wav")
    soundfile.write(song / "faint.flac", samples / 300, RATE, subtype="PCM_24")
    loud, faint = (
        brightness(rows(song, SoundInterval(name, 0.5, 0.6)).spectrogram(0).png)
        for name in ("song.wav", "faint.flac")
    )
    assert np.abs(loud - faint).mean() < 0.02 * loud.max()


def test_small_spectrograms_are_pictures(song):
    picture = rows(song, SoundInterval("song.wav", 0.5, 0.6)).picture(0, 96)
    assert picture.media_type == "image/png"
    assert Image.open(io.BytesIO(picture.content)).size == (128, 85)


def test_a_short_call_is_visible_in_a_long_recording():
    samples = np.zeros(30 * RATE)
    samples[15 * RATE : 15 * RATE + 300] = tone(3000, 300 / RATE)
    bright = brightness(spectrogram_picture(samples, RATE, 16000, 200, 64).content)
    assert bright.max() > 700


def test_colours_get_lighter_step_by_step():
    linear = (colours() / 255.0) ** 2.2 @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(linear) > -1e-4).all()
    assert linear[0] < 0.01
    assert linear[-1] > 0.85

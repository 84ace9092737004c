"""Recordings: every sample width, rate and channel, truncated and damaged files."""

import itertools
import re
import struct
import sys
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import resample_poly

from kernova.audio.reading import AUDIO_SUFFIXES, Audio, audio_blocks, audio_info, read_audio
from kernova.errors import InputError
from tests.audio import messages

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

# Whole 128ths: every format but OGG keeps them exactly.
STEPS = np.random.default_rng(0).integers(-128, 128, size=(4000, 2)) / 128


def noise(n_samples, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, n_samples)


def whole(path, **options):
    return np.concatenate([np.zeros(0), *audio_blocks(path, **options)])


@pytest.mark.parametrize(
    ("ending", "subtype"),
    [
        *itertools.product(["wav"], ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"]),
        *itertools.product(["flac"], ["PCM_S8", "PCM_16", "PCM_24"]),
    ],
)
def test_every_width_and_channel_is_read_exactly(tmp_path, ending, subtype):
    path = tmp_path / f"song.{ending}"
    soundfile.write(path, STEPS, 8000, subtype=subtype)
    assert audio_info(path)[1:] == (8000, 2, 4000, 0.5, 0)
    assert_array_equal(read_audio(path).samples, STEPS.mean(axis=1))
    for channel in (1, 2, np.int64(2)):
        audio = read_audio(path, channel=channel)
        assert audio.sample_rate == 8000
        assert_array_equal(audio.samples, STEPS[:, channel - 1])
        assert_array_equal(whole(path, channel=channel, block_seconds=0.01), audio.samples)


def test_ogg_comes_close(tmp_path):
    path = tmp_path / "song.ogg"
    tone = 0.5 * np.sin(2 * np.pi * 440 / 32000 * np.arange(32000))
    soundfile.write(path, tone, 32000)
    assert_allclose(read_audio(path).samples, tone, atol=0.02)
    assert_array_equal(whole(path, block_seconds=0.03), read_audio(path).samples)
    # OGG finds a place in the middle by searching.
    assert_array_equal(read_audio(path, 0.25, 0.5).samples, read_audio(path).samples[8000:16000])


# --- sample rates ------------------------------------------------------------------------------


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    n_samples=st.integers(0, 3000),
    rates=st.lists(
        st.sampled_from([8000, 11025, 16000, 22050, 32000, 44100, 48000, 4850]),
        min_size=2,
        max_size=2,
    ),
    block_seconds=st.floats(1e-5, 0.5),
    borders=st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted),
)
def test_neither_blocks_nor_borders_change_a_resampled_recording(
    tmp_path, n_samples, rates, block_seconds, borders
):
    path = tmp_path / "noise.wav"
    own_rate, rate = rates
    samples = noise(n_samples)
    soundfile.write(path, samples, own_rate, subtype="DOUBLE")
    expected = samples if own_rate == rate else resample_poly(samples, rate, own_rate)
    got = read_audio(path, sample_rate=rate)
    assert got.sample_rate == rate
    assert_allclose(got.samples, expected if n_samples else [], rtol=0, atol=1e-12)
    blocks = list(audio_blocks(path, sample_rate=rate, block_seconds=block_seconds))
    assert all(len(block) for block in blocks)
    assert_array_equal(np.concatenate([np.zeros(0), *blocks]), got.samples)

    start, end = (border * n_samples / own_rate for border in borders)
    # By the seconds that were passed: a border just below 1 may round to the end of the file.
    is_within = end < n_samples / own_rate
    part = slice(round(start * rate), round(end * rate) if is_within else None)
    assert_array_equal(
        whole(path, start=start, end=end, sample_rate=rate, block_seconds=block_seconds),
        got.samples[part],
    )


@pytest.mark.parametrize("rate", [22050, 44100])
def test_resampling_keeps_a_tone(tmp_path, rate):
    path = tmp_path / "tone.wav"

    def tone(rate):
        return 0.5 * np.sin(2 * np.pi * 3000 * np.arange(rate) / rate)

    soundfile.write(path, tone(32000), 32000, subtype="FLOAT")
    # The filter's ripple is below a thousandth; at the ends, silence shines in.
    inside = slice(rate // 10, -rate // 10)
    got = read_audio(path, sample_rate=rate).samples
    assert_allclose(got[inside], tone(rate)[inside], atol=1e-3)


@pytest.mark.parametrize("sample_rate", [None, 22050])
def test_memory_does_not_grow_with_the_recording(tmp_path, sample_rate):
    def peak(seconds):
        path = tmp_path / f"{seconds}.wav"
        soundfile.write(path, np.zeros(seconds * 32000), 32000)
        tracemalloc.start()
        for _ in audio_blocks(path, sample_rate=sample_rate, block_seconds=0.5):
            pass
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(1)  # what is imported and designed once
    assert peak(40) < 1.1 * peak(4)


# --- truncated, empty, silent ------------------------------------------------------------------


def wav_with_size(path, samples, claimed):
    soundfile.write(path, samples, 1000, subtype="PCM_16")
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, content.index(b"data") + 4, claimed)
    path.write_bytes(content)


def test_the_rest_of_a_truncated_wav_is_read_with_a_remark(tmp_path):
    path = tmp_path / "cut.wav"
    soundfile.write(path, STEPS, 1000, subtype="PCM_16")
    path.write_bytes(path.read_bytes()[: 44 + 4 * 1500 + 3])
    info = audio_info(path)
    assert info[2:] == (2, 1500, 1.5, 2500)
    assert info.remark == messages.TRUNCATED.format(path=path)
    assert_array_equal(read_audio(path, channel=2).samples, STEPS[:1500, 1])
    assert len(whole(path, sample_rate=500)) == 750


def test_missing_samples_are_counted_after_other_chunks(tmp_path):
    path = tmp_path / "cut.wav"
    soundfile.write(path, STEPS, 1000, subtype="PCM_16")
    content = path.read_bytes()
    remarks = b"note\3\0\0\0abc\0"  # of odd length, and so followed by a zero
    path.write_bytes(content[:12] + remarks + content[12 : 44 + 4 * 1500])
    assert audio_info(path)[2:] == (2, 1500, 1.5, 2500)


@pytest.mark.parametrize("claimed", [0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000])
def test_a_wav_from_a_pipe_is_whole(tmp_path, claimed):
    path = tmp_path / "piped.wav"
    wav_with_size(path, STEPS[:, 0], claimed)
    assert audio_info(path)[3:] == (4000, 4.0, 0)
    assert audio_info(path).remark == ""
    assert_array_equal(read_audio(path).samples, STEPS[:, 0])


@pytest.mark.parametrize("first", [0.0, 0.5])
def test_sound_behind_an_unfinished_header_is_no_empty_recording(tmp_path, first):
    path = tmp_path / "unfinished.wav"
    wav_with_size(path, np.full(100, first), 0)
    with pytest.raises(InputError) as raised:
        audio_info(path)
    assert str(raised.value) == messages.UNFINISHED_HEADER.format(path=path)


@pytest.mark.parametrize("ending", ["wav", "ogg"])
def test_a_recording_of_no_length_has_no_samples(tmp_path, ending):
    path = tmp_path / f"none.{ending}"
    soundfile.write(path, np.zeros(0), 32000)
    assert audio_info(path)[3:] == (0, 0.0, 0)
    assert list(audio_blocks(path)) == []
    for rate in (None, 22050):
        audio = read_audio(path, sample_rate=rate)
        assert (len(audio.samples), audio.seconds) == (0, 0.0)


def test_an_empty_wav_may_hold_other_chunks(tmp_path):
    path = tmp_path / "none.wav"
    soundfile.write(path, np.zeros(0), 32000)
    path.write_bytes(path.read_bytes() + b"LIST\4\0\0\0INFO")
    assert audio_info(path).n_samples == 0


@pytest.mark.parametrize("rate", [None, 22050, 48000])
def test_silence_is_zero(tmp_path, rate):
    path = tmp_path / "silence.wav"
    soundfile.write(path, np.zeros(32000), 32000, subtype="PCM_U8")
    assert not read_audio(path, sample_rate=rate).samples.any()


def test_rounded_borders_at_the_end_mean_the_end(tmp_path):
    path = tmp_path / "note.wav"
    soundfile.write(path, STEPS[:1154, 0], 10000)
    for rate in (None, 4000):
        audio = read_audio(path, 0.1, 0.12, sample_rate=rate)  # the file ends at 0.1154 s
        assert_array_equal(audio.samples, read_audio(path, 0.1, sample_rate=rate).samples)
    assert_array_equal(read_audio(path, 0.1, 0.12).samples, STEPS[1000:1154, 0])


def test_sound_in_memory_has_a_length():
    assert Audio(np.zeros(11025), 22050).seconds == 0.5


# --- bad input ---------------------------------------------------------------------------------


def song(path):
    soundfile.write(path, STEPS, 8000)


def floats(value):
    def write(path):
        samples = np.zeros((3000, 2))
        samples[2000, 1] = value
        soundfile.write(path, samples, 1000, subtype="FLOAT")

    return write


def cut_flac(path):
    soundfile.write(path, noise(64000), 32000, format="FLAC")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def piped_flac(path):
    soundfile.write(path, noise(64000), 32000, format="FLAC")
    content = bytearray(path.read_bytes())
    content[21] &= 0xF0  # the number of samples is 36 bits long
    content[22:26] = bytes(4)
    path.write_bytes(content)


BAD_FILES = {
    "missing.wav": lambda path: None,
    "folder.wav": lambda path: path.mkdir(),
    "empty.wav": lambda path: path.touch(),
    "words.wav": lambda path: path.write_text("hello" * 100),
    "samples.raw": lambda path: path.write_bytes(b"\1\2" * 100),
    "head.wav": lambda path: (song(path), path.write_bytes(path.read_bytes()[:30])),
    "nan.wav": floats(np.nan),
    "inf.wav": floats(-np.inf),
    "piped.flac": piped_flac,
    "cut.flac": cut_flac,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_rejected(tmp_path, name):
    path = tmp_path / name
    BAD_FILES[name](path)
    with pytest.raises(InputError) as raised:
        whole(path, block_seconds=0.1)
    # The part of a cut FLAC that can be read depends on its encoder.
    seconds = re.search(r"from (0\.\d00) s", str(raised.value)) or [None, None]
    expected = messages.RECORDINGS[name].format(path=path, seconds=seconds[1])
    assert str(raised.value) == expected


def test_every_message_has_a_file():
    assert BAD_FILES.keys() == messages.RECORDINGS.keys()


def test_sound_before_the_damage_can_be_read(tmp_path):
    path = tmp_path / "cut.flac"
    cut_flac(path)
    assert_allclose(read_audio(path, 0.1, 0.5).samples, noise(64000)[3200:16000], atol=1e-4)


def test_forged_sample_rates_are_not_resampled(tmp_path):
    path = tmp_path / "song.wav"
    soundfile.write(path, np.zeros(44_000), 1)
    with pytest.raises(InputError, match=re.escape(messages.RATE_TOO_LOW.format(path=path))):
        next(audio_blocks(path, sample_rate=32_000))
    soundfile.write(path, np.zeros(500), 500)
    assert len(read_audio(path, sample_rate=32_000).samples) == 32_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"channel": channel}, messages.NO_CHANNEL) for channel in (0, 3, True, 1.0, "left")),
        ({"start": 0.2, "end": 0.6}, messages.PAST_THE_END),
        ({"start": 2, "end": 2}, messages.PAST_THE_END),
        *(
            ({"start": start, "end": end}, messages.NO_INTERVAL)
            for start, end in [(0.3, 0.2), (-0.1, 0.2), (float("nan"), 0.2), (0.1, float("inf"))]
        ),
        ({"sample_rate": 0}, messages.NOT_POSITIVE.format(name="sample_rate", value=0)),
        ({"sample_rate": 0.5}, messages.NOT_WHOLE),
        ({"sample_rate": 2**30 + 1}, messages.NO_SIMPLE_RATIO),
        ({"block_seconds": 0}, messages.NOT_POSITIVE.format(name="block_seconds", value=0)),
        (
            {"block_seconds": np.inf},
            messages.NOT_POSITIVE.format(name="block_seconds", value="inf"),
        ),
    ],
)
def test_bad_options_are_rejected(tmp_path, options, message):
    path = tmp_path / "song.wav"
    song(path)
    with pytest.raises(InputError) as raised:
        whole(path, **options)
    assert str(raised.value) == message.format(path=path, **options)


def test_an_interval_that_starts_past_the_end_is_rejected(tmp_path):
    path = tmp_path / "song.wav"
    song(path)
    with pytest.raises(InputError) as raised:
        whole(path, start=2.0)
    assert str(raised.value) == messages.PAST_THE_END.format(path=path, start=2, end=2)


def test_the_list_of_suffixes_covers_formats_that_are_read(tmp_path):
    for suffix in AUDIO_SUFFIXES:
        path = tmp_path / f"song{suffix}"
        kind = {".oga": "OGG", ".aif": "AIFF"}.get(suffix, suffix[1:].upper())
        soundfile.write(path, STEPS, 8000, format=kind)
        assert audio_info(path).n_channels == 2


def test_without_soundfile_the_message_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(InputError) as raised:
        audio_info(tmp_path / "song.wav")
    assert str(raised.value) == messages.NO_SOUNDFILE


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    ending=st.sampled_from(["wav", "flac", "ogg"]),
    flips=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6),
    kept=st.integers(1, 9000),
)
def test_damaged_files_are_read_or_rejected(tmp_path, ending, flips, kept):
    path = tmp_path / f"damaged.{ending}"
    soundfile.write(path, STEPS, 8000)
    content = bytearray(path.read_bytes())[:kept]
    for position, value in flips:
        content[position % len(content)] = value
    path.write_bytes(content)
    with suppress(InputError):
        for rate in (None, 11025):
            assert all(np.isfinite(block).all() for block in audio_blocks(path, sample_rate=rate))

"""Frames of sound against literal loops over samples; blocks of any size change no bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.fft import next_fast_len

from kernova.audio.frames import (
    PAPER_FRAMING,
    SONG_BANDS,
    Bands,
    Framing,
    band_edges,
    band_power_blocks,
    band_powers,
    dct_magnitudes,
    frame_blocks,
    frames,
    framing,
)
from kernova.errors import InputError
from tests.audio import literal, messages

NOISE = np.random.default_rng(0).normal(size=300_000)


def cut(samples, lengths):
    """Pieces of these lengths, and the rest."""
    return np.split(samples, np.minimum(np.cumsum(lengths, dtype=int), len(samples)))


@given(st.integers(0, 300), st.integers(1, 40), st.integers(1, 60))
def test_frames_are_all_windows_that_fit(n_samples, width, hop):
    shape = Framing(width, hop, 1000.0)
    found = frames(NOISE[:n_samples], shape)
    np.testing.assert_array_equal(found, literal.frames(NOISE[:n_samples], width, hop))
    assert len(found) == shape.count(n_samples)


@given(
    st.integers(0, 30_000),
    st.integers(1, 40),
    st.integers(1, 60),
    st.lists(st.integers(0, 12_000), max_size=6),
)
def test_blocks_lose_no_frame(n_samples, width, hop, lengths):
    shape = Framing(width, hop, 1000.0)
    pieces = [np.empty((0, width)), *frame_blocks(cut(NOISE[:n_samples], lengths), shape)]
    np.testing.assert_array_equal(np.vstack(pieces), frames(NOISE[:n_samples], shape))


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_powers_do_not_depend_on_blocks_by_a_bit(size):
    shape = framing(8000)
    samples = NOISE[: 40_000 if size > 1 else 18_000]
    blocks = (samples[i : i + size] for i in range(0, len(samples), size))
    pieces = np.vstack([*band_power_blocks(blocks, shape)])
    np.testing.assert_array_equal(pieces, band_powers(samples, shape))


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(2, 30))
def test_magnitudes_are_the_sums_of_their_definition(start, width):
    frame = NOISE[start : start + width]
    expected = literal.dct_magnitudes(frame)
    np.testing.assert_allclose(dct_magnitudes(frame[None])[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sample_rate", [8000, 16_000, 22_050, 32_000, 44_100, 96_000])
@pytest.mark.parametrize("bands", [SONG_BANDS, Bands(40, 0.0, 3000.0)])
def test_powers_are_means_under_triangles(sample_rate, bands):
    shape = framing(sample_rate)
    frame = NOISE[: shape.width]
    edges = band_edges(bands, sample_rate)
    n_fft = next_fast_len(shape.width, real=True)
    expected = literal.band_powers(frame, sample_rate, n_fft, edges)
    np.testing.assert_allclose(band_powers(frame, shape, bands)[0], expected, rtol=3e-3)


def test_edges_are_even_on_the_mel_scale():
    edges = band_edges(SONG_BANDS, 32_000)
    assert len(edges) == 22
    assert edges[[0, -1]] == pytest.approx([500, 11_000])
    steps = np.diff(1127 * np.log1p(edges / 700))
    np.testing.assert_allclose(steps, steps[0], rtol=1e-3)
    assert band_edges(SONG_BANDS, 16_000)[-1] == pytest.approx(8000)


def test_white_noise_has_its_variance_in_every_band_at_any_rate():
    for sample_rate in (16_000, 32_000, 44_100):
        powers = band_powers(3.0 * NOISE, framing(sample_rate))
        np.testing.assert_allclose(powers.mean(axis=0), 9.0, rtol=0.1)


def test_a_tone_is_loudest_in_its_own_band():
    edges = band_edges(SONG_BANDS, 32_000)
    for band, frequency in enumerate(edges[1:-1]):
        tone = np.sin(2 * np.pi * frequency * np.arange(6400) / 32_000)
        assert band_powers(tone, framing(32_000)).mean(axis=0).argmax() == band


def test_sound_shorter_than_a_frame_has_no_frames():
    short = NOISE[:95]
    assert frames(short, PAPER_FRAMING).shape == (0, 96)
    assert list(frame_blocks([short], PAPER_FRAMING)) == []
    assert dct_magnitudes(frames(short, PAPER_FRAMING)).shape == (0, 96)
    assert band_powers(short, framing(32_000)).shape == (0, 20)
    assert band_powers([], framing(32_000)).shape == (0, 20)


def test_frames_stand_for_a_hop_around_their_middle():
    shape = framing(32_000)
    assert shape.hop_seconds == 0.002
    assert shape.seconds([0, 10]) == pytest.approx([0.003, 0.023])
    counted = np.arange(50)
    np.testing.assert_array_equal(shape.frames(shape.seconds(counted)), counted)
    # A sound that begins at 0.1 s makes a step of power in the middle of the first loud frame.
    samples = np.where(np.arange(6400) < 3200, 0.0, NOISE[:6400])
    powers = band_powers(samples, shape).mean(axis=1)
    first = int((powers > powers[-20:].mean() / 2).argmax())
    assert abs(shape.seconds(first) - 0.1) <= shape.hop_seconds


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: frames(np.zeros((5, 2)), PAPER_FRAMING), messages.NOT_ONE_CHANNEL),
        (lambda: band_powers([0.0, np.nan], PAPER_FRAMING), messages.SAMPLES_NOT_FINITE),
        (lambda: band_powers([0.0, -np.inf], PAPER_FRAMING), messages.SAMPLES_NOT_FINITE),
        (lambda: framing(100), messages.NO_FRAMING),
        (lambda: band_powers(NOISE[:100], framing(1000)), messages.NO_BANDS),
    ],
)
def test_bad_samples_are_rejected(call, message):
    with pytest.raises(InputError) as raised:
        call()
    assert str(raised.value) == message

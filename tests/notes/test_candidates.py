"""Candidates against rows written out, and chosen intervals against every possible choice."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.audio.frames import Bands, framing
from kernova.errors import InputError
from kernova.notes.candidates import best_nonoverlapping, note_candidates, note_lengths
from kernova.notes.description import band_weights, describe_notes, note_prototypes
from kernova.notes.features import FeatureSettings, floor_level, note_rows
from tests.notes import literal, messages

SETTINGS = FeatureSettings(framing(22050), Bands(n_bands=5), n_positions=6)


def drawn_levels(rng, n_frames):
    """Slow waves in each band, loud almost everywhere."""
    steps = rng.normal(size=(n_frames, SETTINGS.bands.n_bands))
    return np.cumsum(steps, axis=0) * 0.3 + floor_level(SETTINGS) + 2.0


def known_from(levels, rng, n_classes=3, n_notes=4):
    starts = rng.integers(0, len(levels) - 30, size=n_classes * n_notes)
    lengths = rng.integers(12, 28, size=len(starts))
    codes = rng.permutation(np.repeat(np.arange(n_classes), n_notes))
    rows = note_rows(levels, starts, starts + lengths, SETTINGS)
    return describe_notes(rows, codes, SETTINGS.bands.n_bands), lengths


def soft_scores(known, rows):
    """s_c = -log(1 - q_c) / 2, by the description itself."""
    q = np.column_stack([one.membership(rows) for one in known.classes])
    return -np.log1p(-q) / 2


def possibilities(known, rows):
    squared = ((rows[:, None] - known.rows) ** 2).sum(axis=2)
    return known.scorer()(squared.astype(np.float32))


@pytest.mark.parametrize("n_frames", [40, 313, 1500])
@pytest.mark.parametrize("method", ["mddkm", "pknn"])
def test_candidates_are_those_of_rows_written_out(n_frames, method):
    rng = np.random.default_rng(n_frames)
    levels = drawn_levels(rng, n_frames)
    description, n_frames_of_notes = known_from(levels, rng)
    known = note_prototypes(description) if method == "pknn" else description
    lengths = note_lengths(n_frames_of_notes)
    least = 0.4
    found = note_candidates(levels, known, lengths, SETTINGS, min_similarity=least)
    found_at = {
        (start, stop): (code, similarity)
        for start, stop, code, similarity in zip(*found, strict=True)
    }
    n_checked = 0
    for length in lengths:
        starts = np.arange(0, len(levels) - length + 1, 2)
        if len(starts) == 0:
            continue
        rows = note_rows(levels, starts, starts + length, SETTINGS) * known.weights
        scores = soft_scores(known, rows) if method == "mddkm" else possibilities(known, rows)
        codes = scores.argmax(axis=1)
        similarity = scores[np.arange(len(codes)), codes] / known.typical_scores[codes]
        mean_level = np.array([levels[s : s + length].mean() for s in starts])
        is_loud = mean_level > floor_level(SETTINGS) + 1.0
        for start, code, like, loud in zip(starts, codes, similarity, is_loud, strict=True):
            interval = (start, start + length)
            # Single precision: what lies at a limit may fall to either side of it.
            if loud and like > least + 0.01:
                assert found_at[interval][1] == pytest.approx(like, abs=0.01)
                margin = np.diff(np.sort(scores[start // 2]))[-1]
                assert found_at[interval][0] == code or margin < 0.01
                n_checked += 1
            elif not loud or like < least - 0.01:
                assert interval not in found_at
    assert n_checked > 0


def test_silence_has_no_candidates():
    rng = np.random.default_rng(0)
    levels = drawn_levels(rng, 400)
    known, lengths = known_from(levels, rng)
    silent = np.full((3000, SETTINGS.bands.n_bands), floor_level(SETTINGS))
    found = note_candidates(silent, known, note_lengths(lengths), SETTINGS, min_similarity=0.0)
    assert len(found.starts) == len(found.similarity) == 0


def test_recordings_shorter_than_any_note_have_no_candidates():
    rng = np.random.default_rng(1)
    levels = drawn_levels(rng, 400)
    known, lengths = known_from(levels, rng)
    for n_frames in (0, 1, 5):
        short = levels[:n_frames]
        found = note_candidates(short, known, note_lengths(lengths), SETTINGS, min_similarity=0.0)
        assert len(found.starts) == 0


def test_bands_that_vary_within_classes_count_less():
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1], 20)
    levels = rng.normal(size=(40, 3, 4)) * [0.1, 1.0, 1.0, 5.0] + codes[:, None, None] * 9
    rows = np.column_stack([levels.reshape(40, -1), np.zeros(40)])
    weights = band_weights(rows, codes, 4)
    np.testing.assert_array_equal(weights[:4], weights[4:8])
    assert weights[0] > weights[1] > weights[3]
    assert weights[-1] == 1.0
    assert (weights[:4] ** 2).mean() == pytest.approx(1.0)


def test_lengths_reach_beyond_the_shortest_and_longest_note():
    lengths = note_lengths(np.array([20, 60]))
    assert lengths[0] == 17
    assert lengths[-1] == 71
    assert (np.diff(lengths) > 0).all()
    assert note_lengths(np.array([1]))[0] == 1


def test_classes_of_a_single_note_can_be_described():
    rng = np.random.default_rng(3)
    levels = drawn_levels(rng, 200)
    rows = note_rows(levels, [10, 90], [30, 115], SETTINGS)
    known = describe_notes(rows, np.array([0, 1]), SETTINGS.bands.n_bands)
    scores = known.scorer()(
        ((known.rows[:, None] - known.rows) ** 2).sum(axis=2).astype(np.float32)
    )
    np.testing.assert_array_equal(scores.argmax(axis=1), [0, 1])
    assert np.isfinite(scores).all()


# --- intervals that do not overlap --------------------------------------------------------------

# Sixteenths add up without rounding, so that totals can be compared exactly.
INTERVALS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8), st.integers(-16, 48).map(lambda g: g / 16)),
    max_size=9,
)


@given(INTERVALS, st.sampled_from([1, 0.25]))
def test_no_other_choice_gains_more(intervals, unit):
    starts = [start * unit for start, _, _ in intervals]
    stops = [(start + length) * unit for start, length, _ in intervals]
    gains = [gain for _, _, gain in intervals]
    chosen = best_nonoverlapping(starts, stops, gains)
    for a, b in pairwise(chosen):
        assert stops[a] <= starts[b]
    assert all(gains[i] > 0 for i in chosen)
    assert sum(gains[i] for i in chosen) == literal.best_gain(starts, stops, gains)


def test_ties_go_to_the_interval_that_stops_first():
    assert best_nonoverlapping([0, 0, 0], [6, 5, 5], [1.0, 1.0, 1.0]).tolist() == [1]
    assert best_nonoverlapping([0, 0, 3], [6, 3, 6], [2.0, 1.0, 1.0]).tolist() == [0]
    assert best_nonoverlapping([0, 3, 0], [3, 6, 6], [1.0, 1.0, 2.0]).tolist() == [0, 1]


def test_many_intervals_cross_blocks():
    # Tiles of one frame beside longer intervals that gain a little less than their tiles.
    n = 70_000
    starts = np.r_[np.arange(n), np.arange(0, n - 10, 3)]
    stops = np.r_[np.arange(1, n + 1), np.arange(0, n - 10, 3) + 10]
    gains = np.r_[np.ones(n), np.full(len(starts) - n, 9.75)]
    np.testing.assert_array_equal(best_nonoverlapping(starts, stops, gains), np.arange(n))


def test_nothing_to_choose():
    assert best_nonoverlapping([], [], []).tolist() == []
    assert best_nonoverlapping([0.0], [1.0], [0.0]).tolist() == []


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        (([0, 1], [1], [1.0]), messages.INTERVAL_SHAPES),
        (([0.0], [np.nan], [1.0]), messages.INTERVALS_NOT_FINITE),
        (([0, 3], [1, 3], [1.0, 1.0]), messages.EMPTY_INTERVAL),
    ],
)
def test_bad_intervals_are_rejected(intervals, message):
    with pytest.raises(InputError) as raised:
        best_nonoverlapping(*intervals)
    assert str(raised.value) == message

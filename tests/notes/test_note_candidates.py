"""Candidates without rows are what rows would give, stretch by stretch."""

import numpy as np
import pytest

from kernova.audio.frames import Bands, framing
from kernova.notes.candidates import note_candidates, note_lengths
from kernova.notes.description import band_weights, describe_notes, possible_notes
from kernova.notes.features import NoteLook, note_rows, quiet_level

LOOK = NoteLook(framing(22050), Bands(n_bands=5), n_positions=6)


def drawn_levels(rng, n_frames):
    """Slow waves in each band, loud almost everywhere."""
    steps = rng.normal(size=(n_frames, LOOK.bands.n_bands))
    return np.cumsum(steps, axis=0) * 0.3 + quiet_level(LOOK) + 2.0


def known_from(levels, rng, n_classes=3, n_notes=4):
    starts = rng.integers(0, len(levels) - 30, size=n_classes * n_notes)
    lengths = rng.integers(12, 28, size=len(starts))
    codes = rng.permutation(np.repeat(np.arange(n_classes), n_notes))
    rows = note_rows(levels, starts, starts + lengths, LOOK)
    return describe_notes(rows, codes, LOOK.bands.n_bands), lengths


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
    known = possible_notes(description) if method == "pknn" else description
    lengths = note_lengths(n_frames_of_notes)
    least = 0.4
    found = note_candidates(levels, known, lengths, LOOK, least_likeness=least)
    found_at = {
        (start, stop): (code, likeness) for start, stop, code, likeness in zip(*found, strict=True)
    }
    n_checked = 0
    for length in lengths:
        starts = np.arange(0, len(levels) - length + 1, 2)
        if len(starts) == 0:
            continue
        rows = note_rows(levels, starts, starts + length, LOOK) * known.weights
        scores = soft_scores(known, rows) if method == "mddkm" else possibilities(known, rows)
        codes = scores.argmax(axis=1)
        likeness = scores[np.arange(len(codes)), codes] / known.typical_scores[codes]
        mean_level = np.array([levels[s : s + length].mean() for s in starts])
        is_loud = mean_level > quiet_level(LOOK) + 1.0
        for start, code, like, loud in zip(starts, codes, likeness, is_loud, strict=True):
            place = (start, start + length)
            # Single precision: what lies at a limit may fall to either side of it.
            if loud and like > least + 0.01:
                assert found_at[place][1] == pytest.approx(like, abs=0.01)
                margin = np.diff(np.sort(scores[start // 2]))[-1]
                assert found_at[place][0] == code or margin < 0.01
                n_checked += 1
            elif not loud or like < least - 0.01:
                assert place not in found_at
    assert n_checked > 0


def test_silence_has_no_candidates():
    rng = np.random.default_rng(0)
    levels = drawn_levels(rng, 400)
    known, lengths = known_from(levels, rng)
    silent = np.full((3000, LOOK.bands.n_bands), quiet_level(LOOK))
    found = note_candidates(silent, known, note_lengths(lengths), LOOK, least_likeness=0.0)
    assert len(found.starts) == len(found.likeness) == 0


def test_recordings_shorter_than_any_note_have_no_candidates():
    rng = np.random.default_rng(1)
    levels = drawn_levels(rng, 400)
    known, lengths = known_from(levels, rng)
    for n_frames in (0, 1, 5):
        short = levels[:n_frames]
        found = note_candidates(short, known, note_lengths(lengths), LOOK, least_likeness=0.0)
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
    rows = note_rows(levels, [10, 90], [30, 115], LOOK)
    known = describe_notes(rows, np.array([0, 1]), LOOK.bands.n_bands)
    scores = known.scorer()(
        ((known.rows[:, None] - known.rows) ** 2).sum(axis=2).astype(np.float32)
    )
    np.testing.assert_array_equal(scores.argmax(axis=1), [0, 1])
    assert np.isfinite(scores).all()

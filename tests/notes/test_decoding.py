"""Decoding of frame scores: the paper's six steps literally, and the search for the best notes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.errors import InputError
from kernova.notes.decoding import FrameSegment, decode_six_steps, decode_viterbi
from tests.notes import literal, messages


def back_to_back(*notes, n_classes=2, score=3.0):
    """Scores of notes, each (frames, class), without a gap; class -1 is silence."""
    S = np.zeros((sum(n for n, _ in notes), n_classes))
    start = 0
    for n, label in notes:
        if label >= 0:
            S[start : start + n, label] = score
        start += n
    return S


@st.composite
def scores_with_runs(draw, max_frames=6, levels=(0.0, 0.5, 1.0, 1.5, 2.0)):
    """Scores that stay the same for a while, so that runs of every length occur."""
    n_classes = draw(st.integers(1, 3))
    S = []
    for _ in range(draw(st.integers(1, 14))):
        row = draw(st.lists(st.sampled_from(levels), min_size=n_classes, max_size=n_classes))
        S += [row] * draw(st.integers(1, max_frames))
    return np.array(S)


def test_six_steps_give_the_reference_decisions(reference_vectors):
    stored = reference_vectors("ref_decision.npz")
    frames = {"n_short": int(stored["n_short"]), "n_sure": int(stored["n_sure"])}
    found = decode_six_steps(stored["S"], float(stored["tau"]), **frames)
    np.testing.assert_array_equal(found.labels, stored["labels"])
    np.testing.assert_array_equal([segment[:3] for segment in found.segments], stored["segments"])
    for edge in ("edge60", "edge61"):
        labels = decode_six_steps(stored[f"S_{edge}"], float(stored["tau"]), **frames).labels
        np.testing.assert_array_equal(labels, stored[f"labels_{edge}"])


@pytest.mark.parametrize(("n_largest", "n_notes"), [(60, 1), (61, 2)])
def test_six_steps_merge_neighbours_without_a_long_run(n_largest, n_notes):
    S = back_to_back((20, -1), (n_largest, 0), (n_largest, 1), (20, -1))
    assert len(decode_six_steps(S, 1.0).segments) == n_notes
    assert len(decode_viterbi(S, 1.0).segments) == 2


@given(scores_with_runs(), st.integers(1, 5), st.integers(1, 8), st.sampled_from([0.0, 1.0, 1.2]))
def test_six_steps_are_the_literal_ones(S, n_short, n_sure, tau):
    found = decode_six_steps(S, tau, n_short=n_short, n_sure=n_sure)
    assert found.labels.tolist() == literal.six_steps(S.tolist(), tau, n_short, n_sure)
    for segment in found.segments:
        inside = S[segment.start : segment.stop, segment.label]
        assert segment.score == pytest.approx(inside.mean())


@given(
    scores_with_runs(),
    st.lists(st.integers(1, 4), min_size=3, max_size=3),
    st.none() | st.lists(st.integers(0, 5), min_size=3, max_size=3),
    st.integers(0, 3),
    st.sampled_from([0.0, 0.25, 2.0]),
)
def test_no_sequence_of_notes_is_better(S, shortest, spare, gap, note_cost):
    n_frames, n_classes = S.shape
    shortest = shortest[:n_classes]
    longest = spare and [a + b for a, b in zip(shortest, spare, strict=False)]
    found = decode_viterbi(
        S, 0.75, shortest=shortest, longest=longest, gap=gap, note_cost=note_cost
    )
    limits = longest or [n_frames] * n_classes
    end = -gap
    labels = np.full(n_frames, -1)
    for start, stop, label, _ in found.segments:
        assert start >= end + gap
        assert shortest[label] <= stop - start <= limits[label]
        labels[start:stop] = label
        end = stop
    np.testing.assert_array_equal(found.labels, labels)
    gains = S - 0.75
    own = sum(gains[note.start : note.stop, note.label].sum() for note in found.segments)
    total = own - note_cost * len(found.segments)
    assert total == literal.best_total(gains.tolist(), shortest, limits, gap, note_cost)


def test_the_search_keeps_long_notes_whole_up_to_the_longest():
    S = back_to_back((50, -1), (5000, 0), (50, 1), (400, 1), (3, -1), (40, 1))
    found = decode_viterbi(S, 1.0).segments
    assert [note[:3] for note in found] == [(50, 5050, 0), (5050, 5543, 1)]
    found = decode_viterbi(S, 1.0, longest=[10_000, 250], note_cost=1.0).segments
    assert [note[:3] for note in found][:1] == [(50, 5050, 0)]
    assert len(found) == 3 + 1
    assert all(note.stop - note.start <= 250 for note in found[1:])


def test_no_frames_no_notes():
    for decode in (decode_six_steps, decode_viterbi):
        found = decode(np.empty((0, 2)), 1.0)
        assert found.labels.shape == (0,)
        assert found.segments == []


def test_scores_of_a_segment_are_those_before_the_threshold():
    S = back_to_back((40, 0))
    S[:10, 0] = 1.5
    expected = [FrameSegment(0, 40, 0, 2.625)]
    assert decode_six_steps(S, 1.0).segments == expected
    assert decode_viterbi(S, 1.0).segments == expected


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([1.0], {}, messages.SCORES_SHAPE),
        ([[np.nan]], {}, messages.SCORES_NOT_FINITE),
        ([[1.0]], {"shortest": 0}, messages.SHORTEST_OF_ZERO),
        ([[1.0]], {"longest": 20}, messages.SHORTEST_ABOVE_LONGEST),
        ([[1.0]], {"shortest": [1, 2]}, messages.SHORTEST_PER_CLASS),
    ],
)
def test_bad_scores_and_durations_are_rejected(scores, options, message):
    with pytest.raises(InputError) as raised:
        decode_viterbi(scores, 1.0, **options)
    assert str(raised.value) == message

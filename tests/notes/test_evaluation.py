"""Evaluation of found notes, against other computations of the same counts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from sklearn.metrics import precision_recall_fscore_support

from kernova.audio.annotations.segments import Segment
from kernova.errors import InputError
from kernova.notes.evaluation import (
    NONE,
    Compared,
    check_notes,
    frame_labels,
    onset_pairs,
    overlap_pairs,
    threshold_curve,
    without_rounding_overlaps,
)
from tests.notes import messages

SECONDS = 4.0
CLASSES = ["a", "b"]


@st.composite
def songs(draw, labels=("a", "b", "x")):
    """Notes that do not overlap, on a grid of milliseconds, with scores."""
    times = draw(st.lists(st.integers(0, 4000), min_size=0, max_size=24, unique=True).map(sorted))
    borders = [(a, b) for a, b in zip(times[::2], times[1::2], strict=False)]
    return [
        Segment(a / 1000, b / 1000, draw(st.sampled_from(labels)), draw(st.sampled_from([1, 2, 3])))
        for a, b in borders
    ]


def checked(truth, found, classes=CLASSES, **options):
    return check_notes([Compared(truth, found, SECONDS)], classes, **options)


def known(notes):
    return [note for note in notes if note.label in CLASSES]


# --- pairs ------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    true=st.lists(st.integers(0, 40), max_size=12),
    found=st.lists(st.integers(0, 40), max_size=12),
    tolerance=st.integers(0, 6),
)
def test_no_other_matching_has_more_onsets(true, found, tolerance):
    pairs = onset_pairs(np.array(true) / 100, np.array(found) / 100, tolerance / 100)
    assert all(abs(true[i] - found[j]) <= tolerance for i, j in pairs)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    may_pair = np.abs(np.subtract.outer(true, found)) <= tolerance
    best = 0
    if may_pair.size:
        graph = csr_array(may_pair.reshape(len(true), len(found)).astype(int))
        best = int((maximum_bipartite_matching(graph) >= 0).sum())
    assert len(pairs) == best


@settings(max_examples=30, deadline=None)
@given(songs(), songs())
def test_no_better_pair_by_overlap_is_left(truth, found):
    def shared(i, j):
        return min(truth[i].end, found[j].end) - max(truth[i].start, found[j].start)

    pairs = overlap_pairs(truth, found)
    got_true, got_found = {p.true: shared(*p) for p in pairs}, {p.found: shared(*p) for p in pairs}
    assert len(got_true) == len(got_found) == len(pairs)
    assert all(overlap > 0 for overlap in got_true.values())
    for i in range(len(truth)):
        for j in range(len(found)):
            if shared(i, j) > 0:  # then one of both has a partner at least as good
                better = max(got_true.get(i, 0), got_found.get(j, 0))
                assert better >= shared(i, j)


@settings(max_examples=30, deadline=None)
@given(songs())
def test_frames_are_labelled_by_their_middle(notes):
    literal = []
    for frame in range(2000):
        middle = 2 * frame + 1  # in milliseconds
        at = [n for n in notes if round(n.start * 1000) <= middle < round(n.end * 1000)]
        literal.append(CLASSES.index(at[0].label) if at and at[0].label in CLASSES else -1)
    assert frame_labels(notes, CLASSES, 2000, 0.002).tolist() == literal


def test_only_small_overlaps_are_taken_for_rounding():
    def borders(*times):
        notes = [Segment(start, end, "a") for start, end in times]
        return [note[:2] for note in without_rounding_overlaps(notes)]

    assert borders((0.5, 1.0), (0.0, 0.51)) == [(0.0, 0.5), (0.5, 1.0)]
    assert borders((0.0, 0.511), (0.5, 1.0)) == [(0.0, 0.511), (0.5, 1.0)]
    assert borders((0.5, 0.505), (0.5, 1.0)) == [(0.5, 0.505), (0.5, 1.0)]
    assert borders((0.0, 0.5), (0.5, 1.0)) == [(0.0, 0.5), (0.5, 1.0)]


# --- tables -----------------------------------------------------------------------------------

TRUTH = [Segment(0.5, 0.6, "a"), Segment(1.0, 1.2, "b"), Segment(2.0, 2.1, "a")]

TABLE = {
    # what was found: (true, found, right) of a, of b; F over notes; false notes a minute
    "everything": (TRUTH, (2, 2, 2), (1, 1, 1), 1.0, 0.0),
    "nothing": ([], (2, 0, 0), (1, 0, 0), 0.0, 0.0),
    "20 ms late is not too late": (
        [Segment(0.52, 0.6, "a"), Segment(1.0, 1.2, "b"), Segment(1.98, 2.1, "a")],
        (2, 2, 2), (1, 1, 1), 1.0, 0.0,
    ),
    "21 ms are": (
        [Segment(0.521, 0.6, "a"), Segment(1.0, 1.2, "b"), Segment(2.0, 2.1, "a")],
        (2, 2, 1), (1, 1, 1), (0.5 + 1) / 2, 15.0,
    ),
    "another class": (
        [Segment(0.5, 0.6, "a"), Segment(1.0, 1.2, "a"), Segment(2.0, 2.1, "a")],
        (2, 3, 2), (1, 0, 0), (4 / 5 + 0) / 2, 15.0,
    ),
    "one note as two": (
        [Segment(0.5, 0.51, "a"), Segment(0.515, 0.6, "a"), *TRUTH[1:]],
        (2, 3, 2), (1, 1, 1), (4 / 5 + 1) / 2, 15.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_notes_are_counted_one_to_one(case):
    found, of_a, of_b, note_f, false_per_minute = TABLE[case]
    check = checked(TRUTH, found)
    assert check.notes[["true", "found", "right"]].to_numpy().tolist() == [list(of_a), list(of_b)]
    assert check.note_f == pytest.approx(note_f)
    assert check.false_per_minute == pytest.approx(false_per_minute)
    assert check.notes["false_per_minute"].sum() == pytest.approx(false_per_minute)


def test_confusion_and_windows_of_a_song_by_hand():
    truth = [
        Segment(0.0, 1.0, "a"), Segment(1.0, 2.0, "b"), Segment(2.0, 2.5, "x"),
        Segment(3.0, 3.5, "b"),
    ]  # fmt: skip
    found = [
        Segment(0.0, 0.3, "b"), Segment(0.4, 1.0, "a"), Segment(1.1, 2.0, "b"),
        Segment(2.2, 2.5, "a"), Segment(2.6, 2.8, "b"),
    ]  # fmt: skip
    check = checked(truth, found)
    expected = pd.DataFrame(
        [[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 2, 0]],
        index=["a", "b", "x", NONE], columns=["a", "b", NONE],
    )  # fmt: skip
    pd.testing.assert_frame_equal(check.confusion, expected)
    assert check.foreign == ["x"]
    # Of 2,000 frames these are wrong: 150 + 50 of a, 50 + 250 of b, 150 + 100 of none.
    assert check.frame_error == pytest.approx(750 / 2000)
    assert check.windows["true"].tolist() == [500, 750, 750]
    assert check.windows["found"].tolist() == [450, 700, 850]
    assert check.windows["right"].tolist() == [300, 450, 500]
    window_f = f"{check.window_f:.3f}"
    assert check.sentences == [one.format(window_f=window_f) for one in messages.SUMMARY]


@settings(max_examples=30, deadline=None)
@given(songs())
def test_what_is_true_is_found(truth):
    check = checked(truth, known(truth), tolerance=0.0)
    assert check.note_f == check.window_f == 1.0
    assert check.frame_error == check.n_false == 0
    assert (check.confusion.loc[CLASSES, CLASSES].to_numpy().diagonal()).sum() == len(known(truth))


@settings(max_examples=30, deadline=None)
@given(songs(), songs(("a", "b")))
def test_windows_agree_with_scikit_learn(truth, found):
    check = checked(truth, found)
    labels = [frame_labels(notes, CLASSES, 2000, 0.002) for notes in (truth, found)]
    there = [number for number in (0, 1, -1) if any((frames == number).any() for frames in labels)]
    expected = precision_recall_fscore_support(*labels, labels=there, zero_division=0)
    table = check.windows.set_axis([0, 1, -1]).loc[there]
    assert_allclose(table[["precision", "recall", "f"]].to_numpy().T, expected[:3])
    assert check.window_f == pytest.approx(expected[2].mean())
    assert check.frame_error == pytest.approx((labels[0] != labels[1]).mean())


@settings(max_examples=30, deadline=None)
@given(songs(("a", "b")), songs(("a", "b")), st.sampled_from([0.0, 0.02, 0.1]))
def test_changing_sides_changes_precision_and_recall(truth, found, tolerance):
    one = checked(truth, found, tolerance=tolerance)
    other = checked(found, truth, tolerance=tolerance)
    for table, turned in ((one.notes, other.notes), (one.windows, other.windows)):
        assert table["precision"].tolist() == turned["recall"].tolist()
        assert table["f"].tolist() == turned["f"].tolist()
    assert one.frame_error == other.frame_error


@settings(max_examples=30, deadline=None)
@given(songs(), songs(("a", "b")))
def test_everything_is_counted_once_and_nothing_is_nan(truth, found):
    check = checked(truth, found)
    for table in (check.notes, check.windows):
        numbers = table.drop(columns="class").to_numpy(dtype=float)
        assert np.isfinite(numbers).all()
        shares = table[["precision", "recall", "f"]].to_numpy()
        assert ((shares >= 0) & (shares <= 1)).all()
    counts = check.confusion
    assert counts.drop(index=NONE).to_numpy().sum() == len(truth)
    assert counts.drop(columns=NONE).to_numpy().sum() == len(found)
    assert counts.loc[NONE, NONE] == 0
    assert check.windows["true"].sum() == check.windows["found"].sum() == 2000
    assert check.to_json_dict()["note_f"] == check.note_f


@settings(max_examples=30, deadline=None)
@given(songs(), songs(("a", "b")), songs(), songs(("a", "b")))
def test_recordings_are_counted_together(truth, found, more_truth, more_found):
    together = check_notes(
        [Compared(truth, found, SECONDS), Compared(more_truth, more_found, SECONDS)], CLASSES
    )
    alone = [checked(truth, found), checked(more_truth, more_found)]
    for name in ("notes", "windows"):
        counts = [getattr(check, name)[["true", "found", "right"]] for check in alone]
        pd.testing.assert_frame_equal(
            getattr(together, name)[["true", "found", "right"]], counts[0] + counts[1]
        )
    assert together.frame_error == pytest.approx(np.mean([check.frame_error for check in alone]))


def test_classes_that_are_nowhere_do_not_count():
    check = checked([Segment(0, 1, "a")], [Segment(1, 2, "a")], ["a", "nowhere"])
    assert check.notes["f"].tolist() == [0.0, 1.0]
    assert check.note_f == 0.0
    silence = check_notes([Compared([], [], 0.0)], ["a"])
    assert (silence.note_f, silence.window_f, silence.frame_error) == (1.0, 1.0, 0.0)
    assert silence.false_per_minute == 0.0


# --- thresholds -------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(songs(), songs(("a", "b")))
def test_the_curve_is_what_checking_the_better_notes_gives(truth, found):
    curve = threshold_curve([Compared(truth, found, SECONDS)], CLASSES)
    assert curve["threshold"].tolist() == sorted({note.score for note in found})
    for line in curve.itertuples():
        kept = [note for note in found if note.score >= line.threshold]
        check = checked(truth, kept)
        assert line.f == pytest.approx(check.note_f)
        assert line.false_per_minute == pytest.approx(check.false_per_minute)
        right = check.notes["right"].sum()
        assert line.precision == pytest.approx(right / len(kept))
        n_true = len(known(truth))
        assert line.recall == pytest.approx(right / n_true if n_true else 0)


def test_a_curve_has_few_points_from_the_lowest_score_to_the_highest():
    found = [Segment(i / 100, i / 100 + 0.005, "a", score=i / 7) for i in range(350)]
    curve = threshold_curve([Compared([], found, SECONDS)], ["a"])
    assert len(curve) == 100
    assert curve["threshold"].tolist()[0] == 0
    assert curve["threshold"].tolist()[-1] == 349 / 7
    without = threshold_curve([Compared([], [Segment(0, 1, "a")], SECONDS)], ["a"])
    assert list(without) == ["threshold", "f", "precision", "recall", "false_per_minute"]
    assert len(without) == 0


# --- bad input ---------------------------------------------------------------------------------

NOTE = Segment(0.5, 1.0, "a")
BAD_INPUT = {
    "overlap": dict(truth=[NOTE, Segment(0.9, 1.2, "b")]),
    "past the end": dict(truth=[Segment(3.0, 4.5, "a")]),
    "found past the end": dict(found=[Segment(3.0, 4.5, "a")]),
    "no class": dict(found=[Segment(3.0, 3.5, "c")]),
    "none": dict(classes=["a", "none"]),
    "no classes": dict(classes=[]),
    "tolerance": dict(tolerance=-1.0),
    "frames": dict(frame_seconds=0.0),
}


@pytest.mark.parametrize("case", messages.EVALUATION)
def test_bad_input_is_rejected(case):
    with pytest.raises(InputError) as raised:
        checked(**{"truth": [], "found": [], **BAD_INPUT[case]})
    assert str(raised.value) == messages.EVALUATION[case]

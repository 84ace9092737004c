"""Pictures of notes: what is drawn where, and which stretch of a long recording is shown."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from kernova.audio.annotations.segments import Segment
from kernova.report.figures import picture_png, plot_note_thresholds, plot_notes
from kernova.report.notes import busiest_interval
from tests.report.scans import HOP, scan_of


def bars(ax, *, filled):
    shown = []
    for bar in ax.patches:
        if bool(bar.get_facecolor()[3]) == filled:
            line = round(bar.get_y() + bar.get_height() / 2)
            shown.append((round(bar.get_x(), 6), round(bar.get_x() + bar.get_width(), 6), line))
    return shown


def test_sound_scores_and_notes_stand_below_each_other():
    notes = [Segment(5.1, 5.2, "b"), Segment(5.2, 5.4, "b"), Segment(5.7, 5.8, "a")]
    scan = scan_of(segments=notes, start=5.0)
    below = plot_notes(scan, title="song.wav $1$")
    above, middle, last = below.figure.axes
    assert last is below
    assert_allclose([ax.get_xlim() for ax in below.figure.axes], [(5.0, 6.0)] * 3)
    (image,) = above.collections
    assert_allclose(image.get_array(), scan.levels.T)
    assert above.get_title(loc="left") == "song.wav $1$"
    for line, of_class in zip(middle.lines, scan.scores.T, strict=True):
        assert_allclose(line.get_ydata(), of_class)
    assert bars(below, filled=True) == [(5.1, 5.2, 1), (5.2, 5.4, 1), (5.7, 5.8, 0)]
    # One class, one colour: its line, its notes, its name.
    colours = [to_hex(line.get_color()) for line in middle.lines]
    assert to_hex(below.patches[0].get_facecolor()) == colours[1]
    assert [to_hex(text.get_color()) for text in below.get_yticklabels()] == colours
    assert above.get_ylabel() == "frequency (kHz)"
    assert below.get_xlabel() == "time (s)"


def test_truth_is_drawn_beside_and_foreign_labels_get_a_line():
    scan = scan_of(segments=[Segment(0.1, 0.2, "a")])
    truth = [Segment(0.12, 0.2, "a"), Segment(0.5, 0.6, "x"), Segment(7.0, 8.0, "b")]
    below = plot_notes(scan, truth=truth)
    assert [text.get_text() for text in below.get_yticklabels()] == ["a", "b", "other"]
    assert bars(below, filled=True) == [(0.1, 0.2, 0)]
    assert bars(below, filled=False) == [(0.12, 0.2, 0), (0.5, 0.6, 2)]
    assert [text.get_text() for text in below.texts] == ["filled: detected    outlined: annotated"]
    alone = plot_notes(scan, truth=truth[:1])
    assert [text.get_text() for text in alone.get_yticklabels()] == ["a", "b"]


def test_in_a_long_interval_no_loud_frame_is_lost():
    scan = scan_of(20.0, n_bands=3)
    scan.levels[:] = 0.0
    scan.levels[7001, 1] = 9.0
    (image,) = plot_notes(scan).figure.axes[0].collections
    assert image.get_array().shape == (3, 10000 // 3)
    assert image.get_array().max() == 9.0


@pytest.mark.parametrize("n_classes", [1, 9, 40])
def test_any_number_of_classes_is_drawn(n_classes):
    names = [f"class with a long name {number}" for number in range(n_classes)]
    scan = scan_of(0.1, names, [Segment(0.0, 0.05, names[-1])], n_bands=1)
    below = plot_notes(scan)
    assert bars(below, filled=True) == [(0.0, 0.05, n_classes - 1)]
    assert len(below.get_yticklabels()) <= 24
    assert picture_png(below.figure, dpi=40).startswith(b"\x89PNG")


def test_one_frame_of_silence_can_be_drawn():
    scan = scan_of(HOP)
    scan.levels[:] = 0.0
    assert picture_png(plot_notes(scan).figure, dpi=40).startswith(b"\x89PNG")


@given(
    starts=st.lists(st.integers(0, 990), unique=True, max_size=30),
    most=st.integers(1, 120),
)
def test_no_other_interval_holds_more_notes(starts, most):
    notes = [Segment(start / 10, start / 10 + 0.1, "a") for start in starts]
    stretch = busiest_interval(notes, 100.0, most=float(most))
    assert 0 <= stretch.start < stretch.end <= 100.0
    assert stretch.end - stretch.start == pytest.approx(min(most, 100))

    def n_inside(start, end):
        return sum(start - 1e-6 <= note.start and note.end <= end + 1e-6 for note in notes)

    best = max((n_inside(note.start, note.start + most) for note in notes), default=0)
    assert n_inside(*stretch) >= best


def test_without_notes_the_beginning_is_shown():
    assert busiest_interval([], 100.0, most=10) == (0.0, 10)
    assert busiest_interval([], 3.0, most=10) == (0.0, 3.0)
    # A note that is longer than the picture.
    assert busiest_interval([Segment(50.0, 90.0, "a")], 100.0, most=10) == (65.0, 75.0)


def test_thresholds_are_drawn_with_the_best_marked():
    curve = pd.DataFrame(
        {
            "threshold": [0.2, 0.5, 0.9],
            "f": [0.5, 0.9, 0.1],
            "precision": [0.4, 0.95, 1.0],
            "recall": [0.9, 0.8, 0.1],
            "false_per_minute": [9.0, 1.25, 0.0],
        }
    )
    ax = plot_note_thresholds(curve, threshold=0.6)
    f_line, precision, recall, best, mark = ax.lines
    for line, name in ((f_line, "f"), (precision, "precision"), (recall, "recall")):
        at = line.get_xydata()
        assert_allclose(at[1:], curve[["threshold", name]])
        assert_allclose(at[0], [0.2 - 0.06 * 0.7, curve[name].iloc[0]])  # the same below the lowest
    assert best.get_xydata().tolist() == [[0.5, 0.9]]
    assert mark.get_xdata() == [0.6, 0.6]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "F, mean of the classes", "precision", "recall", "best: F 0.900 at 0.5", "threshold: 0.6",
    ]  # fmt: skip
    assert [text.get_text() for text in ax.texts] == ["at the best F 1.25 false notes a minute"]

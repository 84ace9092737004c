"""Pictures of recognised rows."""

import numpy as np
from matplotlib.colors import to_hex

from kernova.report.canvas import NEW
from kernova.report.figures import (
    picture_png,
    plot_confusion,
    plot_probabilities,
    plot_recognized,
)
from tests.report.reading import legend_texts

KNOWN = np.random.default_rng(0).normal(size=(60, 4)) * [5, 3, 1, 1]


def drawn(ax):
    """What each scatter shows: colour and number of dots."""
    return [
        (to_hex(dots.get_facecolors()[0]), len(dots.get_offsets()))
        for dots in ax.collections
        if len(dots.get_offsets())
    ]


def test_each_class_has_its_colour_and_unknown_rows_are_crosses():
    verdicts = ["pike", "carp", "unknown", "carp"]
    ax = plot_recognized(KNOWN, KNOWN[:4], verdicts, classes=["carp", "eel", "pike"])
    assert legend_texts(ax) == ["60 known rows", "carp: 2", "pike: 1", "unknown: 1"]
    colours = drawn(ax)
    assert [n for _, n in colours] == [60, 2, 1, 1]
    assert colours[-1][0] == NEW
    assert len({colour for colour, _ in colours}) == 4
    # A class keeps its colour where others do not occur.
    alone = plot_recognized(KNOWN, KNOWN[:1], ["pike"], classes=["carp", "eel", "pike"])
    assert drawn(alone)[1][0] == colours[2][0]


def test_very_many_classes_and_rows_far_out_can_be_drawn():
    rows = np.vstack([KNOWN, [[1e99, 0, 0, 0]]])
    ax = plot_recognized(KNOWN, rows, [f"class {i}" for i in range(60)] + ["unknown"])
    assert legend_texts(ax)[-2:] == ["other classes: 46", "unknown: 1"]
    assert len(legend_texts(ax)) == 17
    assert picture_png(ax.figure)


def test_confusion_matrix_shows_fractions_and_counts():
    counts = [[30, 10, 0], [0, 0, 0], [0, 0, 7]]
    ax = plot_confusion(counts, ["carp", "$pike$", "eel"], ["carp", "pike", "unknown"])
    np.testing.assert_allclose(ax.images[0].get_array(), [[0.75, 0.25, 0], [0, 0, 0], [0, 0, 1]])
    assert [text.get_text() for text in ax.texts] == ["30", "10", "", "", "", "", "", "", "7"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["carp", "$pike$", "eel"]
    assert picture_png(ax.figure)
    many = plot_confusion(np.eye(30), range(30), range(30))
    assert not many.texts


def test_probabilities_are_counted_and_compared_with_how_often_they_hold():
    p = np.array([0.91, 0.99, 1.0, 0.95, 0.55, 0.51, 0.0])
    ax = plot_probabilities(p)
    assert [bar.get_height() for bar in ax.patches] == [1, 0, 0, 0, 0, 2, 0, 0, 0, 4]
    assert ax.get_legend() is None
    right = plot_probabilities(p, [True, True, True, False, True, False, False])
    assert legend_texts(right) == ["right: 4", "wrong: 3"]
    assert [text.get_text() for text in right.texts] == ["0 %", "50 %", "75 %"]
    assert picture_png(right.figure)
    assert picture_png(plot_probabilities([]).figure)

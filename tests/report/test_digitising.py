"""Pictures of digitising errors: what is drawn where, read back from the axes."""

from typing import NamedTuple

import numpy as np
import pytest

from kernova.errors import InputError
from kernova.report.digitising import plot_digitising
from kernova.report.figures import picture_png
from tests.report.reading import legend_texts

MEAN = np.array([[-0.6, 0.0], [-0.1, 0.25], [0.5, 0.02], [0.0, -0.2], [0.1, 0.05]])


class One(NamedTuple):
    id: str
    landmarks: tuple[int, ...]


def arrows(ax):
    return [(text.xyann, text.xy) for text in ax.texts if text.arrow_patch is not None]


def test_an_arrow_leads_from_the_landmark_to_its_expected_position():
    specimen = MEAN.copy()
    specimen[1] += [0.1, 0.2]
    ax = plot_digitising(specimen, MEAN, One("$F$", (2,)))
    assert arrows(ax) == [(tuple(specimen[1]), tuple(MEAN[1]))]
    expected, others, marked = (np.asarray(one.get_offsets()) for one in ax.collections)
    np.testing.assert_array_equal(expected, MEAN)
    np.testing.assert_array_equal(others, specimen[[0, 2, 3, 4]])
    np.testing.assert_array_equal(marked, specimen[[1]])
    assert legend_texts(ax) == [
        "specimen $F$",
        "expected shape",
        "landmark 2 and its expected position",
    ]
    assert [text.get_text() for text in ax.texts if text.get_text()] == list("123452")
    assert picture_png(ax.figure)


def test_all_landmarks_are_marked_if_none_is_named_but_missing_ones():
    specimen = MEAN * [1, -1]
    specimen[3] = np.nan
    ax = plot_digitising(specimen, MEAN, One("a", ()))
    assert len(arrows(ax)) == 4
    assert legend_texts(ax) == [
        "expected shape",
        "specimen a, and where its landmarks are expected",
    ]
    assert picture_png(ax.figure)


def test_of_three_axes_two_are_drawn_and_it_is_said():
    in_space = np.column_stack([MEAN, np.ones(5)])
    ax = plot_digitising(in_space, in_space, One("a", (1, 5)))
    assert "landmarks 1, 5 and their expected positions" in legend_texts(ax)
    assert "seen along the third axis" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize(
    ("specimen", "expected", "numbers", "message"),
    [
        (MEAN[:4], MEAN, (1,), "The specimen has 4 landmarks, the expected shape 5. Give the same"),
        (MEAN, MEAN, (6,), "Landmark 6 is to be marked, but there are 5; landmarks are counted"),
        (MEAN, MEAN * np.nan, (1,), "The expected shape must be finite; it has missing landmarks."),
        (MEAN[0], MEAN, (1,), r"The specimen must be landmarks × 2 \(or 3\); got shape \(2,\)."),
    ],
)
def test_bad_input_is_named(specimen, expected, numbers, message):
    with pytest.raises(InputError, match=message):
        plot_digitising(specimen, expected, One("a", numbers))

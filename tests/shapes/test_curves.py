"""Curves: files of sliders, and points of curves as semilandmarks."""

import numpy as np
import pytest

from kernova.shapes import Landmarks, read_tps
from kernova.shapes.curves import landmarks_with_curves, read_sliders, resampled
from tests.shapes.bad_formats import BAD_SLIDERS
from tests.shapes.bad_inputs import error

SLIDERS = [[0, 2, 3], [2, 3, 1]]


@pytest.mark.parametrize(
    "content",
    [
        '"before","slide","after"\n1,3,4\n3,4,2\n',
        '"","before","slide","after"\n"1",1,3,4\n"2",3,4,2\n',
        "slide;before;after\n3;1;4\n4;3;2\n",
        "1 3 4\n3 4 2\n",
        "# made by hand\n1\t3\t4\r\n3\t4\t2\r\n",
        "SLIDERS=2\n1 3 4\n3 4 2\n",
        "1 2 3 0\n1 3 4\n3 4 2\n",
    ],
)
def test_sliders_in_every_variant(tmp_path, content):
    (tmp_path / "sliders.csv").write_text(content)
    assert read_sliders(tmp_path / "sliders.csv").tolist() == SLIDERS


@pytest.mark.parametrize(("content", "message"), BAD_SLIDERS)
def test_bad_sliders(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    with error(message):
        read_sliders("bad.csv")


def specimen(*curves, landmarks=((0.0, 0.0), (4.0, 0.0))):
    return Landmarks(
        ("a",), np.array([landmarks]), curves=(tuple(np.array(c, float) for c in curves),)
    )


def test_curves_of_tps_files_follow_the_landmarks(tmp_path):
    text = "LM=2\n0 0\n4 0\nCURVES=1\nPOINTS=4\n0 0\n1 1\n3 1\n4 0\nID={}\n"
    (tmp_path / "a.tps").write_text(text.format("a") + text.format("b"))
    curved, sliders = landmarks_with_curves(read_tps(tmp_path / "a.tps"))
    assert curved.coordinates[1].tolist() == [[0, 0], [4, 0], [1, 1], [3, 1]]
    assert sliders.tolist() == SLIDERS
    assert curved.curves == ((), ())


def test_ends_that_are_no_landmarks_are_fixed_points_of_their_own():
    curved, sliders = landmarks_with_curves(specimen([[1, 5], [2, 6], [3, 5]]))
    assert curved.n_landmarks == 5
    assert sliders.tolist() == [[2, 3, 4]]


def test_a_second_curve_may_start_at_the_end_of_the_first():
    first, second = [[0, 0], [1, 1], [2, 2]], [[2, 2], [3, 1], [4, 0]]
    curved, sliders = landmarks_with_curves(specimen(first, second))
    assert curved.coordinates[0].tolist() == [[0, 0], [4, 0], [1, 1], [2, 2], [3, 1]]
    assert sliders.tolist() == [[0, 2, 3], [3, 4, 1]]


def test_ends_within_the_tolerance_are_landmarks():
    near = specimen([[0.01, 0], [2, 1], [4, -0.01]])
    assert landmarks_with_curves(near).landmarks.n_landmarks == 5
    curved, sliders = landmarks_with_curves(near, tolerance=0.02)
    assert curved.n_landmarks == 3
    assert sliders.tolist() == [[0, 2, 1]]


def test_curves_with_different_numbers_of_points_are_resampled():
    short = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    long = np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 0.0]])
    two = Landmarks(("a", "b"), np.ones((2, 1, 2)), curves=((short,), (long,)))
    curved, _ = landmarks_with_curves(two)
    np.testing.assert_allclose(curved.coordinates[0], curved.coordinates[1])
    np.testing.assert_allclose(resampled(long, 9)[:, 0], np.linspace(0, 4, 9))


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        (((), ()), "There are no curves in the specimens; digitise some, or leave out sliding."),
        (
            ((np.ones((3, 2)),), ()),
            "Specimen 'b' has 0 curves, others have 1. Digitise the same curves in all specimens, "
            "or leave it out.",
        ),
        (
            ((np.ones((3, 2)),), (np.ones((2, 2)),)),
            "Curve 1 of specimen 'b' has 2 points, or some are missing; a curve needs three or "
            "more. Complete it, or leave it out.",
        ),
    ],
)
def test_curves_that_do_not_correspond_raise(curves, message):
    with error(message):
        landmarks_with_curves(Landmarks(("a", "b"), np.zeros((2, 1, 2)), curves=curves))

"""Figures stand alone: no display, no pyplot, no global settings; files are whole or not there."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from kernova import InputError, SpatialDepth
from kernova.report.figures import (
    picture_png,
    plot_depth_contours,
    plot_false_alarm_curve,
    plot_map,
    plot_p_values,
    plot_score_distributions,
    save_picture,
)

X = np.random.default_rng(1).normal(size=(40, 2))
DRAW = {
    "contours": lambda ax: plot_depth_contours(SpatialDepth().fit(X), grid=12, ax=ax),
    "map": lambda ax: plot_map(X, X[:4], np.ones(4, bool), ax=ax),
    "scores": lambda ax: plot_score_distributions(X[:, 0], X[:, 1], threshold=-1, ax=ax),
    "p-values": lambda ax: plot_p_values([0.1, 0.4], false_discovery_rate=0.1, ax=ax),
    "curve": lambda ax: plot_false_alarm_curve(X[:, 0], ax=ax),
}


@pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)
def test_pictures_come_on_given_axes_or_new_ones_and_change_no_settings(draw):
    before = dict(mpl.rcParams)
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(ncols=2)
    assert draw(left) is left
    assert not right.has_data()
    fresh = draw(None)
    assert fresh.figure is not draw(None).figure
    assert picture_png(figure)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)
def test_nothing_written_is_cut_off_and_the_legend_hides_nothing(draw):
    ax = draw(None)
    ax.set_title("a title of one's own")
    ax.figure.draw_without_rendering()
    whole, frame = ax.figure.bbox, ax.get_window_extent()
    legend = ax.get_legend().get_window_extent()
    labels = [ax.xaxis.label.get_window_extent(), ax.title.get_window_extent()]
    for box in (*labels, ax.yaxis.label.get_window_extent(), legend):
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
    assert not any(legend.overlaps(box) for box in (frame, *labels))


def test_no_picture_needs_pyplot():
    script = (
        "import sys, kernova.report.figures as f\n"
        "f.picture_png(f.plot_p_values([.5]).figure)\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_writing_follows_the_style_of_given_axes():
    figure = Figure()
    ax = figure.subplots()
    ax.xaxis.label.set_color("white")
    plot_score_distributions([1.0, 2.0], threshold=1.5, ax=ax)
    assert ax.lines[0].get_color() == "white"


def test_the_same_picture_gives_the_same_bytes():
    first, second = (picture_png(DRAW["curve"](None).figure) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.png", b"\x89PNG"), ("b.SVG", b"<?xml"), ("c.pdf", b"%PDF")],
)
def test_pictures_are_saved_by_their_suffix(tmp_path, name, start):
    figure = DRAW["p-values"](None).figure
    save_picture(figure, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_dots_per_inch_decide_the_size(tmp_path):
    save_picture(Figure(figsize=(2, 1)), tmp_path / "small.png", dpi=50)
    with Image.open(tmp_path / "small.png") as image:
        assert image.size == (100, 50)


def test_pictures_that_cannot_be_saved_raise(tmp_path):
    with pytest.raises(InputError) as raised:
        save_picture(Figure(), tmp_path / "picture.jpg")
    assert str(raised.value) == (
        "Cannot save the picture picture.jpg: its suffix is not a supported format. "
        "Use one of .png, .svg, .pdf."
    )
    with pytest.raises(InputError, match="there is no folder"):
        save_picture(Figure(), tmp_path / "nowhere" / "picture.png")
    assert list(tmp_path.iterdir()) == []


def test_names_the_font_lacks_are_no_noise():
    ax = plot_depth_contours(SpatialDepth().fit(X), grid=12, feature_names=["体長", "幅"])
    assert ax.get_xlabel() == "体長"
    assert picture_png(ax.figure)

"""The tree of clusters: what is drawn, where, and what is written on it."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.report.canvas import KNOWN, NEW
from kernova.report.figures import picture_png, plot_hierarchy
from kernova.report.hierarchies import NodeLines, choose_tips, lay_out
from tests.report.reading import texts_on


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    groups = [rng.normal(0, 1, (150, 2)), rng.normal((9, 0), 1, (60, 2))]
    return HierarchicalMeanShift().fit(np.concatenate([*groups, rng.normal(-9, 0.1, (5, 2))]))


def lines_of(ax, place):
    return [one for one in ax.collections if isinstance(one, LineCollection)][place]


def tree(*nodes):
    """Give lines of (born, last, size, parent) for each node."""
    columns = np.array(nodes, dtype=np.intp).T
    return NodeLines(*columns, np.arange(len(nodes)))


# Two groups of 40 and 30 rows, one of 3 that lasts, one of 4 that does not, and smaller ones that
# vanish in them.
SMALL_TREE = tree(
    (0, 9, 30, 5),
    (1, 4, 40, 4),
    (1, 8, 3, 5),
    (4, 4, 4, 4),
    (5, 9, 44, 5),
    (10, 12, 80, -1),
    (0, 3, 2, 7),
    (4, 4, 3, 1),
    (0, 3, 3, 3),
)


def test_tips_are_large_or_lasting_clusters():
    large, rare = choose_tips(SMALL_TREE)
    assert set(large) == {0, 1, 3}  # a twentieth of 80 rows is 4: node 3 is large
    assert rare == [2, 7]  # 6 merges into something small, 8 only grows by one row


def test_every_tip_has_a_height_and_what_merges_stands_between():
    forest = lay_out(SMALL_TREE, [0, 1, 3], [2])
    heights = [forest.height[tip] for tip in (0, 1, 2, 3)]
    assert sorted(heights) == [0, 1, 2, 3]
    assert set(forest.nodes) == {0, 1, 2, 3, 4, 5}
    expected = (40 * forest.height[1] + 4 * forest.height[3]) / 44
    assert forest.height[4] == pytest.approx(expected)
    assert abs(forest.height[1] - forest.height[3]) == 1  # siblings stand side by side
    assert min(heights) < forest.height[5] < max(heights)


def test_large_clusters_are_counted_and_the_rare_one_marked(model):
    ax = plot_hierarchy(model)
    words = texts_on(ax)
    assert "all 215" in words
    named = [int(word.split()[-1]) for word in words if word.startswith("5 rows like row ")]
    assert any(210 <= row < 215 for row in named)
    nodes = model.nodes_
    note = f"{len(nodes) - len(lines_of(ax, 1).get_segments()):,} smaller clusters not drawn"
    assert words[-1] == note
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["cluster; the wider, the more rows", "small cluster that persists"]


def test_lines_run_from_birth_to_merger_and_are_as_wide_as_the_cluster_is_large(model):
    ax = plot_hierarchy(model)
    drawn = lines_of(ax, 1)
    starts = {round(float(np.log(segment[0][0])), 6) for segment in drawn.get_segments()}
    assert starts <= {round(float(np.log(h)), 6) for h in model.bandwidths_}
    assert max(drawn.get_linewidths()) == pytest.approx(12)
    rare = [c for c in drawn.get_colors() if np.allclose(c[:3], _rgb(NEW))]
    usual = [c for c in drawn.get_colors() if np.allclose(c[:3], _rgb(KNOWN))]
    assert rare
    assert usual
    root = max(drawn.get_segments(), key=lambda segment: segment[1][0])
    assert root[1][0] > model.bandwidths_[-1]


def _rgb(colour):
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def test_it_draws_on_given_axes(model):
    figure = Figure()
    ax = figure.subplots()
    assert plot_hierarchy(model, ax) is ax
    assert picture_png(figure)[:4] == b"\x89PNG"


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_tiny_tables_can_be_drawn(n_rows):
    model = HierarchicalMeanShift().fit(np.arange(float(n_rows))[:, None])
    ax = plot_hierarchy(model)
    assert any(word == f"all {n_rows}" for word in texts_on(ax))
    assert picture_png(ax.figure)[:4] == b"\x89PNG"

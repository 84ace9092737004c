"""Shapes and groups of them: what is drawn where, read back from the axes."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.quiver import Quiver

from kernova.report.canvas import MUTED, NEW
from kernova.report.figures import (
    picture_png,
    plot_aligned_shapes,
    plot_deformation,
    plot_error_rates,
    plot_morphospace,
    plot_score_distributions,
)
from kernova.report.shapes import deformed_grid, square_grid
from tests.report.reading import legend_texts

SHAPE = np.array([[-0.6, 0.0], [-0.1, 0.25], [0.5, 0.02], [0.0, -0.2], [0.1, 0.05]])
random = np.random.default_rng(3)
SPECIMENS = SHAPE + random.normal(0, 0.01, size=(30, 5, 2))
NAN = float("nan")


def clouds(ax):
    """The dots of each scatter."""
    kinds = (LineCollection, Quiver)
    return [np.asarray(c.get_offsets()) for c in ax.collections if not isinstance(c, kinds)]


def numbers(ax):
    return [text.get_text() for text in ax.texts if text.get_text().isdigit()]


# --- shapes ----------------------------------------------------------------------------------


def test_every_landmark_of_every_specimen_is_drawn_about_the_consensus():
    others = SPECIMENS[:4] + 0.1
    ax = plot_aligned_shapes(SPECIMENS, SHAPE, others=others, labels=("known", "$x$"))
    known, strange, consensus = clouds(ax)
    np.testing.assert_array_equal(known, SPECIMENS.reshape(-1, 2))
    np.testing.assert_array_equal(strange, others.reshape(-1, 2))
    np.testing.assert_array_equal(consensus, SHAPE)
    assert numbers(ax) == ["1", "2", "3", "4", "5"]
    assert legend_texts(ax) == [
        "30 known specimens",
        "4 $x$ specimens",
        "consensus, landmarks numbered",
    ]
    assert ax.get_aspect() == 1
    assert picture_png(ax.figure)
    mean = clouds(plot_aligned_shapes(SPECIMENS))[1]
    np.testing.assert_allclose(mean, SPECIMENS.mean(axis=0))


def test_of_very_many_specimens_a_sample_is_drawn_and_of_three_axes_two():
    in_space = np.dstack([np.tile(SPECIMENS, (20, 1, 1)), np.ones((600, 5))])
    ax = plot_aligned_shapes(in_space)
    assert len(clouds(ax)[0]) == 400 * 5
    assert legend_texts(ax)[0] == "600 known specimens, 400 of them drawn"
    assert "seen along the third axis" in [text.get_text() for text in ax.texts]
    assert picture_png(ax.figure)


def affine(points):
    return points @ np.array([[1.1, 0.2], [-0.1, 0.9]]) + [0.03, -0.01]


def test_arrows_lead_to_the_target_and_an_even_change_keeps_grid_lines_straight():
    ax = plot_deformation(SHAPE, affine(SHAPE), enlargement=1)
    (arrows,) = (c for c in ax.collections if isinstance(c, Quiver))
    np.testing.assert_array_equal(arrows.XY, SHAPE)
    np.testing.assert_allclose(np.column_stack([arrows.U, arrows.V]), affine(SHAPE) - SHAPE)
    (grid,) = (c for c in ax.collections if isinstance(c, LineCollection))
    lines = [path.vertices for path in grid.get_paths()]
    assert len(lines) > 20
    for line in lines:
        steps = np.diff(line, axis=0)
        np.testing.assert_allclose(steps, np.tile(steps[0], (len(steps), 1)), atol=1e-9)
    # The whole shape lies on the grid.
    corners = np.concatenate(lines)
    assert (corners.min(axis=0) < affine(SHAPE).min(axis=0)).all()
    assert (corners.max(axis=0) > affine(SHAPE).max(axis=0)).all()
    assert legend_texts(ax) == ["consensus", "mean of the unknown"]
    assert picture_png(ax.figure)


def test_a_grid_point_on_a_landmark_moves_with_it():
    grid = np.concatenate(square_grid(SHAPE))
    on_grid = np.vstack([SHAPE, grid[777]])
    moved = on_grid + random.normal(0, 0.05, size=on_grid.shape)
    same_grid = np.concatenate(square_grid(on_grid))
    place = np.argmin(np.linalg.norm(same_grid - on_grid[-1], axis=1))
    np.testing.assert_allclose(same_grid[place], on_grid[-1], atol=1e-12)
    bent = np.concatenate(deformed_grid(on_grid, moved))
    np.testing.assert_allclose(bent[place], moved[-1], atol=1e-7)


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.2, ""),
        (0.05, ", differences enlarged 2 times"),
        (0.02, ", differences enlarged 5 times"),
        (1e-9, ", differences enlarged 100 times"),
        (0.0, ""),
    ],
)
def test_small_differences_are_enlarged_and_the_legend_states_it(fraction, text):
    target = SHAPE.copy()
    target[1, 0] += fraction * np.ptp(SHAPE[:, 0])
    ax = plot_deformation(SHAPE, target)
    assert legend_texts(ax)[1] == f"mean of the unknown{text}"
    assert picture_png(ax.figure)


def test_landmarks_on_a_line_or_on_each_other_are_drawn():
    line = np.column_stack([np.arange(4.0), 2 * np.arange(4.0)])
    ax = plot_deformation(line, line * [1, 1.1])
    assert not [c for c in ax.collections if isinstance(c, LineCollection)]
    twice = np.vstack([SHAPE, SHAPE[:1]])
    ax = plot_deformation(twice, np.vstack([SHAPE, SHAPE[:1] + 0.1]), enlargement=1)
    (grid,) = (c for c in ax.collections if isinstance(c, LineCollection))
    # Where two landmarks lie on each other and part, the plate goes half-way between them.
    half_way = SHAPE.copy()
    half_way[0] += 0.05
    bent = np.concatenate([path.vertices for path in grid.get_paths()])
    np.testing.assert_allclose(bent, np.concatenate(deformed_grid(SHAPE, half_way)), atol=1e-9)
    assert picture_png(plot_deformation([[0.0, 0.0]], [[0.0, 0.0]]).figure)


# --- groups ----------------------------------------------------------------------------------


def test_the_largest_groups_have_colours_and_the_others_are_grey():
    sizes = {"a": 5, "b": 30, "c": 12, "d": 5, "e": 8}
    groups = [name for name, size in sizes.items() for _ in range(size)]
    scores = random.normal(size=(60, 3))
    unknown = scores[:2] + 1
    ax = plot_morphospace(
        scores, groups, unknown=unknown, unknown_name="F", explained=[0.5, 0.25, 0.1], most_groups=2
    )
    assert legend_texts(ax) == ["b: 30", "c: 12", "3 other groups: 18", "F: 2"]
    drawn = {
        to_hex(c.get_facecolors()[0]): np.asarray(c.get_offsets()) for c in ax.collections
    }  # fmt: skip
    np.testing.assert_array_equal(drawn[NEW], unknown[:, :2])
    np.testing.assert_array_equal(drawn[MUTED], scores[~np.isin(groups, ["b", "c"]), :2])
    assert len(drawn) == 4
    assert ax.get_xlabel() == "component 1 (50 % of variance)"
    assert picture_png(ax.figure)
    alone = plot_morphospace(scores[:, :1], groups)
    assert [len(legend_texts(alone)), alone.get_ylabel()] == [5, "component 2"]


def test_error_rates_stand_in_their_cells_and_high_ones_are_framed():
    rates = random.uniform(0, 0.5, size=(6, 5))
    rates[2, 3] = NAN
    rates[4, 1] = 0.62
    ax = plot_error_rates(rates, "abcdef", ["$v$", *"wxyz"], mark_above=0.3)
    np.testing.assert_array_equal(ax.images[0].get_array().filled(NAN), rates)
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["" if np.isnan(r) else f"{r:.2f}"[1:] for r in rates.ravel()]
    frames = {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in ax.patches}
    assert frames == set(map(tuple, np.argwhere(rates > 0.3).tolist()))
    assert ax.get_xticklabels()[0].get_text() == "$v$"
    assert picture_png(ax.figure)
    one_row = plot_error_rates(rates[:1], ["a"], "vwxyz")
    assert one_row.texts[-1].get_text() == "equal error rate: white 0, darkest 0.5 (chance)"
    many = plot_error_rates(np.zeros((70, 70)), range(70), range(70))
    assert not many.texts
    assert not many.get_xticks().size


def test_depths_of_specimens_are_called_so():
    ax = plot_score_distributions(
        [0.4, 0.5, 0.6], [0.1], labels=("known", "F"), score="depth", unit="specimen"
    )
    assert legend_texts(ax) == ["known: 3 specimens", "F: 1 specimen, one mark each"]
    assert [ax.get_xlabel(), ax.get_ylabel()] == [
        "depth (high is typical)",
        "fraction of specimens in each bin",
    ]

"""Shapes and groups of them: what is drawn where, read back from the axes."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.quiver import Quiver

from kernova.report.figures import (
    picture_png,
    plot_aligned_shapes,
    plot_deformation,
    plot_score_distributions,
)
from kernova.report.shapes import (
    deformation,
    deformed_grid,
    grid_cells,
    label_directions,
    square_grid,
)
from tests.report.reading import legend_texts

SHAPE = np.array([[-0.6, 0.0], [-0.1, 0.25], [0.5, 0.02], [0.0, -0.2], [0.1, 0.05]])
random = np.random.default_rng(3)
SPECIMENS = SHAPE + random.normal(0, 0.01, size=(30, 5, 2))
NAN = float("nan")


def clouds(ax):
    """The dots of each scatter."""
    kinds = (LineCollection, Quiver)
    return [np.asarray(c.get_offsets()) for c in ax.collections if not isinstance(c, kinds)]


def folded_cells(ax):
    """The filled cells; a quiver is a collection of polygons, too."""
    polygons = [c for c in ax.collections if isinstance(c, PolyCollection)]
    return [c for c in polygons if not isinstance(c, Quiver)]


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


def test_of_very_many_specimens_a_sample_is_drawn():
    ax = plot_aligned_shapes(np.tile(SPECIMENS, (20, 1, 1)))
    assert len(clouds(ax)[0]) == 400 * 5
    assert legend_texts(ax)[0] == "600 known specimens, 400 of them drawn"
    assert picture_png(ax.figure)


# --- landmarks in space ----------------------------------------------------------------------

IN_SPACE = np.column_stack([SHAPE, [0.1, -0.2, 0.15, 0.05, -0.3]])


def test_landmarks_in_space_are_drawn_in_two_planes_below_each_other():
    specimens = IN_SPACE + random.normal(0, 0.01, size=(20, 5, 3))
    ax = plot_aligned_shapes(specimens, IN_SPACE, others=specimens[:2] + 0.1)
    known, others, consensus = clouds(ax)
    assert [len(known), len(others)] == [20 * 10, 2 * 10]
    np.testing.assert_array_equal(consensus[:5], IN_SPACE[:, :2])
    np.testing.assert_array_equal(consensus[5:, 0], IN_SPACE[:, 0])
    drops = consensus[5:, 1] - IN_SPACE[:, 2]
    np.testing.assert_allclose(drops, drops[0])
    assert known.reshape(20, 10, 2)[:, 5:, 1].max() < known.reshape(20, 10, 2)[:, :5, 1].min()
    assert numbers(ax) == [*"1234512345"]
    assert [t.get_text() for t in ax.texts][-2:] == ["axes 1 and 2", "axes 1 and 3"]
    assert picture_png(ax.figure)


def test_deformation_in_space_moves_the_landmarks_of_both_planes():
    target = IN_SPACE + random.normal(0, 0.02, size=(5, 3))
    ax = plot_deformation(IN_SPACE, target, enlargement=1)
    (arrows,) = (c for c in ax.collections if isinstance(c, Quiver))
    moves = np.column_stack([arrows.U, arrows.V])
    change = target - IN_SPACE
    np.testing.assert_allclose(moves, np.vstack([change[:, :2], change[:, [0, 2]]]), atol=1e-12)
    assert len([c for c in ax.collections if isinstance(c, LineCollection)]) == 2
    flat = IN_SPACE * [1, 1, 0]  # in one plane: the grid is that of the projection
    target = flat.copy()
    target[1, 0] += 0.05
    ax = plot_deformation(flat, target)
    assert len([c for c in ax.collections if isinstance(c, LineCollection)]) == 1
    assert picture_png(ax.figure)


def test_numbers_of_landmarks_that_coincide_do_not_hide_each_other():
    points = np.vstack([SHAPE, SHAPE[:1], SHAPE[:1]])
    directions = label_directions(points)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)
    together = directions[[0, 5, 6]]
    np.testing.assert_allclose(together @ together.T, 1.5 * np.eye(3) - 0.5, atol=1e-9)
    np.testing.assert_allclose(label_directions(SHAPE[:1]), [[0, 1]])


def test_names_of_planes_stand_above_their_grids():
    target = IN_SPACE + random.normal(0, 0.01, size=(5, 3))
    ax = plot_deformation(IN_SPACE, target)
    grids = [c for c in ax.collections if isinstance(c, LineCollection)]
    tops = [max(path.vertices[:, 1].max() for path in grid.get_paths()) for grid in grids]
    names = [text.get_position()[1] for text in ax.texts if text.get_text().startswith("axes")]
    bottom = min(path.vertices[:, 1].min() for path in grids[0].get_paths())
    assert tops[0] < names[0]
    assert tops[1] < names[1] < bottom


# --- folds -----------------------------------------------------------------------------------


def determinants(spline, points, times, step=1e-6):
    """Determinant of the Jacobian by central differences."""
    columns = []
    for axis in range(2):
        move = step * np.eye(2)[axis]
        columns.append(spline.moved(points + move, times) - spline.moved(points - move, times))
    (a, b), (c, d) = (column.T / (2 * step) for column in columns)
    return a * d - b * c


def test_the_plane_folds_at_the_magnification_at_which_its_determinant_vanishes():
    spline = deformation(SHAPE, SHAPE + random.normal(0, 0.1, size=SHAPE.shape))
    points = grid_cells(SHAPE).reshape(-1, 2)[::7] + 1e-3
    limits = spline.largest_unfolded(points)
    folding = np.isfinite(limits) & (limits < 50)
    assert folding.sum() > 20
    for point, limit in zip(points[folding], limits[folding], strict=True):
        assert abs(determinants(spline, point[None], limit)[0]) < 1e-4 * (1 + limit**2)
        assert determinants(spline, point[None], 0.5 * limit)[0] > 0


def test_an_enlargement_that_folds_the_grid_is_reduced_and_the_note_states_it():
    target = SHAPE.copy()
    target[4] += [0.05, 0.06]
    spline = deformation(SHAPE, target)
    cells = grid_cells(SHAPE).reshape(-1, 2)
    limit = spline.largest_unfolded(cells).min()
    assert 1.2 < limit < 20
    ax = plot_deformation(SHAPE, target, enlargement=20)
    (arrows,) = (c for c in ax.collections if isinstance(c, Quiver))
    times = arrows.U[4] / 0.05
    assert 0.8 * limit < times < limit
    assert ax.texts[-1].get_text() == f"drawn at {times:g} times; at 20 the grid folds"
    assert legend_texts(ax)[1] == f"mean of the unknown, differences enlarged {times:g} times"
    assert not folded_cells(ax)
    assert determinants(spline, cells + 1e-4, times).min() > 0


def test_cells_that_fold_without_enlargement_are_filled():
    target = SHAPE.copy()
    target[[1, 3]] = target[[3, 1]]
    ax = plot_deformation(SHAPE, target, enlargement=3)
    (arrows,) = (c for c in ax.collections if isinstance(c, Quiver))
    np.testing.assert_allclose(arrows.V, (target - SHAPE)[:, 1])
    (folded,) = folded_cells(ax)
    assert len(folded.get_paths()) > 5
    assert legend_texts(ax)[-1] == "here the grid folds"
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
    # Within the extent of the landmarks, so that one more does not change the grid.
    inside = grid[np.argmin(np.linalg.norm(grid - [0.2, 0.1], axis=1))]
    on_grid = np.vstack([SHAPE, inside])
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


def test_depths_of_specimens_are_called_so():
    ax = plot_score_distributions(
        [0.4, 0.5, 0.6], [0.1], labels=("known", "F"), score="depth", unit="specimen"
    )
    assert legend_texts(ax) == ["known: 3 specimens", "F: 1 specimen, one mark each"]
    assert [ax.get_xlabel(), ax.get_ylabel()] == [
        "depth (high is typical)",
        "fraction of specimens in each bin",
    ]

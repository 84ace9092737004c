"""Rows in a plane: what is drawn where, read back from the axes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.contour import QuadContourSet
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture

from kernova import CalibratedDetector, KernelSpatialDepth, SpatialDepth
from kernova.report.figures import picture_png, plot_depth_contours, plot_map
from tests.report.reading import legend_texts

random = np.random.default_rng(7)
CLOUD = random.normal(size=(80, 2)) * [1, 5] + [10, 0]

FITTED = SpatialDepth().fit(CLOUD)


def contour_sets(ax):
    return [drawn for drawn in ax.collections if isinstance(drawn, QuadContourSet)]


def dots(ax):
    """The drawn rows, group by group."""
    groups = [drawn for drawn in ax.collections if not isinstance(drawn, QuadContourSet)]
    return [np.asarray(group.get_offsets()) for group in groups]


def notes(ax):
    return [text.get_text() for text in ax.texts if text.get_text() != "threshold"]


def test_threshold_line_runs_where_the_score_is_the_threshold():
    model = KernelSpatialDepth(bandwidth=3.0).fit(CLOUD)
    ax = plot_depth_contours(model, grid=120)
    threshold = contour_sets(ax)[-1]
    assert list(threshold.levels) == [model.offset_]
    along = np.vstack([path.vertices for path in threshold.get_paths()])
    spread = np.ptp(model.score_samples(CLOUD))
    assert np.abs(model.score_samples(along) - model.offset_).max() < 0.02 * spread
    assert legend_texts(ax) == [
        "80 known rows",
        f"threshold {model.offset_:.4g}: novel where lower",
    ]
    assert picture_png(ax.figure)


def test_rows_are_drawn_where_they_are_and_all_of_them_are_in_view():
    unknown = np.array([[10.0, 0.0], [13.0, -18.0]])
    ax = plot_depth_contours(SpatialDepth().fit(CLOUD), unknown=unknown, grid=20)
    known_dots, crosses = dots(ax)
    np.testing.assert_array_equal(known_dots, CLOUD)
    np.testing.assert_array_equal(crosses, unknown)
    rows = np.vstack([CLOUD, unknown])
    for column, (low, high) in zip(rows.T, (ax.get_xlim(), ax.get_ylim()), strict=True):
        assert low < column.min() < column.max() < high
    assert notes(ax) == []
    assert "2 unknown rows" in legend_texts(ax)
    renamed = plot_depth_contours(FITTED, unknown=unknown, grid=9, labels=("old", "new"))
    assert legend_texts(renamed)[:2] == ["80 old rows", "2 new rows"]
    assert "threshold" in [text.get_text() for text in ax.texts]


def test_a_row_far_out_neither_squeezes_the_picture_nor_vanishes():
    far = np.array([[10.0, 0.0], [1e6, 0.0]])
    ax = plot_depth_contours(SpatialDepth().fit(CLOUD), unknown=far, grid=20)
    crosses = dots(ax)[1]
    np.testing.assert_array_equal(crosses[0], far[0])
    assert crosses[1][0] == ax.get_xlim()[1]
    known_width = np.ptp(CLOUD[:, 0])
    assert np.diff(ax.get_xlim()) < 3 * known_width
    assert notes(ax) == ["1 row lies farther out, drawn at the edge"]


def test_names_come_from_the_table_the_model_or_the_caller():
    table = pd.DataFrame(CLOUD, columns=["$_$ in $", "width (mm)"])
    detector = KernelSpatialDepth()
    model = CalibratedDetector(detector, max_false_alarm=0.3, random_state=0).fit(table)
    swapped = table[["width (mm)", "$_$ in $"]].assign(other=1.0)
    for X, names in (None, None), (swapped, None), (CLOUD, ["a", "b"]):
        ax = plot_depth_contours(model, X, unknown=swapped.head(3), grid=15, feature_names=names)
        assert [ax.get_xlabel(), ax.get_ylabel()] == (names or ["$_$ in $", "width (mm)"])
        expected = CLOUD if X is not None else model.estimator_.reference_
        np.testing.assert_array_equal(dots(ax)[0], expected)
        np.testing.assert_array_equal(dots(ax)[1], CLOUD[:3])
        assert picture_png(ax.figure)  # a dollar sign starts no formula
    plain = plot_depth_contours(SpatialDepth().fit(CLOUD), grid=15)
    assert [plain.get_xlabel(), plain.get_ylabel()] == ["column 1", "column 2"]


def test_detectors_of_other_libraries_are_drawn_too():
    forest = IsolationForest(n_estimators=10, random_state=0).fit(CLOUD)
    ax = plot_depth_contours(forest, CLOUD, grid=30)
    assert legend_texts(ax) == ["80 known rows", "threshold -0.5: novel where lower"]
    assert contour_sets(ax)[-1].linestyles == "solid"  # matplotlib dashes negative levels
    ax = plot_depth_contours(GaussianMixture(random_state=0).fit(CLOUD), CLOUD, grid=15)
    assert legend_texts(ax) == ["80 known rows"]  # it has no threshold
    assert len(contour_sets(ax)) == 2


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[3.0, 3.0]] * 4])
def test_a_plane_without_differences_gets_no_contours(rows):
    ax = plot_depth_contours(SpatialDepth().fit(rows), grid=16)  # even: no point on the row
    assert contour_sets(ax) == []
    assert legend_texts(ax)[-1] == "threshold 1: all in view is novel"
    assert picture_png(ax.figure)


def test_threshold_below_all_scores_in_view_is_noted():
    model = KernelSpatialDepth().fit(CLOUD)
    model.offset_ = -1.0
    ax = plot_depth_contours(model, grid=15)
    assert legend_texts(ax)[-1] == "threshold -1: nothing in view is novel"


def test_of_very_many_rows_a_sample_is_drawn():
    many = random.normal(size=(6001, 2))
    forest = IsolationForest(n_estimators=3, random_state=0).fit(many[:500])
    ax = plot_depth_contours(forest, many, grid=10)
    assert len(dots(ax)[0]) == 5000
    assert legend_texts(ax)[0] == "6,001 known rows, 5,000 of them drawn"
    again = plot_depth_contours(forest, many, grid=10)
    np.testing.assert_array_equal(dots(ax)[0], dots(again)[0])


def test_map_lies_on_the_principal_components_of_the_known_rows():
    known = random.normal(size=(120, 4)) @ random.normal(size=(4, 4)) + 100
    new = random.normal(size=(6, 4)) + 100
    is_novel = np.array([True, False, True, False, False, False])
    ax = plot_map(known, new, is_novel)

    centred = known - known.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    shares = singular**2 / np.sum(singular**2)
    assert [ax.get_xlabel(), ax.get_ylabel()] == [
        f"principal component {1 + k} ({100 * shares[k]:.0f} % of variance)" for k in range(2)
    ]
    placed = [(rows - known.mean(axis=0)) @ directions[:2].T for rows in (known, new)]
    known_dots, usual_dots, novel_dots = dots(ax)
    signs = np.sign(np.sum(known_dots * placed[0], axis=0))
    np.testing.assert_allclose(known_dots, signs * placed[0], atol=1e-9)
    np.testing.assert_allclose(usual_dots, signs * placed[1][~is_novel], atol=1e-9)
    np.testing.assert_allclose(novel_dots, signs * placed[1][is_novel], atol=1e-9)
    assert legend_texts(ax) == ["120 known rows", "4 new rows, usual", "2 new rows, novel"]


@pytest.mark.parametrize(
    ("known", "new", "is_novel", "words"),
    [
        ([[1.0]], [[1.0], [2.0]], [False, True], ["1 new row, usual", "1 new row, novel"]),
        ([[1.0], [3.0], [4.0]], [[2.0]], [False], ["1 new row, usual"]),
        ([[5.0, 5.0, 5.0]] * 4, [[5.0, 6.0, 5.0]], [True], ["1 new row, novel"]),
        (np.eye(3), np.eye(3), np.ones(3, bool), ["3 new rows, novel"]),
    ],
)
def test_map_of_few_constant_or_single_columns(known, new, is_novel, words):
    ax = plot_map(known, new, is_novel)
    assert legend_texts(ax)[1:] == words
    assert all(np.isfinite(group).all() for group in dots(ax))
    assert picture_png(ax.figure)


def test_map_keeps_distances_in_the_plane_of_the_data():
    # Constant known rows have no first direction; new ones must still stand apart.
    ax = plot_map([[5.0, 5.0]] * 3, [[6.0, 5.0], [5.0, 7.0]], [True, True])
    np.testing.assert_allclose(dots(ax)[1], [[1.0, 0.0], [0.0, 2.0]])

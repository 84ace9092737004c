"""Morphospaces and canonical variates: what is drawn where, read back from the axes."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scipy.linalg import eigh
from sklearn.covariance import ledoit_wolf

from kernova.errors import InputError
from kernova.report.canvas import MUTED, NEW
from kernova.report.figures import picture_png, plot_morphospace
from kernova.report.morphospace import (
    canonical_variates,
    cross_validated_scores,
    labels_beside,
    plot_canonical_variates,
)
from tests.report.reading import legend_texts

random = np.random.default_rng(3)


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


def test_sixty_groups_differ_in_colour_or_mark_and_are_numbered():
    groups = np.repeat([f"group {number:02d}" for number in range(60)], 4)
    scores = random.normal(size=(240, 2)) + np.repeat(random.normal(0, 4, size=(60, 2)), 4, axis=0)
    ax = plot_morphospace(scores, groups, unknown=scores[:5], unknown_name="F")
    marks = ax.get_legend().legend_handles[:60]
    assert len({(mark.get_color(), mark.get_marker()) for mark in marks}) == 60
    assert legend_texts(ax)[:2] == ["1 group 00: 4", "2 group 01: 4"]
    assert len([t for t in ax.texts if t.get_text() in {*map(str, range(1, 61)), "F"}]) == 61
    assert picture_png(ax.figure)


def test_labels_stand_beside_their_groups_and_hide_no_point_of_a_small_one():
    centres = random.uniform(80, 320, size=(12, 2))
    counts = [3, 5, 8, 40, 3, 10, 30, 4, 60, 12, 3, 20]
    groups = [c + 12 * random.normal(size=(n, 2)) for c, n in zip(centres, counts, strict=True)]
    sizes = np.column_stack([random.uniform(10, 60, 12), np.full(12, 12.0)])
    frame = np.array([[0.0, 0.0], [400.0, 400.0]])
    at = labels_beside(groups, sizes, frame)
    for i in range(12):
        for j in range(i):
            assert (np.abs(at[i] - at[j]) >= (sizes[i] + sizes[j]) / 2).any()
        for group in groups:
            if len(group) <= 12:
                assert not (np.abs(group - at[i]) < sizes[i] / 2).all(axis=1).any()
        assert np.hypot(*(at[i] - np.median(groups[i], axis=0))) < 150
    assert ((at >= sizes / 2 - 1e-9) & (at <= 400 - sizes / 2 + 1e-9)).all()


def test_canonical_variates_solve_the_generalized_eigenproblem():
    groups = np.repeat(["a", "b", "c", "d"], [30, 20, 25, 5]).astype(object)
    rows = random.normal(size=(80, 6)) @ random.normal(size=(6, 6))
    rows += np.repeat(3 * random.normal(size=(4, 6)), [30, 20, 25, 5], axis=0)
    residuals, between = rows.copy(), np.zeros((6, 6))
    for name in "abcd":
        inside = groups == name
        residuals[inside] -= rows[inside].mean(axis=0)
        shift = rows[inside].mean(axis=0) - rows.mean(axis=0)
        between += inside.sum() * np.outer(shift, shift)
    scales = residuals.std(axis=0)
    within = ledoit_wolf(residuals / scales, assume_centered=True)[0] * np.outer(scales, scales)
    within *= 80 / (80 - 4)
    values, axes = eigh(between, within)
    found = canonical_variates(rows, groups)
    np.testing.assert_allclose(found.fractions, values[::-1][:3] / values.sum(), atol=1e-9)
    for own, literal in zip(found.axes.T, axes[:, ::-1].T, strict=False):
        assert min(np.abs(own - literal).max(), np.abs(own + literal).max()) < 1e-9
    ax = plot_canonical_variates(rows, groups, unknown=rows[:3] + 1, unknown_name="F")
    drawn = [np.asarray(c.get_offsets()) for c in ax.collections]
    np.testing.assert_allclose(drawn[-1], ((rows[:3] + 1) - rows.mean(axis=0)) @ found.axes[:, :2])
    share = round(100 * found.fractions[0])
    assert ax.get_xlabel() == f"canonical variate 1 ({share} % of between-group variance)"
    assert {"a", "b", "c", "d", "F"} <= {text.get_text() for text in ax.texts}


def test_two_groups_have_one_canonical_variate():
    rows = random.normal(size=(40, 3)) + np.repeat([[0.0], [4.0]], 20, axis=0)
    ax = plot_canonical_variates(rows, ["a"] * 20 + ["b"] * 20)
    assert ax.get_ylabel() == "main component within groups"
    assert picture_png(plot_canonical_variates(rows[:, :1], ["a"] * 20 + ["b"] * 20).figure)
    with pytest.raises(InputError, match="two or more groups"):
        plot_canonical_variates(rows, ["a"] * 40)
    with pytest.raises(InputError, match="The unknown specimens have 2 columns"):
        plot_canonical_variates(rows, ["a"] * 20 + ["b"] * 20, unknown=rows[:, :2])


def apart(scores, groups):
    """Return the distance of the means of two groups."""
    return np.linalg.norm(scores[groups == "a"].mean(axis=0) - scores[groups == "b"].mean(axis=0))


def test_groups_of_one_cloud_are_drawn_apart_only_without_cross_validation():
    rows = np.random.default_rng(0).normal(size=(60, 40))
    groups = np.repeat(["a", "b", "c"], 20).astype(object)
    variates = canonical_variates(rows, groups)
    scores = cross_validated_scores(rows, groups)
    assert apart(variates.scores(rows), groups) > 2
    assert apart(scores, groups) < 1
    ax = plot_canonical_variates(rows, groups)
    drawn = [np.asarray(c.get_offsets()) for c in ax.collections]
    np.testing.assert_array_equal(drawn[-1], scores[groups == "a", :2])
    assert ax.get_title(loc="left") == "known specimens cross-validated (10-fold)"


def test_a_held_out_specimen_has_no_part_in_its_own_score():
    random = np.random.default_rng(5)
    groups = np.repeat(["a", "b", "c", "d"], [11, 12, 13, 14]).astype(object)
    rows = random.normal(size=(50, 5)) + np.repeat(4 * np.eye(4, 5), [11, 12, 13, 14], axis=0)
    scores = cross_validated_scores(rows, groups)
    for fold in range(10):
        inside = np.arange(50) % 10 == fold
        variates = canonical_variates(rows[~inside], groups[~inside])
        literal = variates.scores(rows[inside])
        # Turning and reflecting keeps lengths and angles, here from the mean of the other folds.
        np.testing.assert_allclose(scores[inside] @ scores[inside].T, literal @ literal.T)
    # Where groups are far apart, all specimens lie about where variates of all place them.
    moves = np.linalg.norm(scores - canonical_variates(rows, groups).scores(rows), axis=1)
    assert np.median(moves) < 0.5


def test_a_group_of_one_specimen_is_held_out_too_and_too_few_are_not_validated():
    rows = random.normal(size=(21, 3)) + np.repeat([[0.0], [9.0], [50.0]], [10, 10, 1], axis=0)
    groups = ["a"] * 10 + ["b"] * 10 + ["c"]
    assert cross_validated_scores(rows, np.array(groups, dtype=object)).shape == (21, 2)
    ax = plot_canonical_variates(rows[9:12], ["a", "b", "b"])
    assert ax.get_title(loc="left") == "known specimens not cross-validated: too few"
    assert picture_png(ax.figure)


def test_both_axes_have_one_scale_in_flat_and_steep_planes():
    for stretch in ([1, 0.01], [1, 1], [0.01, 1]):
        scores = random.normal(size=(50, 2)) * stretch
        ax = plot_morphospace(scores, ["a"] * 25 + ["b"] * 25)
        assert picture_png(ax.figure)
        per_unit = ax.bbox.width / np.ptp(ax.get_xlim()), ax.bbox.height / np.ptp(ax.get_ylim())
        np.testing.assert_allclose(*per_unit, rtol=1e-6)
        assert 0.4 < ax.bbox.height / ax.bbox.width < 0.85
        for (low, high), drawn in zip((ax.get_xlim(), ax.get_ylim()), scores.T, strict=True):
            assert low < drawn.min() < drawn.max() < high


def test_labels_of_groups_do_not_overlap_on_paper():
    centres = random.normal(0, 1.5, size=(12, 2))
    scores = np.repeat(centres, 8, axis=0) + random.normal(size=(96, 2))
    ax = plot_morphospace(scores, np.repeat([f"species {n:02d}" for n in range(12)], 8))
    assert picture_png(ax.figure)
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # without lines to the centroids
    assert len(boxes) == 12
    for i in range(12):
        for j in range(i):
            wide = min(boxes[i].x1, boxes[j].x1) - max(boxes[i].x0, boxes[j].x0)
            tall = min(boxes[i].y1, boxes[j].y1) - max(boxes[i].y0, boxes[j].y0)
            assert min(wide, tall) < 1

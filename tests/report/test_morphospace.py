"""Morphospaces and canonical variates: what is drawn where, read back from the axes."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy.linalg import eigh
from sklearn.covariance import ledoit_wolf

from kernova.errors import InputError
from kernova.report.canvas import MUTED, NEW
from kernova.report.figures import picture_png, plot_morphospace
from kernova.report.morphospace import (
    canonical_variates,
    moved_apart,
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


def test_labels_are_moved_until_none_overlaps():
    anchors = random.uniform(100, 300, size=(30, 2))
    sizes = np.column_stack([random.uniform(10, 40, 30), np.full(30, 12.0)])
    frame = np.array([[0.0, 0.0], [400.0, 400.0]])
    at = moved_apart(anchors, sizes, frame)
    for i in range(30):
        for j in range(i):
            assert (np.abs(at[i] - at[j]) >= (sizes[i] + sizes[j]) / 2).any()
    assert ((at >= sizes / 2) & (at <= 400 - sizes / 2)).all()


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

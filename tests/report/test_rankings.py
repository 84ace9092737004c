"""Rankings: what is drawn where, read back from the axes."""

import numpy as np
import pandas as pd
import pytest

from kernova import outlier_factor_path
from kernova.report.figures import (
    picture_png,
    plot_outlier_map,
    plot_ranking,
    rank_stability_figure,
)
from tests.report.reading import legend_texts, texts_on

random = np.random.default_rng(3)
FACTORS = np.r_[random.uniform(0.9, 1.2, 97), 3.0, 40.0, 2.0]


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def drawn(ax):
    """All points of the ranking, by rank."""
    points = [line.get_xydata() for line in ax.get_lines() if line.get_marker() in ("X", "o")]
    points = np.vstack(points)
    return points[np.argsort(points[:, 0])]


def test_the_ranking_falls_and_is_split_at_the_threshold():
    ax = plot_ranking(FACTORS, threshold=1.5, labels=[f"fish {i}" for i in range(100)])
    points = drawn(ax)
    np.testing.assert_array_equal(points[:, 0], np.arange(1, 101))
    np.testing.assert_array_equal(points[:, 1], np.sort(FACTORS)[::-1])
    assert legend_texts(ax) == ["3 rows above the threshold", "97 rows", "threshold 1.5"]
    crosses = next(line for line in ax.get_lines() if line.get_marker() == "X")
    np.testing.assert_array_equal(crosses.get_ydata(), [40, 3, 2])
    assert texts_on(ax)[:3] == ["fish 98", "fish 97", "fish 99"]
    assert picture_png(ax.figure)


@pytest.mark.parametrize(
    ("factors", "scale"),
    [
        (FACTORS, "log"),
        (FACTORS[:97], "linear"),
        (np.zeros(5), "linear"),
        (np.r_[0.0, 1.0, 1.0, 99.0], "log"),
        (-FACTORS, "linear"),
        ([2.0], "linear"),
    ],
)
def test_the_axis_is_logarithmic_where_factors_span_much(factors, scale):
    ax = plot_ranking(factors)
    assert ax.get_yscale() == scale
    assert picture_png(ax.figure)


def test_factors_no_axis_can_show_are_drawn_at_its_end():
    ax = plot_ranking([1.0, 1.0, 1e300, 1e250], threshold=1.5)
    assert drawn(ax)[0, 1] == drawn(ax)[1, 1] == 1.5e6
    assert texts_on(ax) == ["2 factors beyond 2e+06, drawn there"]
    assert picture_png(ax.figure)


def test_of_very_many_ranks_as_many_are_drawn_as_can_be_seen():
    ax = plot_ranking(random.uniform(size=100_000), threshold=0.5)
    assert 500 < len(drawn(ax)) <= 2000
    assert drawn(ax)[-1, 0] == 100_000


def test_map_labels_the_most_outlying_rows_first():
    X = random.normal(size=(300, 4)) * [5, 1, 1, 1]
    is_outlier = np.arange(300) < 30
    factors = 300.0 - np.arange(300)
    ax = plot_outlier_map(X, factors, is_outlier, labels=[f"row {i}" for i in range(300)])
    crowd, crosses = (np.asarray(dots.get_offsets()) for dots in ax.collections)
    assert (len(crowd), len(crosses)) == (270, 30)
    assert legend_texts(ax) == ["270 usual rows", "30 outliers"]
    named = [word for word in texts_on(ax) if word.startswith("row ")]
    assert named[0] == "row 0"
    assert {int(name[4:]) for name in named} <= set(range(12))
    spots = {text.get_text(): text.xy for text in ax.texts if text.get_text() in named}
    np.testing.assert_allclose(spots["row 0"], crosses[0])
    assert "of variance" in ax.get_xlabel()
    assert picture_png(ax.figure)


def test_names_on_the_map_do_not_cover_each_other():
    X = np.zeros((50, 2))
    X[40:] = [8.0, 8.0]
    ax = plot_outlier_map(X, np.ones(50), np.arange(50) >= 40, labels=["$_$ costs"] * 50)
    assert texts_on(ax).count("$_$ costs") == 1
    assert picture_png(ax.figure)  # a dollar sign starts no formula


@pytest.mark.parametrize("is_outlier", [[False, False, False], [True, True, True]])
def test_a_map_of_none_or_of_outliers_only(is_outlier):
    ax = plot_outlier_map([[1.0], [2.0], [9.0]], [1, 1, 2], is_outlier)
    assert picture_png(ax.figure)


def test_ranks_over_k_are_drawn_for_rows_that_are_on_top_for_some_k():
    path = pd.DataFrame(
        {5: [9, 8, 1, 2, 3], 10: [9, 1, 8, 2, 3], 20: [9, 1, 8, 2, 3]}, index=list("abcde")
    )
    figure = rank_stability_figure(path[[20, 5, 10]], n_top=2)  # any order of columns
    ranks, overlap = figure.axes
    named = {text.get_text(): text.xy for text in ranks.texts if text.get_text() in "abcde"}
    assert named == {"a": (20, 1), "c": (20, 2), "b": (20, 5)}
    curves = [tuple(line.get_ydata()) for line in ranks.get_lines() if len(line.get_xdata()) == 3]
    assert sorted(curves) == [(1, 1, 1), (2, 5, 5), (5, 2, 2)]
    np.testing.assert_array_equal(overlap.get_lines()[0].get_xydata(), [[10, 0.5], [20, 1.0]])
    assert "3 rows of 5 among the first 2 for some k" in texts_on(ranks)
    assert ranks.get_ylim()[0] > ranks.get_ylim()[1]  # rank 1 is at the top
    assert picture_png(figure)


def test_ties_share_a_rank():
    figure = rank_stability_figure(pd.DataFrame({3: [5.0, 5.0, 1.0]}), n_top=2)
    heights = sorted(line.get_ydata()[0] for line in figure.axes[0].get_lines() if
                     line.get_marker() == "o")  # fmt: skip
    assert heights == [1, 1]


@pytest.mark.parametrize(("n_rows", "n_numbers"), [(1, 1), (10, 1), (10, 4), (3000, 50)])
def test_few_and_many_rows_and_numbers_stay_readable(n_rows, n_numbers):
    factors = np.exp(random.normal(100, 100, size=(n_rows, n_numbers)))
    figure = rank_stability_figure(pd.DataFrame(factors, columns=range(2, 2 + n_numbers)))
    assert len(figure.axes) == (1 if n_numbers == 1 else 2)
    names = [text for text in figure.axes[0].texts if text.arrow_patch is not None]
    assert len(names) == min(n_rows, 12)
    spots = sorted(text.xyann[1] for text in names)
    assert all(np.diff(spots) > 0.045)  # names stand apart, and inside
    assert spots[0] > -0.05
    assert spots[-1] < 1.05
    assert len(figure.axes[-1].get_xticks()) <= 9
    assert picture_png(figure)


def test_the_path_of_an_estimator_is_taken_as_it_is():
    X = pd.DataFrame(random.normal(size=(60, 2)), index=[f"fish {i}" for i in range(60)])
    X.iloc[7] = [30.0, 30.0]
    figure = rank_stability_figure(outlier_factor_path(X, [5, 10, 20]), n_top=1)
    assert [text.get_text() for text in figure.axes[0].texts if text.arrow_patch] == ["fish 7"]

"""Pictures of what is proven: every drawn number against its formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from kernova import false_alarm_threshold, select_discoveries
from kernova.report.figures import picture_png, plot_false_alarm_curve, plot_p_values
from tests.oracles import clopper_pearson_upper, hoeffding_upper, share_at_most
from tests.report.reading import legend_texts

random = np.random.default_rng(5)


def step_at(line, threshold):
    """Read a curve of steps as a person would: the last step at or before the threshold."""
    x, y = line.get_data()
    assert line.get_drawstyle() == "steps-post"
    return y[np.searchsorted(x, threshold, side="right") - 1]


@given(
    scores=st.lists(st.integers(0, 40).map(lambda n: n / 7), min_size=1, max_size=80),
    confidence=st.sampled_from([0.5, 0.9, 0.95]),
)
@settings(deadline=None, max_examples=40)
def test_curves_are_the_bounds_at_every_threshold_in_view(scores, confidence):
    ax = plot_false_alarm_curve(scores, confidence)
    observed, binomial, hoeffding, _ = ax.lines
    low, high = ax.get_xlim()
    top = ax.get_ylim()[1]
    for threshold in np.linspace(low, high, 37):
        share = share_at_most(scores, threshold)
        n_alarms = round(share * len(scores))
        for line, expected in (
            (observed, share),
            (binomial, clopper_pearson_upper(n_alarms, len(scores), confidence)),
            (hoeffding, hoeffding_upper(n_alarms, len(scores), confidence)),
        ):
            drawn = step_at(line, threshold)
            assert drawn == pytest.approx(expected) or (drawn > top and expected > top)


def test_chosen_threshold_is_marked_on_its_curve():
    scores = random.normal(size=400)
    for bound, curve in ("binomial", 1), ("hoeffding", 2):
        chosen = false_alarm_threshold(scores, 0.1, bound=bound)
        ax = plot_false_alarm_curve(scores, chosen=chosen)
        mark = ax.lines[-1]
        assert mark.get_xydata().tolist() == [[chosen.threshold, chosen.bound]]
        assert step_at(ax.lines[curve], chosen.threshold) == pytest.approx(chosen.bound)
        assert ax.get_xlim()[0] < chosen.threshold < ax.get_xlim()[1]
        assert ax.get_ylim()[0] < chosen.bound < ax.get_ylim()[1]
    assert legend_texts(ax) == [
        "observed on held-out rows",
        "binomial bound (preset count)",
        "Hoeffding bound (any threshold)",
        "smallest provable bound: 0.747 %",
        f"chosen: {chosen.threshold:.4g}, at most 9.87 %",
    ]
    assert ax.get_xlabel() == "threshold on the score (left is stricter)"
    assert ax.get_ylabel() == "false alarms"
    assert picture_png(ax.figure)


def test_a_bound_that_does_not_hold_is_not_drawn():
    ax = plot_false_alarm_curve(random.normal(size=50), 0.3)
    assert not any("Hoeffding" in words for words in legend_texts(ax))
    assert any("binomial" in words for words in legend_texts(ax))


def test_curves_of_very_many_rows_stay_small_and_leave_the_picture():
    scores = np.sort(random.normal(size=40_000))
    ax = plot_false_alarm_curve(scores)
    for line in ax.lines[:3]:
        assert len(line.get_xdata()) < 2100
        assert line.get_ydata()[-1] >= ax.get_ylim()[1]
    middle = scores[3000]
    assert step_at(ax.lines[0], middle) == pytest.approx(3001 / 40_000, abs=1e-3)


@pytest.mark.parametrize("scores", [[0.5], [2.0] * 9, [0.0, 1e-320], [-1e90, 1e90]])
def test_curves_of_few_or_equal_scores_are_drawn(scores):
    ax = plot_false_alarm_curve(scores)
    assert step_at(ax.lines[0], ax.get_xlim()[0]) == 0
    assert step_at(ax.lines[0], max(scores)) == 1
    assert picture_png(ax.figure)


def test_p_values_are_drawn_in_order_and_the_selected_ones_marked():
    p = np.concatenate([random.uniform(size=80), random.uniform(size=12) / 500])
    ax = plot_p_values(p, false_discovery_rate=0.2)
    usual, selected = ax.lines[:2]
    n_selected = select_discoveries(p, 0.2).sum()
    assert n_selected >= 12
    np.testing.assert_array_equal(selected.get_ydata(), np.sort(p)[:n_selected])
    np.testing.assert_array_equal(usual.get_ydata(), np.sort(p)[n_selected:])
    np.testing.assert_array_equal(selected.get_xdata(), np.arange(1, n_selected + 1))
    assert legend_texts(ax) == [
        f"{92 - n_selected} rows not selected",
        f"{n_selected} rows selected",
        "ordinary rows, on average",
        "ordinary rows, 95 % range",
        "limit for 20 % false discoveries",
    ]
    limit = ax.lines[-1]
    np.testing.assert_allclose(limit.get_ydata() / limit.get_xdata(), 0.2 / 92)
    assert ax.get_ylim()[0] < p.min()
    assert picture_png(ax.figure)


def test_band_holds_what_ordinary_rows_give():
    n = 30
    ax = plot_p_values(random.uniform(size=n))
    (band,) = ax.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.round(9)}
    rank = np.arange(1, n + 1)
    for share in (0.025, 0.975):
        expected = beta.ppf(share, rank, n + 1 - rank).round(9)
        assert corners.issuperset(zip(rank.astype(float), expected, strict=True))
    average = ax.lines[1]
    np.testing.assert_allclose(average.get_ydata(), rank / (n + 1))


def test_p_values_of_zero_are_drawn_with_a_note():
    ax = plot_p_values([0.0, 0.5, 1.0])
    heights = ax.lines[0].get_ydata()
    assert ax.get_ylim()[0] < heights[0] < 0.25
    np.testing.assert_array_equal(heights[1:], [0.5, 1.0])
    assert [text.get_text() for text in ax.texts] == ["p-values of 0 are drawn at the lower edge"]
    assert picture_png(ax.figure)


@pytest.mark.parametrize("p", [[0.03], [1.0], [0.0], [0.2, 0.2], np.full(7, 1 / 401)])
@pytest.mark.parametrize("rate", [None, 0.1])
def test_few_p_values_are_drawn_each(p, rate):
    ax = plot_p_values(p, false_discovery_rate=rate)
    n_drawn = sum(len(line.get_xdata()) for line in ax.lines[: 1 if rate is None else 2])
    assert n_drawn == len(p)
    assert [int(tick) for tick in ax.get_xticks()] == list(range(1, len(p) + 1))
    assert picture_png(ax.figure)


def test_many_p_values_are_thinned_evenly_on_the_axis():
    ax = plot_p_values(random.uniform(size=50_000))
    rank = ax.lines[0].get_xdata()
    assert len(rank) < 2100
    assert (rank[0], rank[-1]) == (1, 50_000)
    assert np.diff(np.log(rank)).max() <= np.log(2) + 1e-12  # no hole but between 1 and 2

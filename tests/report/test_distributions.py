"""The picture of scores: every row is counted once, on its side of the threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import StepPatch

from kernova import KernelSpatialDepth, false_alarm_threshold
from kernova.errors import InputError
from kernova.report.figures import picture_png, plot_score_distributions
from tests.report.reading import legend_texts, texts_on

random = np.random.default_rng(3)


def bars(ax):
    """Return the bars of each group, on the unbroken axis."""
    drawn = [patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch)]
    return [one for one in drawn if len(one.values) > 1]


def bars_beyond(ax):
    """Return the middle and the height of each bar beyond a break of the axis."""
    drawn = [patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch)]
    return [(one.edges.mean(), one.values[0]) for one in drawn if len(one.values) == 1]


drawable = st.floats(-1e99, 1e99)
samples = st.one_of(
    st.lists(drawable, min_size=1, max_size=60),
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=60),  # many ties
    st.lists(st.floats(0.3, 0.30001), min_size=1, max_size=60),  # nearly constant
)


@given(
    known=samples,
    new=st.lists(st.floats(allow_nan=False, allow_infinity=False)),
    high_is_novel=st.booleans(),
    data=st.data(),
)
@settings(deadline=None, max_examples=60)
def test_bars_beyond_the_threshold_are_the_rows_called_novel(known, new, high_is_novel, data):
    threshold = data.draw(st.one_of(st.none(), st.sampled_from(known), drawable))
    ax = plot_score_distributions(known, new, threshold=threshold, high_is_novel=high_is_novel)
    groups = [known] + ([new] if len(new) >= 25 else [])
    low, high = ax.get_xlim()
    farther = sum(height for _, height in bars_beyond(ax))
    assert sum(drawn.values.sum() for drawn in bars(ax)) + farther == pytest.approx(len(groups))
    for drawn in bars(ax):
        assert (np.diff(drawn.edges) >= 0).all()
        assert low <= drawn.edges[0] < drawn.edges[-1] <= high
    if threshold is not None:
        novel, at = 0.0, np.nextafter(threshold, np.inf)
        for drawn in bars(ax):
            is_novel = drawn.edges[:-1] >= threshold if high_is_novel else drawn.edges[1:] <= at
            novel += drawn.values[is_novel].sum()
        novel += sum(share for x, share in bars_beyond(ax) if (x > threshold) == high_is_novel)
        is_far = [np.array(g) >= threshold if high_is_novel else g <= threshold for g in
                  map(np.array, groups)]  # fmt: skip
        assert novel == pytest.approx(sum(map(np.mean, is_far)))
    if 0 < len(new) < 25:
        marks = ax.lines[0].get_xdata()
        edges = bars(ax)[0].edges
        inside = np.array([edges[0] <= one <= edges[-1] for one in np.sort(new)])
        assert len(marks) == len(new)
        assert ((low <= marks) & (marks <= high)).all()
        np.testing.assert_array_equal(marks[inside], np.sort(new)[inside])


def test_threshold_is_a_line_with_labels_and_its_bound():
    X = random.normal(size=(300, 2))
    model = KernelSpatialDepth().fit(X[:100])
    holdout = model.score_samples(X[100:])
    proven = false_alarm_threshold(holdout, 0.1, bound="binomial")
    new = model.score_samples(X[:50] + np.array([0, 3]))
    ax = plot_score_distributions(
        holdout, new, threshold=proven.threshold, bound=proven.bound, labels=("old", "fresh")
    )
    (line,) = ax.lines
    assert set(line.get_xdata()) == {proven.threshold}
    assert texts_on(ax) == ["← novel", "usual →"]
    assert legend_texts(ax) == [
        "old: 200 rows",
        "fresh: 50 rows",
        f"threshold {proven.threshold:.4g} (false alarms at most 9.55 %)",
    ]
    assert ax.get_xlabel() == "score (high is typical)"
    assert ax.get_ylabel() == "fraction of rows in each bin"
    # The words have room of their own above the highest bar.
    assert ax.get_ylim()[1] > 1.1 * max(drawn.values.max() for drawn in bars(ax))


def test_labels_beside_the_threshold_stay_in_the_picture():
    scores = np.linspace(0, 1, 40)
    for threshold in (0.0, 0.5, 1.0, 4.0):
        ax = plot_score_distributions(scores, threshold=threshold)
        ax.figure.draw_without_rendering()
        frame = ax.get_window_extent()
        for text in ax.texts:
            box = text.get_window_extent()
            assert frame.x0 < box.x0 < box.x1 < frame.x1


def test_heavy_tails_are_counted_beyond_a_break_of_the_axis_with_a_note():
    scores = np.concatenate([np.linspace(0, 1, 97), [1e6] * 3])
    ax = plot_score_distributions(scores)
    (drawn,) = bars(ax)
    assert drawn.edges[-1] < 10
    ((at, height),) = bars_beyond(ax)
    assert height == pytest.approx(0.03)
    assert drawn.edges[-1] < at < ax.get_xlim()[1]
    assert texts_on(ax) == ["3 scores lie farther out, beyond the break"]
    assert picture_png(ax.figure)
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks[-1] == f"> {drawn.edges[-1]:.3g}"
    assert ax.spines["bottom"].get_bounds() == (drawn.edges[0], drawn.edges[-1])


def test_new_rows_somewhat_farther_out_widen_the_axis():
    ax = plot_score_distributions(np.linspace(0, 1, 97), np.linspace(3, 4, 30))
    assert not bars_beyond(ax)
    assert not texts_on(ax)
    assert [bars(ax)[k].values.sum() for k in range(2)] == pytest.approx([1, 1])
    # The new rows do not make one bar of the known ones.
    assert np.count_nonzero(bars(ax)[0].values) >= 8


def test_of_novelty_high_scores_are_unusual_and_sides_have_the_words_given():
    ax = plot_score_distributions(
        np.linspace(0, 1, 40), [2.0], threshold=1.5, score="novelty", high_is_novel=True,
        sides=("detected", "not detected"),
    )  # fmt: skip
    assert texts_on(ax) == ["← not detected", "detected →"]
    assert ax.get_xlabel() == "novelty (high is unusual)"
    with pytest.raises(InputError, match="sides must be two texts; got 'novel'"):
        plot_score_distributions([1.0], sides="novel")


def test_few_new_rows_are_marked_one_by_one_and_none_hides_another():
    ax = plot_score_distributions(np.linspace(0, 1, 50), [0.5] * 6 + [0.1])
    assert len(bars(ax)) == 1
    (marks,) = ax.lines
    assert len(set(zip(*marks.get_data(), strict=True))) == 7
    assert 0 < marks.get_ydata().min() < marks.get_ydata().max() < 1
    assert legend_texts(ax)[1] == "new: 7 rows, one mark each"


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ([0.3], None),
        ([0.3], [0.3]),
        ([0.3], []),
        (np.zeros(30), np.zeros(30)),
        (np.full(30, 1e15), [1e15 + 1]),
        ([0.0, 5e-324], [1e-320]),
        ([1.0, 2.0], [1.7e308, -1.7e308]),
    ],
)
def test_extreme_samples_are_drawn(known, new):
    for threshold in (None, float(np.min(known))):
        ax = plot_score_distributions(known, new, threshold=threshold)
        assert np.isfinite(ax.get_xlim()).all()
        assert picture_png(ax.figure)


def test_dollar_signs_in_labels_are_not_formulas():
    ax = plot_score_distributions([1, 2], [3], labels=("a$b", "c_$x^$"))
    assert legend_texts(ax) == ["a$b: 2 rows", "c_$x^$: 1 row, one mark each"]
    assert picture_png(ax.figure)

"""Error rates between groups: what is drawn where, read back from the axes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb

from kernova.errors import InputError
from kernova.report.canvas import KNOWN
from kernova.report.figures import picture_png
from kernova.report.pairs import plot_error_rates, plot_pair_errors
from tests.report.reading import legend_texts, texts_on

random = np.random.default_rng(3)
NAN = float("nan")


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


def symmetric_rates(n_groups):
    rates = np.full((n_groups, n_groups), NAN)
    for line, column in zip(*np.tril_indices(n_groups, -1), strict=True):
        rates[line, column] = rates[column, line] = random.uniform(0, 0.5)
    return rates


def test_of_symmetric_rates_each_pair_has_one_cell_below_the_diagonal():
    rates = symmetric_rates(7)
    rates[4, 2] = rates[2, 4] = NAN  # a pair without a rate
    ax = plot_error_rates(
        rates, "abcdefg", "abcdefg", symmetric=True, rate="discriminant error", mark_above=0.25
    )
    drawn = ax.images[0].get_array().filled(NAN)
    np.testing.assert_array_equal(drawn, np.where(np.tri(6), rates[1:, :-1], NAN))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list("bcdefg")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list("abcdef")
    written = [text for text in texts_on(ax) if text]
    assert written == [f"{r:.2f}"[1:] for r in drawn.ravel() if not np.isnan(r)]
    assert len(written) == 20
    framed = [p for p in ax.patches if p.get_edgecolor()[:3] == to_rgb(KNOWN)]
    cells = {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in framed}
    assert cells == set(map(tuple, np.argwhere(drawn > 0.25).tolist()))
    assert [ax.get_xlabel(), ax.get_ylabel()] == ["", ""]
    (bar,) = ax.child_axes
    assert bar.get_ylabel() == "discriminant error (0.5 is chance)"
    assert picture_png(ax.figure)


def test_two_groups_have_one_symmetric_cell():
    ax = plot_error_rates([[NAN, 0.2], [0.2, NAN]], "ab", "ab", symmetric=True)
    assert texts_on(ax) == [".20", "equal error rate: white 0, darkest 0.5 (chance)"]
    assert picture_png(ax.figure)


def test_rates_that_differ_by_direction_are_not_drawn_as_symmetric():
    with pytest.raises(InputError) as raised:
        plot_error_rates([[NAN, 0.2], [0.3, NAN]], "ab", "ab", symmetric=True)
    assert str(raised.value) == (
        "The rates are not symmetric: 0.2 for a against b, but 0.3 for b against a. Draw both with "
        "symmetric=False, or give their mean."
    )
    with pytest.raises(InputError) as raised:
        plot_error_rates([[NAN, 0.2], [0.2, NAN]], "ab", "bc", symmetric=True)
    assert str(raised.value) == (
        "A symmetric matrix of rates needs two or more groups, the same in rows and columns; got "
        "rows 'a', 'b' and columns 'b', 'c'."
    )


PAIRS = pd.DataFrame(
    {
        "known": ["a", "$b$", "c", "d", "e"],
        "error": [0.02, 0.31, 0.1, NAN, NAN],
        "error_low": [0.0, 0.2, NAN, NAN, NAN],
        "error_high": [0.1, 0.4, NAN, NAN, NAN],
        "novelty_error": [0.08, 0.45, NAN, 0.2, NAN],
    }
)


def marks(ax):
    """The places of the marks, without those that have no rate."""
    kinds = [c for c in ax.collections if isinstance(c, PathCollection)]
    points = [np.asarray(np.ma.filled(c.get_offsets(), NAN)) for c in kinds]
    return [one[np.isfinite(one).all(axis=1)] for one in points]


def test_each_known_group_has_the_discriminant_with_its_interval_and_the_novelty_error():
    ax = plot_pair_errors(PAIRS, unknown_name="$F$")
    discriminant, novelty = marks(ax)
    np.testing.assert_array_equal(discriminant[:, 0], [0.02, 0.31, 0.1])
    np.testing.assert_array_equal(novelty[:, 0], [0.08, 0.45, 0.2])
    assert np.rint(discriminant[:, 1]).tolist() == [0, 1, 2]
    assert np.rint(novelty[:, 1]).tolist() == [0, 1, 3]
    # The two marks of a group do not hide each other, wherever they stand.
    assert (novelty[:2, 1] - discriminant[:2, 1] > 0.3).all()
    intervals = [c for c in ax.collections if isinstance(c, LineCollection)][-1]
    ends = [path.vertices[:, 0].tolist() for path in intervals.get_paths()]
    assert [end for end in ends if np.isfinite(end).all()] == [[0.0, 0.1], [0.2, 0.4]]
    chance = [line for line in ax.lines if list(line.get_xdata()) == [0.5, 0.5]]
    assert len(chance) == 1
    assert [tick.get_text() for tick in ax.get_yticklabels()] == PAIRS["known"].tolist()
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first group stands on top
    assert [(text.get_text(), text.get_position()[1]) for text in ax.texts] == [("no rate", 4)]
    assert ax.get_xlabel() == "error rate, $F$ against each group"
    assert legend_texts(ax) == [
        "discriminant, with the interval of its error",
        "novelty test, which knows that group alone",
        "chance",
    ]
    assert picture_png(ax.figure)


def test_chance_and_every_rate_lie_within_the_axes():
    low = plot_pair_errors(PAIRS.assign(error_high=[0.1, 0.35, NAN, NAN, NAN]))
    assert 0.5 < low.get_xlim()[1] < 0.6
    high = plot_pair_errors(PAIRS.assign(error_high=[0.1, 1.0, NAN, NAN, NAN]))
    assert 1.0 < high.get_xlim()[1] < 1.1
    for ax in (low, high):
        assert ax.get_xlim()[0] < 0


def test_without_novelty_errors_the_legend_does_not_name_them():
    ax = plot_pair_errors(PAIRS.assign(novelty_error=NAN))
    assert len(marks(ax)) == 1
    assert len(legend_texts(ax)) == 2
    assert picture_png(ax.figure)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            PAIRS.drop(columns=["error_low", "error_high"]),
            "The table of error rates lacks 'error_low', 'error_high'. It needs the columns "
            "'known', 'error', 'error_low', 'error_high', 'novelty_error'.",
        ),
        (PAIRS[:0], "There are no error rates. Give a table of at least one known group."),
        (
            PAIRS.assign(novelty_error=[0.1, 0.1, 1.2, 0.1, 0.1]),
            "Error rates must lie from 0 to 1, or be NaN, and error between error_low and "
            "error_high; those of c do not.",
        ),
        (
            PAIRS.assign(error_low=[0.0, 0.32, NAN, NAN, NAN]),
            "Error rates must lie from 0 to 1, or be NaN, and error between error_low and "
            "error_high; those of $b$ do not.",
        ),
    ],
)
def test_a_table_that_cannot_be_drawn_is_named(table, message):
    with pytest.raises(InputError) as raised:
        plot_pair_errors(table)
    assert str(raised.value) == message

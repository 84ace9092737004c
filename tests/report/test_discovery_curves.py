"""Discovery curves: lines where the runs are, words that say when all was met."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from kernova.report.curves import band_of, pad_curve
from kernova.report.figures import picture_png, plot_discovery_curves


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_legend_states_when_all_classes_were_found():
    ax = plot_discovery_curves(
        {
            "one": [[1, 2, 3]],
            "several": [[1, 3], [1, 2, 2, 2, 3]],
            "some": [[1, 2, 3], [1, 1, 1]],
            "none": [[1, 1, 2, 2], [1, 1]],
        },
        3,
    )
    assert legend_of(ax) == [
        "one: all found after 3",
        "several: all found after 3.5 (2 to 5)",
        "some: all found after 3 in 1 of 2 runs",
        "none: 2 found in 4",
    ]
    assert ax.get_ylabel() == "classes found, of 3"
    assert picture_png(ax.figure)[:4] == b"\x89PNG"


def test_lines_are_medians_and_end_where_all_classes_are_found():
    ax = plot_discovery_curves({"a": [[1, 2], [1, 1, 1, 2], [1, 1, 2]]}, 2, n_questions=6)
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [1, 2, 3]  # up to where all is met
    assert line.get_ydata().tolist() == [1, 1, 2]
    dot = ax.lines[1]
    assert (dot.get_xdata()[0], dot.get_ydata()[0], dot.get_marker()) == (3, 2, "o")
    never = plot_discovery_curves({"a": [[1, 2]]}, 3, n_questions=4)
    assert never.lines[0].get_ydata().tolist() == [1, 2, 2, 2]
    assert never.lines[1].get_marker() == ">"


def test_equal_curves_stand_side_by_side():
    ax = plot_discovery_curves({"a": [[1, 2]], "b": [[1, 2]]}, 2)
    first, second = (line.get_ydata() for line in ax.lines[:4:2])
    gap = second - first
    assert gap[0] == pytest.approx(gap[1])
    assert 0 < gap[0] < 0.05
    assert np.allclose((first + second) / 2, [1, 2])


def test_a_band_reaches_from_the_worst_to_the_best():
    band = band_of([np.array([1.0, 1, 3]), np.array([1.0, 2])], 4)
    assert band.low.tolist() == [1, 1, 2, 2]
    assert band.high.tolist() == [1, 2, 3, 3]
    assert pad_curve(np.array([1.0, 5.0]), 1).tolist() == [1]


def test_many_strategies_differ_by_colour_or_dash():
    ax = plot_discovery_curves({f"s{n}": [[1, 2]] for n in range(12)}, 2)
    looks = {(line.get_color(), str(line.get_linestyle())) for line in ax.lines[::2]}
    assert len(looks - {("#8a8f98", "-")}) >= 12


def test_it_draws_on_given_axes():
    ax = Figure().subplots()
    assert plot_discovery_curves({"a": [[1]]}, 1, ax=ax) is ax


def test_shades_are_drawn_for_few_strategies_with_several_runs():
    def n_shades(n_strategies, n_runs):
        runs = {f"s{n}": [[1, 2]] * n_runs for n in range(n_strategies)}
        return len(plot_discovery_curves(runs, 2).collections)

    assert [n_shades(1, 1), n_shades(4, 2), n_shades(5, 2)] == [0, 4, 0]

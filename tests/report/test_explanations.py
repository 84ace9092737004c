"""The picture of an explanation: each bar, name and value against the table it was made from."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from kernova import SpatialDepth
from kernova.explain.explanation import explain
from kernova.report.canvas import KNOWN, MUTED, NEW
from kernova.report.figures import explanation_figure, picture_png


def table(shares, row="A7", values=None, usual=None, names=None):
    n = len(shares)
    return pd.DataFrame(
        {
            "row": [row] * n,
            "feature": names or [f"f{j}" for j in range(n)],
            "value": values or [float(j) for j in range(n)],
            "ordinary_value": usual or [j + 0.25 for j in range(n)],
            "share": shares,
            "nearest": [("B1",)] * n,
        }
    )


def panels(figure):
    return figure.axes


def bars(ax):
    return [(bar.get_width(), to_rgba(bar.get_facecolor())) for bar in ax.patches]


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def words(ax):
    (beside,) = ax.child_axes
    return [label.get_text() for label in beside.get_yticklabels()]


def legend_words(figure):
    return [text.get_text() for text in panels(figure)[-1].get_legend().get_texts()]


def test_bars_names_and_values_are_those_of_the_table():
    figure = explanation_figure(table([0.7, 0.3, -0.2]))
    (ax,) = panels(figure)
    expected = [(0.7, to_rgba(NEW)), (0.3, to_rgba(NEW)), (-0.2, to_rgba(KNOWN))]
    assert bars(ax) == expected
    assert names(ax) == ["f0", "f1", "f2"]
    assert words(ax) == ["0 (usually 0.25)", "1 (usually 1.25)", "2 (usually 2.25)"]
    assert ax.get_title(loc="left") == "row A7"
    low, high = ax.get_xlim()
    assert low < -0.2
    assert high > 0.7
    top, bottom = ax.patches[0].get_y(), ax.patches[2].get_y()
    assert (top < bottom) == ax.yaxis_inverted()  # the largest on top
    assert legend_words(figure) == ["more outlying", "less outlying"]
    assert ax.get_xlabel() == "contribution to the row's outlyingness"
    assert picture_png(figure)


def test_others_are_one_bar_and_the_largest_are_shown_either_way():
    shares = [0.5, 0.2, 0.15, 0.1, 0.05, -0.01, -0.02, -0.4]
    (ax,) = panels(figure := explanation_figure(table(shares), n_features=3))
    assert names(ax) == ["f0", "f1", "f7", "5 other features"]
    widths, colours = zip(*bars(ax), strict=True)
    assert widths == pytest.approx((0.5, 0.2, -0.4, 0.27))
    assert colours[-1] == to_rgba(MUTED)
    assert words(ax)[-1] == ""
    assert legend_words(figure)[-1] == "all other features together"
    (ax,) = panels(explanation_figure(table(shares[:4]), n_features=3))
    assert names(ax) == ["f0", "f1", "f2", "f3"]  # one left over is shown itself


def test_rows_keep_their_order_and_the_rest_is_counted():
    tables = [table([1.0, 0.0], row=label) for label in (9, "x", 2, ("site", 3), 5, 6, 7, 8)]
    figure = explanation_figure(pd.concat(tables))
    titles = [ax.get_title(loc="left") for ax in panels(figure)]
    assert titles == ["row 9", "row x", "row 2", "row ('site', 3)", "row 5", "row 6"]
    xlabels = [ax.get_xlabel() for ax in panels(figure)]
    assert xlabels == [""] * 5 + ["contribution to the row's outlyingness; 6 of 8 rows shown"]
    assert len(panels(explanation_figure(pd.concat(tables), max_rows=2))) == 2
    assert picture_png(figure)


LONG = "an extremely long winded name of a column number "
AWKWARD = {
    "long names": table([0.6, 0.4], names=[LONG + "1", LONG + "2"]),
    "long values": table([0.6, 0.4], values=[LONG + "1"] * 2, usual=[LONG + "2"] * 2),
    "dollars": table([0.6, 0.4], names=["price $", "$x^2$"], values=["$1", "$\\frac$"]),
    "other scripts": table([0.6, 0.4], names=["体重", "größe"], values=["男", None]),
    "one feature": table([1.0]),
    "all silent": table([0.0, 0.0, 0.0]),
    "all but one for it": table([1.0, -3.0, -8.0]),
    "extremes": table([0.5, 0.5], values=[1e-300, 1e300], usual=[1e300, -1e300]),
    "forty": table(list(np.linspace(1, -1, 40) / 10.25)),
    "missing": table([0.5, 0.5], values=[np.nan, 1.0], usual=[1.0, np.nan]),
}


@pytest.mark.filterwarnings("ignore:Glyph")  # boxes have extents too
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_input_leaves_the_bars_room(name):
    figure = explanation_figure(AWKWARD[name])
    assert picture_png(figure, dpi=60)
    (ax,) = panels(figure)
    width = ax.get_window_extent().width / figure.bbox.width
    assert width > 0.2
    for text in (*ax.get_yticklabels(), *ax.child_axes[0].get_yticklabels()):
        extent = text.get_window_extent()
        assert extent.x0 >= 0
        assert extent.x1 <= figure.bbox.width


def test_what_explain_gives_is_drawn():
    X = np.random.default_rng(0).normal(size=(100, 12))
    X[3, 5] = 9.0
    figure = explanation_figure(explain(SpatialDepth().fit(X), X))
    assert names(panels(figure)[0])[-1] == "7 other features"
    assert "9 (usually " in "".join(words(panels(figure)[0]))

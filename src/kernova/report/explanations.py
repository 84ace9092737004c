"""Explanation figures: the features that make a few rows outlying."""

from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kernova.errors import InputError, check_count
from kernova.report.canvas import KNOWN, MUTED, NEW, PERCENT, Entry, ink, legend_below, new_figure
from kernova.text import format_value, listed, quantity, truncate_middle

_NEEDED: Final = ("row", "feature", "value", "ordinary_value", "share")
_WIDTH: Final = 7.2
# Heights in inches: a bar, the title of a row, and the axis and legend below all rows.
_BAR, _TITLE, _BELOW = 0.25, 0.34, 1.05
_BAR_THICKNESS: Final = 0.66
_SMALL_TEXT: Final = 9
_MAX_LETTERS: Final = 22


def explanation_figure(
    explanation: pd.DataFrame, *, n_features: int = 5, max_rows: int = 6
) -> Figure:
    """Draw the features that make rows outlying, with their values and the ordinary ones.

    Each row has bars for the features with the largest contributions, positive or negative, and
    one for all others together. Positive bars make the row more outlying; all bars sum to 100 %.

    Parameters
    ----------
    explanation : DataFrame
        As returned by :func:`~kernova.explain`.
    n_features : int, default=5
        The number of features to draw for each row.
    max_rows : int, default=6
        The number of rows to draw, from the first.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.report.figures import explanation_figure
    >>> explanation = pd.DataFrame({
    ...     "row": ["A7", "A7"],
    ...     "feature": ["TSH", "sex"],
    ...     "value": [0.53, "f"],
    ...     "ordinary_value": [0.02, "m"],
    ...     "share": [0.8, 0.2],
    ...     "nearest": [("B1", "C2")] * 2,
    ... })
    >>> figure = explanation_figure(explanation)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['TSH', 'sex']
    """
    _check(explanation, n_features=n_features, max_rows=max_rows)
    groups = list(explanation.groupby("row", sort=False, dropna=False))
    tables = [(label, _bars(features, n_features)) for label, features in groups[:max_rows]]

    heights = [_BAR * len(bars) + _TITLE for _, bars in tables]
    figure = new_figure(_WIDTH, sum(heights) + _BELOW)
    grid = figure.subplots(
        len(tables), sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    panels: list[Axes] = grid[:, 0].tolist()
    for ax, (label, bars) in zip(panels, tables, strict=True):
        _draw_row(ax, label, bars)
    fractions = pd.concat([bars["fraction"] for _, bars in tables])
    panels[0].set_xlim(min(0.0, 1.08 * fractions.min()), 1.08 * max(fractions.max(), 0.1))
    _draw_heading(panels[0])
    panels[-1].set_xlabel(_axis_label(len(tables), len(groups)))
    panels[-1].xaxis.set_major_formatter(PERCENT)
    legend_below(panels[-1], _legend([bars for _, bars in tables]))
    return figure


def _check(explanation: pd.DataFrame, **counts: Any) -> None:
    missing = [name for name in _NEEDED if name not in explanation.columns]
    if missing:
        raise InputError(
            f"An explanation has the columns {listed(_NEEDED)}; missing are {listed(missing)}."
        )
    if explanation.empty:
        raise InputError("The explanation has no rows, so there is nothing to draw.")
    for name, count in counts.items():
        check_count(count, name, 1)


def _bars(features: pd.DataFrame, n_features: int) -> pd.DataFrame:
    """Return the bars of one row: labels on both sides, fraction and colour."""
    # A single remaining feature takes no more room than a bar for all others.
    n_shown = n_features + 1 if len(features) == n_features + 1 else n_features
    largest = features["share"].abs().nlargest(n_shown).index
    shown = features[features.index.isin(largest)].sort_values(
        "share", ascending=False, kind="stable"
    )
    bars = [
        (
            truncate_middle(str(feature), _MAX_LETTERS),
            _both_values(value, ordinary),
            fraction,
            KNOWN if fraction < 0 else NEW,
        )
        for feature, value, ordinary, fraction in shown[list(_NEEDED[1:])].to_numpy(dtype=object)
    ]
    others = features[~features.index.isin(largest)]
    if len(others):
        bars.append((quantity(len(others), "other feature"), "", others["share"].sum(), MUTED))
    return pd.DataFrame(bars, columns=["name", "values", "fraction", "colour"])


def _both_values(value: Any, ordinary: Any) -> str:
    return (
        f"{format_value(value, ordinary, _MAX_LETTERS)} "
        f"(usually {format_value(ordinary, value, _MAX_LETTERS)})"
    )


def _draw_row(ax: Axes, label: Any, bars: pd.DataFrame) -> None:
    positions = list(range(len(bars)))
    ax.barh(positions, bars["fraction"], height=_BAR_THICKNESS, color=bars["colour"])
    ax.axvline(0, color=ink(ax), linewidth=0.8)
    ax.set_ylim(len(bars) - 0.45, -0.55)  # the first bar on top
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_yticks(positions, bars["name"].tolist(), fontsize=_SMALL_TEXT, parse_math=False)
    beside = ax.secondary_yaxis("right")
    beside.set_yticks(positions, bars["values"].tolist(), fontsize=_SMALL_TEXT, parse_math=False)
    beside.tick_params(axis="y", length=0)
    beside.spines["right"].set_visible(False)
    title = f"row {truncate_middle(str(label), 3 * _MAX_LETTERS)}"
    ax.set_title(title, loc="left", fontsize=_SMALL_TEXT + 1, weight="bold", parse_math=False)


def _draw_heading(ax: Axes) -> None:
    ax.annotate(
        "its value (the ordinary one)",
        (1, 1),
        xycoords="axes fraction",
        xytext=(4, 6),
        textcoords="offset points",
        ha="left",
        fontsize=_SMALL_TEXT,
        color=ink(ax),
    )


def _axis_label(n_drawn: int, n_rows: int) -> str:
    label = "contribution to the row's outlyingness"
    return label if n_drawn == n_rows else f"{label}; {n_drawn} of {n_rows:,} rows shown"


def _legend(tables: list[pd.DataFrame]) -> list[Entry]:
    used = {colour for bars in tables for colour in bars["colour"]}
    meanings = {
        NEW: "more outlying",
        KNOWN: "less outlying",
        MUTED: "all other features together",
    }
    return [(Patch(color=colour), label) for colour, label in meanings.items() if colour in used]

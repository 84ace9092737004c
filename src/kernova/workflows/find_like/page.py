"""Report of a search for similar rows as one HTML page: the answer, cards, figures, a table."""

from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kernova._version import __version__
from kernova.report.canvas import axes_or_new, count_ticks, figure_of, label_axes
from kernova.report.figures import plot_outlier_map
from kernova.report.page import Bar, Card, Section, cards, facts, notice, page, paragraph, picture
from kernova.report.page import table as page_table
from kernova.text import format_pair, format_value, truncate_middle
from kernova.workflows.find_like.reasons import AlikeColumn
from kernova.workflows.find_like.search import ALIKE, FindLikeResult

_MOST_CARDS: Final = 100
_MOST_ON_MAP: Final = 50_000
_LONGEST_NAME: Final = 60


def find_like_page(result: FindLikeResult) -> str:
    """Return the report as HTML text."""
    name = Path(result.table.source).name
    figures = find_like_figures(result)
    rows = result.rows.head(max(result.n_top, 1))
    is_alike = (rows["verdict"] == ALIKE).to_numpy()
    first = [_card(result, row) for row in list(result.reasons)[:_MOST_CARDS]]
    return page(
        f"What is like {_given_names(result)} in {name}?",
        [
            Section("The answer", _answer(result)),
            Section(
                "The most alike rows",
                [
                    paragraph(
                        "The bars show in which columns a row is as unusual as the given one, in "
                        "the same direction: the longer, the fewer rows of the table are so."
                    ),
                    cards(first) if first else paragraph("No row was explained."),
                ],
            ),
            Section("The cut", _pictures(figures)),
            Section(
                "The rows as a table",
                [
                    page_table(
                        rows,
                        f"The first {len(rows)} of {len(result.rows)} rows",
                        {"likeness": ".2f"},
                        marked=pd.Series(is_alike, rows.index),
                    )
                ],
            ),
            Section("How it was decided", _decided(result)),
        ],
        footer=f"Made by kernova {__version__}: read → encode → walk → cut → report.",
        lead="The rest of a category, from one of its rows",
    )


def find_like_figures(result: FindLikeResult) -> dict[str, Figure]:
    """Return the figures of the page by name, to be saved as files."""
    return {"cut": _cut_figure(result), "map": _map_figure(result)}


def _given_names(result: FindLikeResult) -> str:
    names = [truncate_middle(str(result.id_of(row))) for row in result.given.tolist()]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _answer(result: FindLikeResult) -> list[str]:
    return [
        notice(result.summary),
        paragraph(result.worth),
        *(paragraph(note) for note in result.notes),
        facts(
            {
                "rows": len(result.table.features),
                "columns": result.table.features.shape[1],
                "given": len(result.given),
                "ruled out": len(result.ruled_out),
                "before the cut": result.alike.cut,
            }
        ),
    ]


def _card(result: FindLikeResult, row: int) -> Card:
    line = result.rows.loc[row]
    return Card(
        f"{line['rank']}. {truncate_middle(str(result.ids[row]), _LONGEST_NAME)}",
        f"likeness {line['likeness']:.2f} · {line['verdict']}",
        [_bar(column) for column in result.reasons[row]],
        f"Compared with {truncate_middle(str(result.id_of(result.nearest_given[row])))}",
        marked=bool(line["verdict"] == ALIKE),
    )


def _bar(column: AlikeColumn) -> Bar:
    value, given = format_pair(column.value, column.given)
    usual = format_value(column.usual, beside=column.given)
    return Bar(
        truncate_middle(column.name, _LONGEST_NAME),
        1 - column.fraction,
        f"{value}, given {given}, usually {usual}",
    )


def _pictures(figures: dict[str, Figure]) -> list[str]:
    return [
        picture(
            figures["cut"],
            "How often walks from the given rows are at each row, by rank, with the cut.",
            "The cut is where the curve drops most, each drop times the root of its rank, among "
            "the first fifth of the rows.",
        ),
        picture(
            figures["map"],
            "The rows on their first two principal components, those before the cut marked.",
            "A projection onto two dimensions: rows that are alike may look apart here only if "
            "they differ, but rows that look near may differ in directions the map does not show.",
        ),
    ]


def _cut_figure(result: FindLikeResult) -> Figure:
    falling = result.alike.arrivals[result.alike.ranking]
    ranks = np.arange(1, len(falling) + 1)
    is_reached = falling > 0
    ax = axes_or_new(None)
    ax.plot(ranks[is_reached], falling[is_reached], ".-", markersize=3, linewidth=0.8)
    ax.axvline(result.alike.cut + 0.5, color="0.4", linestyle="--", linewidth=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(0.8, 1.25 * len(falling))
    count_ticks(ax.xaxis, len(falling))
    label_axes(ax, "rank, from the most alike row", "arrivals of walks, over those of any walk")
    return figure_of(ax)


def _map_figure(result: FindLikeResult) -> Figure:
    n_rows = len(result.table.features)
    is_marked = np.zeros(n_rows, dtype=np.bool_)
    is_marked[result.alike.found] = True
    is_marked[result.given] = True
    drawn = np.arange(n_rows)
    if n_rows > _MOST_ON_MAP:
        sampled = np.random.default_rng(0).choice(n_rows, _MOST_ON_MAP, replace=False)
        drawn = np.union1d(sampled, np.flatnonzero(is_marked))
    return figure_of(
        plot_outlier_map(
            result.encoded[drawn],
            result.alike.likeness[drawn],
            is_marked[drawn],
            labels=result.table.ids.iloc[drawn].tolist(),
            kinds=("other", "row given or alike"),
        )
    )


def _decided(result: FindLikeResult) -> list[str]:
    return [
        paragraph(
            "Each row is linked to its ten nearest neighbours, in principal axes scaled by the "
            "fourth root of their variance. Walks on these links start at the given rows and "
            "return there now and then; how often they are at a row, over how often any walk is, "
            "ranks it. The likeness is the fraction of rows at this rank, relative to the cut, "
            "that belonged to the category on other tables: it knows nothing of this one."
        ),
        facts({"missing values": result.settings.missing, "neighbours": 10}),
    ]

"""Report of an outlier study as one HTML page: the result, a card per outlying row, figures."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernova._version import __version__
from kernova.anomaly.outlier_factor import outlier_factor_path
from kernova.report.canvas import figure_of
from kernova.report.figures import plot_outlier_map, plot_ranking, rank_stability_figure
from kernova.report.page import (
    Bar,
    Card,
    Section,
    cards,
    facts,
    notice,
    page,
    paragraph,
    picture,
    table,
)
from kernova.tables.fill_values import far_cells, with_moved_cells
from kernova.text import format_value, truncate_middle
from kernova.typing import Indices, Mask, Matrix, Vector
from kernova.workflows.agreement import Agreement, MethodComparison
from kernova.workflows.detectors import detector_named, table_encoder
from kernova.workflows.outliers import OutlierResult
from kernova.workflows.reasons import ExplainedRows
from kernova.workflows.verdicts import OUTLIER

_MOST_CARDS = 100
_MOST_ON_MAP = 50_000
_RULES = {
    "fraction": "Each row was compared with all others. The threshold was set by the fraction of "
    "rows to call outliers; it does not say how many ordinary rows are above it. Set a largest "
    "fraction of false alarms to have a proven bound.",
    "none": "Each row was compared with all others and ranked by its factor. A rank says which "
    "rows to look at first, not that they are wrong: in any table some row has the highest "
    "factor. Set a largest fraction of false alarms to have a proven bound.",
}
_NEAREST_ON_CARD = 3


def outliers_page(result: OutlierResult) -> str:
    """Return the report as HTML text."""
    figures = outliers_figures(result)
    return page(
        f"What is odd in {Path(result.table.source).name}?",
        [
            _answer(result),
            _rows_to_look_at(result),
            Section("The ranking", list(_ranking(figures))),
            _where_they_lie(figures["map"], len(result.rows)),
            _all_of_them(result),
            *(
                []
                if result.members is None
                else [_agreement_section("How the members agree", result.members, result.id_of)]
            ),
            _how_it_was_decided(result),
        ],
        footer=f"Made by kernova {__version__}: read → encode → score → calibrate → report.",
        lead="Each row compared with the others",
    )


def comparison_page(result: MethodComparison) -> str:
    """Return the report of several methods side by side as HTML text."""
    rows = result.rows.head(max(result.n_top, 1))
    return page(
        f"What is odd in {Path(result.table.source).name}?",
        [
            Section(
                "The answer",
                [
                    notice(result.summary),
                    paragraph(result.agreement.summary),
                    *(paragraph(note) for note in result.notes),
                ],
            ),
            Section(
                "The rows as a table",
                [
                    paragraph(
                        "Each method's column holds the rank of a row, 1 for the most outlying. "
                        "The last one counts the methods that have the row among their first "
                        f"{result.agreement.n_first}."
                    ),
                    table(rows, f"The first {len(rows)} of {len(result.rows)} rows"),
                ],
            ),
            _agreement_section(
                "How the methods agree", result.agreement, lambda row: result.table.ids.iloc[row]
            ),
        ],
        footer=f"Made by kernova {__version__}: read → encode → score → compare → report.",
        lead="Several methods side by side",
    )


def _agreement_section(title: str, agreement: Agreement, id_of: Callable[[int], Any]) -> Section:
    """Return the section of detectors side by side: who agrees on each row, and how far in all."""
    agreeing = {
        "row": [str(id_of(row)) for row in agreement.rows],
        "agreeing": [len(agreement.agreeing(row)) for row in agreement.rows],
        f"among the first {agreement.n_first} of": [
            ", ".join(agreement.agreeing(row)) or "none" for row in agreement.rows
        ],
    }
    return Section(
        title,
        [
            paragraph(agreement.summary),
            table(
                agreement.table(),
                "Correlation of the ranks over all rows, and first rows shared with the others on "
                "average",
            ),
            table(pd.DataFrame(agreeing).head(_MOST_CARDS), "Who agrees on each row"),
        ],
    )


def outliers_figures(result: OutlierResult) -> dict[str, Figure]:
    """Return the figures of the page by name, to be saved as files."""
    settings = result.settings
    ids = result.table.ids.tolist()
    # With two thresholds, factors are divided by their own one, so that one line serves both.
    factors = result.rows["factor"].sort_index().to_numpy()
    threshold, unit = (result.thresholds[0] if result.has_rule else None), ""
    if result.proof is not None:
        factors, threshold, unit = result.relative_factors, 1.0, " / threshold"
    is_marked = np.zeros(len(factors), dtype=np.bool_)
    order = result.rows.index
    is_marked[order[result.is_outlier] if result.has_rule else order[: result.n_top]] = True
    ranking = plot_ranking(factors, threshold=threshold, labels=ids, name="outlier factor" + unit)
    figures = {
        "ranking": figure_of(ranking),
        "map": figure_of(_map_of_rows(result, factors, is_marked)),
    }
    numbers = settings.path or settings.n_neighbors
    has_path = "path" in detector_named(settings.method, "outliers").parameters
    if has_path and numbers != "auto" and (settings.path or len(set(numbers)) > 1):
        encoded = _encoded(result, np.arange(len(factors)))
        path = outlier_factor_path(
            pd.DataFrame(encoded, index=ids), numbers, kernel=settings.kernel
        )
        figures["stability"] = rank_stability_figure(path)
    return figures


def _map_of_rows(result: OutlierResult, factors: Vector, is_marked: Mask) -> Axes:
    """Draw all rows, or of very many those that are marked and a random sample."""
    drawn = np.arange(len(factors))
    if len(factors) > _MOST_ON_MAP:
        sampled = np.random.default_rng(0).choice(len(factors), _MOST_ON_MAP, replace=False)
        drawn = np.union1d(sampled, np.flatnonzero(is_marked))
    kinds = ("usual", "outlier") if result.has_rule else ("other", "row ranked first")
    return plot_outlier_map(
        _encoded(result, drawn),
        factors[drawn],
        is_marked[drawn],
        labels=result.table.ids.iloc[drawn].tolist(),
        kinds=kinds,
    )


def _encoded(result: OutlierResult, chosen: Indices) -> Matrix:
    """Return rows as numbers, with far cells moved to the others."""
    settings = result.settings
    encoder = table_encoder(settings.scaling, settings.missing, "auto")
    features = result.table.features.iloc[chosen].reset_index(drop=True)
    encoded: Matrix = encoder.fit_transform(with_moved_cells(features, far_cells(features)))
    return encoded


def _answer(result: OutlierResult) -> Section:
    parts = [
        notice(result.summary),
        paragraph(result.worth),
        *(paragraph(note) for note in result.notes),
        facts(
            {
                "rows": len(result.rows),
                "columns": result.table.features.shape[1],
                **({"called outliers": result.n_outliers} if result.has_rule else {}),
                "explained below": len(result.explained),
            }
        ),
    ]
    return Section("The answer", parts)


def _rows_to_look_at(result: OutlierResult) -> Section:
    rows = result.explained[:_MOST_CARDS]
    return Section(
        "Rows to look at first",
        [
            paragraph(
                "The bars are each column's contribution to what makes a row outlying, compared "
                "with its nearest ordinary rows; the rest is spread over other columns."
            ),
            cards([_card(result, row) for row in rows])
            if rows
            else paragraph("No row was explained."),
        ],
    )


def _card(result: OutlierResult, row_index: int) -> Card:
    row = result.rows.loc[row_index]
    p_value = f" · p = {row['p_value']:.3g}" if result.proof else ""
    verdict = f" · {row['verdict']}" if result.has_rule else ""
    return Card(
        f"{row['rank']}. {truncate_middle(str(result.ids[row_index]), 60)}",
        f"factor {row['factor']:.4g}{p_value}{verdict}",
        feature_bars(result, row_index),
        foot_of_card(result, row_index),
        marked=bool(result.has_rule and row["verdict"] == OUTLIER),
    )


def feature_bars(result: ExplainedRows, row_index: int) -> list[Bar]:
    """Return bars for the features that contribute most to a row, with their values."""
    return [
        Bar(
            truncate_middle(str(line.feature), 60),
            float(line.share),  # type: ignore[arg-type]
            f"{format_value(line.value, line.ordinary_value)}, usually "
            f"{format_value(line.ordinary_value, line.value)}",
        )
        for line in result.main_features(row_index).itertuples()
    ]


def foot_of_card(result: ExplainedRows, row_index: int) -> str:
    """Name ordinary rows that a row was compared with, and the members that speak for it."""
    nearest = [truncate_middle(one) for one in result.nearest_ids(row_index)[:_NEAREST_ON_CARD]]
    sentences = [f"Nearest ordinary rows: {', '.join(nearest)}", result.members_sentence(row_index)]
    return ". ".join(one for one in sentences if one)


def _ranking(figures: dict[str, Figure]) -> Iterator[str]:
    yield picture(
        figures["ranking"],
        "The factors of all rows in descending order, with the threshold if there is one.",
        "Outliers end where the curve bends. If it does not bend, there is no natural threshold.",
    )
    if "stability" in figures:
        yield picture(
            figures["stability"],
            "The ranks of the most outlying rows for each number of neighbours.",
            "Rows that stay at the top for all numbers of neighbours are outliers by any of them. "
            "The rank of a row at the top for a single number depends on that choice.",
        )


def _where_they_lie(of_rows: Figure, n_rows: int) -> Section:
    shown = "All rows" if n_rows <= _MOST_ON_MAP else f"A sample of {_MOST_ON_MAP:,} rows"
    return Section(
        "Where they lie",
        [
            picture(
                of_rows,
                f"{shown} on their first two principal components, some of them marked.",
                "A projection onto two dimensions: a row that looks ordinary here may be outlying "
                "among its neighbours, or in dimensions that the map does not show.",
            )
        ],
    )


def _all_of_them(result: OutlierResult) -> Section:
    rows = result.rows.head(max(result.n_top, 1))
    return Section(
        "The rows as a table",
        [
            table(
                rows,
                f"The first {len(rows)} of {len(result.rows)} rows",
                {"factor": ".4g", "p_value": ".3g"},
                marked=pd.Series(result.is_outlier[: len(rows)], rows.index),
            )
        ],
    )


def _how_it_was_decided(result: OutlierResult) -> Section:
    settings = result.settings
    detector = detector_named(settings.method, "outliers")
    method = f"1 - {detector.title}" if detector.is_depth else detector.title
    shown: dict[str, object] = {"method": method, "scaling": settings.scaling}
    if "bandwidth" in detector.parameters:
        shown["bandwidth"] = settings.bandwidth
    if "n_neighbors" in detector.parameters:
        numbers = settings.n_neighbors
        shown["neighbours"] = numbers if numbers == "auto" else ", ".join(map(str, numbers))
    if "kernel" in detector.parameters:
        shown["kernel"] = settings.kernel
    thresholds = ", ".join(f"{threshold:.4g}" for threshold in result.thresholds)
    shown["threshold"] = thresholds or "none"
    return Section("How it was decided", [*_meaning(result), facts(shown)])


def _meaning(result: OutlierResult) -> Iterator[str]:
    if result.proof is None:
        yield paragraph(_RULES["fraction" if result.has_rule else "none"])
        return
    yield paragraph(
        "The rows were split at random into two halves, and each half was scored by a detector "
        "fitted on the other half only. The p-value of a row is the fraction of rows in its half "
        "with at least as high a factor. Outliers rank first; outliers and other rows are each "
        "sorted by descending factor."
    )
    yield paragraph(
        "The bound is about rows drawn like all of these, outliers included: outliers in the "
        "table make the threshold stricter, never looser. It does not say that a flagged row is "
        "wrong, nor that every outlier was found; in a table without any, some row still has the "
        "highest factor."
    )
    yield facts(
        {
            "allowed fraction": result.proof.max_false_alarm,
            "proven": result.proof.bound,
            "confidence": result.proof.confidence,
            "seed": result.settings.seed,
        }
    )

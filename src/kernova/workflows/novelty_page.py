"""Report of a novelty study as one HTML page: the result, its guarantee, the most novel rows."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure

from kernova._version import __version__
from kernova.calibration.bounds import FalseAlarmThreshold
from kernova.report.canvas import figure_of
from kernova.report.figures import (
    plot_depth_contours,
    plot_false_alarm_curve,
    plot_map,
    plot_p_values,
    plot_score_distributions,
)
from kernova.report.page import (
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
from kernova.tables.columns import category_columns
from kernova.tables.fill_values import far_cells, with_moved_cells
from kernova.text import truncate_middle
from kernova.workflows.detectors import table_encoder
from kernova.workflows.effort import last_detector
from kernova.workflows.novelty import NoveltyResult
from kernova.workflows.outliers_page import feature_bars, foot_of_card
from kernova.workflows.verdicts import NOVEL

_ROWS_SHOWN = 25
_MOST_CARDS = 100
# With more columns the most novel rows are listed without their values.
_COLUMNS_SHOWN = 8
_HOW_SPLIT = {
    "holdout": "The known rows were split at random. The detector was fitted on one part; the "
    "other was held out, and its scores set the threshold.",
    "cross": "The known rows were divided into folds at random. For each fold a detector was "
    "fitted on the other rows, and the scores of the fold set its threshold. A row is called novel "
    "if all detectors agree.",
}


def novelty_page(result: NoveltyResult) -> str:
    """Return the report as HTML text."""
    figures = novelty_figures(result)
    return page(
        f"What is new in {result.new.source}?",
        [
            _answer(result),
            _rows_to_look_at(result),
            _why_they_are_novel(result),
            _how_new_rows_score(figures),
            Section("Where they lie", list(_where_they_lie(figures))),
            _how_it_was_decided(result, figures["false_alarms"]),
        ],
        footer=f"Made by kernova {__version__}: read → encode → score → calibrate → report.",
        lead=f"Compared with the ordinary rows of {result.known.source}",
    )


def novelty_figures(result: NoveltyResult) -> dict[str, Figure]:
    """Return the figures of the page by name, to be saved as files."""
    detector = result.detector
    axes = {
        "distributions": plot_score_distributions(
            detector.holdout_scores_,
            result.scores,
            threshold=detector.threshold_,
            bound=detector.false_alarm_bound_,
        ),
        "false_alarms": plot_false_alarm_curve(
            detector.holdout_scores_,
            confidence=result.settings.confidence,
            chosen=_chosen(result),
        ),
        "p_values": plot_p_values(
            result.rows["p_value"], false_discovery_rate=result.settings.false_discovery_rate
        ),
    }
    # Far cells would squeeze all rows into one point of the map.
    features = result.known.features
    known = with_moved_cells(features, far_cells(features))
    new_features = result.new.features[features.columns]
    new = with_moved_cells(new_features, far_cells(new_features, beside=features))
    is_novel = result.is_novel
    # Several detectors have no contours in common.
    is_single = result.settings.calibration == "holdout"
    if known.shape[1] == 2 and is_single and not category_columns(known).any():
        axes["contours"] = plot_depth_contours(
            detector,
            known,
            unknown=new[is_novel] if is_novel.any() else None,
            labels=("known", "novel"),
            grid=100,
        )
    else:
        settings = result.settings
        encoder = table_encoder(settings.scaling, settings.missing).fit(known)
        axes["map"] = plot_map(encoder.transform(known), encoder.transform(new), is_novel)
    return {name: figure_of(ax) for name, ax in axes.items()}


def _chosen(result: NoveltyResult) -> FalseAlarmThreshold:
    detector = result.detector
    return FalseAlarmThreshold(
        detector.threshold_,
        detector.false_alarm_bound_,
        detector.observed_false_alarm_,
        len(detector.holdout_scores_),
    )


def _answer(result: NoveltyResult) -> Section:
    parts = [
        notice(result.summary),
        paragraph(result.detector.guarantee()),
        *(paragraph(note) for note in result.notes),
        facts(
            {
                "known rows": len(result.known.features),
                "of them held out": len(result.detector.holdout_scores_),
                "new rows": len(result.rows),
                "called novel": result.n_novel,
                "explained below": len(result.explained),
                **_discoveries(result),
            }
        ),
    ]
    return Section("The answer", parts)


def _discoveries(result: NoveltyResult) -> dict[str, int]:
    rate = result.settings.false_discovery_rate
    if rate is None:
        return {}
    return {f"discoveries, at most {rate:.12g} false": int(result.rows["discovery"].sum())}


def _rows_to_look_at(result: NoveltyResult) -> Section:
    rows = result.most_novel_first.head(_ROWS_SHOWN)
    is_novel = rows["verdict"] == NOVEL
    features = result.new.features
    if features.shape[1] <= _COLUMNS_SHOWN:
        extra = features.loc[rows.index, [c for c in features.columns if c not in rows.columns]]
        reasons = rows.pop("because")
        rows = pd.concat([rows, extra], axis=1)
        rows["because"] = reasons
    return Section(
        "Rows to look at first",
        [
            paragraph(
                "Novelty is 0 at the threshold and -1 for a typical known row; the p-value is the "
                "chance that an ordinary row looks at least as novel."
            ),
            table(
                rows,
                f"The {len(rows)} most novel of {len(result.rows)} new rows",
                {"novelty": "z.3f", "p_value": ".4f"},
                marked=is_novel,
            ),
        ],
    )


def _why_they_are_novel(result: NoveltyResult) -> Section:
    explained = result.explained[:_MOST_CARDS]
    return Section(
        "Why they are novel",
        [
            paragraph(
                "The bars are each column's contribution to what sets a row apart, compared with "
                "its nearest ordinary known rows; the rest is spread over other columns."
            ),
            cards([_card(result, rank, row) for rank, row in enumerate(explained, start=1)])
            if explained
            else paragraph("No row was explained."),
        ],
    )


def _card(result: NoveltyResult, rank: int, row_index: int) -> Card:
    row = result.rows.loc[row_index]
    return Card(
        f"{rank}. {truncate_middle(str(result.id_of(row_index)), 60)}",
        f"novelty {row['novelty']:z.3f} · p = {row['p_value']:.3g} · {row['verdict']}",
        feature_bars(result, row_index),
        foot_of_card(result, row_index),
        marked=bool(row["verdict"] == NOVEL),
    )


def _how_new_rows_score(figures: dict[str, Figure]) -> Section:
    return Section(
        "How new rows score",
        [
            picture(
                figures["distributions"],
                "Histogram of the scores of held-out known and of new rows, with the threshold.",
                "Rows left of the threshold are called novel.",
            ),
            picture(
                figures["p_values"],
                "The p-values of the new rows in ascending order, and those of ordinary rows.",
                "Points below the band on the left: more unusual rows than expected by chance.",
            ),
        ],
    )


def _where_they_lie(figures: dict[str, Figure]) -> Iterator[str]:
    if "contours" in figures:
        yield picture(
            figures["contours"],
            "Contours of the score over the two columns, with known and new rows.",
            "Contours of the score; the heavy line is the threshold.",
        )
    if "map" in figures:
        yield picture(
            figures["map"],
            "Known and new rows on the first two principal components of the known ones.",
            "A projection onto two dimensions: rows that look close may be apart in others.",
        )


def _how_it_was_decided(result: NoveltyResult, false_alarms: Figure) -> Section:
    settings = result.settings
    return Section(
        "How it was decided",
        [
            paragraph(
                _HOW_SPLIT[settings.calibration] + " The guarantee holds for new "
                "rows of the same origin as the known ones; it does not cover rows measured "
                "differently, nor the number of novel rows that were missed."
            ),
            picture(
                false_alarms,
                "Proven bounds on false alarms at each threshold.",
                "The bound that a stricter or a looser threshold would have.",
            ),
            facts(
                {
                    "method": settings.method,
                    "bandwidth": _bandwidth(result),
                    "scaling": settings.scaling,
                    "bound": settings.bound,
                    "allowed false alarms": settings.max_false_alarm,
                    "confidence": settings.confidence,
                    "threshold": result.detector.threshold_,
                    "seed": settings.seed,
                }
            ),
        ],
    )


def _bandwidth(result: NoveltyResult) -> str:
    found = getattr(last_detector(result.detector.estimator_), "bandwidth_", None)
    if found is None:
        return "none"
    rule = result.settings.bandwidth
    return f"{found:.4g} ({rule})" if isinstance(rule, str) else f"{found:.4g}"

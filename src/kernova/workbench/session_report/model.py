"""Quality of the model that was learnt in a session, for its report."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kernova.report.canvas import figure_of
from kernova.report.memberships import plot_confusion
from kernova.report.page import Html, Section, facts, paragraph, picture, table
from kernova.text import percent, quantity
from kernova.workbench.exports.snapshot import Snapshot
from kernova.workbench.recognizer import PROMISED, LearntModel
from kernova.workbench.session_report.contents import ReportContents
from kernova.workflows.verdicts import UNKNOWN

_MOST_IN_PICTURE = 15
_CATEGORIES_SHOWN = 100
_COLUMNS = {
    "class": "category",
    "rows": "labelled rows",
    "recognized": "recognised correctly",
    "unknown": "called unknown",
    "confused_with": "confused with",
    "claimed": "suggested for rows",
}


def model_section(contents: ReportContents) -> Section:
    """Return accuracy, precision and confusion of the model, or why there is none."""
    learnt = contents.snapshot.learnt
    if learnt is None:
        return Section(
            "Quality of the model",
            [
                "No model was at hand when this page was made, so nothing is known of "
                "suggestions. Learn from the answers, and make the report again."
            ],
        )
    stale = (
        ["Labels have changed since the model was learnt; these figures are from before."]
        if contents.is_stale
        else []
    )
    return Section(
        "Quality of the model",
        [
            *stale,
            *map(paragraph, learnt.result.sentences),
            *_precision(learnt),
            table(
                _classes(learnt), "Categories, each row judged by a model without it",
                {"recognised correctly": ".0%", "called unknown": ".0%"},
                max_rows=_CATEGORIES_SHOWN,
            ),
            *_confusion(learnt),
            *map(paragraph, learnt.notes),
        ],
    )  # fmt: skip


def _precision(learnt: LearntModel) -> list[Html]:
    threshold = learnt.threshold
    if threshold is None:
        return [
            paragraph(
                "No probability is known from which on a precision of "
                f"{percent(PROMISED)} could be promised; more labelled rows are needed."
            )
        ]
    at = learnt.precision.at(threshold)
    shown = f"{percent(at.precision)} ({percent(at.low)} to {percent(at.high)})"
    return [
        paragraph(
            f"From the recommended probability of {threshold:.2f} on, "
            f"{quantity(round(at.answers), 'answer')} of experts were compared with models that "
            "did not know them."
        ),
        facts(
            {
                "recommended probability": f"{threshold:.2f}",
                "precision (95 % interval)": shown if at.answers > 0 else None,
                "precision promised": percent(at.promised),
                "unlabelled rows above it": f"{at.rows:,}",
            }
        ),
    ]


def _classes(learnt: LearntModel) -> pd.DataFrame:
    lines = pd.DataFrame(learnt.classes)
    kept = [name for name in _COLUMNS if name in lines]
    return lines[kept].rename(columns=_COLUMNS)


def _confusion(learnt: LearntModel) -> list[Html]:
    """Draw how often rows of each category were taken for another; of few categories only."""
    counts = confusion_of(learnt)
    if counts is None or not 2 <= len(counts) <= _MOST_IN_PICTURE:
        return []
    drawn: Figure = figure_of(plot_confusion(counts, list(counts.index), list(counts.columns)))
    return [
        picture(
            drawn,
            "Confusion matrix: labels by experts against suggestions of models without the row.",
            "Labelled rows by their category, and what models that did not know them suggested.",
        )
    ]


def confusion_of(learnt: LearntModel) -> pd.DataFrame | None:
    """Return how often labelled rows of each category got each suggestion when left out."""
    tested = getattr(learnt.model.description_, "cross_validated_", None)
    if tested is None:
        return None
    names, n = learnt.names, len(learnt.names)
    is_unknown = learnt.held_out.probability <= 0
    suggested = np.where(is_unknown, n, learnt.held_out.suggested)
    counts = np.zeros((n, n + 1), dtype=np.intp)
    np.add.at(counts, (np.asarray(tested.codes), suggested), 1)
    return pd.DataFrame(counts, index=names, columns=[*names, UNKNOWN])


def accepted_limit(snapshot: Snapshot) -> str | None:
    """Return the sentence on accepted suggestions, which nobody looked at one by one."""
    probability = snapshot.probability[~np.isnan(snapshot.probability)]
    if len(probability) == 0:
        return None
    wrong = float((1 - probability).sum())
    return (
        f"{quantity(len(probability), 'label')} were accepted from a model and not looked at one "
        f"by one. By the probabilities with which they were suggested ({probability.min():.2f} to "
        f"{probability.max():.2f}), about {wrong:,.0f} of them would be wrong; probabilities may "
        "themselves be too high."
    )

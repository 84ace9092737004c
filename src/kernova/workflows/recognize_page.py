"""Report of recognised rows as one HTML page: counts, agreement with labels, unknown rows."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kernova._version import __version__
from kernova.report.canvas import figure_of
from kernova.report.memberships import plot_confusion, plot_recognized
from kernova.report.page import Section, facts, notice, page, paragraph, picture, table
from kernova.text import percent, quantity
from kernova.workflows.recognize import RecognizeResult

_ROWS_SHOWN = 25
_GROUPS_SHOWN = 20


def recognition_page(result: RecognizeResult) -> str:
    """Return the report as HTML text."""
    figures = recognition_figures(result)
    sections = [
        _answer(result),
        _where_they_lie(figures["map"]),
        Section("Unknown rows", list(_unknown_rows(result))),
        Section("Ambiguous rows", list(_ambiguous_rows(result))),
    ]
    if "confusion" in figures:
        sections.insert(1, _agreement(result, figures["confusion"]))
    return page(
        f"What is known in {result.new.source}?",
        [*sections, _how_it_was_decided(result)],
        footer=f"Made by kernova {__version__}: read → encode → describe → decide → report.",
        lead=f"{len(result.rows)} rows, judged by "
        + quantity(len(result.model.classes_), "known class", "known classes"),
    )


def recognition_figures(result: RecognizeResult) -> dict[str, Figure]:
    """Return the figures of the page by name, to be saved as files."""
    model = result.model
    axes = {
        "map": plot_recognized(
            model.scaled(model.known_table),
            model.scaled(result.new.features[model.columns]),
            result.rows["recognized"].tolist(),
            classes=model.classes_.tolist(),
        )
    }
    if result.confusion is not None and len(result.confusion.counts):
        counts = result.confusion.counts
        axes["confusion"] = plot_confusion(counts, list(counts.index), list(counts.columns))
    return {name: figure_of(ax) for name, ax in axes.items()}


def _answer(result: RecognizeResult) -> Section:
    return Section(
        "The answer",
        [
            notice(result.summary),
            paragraph(result.expectation),
            *(paragraph(note) for note in result.notes),
            facts(
                {
                    "rows": len(result.rows),
                    "recognised": len(result.rows) - result.n_unknown,
                    "of them ambiguous": int(result.rows["ambiguous"].sum()),
                    "unknown": result.n_unknown,
                    "groups of unknown rows": len(result.groups),
                }
            ),
            table(result.by_class, "Rows by class"),
        ],
    )


def _agreement(result: RecognizeResult, confusion: Figure) -> Section:
    assert result.confusion is not None
    foreign = ", ".join(result.confusion.foreign)
    absent = f" Of no known class, and correctly unknown: {foreign}." if foreign else ""
    return Section(
        "Do verdicts agree with the labels?",
        [
            *(paragraph(sentence) for sentence in result.confusion.sentences),
            picture(
                confusion,
                "How many rows of each label got each verdict.",
                f"Darker is a larger fraction of the label's rows.{absent}",
            ),
        ],
    )


def _where_they_lie(figure: Figure) -> Section:
    return Section(
        "Where they lie",
        [
            picture(
                figure,
                "New rows, coloured by class, among the training rows; unknown ones are crosses.",
                "A projection onto two dimensions: rows that look close may be apart in others.",
            )
        ],
    )


def _unknown_rows(result: RecognizeResult) -> Iterator[str]:
    if not result.n_unknown:
        yield paragraph("There are none: some class claims every row.")
        return
    groups = result.groups
    if len(groups):
        yield paragraph(
            "Unknown rows that lie together may be of one class that has no name yet. Look at some "
            "rows of each group, label them, and learn again."
        )
        yield table(groups, "Groups, the largest first", max_rows=_GROUPS_SHOWN)
    else:
        yield paragraph("No three of them lie together.")
    first = result.least_known_first.head(min(_ROWS_SHOWN, result.n_unknown))
    yield table(
        result.shown(first),
        f"The {len(first)} of {result.n_unknown} with the lowest membership",
        {"membership": ".4g"},
    )


def _ambiguous_rows(result: RecognizeResult) -> Iterator[str]:
    rows = result.rows[result.rows["ambiguous"]]
    if rows.empty:
        yield paragraph("There are none: no row is claimed by several classes.")
        return
    yield paragraph(
        "Several classes claim these rows. The class with the largest membership is chosen, but "
        "the others are possible."
    )
    shown = pd.DataFrame(
        {
            rows.columns[0]: rows.iloc[:, 0],
            "recognized": rows["recognized"],
            "claimed_by": _claims(result, rows),
            "nearest": rows["nearest"],
        }
    )
    yield table(shown, "Rows that several classes claim", max_rows=_ROWS_SHOWN)


def _claims(result: RecognizeResult, rows: pd.DataFrame) -> list[str]:
    """Return the classes that claim each row, with its membership, the largest first."""
    names, thresholds = result.model.classes_.tolist(), result.model.description_.thresholds_
    membership = rows[[f"membership_{name}" for name in names]].to_numpy()
    orders = np.argsort(-membership, axis=1, kind="stable").tolist()
    return [
        ", ".join(f"{names[code]} ({q[code]:.4f})" for code in order if q[code] >= thresholds[code])
        for q, order in zip(membership, orders, strict=True)
    ]


def _how_it_was_decided(result: RecognizeResult) -> Section:
    model, description = result.model, result.model.description_
    counts = pd.Series(model.labels_).value_counts()
    classes = pd.DataFrame(
        {
            "class": model.classes_,
            "training rows": [int(counts[name]) for name in model.classes_],
            "left out as outliers": description.n_outliers_,
            "threshold": description.thresholds_,
        }
    )
    return Section(
        "How it was decided",
        [
            paragraph(
                "Each class explains a fraction of a row's variation, its membership: nearly 1 on "
                "the class, 0 far away. All classes share one length-scale, so that memberships "
                "can be compared; they need not sum to one. A class claims a row whose membership "
                "is at least its threshold, which was set on the class's own rows, each left out "
                "in turn."
            ),
            table(classes, "Classes", {"threshold": ".6f"}),
            facts(
                {
                    "rejected of its own": percent(description.reject, ".3g"),
                    "length-scale": f"{description.length_scale_:.4g}",
                    "training rows": len(model.labels_),
                    "robust": description.robust,
                }
            ),
        ],
    )

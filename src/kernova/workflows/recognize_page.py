"""Report of recognised rows as one HTML page: counts, agreement with labels, unknown rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernova._version import __version__
from kernova.report.canvas import figure_of
from kernova.report.memberships import plot_confusion, plot_probabilities, plot_recognized
from kernova.report.page import Section, facts, notice, page, paragraph, picture, table
from kernova.text import percent, quantity
from kernova.workflows.class_tests import open_set_tests
from kernova.workflows.class_verdicts import CERTAIN, MembershipVerdicts, ProbabilityVerdicts
from kernova.workflows.learn import label_texts
from kernova.workflows.recognize import RecognizeResult

_ROWS_SHOWN = 25
_GROUPS_SHOWN = 20


def recognition_page(result: RecognizeResult) -> str:
    """Return the report as HTML text."""
    figures = recognition_figures(result)
    verdicts = result.verdicts
    sections = [_answer(result)]
    if "confusion" in figures:
        sections.append(_agreement(result, figures["confusion"]))
    if "probabilities" in figures:
        sections.append(_how_sure(result, figures["probabilities"]))
    sections += [
        _where_they_lie(figures["map"]),
        Section("Unknown rows", list(_unknown_rows(result))),
    ]
    if isinstance(verdicts, ProbabilityVerdicts):
        sections.append(Section("Uncertain rows", list(_uncertain_rows(result, verdicts))))
        sections.append(_decided_by_probabilities(verdicts))
    elif isinstance(verdicts, MembershipVerdicts):
        sections.append(Section("Ambiguous rows", list(_ambiguous_rows(result, verdicts))))
        sections.append(_decided_by_memberships(verdicts))
    return page(
        f"What is known in {result.new.source}?",
        sections,
        footer=f"Made by kernova {__version__}: read → encode → judge → decide → report.",
        lead=f"{quantity(len(result.rows), 'row')}, judged by "
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
    if isinstance(result.verdicts, ProbabilityVerdicts) and not result.is_unknown.all():
        axes["probabilities"] = _probability_picture(result, result.verdicts)
    return {name: figure_of(ax) for name, ax in axes.items()}


def _probability_picture(result: RecognizeResult, verdicts: ProbabilityVerdicts) -> Axes:
    """Draw the probabilities of recognised rows; with labels, of rows of known classes only.

    Probabilities are among known classes, so that no row of another class counts against them.
    """
    shown = ~result.is_unknown
    if result.confusion is None or not result.confusion.n_known:
        return plot_probabilities(verdicts.probability[shown])
    assert result.new.labels is not None
    labels = label_texts(result.new.labels).to_numpy()
    shown &= np.isin(labels.astype(str), verdicts.names)
    return plot_probabilities(verdicts.probability[shown], (labels == verdicts.recognized)[shown])


def _answer(result: RecognizeResult) -> Section:
    return Section(
        "The answer",
        [
            notice(result.summary),
            paragraph(result.expectation),
            *(paragraph(note) for note in result.notes),
            facts(_counts(result)),
            table(result.by_class, "Rows by class", {"expected_right": ".1f"}),
        ],
    )


def _counts(result: RecognizeResult) -> dict[str, Any]:
    verdicts = result.verdicts
    counts: dict[str, Any] = {
        "rows": len(result.rows),
        "recognised": len(result.rows) - result.n_unknown,
    }
    if isinstance(verdicts, ProbabilityVerdicts):
        counts[f"with a probability below {CERTAIN}"] = int(verdicts.is_uncertain.sum())
        counts["right, if all are of known classes"] = f"about {verdicts.expected_right:,.1f}"
    elif isinstance(verdicts, MembershipVerdicts):
        counts["of them ambiguous"] = int(verdicts.is_ambiguous.sum())
    counts["unknown"] = result.n_unknown
    counts["groups of unknown rows"] = len(result.groups)
    return counts


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


def _how_sure(result: RecognizeResult, figure: Figure) -> Section:
    has_labels = result.confusion is not None and result.confusion.n_known > 0
    caption = (
        "Of rows with a probability of 0.9, nine in ten should be right. Above the bars stands how "
        "many percent are; rows of other classes are left out, since probabilities are among known "
        "classes."
        if has_labels
        else "Of rows with a probability of 0.9, nine in ten should be right, if they are of known "
        "classes."
    )
    what = "How many recognised rows have which probability of their class."
    return Section("How sure are the classes?", [picture(figure, what, caption)])


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
        yield paragraph("There are none: every row is of a known class.")
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
        f"The {len(first)} of {result.n_unknown:,} that are farthest from all classes",
    )


def _uncertain_rows(result: RecognizeResult, verdicts: ProbabilityVerdicts) -> Iterator[str]:
    rows = result.rows[verdicts.is_uncertain]
    if rows.empty:
        yield paragraph(f"There are none: every class has a probability of {CERTAIN} or more.")
        return
    yield paragraph(
        f"The class of these rows has a probability below {CERTAIN}. It is the most probable one, "
        "but the others are possible."
    )
    columns = [rows.columns[0], "recognized", "ranking", "would_change", "nearest"]
    shown = rows.sort_values("margin", kind="stable")[columns]
    yield table(shown, "Rows with the smallest margins first", max_rows=_ROWS_SHOWN)


def _ambiguous_rows(result: RecognizeResult, verdicts: MembershipVerdicts) -> Iterator[str]:
    rows = result.rows[verdicts.is_ambiguous]
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
            "claimed_by": _claims(verdicts),
            "nearest": rows["nearest"],
        }
    )
    yield table(shown, "Rows that several classes claim", max_rows=_ROWS_SHOWN)


def _claims(verdicts: MembershipVerdicts) -> list[str]:
    """Return the classes that claim each ambiguous row, with its membership, the largest first."""
    names, thresholds = verdicts.names, verdicts.description.thresholds_
    membership = verdicts.membership[verdicts.is_ambiguous]
    orders = np.argsort(-membership, axis=1, kind="stable").tolist()
    return [
        ", ".join(f"{names[code]} ({q[code]:.4f})" for code in order if q[code] >= thresholds[code])
        for q, order in zip(membership, orders, strict=True)
    ]


def _decided_by_probabilities(verdicts: ProbabilityVerdicts) -> Section:
    classifier = verdicts.classifier
    tests = open_set_tests(verdicts.model, verdicts.model.labels_, leaves_classes_out=False)
    return Section(
        "How it was decided",
        [
            paragraph(
                "Which class? Several classifiers answer with probabilities, which are pooled with "
                "weights learnt from rows held out. They sum to one over the known classes."
            ),
            paragraph(
                "Any class at all? A row is unknown if its p-value is at most the rate of "
                "rejection: the p-value is the fraction of training rows, each judged by a model "
                "fitted without it, that are at least as novel; it is extrapolated beyond the most "
                "novel one. The probability of none follows from it if "
                f"{percent(classifier.none_prior)} of all rows belong to no known class."
            ),
            *(paragraph(sentence) for sentence in tests.sentences),
            table(
                tests.classes.rename(columns={"rows": "rows kept"}),
                "Training rows, each judged without it",
                {"recognized": ".3f", "unknown": ".3f"},
            ),
            facts(
                {
                    "rate of rejection": percent(classifier.reject, ".3g"),
                    "training rows kept": len(verdicts.model.labels_),
                    "robust": classifier.robust,
                }
            ),
        ],
    )


def _decided_by_memberships(verdicts: MembershipVerdicts) -> Section:
    model, description = verdicts.model, verdicts.description
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

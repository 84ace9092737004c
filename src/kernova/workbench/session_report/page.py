"""Page of a session report: sections from the summary to the citation."""

from collections import Counter
from typing import Any, Final

import numpy as np
import pandas as pd

from kernova._version import __version__
from kernova.report.canvas import figure_of
from kernova.report.curves import plot_session_curve
from kernova.report.page import (
    Section,
    answer_section,
    facts,
    gallery,
    page,
    paragraph,
    picture,
    table,
)
from kernova.text import first_few, plural, quantity
from kernova.workbench.exports.snapshot import Snapshot
from kernova.workbench.session_report.agreement import agreement_section
from kernova.workbench.session_report.citation import citation_section
from kernova.workbench.session_report.contents import ReportContents
from kernova.workbench.session_report.examples import example_rows, examples
from kernova.workbench.session_report.model import accepted_limit, model_section

_CATEGORIES_SHOWN: Final = 300
_REMARKS_SHOWN: Final = 200
_IDS_SHOWN: Final = 4


def session_page(contents: ReportContents) -> str:
    """Return the report as HTML text.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> from kernova.discover.project.content import ProjectHead
    >>> from kernova.workbench.exports.snapshot import snapshot_of
    >>> from kernova.workbench.session_report.contents import contents_of
    >>> from kernova.workbench.session_report.page import session_page
    >>> session = CategoryDiscovery("random").start(np.array([[0.0], [0.1], [9.0]]), ids="abc")
    >>> number = session.label_row("b", "cod", expert="Anna")
    >>> results, head = session.results_, ProjectHead("f1ce", 3, 1, "random", 0)
    >>> html = session_page(contents_of(results, snapshot_of(results, head), "fish"))
    >>> "1 row of 3 has a label, in 1 category." in html
    True
    """
    snapshot = contents.snapshot
    sections = [
        _summary(contents),
        _experts(contents),
        _curve(contents),
        _categories(contents),
        agreement_section(snapshot),
        model_section(contents),
        _remarks(snapshot),
        Section("When to stop", [*contents.advice.known, *contents.advice.guessed]),
        _limits(contents),
        citation_section(contents),
    ]
    return page(
        f"Categories of {snapshot.source or contents.project}",
        sections,
        footer=f"Made by kernova {__version__}: prepare → ask → label → learn → report.",
        lead=f"Report of a discovery session on {quantity(snapshot.n_rows, 'row')}.",
    )


# --- summary and experts ---------------------------------------------------------------------


def _summary(contents: ReportContents) -> Section:
    snapshot = contents.snapshot
    n_labelled, n_names = _n_labelled(snapshot), len(snapshot.categories)
    have = "has" if n_labelled == 1 else "have"
    n_asked = contents.n_questions
    sentence = (
        f"{quantity(n_labelled, 'row')} of {snapshot.n_rows:,} {have} a label, in "
        f"{quantity(n_names, 'category', 'categories')}."
    )
    asked = (
        f"{quantity(n_asked, 'question was', 'questions were')} asked, of which "
        f"{contents.n_skipped:,} {plural(contents.n_skipped, 'has', 'have')} no label."
        if n_asked
        else "No question was asked."
    )
    return answer_section(
        [sentence, asked, *contents.notes], facts(_counts(contents)), title="In short"
    )


def _n_labelled(snapshot: Snapshot) -> int:
    return int(np.sum(snapshot.labels != None))  # noqa: E711 - of each row


def _counts(contents: ReportContents) -> dict[str, Any]:
    snapshot = contents.snapshot
    status = Counter(snapshot.status.tolist())
    counts = {
        "questions": contents.n_questions,
        "categories": len(snapshot.categories),
        "labelled by hand": status["hand"],
        "accepted from a model": status["accepted"],
        "labelled before": status["prior"],
        "without a label": snapshot.n_rows - _n_labelled(snapshot),
        "of these undecided": status["unsure"],
        "flagged": len(snapshot.flagged),
        "open disagreements": len(snapshot.disputed),
    }
    return {name: f"{count:,}" for name, count in counts.items()}


def _experts(contents: ReportContents) -> Section:
    lines = experts_table(contents)
    if lines.empty:
        return Section("By whom and when", ["Nobody has recorded anything yet."])
    return Section(
        "By whom and when",
        [
            table(
                lines,
                "Questions closed, and rows whose present label the expert gave by hand or "
                "accepted from a model. Times are in UTC.",
            ),
        ],
    )


def experts_table(contents: ReportContents) -> pd.DataFrame:
    """Return one line for each expert: questions, labels, and first and last entry."""
    snapshot = contents.snapshot
    by_hand = Counter(snapshot.experts[snapshot.status == "hand"].tolist())
    accepted = Counter(snapshot.experts[snapshot.status == "accepted"].tolist())
    first: dict[str | None, str] = {}
    last: dict[str | None, str] = {}
    for entry in snapshot.entries:
        first.setdefault(entry.by, entry.at)
        last[entry.by] = entry.at
    names = list(dict.fromkeys([*first, *by_hand, *accepted]))
    return pd.DataFrame(
        {
            "expert": [name or "without a name" for name in names],
            "questions": [contents.questions_by_expert.get(name, 0) for name in names],
            "by hand": [by_hand[name] for name in names],
            "accepted": [accepted[name] for name in names],
            "first entry": [_minute(first.get(name)) for name in names],
            "last entry": [_minute(last.get(name)) for name in names],
        }
    )


def _minute(time: str | None) -> str | None:
    return time[:16].replace("T", " ") if time else None


# --- curve and categories --------------------------------------------------------------------


def _curve(contents: ReportContents) -> Section:
    if not contents.curve:
        return Section("Discovery curve", ["No question was asked, so there is no curve."])
    band = contents.baseline
    known = () if band is None else (band.expected, band.low, band.high)
    caption = (
        "Dashed: what random sampling would be expected to find after as many questions, an "
        "estimate. On tables with known categories, about three of four true values lay in the "
        "band."
        if band is not None
        else "The random baseline needs the table, which was not at hand."
    )
    return Section(
        "Discovery curve",
        [
            picture(
                figure_of(plot_session_curve(contents.curve, *known)),
                "Number of categories found after each question, and by random sampling.",
                caption,
            )
        ],
    )


def _categories(contents: ReportContents) -> Section:
    snapshot = contents.snapshot
    members = _members(snapshot)
    if not members:
        return Section("Categories", ["No category has been found yet."])
    shown = examples(snapshot, members)
    parts: list[str] = [
        table(
            categories_table(contents, members).drop(columns="examples" if shown else []),
            "Categories, by heading and size",
            max_rows=_CATEGORIES_SHOWN,
        )
    ]
    if shown:
        parts.append(
            paragraph(
                "Examples, spread over each category: rows labelled by hand first, then rows "
                "accepted from a model, with their probability."
            )
        )
    parts += [gallery(_titled(snapshot, name), pictures) for name, pictures in shown.items()]
    n_without = len(members) - len(shown)
    if shown and n_without:
        parts.append(
            f"{quantity(n_without, 'category', 'categories')} without pictures: the page would "
            "become too large, or no file could be read."
        )
    return Section("Categories", parts)


def _members(snapshot: Snapshot) -> dict[str, list[int]]:
    """Return the rows of each category: by heading, the largest first."""
    members: dict[str, list[int]] = {}
    for row, label in enumerate(snapshot.labels.tolist()):
        if label is not None:
            members.setdefault(label, []).append(row)
    headings = snapshot.headings

    def place(name: str) -> tuple[bool, str, int]:
        return name not in headings, headings.get(name, ""), -len(members[name])

    return {name: members[name] for name in sorted(members, key=place)}


def categories_table(contents: ReportContents, members: dict[str, list[int]]) -> pd.DataFrame:
    """Return one line for each category: heading, rows by origin, and first question."""
    snapshot = contents.snapshot
    of_each = [Counter(snapshot.status[rows].tolist()) for rows in members.values()]
    columns = {
        "category": list(members),
        "heading": [snapshot.headings.get(name) for name in members],
        "rows": [len(rows) for rows in members.values()],
        "by hand": [one["hand"] for one in of_each],
        "accepted": [one["accepted"] for one in of_each],
        "known before": [one["prior"] for one in of_each],
        "found at question": [contents.first_questions.get(name) for name in members],
        "examples": [_ids(snapshot, rows) for rows in members.values()],
    }
    found = pd.DataFrame(columns).astype({"found at question": "Int64"})
    return found if snapshot.headings else found.drop(columns="heading")


def _ids(snapshot: Snapshot, rows: list[int]) -> str:
    return ", ".join(str(snapshot.ids[row]) for row in example_rows(snapshot, rows, _IDS_SHOWN))


def _titled(snapshot: Snapshot, name: str) -> str:
    heading = snapshot.headings.get(name)
    return name if heading is None else f"{heading}: {name}"


# --- remarks and limits ----------------------------------------------------------------------


def _remarks(snapshot: Snapshot) -> Section:
    rows = [
        row
        for row in snapshot.rows_with_content
        if row in snapshot.notes
        or row in snapshot.flagged
        or row in snapshot.tags
        or snapshot.status[row] == "unsure"
    ]
    if not rows:
        return Section("Undecided, flagged and noted rows", ["There are none."])
    return Section(
        "Undecided, flagged and noted rows",
        [table(_remarks_table(snapshot, rows), "Rows with remarks", max_rows=_REMARKS_SHOWN)],
    )


def _remarks_table(snapshot: Snapshot, rows: list[int]) -> pd.DataFrame:
    found = pd.DataFrame(
        {
            "row": [str(snapshot.ids[row]) for row in rows],
            "category": [snapshot.labels[row] for row in rows],
            "undecided": ["yes" if snapshot.status[row] == "unsure" else None for row in rows],
            "flagged": ["yes" if row in snapshot.flagged else None for row in rows],
            "further labels": [", ".join(snapshot.tags.get(row, ())) or None for row in rows],
            "note": [snapshot.notes.get(row) for row in rows],
        }
    )
    return found[[name for name in found if name == "row" or found[name].notna().any()]]


def _limits(contents: ReportContents) -> Section:
    snapshot, sentences = contents.snapshot, []
    sentences.append(
        "Questions were chosen to find categories, not at random: the fractions of categories "
        "among labelled rows are not those of the table."
    )
    n_open = snapshot.n_rows - _n_labelled(snapshot)
    if n_open:
        sentences.append(
            f"{quantity(n_open, 'row has', 'rows have')} no label. They may belong to categories "
            "that nobody has met; the section on stopping says how likely that is."
        )
    accepted = accepted_limit(snapshot)
    small = [name for name, rows in _members(snapshot).items() if len(rows) < 3]
    if small:
        sentences.append(
            f"These categories have one or two rows only, so that their extent is not known: "
            f"{first_few(small, 8)}."
        )
    sentences.append(
        "Names of experts are as typed, and times are those of the computer that recorded them."
    )
    return Section("Limits", [*([] if accepted is None else [accepted]), *sentences])

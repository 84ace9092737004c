"""Printable page on new rows: what was added, which rows look new and why, and the others."""

from collections.abc import Iterator, Sequence
from typing import Final

import pandas as pd

from kernova.discover.events import Record, RowsAdded
from kernova.report.page import (
    Card,
    Html,
    Section,
    answer_section,
    cards,
    facts,
    notice,
    page,
    paragraph,
    table,
)
from kernova.text import percent, quantity, truncate_middle
from kernova.workbench.growing.adding import BatchResult
from kernova.workbench.growing.project import GrowingProject
from kernova.workbench.growing.thumbnails import thumbnail_png
from kernova.workflows.outliers_page import feature_bars, foot_of_card

_CARDS: Final = 24
_ROWS_SHOWN: Final = 50
_UNCERTAIN_SHOWN: Final = 25


def growth_page(project: GrowingProject, results: Sequence[BatchResult]) -> str:
    """Return the page on files of new rows as HTML text.

    Parameters
    ----------
    project : GrowingProject
        The project, which has the rows.
    results : sequence of BatchResult
        What became of each file.
    """
    name = truncate_middle(project.discovery.project.name, 60)
    sections = [
        section for result in results for section in _sections(project, result, len(results) > 1)
    ]
    return page(f"New rows of {name}", [*sections, _so_far(project)], lead=_lead(project, results))


def _lead(project: GrowingProject, results: Sequence[BatchResult]) -> str:
    n_added = sum(result.n_added for result in results)
    n_all = len(project.discovery.table.ids)
    return (
        f"{quantity(n_added, 'row')} added; {n_all:,} in the project. {project.discovery.summary}"
    )


def _sections(project: GrowingProject, result: BatchResult, is_named: bool) -> Iterator[Section]:
    of_file = f" of {truncate_middle(result.source, 60)}" if is_named else ""
    first, *others = result.sentences
    if result.batch is None:
        yield answer_section([first], *map(paragraph, result.notes), title=f"Result{of_file}")
        return
    counts = result.counts
    yield answer_section(
        [others[0], first, *others[1:]],
        facts(
            {
                "rows added": result.n_added,
                "look new": counts["new"],
                "by chance at most": "–" if not result.batch.n_held_out else result.batch.by_chance,
                "known": counts["known"],
                "uncertain": counts["uncertain"],
                "in the project already": result.comparison.n_present,
            }
        ),
        title=f"Result{of_file}",
    )
    yield Section(f"Rows that look new{of_file}", list(_new_rows(project, result)))
    yield Section(f"Known and uncertain rows{of_file}", list(_other_rows(result)))
    yield Section(f"How it was judged{of_file}", list(_how(result)))


def _new_rows(project: GrowingProject, result: BatchResult) -> Iterator[str]:
    judged = result.judged
    if judged is None or judged.novelty is None:
        yield paragraph("There were too few rows to compare the new ones with.")
        return
    if not len(judged.unlike):
        yield paragraph("There are none.")
        return
    n_groups = judged.rows["group"].iloc[judged.unlike]
    grouped = int(n_groups[n_groups > 0].nunique())
    if grouped:
        yield paragraph(
            f"Rows of one group lie together, and may be of one category that has no name yet; "
            f"there {'is one group' if grouped == 1 else f'are {grouped} groups'}."
        )
    yield cards([_card(project, result, row) for row in judged.unlike[:_CARDS].tolist()])
    if len(judged.unlike) > _CARDS:
        shown = judged.rows.iloc[judged.unlike[_CARDS:]][["id", "p_value", "group"]]
        yield table(shown, "Further rows that look new", {"p_value": ".3g"}, max_rows=_ROWS_SHOWN)


def _card(project: GrowingProject, result: BatchResult, row: int) -> Card:
    judged = result.judged
    assert judged is not None
    assert judged.novelty is not None
    line = judged.rows.iloc[row]
    group = f" · group {line['group']}" if line["group"] else ""
    nearest = "" if line["category"] is None else f" · nearest category: {line['category']}"
    is_explained = row in judged.novelty.explained
    return Card(
        truncate_middle(str(line["id"]), 60),
        f"p = {line['p_value']:.3g}{group}{nearest}",
        feature_bars(judged.novelty, row) if is_explained else [],
        foot_of_card(judged.novelty, row) if is_explained else "",
        marked=True,
        picture=thumbnail_png(project.media, result.n_before + row),
    )


def _other_rows(result: BatchResult) -> Iterator[str]:
    assert result.judged is not None
    if result.judged.model is None:
        yield paragraph(
            "No category has been learnt yet, so that all other rows are uncertain: label rows of "
            "two categories first."
        )
        return
    categories = result.per_category
    if len(categories):
        yield table(categories, "Rows of each category, known ones and uncertain suggestions")
    rows = result.judged.rows
    rows = rows[rows["verdict"] == "uncertain"].sort_values("probability", kind="stable")
    if len(rows):
        yield table(
            rows[["id", "category", "probability", "of_no_category"]].rename(
                columns={"category": "suggested", "of_no_category": "like no category"}
            ),
            "Uncertain rows, the least probable suggestions first",
            {"probability": ".2f"},
            max_rows=_UNCERTAIN_SHOWN,
        )


def _how(result: BatchResult) -> Iterator[Html]:
    judged = result.judged
    assert judged is not None
    if judged.chance is not None:
        chance, n_held_out = judged.chance, judged.n_held_out
        fewer = (
            "none of the held-out rows is"
            if chance.rank == 1
            else f"fewer than {chance.rank} of the held-out rows are"
        )
        yield paragraph(
            f"A detector was fitted on some of the {result.n_before:,} rows of the project, "
            f"labelled or not; {n_held_out:,} were held out. A new row looks new if "
            f"{fewer} as unusual. If the new rows were drawn like "
            f"those before, {chance.expected:.1f} would look new on average, and no more than "
            f"{chance.most:,} with {percent(chance.confidence, '.3g')} confidence, whatever the "
            "detector and the distribution (conformal p-values; beta-binomial law)."
        )
    if judged.model is not None:
        yield paragraph(
            "A row is known if its suggested category is among those of which nine in ten are "
            "right, by models that were learnt without the labelled row that they judge. All other "
            "rows that do not look new are uncertain."
        )
    for note in result.notes:
        yield notice(note) if "differ from the known ones" in note else paragraph(note)


def _so_far(project: GrowingProject) -> Section:
    session = project.discovery.session
    records = [one for one in session.records_ if isinstance(one.event, RowsAdded)]
    lines = pd.DataFrame(
        {
            "batch": range(1, len(records) + 1),
            "added": [_minute(one) for one in records],
            "from": [_source_of(project, number) for number in range(1, len(records) + 1)],
            "rows": [batch.n_rows for batch in session.batches_],
            "look new": [len(batch.unlike) for batch in session.batches_],
            "by chance at most": [batch.by_chance for batch in session.batches_],
            "known": [batch.n_known for batch in session.batches_],
        }
    )
    return Section(
        "All batches",
        [table(lines, "Rows added to this project; times are in UTC")]
        if len(lines)
        else [paragraph("No rows have been added to this project.")],
    )


def _minute(record: Record) -> str:
    day, _, time = str(record.at).partition("T")
    return f"{day} {time[:5]}"


def _source_of(project: GrowingProject, number: int) -> str:
    source = project.store.parts[number].source
    return "" if source is None else truncate_middle(source.data.name, 40)

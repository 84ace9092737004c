"""Discovery of the categories in a table: session, project file, summary and stopping advice."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernova.discover.preparation_cache import prepare
from kernova.discover.project.content import ProjectHead
from kernova.discover.session import AskedQuestion, CategoryDiscovery
from kernova.discover.stopping import Advice, advice_after
from kernova.discover.store import open_table_project
from kernova.discover.strategies import strategy_named
from kernova.files import path_text
from kernova.noun import ROWS, Noun, noun_from
from kernova.tables.context import NO_CONTEXT, Context
from kernova.tables.records import dropped_rows_notes, json_rows, rows_with_ids
from kernova.tables.table import Table
from kernova.text import quantity
from kernova.typing import Indices, Matrix
from kernova.workbench.encoding import Encoding
from kernova.workbench.row_features import Population

_MEMBERS_NAMED = 5


@dataclass(frozen=True)
class Discovery:
    """Session over a table, and what is needed to show its rows to a person.

    Attributes
    ----------
    table : Table
        The rows, with labels known before the first question if there are any.
    session : CategoryDiscovery
        The questions and answers.
    project : Path
        The file that stores the answers.
    head : ProjectHead
        Identity of the table, strategy and seed.
    is_resumed : bool
        Whether the file contained answers.
    encoded : ndarray
        The encoded rows.
    population : Population
        Distribution of each column, to compare rows with.
    encoding : Encoding
        How rows are encoded.
    notes : list of str
        Remarks for the reader.
    context : Context
        Columns that are shown beside the rows without being features, and their link.
    """

    table: Table
    session: CategoryDiscovery
    project: Path
    head: ProjectHead
    is_resumed: bool
    encoded: Matrix
    population: Population
    encoding: Encoding
    notes: list[str] = field(default_factory=list)
    context: Context = NO_CONTEXT
    # Where the project is, whatever the working folder becomes.
    _place: Path = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_place", self.project.absolute())

    def grown(self, table: Table, rows: Matrix, context: Context) -> "Discovery":
        """Return the same discovery over more rows, of which ``rows`` are the encoded new ones."""
        return replace(
            self,
            table=table,
            encoded=np.vstack([self.encoded, rows]),
            population=Population(table.features),
            context=context,
        )

    @property
    def cache(self) -> Path:
        """The file beside the project that caches the preparation."""
        return self._place.with_name(f"{self._place.name}.cache")

    @property
    def map_cache(self) -> Path:
        """The file beside the project that caches the map of all rows."""
        return self._place.with_name(f"{self._place.name}.map.cache")

    @property
    def warning(self) -> str | None:
        """A sentence on the rescue file, if the project was deleted or replaced while open."""
        store = self.session.project_
        return None if store is None else store.warning

    def prepare(self) -> None:
        """Prepare the strategy for the first question, or restore it from the cache."""
        prepare(self.session, self.cache, self.head.fingerprint)

    @property
    def noun(self) -> Noun:
        """What a row is called."""
        text = self.session.results_.annotations.options.get("noun")
        return ROWS if text is None else noun_from(text)

    @property
    def has_further_labels(self) -> bool:
        """Whether rows may have labels beside their category."""
        return self.session.results_.annotations.options.get("further labels") == "on"

    def describe_cluster(self, question: AskedQuestion) -> str:
        """Return a sentence on the rows that a question represents: number, nearest, labels."""
        others = question.members[question.members != question.row]
        if len(others) == 0:
            return "It represents only itself."
        nearest = self.nearest(question.row, others, _MEMBERS_NAMED)
        names = ", ".join(str(self.session.ids_[row]) for row in nearest)
        n_more = len(others) - len(nearest)
        more = f" and {n_more:,} more" if n_more else ""
        n_others = self.noun.counted(len(others), "other")
        return f"It represents itself and {n_others}: {names}{more}.{self._known_among(others)}"

    def nearest(self, row: int, others: Indices, most: int) -> Indices:
        """Return the rows among ``others`` that are nearest to a row, nearest first."""
        distances = np.linalg.norm(self.encoded[others] - self.encoded[row], axis=1)
        return others[np.argsort(distances, kind="stable")[:most]]

    def _known_among(self, rows: Indices) -> str:
        labels = self.session.labels_[rows]
        counts = pd.Series(labels[labels != None], dtype=object).value_counts()  # noqa: E711
        known = ", ".join(f"{name} {count}" for name, count in counts.items())
        return f" Labelled among them: {known}." if known else ""

    @property
    def rows(self) -> pd.DataFrame:
        """One line per row: id, category, number of the question, prior label."""
        numbers = pd.Series(self.session.label_questions_, dtype="Int64")
        numbers = numbers.mask(numbers == 0)
        return rows_with_ids(self.table, {"category": self.session.labels_, "question": numbers})

    @property
    def categories(self) -> pd.DataFrame:
        """One line per category: name, number of rows, id of the first row."""
        categories, ids = self.session.categories_, self.session.ids_
        return pd.DataFrame(
            {
                "category": list(categories),
                "rows": [len(rows) for rows in categories.values()],
                "first": [str(ids[rows[0]]) for rows in categories.values()],
            }
        )

    @property
    def summary(self) -> str:
        """Progress in one sentence."""
        session = self.session
        counts = {
            "skipped": session.results_.n_only_skipped,
            "undecided": session.results_.n_unsure,
        }
        words = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        skipped = f" ({words})" if words else ""
        return (
            f"{quantity(session.n_questions_, 'question')} asked{skipped}, "
            f"{self.noun.counted(session.n_labelled_)} of {len(session.ids_):,} labelled, "
            f"{quantity(len(session.categories_), 'category', 'categories')}."
        )

    @property
    def advice(self) -> Advice:
        """Stopping advice: what is known and what is estimated."""
        session = self.session
        progress = session.results_.progress
        n_besides = session.n_labelled_ - progress.n_named
        advice, noun = advice_after(progress, len(session.ids_), n_besides), self.noun
        known, guessed = (
            tuple(map(noun.in_sentence, some)) for some in (advice.known, advice.guessed)
        )
        return replace(advice, known=known, guessed=guessed)

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        session, ids, advice = self.session, self.session.ids_, self.advice
        rows = self.rows
        return {
            "command": "discover",
            "data": {"source": self.table.source, "rows": len(rows)},
            "project": str(self.project),
            **({} if self.warning is None else {"warning": self.warning}),
            "strategy": self.head.strategy,
            "seed": self.head.seed,
            "questions": session.n_questions_,
            "skipped": session.n_skipped_,
            "asked": [ids[row] for row in session.asked_],
            "categories": {
                name: [ids[row] for row in members] for name, members in session.categories_.items()
            },
            "curve": session.curve_,
            "advice": {
                "known": list(advice.known),
                "guessed": list(advice.guessed),
                "questions_left": advice.questions_left,
                "unmet": None if advice.unmet is None else advice.unmet._asdict(),
            },
            "notes": self.notes,
            "rows": json_rows(rows[rows["category"].notna()].astype(object)),
        }


def default_project(data: str | os.PathLike[str]) -> Path:
    """Return the default project file for a table: the table's name, in the working folder.

    Examples
    --------
    >>> from kernova.workbench.discovery import default_project
    >>> str(default_project("tables/wines.csv.gz"))
    'wines.kernova-project'
    """
    path = Path(data)
    if path.suffix == ".gz":
        path = path.with_suffix("")
    return Path(f"{path.stem}.kernova-project")


def open_discovery(
    table: Table,
    project: str | os.PathLike[str],
    *,
    strategy: str | None = None,
    seed: int | None = None,
    missing: str = "refuse",
    notes: Sequence[str] = (),
    firsts: Sequence[int] = (),
    noun: str | None = None,
    multiple_labels: bool | None = None,
    context: Context = NO_CONTEXT,
) -> Discovery:
    """Start the discovery of a table's categories, or resume a project.

    Parameters
    ----------
    table : Table
        The rows; labels count as known before the first question.
    project : str or path
        The file that stores the answers; it is created if it does not exist.
    strategy : str, optional
        The question strategy. By default the one of the project, or the default strategy.
    seed : int, optional
        Random seed; by default the one of the project, or 0.
    missing : {"refuse", "drop", "fill"}
        Treatment of missing values.
    notes : sequence of str
        Further remarks on the table for the reader.
    firsts : sequence of int
        Index of the first row of each part: the rows that the project was started with, and those
        that were added.
    noun : str, optional
        What a row is called, see :func:`kernova.noun.noun_from`; stored in the project.
    multiple_labels : bool, optional
        Whether rows may have labels beside their category; stored in the project.
    context : Context, optional
        Columns to show beside the rows.

    Returns
    -------
    Discovery
        The session; close it when done.
    """
    if strategy is not None:
        strategy_named(strategy)  # raises for a misspelt name before a file is created
    options = {} if noun is None else {"noun": ",".join(noun_from(noun))}
    if multiple_labels is not None:
        options["further labels"] = "on" if multiple_labels else "off"
    n_first = firsts[1] if len(firsts) > 1 else len(table.features)
    encoding = Encoding(table.features.iloc[:n_first], missing)
    ends = [*firsts[1:], len(table.features)]
    encoded, cell_notes = encoding.encode_parts(table, ends)
    # With the table as read: the encoded numbers may differ in the last digit.
    ids = table.ids.tolist()  # to iterate over texts of Arrow takes ten times as long
    store = open_table_project(project, table.features, ids, strategy, seed)
    session = CategoryDiscovery(store.head.strategy, random_state=store.head.seed)
    is_resumed = len(store.records) > 0
    named = pd.DataFrame(encoded, columns=encoding.names, copy=False)
    session.start(named, ids, known=table.labels, project=store)
    _set_options(session, options)
    return Discovery(
        replace(table, source=path_text(table.source)),
        session,
        Path(project),
        store.head,
        is_resumed,
        encoded,
        Population(table.features),
        encoding,
        [*notes, *dropped_rows_notes(table), *cell_notes, *store.notes],
        context,
    )


def _set_options(session: CategoryDiscovery, options: Mapping[str, str]) -> None:
    """Store the options that differ from those of the project."""
    stored = {"noun": ",".join(ROWS), "further labels": "off"}
    stored |= session.results_.annotations.options
    for name, value in options.items():
        if stored[name] != value:
            session.review.set_option(name, value)

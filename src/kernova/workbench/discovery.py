"""From one table to its categories, an answer at a time; the answers live in a project's file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.preparation_cache import prepare
from kernova.discover.session import AskedQuestion, CategoryDiscovery
from kernova.discover.stopping import Advice, stopping_advice
from kernova.discover.store import ProjectHead, ProjectStore, open_project
from kernova.discover.strategies import DEFAULT_STRATEGY, strategy_named
from kernova.discover.table_identity import table_digest, table_fingerprint
from kernova.files import is_there, path_in_words
from kernova.tables.records import dropped_rows_notes, json_rows, rows_with_ids
from kernova.tables.table import Table
from kernova.workbench.row_features import Population
from kernova.workflows.detectors import table_encoder

_MEMBERS_NAMED = 5


@dataclass(frozen=True)
class Discovery:
    """A session over a table, and what is needed to show its rows to a person.

    Attributes
    ----------
    table : Table
        The rows; labels, if any, were known before the first question.
    session : CategoryDiscovery
        What is asked and answered.
    project : Path
        The file that keeps the answers.
    head : ProjectHead
        What the project was begun with.
    is_resumed : bool
        Whether there were answers in the file.
    encoded : ndarray
        The rows as numbers.
    population : Population
        All rows, to compare one with.
    notes : list of str
        What a reader should also know.
    """

    table: Table
    session: CategoryDiscovery
    project: Path
    head: ProjectHead
    is_resumed: bool
    encoded: NDArray[np.float64]
    population: Population
    notes: list[str] = field(default_factory=list)

    @property
    def cache(self) -> Path:
        """The file beside the project that keeps what was worked out."""
        return self.project.with_name(f"{self.project.name}.cache")

    def prepare(self) -> None:
        """Do what is costly before the first question, or bring it back from the cache."""
        prepare(self.session, self.cache, self.head.fingerprint)

    def cluster_words(self, question: AskedQuestion) -> str:
        """Say which rows the question stands for: how many, which are nearest, what is known."""
        others = question.members[question.members != question.row]
        if len(others) == 0:
            return "It stands for itself alone."
        gaps = np.linalg.norm(self.encoded[others] - self.encoded[question.row], axis=1)
        nearest = others[np.argsort(gaps, kind="stable")[:_MEMBERS_NAMED]]
        names = ", ".join(str(self.session.ids_[row]) for row in nearest)
        n_more = len(others) - len(nearest)
        more = f" and {n_more:,} more" if n_more else ""
        n_others = f"{len(others):,} other row{'s' if len(others) > 1 else ''}"
        return f"It stands for itself and {n_others}: {names}{more}.{self._known_among(others)}"

    def _known_among(self, rows: NDArray[np.intp]) -> str:
        labels = self.session.labels_[rows]
        counts = pd.Series(labels[labels != None], dtype=object).value_counts()  # noqa: E711
        known = ", ".join(f"{name} {count}" for name, count in counts.items())
        return f" Known among them: {known}." if known else ""

    @property
    def rows(self) -> pd.DataFrame:
        """One line for each row: its id, its category, the question that gave it, prior label."""
        numbers = pd.Series(self.session.label_questions_, dtype="Int64")
        numbers = numbers.mask(numbers == 0)
        return rows_with_ids(self.table, {"category": self.session.labels_, "question": numbers})

    @property
    def categories(self) -> pd.DataFrame:
        """One line for each category: its name, how many rows are known, and the first of them."""
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
        """Say in one sentence how far it is."""
        session = self.session
        skipped = f" ({session.n_skipped_} skipped)" if session.n_skipped_ else ""
        return (
            f"{_counted(session.n_questions_, 'question')} asked{skipped}, "
            f"{_counted(session.n_labelled_, 'row')} of {len(session.ids_):,} named, "
            f"{_counted(len(session.categories_), 'category', 'categories')}."
        )

    @property
    def advice(self) -> Advice:
        """Whether to go on, as far as anybody can tell."""
        session = self.session
        asked, labels = session.asked_, session.labels_
        answers = [labels[row] for row in asked]
        were_asked = set(asked)
        # First met by a prior label, or by one out of turn: no question brought it.
        known_before = [
            name for name, rows in session.categories_.items() if rows[0] not in were_asked
        ]
        n_besides = session.n_labelled_ - sum(label is not None for label in answers)
        return stopping_advice(
            answers, len(labels), known_before=known_before, n_labelled_before=n_besides
        )

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
        session, ids, advice = self.session, self.session.ids_, self.advice
        rows = self.rows
        return {
            "command": "discover",
            "data": {"source": self.table.source, "rows": len(rows)},
            "project": str(self.project),
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
            },
            "notes": self.notes,
            "rows": json_rows(rows[rows["category"].notna()].astype(object)),
        }


def default_project(data: str | os.PathLike[str]) -> Path:
    """Name the file for a table's answers: the table's own name, in the working folder.

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
) -> Discovery:
    """Begin to ask about a table, or go on where a project stands.

    Parameters
    ----------
    table : Table
        The rows; labels count as known before the first question.
    project : str or path
        The file that keeps the answers; it is made if it is not there.
    strategy : str, optional
        How questions are chosen. By default as the project has it; a new one gets the default.
    seed : int, optional
        Where random numbers start; by default as the project has it, or 0.
    missing : {"refuse", "drop", "fill"}
        What was done, or is to be done, about missing values.
    notes : sequence of str
        What a reader should know of the table besides.

    Returns
    -------
    Discovery
        The session; close it when done.
    """
    if strategy is not None:
        strategy_named(strategy)  # a misspelt one is refused before a file is made
    encoded = table_encoder("standard", missing).fit_transform(table.features)
    store = _opened(table, Path(project), strategy, seed)
    session = CategoryDiscovery(store.head.strategy, random_state=store.head.seed)
    is_resumed = len(store.records) > 0
    session.start(encoded, table.ids, known=table.labels, project=store)
    return Discovery(
        replace(table, source=path_in_words(table.source)),
        session,
        Path(project),
        store.head,
        is_resumed,
        encoded,
        Population(table.features),
        [*notes, *dropped_rows_notes(table)],
    )


def _opened(table: Table, project: Path, strategy: str | None, seed: int | None) -> ProjectStore:
    """Open the project; what is not said is as it was."""
    if is_there(project):
        with open_project(project) as found:
            strategy = found.head.strategy if strategy is None else strategy
            seed = found.head.seed if seed is None else seed
    head = ProjectHead(
        # Of the table as it was read: what encoding makes of it may change in the last digit.
        fingerprint=table_fingerprint(table.features, table.ids),
        n_rows=len(table.features),
        n_columns=table.features.shape[1],
        strategy=DEFAULT_STRATEGY if strategy is None else strategy,
        seed=0 if seed is None else seed,
    )
    return open_project(project, head, lambda: table_digest(table.features, table.ids))


def _counted(count: int, one: str, several: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"

"""What is taken home: every row with its category, who named it, and when."""

import io
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.events import Changed, Passed, PriorLabels, Settled, Skipped
from kernova.discover.records import Said
from kernova.studies.row_tables import rows_with_ids
from kernova.studies.workbench.desk import Desk
from kernova.studies.workbench.words import rows_of


class Naming(NamedTuple):
    """Who named a row, and when; None where nobody here has, or that is not known."""

    expert: str | None = None
    time: str | None = None


class Downloads:
    """Tables of what was found.

    Parameters
    ----------
    desk : Desk
        The session.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def labels(self) -> pd.DataFrame:
        """Give one line for each row: id, category, question, expert, time, prior label."""
        with self._desk.lock:
            session = self._desk.session
            labels, questions = session.labels_, session.label_questions_
            namings = self._namings(questions)
        known = [
            Naming() if label is None else namings.get(row, Naming())
            for row, label in enumerate(labels)
        ]
        numbers = pd.Series(questions, dtype="Int64")
        return rows_with_ids(
            self._desk.discovery.table,
            {
                "category": pd.array(labels, dtype="string"),
                "question": numbers.mask(numbers == 0),
                "expert": pd.array([one.expert for one in known], dtype="string"),
                "time": pd.array([one.time for one in known], dtype="string"),
            },
        )

    def labels_csv(self) -> bytes:
        """Give the labels as CSV; ids stay text exactly as they were."""
        return self.labels().to_csv(index=False).encode()

    def labels_parquet(self) -> bytes:
        """Give the labels as Parquet."""
        file = io.BytesIO()
        self.labels().to_parquet(file, index=False)
        return file.getvalue()

    def _namings(self, questions: NDArray[np.intp]) -> dict[int, Naming]:
        """Give for each row whose word its name is."""
        session = self._desk.session
        spoken: dict[int, dict[str | None, Naming]] = {}
        for one in session.said_:
            if not one.counts:
                continue
            for row in _named_rows(one, questions):
                if isinstance(one.event, Settled):
                    spoken.pop(row, None)  # whatever was said before
                words = spoken.setdefault(row, {})
                words.pop(one.by, None)
                words[one.by] = Naming(one.by, one.at or None)
        return {row: _standing(words, session.opinions_of(row)) for row, words in spoken.items()}


def _named_rows(said: Said, questions: NDArray[np.intp]) -> Iterable[int]:
    """Give the rows that got their name by this; labels known before are nobody's here."""
    if isinstance(said.event, Changed):
        is_named = said.event.label is not None and said.question is not None
        return np.flatnonzero(questions == said.question).tolist() if is_named else ()
    return () if isinstance(said.event, PriorLabels | Skipped | Passed) else rows_of(said.event)


def _standing(words: dict[str | None, Naming], opinions: dict[str | None, str]) -> Naming:
    """Give the last word that still is one: categories that were deleted take theirs along."""
    last = reversed(words.values())
    return next((one for one in last if one.expert in opinions), next(reversed(words.values())))

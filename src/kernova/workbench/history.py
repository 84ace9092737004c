"""Everything that was said, the newest first, and where experts differ.

What is taken home: every row with its category, who named it, and when.
"""

import io
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.events import Changed, Passed, PriorLabels, Said, Settled, Skipped
from kernova.tables.records import rows_with_ids
from kernova.workbench.cards import opinion_lines
from kernova.workbench.messages import KINDS, label_of, rows_of, said_words
from kernova.workbench.shared import Desk


class History:
    """Reads the log for people.

    Parameters
    ----------
    desk : Desk
        The session.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def page(self, before: int | None, limit: int) -> dict[str, Any]:
        """Give what was said before a number, the newest first."""
        with self._desk.lock:
            session = self._desk.session
            said, records, ids = session.history(before, limit), session.records_, session.ids_
            asked = session.asked_
            about = [_rows_meant(one, asked) for one in said]
            labels = [session.label_of(rows[0]) if rows else None for rows in about]
        lines = []
        for one, rows, label_now in zip(said, about, labels, strict=True):
            lines.append(
                {
                    "number": one.number,
                    "at": one.at,
                    "by": one.by,
                    "words": said_words(one.event, ids, records),
                    "kind": KINDS[type(one.event)],
                    "counts": one.counts,
                    "question": one.question,
                    "row": rows[0] if rows else None,
                    "id": str(ids[rows[0]]) if rows else None,
                    "n_rows": len(rows),
                    "label": label_of(one.event),
                    "label_now": label_now,
                }
            )
        return {"total": len(records), "entries": lines}

    def disagreements(self) -> dict[str, Any]:
        """Give the rows that experts name differently."""
        with self._desk.lock:
            found, ids = self._desk.session.disagreements_, self._desk.session.ids_
        return {
            "disagreements": [
                {
                    "row": one.row,
                    "id": str(ids[one.row]),
                    "label": one.label,
                    "opinions": opinion_lines(one.opinions),
                }
                for one in found
            ]
        }


def _rows_meant(said: Said, asked: list[int]) -> tuple[int, ...]:
    rows = rows_of(said.event)
    if not rows and said.question is not None:
        return (asked[said.question - 1],)
    return rows


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

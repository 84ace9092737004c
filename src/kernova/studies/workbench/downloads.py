"""What is taken home: every row with its category, who named it, and when."""

import io
from typing import Any

import pandas as pd

from kernova.discover.events import PriorLabels
from kernova.studies.row_tables import rows_with_ids
from kernova.studies.workbench.desk import Desk
from kernova.studies.workbench.words import rows_of


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
            said, asked = session.said_, session.asked_
        experts: list[str | None] = [None] * self._desk.n_rows
        times: list[str | None] = [None] * self._desk.n_rows
        for one in said:
            if not one.counts or isinstance(one.event, PriorLabels):
                continue  # what was known before, nobody here has said
            rows = rows_of(one.event)
            if one.question is not None and not rows:
                rows = (asked[one.question - 1],)
            for row in rows:
                experts[row], times[row] = one.by, one.at or None
        is_named = [label is not None for label in labels]
        numbers = pd.Series(questions, dtype="Int64")
        return rows_with_ids(
            self._desk.discovery.table,
            {
                "category": pd.array(labels, dtype="string"),
                "question": numbers.mask(numbers == 0),
                "expert": _texts_where(is_named, experts),
                "time": _texts_where(is_named, times),
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


def _texts_where(is_wanted: list[bool], texts: list[str | None]) -> Any:
    kept = [text if wanted else None for wanted, text in zip(is_wanted, texts, strict=True)]
    return pd.array(kept, dtype="string")

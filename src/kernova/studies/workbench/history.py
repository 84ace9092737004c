"""Everything that was said, the newest first, and where experts differ."""

from typing import Any

from kernova.discover.records import Said
from kernova.studies.workbench.cards import opinion_lines
from kernova.studies.workbench.desk import Desk
from kernova.studies.workbench.words import KINDS, label_of, rows_of, said_words


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

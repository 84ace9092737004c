"""A row as the page shows it: its values against all others, its picture, what is known of it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kernova.discover.session import AskedQuestion
from kernova.media.row_media import RowMedia
from kernova.workbench.row_features import row_card
from kernova.workbench.shared import Desk

MOST_MEMBERS: Final = 60


class Cards:
    """Describes rows and questions by plain values.

    Parameters
    ----------
    desk : Desk
        The session.
    media : RowMedia
        Pictures, sounds or outlines of the rows, if there are any.
    """

    def __init__(self, desk: Desk, media: RowMedia) -> None:
        self._desk = desk
        self._media = media
        self._texts: list[str] | None = None

    def card(self, row: int) -> dict[str, Any]:
        """Give everything there is to see of a row."""
        row_id = self._desk.id_of(row)
        with self._desk.lock:
            session = self._desk.session
            label, opinions = session.label_of(row), session.opinions_of(row)
            number = session.question_of(row)
        return {
            "row": row,
            "id": row_id,
            "label": label,
            "question": number,
            "opinions": opinion_lines(opinions),
            "features": [
                vars(drawing) for drawing in row_card(self._desk.discovery.population, row)
            ],
            "media": self._media_of(row),
        }

    def question(self, question: AskedQuestion) -> dict[str, Any]:
        """Give a question with its card, and the rows that would be named with it, nearest first.

        Rows of the cluster that have a name keep it, and are counted by name.
        """
        labels = self._desk.session.labels_
        others = question.members[question.members != question.row]
        is_known = labels[others] != None  # noqa: E711
        names, counts = np.unique(labels[others[is_known]].astype(str), return_counts=True)
        elsewhere = [one.row for one in self._desk.session.open_questions_.values()]
        open_rows = np.setdiff1d(others[~is_known], elsewhere)
        members = self._nearest(question.row, open_rows).tolist()
        return {
            "row": question.row,
            "id": str(question.id),
            "number": question.number,
            "reason": question.reason,
            "evidence": _finite(question.evidence),
            "members": members,
            "member_ids": [self._desk.id_of(row) for row in members],
            "n_members": len(open_rows),
            "known_members": dict(zip(names.tolist(), counts.tolist(), strict=True)),
            "card": self.card(question.row),
        }

    def find(self, text: str, limit: int) -> list[dict[str, Any]]:
        """Give rows whose id holds the text; those it begins, or is, come first."""
        if self._texts is None:
            self._texts = [str(one).casefold() for one in self._desk.session.ids_]
        wanted = text.strip().casefold()
        found = [
            (one != wanted, not one.startswith(wanted), row)
            for row, one in enumerate(self._texts)
            if wanted in one
        ]
        rows = [row for _, _, row in sorted(found)[:limit]]
        with self._desk.lock:
            labels = self._desk.session.labels_[rows]
        return [
            {"row": row, "id": self._desk.id_of(row), "label": label}
            for row, label in zip(rows, labels, strict=True)
        ]

    def _nearest(self, row: int, others: NDArray[np.intp]) -> NDArray[np.intp]:
        encoded = self._desk.discovery.encoded
        gaps = np.linalg.norm(encoded[others] - encoded[row], axis=1)
        return others[np.argsort(gaps, kind="stable")[:MOST_MEMBERS]]

    def _media_of(self, row: int) -> dict[str, Any]:
        kind = self._media.kind
        if kind == "none" or not self._media.has(row):
            return {"kind": "none"}
        if kind == "outline":
            return {"kind": kind, "outline": self._media.outline(row)}
        if kind == "sound":
            place = f"/api/media/{row}"
            return {
                "kind": kind,
                "sound": f"{place}/sound",
                "spectrogram": f"{place}/spectrogram",
            }
        return {"kind": kind, "picture": f"/api/media/{row}/picture"}


def opinion_lines(opinions: Mapping[str | None, str]) -> list[dict[str, Any]]:
    """Give who said what of a row as plain values."""
    return [{"expert": expert, "label": label} for expert, label in opinions.items()]


def _finite(evidence: Mapping[str, float]) -> dict[str, float]:
    """Leave out what JSON cannot say."""
    numbers = {name: float(value) for name, value in evidence.items()}
    return {name: value for name, value in numbers.items() if isfinite(value)}

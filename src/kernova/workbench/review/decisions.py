"""Decisions about many rows at once: each is one log entry, which one undo reverts.

Rows are given by their numbers, or by a query with the number of rows that it had when the expert
looked at it. If that number is another one by now, nothing is recorded.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernova.discover.events import (
    Accepted,
    Event,
    Flagged,
    Rejected,
    Reopened,
    RowLabelled,
    RowsLabelled,
    RowsUnsure,
)
from kernova.discover.names import category_name, expert_name
from kernova.errors import InputError
from kernova.text import quantity
from kernova.typing import Indices
from kernova.workbench.asking import Request
from kernova.workbench.messages import Subject, label_of, rows_of
from kernova.workbench.review.facts import RowFacts
from kernova.workbench.review.query import ReviewQuery
from kernova.workbench.review.reviewing import Reviewing
from kernova.workbench.shared import Part, SharedState


@dataclass(frozen=True)
class Selection:
    """Selected rows.

    Attributes
    ----------
    rows : tuple of int or None
        Their numbers; None if they are those of the query.
    query : ReviewQuery or None
        A query all of whose rows are selected.
    count : int or None
        Number of rows that the query had.
    learnt : int or None
        Run of learning whose suggestions were shown.
    """

    rows: tuple[int, ...] | None = None
    query: ReviewQuery | None = None
    count: int | None = None
    learnt: int | None = None


class Decisions(Part):
    """Requests to accept, move, reject, leave undecided, reopen or flag selected rows."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._reviewing = shared.part(Reviewing)

    def accept(self, expert: str | None, selection: Selection, key: str | None) -> Request:
        """Accept the suggestions for rows that have no label, as they were shown."""

        def write() -> int:
            facts = self._shown_facts(selection)
            rows = self._rows_of(selection)
            rows = rows[facts.suggestion[rows] >= 0]
            if len(rows) == 0:
                raise InputError(
                    "None of these rows has a suggestion to accept: they are labelled, or the "
                    "model takes them for no category."
                )
            names = [facts.names[code] for code in facts.suggestion[rows].tolist()]
            return self._shared.session.review.accept(
                self._ids(rows), names, facts.probability[rows].tolist(), expert=expert, key=key
            )

        return self._request(expert, key, selection, None, write, Accepted)

    def move(
        self, expert: str | None, selection: Selection, label: str, key: str | None
    ) -> Request:
        """Label rows by hand."""

        def write() -> int:
            session, ids = self._shared.session, self._ids(self._rows_of(selection))
            if len(ids) == 1:  # recorded by its id, so that the history can show it
                return session.label_row(ids[0], label, expert=expert, key=key)
            return session.label_rows(ids, label, expert=expert, key=key)

        return self._request(expert, key, selection, label, write, RowLabelled, RowsLabelled)

    def reject(
        self, expert: str | None, selection: Selection, label: str, key: str | None
    ) -> Request:
        """Record that rows are not of a category, which is not suggested for them again."""

        def write() -> int:
            if not self._shared.session.results_.has_category(category_name(label)):
                raise InputError(
                    f"There is no category {category_name(label)!r} that rows could be rejected "
                    "from. Choose one of the present categories."
                )
            ids = self._ids(self._rows_of(selection))
            return self._shared.session.review.reject(ids, label, expert=expert, key=key)

        return self._request(expert, key, selection, label, write, Rejected)

    def mark_unsure(self, expert: str | None, selection: Selection, key: str | None) -> Request:
        """Leave rows undecided: they lose their labels, and are not asked about."""

        def write() -> int:
            ids = self._ids(self._rows_of(selection))
            return self._shared.session.review.mark_unsure(ids, expert=expert, key=key)

        return self._request(expert, key, selection, None, write, RowsUnsure)

    def reopen(self, expert: str | None, selection: Selection, key: str | None) -> Request:
        """Remove the labels of rows, for example of accepted ones that match a rule."""

        def write() -> int:
            ids = self._ids(self._rows_of(selection))
            return self._shared.session.review.reopen(ids, expert=expert, key=key)

        return self._request(expert, key, selection, None, write, Reopened)

    def flag(
        self, expert: str | None, selection: Selection, key: str | None, *, is_on: bool
    ) -> Request:
        """Flag rows, or remove their flags."""

        def write() -> int:
            ids = self._ids(self._rows_of(selection))
            return self._shared.session.review.flag(ids, is_on, expert=expert, key=key)

        return self._request(expert, key, selection, None, write, Flagged)

    def _request(
        self,
        expert: str | None,
        key: str | None,
        selection: Selection,
        label: str | None,
        write: Callable[[], int],
        *kinds: type[Event],
    ) -> Request:
        if selection.rows is not None:
            self._shared.check_rows(list(selection.rows))
        name = None if label is None else category_name(label)

        def is_same(event: Event) -> bool:
            is_alike = isinstance(event, kinds) and (name is None or label_of(event) == name)
            return is_alike and (selection.rows is None or {*rows_of(event)} <= {*selection.rows})

        return Request(expert_name(expert), key, Subject(None, name), write, is_same=is_same)

    def _rows_of(self, selection: Selection) -> Indices:
        """Return the selected rows as they are now; call it with the lock held."""
        if selection.rows is not None:
            return np.array(list(dict.fromkeys(selection.rows)), dtype=np.intp)
        if selection.query is None:
            raise InputError("There is no row: select at least one.")
        found = self._reviewing.matching(selection.query, selection.learnt)
        if found is None:
            raise _suggestions_are_gone()
        if len(found.rows) != selection.count:
            then, now = quantity(selection.count or 0, "row"), len(found.rows)
            raise InputError(
                f"{then} matched when they were counted, but {now:,} match by now, since labels "
                "have changed. Nothing was recorded. Look at the rows again, and repeat."
            )
        return found.rows

    def _shown_facts(self, selection: Selection) -> RowFacts:
        facts = self._reviewing.facts(selection.learnt)
        if facts is None:
            raise _suggestions_are_gone()
        return facts

    def _ids(self, rows: Indices) -> list[object]:
        ids = self._shared.session.ids_
        return [ids[row] for row in rows.tolist()]


def _suggestions_are_gone() -> InputError:
    return InputError(
        "The suggestions that were shown are not known any longer, since they were learnt again "
        "several times. Nothing was recorded. Look at the rows again, and repeat."
    )

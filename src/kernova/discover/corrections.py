"""What experts can say besides answering: taking back, changing, and putting categories in order.

Every call takes the expert's name and a key of the request, and gives the number of its record; a
request that is repeated with its key is not recorded again, and gets the number it had.
"""

from collections.abc import Callable, Hashable, Iterable
from numbers import Integral

from kernova.discover.events import (
    Answered,
    Changed,
    Deleted,
    Event,
    Merged,
    Renamed,
    RowLabelled,
    RowsLabelled,
    Settled,
    Undone,
    checked_key,
)
from kernova.discover.names import category_name, expert_name
from kernova.discover.results import Findings
from kernova.errors import InputError


class Corrections(Findings):
    """The part of a session for what is said out of turn."""

    def undo(self, *, expert: str | None = None, key: str | None = None) -> int:
        """Take back the last thing that an expert said, or the last that anybody said.

        Parameters
        ----------
        expert : str, optional
            Whose last word is taken back, even if others have spoken since. Where what they said
            builds on it, nothing happens but an error that says so. Without a name, it is the
            last of all.
        key : str, optional
            What the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        return self._say(self._undoing, expert, key)

    def change(
        self,
        question: int,
        label: object,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Answer an earlier question differently; what was named with its row changes, too.

        Parameters
        ----------
        question : int
            The question's number, counted from 1; it may have been skipped.
        label : str, number or None
            The category; None: the question counts as skipped.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        if isinstance(question, bool) or not isinstance(question, Integral):
            raise InputError(f"A question goes by its number, counted from 1; got {question!r}.")
        event = Changed(int(question), None if label is None else category_name(label))
        return self._say(lambda _: event, expert, key)

    def label_row(
        self,
        row_id: Hashable,
        label: object,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Label a row out of turn, or once more; of the row that is open, it is the answer.

        Parameters
        ----------
        row_id : object
            What the row is called: its id, or its place if no ids were given.
        label : str or number
            A known category or a new one.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        ledger = self._ledger()
        row, name = self._ids.row_of(row_id), category_name(label)

        def event(who: str | None) -> Event:
            is_answer = who in self._open.holder_of(row) and row not in ledger.entries
            return Answered(row, name) if is_answer else RowLabelled(row, name)

        return self._say(event, expert, key)

    def label_rows(
        self,
        row_ids: Iterable[Hashable],
        label: object,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Label several rows out of turn, or once more, in one step.

        Parameters
        ----------
        row_ids : iterable
            What the rows are called.
        label : str or number
            A known category or a new one.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        self._ledger()
        rows = tuple(dict.fromkeys(map(self._ids.row_of, row_ids)))
        if not rows:
            raise InputError("There is no row to label: name at least one.")
        event = RowsLabelled(rows, category_name(label))
        return self._say(lambda _: event, expert, key)

    def rename(
        self, old: object, new: object, *, expert: str | None = None, key: str | None = None
    ) -> int:
        """Give a category another name, one that no category has.

        Parameters
        ----------
        old, new : str or number
            The names.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        event = Renamed(category_name(old), category_name(new))
        return self._say(lambda _: event, expert, key)

    def merge(
        self, into: object, *others: object, expert: str | None = None, key: str | None = None
    ) -> int:
        """Make several categories one.

        Parameters
        ----------
        into : str or number
            The category that stays.
        *others : str or number
            Those that become part of it.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        names = dict.fromkeys(map(category_name, others))
        event = Merged(category_name(into), tuple(names))
        return self._say(lambda _: event, expert, key)

    def delete(self, name: object, *, expert: str | None = None, key: str | None = None) -> int:
        """Let a category go: rows that were asked count as skipped, others are open again.

        A row that another expert has named otherwise gets that name.

        Parameters
        ----------
        name : str or number
            The category.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        event = Deleted(category_name(name))
        return self._say(lambda _: event, expert, key)

    def settle(
        self,
        row_id: Hashable,
        label: object,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """End a disagreement: the row has this label, whatever each of the experts said.

        Parameters
        ----------
        row_id : object
            What the row is called.
        label : str or number
            One of the categories it was given, or another.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        self._ledger()
        row, name = self._ids.row_of(row_id), category_name(label)

        def event(_: str | None) -> Event:
            if self._ledger().opinions.n_experts(row) < 2:
                raise InputError(
                    f"There is nothing to settle about the row {row_id!r}: fewer than two experts "
                    "have named it."
                )
            return Settled(row, name)

        return self._say(event, expert, key)

    # --- how it is done --------------------------------------------------------------------

    def _undoing(self, who: str | None) -> Undone:
        if who is None:
            return Undone()
        number = self._book.counting.last_by(who)
        if number is None:
            raise InputError(f"There is nothing of {who!r} to undo.")
        return Undone(number)

    def _say(
        self, event_by: Callable[[str | None], Event], expert: str | None, key: str | None
    ) -> int:
        """Record what an expert says, unless this very request has been recorded."""
        self._ledger()
        number = self._book.number_of_key(checked_key(key))
        if number is not None:
            return number
        who = expert_name(expert)
        return self._record(event_by(who), who, key)

    def _record(self, event: Event, who: str | None = None, key: str | None = None) -> int:
        raise NotImplementedError

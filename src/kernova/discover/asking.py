"""Asking and answering: who is asked which row, and what becomes of the answer."""

from collections.abc import Hashable, Iterable
from threading import Lock

import numpy as np

from kernova.discover.corrections import Corrections
from kernova.discover.events import (
    Answered,
    Event,
    Passed,
    Record,
    RowLabelled,
    RowsLabelled,
    Skipped,
    now,
)
from kernova.discover.names import category_name, expert_name
from kernova.discover.questions import AskedQuestion, Asker, Question, Strategy, proposal, tell
from kernova.errors import InputError


class Asking(Corrections):
    """The part of a session for questions and their answers."""

    _chosen: Strategy
    _asker: Asker | None
    _starting: Lock

    def prepare(self) -> None:
        """Do what is costly before the first question.

        It touches nothing that was said or is open, so it may run in a thread of its own while
        others read, label rows out of turn and correct. ``next_question`` waits for it.
        """
        self._ledger()
        self._fresh_asker()

    def next_question(self, expert: str | None = None) -> AskedQuestion | None:
        """Give an expert's open question, the same until the expert says something.

        Parameters
        ----------
        expert : str, optional
            Who is asked. No row is open at two experts at once.

        Returns
        -------
        AskedQuestion or None
            None when every row has been answered, passed over, or is open at another expert.
        """
        ledger, who = self._ledger(), expert_name(expert)
        question = self._open.of(who, len(ledger.questions) + 1)
        if question is not None and question.row not in ledger.entries:
            return question
        self._open.close(who)
        if len(ledger.entries) == ledger.n_rows:
            return None
        proposed = self._proposed_to(who)
        return None if proposed is None else self._opened_for(who, proposed)

    def ask_row(self, row_id: Hashable, reason: str, expert: str | None = None) -> AskedQuestion:
        """Open a question about a given row, in place of what is open at the expert.

        Parameters
        ----------
        row_id : object
            What the row is called. It must not have been answered or passed over, nor be open at
            another expert.
        reason : str
            Why it is asked, in a sentence.
        expert : str, optional
            Who is asked.

        Returns
        -------
        AskedQuestion
            The question, which stands for this row alone.
        """
        ledger, who = self._ledger(), expert_name(expert)
        row = self._ids.row_of(row_id)
        if row in ledger.entries:
            raise InputError(
                f"The row {row_id!r} has been named or passed over, so it is not asked again. "
                "Label it out of turn instead."
            )
        if any(holder != who for holder in self._open.holder_of(row)):
            raise InputError(f"The row {row_id!r} is open at another expert. Ask about another.")
        return self._opened_for(who, Question(row, np.array([row], dtype=np.intp), reason))

    def release(self, expert: str | None = None) -> None:
        """Give an expert's open question back, if there is one: others may be asked it now."""
        self._ledger()
        self._open.close(expert_name(expert))

    def answer(self, label: object, *, expert: str | None = None, key: str | None = None) -> int:
        """Say to which category the row of the open question belongs.

        If another expert has labelled the row meanwhile, this is one more opinion about it.

        Parameters
        ----------
        label : str or number
            A known category or a new one.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """
        return self._say(lambda who: self._answering(who, label), expert, key)

    def name_cluster(
        self,
        label: object,
        rows: Iterable[Hashable] | None = None,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Answer the open question, and give other rows of its cluster the same name.

        Rows that have a label already keep it, and rows that are open at other experts are left
        to them.

        Parameters
        ----------
        label : str or number
            A known category or a new one.
        rows : iterable of ids, optional
            Rows to name; by default, all that the question stands for.
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """

        def event(who: str | None) -> Event:
            question = self._open_question(who)
            named = question.members.tolist() if rows is None else map(self._ids.row_of, rows)
            left = {question.row, *self._open.rows_besides(who).tolist()}
            label_of = self._ledger().label_of
            others = {row for row in named if row not in left and label_of(row) is None}
            return self._answering(who, label, tuple(sorted(others)))

        return self._say(event, expert, key)

    def skip(self, *, expert: str | None = None, key: str | None = None) -> int:
        """Pass over the open question; its row is not asked again.

        Parameters
        ----------
        expert, key : str, optional
            Who says it, and what the request is called.

        Returns
        -------
        int
            The number of the record.
        """

        def event(who: str | None) -> Event:
            row = self._open_question(who).row
            return Passed(row) if row in self._ledger().entries else Skipped(row)

        return self._say(event, expert, key)

    # --- how it is done --------------------------------------------------------------------

    def _record(self, event: Event, who: str | None = None, key: str | None = None) -> int:
        """Let it be so; what was open may no longer be the best question."""
        self._ledger()
        news = self._book.record(Record(event, who, key, now()))
        self._open.close(who)
        asker, self._asker = self._asker, None
        if news is not None and asker is not None:
            tell(asker, news)
            self._asker = asker  # one that was told what is no longer so is built anew when needed
        return len(self._book.records)

    def _answering(self, who: str | None, label: object, others: tuple[int, ...] = ()) -> Event:
        row, name = self._open_question(who).row, category_name(label)
        if row not in self._ledger().entries:
            return Answered(row, name, others)
        return RowsLabelled((row, *others), name) if others else RowLabelled(row, name)

    def _fresh_asker(self) -> Asker:
        with self._starting:  # whoever needs it while it is being prepared waits for it
            return self._chosen.start(self._preparation)

    def _proposed_to(self, who: str | None) -> Question | None:
        if self._asker is None:
            asker = self._fresh_asker()
            tell(asker, self._book.ledger.answers())
            self._asker = asker
        heard, n_rows = self._ledger().entries, self._ledger().n_rows
        found = proposal(self._asker, self._open.clusters_besides(who), heard, n_rows)
        if found is not None:
            return found
        return proposal(self._asker, self._open.rows_besides(who), heard, n_rows)

    def _opened_for(self, who: str | None, question: Question) -> AskedQuestion:
        if question.row in self._ledger().entries:
            raise InputError(
                f"The strategy {self._chosen.name!r} asks again for the row "
                f"{self._ids[question.row]!r}, which has been answered; correct the strategy."
            )
        asked = AskedQuestion(
            row=question.row,
            members=question.members,
            reason=question.reason,
            evidence=question.evidence,
            alternatives=question.alternatives,
            number=len(self._ledger().questions) + 1,
            id=self._ids[question.row],
        )
        self._open.open(who, asked)
        return asked

    def _open_question(self, who: str | None) -> AskedQuestion:
        self._ledger()
        question = self._open.by_expert.get(who)
        if question is None:
            raise InputError("No question is open: call next_question() first.")
        return question

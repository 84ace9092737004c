"""The log of a session and what follows from it: check, save, and only then let it be so."""

from collections.abc import Sequence

from kernova.discover.events import Event, Undone, can_undo, effective_events
from kernova.discover.ledger import Ledger
from kernova.discover.questions import Answer
from kernova.discover.store import ProjectStore
from kernova.errors import InputError


class LogBook:
    """A log that only grows, in memory and, if there is a project, on disk first.

    Parameters
    ----------
    n_rows : int
        How many rows the table has.
    log : sequence of events
        What was said before.
    store : ProjectStore, optional
        Keeps the log on disk; it holds ``log`` already.

    Attributes
    ----------
    log : list
        Everything that was said.
    ledger : Ledger
        What is so.

    Examples
    --------
    >>> from kernova.discover.events import Skipped, Undone
    >>> from kernova.discover.logbook import LogBook
    >>> book = LogBook(9)
    >>> book.record(Skipped(4))
    [Answer(row=4, label=None, is_asked=True)]
    >>> book.record(Undone())
    >>> book.log, book.ledger.entries
    ([Skipped(row=4), Undone()], {})
    """

    def __init__(
        self, n_rows: int, log: Sequence[Event] = (), store: ProjectStore | None = None
    ) -> None:
        self.store = store
        self.log = list(log)
        self._effective = effective_events(self.log)
        self.ledger = Ledger(n_rows, self._effective)

    def record(self, event: Event) -> list[Answer] | None:
        """Add an event.

        Returns
        -------
        list of Answer or None
            What an asker that knows everything before has to be told; None when it has been told
            something that is no longer so, and a fresh one is needed.
        """
        self._check(event)
        if self.store is not None:
            self.store.append(event)
        self.log.append(event)
        if isinstance(event, Undone):
            self._effective.pop()
            self.ledger = Ledger(self.ledger.n_rows, self._effective)
            return None
        self._effective.append(event)
        return self.ledger.apply(event)

    def _check(self, event: Event) -> None:
        if not isinstance(event, Undone):
            self.ledger.check(event)
        elif not can_undo(self._effective):
            raise InputError("There is nothing to undo.")

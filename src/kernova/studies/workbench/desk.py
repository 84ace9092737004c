"""What all parts of a workbench share: the session, one lock around it, and a version."""

import threading
import time

from kernova.discover.session import CategoryDiscovery
from kernova.studies.discovery import Discovery
from kernova.studies.workbench.refusals import no_row


class Desk:
    """The discovery under work; whoever reads or writes the session holds the lock.

    Parameters
    ----------
    discovery : Discovery
        The table and its session.

    Attributes
    ----------
    version : int
        Grows with everything that a page may want to show anew; also over restarts.
    """

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery
        self.lock = threading.RLock()
        self._version = time.time_ns() // 1_000_000
        self._counting = threading.Lock()

    @property
    def session(self) -> CategoryDiscovery:
        """What is asked and answered."""
        return self.discovery.session

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return len(self.discovery.encoded)

    @property
    def version(self) -> int:
        """Give the number of the present state."""
        return self._version

    def changed(self) -> None:
        """Note that something is other than it was; jobs call this without the session's lock."""
        with self._counting:
            self._version += 1

    def id_of(self, row: int) -> str:
        """Give what the row is called, or say that there is none."""
        self.check_rows([row])
        return str(self.session.ids_[row])

    def check_rows(self, rows: list[int]) -> None:
        """Refuse rows that are not in the table."""
        for row in rows:
            if not 0 <= row < self.n_rows:
                raise no_row(row, self.n_rows)

"""Long work beside the questions: a thread of its own, and word of how far it is.

Who is at the workbench: a question goes back when its expert has gone.

What a workbench cannot do, in words for people and a code for programs.

What all parts of a workbench share: the session, one lock around it, and a version.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, Generic, Literal, TypeVar

from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError, KernovaError
from kernova.progress import Listener, Step, reporting
from kernova.workbench.discovery import Discovery

Result = TypeVar("Result")
JobState = Literal["none", "running", "ready", "failed"]


class BackgroundJob(Generic[Result]):
    """One kind of work, done once at a time.

    Parameters
    ----------
    on_change : callable
        Called, from the thread that works, whenever the state has become another.

    Attributes
    ----------
    state : {"none", "running", "ready", "failed"}
        Where the work stands.
    step : Step or None
        How far it is.
    message : str
        Why it failed.
    result : object or None
        What came of it; the last result stays while the work is done anew.

    Examples
    --------
    >>> from kernova.workbench.shared import BackgroundJob
    >>> job = BackgroundJob(lambda: None)
    >>> job.start(lambda: 6 * 7)
    True
    >>> job.wait(60), job.state, job.result
    (True, 'ready', 42)
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.state: JobState = "none"
        self.step: Step | None = None
        self.message = ""
        self.result: Result | None = None
        self._on_change = on_change
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def start(self, work: Callable[[], Result], watch: Listener | None = None) -> bool:
        """Begin, unless the work is being done already; tell whether it was begun."""
        with self._lock:
            if self.state == "running":
                return False
            self.state, self.step, self.message = "running", None, ""
            self._ended.clear()
        self._on_change()
        # A daemon: who leaves is not kept waiting, and nothing on the disk depends on this.
        threading.Thread(target=self._run, args=(work, watch), daemon=True).start()
        return True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most so long if that is said; tell whether it has come."""
        return self._ended.wait(seconds)

    def _run(self, work: Callable[[], Result], watch: Listener | None) -> None:
        def listen(step: Step) -> None:
            self.step = step
            if watch is not None:
                watch(step)

        try:
            with reporting(listen):
                result = work()
        except KernovaError as error:
            self._end("failed", str(error))
        except MemoryError:
            self._end("failed", "There is not enough memory for this. Take fewer rows or columns.")
        except Exception as error:
            self._end("failed", f"Something is broken in kernova: {error!r}.")
            raise
        else:
            self.result = result
            self._end("ready", "")

    def _end(self, state: JobState, message: str) -> None:
        with self._lock:
            self.state, self.message = state, message
        self._ended.set()
        self._on_change()


LEASE_SECONDS: Final = 15 * 60.0
# A page in a tab behind others may be heard of once a minute only.
_HERE_SECONDS: Final = 150.0


class Presence:
    """When each expert was last heard of; may be asked from any thread.

    Parameters
    ----------
    lease_seconds : float
        How long a question waits for an expert who says nothing.
    clock : callable
        Gives the time in seconds.

    Examples
    --------
    >>> from kernova.workbench.shared import Presence
    >>> now = 0.0
    >>> presence = Presence(900, clock=lambda: now)
    >>> presence.heard_of("Anna")
    >>> now = 901.0
    >>> presence.gone(["Anna"]), presence.is_here("Anna")
    (['Anna'], False)
    """

    def __init__(
        self, lease_seconds: float = LEASE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.lease_seconds = lease_seconds
        self._clock = clock
        self._last: dict[str | None, float] = {}

    def heard_of(self, expert: str | None) -> None:
        """Note a sign of life."""
        self._last[expert] = self._clock()

    @property
    def names(self) -> list[str]:
        """Everyone who was heard of by name, first come first."""
        # A list at once: signs of life come at any moment, also of those who are new.
        return [name for name in list(self._last) if name is not None]

    @property
    def here(self) -> list[str]:
        """Those of them who were heard of a moment ago."""
        return [name for name in self.names if self.is_here(name)]

    def is_here(self, expert: str | None) -> bool:
        """Tell whether someone was heard of a moment ago."""
        return self._silence(expert) <= _HERE_SECONDS

    def gone(self, experts: Iterable[str | None]) -> list[str | None]:
        """Give those whose questions are to go to others."""
        return [one for one in experts if self._silence(one) > self.lease_seconds]

    def _silence(self, expert: str | None) -> float:
        last = self._last.get(expert)
        return float("inf") if last is None else self._clock() - last


Code = Literal["preparing", "failed", "not found", "nothing learnt"]


class WorkbenchError(InputError):
    """Something is not there, or not yet.

    Parameters
    ----------
    message : str
        The sentence for people.
    code : str
        What kind of refusal it is, for programs.
    """

    def __init__(self, message: str, code: Code) -> None:
        super().__init__(message)
        self.code = code


def no_row(row: int, n_rows: int) -> WorkbenchError:
    """Say that there is no such row."""
    return WorkbenchError(
        f"There is no row {row}: the table has {n_rows:,}, counted from 0.", "not found"
    )


def not_prepared() -> WorkbenchError:
    """Say that the first question takes a while."""
    return WorkbenchError(
        "The table is still being prepared. Ask again in a moment; how far it is says "
        "/api/session.",
        "preparing",
    )


def never_prepared(reason: str) -> WorkbenchError:
    """Say that there will be no question."""
    return WorkbenchError(
        f"The table could not be prepared, so nothing is asked. {reason}", "failed"
    )


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

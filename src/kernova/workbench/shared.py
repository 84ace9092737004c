"""Shared state of a workbench: session lock, version counter, background jobs and active experts.

Every :class:`Part` of the workbench (history, map ...) is made from one :class:`SharedState`.
Errors that concern all parts carry a message for people and a code for programs.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, Literal, TypeVar, cast

from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError, KernovaError, quoted
from kernova.progress import Listener, Stage, Step, TimeLeft, reporting
from kernova.workbench.discovery import Discovery

Result = TypeVar("Result")
JobState = Literal["none", "running", "ready", "failed"]
Code = Literal["preparing", "failed", "not found", "nothing learnt", "forbidden"]

_LEASE_SECONDS: Final = 15 * 60.0
# Browsers throttle background tabs to about one request per minute.
_HERE_SECONDS: Final = 150.0


# --- errors ----------------------------------------------------------------------------------


class WorkbenchError(InputError):
    """Error for something that does not exist, or not yet.

    Parameters
    ----------
    message : str
        The sentence for people.
    code : str
        The kind of error, for programs.
    """

    def __init__(self, message: str, code: Code) -> None:
        super().__init__(message)
        self.code = code


def _row_not_found(row: int, n_rows: int) -> WorkbenchError:
    """Return the error for a row index outside the table."""
    return WorkbenchError(
        f"There is no row {row}: the table has {n_rows:,} rows, counted from 0.", "not found"
    )


def still_preparing() -> WorkbenchError:
    """Return the error for a question that was requested too early."""
    return WorkbenchError(
        "The table is still being prepared. Ask again in a moment; /api/session reports the "
        "progress.",
        "preparing",
    )


def preparation_failed(reason: str) -> WorkbenchError:
    """Return the error for questions about a table whose preparation failed."""
    return WorkbenchError(
        f"The table could not be prepared, so there are no questions. {reason}", "failed"
    )


# --- background jobs -------------------------------------------------------------------------


class BackgroundJob(Generic[Result]):
    """Long computation in a thread of its own, one run at a time.

    Parameters
    ----------
    on_change : callable
        Called from the worker thread whenever the state changes.

    Attributes
    ----------
    state : {"none", "running", "ready", "failed"}
        Status of the last run.
    step : Step or None
        Progress of the current run.
    message : str
        Reason of a failure.
    result : object or None
        Result of the last successful run; it is kept while the next one is running.

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
        self._left: TimeLeft | None = None
        self.message = ""
        self.result: Result | None = None
        self._on_change = on_change
        self._lock = threading.Lock()
        self._ended = threading.Event()

    @property
    def progress(self) -> Step:
        """Progress of the current run; zero of zero before the first report."""
        return self.step or Step("", 0, 0)

    @property
    def left(self) -> str:
        """Time left of the current run in words; empty while it is unknown."""
        left = self._left
        return "" if left is None or self.state != "running" else left.words

    def begin_steps(self, stages: Sequence[Stage] = ()) -> None:
        """Estimate the time left from now on; called by work that has waited for other work.

        Parameters
        ----------
        stages : sequence of Stage
            The tasks that the work will report; without any, its first task is the whole.
        """
        self._left = TimeLeft(stages)

    def start(
        self,
        work: Callable[[], Result],
        watch: Listener | None = None,
        stages: Sequence[Stage] = (),
    ) -> bool:
        """Start the job unless it is running; return whether it was started.

        Parameters
        ----------
        work : callable
            What is to be done.
        watch : callable, optional
            Receives its steps.
        stages : sequence of Stage
            The tasks that it will report; without any, its first task is the whole.
        """
        with self._lock:
            if self.state == "running":
                return False
            self.state, self.step, self.message = "running", None, ""
            self._left = TimeLeft(stages)
            self._ended.clear()
        self._on_change()
        # A daemon, so that the program can exit at once: no file depends on this thread.
        threading.Thread(target=self._run, args=(work, watch), daemon=True).start()
        return True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the run, with an optional timeout; return whether it has ended."""
        return self._ended.wait(seconds)

    def _run(self, work: Callable[[], Result], watch: Listener | None) -> None:
        def listen(step: Step) -> None:
            self.step = step
            if self._left is not None:
                self._left.note(step)
            if watch is not None:
                watch(step)

        try:
            with reporting(listen):
                result = work()
        except KernovaError as error:
            self._end("failed", str(error))
        except MemoryError:
            self._end("failed", "Not enough memory. Use fewer rows or columns.")
        except Exception as error:
            self._end("failed", f"Internal error in kernova: {quoted(error, 200)}.")
            raise
        else:
            self.result = result
            self._end("ready", "")

    def _end(self, state: JobState, message: str) -> None:
        with self._lock:
            self.state = state
            self.message = message
        # First the change, then the end: whoever waited for the end finds the version settled.
        self._on_change()
        self._ended.set()


# --- active experts --------------------------------------------------------------------------


class Presence:
    """Time of each expert's last request; safe to use from any thread.

    The open question of an expert who is inactive for too long is released to others.

    Parameters
    ----------
    lease_seconds : float
        How long a question is reserved for an inactive expert.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> from kernova.workbench.shared import Presence
    >>> now = 0.0
    >>> presence = Presence(900, clock=lambda: now)
    >>> presence.mark_active("Anna")
    >>> now = 901.0
    >>> presence.expired(["Anna"]), presence.is_here("Anna")
    (['Anna'], False)
    """

    def __init__(
        self, lease_seconds: float = _LEASE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.lease_seconds = lease_seconds
        self.clock = clock
        self._last: dict[str | None, float] = {}

    def mark_active(self, expert: str | None) -> None:
        """Record a request of an expert."""
        self._last[expert] = self.clock()

    @property
    def names(self) -> list[str]:
        """All named experts, in the order of their first request."""
        # Copied first: another thread may add an expert during the iteration.
        return [name for name in list(self._last) if name is not None]

    @property
    def present(self) -> list[str]:
        """The named experts who are active now."""
        return [name for name in self.names if self.is_here(name)]

    def is_here(self, expert: str | None) -> bool:
        """Return whether an expert sent a request recently."""
        return self._idle_seconds(expert) <= _HERE_SECONDS

    def expired(self, experts: Iterable[str | None]) -> list[str | None]:
        """Return the experts whose open questions are to be released."""
        return [one for one in experts if self._idle_seconds(one) > self.lease_seconds]

    def _idle_seconds(self, expert: str | None) -> float:
        last = self._last.get(expert)
        return float("inf") if last is None else self.clock() - last


# --- state -----------------------------------------------------------------------------------


class SharedState:
    """Discovery, session lock and version counter that all parts of a workbench share.

    Code that reads or writes the session must hold ``lock``.

    Parameters
    ----------
    discovery : Discovery
        The table and its session.

    Attributes
    ----------
    version : int
        Increases with every change that a page may want to show, also across restarts.
    """

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery
        self.lock = threading.RLock()
        self._version = time.time_ns() // 1_000_000
        self._version_lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._parts: dict[type[Part], Part] = {}

    @property
    def session(self) -> CategoryDiscovery:
        """The session of questions and answers."""
        return self.discovery.session

    def is_ready(self, preparation: BackgroundJob[None]) -> bool:
        """Return whether a question can be asked now: from a sample, before all is prepared."""
        if preparation.state == "running":
            return self.session.is_ready_
        return preparation.state == "ready"

    @property
    def n_rows(self) -> int:
        """Number of rows in the table."""
        return len(self.discovery.encoded)

    @property
    def version(self) -> int:
        """Version of the present state."""
        return self._version

    def changed(self) -> None:
        """Increase the version; background jobs call this without the session lock."""
        with self._version_lock:
            self._version += 1
        for listener in self._listeners:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function after every change; it must return at once."""
        self._listeners.append(listener)

    def part(self, kind: "type[PartKind]") -> "PartKind":
        """Return the part of a class, made on first use."""
        with self.lock:
            if kind not in self._parts:
                self._parts[kind] = kind(self)
            return cast(PartKind, self._parts[kind])

    def keep(self, part: "Part") -> None:
        """Keep a part that was made elsewhere, for :meth:`part`."""
        self._parts[type(part)] = part

    def id_of(self, row: int) -> str:
        """Return the id of a row.

        Raises
        ------
        WorkbenchError
            If the table has no such row.
        """
        self.check_rows([row])
        return str(self.session.ids_[row])

    def check_rows(self, rows: list[int]) -> None:
        """Raise a WorkbenchError for row indices outside the table."""
        for row in rows:
            if not 0 <= row < self.n_rows:
                raise _row_not_found(row, self.n_rows)


class Part:
    """Part of a workbench: one view of the session, made from the shared state.

    A subclass is registered nowhere: :meth:`kernova.workbench.Workbench.part` makes it on first
    use.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    """

    def __init__(self, shared: SharedState) -> None:
        self._shared = shared


PartKind = TypeVar("PartKind", bound=Part)

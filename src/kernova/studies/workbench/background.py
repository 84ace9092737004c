"""Long work beside the questions: a thread of its own, and word of how far it is."""

import threading
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from kernova.errors import KernovaError
from kernova.progress import Listener, Step, reporting

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
    >>> from kernova.studies.workbench.background import BackgroundJob
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

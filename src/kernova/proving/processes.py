"""Tasks in several processes: results come one by one, and a process that dies ends one run only.

Processes are started afresh rather than forked, since compiled parts may hold threads. Ctrl-C is
left to the process that started them, which ends them.
"""

import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Final, Generic, NamedTuple, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

Work = Callable[[Task], Iterator[Result]]


class Lost(NamedTuple, Generic[Task, Result]):
    """What becomes of a task whose process died."""

    results: Sequence[Result]  # of the part that it died in
    rest: Task | None  # to be done by another process


_CONTEXT = get_context("spawn")
# Between the end of a process's connection and its own.
_SECONDS_TO_END: Final = 5.0


def results_in_processes(
    tasks: Sequence[Task],
    work: Work[Task, Result],
    n_processes: int,
    lost: Callable[[Task, int, str], Lost[Task, Result]],
) -> Iterator[Result]:
    """Yield the results of all tasks as they come.

    Parameters
    ----------
    tasks : sequence
        Tasks, the first to be started first.
    work : callable
        Yields the results of one task; a function of a module.
    n_processes : int
        Number of processes; with one, everything is done in this process.
    lost : callable
        Called with the task of a process that died, the number of its results until then, and why
        it died.
    """
    if n_processes == 1:
        for task in tasks:
            yield from work(task)
        return
    pool = _Pool(work, deque(tasks), lost)
    try:
        while pool.has_work(n_processes):
            yield from pool.results()
    finally:
        pool.end()


class _Message(NamedTuple, Generic[Result]):
    result: Result


class _Died(NamedTuple):
    reason: str


class _Worker(Generic[Task, Result]):
    """A process, and the task that it is working on."""

    def __init__(self, work: Work[Task, Result], task: Task) -> None:
        self.connection, other = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(work, other), daemon=True)
        self._process.start()
        other.close()
        self.give(task)

    def give(self, task: Task) -> None:
        """Start on a task."""
        self.task, self.n_results = task, 0
        with suppress(BrokenPipeError):  # it died: the next message says so
            self.connection.send(task)

    def message(self) -> "_Message[Result] | _Died | None":
        """Return the next result; None is the end of the task."""
        try:
            message: _Message[Result] | None = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join(_SECONDS_TO_END)
            self.end()
            return _Died(f"The process died with exit code {self._process.exitcode}.")
        self.n_results += message is not None
        return message

    def end(self) -> None:
        """End the process, wherever it is."""
        self.connection.close()
        self._process.terminate()
        self._process.join()


class _Pool(Generic[Task, Result]):
    """The processes, and the tasks that none of them has."""

    def __init__(
        self,
        work: Work[Task, Result],
        waiting: deque[Task],
        lost: Callable[[Task, int, str], Lost[Task, Result]],
    ) -> None:
        self._work, self._waiting, self._lost = work, waiting, lost
        self._workers: list[_Worker[Task, Result]] = []

    def has_work(self, n_processes: int) -> bool:
        """Return whether anything is left to do; start processes for it."""
        while self._waiting and len(self._workers) < n_processes:
            self._workers.append(_Worker(self._work, self._waiting.popleft()))
        return bool(self._workers)

    def results(self) -> Iterator[Result]:
        """Wait for messages, and yield the results that they hold."""
        ready = wait([worker.connection for worker in self._workers])
        for worker in [worker for worker in self._workers if worker.connection in ready]:
            message = worker.message()
            if isinstance(message, _Died):
                yield from self._results_of_dead(worker, message)
            elif message is not None:
                yield message.result
            elif self._waiting:
                worker.give(self._waiting.popleft())
            else:
                self._workers.remove(worker)
                worker.end()

    def end(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.end()

    def _results_of_dead(self, worker: "_Worker[Task, Result]", died: _Died) -> Sequence[Result]:
        self._workers.remove(worker)
        lost = self._lost(worker.task, worker.n_results, died.reason)
        if lost.rest is not None:
            self._waiting.appendleft(lost.rest)
        return lost.results


def _serve(work: Work[Task, Result], connection: Connection) -> None:
    """Do the tasks that come, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            for result in work(connection.recv()):
                connection.send(_Message(result))
            connection.send(None)

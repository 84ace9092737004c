"""Tasks of the suite: all runs on one draw of a problem, which are given one preparation.

The hierarchy and the neighbours of a draw are thus computed once. A run that raises an error is an
outcome like any other; only the files of a table that is not there leave nothing to run.
"""

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kernova._sklearn import threadpool_controller
from kernova.discover.preparation import Preparation
from kernova.discover.questions import Strategy
from kernova.discover.strategies import STRATEGIES, strategy_named
from kernova.errors import KernovaError, concise
from kernova.proving.baselines import BASELINES, Told
from kernova.proving.fingerprints import rows_digest
from kernova.proving.journal import RunKey, RunRecord
from kernova.proving.problems import Drawn, Labels, drawn
from kernova.proving.runs import Course, course_of_run, random_course
from kernova.proving.tables import MissingDataError

RANDOM = "random"


class PlannedRun(NamedTuple):
    """A run to be done on a draw."""

    strategy: str
    error_rate: float
    most_chosen: int  # questions, after which it goes on at random
    fingerprint: str


class Task(NamedTuple):
    """Runs on one draw of a problem.

    Attributes
    ----------
    problem : str
        The problem.
    draw : int
        Seed of the draw, of the strategies and of the expert's errors.
    folder : Path
        Folder of the public tables.
    runs : tuple of PlannedRun
        Runs to be done.
    """

    problem: str
    draw: int
    folder: Path
    runs: tuple[PlannedRun, ...]

    def failed(self, run: PlannedRun, error: str, rows: str = "") -> RunRecord:
        """Return the record of a run that failed."""
        return RunRecord(self.key(run), run.fingerprint, rows, None, 0.0, error)

    def key(self, run: PlannedRun) -> RunKey:
        """Return the key of one of the runs."""
        return RunKey(self.problem, self.draw, run.strategy, run.error_rate)

    def without(self, n_first: int) -> "Task":
        """Return the task without its first runs."""
        return self._replace(runs=self.runs[n_first:])


class Skipped(NamedTuple):
    """A draw of a table whose files are not there."""

    problem: str
    reason: str
    n_runs: int


Outcome = RunRecord | Skipped


def strategy_for(name: str, labels: Labels) -> Strategy:
    """Return a strategy or a baseline by its name, told what it may know of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.tasks import strategy_for
    >>> strategy_for("malice", np.array(["a", "a", "a", "b"])).priors
    {'a': 0.75, 'b': 0.25}
    """
    return BASELINES[name].make(labels) if name in BASELINES else strategy_named(name)


def told(name: str) -> Told:
    """Return what a strategy is told of the labels."""
    return BASELINES[name].told if name in BASELINES else "nothing"


def known_strategies() -> tuple[str, ...]:
    """Return the names of all strategies that can be compared."""
    return tuple(dict.fromkeys((*STRATEGIES, *BASELINES)))


def outcomes_of(task: Task) -> Iterator[Outcome]:
    """Do the runs of a task, one after the other.

    Compiled parts use one thread, so that sums do not depend on the number of processors.
    """
    try:
        found = drawn(task.problem, task.draw, task.folder)
    except MissingDataError as error:
        yield Skipped(task.problem, str(error), len(task.runs))
        return
    except Exception as error:  # noqa: BLE001
        for run in task.runs:
            yield task.failed(run, _reason(error))
        return
    rows = rows_digest(found.X, found.labels)
    preparation = Preparation(found.X, n_jobs=1, random_state=task.draw)
    for run in task.runs:
        with threadpool_controller().limit(limits=1):
            record = _record(task, run, found, preparation, rows)
        yield record


def _record(
    task: Task, run: PlannedRun, found: Drawn, preparation: Preparation, rows: str
) -> RunRecord:
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # thousands of lines would hide the progress
            course = _course(task, run, found, preparation)
    except Exception as error:  # noqa: BLE001
        return task.failed(run, _reason(error), rows)
    seconds = round(time.process_time() - begin, 3)
    return RunRecord(task.key(run), run.fingerprint, rows, course, seconds)


def _course(task: Task, run: PlannedRun, found: Drawn, preparation: Preparation) -> Course:
    if run.strategy == RANDOM:
        return random_course(found.labels, task.draw, error_rate=run.error_rate)
    return course_of_run(
        preparation,
        found.labels,
        strategy_for(run.strategy, found.labels),
        error_rate=run.error_rate,
        most_chosen=run.most_chosen,
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return concise(text if isinstance(error, KernovaError) else f"{type(error).__name__}: {text}")

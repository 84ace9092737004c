"""The suite: strategies on many draws of many problems, resumable, in several processes.

Finished runs are kept in a journal in the output folder. A suite that was interrupted goes on where
it stopped, and gives the same results; runs of other code or settings are done again. If a run
finds other rows in its draw, the earlier runs on that draw are repeated, too. The first draw of
every problem comes first, then the second, so that a part of a suite is a small suite.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np

from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES, current_name
from kernova.errors import InputError, check_count, quoted
from kernova.progress import track
from kernova.proving.baselines import BASELINES
from kernova.proving.fingerprints import fingerprint
from kernova.proving.journal import Journal, RunKey, RunRecord, opened_journal
from kernova.proving.problems import Part, problem_named, problem_names
from kernova.proving.processes import Lost, results_in_processes
from kernova.proving.runs import MOST_CHOSEN
from kernova.proving.tasks import (
    RANDOM,
    Outcome,
    PlannedRun,
    Skipped,
    Task,
    known_strategies,
    outcomes_of,
    strategy_for,
    told,
)

Parts = Literal["confirming", "choosing", "all"]

DEFAULT_DRAWS: Final = 5
#: Fractions of rows that the expert takes for another category. With errors, only the project's own
#: strategies and the one that is compared are run.
ERROR_RATES: Final = (0.0, 0.05)
#: Of these, a thousand questions about a few thousand rows take minutes.
MOST_CHOSEN_BY_SLOW: Final = {"aad-forest": 300}
#: Their time grows with the square of the rows: they are left out of the largest problems.
QUADRATIC: Final = frozenset({"malice", "malice-ladder", "grade", "grade-li"})
_DRAWS_OF_LARGEST: Final = 3
#: All strategies and baselines; the first is compared with the others.
DEFAULT_STRATEGIES: Final = tuple(dict.fromkeys((DEFAULT_STRATEGY, *BASELINES)))
# What a strategy is told must not depend on a draw where its settings are compared.
_ANY_LABELS: Final = np.array(["a", "a", "b"])


@dataclass(frozen=True)
class SuitePlan:
    """What a suite runs; :func:`suite_plan` checks it.

    Attributes
    ----------
    problems : tuple of str
        Names of the problems.
    strategies : tuple of str
        Names of strategies and baselines; the first is compared with the others.
    draws : int
        Largest number of draws of a problem.
    error_rates : tuple of float
        Fractions of wrong answers.
    most_chosen : int
        Number of questions after which a run goes on at random.
    """

    problems: tuple[str, ...]
    strategies: tuple[str, ...]
    draws: int = DEFAULT_DRAWS
    error_rates: tuple[float, ...] = ERROR_RATES
    most_chosen: int = MOST_CHOSEN

    def in_order(self) -> Iterator[tuple[str, int]]:
        """Yield each problem and draw, all first draws first; large problems have few draws."""
        for seed in range(self.draws):
            yield from (
                (name, seed) for name in self.problems if seed < problem_named(name).n_draws
            )

    def runs(self) -> tuple[PlannedRun, ...]:
        """Return the runs on each draw."""
        return tuple(
            self._run(name, rate)
            for rate in self.error_rates
            for name in self.strategies
            if rate == 0 or name in STRATEGIES or name == self.strategies[0]
        )

    def most_chosen_by(self, strategy: str) -> int:
        """Return the number of questions after which runs of a strategy go on at random."""
        return min(self.most_chosen, MOST_CHOSEN_BY_SLOW.get(strategy, self.most_chosen))

    def _run(self, name: str, error_rate: float) -> PlannedRun:
        most = self.most_chosen_by(name)
        code = fingerprint(strategy_for(name, _ANY_LABELS), most)
        return PlannedRun(name, error_rate, most, code)


@dataclass(frozen=True)
class SuiteRuns:
    """Outcomes of a suite.

    Attributes
    ----------
    plan : SuitePlan
        What was run.
    records : tuple of RunRecord
        All runs, by draw, problem, error rate and strategy.
    skipped : dict of str to str
        Problems whose files are missing, and the reason.
    """

    plan: SuitePlan
    records: tuple[RunRecord, ...]
    skipped: dict[str, str]


def suite_plan(
    part: Parts = "confirming",
    *,
    strategies: Sequence[str] = DEFAULT_STRATEGIES,
    draws: int = DEFAULT_DRAWS,
    problems: Sequence[str] | None = None,
) -> SuitePlan:
    """Return the plan of a suite.

    Parameters
    ----------
    part : {"confirming", "choosing", "all"}
        Part of the problems. A strategy may be chosen on "choosing" only.
    strategies : sequence of str
        Names of strategies and baselines. The first is compared with the others; random sampling is
        added, because results are given relative to it.
    draws : int
        Number of draws of each problem; very large ones have at most three.
    problems : sequence of str, optional
        Some problems of the part; all by default.

    Examples
    --------
    >>> from kernova.proving.suite import suite_plan
    >>> plan = suite_plan("choosing", strategies=["nndm"], draws=1, problems=["ecoli"])
    >>> plan.problems, plan.strategies
    (('ecoli',), ('nndm', 'random'))
    """
    if part not in get_args(Parts):
        raise InputError(f"part must be one of {', '.join(get_args(Parts))}; got {quoted(part)}.")
    check_count(draws, "draws", 1)
    of_part = problem_names(None if part == "all" else _as_part(part))
    for name in problems or ():
        problem_named(name)
        if name not in of_part:
            raise InputError(f"The problem {quoted(name)} is not in the part {quoted(part)}.")
    names = [current_name(name) for name in strategies]
    if not names:
        raise InputError("strategies must hold at least one name; got none.")
    for name in names:
        if name not in known_strategies():
            raise InputError(
                f"There is no strategy named {quoted(name)}. Use some of "
                f"{', '.join(known_strategies())}."
            )
    if told(names[0]) != "nothing":
        raise InputError(
            f"The first of the strategies is compared with the others, so it must be told nothing; "
            f"{names[0]} is told something of the labels."
        )
    return SuitePlan(
        tuple(of_part if problems is None else dict.fromkeys(problems)),
        tuple(dict.fromkeys((*names, RANDOM))),
        draws,
    )


def _as_part(part: Parts) -> Part:
    return "choosing" if part == "choosing" else "confirming"


def run_suite(plan: SuitePlan, data: Path, folder: Path, jobs: int = 1) -> SuiteRuns:
    """Do all runs of a plan that are not in the journal of a folder.

    Parameters
    ----------
    plan : SuitePlan
        What to run.
    data : Path
        Folder of the public tables.
    folder : Path
        Folder of the journal; it must exist.
    jobs : int
        Number of processes.
    """
    check_count(jobs, "jobs", 1)
    if not data.is_dir():
        raise InputError(f"There is no folder {data}; name the one that holds the data sets.")
    runs = plan.runs()
    with opened_journal(folder) as journal:
        skipped = _run(_tasks(plan, runs, data, _unfinished(journal)), journal, jobs)
        _run(_tasks(plan, runs, data, _of_other_rows(journal)), journal, jobs)
        records = _records(plan, runs, journal)
    return SuiteRuns(plan, records, skipped)


def _tasks(
    plan: SuitePlan,
    runs: Sequence[PlannedRun],
    data: Path,
    is_left: Callable[[Task, PlannedRun], bool],
) -> list[Task]:
    """Return what is left to do."""
    tasks = []
    for problem, seed in plan.in_order():
        task = Task(problem, seed, data, ())
        left = tuple(run for run in runs if is_left(task, run) and _fits(problem, run))
        if left:
            tasks.append(task._replace(runs=left))
    return tasks


def _fits(problem: str, run: PlannedRun) -> bool:
    """Return whether a run on a problem ends within minutes."""
    return run.strategy not in QUADRATIC or problem_named(problem).n_draws > _DRAWS_OF_LARGEST


def _unfinished(journal: Journal) -> Callable[[Task, PlannedRun], bool]:
    """Return a rule: whether a run was not done, was of other code and settings, or failed."""

    def is_left(task: Task, run: PlannedRun) -> bool:
        record = journal.records.get(task.key(run))
        return record is None or record.fingerprint != run.fingerprint or record.course is None

    return is_left


def _of_other_rows(journal: Journal) -> Callable[[Task, PlannedRun], bool]:
    """Return a rule: whether a newer run found other rows in the draw of one that is done."""
    newest = journal.newest_rows()

    def is_left(task: Task, run: PlannedRun) -> bool:
        record = journal.records.get(task.key(run))
        if record is None or record.course is None:
            return False
        return record.rows != newest[task.problem, task.draw]

    return is_left


def _run(tasks: list[Task], journal: Journal, jobs: int) -> dict[str, str]:
    """Do the tasks, add the runs to the journal, and return the problems that were skipped."""
    if not tasks:
        return {}
    steps = iter(track(range(sum(len(task.runs) for task in tasks)), "runs"))
    skipped: dict[str, str] = {}
    for outcome in results_in_processes(tasks, outcomes_of, jobs, _lost):
        if isinstance(outcome, Skipped):
            skipped[outcome.problem] = outcome.reason
        else:
            journal.append(outcome)
        for _ in range(outcome.n_runs if isinstance(outcome, Skipped) else 1):
            next(steps, None)
    next(steps, None)
    return dict(sorted(skipped.items()))


def _lost(task: Task, n_results: int, reason: str) -> Lost[Task, Outcome]:
    """Return the failure of the run that a process died in, and the runs after it."""
    rest = task.without(n_results)
    if not rest.runs:  # it died after the last run
        return Lost((), None)
    after = rest.without(1)
    return Lost([rest.failed(rest.runs[0], reason)], after if after.runs else None)


def _records(
    plan: SuitePlan, runs: Sequence[PlannedRun], journal: Journal
) -> tuple[RunRecord, ...]:
    """Return the plan's runs from the journal, in an order that does not depend on chance."""
    wanted = {
        RunKey(problem, seed, run.strategy, run.error_rate): run.fingerprint
        for problem, seed in plan.in_order()
        for run in runs
    }
    found = ((journal.records.get(key), code) for key, code in wanted.items())
    return tuple(
        record for record, code in found if record is not None and record.fingerprint == code
    )

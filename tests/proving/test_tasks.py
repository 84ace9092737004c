"""Tasks: every run of a draw has an outcome, whatever becomes of it."""

from pathlib import Path

import numpy as np
import pytest

from kernova.discover.preparation import Preparation
from kernova.proving import tasks
from kernova.proving.baselines import BASELINES
from kernova.proving.fingerprints import rows_digest
from kernova.proving.journal import RunKey
from kernova.proving.problems import drawn
from kernova.proving.runs import course_of_run, random_course
from kernova.proving.tasks import (
    PlannedRun,
    Skipped,
    Task,
    known_strategies,
    outcomes_of,
    strategy_for,
    told,
)
from tests.proving import messages
from tests.proving.stand_ins import Failing, add_baseline, use_tiny_problems

LABELS = np.array(["a", "a", "a", "b"])


def run(strategy, error_rate=0.0, most_chosen=1000):
    return PlannedRun(strategy, error_rate, most_chosen, f"code of {strategy}")


def task(problem, *runs, draw=0, folder=Path("data")):
    return Task(problem, draw, folder, runs)


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    use_tiny_problems(monkeypatch, "tiny-a", "tiny-missing", "tiny-broken")


# --- strategies ------------------------------------------------------------------------------


def test_a_strategy_is_told_what_its_baseline_may_know():
    assert strategy_for("malice", LABELS).priors == {"a": 0.75, "b": 0.25}
    assert strategy_for("nndm", LABELS).priors is None
    assert strategy_for("novelty-density", LABELS).name == "novelty-density"
    assert (told("malice"), told("grade-li"), told("interleave"), told("novelty-density")) == (
        "priors",
        "upper bound",
        "n_classes",
        "nothing",
    )


def test_known_strategies_are_those_of_the_project_and_the_baselines():
    known = known_strategies()
    assert len(set(known)) == len(known)
    assert {"novelty-density", "nndm", "random", "aad-forest"} < set(known)
    assert set(known) >= set(BASELINES)


# --- outcomes --------------------------------------------------------------------------------


def test_outcomes_are_those_of_single_runs():
    rates = (0.0, 0.2)
    runs = [run(name, rate, 5) for rate in rates for name in ("nndm", "random")]
    found = drawn("tiny-a", 2, Path("data"))
    preparation = Preparation(found.X, n_jobs=1, random_state=2)
    for planned, record in zip(runs, outcomes_of(task("tiny-a", *runs, draw=2)), strict=True):
        assert record.key == RunKey("tiny-a", 2, planned.strategy, planned.error_rate)
        assert record.fingerprint == planned.fingerprint
        assert record.rows == rows_digest(found.X, found.labels)
        assert record.seconds >= 0
        if planned.strategy == "random":
            wanted = random_course(found.labels, 2, error_rate=planned.error_rate)
        else:
            wanted = course_of_run(
                preparation,
                found.labels,
                strategy_for("nndm", found.labels),
                error_rate=planned.error_rate,
                most_chosen=5,
            )
        assert record.course == wanted


def test_the_runs_of_a_draw_use_one_preparation(monkeypatch):
    made = []

    def counted(X, **settings):
        made.append(settings)
        return Preparation(X, **settings)

    monkeypatch.setattr(tasks, "Preparation", counted)
    list(outcomes_of(task("tiny-a", run("nndm"), run("hms-ci"), draw=1)))
    assert made == [{"n_jobs": 1, "random_state": 1}]


def test_a_run_that_raises_is_recorded_and_the_next_one_done(monkeypatch):
    add_baseline(monkeypatch, "failing", Failing())
    failed, done = outcomes_of(task("tiny-a", run("failing"), run("random")))
    assert (failed.course, failed.error) == (None, messages.FAILED)
    assert failed.rows == done.rows
    assert (done.error, done.key.strategy) == ("", "random")


def test_a_draw_that_cannot_be_made_fails_all_its_runs():
    records = list(outcomes_of(task("tiny-broken", run("nndm"), run("random"))))
    assert [record.key.strategy for record in records] == ["nndm", "random"]
    assert {(record.course, record.error, record.rows) for record in records} == {
        (None, messages.BROKEN, "")
    }


def test_a_table_that_is_not_there_is_skipped():
    found = list(outcomes_of(task("tiny-missing", run("nndm"), run("random"))))
    reason = messages.MISSING_FILE.format(name="tiny.parquet", folder="data")
    assert found == [Skipped("tiny-missing", reason, 2)]


def test_a_task_without_its_first_runs():
    whole = task("tiny-a", run("nndm"), run("random"))
    assert whole.without(0) == whole
    assert whole.without(1).runs == (run("random"),)
    assert whole.without(2).runs == ()

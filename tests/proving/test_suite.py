"""The suite: what is run, what is kept, and what an interruption leaves."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kernova.discover.strategies import strategy_named
from kernova.errors import InputError
from kernova.proving import problems, suite
from kernova.proving.journal import FILE_NAME
from kernova.proving.problems import problem_names
from kernova.proving.processes import Lost
from kernova.proving.suite import (
    DEFAULT_STRATEGIES,
    MOST_CHOSEN_BY_SLOW,
    SuitePlan,
    run_suite,
    suite_plan,
)
from kernova.proving.tables import LabelledRows
from kernova.proving.tasks import PlannedRun, Task, known_strategies, told
from tests.proving import messages
from tests.proving.stand_ins import (
    Failing,
    Stopping,
    add_baseline,
    tiny_rows,
    use_tiny_problems,
)


def lines(folder):
    return [json.loads(line) for line in (folder / FILE_NAME).read_text().splitlines()]


def without_seconds(runs):
    return [replace(record, seconds=0.0) for record in runs.records]


# --- plans -----------------------------------------------------------------------------------


def test_the_default_plan_confirms_with_every_strategy():
    plan = suite_plan()
    assert plan.problems == tuple(problem_names("confirming"))
    assert plan.strategies == DEFAULT_STRATEGIES
    assert plan.strategies[0] == "novelty-groups"
    assert told(plan.strategies[0]) == "nothing"
    assert set(suite_plan("all").problems) == set(problem_names())
    assert set(suite_plan("choosing").problems).isdisjoint(plan.problems)


def test_names_are_kept_once_and_random_sampling_is_added():
    plan = suite_plan("choosing", strategies=["nndm", "hms-ci", "nndm"], problems=["ecoli"] * 2)
    assert (plan.strategies, plan.problems) == (("nndm", "hms-ci", "random"), ("ecoli",))


@pytest.mark.parametrize(("settings", "sentence"), messages.BAD_PLANS)
def test_bad_plans(settings, sentence):
    with pytest.raises(InputError) as error:
        suite_plan(**settings)
    assert str(error.value) == sentence


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(InputError) as error:
        suite_plan(strategies=["nndm", "clairvoyance"])
    assert str(error.value) == messages.NO_STRATEGY.format(known=", ".join(known_strategies()))
    with pytest.raises(InputError) as error:
        suite_plan(problems=["iris"])
    assert str(error.value) == f"{messages.NO_PROBLEM}{', '.join(problem_names())}."


def test_the_first_draw_of_every_problem_comes_first_and_large_problems_have_few(tiny):
    assert list(tiny(draws=3).in_order()) == [
        ("tiny-a", 0),
        ("tiny-b", 0),
        ("tiny-a", 1),
        ("tiny-b", 1),
        ("tiny-a", 2),
    ]


def test_wrong_answers_are_given_to_the_projects_strategies_and_the_first():
    plan = SuitePlan(("tiny-a",), ("farthest-first", "nndm", "k-means", "random"))
    named = [(run.strategy, run.error_rate) for run in plan.runs()]
    assert named == [
        ("farthest-first", 0.0),
        ("nndm", 0.0),
        ("k-means", 0.0),
        ("random", 0.0),
        ("farthest-first", 0.05),
        ("nndm", 0.05),
        ("random", 0.05),
    ]


def test_slow_strategies_choose_fewer_questions():
    plan = suite_plan()
    most = {run.strategy: run.most_chosen for run in plan.runs()}
    assert {name: n for name, n in most.items() if n != 1000} == MOST_CHOSEN_BY_SLOW
    few = replace(plan, most_chosen=7)
    assert {run.most_chosen for run in few.runs()} == {7}


def test_strategies_of_quadratic_time_are_left_out_of_the_largest_problems(tmp_path):
    plan = suite_plan(strategies=["random", "malice"], draws=1, problems=["glass", "bulk-c"])
    tasks = suite._tasks(plan, plan.runs(), tmp_path, lambda task, run: True)
    names = {task.problem: [run.strategy for run in task.runs] for task in tasks}
    assert names == {"glass": ["random", "malice", "random"], "bulk-c": ["random", "random"]}


# --- runs ------------------------------------------------------------------------------------


def test_every_run_has_one_record_in_the_order_of_the_plan(tiny, tmp_path):
    plan = tiny(draws=2)
    runs = run_suite(plan, tmp_path, tmp_path)
    wanted = [
        (problem, draw, run.strategy, run.error_rate)
        for problem, draw in plan.in_order()
        for run in plan.runs()
    ]
    assert [tuple(record.key) for record in runs.records] == wanted
    assert {record.error for record in runs.records} == {""}
    assert runs.skipped == {}
    assert len(lines(tmp_path)) == len(wanted)


def test_nothing_is_done_twice(tiny, tmp_path):
    first = run_suite(tiny(draws=1), tmp_path, tmp_path)
    before = (tmp_path / FILE_NAME).read_bytes()
    assert run_suite(tiny(draws=1), tmp_path, tmp_path).records == first.records
    assert (tmp_path / FILE_NAME).read_bytes() == before
    more = run_suite(tiny(draws=2), tmp_path, tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes().startswith(before)
    assert set(first.records) < set(more.records)


def test_two_processes_give_the_same_records(tmp_path):
    generated = ["background-b", "chains-b"]
    plan = suite_plan("choosing", strategies=["hms-ci"], draws=1, problems=generated)
    plan = replace(plan, most_chosen=3)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = run_suite(plan, tmp_path, tmp_path / "one", jobs=1)
    two = run_suite(plan, tmp_path, tmp_path / "two", jobs=2)
    assert without_seconds(one) == without_seconds(two)
    assert len(one.records) == len(plan.runs()) * 2
    assert {record.error for record in one.records} == {""}


@pytest.mark.parametrize("start", [1, 2, 5, 9])
def test_an_interrupted_suite_goes_on_where_it_stopped(tiny, tmp_path, monkeypatch, start):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    strategy, starts = strategy_named("hms-ci"), []
    add_baseline(monkeypatch, "hms-ci", Stopping(strategy, starts, start))
    plan = tiny("hms-ci", "nndm")
    with pytest.raises(KeyboardInterrupt):
        run_suite(plan, tmp_path, parts)
    done = lines(parts)
    assert len(starts) == start
    resumed = run_suite(plan, tmp_path, parts)
    assert lines(parts)[: len(done)] == done
    assert len(lines(parts)) == len(resumed.records)  # so nothing was done twice
    assert without_seconds(resumed) == without_seconds(run_suite(plan, tmp_path, whole))


def test_half_a_line_is_done_again(tiny, tmp_path):
    whole = run_suite(tiny(draws=1), tmp_path, tmp_path)
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:-20])
    again = run_suite(tiny(draws=1), tmp_path, tmp_path)
    assert without_seconds(again) == without_seconds(whole)
    assert len(lines(tmp_path)) == len(whole.records)


def test_runs_of_other_code_or_settings_are_done_again(tiny, tmp_path, monkeypatch):
    plan = tiny("nndm", "hms-ci", draws=1, error_rates=(0.0,))
    before = run_suite(plan, tmp_path, tmp_path)
    n_before = len(lines(tmp_path))

    real = suite.fingerprint

    def changed(strategy, most_chosen):
        return "newer" if strategy.name == "nndm" else real(strategy, most_chosen)

    monkeypatch.setattr(suite, "fingerprint", changed)
    after = run_suite(plan, tmp_path, tmp_path)
    again = lines(tmp_path)[n_before:]
    assert [(line["problem"], line["strategy"]) for line in again] == [
        ("tiny-a", "nndm"),
        ("tiny-b", "nndm"),
    ]
    assert {record.fingerprint for record in after.records if record.key.strategy == "nndm"} == {
        "newer"
    }
    assert [record.course for record in after.records] == [r.course for r in before.records]
    few = replace(plan, most_chosen=2)
    assert len(run_suite(few, tmp_path, tmp_path).records) == len(before.records)


def test_all_runs_on_a_draw_are_on_the_same_rows(tiny, tmp_path, monkeypatch):
    old = run_suite(tiny("nndm", draws=2), tmp_path, tmp_path)

    def other_rows(folder, random):
        rows = tiny_rows(folder, random)
        return LabelledRows(rows.X + 1, rows.labels)

    changed = problems._PROBLEMS["tiny-b"]._replace(make=other_rows)
    monkeypatch.setitem(problems._PROBLEMS, "tiny-b", changed)
    new = run_suite(tiny("nndm", "hms-ci", draws=2), tmp_path, tmp_path)
    rows = {}
    for record in new.records:
        rows.setdefault((record.key.problem, record.key.draw), set()).add(record.rows)
    assert {len(of_draw) for of_draw in rows.values()} == {1}
    kept = {record for record in old.records if record in new.records}
    assert {record.key.problem for record in kept} == {"tiny-a"}
    n_lines = len(lines(tmp_path))
    run_suite(tiny("nndm", "hms-ci", draws=2), tmp_path, tmp_path)
    assert len(lines(tmp_path)) == n_lines


def test_failures_are_recorded_and_repeated(tiny, tmp_path, monkeypatch):
    add_baseline(monkeypatch, "failing", Failing())
    plan = tiny("nndm", "failing", draws=1)
    for n_times in (1, 2):
        runs = run_suite(plan, tmp_path, tmp_path)
        failed = {record.key.strategy: record.error for record in runs.records if record.error}
        assert failed == {"failing": messages.FAILED}
        assert sum(line["strategy"] == "failing" for line in lines(tmp_path)) == 2 * n_times
    assert sum(line["strategy"] == "nndm" for line in lines(tmp_path)) == 4
    # With the same code it may succeed, if there is more memory.
    monkeypatch.setattr(Failing, "start", lambda self, table: strategy_named("nndm").start(table))
    runs = run_suite(plan, tmp_path, tmp_path)
    assert {record.error for record in runs.records} == {""}


def test_tables_that_are_not_there_are_skipped_and_named(tmp_path, monkeypatch):
    plan = use_tiny_problems(monkeypatch, "tiny-a", "tiny-missing", "tiny-broken")
    runs = run_suite(plan(draws=2), tmp_path, tmp_path)
    sentence = messages.MISSING_FILE.format(name="tiny.parquet", folder=tmp_path)
    assert runs.skipped == {"tiny-missing": sentence}
    errors = {record.key.problem: record.error for record in runs.records}
    assert errors == {"tiny-a": "", "tiny-broken": messages.BROKEN}


def test_a_process_that_dies_fails_the_run_that_it_was_at():
    runs = tuple(PlannedRun(name, 0.0, 9, "code") for name in ("a", "b", "c"))
    task = Task("tiny-a", 1, None, runs)
    lost = suite._lost(task, 1, "It died.")
    (record,) = lost.results
    assert (record.key.strategy, record.error, record.course) == ("b", "It died.", None)
    assert lost.rest == task.without(2)
    assert suite._lost(task, 2, "It died.").rest is None
    assert suite._lost(task, 3, "It died.") == Lost((), None)


def test_progress_counts_every_run(tmp_path, monkeypatch):
    plan = use_tiny_problems(monkeypatch, "tiny-a", "tiny-missing", "tiny-broken")(draws=1)
    counts = []

    def counted(steps, name):
        counts.append([name, len(steps), 0])
        for step in steps:
            counts[-1][2] += 1
            yield step

    monkeypatch.setattr(suite, "track", counted)
    run_suite(plan, tmp_path, tmp_path)
    n_runs = 3 * len(plan.runs())
    assert counts == [["runs", n_runs, n_runs]]


def test_folders_and_numbers_of_processes(tiny, tmp_path):
    with pytest.raises(InputError) as error:
        run_suite(tiny(), tmp_path, tmp_path, jobs=0)
    assert str(error.value) == messages.NO_JOBS
    nowhere = tmp_path / "nowhere"
    with pytest.raises(InputError) as error:
        run_suite(tiny(), nowhere, tmp_path)
    assert str(error.value) == messages.NO_DATA.format(folder=nowhere)


def test_random_sampling_is_a_mean_over_many_orders(tiny, tmp_path):
    runs = run_suite(tiny(draws=1), tmp_path, tmp_path)
    by_random = [record for record in runs.records if record.key.strategy == "random"]
    questions = np.array([record.course.measures.questions for record in by_random])
    assert (questions % 1 > 0).all()

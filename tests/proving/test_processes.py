"""Work in several processes: every result comes once, whatever becomes of a process."""

import multiprocessing
import os

import pytest

from kernova.proving.processes import Lost, results_in_processes
from tests.proving import messages
from tests.proving.at_work import endless, squares


def lost(task, n_results, reason):
    """Note where a task was lost, and go on after that."""
    rest = task[n_results + 1 :]
    return Lost([(reason, None)], rest if rest else None)


def never(task, n_results, reason):
    raise AssertionError(reason)


def test_one_process_is_this_one():
    found = list(results_in_processes([[1, 2], [3]], squares, 1, never))
    assert found == [(1, os.getpid()), (4, os.getpid()), (9, os.getpid())]


def test_two_processes_do_all_tasks_in_the_order_of_each():
    tasks = [[1, 2], [3], [], [4, 5, 6]]
    found = list(results_in_processes(tasks, squares, 2, never))
    assert sorted(value for value, _ in found) == [1, 4, 9, 16, 25, 36]
    assert os.getpid() not in {process for _, process in found}
    values = [value for value, _ in found]
    assert values.index(1) < values.index(4)
    assert values.index(16) < values.index(25) < values.index(36)
    assert multiprocessing.active_children() == []


def test_a_process_that_dies_loses_only_what_it_was_at():
    found = list(results_in_processes([[1, -3, 2, -4], [5]], squares, 2, lost))
    died = [messages.DIED.format(code=code) for code in (3, 4)]
    assert sorted(str(value) for value, _ in found) == sorted(["1", "4", "25", *died])


def test_processes_end_when_nobody_waits_for_results():
    results = results_in_processes([1, 2, 3], endless, 2, never)
    next(results)
    assert len(multiprocessing.active_children()) == 2
    results.close()
    assert multiprocessing.active_children() == []


def test_errors_of_the_caller_end_the_processes():
    def interrupted():
        for _ in results_in_processes([1, 2], endless, 2, never):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert multiprocessing.active_children() == []

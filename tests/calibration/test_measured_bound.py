"""The bound on false alarms, measured: how often it is broken, and what is detected under it.

The parts are those of ``benchmarks/calibration_bounds.py``, with smaller tables: simulated rows of
a fixed population, whose true rate of false alarms is counted, and splits of real ordinary rows,
where the number of alarms among the remaining ones has a known law.
"""

import numpy as np
import pytest
from benchmarks.calibration_bounds import (
    WAYS,
    Scores,
    chance_of_breaking,
    detected_by_truth,
    detectors,
    few_rows,
    few_rows_summary,
    large_tables,
    simulate,
    split_once,
)
from scipy.stats import binomtest

# Copies of one row on both sides of a split tie many distances, of which LOF warns.
pytestmark = pytest.mark.filterwarnings("ignore:Duplicate values:UserWarning")


@pytest.fixture(scope="module")
def tables(data_folder):
    folder = data_folder / "novelty_tables"
    if not folder.is_dir():
        pytest.skip("no novelty_tables in the data folder")
    return large_tables(folder)


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
def test_the_bound_is_broken_no_more_often_than_stated(way, long_bar):
    n_repetitions = long_bar(1000)
    found = [
        simulate(way, number, n_population=2000, sizes=(100, 400))
        for number in range(n_repetitions)
    ]
    n_broken = sum(one.rate > one.bound for one in found)
    mean = np.mean([one.rate for one in found])
    print(f"{way}: broken in {n_broken} of {n_repetitions}, mean rate {mean:.4f}")
    assert binomtest(n_broken, n_repetitions, 0.05, alternative="greater").pvalue > 1e-3
    # A bound that calls nothing novel is never broken.
    assert mean > 0.005


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
def test_the_bound_and_what_is_detected_on_real_rows(way, tables, long_bar):
    names, n_splits = list(detectors()), long_bar(300)
    found = [
        split_once(tables[number % len(tables)], number, names[number // 2 % len(names)], way)
        for number in range(n_splits)
    ]
    n_broken, expected = (
        sum(getattr(one, what) for one in found) for what in ("is_broken", "chance")
    )
    detected, same, whole = (
        float(np.mean([getattr(one, what) for one in found]))
        for what in ("detected", "same", "whole")
    )
    print(
        f"{way}: broken in {n_broken} of {n_splits} ({expected:.1f} by the law of the hold-out), "
        f"detected {detected:.3f}, by the truth {same:.3f}, with all rows {whole:.3f}"
    )
    chance = max(expected / n_splits, 0.05)
    assert binomtest(n_broken, n_splits, chance, alternative="greater").pvalue > 1e-3
    assert detected >= 0.9 * same
    assert detected >= 0.9 * whole  # which learns from all rows, at the same rate of false alarms


@pytest.mark.soak
def test_few_rows_have_an_answer_where_an_isolation_forest_has_one(tables, long_bar):
    found = [few_rows(tables[number % len(tables)], number) for number in range(long_bar(200))]
    of_any_row = [one for one in few_rows_summary(found) if one["called"] == "any_row"]
    assert [one["detector"] for one in of_any_row] == ["depth", "ensemble"]
    assert [one["empty, forest not"] for one in of_any_row] == [0, 0]


def test_the_measure_of_the_truth():
    scores = Scores(rest=np.array([5.0, 1, 2, 2, 4]), novel=np.array([0.0, 1, 2, 3]))
    # No alarm allows thresholds below 1; one of the two rows tied at 2 cannot be an alarm alone.
    assert [detected_by_truth(scores, n) for n in (0, 1, 2, 3)] == [0.25, 0.5, 0.5, 1.0]


def test_a_large_remainder_exceeds_the_bound_as_often_as_the_true_rate_does():
    bound = 0.05 ** (1 / 59)  # of 59 held-out rows none may be an alarm
    few, many = (chance_of_breaking(59, n_rest, 1 - bound) for n_rest in (200, 10_000_000))
    assert many == pytest.approx(0.05, abs=1e-5)
    assert few > many

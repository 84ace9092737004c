"""Comparison of strategies: a problem counts once, and only where all of its draws are there."""

import numpy as np
import pandas as pd
import pytest

from kernova.proving import comparison


def runs(*lines):
    """Return runs from problem, draw, strategy, questions and optionally the rate of errors."""
    table = pd.DataFrame(
        [(*line, 0.0)[:5] for line in lines],
        columns=["problem", "draw", "strategy", "questions", "error_rate"],
    )
    told = np.where(table["strategy"] == "oracle", "everything", "nothing")
    halves = table["questions"] / 2
    return table.assign(told=told, questions_90=halves, area=1 / table["questions"])


def means(*lines):
    return comparison.means_by_problem(runs(*lines))


EVERY = means(
    ("a", 0, "ours", 10),
    ("a", 1, "ours", 40),
    ("a", 0, "random", 50),
    ("a", 1, "random", 200),
    ("a", 0, "oracle", 3),
    ("a", 1, "oracle", 3),
    ("b", 0, "ours", 90),
    ("b", 0, "random", 60),
    ("b", 0, "other", 30),
    ("b", 0, "oracle", 3),
    ("a", 0, "ours", 20, 0.05),
    ("a", 1, "ours", 80, 0.05),
)


def test_means_over_draws_are_geometric_but_the_area_is_not():
    ours = EVERY[(EVERY["strategy"] == "ours") & (EVERY["error_rate"] == 0)]
    assert ours["questions"].tolist() == pytest.approx([20, 90])
    assert ours["questions_90"].tolist() == pytest.approx([10, 45])
    assert ours["area"].tolist() == pytest.approx([(1 / 10 + 1 / 40) / 2, 1 / 90])
    assert ours["draws"].tolist() == [2, 1]


def test_a_strategy_without_some_draw_has_no_figure_for_the_problem():
    found = means(("a", 0, "ours", 10), ("a", 1, "ours", 10), ("a", 0, "random", 9))
    assert found["strategy"].tolist() == ["ours"]


def test_figures_over_problems():
    overall = comparison.overall(EVERY).set_index("strategy")
    assert list(overall.index) == ["ours", "random", "other", "oracle"]  # told nothing first
    assert overall.loc["ours", "to_random"] == pytest.approx(np.sqrt(20 / 100 * 90 / 60))
    assert overall.loc["random", "to_random"] == 1
    assert overall["problems"].tolist() == [2, 2, 1, 2]
    pairs = comparison.pairs(EVERY, "ours").set_index(["strategy", "measure"])
    line = pairs.loc[("random", "questions")]
    assert (line["problems"], line["worse"], line["equal"], line["better"]) == (2, 1, 0, 1)
    assert line["ratio"] == pytest.approx(np.sqrt(5 * 60 / 90))
    assert pairs.loc[("other", "questions"), "ratio"] == pytest.approx(1 / 3)


def test_the_best_of_a_problem_was_told_nothing():
    best = comparison.best_by_problem(EVERY, "ours")
    assert best["problem"].tolist() == ["b", "a"]
    assert best["best_strategy"].tolist() == ["other", "ours"]
    assert best["ratio"].tolist() == pytest.approx([3, 1])
    assert comparison.worse_than_random(EVERY, "ours")["problem"].tolist() == ["b"]
    far = comparison.ratios_to_best(EVERY).set_index("strategy")
    assert "oracle" not in far.index
    assert (far.loc["ours", "largest"], far.loc["ours", "largest_on"]) == (pytest.approx(3), "b")
    assert (far.loc["ours", "at_most_1.5"], far.loc["ours", "problems"]) == (1, 2)


def test_wrong_answers_are_compared_with_right_ones():
    wrong = comparison.wrong_answers(EVERY)
    assert wrong["strategy"].unique().tolist() == ["ours"]
    assert wrong["ratio"].tolist() == pytest.approx([2, 2])
    assert set(wrong["largest_on"]) == {"a"}


def meetings(**lines):
    """Return meetings from problem_strategy and the questions that met the categories."""
    named = [(*name.split("_"), np.array(met)) for name, met in lines.items()]
    return pd.DataFrame(named, columns=["problem", "strategy", "meetings"])


def test_courses_are_means_over_the_problems_that_all_have():
    course = comparison.mean_course(
        meetings(a_ours=[1, 4], a_random=[1, 16], b_ours=[2, 9], b_random=[2, 16], c_ours=[7, 7]),
        ["ours", "random"],
    )
    assert list(course) == ["ours", "random"]
    assert course["ours"].loc[0.1] == pytest.approx(np.sqrt(1 * 2))
    assert course["ours"].loc[1.0] == pytest.approx(6)
    assert course["random"].loc[1.0] == pytest.approx(16)


def test_without_a_common_problem_there_is_no_course():
    found = meetings(a_ours=[1, 4], b_random=[2, 16])
    assert comparison.mean_course(found, ["ours", "random"]).empty


def test_intervals_of_nothing_and_of_one():
    assert np.isnan(comparison.mean_interval([])).all()
    assert comparison.geometric_interval([8.0]) == pytest.approx((8, 8, 8))
    assert comparison.signed_rank_p([1.0, 1.0]) == 1

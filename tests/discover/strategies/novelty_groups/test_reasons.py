"""Reasons of the novelty-groups strategy, one for each way that a row comes to be asked."""

import numpy as np
import pandas as pd
import pytest

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.session import CategoryDiscovery
from kernova.discover.strategies.novelty_groups.reasons import column_beyond
from tests.discover import messages
from tests.discover.strategies.novelty_groups.tables import asker_for, is_group, observed

LINE = np.array([0.0, 0.1, 0.2, 9.0, 12.0, 15.0, 18.0, 22.0])[:, None]  # rows 0 to 2 are a group


def told(rows, label):
    """Give rows a label that was not asked for."""
    return [Answer(row, label, is_asked=False) for row in rows]


def times_neighbours(ratio):
    return messages.TIMES_NEIGHBOURS.format(ratio=ratio)


def times_group(ratio):
    return messages.TIMES_GROUP.format(ratio=ratio)


def nearest_shown(label, distance):
    said = "skipped" if label is None else f"labelled {label!r}"
    return messages.NEAREST_SHOWN.format(label=said, distance=distance)


def test_before_any_label_the_densest_row_is_asked_and_others_far_from_it():
    asker = asker_for(LINE)
    first = asker.propose()
    assert (first.row, first.reason) == (1, messages.FIRST_ROW)
    second = asker.propose([first.row])
    assert (second.row, second.reason) == (7, messages.FAR_FROM_OTHER_EXPERTS)


def test_an_isolated_row():
    question = observed(np.append(np.arange(8.0), 40)[:, None], told([0, 2], "cod")).propose()
    far = messages.FAR_FROM_LABELLED.format(
        subject="An isolated row", label="cod", distance=times_neighbours(38)
    )
    assert question.row == 8
    assert question.reason == f"{far} {messages.MOST_ISOLATED}"


def test_a_row_between_two_categories():
    X = np.array([-3.0, -2.9, -2.8, 2.8, 2.9, 3.0, -0.05])[:, None]
    question = observed(X, [*told(range(3), "cod"), *told(range(3, 6), "eel")]).propose()
    between = messages.BETWEEN.format(first="cod", second="eel")
    assert question.row == 6
    assert question.reason == f"{between} {nearest_shown('cod', times_neighbours(19))}"


@pytest.mark.parametrize(
    ("outlier", "column", "side"),
    [((90.0, 3.5), "length", "higher"), ((3.5, -90.0), "width", "lower")],
)
def test_a_row_beyond_a_category_in_a_column(outlier, column, side):
    grid = [(x, y) for x in range(8) for y in range(8)]
    table = pd.DataFrame([*grid, outlier], columns=["length", "width"])
    known = dict.fromkeys(range(64), "cod")
    question = CategoryDiscovery("novelty-groups").start(table, known=known).next_question()
    beyond = messages.BEYOND.format(label="cod", column=column, side=side, n=64)
    assert question.row == 64
    assert question.reason == f"{beyond} {messages.MOST_ISOLATED}"


def test_of_a_few_rows_the_distance_is_told_instead_of_how_many_are_as_isolated():
    table = pd.DataFrame({"length": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 40.0]})
    known = dict.fromkeys(range(7), "cod")
    question = CategoryDiscovery("novelty-groups").start(table, known=known).next_question()
    beyond = messages.BEYOND.format(label="cod", column="length", side="higher", n=7)
    assert question.reason == f"{beyond} {nearest_shown('cod', times_neighbours(34))}"


def test_a_row_of_a_group():
    asker = observed(LINE, [Answer(5, "cod")])
    question = asker.propose()
    group = messages.ONE_OF_GROUP.format(n=3, none="the row shown is not")
    assert (question.row, question.members.tolist()) == (1, [0, 1, 2])
    assert question.reason == f"{group} {nearest_shown('cod', times_group(149))}"
    assert question.evidence["group_size"] == 3
    asker.observe(Answer(4, None, is_asked=False))
    group = messages.ONE_OF_GROUP.format(n=3, none="none of the 2 rows shown is")
    assert asker.propose().reason == f"{group} {nearest_shown(None, times_group(119))}"


def test_the_second_row_of_a_doubted_group():
    asker = observed(LINE, [Answer(3, "cod"), Answer(7, "eel"), Answer(1, "eel")])
    while not is_group(question := asker.propose()):
        asker.observe(Answer(question.row, "cod"))
    second = messages.SECOND_OF_GROUP.format(n=3)
    assert (question.row, question.members.tolist()) == (0, [0, 1, 2])
    assert question.reason == f"{second} {nearest_shown('eel', messages.AS_FAR_AS_GROUP)}"


def test_a_row_in_a_dense_region_where_no_group_is_left():
    question = observed(np.arange(12.0)[:, None], [Answer(0, "cod")]).propose()
    assert question.row == 10
    assert question.reason == messages.FAR_FROM_LABELLED.format(
        subject="A group of 3 rows", label="cod", distance=messages.TIMES_DENSE.format(ratio=10)
    )


def test_duplicates_are_members_and_are_asked_last():
    X = np.array([[1.0, 2.0]] * 15 + [[3.0, 1.0], [0.0, 5.0]])
    asker, questions = asker_for(X), []
    while (question := asker.propose()) is not None:
        questions.append(question)
        asker.observe(Answer(question.row, "cod"))
    assert sorted(question.row for question in questions[:3]) == [0, 15, 16]
    assert [question.row for question in questions[3:]] == list(range(1, 15))
    for question in questions[3:]:
        assert question.reason == messages.DUPLICATE_OF_SHOWN
        assert question.members.tolist() == list(range(15))


# --- columns -----------------------------------------------------------------------------------


@pytest.fixture
def table():
    """Return a table in which the last row is high in each column, of two values or of more."""
    values = np.array([0.0, 1.0, 2.0, 1.0, 1.5, 9.0])
    return np.column_stack([values > 5, 100 * values, values, np.full(6, 3.0)])


COLUMNS = ["is caught", "length", "weight", "season"]


def test_the_column_with_the_largest_excess_in_deviations_is_named(table):
    table[5, 2] = 8.0
    assert column_beyond(Preparation(table, columns=COLUMNS), 5, [0, 1, 2]).name == "length"
    table[5, 1] = 700.0
    beyond = column_beyond(Preparation(table, columns=COLUMNS), 5, [0, 1, 2])
    assert (beyond.name, beyond.is_high) == ("weight", True)
    assert beyond.excess == pytest.approx((8.0 - 2.0) / table[:, 2].std())
    low = column_beyond(Preparation(-table, columns=COLUMNS), 5, [0, 1, 2])
    assert low == beyond._replace(is_high=False)


def test_no_column_is_named_where_it_would_say_little(table):
    named = Preparation(table, columns=COLUMNS)
    assert column_beyond(Preparation(table), 5, [0, 1, 2]) is None  # columns without names
    assert column_beyond(named, 5, [0, 1]) is None  # to be beyond two rows is nothing special
    assert column_beyond(named, 4, [0, 1, 2]) is None  # beyond none of them
    table[5] = [1.0, 210.0, 2.1, 3.0]
    near = Preparation(table, columns=COLUMNS)
    assert column_beyond(near, 5, [0, 1, 2]) is None  # beyond by too little
    two_values = Preparation(table[:, [0, 3]], columns=["is caught", "season"])
    assert column_beyond(two_values, 5, [0, 1, 2]) is None


@pytest.mark.parametrize("scale", [1e-170, 1e-150, 1e150, 1e200, 1e305])
def test_columns_of_any_scale_give_no_warning(table, scale):
    beyond = column_beyond(Preparation(table * scale, columns=COLUMNS), 5, [0, 1, 2])
    assert (beyond is not None) is (1e-160 < scale < 1e160)

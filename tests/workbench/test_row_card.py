"""A row drawn against the population: the oddest first, on an axis that shows something."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova.workbench.row_features import MOST_BINS, Population, row_card


def drawn(values, row, **others):
    table = pd.DataFrame({"x": values, **others})
    return next(one for one in row_card(Population(table), row) if one.name == "x")


def test_the_oddest_values_come_first_and_only_so_many():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 40)), columns=[f"c{j}" for j in range(40)])
    table.loc[7, "c31"] = 9.0
    card = row_card(Population(table), 7, most=5)
    assert len(card) == 5
    assert card[0].name == "c31"
    assert [one.surprise for one in card] == sorted((one.surprise for one in card), reverse=True)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 5)),
           elements=st.sampled_from([-1e308, -3.0, 0.0, 1.0, 2.5, 1e-300, 1e308, np.nan])),
    st.data(),
)  # fmt: skip
def test_looking_at_all_columns_at_once_is_looking_at_each(values, data):
    row = data.draw(st.integers(0, len(values) - 1))
    population = Population(pd.DataFrame(values))
    seen = [
        column.look(value) for column, value in zip(population.columns, values[row], strict=True)
    ]
    seen.sort(key=lambda feature: (-feature.surprise, -feature.distance))
    assert population.standing_out(row, most=99) == seen
    for one in row_card(population, row):
        assert one.position is None or 0 <= one.position <= 1
        assert sum(one.histogram) == len(population.columns[int(one.name)].numbers)
        json.dumps(one.to_json_dict(), allow_nan=False)


def test_whole_numbers_get_a_part_each():
    one = drawn([0, 1, 1, 4], 3)
    assert one.histogram == [1, 2, 0, 0, 1]
    assert (one.lowest, one.highest, one.position) == (0, 4, 0.9)


def test_a_plain_column_has_a_linear_axis():
    one = drawn(np.linspace(0, 50, 1001), 250)
    assert (one.axis, one.axis_words, one.position) == ("linear", "", 0.25)
    assert len(one.histogram) == MOST_BINS
    assert (one.usual, one.usual_position) == ("25", 0.5)


def test_a_skewed_column_has_a_logarithmic_axis():
    one = drawn(np.geomspace(1e-3, 1e5, 801), 400)
    assert (one.axis, one.axis_words) == ("log", "logarithmic axis")
    assert one.position == pytest.approx(0.5)
    assert max(one.histogram) - min(one.histogram) <= 1


def test_one_far_row_does_not_squeeze_all_others():
    values = np.append(np.linspace(-1.0, 1.0, 999), 1e6)
    one = drawn(values, 999)
    assert (one.axis, one.position) == ("clipped", 1.0)
    assert one.axis_words == "0.1 % of all rows lie beyond the ends"
    assert np.count_nonzero(one.histogram) > MOST_BINS / 2
    assert sum(one.histogram) == 1000


def test_missing_values_and_empty_columns_are_drawn_without_a_place():
    card = row_card(Population(pd.DataFrame({"x": [1.5, np.nan], "y": [np.nan, np.nan]})), 1)
    assert [(one.value, one.place, one.position) for one in card] == [
        ("missing", "missing", None),
        ("missing", "missing", None),
    ]
    assert [one.histogram for one in card] == [[1], []]
    assert [one.usual for one in card] == ["1.5", "missing"]


def test_a_rare_category_is_shown_beside_the_frequent_ones():
    texts = ["a"] * 40 + ["b"] * 30 + list("cccccddddeeeffg") + ["rare"]
    one = drawn(texts, len(texts) - 1)
    assert (one.kind, one.value, one.usual, one.n_categories) == ("category", "rare", "a", 8)
    assert [share["name"] for share in one.shares] == ["a", "b", "c", "d", "e", "rare"]
    assert one.own_share == one.shares[-1]["share"] == 1 / len(texts)
    assert json.loads(json.dumps(one.to_json_dict()))["shares"][0] == {
        "name": "a",
        "share": 40 / 86,
    }


def test_a_missing_category_has_no_share():
    one = drawn(["a", None, "a"], 1)
    assert (one.place, one.own_share, [share["name"] for share in one.shares]) == (
        "missing",
        None,
        ["a"],
    )


def test_markup_in_a_table_stays_text():
    one = drawn(["<script>", "b", "b"], 0)
    assert one.value == "<script>"

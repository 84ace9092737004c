"""Unusual values of a row: percentiles, histograms, and axes that show the other rows."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova.workbench.feature_drawings import MOST_BINS, row_card
from kernova.workbench.row_features import Population
from tests.workbench import messages


def drawn(values, row, **others):
    table = pd.DataFrame({"x": values, **others})
    return next(one for one in row_card(Population(table), row) if one.name == "x")


def test_the_most_unusual_values_come_first_up_to_a_limit():
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
def test_the_vectorised_lookup_equals_that_of_each_column(values, data):
    row = data.draw(st.integers(0, len(values) - 1))
    population = Population(pd.DataFrame(values))
    seen = [
        column.summary(value) for column, value in zip(population.columns, values[row], strict=True)
    ]
    seen.sort(key=lambda feature: (-feature.surprise, -feature.distance))
    assert population.unusual_values(row, most=99) == seen
    for one in row_card(population, row):
        assert one.position is None or 0 <= one.position <= 1
        assert sum(one.histogram) == len(population.columns[int(one.name)].numbers)
        json.dumps(one.to_json_dict(), allow_nan=False)


def test_whole_numbers_get_a_bin_each():
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
    assert (one.axis, one.axis_words) == ("log", messages.LOG_AXIS)
    assert one.position == pytest.approx(0.5)
    assert max(one.histogram) - min(one.histogram) <= 1


def test_one_outlying_row_does_not_squeeze_all_others():
    values = np.append(np.linspace(-1.0, 1.0, 999), 1e6)
    one = drawn(values, 999)
    assert (one.axis, one.position) == ("clipped", 1.0)
    assert one.axis_words == messages.CLIPPED_AXIS
    assert np.count_nonzero(one.histogram) > MOST_BINS / 2
    assert sum(one.histogram) == 1000


def test_missing_values_and_empty_columns_have_no_position():
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
    assert [one_of.name for one_of in one.shares] == ["a", "b", "c", "d", "e", "rare"]
    assert one.own_share == one.shares[-1].share == 1 / len(texts)
    assert json.loads(json.dumps(one.to_json_dict()))["shares"][0] == {
        "name": "a",
        "share": 40 / 86,
    }


def test_a_missing_category_has_no_share():
    one = drawn(["a", None, "a"], 1)
    assert (one.place, one.own_share, [one_of.name for one_of in one.shares]) == (
        "missing",
        None,
        ["a"],
    )


def test_markup_in_a_table_stays_text():
    one = drawn(["<script>", "b", "b"], 0)
    assert one.value == "<script>"


# --- summaries for a terminal ----------------------------------------------------------------


def test_the_most_unusual_columns_come_first_with_their_percentile():
    features = pd.DataFrame(
        {
            "even": np.arange(200.0),
            "far": np.append(np.arange(199.0), 1e6),
            "kind": ["common"] * 190 + ["rare"] * 9 + ["once"],
            "constant": 5.0,
        }
    )
    shown = Population(features).unusual_values(199)
    assert [feature.name for feature in shown] == ["kind", "far", "even", "constant"]
    kind, far, even, constant = shown
    assert (kind.value, kind.usual, kind.place) == ("once", "common", "0.5 % have it")
    assert (far.value, far.usual, far.place) == ("1000000", "100", "99.75")
    # Both are the maxima of their columns: the distance from the median decides the order.
    assert (even.surprise, far.surprise) == (pytest.approx(np.log2(100)),) * 2
    assert far.distance > even.distance
    assert (constant.place, constant.surprise) == ("50", 0.0)
    assert constant.strip == "───────●───────"
    assert even.strip == "───────┼──────●"
    assert Population(features).unusual_values(0, most=1)[0].strip == "●──────┼───────"


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_equal_a_plain_count(seed):
    rng = np.random.default_rng(seed)
    features = pd.DataFrame({"x": rng.integers(0, 9, 50).astype(float), "y": rng.normal(size=50)})
    population = Population(features)
    for row in range(0, 50, 7):
        for feature in population.unusual_values(row):
            column, value = features[feature.name], features.loc[row, feature.name]
            below, same = (column < value).sum(), (column == value).sum()
            percentile = float(feature.place)
            assert percentile == pytest.approx(100 * (below + same / 2) / 50, abs=0.5)
            as_far = min(1.0, 2 * min(below + same, 50 - below) / 50)
            assert 2**-feature.surprise == pytest.approx(as_far)


def test_missing_values_and_extreme_numbers_are_summarised():
    features = pd.DataFrame(
        {
            "huge": [1e308, -1e308, 1e308, -1e308, 0.0],
            "tiny": [5e-324, 0.0, 0.0, 0.0, 0.0],
            "gaps": [np.nan, 1.0, 2.0, 3.0, np.nan],
            "empty": [np.nan] * 5,
            "text": [None, "a", "a", "b", "a"],
            "whole": pd.array([1, None, 3, 4, 5], dtype="Int64"),
        }
    )
    population = Population(features)
    for row in range(5):
        shown = {feature.name: feature for feature in population.unusual_values(row)}
        assert set(shown) == set(features.columns)
        assert all(np.isfinite(f.surprise) and not np.isnan(f.distance) for f in shown.values())
    first = {feature.name: feature for feature in population.unusual_values(0)}
    for name in ("gaps", "empty", "text"):
        assert (first[name].value, first[name].place, first[name].strip) == (
            "missing",
            "missing",
            "",
        )


def test_no_percentage_is_rounded_to_0_or_100():
    n_rows = 60_000
    features = pd.DataFrame({"x": np.arange(float(n_rows)), "k": ["a"] * (n_rows - 1) + ["b"]})
    lowest, highest = (Population(features).unusual_values(row) for row in (0, n_rows - 1))
    assert [f.place for f in lowest] == ["under 0.01", "over 99.99 % have it"]
    assert [f.place for f in highest] == ["under 0.01 % have it", "over 99.99"]

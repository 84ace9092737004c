"""The model that a file holds: nearest rows, copies, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova import InputError
from kernova.description.recognizer import TableRecognizer, copies_across_classes, nearest_numbers

small = st.integers(0, 3)  # so that ties and copies are common


@given(
    st.lists(st.tuples(small, small), min_size=1, max_size=12),
    st.lists(st.tuples(small, small), min_size=1, max_size=6),
    st.integers(1, 15),
)
def test_nearest_rows_are_sorted_and_of_equals_the_first(known, rows, n):
    known, rows = np.array(known, dtype=float), np.array(rows, dtype=float)
    found = nearest_numbers(rows, known, n)
    for row, numbers in zip(rows, found, strict=True):
        distances = ((known - row) ** 2).sum(axis=1)
        assert numbers.tolist() == sorted(range(len(known)), key=lambda i: (distances[i], i))[:n]


@given(st.lists(st.tuples(small, small, st.sampled_from("ab")), min_size=1, max_size=12))
def test_copies_across_classes_are_those_with_another_label(rows):
    points = np.array([row[:2] for row in rows], dtype=float)
    labels = np.array([row[2] for row in rows])
    expected = [any(a[:2] == b[:2] and a[2] != b[2] for b in rows) for a in rows]
    assert copies_across_classes(points, labels).tolist() == expected


def test_answers_are_those_of_the_description_behind_the_encoder():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=40), "sex": ["f", "m"] * 20})
    labels = np.where(table["a"] > 0, "up", "down")
    model = TableRecognizer().fit(table, labels)
    rows = model.encoder_.transform(table)
    for method in ("membership", "predict", "score_samples", "recognize", "ambiguous"):
        expected = getattr(model.description_, method)(rows)
        np.testing.assert_array_equal(getattr(model, method)(table), expected)
    assert model.ids_.tolist() == [str(i) for i in range(40)]
    assert model.columns == ["a", "sex"]


def test_an_array_is_no_table():
    with pytest.raises(InputError) as caught:
        TableRecognizer().fit(np.eye(3), ["a", "a", "b"])
    assert str(caught.value) == (
        "TableRecognizer learns from a DataFrame; got an object of type ndarray. For an array, "
        "take MulticlassDataDescription."
    )

"""Recogniser of tables: nearest rows, duplicates across classes, and margins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova import InputError
from kernova.description.recognizer import (
    TableRecognizer,
    duplicates_across_classes,
    margin_for_precision,
    margins,
    nearest_indices,
)
from tests.description import messages

small = st.integers(0, 3)  # so that ties and duplicates are common


@given(
    st.lists(st.tuples(small, small), min_size=1, max_size=12),
    st.lists(st.tuples(small, small), min_size=1, max_size=6),
    st.integers(1, 15),
)
def test_nearest_rows_are_sorted_and_of_equals_the_first(known, rows, n):
    known, rows = np.array(known, dtype=float), np.array(rows, dtype=float)
    found = nearest_indices(rows, known, n)
    for row, numbers in zip(rows, found, strict=True):
        distances = ((known - row) ** 2).sum(axis=1)
        assert numbers.tolist() == sorted(range(len(known)), key=lambda i: (distances[i], i))[:n]


@given(st.lists(st.tuples(small, small, st.sampled_from("ab")), min_size=1, max_size=12))
def test_duplicates_across_classes_are_those_with_another_label(rows):
    points = np.array([row[:2] for row in rows], dtype=float)
    labels = np.array([row[2] for row in rows])
    expected = [any(a[:2] == b[:2] and a[2] != b[2] for b in rows) for a in rows]
    assert duplicates_across_classes(points, labels).tolist() == expected


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
    assert str(caught.value) == messages.NO_TABLE


def test_a_margin_decides_on_ambiguity_where_it_was_fitted():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)) + np.repeat([[0.0], [1.5]], 30, axis=0))
    table.columns = ["a", "b"]
    model = TableRecognizer().fit(table, np.repeat(["low", "high"], 30))
    assert model.margin is None
    assert model.reader is None
    by_claims = model.ambiguous(table)
    model.fit_margin(0.9)
    logs = model.description_.log_membership(model.encoded(table))
    claims = np.exp(logs) >= model.description_.thresholds_
    best = claims[np.arange(60), logs.argmax(axis=1)]
    expected = claims.any(axis=1) & ~(best & (margins(logs) >= model.margin))
    np.testing.assert_array_equal(model.ambiguous(table), expected)
    assert (expected != by_claims).any()
    assert model.fit(table, np.repeat(["low", "high"], 30), reader="reader").reader == "reader"
    assert model.margin is None


def test_a_model_without_stored_reader_and_margin_has_none():
    table = pd.DataFrame({"a": [1.0, 1.1, 1.2, 7.0, 7.1, 7.2]})
    model = TableRecognizer().fit(table, list("aaabbb"))
    del model._reader, model._lead  # as in files written before these existed
    assert model.reader is None
    assert model.margin is None


def literal_margin(left_out, codes, precision):
    """Try every margin there is, the smallest first."""
    with np.errstate(divide="ignore"):
        logarithms = np.log(left_out)
    is_correct = logarithms.argmax(axis=1) == codes
    rows = list(zip(margins(logarithms), is_correct, strict=True))
    for margin in sorted({margin for margin, _ in rows}):
        clear = [correct for other, correct in rows if other >= margin]
        if len(clear) >= 5 and sum(clear) / len(clear) >= precision:
            return margin
    return np.inf


@settings(deadline=None)
@given(
    seed=st.integers(0, 10_000), n=st.integers(1, 40), precision=st.sampled_from([0.5, 0.8, 0.9])
)
def test_the_smallest_margin_with_the_precision(seed, n, precision):
    rng = np.random.default_rng(seed)
    # Few different values, zeros among them, so that there are ties.
    left_out = rng.integers(0, 5, size=(n, 3)) / 4
    codes = np.where(rng.random(n) < 0.8, left_out.argmax(axis=1), rng.integers(3, size=n))
    assert margin_for_precision(left_out, codes, precision) == literal_margin(
        left_out, codes, precision
    )


def test_one_class_has_an_infinite_margin():
    assert margin_for_precision(np.ones((9, 1)), np.zeros(9, dtype=np.intp)) == 0
    assert np.isinf(margins(np.zeros((2, 1)))).all()


def test_rows_without_any_membership_have_no_margin():
    assert margins(np.array([[-np.inf, -np.inf], [0.0, -np.inf]])).tolist() == [0.0, np.inf]

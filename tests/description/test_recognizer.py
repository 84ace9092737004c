"""Recogniser of tables: stored rows, nearest rows, duplicates across classes, and margins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova import InputError, MulticlassDataDescription, OpenSetClassifier
from kernova.description.recognizer import (
    TableRecognizer,
    duplicates_across_classes,
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


def test_answers_are_those_of_the_classifier_behind_the_encoder():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=40), "sex": ["f", "m"] * 20})
    labels = np.where(table["a"] > 0, "up", "down")
    for description in (OpenSetClassifier(n_folds=2), MulticlassDataDescription(random_state=0)):
        model = TableRecognizer(description=description).fit(table, labels)
        rows = model.encoder_.transform(table)
        for method in ("predict", "score_samples", "recognize"):
            expected = getattr(model.description_, method)(rows)
            np.testing.assert_array_equal(getattr(model, method)(table), expected)
        assert model.is_published_method == isinstance(description, MulticlassDataDescription)
        assert model.ids_.tolist() == [str(i) for i in range(40)]
        assert model.columns == ["a", "sex"]


def test_only_rows_that_the_classifier_kept_are_stored():
    table = pd.DataFrame({"a": np.arange(40.0), "b": list("xy") * 20})
    description = OpenSetClassifier(n_folds=2, max_rows_per_class=5)
    model = TableRecognizer(description=description).fit(table, ["low"] * 20 + ["high"] * 20)
    assert len(model.ids_) == len(model.labels_) == len(model.known_table) == 10
    assert model.known_table.loc["0"].tolist() == [0.0, "x"]
    assert set(model.nearest_ids(table, 1).ravel()) <= set(model.ids_)


def test_unlabelled_rows_have_a_say_in_the_encoding():
    table = pd.DataFrame({"a": [0.0, 1, 2, 3], "sex": ["f", "f", "m", "m"]})
    others = pd.DataFrame({"a": [5.0, 6.0], "sex": ["other", "f"]})
    model = TableRecognizer(description=OpenSetClassifier(n_folds=2))
    model.fit(table, list("abab"), unlabelled=others)
    assert model.encoded(others).shape == (2, 5)  # a, and four levels with the one for others
    assert len(model.ids_) == 4


def test_the_published_method_has_no_probabilities():
    table = pd.DataFrame({"a": [1.0, 1.1, 1.2, 7.0, 7.1, 7.2]})
    model = TableRecognizer(description=MulticlassDataDescription()).fit(table, list("aaabbb"))
    with pytest.raises(InputError, match="memberships instead of probabilities"):
        model.judge(table)


def test_an_array_is_no_table():
    with pytest.raises(InputError) as caught:
        TableRecognizer().fit(np.eye(3), ["a", "a", "b"])
    assert str(caught.value) == messages.NO_TABLE


def test_a_stored_margin_decides_on_ambiguity():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)) + np.repeat([[0.0], [1.5]], 30, axis=0))
    table.columns = ["a", "b"]
    model = TableRecognizer(description=MulticlassDataDescription(random_state=0))
    model.fit(table, np.repeat(["low", "high"], 30))
    logs = model.description_.log_membership(model.encoded(table))
    claims = np.exp(logs) >= model.description_.thresholds_
    np.testing.assert_array_equal(model.is_ambiguous(logs), claims.sum(axis=1) > 1)
    model._lead = 0.3  # as in files of version 0.1.0
    best = claims[np.arange(60), logs.argmax(axis=1)]
    expected = claims.any(axis=1) & ~(best & (margins(logs) >= 0.3))
    np.testing.assert_array_equal(model.is_ambiguous(logs), expected)


def test_a_model_without_stored_reader_has_none():
    table = pd.DataFrame({"a": [1.0, 1.1, 1.2, 7.0, 7.1, 7.2]})
    model = TableRecognizer(description=MulticlassDataDescription())
    assert model.fit(table, list("aaabbb"), reader="reader").reader == "reader"
    del model._reader  # as in files written before it existed
    assert model.reader is None


def test_one_class_has_an_infinite_margin():
    assert np.isinf(margins(np.zeros((2, 1)))).all()


def test_rows_without_any_membership_have_no_margin():
    assert margins(np.array([[-np.inf, -np.inf], [0.0, -np.inf]])).tolist() == [0.0, np.inf]

"""Explanations of class decisions, and of unknown rows, by memberships and by probabilities."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernova import MulticlassDataDescription, OpenSetClassifier, TableEncoder
from kernova.description.recognizer import TableRecognizer
from kernova.explain.explanation import explain, top_features
from tests.explain.cases import CLASSES as MODEL
from tests.explain.cases import KINDS, KNOWN, OPEN_SET, one

MODELS = pytest.mark.parametrize("model", [MODEL, OPEN_SET], ids=["memberships", "probabilities"])


@MODELS
@pytest.mark.parametrize(
    ("row", "closest", "features"),
    [
        (one(c=6.0), "carp", {"c"}),
        (one(a=8.0, d=-6.0), "pike", {"d"}),
        (one(b=8.0, c=5.0, d=5.0), "eel", {"c", "d"}),
    ],
)
def test_unknown_rows_are_compared_with_the_closest_class(model, row, closest, features):
    assert model.recognize(row) == ["unknown"]
    why = explain(model, row, rows=[0], known=KNOWN)
    assert set(why["verdict"]) == {"unknown"}
    assert set(why["compared_with"]) == {closest}
    assert set(why["feature"].head(len(features))) == features
    assert why["share"].head(len(features)).sum() > 0.9
    assert set(KINDS[list(why["nearest"][0])]) == {closest}
    assert len(why["nearest"][0]) == 5


def test_further_away_than_any_membership_reaches_the_nearest_rows_decide():
    why = explain(MODEL, one(b=8.0, c=1e6), rows=[0], known=KNOWN)
    assert set(why["compared_with"]) == {"eel"}
    assert why["feature"][0] == "c"


@MODELS
@pytest.mark.parametrize(
    ("row", "verdict", "rival", "feature"),
    [
        (one(a=7.5, b=0.5), "pike", "carp", "a"),
        (one(b=7.5), "eel", "carp", "b"),
        (one(a=1.0), "carp", "pike", "a"),
        (one(b=2.0), "carp", "eel", "b"),
    ],
)
def test_recognised_rows_are_compared_with_the_second_class(model, row, verdict, rival, feature):
    assert model.recognize(row) == [verdict]
    why = explain(model, row, rows=[0], known=KNOWN)
    assert set(why["verdict"]) == {verdict}
    assert set(why["compared_with"]) == {rival}
    assert why["feature"][0] == feature
    assert why["share"][0] > 0.8
    assert set(KINDS[list(why["nearest"][0])]) == {rival}


def claims(rows):
    return np.log(MODEL.membership(rows)) - np.log(MODEL.thresholds_)


def literal_shares(row, others, value):
    """Shapley values over every order, row against row, as the guide defines them."""
    total = np.zeros(4)
    for other in others:
        for order in permutations(range(4)):
            mixture = other.copy()
            before = value(mixture)
            for j in order:
                mixture[j] = row[j]
                after = value(mixture)
                total[j] += after - before
                before = after
    return total / np.maximum(total, 0).sum()


@pytest.mark.parametrize("values", [{"c": 6.0, "d": 3.0}, {"a": 7.0, "b": 1.0}])
def test_shares_are_shapley_values_of_the_claims(values):
    row = one(**values)
    why = explain(MODEL, row, rows=[0], known=KNOWN)
    names = MODEL.classes_.tolist()
    verdict, other = why["verdict"][0], names.index(why["compared_with"][0])
    tempered = lambda x: 10 * np.arcsinh(x / 10)  # noqa: E731

    def value(point):
        strength = claims(pd.DataFrame([point], columns=KNOWN.columns))[0]
        if verdict == "unknown":
            return tempered(-strength[other])
        return tempered(strength[names.index(verdict)] - strength[other])

    others = KNOWN.to_numpy()[list(why["nearest"][0])]
    expected = literal_shares(row.to_numpy()[0], others, value)
    found = why.set_index("feature")["share"][["a", "b", "c", "d"]]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("values", [{"c": 6.0, "d": 3.0}, {"a": 7.0, "b": 1.0}])
def test_shares_are_shapley_values_of_novelty_and_of_log_odds(values):
    row = one(**values)
    why = explain(OPEN_SET, row, rows=[0], known=KNOWN)
    names = OPEN_SET.classes_.tolist()
    verdict, other = why["verdict"][0], names.index(why["compared_with"][0])

    def value(point):
        judged = OPEN_SET.judge(pd.DataFrame([point], columns=KNOWN.columns))
        log_p = judged.log_probabilities[0]
        x = (
            judged.novelty[0]
            if verdict == "unknown"
            else log_p[names.index(verdict)] - log_p[other]
        )
        return 10 * np.arcsinh(x / 10)

    others = KNOWN.to_numpy()[list(why["nearest"][0])]
    expected = literal_shares(row.to_numpy()[0], others, value)
    found = why.set_index("feature")["share"][["a", "b", "c", "d"]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_few_rows_of_a_large_reference_are_judged(monkeypatch):
    many = pd.concat([KNOWN] * 60, ignore_index=True)
    judged = []
    judge = type(OPEN_SET).judge
    monkeypatch.setattr(
        type(OPEN_SET), "judge", lambda self, X: judged.append(len(X)) or judge(self, X)
    )
    why = explain(OPEN_SET, one(b=7.5), rows=[0], known=many)
    assert set(why["compared_with"]) == {"carp"}
    assert max(judged) <= 2100


@MODELS
def test_unknown_rows_are_found_by_themselves_the_most_novel_first(model):
    table = pd.concat([KNOWN.head(30), one(c=20.0), one(c=60.0)], ignore_index=True)
    why = explain(model, table)
    is_unknown = model.recognize(table) == "unknown"
    assert why["row"].unique().tolist()[:2] == [31, 30]
    assert set(why["row"]) == set(np.flatnonzero(is_unknown))


@MODELS
def test_a_row_is_not_compared_with_itself_nor_moved_by_the_others(model):
    table = pd.concat([one(c=20.0), KNOWN], ignore_index=True)
    both = explain(model, table, rows=[0, 5])
    alone = explain(model, table, rows=[5])
    mine = both[both["row"] == 5].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, alone)
    assert 5 not in mine["nearest"][0]


def test_a_pipeline_and_a_recogniser_agree_with_the_bare_description():
    row = one(b=8.0, c=25.0)
    scaled = make_pipeline(StandardScaler(), MulticlassDataDescription()).fit(KNOWN, KINDS)
    table = TableRecognizer(TableEncoder(scaling="none"), MulticlassDataDescription())
    table.fit(KNOWN, KINDS, ids=KNOWN.index)
    expected = explain(MODEL, row, rows=[0], known=KNOWN)
    for model, known in ((scaled, KNOWN), (table, table.known_table)):
        why = explain(model, row, rows=[0], known=known)
        assert why["feature"].tolist() == expected["feature"].tolist()
        np.testing.assert_allclose(why["share"], expected["share"], atol=1e-6)
        assert [str(i) for i in why["nearest"][0]] == [str(i) for i in expected["nearest"][0]]


def test_texts_contain_the_class_compared_with():
    texts = top_features(explain(MODEL, one(c=6.0), rows=[0], known=KNOWN))
    assert texts[0].startswith("c = 6 (carp: ")
    assert "usually" not in texts[0]


@pytest.mark.parametrize("kind", [MulticlassDataDescription, OpenSetClassifier])
def test_classes_need_not_be_texts(kind):
    model = kind().fit(KNOWN, np.repeat([3, 5, 7], 25))
    why = explain(model, one(a=7.5), rows=[0], known=KNOWN)
    assert (why["verdict"][0], why["compared_with"][0]) == (5, 3)

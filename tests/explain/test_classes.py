"""Why this class, why unknown."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernova import InputError, MulticlassDataDescription, TableEncoder
from kernova.description.recognizer import TableRecognizer
from kernova.explain.explanation import explain, top_features

CENTRES = {"carp": [0, 0, 0, 0], "pike": [8, 0, 0, 0], "eel": [0, 8, 0, 0]}


def fish(n=25, seed=0):
    """Three clouds in four columns; the last two tell no kinds apart."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(size=(n, 4)) + centre for centre in CENTRES.values()])
    return pd.DataFrame(rows, columns=["a", "b", "c", "d"]), np.repeat(list(CENTRES), n)


KNOWN, KINDS = fish()
MODEL = MulticlassDataDescription().fit(KNOWN, KINDS)


def one(**values):
    return pd.DataFrame([{"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0, **values}])


@pytest.mark.parametrize(
    ("row", "closest", "features"),
    [
        (one(c=6.0), "carp", {"c"}),
        (one(a=8.0, d=-6.0), "pike", {"d"}),
        (one(b=8.0, c=5.0, d=5.0), "eel", {"c", "d"}),
        # Further away than any membership reaches: the nearest rows decide.
        (one(b=8.0, c=1e6), "eel", {"c"}),
    ],
)
def test_why_unknown(row, closest, features):
    assert MODEL.recognize(row) == ["unknown"]
    why = explain(MODEL, row, rows=[0], known=KNOWN)
    assert set(why["verdict"]) == {"unknown"}
    assert set(why["compared_with"]) == {closest}
    assert set(why["feature"].head(len(features))) == features
    assert why["share"].head(len(features)).sum() > 0.9
    assert set(KINDS[list(why["nearest"][0])]) == {closest}
    assert len(why["nearest"][0]) == 5


@pytest.mark.parametrize(
    ("row", "verdict", "rival", "feature"),
    [
        (one(a=7.5, b=0.5), "pike", "carp", "a"),
        (one(b=7.5), "eel", "carp", "b"),
        (one(a=1.0), "carp", "pike", "a"),
        (one(b=1.0), "carp", "eel", "b"),
    ],
)
def test_why_this_class(row, verdict, rival, feature):
    assert MODEL.recognize(row) == [verdict]
    why = explain(MODEL, row, rows=[0], known=KNOWN)
    assert set(why["verdict"]) == {verdict}
    assert set(why["compared_with"]) == {rival}
    assert why["feature"][0] == feature
    assert why["share"][0] > 0.8
    assert set(KINDS[list(why["nearest"][0])]) == {rival}


def claims(rows):
    return np.log(MODEL.membership(rows)) - np.log(MODEL.thresholds_)


def literal_shares(row, others, value):
    """Shapley values over every order, row against row, as explain's page defines them."""
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


def test_unknown_rows_are_found_by_themselves_the_strangest_first():
    table = pd.concat([KNOWN.head(30), one(c=20.0), one(c=60.0)], ignore_index=True)
    why = explain(MODEL, table)
    is_unknown = MODEL.recognize(table) == "unknown"
    assert why["row"].unique().tolist()[:2] == [31, 30]
    assert set(why["row"]) == set(np.flatnonzero(is_unknown))


def test_a_row_is_not_compared_with_itself_nor_moved_by_the_others():
    table = pd.concat([one(c=20.0), KNOWN], ignore_index=True)
    both = explain(MODEL, table, rows=[0, 5])
    alone = explain(MODEL, table, rows=[5])
    mine = both[both["row"] == 5].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, alone)
    assert 5 not in mine["nearest"][0]


def test_the_ends_of_roads_agree():
    """A pipeline, and a table's recogniser, say what the bare description says."""
    row = one(b=8.0, c=25.0)
    scaled = make_pipeline(StandardScaler(), MulticlassDataDescription()).fit(KNOWN, KINDS)
    table = TableRecognizer(TableEncoder(scaling="none")).fit(KNOWN, KINDS, ids=KNOWN.index)
    expected = explain(MODEL, row, rows=[0], known=KNOWN)
    for model, known in ((scaled, KNOWN), (table, table.known_table)):
        why = explain(model, row, rows=[0], known=known)
        assert why["feature"].tolist() == expected["feature"].tolist()
        np.testing.assert_allclose(why["share"], expected["share"], atol=1e-6)
        assert [str(i) for i in why["nearest"][0]] == [str(i) for i in expected["nearest"][0]]


def test_words_name_the_class_compared_with():
    words = top_features(explain(MODEL, one(c=6.0), rows=[0], known=KNOWN))
    assert words[0].startswith("c = 6 (carp: ")
    assert "usually" not in words[0]


def test_classes_need_not_be_texts():
    model = MulticlassDataDescription().fit(KNOWN, np.repeat([3, 5, 7], 25))
    why = explain(model, one(a=7.5), rows=[0], known=KNOWN)
    assert (why["verdict"][0], why["compared_with"][0]) == (5, 3)


REFUSALS = {
    "no known class": (
        lambda: explain(MODEL, one(c=30.0), rows=[0]),
        "There is nothing to compare with: no row looked at is of a known class. Give the rows "
        "that the model was fitted on as known.",
    ),
    "no other class": (
        lambda: explain(MODEL, one(), rows=[0], known=KNOWN[KINDS == "carp"]),
        "There is nothing to compare with: no row looked at is of another class than carp. Give "
        "the rows that the model was fitted on as known.",
    ),
    "missing values": (
        lambda: explain(MODEL, one(c=np.nan), rows=[0], known=KNOWN),
        "MulticlassDataDescription cannot score these rows: Input X contains NaN.",
    ),
    "unfitted": (
        lambda: explain(TableRecognizer(), KNOWN),
        "This TableRecognizer is not fitted yet. Call fit before explaining what it says.",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    ask, sentence = REFUSALS[name]
    with pytest.raises(InputError) as caught:
        ask()
    assert str(caught.value) == sentence

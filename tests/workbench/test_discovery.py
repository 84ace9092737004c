"""What a question shows and what a sitting leaves: rows among all rows, tables, summaries."""

import json

import numpy as np
import pandas as pd
import pytest

from kernova.discover.store import open_project
from kernova.errors import InputError
from kernova.tables.table import Table
from kernova.workbench.discovery import default_project, open_discovery
from kernova.workbench.row_features import Population


def table(n_rows=40, labels=None, **columns):
    rng = np.random.default_rng(0)
    features = pd.DataFrame(
        {"length": rng.normal(size=n_rows), "width": rng.normal(size=n_rows), **columns}
    )
    ids = pd.Series([f"fish-{row:02d}" for row in range(n_rows)], name="fish")
    kinds = None if labels is None else pd.Series(labels, name="kind")
    return Table(features, ids, kinds, "fish.csv")


# --- a row against the population ------------------------------------------------------------


def test_the_oddest_columns_come_first_and_are_told_by_rank():
    features = pd.DataFrame(
        {
            "even": np.arange(200.0),
            "far": np.append(np.arange(199.0), 1e6),
            "kind": ["common"] * 190 + ["rare"] * 9 + ["once"],
            "constant": 5.0,
        }
    )
    shown = Population(features).standing_out(199)
    assert [feature.name for feature in shown] == ["kind", "far", "even", "constant"]
    kind, far, even, constant = shown
    assert (kind.value, kind.usual, kind.place) == ("once", "common", "0.5 % have it")
    assert (far.value, far.usual, far.place) == ("1000000", "100", "99.75")
    # Both are the highest of their columns: what sets them in order is how far out they are.
    assert (even.surprise, far.surprise) == (pytest.approx(np.log2(100)),) * 2
    assert far.distance > even.distance
    assert (constant.place, constant.surprise) == ("50", 0.0)
    assert constant.strip == "───────●───────"
    assert even.strip == "───────┼──────●"
    assert Population(features).standing_out(0, most=1)[0].strip == "●──────┼───────"


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_are_those_of_a_plain_count(seed):
    rng = np.random.default_rng(seed)
    features = pd.DataFrame({"x": rng.integers(0, 9, 50).astype(float), "y": rng.normal(size=50)})
    population = Population(features)
    for row in range(0, 50, 7):
        for feature in population.standing_out(row):
            column, value = features[feature.name], features.loc[row, feature.name]
            below, same = (column < value).sum(), (column == value).sum()
            percentile = float(feature.place)
            assert percentile == pytest.approx(100 * (below + same / 2) / 50, abs=0.5)
            as_far = min(1.0, 2 * min(below + same, 50 - below) / 50)
            assert 2**-feature.surprise == pytest.approx(as_far)


def test_missing_values_and_extreme_numbers_are_shown_as_they_are():
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
        shown = {feature.name: feature for feature in population.standing_out(row)}
        assert set(shown) == set(features.columns)
        assert all(np.isfinite(f.surprise) and not np.isnan(f.distance) for f in shown.values())
    first = {feature.name: feature for feature in population.standing_out(0)}
    for name in ("gaps", "empty", "text"):
        assert (first[name].value, first[name].place, first[name].strip) == (
            "missing",
            "missing",
            "",
        )


def test_no_share_is_rounded_to_all_or_nothing():
    n_rows = 60_000
    features = pd.DataFrame({"x": np.arange(float(n_rows)), "k": ["a"] * (n_rows - 1) + ["b"]})
    lowest, highest = (Population(features).standing_out(row) for row in (0, n_rows - 1))
    assert [f.place for f in lowest] == ["under 0.01", "over 99.99 % have it"]
    assert [f.place for f in highest] == ["under 0.01 % have it", "over 99.99"]


# --- the session of a table ------------------------------------------------------------------


def test_a_mixed_table_is_asked_about_and_told_row_by_row(tmp_path):
    labels = ["pike", None, np.nan, 3, ""] + [None] * 35
    fish = table(labels=labels, sex=["f", "m"] * 20, gap=[np.nan, *[1.0] * 39])
    found = open_discovery(fish, tmp_path / "p", strategy="hms-ci", missing="fill")
    question = found.session.next_question()
    found.session.name_cluster("bulk")
    rows = found.rows
    assert list(rows.columns) == ["fish", "category", "question", "kind"]
    assert rows["fish"].tolist() == fish.ids.tolist()
    assert rows["category"].tolist()[:1] + rows["category"].tolist()[3:4] == ["pike", "3"]
    named = rows[rows["question"] == 1]
    assert set(named.index) == set(question.members) - {0, 3}
    assert (named["category"] == "bulk").all()
    assert found.categories["category"].tolist() == ["pike", "3", "bulk"]
    assert found.categories["first"].tolist() == ["fish-00", "fish-03", question.id]
    answer = json.loads(json.dumps(found.to_json_dict(), allow_nan=False))
    assert answer["categories"]["bulk"][0] == question.id
    assert len(answer["rows"]) == found.session.n_labelled_
    assert answer["rows"][0] == {
        "fish": "fish-00", "category": "pike", "question": None, "kind": "pike",
    }  # fmt: skip
    found.session.close()


def test_the_cluster_is_told_by_its_nearest_rows_and_what_is_known(tmp_path):
    found = open_discovery(table(), tmp_path / "p", strategy="hms-ci")
    session = found.session
    for fish in ("fish-03", "fish-11", "fish-20"):
        session.label_row(fish, "x")
    seen_alone = seen_many = False
    while not (seen_alone and seen_many):
        question = session.next_question()
        words = found.cluster_words(question)
        others = [row for row in question.members.tolist() if row != question.row]
        known = pd.Series([session.labels_[row] for row in others], dtype=object).dropna()
        if not others:
            seen_alone = True
            assert words == "It stands for itself alone."
        else:
            seen_many = seen_many or (len(others) > 5 and len(known) > 0)
            gaps = [
                np.linalg.norm(found.encoded[row] - found.encoded[question.row]) for row in others
            ]
            nearest = [row for _, row in sorted(zip(gaps, others, strict=True))][:5]
            names = ", ".join(f"fish-{row:02d}" for row in nearest)
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            noun = "other row" if len(others) == 1 else "other rows"
            start = f"It stands for itself and {len(others)} {noun}: {names}{more}."
            told = " Known among them: x " + f"{len(known)}." if len(known) else ""
            assert words == start + told
        session.answer("x")
    session.close()


def test_advice_counts_what_questions_brought(tmp_path):
    fish = table(labels=["pike", "cod"] + [None] * 38)
    found = open_discovery(fish, tmp_path / "p", strategy="random")
    session = found.session
    for label in ("pike", None, "eel", "pike"):
        session.next_question()
        session.skip() if label is None else session.answer(label)
    free = [row for row in range(40) if row not in (0, 1, *session.asked_)]
    session.label_row(f"fish-{free[0]:02d}", "roach")
    session.next_question()
    session.name_cluster("eel", [f"fish-{row:02d}" for row in free[1:11]])
    advice = found.advice
    # Pike and cod were known, roach came out of turn: eel, at question 3, is the last new one.
    assert (advice.asked, advice.seen, advice.since_new) == (5, 4, 2)
    n_unlabelled = sum(label is None for label in session.labels_)
    assert f" {n_unlabelled} rows " in advice.known[1]
    session.close()


def test_a_project_remembers_strategy_and_seed(tmp_path):
    with open_discovery(table(), tmp_path / "p", strategy="random", seed=3).session as session:
        session.next_question()
        session.answer("x")
    found = open_discovery(table(), tmp_path / "p")
    assert (found.head.strategy, found.head.seed, found.is_resumed) == ("random", 3, True)
    assert found.summary == "1 question asked, 1 row of 40 named, 1 category."
    found.session.close()
    with pytest.raises(InputError, match=r"^There is no strategy named 'guess'\. Take one of "):
        open_discovery(table(), tmp_path / "q", strategy="guess")
    assert not (tmp_path / "q").exists()
    with pytest.raises(InputError, match=r"^The project .* is about another table: "):
        open_discovery(table(39), tmp_path / "p")
    open_project(tmp_path / "p").close()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("wines.csv", "wines.kernova-project"),
        ("a/b/wines.tsv.gz", "wines.kernova-project"),
        ("v1.2.parquet", "v1.2.kernova-project"),
        ("wines", "wines.kernova-project"),
    ],
)
def test_a_project_is_named_for_its_table(data, name):
    assert str(default_project(data)) == name

"""Discovery of a table: session, tables of results, summary, cluster and project file."""

import json

import numpy as np
import pandas as pd
import pytest

from kernova.discover.store import open_project
from kernova.errors import InputError
from kernova.tables.table import Table
from kernova.text import quantity
from kernova.workbench.discovery import default_project, open_discovery
from tests.workbench import messages


def table(n_rows=40, labels=None, **columns):
    rng = np.random.default_rng(0)
    features = pd.DataFrame(
        {"length": rng.normal(size=n_rows), "width": rng.normal(size=n_rows), **columns}
    )
    ids = pd.Series([f"fish-{row:02d}" for row in range(n_rows)], name="fish")
    kinds = None if labels is None else pd.Series(labels, name="kind")
    return Table(features, ids, kinds, "fish.csv")


def test_results_of_a_mixed_table_list_every_row(tmp_path):
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


def test_a_cluster_is_described_by_its_nearest_rows_and_labels(tmp_path):
    found = open_discovery(table(), tmp_path / "p", strategy="hms-ci")
    session = found.session
    for fish in ("fish-03", "fish-11", "fish-20"):
        session.label_row(fish, "x")
    seen_alone = seen_many = False
    while not (seen_alone and seen_many):
        question = session.next_question()
        words = found.describe_cluster(question)
        others = [row for row in question.members.tolist() if row != question.row]
        known = pd.Series([session.labels_[row] for row in others], dtype=object).dropna()
        if not others:
            seen_alone = True
            assert words == messages.ALONE
        else:
            seen_many = seen_many or (len(others) > 5 and len(known) > 0)
            gaps = [
                np.linalg.norm(found.encoded[row] - found.encoded[question.row]) for row in others
            ]
            nearest = [row for _, row in sorted(zip(gaps, others, strict=True))][:5]
            names = ", ".join(f"fish-{row:02d}" for row in nearest)
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            n_others = quantity(len(others), "other row")
            start = messages.CLUSTER.format(others=n_others, names=f"{names}{more}")
            labelled = messages.LABELLED_AMONG.format(n=len(known)) if len(known) else ""
            assert words == start + labelled
        session.answer("x")
    session.close()


def test_advice_counts_the_categories_found_by_questions(tmp_path):
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
    # Pike and cod were known, roach was labelled directly: eel, at question 3, is the last new one.
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
    assert found.summary == messages.SUMMARY
    found.session.close()
    with pytest.raises(InputError, match=messages.NO_STRATEGY):
        open_discovery(table(), tmp_path / "q", strategy="guess")
    assert not (tmp_path / "q").exists()
    with pytest.raises(InputError, match=messages.OTHER_TABLE):
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

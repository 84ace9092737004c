"""Concurrent experts: keys, renumbered questions, late answers, and authors of labels."""

import errno
import io
import threading

import pandas as pd
import pytest

from kernova.discover.store import open_project
from kernova.errors import NotSavedError
from kernova.workbench.shared import Presence
from tests.web import messages
from tests.web.in_process import Expert, fish, opened, rejected, served


@pytest.fixture
def folder(tmp_path):
    fish(tmp_path)
    return tmp_path


@pytest.fixture
def client(folder):
    with served(opened(folder)) as client:
        yield client


def label_of(client, row):
    return client.get(f"/api/rows/{row}").json()["label"]


def test_renumbering_does_not_change_another_answer(client):
    bob, anna = Expert(client, "Bob"), Expert(client, "Anna")
    bob.answer("carp")
    first = anna.ask()["row"]
    anna.answer("carp")
    second = anna.question["row"]
    anna.answer("carp")
    entries = {one["row"]: one for one in client.get("/api/history").json()["entries"]}
    assert entries[first]["question"] == 2
    bob.say("undo")
    wish = {"expert": "Anna", "label": "pike", "row": first}
    assert rejected(client.patch("/api/answers/2", json=wish), 409) == messages.RENUMBERED
    assert (label_of(client, first), label_of(client, second)) == ("carp", "carp")
    anna.say("answers/1", label="pike", row=first)
    assert (label_of(client, first), label_of(client, second)) == ("pike", "carp")
    newest = client.get("/api/history").json()["entries"][0]
    assert (newest["kind"], newest["question"], newest["row"]) == ("change", 1, first)


def test_a_key_of_another_request_is_rejected(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    row = anna.ask()["row"]
    said = {"row": row, "label": "carp", "key": "1"}
    anna.say("answers", **said)
    other = bob.ask()["row"]
    for path, words in (
        ("answers", {"expert": "Bob", "row": other, "label": "carp", "key": "1"}),
        ("answers", {"expert": "Bob", **said}),
        ("answers", {"expert": "Anna", **said, "label": "pike"}),
        ("skips", {"expert": "Anna", "row": row, "key": "1"}),
        ("undo", {"expert": "Anna", "key": "1"}),
        ("labels", {"expert": "Anna", "rows": [other], "label": "carp", "key": "1"}),
        ("categories/delete", {"expert": "Anna", "name": "carp", "key": "1"}),
    ):
        assert rejected(client.post(f"/api/{path}", json=words), 409) == messages.KEY_USED
    # The same label with other spaces is the same request.
    assert anna.say("answers", **said | {"label": " carp "})["repeated"]
    assert bob.say("answers", row=other, label="carp", key="2")["saved"]["number"] == 2


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("labels", {"rows": [3, 4, 3], "label": "x"}),
        ("answers/1", {"label": None}),
        ("answers/1", {"label": "x"}),
        ("categories/rename", {"old": "carp", "new": "x"}),
        ("categories/merge", {"into": "carp", "others": ["pike"]}),
        ("categories/delete", {"name": "carp"}),
        ("undo", {}),
        ("undo", {"entry": 1}),
        ("overlap", {"fraction": 0.1}),
    ],
)
def test_every_request_can_be_repeated_with_its_key(client, path, words):
    anna = Expert(client, "Anna")
    anna.answer("carp")
    anna.answer("pike")
    replies = [anna.say(path, **words, key="again") for _ in range(2)]
    assert [reply["repeated"] for reply in replies] == [False, True]
    assert replies[0]["saved"]["number"] == replies[1]["saved"]["number"] == 3


def test_rows_labelled_meanwhile_keep_their_label_in_a_late_cluster(folder):
    times = [0.0]
    with served(opened(folder, presence=Presence(900, clock=lambda: times[0]))) as client:
        anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
        row = anna.ask()["row"]
        times[0] = 901.0
        near, far = [one for one in range(3) if one != row][:2]
        bob.say("labels", rows=[row, near], label="pike")
        late = anna.say("answers", row=row, label="carp", members=[near, far])
        assert late["saved"]["n_rows"] == 2
        assert [label_of(client, one) for one in (row, near, far)] == ["carp", "pike", "carp"]


# --- answers that wait together --------------------------------------------------------------


def saved_together(bench, requests):
    outcomes = []
    bench.questions.save_all(requests, lambda _, outcome: outcomes.append(outcome))
    return outcomes


def answers_of(bench, *names):
    rows = [bench.question(name).question.row for name in names]
    pairs = zip(names, rows, strict=True)
    return [bench.questions.answer(name, row, "carp", None, f"of-{name}") for name, row in pairs]


def test_answers_that_wait_together_share_a_write(folder, monkeypatch):
    bench = opened(folder)
    store, n_written = bench.discovery.session.project_, []
    append = store.append
    monkeypatch.setattr(store, "append", lambda *some: (n_written.append(len(some)), append(*some)))
    anna, bob, cleo = answers_of(bench, "Anna", "Bob", "Cleo")
    wrong = bench.questions.skip("Dan", bob.subject.row, None)
    undo = bench.corrections.undo("Anna", None)
    outcomes = saved_together(bench, [anna, wrong, bob, undo, cleo, anna])
    assert n_written == [2, 1, 1]
    assert "is no longer open" in str(outcomes.pop(1))
    assert [one.saved.number for one in outcomes] == [1, 2, 3, 4, 1]
    assert [one.repeated for one in outcomes] == [False] * 4 + [True]
    assert [one.saved.is_new for one in outcomes] == [True, False, False, False, False]
    rows = {one.question.row for one in outcomes[1:4]}
    assert len(rows) == 3  # of Bob, Anna and Cleo
    bench.close()
    with open_project(folder / "fish.kernova-project") as again:
        assert [one.by for one in again.records] == ["Anna", "Bob", "Anna", "Cleo"]


def test_a_write_that_fails_leaves_nothing_of_all_answers_that_shared_it(folder, monkeypatch):
    bench = opened(folder)
    requests = answers_of(bench, "Anna", "Bob")
    session = bench.discovery.session
    questions = {name: one.row for name, one in session.open_questions_.items()}
    with monkeypatch.context() as full:
        full.setattr(session.project_._file, "append", no_space)
        outcomes = saved_together(bench, requests)
    assert [type(one) for one in outcomes] == [NotSavedError] * 2
    assert (session.n_records_, session.n_labelled_, session.categories_) == (0, 0, {})
    assert {name: one.row for name, one in session.open_questions_.items()} == questions
    assert [one.saved.number for one in saved_together(bench, requests)] == [1, 2]
    bench.close()


def no_space(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


# --- authors of labels -----------------------------------------------------------------------


def experts(client):
    """Return the expert who labelled each row."""
    text = client.get("/api/downloads/labels.csv").text
    return pd.read_csv(io.StringIO(text), dtype=str)["expert"].to_dict()


def test_skipping_a_row_is_not_labelling_it(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    row = anna.ask()["row"]
    bob.say("labels", rows=[row], label="carp")
    anna.say("skips", row=row)
    assert experts(client)[row] == "Bob"


def test_changing_an_answer_makes_its_author_that_of_all_its_rows(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    row = anna.ask()["row"]
    others = [one for one in range(4) if one != row][:3]
    anna.say("answers", row=row, label="carp", members=others)
    Expert(client, "Cleo").say("labels", rows=others[:1], label="eel")
    bob.say("answers/1", label="pike")
    found = experts(client)
    assert [found[one] for one in (row, *others)] == ["Bob", "Cleo", "Bob", "Bob"]


def test_a_restored_opinion_has_its_own_author(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    anna.say("labels", rows=[5, 6], label="carp")
    bob.say("labels", rows=[5, 6], label="pike")
    Expert(client, "Cleo").say("disagreements/6", label="pike")
    assert (experts(client)[5], experts(client)[6]) == ("Bob", "Cleo")
    bob.say("categories/delete", name="pike")
    assert (experts(client)[5], label_of(client, 5)) == ("Anna", "carp")


def test_the_version_changes_when_experts_come_and_go(folder):
    times = [0.0]
    with served(opened(folder, presence=Presence(900, clock=lambda: times[0]))) as client:
        Expert(client, "Bob").ask()

        def seen(**parameters):
            state = client.get("/api/state", params={"expert": "Anna", **parameters}).json()
            present = {one["name"]: one["is_here"] for one in state.get("experts", [])}
            return state["version"], state["unchanged"], present

        version, _, present = seen()
        assert present == {"Anna": True, "Bob": True}
        assert seen(since=version) == (version, True, {})
        times[0] = 600.0
        version, is_unchanged, present = seen(since=version)
        assert (is_unchanged, present) == (False, {"Anna": True, "Bob": False})
        assert seen(since=version)[1]


# --- comparisons of several experts at once --------------------------------------------------


def test_many_experts_at_once_compare_every_planned_row_exactly_once(client):
    experts = [Expert(client, f"expert {number}") for number in range(6)]
    experts[0].say("overlap", fraction=1, experts=3)
    failures = []

    def work(expert):
        try:
            for _ in range(200):
                question = expert.ask()
                if question is None:
                    return
                assert not (question["is_blind"] and question["card"]["opinions"])
                expert.say("answers", row=question["row"], label=f"kind {question['row'] % 3}")
        except Exception as error:  # noqa: BLE001 - raised again by the main thread
            failures.append(error)

    for _ in range(2):  # rows that others had open at the end are left for a second turn
        threads = [threading.Thread(target=work, args=(one,)) for one in experts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    told = client.get("/api/agreement").json()
    assert (told["rows"], told["raw"], told["seen_rows"]) == (60, 1.0, 0)
    opinions = [client.get(f"/api/rows/{row}").json()["opinions"] for row in range(60)]
    assert {len(of_row) for of_row in opinions} == {3}
    assert {len({one["expert"] for one in of_row}) for of_row in opinions} == {3}


def test_an_undone_comparison_is_asked_again(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    anna.say("overlap", fraction=1)
    row = anna.ask()["row"]
    anna.answer("carp")
    assert bob.ask(source="overlap")["row"] == row
    bob.answer("pike")
    assert bob.ask(source="overlap") is None
    bob.say("undo")
    assert bob.ask(source="overlap")["row"] == row
    # Whoever undoes the first answer leaves nothing to compare.
    anna.say("undo")
    assert bob.ask(source="overlap") is None


def test_a_comparison_whose_row_was_settled_meanwhile_is_still_an_opinion(client):
    anna, bob, cleo = (Expert(client, name) for name in ("Anna", "Bob", "Cleo"))
    anna.say("overlap", fraction=1, experts=3)
    row = anna.ask()["row"]
    anna.answer("carp")
    bob.ask(source="overlap")
    cleo.say("labels", rows=[row], label="eel")
    cleo.say(f"disagreements/{row}", label="eel")
    bob.say("answers", row=row, label="carp")
    assert {one["expert"] for one in client.get(f"/api/rows/{row}").json()["opinions"]} == {
        "Anna", "Bob", "Cleo",
    }  # fmt: skip

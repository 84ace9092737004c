"""Experts whose words cross: what one says is never taken for something else."""

import io

import pandas as pd
import pytest

from kernova.workbench.shared import Presence
from tests.web.in_process import Expert, fish, opened, refused, served


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


def test_no_other_answer_is_changed_where_numbers_moved_meanwhile(client):
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
    assert refused(client.patch("/api/answers/2", json=wish), 409) == (
        "Question 2 is about another row by now: an earlier answer was taken back meanwhile. Look "
        "in the history which number it has."
    )
    assert (label_of(client, first), label_of(client, second)) == ("carp", "carp")
    anna.say("answers/1", label="pike", row=first)
    assert (label_of(client, first), label_of(client, second)) == ("pike", "carp")
    newest = client.get("/api/history").json()["entries"][0]
    assert (newest["kind"], newest["question"], newest["row"]) == ("change", 1, first)


def test_a_key_that_stands_for_something_else_loses_no_words(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    row = anna.ask()["row"]
    said = {"row": row, "label": "carp", "key": "1"}
    anna.say("answers", **said)
    other = bob.ask()["row"]
    sentence = (
        "The key '1' was used for something else before. Give every request a key of its own, for "
        "example a UUID."
    )
    for path, words in (
        ("answers", {"expert": "Bob", "row": other, "label": "carp", "key": "1"}),
        ("answers", {"expert": "Bob", **said}),
        ("answers", {"expert": "Anna", **said, "label": "pike"}),
        ("skips", {"expert": "Anna", "row": row, "key": "1"}),
        ("undo", {"expert": "Anna", "key": "1"}),
        ("labels", {"expert": "Anna", "rows": [other], "label": "carp", "key": "1"}),
        ("categories/delete", {"expert": "Anna", "name": "carp", "key": "1"}),
    ):
        assert refused(client.post(f"/api/{path}", json=words), 409) == sentence
    # The same words, spaced otherwise, are the same.
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
    ],
)
def test_whatever_is_said_can_be_repeated_with_its_key(client, path, words):
    anna = Expert(client, "Anna")
    anna.answer("carp")
    anna.answer("pike")
    replies = [anna.say(path, **words, key="again") for _ in range(2)]
    assert [reply["repeated"] for reply in replies] == [False, True]
    assert replies[0]["saved"]["number"] == replies[1]["saved"]["number"] == 3


def test_rows_named_meanwhile_keep_their_name_when_a_cluster_comes_late(folder):
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


# --- whose word it is --------------------------------------------------------------------------


def experts(client):
    """Give who named each row, by its place."""
    text = client.get("/api/downloads/labels.csv").text
    return pd.read_csv(io.StringIO(text), dtype=str)["expert"].to_dict()


def test_who_passes_over_a_row_has_not_named_it(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    row = anna.ask()["row"]
    bob.say("labels", rows=[row], label="carp")
    anna.say("skips", row=row)
    assert experts(client)[row] == "Bob"


def test_who_changes_an_answer_names_all_that_changes_with_it(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    row = anna.ask()["row"]
    others = [one for one in range(4) if one != row][:3]
    anna.say("answers", row=row, label="carp", members=others)
    Expert(client, "Cleo").say("labels", rows=others[:1], label="eel")
    bob.say("answers/1", label="pike")
    found = experts(client)
    assert [found[one] for one in (row, *others)] == ["Bob", "Cleo", "Bob", "Bob"]


def test_a_word_that_stands_again_is_its_experts(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    anna.say("labels", rows=[5, 6], label="carp")
    bob.say("labels", rows=[5, 6], label="pike")
    Expert(client, "Cleo").say("disagreements/6", label="pike")
    assert (experts(client)[5], experts(client)[6]) == ("Bob", "Cleo")
    bob.say("categories/delete", name="pike")
    assert (experts(client)[5], label_of(client, 5)) == ("Anna", "carp")


def test_pages_hear_of_who_comes_and_goes_though_nobody_says_anything(folder):
    times = [0.0]
    with served(opened(folder, presence=Presence(900, clock=lambda: times[0]))) as client:
        Expert(client, "Bob").ask()

        def seen(**parameters):
            state = client.get("/api/state", params={"expert": "Anna", **parameters}).json()
            here = {one["name"]: one["is_here"] for one in state.get("experts", [])}
            return state["version"], state["unchanged"], here

        version, _, here = seen()
        assert here == {"Anna": True, "Bob": True}
        assert seen(since=version) == (version, True, {})
        times[0] = 600.0
        version, is_unchanged, here = seen(since=version)
        assert (is_unchanged, here) == (False, {"Anna": True, "Bob": False})
        assert seen(since=version)[1]

"""Experts whose words cross: what one says is never taken for something else."""

import pytest

from tests.web.in_process import Expert, fish, opened, refused, served


@pytest.fixture
def client(tmp_path):
    fish(tmp_path)
    with served(opened(tmp_path)) as client:
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

"""Questions and answers over HTTP: several experts, repeated requests, nothing lost."""

import errno

import numpy as np
import pytest

from kernova.discover.simulation import simulate
from kernova.discover.strategies import DEFAULT_STRATEGY
from kernova.errors import InputError
from kernova.workbench.discovery import Discovery
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


def state(client, **query):
    return client.get("/api/state", params=query).json()


def counts(client):
    return {one["name"]: one["rows"] for one in state(client)["categories"]}


# --- a whole session -------------------------------------------------------------------------


def test_a_session_from_the_first_question_to_the_history(client):
    session = client.get("/api/session").json()
    assert (session["rows"], session["columns"], session["media"]) == (60, 3, "none")
    assert session["preparation"]["state"] == "ready"
    joined = client.post("/api/experts", json={"name": "  Anna "}).json()
    assert joined == {"name": "Anna", "doubt": None}
    anna = Expert(client, "Anna")
    question = anna.ask()
    assert question["number"] == 1
    assert question["id"] == question["card"]["id"] == str(5877 * 10**14 + question["row"])
    assert question["reason"].endswith(".")
    assert {one["name"] for one in question["card"]["features"]} == {"length", "width", "sex"}
    assert anna.ask() == question  # the same until it is answered
    reply = anna.answer(" carp ")
    assert reply["saved"] == {
        "number": 1, "words": f"{question['id']}: carp.", "is_new": True, "n_rows": 1,
        "warning": None,
    }  # fmt: skip
    assert reply["question"]["number"] == 2
    assert not anna.answer("carp")["saved"]["is_new"]
    assert anna.say("skips", row=anna.question["row"])["saved"]["words"].endswith(messages.SKIPPED)
    now = state(client)
    assert (now["asked"], now["skipped"], now["named"], now["rows"]) == (3, 1, 2, 60)
    assert now["curve"] == [1, 1, 1]
    assert len(now["by_lot"]) == 3
    band = now["baseline_band"]
    assert band["questions"] == [1, 2, 3]
    for low, expected, high in zip(band["low"], now["by_lot"], band["high"], strict=True):
        assert low <= expected <= high
    assert now["experts"] == [{"name": "Anna", "questions": 3, "comparisons": 0, "is_here": True}]
    assert len(now["advice"]["known"]) == 2
    assert state(client, since=now["version"]) == {
        "version": now["version"], "unchanged": True, "preparation": now["preparation"],
    }  # fmt: skip
    entries = client.get("/api/history", params={"limit": 2}).json()
    assert entries["total"] == 3
    assert [one["number"] for one in entries["entries"]] == [3, 2]
    older = client.get("/api/history", params={"before": 2}).json()["entries"]
    assert [(one["number"], one["kind"], one["by"], one["question"]) for one in older] == [
        (1, "answer", "Anna", 1)
    ]


def test_the_curve_starts_with_the_categories_known_before(tmp_path):
    fish(tmp_path, 60, known=["carp", "eel", "carp", *[None] * 57])
    with served(opened(tmp_path, label_column="known")) as client:
        Expert(client).answer("pike")
        now = state(client)
        assert (now["known_before"], now["curve"], now["named"]) == (2, [3], 4)


def test_categories_are_renamed_merged_and_deleted_and_keep_their_colours(client):
    expert = Expert(client)
    for label in ("a", "b", "c", "a"):
        expert.answer(label)
    colours = {one["name"]: one["colour"] for one in state(client)["categories"]}
    assert colours == {"a": 0, "b": 1, "c": 2}
    expert.say("categories/rename", old="b", new="B")
    expert.say("categories/merge", into="B", others=["c"])
    assert counts(client) == {"a": 2, "B": 2}
    assert {one["name"]: one["colour"] for one in state(client)["categories"]}["B"] == 1
    expert.say("categories/delete", name="a")
    assert counts(client) == {"B": 2}
    assert state(client)["skipped"] == 2
    for _ in range(3):
        expert.say("undo")
    assert counts(client) == {"a": 2, "b": 1, "c": 1}
    expert.say("answers/1", label="z")
    expert.say("answers/2", label=None)
    assert counts(client) == {"z": 1, "c": 1, "a": 1}
    reply = client.post("/api/categories/rename", json={"old": "no", "new": "x"})
    assert rejected(reply, 409) == messages.NO_CATEGORY
    reply = client.patch("/api/answers/9", json={"label": "x"})
    assert rejected(reply, 409) == messages.NO_QUESTION_9


def test_a_whole_cluster_is_labelled_and_undone_as_one_step(client):
    expert = Expert(client)
    question = expert.ask()
    while question["n_members"] == 0:
        question = expert.answer("other")["question"]
    before = counts(client).get("shoal", 0)
    reply = expert.answer("shoal", members="all")
    assert reply["saved"]["n_rows"] == question["n_members"] + 1
    assert counts(client)["shoal"] == before + question["n_members"] + 1
    expert.say("undo")
    assert counts(client).get("shoal", 0) == before
    assert expert.question["row"] == question["row"]
    some = question["members"][:2]
    assert expert.answer("few", members=some)["saved"]["n_rows"] == 1 + len(some)


def test_rows_are_found_shown_and_labelled_directly(client):
    found = client.get("/api/rows", params={"find": " 00059"}).json()["rows"]
    assert [one["row"] for one in found] == [59]
    assert len(client.get("/api/rows", params={"find": "5877", "limit": 7}).json()["rows"]) == 7
    expert = Expert(client, "Anna")
    reply = expert.say("labels", rows=[4, 5, 4], label="eel")
    assert (reply["saved"]["words"], reply["saved"]["n_rows"]) == (messages.TWO_ROWS, 2)
    card = client.get("/api/rows/4").json()
    assert (card["label"], card["question"]) == ("eel", None)
    assert card["opinions"] == [{"expert": "Anna", "label": "eel"}]
    assert rejected(client.get("/api/rows/60"), 404) == messages.NO_ROW_60
    reply = client.post("/api/question", json={"row": 4})
    assert "is already labelled or skipped" in rejected(reply, 409)
    assert expert.ask(row=7)["row"] == 7
    assert expert.answer("cod")["saved"]["words"] == f"{5877 * 10**14 + 7}: cod."


# --- several experts -------------------------------------------------------------------------


def test_two_experts_get_different_rows_and_may_disagree(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    seen = set()
    for _ in range(5):
        rows = {anna.ask()["row"], bob.ask()["row"]}
        assert len(rows) == 2
        assert rows.isdisjoint(seen)
        seen |= rows
        anna.answer("carp")
        bob.answer("pike")
    row = min(seen)
    said = client.get(f"/api/rows/{row}").json()["opinions"][0]
    other = anna if said["expert"] == "Bob" else bob
    other.say("labels", rows=[row], label="eel")
    assert state(client)["disagreements"] == 1
    (found,) = client.get("/api/disagreements").json()["disagreements"]
    assert (found["row"], found["label"]) == (row, "eel")
    assert len(found["opinions"]) == 2
    other.say(f"disagreements/{row}", label=said["label"])
    assert client.get("/api/disagreements").json() == {"disagreements": []}
    assert client.get(f"/api/rows/{row}").json()["label"] == said["label"]


def test_undo_reverts_the_experts_own_entry(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    anna.answer("carp")
    bob.answer("pike")
    anna.say("undo")
    assert counts(client) == {"pike": 1}
    reply = client.post("/api/undo", json={"expert": "Anna"})
    assert rejected(reply, 409) == messages.NOTHING_TO_UNDO


def test_the_question_of_an_inactive_expert_is_released(folder):
    now = 0.0
    presence = Presence(900, clock=lambda: now)
    with served(opened(folder, presence=presence)) as client:
        anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
        row = anna.ask()["row"]
        now = 899.0
        assert bob.ask()["row"] != row
        state(client, expert="Anna")  # a sign of life
        now = 1700.0
        wish = {"expert": "Bob", "row": row}
        reserved = messages.RESERVED.format(id=5877 * 10**14 + row)
        assert rejected(client.post("/api/question", json=wish), 409) == reserved
        now = 1900.0
        assert bob.ask(row=row)["row"] == row
        # Both label it now; the late answer is recorded, too.
        assert anna.say("answers", row=row, label="carp")["saved"]["n_rows"] == 1
        assert bob.answer("pike")["saved"]["n_rows"] == 1
        (found,) = client.get("/api/disagreements").json()["disagreements"]
        assert found["row"] == row
        present = {one["name"]: one["is_here"] for one in state(client)["experts"]}
        assert present == {"Anna": True, "Bob": True}


# --- repeated and late requests --------------------------------------------------------------


def test_a_request_with_its_key_counts_once(client):
    expert = Expert(client, "Anna")
    row = expert.ask()["row"]
    first = expert.say("answers", row=row, label="carp", key="one")
    again = expert.say("answers", row=row, label="carp", key="one")
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["saved"]["number"] == again["saved"]["number"] == 1
    assert again["question"] == first["question"]
    assert state(client)["asked"] == 1
    undone = [expert.say("undo", key="two")["repeated"] for _ in range(3)]
    assert undone == [False, True, True]
    assert counts(client) == {}


def test_a_restart_restores_the_state(folder):
    with served(opened(folder)) as client:
        expert = Expert(client, "Anna")
        for label in ("carp", "pike", "carp"):
            expert.answer(label, key=f"k-{label}-{expert.question and expert.question['number']}")
        asked, before = expert.question, state(client)
    with served(opened(folder)) as client:
        now = state(client)
        for name in ("categories", "curve", "asked", "named", "advice"):
            assert now[name] == before[name]
        # A page that stayed open answers its question.
        late = Expert(client, "Anna")
        late.question = asked
        assert late.answer("eel", members="all")["saved"]["n_rows"] == asked["n_members"] + 1
        assert state(client)["asked"] == 4
        assert late.question["number"] == 5


def test_an_answer_to_a_row_labelled_meanwhile_is_an_opinion(client):
    anna, bob = Expert(client, "Anna"), Expert(client, "Bob")
    row = anna.ask()["row"]
    bob.say("labels", rows=[row], label="pike")
    anna.answer("carp")
    (found,) = client.get("/api/disagreements").json()["disagreements"]
    assert {one["expert"]: one["label"] for one in found["opinions"]} == {
        "Anna": "carp", "Bob": "pike",
    }  # fmt: skip
    reply = client.post("/api/skips", json={"expert": "Cleo", "row": row})
    assert rejected(reply, 409).endswith(messages.NO_LONGER_OPEN)


def test_before_the_preparation_answers_are_accepted_but_questions_are_not(folder):
    bench = opened(folder, is_prepared=False)
    with served(bench) as client:
        assert client.get("/api/session").json()["preparation"]["state"] == "preparing"
        reply = client.post("/api/question", json={})
        assert rejected(reply, 409) == messages.PREPARING
        assert reply.json()["error"]["code"] == "preparing"
        said = client.post("/api/answers", json={"row": 3, "label": "carp"}).json()
        assert (said["saved"]["number"], said["question"]) == (1, None)
        everything = {"row": 4, "label": "carp", "members": "all"}
        assert rejected(client.post("/api/answers", json=everything), 409)
        bench.prepare()
        assert bench.preparation.wait(120)
        assert Expert(client).ask()["number"] == 2


def test_a_table_that_cannot_be_prepared_can_still_be_labelled(folder, monkeypatch):
    def fail(_):
        raise InputError("It is too odd.")

    monkeypatch.setattr(Discovery, "prepare", fail)
    bench = opened(folder, is_prepared=False)
    with served(bench) as client:
        bench.prepare()
        assert bench.preparation.wait(120)
        told = client.get("/api/session").json()["preparation"]
        assert (told["state"], told["message"]) == ("failed", "It is too odd.")
        assert rejected(client.post("/api/question", json={}), 409) == messages.NOT_PREPARED
        assert Expert(client).say("labels", rows=[3], label="carp")["saved"]["n_rows"] == 1


def test_at_the_end_no_questions_are_left(client):
    anna = Expert(client, "Anna")
    anna.say("labels", rows=list(range(59)), label="carp")
    assert anna.question["row"] == 59
    reply = client.post("/api/question", json={"expert": "Bob"}).json()
    assert reply == {"question": None, "message": messages.ALL_RESERVED}
    assert anna.answer("pike")["message"] == messages.NOTHING_LEFT


def test_an_answer_that_could_not_be_saved_can_be_sent_again(folder, monkeypatch):
    bench = opened(folder)
    with served(bench) as client:
        expert = Expert(client, "Anna")
        said = {"expert": "Anna", "row": expert.ask()["row"], "label": "carp", "key": "one"}
        store = bench.discovery.session.project_
        with monkeypatch.context() as full:
            full.setattr(store._file, "append", no_space)
            reply = client.post("/api/answers", json=said)
        assert rejected(reply, 503) == (
            f"Could not save to {folder / 'fish.kernova-project'}: No space left on device. The "
            "last entry was not recorded; earlier entries are safe."
        )
        assert reply.json()["error"]["code"] == "not saved"
        assert state(client)["asked"] == 0
        again = client.post("/api/answers", json=said).json()
        assert (again["saved"]["number"], again["repeated"]) == (1, False)


def no_space(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_unexpected_error_is_answered_and_the_next_request_works(folder, monkeypatch):
    bench = opened(folder)
    with served(bench) as client:
        expert = Expert(client, "Anna")
        said = {"expert": "Anna", "row": expert.ask()["row"], "label": "carp"}

        def fail(requests, deliver):
            raise RuntimeError("something nobody thought of")

        with monkeypatch.context() as broken:
            broken.setattr(bench.questions, "save_all", fail)
            assert client.post("/api/answers", json=said, timeout=20).status_code == 500
        assert client.post("/api/answers", json=said).json()["saved"]["number"] == 1


# --- the same questions as without a server --------------------------------------------------


@pytest.mark.parametrize("strategy", [DEFAULT_STRATEGY, "novelty-density", "hms-ci", "random"])
def test_an_expert_over_http_needs_as_many_questions_as_a_simulated_one(tmp_path, strategy):
    kinds = fish(tmp_path, 150)["kind"]
    bench = opened(tmp_path, strategy=strategy)
    simulated = simulate(bench.discovery.encoded, kinds, strategy, random_state=0)
    with served(bench) as client:
        expert, rows = Expert(client, "Anna"), []
        while len(counts(client)) < kinds.nunique():
            rows.append((expert.question or expert.ask())["row"])
            expert.answer(kinds[rows[-1]])
    assert rows == simulated.asked.tolist()
    assert len(rows) == simulated.questions_to_all


# --- the map ---------------------------------------------------------------------------------


def test_the_map_has_a_point_and_a_colour_for_every_row(client):
    told = client.get("/api/map").json()
    assert (told["kind"] in ("axes", "neighbours"), told["rows"]) == (True, 60)
    points = np.frombuffer(client.get("/api/map/points?kind=axes").content, dtype="<f4")
    assert points.shape == (120,)
    assert np.abs(points).max() <= 1
    expert = Expert(client)
    expert.say("labels", rows=[5, 6], label="carp")
    expert.say("labels", rows=[7], label="pike")
    skipped = expert.ask()["row"]
    expert.say("skips", row=skipped)
    reply = client.get("/api/map/labels")
    codes = np.frombuffer(reply.content, dtype="<u2")
    assert codes[[5, 6, 7, skipped]].tolist() == [1, 1, 2, 65535]
    assert (codes > 0).sum() == 4
    assert reply.headers["x-kernova-version"] == str(state(client)["version"])

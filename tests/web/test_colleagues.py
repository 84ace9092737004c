"""Several experts over HTTP: undo that strands nobody, overlap, agreement, and disputed rows."""

import numpy as np
import pytest

from tests.web.in_process import Expert, fish, opened, rejected, served


@pytest.fixture
def client(tmp_path):
    fish(tmp_path)
    with served(opened(tmp_path, strategy="random")) as client:
        yield client


@pytest.fixture
def experts(client):
    return Expert(client, "Anna"), Expert(client, "Bob")


def ways(client, name="Anna"):
    return client.get("/api/undo", params={"expert": name}).json()


def undo(client, name="Anna", **words):
    return client.post("/api/undo", json={"expert": name, **words})


def label_of(client, row):
    return client.get(f"/api/rows/{row}").json()["label"]


# --- undo ------------------------------------------------------------------------------------


def test_an_undo_that_nothing_depends_on_needs_no_way_on(client, experts):
    anna, _ = experts
    assert ways(client)["last"] is None
    anna.answer("carp")
    told = ways(client)
    assert told["last"]["number"] == 1
    assert (told["words"], told["others"], told["earlier"]) == ("", [], None)
    assert undo(client).status_code == 200
    assert ways(client)["last"] is None


def _renamed(anna, bob, row):
    bob.say("categories/rename", old="carp", new="common carp")


def _merged(anna, bob, row):
    bob.answer("pike")
    bob.say("categories/merge", into="pike", others=["carp"])


def _deleted(anna, bob, row):
    bob.say("categories/delete", name="carp")


def _changed(anna, bob, row):
    bob.say("answers/2", label="eel", row=row)


def _settled(anna, bob, row):
    bob.say("labels", rows=[row], label="eel")
    bob.say(f"disagreements/{row}", label="eel")


@pytest.mark.parametrize("meanwhile", [_renamed, _merged, _deleted, _changed, _settled])
def test_an_expert_whose_answer_others_built_on_has_three_ways_on(client, experts, meanwhile):
    anna, bob = experts
    anna.answer("perch")
    row = anna.question["row"]
    anna.answer("carp")
    meanwhile(anna, bob, row)
    assert "cannot be undone" in rejected(undo(client), 409)
    told = ways(client)
    assert told["last"] == {"number": 2, "by": "Anna", "words": f"{told['id']}: carp."}
    n_steps = (
        "1 later step by Bob depends" if len(told["others"]) == 1 else "2 later steps by Bob depend"
    )
    assert told["words"] == (
        f"Your last step ({told['id']}: carp) cannot be undone by itself, because {n_steps} on it."
    )
    assert {one["by"] for one in told["others"]} == {"Bob"}
    assert (told["row"], told["question"]) == (row, 2)
    assert told["earlier"]["number"] == 1
    state = client.get("/api/state").json()
    # The first: change the answer instead.
    anna.say("answers/2", label="roach", row=row)
    assert label_of(client, row) == "roach"
    assert undo(client).status_code == 200
    assert client.get("/api/state").json()["categories"] == state["categories"]
    # The second: undo the step before.
    assert undo(client, entry=1).status_code == 200
    assert "perch" not in {one["name"] for one in client.get("/api/state").json()["categories"]}
    assert ways(client)["earlier"] is None
    # The third: undo both, with consent to exactly these entries.
    numbers = [one["number"] for one in ways(client)["others"]]
    assert "cannot be undone" in rejected(undo(client, others=[1]), 409)
    assert undo(client, others=numbers, key="both").status_code == 200
    assert undo(client, others=numbers, key="both").json()["repeated"]
    assert label_of(client, row) in (None, "eel")
    assert ways(client)["last"] is None


def test_dependent_entries_are_found_in_turn(client, experts):
    anna, bob = experts
    anna.answer("carp")
    bob.say("categories/rename", old="carp", new="Carp")
    Expert(client, "Cleo").say("categories/rename", old="Carp", new="common carp")
    told = ways(client)
    assert [one["number"] for one in told["others"]] == [3, 2]
    assert told["words"].endswith("because 2 later steps by Cleo and Bob depend on it.")
    assert undo(client, others=[3, 2]).status_code == 200
    assert client.get("/api/state").json()["categories"] == []
    kinds = [one["words"] for one in client.get("/api/history").json()["entries"][:3]]
    assert kinds[1:] == [
        "Undone: carp was renamed to Carp.",
        "Undone: Carp was renamed to common carp.",
    ]


def test_entries_of_others_and_undone_ones_cannot_be_undone(client, experts):
    anna, bob = experts
    anna.answer("carp")
    bob.answer("pike")
    for entry in (2, 3, 99):
        message = rejected(undo(client, entry=entry), 409)
        assert message == (
            f"Entry {entry} is not one of your entries in effect. Find it in the history."
        )
    assert undo(client, name=None, entry=2).status_code == 200


# --- overlap and agreement -------------------------------------------------------------------


def test_overlap_is_planned_and_asked_blind(client, experts):
    anna, bob = experts
    saved = anna.say("overlap", fraction=1, experts=2)["saved"]
    assert saved["words"] == "100 % of rows are asked to 2 experts from now on."
    row = anna.ask()["row"]
    anna.answer("carp")
    question = bob.ask(source="overlap")
    assert (question["row"], question["is_blind"]) == (row, True)
    assert question["card"]["label"] is None
    told = client.get("/api/overlap", params={"expert": "Bob"}).json()
    assert told == {"fraction": 1.0, "experts": 2, "rows": 1, "complete": 0, "waiting": 1}
    words = bob.answer("pike")["saved"]["words"]
    assert words == f"{question['id']}: pike, asked without the answers of others."
    agreement = client.get("/api/agreement").json()
    assert (agreement["rows"], agreement["raw"]) == (1, 0.0)
    assert agreement["pairs"][0]["raw"]["value"] == 0
    assert agreement["confused"] == [{"first": "carp", "second": "pike", "rows": 1}]
    anna.say("undo")
    anna.say("undo")
    assert client.get("/api/overlap").json()["fraction"] == 0


def test_the_browser_of_an_expert_in_question_does_not_get_the_label(client, experts):
    anna, _ = experts
    anna.say("overlap", fraction=1)
    row = anna.ask()["row"]
    anna.answer("carp")
    [link] = client.post("/api/invitations", json={"name": "Bob"}).json()["links"]
    from tests.web.in_process import client_of

    with client_of(client.base_url, Origin=str(client.base_url).rstrip("/")) as browser:
        browser.post("/invitation", data={"code": link.partition("code=")[2]})
        asked = browser.post("/api/question", json={"expert": "Bob", "source": "overlap"})
        assert asked.json()["question"]["row"] == row
        assert browser.get(f"/api/rows/{row}").json()["label"] is None
        assert label_of(client, row) == "carp"  # to a script
        said = {"expert": "Bob", "row": row, "label": "carp"}
        assert browser.post("/api/answers", json=said).status_code == 200
        card = browser.get(f"/api/rows/{row}").json()
        assert (card["label"], len(card["opinions"])) == ("carp", 2)


def test_agreement_of_many_answers(client, experts):
    anna, bob = experts
    anna.say("overlap", fraction=1)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    kinds = np.array(["carp", "pike", "eel"])
    for _ in range(40):
        row = anna.ask()["row"]
        anna.answer(kinds[truth[row]])
    while (question := bob.ask(source="overlap")) is not None:
        row = question["row"]
        right = rng.random() < 0.8
        bob.answer(kinds[truth[row] if right else rng.integers(0, 3)])
    told = client.get("/api/agreement", params={"first": "Anna", "second": "Bob"}).json()
    assert told["rows"] == 40
    [pair] = told["pairs"]
    assert {pair["first"], pair["second"]} == {"Anna", "Bob"}
    assert pair["kappa"]["low"] < pair["kappa"]["value"] < pair["kappa"]["high"]
    assert pair["raw"]["value"] == pair["same"] / 40 == told["raw"]
    assert abs(told["fleiss"]["value"] - told["alpha"]["value"]) < 0.02
    assert (told["table"]["first"], told["table"]["is_pooled"]) == ("Anna", False)
    assert sum(map(sum, told["table"]["counts"])) == 40
    pooled = client.get("/api/agreement").json()["table"]
    assert np.array_equal(pooled["counts"], np.transpose(pooled["counts"]))
    assert sum(map(sum, pooled["counts"])) == 80


# --- disputed rows ---------------------------------------------------------------------------


def test_disputed_rows_are_shown_with_all_that_is_known(client, experts):
    anna, bob = experts
    for _ in range(6):
        anna.answer("carp")
    others = [one["row"] for one in client.get("/api/history").json()["entries"]]
    first, second = others[0], others[1]
    bob.say("labels", rows=[first], label="pike")
    bob.say("labels", rows=[second, 59], label="eel")
    bob.say("labels", rows=[58], label="eel")
    reply = client.get("/api/disputes").json()
    assert reply["total"] == 2
    assert {(one["first"], one["second"], one["rows"]) for one in reply["pairs"]} == {
        ("carp", "pike", 1), ("carp", "eel", 1),
    }  # fmt: skip
    row = reply["rows"][0]
    assert (row["row"], row["label"], row["note"]) == (first, "pike", None)
    fields = ("expert", "label", "is_blind", "n_rows")
    assert [tuple(one[field] for field in fields) for one in row["opinions"]] == [
        ("Anna", "carp", True, 1),
        ("Bob", "pike", False, 1),
    ]
    assert all(one["at"] for one in row["opinions"])
    assert reply["rows"][1]["opinions"][1]["n_rows"] == 2
    examples = {one["name"]: one for one in reply["examples"]}
    assert set(examples["carp"]["rows"]) <= set(others[2:])
    assert (examples["eel"]["n_rows"], set(examples["eel"]["rows"])) == (3, {58, 59})
    only = client.get("/api/disputes", params={"first": "carp", "second": "eel"}).json()
    assert [one["row"] for one in only["rows"]] == [second]
    assert (
        client.get("/api/disputes", params={"first": "eel", "second": "pike"}).json()["total"] == 0
    )
    bob.say(f"disagreements/{first}", label="carp")
    assert client.get("/api/disputes").json()["total"] == 1
    assert client.get("/api/disputes", params={"offset": 1}).json()["rows"] == []


def test_the_time_of_a_changed_answer_is_that_of_the_change(client, experts):
    anna, bob = experts
    row = anna.ask()["row"]
    anna.answer("carp")
    bob.say("labels", rows=[row], label="pike")
    anna.say("answers/1", label="tench", row=row)
    [shown] = client.get("/api/disputes").json()["rows"]
    newest = client.get("/api/history").json()["entries"][0]
    mine = next(one for one in shown["opinions"] if one["expert"] == "Anna")
    assert (mine["label"], mine["at"], mine["is_blind"]) == ("tench", newest["at"], False)

"""Notes, flags, further labels, headings, keys and confidence over HTTP."""

import io

import pandas as pd
import pytest

from tests.web.in_process import Expert, fish, opened, rejected, served

ONE_LABEL = (
    "This project gives each row one label. Allow further labels in the Categories view, or start "
    "kernova discover with --multiple-labels."
)


@pytest.fixture
def folder(tmp_path):
    fish(tmp_path)
    return tmp_path


@pytest.fixture
def anna(folder):
    with served(opened(folder)) as client:
        yield Expert(client, "Anna")


def card(expert, row):
    return expert.client.get(f"/api/rows/{row}").json()


def categories(expert):
    return {one["name"]: one for one in expert.client.get("/api/state").json()["categories"]}


def labels(expert):
    content = expert.client.get("/api/downloads/labels.csv").content
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)


def test_what_is_noted_is_shown_exported_and_undone(anna):
    question = anna.ask()
    row, row_id = question["row"], question["id"]
    assert anna.say("notes", row=row, text=" torn fin\n")["saved"]["words"] == (
        f"Note on {row_id}: torn fin"
    )
    assert anna.say("flags", rows=[row])["saved"]["words"] == f"{row_id} flagged."
    # The question stays open, with the same reason.
    assert anna.question["row"] == row
    assert anna.question["reason"] == question["reason"]
    assert anna.question["card"]["note"] == "torn fin"
    anna.answer("carp", confidence="low")
    shown = card(anna, row)
    assert (shown["note"], shown["is_flagged"], shown["confidence"]) == ("torn fin", True, "low")
    line = labels(anna).iloc[row]
    assert line[["category", "confidence", "flagged", "note"]].tolist() == [
        "carp", "low", "True", "torn fin",
    ]  # fmt: skip
    kinds = [one["kind"] for one in anna.client.get("/api/history").json()["entries"]]
    assert kinds == ["answer", "flag", "note"]
    for _ in range(3):
        anna.say("undo")
    assert card(anna, row)["note"] is None
    assert not card(anna, row)["is_flagged"]


def test_a_question_that_an_expert_chose_stays_open_while_it_is_noted(anna):
    anna.ask()
    anna.ask(row=17)
    anna.say("flags", rows=[17])
    assert (anna.question["row"], anna.question["reason"]) == (17, "You selected this row.")


def test_unsure_rows_are_apart_from_skipped_ones(anna):
    first = anna.ask()["row"]
    reply = anna.say("skips", row=first, unsure=True)
    assert reply["saved"]["words"].endswith(" was left undecided.")
    anna.say("skips", row=anna.question["row"])
    state = anna.client.get("/api/state").json()
    assert (state["asked"], state["skipped"], state["unsure"]) == (2, 1, 1)
    assert card(anna, first)["status"] == "unsure"
    assert labels(anna)["status"].tolist().count("unsure") == 1


def test_labels_without_a_question_have_a_confidence_too(anna):
    anna.say("labels", rows=[3, 4], label="carp", confidence="high")
    assert card(anna, 4)["confidence"] == "high"
    anna.say("labels", rows=[4], label="carp")
    assert card(anna, 4)["confidence"] is None


def test_further_labels_are_an_option_of_the_project(anna):
    tag = {"expert": "Anna", "rows": [5], "label": "blurred"}
    assert rejected(anna.client.post("/api/tags", json=tag), 409) == ONE_LABEL
    assert anna.say("further-labels", is_on=True)["saved"]["words"] == (
        "Each row may have further labels."
    )
    assert anna.client.get("/api/state").json()["has_further_labels"]
    anna.say("tags", rows=[5], label="blurred")
    anna.say("tags", rows=[5], label="rare")
    assert card(anna, 5)["also"] == ["blurred", "rare"]
    assert labels(anna)["further_labels"][5] == "blurred; rare"
    anna.say("tags", rows=[5], label="blurred", is_on=False)
    assert card(anna, 5)["also"] == ["rare"]
    anna.say("labels", rows=[6], label="carp")
    again = {"expert": "Anna", "rows": [6], "label": "carp"}
    assert rejected(anna.client.post("/api/tags", json=again), 409) == (
        "'carp' is the category already; choose another label."
    )


def test_headings_and_keys_of_categories(anna):
    for row, name in enumerate(("carp", "pike", "newt")):
        anna.say("labels", rows=[row], label=name)
    anna.say("categories/group", names=["carp", "pike"], under="fish")
    anna.say("categories/key", name="newt", letter="1")
    found = categories(anna)
    assert [found[name]["heading"] for name in ("carp", "pike", "newt")] == ["fish", "fish", None]
    assert [found[name]["key"] for name in ("carp", "pike", "newt")] == ["3", "2", "1"]
    anna.say("categories/rename", old="newt", new="great crested newt")
    assert categories(anna)["great crested newt"]["key"] == "1"
    anna.say("categories/group", names=["carp"], under=None)
    assert categories(anna)["carp"]["heading"] is None


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("categories/group", {"names": ["no"], "under": "fish"}),
        ("categories/key", {"name": "no", "letter": "3"}),
    ],
)
def test_a_category_that_is_gone_is_named(anna, path, body):
    assert rejected(anna.client.post(f"/api/{path}", json=body), 409) == (
        "There is no category 'no': it has been renamed, merged or deleted meanwhile, or no row "
        "has this label."
    )


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("notes", {"row": 0, "text": "x" * 10_001}, "text"),
        ("flags", {"rows": []}, "rows"),
        ("flags", {"rows": [0], "is_on": "yes"}, "is_on"),
        ("categories/key", {"name": "carp", "letter": "0"}, "letter"),
        ("skips", {"row": 0, "unsure": 1}, "unsure"),
        ("answers", {"row": 0, "label": "a", "confidence": "certain"}, "confidence"),
    ],
)
def test_invalid_fields_are_named(anna, path, body, field):
    reply = anna.client.post(f"/api/{path}", json=body)
    assert rejected(reply, 422)
    assert list(reply.json()["error"]["fields"]) == [field]


def test_a_repeated_request_is_recorded_once(anna):
    anna.say("notes", row=2, text="once", key="k-1")
    anna.say("flags", rows=[2], key="k-2")
    assert anna.say("flags", rows=[2], key="k-2")["repeated"]
    assert anna.client.get("/api/history").json()["total"] == 2
    other = {"expert": "Anna", "rows": [3], "key": "k-2"}
    assert "has been used for another request" in rejected(
        anna.client.post("/api/flags", json=other), 409
    )


def test_the_noun_is_in_the_server_s_sentences(folder):
    from kernova.media.opening import open_discovery_data
    from kernova.workbench import Workbench
    from kernova.workbench.discovery import open_discovery

    data = open_discovery_data(folder / "fish.csv", id_column="fish", drop=["kind"])
    project = folder / "fish.kernova-project"
    with open_discovery(data.table, project, noun="fish, fish").session:
        pass
    # Stored in the project, which is continued without it.
    bench = Workbench(open_discovery(data.table, project), data.media)
    bench.prepare()
    assert bench.preparation.wait(120)
    with served(bench) as client:
        anna = Expert(client, "Anna")
        assert client.get("/api/session").json()["noun"] == {"one": "fish", "several": "fish"}
        reason = anna.ask()["reason"]
        assert reason == "No fish is labelled yet, and this fish lies in the densest region."
        reply = anna.say("labels", rows=[1, 2], label="carp")
        assert reply["saved"]["words"] == "2 fish: carp, labelled directly."
        assert "60 fish" in client.get("/api/state").json()["advice"]["known"][0]

"""Rows like a given one over HTTP, labelled together with it."""

import pytest

from tests.web.in_process import Expert, fish, opened, served


@pytest.fixture
def client(tmp_path):
    fish(tmp_path)
    with served(opened(tmp_path)) as client:
        yield client


def test_rows_like_the_question_are_labelled_with_it(client):
    expert = Expert(client)
    row = expert.ask()["row"]
    reply = client.get(f"/api/rows/{row}/alike", params={"limit": 5}).json()
    assert (reply["row"], reply["label"]) == (row, None)
    assert reply["rows"]
    rows = [one["row"] for one in reply["rows"]]
    assert row not in rows
    saved = expert.answer("shoal", members=rows)["saved"]
    assert saved["n_rows"] == len(rows) + 1
    after = client.get(f"/api/rows/{row}/alike", params={"limit": 100}).json()
    assert after["label"] == "shoal"
    assert not {*rows} & {one["row"] for one in after["rows"]}


def test_a_row_that_does_not_exist_is_not_found(client):
    assert client.get("/api/rows/60/alike").status_code == 404
    assert client.get("/api/rows/x/alike").status_code == 422
    assert client.get("/api/rows/0/alike", params={"limit": 0}).status_code == 422

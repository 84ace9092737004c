"""Whatever is sent to the server, it answers with a sentence in the one shape."""

import json

import pytest

from tests.web.in_process import fish, opened, refused, served

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def unmoved(tmp_path_factory):
    """A server to which nothing is said that counts."""
    folder = tmp_path_factory.mktemp("unmoved")
    fish(folder)
    with served(opened(folder, strategy="random")) as client:
        yield client


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"label": "x"}, {"row": "Field required"}),
        ({"row": "1", "label": "x"}, {"row": "Input should be a valid integer"}),
        ({"row": True, "label": "x"}, {"row": "Input should be a valid integer"}),
        ({"row": 1.5, "label": "x"}, {"row": "Input should be a valid integer"}),
        ({"row": -1, "label": "x"}, {"row": "Input should be greater than or equal to 0"}),
        ({"row": 1, "label": ""}, {"label": "String should have at least 1 character"}),
        ({"row": 1, "label": "x" * 201}, {"label": "String should have at most 200 characters"}),
        ({"row": 1, "label": 3}, {"label": "Input should be a valid string"}),
        ({"row": 1, "label": "x", "more": 1}, {"more": "Extra inputs are not permitted"}),
    ],
)
def test_fields_at_fault_are_named(unmoved, body, fields):
    reply = unmoved.post("/api/answers", json=body)
    assert refused(reply, 422) == f"The request cannot be read as it is: see {next(iter(fields))}."
    assert reply.json()["error"]["fields"] == fields


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[1, 2]", 422),
        (b'{"row": NaN, "label": "x"}', 422),
        (b'{"row": 1e400, "label": "x"}', 422),
        (b'{"row": 1' + b"0" * 5000 + b', "label": "x"}', 400),
        (b"[" * 100_000, 400),
        (b'{"row": 1, "label": "\xff"}', 400),
        (b'{"row": 1, "label": "\\ud800"}', 422),
        (b'{"row": 1, "label": "x", "\\ud800": 1}', 422),
        (b'{"row": 1, "label": "\\u0000"}', 409),
        (b'{"row": 1, "label": " "}', 409),
        (b'{"row": 1, "label": "x", "expert": "\\u0007"}', 409),
        (b'{"row": 60, "label": "x"}', 404),
        (b'{"row": 1, "label": "x", "members": [60]}', 404),
        (b'{"row": 2147483648, "label": "x"}', 422),
    ],
)
def test_whatever_is_sent_has_a_sentence_for_an_answer(unmoved, body, status):
    sentence = refused(unmoved.post("/api/answers", content=body, headers=JSON), status)
    assert sentence.endswith(".")
    assert unmoved.get("/api/state").json()["asked"] == 0


@pytest.mark.parametrize(
    "path",
    ["/api/rows/x", "/api/rows/-1", "/api/rows?find=a&limit=0", "/api/rows", "/api/state?since=x",
     "/api/state?other=1", "/api/session?x=1", "/api/map/labels?colour=blue",
     "/api/history?limit=1001", "/api/media/0/picture?largest=9999",
     "/api/media/0/sound?slowness=3"],
)  # fmt: skip
def test_parameters_that_are_not_there_or_not_so_are_refused(unmoved, path):
    assert refused(unmoved.get(path), 422).startswith("The request cannot be read as it is: see ")


def test_a_whole_number_may_be_written_as_json_writes_it(unmoved):
    body = json.dumps({"row": 3.0})
    reply = unmoved.post("/api/question", content=body, headers=JSON)
    assert (reply.status_code, reply.json()["question"]["row"]) == (200, 3)

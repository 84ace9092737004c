"""Invalid requests: every error has a message in the one JSON form."""

import json

import pytest

from tests.web import messages
from tests.web.in_process import rejected, served_idle

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A server whose state does not change."""
    with served_idle(tmp_path_factory.mktemp("idle")) as client:
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
def test_invalid_fields_are_named(idle, body, fields):
    reply = idle.post("/api/answers", json=body)
    assert rejected(reply, 422) == messages.INVALID.format(field=next(iter(fields)))
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
def test_every_invalid_body_gets_a_message(idle, body, status):
    message = rejected(idle.post("/api/answers", content=body, headers=JSON), status)
    assert message.endswith(".")
    assert idle.get("/api/state").json()["asked"] == 0


@pytest.mark.parametrize(
    "path",
    ["/api/rows/x", "/api/rows/-1", "/api/rows?find=a&limit=0", "/api/rows", "/api/state?since=x",
     "/api/state?other=1", "/api/session?x=1", "/api/map/labels?colour=blue",
     "/api/history?limit=1001", "/api/media/0/picture?largest=9999",
     "/api/media/0/sound?slowness=3"],
)  # fmt: skip
def test_missing_unknown_and_invalid_parameters_are_rejected(idle, path):
    assert rejected(idle.get(path), 422).startswith(messages.INVALID_PREFIX)


def test_whole_numbers_may_be_written_with_a_fraction_of_zero(idle):
    body = json.dumps({"row": 3.0})
    reply = idle.post("/api/question", content=body, headers=JSON)
    assert (reply.status_code, reply.json()["question"]["row"]) == (200, 3)

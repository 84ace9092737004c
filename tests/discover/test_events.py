"""Events: one JSON form each, and nothing else is read."""

import json

import pytest

from kernova.discover.events import (
    event_from_json,
    event_to_json,
)
from kernova.errors import InputError
from tests.discover import messages
from tests.discover.sessions import EVENTS


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_has_one_json_form(event):
    text = event_to_json(event)
    assert event_from_json(text) == event
    assert event_to_json(event_from_json(json.dumps(json.loads(text)))) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"row": 3}',
        '{"event": "asked", "row": 3}',
        '{"event": "skipped"}',
        '{"event": "skipped", "row": 3, "label": "carp"}',
        '{"event": "skipped", "row": -1}',
        '{"event": "skipped", "row": 3.0}',
        '{"event": "skipped", "row": true}',
        '{"event": "answered", "row": 3, "label": " carp", "others": []}',
        '{"event": "answered", "row": 3, "label": "", "others": []}',
        '{"event": "answered", "row": 3, "label": null, "others": []}',
        '{"event": "answered", "row": 3, "label": 5, "others": []}',
        '{"event": "answered", "row": 3, "label": "carp", "others": "12"}',
        '{"event": "answered", "row": 3, "label": "carp", "others": ["1"]}',
        '{"event": "merged", "into": "carp", "others": [1]}',
    ],
)
def test_other_text_is_rejected(text):
    with pytest.raises(InputError) as caught:
        event_from_json(text)
    assert str(caught.value) == messages.NOT_AN_EVENT.format(text=text)

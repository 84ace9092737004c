"""Small sessions for tests: started over eight rows, answered, and rejecting bad requests."""

import numpy as np
import pytest

from kernova.discover.events import (
    Answered,
    Changed,
    Merged,
    PriorLabels,
    Renamed,
    RowLabelled,
    Skipped,
    Undone,
)
from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError
from tests.discover.scripted import InTurn

X = np.random.default_rng(1).normal(size=(8, 2))
IDS = list("abcdefgh")
EVENTS = (
    PriorLabels((7, 1), ("pike", 'a "quoted" 名')),
    Answered(3, "carp", others=(4, 5)),
    Answered(2, "carp"),
    Skipped(6),
    RowLabelled(0, "eel"),
    Changed(1, "null"),
    Changed(2, None),
    Renamed("eel", "Eel"),
    Merged("pike", ("carp", "Eel")),
    Undone(),
)


def started(strategy=None, **options):
    """Start a session over eight rows."""
    return CategoryDiscovery(strategy or InTurn()).start(X, **{"ids": IDS, **options})


def answered_by(session, label, expert):
    """Let an expert answer the next question; return its row."""
    row = session.next_question(expert).row
    session.answer(label, expert=expert)
    return row


def rejected(act, *args, **kwargs):
    """Return the message with which a call is rejected."""
    with pytest.raises(InputError) as caught:
        act(*args, **kwargs)
    return str(caught.value)

"""Entries of the log that hold a file of labels: their form, effect, undo and damage."""

import json

import pytest

from kernova.discover.events import (
    Accepted,
    Answered,
    Flagged,
    Grouped,
    Imported,
    Opined,
    Record,
    RowsNoted,
    RowsUnsure,
    Tagged,
    event_from_json,
    event_to_json,
)
from kernova.discover.log import EventLog
from kernova.discover.project.content import ProjectContent, ProjectHead
from kernova.discover.project.recovery import recover
from kernova.errors import InputError
from tests.discover.sessions import IDS, X, rejected, started

PARTS = (
    Opined((0, 1), ("carp", "pike"), (0, 1), "Bob", "high"),
    Opined((1,), ("carp",), (0,), None, None, settles=True),
    Accepted((2,), ("eel",), (0,), (875,)),
    RowsUnsure((3,)),
    RowsNoted((0, 4), ("a\nb", "c")),
    Flagged((4,)),
    Tagged((0,), "blurred"),
    Grouped(("carp",), "fish"),
)
EVENT = Imported("labels.csv", PARTS)


def test_an_import_is_one_line_of_json():
    text = event_to_json(EVENT)
    assert event_from_json(text) == EVENT
    assert json.loads(text)["parts"][0] == {
        "event": "opined", "rows": [0, 1], "names": ["carp", "pike"], "codes": [0, 1],
        "expert": "Bob", "confidence": "high", "settles": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "part",
    [
        '{"event": "undone"}',
        '{"event": "imported", "source": "a", "parts": []}',
        '{"event": "rows noted", "rows": [1], "texts": [""]}',
        '{"event": "opined", "rows": [1], "names": ["a"], "codes": [0], "expert": 3}',
        "[]",
    ],
)
def test_parts_of_other_kinds_are_damage(part):
    with pytest.raises(InputError, match="The log is damaged"):
        event_from_json(f'{{"event": "imported", "source": "a", "parts": [{part}]}}')


def test_its_effect_and_its_undo():
    session = started()
    session.label_row("b", "eel", expert="Anna")
    before = session.results_.annotations, session.labels_.tolist()
    number = session.review.import_labels("labels.csv", lambda: PARTS, expert="Carla")
    results = session.results_
    assert session.labels_.tolist()[:4] == ["carp", "carp", "eel", None]
    assert results.opinions_of(1) == {"Anna": "eel", "Bob": "pike", "Carla": "carp"}
    assert session.n_disagreements_ == 0
    assert results.confidence_of(0) == "high"
    assert (results.status_of(2), results.status_of(3)) == ("accepted", "unsure")
    known = results.annotations
    assert (known.notes, list(known.flagged)) == ({0: "a\nb", 4: "c"}, [4])
    assert (known.tags, known.headings) == ({0: {"blurred": None}}, {"carp": "fish"})
    replayed = started().replay(session.records_, X, IDS)
    assert replayed.labels_.tolist() == session.labels_.tolist()
    assert replayed.results_.annotations.notes == known.notes
    session.undo(expert="Carla")
    assert session.labels_.tolist() == before[1]
    assert session.results_.annotations.notes == {}
    assert session.results_.opinions_of(1) == {"Anna": "eel"}
    assert number == 2


def test_names_and_rows_are_checked():
    session = started()
    act = session.review.import_labels
    assert "must not contain invisible characters" in rejected(
        act, "a", lambda: [Opined((0,), ("ca\u200brp",), (0,))]
    )
    for part in (
        Opined((9,), ("carp",), (0,)),
        Opined((0,), ("carp",), (1,)),
        Opined((0, 1), ("carp",), (0,)),
        Opined((0, 0), ("carp",), (0, 0)),
        RowsNoted((0,), ()),
    ):
        assert rejected(act, "a", lambda part=part: [part]).startswith("The log does not fit")
    assert session.records_ == ()
    assert rejected(act, "labels.csv", lambda: []) == (
        "labels.csv changes nothing: it holds no label or remark that is not there already. Choose "
        "another file, or another treatment of conflicts."
    )


def test_what_depends_on_an_import_is_named():
    session = started()
    session.review.import_labels("a", lambda: [Opined((0,), ("carp",), (0,))], expert="Anna")
    session.rename("carp", "pike", expert="Bob")
    assert rejected(session.undo, expert="Anna") == (
        "Log entry 1 cannot be undone: entry 2 by 'Bob' depends on it (a renamed category). Undo "
        "that one first."
    )


def test_a_lost_entry_before_an_import_leaves_the_import():
    head = ProjectHead("f", 8, 2, "random", 0)
    records = {2: Record(EVENT, by="Carla")}
    recovery = recover(ProjectContent(head=head, n_entries=2, records=records))
    assert recovery.unreadable == [1]
    assert recovery.log.state.label_of(0) == "carp"
    # Without settings, the rows of the parts say how many there are.
    recovery = recover(ProjectContent(n_entries=1, records={1: Record(EVENT)}))
    assert recovery.log.state.n_rows == 5


def test_a_later_answer_is_as_after_any_label():
    log = EventLog(8)
    log.append(Record(EVENT, by="Carla"))
    log.append(Record(Answered(5, "carp"), by="Anna"))
    assert log.state.categories["carp"] == [0, 1, 5]

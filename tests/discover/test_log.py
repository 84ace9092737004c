"""Event log: records, keys, history, and undo among several experts."""

import pytest

from kernova.discover.events import (
    Answered,
    Changed,
    Record,
    Skipped,
    Undone,
)
from kernova.discover.session import CategoryDiscovery
from kernova.errors import quoted
from tests.discover import messages
from tests.discover.scripted import InTurn
from tests.discover.sessions import X, answered_by, rejected, started


def test_every_record_has_a_number_an_expert_and_a_time(tmp_path):
    with started(InTurn(), project=tmp_path / "fish") as session:
        session.next_question("Anna")
        assert session.answer("carp", expert="Anna", key="k1") == 1
        session.next_question()
        assert session.skip(key="k2") == 2
        assert session.undo(expert="Anna", key="k3") == 3
        records = session.records_
        assert [(one.event, one.by, one.key) for one in records] == [
            (Answered(0, "carp"), "Anna", "k1"),
            (Skipped(1), None, "k2"),
            (Undone(1), "Anna", "k3"),
        ]
        assert all(one.at.endswith("+00:00") for one in records)
    with started(InTurn(), project=tmp_path / "fish") as again:
        assert again.records_ == records
        assert again.number_of_key("k2") == 2
        assert again.number_of_key("k4") is None
    replayed = CategoryDiscovery(InTurn()).replay(records, X)
    assert replayed.records_ == records


def test_a_repeated_request_is_recorded_once():
    session = started(InTurn())
    session.next_question("Anna")
    assert session.answer("carp", expert="Anna", key="one") == 1
    session.next_question("Anna")
    assert session.answer("carp", expert="Anna", key="one") == 1
    assert session.n_questions_ == 1
    assert session.open_questions_["Anna"].row == 1  # the next question was not answered
    for act in (session.undo, session.skip):
        assert act(expert="Anna", key="one") == 1
    assert session.n_records_ == 1
    assert session.label_rows(["g", "h"], "eel", key="two") == 2
    assert session.settle("g", "eel", key="two") == 2


@pytest.mark.parametrize("key", ["", "a\nb", "x" * 201, 7])
def test_a_bad_key_is_rejected(key):
    assert rejected(started().undo, key=key) == (messages.BAD_KEY.format(key=quoted(key)))


def test_the_history_can_be_read_page_by_page():
    session = started(InTurn(), known={"h": "eel"})
    for who in ("Anna", "Bob", "Anna"):
        answered_by(session, "carp", who)
    session.undo()
    assert [one.number for one in session.history(limit=2)] == [5, 4]
    assert [one.number for one in session.history(before=4, limit=2)] == [3, 2]
    assert [one.number for one in session.history(before=2)] == [1]
    assert session.history(before=1) == []
    last = session.history(before=4, limit=1)[0]
    assert (last.by, last.event, last.counts, last.question) == (
        "Bob",
        Answered(1, "carp"),
        True,
        2,
    )
    assert [(one.counts, one.question) for one in session.entries_] == [
        (True, None),
        (True, 1),
        (True, 2),
        (False, None),
        (False, None),
    ]


def test_undo_reverts_the_last_record_of_an_expert():
    session = started()
    first, second, third = (answered_by(session, "carp", who) for who in ("Anna", "Bob", "Bob"))
    session.undo(expert="Anna")
    assert session.log_[-1] == Undone(1)
    assert session.asked_ == [second, third]
    assert rejected(session.undo, expert="Anna") == messages.NOTHING_BY_EXPERT.format(expert="Anna")
    assert session.next_question("Anna").row == first  # it is open again
    session.undo()  # the last of all
    assert session.asked_ == [second]
    assert [one.counts for one in session.entries_] == [False, True, False, False, False]
    replayed = CategoryDiscovery(InTurn()).replay(session.log_, X)
    assert replayed.asked_ == session.asked_


def test_a_change_keeps_its_meaning_when_an_earlier_question_is_undone():
    session = started()
    for who in ("Anna", "Bob", "Cleo"):
        answered_by(session, "carp", who)
    session.change(3, "pike", expert="Bob")
    session.undo(expert="Anna")
    assert session.categories_ == {"carp": (1,), "pike": (2,)}
    assert [(one.number, one.question) for one in session.entries_] == [
        (1, None),
        (2, 1),
        (3, 2),
        (4, 2),
        (5, None),
    ]
    assert session.log_[3] == Changed(3, "pike")  # as it was said
    assert session.change(2, "eel") == 6
    replayed = CategoryDiscovery(InTurn()).replay(session.log_, X)
    assert replayed.categories_ == session.categories_ == {"carp": (1,), "eel": (2,)}


@pytest.mark.parametrize(
    ("say", "sentence"),
    [
        (
            lambda s: s.change(1, "pike", expert="Bob"),
            messages.CANNOT_UNDO.format(
                number=1, later="3 by 'Bob'", description="a changed answer"
            ),
        ),
        (
            lambda s: s.rename("carp", "Carp"),
            messages.CANNOT_UNDO.format(number=1, later="3", description="a renamed category"),
        ),
        (
            lambda s: s.merge("pike", "carp", expert="Bob"),
            messages.CANNOT_UNDO.format(
                number=1, later="3 by 'Bob'", description="merged categories"
            ),
        ),
        (
            lambda s: s.delete("carp", expert="Bob"),
            messages.CANNOT_UNDO.format(
                number=1, later="3 by 'Bob'", description="a deleted category"
            ),
        ),
    ],
)
def test_a_record_that_others_depend_on_cannot_be_undone(say, sentence):
    session = started()
    answered_by(session, "carp", "Anna")
    answered_by(session, "pike", "Bob")
    say(session)
    before = (session.log_, session.categories_)
    assert rejected(session.undo, expert="Anna") == sentence
    assert (session.log_, session.categories_) == before
    session.undo()
    session.undo(expert="Anna")
    assert session.categories_ == {"pike": (1,)}


def test_a_settlement_and_an_answer_can_prevent_an_undo():
    session = started()
    session.label_row("a", "carp", expert="Anna")
    session.label_row("a", "pike", expert="Bob")
    session.settle("a", "pike", expert="Cleo")
    assert rejected(session.undo, expert="Anna") == messages.CANNOT_UNDO.format(
        number=1, later="3 by 'Cleo'", description="a settled disagreement"
    )
    session = started()
    session.next_question("Anna")
    session.name_cluster("carp", expert="Anna")
    session.change(1, None, expert="Cleo")  # b and c are open again
    answered_by(session, "pike", "Bob")
    assert rejected(session.undo, expert="Cleo") == (
        messages.CANNOT_UNDO.format(number=2, later="3 by 'Bob'", description="an answer")
    )


@pytest.mark.parametrize("number", [2, 3, 9])
def test_a_log_that_undoes_what_is_not_in_effect_is_rejected(number):
    log = [Record(Skipped(1)), Record(Undone(1)), Record(Undone(number))]
    assert rejected(CategoryDiscovery(InTurn()).replay, log, X) == (messages.UNDOES_TOO_MUCH)

"""Reviews: accepted, rejected, undecided and reopened rows, and annotations."""

import numpy as np
import pytest

from kernova import CategoryDiscovery, InputError
from kernova.discover.events import Noted, event_from_json, event_to_json


@pytest.fixture
def session():
    started = CategoryDiscovery("random").start(np.arange(12.0).reshape(6, 2), ids="abcdef")
    started.label_row("a", "cod", expert="Anna")
    return started


def test_accepted_rows_are_labelled_and_stay_apart(session):
    session.review.accept(["b", "c", "a"], ["cod", "eel", "eel"], [0.9, 0.8, 0.7], expert="Anna")
    assert session.labels_.tolist() == ["cod", "cod", "eel", None, None, None]
    assert session.results_.is_accepted.tolist() == [False, True, True, False, False, False]
    assert session.opinions_of(1) == {}


def test_an_accepted_row_that_is_labelled_by_hand_is_no_disagreement(session):
    session.review.accept(["b"], ["cod"], [0.9], expert="Anna")
    session.label_row("b", "eel", expert="Bob")
    assert session.n_disagreements_ == 0
    assert not session.results_.is_accepted.any()


def test_rows_that_are_all_labelled_meanwhile_cannot_be_accepted(session):
    with pytest.raises(InputError, match="All of these rows have been labelled meanwhile"):
        session.review.accept(["a"], ["cod"], [0.9])


def test_rejecting_removes_that_label_only(session):
    session.label_rows(["b", "c"], "eel")
    session.review.reject(["a", "b"], "eel")
    assert session.labels_.tolist() == ["cod", None, "eel", None, None, None]
    assert session.results_.annotations.rejected == {0: {"eel": None}, 1: {"eel": None}}
    session.undo()
    assert session.labels_.tolist() == ["cod", "eel", "eel", None, None, None]
    assert session.results_.annotations.rejected == {}


def test_undecided_rows_lose_their_label_and_are_not_asked(session):
    session.review.mark_unsure(["a", "b"])
    session.next_question()
    session.skip(unsure=True)
    results = session.results_
    assert results.is_unsure.sum() == 3
    assert results.n_skipped == 1
    asked = set()
    while (question := session.next_question()) is not None:
        asked.add(question.id)
        session.answer("cod")
    assert len(asked) == 3
    assert asked.isdisjoint("ab")


def test_confidence_belongs_to_an_answer(session):
    question = session.next_question()
    session.answer("eel", confidence="low")
    assert session.results_.confidence_of(question.row) == "low"
    session.label_row(question.id, "eel")
    assert session.results_.confidence_of(question.row) is None


def test_a_confidence_that_is_none_of_the_three_is_rejected(session):
    with pytest.raises(InputError) as raised:
        session.label_row("b", "eel", confidence="sure")
    assert str(raised.value) == (
        'confidence must be "low", "medium", "high" or None; got \'sure\'.'
    )
    assert session.n_records_ == 1


def test_options_are_read_again_and_checked(session):
    session.review.set_option("noun", "galaxy")
    session.review.set_option("further labels", "on")
    assert session.results_.annotations.options == {
        "noun": "galaxy,galaxies", "further labels": "on",
    }  # fmt: skip
    with pytest.raises(InputError) as raised:
        session.review.set_option("further labels", "yes")
    assert str(raised.value) == (
        "There are the options 'noun', and 'further labels' with the values 'on' and 'off'; got "
        "'further labels' and 'yes'."
    )


def test_remarks_leave_the_question_open(session):
    question = session.ask_row("d", "chosen")
    session.review.note("d", "torn fin")
    session.review.flag(["a"])
    assert session.next_question() is question


def test_a_replay_leads_to_the_same_state_and_annotations(session):
    review = session.review
    review.note("b", " torn fin\n")
    review.flag(["b", "c"])
    review.flag(["c"], is_on=False)
    review.tag(["b"], "blurred")
    review.group(["cod"], "fish")
    review.choose_key("cod", "K")
    session.rename("cod", "Atlantic cod")
    review.accept(["b"], ["Atlantic cod"], [1.0])
    review.reopen(["b"])
    again = CategoryDiscovery("random").replay(
        session.records_, np.arange(12.0).reshape(6, 2), ids="abcdef"
    )
    found = again.results_.annotations
    assert found.notes == {1: "torn fin"}
    assert found.flagged == {1: None}
    assert found.tags == {1: {"blurred": None}}
    assert found.headings == {"Atlantic cod": "fish"}
    assert found.keys == {"Atlantic cod": "k"}
    assert again.labels_.tolist() == session.labels_.tolist()
    assert vars(found) == vars(session.results_.annotations)


def test_a_key_belongs_to_one_category(session):
    session.label_row("b", "eel")
    session.review.choose_key("cod", "k")
    session.review.choose_key("eel", "k")
    assert session.results_.annotations.keys == {"eel": "k"}


def test_a_note_may_have_any_text():
    event = Noted(3, "first line\n\u200bsecond")
    with pytest.raises(InputError):
        event_from_json(event_to_json(event))
    assert event_from_json(event_to_json(Noted(3, "a\nb"))) == Noted(3, "a\nb")

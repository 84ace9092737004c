"""Open questions of several experts in one session."""

import threading

import numpy as np
import pytest

from kernova.discover.events import Answered, Passed, RowLabelled, RowsLabelled
from kernova.discover.opinions import Disagreement
from kernova.discover.session import CategoryDiscovery
from kernova.discover.strategies import STRATEGIES
from kernova.errors import quoted
from tests.discover import messages
from tests.discover.scripted import FarthestRow, InTurn, ShuffledRows
from tests.discover.sessions import IDS, X, rejected, started


def test_each_expert_has_a_question_of_their_own():
    session = started(InTurn())
    anna, bob, nobody = (session.next_question(who) for who in (" Anna ", "Bob", None))
    assert [one.row for one in (anna, bob, nobody)] == [0, 3, 6]  # besides whole clusters
    assert session.next_question("Anna") is anna
    assert session.next_question("Cleo").row == 1  # no cluster is left, but rows are
    assert list(session.open_questions_) == ["Anna", "Bob", None, "Cleo"]
    session.answer("carp", expert="Bob")
    assert (anna.number, session.next_question("Anna").number) == (1, 2)
    assert session.next_question("Bob").row == 4
    session.release("Anna")
    session.release("Anna")
    assert "Anna" not in session.open_questions_
    assert session.next_question("Dora").row == 0


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_row_is_asked_of_exactly_one_expert(name):
    table = np.concatenate([X, X[:3] + 9])
    session = CategoryDiscovery(name).start(table)
    experts = ["Anna", "Bob", "Cleo"]
    while any([session.next_question(who) for who in experts]):
        rows = [one.row for one in session.open_questions_.values()]
        assert len(set(rows)) == len(rows)
        assert not set(rows) & set(session.asked_)
        for who in list(session.open_questions_):
            session.answer(f"category {session.n_questions_ % 3}", expert=who)
    assert sorted(session.asked_) == list(range(11))
    assert session.questions_by_expert_ == {"Anna": 4, "Bob": 4, "Cleo": 3}
    again = CategoryDiscovery(name).replay(session.records_[:7], table)
    assert again.next_question("Anna").row == (
        CategoryDiscovery(name).replay(session.log_[:7], table).next_question().row
    )


@pytest.mark.parametrize("strategy", [ShuffledRows(), FarthestRow()])
def test_a_strategy_for_one_expert_works_for_several(strategy):
    session = started(strategy)
    rows = [session.next_question(who).row for who in "ABCDEFGH"]
    assert sorted(rows) == list(range(8))
    assert session.next_question("I") is None
    assert session.next_question("H").reason == (messages.NEXT_FREE_ROW)
    session.answer("carp", expert="C")
    assert session.next_question("I") is None
    session.release("B")
    assert session.next_question("I").row == rows[1]


def test_a_row_can_be_asked_for():
    session = started()
    first = session.next_question("Anna").row
    other = next(row for row in range(8) if row != first)
    question = session.ask_row(IDS[other], "The model does not know it.", expert="Anna")
    assert (question.row, question.id, question.number) == (other, IDS[other], 1)
    assert (question.reason, question.members.tolist()) == ("The model does not know it.", [other])
    assert session.next_question("Anna") is question
    assert session.ask_row(IDS[other], "Again.", expert="Anna").reason == "Again."
    assert rejected(session.ask_row, IDS[other], "Mine.", expert="Bob") == (
        messages.ROW_IS_OPEN.format(id=IDS[other])
    )
    session.answer("carp", expert="Anna")
    assert session.log_ == (Answered(other, "carp"),)
    assert rejected(session.ask_row, IDS[other], "Once more.") == (
        messages.ROW_IS_CLOSED.format(id=IDS[other])
    )
    assert rejected(session.ask_row, "z", "What?") == messages.NO_SUCH_ID.format(id="z")


def test_a_record_closes_only_the_question_of_its_expert():
    session = started(InTurn())
    bob = session.next_question("Bob")
    session.next_question("Anna")
    session.label_row("h", "carp", expert="Anna")
    assert list(session.open_questions_) == ["Bob"]
    assert session.next_question("Bob").row == bob.row


def test_a_row_labelled_in_the_meantime_gets_a_further_opinion():
    session = started(InTurn())
    row = session.next_question("Bob").row
    session.label_row(IDS[row], "carp", expert="Anna")
    assert session.open_questions_["Bob"].row == row  # Bob is still looking at it
    session.answer("pike", expert="Bob")
    assert session.log_ == (RowLabelled(row, "carp"), RowLabelled(row, "pike"))
    assert session.disagreements_ == [
        Disagreement(row, {"Anna": "carp", "Bob": "pike"}, label="pike")
    ]
    assert (session.n_questions_, session.label_of(row)) == (0, "pike")


def test_the_next_question_is_not_about_a_row_labelled_in_the_meantime():
    session = started(InTurn())
    session.next_question("Bob")
    session.label_rows(["a", "b"], "carp", expert="Anna")
    assert session.next_question("Bob").row == 2
    session.undo(expert="Anna")
    assert session.next_question("Bob").row == 2


def test_skipping_a_row_labelled_in_the_meantime_keeps_its_label():
    session = started(InTurn())
    session.next_question("Bob")
    session.label_row("a", "carp", expert="Anna")
    session.skip(expert="Bob")
    assert session.log_[-1] == Passed(0)
    assert (session.n_questions_, session.label_of(0)) == (0, "carp")
    assert session.next_question("Bob").row == 1


def test_labelling_a_cluster_leaves_out_rows_open_for_others():
    session = started(InTurn())
    session.next_question("Anna")  # a, for a to c
    session.ask_row("b", "Bob shall see it.", expert="Bob")
    session.name_cluster("carp", expert="Anna")
    assert session.log_ == (Answered(0, "carp", (2,)),)
    session.next_question("Anna")
    session.name_cluster("pike", rows=["b", "c", "e", "f"], expert="Anna")
    assert session.log_[-1] == Answered(3, "pike", (4, 5))
    session.label_row("b", "eel", expert="Cleo")
    session.name_cluster("perch", rows=["b", "g"], expert="Bob")
    assert session.log_[-1] == RowsLabelled((1, 6), "perch")
    assert session.label_of(1) == "perch"


def test_preparation_runs_alongside_other_calls():
    has_begun, go_on = threading.Event(), threading.Event()

    class Slow(ShuffledRows):
        def start(self, preparation):
            has_begun.set()
            assert go_on.wait(60)
            return super().start(preparation)

    session = started(Slow())
    worker = threading.Thread(target=session.prepare)
    worker.start()
    assert has_begun.wait(60)
    session.label_row("a", "carp", expert="Anna")
    session.rename("carp", "Carp")
    assert session.label_of(0) == "Carp"
    go_on.set()
    worker.join(60)
    assert session.next_question().row != 0


@pytest.mark.parametrize("name", ["", " \n", "a\x00b", 7, "x" * 101])
def test_a_bad_expert_name_is_rejected(name):
    sentence = messages.BAD_EXPERT.format(name=quoted(name))
    session = started()
    for act in (session.next_question, session.release):
        assert rejected(act, name) == sentence
    assert rejected(session.label_row, "a", "carp", expert=name) == sentence
    assert session.log_ == ()

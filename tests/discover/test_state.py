"""State of a session: labels, opinions of several experts, and disagreements."""

import pytest

from kernova.discover.events import (
    Deleted,
    Passed,
    RowsLabelled,
    Settled,
)
from kernova.discover.opinions import Disagreement
from kernova.discover.session import CategoryDiscovery
from tests.discover import messages
from tests.discover.scripted import InTurn
from tests.discover.sessions import X, answered_by, rejected, started


def test_several_rows_are_labelled_in_one_step():
    session = started()
    assert session.label_rows(["h", "b", "h"], "carp", expert="Anna") == 1
    assert session.log_ == (RowsLabelled((7, 1), "carp"),)
    assert session.categories_ == {"carp": (7, 1)}
    session.undo(expert="Anna")
    assert session.categories_ == {}
    assert rejected(session.label_rows, [], "carp") == (messages.NO_ROW_TO_LABEL)
    assert rejected(session.label_rows, ["a", "z"], "carp") == messages.NO_SUCH_ID.format(id="z")


def test_a_deleted_category_leaves_rows_skipped_or_open():
    session = started(known={"h": "carp"})
    session.next_question()
    session.name_cluster("carp")  # a, and b and c with it
    session.label_row("g", "carp")
    session.label_row("f", "pike")
    session.delete(" carp")
    assert session.log_[-1] == Deleted("carp")
    assert session.categories_ == {"pike": (5,)}
    assert (session.n_questions_, session.n_skipped_, session.curve_) == (1, 1, [0])
    assert session.next_question().row == 1
    assert rejected(session.delete, "carp") == messages.NO_SUCH_CATEGORY.format(
        name="carp", known="'pike'"
    )
    session.undo()
    assert session.categories_ == {"carp": (7, 0, 1, 2, 6), "pike": (5,)}


def disputed():
    session = started()
    session.label_rows(["a", "b"], "carp", expert="Anna")
    session.label_row("a", "pike", expert="Bob")
    return session


def test_the_latest_opinion_is_the_label_until_the_disagreement_is_settled():
    session = disputed()
    session.label_row("a", "eel")  # whoever gives no name is one expert
    opinions = {"Anna": "carp", "Bob": "pike", None: "eel"}
    assert session.disagreements_ == [Disagreement(0, opinions, "eel")]
    assert session.opinions_of(0) == opinions
    session.settle("a", "carp", expert="Cleo")
    assert session.log_[-1] == Settled(0, "carp")
    assert (session.disagreements_, session.label_of(0)) == ([], "carp")
    session.label_row("a", "carp", expert="Bob")  # nothing new
    assert session.disagreements_ == []
    session.label_row("a", "pike", expert="Bob")
    assert [one.row for one in session.disagreements_] == [0]
    session.undo(expert="Cleo")
    assert rejected(session.settle, "b", "carp") == (messages.NOTHING_TO_SETTLE.format(id="b"))


@pytest.mark.parametrize(
    ("say", "label"),
    [
        (lambda s: s.label_row("a", "carp", expert="Bob"), "carp"),
        (lambda s: s.undo(expert="Bob"), "carp"),
        (lambda s: s.merge("carp", "pike"), "carp"),
        (lambda s: s.delete("pike"), "carp"),
        (lambda s: s.delete("carp"), "pike"),
    ],
)
def test_a_disagreement_can_end_by_itself(say, label):
    session = disputed()
    assert session.n_disagreements_ == 1
    say(session)
    assert (session.disagreements_, session.n_disagreements_) == ([], 0)
    assert session.label_of(0) == label


def test_changing_another_experts_answer_is_an_opinion():
    session = started()
    session.next_question("Anna")
    session.name_cluster("carp", expert="Anna")
    session.change(1, "pike", expert="Bob")
    assert [one.row for one in session.disagreements_] == [0, 1, 2]
    session.rename("pike", "Pike")
    assert session.opinions_of(1) == {"Anna": "carp", "Bob": "Pike"}
    session.settle("a", "Pike")
    session.rename("Pike", "pike")
    session.delete("pike")  # Anna's word is left, of all three rows
    assert session.categories_ == {"carp": (0, 1, 2)}
    session.change(1, None, expert="Bob")
    assert (session.disagreements_, session.categories_, session.opinions_of(0)) == ([], {}, {})
    assert session.n_skipped_ == 1


def test_prior_labels_are_not_an_opinion():
    session = started(known={"a": "carp"})
    session.label_row("a", "pike", expert="Anna")
    assert session.disagreements_ == []


def test_an_opinion_that_changes_no_label_does_not_restart_the_strategy():
    class Counted(InTurn):
        n_started = 0

        def start(self, preparation):
            Counted.n_started += 1
            return super().start(preparation)

    session = started(Counted())
    answered_by(session, "carp", "Anna")
    session.next_question("Bob")
    session.label_row("a", "carp", expert="Bob")
    session.next_question("Bob")
    assert Counted.n_started == 1
    session.label_row("a", "pike", expert="Bob")
    session.next_question("Bob")
    assert Counted.n_started == 2


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ([RowsLabelled((1, 1), "x")], messages.ROW_TWICE),
        ([RowsLabelled((1, 8), "x")], messages.ROW_OUT_OF_RANGE.format(row=8, n_rows=8)),
        ([Passed(8)], messages.ROW_OUT_OF_RANGE.format(row=8, n_rows=8)),
        ([Settled(1, "x")], messages.SETTLED_TOO_SOON.format(row=1)),
    ],
)
def test_a_log_of_another_table_is_rejected(log, reason):
    assert rejected(CategoryDiscovery(InTurn()).replay, log, X) == (
        messages.LOG_DOES_NOT_FIT.format(reason=reason)
    )

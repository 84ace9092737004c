"""Taking back among several experts, and where they disagree: whose word stands, and until when."""

import numpy as np
import pytest

from kernova.discover.events import (
    Changed,
    Deleted,
    Passed,
    Record,
    RowsLabelled,
    Settled,
    Skipped,
    Undone,
)
from kernova.discover.session import CategoryDiscovery
from kernova.discover.state import Disagreement
from kernova.errors import InputError
from tests.discover.scripted import InTurn

X = np.random.default_rng(1).normal(size=(8, 2))
IDS = list("abcdefgh")


def begun(strategy=None, **words):
    return CategoryDiscovery(strategy or InTurn()).start(X, ids=IDS, **words)


def refused(act, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        act(*args, **kwargs)
    return str(caught.value)


def answered(session, label, expert):
    row = session.next_question(expert).row
    session.answer(label, expert=expert)
    return row


# --- taking back -----------------------------------------------------------------------------


def test_undo_takes_back_ones_own_last_word_wherever_it_stands():
    session = begun()
    first, second, third = (answered(session, "carp", who) for who in ("Anna", "Bob", "Bob"))
    session.undo(expert="Anna")
    assert session.log_[-1] == Undone(1)
    assert session.asked_ == [second, third]
    assert refused(session.undo, expert="Anna") == "There is nothing of 'Anna' to undo."
    assert session.next_question("Anna").row == first  # it is open again
    session.undo()  # the last of all
    assert session.asked_ == [second]
    assert [one.counts for one in session.said_] == [False, True, False, False, False]
    replayed = CategoryDiscovery(InTurn()).replay(session.log_, X)
    assert replayed.asked_ == session.asked_


def test_a_change_keeps_its_meaning_when_an_earlier_question_goes():
    session = begun()
    for who in ("Anna", "Bob", "Cleo"):
        answered(session, "carp", who)
    session.change(3, "pike", expert="Bob")
    session.undo(expert="Anna")
    assert session.categories_ == {"carp": (1,), "pike": (2,)}
    assert [(one.number, one.question) for one in session.said_] == [
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


IN_THE_WAY = "Step 1 cannot be taken back: step {} builds on it ({}). Take that back first.".format


@pytest.mark.parametrize(
    ("say", "sentence"),
    [
        (
            lambda s: s.change(1, "pike", expert="Bob"),
            IN_THE_WAY("3 by 'Bob'", "an answer that was changed"),
        ),
        (
            lambda s: s.rename("carp", "Carp"),
            IN_THE_WAY("3", "a category that was renamed"),
        ),
        (
            lambda s: s.merge("pike", "carp", expert="Bob"),
            IN_THE_WAY("3 by 'Bob'", "categories that were merged"),
        ),
        (
            lambda s: s.delete("carp", expert="Bob"),
            IN_THE_WAY("3 by 'Bob'", "a category that was deleted"),
        ),
    ],
)
def test_what_others_built_on_cannot_be_taken_back(say, sentence):
    session = begun()
    answered(session, "carp", "Anna")
    answered(session, "pike", "Bob")
    say(session)
    before = (session.log_, session.categories_)
    assert refused(session.undo, expert="Anna") == sentence
    assert (session.log_, session.categories_) == before
    session.undo()
    session.undo(expert="Anna")
    assert session.categories_ == {"pike": (1,)}


def test_a_settlement_and_an_answer_stand_in_the_way_too():
    session = begun()
    session.label_row("a", "carp", expert="Anna")
    session.label_row("a", "pike", expert="Bob")
    session.settle("a", "pike", expert="Cleo")
    assert refused(session.undo, expert="Anna") == IN_THE_WAY(
        "3 by 'Cleo'", "a disagreement that was settled"
    )
    session = begun()
    session.next_question("Anna")
    session.name_cluster("carp", expert="Anna")
    session.change(1, None, expert="Cleo")  # b and c are open again
    answered(session, "pike", "Bob")
    assert refused(session.undo, expert="Cleo") == (
        "Step 2 cannot be taken back: step 3 by 'Bob' builds on it (an answer). Take that back "
        "first."
    )


def test_several_rows_are_labelled_in_one_step():
    session = begun()
    assert session.label_rows(["h", "b", "h"], "carp", expert="Anna") == 1
    assert session.log_ == (RowsLabelled((7, 1), "carp"),)
    assert session.categories_ == {"carp": (7, 1)}
    session.undo(expert="Anna")
    assert session.categories_ == {}
    assert refused(session.label_rows, [], "carp") == (
        "There is no row to label: name at least one."
    )
    assert refused(session.label_rows, ["a", "z"], "carp") == "No row has the id 'z'."


def test_a_deleted_category_leaves_rows_skipped_or_open():
    session = begun(known={"h": "carp"})
    session.next_question()
    session.name_cluster("carp")  # a, and b and c with it
    session.label_row("g", "carp")
    session.label_row("f", "pike")
    session.delete(" carp")
    assert session.log_[-1] == Deleted("carp")
    assert session.categories_ == {"pike": (5,)}
    assert (session.n_questions_, session.n_skipped_, session.curve_) == (1, 1, [0])
    assert session.next_question().row == 1
    assert refused(session.delete, "carp") == "There is no category 'carp'. There are 'pike'."
    session.undo()
    assert session.categories_ == {"carp": (7, 0, 1, 2, 6), "pike": (5,)}


# --- disagreements ---------------------------------------------------------------------------


def disputed():
    session = begun()
    session.label_rows(["a", "b"], "carp", expert="Anna")
    session.label_row("a", "pike", expert="Bob")
    return session


def test_the_last_word_stands_until_the_disagreement_is_settled():
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
    assert refused(session.settle, "b", "carp") == (
        "There is nothing to settle about the row 'b': fewer than two experts have named it."
    )


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


def test_changing_anothers_answer_is_an_opinion_and_skipping_it_ends_all():
    session = begun()
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


def test_labels_known_before_are_nobodys_opinion():
    session = begun(known={"a": "carp"})
    session.label_row("a", "pike", expert="Anna")
    assert session.disagreements_ == []


def test_an_opinion_that_changes_nothing_does_not_start_the_strategy_anew():
    class Counted(InTurn):
        n_started = 0

        def start(self, preparation):
            Counted.n_started += 1
            return super().start(preparation)

    session = begun(Counted())
    answered(session, "carp", "Anna")
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
        ([RowsLabelled((1, 1), "x")], "it names a row twice at once"),
        ([RowsLabelled((1, 8), "x")], "it speaks of row 8, but the table has 8"),
        ([Passed(8)], "it speaks of row 8, but the table has 8"),
        ([Settled(1, "x")], "row 1 was settled, but fewer than two had named it"),
    ],
)
def test_a_log_of_another_table_is_refused(log, reason):
    assert refused(CategoryDiscovery(InTurn()).replay, log, X) == (
        f"The log does not fit the table, or is damaged: {reason}."
    )


@pytest.mark.parametrize("number", [2, 3, 9])
def test_a_log_that_undoes_what_does_not_count_is_refused(number):
    log = [Record(Skipped(1)), Record(Undone(1)), Record(Undone(number))]
    assert refused(CategoryDiscovery(InTurn()).replay, log, X) == (
        "The log is damaged: it undoes more than was done."
    )


def test_a_row_tells_the_question_that_named_it():
    session = begun()
    first = session.next_question().id
    session.answer("carp")
    second = session.next_question().id
    session.skip()
    (third, *_) = [name for name in session.ids_ if name not in (first, second)]
    session.label_row(third, "pike")
    session.label_row(first, "eel", expert="Anna")
    session.change(2, "cod")
    questions = [session.question_of(row) for row in range(len(session.ids_))]
    assert questions == [int(number) or None for number in session.label_questions_]
    places = [session.ids_.index(name) for name in (first, second, third)]
    assert [questions[place] for place in places] == [None, 2, None]

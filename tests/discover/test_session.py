"""The loop as an expert meets it: what can be said when, and what is then so."""

import numpy as np
import pandas as pd
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
from kernova.discover.preparation import Preparation
from kernova.discover.questions import Question
from kernova.discover.session import CategoryDiscovery
from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES
from kernova.errors import InputError
from tests.discover.scripted import FarthestRow, ShuffledRows

X = np.random.default_rng(1).normal(size=(8, 2))
IDS = list("abcdefgh")


def begun(strategy=None, **words):
    words = {"ids": IDS, **words}
    return CategoryDiscovery(strategy or ShuffledRows()).start(X, **words)


def answered(session, *labels):
    for label in labels:
        session.next_question()
        session.skip() if label is None else session.answer(label)
    return session


def refused(act, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        act(*args, **kwargs)
    return str(caught.value)


# --- questions -------------------------------------------------------------------------------


def test_a_question_names_the_users_row_and_stays_open_until_something_is_said():
    session = begun(FarthestRow())
    question = session.next_question()
    assert question is session.next_question()
    assert (question.number, question.id) == (1, IDS[question.row])
    assert question.row in question.members
    assert question.evidence == {"far": 0.0}
    session.skip()
    assert session.next_question().number == 2


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_asks_each_row_once_and_comes_back_from_its_log(name):
    rng = np.random.default_rng(3)
    table = np.concatenate([rng.normal(size=(25, 3)), rng.normal(9, 0.1, size=(5, 3))])
    session = CategoryDiscovery(name).start(table)
    labels = ["bulk"] * 25 + ["rare"] * 5
    while (question := session.next_question()) is not None:
        session.answer(labels[question.row])
        if question.number == 9:
            session.change(4, "odd")
            session.label_row(28, "rare")
            session.undo()
        if question.number in (3, 9, 20):
            again = CategoryDiscovery(name).replay(session.log_, table)
            one, other = session.next_question(), again.next_question()
            assert (one.row, one.number, one.reason) == (other.row, other.number, other.reason)
            assert dict(one.evidence) == dict(other.evidence)
    assert sorted(session.asked_) == list(range(30))
    assert {"bulk", "rare", "odd"} >= set(session.categories_) >= {"bulk", "rare"}


def test_the_default_strategy_is_the_default():
    session = CategoryDiscovery().start(X)
    named = CategoryDiscovery(DEFAULT_STRATEGY).start(X)
    assert session.next_question().row == named.next_question().row


def test_the_hierarchy_is_built_once_whatever_is_undone(monkeypatch):
    started = []

    class Counted(FarthestRow):
        def start(self, preparation):
            started.append(preparation)
            return super().start(preparation)

    session = answered(begun(Counted()), "carp", "pike", "eel")
    assert len(started) == 1  # an ordinary answer is only told
    session.undo()
    session.change(1, "cod")
    session.rename("pike", "Pike")
    session.next_question()
    assert len(started) == 2  # three corrections, and one fresh asker
    assert started[0] is started[1]
    assert isinstance(started[0], Preparation)


def test_when_all_rows_are_heard_of_there_is_no_question():
    session = answered(begun(), *["carp"] * 3, *[None] * 3)
    for row in set(range(8)) - set(session.asked_):
        session.label_row(IDS[row], "eel")
    assert session.next_question() is None
    assert refused(session.answer, "carp") == NOTHING_OPEN
    session.undo()
    assert session.next_question() is not None
    assert CategoryDiscovery(ShuffledRows()).start([[1.0]], known=["a"]).next_question() is None


def test_a_strategy_that_repeats_itself_is_told_so():
    class Stubborn:
        name = "stubborn"

        def start(self, preparation):
            return self

        def propose(self):
            return Question(2, np.array([2]), "Again.")

        def observe(self, answer):
            pass

    session = answered(begun(Stubborn()), "carp")
    assert refused(session.next_question) == (
        "The strategy 'stubborn' asks again for the row 'c', which has been answered; correct the "
        "strategy."
    )


# --- answers and corrections -----------------------------------------------------------------


def test_every_kind_of_thing_said_is_one_event():
    session = begun(known={"h": "carp", "a": 3})
    answered(session, "pike", None)
    first, second = session.asked_
    third = session.next_question()
    session.name_cluster("eel")
    others = tuple(row for row in third.members.tolist() if row != third.row)
    free = tuple(row for row in others if row not in (7, 0, first))
    session.label_row("h", "cod")
    session.change(1, "eel")
    session.rename("eel", "Eel")
    session.merge("Eel", "3", "cod", "3")
    session.undo()
    assert session.log_ == (
        PriorLabels((7, 0), ("carp", "3")),
        Answered(first, "pike"),
        Skipped(second),
        Answered(third.row, "eel", free),
        RowLabelled(7, "cod"),
        Changed(1, "eel"),
        Renamed("eel", "Eel"),
        Merged("Eel", ("3", "cod")),
        Undone(),
    )
    assert session.categories_ == {
        "cod": (7,),
        "3": (0,),
        "Eel": (first, *((second,) if second in free else ()), third.row, *(set(free) - {second})),
    }


def test_undo_goes_back_to_the_beginning_but_not_behind_prior_labels():
    session = answered(begun(known=[None, "carp", *[np.nan] * 6]), "pike", None)
    session.rename("carp", "Carp")
    before = session.asked_
    for _ in range(3):
        session.undo()
    assert session.categories_ == {"carp": (1,)}
    assert (session.curve_, session.n_questions_) == ([], 0)
    assert refused(session.undo) == "There is nothing to undo."
    assert len(session.log_) == 7
    assert answered(session, "x", "y").asked_ == before


def test_changing_an_answer_takes_the_rows_named_with_it_along_unless_relabelled_since():
    session = begun()
    question = session.next_question()
    others = [row for row in range(8) if row != question.row][:3]
    session.name_cluster("carp", rows=[IDS[row] for row in others])
    session.label_row(IDS[others[0]], "eel")
    session.change(1, "pike")
    assert session.categories_ == {
        "pike": (question.row, others[1], others[2]),
        "eel": (others[0],),
    }
    session.change(1, None)  # as if it had been skipped: what came with it is open again
    assert session.categories_ == {"eel": (others[0],)}
    assert (session.n_skipped_, session.n_labelled_) == (1, 1)
    asked = answered(session, *["x"] * 6).asked_
    assert set(others[1:]) <= set(asked)


def test_a_skipped_question_can_be_answered_later():
    session = answered(begun(), "carp", None)
    session.change(2, "pike")
    assert list(session.categories_) == ["carp", "pike"]
    assert session.curve_ == [1, 2]
    assert session.n_skipped_ == 0


def test_a_category_without_rows_is_gone_and_its_name_free():
    session = answered(begun(), "carp", "pike")
    session.change(1, "pike")
    assert list(session.categories_) == ["pike"]
    assert session.curve_ == [1, 1]
    session.rename("pike", "carp")
    assert list(session.categories_) == ["carp"]


def test_labelling_the_open_row_answers_the_question():
    session = begun()
    question = session.next_question()
    session.label_row(question.id, "carp")
    assert session.log_ == (Answered(question.row, "carp"),)
    assert session.next_question().number == 2


NEEDS_NAME = (
    "A category needs a name; got {label!r}. To pass over the row, skip the question.".format
)


@pytest.mark.parametrize("label", ["", " \n", None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_a_label_that_says_nothing_is_refused(label):
    session = begun()
    session.next_question()
    assert refused(session.answer, label) == NEEDS_NAME(label=label)
    assert session.log_ == ()


NOTHING_OPEN = "No question is open: call next_question() first."
NO_SUCH_QUESTION = "There is no question {} to change: there are questions 1 to 3."
NO_COD = "There is no category 'cod'. There are 'carp', 'pike'."


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda s: s.answer("x"), NOTHING_OPEN),
        (lambda s: s.skip(), NOTHING_OPEN),
        (lambda s: s.name_cluster("x"), NOTHING_OPEN),
        (lambda s: s.change(0, "x"), NO_SUCH_QUESTION.format(0)),
        (lambda s: s.change(4, "x"), NO_SUCH_QUESTION.format(4)),
        (lambda s: s.change("1", "x"), "A question goes by its number, counted from 1; got '1'."),
        (lambda s: s.change(1, " "), NEEDS_NAME(label=" ")),
        (lambda s: s.label_row("z", "x"), "No row has the id 'z'."),
        (lambda s: s.label_row(0, "x"), "No row has the id 0."),
        (lambda s: s.label_row(["a"], "x"), "No row has the id ['a']."),
        (lambda s: s.rename("cod", "x"), NO_COD),
        (
            lambda s: s.rename("carp", "pike"),
            "There is a category 'pike' already. To make one of both, merge 'carp' into it.",
        ),
        (lambda s: s.rename("carp", " carp"), "The category 'carp' has that name already."),
        (
            lambda s: s.merge("carp"),
            "Nothing to merge into 'carp': name at least one other category.",
        ),
        (lambda s: s.merge("carp", "carp"), "The category 'carp' cannot be merged into itself."),
        (lambda s: s.merge("cod", "carp"), NO_COD),
        (lambda s: s.merge("carp", "cod"), NO_COD),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(act, sentence):
    session = answered(begun(), "carp", None, "pike")
    before = (session.log_, session.categories_, session.curve_)
    assert refused(act, session) == sentence
    assert (session.log_, session.categories_, session.curve_) == before


def test_before_anything_was_said():
    session = begun()
    assert (session.categories_, session.curve_, session.log_) == ({}, [], ())
    assert refused(session.rename, "a", "b") == (
        "There is no category 'a'. None has been named yet."
    )
    assert refused(session.change, 1, "a") == (
        "There is no question 1 to change: nothing was asked yet."
    )
    unbegun = CategoryDiscovery()
    for act in (unbegun.next_question, unbegun.undo, lambda: unbegun.log_, unbegun.skip):
        assert refused(act) == "This session has not begun: call start(X) first."
    unbegun.close()


# --- projects and logs -----------------------------------------------------------------------


def test_a_project_goes_on_where_it_stood(tmp_path):
    path = tmp_path / "fish"
    with begun(known={"a": "carp"}, project=path) as session:
        answered(session, "pike", None)
        log, question = session.log_, session.next_question()
    with begun(known={"a": "carp"}, project=path) as again:
        assert again.log_ == log
        assert again.next_question().row == question.row
    with begun(project=path) as again:  # prior labels need not be given twice
        assert again.labels_[0] == "carp"
    for other in ({"a": "cod"}, {"b": "carp"}):
        assert refused(begun, known=other, project=path) == (
            "The prior labels are not those that the project was begun with. Give the same ones, "
            "or none, or begin another project."
        )
    begun(project=path).close()  # a refusal leaves no lock behind


def test_a_second_start_lets_go_of_the_first(tmp_path):
    session = answered(begun(project=tmp_path / "one"), "carp")
    assert refused(session.start, X, ids=["a"]) == (
        "There are 1 ids for 8 rows; give one for each row."
    )
    assert refused(lambda: session.log_) == "This session has not begun: call start(X) first."
    with begun(project=tmp_path / "one") as again:
        assert list(again.categories_) == ["carp"]
    again.next_question()
    assert refused(again.answer, "pike") == (
        f"Could not save to {tmp_path / 'one'}: Cannot operate on a closed database. What was said "
        "last does not count; what was said before is safe."
    )
    assert list(again.categories_) == ["carp"]


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ([Skipped(8)], "it speaks of row 8, but the table has 8"),
        ([RowLabelled(9, "x")], "it speaks of row 9, but the table has 8"),
        ([Answered(1, "x", (8,))], "it speaks of row 8, but the table has 8"),
        ([Answered(1, "x", (1,))], "it names a row twice at once"),
        ([PriorLabels((1, 1), ("x", "y"))], "it names a row twice at once"),
        ([PriorLabels((1,), ("x", "y"))], "prior labels come first, one for each row"),
        ([Skipped(1), PriorLabels((2,), ("x",))], "prior labels come first, one for each row"),
        ([Skipped(1), Answered(1, "x")], "row 1 was asked, but had been heard of before"),
    ],
)
def test_a_log_of_another_table_is_refused(log, reason):
    session = CategoryDiscovery(ShuffledRows())
    assert refused(session.replay, log, X) == (
        f"The log does not fit the table, or is damaged: {reason}."
    )


def test_a_log_that_undoes_too_much_is_refused():
    for log in ([Undone()], [PriorLabels((1,), ("x",)), Undone()]):
        assert refused(CategoryDiscovery(ShuffledRows()).replay, log, X) == (
            "The log is damaged: it undoes more than was done."
        )

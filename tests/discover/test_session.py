"""Session as one expert uses it: questions, answers and corrections."""

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
from tests.discover import messages
from tests.discover.scripted import FarthestRow, ShuffledRows
from tests.discover.sessions import IDS, X, rejected, started


def answered(session, *labels):
    for label in labels:
        session.next_question()
        session.skip() if label is None else session.answer(label)
    return session


def test_a_question_has_the_id_of_its_row_and_stays_open_until_a_record():
    session = started(FarthestRow())
    question = session.next_question()
    assert question is session.next_question()
    assert (question.number, question.id) == (1, IDS[question.row])
    assert question.row in question.members
    assert question.evidence == {"far": 0.0}
    session.skip()
    assert session.next_question().number == 2


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_asks_each_row_once_and_is_restored_from_its_log(name):
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
    seen = []

    class Counted(FarthestRow):
        def start(self, preparation):
            seen.append(preparation)
            return super().start(preparation)

    session = answered(started(Counted()), "carp", "pike", "eel")
    assert len(seen) == 1  # an ordinary answer is only told
    session.undo()
    session.change(1, "cod")
    session.rename("pike", "Pike")
    session.next_question()
    assert len(seen) == 2  # three corrections, and one fresh asker
    assert seen[0] is seen[1]
    assert isinstance(seen[0], Preparation)


def test_there_is_no_question_when_all_rows_are_labelled_or_skipped():
    session = answered(started(ShuffledRows()), *["carp"] * 3, *[None] * 3)
    for row in set(range(8)) - set(session.asked_):
        session.label_row(IDS[row], "eel")
    assert session.next_question() is None
    assert rejected(session.answer, "carp") == messages.NO_OPEN_QUESTION
    session.undo()
    assert session.next_question() is not None
    assert CategoryDiscovery(ShuffledRows()).start([[1.0]], known=["a"]).next_question() is None


def test_a_strategy_that_repeats_a_row_raises():
    class Stubborn:
        name = "stubborn"

        def start(self, preparation):
            return self

        def propose(self):
            return Question(2, np.array([2]), "Again.")

        def observe(self, answer):
            pass

    session = answered(started(Stubborn()), "carp")
    assert rejected(session.next_question) == (
        messages.ASKED_AGAIN.format(strategy="stubborn", id="c")
    )


def test_every_call_records_one_event():
    session = started(ShuffledRows(), known={"h": "carp", "a": 3})
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


def test_undo_reverts_everything_but_prior_labels():
    session = answered(started(ShuffledRows(), known=[None, "carp", *[np.nan] * 6]), "pike", None)
    session.rename("carp", "Carp")
    before = session.asked_
    for _ in range(3):
        session.undo()
    assert session.categories_ == {"carp": (1,)}
    assert (session.curve_, session.n_questions_) == ([], 0)
    assert rejected(session.undo) == messages.NOTHING_TO_UNDO
    assert len(session.log_) == 7
    assert answered(session, "x", "y").asked_ == before


def test_changing_an_answer_changes_rows_labelled_with_it_unless_relabelled_since():
    session = started(ShuffledRows())
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
    session = answered(started(ShuffledRows()), "carp", None)
    session.change(2, "pike")
    assert list(session.categories_) == ["carp", "pike"]
    assert session.curve_ == [1, 2]
    assert session.n_skipped_ == 0


def test_a_category_without_rows_is_removed_and_its_name_free():
    session = answered(started(ShuffledRows()), "carp", "pike")
    session.change(1, "pike")
    assert list(session.categories_) == ["pike"]
    assert session.curve_ == [1, 1]
    session.rename("pike", "carp")
    assert list(session.categories_) == ["carp"]


def test_labelling_the_open_row_answers_the_question():
    session = started(ShuffledRows())
    question = session.next_question()
    session.label_row(question.id, "carp")
    assert session.log_ == (Answered(question.row, "carp"),)
    assert session.next_question().number == 2


@pytest.mark.parametrize("label", ["", " \n", None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_an_empty_label_is_rejected(label):
    session = started(ShuffledRows())
    session.next_question()
    assert rejected(session.answer, label) == messages.NEEDS_NAME.format(label=label)
    assert session.log_ == ()


NO_COD = messages.NO_SUCH_CATEGORY.format(name="cod", known="'carp', 'pike'")


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda s: s.answer("x"), messages.NO_OPEN_QUESTION),
        (lambda s: s.skip(), messages.NO_OPEN_QUESTION),
        (lambda s: s.name_cluster("x"), messages.NO_OPEN_QUESTION),
        (lambda s: s.change(0, "x"), messages.NO_SUCH_QUESTION.format(number=0, last=3)),
        (lambda s: s.change(4, "x"), messages.NO_SUCH_QUESTION.format(number=4, last=3)),
        (lambda s: s.change("1", "x"), messages.NOT_A_QUESTION_NUMBER.format(value="1")),
        (lambda s: s.change(1, " "), messages.NEEDS_NAME.format(label=" ")),
        (lambda s: s.label_row("z", "x"), messages.NO_SUCH_ID.format(id="z")),
        (lambda s: s.label_row(0, "x"), messages.NO_SUCH_ID.format(id=0)),
        (lambda s: s.label_row(["a"], "x"), messages.NO_SUCH_ID.format(id=["a"])),
        (lambda s: s.rename("cod", "x"), NO_COD),
        (
            lambda s: s.rename("carp", "pike"),
            messages.CATEGORY_EXISTS.format(new="pike", old="carp"),
        ),
        (lambda s: s.rename("carp", " carp"), messages.SAME_NAME.format(name="carp")),
        (
            lambda s: s.merge("carp"),
            messages.NOTHING_TO_MERGE.format(name="carp"),
        ),
        (lambda s: s.merge("carp", "carp"), messages.MERGE_INTO_ITSELF.format(name="carp")),
        (lambda s: s.merge("cod", "carp"), NO_COD),
        (lambda s: s.merge("carp", "cod"), NO_COD),
    ],
)
def test_bad_requests_are_rejected_and_change_nothing(act, sentence):
    session = answered(started(ShuffledRows()), "carp", None, "pike")
    before = (session.log_, session.categories_, session.curve_)
    assert rejected(act, session) == sentence
    assert (session.log_, session.categories_, session.curve_) == before


def test_an_empty_session():
    session = started(ShuffledRows())
    assert (session.categories_, session.curve_, session.log_) == ({}, [], ())
    assert rejected(session.rename, "a", "b") == (messages.NO_CATEGORY_YET.format(name="a"))
    assert rejected(session.change, 1, "a") == (messages.NO_QUESTION_YET.format(number=1))
    unbegun = CategoryDiscovery()
    for act in (unbegun.next_question, unbegun.undo, lambda: unbegun.log_, unbegun.skip):
        assert rejected(act) == messages.NOT_STARTED
    unbegun.close()


def test_a_project_is_resumed(tmp_path):
    path = tmp_path / "fish"
    with started(ShuffledRows(), known={"a": "carp"}, project=path) as session:
        answered(session, "pike", None)
        log, question = session.log_, session.next_question()
    with started(ShuffledRows(), known={"a": "carp"}, project=path) as again:
        assert again.log_ == log
        assert again.next_question().row == question.row
    with started(ShuffledRows(), project=path) as again:  # prior labels need not be given twice
        assert again.labels_[0] == "carp"
    for other in ({"a": "cod"}, {"b": "carp"}):
        assert rejected(started, ShuffledRows(), known=other, project=path) == (
            messages.OTHER_PRIOR_LABELS
        )
    started(ShuffledRows(), project=path).close()  # a refusal leaves no lock behind


def test_a_second_start_closes_the_first(tmp_path):
    session = answered(started(ShuffledRows(), project=tmp_path / "one"), "carp")
    assert rejected(session.start, X, ids=["a"]) == (
        messages.WRONG_NUMBER_OF_IDS.format(n_ids=1, n_rows=8)
    )
    assert rejected(lambda: session.log_) == messages.NOT_STARTED
    with started(ShuffledRows(), project=tmp_path / "one") as again:
        assert list(again.categories_) == ["carp"]
    again.next_question()
    assert rejected(again.answer, "pike") == (
        messages.NOT_SAVED.format(path=tmp_path / "one", reason=messages.CLOSED)
    )
    assert list(again.categories_) == ["carp"]


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ([Skipped(8)], messages.ROW_OUT_OF_RANGE.format(row=8, n_rows=8)),
        ([RowLabelled(9, "x")], messages.ROW_OUT_OF_RANGE.format(row=9, n_rows=8)),
        ([Answered(1, "x", (8,))], messages.ROW_OUT_OF_RANGE.format(row=8, n_rows=8)),
        ([Answered(1, "x", (1,))], messages.ROW_TWICE),
        ([PriorLabels((1, 1), ("x", "y"))], messages.ROW_TWICE),
        ([PriorLabels((1,), ("x", "y"))], messages.PRIOR_LABELS_FIRST),
        ([Skipped(1), PriorLabels((2,), ("x",))], messages.PRIOR_LABELS_FIRST),
        ([Skipped(1), Answered(1, "x")], messages.ASKED_BUT_CLOSED.format(row=1)),
    ],
)
def test_a_log_of_another_table_is_rejected(log, reason):
    session = CategoryDiscovery(ShuffledRows())
    assert rejected(session.replay, log, X) == (messages.LOG_DOES_NOT_FIT.format(reason=reason))


def test_a_log_that_undoes_too_much_is_rejected():
    for log in ([Undone()], [PriorLabels((1,), ("x",)), Undone()]):
        assert rejected(CategoryDiscovery(ShuffledRows()).replay, log, X) == (
            messages.UNDOES_TOO_MUCH
        )

"""Results: the read-only view of a session."""

import pytest

from kernova.discover.results import ResultAttribute
from kernova.discover.session import CategoryDiscovery
from kernova.discover.stopping import Progress
from tests.discover.scripted import InTurn
from tests.discover.sessions import X, started


def test_the_question_that_labelled_a_row():
    session = started()
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


def test_progress_counts_answers_and_the_categories_that_they_found():
    """Labels that no question asked for, and skipped questions, are no answers."""
    session = started(known={"h": "pike"})
    session.label_row("g", "roach")
    for label in ("carp", None, "eel", "carp", "pike"):
        session.next_question()
        session.skip() if label is None else session.answer(label)
    # Carp was found by the first answer and eel by the second; eel was asked about once.
    assert session.results_.progress == Progress(
        asked=5, seen=4, last_new=3, n_named=4, named_since=2, n_once=1, sum_of_firsts=3
    )


def test_the_former_name_of_the_entries_still_works():
    session = started()
    session.label_row("a", "carp")
    with pytest.warns(DeprecationWarning, match="said_ is now called entries_"):
        assert session.said_ == session.entries_


def test_results_follow_the_session_and_cannot_be_set():
    session = started()
    results = session.results_
    session.label_row("a", "carp")
    assert results.categories == session.categories_ == {"carp": (0,)}
    session.undo()  # which replaces the state
    assert results.categories == session.categories_ == {}
    with pytest.raises(AttributeError, match="cannot be set"):
        session.categories_ = {}
    assert isinstance(CategoryDiscovery.categories_, ResultAttribute)


def test_the_parts_of_a_session_can_be_read(tmp_path):
    strategy = InTurn()
    with started(strategy, project=tmp_path / "fish") as session:
        assert session.strategy_ is strategy
        assert session.preparation_.n_rows == len(X)
        assert session.project_.path == tmp_path / "fish"
    assert started().project_ is None

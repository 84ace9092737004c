"""Decisions about many rows: one entry each, recorded once, refused where rows have changed."""

import pytest

from kernova import InputError
from kernova.workbench.review.decisions import Decisions, Selection
from kernova.workbench.review.query import ReviewQuery
from kernova.workbench.review.reviewing import Reviewing
from tests.workbench.review.conftest import learn


@pytest.fixture
def decisions(bench):
    return bench.part(Decisions)


@pytest.fixture
def save(bench):
    return lambda request: bench.questions.save(request).saved


@pytest.fixture
def session(bench):
    return bench.discovery.session


def suggested(bench, **wanted):
    """Select all suggestions of a query, as the page does."""
    query = ReviewQuery(status="suggested", **wanted)
    page = bench.part(Reviewing).page(query, 0, 1)
    return Selection(query=query, count=page.total, learnt=page.learnt)


def test_all_suggestions_from_a_probability_on_are_accepted(bench, decisions, save, session):
    selection = suggested(bench, category="carp", lowest=0.8)
    saved = save(decisions.accept("Anna", selection, "accept"))
    assert saved.n_rows == selection.count > 50
    assert saved.words == f"{selection.count} suggestions accepted: carp."
    results = session.results_
    assert results.is_accepted.sum() == results.n_accepted == selection.count
    accepted = bench.part(Reviewing).page(ReviewQuery(status="accepted"), 0, 500).rows
    assert min(one.probability for one in accepted) >= 0.8
    state = bench.state()
    assert state.accepted == selection.count
    assert {one.name: one.accepted for one in state.categories}["carp"] == selection.count
    session.undo(expert="Anna")
    assert session.results_.n_accepted == 0


def test_a_count_that_has_changed_is_refused(bench, decisions, save, session):
    selection = suggested(bench)
    page = bench.part(Reviewing).page(ReviewQuery(status="suggested"), 0, 1)
    session.label_row(session.ids_[page.rows[0].row], "eel", expert="Bob")
    n_records = session.n_records_
    with pytest.raises(InputError) as raised:
        save(decisions.accept("Anna", selection, "accept"))
    assert str(raised.value) == (
        f"{selection.count} rows matched when they were counted, but {selection.count - 1} match "
        "by now, since labels have changed. Nothing was recorded. Look at the rows again, and "
        "repeat."
    )
    assert session.n_records_ == n_records


def test_what_was_shown_is_accepted_although_it_was_learnt_again(bench, decisions, save, session):
    page = bench.part(Reviewing).page(ReviewQuery(status="suggested", order="margin"), 0, 5)
    shown = {one.row: one.suggested for one in page.rows}
    for row in range(30):  # everything is something else now
        session.label_row(session.ids_[row], "perch", expert="Anna")
    for row in (30, 31, 32):
        session.label_row(session.ids_[row], bench.kinds[row], expert="Anna")
    rows = tuple(row for row in shown if row not in (30, 31, 32))
    learn(bench)
    selection = Selection(rows=rows, learnt=page.learnt)
    # The categories of then are gone where no row has them any more.
    names = set(session.categories_)
    wanted = {row: shown[row] for row in rows if shown[row] in names}
    if wanted:
        save(decisions.accept("Anna", selection, "accept"))
        assert {row: session.label_of(row) for row in wanted} == wanted


def test_suggestions_that_are_not_known_any_longer_are_refused(bench, decisions, save, session):
    selection = suggested(bench)
    bench.learning._runs.clear()  # as if eight others had followed
    session.label_row(session.ids_[100], "perch", expert="Anna")
    learn(bench)
    with pytest.raises(InputError) as raised:
        save(decisions.accept("Anna", selection, "accept"))
    assert str(raised.value) == (
        "The suggestions that were shown are not known any longer, since they were learnt again "
        "several times. Nothing was recorded. Look at the rows again, and repeat."
    )


def test_rows_labelled_by_hand_are_not_accepted(decisions, save, bench):
    with pytest.raises(InputError) as raised:
        save(decisions.accept("Anna", Selection(rows=(0, 1)), "accept"))
    assert str(raised.value) == (
        "None of these rows has a suggestion to accept: they are labelled, or the model takes "
        "them for no category."
    )
    page = bench.part(Reviewing).page(ReviewQuery(status="suggested"), 0, 1)
    saved = save(decisions.accept("Anna", Selection(rows=(0, page.rows[0].row)), "other"))
    assert saved.n_rows == 1


def test_rejected_categories_are_not_suggested_again(bench, decisions, save, session):
    reviewing = bench.part(Reviewing)
    rows = reviewing.numbers(ReviewQuery(status="suggested", category="carp"), 0, 4).rows
    save(decisions.reject("Anna", Selection(rows=tuple(rows)), "carp", "reject"))

    def suggestions():
        found = reviewing.page(ReviewQuery(), 0, 500).rows
        return [one.suggested for one in found if one.row in rows]

    assert "carp" not in suggestions()
    assert [bench.learning.guess(row).suggested for row in rows].count("carp") == 0
    learn(bench)
    assert "carp" not in suggestions()
    session.undo(expert="Anna")
    learn(bench)
    assert suggestions() == ["carp"] * 4
    with pytest.raises(InputError) as raised:
        save(decisions.reject("Anna", Selection(rows=tuple(rows)), "whale", "other"))
    assert str(raised.value) == (
        "There is no category 'whale' that rows could be rejected from. Choose one of the present "
        "categories."
    )


def test_a_label_by_hand_ends_a_rejection(bench, decisions, save, session):
    save(decisions.reject("Anna", Selection(rows=(0,)), "carp", "reject"))
    save(decisions.move("Anna", Selection(rows=(0,)), "carp", "move"))
    assert session.label_of(0) == "carp"
    learn(bench)  # no contradiction between the label and the rejected category


def test_accepted_rows_are_not_learnt_from(bench, decisions, save, session):
    before = learn(bench)
    save(decisions.accept("Anna", suggested(bench), "accept"))
    state = bench.learning.state()
    assert (state.n_labelled, state.is_stale, state.generation) == (30, False, before)
    rows = bench.learning.present_rows()
    labelled = (rows.labels != None).sum()  # noqa: E711
    assert labelled == 30
    save(decisions.move("Anna", Selection(rows=(60, 61)), "eel", "move"))
    assert bench.learning.state().is_stale
    learn(bench)
    assert bench.learning.state().n_labelled == 32
    assert session.results_.n_accepted > 0


def test_accepted_rows_are_taken_back_by_a_rule(bench, decisions, save, session):
    for category, expert in (("carp", "Anna"), ("pike", "Bob")):
        save(decisions.accept(expert, suggested(bench, category=category), f"accept {category}"))
    of = {name: len(rows) for name, rows in session.categories_.items()}
    rule = ReviewQuery(status="accepted", expert="Bob")
    count = bench.part(Reviewing).page(rule, 0, 1).total
    saved = save(decisions.reopen("Anna", Selection(query=rule, count=count), "take back"))
    assert saved.words == f"{count} rows opened again."
    assert len(session.categories_["pike"]) == of["pike"] - count
    assert len(session.categories_["carp"]) == of["carp"]
    accepted = bench.part(Reviewing).page(ReviewQuery(status="accepted"), 0, 500).rows
    middle = accepted[len(accepted) // 2].probability
    doubtful = ReviewQuery(status="accepted", category="carp", below=middle)
    count = bench.part(Reviewing).page(doubtful, 0, 1).total
    assert 0 < count < len(accepted)
    save(decisions.reopen("Anna", Selection(query=doubtful, count=count), "take back more"))
    assert len(session.categories_["carp"]) == of["carp"] - count


def test_undecided_moved_and_flagged_rows(decisions, save, session):
    save(decisions.mark_unsure("Anna", Selection(rows=(0, 100)), "unsure"))
    assert session.results_.is_unsure[[0, 100]].all()
    save(decisions.move("Anna", Selection(rows=(0, 100, 101)), "perch", "move"))
    assert [session.label_of(row) for row in (0, 100, 101)] == ["perch"] * 3
    save(decisions.flag("Anna", Selection(rows=(5, 6)), "flag", is_on=True))
    save(decisions.flag("Anna", Selection(rows=(5,)), "unflag", is_on=False))
    assert list(session.results_.annotations.flagged) == [6]
    for _ in range(4):
        session.undo(expert="Anna")
    assert session.n_labelled_ == 30


def test_a_repeated_request_is_recorded_once(bench, decisions, save, session):
    selection = suggested(bench, category="carp")
    first = save(decisions.accept("Anna", selection, "a key"))
    assert save(decisions.accept("Anna", selection, "a key")).number == first.number
    others = [
        decisions.reopen("Anna", selection, "a key"),
        decisions.accept("Bob", selection, "a key"),
        decisions.accept("Anna", Selection(rows=(1,)), "a key"),
    ]
    for request in others:
        with pytest.raises(InputError, match=r"^The key 'a key' has been used for another request"):
            save(request)
    assert session.n_records_ == 31


def test_a_row_outside_the_table_is_refused(decisions):
    with pytest.raises(InputError, match=r"^There is no row 999: the table has 240 rows"):
        decisions.accept("Anna", Selection(rows=(3, 999)), None)


def test_an_empty_selection_is_refused(decisions, save):
    with pytest.raises(InputError, match=r"^There is no row: select at least one"):
        save(decisions.flag("Anna", Selection(), None, is_on=True))


def test_the_map_knows_which_labels_are_accepted(bench, decisions, save):
    save(decisions.accept("Anna", suggested(bench, category="carp"), "accept"))
    content, version = bench.map.accepted()
    found = [row for row, one in enumerate(memoryview(content).cast("H")) if one]
    assert found == sorted(
        bench.part(Reviewing).numbers(ReviewQuery(status="accepted"), 0, 500).rows
    )
    assert version == bench.map.labels()[1]

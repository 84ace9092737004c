"""Planned overlap: which rows, at which rate, blind, and after undo and restart."""

import numpy as np
import pytest

from kernova.discover.events import OptionSet, Passed, RowLabelled
from kernova.discover.store import open_project
from kernova.errors import InputError
from kernova.workbench.colleagues.measured import Agreement
from kernova.workbench.colleagues.overlap import planned_rows
from tests.web.in_process import fish, opened


@pytest.fixture
def bench(tmp_path):
    fish(tmp_path)
    bench = opened(tmp_path, strategy="random")
    yield bench
    bench.close()


def plan(bench, fraction, experts=2):
    bench.discovery.session.review.plan_overlap(fraction, experts)


def answer(bench, expert, label="carp"):
    """Answer the expert's question; return it."""
    question = bench.question(expert).question
    bench.questions.save(bench.questions.answer(expert, question.row, label, None, None))
    return question


def test_planned_rows_are_a_random_sample_that_depends_on_the_project_only():
    for permille in (0, 50, 100, 1000):
        some = planned_rows("a project", 100_000, permille)
        assert abs(some.mean() - permille / 1000) < 0.004
    first, second = planned_rows("a", 50_000, 100), planned_rows("b", 50_000, 100)
    assert abs((first & second).mean() - 0.01) < 0.002
    assert (planned_rows("a", 60_000, 100)[:50_000] == first).all()
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.02


def test_without_a_plan_nobody_is_asked_for_comparison(bench):
    for expert in ("Anna", "Bob") * 20:
        assert not answer(bench, expert).is_blind
    assert bench.question("Anna", source="overlap").message == (
        "There is no row left to compare: all planned ones have enough opinions."
    )


@pytest.mark.parametrize("fraction", [0.2, 0.5, 1.0])
def test_questions_for_comparison_come_at_the_planned_rate(bench, fraction):
    plan(bench, fraction)
    shown = [answer(bench, expert) for expert in ("Anna", "Bob") * 25]
    n_blind = sum(one.is_blind for one in shown)
    planned = planned_rows(bench.discovery.session.project_.id, 60, round(1000 * fraction))
    expected = fraction / (1 + fraction) * len(shown)
    n_planned = sum(planned[one.row] for one in shown if not one.is_blind)
    assert n_blind <= min(expected + 1, n_planned)
    assert n_blind >= min(expected, n_planned) - 5
    assert all(planned[one.row] for one in shown if one.is_blind)


def test_questions_for_comparison_hide_the_answers_of_others(bench):
    plan(bench, 1.0)
    first = answer(bench, "Anna", "carp")
    bench.corrections.label("Cleo", [first.row], "pike", None)
    question = bench.question("Bob", source="overlap").question
    assert (question.row, question.is_blind, question.members) == (first.row, True, [])
    assert question.reason == (
        "For comparison: this row was labelled by another expert. That answer is shown after yours."
    )
    assert (question.known_members, question.n_members) == ({}, 0)
    card = question.card
    assert (card.label, card.question, card.opinions) == (None, None, [])
    assert bench.overlap.hidden_rows({"Bob"}) == {first.row}
    assert bench.overlap.hidden_rows({"Anna"}) == set()
    assert bench.question("Bob").question.row == first.row  # the same until it is answered
    bench.questions.save(bench.questions.answer("Bob", first.row, "eel", None, None))
    session = bench.discovery.session
    assert session.log_[-1] == RowLabelled(first.row, "eel", is_blind=True)
    assert session.opinions_of(first.row) == {"Anna": "carp", "Bob": "eel"}
    assert bench.overlap.hidden_rows({"Bob"}) == set()
    assert bench.question("Cleo", source="overlap").question is None  # two experts are enough


def test_nobody_is_asked_twice_nor_about_own_answers(bench):
    plan(bench, 1.0, experts=3)
    mine = [answer(bench, "Anna").row for _ in range(5)]
    assert bench.question("Anna", source="overlap").question is None
    seen = []
    for _ in range(5):
        row = bench.question("Bob", source="overlap").question.row
        bench.questions.save(bench.questions.skip("Bob", row, None))
        seen.append(row)
    assert seen == mine
    assert bench.discovery.session.log_[-1] == Passed(mine[-1], is_blind=True)
    assert bench.question("Bob", source="overlap").question is None
    bench.questions.save(bench.corrections.undo("Bob", None))
    assert bench.question("Bob", source="overlap").question.row == mine[-1]
    # No two experts at the same row at the same time.
    assert bench.question("Cleo", source="overlap").question.row == mine[0]


def test_when_the_strategy_has_nothing_left_what_is_planned_is_asked(bench):
    plan(bench, 1.0)
    rows = bench.discovery.session.ids_
    for _ in rows:
        answer(bench, "Anna")
    assert bench.question("Anna").question is None
    asked = [answer(bench, "Bob") for _ in rows]
    assert all(one.is_blind for one in asked)
    assert bench.question("Bob").question is None
    reply = bench.overlap.reply("Bob")
    assert (reply.rows, reply.complete, reply.waiting) == (60, 60, 0)
    agreement = bench.part(Agreement).reply()
    assert (agreement.rows, agreement.raw, agreement.fleiss) == (60, 1.0, None)
    assert agreement.seen_rows == 0


def test_the_plan_and_the_blind_answers_survive_a_restart(bench, tmp_path):
    plan(bench, 1.0)
    rows = [answer(bench, "Anna").row for _ in range(3)]
    question = bench.question("Bob", source="overlap").question
    bench.close()
    again = opened(tmp_path, strategy="random")
    # The question was open when the server ended; the answer still counts as blind.
    again.questions.save(again.questions.answer("Bob", question.row, "pike", None, None))
    assert again.discovery.session.log_[-1] == RowLabelled(rows[0], "pike", is_blind=True)
    assert again.overlap.reply("Bob").waiting == 2
    assert again.part(Agreement).reply().rows == 1
    again.close()
    with open_project(tmp_path / "fish.kernova-project") as project:
        assert project.events[0] == OptionSet("overlap", "1000,2")


def test_answers_given_after_seeing_another_are_counted_apart(bench):
    row = answer(bench, "Anna").row
    bench.questions.save(bench.corrections.label("Bob", [row], "carp", None))
    reply = bench.part(Agreement).reply()
    assert (reply.rows, reply.raw, reply.seen_rows, reply.seen_same) == (0, None, 1, 1)


def test_what_was_formed_blind_stays_when_answers_are_changed_later(bench):
    plan(bench, 1.0)
    row = answer(bench, "Anna", "carp").row
    bench.questions.save(bench.corrections.change("Anna", 1, "tench", None))  # nobody else yet
    bench.question("Bob", source="overlap")
    bench.questions.save(bench.questions.answer("Bob", row, "pike", None, None))
    bench.questions.save(bench.corrections.change("Anna", 1, "pike", None))
    bench.questions.save(bench.corrections.rename(None, "pike", "northern pike", None))
    reply = bench.part(Agreement).reply("Anna", "Bob")
    assert (reply.rows, reply.raw) == (1, 0.0)
    assert [(one.first, one.second, one.rows) for one in reply.confused] == [
        ("northern pike", "tench", 1)
    ]
    assert reply.table.names == ["northern pike", "tench"]
    assert reply.table.counts == [[0, 0], [1, 0]]  # lines of Anna, columns of Bob


@pytest.mark.parametrize(
    ("fraction", "experts", "message"),
    [
        (1.5, 2, "The fraction of rows must be from 0 to 1; got 1.5."),
        (float("nan"), 2, "The fraction of rows must be from 0 to 1; got nan."),
        (0.1, 1, "The number of experts for each row must be from 2 to 20; got 1."),
        (0.1, 21, "The number of experts for each row must be from 2 to 20; got 21."),
    ],
)
def test_plans_that_cannot_be(bench, fraction, experts, message):
    with pytest.raises(InputError) as error:
        bench.discovery.session.review.plan_overlap(fraction, experts)
    assert str(error.value) == message

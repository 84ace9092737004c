"""First questions about a large table: asked from a sample, and none of them waits."""

from contextlib import contextmanager
from threading import Event, Thread
from time import sleep

import numpy as np
import pytest

from kernova import CategoryDiscovery
from kernova.discover import sampling
from kernova.discover.preparation import Preparation
from kernova.discover.simulation import simulate
from kernova.discover.strategies.novelty_density import NoveltyDensityStrategy
from kernova.discover.strategies.random import RandomOrder

N_ROWS, N_SAMPLED = 400, 4
SAID = "Asked from a sample of 80 of 400 rows, while the rest is prepared."


class Planned(NoveltyDensityStrategy):
    """The strategy with its needs named, which may be told when to start on all rows."""

    needs = ("neighbors",)

    def __init__(self):
        super().__init__()
        self.may_start = Event()
        self.may_start.set()

    def start(self, preparation):
        if preparation.n_rows == N_ROWS:
            assert self.may_start.wait(60)
        return super().start(preparation)


class Plain:
    """A strategy of a user: its askers cannot be copied, nor asked besides other experts."""

    name = "plain"
    needs = ("rows",)

    def start(self, preparation):
        return PlainAsker(NoveltyDensityStrategy().start(preparation))


class PlainAsker:
    def __init__(self, asker):
        self.asker = asker

    def propose(self):
        return self.asker.propose()

    def observe(self, answer):
        self.asker.observe(answer)


@pytest.fixture(autouse=True)
def small_numbers(monkeypatch):
    monkeypatch.setattr(sampling, "LARGE_TABLE", 300)
    monkeypatch.setattr(sampling, "SAMPLE_ROWS", 80)
    monkeypatch.setattr(sampling, "_ROWS_PER_QUESTION", N_ROWS // N_SAMPLED)


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2, 3], [250, 100, 40, 10])
    order = random.permutation(N_ROWS)
    X = 6 * random.normal(size=(4, 3))[labels] + random.normal(size=(N_ROWS, 3))
    return X[order], [f"c{label}" for label in labels[order]]


def ask(session, labels, n):
    """Answer n questions truly; return their rows and reasons."""
    asked = []
    for _ in range(n):
        question = session.next_question()
        asked.append((question.row, question.reason))
        session.answer(labels[question.row])
    return asked


@pytest.mark.parametrize("strategy", [Planned, Plain])
def test_a_session_asks_what_a_simulation_asks(table, strategy):
    X, labels = table
    every_name = [*labels[:-1], "never found"]  # the simulation does not end early
    wanted = simulate(X, every_name, strategy(), max_questions=12).asked.tolist()
    for is_prepared in (True, False):
        session = CategoryDiscovery(strategy()).start(X)
        if is_prepared:
            session.prepare()
        assert [row for row, _ in ask(session, every_name, 12)] == wanted


def test_the_first_questions_come_from_the_sample_and_say_so(table):
    X, labels = table
    session = CategoryDiscovery(Planned()).start(X)
    asked = ask(session, labels, N_SAMPLED + 2)
    sample = set(Preparation(X).sample(80).rows.tolist())
    assert all(row in sample and SAID in reason for row, reason in asked[:N_SAMPLED])
    assert not any("sample" in reason for _, reason in asked[N_SAMPLED:])


def test_no_question_waits_for_the_rest(table):
    X, labels = table
    strategy = Planned()
    strategy.may_start.clear()
    session = CategoryDiscovery(strategy).start(X)
    assert not session.is_ready_
    session.prepare(sample_only=True)
    with preparing(session, strategy):
        # More than come from the sample in any case: this expert is fast.
        asked = []
        for _ in range(N_SAMPLED + 5):
            assert session.is_ready_
            asked += ask(session, labels, 1)
        assert all(SAID in reason for _, reason in asked)
        assert len({row for row, _ in asked}) == N_SAMPLED + 5
        last_open = session.next_question()
    assert session.is_ready_
    assert session.next_question() == last_open
    session.answer(labels[last_open.row])
    following = session.next_question()
    assert "sample" not in following.reason
    replayed = CategoryDiscovery(Planned()).replay(session.log_, X)
    assert replayed.next_question().row == following.row


def test_a_resumed_session_does_not_wait_either(table):
    X, labels = table
    first = CategoryDiscovery(Planned()).start(X)
    asked = {row for row, _ in ask(first, labels, N_SAMPLED + 3)}
    strategy = Planned()
    strategy.may_start.clear()
    session = CategoryDiscovery(strategy).replay(first.log_, X)
    with preparing(session, strategy):
        while not session.is_ready_:
            sleep(0.01)
        question = session.next_question()
        assert SAID in question.reason
        assert question.row not in asked
    session.release()
    assert session.next_question().row == first.next_question().row


@contextmanager
def preparing(session, strategy):
    """Prepare in another thread, which waits until the end of the block."""
    rest = Thread(target=session.prepare, daemon=True)
    rest.start()
    yield
    strategy.may_start.set()
    rest.join(60)
    assert not rest.is_alive()


@pytest.mark.parametrize("strategy", [Planned, Plain])
@pytest.mark.parametrize("n", [2, N_SAMPLED, N_SAMPLED + 3])
def test_undoing_and_replaying_lead_to_the_same_questions(table, strategy, n):
    X, labels = table
    session = CategoryDiscovery(strategy()).start(X)
    asked = ask(session, labels, n)
    following = session.next_question().row
    assert CategoryDiscovery(strategy()).replay(session.log_, X).next_question().row == following
    session.undo()
    assert session.next_question().row == asked[-1][0]
    session.undo()
    assert [row for row, _ in ask(session, labels, 2)] == [row for row, _ in asked[-2:]]
    assert session.next_question().row == following
    session.change(1, "another")
    changed = CategoryDiscovery(strategy()).replay(session.log_, X)
    assert session.next_question().row == changed.next_question().row


@pytest.mark.parametrize("strategy", [Planned, Plain])
def test_experts_are_asked_about_different_rows(table, strategy):
    session = CategoryDiscovery(strategy()).start(table[0])
    rows = [session.next_question(name).row for name in "abcdef"]
    assert len(set(rows)) == len(rows)


def test_members_and_alternatives_are_rows_of_the_table(table):
    X, _ = table
    question = CategoryDiscovery(Planned()).start(X).next_question()
    sample = set(Preparation(X).sample(80).rows.tolist())
    assert question.row in question.members
    assert set(question.members.tolist()) | set(question.alternatives) <= sample
    near = np.linalg.norm(X[question.members] - X[question.row], axis=1)
    assert near.max() < np.ptp(X, axis=0).max() / 2


def test_answers_outside_the_sample_are_used_later(table):
    X, labels = table
    session = CategoryDiscovery(Planned()).start(X)
    outside = sorted(set(range(N_ROWS)) - set(Preparation(X).sample(80).rows.tolist()))
    session.label_rows(outside, "seen")
    asked = {row for row, _ in ask(session, labels, 80)}
    assert asked.isdisjoint(outside)
    assert session.next_question() is None


@pytest.mark.parametrize("strategy", [NoveltyDensityStrategy(), RandomOrder()])
def test_a_strategy_that_names_no_needs_is_asked_about_all_rows(table, strategy, monkeypatch):
    monkeypatch.delattr(type(strategy), "needs", raising=False)
    assert sampling.n_sampled_questions(strategy, 10**6) == 0
    assert "sample" not in CategoryDiscovery(strategy).start(table[0]).next_question().reason

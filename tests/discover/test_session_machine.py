"""Random operations against a plain model, with restarts from disk in between."""

import copy
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from kernova.discover.events import event_from_json, event_to_json
from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError
from tests.discover.scripted import FarthestRow, ShuffledRows

N_ROWS = 12
IDS = [f"fish-{row}" for row in range(N_ROWS)]
NAMES = st.sampled_from(["carp", "pike", "eel", "Eel", "3"])
ROWS = st.integers(0, N_ROWS - 1)


class Model:
    """What an expert would write down: a label per row, and which rows came with which question."""

    def __init__(self):
        self.labels = {}  # row -> name, or None where passed over; in the order of hearing
        self.asked = []  # rows of the questions
        self.cluster = {}  # row named with a question's row -> the question's place

    def give(self, row, name):
        self.labels[row] = name
        self.cluster.pop(row, None)

    def answer(self, row, name, others=()):
        self.asked.append(row)
        self.give(row, name)
        for other in others:
            self.give(other, name)
            self.cluster[other] = len(self.asked)

    def change(self, number, name):
        followers = [row for row, question in self.cluster.items() if question == number]
        asked = self.asked[number - 1]
        if asked not in followers:
            self.labels[asked] = name
            self.cluster.pop(asked, None)
        for row in followers:
            if name is None and row not in self.asked:
                del self.labels[row], self.cluster[row]
            else:
                self.labels[row] = name

    def replace(self, old, new):
        self.labels = {row: new if name in old else name for row, name in self.labels.items()}

    @property
    def categories(self):
        found = {}
        for row, name in self.labels.items():
            if name is not None:
                found.setdefault(name, []).append(row)
        return {name: tuple(rows) for name, rows in found.items()}

    @property
    def curve(self):
        order = list(self.labels)
        met = [
            {self.labels[row] for row in order[: order.index(asked) + 1]} - {None}
            for asked in self.asked
        ]
        return [len(names) for names in met]


class SessionMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())

    def teardown(self):
        if hasattr(self, "session"):
            self.session.close()
        shutil.rmtree(self.folder)

    @initialize(
        heeds=st.booleans(),
        prior=st.dictionaries(ROWS, NAMES, max_size=3),
        seed=st.integers(0, 3),
    )
    def begin(self, heeds, prior, seed):
        self.X = np.random.default_rng(seed).normal(size=(N_ROWS, 2)).round(1)
        self.strategy = FarthestRow() if heeds else ShuffledRows()
        self.model = Model()
        for row, name in prior.items():
            self.model.give(row, name)
        self.past = []  # the model before each thing said
        self.n_said = int(bool(prior))
        self.open_row = None  # what is being asked, if anyone has looked since the last event
        known = {IDS[row]: name for row, name in prior.items()}
        self.session = self.fresh().start(self.X, IDS, known, project=self.folder / "fish")

    def fresh(self):
        return CategoryDiscovery(self.strategy, random_state=7)

    def said(self):
        self.past.append(copy.deepcopy(self.model))
        self.n_said += 1
        self.open_row = None
        return self.model

    def asked(self):
        question = self.session.next_question()
        if question is None:
            assert set(self.model.labels) == set(range(N_ROWS))
            with pytest.raises(InputError, match=r"^No question is open: call next_question"):
                self.session.skip()
        else:
            assert question.id == IDS[question.row]
            assert question.number == len(self.model.asked) + 1
            assert question.row not in self.model.labels
            self.open_row = question.row
        return question

    @rule(name=NAMES)
    def answer(self, name):
        question = self.asked()
        if question is not None:
            self.session.answer(f" {name} ")
            self.said().answer(question.row, name)

    @rule()
    def skip(self):
        question = self.asked()
        if question is not None:
            self.session.skip()
            self.said().answer(question.row, None)

    @rule(name=NAMES, chosen=st.none() | st.sets(ROWS, max_size=4))
    def name_cluster(self, name, chosen):
        question = self.asked()
        if question is None:
            return
        rows = question.members.tolist() if chosen is None else sorted(chosen)
        self.session.name_cluster(name, None if chosen is None else [IDS[row] for row in rows])
        free = [row for row in rows if self.model.labels.get(row) is None and row != question.row]
        self.said().answer(question.row, name, free)

    @rule(row=ROWS, name=NAMES, looks=st.booleans(), follows=st.booleans())
    def label_row(self, row, name, looks, follows):
        if looks:
            self.asked()
        if follows and self.model.cluster:  # a row that was named with another is of more interest
            row = _one_of(self.model.cluster, row)
        is_asked = row == self.open_row
        self.session.label_row(IDS[row], name)
        if is_asked:
            self.said().answer(row, name)
        else:
            self.said().give(row, name)

    @rule(number=st.integers(0, N_ROWS), name=st.none() | NAMES, exists=st.booleans())
    def change(self, number, name, exists):
        if exists and self.model.asked:
            number = _one_of(range(1, len(self.model.asked) + 1), number)
        if 1 <= number <= len(self.model.asked):
            self.session.change(number, name)
            self.said().change(number, name)
        else:
            with pytest.raises(InputError, match=f"^There is no question {number} to change: "):
                self.session.change(number, name)

    @rule(old=NAMES, new=NAMES, exists=st.booleans())
    def rename(self, old, new, exists):
        if exists and self.model.categories:
            old = _one_of(self.model.categories, len(old))
        if old in self.model.categories and new not in self.model.categories:
            self.session.rename(old, new)
            self.said().replace({old}, new)
        else:
            with pytest.raises(InputError):
                self.session.rename(old, new)

    @rule(into=NAMES, others=st.lists(NAMES, max_size=3))
    def merge(self, into, others):
        known = set(self.model.categories)
        if others and into not in others and {into, *others} <= known:
            self.session.merge(into, *others)
            self.said().replace(set(others), into)
        else:
            with pytest.raises(InputError):
                self.session.merge(into, *others)

    @rule()
    def undo(self):
        if self.past:
            self.session.undo()
            self.model = self.past.pop()
            self.n_said += 1
            self.open_row = None
        else:
            with pytest.raises(InputError, match=r"^There is nothing to undo\.$"):
                self.session.undo()

    @rule(looks=st.booleans())
    def restart(self, looks):
        before = self.asked() if looks else None
        log = self.session.log_
        self.session.close()
        self.session = self.fresh().start(self.X, IDS, project=self.folder / "fish")
        self.open_row = None
        assert self.session.log_ == log
        assert tuple(event_from_json(event_to_json(event)) for event in log) == log
        if looks:
            _check_same_question(before, self.asked())
            replayed = self.fresh().replay(log, self.X, IDS)
            _check_same_question(before, replayed.next_question())

    @invariant()
    def agrees(self):
        if not hasattr(self, "session"):
            return
        assert list(self.session.categories_.items()) == list(self.model.categories.items())
        assert self.session.curve_ == self.model.curve
        assert self.session.asked_ == self.model.asked
        assert self.session.labels_.tolist() == [self.model.labels.get(r) for r in range(N_ROWS)]
        assert len(self.session.log_) == self.n_said
        assert self.session.n_questions_ == len(self.model.asked)
        assert self.session.n_skipped_ == sum(
            self.model.labels[row] is None for row in self.model.asked
        )
        assert self.session.n_labelled_ == sum(map(len, self.model.categories.values()))


def _one_of(things, number):
    return sorted(things)[number % len(things)]


def _check_same_question(one, other):
    assert (one is None) == (other is None)
    if one is not None:
        assert (one.row, one.id, one.number, one.reason) == (
            other.row,
            other.id,
            other.number,
            other.reason,
        )
        assert one.members.tolist() == other.members.tolist()
        assert one.evidence == other.evidence


@pytest.mark.soak
def test_a_session_is_what_a_plain_model_says(long_bar):
    """10,000 random operations in runs of up to 50; the model knows nothing of logs."""
    n_runs = long_bar(400)
    run_machine(
        SessionMachine,
        settings=settings(
            max_examples=n_runs,
            stateful_step_count=50,
            deadline=None,
            # A fixed seed by default; the soak looks somewhere else each time.
            derandomize=not os.environ.get("KERNOVA_SOAK"),
            suppress_health_check=list(HealthCheck),
        ),
    )

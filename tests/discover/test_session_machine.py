"""Random requests of several experts, against a plain model, with restarts in between."""

import copy
import itertools
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
from kernova.discover.log import EventLog
from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError, NotSavedError
from tests.discover.plain_model import NonsenseError, Notebook
from tests.discover.scripted import FarthestRow, InTurn, ShuffledRows

N_ROWS = 12
IDS = [f"fish-{row}" for row in range(N_ROWS)]
NAMES = st.sampled_from(["carp", "pike", "eel", "Eel", "3"])
ROWS = st.integers(0, N_ROWS - 1)
SOME_ROWS = st.lists(ROWS, min_size=1, max_size=4, unique=True)
EXPERTS = st.sampled_from([None, "Anna", "Bob"])


class SessionMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())

    def teardown(self):
        if hasattr(self, "session"):
            self.session.close()
        shutil.rmtree(self.folder)

    @initialize(
        strategy=st.sampled_from([FarthestRow(), ShuffledRows(), InTurn()]),
        prior=st.dictionaries(ROWS, NAMES, max_size=3),
        seed=st.integers(0, 3),
    )
    def begin(self, strategy, prior, seed):
        self.X = np.random.default_rng(seed).normal(size=(N_ROWS, 2)).round(1)
        self.strategy = strategy
        self.notes = Notebook(prior)
        self.open = {}  # expert -> the question before them
        known = {IDS[row]: name for row, name in prior.items()}
        self.session = self.fresh().start(self.X, IDS, known, project=self.folder / "fish")

    def fresh(self):
        return CategoryDiscovery(self.strategy, random_state=7)

    @property
    def model(self):
        return self.notes.model

    def keywords(self, who):
        """Return the keywords of every call; the key is the number its record will have."""
        return {"expert": who, "key": f"key {self.notes.n_said + 1}"}

    def said(self, who, number, what, *arguments):
        self.notes.say(who, what, *arguments)
        assert number == self.notes.n_said
        self.open.pop(who, None)

    def rejected(self, act, *arguments, match=None, **words):
        n_before = len(self.session.records_)
        with pytest.raises(InputError, match=match):
            act(*arguments, **words)
        assert len(self.session.records_) == n_before

    def taken(self, who):
        return {question.row for one, question in self.open.items() if one != who}

    def asked(self, who):
        before = self.open.pop(who, None)
        question = self.session.next_question(who)
        if question is None:
            assert {*self.model.labels, *self.taken(who)} == set(range(N_ROWS))
            return
        assert question.id == IDS[question.row]
        assert question.number == len(self.model.asked) + 1
        assert question.row not in {*self.model.labels, *self.taken(who)}
        if before is not None and before.row not in self.model.labels:
            assert question.row == before.row
        self.open[who] = question

    def looked(self, who, looks):
        """Ask for an expert, or keep the open question; return it, if any."""
        if looks:
            self.asked(who)
        if who not in self.open:
            self.rejected(
                self.session.skip, **self.keywords(who), match="^No question is open: call "
            )
        return self.open.get(who)

    # --- answers ---------------------------------------------------------------------------

    @rule(who=EXPERTS, name=NAMES, looks=st.booleans())
    def answer(self, who, name, looks):
        question = self.looked(who, looks)
        if question is not None:
            number = self.session.answer(f" {name} ", **self.keywords(who))
            self.labelled(who, number, question.row, name, [])

    @rule(
        who=EXPERTS, name=NAMES, looks=st.booleans(), chosen=st.none() | st.sets(ROWS, max_size=4)
    )
    def name_cluster(self, who, name, looks, chosen):
        question = self.looked(who, looks)
        if question is None:
            return
        rows = question.members.tolist() if chosen is None else sorted(chosen)
        ids = None if chosen is None else [IDS[row] for row in rows]
        number = self.session.name_cluster(name, ids, **self.keywords(who))
        left = {question.row, *self.taken(who)}
        free = [row for row in rows if self.model.labels.get(row) is None and row not in left]
        self.labelled(who, number, question.row, name, free)

    def labelled(self, who, number, row, name, others):
        if row in self.model.labels:  # somebody was quicker
            self.said(who, number, "give", [row, *others], name)
        else:
            self.said(who, number, "answer", row, name, others)

    @rule(who=EXPERTS, looks=st.booleans())
    def skip(self, who, looks):
        question = self.looked(who, looks)
        if question is not None:
            number = self.session.skip(**self.keywords(who))
            if question.row in self.model.labels:
                self.said(who, number, "pass_over", question.row)
            else:
                self.said(who, number, "answer", question.row, None)

    @rule(who=EXPERTS, row=ROWS, name=NAMES, follows=st.booleans(), elsewhere=st.booleans())
    def label_row(self, who, row, name, follows, elsewhere):
        if follows and self.model.cluster:  # a row that was named with another is of more interest
            row = _one_of(self.model.cluster, row)
        elif elsewhere and self.open:  # and so is one that somebody looks at
            row = _one_of({question.row for question in self.open.values()}, row)
        is_open = who in self.open and self.open[who].row == row
        number = self.session.label_row(IDS[row], name, **self.keywords(who))
        if is_open and row not in self.model.labels:
            self.said(who, number, "answer", row, name)
        else:
            self.said(who, number, "give", [row], name)

    @rule(who=EXPERTS, rows=st.lists(ROWS, max_size=4), name=NAMES)
    def label_rows(self, who, rows, name):
        ids = [IDS[row] for row in rows]
        if not rows:
            self.rejected(self.session.label_rows, ids, name, match=r"^There is no row to label: ")
            return
        number = self.session.label_rows(ids, name, **self.keywords(who))
        self.said(who, number, "give", list(dict.fromkeys(rows)), name)

    @rule(who=EXPERTS, row=ROWS)
    def ask_row(self, who, row):
        if row in self.model.labels or row in self.taken(who):
            self.rejected(self.session.ask_row, IDS[row], "Why not?", expert=who)
        else:
            self.open[who] = self.session.ask_row(IDS[row], "Why not?", expert=who)
            assert self.open[who].row == row

    @rule(who=EXPERTS)
    def release(self, who):
        self.session.release(who)
        self.open.pop(who, None)

    # --- corrections -----------------------------------------------------------------------

    @rule(who=EXPERTS, number=st.integers(0, N_ROWS), name=st.none() | NAMES, exists=st.booleans())
    def change(self, who, number, name, exists):
        if exists and self.model.asked:
            number = _one_of(range(1, len(self.model.asked) + 1), number)
        if 1 <= number <= len(self.model.asked):
            row = self.model.asked[number - 1]
            self.said(
                who, self.session.change(number, name, **self.keywords(who)), "change", row, name
            )
        else:
            match = f"^There is no question {number} to change: "
            self.rejected(self.session.change, number, name, match=match)

    def corrected(self, who, act, what, *arguments):
        words = self.keywords(who)
        try:
            self.notes.say(who, what, *arguments)
        except NonsenseError:
            self.rejected(act, **words)
        else:
            assert act(**words) == self.notes.n_said
            self.open.pop(who, None)

    @rule(who=EXPERTS, old=NAMES, new=NAMES, exists=st.booleans())
    def rename(self, who, old, new, exists):
        if exists and self.model.categories:
            old = _one_of(self.model.categories, len(old))
        self.corrected(
            who, lambda **words: self.session.rename(old, new, **words), "rename", old, new
        )

    @rule(who=EXPERTS, into=NAMES, others=st.lists(NAMES, max_size=3))
    def merge(self, who, into, others):
        self.corrected(
            who, lambda **words: self.session.merge(into, *others, **words), "merge", into, others
        )

    @rule(who=EXPERTS, name=NAMES)
    def delete(self, who, name):
        self.corrected(who, lambda **words: self.session.delete(name, **words), "delete", name)

    @rule(who=EXPERTS, row=ROWS, name=NAMES, exists=st.booleans())
    def settle(self, who, row, name, exists):
        if exists and self.model.disagreements:
            row = _one_of(self.model.disagreements, row)
        self.corrected(
            who, lambda **words: self.session.settle(IDS[row], name, **words), "settle", row, name
        )

    @rule(who=EXPERTS)
    def undo(self, who):
        words = self.keywords(who)
        try:
            is_done = self.notes.undo(who)
        except NonsenseError:
            self.rejected(self.session.undo, **words, match=r"^Log entry \d+ cannot be undone: ")
            return
        if is_done:
            assert self.session.undo(**words) == self.notes.n_said
            self.open.pop(who, None)
            self.agrees_with_a_replay()
        else:
            self.rejected(self.session.undo, **words, match=r"^There is nothing ")

    def agrees_with_a_replay(self):
        """Compare with the state that applying all events in effect from the first leads to."""
        replayed = EventLog(N_ROWS, self.session.records_)
        assert _everything_in(self.session._log.state) == _everything_in(replayed.state)

    def label_unsaved(self, patch, who, rows, name):
        with self.session.batch():
            for row in rows:
                self.session.label_row(IDS[row], name, expert=who)
            self.session.review.reject([IDS[rows[0]]], "Eel", expert=who)
            self.session.review.reopen([IDS[row] for row in rows[1:]] or [IDS[0]], expert=who)
            self.session.label_row(IDS[rows[0]], name, expert=who)
            self.session.review.mark_unsure([IDS[row] for row in range(N_ROWS)], expert=who)
            self.session.review.accept([IDS[rows[0]]], [name], [0.5], expert=who)
            self.session.review.flag([IDS[row] for row in rows], expert=who)
            self.session.rename(name, "something else", expert=who)
            patch.setattr(self.session._log.store, "append", _fail)

    @rule(who=EXPERTS, rows=st.lists(ROWS, min_size=1, max_size=3), name=NAMES)
    def batch_that_is_not_saved(self, who, rows, name):
        """Nothing is left of records that were applied, but could not be saved."""
        before, questions = _everything_in(self.session._log.state), self.session.open_questions_
        remarks = copy.deepcopy(vars(self.session.results_.annotations))
        with pytest.raises(NotSavedError), pytest.MonkeyPatch.context() as patch:
            self.label_unsaved(patch, who, rows, name)
        assert _everything_in(self.session._log.state) == before
        assert self.session.open_questions_ == questions
        assert vars(self.session.results_.annotations) == remarks

    @rule(who=EXPERTS, number=st.integers(1, 50))
    def repeat(self, who, number):
        key = f"key {number}"
        if self.session.number_of_key(key) is not None:
            assert self.session.undo(expert=who, key=key) == number
            assert self.session.answer("carp", expert=who, key=key) == number

    # --- reviews ---------------------------------------------------------------------------

    @rule(who=EXPERTS, looks=st.booleans())
    def leave_undecided(self, who, looks):
        question = self.looked(who, looks)
        if question is not None:
            number = self.session.skip(unsure=True, **self.keywords(who))
            if question.row in self.model.labels:
                self.said(who, number, "pass_over", question.row)
            else:
                self.said(who, number, "leave_undecided", question.row)

    @rule(who=EXPERTS, rows=SOME_ROWS, name=NAMES)
    def accept(self, who, rows, name):
        words = [[IDS[row] for row in rows], [name] * len(rows), [0.7] * len(rows)]
        free = [row for row in rows if self.model.labels.get(row) is None]
        if free:
            number = self.session.review.accept(*words, **self.keywords(who))
            self.said(who, number, "accept", free, name)
        else:
            match = "^All of these rows have been labelled meanwhile"
            self.rejected(self.session.review.accept, *words, match=match)

    @rule(
        who=EXPERTS, rows=SOME_ROWS, name=NAMES, what=st.sampled_from(["mark_unsure", "reopen"]),
        is_rule=st.booleans(),
    )  # fmt: skip
    def remove_labels(self, who, rows, name, what, is_rule):
        if is_rule and self.model.accepted:  # as when accepted rows are taken back
            rows = sorted(self.model.accepted)
        ids = [IDS[row] for row in rows]
        self.said(who, getattr(self.session.review, what)(ids, **self.keywords(who)), what, rows)

    @rule(who=EXPERTS, rows=SOME_ROWS, name=NAMES, exists=st.booleans())
    def reject(self, who, rows, name, exists):
        if exists and self.model.categories:
            name = _one_of(self.model.categories, rows[0])
            rows = list(dict.fromkeys([*self.model.categories[name], *rows]))[:4]
        ids = [IDS[row] for row in rows]
        number = self.session.review.reject(ids, name, **self.keywords(who))
        self.said(who, number, "reject", rows, name)

    @rule(
        who=EXPERTS, rows=SOME_ROWS, name=NAMES, is_on=st.booleans(),
        what=st.sampled_from(["note", "flag", "tag", "group", "choose_key"]),
    )  # fmt: skip
    def remark(self, who, rows, name, is_on, what):
        review, ids = self.session.review, [IDS[row] for row in rows]
        given, said = {
            "note": ((ids[0], name if is_on else None), (rows[0], name if is_on else None)),
            "flag": ((ids, is_on), (rows, is_on)),
            "tag": ((ids, name, is_on), (rows, name, is_on)),
            "group": (([name], "fish" if is_on else None), ([name], "fish" if is_on else None)),
            "choose_key": ((name, "K" if is_on else None), (name, "k" if is_on else None)),
        }[what]
        number = getattr(review, what)(*given, **self.keywords(who))
        self.notes.say(who, "remark", what, *said)
        assert number == self.notes.n_said  # the question stays open

    # --- restarts --------------------------------------------------------------------------

    @rule(looks=st.booleans())
    def restart(self, looks):
        for who in list(self.open):
            self.release(who)
        if looks:
            self.asked(None)
        before, records = self.open.pop(None, None), self.session.records_
        self.session.close()
        self.session = self.fresh().start(self.X, IDS, project=self.folder / "fish")
        assert self.session.records_ == records
        log = self.session.log_
        assert tuple(event_from_json(event_to_json(event)) for event in log) == log
        if looks:
            self.asked(None)
            _check_same_question(before, self.open.get(None))
            replayed = self.fresh().replay(records, self.X, IDS)
            _check_same_question(before, replayed.next_question())

    @invariant()
    def agrees(self):
        if not hasattr(self, "session"):
            return
        session, model = self.session, self.model
        assert list(session.categories_.items()) == list(model.categories.items())
        assert session.curve_ == model.curve
        assert session.asked_ == model.asked
        assert session.labels_.tolist() == [model.labels.get(row) for row in range(N_ROWS)]
        assert session.n_questions_ == len(model.asked)
        assert session.n_skipped_ == sum(model.labels[row] is None for row in model.asked)
        assert session.n_labelled_ == sum(map(len, model.categories.values()))
        assert session.results_.progress._asdict() == model.progress

    @invariant()
    def agrees_on_reviews(self):
        if not hasattr(self, "session"):
            return
        results, model = self.session.results_, self.model
        assert set(np.flatnonzero(results.is_accepted).tolist()) == model.accepted
        assert set(np.flatnonzero(results.is_unsure).tolist()) == model.unsure
        counts = {one.name: one.n_accepted for one in results.category_counts}
        assert counts == {
            name: len(model.accepted & set(rows)) for name, rows in model.categories.items()
        }
        by_hand = {row for row, name in enumerate(results.labels_by_hand) if name is not None}
        labelled = {row for row, name in model.labels.items() if name is not None}
        assert by_hand == labelled - model.accepted
        found, expected = results.annotations, model.remarks
        assert (found.notes, list(found.flagged)) == (expected.notes, expected.flagged)
        assert (found.headings, found.keys) == (expected.headings, expected.keys)
        assert {row: list(names) for row, names in found.tags.items()} == expected.tags
        assert {row: list(names) for row, names in found.rejected.items()} == expected.rejected

    @invariant()
    def agrees_on_who_said_what(self):
        if not hasattr(self, "session"):
            return
        session, model = self.session, self.model
        assert {who: one.row for who, one in session.open_questions_.items()} == {
            who: one.row for who, one in self.open.items()
        }
        assert session.n_records_ == len(session.log_) == self.notes.n_said
        counting = [one.number for one in session.entries_ if one.counts]
        assert counting == [*[1] * bool(self.notes.known), *(step[0] for step in self.notes.steps)]
        opinions = {row: list(session.opinions_of(row).items()) for row in range(N_ROWS)}
        assert opinions == {row: list(model.opinions.get(row, {}).items()) for row in range(N_ROWS)}
        assert {one.row: one.opinions for one in session.disagreements_} == model.disagreements
        assert all(one.label == model.labels[one.row] for one in session.disagreements_)


def _everything_in(state):
    return {
        "entries": list(state.entries.items()),
        "questions": list(state.questions),
        "categories": [(name, list(rows)) for name, rows in state.categories.items()],
        "curve": list(state.curve),
        "skipped": set(state.skipped),
        "unsure": set(state.unsure),
        "accepted": set(state.accepted),
        "opinions": [list(state.opinions.of(row).items()) for row in range(N_ROWS)],
        "latest": [state.opinions.latest(row) for row in range(N_ROWS)],
        "disputed": list(state.opinions.disputed()),
        "n_disputed": state.opinions.n_disputed,
        "answers": state.answers(),
    }


def _fail(*records):
    raise NotSavedError("The disk is full.")


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
@pytest.mark.parametrize("n_steps", [10_000, 3])
def test_a_session_agrees_with_a_plain_model(n_steps, long_bar, monkeypatch):
    """10,000 random operations in runs of up to 50; the model knows nothing of logs.

    With few steps that can be taken back, most undos are replays.
    """
    monkeypatch.setattr("kernova.discover.state.session_state._MOST_STEPS", n_steps)
    n_runs = long_bar(400) if n_steps > 3 else long_bar(100)
    n_checked = itertools.count()

    class Counted(SessionMachine):
        def teardown(self):
            super().teardown()
            next(n_checked)

    run_machine(
        Counted,
        settings=settings(
            max_examples=n_runs,
            stateful_step_count=50,
            deadline=None,
            # A fixed seed by default; the soak looks somewhere else each time.
            derandomize=not os.environ.get("KERNOVA_SOAK"),
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert next(n_checked) >= n_runs

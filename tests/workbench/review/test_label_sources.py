"""Sources of labels, with every kind of event, against reading the whole log anew."""

import contextlib
import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova import CategoryDiscovery, InputError
from kernova.workbench.review.label_sources import LabelSources

N_ROWS = 8
ROWS = st.lists(st.integers(0, N_ROWS - 1), min_size=1, max_size=4, unique=True)
NAMES = st.sampled_from(["carp", "eel", "cod"])
EXPERTS = st.sampled_from([None, "Anna", "Bob"])


def started(known=None):
    return CategoryDiscovery("random").start(np.arange(float(N_ROWS))[:, None], known=known)


def test_every_source_has_its_entry():
    session = started({0: "carp"})
    session.label_rows([1, 2], "eel", expert="Anna")
    session.review.accept([3, 4], ["carp", "eel"], [0.9, 0.7], expert="Bob")
    session.review.mark_unsure([5], expert="Bob")
    sources = LabelSources(session.results_).read()
    names = ["prior", "hand", "hand", "accepted", "accepted", None, None, None]
    assert sources.names.tolist() == names
    assert [sources.name_of(row) for row in range(N_ROWS)] == names
    assert sources.entry.tolist() == [0, 2, 2, 3, 3, 4, 0, 0]
    assert sources.probability[3:5].tolist() == [0.9, 0.7]
    assert np.isnan(sources.probability[:3]).all()
    assert sources.is_unsure.tolist() == [False] * 5 + [True, False, False]


def test_remarks_give_no_label():
    session = started()
    session.label_row(1, "eel", expert="Anna")
    session.review.flag([1], expert="Bob")
    session.review.note(1, "torn fin", expert="Bob")
    session.review.tag([1], "blurred", expert="Bob")
    assert LabelSources(session.results_).read().entry[1] == 1


def test_a_changed_answer_is_by_who_changed_it():
    session = started()
    question = session.next_question("Anna")
    session.answer("eel", expert="Anna")
    session.change(1, "carp", expert="Bob")
    assert LabelSources(session.results_).read().entry[question.row] == 2


def test_where_a_category_is_deleted_the_earlier_expert_stands():
    session = started()
    session.label_row(1, "eel", expert="Anna")
    session.label_row(1, "carp", expert="Bob")
    session.label_row(2, "carp", expert="Bob")
    session.delete("carp")
    sources = LabelSources(session.results_).read()
    assert session.label_of(1) == "eel"
    assert sources.entry[1] == 1
    assert sources.names[2] is None
    assert sources.entry[2] == 0


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["label", "accept", "reject", "unsure", "reopen", "flag", "undo", "answer", "skip",
             "change", "rename", "delete", "settle"]
        ),
        EXPERTS, ROWS, NAMES, st.booleans(),
    ),
    max_size=25,
)  # fmt: skip


def _act(session, what, who, rows, name):
    review, one = session.review, rows[0]
    acts = {
        "label": lambda: session.label_rows(rows, name, expert=who),
        "accept": lambda: review.accept(rows, [name] * len(rows), [0.5] * len(rows), expert=who),
        "reject": lambda: review.reject(rows, name, expert=who),
        "unsure": lambda: review.mark_unsure(rows, expert=who),
        "reopen": lambda: review.reopen(rows, expert=who),
        "flag": lambda: review.flag(rows, expert=who),
        "undo": lambda: session.undo(expert=who),
        "answer": lambda: session.next_question(who) and session.answer(name, expert=who),
        "skip": lambda: session.next_question(who) and session.skip(expert=who),
        "change": lambda: session.change(1, name, expert=who),
        "rename": lambda: session.rename(name, f"{name}x", expert=who),
        "delete": lambda: session.delete(name, expert=who),
        "settle": lambda: session.settle(one, name, expert=who),
    }
    with contextlib.suppress(InputError):
        acts[what]()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(ACTIONS)
def test_reading_on_is_reading_anew(actions):
    session = started({7: "cod"})
    reader = LabelSources(session.results_)
    for what, who, rows, name, reads in actions:
        _act(session, what, who, rows, name)
        if reads:
            _check(reader.read(), session)
    _check(reader.read(), session)


def _check(found, session):
    anew = LabelSources(session.results_).read()
    for name in found._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(anew, name), err_msg=name)
    results = session.results_
    assert found.is_labelled.tolist() == [label is not None for label in session.labels_]
    assert found.is_accepted.tolist() == results.is_accepted.tolist()
    for row in np.flatnonzero(found.is_by_hand).tolist():
        # The label is by the expert whose entry it is, unless another settled or changed it.
        kind = type(results.record(int(found.entry[row])).event).__name__
        if kind not in ("Settled", "Changed"):
            assert found.expert[row] in session.opinions_of(row)


def test_sources_of_many_rows_are_read_at_once():
    n_rows = 100_000
    session = CategoryDiscovery("random").start(np.arange(float(n_rows))[:, None])
    rows = list(range(n_rows - 10))
    session.review.accept(rows, ["carp"] * len(rows), [0.9] * len(rows))
    reader = LabelSources(session.results_)
    began = time.perf_counter()
    assert reader.read().is_accepted.sum() == len(rows)
    assert time.perf_counter() - began < 1

"""A scripted session with several experts, and what a session says of itself, in plain values.

Only public names are used: the same functions make the frozen projects and check them.
"""

import dataclasses

import numpy as np
import pandas as pd

import kernova

from .storage import inputs

STRATEGIES = (
    "hms-ci", "hms-ci-had", "hms-out", "hms-out-had", "strangers-and-crowds", "nndm", "interleave",
    "ms-interleave", "random",
)  # fmt: skip
EXPERTS = (None, "Anna", "Bob")

# Projects by name: the strategy (None is the default), whether the table is a data frame, and
# whether some labels are known before.
PROJECTS = {
    **{name: (name, False, False) for name in STRATEGIES},
    "default": (None, True, True),
}

# Fields of events that the landed version had not; they are left out while they are unset.
ADDED_LATER = {"confidence", "is_blind"}


def table(as_frame):
    """Give the rows, and the ids that they are called by (None: the index of the data frame)."""
    rows = inputs()["rare"]
    ids = [f"r{number:03}" for number in range(len(rows))]
    if as_frame:
        return pd.DataFrame(rows, columns=["a", "b", "c", "d"], index=ids), None
    return rows, ids


def start(name, project=None, default=None):
    """Begin a session as a frozen project was begun, or go on with the project's file.

    ``default`` is the strategy of projects that were begun without one (None: that of the version).
    """
    strategy, as_frame, has_prior = PROJECTS[name]
    strategy = default if strategy is None else strategy
    X, ids = table(as_frame)
    known = {"r003": "known-before", "r010": "known-before"} if has_prior else None
    session = kernova.CategoryDiscovery(strategy, random_state=5)
    return session.start(X, ids, known=known, project=project)


def speak(session):
    """Say everything that can be said: 15 answers by three experts, and corrections."""
    truth = inputs()["rare_labels"]
    for number in range(15):
        expert = EXPERTS[number % 3]
        row = session.next_question(expert).row
        name = f"kind-{truth[row]}"
        if number in (4, 11):
            session.skip(expert=expert)
        elif number in (2, 8):
            session.name_cluster(name, expert=expert)
        elif number == 6:
            session.answer("mistaken", expert=expert, key="request-6")
            session.answer("repeated", expert=expert, key="request-6")  # recorded once
        else:
            session.answer(name, expert=expert)
        if number == 5:
            session.undo(expert=expert)
    asked = session.asked_
    ids = session.ids_
    session.change(1, "kind-z", expert="Anna")
    session.change(2, None)
    session.label_row("r050", "kind-y", expert="Bob")
    session.label_rows(["r051", "r052", "r053"], "kind-x", expert="Anna")
    session.rename("kind-x", "kind-w", expert="Bob")
    session.merge("kind-w", "kind-y")
    session.label_row(ids[asked[0]], "kind-q", expert="Bob")  # Anna said kind-z
    session.label_row(ids[asked[3]], "kind-b", expert="Bob")
    session.label_row(ids[asked[3]], "kind-c", expert="Anna")
    session.settle(ids[asked[3]], "kind-c")
    session.delete("mistaken", expert="Anna")
    session.rename("kind-w", "thrown-away")
    session.undo()
    return session


def speak_plainly(session):
    """Say what a project of the first format could hold: one expert, no names, no keys."""
    truth = inputs()["rare_labels"]
    for number in range(12):
        row = session.next_question().row
        if number == 3:
            session.skip()
        else:
            session.answer(f"kind-{truth[row]}")
        if number == 7:
            session.undo()
    session.label_row("r060", "kind-y")
    session.change(2, "kind-z")
    session.rename("kind-z", "kind-w")
    session.merge("kind-w", "kind-y")
    return session


def state(session):
    """Give what a session has found, as values that JSON can hold; texts for people left out."""
    said = [
        [
            one.number,
            one.at,
            one.by,
            one.counts,
            one.question,
            _plain(_fields(one.event)),
        ]
        for one in (session.entries_ if hasattr(session, "entries_") else session.said_)
    ]
    return {
        "asked": _plain(session.asked_),
        "categories": _plain(session.categories_),
        "sizes": _plain(session.category_sizes_),
        "curve": _plain(session.curve_),
        "labels": _plain(session.labels_),
        "label_questions": _plain(session.label_questions_),
        "counts": [
            session.n_questions_, session.n_skipped_, session.n_labelled_, session.n_records_,
            session.n_disagreements_,
        ],
        "by_expert": {str(key): n for key, n in session.questions_by_expert_.items()},
        "disagreements": [
            [one.row, {str(key): name for key, name in one.opinions.items()}, one.label]
            for one in session.disagreements_
        ],
        "said": said,
    }  # fmt: skip


def next_questions(session):
    """Give the question that each expert gets now."""
    found = {}
    for expert in EXPERTS:
        one = session.next_question(expert)
        found[str(expert)] = _plain([one.number, one.id, one.row, one.members, one.alternatives])
    return found


def go_on(session):
    """Answer three further questions, and give what was asked and how many are known then."""
    rows = []
    for number in range(3):
        question = session.next_question("Bob")
        rows.append(question.row)
        session.answer(f"later-{number % 2}", expert="Bob")
    return {"asked": _plain(rows), "curve": _plain(session.curve_), "next": next_questions(session)}


def everything(session):
    """Give state, next questions and what comes after them."""
    return {"state": state(session), "next": next_questions(session), "later": go_on(session)}


def _fields(event):
    """Give an event's fields; those that only repairs read came after the landed version."""
    shown = [one.name for one in dataclasses.fields(event) if one.repr]
    return [
        value
        for name, value in ((name, getattr(event, name)) for name in shown)
        if not (name in ADDED_LATER and value is None)
    ]


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value

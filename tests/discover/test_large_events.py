"""Events about very many rows: the same state as row by row, in time that grows with the rows."""

import random
import time

import numpy as np
import pytest

from kernova import CategoryDiscovery
from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    Deleted,
    Flagged,
    Merged,
    Noted,
    Record,
    Rejected,
    Renamed,
    Reopened,
    RowsLabelled,
    RowsUnsure,
    Tagged,
)
from kernova.discover.state import SessionState, session_state

N_ROWS = 40
NAMES = ("carp", "pike", "eel")


def random_event(state, chance):
    """Return an event that fits the state, about a random number of rows."""
    rows = tuple(chance.sample(range(N_ROWS), chance.randint(1, N_ROWS)))
    free = [row for row in rows if row not in state.entries]
    known, name = list(state.categories), chance.choice(NAMES)
    codes = tuple(chance.randrange(2) for _ in free)
    events = [
        RowsLabelled(rows, name),
        RowsUnsure(rows),
        Reopened(rows),
        Rejected(rows, name),
        Accepted(tuple(free), NAMES[:2], codes, codes),
    ]
    if free:
        events += 3 * [Answered(free[0], name, tuple(free[1:]))]
    if state.questions:
        question = chance.randint(1, len(state.questions))
        events += [Changed(question, chance.choice((*NAMES, None)))]
    if known:
        events += [
            Deleted(chance.choice(known)),
            Renamed(chance.choice(known), f"new {len(known)}"),
        ]
    if len(known) > 1:
        events += [Merged(known[0], (known[-1],))]
    return chance.choice([one for one in events if _fits(state, one)])


def _fits(state, event):
    try:
        state.check(event)
    except ValueError:
        return False
    return True


def everything(state):
    return (
        [(name, list(rows)) for name, rows in state.categories.items()],
        list(state.curve),
        list(state.entries.items()),
        state.skipped,
        state.unsure,
        list(state.opinions.disputed()),
        [state.opinions.about(row).opinions for row in range(N_ROWS)],
    )


@pytest.mark.parametrize("seed", range(40))
def test_many_rows_at_once_are_as_one_by_one(seed, monkeypatch):
    chance = random.Random(seed)
    states = SessionState(N_ROWS), SessionState(N_ROWS)
    for _ in range(60):
        if chance.random() < 0.3 and states[0].n_steps:
            n_back = chance.randint(1, min(4, states[0].n_steps))
            work = [lambda state, n=n_back: state.take_back(n)]
        else:
            event = random_event(states[0], chance)
            by = chance.choice(("Anna", "Bob", None))
            work = [lambda state, event=event, by=by: state.apply(event, by)]
        answers = []
        for state, few in zip(states, (0, N_ROWS), strict=True):
            monkeypatch.setattr(session_state, "_FEW_ROWS", few)
            answers += [one(state) for one in work]
        assert answers[0] == answers[1]
        assert everything(states[0]) == everything(states[1])


# --- time ------------------------------------------------------------------------------------


def seconds(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def review_seconds(n_rows):
    """Return the CPU time of each step about half of the rows, all of one category."""
    rng = np.random.default_rng(0)
    session = CategoryDiscovery("random").start(rng.normal(size=(n_rows, 2)))
    rows = rng.permutation(n_rows)[: n_rows // 2].tolist()
    mixed = rng.permutation(rows).tolist()
    certain = [0.9] * len(rows)
    session.label_row(rows.pop(), "carp")
    steps = {
        "accept": lambda: session.review.accept(rows, ["carp"] * len(rows), certain[1:]),
        "reopen": lambda: session.review.reopen(rows[: n_rows // 3]),
        "move": lambda: session.label_rows(mixed, "pike"),
        "mark unsure": lambda: session.review.mark_unsure(mixed),
        "reject": lambda: session.review.reject(mixed, "carp"),
        "delete": lambda: session.delete("carp"),
    }
    taken = {"accept": seconds(steps.pop("accept"))}
    for name, work in steps.items():
        taken[name] = seconds(work)
        taken[f"undo {name}"] = seconds(session.undo)
    taken["undo accept"] = seconds(session.undo)
    taken["accept again"] = seconds(
        lambda: session.review.accept(rows, ["carp"] * len(rows), certain[1:])
    )
    log = session.records_
    taken["replay"] = seconds(
        lambda: CategoryDiscovery("random").replay(log, np.zeros((n_rows, 2)))
    )
    return taken


def quickest_seconds(n_rows):
    """Return the shortest of three times: a collection of garbage may fall into any of them."""
    runs = [review_seconds(n_rows) for _ in range(3)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


@pytest.mark.soak
def test_a_review_of_half_of_the_rows_takes_time_that_grows_with_them(long_bar):
    few, many = (quickest_seconds(n) for n in (long_bar(100_000) // 4, long_bar(100_000)))
    print(f"\nevents of {long_bar(50_000)} rows, CPU seconds: {_rounded(many)}")
    assert max(many.values()) < 2
    # Four times the rows: quadratic time would be sixteen times as long.
    assert sum(many.values()) < 12 * sum(few.values())


@pytest.mark.soak
def test_undo_among_very_many_annotations(long_bar):
    n_events = long_bar(100_000)
    X = np.random.default_rng(0).normal(size=(n_events, 2))
    records = [Record(_annotation(number), "AB"[number % 2]) for number in range(n_events)]
    session = CategoryDiscovery("random").replay(records, X)
    taken = {
        "undo": seconds(lambda: session.undo(expert="A")),
        "read": seconds(lambda: session.results_.annotations),
        "note": seconds(lambda: session.review.note(3, "damaged", expert="A")),
        "read again": seconds(lambda: session.results_.annotations),
        "history": seconds(lambda: session.history(limit=200)),
    }
    print(f"\n{n_events} annotations, CPU seconds: {_rounded(taken)}")
    assert max(taken.values()) < 0.5


def _annotation(number):
    rows = (number, (number + 1) % 100)
    return (Noted(number, f"note {number}"), Flagged(rows), Tagged(rows, "blurred"))[number % 3]


def _rounded(taken):
    return {name: round(value, 3) for name, value in taken.items()}

"""Kill a session that is answering, again and again, and see what is left of its answers.

Run as a program of its own, which has one thread and so can fork: importing once, it needs a few
milliseconds for each kill. Prints one JSON line: how many were killed, how many of them after an
answer was acknowledged, and how many before there was a file.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from kernova.discover.session import CategoryDiscovery
from tests.discover.scripted import ShuffledRows

N_ROWS = 4000
X = np.random.default_rng(0).normal(size=(N_ROWS, 2))
KNOWN = {row: f"prior {row % 3}" for row in range(50)}
ROUNDS_PER_PROJECT = 10
EXPERTS = ["Anna", "Bob", None]


def begun(project=None):
    return CategoryDiscovery(ShuffledRows()).start(X, known=KNOWN, project=project)


def say_next(session):
    """Say what the script says after as many events as there are."""
    n_said = session.n_records_
    kind = n_said % 8
    who = {"expert": EXPERTS[n_said % 3], "key": f"request {n_said}"}
    if kind == 3 and session.n_questions_ > 1:
        session.change(session.n_questions_ - 1, f"category {n_said % 11}", **who)
    elif kind == 5:
        session.undo(key=who["key"])
    elif kind == 6:
        session.next_question(who["expert"])
        session.skip(unsure=n_said % 2 == 0, **who)
    elif kind == 7:
        review_next(session, who)
    elif kind == 4:
        session.next_question(who["expert"])
        session.name_cluster(f"category {n_said % 13}", range(n_said, n_said + 1000), **who)
    else:
        session.next_question(who["expert"])
        confidence = ("low", "medium", "high", None)[n_said % 4]
        session.answer(f"category {n_said % 5}", confidence=confidence, **who)


def review_next(session, who):
    """Record what a reviewer does, after as many events as there are."""
    n_said = session.n_records_
    review, rows = session.review, [(17 * n_said + step) % N_ROWS for step in range(5)]
    category, is_on = f"category {n_said % 5}", n_said % 3 > 0
    free = [row for row in range(N_ROWS) if session.label_of(row) is None][:1000]
    names, certain = [f"category {row % 3}" for row in free], [row % 1000 / 999 for row in free]
    steps = [
        lambda: review.accept(free, names, certain, **who),
        lambda: review.reject(rows, category, **who),
        lambda: review.mark_unsure(rows, **who),
        lambda: review.reopen(rows, **who),
        lambda: review.note(rows[0], f"note {n_said}" if is_on else None, **who),
        lambda: review.flag(rows, is_on, **who),
        lambda: review.tag(rows, "blurred", is_on, **who),
        lambda: review.group([category], "heading" if is_on else None, **who),
        lambda: review.choose_key(category, "abc"[n_said % 3], **who),
    ]
    steps[n_said // 8 % len(steps)]()


def seen(session):
    """Return everything that the events in effect lead to."""
    results, notes = session.results_, session.results_.annotations
    kept = notes.notes, notes.flagged, notes.tags, notes.rejected, notes.headings, notes.keys
    statuses = results.is_accepted.tolist(), results.is_unsure.tolist()
    confidences = [results.confidence_of(row) for row in session.asked_]
    return session.categories_, statuses, confidences, kept


def said_by(session):
    return [(record.by, record.key) for record in session.records_]


def answer_forever(project, pipe):
    session = begun(project)
    os.write(pipe, b"%d\n" % session.n_records_)
    while True:
        say_next(session)
        os.write(pipe, b"%d\n" % session.n_records_)


def killed_while_answering(project, rng):
    """Let a child answer, kill it, and give the last number of events it was told are safe."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer_forever(project, writing)
        finally:
            os._exit(1)
    os.close(writing)
    acknowledged = b""
    # Some are killed while they begin, the others at a random moment after a few answers.
    if rng.random() < 0.8:
        for _ in range(rng.randrange(1, 12)):
            acknowledged += os.read(reading, 1 << 16)
    time.sleep(rng.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child ended by itself"
    while block := os.read(reading, 1 << 16):
        acknowledged += block
    os.close(reading)
    lines = acknowledged.split(b"\n")[:-1]  # the last may be cut short
    return int(lines[-1]) if lines else None


def main(folder, n_kills):
    rng = random.Random(0)
    n_unborn = n_at_work = 0
    for number in range(n_kills):
        if number % ROUNDS_PER_PROJECT == 0:
            project = folder / f"project-{number}"
            wanted, safe = begun(), 0
        last = killed_while_answering(project, rng)
        n_unborn += not project.exists()
        n_at_work += last is not None
        safe = max(safe, last or 0)
        with begun(project) as session:
            log = session.log_
            # What was being said at that moment may be there as well, but nothing else.
            assert safe <= len(log) <= safe + 1, (safe, len(log))
            while len(wanted.log_) < len(log):
                say_next(wanted)
            assert log == wanted.log_
            assert said_by(session) == said_by(wanted)
            assert seen(session) == seen(wanted)
            assert session.next_question().row == wanted.next_question().row
            wanted.release()  # what is open is forgotten when a session ends
            safe = len(log)
    left = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    assert all(name.startswith("project-") and not name.endswith("-wal") for name in left), left
    print(json.dumps({"kills": n_kills, "at work": n_at_work, "unborn": n_unborn}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

"""Projects to damage: a small one with every kind of event, and SQLite files of older formats."""

import dataclasses
import sqlite3

import numpy as np

from kernova.discover.events import event_to_json
from kernova.discover.session import CategoryDiscovery
from kernova.tables.identity import table_digest
from tests.discover.scripted import ShuffledRows

N_ROWS = 250  # three lines of the row table
X = np.random.default_rng(5).normal(size=(N_ROWS, 3))
IDS = [f"fish {row:03d}" for row in range(N_ROWS)]


def session_on(path):
    return CategoryDiscovery(ShuffledRows()).start(X, IDS, project=path)


def write_project(path, n_rounds=4):
    """Hold a session with every kind of correction; return what it ends with."""
    with session_on(path) as session:
        for turn in range(n_rounds):
            for label in ("carp", "pike", "äsche", f"new {turn}"):
                session.next_question("Anna")
                session.answer(label, expert="Anna", key=f"{turn} {label}")
            session.next_question("Bob")
            session.name_cluster("eel", expert="Bob")
            session.next_question()
            session.skip()
            session.change(2 + 5 * turn, "roach", expert="Anna")
            session.label_rows(IDS[10 * turn : 10 * turn + 5], "bream", expert="Bob")
            session.rename(f"new {turn}", f"old {turn}", expert="Anna")
            session.next_question()
            session.answer("mistake")
            session.undo()
        session.merge("carp", "äsche", expert="Bob")
        return labels_of(session), list(session.records_)


def labels_of(session):
    labels = session.labels_
    return {session.ids_[row]: labels[row] for row in range(N_ROWS) if labels[row] is not None}


def write_sqlite(path, head, records, version=2, ids=None, table=None):
    """Write a project as formats 1 and 2 had it."""
    connection = sqlite3.connect(path)
    with connection:
        connection.executescript(
            f"""
            CREATE TABLE head (name TEXT PRIMARY KEY, value NOT NULL);
            CREATE TABLE events
                (number INTEGER PRIMARY KEY, written TEXT NOT NULL, event TEXT NOT NULL);
            PRAGMA application_id = 0x6B6E7661;
            PRAGMA user_version = {version};
            """
        )
        connection.executemany("INSERT INTO head VALUES (?, ?)", dataclasses.asdict(head).items())
        if version > 1:
            connection.executescript(
                """
                ALTER TABLE events ADD COLUMN expert TEXT;
                ALTER TABLE events ADD COLUMN key TEXT;
                CREATE UNIQUE INDEX event_keys ON events (key);
                CREATE TABLE digest (name TEXT PRIMARY KEY, value BLOB NOT NULL);
                """
            )
        if table is not None:
            parts = table_digest(table, ids).to_parts()
            connection.executemany("INSERT INTO digest VALUES (?, ?)", parts.items())
        connection.executemany(
            f"INSERT INTO events VALUES ({', '.join('?' * (3 if version < 2 else 5))})",
            [
                (number, one.at, event_to_json(one.event), one.by, one.key)[
                    : 3 if version < 2 else 5
                ]
                for number, one in enumerate(records, start=1)
            ],
        )
    connection.close()

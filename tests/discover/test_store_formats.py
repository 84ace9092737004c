"""Projects of format 1: read as they are, and converted at the first change."""

import sqlite3

import numpy as np
import pytest

from kernova.discover.events import Answered, Record, Skipped, Undone
from kernova.discover.session import CategoryDiscovery
from kernova.discover.store import FORMAT, ProjectHead, open_project
from kernova.discover.table_identity import table_fingerprint
from kernova.errors import InputError
from tests.discover import messages
from tests.discover.scripted import ShuffledRows

X = np.arange(12.0).reshape(6, 2)
WRITTEN = "2026-01-02T03:04:05.678+00:00"
HEAD = ProjectHead(table_fingerprint(X, range(6)), 6, 2, "shuffled", 0)


@pytest.fixture
def old_project(tmp_path):
    """A file as format 1 left it, with two answers, one of them undone."""
    path = tmp_path / "fish"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE head (name TEXT PRIMARY KEY, value NOT NULL);
            CREATE TABLE events
                (number INTEGER PRIMARY KEY, written TEXT NOT NULL, event TEXT NOT NULL);
            PRAGMA application_id = 0x6B6E7661;
            PRAGMA user_version = 1;
            """
        )
        head = {"fingerprint": HEAD.fingerprint, "n_rows": 6, "n_columns": 2}
        head |= {"strategy": "shuffled", "seed": 0}
        connection.executemany("INSERT INTO head VALUES (?, ?)", head.items())
        events = [
            '{"event": "answered", "row": 3, "label": "carp", "others": [4]}',
            '{"event": "skipped", "row": 1}',
            '{"event": "undone"}',
        ]
        connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?)",
            [(number, WRITTEN, event) for number, event in enumerate(events, start=1)],
        )
    connection.close()
    return path


RECORDS = [
    Record(Answered(3, "carp", (4,)), at=WRITTEN),
    Record(Skipped(1), at=WRITTEN),
    Record(Undone(), at=WRITTEN),
]


def version_of(path):
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return version


def test_reading_leaves_an_old_project_unchanged(old_project):
    with open_project(old_project) as store:
        assert (store.records, store.head, store.digest) == (RECORDS, HEAD, None)
    assert version_of(old_project) == 1


def test_another_table_leaves_an_old_project_unchanged(old_project):
    with pytest.raises(InputError) as caught:
        CategoryDiscovery(ShuffledRows()).start(X + 1, project=old_project)
    assert str(caught.value) == (
        messages.OTHER_TABLE.format(
            path=old_project, difference=messages.OTHER_VALUES.format(n_rows=6, n_columns=2)
        )
    )
    assert version_of(old_project) == 1


def test_a_session_converts_an_old_project(old_project):
    with CategoryDiscovery(ShuffledRows()).start(X, project=old_project) as session:
        assert session.categories_ == {"carp": (3, 4)}
        assert version_of_open(session) == FORMAT
        session.label_row(0, "pike", expert="Anna", key="k")
        records = session.records_
    assert list(records[:3]) == RECORDS
    with open_project(old_project) as store:
        assert tuple(store.records) == records
        assert store.digest.columns == ("0", "1")  # from now on, changes can be named
    with pytest.raises(
        InputError, match=r"belongs to another table: 6 rows \(0, 1, 2, 3, 4 and 1 "
    ):
        CategoryDiscovery(ShuffledRows()).start(X + 1, project=old_project)


def version_of_open(session):
    return session.project_._connection.execute("PRAGMA user_version").fetchone()[0]


def test_an_old_project_can_be_written_after_reading(old_project):
    with open_project(old_project) as store:
        store.append(Record(Skipped(0), by="Anna"))
        store.append(Record(Skipped(2)))
    with open_project(old_project) as store:
        assert store.records[3:] == [Record(Skipped(0), by="Anna"), Record(Skipped(2))]
    assert version_of(old_project) == FORMAT


def test_a_failed_conversion_leaves_the_old_project(old_project):
    with open_project(old_project) as store:
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")  # a disk that is full
        with pytest.raises(InputError) as caught:
            store.append(Record(Skipped(0)))
        assert str(caught.value) == (
            messages.NOT_SAVED.format(path=old_project, reason="database or disk is full")
        )
        store._connection.execute("PRAGMA max_page_count = 1000000")
        assert store.records == RECORDS
        store.append(Record(Skipped(0)))
    with open_project(old_project) as store:
        assert len(store.records) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET expert = ' Anna' WHERE number = 1",
        "UPDATE events SET expert = x'00' WHERE number = 1",
        "ALTER TABLE events DROP COLUMN expert",
    ],
)
def test_a_damaged_expert_name_is_rejected(tmp_path, statement):
    path = tmp_path / "fish"
    with open_project(path, HEAD) as store:
        store.append(*RECORDS)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(InputError, match=r"^The project .* is damaged: part of the file"):
        open_project(path)


def test_a_damaged_digest_is_replaced(tmp_path):
    path = tmp_path / "fish"
    CategoryDiscovery(ShuffledRows()).start(X, project=path).close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE digest SET value = x'00' WHERE name = 'ids'")
    connection.close()
    with open_project(path) as store:
        assert store.digest is None
    CategoryDiscovery(ShuffledRows()).start(X, project=path).close()
    with open_project(path) as store:
        assert store.digest.ids == ("0", "1", "2", "3", "4", "5")


@pytest.mark.parametrize("strategy", ["strangers-and-crowds", "novelty-density", None])
def test_a_project_with_the_former_name_of_a_strategy_is_resumed_and_left_as_it_is(
    tmp_path, strategy
):
    path = tmp_path / "fish"
    with CategoryDiscovery("strangers-and-crowds").start(X, project=path) as session:
        first = session.next_question().row
        session.answer("carp")
        second = session.next_question().row
    assert stored_strategy(path) == "novelty-density"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE head SET value = 'strangers-and-crowds' WHERE name = 'strategy'")
    connection.close()
    with CategoryDiscovery(strategy).start(X, project=path) as session:
        assert session.asked_ == [first]
        assert session.next_question().row == second
        assert session.project_.head.strategy == "novelty-density"
        session.answer("pike")
    assert stored_strategy(path) == "strangers-and-crowds"


def stored_strategy(path):
    connection = sqlite3.connect(path)
    (name,) = connection.execute("SELECT value FROM head WHERE name = 'strategy'").fetchone()
    connection.close()
    return name

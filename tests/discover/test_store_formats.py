"""Projects of formats 1 and 2: read as they are, and converted at the first change."""

import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from kernova.discover.events import Answered, Record, Skipped, Undone
from kernova.discover.project.content import ProjectHead
from kernova.discover.project.lines import FORMAT, format_of
from kernova.discover.session import CategoryDiscovery
from kernova.discover.store import open_project
from kernova.errors import InputError
from kernova.tables.identity import table_fingerprint
from tests.discover import messages
from tests.discover.project.projects import write_sqlite
from tests.discover.scripted import ShuffledRows
from tests.discover.test_store import full_disk

X = np.arange(12.0).reshape(6, 2)
WRITTEN = "2026-01-02T03:04:05.678+00:00"
HEAD = ProjectHead(table_fingerprint(X, range(6)), 6, 2, "shuffled", 0)
RECORDS = [
    Record(Answered(3, "carp", (4,)), at=WRITTEN),
    Record(Skipped(1), at=WRITTEN),
    Record(Undone(), at=WRITTEN),
]


@pytest.fixture(params=[1, 2])
def old_project(tmp_path, request):
    """A file as an older format left it, with two answers, one of them undone."""
    path = tmp_path / "fish"
    write_sqlite(path, HEAD, RECORDS, request.param)
    return path


def sqlite_version(path):
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return version


def test_reading_leaves_an_old_project_unchanged(old_project):
    before = old_project.read_bytes()
    with open_project(old_project) as store:
        assert (store.records, store.head, store.digest) == (RECORDS, HEAD, None)
    assert old_project.read_bytes() == before


def test_another_table_leaves_an_old_project_unchanged(old_project):
    before = old_project.read_bytes()
    with pytest.raises(InputError) as caught:
        CategoryDiscovery(ShuffledRows()).start(X + 1, project=old_project)
    assert str(caught.value) == (
        messages.OTHER_TABLE.format(
            path=old_project, difference=messages.OTHER_VALUES.format(n_rows=6, n_columns=2)
        )
    )
    assert old_project.read_bytes() == before


def test_a_session_converts_an_old_project_and_keeps_the_former_file(old_project):
    version, before = sqlite_version(old_project), old_project.read_bytes()
    with CategoryDiscovery(ShuffledRows()).start(X, project=old_project) as session:
        assert session.categories_ == {"carp": (3, 4)}
        kept = old_project.with_name(f"fish.format-{version}")
        assert session.project_.notes == [
            f"The project was converted to format 3; the file of format {version} is kept as "
            f"{kept}."
        ]
        assert kept.read_bytes() == before
        session.label_row(0, "pike", expert="Anna", key="k")
        records = session.records_
    assert list(records[:3]) == RECORDS
    assert format_of(old_project.read_bytes()) == FORMAT
    with open_project(old_project) as store:
        assert tuple(store.records) == records
        assert store.digest.columns == ("0", "1")  # from now on, changes can be named
    with pytest.raises(
        InputError, match=r"belongs to another table: 6 rows \(0, 1, 2, 3, 4 and 1 "
    ):
        CategoryDiscovery(ShuffledRows()).start(X + 1, project=old_project)


def test_the_digest_of_format_2_is_taken_over(tmp_path):
    write_sqlite(tmp_path / "fish", HEAD, RECORDS, ids=range(6), table=X)
    with open_project(tmp_path / "fish") as store:
        before = store.digest
        store.append(Record(Skipped(0)))
        assert store.digest.ids == before.ids == ("0", "1", "2", "3", "4", "5")
        np.testing.assert_array_equal(store.digest.row_digests, before.row_digests)


def test_an_old_project_can_be_written_after_reading(old_project):
    with open_project(old_project) as store:
        store.append(Record(Skipped(0), by="Anna"))
        store.append(Record(Skipped(2)))
    with open_project(old_project) as store:
        assert store.records[3:] == [Record(Skipped(0), by="Anna"), Record(Skipped(2))]
    assert format_of(old_project.read_bytes()) == FORMAT


def test_a_failed_conversion_leaves_the_old_project(old_project):
    before = old_project.read_bytes()
    with open_project(old_project) as store:
        with full_disk(50), pytest.raises(InputError) as caught:
            store.append(Record(Skipped(0)))
        assert str(caught.value) == (
            messages.NOT_SAVED.format(path=old_project, reason="File too large")
        )
        assert old_project.read_bytes() == before
        assert [path.name for path in old_project.parent.iterdir()] == ["fish"]
        store.append(Record(Skipped(0)))
    with open_project(old_project) as store:
        assert len(store.records) == 4


def _change_file(statement):
    def change(path):
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(statement)
        connection.close()

    return change


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
        lambda path: path.write_bytes(path.read_bytes()[:-4096]),
        lambda path: path.write_bytes(path.read_bytes()[:4096] + b"?" * 12288),
        _change_file("PRAGMA user_version = 0"),
        _change_file("DROP TABLE events"),
        _change_file("DROP TABLE head"),
        _change_file("DELETE FROM head WHERE name = 'seed'"),
        _change_file("UPDATE head SET value = 'zero' WHERE name = 'seed'"),
        _change_file("DELETE FROM events WHERE number = 2"),
        _change_file("UPDATE events SET event = 'carp' WHERE number = 2"),
        _change_file("UPDATE events SET expert = ' Anna' WHERE number = 1"),
        _change_file("UPDATE events SET expert = x'00' WHERE number = 1"),
        _change_file("ALTER TABLE events DROP COLUMN expert"),
    ],
)
def test_a_damaged_old_project_is_rejected_and_unchanged(tmp_path, spoil):
    path = tmp_path / "fish"
    write_sqlite(path, HEAD, RECORDS)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        open_project(path, HEAD)
    assert str(caught.value) == messages.DAMAGED.format(path=path)
    assert path.read_bytes() == before


def test_a_newer_sqlite_project_is_rejected(tmp_path):
    path = tmp_path / "fish"
    write_sqlite(path, HEAD, RECORDS, version=4)
    with pytest.raises(InputError) as caught:
        open_project(path)
    assert str(caught.value) == messages.NEWER_FORMAT.format(path=path)


def test_an_old_project_open_in_an_older_version_is_locked(old_project):
    connection = sqlite3.connect(old_project, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    # SQLite's locks belong to a process: another one has to try.
    program = (
        "import sys; from kernova.discover.store import open_project\n"
        "try: open_project(sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, str(old_project)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    connection.close()
    assert said.stdout == messages.OPEN_ELSEWHERE.format(path=old_project) + "\n"


@pytest.mark.parametrize("strategy", ["strangers-and-crowds", "novelty-density", None])
def test_a_project_with_the_former_name_of_a_strategy_is_resumed(tmp_path, strategy):
    path = tmp_path / "fish"
    with CategoryDiscovery("strangers-and-crowds").start(X, project=path) as session:
        first = session.next_question().row
        session.answer("carp")
        second = session.next_question().row
        records = session.records_
        head = session.project_.head
    assert head.strategy == "novelty-density"
    old = tmp_path / "old"
    write_sqlite(old, head, records)
    _change_file("UPDATE head SET value = 'strangers-and-crowds' WHERE name = 'strategy'")(old)
    with CategoryDiscovery(strategy).start(X, project=old) as session:
        assert session.asked_ == [first]
        assert session.next_question().row == second
        assert session.project_.head.strategy == "novelty-density"
        session.answer("pike")

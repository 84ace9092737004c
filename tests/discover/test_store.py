"""Project files: acknowledged records survive whatever happens to process and file."""

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from kernova.discover.events import (
    Record,
    Skipped,
)
from kernova.discover.session import CategoryDiscovery
from kernova.discover.store import FORMAT, ProjectHead, open_project
from kernova.errors import InputError
from tests.discover import messages
from tests.discover.scripted import ShuffledRows
from tests.discover.sessions import EVENTS

ROOT = Path(__file__).parents[2]
HEAD = ProjectHead("f1ce", n_rows=9, n_columns=2, strategy="random", seed=0)


@pytest.fixture
def project(tmp_path):
    """A project with some events, closed."""
    path = tmp_path / "fish.kernova-project"
    with open_project(path, HEAD) as store:
        store.append(*map(Record, EVENTS))
    return path


def test_a_closed_project_is_one_complete_file(project):
    assert [path.name for path in project.parent.iterdir()] == [project.name]
    assert project.stat().st_mode & 0o777 == 0o666 & ~_umask()
    with open_project(project) as store:
        assert (store.head, store.events) == (HEAD, EVENTS)
        store.append(Record(Skipped(8)))
    with open_project(project, HEAD) as store:
        assert store.events == (*EVENTS, Skipped(8))


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_each_event_is_synced_in_write_ahead_mode(project):
    with open_project(project) as store:
        ask = store._connection.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert ask("PRAGMA locking_mode").fetchone() == ("exclusive",)


@pytest.mark.soak
def test_nothing_acknowledged_is_lost_to_a_kill(tmp_path, long_bar):
    n_kills = long_bar(200)
    run = subprocess.run(
        [sys.executable, "-m", "tests.discover.killed_sessions", str(tmp_path), str(n_kills)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout)
    print(counts)
    assert counts["kills"] == n_kills
    assert counts["at work"] >= n_kills // 3  # the test is about those


def test_a_record_that_cannot_be_saved_has_no_effect(tmp_path):
    X = np.arange(40.0).reshape(20, 2)
    with CategoryDiscovery(ShuffledRows()).start(X, project=tmp_path / "full") as session:
        session.next_question()
        session.answer("carp")
        connection = session.project_._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")  # a disk that is full
        open_row = session.next_question().row
        with pytest.raises(InputError) as caught:
            session.name_cluster("x" * 20_000)
        assert str(caught.value) == (
            messages.NOT_SAVED.format(path=tmp_path / "full", reason="database or disk is full")
        )
        assert list(session.categories_) == ["carp"]
        assert session.next_question().row == open_row
        connection.execute("PRAGMA max_page_count = 1000000")
        session.answer("pike")
        log = session.log_
    with open_project(tmp_path / "full") as store:
        assert store.events == log
        assert len(log) == 2


def test_an_open_project_is_locked_for_others(project):
    other = (
        "import sys; from kernova.discover.store import open_project\n"
        "try: open_project(sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    sentence = messages.OPEN_ELSEWHERE.format(path=project)
    with open_project(project):
        with pytest.raises(InputError) as caught:
            open_project(project)  # nor twice in the same
        assert str(caught.value) == sentence
        said = subprocess.run(
            [sys.executable, "-c", other, str(project)], capture_output=True, text=True, check=True
        )
        assert said.stdout == f"{sentence}\n"
    open_project(project).close()


def test_two_simultaneous_starts_end_with_one_file(tmp_path, monkeypatch):
    path = tmp_path / "fish"
    link = Path.hardlink_to

    def another_is_first(self, target):
        monkeypatch.setattr(Path, "hardlink_to", link)
        with open_project(path, HEAD) as first:
            first.append(*map(Record, EVENTS))
        return link(self, target)

    monkeypatch.setattr(Path, "hardlink_to", another_is_first)
    with open_project(path, HEAD) as second:
        assert second.events == EVENTS
    assert [one.name for one in tmp_path.iterdir()] == ["fish"]


def test_a_project_is_created_without_hard_links(tmp_path, monkeypatch):
    def no_links(self, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    with open_project(tmp_path / "fish", HEAD) as store:
        store.append(*map(Record, EVENTS))
    with open_project(tmp_path / "fish", HEAD) as store:
        assert store.events == EVENTS
    assert [one.name for one in tmp_path.iterdir()] == ["fish"]


def _foreign_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE fish (name)")
    connection.close()


def _change_file(statement):
    def change(path):
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(statement)
        connection.close()

    return change


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: path.write_bytes(b""), messages.NOT_A_PROJECT),
        (lambda path: path.write_text("id,category\n1,carp\n" * 99), messages.NOT_A_PROJECT),
        (lambda path: path.write_bytes(path.read_bytes()[:50]), messages.NOT_A_PROJECT),
        (lambda path: (path.unlink(), _foreign_database(path)), messages.NOT_A_PROJECT),
        (
            lambda path: (path.unlink(), path.mkdir()),
            messages.NOT_A_FILE,
        ),
        (
            _change_file(f"PRAGMA user_version = {FORMAT + 1}"),
            messages.NEWER_FORMAT,
        ),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), messages.DAMAGED),
        (lambda path: path.write_bytes(path.read_bytes()[:-4096]), messages.DAMAGED),
        (lambda path: path.write_bytes(path.read_bytes()[:4096] + b"?" * 12288), messages.DAMAGED),
        (_change_file("PRAGMA user_version = 0"), messages.DAMAGED),
        (_change_file("DROP TABLE events"), messages.DAMAGED),
        (_change_file("DROP TABLE head"), messages.DAMAGED),
        (_change_file("DELETE FROM head WHERE name = 'seed'"), messages.DAMAGED),
        (_change_file("UPDATE head SET value = 'zero' WHERE name = 'seed'"), messages.DAMAGED),
        (_change_file("DELETE FROM events WHERE number = 2"), messages.DAMAGED),
        (_change_file("UPDATE events SET event = 'carp' WHERE number = 2"), messages.DAMAGED),
    ],
)
def test_other_or_damaged_files_are_rejected_and_unchanged(project, spoil, sentence):
    spoil(project)
    before = None if project.is_dir() else project.read_bytes()
    with pytest.raises(InputError) as caught:
        open_project(project, HEAD)
    assert str(caught.value) == sentence.format(path=project)
    assert project.is_dir() or project.read_bytes() == before


def test_every_truncated_project_is_rejected(project):
    whole = project.read_bytes()
    for n_bytes in [*range(1, len(whole), 331), len(whole) - 1]:
        project.write_bytes(whole[:n_bytes])
        with pytest.raises(InputError, match=r"not a kernova project|damaged"):
            open_project(project, HEAD)


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (
            ProjectHead("0dd", 9, 2, "random", 0),
            messages.OTHER_TABLE.replace(
                "{difference}", messages.OTHER_VALUES.format(n_rows=9, n_columns=2)
            ),
        ),
        (
            ProjectHead("0dd", 9, 3, "random", 0),
            messages.OTHER_TABLE.replace(
                "{difference}",
                "9 rows and 2 columns; the one given now has 9 rows and 3 columns.",
            ),
        ),
        (
            ProjectHead("f1ce", 9, 2, "hms-ci", 0),
            messages.OTHER_SETTINGS,
        ),
        (
            ProjectHead("f1ce", 9, 2, "random", 5),
            messages.OTHER_SETTINGS,
        ),
    ],
)
def test_another_table_or_strategy_is_rejected(project, head, sentence):
    with pytest.raises(InputError) as caught:
        open_project(project, head)
    assert str(caught.value) == sentence.format(path=project, **asdict(head))
    open_project(project, HEAD).close()


def test_missing_paths_are_rejected(tmp_path):
    with pytest.raises(InputError) as caught:
        open_project(tmp_path / "none")
    assert str(caught.value) == (messages.NO_SUCH_PROJECT.format(path=tmp_path / "none"))
    with pytest.raises(InputError) as caught:
        open_project(tmp_path / "no" / "fish", HEAD)
    assert str(caught.value) == (
        messages.CANNOT_CREATE.format(path=tmp_path / "no" / "fish", folder=tmp_path / "no")
    )


@pytest.mark.parametrize("name", ["SQLITE_IOERR_LOCK", "SQLITE_READONLY_DIRECTORY"])
def test_a_read_only_project_is_not_reported_as_damaged(tmp_path, monkeypatch, name):
    path = tmp_path / "p"
    open_project(path, HEAD).close()
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name  # what SQLite says of a file, or a folder, that is not ours

    def refuse(connection, path):
        raise error

    monkeypatch.setattr("kernova.discover.store._check_ours", refuse)
    with pytest.raises(InputError) as refused:
        open_project(path)
    assert str(refused.value) == (messages.CANNOT_WRITE.format(path=path))

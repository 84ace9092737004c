"""Project files: acknowledged records survive whatever happens to process and file."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from kernova.discover.events import (
    Record,
    Skipped,
)
from kernova.discover.project.content import ProjectHead, read_content
from kernova.discover.session import CategoryDiscovery
from kernova.discover.store import open_project
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


def test_each_record_is_synced_before_it_is_counted(project, monkeypatch):
    """What is synced holds the record; the header counts it afterwards."""
    synced = []

    def sync(handle):
        synced.append(project.read_bytes())

    monkeypatch.setattr("kernova.discover.project.file._sync", sync)
    with open_project(project) as store:
        store.append(Record(Skipped(7)), Record(Skipped(8)))
    (content,) = map(read_content, synced)
    assert len(content.records) == len(EVENTS) + 2
    assert content.n_entries == len(EVENTS)
    assert read_content(project.read_bytes()).n_entries == len(EVENTS) + 2


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


@contextmanager
def full_disk(n_bytes):
    """Let files grow to a size and no further, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_record_that_cannot_be_saved_has_no_effect(tmp_path):
    X = np.arange(40.0).reshape(20, 2)
    path = tmp_path / "full"
    with CategoryDiscovery(ShuffledRows()).start(X, project=path) as session:
        session.next_question()
        session.answer("carp")
        open_row = session.next_question().row
        before = path.read_bytes()
        with full_disk(len(before) + 100), pytest.raises(InputError) as caught:
            session.answer("x" * 900)
        assert str(caught.value) == messages.NOT_SAVED.format(path=path, reason="File too large")
        assert path.read_bytes() == before
        assert list(session.categories_) == ["carp"]
        assert session.next_question().row == open_row
        session.answer("pike")
        log = session.log_
    with open_project(path) as store:
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
            lambda path: path.write_bytes(b"kernova-project 4 8f0e more words\n"),
            messages.NEWER_FORMAT,
        ),
    ],
)
def test_other_files_are_rejected_and_unchanged(project, spoil, sentence):
    spoil(project)
    before = None if project.is_dir() else project.read_bytes()
    with pytest.raises(InputError) as caught:
        open_project(project, HEAD)
    assert str(caught.value) == sentence.format(path=project)
    assert project.is_dir() or project.read_bytes() == before


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


def test_a_session_rejects_a_changed_table_and_describes_the_change(tmp_path):
    path = tmp_path / "fish"
    X = np.arange(12.0).reshape(6, 2)
    session = CategoryDiscovery(ShuffledRows())
    session.start(X, project=path).close()
    X[4, 1] = -1
    with pytest.raises(InputError) as caught:
        session.start(X, project=path)
    assert str(caught.value) == (
        messages.OTHER_TABLE.format(path=path, difference="the row 4 has other values in '1'.")
    )


def test_missing_paths_are_rejected(tmp_path):
    with pytest.raises(InputError) as caught:
        open_project(tmp_path / "none")
    assert str(caught.value) == (messages.NO_SUCH_PROJECT.format(path=tmp_path / "none"))
    with pytest.raises(InputError) as caught:
        open_project(tmp_path / "no" / "fish", HEAD)
    assert str(caught.value) == (
        messages.CANNOT_CREATE.format(path=tmp_path / "no" / "fish", folder=tmp_path / "no")
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_a_read_only_project_is_not_reported_as_damaged(project):
    project.chmod(0o444)
    with pytest.raises(InputError) as rejected:
        open_project(project)
    assert str(rejected.value) == messages.CANNOT_WRITE.format(path=project)


def test_a_project_that_may_not_be_opened_is_not_reported_as_damaged(project, monkeypatch):
    def reject(path, flags):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("kernova.discover.project.file.os.open", reject)
    with pytest.raises(InputError) as rejected:
        open_project(project)
    assert str(rejected.value) == messages.CANNOT_WRITE.format(path=project)


@pytest.mark.parametrize("error", [None, OSError(95, "Operation not supported")])
def test_locks_that_do_not_work_are_found_by_trying(project, monkeypatch, error):
    """Some network drives grant every lock, others none."""

    def lock(handle, how):
        if error is not None:
            raise error

    monkeypatch.setattr("fcntl.flock", lock)
    with pytest.raises(InputError) as rejected:
        open_project(project)
    assert str(rejected.value) == messages.NO_LOCKS.format(path=project)

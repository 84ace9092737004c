"""The log on disk: what was acknowledged is there, whatever happened to process and file."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernova.discover.events import (
    Answered,
    Changed,
    Merged,
    PriorLabels,
    Record,
    Renamed,
    RowLabelled,
    Skipped,
    Undone,
    event_from_json,
    event_to_json,
)
from kernova.discover.session import CategoryDiscovery
from kernova.discover.store import FORMAT, ProjectHead, open_project
from kernova.discover.table_identity import table_fingerprint
from kernova.errors import InputError
from tests.discover.scripted import ShuffledRows

ROOT = Path(__file__).parents[2]
HEAD = ProjectHead("f1ce", n_rows=9, n_columns=2, strategy="random", seed=0)
EVENTS = (
    PriorLabels((7, 1), ("pike", 'a "quoted" 名')),
    Answered(3, "carp", others=(4, 5)),
    Answered(2, "carp"),
    Skipped(6),
    RowLabelled(0, "eel"),
    Changed(1, "null"),
    Changed(2, None),
    Renamed("eel", "Eel"),
    Merged("pike", ("carp", "Eel")),
    Undone(),
)


@pytest.fixture
def project(tmp_path):
    """A project with some events, closed."""
    path = tmp_path / "fish.kernova-project"
    with open_project(path, HEAD) as store:
        store.append(*map(Record, EVENTS))
    return path


# --- what is kept ----------------------------------------------------------------------------


def test_a_closed_project_is_one_file_that_holds_everything(project):
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


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_has_one_json_form(event):
    text = event_to_json(event)
    assert event_from_json(text) == event
    assert event_to_json(event_from_json(json.dumps(json.loads(text)))) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"row": 3}',
        '{"event": "asked", "row": 3}',
        '{"event": "skipped"}',
        '{"event": "skipped", "row": 3, "label": "carp"}',
        '{"event": "skipped", "row": -1}',
        '{"event": "skipped", "row": 3.0}',
        '{"event": "skipped", "row": true}',
        '{"event": "answered", "row": 3, "label": " carp", "others": []}',
        '{"event": "answered", "row": 3, "label": "", "others": []}',
        '{"event": "answered", "row": 3, "label": null, "others": []}',
        '{"event": "answered", "row": 3, "label": 5, "others": []}',
        '{"event": "answered", "row": 3, "label": "carp", "others": "12"}',
        '{"event": "answered", "row": 3, "label": "carp", "others": ["1"]}',
        '{"event": "merged", "into": "carp", "others": [1]}',
    ],
)
def test_whatever_else_is_no_event(text):
    with pytest.raises(InputError) as caught:
        event_from_json(text)
    assert str(caught.value) == f"The log is damaged: {text!r} is no event."


# --- killed at any moment --------------------------------------------------------------------


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


def test_an_event_that_cannot_be_saved_does_not_count(tmp_path):
    X = np.arange(40.0).reshape(20, 2)
    with CategoryDiscovery(ShuffledRows()).start(X, project=tmp_path / "full") as session:
        session.next_question()
        session.answer("carp")
        connection = session._book.store._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")  # a disk that is full
        open_row = session.next_question().row
        with pytest.raises(InputError) as caught:
            session.name_cluster("x" * 20_000)
        assert str(caught.value) == (
            f"Could not save to {tmp_path / 'full'}: database or disk is full. What was said last "
            "does not count; what was said before is safe."
        )
        assert list(session.categories_) == ["carp"]
        assert session.next_question().row == open_row
        connection.execute("PRAGMA max_page_count = 1000000")
        session.answer("pike")
        log = session.log_
    with open_project(tmp_path / "full") as store:
        assert store.events == log
        assert len(log) == 2


# --- one at a time ---------------------------------------------------------------------------


def test_an_open_project_is_locked_for_others(project):
    other = (
        "import sys; from kernova.discover.store import open_project\n"
        "try: open_project(sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    sentence = f"The project {project} is open in another process. Leave that one first."
    with open_project(project):
        with pytest.raises(InputError) as caught:
            open_project(project)  # nor twice in the same
        assert str(caught.value) == sentence
        said = subprocess.run(
            [sys.executable, "-c", other, str(project)], capture_output=True, text=True, check=True
        )
        assert said.stdout == f"{sentence}\n"
    open_project(project).close()


def test_two_that_begin_at_once_end_up_with_one_file(tmp_path, monkeypatch):
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


def test_a_project_begins_where_files_cannot_be_linked(tmp_path, monkeypatch):
    def no_links(self, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    with open_project(tmp_path / "fish", HEAD) as store:
        store.append(*map(Record, EVENTS))
    with open_project(tmp_path / "fish", HEAD) as store:
        assert store.events == EVENTS
    assert [one.name for one in tmp_path.iterdir()] == ["fish"]


# --- files that are no project ---------------------------------------------------------------


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


DAMAGED = (
    "The project {path} is damaged: part of the file is missing or was overwritten. Take a copy of "
    "it, or begin another."
)
NO_PROJECT = "{path} is no kernova project, or the start of it is lost. Name another."


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: path.write_bytes(b""), NO_PROJECT),
        (lambda path: path.write_text("id,category\n1,carp\n" * 99), NO_PROJECT),
        (lambda path: path.write_bytes(path.read_bytes()[:50]), NO_PROJECT),
        (lambda path: (path.unlink(), _foreign_database(path)), NO_PROJECT),
        (
            lambda path: (path.unlink(), path.mkdir()),
            "{path} is no file, so it is no kernova project. Name another.",
        ),
        (
            _change_file(f"PRAGMA user_version = {FORMAT + 1}"),
            f"{{path}} was written by a newer kernova: its format is {FORMAT + 1}, and this one "
            f"reads up to {FORMAT}. Update kernova.",
        ),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), DAMAGED),
        (lambda path: path.write_bytes(path.read_bytes()[:-4096]), DAMAGED),
        (lambda path: path.write_bytes(path.read_bytes()[:4096] + b"?" * 12288), DAMAGED),
        (_change_file("PRAGMA user_version = 0"), DAMAGED),
        (_change_file("DROP TABLE events"), DAMAGED),
        (_change_file("DROP TABLE head"), DAMAGED),
        (_change_file("DELETE FROM head WHERE name = 'seed'"), DAMAGED),
        (_change_file("UPDATE head SET value = 'zero' WHERE name = 'seed'"), DAMAGED),
        (_change_file("DELETE FROM events WHERE number = 2"), DAMAGED),
        (_change_file("UPDATE events SET event = 'carp' WHERE number = 2"), DAMAGED),
    ],
)
def test_no_project_or_a_damaged_one_is_refused_and_left_alone(project, spoil, sentence):
    spoil(project)
    before = None if project.is_dir() else project.read_bytes()
    with pytest.raises(InputError) as caught:
        open_project(project, HEAD)
    assert str(caught.value) == sentence.format(path=project)
    assert project.is_dir() or project.read_bytes() == before


def test_no_truncated_project_passes_for_a_whole_one(project):
    whole = project.read_bytes()
    for n_bytes in [*range(1, len(whole), 331), len(whole) - 1]:
        project.write_bytes(whole[:n_bytes])
        with pytest.raises(InputError, match=r"no kernova project|damaged"):
            open_project(project, HEAD)


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (
            ProjectHead("0dd", 9, 2, "random", 0),
            "The project {path} is about another table: 9 rows and 2 columns; the one given now "
            "has the same shape, but other values, columns or ids. Give the table that the project "
            "was begun with, or name another project.",
        ),
        (
            ProjectHead("0dd", 9, 3, "random", 0),
            "The project {path} is about another table: 9 rows and 2 columns; the one given now "
            "has 9 rows and 3 columns. Give the table that the project was begun with, or name "
            "another project.",
        ),
        (
            ProjectHead("f1ce", 9, 2, "hms-ci", 0),
            "The project {path} chooses questions by 'random' with the seed 0; got 'hms-ci' and 0. "
            "Go on with those, or name another project.",
        ),
        (
            ProjectHead("f1ce", 9, 2, "random", 5),
            "The project {path} chooses questions by 'random' with the seed 0; got 'random' and 5. "
            "Go on with those, or name another project.",
        ),
    ],
)
def test_another_table_or_strategy_is_refused(project, head, sentence):
    with pytest.raises(InputError) as caught:
        open_project(project, head)
    assert str(caught.value) == sentence.format(path=project)
    open_project(project, HEAD).close()


def test_places_where_no_project_can_be(tmp_path):
    with pytest.raises(InputError) as caught:
        open_project(tmp_path / "none")
    assert str(caught.value) == (
        f"There is no project {tmp_path / 'none'}; check its name and folder."
    )
    with pytest.raises(InputError) as caught:
        open_project(tmp_path / "no" / "fish", HEAD)
    assert str(caught.value) == (
        f"Cannot begin a project at {tmp_path / 'no' / 'fish'}: there is no folder "
        f"{tmp_path / 'no'}. Name another place."
    )


# --- the fingerprint -------------------------------------------------------------------------

FISH = pd.DataFrame({"length": [10.0, np.nan, 0.0], "sex": ["f", None, "m"]})
IDS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("table", "ids"),
    [
        (FISH, ["a", "c", "b"]),
        (FISH, ["a", "b", 3]),
        (FISH.rename(columns={"sex": "Sex"}), IDS),
        (FISH[["sex", "length"]], IDS),
        (FISH.assign(length=[10.0, np.nan, np.nextafter(0.0, 1)]), IDS),
        (FISH.assign(length=[10.0, 0.0, 0.0]), IDS),
        (FISH.assign(sex=["f", "None", "m"]), IDS),
        (FISH.assign(sex=["f", "", "m"]), IDS),
        (FISH.assign(length=["10.0", None, "0.0"]), IDS),
        (FISH.iloc[:2], IDS[:2]),
        (FISH.iloc[::-1], IDS),
    ],
)
def test_a_fingerprint_tells_tables_apart(table, ids):
    assert table_fingerprint(table, ids) != table_fingerprint(FISH, IDS)


def test_a_fingerprint_does_not_see_how_a_table_was_stored():
    wanted = table_fingerprint(FISH, IDS)
    same = FISH.assign(length=pd.array([10, None, 0], dtype="Int64"))
    assert table_fingerprint(same, pd.Series(IDS)) == wanted
    assert table_fingerprint(FISH.astype({"sex": "category"}), np.array(IDS)) == wanted
    assert table_fingerprint(FISH.assign(length=[10.0, -np.nan, -0.0]), IDS) == wanted
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert table_fingerprint(np.asfortranarray(X), [0, 1]) == table_fingerprint(
        pd.DataFrame(X.astype(np.float32)), range(2)
    )


@pytest.mark.parametrize("name", ["SQLITE_IOERR_LOCK", "SQLITE_READONLY_DIRECTORY"])
def test_a_project_that_may_only_be_read_is_not_called_damaged(tmp_path, monkeypatch, name):
    path = tmp_path / "p"
    open_project(path, HEAD).close()
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name  # what SQLite says of a file, or a folder, that is not ours

    def refuse(connection, path):
        raise error

    monkeypatch.setattr("kernova.discover.store._check_ours", refuse)
    with pytest.raises(InputError) as refused:
        open_project(path)
    assert str(refused.value) == (
        f"The project {path} cannot be written or locked. Make the file and its folder writable, "
        "or name another."
    )

"""The path is the open file: deletions, replacements, foreign journals, and copies while open."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernova.discover.events import Answered, Record, Skipped
from kernova.discover.project.content import ProjectHead
from kernova.discover.project.reading import read_project
from kernova.discover.project.recovery import recover, write_repaired
from kernova.discover.session import CategoryDiscovery
from kernova.discover.store import open_project
from kernova.errors import InputError
from kernova.tables.identity import table_fingerprint
from tests.discover.project.projects import write_sqlite
from tests.discover.scripted import ShuffledRows

ROOT = Path(__file__).parents[3]
X = np.arange(60.0).reshape(20, 3)
HEAD = ProjectHead(table_fingerprint(X, range(20)), 20, 3, "shuffled", 0)


def answers(*rows):
    return [Record(Answered(row, f"kind {row}"), by="Anna") for row in rows]


# --- deleted, replaced or overwritten while open ---------------------------------------------


def _delete(path):
    path.unlink()


def _move(path):
    path.rename(path.with_name("elsewhere"))


def _replace(path):
    other = path.with_name("other")
    with open_project(other, HEAD) as store:
        store.append(*answers(19))
    other.replace(path)


def _overwrite(path):
    """Write into the same file, as `cp other project` does."""
    other = path.with_name("other")
    with open_project(other, HEAD) as store:
        store.append(*answers(19))
    path.write_bytes(other.read_bytes())
    other.unlink()


def _truncate(path):
    path.write_bytes(b"")


def _restore_older(path):
    """Restore a backup of the same project with fewer entries."""
    older = read_project(path).content
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(older.records) > 1
    path.write_bytes(b"".join(lines[:-1]))


def _overwrite_middle(path):
    """Change bytes in the middle, with the same length and the same header."""
    data = bytearray(path.read_bytes())
    data[-60:-40] = bytes(20)
    path.write_bytes(data)


def _delete_folder(path):
    shutil.rmtree(path.parent)


ACCIDENTS = [
    _delete, _move, _replace, _overwrite, _truncate, _restore_older, _overwrite_middle
]  # fmt: skip


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_everything_goes_to_a_rescue_file(tmp_path, accident):
    path = tmp_path / "fish.kernova-project"
    with open_project(path, HEAD) as store:
        store.append(*answers(1, 2))
        accident(path)
        left = path.read_bytes() if path.exists() else None
        store.append(*answers(3))
        store.append(*answers(4))
        assert store.rescue is not None
        assert store.warning.startswith(f"The project {path} was ")
        assert f"All 4 entries are in the rescue file {store.rescue};" in store.warning
        rescue = store.rescue
    assert (path.read_bytes() if path.exists() else None) == left  # what is there is not ours
    with open_project(rescue, HEAD) as store:
        assert store.records == answers(1, 2, 3, 4)


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_an_accident_after_the_last_answer_is_noticed_at_the_end(tmp_path, accident):
    path = tmp_path / "fish.kernova-project"
    store = open_project(path, HEAD)
    store.append(*answers(1, 2))
    accident(path)
    store.close()
    with open_project(store.rescue) as rescued:
        assert rescued.records == answers(1, 2)


def test_without_its_folder_the_rescue_file_is_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = tmp_path / "gone" / "fish.kernova-project"
    with open_project(path, HEAD) as store:
        store.append(*answers(1))
        _delete_folder(path)
        store.append(*answers(2))
        assert store.rescue.parent == tmp_path / "here"
    with open_project(store.rescue) as rescued:
        assert rescued.records == answers(1, 2)


def test_without_any_folder_the_rescue_file_is_a_temporary_one(tmp_path, monkeypatch):
    for name in ("gone", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "gone")
    with open_project(Path("fish.kernova-project"), HEAD) as store:
        store.append(*answers(1))
        shutil.rmtree(tmp_path / "gone")
        store.append(*answers(2))
        assert store.rescue.parent == tmp_path / "home"
    monkeypatch.chdir(tmp_path)
    with open_project(store.rescue) as rescued:
        assert rescued.records == answers(1, 2)


def test_a_file_that_was_only_touched_is_the_same(tmp_path):
    with open_project(tmp_path / "fish", HEAD) as store:
        store.append(*answers(1))
        os.utime(tmp_path / "fish")
        store.append(*answers(2))
        assert store.rescue is None


@pytest.mark.parametrize("accident", [_delete, "overwrite by another table"])
def test_the_rescue_file_holds_the_ids(tmp_path, accident):
    path = tmp_path / "fish.kernova-project"
    ids = [f"fish {row}" for row in range(20)]
    with CategoryDiscovery(ShuffledRows()).start(X, ids, project=path) as session:
        session.next_question()
        session.answer("carp")
        if accident is _delete:
            path.unlink()
        else:
            other = CategoryDiscovery(ShuffledRows())
            others = [f"other {row}" for row in range(20)]
            other.start(X + 1, others, project=tmp_path / "other").close()
            path.write_bytes((tmp_path / "other").read_bytes())
        session.next_question()
        session.answer("pike")
        rescue = session.project_.rescue
    assert read_project(rescue).content.id_of(7) == "fish 7"
    with CategoryDiscovery(ShuffledRows()).start(X, ids, project=rescue) as session:
        assert set(session.categories_) == {"carp", "pike"}


def test_a_project_without_entries_needs_no_rescue(tmp_path):
    path = tmp_path / "fish"
    with open_project(path, HEAD) as store:
        path.unlink()
    assert store.rescue is None
    assert list(tmp_path.iterdir()) == []


# --- journals of other projects --------------------------------------------------------------


def _journal_of_a_killed_session(path, n_answers, label):
    """Leave a database and its journal as a killed process of format 2 left them."""
    head = ProjectHead(table_fingerprint(X, range(20)), 20, 3, "shuffled", 0)
    write_sqlite(path, head, [])
    program = (
        "import os, sqlite3, sys\n"
        "path, n, label = sys.argv[1], int(sys.argv[2]), sys.argv[3]\n"
        "c = sqlite3.connect(path, isolation_level=None)\n"
        "c.execute('PRAGMA journal_mode = WAL')\n"
        "for number in range(1, n + 1):\n"
        '    event = \'{"event": "answered", "row": %d, "label": "%s", "others": []}\'\n'
        "    c.execute('INSERT INTO events VALUES (?, ?, ?, ?, ?)',\n"
        "        (number, '', event % (number, label), None, None))\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", program, path, str(n_answers), label], check=False)
    assert Path(f"{path}-wal").stat().st_size > 0


def _journal_beside_own_entries(path):
    """Leave a database with an entry of its own, and two more in its journal."""
    write_sqlite(path, HEAD, [Record(Answered(1, "carp"))])
    program = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA journal_mode = WAL')\n"
        "for number in (2, 3):\n"
        '    event = \'{"event": "answered", "row": %d, "label": "carp"}\' % number\n'
        "    values = (number, '', event, None, None)\n"
        "    c.execute('INSERT INTO events VALUES (?, ?, ?, ?, ?)', values)\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", program, path], check=False)


@pytest.mark.parametrize("is_link", [False, True])
def test_the_journal_of_an_old_project_is_read_with_it(tmp_path, is_link):
    (tmp_path / "real").mkdir()
    _journal_beside_own_entries(tmp_path / "real" / "fish")
    path = tmp_path / "real" / "fish"
    if is_link:  # SQLite puts the journal beside the file, not beside the link
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    with CategoryDiscovery(ShuffledRows()).start(X, project=path) as session:
        assert session.categories_ == {"carp": (1, 2, 3)}
    assert path.is_symlink() == is_link
    names = {one.name for one in (tmp_path / "real").iterdir()}
    assert {"fish", "fish.format-2", "fish.format-2-wal"} <= names
    assert "fish-wal" not in names
    with open_project(tmp_path / "real" / "fish.format-2") as old:  # kept, with its journal
        assert len(old.records) == 3


def test_a_journal_that_nothing_connects_with_its_project_is_not_read(tmp_path):
    """All entries are in the journal: it may be that of another project of the same name."""
    path = tmp_path / "fish"
    _journal_of_a_killed_session(path, 3, "carp")
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        open_project(path, HEAD)
    assert str(caught.value) == (
        f"{path} has no entries, but the journal fish-wal beside it has 3, and this old format "
        "does not show whose they are. If they belong to this project, write both to a new one "
        f"with `kernova project repair {path} --journal -o NEW`; if not, move the journal away."
    )
    assert path.read_bytes() == before
    content = read_project(path, trusts_journal=True).content
    write_repaired(tmp_path / "new", content, recover(content))
    with open_project(tmp_path / "new", HEAD) as store:
        assert [record.event.row for record in store.records] == [1, 2, 3]


@pytest.mark.soak
def test_an_orphan_journal_is_never_adopted(tmp_path, long_bar):
    rng = random.Random(1)
    _journal_of_a_killed_session(tmp_path / "killed", 3, "carp")
    journal = (tmp_path / "killed-wal").read_bytes()
    n_answers = 0
    for case in range(long_bar(100)):
        folder = tmp_path / str(case)
        folder.mkdir()
        path, orphan = folder / "fish", folder / f"fish{rng.choice(['-wal', '-journal'])}"
        kind = case % 4
        own = answers(*rng.sample(range(20), rng.randrange(4)))
        if kind == 1:
            with open_project(path, HEAD) as store:
                store.append(*own)
        elif kind > 1:  # a database of another table, or of this one with other entries
            head = HEAD if kind == 2 else ProjectHead("0dd", 20, 3, "shuffled", 0)
            own = own or answers(19)
            write_sqlite(path, head, own)
        orphan.write_bytes(journal[: rng.randrange(1, len(journal))] if case % 3 else journal)
        wanted = ProjectHead("0dd", 20, 3, "shuffled", 0) if kind == 3 else HEAD
        with open_project(path, wanted) as store:
            assert store.records == ([] if kind == 0 else own)
            assert any("nothing of it was read" in note for note in store.notes) or kind > 1
            store.append(*answers(0))
        with open_project(path) as store:
            assert store.records == [*([] if kind == 0 else own), *answers(0)]
        n_answers += len(own)
    print({"orphan journals": long_bar(100), "answers kept": n_answers, "adopted": 0})


def test_an_orphan_journal_is_set_aside_with_a_sentence(tmp_path):
    _journal_of_a_killed_session(tmp_path / "fish", 3, "carp")
    (tmp_path / "fish").unlink()
    with open_project(tmp_path / "fish", HEAD) as store:
        assert store.records == []
        note = store.notes[0]
    assert note.startswith("fish-wal is not part of the project: another one, or an earlier")
    assert not (tmp_path / "fish-wal").exists()
    assert any(one.name.startswith("fish-wal.set-aside-") for one in tmp_path.iterdir())


# --- copies while open -----------------------------------------------------------------------


@pytest.mark.soak
def test_a_plain_copy_holds_every_answer_acknowledged_before(tmp_path, long_bar):
    """`cp` while a process answers without pauses: the copy is complete, or is not opened."""
    n_copies = long_bar(200)
    program = [sys.executable, "-m", "tests.discover.project.answering", str(tmp_path / "fish")]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE) as worker:
        acknowledged, n_refused, n_last = _Acknowledged(worker.stdout), 0, 0
        for _ in range(n_copies):
            before = acknowledged.read()
            subprocess.run(["cp", tmp_path / "fish", tmp_path / "copy"], check=True)
            try:
                with open_project(tmp_path / "copy") as store:
                    n_last = len(store.records)
                    assert n_last >= before
                    keys = [record.key for record in store.records]
                    assert keys == [f"{number}" for number in range(1, n_last + 1)]
            except InputError:
                n_refused += 1
        worker.kill()
    counts = {"copies": n_copies, "rejected": n_refused, "entries in the last": n_last}
    print(json.dumps(counts))
    assert n_refused < n_copies / 10
    assert n_last > n_copies / 4


class _Acknowledged:
    """The last number that the worker printed."""

    def __init__(self, stream):
        os.set_blocking(stream.fileno(), True)
        self._stream, self._last = stream, 0
        self._stream.readline()
        os.set_blocking(stream.fileno(), False)

    def read(self):
        lines = (self._stream.read() or b"").split()
        self._last = int(lines[-1]) if lines else self._last
        return self._last


def test_reading_needs_no_lock(tmp_path):
    with open_project(tmp_path / "fish", HEAD) as store:
        store.append(Record(Skipped(3)))
        assert len(read_project(tmp_path / "fish").content.records) == 1


def test_a_foreign_database_beside_is_not_touched(tmp_path):
    connection = sqlite3.connect(tmp_path / "fish")
    connection.execute("CREATE TABLE fish (name)")
    connection.commit()
    connection.close()
    (tmp_path / "fish-wal").write_bytes(b"")
    with pytest.raises(InputError, match="is not a kernova project"):
        open_project(tmp_path / "fish", HEAD)
    assert (tmp_path / "fish-wal").exists()

"""Files are whole or not there."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from kernova.errors import InputError
from kernova.files import (
    ensure_writable,
    remove_stale_scratch,
    replacing,
    scratch_folder,
    scratch_path,
)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def interrupted_write():
        with replacing(target) as scratch:
            scratch.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_write()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_written_file_is_as_readable_as_any_other(tmp_path):
    plain, replaced = tmp_path / "plain", tmp_path / "replaced"
    plain.write_text("")
    with replacing(replaced) as scratch:
        assert scratch.parent == tmp_path
        scratch.write_text("")
    assert plain.stat().st_mode == replaced.stat().st_mode


@pytest.mark.parametrize("reach", [ensure_writable, lambda path: replacing(path).__enter__()])
def test_paths_that_cannot_be_written(tmp_path, reach):
    (tmp_path / "file").write_text("")
    for path, reason in [
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "where.csv", f"there is no folder {tmp_path / 'no'}"),
        (tmp_path / "file" / "x.csv", f"there is no folder {tmp_path / 'file'}"),
    ]:
        with pytest.raises(InputError) as caught:
            reach(path)
        assert (
            str(caught.value) == f"Cannot write {path}: {reason}. Name a file that can be written."
        )


def test_ensuring_leaves_nothing_behind(tmp_path):
    ensure_writable(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


# --- what killed processes leave -------------------------------------------------------------

WRITING = """
import sys, time
from kernova.files import replacing
with replacing(sys.argv[1]) as scratch:
    scratch.write_text("half")
    print(scratch, flush=True)
    time.sleep(60)
"""
IN_A_FOLDER = """
import time
from kernova.files import scratch_folder
with scratch_folder() as folder:
    (folder / "part").write_text("half")
    print(folder, flush=True)
    time.sleep(60)
"""


@contextmanager
def at_work(code, *arguments):
    """Run a process; yield it with the scratch path that it prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("name", ["out.csv", "another.csv", "x" * 250 + ".csv"])
def test_what_a_killed_process_left_is_removed_by_the_next_writer(name, tmp_path):
    with at_work(WRITING, tmp_path / name) as (process, scratch):
        kill(process)
    assert [path.name for path in tmp_path.iterdir()] == [scratch.name]
    assert scratch.name.startswith(".kernova-")
    ensure_writable(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_files_of_running_processes_are_left_alone(tmp_path):
    with at_work(WRITING, tmp_path / "out.csv") as (process, scratch):
        remove_stale_scratch(tmp_path / "out.csv")
        assert scratch.read_text() == "half"
        kill(process)
        remove_stale_scratch(tmp_path / "out.csv")
        assert not scratch.exists()


def test_folders_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with at_work(IN_A_FOLDER) as (process, folder):
        assert folder.parent == tmp_path
        kill(process)
    with scratch_folder() as own:
        assert list(tmp_path.iterdir()) == [own]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


HOST = sha256(socket.gethostname().encode()).hexdigest()[:8]
OTHER_HOST = "0" * 8


def test_files_of_others_are_left_alone(tmp_path, dead_pid):
    names = [
        f".kernova-{OTHER_HOST}-{dead_pid}-abc-12345678.csv", ".out-abcdefgh.csv", ".kernova-x.csv",
        "kernova-notes.csv", f".kernova-{HOST}-{dead_pid}-abc-1234.csv",
    ]  # fmt: skip
    for name in names:
        (tmp_path / name).write_text("")
    link = tmp_path / f".kernova-{HOST}-{dead_pid}-abc-12345678.csv"
    link.symlink_to(tmp_path / names[1])
    remove_stale_scratch(tmp_path / "out.csv")
    assert {path.name for path in tmp_path.iterdir()} == {*names, link.name}


def test_a_process_number_that_was_given_again_does_not_keep_a_file(tmp_path):
    own = scratch_path(tmp_path / "out.csv")
    own.write_text("")
    earlier = own.with_name(f".kernova-{HOST}-{os.getpid()}-abc-12345678.csv")
    earlier.write_text("")
    remove_stale_scratch(own)
    assert list(tmp_path.iterdir()) == [own]


def test_a_lock_keeps_the_file_of_a_process_that_cannot_be_seen(tmp_path, dead_pid):
    """Processes in other containers have no number here."""
    path = tmp_path / f".kernova-{HOST}-{dead_pid}-abc-12345678.csv"
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        remove_stale_scratch(path)
        assert path.exists()
    remove_stale_scratch(path)
    assert not path.exists()


def test_names_that_are_too_long_are_rejected_before_the_work(tmp_path):
    with pytest.raises(InputError, match="File name too long"):
        ensure_writable(tmp_path / ("x" * 300))

"""Peak memory and time of reading files, each measured in a process of its own.

A server process imports what the readers need; each file is then read by a fork of it, so that
one file's memory is not another's. `python -m tests.memory READER` is that process: it reads paths
from standard input and prints one JSON line for each.
"""

import ctypes
import json
import mmap
import os
import subprocess
import sys
import time
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

MB = 10**6
SECONDS = 10
_STARTING = 300  # MB, for the process itself
_PER_BYTE = 20


class Reading(NamedTuple):
    """What reading one file took, and the error's message if it was rejected."""

    path: str
    size: int
    peak: int
    seconds: float
    kind: str
    message: str

    def faults(self):
        """List what is wrong with it: memory, time, or an error that is no sentence for users."""
        allowed = _STARTING * MB + _PER_BYTE * self.size
        checks = {
            f"peak of {self.peak / MB:.0f} MB, allowed {allowed / MB:.0f}": self.peak > allowed,
            f"{self.seconds:.1f} s": self.seconds > SECONDS,
            f"{self.kind}: {self.message[:200]}": self.kind
            not in ("", "InputError", "ModelFileError", "MissingValuesError", "MediaError"),
            f"message of {len(self.message)} letters": len(self.message) > 1500,
        }
        return [f"{self.path}: {fault}" for fault, is_one in checks.items() if is_one]


def readings(reader, paths):
    """Read each file in a process of its own; the readers are those of `_READERS`."""
    server = _server(reader)
    return [_reading(server, path) for path in paths]


def check_damaged(reader, folder, good, damaged, n_files):
    """Read damaged copies of files, and expect little memory and time and no raw error."""
    good, paths = sorted(good.items()), []
    for seed in range(n_files):
        name, content = good[seed % len(good)]
        paths.append(folder / f"{seed}-{name}")
        paths[-1].write_bytes(damaged(content, seed))
    found = readings(reader, paths)
    assert len(found) == n_files
    assert [fault for one in found for fault in one.faults()] == []
    peak, seconds = max(one.peak for one in found), max(one.seconds for one in found)
    n_rejected = sum(one.kind != "" for one in found)
    print(f"\n{n_files} damaged: {peak / MB:.0f} MB, {seconds:.2f} s, {n_rejected} rejected")


def _reading(server, path):
    server.stdin.write(f"{path}\n")
    server.stdin.flush()
    return Reading(*json.loads(server.stdout.readline()))


@cache
def _server(reader):
    """Start a process that reads files until its standard input is closed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("KERNOVA_MEMORY_MB", None)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.memory", reader],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env=environment,
    )


def _read_table(path):
    from kernova import read_table

    read_table(path, missing="keep")


def _load_model(path):
    from kernova import load_model

    load_model(path)


def _read_media(path):
    from tests.media.inputs import read

    read(path)


_READERS = {"table": _read_table, "model": _load_model, "media": _read_media}


_IMPORTS = {
    "table": ("kernova.cli.app", "kernova.workflows.novelty", "pyarrow.parquet"),
    "model": ("kernova.cli.app", "kernova.workflows.recognize", "skops.io"),
    "media": ("kernova.cli.app", "kernova.media.opening", "tests.media.inputs"),
}


def _mapped_pages():
    """Give the addresses of the pages of libraries that this process has in memory."""
    size, found = mmap.PAGESIZE, []
    with Path("/proc/self/pagemap").open("rb") as pagemap:
        for line in Path("/proc/self/maps").read_text().splitlines():
            addresses, access, _, _, inode, *_ = line.split()
            if inode == "0" or "r" not in access:
                continue
            start, stop = (int(one, 16) for one in addresses.split("-"))
            pagemap.seek(start // size * 8)
            entries = memoryview(pagemap.read((stop - start) // size * 8)).cast("Q")
            found += [start + k * size for k, entry in enumerate(entries) if entry >> 63]
    return found


def _measured(read, path, starting, pages):
    """Read one file; ``starting`` and ``pages`` are the memory and libraries of the process before.

    A fork gets the pages of libraries only when it uses them. Those that a process of its own would
    have had before are fetched first, lest they count twice.

    Seconds are of the processor: others may run on it.
    """
    for address in pages:
        ctypes.string_at(address, 1)
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    start = time.process_time()
    kind = message = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(path)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
            kind, message = type(error).__name__, str(error)
    seconds = time.process_time() - start  # a busy machine is no fault
    # Pages that the process before has freed since are no longer in the fork.
    peak = starting + _memory("VmHWM") - before
    return Reading(path, Path(path).stat().st_size, peak, seconds, kind, message)


def _memory(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def _serve(reader):
    for name in _IMPORTS[reader]:
        import_module(name)
    starting, pages = _memory("VmHWM"), _mapped_pages()
    for line in sys.stdin:
        path = line.rstrip("\n")
        child = os.fork()
        if child == 0:
            print(json.dumps(_measured(_READERS[reader], path, starting, pages)), flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            size = Path(path).stat().st_size
            crashed = Reading(path, size, 0, 0.0, "crash", f"status {status}")
            print(json.dumps(crashed), flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1])

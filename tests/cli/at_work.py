"""When a command is surely at work: what it needs is loaded, and it has been computing since.

Python takes a Ctrl-C badly while it imports compiled modules: it may be lost, or become another
error. So tests press it later; by the processor time that was used, not by the clock, since a busy
machine may let a process wait for seconds.
"""

import os
import time
from pathlib import Path

_ENOUGH_SECONDS = 1.5  # of processor time without loading anything
_NEVER = 600.0
_TICKS = os.sysconf("SC_CLK_TCK")


def wait_until_at_work(process):
    """Wait until the process loads nothing more; return at once if it has ended."""
    n_loaded, since = 0, 0.0
    end = time.monotonic() + _NEVER
    while process.poll() is None and time.monotonic() < end:
        try:
            libraries, used = _libraries(process.pid), _processor_seconds(process.pid)
        except (OSError, IndexError):  # it ended meanwhile
            return
        if len(libraries) > n_loaded:
            n_loaded, since = len(libraries), used
        if "_ckdtree" in "".join(libraries) and used - since > _ENOUGH_SECONDS:
            return
        time.sleep(0.05)


def _libraries(pid):
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.split()[-1] for line in lines if ".so" in line}


def _processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS

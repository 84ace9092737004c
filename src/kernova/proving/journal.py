"""Journal of finished runs: a file of JSON lines to which every run is added when it ends.

A process that is killed may leave half a line at the end; it is ignored, and removed before the
next is written. Of runs with the same key, the last in the file counts. A run is kept only if its
fingerprint (:mod:`kernova.proving.fingerprints`) is that of the present code and settings, and if
no newer run was on other rows of the same draw.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from kernova.errors import InputError, shortened
from kernova.proving.runs import Course, Measures

FILE_NAME: Final = "runs.jsonl"


class RunKey(NamedTuple):
    """A run: which strategy, on which draw of which problem, and how often the expert errs."""

    problem: str
    draw: int
    strategy: str
    error_rate: float


@dataclass(frozen=True)
class RunRecord:
    """A run that ended, with its course or with the reason why it failed.

    Attributes
    ----------
    key : RunKey
        The run.
    fingerprint : str
        Digest of the code and settings.
    rows : str
        Digest of the rows and labels of the draw; empty if they could not be drawn.
    course : Course or None
        None if the run failed.
    seconds : float
        Time of the processor, with what the strategy was first to compute for this draw.
    error : str
        Why the run failed; otherwise empty.
    """

    key: RunKey
    fingerprint: str
    rows: str
    course: Course | None
    seconds: float
    error: str = ""

    def to_line(self) -> bytes:
        """Return the record as one line of JSON."""
        values = asdict(self)
        values |= values.pop("key")._asdict()
        course = values.pop("course")
        if course is not None:
            values |= {**course.measures._asdict(), "meetings": course.meetings}
        return json.dumps(values).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> "RunRecord":
        """Return the record of a line; raises ValueError, KeyError or TypeError if there is none.

        Examples
        --------
        >>> from kernova.proving.journal import RunKey, RunRecord
        >>> record = RunRecord(RunKey("glass", 0, "random", 0.0), "f", "r", None, 1.5, "no memory")
        >>> RunRecord.from_line(record.to_line()) == record
        True
        """
        values: dict[str, Any] = json.loads(line)
        course = None
        if not values["error"]:
            measures = Measures(*(values[name] for name in Measures._fields))
            course = Course(measures, tuple(values["meetings"]))
        return cls(
            RunKey(*(values[name] for name in RunKey._fields)),
            values["fingerprint"],
            values["rows"],
            course,
            values["seconds"],
            values["error"],
        )


class Journal:
    """The journal of a folder, open for appending; use :func:`opened_journal`.

    Parameters
    ----------
    stream : file
        The file, open for reading and appending.
    path : Path
        Its path, for messages.
    """

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self.records = self._read()

    def append(self, record: RunRecord) -> None:
        """Add a run; it is in the file when this returns."""
        _put_last(self.records, record)
        self._stream.write(record.to_line())
        self._stream.flush()

    def newest_rows(self) -> dict[tuple[str, int], str]:
        """Return for each problem and draw the digest of the rows that were run last."""
        newest = {}
        for key, record in self.records.items():
            if record.rows:
                newest[key.problem, key.draw] = record.rows
        return newest

    def _read(self) -> dict[RunKey, RunRecord]:
        self._stream.seek(0)
        content = self._stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._stream.truncate(len(whole))
        records: dict[RunKey, RunRecord] = {}
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                _put_last(records, RunRecord.from_line(line))
            except (ValueError, KeyError, TypeError):
                raise InputError(
                    f"Line {number} of {shortened(self._path)} is not a finished run. Remove the "
                    "line, or name another folder."
                ) from None
        return records


def _put_last(records: dict[RunKey, RunRecord], record: RunRecord) -> None:
    records.pop(record.key, None)
    records[record.key] = record


@contextmanager
def opened_journal(folder: Path) -> Iterator[Journal]:
    """Open the journal of a folder, which no other process may write meanwhile.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.proving.journal import RunKey, RunRecord, opened_journal
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with opened_journal(folder) as journal:
    ...     journal.append(RunRecord(RunKey("glass", 0, "random", 0.0), "", "", None, 0.1, "why"))
    >>> with opened_journal(folder) as journal:
    ...     [key.problem for key in journal.records]
    ['glass']
    """
    path = folder / FILE_NAME
    try:
        stream = path.open("a+b")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"Cannot write {shortened(path)}: {reason}. Name another folder."
        ) from error
    with stream:
        _lock(stream, path)
        yield Journal(stream, path)


def _lock(stream: BinaryIO, path: Path) -> None:
    if os.name != "posix":  # without fcntl, it is left to the user
        return
    import fcntl

    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"Another process is adding runs to {shortened(path)}. Wait until it ends, or name "
            "another folder."
        ) from None
    except OSError:  # a file system without locks
        return

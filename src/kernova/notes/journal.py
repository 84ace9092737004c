"""Journal of a search: the recordings that are done, so that the next run skips them.

The journal is one file of JSON lines beside the results. Before results of a recording are written,
a line records that they are begun; when all of them are written, another line records that they are
done. A recording that was begun and not done when the process was killed is searched again. A last
line that was cut off is ignored.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from kernova.errors import InputError
from kernova.files import is_there

JOURNAL_NAME = "kernova-notes.jsonl"
FORMAT = 1


class RecordingState(NamedTuple):
    """Path, size and modification time of a recording, to recognise that it has not changed."""

    path: str
    size: int
    mtime_ns: int


class Finished(NamedTuple):
    """A recording whose results were all written."""

    state: RecordingState  # state of the recording before it was read
    settings: str  # fingerprint of the model and of everything else that results depend on
    results: dict[str, str]  # the files written, relative to the folder, and the SHA-256 of each


class NoteJournal:
    """Journal of a folder, open and locked; use it as a context manager.

    Attributes
    ----------
    folder : Path
        Folder of the results.
    finished : dict
        Finished recordings, by path of the recording and by format.
    names : dict of str to str
        Name of the results of each recording, by its path.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / JOURNAL_NAME
        self.finished: dict[tuple[str, str], Finished] = {}
        self.names: dict[str, str] = {}
        # SHA-256 of the files that a search wrote; None if writing may have been interrupted.
        self._written: dict[str, str | None] = {}
        self._stream = self._opened()
        try:
            self._load()
        except BaseException:
            self._stream.close()
            raise

    def begin(self, recording: str, name: str, results: Sequence[str]) -> None:
        """Record that these results are about to be written."""
        self._append({"begun": recording, "name": name, "results": list(results)})
        self.names[recording] = name
        self._written.update(dict.fromkeys(results))

    def finish(
        self, state: RecordingState, kind: str, settings: str, results: Sequence[str]
    ) -> None:
        """Record that these results of a recording are written, the annotation first."""
        digests = {result: _digest_of(self.folder / result) for result in results}
        line = {"done": state.path, "format": kind, "size": state.size, "mtime_ns": state.mtime_ns}
        self._append({**line, "settings": settings, "results": digests})
        self._written.update(digests)
        self.finished[state.path, kind] = Finished(state, settings, digests)

    def may_write(self, result: str) -> bool:
        """Return whether a result is missing or unchanged since a search wrote it."""
        path = self.folder / result
        if not is_there(path):
            return True
        if result not in self._written:
            return False
        digest = self._written[result]
        return digest is None or _digest_of(path) == digest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    # --- the file ----------------------------------------------------------------------------

    def _opened(self) -> BinaryIO:
        try:
            stream = self.path.open("a+b", buffering=0)
        except OSError as error:
            raise InputError(
                f"Cannot write {self.path}: {error.strerror or error}. Name a folder that can be "
                "written."
            ) from error
        if not _locked(stream):
            stream.close()
            raise InputError(
                f"Another search is writing to {self.folder}. Wait for it, or name another folder."
            )
        return stream

    def _append(self, line: Mapping[str, Any]) -> None:
        try:
            self._stream.write(json.dumps(line).encode() + b"\n")
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise InputError(
                f"Cannot write {self.path}: {error.strerror or error}. Make room, then start the "
                "same command again."
            ) from error

    def _load(self) -> None:
        self._stream.seek(0)
        content = self._stream.read()
        head = {"kernova_notes": FORMAT}
        if json.dumps(head).encode().startswith(content):  # new, or its first line was cut off
            self._stream.truncate(0)
            self._append(head)
            return
        lines = content.split(b"\n")
        _check_head(lines[0], self.path)
        if lines[-1]:  # a kill cut it off
            self._stream.write(b"\n")
        for line in lines[1:]:
            self._apply(_parsed(line))

    def _apply(self, line: Mapping[str, Any]) -> None:
        try:
            if "begun" in line and ".." not in Path(line["name"]).parts:
                self.names[line["begun"]] = line["name"].lstrip("/")
                self._written.update(dict.fromkeys(line["results"]))
            elif "done" in line:
                state = RecordingState(line["done"], line["size"], line["mtime_ns"])
                done = Finished(state, line["settings"], dict(line["results"]))
                self._written.update(done.results)
                self.finished[state.path, line["format"]] = done
        except (KeyError, TypeError, ValueError):
            return  # a damaged line: its recording is searched again


def _digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _check_head(line: bytes, path: Path) -> None:
    number = _parsed(line).get("kernova_notes")
    if not isinstance(number, int):
        raise InputError(
            f"{path} is not the journal of a note search, or its beginning is damaged. Name "
            "another folder, or move it away to search everything again."
        )
    if number > FORMAT:
        raise InputError(
            f"{path} was written by a newer kernova (format {number}; this one knows {FORMAT}). "
            "Name another folder, or update."
        )


def _locked(stream: Any) -> bool:
    """Lock the journal for the life of the process; without locks on the system, assume success."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

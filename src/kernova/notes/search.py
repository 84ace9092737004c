"""Search of many recordings for notes, resumed after an interruption.

Results of a recording are written whole or not at all, and a journal in their folder records which
are done (:mod:`kernova.notes.journal`): the same call, after a kill, does only the rest.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol

from kernova.audio.annotations import (
    ANNOTATION_ENDINGS,
    Segment,
    read_annotations,
    write_annotations,
)
from kernova.audio.reading import AUDIO_SUFFIXES, AudioInfo, Channel, audio_info
from kernova.errors import InputError
from kernova.files import is_folder, made_folder
from kernova.notes.journal import NoteJournal, RecordingState
from kernova.progress import track

_PICTURE_ENDING = ".png"
SEARCHED, DONE_BEFORE, FAILED = "searched", "done before", "failed"
Draw = Callable[[Path, list[Segment], Path], None]


class Finder(Protocol):
    """Finder of notes, such as :class:`~kernova.notes.finder.NoteFinder`."""

    def find(self, recording: Any) -> list[Segment]:
        """Return the notes of one recording."""


class Recording(NamedTuple):
    """A file to search, and its path relative to the folder that was given."""

    path: Path
    relative_path: PurePosixPath


@dataclass(frozen=True)
class SearchSettings:
    """Settings that the results depend on, beside the recording."""

    format: str = "raven"  # format of the results: "raven", "audacity", "textgrid" or "csv"
    labels: Sequence[str] | None = None  # classes to keep; None keeps all
    # Fingerprint of the model and its options; results with another one are computed again.
    fingerprint: str = ""
    channel: Channel = "mean"  # channel that the finder uses, written to Raven selection tables
    raw: bool = False  # write formula-like labels to CSV as they are

    @property
    def digest(self) -> str:
        """Digest of all settings but the format."""
        labels = None if self.labels is None else sorted(self.labels)
        # Runs of earlier versions have no fourth value, and must count as done.
        ways = ["raw"] if self.raw and self.format == "csv" else []
        text = json.dumps([self.fingerprint, labels, self.channel, *ways])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class SearchedFile:
    """Outcome of one recording."""

    path: Path  # the recording
    outcome: str  # "searched", "done before", or "failed"
    segments: list[Segment] = field(default_factory=list)  # notes of the recording
    seconds: float = 0.0  # length of the recording
    files: tuple[Path, ...] = ()  # files that were written
    remark: str = ""  # reason of a failure, or a warning; usually empty


class _Plan(NamedTuple):
    """Results to write for a recording."""

    recording: Path
    key: str
    name: str
    annotation: str
    picture: str | None

    @property
    def results(self) -> list[str]:
        return [self.annotation] if self.picture is None else [self.annotation, self.picture]


@dataclass(frozen=True)
class _FolderRun:
    finder: Finder
    settings: SearchSettings
    journal: NoteJournal
    draw: Draw | None

    def planned(self, recordings: Sequence[Recording]) -> list[_Plan]:
        """Choose names, and check before the search that no foreign file would be replaced."""
        ending = ANNOTATION_ENDINGS[self.settings.format]
        plans = []
        for path, name in _names(recordings, self.journal.names).items():
            picture = f"{name}{_PICTURE_ENDING}" if self.draw is not None else None
            plan = _Plan(path, _key(path), name, f"{name}{ending}", picture)
            if not self._is_done(plan):
                self._check_free(plan)
            plans.append(plan)
        return plans

    def done(self, plan: _Plan) -> SearchedFile:
        files = tuple(self.journal.folder / result for result in plan.results)
        if self._is_done(plan):
            segments = read_annotations(files[0], format=self.settings.format)
            info = audio_info(plan.recording)
            return SearchedFile(plan.recording, DONE_BEFORE, segments, info.seconds, files)
        state = _state(plan.recording)
        found = _searched(self.finder, plan.recording, self.settings)
        made_folder(files[0].parent)
        self.journal.begin(plan.key, plan.name, plan.results)
        write_annotations(
            found.segments,
            files[0],
            format=self.settings.format,
            sample_rate=audio_info(plan.recording).sample_rate,
            duration=found.seconds,
            channel=1 if self.settings.channel == "mean" else self.settings.channel,
            raw=self.settings.raw,
        )
        if self.draw is not None:
            self.draw(plan.recording, found.segments, files[1])
        self.journal.finish(state, self.settings.format, self.settings.digest, plan.results)
        return replace(found, files=files)

    def _is_done(self, plan: _Plan) -> bool:
        done = self.journal.finished.get((plan.key, self.settings.format))
        if done is None or done.settings != self.settings.digest:
            return False
        is_there = all((self.journal.folder / result).is_file() for result in plan.results)
        has_all = set(plan.results) <= set(done.results)
        return is_there and has_all and _state_or_none(plan.recording) == done.state

    def _check_free(self, plan: _Plan) -> None:
        for result in plan.results:
            if not self.journal.may_write(result):
                raise InputError(
                    f"Cannot write {self.journal.folder / result}: the file exists, and no search "
                    "wrote it, or it was changed since. Move it away, or name another folder."
                )


def missing_frequencies_remark(info: AudioInfo, model_rate: float) -> str:
    """Return a remark on frequencies of the model that a recording lacks; empty if it has all.

    Parameters
    ----------
    info : AudioInfo
        The recording.
    model_rate : float
        Sample rate of the model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernova.audio.reading import AudioInfo
    >>> from kernova.notes.search import missing_frequencies_remark
    >>> missing_frequencies_remark(AudioInfo(Path("a.wav"), 44100, 1, 9, 1.0), 32000)
    ''
    >>> print(missing_frequencies_remark(AudioInfo(Path("a.wav"), 8000, 1, 9, 1.0), 32000))
    a.wav holds no frequencies above 4 kHz (8000 samples per second), and the model uses frequencies
    up to 11 kHz: notes may be missed.
    """
    if info.sample_rate >= model_rate:
        return ""
    from kernova.audio.frames import SONG_BANDS  # brings scipy.signal

    held, used = info.sample_rate / 2, min(model_rate / 2, SONG_BANDS.high_hz)
    if held >= used:
        return ""
    return (
        f"{info.path} holds no frequencies above {held / 1000:.4g} kHz ({info.sample_rate} samples "
        f"per second), and the model uses frequencies up to {used / 1000:.4g} kHz: notes may be "
        "missed."
    )


def recordings_in(paths: Iterable[str | Path]) -> list[Recording]:
    """Return the given recordings, and all recordings in the given folders, once each.

    Parameters
    ----------
    paths : iterable of path
        Files of any name, and folders, which are searched recursively for files that end in one of
        :data:`~kernova.audio.reading.AUDIO_SUFFIXES`, in the order of their names. Hidden files
        and folders are skipped.

    Returns
    -------
    list of Recording

    Raises
    ------
    InputError
        If a folder holds no recording, or nothing was named.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.notes.search import recordings_in
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b.wav", "a.FLAC", "notes.txt"):
    ...     (folder / name).touch()
    >>> [recording.relative_path.name for recording in recordings_in([folder])]
    ['a.FLAC', 'b.wav']
    """
    found: dict[Path, Recording] = {}
    for path in map(Path, paths):
        inside = _recordings_below(path) if is_folder(path) else [Recording(path, _name(path))]
        if not inside:
            raise InputError(
                f"There is no recording in the folder {path}: no file in it or its subfolders ends "
                f"in {', '.join(AUDIO_SUFFIXES)}."
            )
        for recording in inside:
            found.setdefault(recording.path.resolve(), recording)
    if not found:
        raise InputError("No recording was given. Name recordings, or folders of recordings.")
    return list(found.values())


def search_recordings(
    finder: Finder,
    recordings: Sequence[Recording],
    folder: str | Path | None = None,
    settings: SearchSettings | None = None,
    *,
    draw: Draw | None = None,
) -> Iterator[SearchedFile]:
    """Search recordings one after another; unreadable ones are reported as failed.

    Parameters
    ----------
    finder : Finder
        A fitted :class:`~kernova.notes.finder.NoteFinder`.
    recordings : sequence of Recording
        Recordings from :func:`recordings_in`.
    folder : path, optional
        Folder of the results, created if it does not exist: one annotation for each recording,
        with its name, in the same subfolders. Recordings that were done before with the same
        settings, and have not changed, are skipped. Without a folder nothing is written.
    settings : SearchSettings, optional
        Format, labels, and fingerprint of the model.
    draw : callable, optional
        Called with a recording, its notes and the path of a picture of them to write.

    Yields
    ------
    SearchedFile
        One for each recording, in order, as soon as it is done.

    Raises
    ------
    InputError
        Before the search, if a result would replace a file that no search wrote or that was
        changed since, or if another search is writing to the folder.
    """
    settings = settings or SearchSettings()
    if folder is None:
        for recording in track(recordings, "recordings"):
            yield _attempted(recording.path, partial(_searched, finder, recording.path, settings))
        return
    with NoteJournal(made_folder(folder)) as journal:
        run = _FolderRun(finder, settings, journal, draw)
        for plan in track(run.planned(recordings), "recordings"):
            yield _attempted(plan.recording, partial(run.done, plan))


def fingerprint_of(model: str | Path, options: Mapping[str, Any]) -> str:
    """Return a text that identifies the content of the model file and the options."""
    with Path(model).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return json.dumps({"model": digest, **options}, sort_keys=True)


def combined_segments(results: Iterable[SearchedFile]) -> list[Segment]:
    """Return the notes of all recordings, each with the path of its recording."""
    return [
        segment._replace(file=str(result.path)) for result in results for segment in result.segments
    ]


def _attempted(path: Path, search: Callable[[], SearchedFile]) -> SearchedFile:
    try:
        return search()
    except InputError as error:
        return SearchedFile(path, FAILED, remark=str(error))


def _searched(finder: Finder, path: Path, settings: SearchSettings) -> SearchedFile:
    info = _non_empty_info(path)
    segments = finder.find(path)
    if settings.labels is not None:
        segments = [segment for segment in segments if segment.label in settings.labels]
    treble = missing_frequencies_remark(info, getattr(finder, "sample_rate_", 0))
    remark = " ".join(filter(None, (info.remark, treble)))
    return SearchedFile(path, SEARCHED, segments, info.seconds, remark=remark)


def _non_empty_info(path: Path) -> AudioInfo:
    info = audio_info(path)
    if not info.n_samples:
        raise InputError(f"{path} holds no sound: it is 0 s long. Record or copy it again.")
    return info


def _names(recordings: Sequence[Recording], known: Mapping[str, str]) -> dict[Path, str]:
    """Choose a unique name for the results of each recording, the same one in every run.

    The name is that of the recording without its suffix; with it, or with a number, if that is
    taken. Names that differ only in case count as equal, as they do on some systems.
    """
    taken = {name.casefold() for name in known.values()}
    chosen: dict[Path, str] = {}
    for recording in recordings:
        name = known.get(_key(recording.path))
        if name is None:
            name = next(
                name
                for name in _possible_names(recording.relative_path)
                if name.casefold() not in taken
            )
            taken.add(name.casefold())
        chosen[recording.path] = name
    return chosen


def _possible_names(path: PurePosixPath) -> Iterator[str]:
    plain = str(path.with_suffix("")) if path.suffix.lower() in AUDIO_SUFFIXES else str(path)
    yield plain
    yield str(path)
    number = 2
    while True:
        yield f"{plain}-{number}"
        number += 1


def _key(path: Path) -> str:
    return str(path.resolve())


def _name(path: Path) -> PurePosixPath:
    return PurePosixPath(path.name)


def _recordings_below(folder: Path) -> list[Recording]:
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent) / name
            if path.suffix.lower() in AUDIO_SUFFIXES and not name.startswith("."):
                relative = PurePosixPath(path.relative_to(folder).as_posix())
                found.append(Recording(path, relative))
    return found


def _state(path: Path) -> RecordingState:
    try:
        facts = path.stat()
    except OSError as error:
        raise InputError(f"There is no file {path}; check its name and folder.") from error
    return RecordingState(_key(path), facts.st_size, facts.st_mtime_ns)


def _state_or_none(path: Path) -> RecordingState | None:
    try:
        return _state(path)
    except InputError:
        return None

"""What a recording's sample rate leaves out of what a model knows.

Search many recordings for notes, file by file, and go on after an interruption.

Results of a recording are written whole or not at all, and a journal in their folder says which
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
from kernova.audio.reading import AudioInfo, Channel, audio_info
from kernova.errors import InputError
from kernova.notes.journal import NoteJournal, RecordingState
from kernova.progress import track


def missing_treble(info: AudioInfo, model_rate: float) -> str:
    """Say that a recording lacks high sounds that the model listens to; empty if it does not.

    Parameters
    ----------
    info : AudioInfo
        The recording.
    model_rate : float
        Samples per second at which the model listens.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernova.audio.reading import AudioInfo
    >>> from kernova.notes.search import missing_treble
    >>> missing_treble(AudioInfo(Path("a.wav"), 44100, 1, 9, 1.0), 32000)
    ''
    >>> print(missing_treble(AudioInfo(Path("a.wav"), 8000, 1, 9, 1.0), 32000))
    a.wav holds nothing above 4 kHz (8000 samples per second), and the model listens up to 11 kHz:
    notes may be missed.
    """
    if info.sample_rate >= model_rate:
        return ""
    from kernova.audio.frames import SONG_BANDS  # brings scipy.signal

    held, heard = info.sample_rate / 2, min(model_rate / 2, SONG_BANDS.high_hz)
    if held >= heard:
        return ""
    return (
        f"{info.path} holds nothing above {held / 1000:.4g} kHz ({info.sample_rate} samples per "
        f"second), and the model listens up to {heard / 1000:.4g} kHz: notes may be missed."
    )


AUDIO_ENDINGS = (".wav", ".flac", ".ogg")
PICTURE_ENDING = ".png"

SEARCHED, DONE_BEFORE, FAILED = "searched", "done before", "failed"

Draw = Callable[[Path, list[Segment], Path], None]


class Finder(Protocol):
    """What finds notes in a recording: :class:`~kernova.notes.finder.NoteFinder`, or the like."""

    def find(self, recording: Any) -> list[Segment]:
        """Give the notes of one recording."""


class Recording(NamedTuple):
    """A file to search, and where it stands in the folder that was given."""

    path: Path
    place: PurePosixPath


@dataclass(frozen=True)
class SearchSettings:
    """What results depend on, beside the recording.

    Attributes
    ----------
    format : str
        How results are written: "raven", "audacity", "textgrid" or "csv".
    labels : sequence of str or None
        Keep notes of these classes only; None keeps all.
    fingerprint : str
        Of the model and of what was said to it: results made with another are made again.
    channel : int or "mean"
        What the finder listens to; Raven selection tables name it.
    """

    format: str = "raven"
    labels: Sequence[str] | None = None
    fingerprint: str = ""
    channel: Channel = "mean"

    @property
    def digest(self) -> str:
        """All of it as one short text; the format is kept apart."""
        labels = None if self.labels is None else sorted(self.labels)
        text = json.dumps([self.fingerprint, labels, self.channel])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class SearchedFile:
    """What became of one recording.

    Attributes
    ----------
    path : Path
        The recording.
    outcome : str
        "searched", "done before", or "failed".
    segments : list of Segment
        Its notes.
    seconds : float
        Its length.
    files : tuple of Path
        What was written.
    remark : str
        Why it failed, or what else a reader should know; mostly empty.
    """

    path: Path
    outcome: str
    segments: list[Segment] = field(default_factory=list)
    seconds: float = 0.0
    files: tuple[Path, ...] = ()
    remark: str = ""


def recordings_in(paths: Iterable[str | Path]) -> list[Recording]:
    """Give the recordings that were named, and all in the folders that were, once each.

    Parameters
    ----------
    paths : iterable of path
        Files of any name, and folders: of these, every WAV, FLAC and OGG file in them and in
        folders below, in the order of their names. Hidden ones are passed over.

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
    >>> [recording.place.name for recording in recordings_in([folder])]
    ['a.FLAC', 'b.wav']
    """
    found: dict[Path, Recording] = {}
    for path in map(Path, paths):
        inside = _recordings_below(path) if path.is_dir() else [Recording(path, _name(path))]
        if not inside:
            raise InputError(
                f"There is no recording in the folder {path}: no file in it, or below it, ends in "
                f"{', '.join(AUDIO_ENDINGS)}."
            )
        for recording in inside:
            found.setdefault(recording.path.resolve(), recording)
    if not found:
        raise InputError("No recording was named. Name files, or folders of them.")
    return list(found.values())


def search_recordings(
    finder: Finder,
    recordings: Sequence[Recording],
    folder: str | Path | None = None,
    settings: SearchSettings | None = None,
    *,
    draw: Draw | None = None,
) -> Iterator[SearchedFile]:
    """Search recordings one after another; what cannot be read is reported, and the rest done.

    Parameters
    ----------
    finder : Finder
        A fitted :class:`~kernova.notes.finder.NoteFinder`.
    recordings : sequence of Recording
        What :func:`recordings_in` gave.
    folder : path, optional
        Where results go, made if need be: one annotation for each recording, named like it, in
        folders like those it came from. Recordings that were done before with the same settings,
        and have not changed, are passed over. Without a folder nothing is written.
    settings : SearchSettings, optional
        Format, labels, and the model's fingerprint.
    draw : callable, optional
        Called with a recording, its notes and a path at which to leave a picture of them.

    Yields
    ------
    SearchedFile
        One for each recording, in their order, as soon as it is done.

    Raises
    ------
    InputError
        Before the work, if a result would replace a file that no search wrote, or that was
        changed since, or if another search is writing to the folder.
    """
    settings = settings or SearchSettings()
    if folder is None:
        for recording in track(recordings, "recordings"):
            yield _attempted(recording.path, partial(_searched, finder, recording.path, settings))
        return
    with NoteJournal(_made(Path(folder))) as journal:
        run = _FolderRun(finder, settings, journal, draw)
        for plan in track(run.planned(recordings), "recordings"):
            yield _attempted(plan.recording, partial(run.done, plan))


def fingerprint_of(model: str | Path, options: Mapping[str, Any]) -> str:
    """Give a text that is another one if the model file or an option is."""
    with Path(model).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return json.dumps({"model": digest, **options}, sort_keys=True)


def combined_segments(results: Iterable[SearchedFile]) -> list[Segment]:
    """Put the notes of all recordings together, each with the name of its own."""
    return [
        segment._replace(file=str(result.path)) for result in results for segment in result.segments
    ]


# --- one recording ---------------------------------------------------------------------------


def _attempted(path: Path, search: Callable[[], SearchedFile]) -> SearchedFile:
    try:
        return search()
    except InputError as error:
        return SearchedFile(path, FAILED, remark=str(error))


def _searched(finder: Finder, path: Path, settings: SearchSettings) -> SearchedFile:
    info = _sounding(path)
    segments = finder.find(path)
    if settings.labels is not None:
        segments = [segment for segment in segments if segment.label in settings.labels]
    treble = missing_treble(info, getattr(finder, "sample_rate_", 0))
    remark = " ".join(filter(None, (info.remark, treble)))
    return SearchedFile(path, SEARCHED, segments, info.seconds, remark=remark)


def _sounding(path: Path) -> AudioInfo:
    info = audio_info(path)
    if not info.n_samples:
        raise InputError(f"{path} holds no sound at all: it is 0 s long. Record or copy it again.")
    return info


# --- a folder of results ---------------------------------------------------------------------


class _Plan(NamedTuple):
    """What is to be done about a recording."""

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
        """Choose names, and refuse before the work what must not be replaced."""
        ending = ANNOTATION_ENDINGS[self.settings.format]
        plans = []
        for path, name in _names(recordings, self.journal.names).items():
            picture = f"{name}{PICTURE_ENDING}" if self.draw is not None else None
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
        _made(files[0].parent)
        self.journal.begin(plan.key, plan.name, plan.results)
        write_annotations(
            found.segments,
            files[0],
            format=self.settings.format,
            sample_rate=audio_info(plan.recording).sample_rate,
            duration=found.seconds,
            channel=1 if self.settings.channel == "mean" else self.settings.channel,
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
                    f"Cannot write {self.journal.folder / result}: it is there already, and no "
                    "search wrote it, or it was changed since. Move it away, or name another "
                    "folder."
                )


def _names(recordings: Sequence[Recording], known: Mapping[str, str]) -> dict[Path, str]:
    """Give each recording a name of its own, and the same one in every run.

    Like the recording without its ending; with it, or with a number, where that is taken. Case is
    not enough to tell files apart on every system.
    """
    taken = {name.casefold() for name in known.values()}
    chosen: dict[Path, str] = {}
    for recording in recordings:
        name = known.get(_key(recording.path))
        if name is None:
            name = next(name for name in _wishes(recording.place) if name.casefold() not in taken)
            taken.add(name.casefold())
        chosen[recording.path] = name
    return chosen


def _wishes(place: PurePosixPath) -> Iterator[str]:
    plain = str(place.with_suffix("")) if place.suffix.lower() in AUDIO_ENDINGS else str(place)
    yield plain
    yield str(place)
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
            if path.suffix.lower() in AUDIO_ENDINGS and not name.startswith("."):
                place = PurePosixPath(path.relative_to(folder).as_posix())
                found.append(Recording(path, place))
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


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"Cannot make the folder {folder}: {reason}. Name another.") from error
    return folder

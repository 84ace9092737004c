"""Recordings and their annotations, as people name them: pairs of files, or a table of many.

From marked notes to a model that finds more of them.
"""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.audio.annotations import Segment, check_segments, read_annotations, segments_by_file
from kernova.audio.annotations.csv import separator_of
from kernova.audio.annotations.segments import EDGE_TOLERANCE_SECONDS
from kernova.audio.reading import AudioInfo, audio_info
from kernova.errors import InputError, ModelFileError
from kernova.notes.evaluation import checked_classes, without_rounding_overlaps
from kernova.notes.finder import NoteFinder
from kernova.notes.search import AUDIO_ENDINGS
from kernova.persist.models import load_model
from kernova.tables.records import json_rows
from kernova.textfiles import first_line, text_of

_MOST_NAMES = 10


@dataclass(frozen=True)
class AnnotationReading:
    """How annotation files are to be read; the command line's options, one for one.

    Attributes
    ----------
    format : str or None
        "raven", "audacity", "textgrid" or "csv"; recognised if None.
    columns : mapping or None
        Names of columns that are not called as usual.
    tier : str or None
        Of TextGrids.
    """

    format: str | None = None
    columns: Mapping[str, str] | None = None
    tier: str | None = None


class Annotated(NamedTuple):
    """A recording, and the notes marked in it.

    Attributes
    ----------
    info : AudioInfo
        The recording.
    segments : list of Segment
        In order of time, with labels that are not empty.
    source : str
        The annotation's file.
    """

    info: AudioInfo
    segments: list[Segment]
    source: str

    @property
    def is_clip(self) -> bool:
        """Whether the recording is one note and nothing else."""
        if len(self.segments) != 1:
            return False
        (note,) = self.segments
        rest = max(note.start, self.info.seconds - note.end)
        return rest <= EDGE_TOLERANCE_SECONDS


class Lessons(NamedTuple):
    """All that was annotated, and what a reader should know about it."""

    recordings: list[Annotated]
    remarks: list[str]

    @property
    def labels(self) -> list[str]:
        """The labels that occur, in order."""
        return sorted({note.label for one in self.recordings for note in one.segments})

    @property
    def n_notes(self) -> int:
        """How many notes there are."""
        return sum(len(one.segments) for one in self.recordings)


def read_lessons(
    sources: Sequence[str | Path],
    reading: AnnotationReading | None = None,
    *,
    labels: Iterable[str] | None = None,
    may_be_empty: bool = False,
) -> Lessons:
    r"""Read annotations together with the recordings that they are about.

    Parameters
    ----------
    sources : sequence of path
        Recordings, each followed by its annotation files; and tables that name their recordings
        in a column ``file`` (from the table's folder on), before the first recording. In such a
        table each row is a note: from ``start`` to ``end``, or, without these columns, the whole
        file.
    reading : AnnotationReading, optional
        Format and columns.
    labels : iterable of str, optional
        Take notes with these labels only.
    may_be_empty : bool, default=False
        Whether annotations may say that there is no note at all.

    Returns
    -------
    Lessons
        Notes without a label are left out, and counted in the remarks.

    Raises
    ------
    InputError
        If a file cannot be read, an annotation lies past the end of its recording, notes overlap
        by more than a hundredth of a second, or a label occurs nowhere.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, soundfile
    >>> from kernova.notes.training import read_lessons
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> soundfile.write(folder / "song.wav", np.zeros(8000), 8000)
    >>> _ = (folder / "song.txt").write_text("0.25\t0.5\ttrill\n")
    >>> read_lessons([folder / "song.wav", folder / "song.txt"]).labels
    ['trill']
    """
    reading = reading or AnnotationReading()
    wanted = None if labels is None else set(labels)
    seen: set[str] = set()
    n_unlabelled = 0
    recordings = []
    for path, segments, source in _by_recording(sources, reading):
        named = [segment for segment in segments if segment.label.strip()]
        n_unlabelled += len(segments) - len(named)
        seen |= {segment.label for segment in named}
        kept = [note for note in named if wanted is None or note.label in wanted]
        notes = without_rounding_overlaps(kept)
        info = audio_info(path)
        _check_notes(notes, info, source)
        recordings.append(Annotated(info, notes, source))
    if seen or n_unlabelled or not (may_be_empty and recordings):
        _check_labels(wanted, seen, recordings)
    remarks = [one.info.remark for one in recordings if one.info.remark]
    if n_unlabelled:
        remarks.append(f"Annotations without a label, left out: {n_unlabelled}.")
    return Lessons(recordings, remarks)


def _check_notes(notes: Sequence[Segment], info: AudioInfo, source: str) -> None:
    if not info.n_samples:
        raise InputError(
            f"{info.path} holds no sound at all: it is 0 s long. Leave it out, or record or copy "
            "it again."
        )
    try:
        check_segments(notes, info.seconds, source=source)
    except InputError as error:
        if info.remark:  # what lies past the end was there once
            raise InputError(f"{error} {info.remark}") from error
        raise


def _check_labels(wanted: set[str] | None, seen: set[str], recordings: Sequence[Annotated]) -> None:
    for label in sorted(wanted or ()):
        if label not in seen:
            raise InputError(f"No note is labelled {label!r}. The labels are {_some(seen)}.")
    if not any(one.segments for one in recordings):
        sources = list(dict.fromkeys(one.source for one in recordings))
        raise InputError(f"There is no labelled note in {_some(sources, quoted=False)}.")


# --- which annotation is about which recording -------------------------------------------------


class _Marked(NamedTuple):
    path: Path
    segments: list[Segment]
    source: str


def _by_recording(sources: Sequence[str | Path], reading: AnnotationReading) -> list[_Marked]:
    found: list[_Marked] = []
    recording: Path | None = None
    waiting = False
    for path in map(Path, sources):
        if path.suffix.lower() in AUDIO_ENDINGS:
            if waiting:
                raise _without_annotation(recording)
            recording, waiting = path, True
        elif recording is None:
            found += _from_table(path, reading)
        else:
            found.append(_Marked(recording, _of_one(path, recording, reading), str(path)))
            waiting = False
    if waiting:
        raise _without_annotation(recording)
    return _joined(found)


def _joined(found: Iterable[_Marked]) -> list[_Marked]:
    """Put together what several annotation files say of one recording."""
    joined: dict[Path, _Marked] = {}
    for one in found:
        key = one.path.resolve()
        if key in joined:
            before = joined[key]
            source = before.source if before.source == one.source else (
                f"{before.source} with {one.source}"
            )  # fmt: skip
            one = _Marked(before.path, before.segments + one.segments, source)
        joined[key] = one
    return list(joined.values())


def _without_annotation(recording: Path | None) -> InputError:
    return InputError(
        f"{recording} has no annotation: name the file that says where its notes are behind it."
    )


def _of_one(path: Path, recording: Path, reading: AnnotationReading) -> list[Segment]:
    """Read the annotation of one recording; of a table about several, take what is about it."""
    segments = _read(path, reading)
    files = {segment.file for segment in segments if segment.file is not None}
    mine = [
        segment
        for segment in segments
        if segment.file is None or _file_name(segment.file) == recording.name
    ]
    if files and not mine:
        raise InputError(f"{path} holds no note of {recording.name}; it is about {_some(files)}.")
    return [segment._replace(file=None) for segment in mine]


def _file_name(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _from_table(path: Path, reading: AnnotationReading) -> list[_Marked]:
    """Read a table of notes in several recordings, or of clips with one note each."""
    clips = _clips(path, reading)
    if clips is not None:
        return clips
    segments = _read(path, reading)
    if any(segment.file is None for segment in segments):
        raise InputError(
            f"{path} does not say which recording each note is in. Name the recording before it, "
            "or give it a column 'file'."
        )
    return [
        _Marked(Path(str(file)), [note._replace(file=None) for note in notes], str(path))
        for file, notes in segments_by_file(segments, path.parent).items()
    ]


def _read(path: Path, reading: AnnotationReading) -> list[Segment]:
    return read_annotations(path, format=reading.format, columns=reading.columns, tier=reading.tier)


def _clips(path: Path, reading: AnnotationReading) -> list[_Marked] | None:
    """Read a table of files and labels, each file a note; None if the table has times."""
    if reading.format not in (None, "csv") or path.suffix.lower() not in (".csv", ".tsv"):
        return None
    text = text_of(path)
    delimiter = separator_of(first_line(text))
    columns = {role: (reading.columns or {}).get(role, role) for role in ("file", "label")}
    times = {(reading.columns or {}).get(role, role) for role in ("start", "end")}
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names = {(name or "").strip().lower(): name for name in rows.fieldnames or ()}
    found = {role: names.get(name.strip().lower()) for role, name in columns.items()}
    if any(time.strip().lower() in names for time in times) or None in found.values():
        return None
    marked = []
    try:
        for row in rows:
            file, label = row[str(found["file"])], row[str(found["label"])]
            if not (file and label):
                raise InputError(
                    f"Line {rows.line_num} of {path} lacks a file or a label; correct it."
                )
            clip = path.parent / file
            whole = Segment(0.0, audio_info(clip).seconds, label)
            marked.append(_Marked(clip, [whole], str(path)))
    except csv.Error as error:
        raise InputError(
            f"{path} cannot be read as separated text; a quotation mark is never closed, or "
            "stands where none belongs."
        ) from error
    return marked


def _some(names: Iterable[str], *, quoted: bool = True) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
    shown = [repr(name) if quoted else name for name in listed[:_MOST_NAMES]]
    return ", ".join(shown) + more


@dataclass(frozen=True)
class LearntNotes:
    """A model of note classes, and what it was learnt from.

    Attributes
    ----------
    finder : NoteFinder
        Fitted.
    classes : DataFrame
        One line for each class: ``class``, ``notes``, and ``shortest``, ``mean`` and ``longest``,
        the durations of its notes in seconds.
    lessons : Lessons
        The notes.
    """

    finder: NoteFinder
    classes: pd.DataFrame
    lessons: Lessons

    @property
    def summary(self) -> str:
        """Say in one sentence what was learnt."""
        n_classes = len(self.classes)
        n_recordings = sum(bool(one.segments) for one in self.lessons.recordings)
        classes = "1 class was" if n_classes == 1 else f"{n_classes} classes were"
        notes = "1 note" if self.lessons.n_notes == 1 else f"{self.lessons.n_notes} notes"
        recordings = "1 recording" if n_recordings == 1 else f"{n_recordings} recordings"
        return f"{classes} learnt from {notes} in {recordings}."

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
        return {
            "command": "notes learn",
            "summary": self.summary,
            "recordings": [str(one.info.path) for one in self.lessons.recordings if one.segments],
            "sample_rate": int(self.finder.sample_rate_),
            "preset": self.finder.preset,
            "classes": json_rows(self.classes),
            "remarks": self.lessons.remarks,
        }


def learn_notes(lessons: Lessons, finder: NoteFinder | None = None) -> LearntNotes:
    """Fit a finder to marked notes.

    Parameters
    ----------
    lessons : Lessons
        What :func:`~kernova.notes.training.read_lessons` gave: recordings with notes marked
        in them, or clips of one note each.
    finder : NoteFinder, optional
        To be fitted; one with the default settings if not given.

    Returns
    -------
    LearntNotes
        The fitted finder, and a table of its classes.
    """
    finder = NoteFinder() if finder is None else finder
    names = checked_classes(lessons.labels)
    marked = [one for one in lessons.recordings if one.segments]
    if all(one.is_clip for one in marked):
        finder.fit([one.info.path for one in marked], [one.segments[0].label for one in marked])
    else:
        finder.fit_recordings([(one.info.path, one.segments) for one in marked])
    return LearntNotes(finder, _class_table(lessons, names), lessons)


def _class_table(lessons: Lessons, names: Sequence[str]) -> pd.DataFrame:
    durations: dict[str, list[float]] = {name: [] for name in names}
    for one in lessons.recordings:
        for note in one.segments:
            durations[note.label].append(note.end - note.start)
    return pd.DataFrame(
        {
            "class": list(names),
            "notes": [len(durations[name]) for name in names],
            "shortest": [min(durations[name]) for name in names],
            "mean": [float(np.mean(durations[name])) for name in names],
            "longest": [max(durations[name]) for name in names],
        }
    )


def load_note_finder(path: str | os.PathLike[str]) -> NoteFinder:
    """Load a model that ``kernova notes learn`` wrote, or say that the file holds another."""
    finder = load_model(path)
    if not isinstance(finder, NoteFinder):
        raise ModelFileError(
            f"{Path(path)} holds a {type(finder).__name__}, which finds no notes. Name a file that "
            "kernova notes learn wrote."
        )
    return finder


def known_labels(finder: NoteFinder, labels: Sequence[str] | None) -> list[str]:
    """Give the classes asked for, all if none were, or say that one was never learnt."""
    classes = [str(name) for name in finder.classes_]
    for label in labels or ():
        if label not in classes:
            raise InputError(
                f"The model knows no class {label!r}. Its classes are "
                f"{', '.join(map(repr, classes))}."
            )
    return classes if labels is None else [name for name in classes if name in set(labels)]

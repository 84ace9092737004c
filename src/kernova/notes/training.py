"""Training annotations of notes, and the finder that is learnt from them.

Annotations are given as pairs of files, a recording and the annotation behind it, or as one table
of notes in many recordings.
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
from kernova.audio.reading import AUDIO_SUFFIXES, AudioInfo, audio_info
from kernova.errors import InputError, ModelFileError, quoted
from kernova.notes.evaluation import checked_classes, without_rounding_overlaps
from kernova.notes.finder import NoteFinder
from kernova.persist.models import load_model
from kernova.tables.records import json_rows
from kernova.text import first_few, listed, quantity
from kernova.textfiles import first_line, read_text

_MOST_NAMES = 10


@dataclass(frozen=True)
class AnnotationReading:
    """Options for reading annotation files."""

    # "raven", "audacity", "textgrid" or "csv"; recognised by the content if None.
    format: str | None = None
    columns: Mapping[str, str] | None = None  # column names that differ from the default ones
    tier: str | None = None  # tier of a TextGrid


class Annotated(NamedTuple):
    """A recording, and its annotated notes."""

    info: AudioInfo  # the recording
    segments: list[Segment]  # in order of time, with labels that are not empty
    source: str  # file of the annotation

    @property
    def is_clip(self) -> bool:
        """Whether the recording is a single note, from its start to its end."""
        if len(self.segments) != 1:
            return False
        (note,) = self.segments
        rest = max(note.start, self.info.seconds - note.end)
        return rest <= EDGE_TOLERANCE_SECONDS


class TrainingSet(NamedTuple):
    """Annotated recordings, and remarks about them."""

    recordings: list[Annotated]
    remarks: list[str]

    @property
    def labels(self) -> list[str]:
        """The labels that occur, in order."""
        return sorted({note.label for one in self.recordings for note in one.segments})

    @property
    def n_notes(self) -> int:
        """Number of notes."""
        return sum(len(one.segments) for one in self.recordings)


class _Marked(NamedTuple):
    path: Path
    segments: list[Segment]
    source: str


@dataclass(frozen=True)
class LearntNotes:
    """A fitted finder, and its training annotations."""

    finder: NoteFinder  # fitted
    # One row for each class: ``class``, ``notes``, and ``shortest``, ``mean`` and ``longest``, the
    # durations of its notes in seconds.
    classes: pd.DataFrame
    training: TrainingSet  # the annotated notes

    @property
    def summary(self) -> str:
        """Number of classes, notes and recordings, in one sentence."""
        n_classes = len(self.classes)
        n_recordings = sum(bool(one.segments) for one in self.training.recordings)
        classes = f"{quantity(n_classes, 'class', 'classes')} {'was' if n_classes == 1 else 'were'}"
        notes = quantity(self.training.n_notes, "note")
        return f"{classes} learnt from {notes} in {quantity(n_recordings, 'recording')}."

    def to_json_dict(self) -> dict[str, Any]:
        """Return all results as numbers and texts for JSON."""
        return {
            "command": "notes learn",
            "summary": self.summary,
            "recordings": [str(one.info.path) for one in self.training.recordings if one.segments],
            "sample_rate": int(self.finder.sample_rate_),
            "preset": self.finder.preset,
            "classes": json_rows(self.classes),
            "remarks": self.training.remarks,
        }


def read_training_annotations(
    sources: Sequence[str | Path],
    reading: AnnotationReading | None = None,
    *,
    labels: Iterable[str] | None = None,
    may_be_empty: bool = False,
) -> TrainingSet:
    r"""Read annotations together with their recordings.

    Parameters
    ----------
    sources : sequence of path
        Recordings, each followed by its annotation files; and, before the first recording, tables
        that name their recordings in a column ``file``, relative to the folder of the table. In
        such a table each row is a note: from ``start`` to ``end``, or, without these columns, the
        whole file.
    reading : AnnotationReading, optional
        Format, columns and tier.
    labels : iterable of str, optional
        Labels to keep; all by default.
    may_be_empty : bool, default=False
        Whether annotations may hold no note at all.

    Returns
    -------
    TrainingSet
        Notes without a label are left out; a remark gives their number.

    Raises
    ------
    InputError
        If a file cannot be read, an annotation lies past the end of its recording, notes overlap
        by more than a hundredth of a second, or a label occurs nowhere.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, soundfile
    >>> from kernova.notes.training import read_training_annotations
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> soundfile.write(folder / "song.wav", np.zeros(8000), 8000)
    >>> _ = (folder / "song.txt").write_text("0.25\t0.5\ttrill\n")
    >>> read_training_annotations([folder / "song.wav", folder / "song.txt"]).labels
    ['trill']
    """
    reading = reading or AnnotationReading()
    wanted = None if labels is None else set(labels)
    seen: set[str] = set()
    n_unlabelled = 0
    recordings = []
    for path, segments, source in _by_recording(sources, reading):
        labelled = [segment for segment in segments if segment.label.strip()]
        n_unlabelled += len(segments) - len(labelled)
        seen |= {segment.label for segment in labelled}
        kept = [note for note in labelled if wanted is None or note.label in wanted]
        notes = without_rounding_overlaps(kept)
        info = audio_info(path)
        _check_notes(notes, info, source)
        recordings.append(Annotated(info, notes, source))
    if seen or n_unlabelled or not (may_be_empty and recordings):
        _check_labels(wanted, seen, recordings)
    remarks = [one.info.remark for one in recordings if one.info.remark]
    if n_unlabelled:
        remarks.append(f"Annotations without a label, left out: {n_unlabelled}.")
    return TrainingSet(recordings, remarks)


def learn_notes(training: TrainingSet, finder: NoteFinder | None = None) -> LearntNotes:
    """Fit a finder to annotated notes.

    Parameters
    ----------
    training : TrainingSet
        Annotations from :func:`read_training_annotations`: of recordings, or clips of one note.
    finder : NoteFinder, optional
        Finder to fit; one with the default settings if not given.

    Returns
    -------
    LearntNotes
        The fitted finder, and a table of its classes.
    """
    finder = NoteFinder() if finder is None else finder
    names = checked_classes(training.labels)
    marked = [one for one in training.recordings if one.segments]
    if all(one.is_clip for one in marked):
        finder.fit([one.info.path for one in marked], [one.segments[0].label for one in marked])
    else:
        finder.fit_recordings([(one.info.path, one.segments) for one in marked])
    return LearntNotes(finder, _class_table(training, names), training)


def load_note_finder(path: str | os.PathLike[str]) -> NoteFinder:
    """Load a :class:`NoteFinder`; raise ModelFileError if the file holds another model."""
    finder = load_model(path)
    if not isinstance(finder, NoteFinder):
        raise ModelFileError(
            f"{Path(path)} holds a {type(finder).__name__}, which finds no notes. Pass a file "
            "written by kernova notes learn."
        )
    return finder


def known_labels(finder: NoteFinder, labels: Sequence[str] | None) -> list[str]:
    """Return the chosen classes, all by default; raise InputError for an unknown one."""
    classes = [str(name) for name in finder.classes_]
    for label in labels or ():
        if label not in classes:
            raise InputError(
                f"The model knows no class {quoted(label)}. Its classes are {listed(classes)}."
            )
    return classes if labels is None else [name for name in classes if name in set(labels)]


def _check_notes(notes: Sequence[Segment], info: AudioInfo, source: str) -> None:
    if not info.n_samples:
        raise InputError(
            f"{info.path} holds no sound: it is 0 s long. Leave it out, or record or copy it again."
        )
    try:
        check_segments(notes, info.seconds, source=source)
    except InputError as error:
        if info.remark:  # a cut recording explains notes past its end
            raise InputError(f"{error} {info.remark}") from error
        raise


def _check_labels(wanted: set[str] | None, seen: set[str], recordings: Sequence[Annotated]) -> None:
    for label in sorted(wanted or ()):
        if label not in seen:
            raise InputError(
                f"No note is labelled {quoted(label)}. The labels are {_first_names(seen)}."
            )
    if not any(one.segments for one in recordings):
        sources = list(dict.fromkeys(one.source for one in recordings))
        raise InputError(f"There is no labelled note in {_first_names(sources, quoted=False)}.")


def _by_recording(sources: Sequence[str | Path], reading: AnnotationReading) -> list[_Marked]:
    found: list[_Marked] = []
    recording: Path | None = None
    waiting = False
    for path in map(Path, sources):
        if path.suffix.lower() in AUDIO_SUFFIXES:
            if waiting:
                raise _without_annotation(recording)
            recording, waiting = path, True
        elif recording is None:
            found += _from_table(path, reading)
        else:
            found.append(_Marked(recording, _segments_of(path, recording, reading), str(path)))
            waiting = False
    if waiting:
        raise _without_annotation(recording)
    return _joined(found)


def _joined(found: Iterable[_Marked]) -> list[_Marked]:
    """Merge several annotation files of one recording."""
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
        f"{recording} has no annotation: give the annotation file right after the recording."
    )


def _segments_of(path: Path, recording: Path, reading: AnnotationReading) -> list[Segment]:
    """Read the annotation of one recording; of a table of several, select its rows."""
    segments = _read(path, reading)
    files = {segment.file for segment in segments if segment.file is not None}
    mine = [
        segment
        for segment in segments
        if segment.file is None or _file_name(segment.file) == recording.name
    ]
    if files and not mine:
        raise InputError(
            f"{path} holds no note of {recording.name}; it annotates {_first_names(files)}."
        )
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
            f"{path} does not name the recording of each note. Name the recording before it, or "
            "add a column 'file'."
        )
    return [
        _Marked(Path(str(file)), [note._replace(file=None) for note in notes], str(path))
        for file, notes in segments_by_file(segments, path.parent).items()
    ]


def _read(path: Path, reading: AnnotationReading) -> list[Segment]:
    return read_annotations(path, format=reading.format, columns=reading.columns, tier=reading.tier)


def _clips(path: Path, reading: AnnotationReading) -> list[_Marked] | None:
    """Read a table of files and labels, one note per file; None if the table has times."""
    if reading.format not in (None, "csv") or path.suffix.lower() not in (".csv", ".tsv"):
        return None
    text = read_text(path)
    delimiter = separator_of(first_line(text))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        places = _clip_columns(next(rows, []), reading.columns or {})
        if places is None:
            return None
        return [_clip(row, places, f"Line {rows.line_num} of {path}", path) for row in rows if row]
    except csv.Error as error:
        is_long = "field limit" in str(error)
        problem = "a field is too long" if is_long else "a quotation mark is unbalanced"
        raise InputError(f"{path} cannot be read as separated text: {problem}.") from error


def _clip_columns(header: Sequence[str], columns: Mapping[str, str]) -> list[int] | None:
    """Return the positions of the columns of files and labels; None if one lacks or has times."""
    places = {name.strip().lower(): place for place, name in enumerate(header)}
    file, label, *times = (
        places.get(columns.get(role, role).strip().lower())
        for role in ("file", "label", "start", "end")
    )
    if file is None or label is None or any(time is not None for time in times):
        return None
    return [file, label]


def _clip(row: Sequence[str], places: Sequence[int], where: str, path: Path) -> _Marked:
    file, label = (row[place] if place < len(row) else "" for place in places)
    if not (file and label):
        raise InputError(f"{where} lacks a file or a label; correct it.")
    clip = path.parent / file
    return _Marked(clip, [Segment(0.0, audio_info(clip).seconds, label)], str(path))


def _first_names(names: Iterable[str], *, quoted: bool = True) -> str:
    return (listed if quoted else first_few)(sorted(names), _MOST_NAMES)


def _class_table(training: TrainingSet, names: Sequence[str]) -> pd.DataFrame:
    durations: dict[str, list[float]] = {name: [] for name in names}
    for one in training.recordings:
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

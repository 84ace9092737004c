"""Labelled notes to measure with: a folder of clips and, where there are, whole songs."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.load.annotations import read_annotations
from kernova.load.audio import Audio, audio_info, read_audio
from kernova.load.file_text import text_of
from kernova.load.segments import Segment, segments_by_file

INDEX = "index.csv"
_SONG_TABLE = Path("songs") / "annotations.csv"


@dataclass(frozen=True, eq=False)
class AnnotatedSong:
    """A whole recording, and all the notes in it."""

    name: str
    audio: Audio
    notes: tuple[Segment, ...]


@dataclass(frozen=True, eq=False)
class NoteSet:
    """Clips of one note each, and songs that hold such notes.

    Attributes
    ----------
    name : str
    clips : tuple of Audio
        All of one sample rate, cut out at the borders of their notes.
    labels : tuple of str
        The class of each.
    recordings : tuple of str
        Where each comes from: notes to learn from and notes to find share none.
    songs : tuple of AnnotatedSong
        May be empty.
    """

    name: str
    clips: tuple[Audio, ...]
    labels: tuple[str, ...]
    recordings: tuple[str, ...]
    songs: tuple[AnnotatedSong, ...] = ()

    @property
    def classes(self) -> list[str]:
        """The classes, in order."""
        return sorted(set(self.labels))

    @property
    def sample_rate(self) -> int:
        """Samples per second of every clip."""
        return self.clips[0].sample_rate

    def of_class(self, name: str) -> NDArray[np.intp]:
        """Give the places of the notes of a class."""
        return np.flatnonzero(np.array(self.labels) == name)


def read_note_set(folder: str | Path, name: str | None = None) -> NoteSet:
    """Read a folder of notes: clips named in ``index.csv``, and songs if it has some.

    Parameters
    ----------
    folder : path
        With ``index.csv`` (columns ``file``, ``label`` and, where several notes come from one
        recording, ``recording``) and perhaps ``songs/annotations.csv`` (``file``, ``label``,
        ``start``, ``end``), files named from the table's folder on.
    name : str, default=the folder's name

    Returns
    -------
    NoteSet
    """
    folder = Path(folder)
    rows = _index_rows(folder / INDEX)
    paths = [folder / row["file"] for row in rows]
    rate = min(audio_info(path).sample_rate for path in paths)
    clips = tuple(read_audio(path, sample_rate=rate) for path in paths)
    # A clip without a recording is one by itself.
    recordings = tuple(row.get("recording") or row["file"] for row in rows)
    labels = tuple(row["label"] for row in rows)
    return NoteSet(name or folder.name, clips, labels, recordings, _songs(folder / _SONG_TABLE))


def note_folders(folder: str | Path) -> list[Path]:
    """Find the folders of notes: this one, or those in it or in its folder ``notes``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.studies.note_sets import note_folders
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "notes" / "wren").mkdir(parents=True)
    >>> _ = (folder / "notes" / "wren" / "index.csv").write_text("file,label")
    >>> [path.name for path in note_folders(folder)]
    ['wren']
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; name the one that holds the notes.")
    if (folder / INDEX).is_file():
        return [folder]
    inside = [*folder.glob(f"*/{INDEX}"), *folder.glob(f"notes/*/{INDEX}")]
    return sorted(path.parent for path in inside)


def _index_rows(path: Path) -> list[dict[str, str]]:
    table = csv.DictReader(io.StringIO(text_of(path)))
    missing = {"file", "label"} - set(table.fieldnames or ())
    if missing:
        raise InputError(f"{path} has no column {sorted(missing)[0]!r}; it needs file and label.")
    rows = [row for row in table if row["file"] and row["label"]]
    if not rows:
        raise InputError(f"{path} names no note with a label; give at least one.")
    return rows


def _songs(table: Path) -> tuple[AnnotatedSong, ...]:
    if not table.is_file():
        return ()
    by_file = segments_by_file(read_annotations(table, format="csv"))
    return tuple(
        AnnotatedSong(str(file), read_audio(table.parent / str(file)), tuple(sorted(notes)))
        for file, notes in by_file.items()
    )

"""Tables whose rows are stretches of recordings: Raven's selections, and others with times.

Rows that are sounds: which recording each lies in, and what can be measured of it.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from kernova.audio.annotations.raven import BEGIN, END
from kernova.audio.columns import HeardRange, SoundColumns, fit_sound_columns, sound_measures
from kernova.audio.reading import sound_library
from kernova.errors import InputError
from kernova.media.files import (
    FolderFiles,
    RowFiles,
    column_texts,
    files_named_in,
    files_of_rows,
    refuse_no_files,
    without_file_note,
)
from kernova.media.request import DataRequest, DiscoveryData
from kernova.media.row_media import RowMedia
from kernova.media.sounds import SOUND_ENDINGS, SoundRows, Stretch
from kernova.progress import track
from kernova.tables.columns import decoded
from kernova.tables.formats import RawTable
from kernova.tables.table import row_ids
from kernova.text import listed
from kernova.typing import Vector

_TIMES: Final = (
    (BEGIN.lower(), END.lower()),
    ("start", "end"),
    ("start_s", "end_s"),
    ("start_seconds", "end_seconds"),
    ("begin", "end"),
    ("onset", "offset"),
    ("onset_s", "offset_s"),
)
# What says where a selection is and who made it, and nothing of what it sounds like.
_NO_MEASURES: Final = frozenset(
    (
        *("selection", "view", "channel", "begin file", "end file", "begin path", "end path"),
        *("file offset (s)", "begin date", "begin clock time", "end clock time"),
        *("begin date time", "begin sample (samples)", "end sample (samples)"),
        *("file", "sr", "sample_rate", "samplerate"),
    )
)
# Frequencies are measured with times, by hand: no reason not to listen.
_BORDERS: Final = frozenset(
    ("low freq (hz)", "high freq (hz)", "delta time (s)", "low", "high", "low_hz", "high_hz",
     "duration", "score")
)  # fmt: skip
_LABELS: Final = frozenset(
    ("annotation", "label", "species", "common name", "species code", "tag", "notes", "comments")
)
_OFFSET: Final = "File Offset (s)"


class Times(NamedTuple):
    """From when to when each row goes, in seconds from the start of its own recording."""

    starts: Vector
    ends: Vector


class Selections(NamedTuple):
    """A table of sounds, each row once.

    Attributes
    ----------
    raw : RawTable
        The columns; those that are no features stand aside.
    times : Times or None
        None if rows are whole recordings.
    has_measures : bool
        Whether there are numbers beside times and frequencies.
    notes : list of str
        What was left out, in sentences.
    """

    raw: RawTable
    times: Times | None
    has_measures: bool
    notes: list[str]


def is_raven(raw: RawTable) -> bool:
    """Tell Raven's selection table by its columns."""
    return {BEGIN, END} <= set(raw.columns.column_names)


def selections_in(raw: RawTable, source: str, named: Collection[str]) -> Selections:
    """Find the columns of times, and what else is no feature of a sound.

    Parameters
    ----------
    raw : RawTable
        What the file held.
    source : str
        The file, for sentences.
    named : collection of str
        Columns that the user has given a meaning; they are left alone.
    """
    if is_raven(raw):
        raw = _each_once(raw)
    columns = raw.columns
    lower = {name.strip().lower(): name for name in columns.column_names}
    pair = _time_columns(columns, lower)
    labels = [lower[name] for name in lower if name in _LABELS and lower[name] not in named]
    empty = [name for name in columns.column_names if _says_nothing(columns, name)]
    places = [lower[name] for name in lower if name in _NO_MEASURES or name in pair]
    aside = {*raw.aside, *places, *labels, *empty}
    has_measures = any(
        name.strip().lower() not in _BORDERS and _is_numeric(columns, name)
        for name in set(columns.column_names) - aside - set(named)
    )
    if not pair and has_measures:  # a table as any other, which happens to have sounds
        return Selections(raw, None, True, [])
    return Selections(
        raw._replace(aside=frozenset(aside), own_id=_own_id(raw)),
        _times(columns, [lower[name] for name in pair], source) if pair else None,
        has_measures,
        _label_note([name for name in labels if name not in empty]),
    )


def with_columns(raw: RawTable, names: Sequence[str], values: NDArray[np.float64]) -> RawTable:
    """Add columns of numbers, unless there are some of the same name."""
    columns = raw.columns
    for name, column in zip(names, values.T, strict=True):
        if name not in columns.column_names:
            columns = columns.append_column(name, pa.array(column, from_pandas=True))
    return raw._replace(columns=columns)


# --- rows ------------------------------------------------------------------------------------


def _each_once(raw: RawTable) -> RawTable:
    """Keep one row of each selection: Raven lists it for every view, waveform and spectrogram."""
    columns = raw.columns
    keys = [
        name for name in ("Selection", BEGIN, END, "Begin File") if name in columns.column_names
    ]
    if "Selection" not in keys or "View" not in columns.column_names:
        return raw
    views = columns["View"].to_pylist()
    chosen: dict[tuple[object, ...], int] = {}
    for place, key in enumerate(zip(*(columns[name].to_pylist() for name in keys), strict=True)):
        if key not in chosen or str(views[place]).startswith("Spectrogram"):
            chosen[key] = place
    return raw._replace(columns=columns.take(pa.array(list(chosen.values()), type=pa.int64())))


def _own_id(raw: RawTable) -> str | None:
    if "Selection" not in raw.columns.column_names:
        return raw.own_id
    numbers = raw.columns["Selection"].to_pylist()
    is_name = None not in numbers and len(set(numbers)) == len(numbers)
    return "Selection" if is_name else raw.own_id


# --- times -----------------------------------------------------------------------------------


def _time_columns(columns: pa.Table, lower: Mapping[str, str]) -> tuple[str, ...]:
    """Give the names, in small letters, of two columns of times; none if there are none."""
    for pair in _TIMES:
        if set(pair) <= set(lower) and all(_is_numeric(columns, lower[name]) for name in pair):
            return pair
    return ()


def _times(columns: pa.Table, names: Sequence[str], source: str) -> Times:
    starts, ends = (_numbers(columns, name) for name in names)
    _refuse_disorder(starts, ends, source)
    return Times(*_from_own_file(columns, starts, ends))


def _from_own_file(columns: pa.Table, starts: Vector, ends: Vector) -> tuple[Vector, Vector]:
    """Count from each row's own recording where a table covers several in a row."""
    has_files = "Begin File" in columns.column_names or "Begin Path" in columns.column_names
    if not has_files or _OFFSET not in columns.column_names:
        return starts, ends
    offsets = _numbers(columns, _OFFSET)
    offsets = np.where(np.isnan(offsets), starts, offsets)
    return offsets, ends + (offsets - starts)


def _refuse_disorder(starts: Vector, ends: Vector, source: str) -> None:
    is_wrong = ~((starts >= 0) & (ends > starts) & np.isfinite(ends))
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise InputError(
            f"Row {row + 1} of {source} goes from {starts[row]:.9g} s to {ends[row]:.9g} s; a "
            "sound begins at 0 s or later and ends after that. Correct it."
        )


def _numbers(columns: pa.Table, name: str) -> Vector:
    return np.asarray(columns[name].cast(pa.float64()).to_numpy(), dtype=np.float64)


def _is_numeric(columns: pa.Table, name: str) -> bool:
    kind = decoded(columns[name]).type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _says_nothing(columns: pa.Table, name: str) -> bool:
    """Tell whether all rows have the same value, or none: programs write such columns."""
    column = decoded(columns[name])
    if column.null_count == columns.num_rows:
        return True
    n_values = pyarrow.compute.count_distinct(column, mode="all").as_py()
    return bool(n_values == 1 and columns.num_rows > 1)


def _label_note(labels: Sequence[str]) -> list[str]:
    if not labels:
        return []
    one = len(labels) == 1
    column, is_aside, it = ("Column", "is", "it") if one else ("Columns", "are", "one")
    return [
        f"{column} {listed(labels)} {is_aside} left out, since categories are to be asked; name "
        f"{it} as label column to begin with what it says."
    ]


_PLACE: Final = "sound"


class Measured(NamedTuple):
    """A table with columns that were measured on the sounds, and how."""

    raw: RawTable
    columns: SoundColumns


def sounding_rows(
    asked: DataRequest, raw: RawTable, audio: str | os.PathLike[str] | None
) -> DiscoveryData:
    """Read a table whose rows are recordings or stretches of them; without audio, unheard ones."""
    selections = selections_in(raw, asked.source, asked.named)
    raw, notes = selections.raw, list(selections.notes)
    if audio is None and not {*raw.columns.column_names} - {*raw.aside, *asked.named}:
        raise InputError(
            f"{asked.source} says when sounds are to be heard, but holds no measurements of them. "
            "Name their recordings with --audio, and they are measured."
        )
    if audio is None:
        table = asked.table(raw)
        return DiscoveryData(table, RowMedia(table.ids.tolist()), notes)
    ids = row_ids(raw, asked.id_column, asked.source).tolist()
    files, found = recordings_of(
        raw, asked.source, ids, audio,
        has_times=selections.times is not None, numbered=asked.is_numbered(raw),
    )  # fmt: skip
    refuse_no_files(found.names, "recording", asked.source, ids, files)
    if selections.times is not None and asked.is_numbered(raw):
        raw, ids = _named_by_place(raw, ids, found.names, selections.times)
    sounds = _sound_rows(ids, files, found.names, selections.times)
    columns = asked.reader if isinstance(asked.reader, SoundColumns) else None
    if columns is not None or not selections.has_measures:
        raw, columns = measured(raw, sounds, len(ids), columns)
        notes.append(
            "There are no measurements, so the sounds were measured: duration, centre, and "
            f"{len(columns.names) - 2} components of their spectra."
        )
    table = replace(asked.table(raw, found.columns), reader=columns)
    sounds = sounds.of_rows(table.places)
    notes += [*asked.aside_note(found.columns), *without_file_note(found.names, "recording")]
    return DiscoveryData(table, sounds, notes)


def folder_of_recordings(
    asked: DataRequest,
    images: str | os.PathLike[str] | None,
    audio: str | os.PathLike[str] | None,
) -> DiscoveryData:
    """Take every recording in a folder for a row, and measure it."""
    given = {
        "images": images, "audio": audio, "id column": asked.id_column,
        "label column": asked.label_column, "columns to drop": asked.drop,
    }  # fmt: skip
    useless = [name for name, value in given.items() if value]
    files = FolderFiles(asked.source, SOUND_ENDINGS)
    if not files.names:
        raise InputError(
            f"{asked.source} is a folder without recordings; name a table, or a folder of "
            "recordings."
        )
    if useless:
        raise InputError(
            f"{asked.source} is a folder, and every recording in it is a row; leave out "
            f"{' and '.join(useless)}, or name a table."
        )
    raw = RawTable(pa.table({"recording": list(files.names)}))
    return sounding_rows(asked._replace(id_column="recording"), raw, asked.source)


def _named_by_place(
    raw: RawTable, ids: list[str], names: list[str | None], times: Times
) -> tuple[RawTable, list[str]]:
    """Call rows by their recording and their start, which says more than the row's number."""
    places = [f"{name} {start:.3f} s" for name, start in zip(names, times.starts, strict=True)]
    is_clear = None not in names and len(set(places)) == len(places)
    if not is_clear or _PLACE in raw.columns.column_names:
        return raw, ids
    columns = raw.columns.append_column(_PLACE, pa.array(places))
    return raw._replace(columns=columns, own_id=_PLACE), places


def recordings_of(
    raw: RawTable,
    source: str,
    ids: list[str],
    audio: str | os.PathLike[str],
    *,
    has_times: bool,
    numbered: bool,
) -> tuple[FolderFiles, RowFiles]:
    """Find each row's recording in a folder, by a column, or in the one file that was named."""
    sound_library()
    name = os.fspath(audio)
    if name in raw.columns.column_names:
        folder = Path(source).parent
        files = FolderFiles(folder, SOUND_ENDINGS, among=column_texts(raw.columns, name))
        return files, files_named_in(raw.columns, name, files, str(folder))
    path = Path(name)
    if path.is_dir():
        files = FolderFiles(path, SOUND_ENDINGS)
        found = files_of_rows(raw.columns, ids, files, numbered=numbered)
        if has_times and not any(found.names):
            return files, RowFiles([_recording_of_all(files, source)] * len(ids), [])
        return files, found
    if path.is_file():
        return _one_recording(path, len(ids), source, has_times)
    raise InputError(
        f"{name!r} is neither a folder nor a recording, nor a column of {source}, whose columns "
        f"are {listed(raw.columns.column_names)}; check its name."
    )


def _sound_rows(
    ids: list[str], files: FolderFiles, names: list[str | None], times: Times | None
) -> SoundRows:
    """Give the sounds of all rows: whole recordings, or what lies between their times."""
    if times is None:
        return SoundRows(ids, files, [None if name is None else Stretch(name) for name in names])
    stretches = zip(names, times.starts.tolist(), times.ends.tolist(), strict=True)
    return SoundRows(
        ids, files, [None if name is None else Stretch(name, *rest) for name, *rest in stretches]
    )


def measured(
    raw: RawTable, sounds: SoundRows, n_rows: int, columns: SoundColumns | None = None
) -> Measured:
    """Measure every sound, and add what they differ in as columns; NaN where there is none.

    Parameters
    ----------
    raw : RawTable
        The table to add columns to.
    sounds : SoundRows
        Of its rows; at least one of them has a sound.
    n_rows : int
        How many rows there are.
    columns : SoundColumns, optional
        What other sounds differ in; by default it is learnt from these.
    """
    # Bands must be the same for all, or one recorder's rows would differ from another's.
    limit_hz = sounds.least_half_rate
    if columns is None:
        heard = HeardRange(min(sounds.highest_hz, limit_hz), limit_hz)
    else:
        heard = columns.heard
    if heard.limit_hz > limit_hz:
        raise InputError(
            f"Some recordings reach up to {limit_hz:,.0f} Hz only, and what was learnt is heard up "
            f"to {heard.limit_hz:,.0f} Hz; leave out recordings of fewer samples per second."
        )
    rows = [_measures(sounds, row, heard) for row in track(range(n_rows), "listening")]
    found = [one for one in rows if one is not None]
    silent = np.full(len(found[0]), np.nan)
    measures = np.stack([silent if one is None else one for one in rows])
    columns = fit_sound_columns(measures, heard) if columns is None else columns
    return Measured(with_columns(raw, columns.names, columns.rows(measures)), columns)


def _measures(sounds: SoundRows, row: int, heard: HeardRange) -> NDArray[np.float64] | None:
    if not sounds.has(row):
        return None
    sound = sounds.heard(row)
    return sound_measures(sound.note, sound.sample_rate, heard)


def _one_recording(
    path: Path, n_rows: int, source: str, has_times: bool
) -> tuple[FolderFiles, RowFiles]:
    files = FolderFiles(path.parent, SOUND_ENDINGS, among=[path.name])
    if not files.names:
        raise InputError(
            f"{path} is no recording that can be read; take one of {', '.join(SOUND_ENDINGS)}."
        )
    if not has_times:
        raise InputError(
            f"{path} is one recording for all rows, but {source} does not say from when to when "
            "each row goes; add columns start and end, in seconds."
        )
    return files, RowFiles([files.names[0]] * n_rows, [])


def _recording_of_all(files: FolderFiles, source: str) -> str | None:
    """Find the recording that a table is about: the only one, or that of the same name."""
    if len(files.names) == 1:
        return files.names[0]
    table = Path(source).name
    like = [name for name in files.names if table.startswith(f"{PurePosixPath(name).stem}.")]
    return max(like, key=len, default=None)

"""Tables of sounds: Raven selection tables, tables with times, and folders of recordings.

Each row is an interval of a recording, or a whole one. The recordings are found in a folder, by a
column or in one file; where a table has no measurements, acoustic features are measured.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kernova.audio.annotations.raven import BEGIN, END
from kernova.audio.columns import FrequencyRange, SoundColumns, fit_sound_columns, sound_measures
from kernova.audio.reading import AUDIO_SUFFIXES, sound_library
from kernova.errors import LONGEST_ECHO, InputError, quoted
from kernova.files import is_folder, is_there
from kernova.media.embedded import read_features
from kernova.media.files import (
    FolderFiles,
    RowFiles,
    check_files_found,
    column_texts,
    files_named_in,
    files_of_rows,
    missing_files_note,
)
from kernova.media.request import DataRequest
from kernova.media.row_media import DiscoveryData, RowMedia
from kernova.media.sounds import SoundInterval, SoundRows
from kernova.progress import track
from kernova.tables.columns import decoded
from kernova.tables.formats import RawTable
from kernova.tables.table import row_ids
from kernova.text import listed, plural
from kernova.typing import Matrix, Vector

_TIMES: Final = (
    (BEGIN.lower(), END.lower()),
    ("start", "end"),
    ("start_s", "end_s"),
    ("start_seconds", "end_seconds"),
    ("begin", "end"),
    ("onset", "offset"),
    ("onset_s", "offset_s"),
)
# Columns on the location and origin of a selection, not on its sound.
_NO_MEASURES: Final = frozenset(
    (
        *("selection", "view", "channel", "begin file", "end file", "begin path", "end path"),
        *("file offset (s)", "begin date", "begin clock time", "end clock time"),
        *("begin date time", "begin sample (samples)", "end sample (samples)"),
        *("file", "sr", "sample_rate", "samplerate"),
    )
)
# Limits drawn by an annotator: features, but no reason not to measure the sound.
_BORDERS: Final = frozenset(
    ("low freq (hz)", "high freq (hz)", "delta time (s)", "low", "high", "low_hz", "high_hz",
     "duration", "score")
)  # fmt: skip
_LABELS: Final = frozenset(
    ("annotation", "label", "species", "common name", "species code", "tag", "notes", "comments")
)
_REMARKS: Final = frozenset(("notes", "comments"))  # labels for some, but no categories
_OFFSET: Final = "File Offset (s)"
# Column for ids made of recording and start time.
_SOUND_ID: Final = "sound"


class Times(NamedTuple):
    """Start and end of each row, in seconds from the start of its own recording."""

    starts: Vector
    ends: Vector


class Selections(NamedTuple):
    """Table of sounds without duplicate selections."""

    raw: RawTable  # the columns; those that are no features are in ``aside``
    times: Times | None  # none if rows are whole recordings
    has_measures: bool  # whether there are numeric columns besides times and frequencies
    notes: list[str]  # notes on columns that are left out
    labels: list[str]  # columns that name the categories, which would bias who is asked


def is_raven(raw: RawTable) -> bool:
    """Return whether the columns are those of a Raven selection table."""
    return {BEGIN, END} <= set(raw.columns.column_names)


def _read_selections(raw: RawTable, source: str, named: Collection[str]) -> Selections:
    """Separate times, labels and other metadata of sounds from their features.

    Parameters
    ----------
    raw : RawTable
        The raw table.
    source : str
        The file, for messages.
    named : collection of str
        Columns with a role given by the user, which are kept.
    """
    if is_raven(raw):
        raw = _each_once(raw)
    columns = raw.columns
    lower = {name.strip().lower(): name for name in columns.column_names}
    pair = _time_columns(columns, lower)
    labels = [lower[name] for name in lower if name in _LABELS and lower[name] not in named]
    empty = [name for name in columns.column_names if _is_constant(columns, name)]
    metadata = [lower[name] for name in lower if name in _NO_MEASURES or name in pair]
    aside = {*raw.aside, *metadata, *labels, *empty}
    has_measures = any(
        name.strip().lower() not in _BORDERS and _is_numeric(columns, name)
        for name in set(columns.column_names) - aside - set(named)
    )
    if not pair and has_measures:  # an ordinary table whose rows have sounds
        return Selections(raw, None, True, [], [])
    return Selections(
        raw._replace(aside=frozenset(aside), own_id=_own_id(raw)),
        _times(columns, [lower[name] for name in pair], source) if pair else None,
        has_measures,
        _label_note([name for name in labels if name not in empty]),
        [name for name in labels if name.strip().lower() not in _REMARKS],
    )


def _with_columns(raw: RawTable, names: Sequence[str], values: Matrix) -> RawTable:
    """Add numeric columns, except for names that exist."""
    columns = raw.columns
    for name, column in zip(names, values.T, strict=True):
        if name not in columns.column_names:
            columns = columns.append_column(name, pa.array(column, from_pandas=True))
    return raw._replace(columns=columns)


# --- rows ------------------------------------------------------------------------------------


def _each_once(raw: RawTable) -> RawTable:
    """Keep one row of each selection: Raven lists it once per view (waveform, spectrogram)."""
    columns = raw.columns
    keys = [
        name for name in ("Selection", BEGIN, END, "Begin File") if name in columns.column_names
    ]
    if "Selection" not in keys or "View" not in columns.column_names:
        return raw
    views = columns["View"].to_pylist()
    chosen: dict[tuple[object, ...], int] = {}
    for row, key in enumerate(zip(*(columns[name].to_pylist() for name in keys), strict=True)):
        if key not in chosen or str(views[row]).startswith("Spectrogram"):
            chosen[key] = row
    return raw._replace(columns=columns.take(pa.array(list(chosen.values()), type=pa.int64())))


def _own_id(raw: RawTable) -> str | None:
    if "Selection" not in raw.columns.column_names:
        return raw.own_id
    numbers = raw.columns["Selection"].to_pylist()
    is_name = None not in numbers and len(set(numbers)) == len(numbers)
    return "Selection" if is_name else raw.own_id


# --- times -----------------------------------------------------------------------------------


def _time_columns(columns: pa.Table, lower: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lower-case names of the columns of start and end; empty if there are none."""
    for pair in _TIMES:
        if set(pair) <= set(lower) and all(_is_numeric(columns, lower[name]) for name in pair):
            return pair
    return ()


def _times(columns: pa.Table, names: Sequence[str], source: str) -> Times:
    starts, ends = (_numbers(columns, name) for name in names)
    _check_times(starts, ends, source)
    return Times(*_from_own_file(columns, starts, ends))


def _from_own_file(columns: pa.Table, starts: Vector, ends: Vector) -> tuple[Vector, Vector]:
    """Convert times of concatenated recordings to times within each recording."""
    has_files = "Begin File" in columns.column_names or "Begin Path" in columns.column_names
    if not has_files or _OFFSET not in columns.column_names:
        return starts, ends
    offsets = _numbers(columns, _OFFSET)
    offsets = np.where(np.isnan(offsets), starts, offsets)
    return offsets, ends + (offsets - starts)


def _check_times(starts: Vector, ends: Vector, source: str) -> None:
    is_wrong = ~((starts >= 0) & (ends > starts) & np.isfinite(ends))
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise InputError(
            f"Row {row + 1} of {source} has start {starts[row]:.9g} s and end {ends[row]:.9g} s; "
            "the start must be 0 s or later and the end after it. Correct the row."
        )


def _numbers(columns: pa.Table, name: str) -> Vector:
    return np.asarray(columns[name].cast(pa.float64()).to_numpy(), dtype=np.float64)


def _is_numeric(columns: pa.Table, name: str) -> bool:
    kind = decoded(columns[name]).type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_constant(columns: pa.Table, name: str) -> bool:
    """Return whether all rows have the same value, or none."""
    column = decoded(columns[name])
    if column.null_count == columns.num_rows:
        return True
    n_values = pyarrow.compute.count_distinct(column, mode="all").as_py()
    return bool(n_values == 1 and columns.num_rows > 1)


def _label_note(labels: Sequence[str]) -> list[str]:
    if not labels:
        return []
    n, it = len(labels), "it" if len(labels) == 1 else "one of them"
    return [
        f"{plural(n, 'Column')} {listed(labels)} {plural(n, 'is', 'are')} left out; use {it} as "
        "label_column to start with its labels."
    ]


# --- sounds of rows --------------------------------------------------------------------------


class MeasuredTable(NamedTuple):
    """Table with acoustic features, and the transformation that computes them."""

    raw: RawTable
    columns: SoundColumns


def read_sound_table(
    request: DataRequest, raw: RawTable, audio: str | os.PathLike[str] | None
) -> DiscoveryData:
    """Read a table whose rows are recordings or intervals of them, with or without the audio."""
    selections = _read_selections(raw, request.source, request.named)
    raw, notes = selections.raw, list(selections.notes)
    hidden = selections.labels
    has_features = request.embeddings is not None
    others = {*raw.columns.column_names} - {*raw.aside, *request.named}
    if audio is None and not has_features and not others:
        raise InputError(
            f"{request.source} contains times of sounds but no measurements. Pass audio=... to "
            "measure their recordings."
        )
    if audio is None:
        table, more, context = read_features(request, raw, hidden=hidden)
        return DiscoveryData(table, RowMedia(table.ids.tolist()), [*notes, *more], context)
    ids = row_ids(raw, request.id_column, request.source).tolist()
    files, found = _find_recordings(
        raw, request.source, ids, audio,
        has_times=selections.times is not None, numbered=request.is_numbered(raw),
    )  # fmt: skip
    check_files_found(found.names, "recording", request.source, ids, files)
    if selections.times is not None and request.is_numbered(raw):
        raw, ids = _ids_by_position(raw, ids, found.names, selections.times)
    sounds = _sound_rows(ids, files, found, selections.times)
    columns = request.reader if isinstance(request.reader, SoundColumns) else None
    # Further rows of a known table are measured if those were.
    is_measured = selections.has_measures if request.like is None else columns is None
    if not has_features and (columns is not None or not is_measured):
        raw, columns = _measure_sounds(raw, sounds, len(ids), columns)
        notes.append(
            "The table has no measurements, so acoustic features were computed: duration, centre "
            f"frequency, and {len(columns.names) - 2} components of the spectra."
        )
    # The file of many intervals names none of them.
    keys = found if selections.times is None else found._replace(names=[])
    table, more, context = read_features(request, raw, ids, keys, hidden)
    if not has_features:
        table = replace(table, reader=columns)
    notes += [*more, *missing_files_note(found.names, "recording")]
    return DiscoveryData(table, sounds.of_rows(table.places), notes, context)


def read_recording_folder(
    request: DataRequest,
    images: object,
    audio: str | os.PathLike[str] | None,
) -> DiscoveryData:
    """Read a folder of recordings: each is a row, and its acoustic features are measured."""
    given = {
        "images": images, "audio": audio, "id column": request.id_column,
        "label column": request.label_column, "columns to drop": request.drop,
    }  # fmt: skip
    useless = [name for name, value in given.items() if value]
    files = FolderFiles(request.source, AUDIO_SUFFIXES)
    if not files.names:
        raise InputError(
            f"{request.source} is a folder without recordings or pictures; give a table, or a "
            "folder of recordings or pictures."
        )
    if useless:
        raise InputError(
            f"{request.source} is a folder, and every recording in it is a row. Leave out "
            f"{' and '.join(useless)}, or give a table."
        )
    raw = RawTable(pa.table({"recording": list(files.names)}))
    return read_sound_table(request._replace(id_column="recording"), raw, request.source)


def _ids_by_position(
    raw: RawTable, ids: list[str], names: list[str | None], times: Times
) -> tuple[RawTable, list[str]]:
    """Use recording and start time as ids, which say more than row numbers."""
    new_ids = [f"{name} {start:.3f} s" for name, start in zip(names, times.starts, strict=True)]
    is_unique = None not in names and len(set(new_ids)) == len(new_ids)
    if not is_unique or _SOUND_ID in raw.columns.column_names:
        return raw, ids
    columns = raw.columns.append_column(_SOUND_ID, pa.array(new_ids))
    return raw._replace(columns=columns, own_id=_SOUND_ID), new_ids


def _find_recordings(
    raw: RawTable,
    source: str,
    ids: list[str],
    audio: str | os.PathLike[str],
    *,
    has_times: bool,
    numbered: bool,
) -> tuple[FolderFiles, RowFiles]:
    """Return the recordings of the rows in a folder, by a column, or in one file."""
    sound_library()
    name = os.fspath(audio)
    if name in raw.columns.column_names:
        folder = Path(source).parent
        files = FolderFiles(folder, AUDIO_SUFFIXES, among=column_texts(raw.columns, name))
        return files, files_named_in(raw.columns, name, files, str(folder))
    path = Path(name)
    if is_folder(path):
        files = FolderFiles(path, AUDIO_SUFFIXES)
        found = files_of_rows(raw.columns, ids, files, numbered=numbered)
        if has_times and not any(found.names):
            return files, RowFiles([_recording_of_all(files, source)] * len(ids), [])
        return files, found
    if is_there(path) and path.is_file():
        return _one_recording(path, len(ids), source, has_times)
    raise InputError(
        f"{quoted(name, LONGEST_ECHO)} is neither a folder nor a recording, nor a column of "
        f"{source}, whose columns are {listed(raw.columns.column_names)}. Check its name."
    )


def _sound_rows(
    ids: list[str], files: FolderFiles, found: RowFiles, times: Times | None
) -> SoundRows:
    """Return the sounds of all rows: whole recordings, or intervals between their times."""
    if times is None:
        more = {row: tuple(map(SoundInterval, names)) for row, names in found.more.items()}
        whole = [None if name is None else SoundInterval(name) for name in found.names]
        return SoundRows(ids, files, whole, more)
    intervals = zip(found.names, times.starts.tolist(), times.ends.tolist(), strict=True)
    return SoundRows(
        ids,
        files,
        [None if name is None else SoundInterval(name, *rest) for name, *rest in intervals],
    )


def _measure_sounds(
    raw: RawTable, sounds: SoundRows, n_rows: int, columns: SoundColumns | None = None
) -> MeasuredTable:
    """Compute acoustic features of every sound as columns; NaN for rows without a sound.

    Parameters
    ----------
    raw : RawTable
        The table to add columns to.
    sounds : SoundRows
        Sounds of its rows; at least one row has one.
    n_rows : int
        Number of rows.
    columns : SoundColumns, optional
        A fitted transformation; by default it is fitted to these sounds.
    """
    # The same frequency bands for all, or rows would differ by their recorder.
    limit_hz = sounds.lowest_nyquist
    if columns is None:
        limits = FrequencyRange(min(sounds.highest_hz, limit_hz), limit_hz)
    else:
        limits = columns.heard
    if limits.limit_hz > limit_hz:
        raise InputError(
            f"Some recordings reach only {limit_hz:,.0f} Hz, but the model was learnt from sounds "
            f"up to {limits.limit_hz:,.0f} Hz. Leave out recordings with a lower sample rate."
        )
    rows = [_measures(sounds, row, limits) for row in track(range(n_rows), "measuring sounds")]
    found = [one for one in rows if one is not None]
    silent = np.full(len(found[0]), np.nan)
    measures = np.stack([silent if one is None else one for one in rows])
    columns = fit_sound_columns(measures, limits) if columns is None else columns
    return MeasuredTable(_with_columns(raw, columns.names, columns.rows(measures)), columns)


def _measures(sounds: SoundRows, row: int, limits: FrequencyRange) -> Vector | None:
    if not sounds.has(row):
        return None
    sound = sounds.clip(row)
    return sound_measures(sound.note, sound.sample_rate, limits)


def _one_recording(
    path: Path, n_rows: int, source: str, has_times: bool
) -> tuple[FolderFiles, RowFiles]:
    files = FolderFiles(path.parent, AUDIO_SUFFIXES, among=[path.name])
    if not files.names:
        raise InputError(
            f"{path} is not a supported recording; use one of {', '.join(AUDIO_SUFFIXES)}."
        )
    if not has_times:
        raise InputError(
            f"{path} is one recording for all rows, but {source} has no times. Add columns start "
            "and end, in seconds."
        )
    return files, RowFiles([files.names[0]] * n_rows, [])


def _recording_of_all(files: FolderFiles, source: str) -> str | None:
    """Return the recording of a whole table: the only one, or that of the same name."""
    if len(files.names) == 1:
        return files.names[0]
    table = Path(source).name
    like = [name for name in files.names if table.startswith(f"{PurePosixPath(name).stem}.")]
    return max(like, key=len, default=None)

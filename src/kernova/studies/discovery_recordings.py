"""Rows that are sounds: which recording each lies in, and what can be measured of it."""

import os
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.load.audio import sound_library
from kernova.load.media_files import FolderFiles
from kernova.load.raw import RawTable
from kernova.load.sentences import listed
from kernova.load.tables import row_ids
from kernova.progress import track
from kernova.represent.sound_columns import (
    HeardRange,
    SoundColumns,
    fit_sound_columns,
    sound_measures,
)
from kernova.studies.discovery_request import DataRequest, DiscoveryData
from kernova.studies.row_files import (
    RowFiles,
    column_texts,
    files_named_in,
    files_of_rows,
    refuse_no_files,
    without_file_note,
)
from kernova.studies.row_media import RowMedia
from kernova.studies.selection_tables import Times, selections_in, with_columns
from kernova.studies.sound_files import SOUND_ENDINGS, SoundRows, Stretch

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

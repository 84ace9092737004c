"""What discovery begins with: a table, and what there is to see and to hear of its rows."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar
from zipfile import is_zipfile

import numpy as np
import pandas as pd

from kernova.errors import InputError
from kernova.load.formats import read_raw
from kernova.load.media_files import FolderFiles, MediaFiles, ZipFiles
from kernova.load.raw import RawTable
from kernova.load.sentences import listed
from kernova.load.specimens import Landmarks
from kernova.load.tables import Missing, Table, row_ids, table_of
from kernova.load.tps import read_tps
from kernova.represent.principal_directions import principal_directions
from kernova.represent.shape_columns import ShapeColumns, fit_shape_columns
from kernova.represent.sound_columns import SoundColumns
from kernova.studies.digit_images import rare_digits
from kernova.studies.discovery_recordings import measured, recordings_of, sound_rows
from kernova.studies.outlines import OutlineRows
from kernova.studies.picture_files import PICTURE_ENDINGS
from kernova.studies.row_files import (
    RowFiles,
    column_texts,
    files_named_in,
    files_of_rows,
    refuse_no_files,
    without_file_note,
)
from kernova.studies.row_media import PictureRows, RowMedia, pixel_pictures
from kernova.studies.selection_tables import Selections, is_raven, selections_in

_DEMO_COMPONENTS = 16

_Value = TypeVar("_Value")


@dataclass(frozen=True, eq=False)
class DiscoveryData:
    """A table to ask about, and how its rows are shown.

    Attributes
    ----------
    table : Table
        Features, ids, and labels that are known before the first question.
    media : RowMedia
        What there is to see or to hear of each row of the table.
    notes : list of str
        What a reader should also know, in sentences.
    """

    table: Table
    media: RowMedia
    notes: list[str] = field(default_factory=list)


def open_discovery_data(
    data: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing | Literal["fill"] = "refuse",
    images: str | os.PathLike[str] | None = None,
    audio: str | os.PathLike[str] | None = None,
    reader: object | None = None,
) -> DiscoveryData:
    r"""Read a table, and find the pictures or sounds of its rows.

    Parameters
    ----------
    data : str or path
        A table of features; landmarks of specimens (``.tps``), whose features are components of
        their shape; or Raven's selection table, whose rows are stretches of recordings.
    id_column, label_column, drop, missing
        As for :func:`kernova.read_table`; ``"fill"`` keeps missing values.
    images : str or path, optional
        A folder or a ZIP archive of pictures, or a column of paths, which start from the table's
        folder. Files in a folder or archive go with rows by the rows' ids, with or without an
        ending, or by a column of texts that names them, which is found by itself.
    audio : str or path, optional
        A folder of recordings or a column of paths, as for pictures; or one recording. Columns
        ``start`` and ``end`` (or Raven's) say which stretch a row is. If there are no measurements
        beside times and frequencies, the sounds are measured.
    reader : ShapeColumns or SoundColumns, optional
        How landmarks or sounds become features, as another table's ``reader`` has it; by default
        it is learnt from this file.

    Returns
    -------
    DiscoveryData
        Columns that name files are no features.

    Raises
    ------
    InputError
        If anything named cannot be used, or no row has a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.studies.discovery_data import open_discovery_data
    >>> from kernova.studies.picture_files import pixel_picture
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "007.png").write_bytes(pixel_picture([[0.0, 1.0]]).content)
    >>> _ = (folder / "fish.csv").write_text("fish,length\n007,10.5\n008,12\n")
    >>> opened = open_discovery_data(folder / "fish.csv", id_column="fish", images=folder)
    >>> opened.media.kind, opened.media.has(0), opened.notes
    ('picture', True, ['1 of 2 rows has no picture.'])
    """
    source = os.fspath(data)
    asked = _Asked(source, id_column, label_column, _listed_names(drop), _kept(missing), reader)
    if images is not None and audio is not None:
        raise InputError(
            "Rows are shown as pictures or as sounds, not as both; leave out images or audio."
        )
    if source.lower().endswith(".tps"):
        return _specimens(asked, images, audio)
    raw = read_raw(source, id_column)
    if audio is not None or is_raven(raw):
        selections = selections_in(raw, source, asked.named)
        return _sounds(asked, raw if selections is None else selections.raw, selections, audio)
    if images is not None:
        return _pictures(asked, raw, images)
    table = asked.table(raw)
    return DiscoveryData(table, RowMedia(table.ids.tolist()))


def demo_data() -> DiscoveryData:
    """Give scikit-learn's digits, some of them rare, shown as pictures; nothing tells the digit.

    Examples
    --------
    >>> from kernova.studies.discovery_data import demo_data
    >>> demo = demo_data()
    >>> demo.table.features.shape, demo.media.kind, demo.table.labels is None
    ((750, 16), 'picture', True)
    """
    images = rare_digits().reset_index(drop=True)
    pixels = images.drop(columns=["id", "digit"]).to_numpy()
    ids = images["id"].astype(str)
    # Of 64 pixels most say nothing, and all are given the same weight: a few components of them
    # tell digits apart in a fraction of the questions.
    centred = pixels - pixels.mean(axis=0)
    rows = (centred @ principal_directions(centred, _DEMO_COMPONENTS)).round(3)
    names = [f"component {number}" for number in range(1, _DEMO_COMPONENTS + 1)]
    table = Table(pd.DataFrame(rows, columns=names), ids, None, "digits", columns=("id", *names))
    return DiscoveryData(table, pixel_pictures(ids.tolist(), pixels))


class _Asked(NamedTuple):
    """What the user said of the table."""

    source: str
    id_column: str | None
    label_column: str | None
    drop: list[str]
    missing: Missing
    reader: object | None

    @property
    def named(self) -> list[str]:
        """The columns that have been given a meaning."""
        names = [self.id_column, self.label_column, *self.drop]
        return [name for name in names if name is not None]

    def table(self, raw: RawTable, aside: Sequence[str] = ()) -> Table:
        """Judge the columns, those set aside left out."""
        return table_of(
            raw,
            self.source,
            id_column=self.id_column,
            label_column=self.label_column,
            drop=[*self.drop, *(name for name in aside if name not in self.named)],
            missing=self.missing,
        )

    def is_numbered(self, raw: RawTable) -> bool:
        """Tell whether rows have no other ids than their numbers."""
        return self.id_column is None and raw.own_id is None

    def aside_note(self, columns: Sequence[str]) -> list[str]:
        """Say which columns name files."""
        left_out = [name for name in columns if name not in self.drop]
        if not left_out:
            return []
        if len(left_out) == 1:
            return [f"Column {left_out[0]!r} names files and is no feature."]
        return [f"Columns {listed(left_out)} name files and are no features."]


def _listed_names(drop: Sequence[str]) -> list[str]:
    return [drop] if isinstance(drop, str) else list(drop)


def _kept(missing: Missing | Literal["fill"]) -> Missing:
    return "keep" if missing == "fill" else missing


def _of_rows(table: Table, values: list[_Value]) -> list[_Value]:
    """Leave out the values of rows that were left out of the table."""
    return values if table.places is None else [values[place] for place in table.places]


# --- pictures --------------------------------------------------------------------------------


def _pictures(asked: _Asked, raw: RawTable, images: str | os.PathLike[str]) -> DiscoveryData:
    ids = row_ids(raw, asked.id_column, asked.source).tolist()
    files, found = _picture_files(asked, raw, ids, os.fspath(images))
    refuse_no_files(found.names, "picture", asked.source, ids, files)
    table = asked.table(raw, found.columns)
    names = _of_rows(table, found.names)
    notes = [*asked.aside_note(found.columns), *without_file_note(names, "picture")]
    return DiscoveryData(table, PictureRows(table.ids.tolist(), files, names), notes)


def _picture_files(
    asked: _Asked, raw: RawTable, ids: list[str], images: str
) -> tuple[MediaFiles, RowFiles]:
    if images in raw.columns.column_names:
        folder = Path(asked.source).parent
        files: MediaFiles = FolderFiles(
            folder, PICTURE_ENDINGS, among=column_texts(raw.columns, images)
        )
        return files, files_named_in(raw.columns, images, files, str(folder))
    files = _folder_or_archive(images, raw, asked.source)
    return files, files_of_rows(raw.columns, ids, files, numbered=asked.is_numbered(raw))


def _folder_or_archive(name: str, raw: RawTable, source: str) -> MediaFiles:
    path = Path(name)
    if path.is_dir():
        return FolderFiles(path, PICTURE_ENDINGS)
    if path.is_file():
        if is_zipfile(path):
            return ZipFiles(path, PICTURE_ENDINGS)
        raise InputError(f"{name} is no ZIP archive; name a folder, a ZIP archive or a column.")
    raise InputError(
        f"{name!r} is neither a folder nor a ZIP archive, nor a column of {source}, whose columns "
        f"are {listed(raw.columns.column_names)}; check its name."
    )


# --- sounds ----------------------------------------------------------------------------------


def _sounds(
    asked: _Asked,
    raw: RawTable,
    selections: Selections | None,
    audio: str | os.PathLike[str] | None,
) -> DiscoveryData:
    notes = [] if selections is None else list(selections.notes)
    if audio is None:
        table = asked.table(raw)
        return DiscoveryData(table, RowMedia(table.ids.tolist()), notes)
    ids = row_ids(raw, asked.id_column, asked.source).tolist()
    files, found = recordings_of(
        raw, asked.source, ids, audio,
        has_times=selections is not None, numbered=asked.is_numbered(raw),
    )  # fmt: skip
    refuse_no_files(found.names, "recording", asked.source, ids, files)
    sounds = sound_rows(ids, files, found.names, selections)
    known = asked.reader if isinstance(asked.reader, SoundColumns) else None
    columns = None
    if known is not None or (selections is not None and not selections.has_measures):
        raw, columns = measured(raw, sounds, len(ids), known)
        notes.append(
            "There are no measurements, so the sounds were measured: duration, centre, and "
            f"{len(columns.names) - 2} components of their spectra."
        )
    table = replace(asked.table(raw, found.columns), reader=columns)
    notes += [*asked.aside_note(found.columns), *without_file_note(found.names, "recording")]
    return DiscoveryData(table, sounds.of_rows(table.places), notes)


# --- specimens -------------------------------------------------------------------------------


def _specimens(
    asked: _Asked,
    images: str | os.PathLike[str] | None,
    audio: str | os.PathLike[str] | None,
) -> DiscoveryData:
    given = {
        "images": images, "audio": audio, "id column": asked.id_column,
        "label column": asked.label_column, "columns to drop": asked.drop,
    }  # fmt: skip
    useless = [name for name, value in given.items() if value]
    if useless:
        raise InputError(
            f"{asked.source} holds landmarks, which are drawn as outlines and named by their ID; "
            f"leave out {' and '.join(useless)}."
        )
    landmarks = read_tps(asked.source)
    known = asked.reader if isinstance(asked.reader, ShapeColumns) else None
    columns = fit_shape_columns(landmarks.coordinates) if known is None else known
    placed = columns.place(landmarks.coordinates)
    features = pd.DataFrame(placed.rows, columns=columns.names)
    ids = pd.Series(landmarks.ids, name="specimen", dtype=object)
    table = Table(
        features, ids, None, asked.source, columns=("specimen", *columns.names), reader=columns
    )
    media = OutlineRows(landmarks, placed.aligned, columns.procrustes.consensus_)
    return DiscoveryData(table, media, _estimated_note(landmarks))


def _estimated_note(landmarks: Landmarks) -> list[str]:
    n_specimens = int(np.isnan(landmarks.coordinates).any(axis=(1, 2)).sum())
    if not n_specimens:
        return []
    have = "specimen has" if n_specimens == 1 else "specimens have"
    return [f"{n_specimens:,} {have} missing landmarks, which are estimated."]

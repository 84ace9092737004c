"""Rows that have pictures: which picture goes with which row."""

import os
from pathlib import Path
from zipfile import is_zipfile

from kernova.errors import InputError
from kernova.load.media_files import FolderFiles, MediaFiles, ZipFiles
from kernova.load.raw import RawTable
from kernova.load.sentences import listed
from kernova.load.tables import Table, row_ids
from kernova.studies.discovery_request import DataRequest, DiscoveryData
from kernova.studies.picture_files import PICTURE_ENDINGS
from kernova.studies.row_files import (
    RowFiles,
    column_texts,
    files_named_in,
    files_of_rows,
    refuse_no_files,
    without_file_note,
)
from kernova.studies.row_media import PictureRows


def pictured_rows(
    asked: DataRequest, raw: RawTable, images: str | os.PathLike[str]
) -> DiscoveryData:
    """Read a table whose rows have pictures in a folder or archive, or by a column."""
    ids = row_ids(raw, asked.id_column, asked.source).tolist()
    files, found = picture_files(asked, raw, ids, os.fspath(images))
    refuse_no_files(found.names, "picture", asked.source, ids, files)
    table = asked.table(raw, found.columns)
    names = _of_rows(table, found.names)
    notes = [*asked.aside_note(found.columns), *without_file_note(names, "picture")]
    return DiscoveryData(table, PictureRows(table.ids.tolist(), files, names), notes)


def picture_files(
    asked: DataRequest, raw: RawTable, ids: list[str], images: str
) -> tuple[MediaFiles, RowFiles]:
    """Find the pictures that were named, and which row each belongs to."""
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


def _of_rows(table: Table, names: list[str | None]) -> list[str | None]:
    """Leave out the files of rows that were left out of the table."""
    return names if table.places is None else [names[place] for place in table.places]

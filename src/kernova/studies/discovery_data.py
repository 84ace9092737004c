"""What discovery begins with: a table, and what there is to see and to hear of its rows."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from zipfile import is_zipfile

from kernova.errors import InputError
from kernova.load.formats import read_raw
from kernova.load.media_files import FolderFiles, MediaFiles, ZipFiles
from kernova.load.raw import RawTable
from kernova.load.sentences import listed
from kernova.load.tables import Missing, Table, row_ids, table_of
from kernova.studies.digit_images import rare_digits
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
) -> DiscoveryData:
    r"""Read a table, and find the pictures or sounds of its rows.

    Parameters
    ----------
    data : str or path
        A table of features.
    id_column, label_column, drop, missing
        As for :func:`kernova.read_table`; ``"fill"`` keeps missing values.
    images : str or path, optional
        A folder or a ZIP archive of pictures, or a column of paths, which start from the table's
        folder. Files in a folder or archive go with rows by the rows' ids, with or without an
        ending, or by a column of texts that names them, which is found by itself.

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
    raw = read_raw(source, id_column)
    dropped = [drop] if isinstance(drop, str) else list(drop)
    if images is None:
        table = table_of(
            raw, source, id_column=id_column, label_column=label_column, drop=dropped,
            missing=_kept(missing),
        )  # fmt: skip
        return DiscoveryData(table, RowMedia(table.ids.tolist()))
    ids = row_ids(raw, id_column, source).tolist()
    files, found = _picture_files(raw, source, ids, id_column, images)
    refuse_no_files(found.names, "picture", source, ids, files)
    aside = [*dropped, *_not_yet(found.columns, [*dropped, id_column, label_column])]
    table = table_of(
        raw, source, id_column=id_column, label_column=label_column, drop=aside,
        missing=_kept(missing),
    )  # fmt: skip
    names = _of_rows(table, found.names)
    notes = [*_aside_note(found.columns, dropped), *without_file_note(names, "picture")]
    return DiscoveryData(table, PictureRows(table.ids.tolist(), files, names), notes)


def demo_data() -> DiscoveryData:
    """Give scikit-learn's digits, some of them rare, shown as pictures; nothing tells the digit.

    Examples
    --------
    >>> from kernova.studies.discovery_data import demo_data
    >>> demo = demo_data()
    >>> demo.table.features.shape, demo.media.kind, demo.table.labels is None
    ((750, 64), 'picture', True)
    """
    images = rare_digits().reset_index(drop=True)
    features = images.drop(columns=["id", "digit"])
    ids = images["id"].astype(str)
    table = Table(features, ids, None, "digits", columns=("id", *features.columns))
    return DiscoveryData(table, pixel_pictures(ids.tolist(), features))


# --- pictures --------------------------------------------------------------------------------


def _picture_files(
    raw: RawTable,
    source: str,
    ids: list[str],
    id_column: str | None,
    images: str | os.PathLike[str],
) -> tuple[MediaFiles, RowFiles]:
    name = os.fspath(images)
    if name in raw.columns.column_names:
        folder = Path(source).parent
        texts = column_texts(raw.columns, name)
        files: MediaFiles = FolderFiles(folder, PICTURE_ENDINGS, among=texts)
        return files, files_named_in(raw.columns, name, files, str(folder))
    files = _folder_or_archive(name, raw, source)
    is_numbered = id_column is None and raw.own_id is None
    return files, files_of_rows(raw.columns, ids, files, numbered=is_numbered)


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


# --- what both have in common ----------------------------------------------------------------


def _kept(missing: Missing | Literal["fill"]) -> Missing:
    return "keep" if missing == "fill" else missing


def _not_yet(columns: Sequence[str], taken: Sequence[str | None]) -> list[str]:
    return [name for name in columns if name not in taken]


def _of_rows(table: Table, names: list[str | None]) -> list[str | None]:
    """Leave out the names of rows that were left out of the table."""
    return names if table.places is None else [names[place] for place in table.places]


def _aside_note(columns: Sequence[str], dropped: Sequence[str]) -> list[str]:
    left_out = _not_yet(columns, dropped)
    if not left_out:
        return []
    are = (
        "names files and is no feature"
        if len(left_out) == 1
        else "name files; they are no features"
    )
    column = "Column" if len(left_out) == 1 else "Columns"
    return [f"{column} {listed(left_out)} {are}."]

"""Pictures without a table: each file of a folder or ZIP archive is a row.

The features are components of descriptors of colour, layout, edges and texture
(:mod:`kernova.images`), or of embeddings from a file.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple
from zipfile import is_zipfile

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.files import is_folder
from kernova.images.columns import PictureColumns, fit_picture_columns
from kernova.media.described import Described, HowDescribed, Pictures, described_pictures, side_of
from kernova.media.embedded import embedded_rows
from kernova.media.files import FolderFiles, ZipFiles
from kernova.media.pictures import PICTURE_SUFFIXES
from kernova.media.request import DataRequest
from kernova.media.row_media import DiscoveryData, PictureRows
from kernova.tables.embeddings import EmbeddingColumns
from kernova.tables.formats import RawTable
from kernova.text import listed, plural, quantity
from kernova.typing import Mask

ID_COLUMN: Final = "picture"
# Beside the features: the path of each file, and the name of the folder that it is in.
FILE_COLUMN: Final = "file"
FOLDER_COLUMN: Final = "folder"
_FAILURES_EXPLAINED: Final = 2


def pictures_in(source: str) -> Pictures | None:
    """Return the pictures of a folder or ZIP archive; None for another file.

    Examples
    --------
    >>> from kernova.media.picture_folders import pictures_in
    >>> pictures_in("fish.csv") is None
    True
    """
    if is_folder(Path(source)):
        return FolderFiles(source, PICTURE_SUFFIXES)
    if source.lower().endswith(".zip") or _is_archive(source):
        return ZipFiles(source, PICTURE_SUFFIXES)
    return None


def _is_archive(source: str) -> bool:
    """Return whether a file without a known ending is a ZIP archive; never raises."""
    path = Path(source)
    return path.suffix == "" and os.path.isfile(source) and is_zipfile(source)  # noqa: PTH113


def read_picture_folder(request: DataRequest, files: Pictures, **others: object) -> DiscoveryData:
    """Read a folder or archive of pictures: each is a row, described by what it looks like.

    Parameters
    ----------
    request : DataRequest
        What the user wants. ``label_column="folder"`` takes the names of the folders that the
        pictures are in as labels; ``reader`` are the components of other pictures.
    files : FolderFiles or ZipFiles
        The pictures.
    **others
        Parameters that have a meaning for tables only; an error is raised if one is given.
    """
    if not files.names:
        raise InputError(
            f"{files.source} holds no pictures. Give a folder or ZIP archive of pictures, such as "
            "PNG, JPEG or FITS, or a table."
        )
    useless = [name for name, value in {**others, "id column": request.id_column}.items() if value]
    if useless:
        raise InputError(
            f"{files.source} holds pictures, and each of them is a row. Leave out "
            f"{' and '.join(useless)}, or give a table."
        )
    if request.embeddings is not None and request.rotation_invariant:
        raise InputError(
            "rotation_invariant=True is about descriptors of pictures, which embeddings replace. "
            "Leave out one of them."
        )
    names = list(files.names)
    raw = RawTable(_columns(names), own_id=ID_COLUMN, aside=frozenset((FILE_COLUMN, FOLDER_COLUMN)))
    columns: PictureColumns | EmbeddingColumns
    if request.embeddings is not None:
        ids = raw.columns[ID_COLUMN].to_pylist()
        request, raw, columns, notes = embedded_rows(request, raw, ids, names)
    else:
        raw, columns, notes = _described(request, raw, files)
    table = replace(request.table(raw), reader=columns)
    names = raw.columns[FILE_COLUMN].to_pylist()
    if table.places is not None:
        names = [names[place] for place in table.places.tolist()]
    media = PictureRows(table.ids.tolist(), files, names)
    return DiscoveryData(table, media, notes, request.context(raw, table))


def descriptors_like(
    source: str, known: str, cache: Path, *, rotation_invariant: bool
) -> Described:
    """Return the descriptors of pictures, at the size that other pictures are brought to.

    Parameters
    ----------
    source : str
        A folder or ZIP archive.
    known : str
        That of the other pictures.
    cache : Path
        File that keeps the descriptors.
    rotation_invariant : bool
        The kind of descriptors.
    """
    files, others = pictures_in(source), pictures_in(known)
    if files is None or others is None or not files.names or not others.names:
        raise InputError(
            f"{known} and {source} must both be folders or ZIP archives of pictures. Name two such."
        )
    try:
        how = HowDescribed(side_of(others, others.names), rotation_invariant)
        return described_pictures(files, how, cache)
    finally:
        files.close()
        others.close()


# --- rows ----------------------------------------------------------------------------------------


def _columns(names: Sequence[str]) -> pa.Table:
    """Return the id, the file and the folder of each picture."""
    folders = [PurePosixPath(name).parent.name or None for name in names]
    return pa.table(
        {
            ID_COLUMN: ids_of_files(names),
            FILE_COLUMN: list(names),
            FOLDER_COLUMN: pa.array(folders, pa.string()),
        }
    )


def ids_of_files(names: Sequence[str]) -> list[str]:
    """Return files as ids: their paths without suffix, and with it where two would be the same.

    Examples
    --------
    >>> from kernova.media.picture_folders import ids_of_files
    >>> ids_of_files(["a.png", "b/a.png", "c.jpg", "c.png"])
    ['a', 'b/a', 'c.jpg', 'c.png']
    """
    stems = [str(PurePosixPath(name).with_suffix("")) for name in names]
    counts = Counter([*stems, *names])
    ids = [stem if counts[stem] == 1 else name for stem, name in zip(stems, names, strict=True)]
    return ids if len(set(ids)) == len(ids) else list(names)


# --- descriptors ---------------------------------------------------------------------------------


class _DescribedRows(NamedTuple):
    raw: RawTable
    columns: PictureColumns
    notes: list[str]


def _described(request: DataRequest, raw: RawTable, files: Pictures) -> _DescribedRows:
    """Return the pictures that can be read, with the components of their descriptors as columns."""
    known = request.reader if isinstance(request.reader, PictureColumns) else None
    ids = np.array(raw.columns[ID_COLUMN].to_pylist(), dtype=object)
    is_learnt = request.is_learnt_from(ids.tolist())
    if known is None:
        names = [files.names[place] for place in np.flatnonzero(is_learnt).tolist()]
        how = HowDescribed(side_of(files, names), request.rotation_invariant)
    else:
        how = HowDescribed(known.side, known.rotation_invariant)
    found = described_pictures(files, how, request.cache)
    is_there = ~np.isnan(found.rows[:, 0])
    _check_some(found, files, is_there)
    rows = found.rows[is_there]
    others = [] if request.learn_with is None else [request.learn_with[:]]
    columns = known
    if columns is None:
        learnt = found.rows[is_there & is_learnt]
        columns = _fitted(np.concatenate([learnt, *others]), how, files.source)
    table = raw.columns.filter(pa.array(is_there))
    for name, column in zip(columns.names, columns.rows(rows).T, strict=True):
        table = table.append_column(name, pa.array(column))
    seen = _what_is_seen(columns, len(rows), is_known=known is not None)
    notes = [*_failure_note(found, files), seen]
    return _DescribedRows(raw._replace(columns=table), columns, notes)


def _fitted(rows: NDArray[np.float32], how: HowDescribed, source: str) -> PictureColumns:
    try:
        return fit_picture_columns(rows, how.side, rotation_invariant=how.rotation_invariant)
    except InputError:
        what = (
            f"{source} holds one picture, and there is nothing to compare it with"
            if len(rows) == 1
            else f"The {len(rows):,} pictures of {source} have the same colours, edges and textures"
        )
        raise InputError(f"{what}. Add pictures that differ.") from None


def _check_some(found: Described, files: Pictures, is_there: Mask) -> None:
    if not is_there.any():
        first = found.failures[min(found.failures)]
        raise InputError(f"No picture of {files.source} can be read. {first}")


def _failure_note(found: Described, files: Pictures) -> list[str]:
    """Return a note that names the pictures that cannot be read, and says why of the first ones."""
    if not found.failures:
        return []
    places = sorted(found.failures)
    names = listed(files.names[place] for place in places)
    are = plural(len(places), "is", "are")
    reasons = " ".join(found.failures[place] for place in places[:_FAILURES_EXPLAINED])
    return [
        f"{len(places):,} of {quantity(len(files.names), 'picture')} of {files.source} {are} left "
        f"out: {names}. {reasons}"
    ]


def _what_is_seen(columns: PictureColumns, n_pictures: int, *, is_known: bool) -> str:
    n = len(columns.names)
    turned = ", whichever way they are turned" if columns.rotation_invariant else ""
    advice = "" if is_known else " Embeddings of a trained network see more (`embeddings`)."
    return (
        f"{quantity(n_pictures, 'picture')} compared by {quantity(n, 'component')} of colour, "
        f"layout, edges and texture{turned}. No objects are recognised: pictures that differ in "
        f"none of these look alike.{advice}"
    )

"""Opening of discovery data: a table, and the pictures, sounds or outlines of its rows.

:func:`open_discovery_data` reads tables with or without pictures, landmarks of specimens (TPS),
and, through :mod:`kernova.media.recordings`, tables and folders of recordings.
"""

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal
from zipfile import is_zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.datasets import load_digits

from kernova.audio.reading import AUDIO_SUFFIXES
from kernova.discover.project.reading import ProjectSettings, project_settings
from kernova.errors import LONGEST_ECHO, InputError, quoted
from kernova.files import is_folder, is_there
from kernova.kernels.components import WideRows
from kernova.kernels.gram import principal_directions
from kernova.media.embedded import read_features
from kernova.media.files import (
    FolderFiles,
    JoinedFiles,
    MediaFiles,
    RowFiles,
    ZipFiles,
    check_files_found,
    column_texts,
    files_named_in,
    files_of_rows,
    missing_files_note,
)
from kernova.media.picture_folders import pictures_in, read_picture_folder
from kernova.media.pictures import PICTURE_SUFFIXES
from kernova.media.recordings import is_raven, read_recording_folder, read_sound_table
from kernova.media.request import DataRequest
from kernova.media.row_media import (
    DiscoveryData,
    OutlineRows,
    PictureRows,
    RowMedia,
    pixel_pictures,
)
from kernova.shapes.columns import ShapeColumns, fit_shape_columns
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.tps import read_tps
from kernova.tables.context import Context, LinkTemplate
from kernova.tables.formats import RawTable
from kernova.tables.identity import table_fingerprint
from kernova.tables.known import KnownColumns
from kernova.tables.table import Missing, Reading, Table, row_ids
from kernova.text import listed, plural, quantity

__all__ = ["DiscoveryData", "demo_data", "open_discovery_data", "open_project_data"]

Images = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_DEMO_COMPONENTS: Final = 16


def _read_picture_table(request: DataRequest, raw: RawTable, images: Images) -> DiscoveryData:
    """Read a table whose rows have pictures in folders or archives, or named in columns."""
    ids = row_ids(raw, request.id_column, request.source).tolist()
    files, found = _find_pictures(request, raw, ids, images)
    check_files_found(found.names, "picture", request.source, ids, files)
    table, notes, context = read_features(request, raw, ids, found)
    found = _of_rows(table, found)
    notes += missing_files_note(found.names, "picture")
    media = PictureRows(table.ids.tolist(), files, found.names, found.more)
    return DiscoveryData(table, media, notes, context)


def _find_pictures(
    request: DataRequest, raw: RawTable, ids: list[str], images: Images
) -> tuple[MediaFiles, RowFiles]:
    """Return the pictures in folders, archives or columns, matched with rows."""
    named = [os.fspath(images)] if isinstance(images, str | os.PathLike) else list(images)
    found = [_find_in_one(request, raw, ids, os.fspath(one)) for one in named]
    if len(found) == 1:
        return found[0]
    files = JoinedFiles([one for one, _ in found])
    names: list[list[str]] = [[] for _ in ids]
    for number, (_, of_rows) in enumerate(found):
        for row, first in enumerate(of_rows.names):
            its = [] if first is None else [first, *of_rows.more.get(row, ())]
            names[row] += [files.named(number, name) for name in its]
    return files, RowFiles(
        [its[0] if its else None for its in names],
        [column for _, of_rows in found for column in of_rows.columns],
        {row: tuple(its[1:]) for row, its in enumerate(names) if len(its) > 1},
    )


def _find_in_one(
    request: DataRequest, raw: RawTable, ids: list[str], images: str
) -> tuple[MediaFiles, RowFiles]:
    """Return the pictures in a folder, archive or column, matched with rows."""
    if images in raw.columns.column_names:
        folder = Path(request.source).parent
        files: MediaFiles = FolderFiles(
            folder, PICTURE_SUFFIXES, among=column_texts(raw.columns, images)
        )
        return files, files_named_in(raw.columns, images, files, str(folder))
    files = _folder_or_archive(images, raw, request.source)
    return files, files_of_rows(raw.columns, ids, files, numbered=request.is_numbered(raw))


def _folder_or_archive(name: str, raw: RawTable, source: str) -> MediaFiles:
    path = Path(name)
    if is_folder(path):
        return FolderFiles(path, PICTURE_SUFFIXES)
    if is_there(path) and path.is_file():
        if is_zipfile(path):
            return ZipFiles(path, PICTURE_SUFFIXES)
        raise InputError(f"{name} is not a ZIP archive; give a folder, a ZIP archive or a column.")
    raise InputError(
        f"{quoted(name, LONGEST_ECHO)} is neither a folder nor a ZIP archive, nor a column of "
        f"{source}, whose columns are {listed(raw.columns.column_names)}. Check its name."
    )


def _of_rows(table: Table, found: RowFiles) -> RowFiles:
    """Return the files of the rows that the table contains."""
    if table.places is None:
        return found
    places = table.places.tolist()
    more = {row: found.more[place] for row, place in enumerate(places) if place in found.more}
    return RowFiles([found.names[place] for place in places], found.columns, more)


def read_specimens(
    request: DataRequest,
    images: Images | None,
    audio: str | os.PathLike[str] | None,
) -> DiscoveryData:
    """Read a TPS file: rows are specimens, columns are components of their shape."""
    given = {
        "audio": audio, "id column": request.id_column, "label column": request.label_column,
        "columns to drop": request.drop, "columns to keep": request.keep,
        "columns to show": request.show, "embeddings": request.embeddings,
    }  # fmt: skip
    useless = [name for name, value in given.items() if value]
    if useless:
        raise InputError(
            f"{request.source} contains landmarks of specimens, which have an ID and no columns; "
            f"leave out {' and '.join(useless)}."
        )
    landmarks = read_tps(request.source)
    known = request.reader if isinstance(request.reader, ShapeColumns) else None
    columns = fit_shape_columns(landmarks.coordinates) if known is None else known
    placed = columns.place(landmarks.coordinates)
    features = pd.DataFrame(placed.rows, columns=columns.names)
    ids = pd.Series(landmarks.ids, name="specimen", dtype=object)
    table = Table(
        features, ids, None, request.source, columns=("specimen", *columns.names), reader=columns
    )
    notes = _estimated_note(landmarks)
    link = None if request.link is None else LinkTemplate(request.link, ["id"], request.source)
    context = Context(pa.table({}), link=link)
    if images is not None:
        media, more = _photographs(request, landmarks, images)
        return DiscoveryData(table, media, [*notes, *more], context)
    outlines = OutlineRows(landmarks, placed.aligned, columns.procrustes.consensus_)
    return DiscoveryData(table, outlines, notes, context)


def _photographs(
    request: DataRequest, landmarks: Landmarks, images: Images
) -> tuple[RowMedia, list[str]]:
    """Return the photographs of the specimens, matched by IMAGE or by ID."""
    raw = RawTable(pa.table({"IMAGE": list(landmarks.images)}), own_id="ID")
    ids = list(landmarks.ids)
    files, found = _find_pictures(request, raw, ids, images)
    check_files_found(found.names, "picture", request.source, ids, files)
    media = PictureRows(ids, files, found.names, found.more)
    return media, missing_files_note(found.names, "picture")


def _estimated_note(landmarks: Landmarks) -> list[str]:
    n_specimens = int(np.isnan(landmarks.coordinates).any(axis=(1, 2)).sum())
    if not n_specimens:
        return []
    have = plural(n_specimens, "has", "have")
    return [f"{quantity(n_specimens, 'specimen')} {have} missing landmarks, which are estimated."]


def open_discovery_data(
    data: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing | Literal["fill"] = "refuse",
    images: Images | None = None,
    audio: str | os.PathLike[str] | None = None,
    reader: object | None = None,
    keep: Sequence[str] = (),
    show: Sequence[str] = (),
    link: str | None = None,
    reading: Reading = "strict",
    only: Collection[str] | None = None,
    like: KnownColumns | None = None,
    rotation_invariant: bool = False,
    embeddings: str | os.PathLike[str] | None = None,
    cache: Path | None = None,
    learn_with: WideRows | None = None,
    learn_from: Collection[str] | None = None,
) -> DiscoveryData:
    r"""Read a table and the media of its rows.

    Parameters
    ----------
    data : str or path
        A table of features; landmarks of specimens (``.tps``), whose features are components of
        their shape; a Raven selection table, whose rows are intervals of recordings; a folder of
        recordings, one per row; or a folder or ZIP archive of pictures, one per row, whose
        features are components of descriptors of colour, layout, edges and texture. The label
        column ``"folder"`` of pictures is the name of the folder that each is in.
    id_column, label_column, drop, missing
        As for :func:`kernova.read_table`; ``"fill"`` keeps missing values.
    images : str or path, or sequence of these, optional
        A folder or a ZIP archive of pictures, or a column of paths relative to the table's folder.
        Files in a folder or archive are matched with rows by the rows' ids, with or without a
        suffix, or by a column that names them, which is detected automatically. A row has several
        pictures if there are several sources, or if several files begin with its id
        (``7_1.png``, ``7_2.png``) or are in a folder of that name.
    audio : str or path, optional
        A folder of recordings or a column of paths, as for pictures; or one recording. Columns
        ``start`` and ``end`` (or Raven's) give the interval of a row. If there are no numeric
        columns besides times and frequencies, acoustic features are measured.
    reader : ShapeColumns, SoundColumns, PictureColumns or EmbeddingColumns, optional
        Transformation of landmarks, sounds, pictures or embeddings to features, the ``reader`` of
        another table; by default it is fitted to this file.
    keep : sequence of str
        As for :func:`kernova.read_table`; also dates are features then.
    show : sequence of str
        Columns to show beside each row, as written in the file; they are no features, unless they
        are in ``keep``. By default these are all columns that are no features.
    link : str, optional
        Address of a row elsewhere, such as ``https://example.org/{id}``; a placeholder is ``id`` or
        the name of a column.
    reading : {"strict", "auto"}
        As for :func:`kernova.read_table`; dates and times are no features with "auto", either.
    only : collection of str, optional
        The features, if they are known: all other columns are none.
    like : KnownColumns, optional
        Columns of a known table, which these rows are further ones of: others are left out.
    rotation_invariant : bool
        Describe pictures without a table so that it does not matter how they are turned.
    embeddings : str or path, optional
        A file of vectors, which are compared instead of the columns: NPY or NPZ in the order of the
        rows (files in the order of their names), or Parquet, Arrow, CSV or NPZ with ids or names
        of files. Rows without one are an error, unless ``missing="drop"``.
    cache : Path, optional
        File that keeps the descriptors of pictures, so that they need not be computed again.
    learn_with : array, optional
        Descriptors or vectors of other rows, from which components are learnt as well.
    learn_from : collection of str, optional
        Ids of the pictures or rows from which components are learnt; by default all of them.

    Returns
    -------
    DiscoveryData
        The table, without columns that name files, and the media.

    Raises
    ------
    InputError
        If a file or column cannot be used, or no row has a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.media.opening import open_discovery_data
    >>> from kernova.media.pictures import pixel_picture
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "007.png").write_bytes(pixel_picture([[0.0, 1.0]]).content)
    >>> _ = (folder / "fish.csv").write_text("fish,length\n007,10.5\n008,12\n")
    >>> opened = open_discovery_data(folder / "fish.csv", id_column="fish", images=folder)
    >>> opened.media.kind, opened.media.has(0), opened.notes
    ('picture', True, ['1 of 2 rows has no picture.'])
    """
    source = os.fspath(data)
    named = [drop] if isinstance(drop, str) else list(drop)
    kept: Missing = "keep" if missing == "fill" else missing
    request = DataRequest(
        source, id_column, label_column, named, kept, reader, tuple(keep), tuple(show), link,
        reading, None if only is None else frozenset(only), like, rotation_invariant,
        None if embeddings is None else os.fspath(embeddings), cache, learn_with,
        None if learn_from is None else frozenset(learn_from),
    )  # fmt: skip
    if like is not None:
        request = request._replace(only=frozenset(like.names))
    return _opened(request, images, audio)


def _opened(
    request: DataRequest, images: Images | None, audio: str | os.PathLike[str] | None
) -> DiscoveryData:
    """Read a file by what it is: pictures, recordings, landmarks, selections or a table."""
    source = request.source
    if images is not None and audio is not None:
        raise InputError(
            "Rows can have pictures or sounds, not both. Leave out `images` or `audio`."
        )
    pictures = pictures_in(source)
    if is_folder(Path(source)) and _holds_recordings(source, pictures):
        pictures = None
    if pictures is not None:
        return read_picture_folder(request, pictures, images=images, audio=audio)
    _check_not_described(request)
    if is_folder(Path(source)):
        return read_recording_folder(request, images, audio)
    if source.lower().endswith(".tps"):
        return read_specimens(request, images, audio)
    raw = request.raw()
    if audio is not None or is_raven(raw):
        return read_sound_table(request, raw, audio)
    if images is not None:
        return _read_picture_table(request, raw, images)
    table, notes, context = read_features(request, raw)
    return DiscoveryData(table, RowMedia(table.ids.tolist()), notes, context)


def _holds_recordings(source: str, pictures: MediaFiles | None) -> bool:
    """Return whether a folder is one of recordings; raise if it holds pictures as well."""
    n_pictures = 0 if pictures is None else len(pictures.names)
    n_recordings = len(FolderFiles(source, AUDIO_SUFFIXES).names)
    if n_pictures and n_recordings:
        raise InputError(
            f"{source} holds {quantity(n_pictures, 'picture')} and "
            f"{quantity(n_recordings, 'recording')}. Give a folder of either, or a table."
        )
    if not n_pictures and not n_recordings:
        raise InputError(
            f"{source} is a folder without recordings or pictures; give a table, or a folder of "
            "recordings or pictures."
        )
    return n_recordings > 0


def _check_not_described(request: DataRequest) -> None:
    """Raise if rows that are no pictures are to be described without regard to rotation."""
    if request.rotation_invariant:
        raise InputError(
            "rotation_invariant=True is for a folder or ZIP archive of pictures without a table. "
            f"Leave it out for {request.source}."
        )


def open_project_data(
    project: str | os.PathLike[str], data: str | os.PathLike[str], **options: Any
) -> DiscoveryData:
    r"""Read a table for a project: a new one with proposed features, another with its own features.

    A project that was begun when every column was a feature, or with other columns to show, keeps
    its features, so that it opens again.

    Parameters
    ----------
    project : str or path
        The file of the project, which need not exist.
    data : str or path
        The table, as for :func:`open_discovery_data`.
    **options
        Further parameters of it, but for ``reading`` and ``only``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.media.opening import open_project_data
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> fish = folder / "fish.csv"
    >>> _ = fish.write_text("fish,length,caught\n7,10.5,2024-05-01\n8,12,2024-05-03\n")
    >>> opened = open_project_data(folder / "fish.kernova-project", fish, id_column="fish")
    >>> list(opened.table.features.columns), opened.context.names
    (['length'], ('caught',))
    """
    settings = project_settings(project)
    path = Path(project)
    options = {"cache": path.with_name(f"{path.name}.descriptors"), **options}
    proposed = _attempt(settings, data, {**options, "reading": "auto"})
    if isinstance(proposed, DiscoveryData) and _is_of(settings, proposed):
        return proposed
    names = None if settings is None else settings.columns
    for more in ({"reading": "auto", "only": names}, {"reading": "strict", "only": names}):
        opened = _attempt(settings, data, {**options, **more})
        if isinstance(opened, DiscoveryData):
            if _is_of(settings, opened):
                _close(proposed)
                note = "Its columns are read as they were when the project was begun."
                return replace(opened, notes=[*opened.notes, note])
            opened.media.close()
    if isinstance(proposed, InputError):
        raise proposed
    return proposed


def _attempt(
    settings: ProjectSettings | None, data: str | os.PathLike[str], options: dict[str, Any]
) -> DiscoveryData | InputError:
    """Read the table; for a project that has its own features, an error may be of no matter."""
    try:
        return open_discovery_data(data, **options)
    except InputError as error:
        if settings is None:
            raise
        return error


def _is_of(settings: ProjectSettings | None, opened: DiscoveryData) -> bool:
    table = opened.table
    return settings is None or settings.fingerprint == table_fingerprint(
        table.features, table.ids.tolist()
    )


def _close(opened: DiscoveryData | InputError) -> None:
    if isinstance(opened, DiscoveryData):
        opened.media.close()


def demo_data() -> DiscoveryData:
    """Return scikit-learn's digits, some of them rare, with pictures and without labels.

    Examples
    --------
    >>> from kernova.media.opening import demo_data
    >>> demo = demo_data()
    >>> demo.table.features.shape, demo.media.kind, demo.table.labels is None
    ((750, 16), 'picture', True)
    """
    images = rare_digits().reset_index(drop=True)
    pixels = images.drop(columns=["id", "digit"]).to_numpy()
    ids = images["id"].astype(str)
    # Pixels have equal weights but most carry no information: with a few principal components the
    # digits are discovered in fewer questions (31 against 55, over 20 other samples).
    centred = pixels - pixels.mean(axis=0)
    rows = (centred @ principal_directions(centred, _DEMO_COMPONENTS)).round(3)
    names = [f"component {number}" for number in range(1, _DEMO_COMPONENTS + 1)]
    table = Table(pd.DataFrame(rows, columns=names), ids, None, "digits", columns=("id", *names))
    return DiscoveryData(table, pixel_pictures(ids.tolist(), pixels))


# --- digit images that come with scikit-learn ----------------------------------------------------

# Number of images of each digit, from common to rare.
DIGIT_COUNTS: Final = (170, 170, 150, 110, 70, 40, 20, 10, 6, 4)
_SEED: Final = 0


def digit_images() -> pd.DataFrame:
    """Return all 8 × 8 images: an id, the digit, and 64 pixels from p00 to p77."""
    digits = load_digits()
    rows = pd.DataFrame(digits.data, columns=[f"p{pixel // 8}{pixel % 8}" for pixel in range(64)])
    rows.insert(0, "id", [f"image-{number:04d}" for number in range(len(rows))])
    rows.insert(1, "digit", digits.target)
    return rows


def rare_digits() -> pd.DataFrame:
    """Return images of all digits, in decreasing numbers."""
    images = digit_images()
    random = np.random.default_rng(_SEED)
    kept = [
        random.permutation(np.flatnonzero(images["digit"] == digit))[:count]
        for digit, count in zip(random.permutation(10), DIGIT_COUNTS, strict=True)
    ]
    return images.iloc[random.permutation(np.concatenate(kept))]

"""What discovery begins with: a table, and what there is to see and to hear of its rows.

This is the door. Behind it, pictures are found in :mod:`kernova.studies.discovery_pictures`, sounds
in :mod:`kernova.studies.discovery_recordings`, and landmarks are read in
:mod:`kernova.studies.discovery_specimens`.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import pandas as pd

from kernova.errors import InputError
from kernova.files import is_folder
from kernova.load.formats import read_raw
from kernova.load.tables import Missing, Table
from kernova.represent.principal_directions import principal_directions
from kernova.studies.digit_images import rare_digits
from kernova.studies.discovery_pictures import pictured_rows
from kernova.studies.discovery_recordings import folder_of_recordings, sounding_rows
from kernova.studies.discovery_request import DataRequest, DiscoveryData
from kernova.studies.discovery_specimens import specimen_rows
from kernova.studies.row_media import RowMedia, pixel_pictures
from kernova.studies.selection_tables import is_raven

__all__ = ["DiscoveryData", "demo_data", "open_discovery_data"]

_DEMO_COMPONENTS: Final = 16


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
        their shape; Raven's selection table, whose rows are stretches of recordings; or a folder
        of recordings, each of them a row.
    id_column, label_column, drop, missing
        As for :func:`kernova.read_table`; ``"fill"`` keeps missing values.
    images : str or path, optional
        A folder or a ZIP archive of pictures, or a column of paths, which start from the table's
        folder. Files in a folder or archive go with rows by the rows' ids, with or without an
        ending, or by a column of texts that names them, which is found by itself.
    audio : str or path, optional
        A folder of recordings or a column of paths, as for pictures; or one recording. Columns
        ``start`` and ``end`` (or Raven's) say which stretch a row is. If there are no numbers
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
    named = [drop] if isinstance(drop, str) else list(drop)
    kept: Missing = "keep" if missing == "fill" else missing
    asked = DataRequest(source, id_column, label_column, named, kept, reader)
    if images is not None and audio is not None:
        raise InputError(
            "Rows are shown as pictures or as sounds, not as both; leave out images or audio."
        )
    if source.lower().endswith(".tps"):
        return specimen_rows(asked, images, audio)
    if is_folder(Path(source)):
        return folder_of_recordings(asked, images, audio)
    raw = read_raw(source, id_column)
    if audio is not None or is_raven(raw):
        return sounding_rows(asked, raw, audio)
    if images is not None:
        return pictured_rows(asked, raw, images)
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
    # tell digits apart in fewer questions (31 against 55, over 20 other draws).
    centred = pixels - pixels.mean(axis=0)
    rows = (centred @ principal_directions(centred, _DEMO_COMPONENTS)).round(3)
    names = [f"component {number}" for number in range(1, _DEMO_COMPONENTS + 1)]
    table = Table(pd.DataFrame(rows, columns=names), ids, None, "digits", columns=("id", *names))
    return DiscoveryData(table, pixel_pictures(ids.tolist(), pixels))

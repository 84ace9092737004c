"""Rows that are specimens: their shape as columns, an outline or a photograph to see."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa

from kernova.errors import InputError
from kernova.load.raw import RawTable
from kernova.load.specimens import Landmarks
from kernova.load.tables import Table
from kernova.load.tps import read_tps
from kernova.represent.shape_columns import ShapeColumns, fit_shape_columns
from kernova.studies.discovery_pictures import picture_files
from kernova.studies.discovery_request import DataRequest, DiscoveryData
from kernova.studies.outlines import OutlineRows
from kernova.studies.row_files import refuse_no_files, without_file_note
from kernova.studies.row_media import PictureRows, RowMedia


def specimen_rows(
    asked: DataRequest,
    images: str | os.PathLike[str] | None,
    audio: str | os.PathLike[str] | None,
) -> DiscoveryData:
    """Read a TPS file: its rows are specimens, its columns components of their shape."""
    given = {
        "audio": audio, "id column": asked.id_column, "label column": asked.label_column,
        "columns to drop": asked.drop,
    }  # fmt: skip
    useless = [name for name, value in given.items() if value]
    if useless:
        raise InputError(
            f"{asked.source} holds landmarks of specimens, which are named by their ID and have no "
            f"columns; leave out {' and '.join(useless)}."
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
    notes = _estimated_note(landmarks)
    if images is not None:
        media, more = _photographs(asked, landmarks, os.fspath(images))
        return DiscoveryData(table, media, [*notes, *more])
    return DiscoveryData(
        table, OutlineRows(landmarks, placed.aligned, columns.procrustes.consensus_), notes
    )


def _photographs(
    asked: DataRequest, landmarks: Landmarks, images: str
) -> tuple[RowMedia, list[str]]:
    """Find the photographs that the landmarks were set on: by IMAGE, or by ID."""
    raw = RawTable(pa.table({"IMAGE": list(landmarks.images)}), own_id="ID")
    ids = list(landmarks.ids)
    files, found = picture_files(asked, raw, ids, images)
    refuse_no_files(found.names, "picture", asked.source, ids, files)
    return PictureRows(ids, files, found.names), without_file_note(found.names, "picture")


def _estimated_note(landmarks: Landmarks) -> list[str]:
    n_specimens = int(np.isnan(landmarks.coordinates).any(axis=(1, 2)).sum())
    if not n_specimens:
        return []
    have = "specimen has" if n_specimens == 1 else "specimens have"
    return [f"{n_specimens:,} {have} missing landmarks, which are estimated."]

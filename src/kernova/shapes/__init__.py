"""Landmarks of specimens: reading and writing files, aligning shapes, and statistics of shapes.

The value is in :mod:`kernova.shapes.landmarks`, the TPS format in :mod:`kernova.shapes.tps`, other
formats in :mod:`kernova.shapes.formats`; wide tables and groups are in
:mod:`kernova.shapes.wide_tables`.
"""

from kernova.shapes.formats.reading import (
    Specimens,
    groups_from_column,
    is_landmark_file,
    read_landmarks,
)
from kernova.shapes.formats.writing import write_landmarks
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.tps import read_tps, write_tps
from kernova.shapes.wide_tables import (
    LandmarkTable,
    groups_from_pattern,
    groups_from_table,
    landmark_columns,
    read_landmark_table,
)

__all__ = [
    "LandmarkTable",
    "Landmarks",
    "Specimens",
    "groups_from_column",
    "groups_from_pattern",
    "groups_from_table",
    "is_landmark_file",
    "landmark_columns",
    "read_landmark_table",
    "read_landmarks",
    "read_tps",
    "write_landmarks",
    "write_tps",
]

"""Landmarks of specimens: reading TPS files and wide tables, and the groups of specimens.

The value is in :mod:`kernova.shapes.landmarks`, the TPS format in :mod:`kernova.shapes.tps`;
wide tables and groups are in :mod:`kernova.shapes.wide_tables`.
"""

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
    "groups_from_pattern",
    "groups_from_table",
    "landmark_columns",
    "read_landmark_table",
    "read_tps",
    "write_tps",
]

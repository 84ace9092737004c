"""Landmarks of specimens, from the files that people have: TPS, or a wide table.

This is the door. Behind it, the value stands in :mod:`kernova.load.specimens`, the TPS format in
:mod:`kernova.load.tps`, wide tables in :mod:`kernova.load.landmark_tables`, and who belongs to
which group in :mod:`kernova.load.specimen_groups`.
"""

from kernova.load.landmark_tables import LandmarkTable, read_landmark_table
from kernova.load.specimen_groups import groups_from_pattern, groups_from_table
from kernova.load.specimens import Landmarks
from kernova.load.tps import read_tps, write_tps

__all__ = [
    "LandmarkTable",
    "Landmarks",
    "groups_from_pattern",
    "groups_from_table",
    "read_landmark_table",
    "read_tps",
    "write_tps",
]

"""Landmarks of specimens, from the files that people have: TPS, or a wide table.

This is the door: the value stands in :mod:`kernova.load.specimens`, the TPS format in
:mod:`kernova.load.tps`.
"""

from kernova.load.specimens import Landmarks
from kernova.load.tps import read_tps, write_tps

__all__ = ["Landmarks", "read_tps", "write_tps"]

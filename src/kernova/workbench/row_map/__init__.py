"""Maps of all rows in two dimensions: principal components, and a layout of nearest neighbours.

The map of principal components (PCA) is shown at once. A coarse map of a sample that keeps
neighbours together follows, and then one of all rows, if they are better. Points are coloured by
category.
"""

from kernova.workbench.row_map.axes import RowMap, axes_map
from kernova.workbench.row_map.neighbours import coarse_map, near_rows, neighbours_map
from kernova.workbench.row_map.stages import (
    SKIPPED,
    BetterMap,
    MapOfRows,
    MapReply,
    save_map,
    saved_map,
)

__all__ = [
    "SKIPPED",
    "BetterMap",
    "MapOfRows",
    "MapReply",
    "RowMap",
    "axes_map",
    "coarse_map",
    "near_rows",
    "neighbours_map",
    "save_map",
    "saved_map",
]

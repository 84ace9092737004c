"""Landmarks of specimens: reading and writing files, aligning shapes, and statistics of shapes.

The value is in :mod:`kernova.shapes.landmarks`, the TPS format in :mod:`kernova.shapes.tps`, other
formats in :mod:`kernova.shapes.formats`; wide tables and groups are in
:mod:`kernova.shapes.wide_tables`. What aligns and compares shapes is imported on first use, since
scikit-learn takes a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from kernova.shapes.anova import allometry, goodall_test, interaction, procrustes_anova
    from kernova.shapes.articulation import fixed_angle
    from kernova.shapes.completion import complete_specimens
    from kernova.shapes.curves import landmarks_with_curves, read_sliders
    from kernova.shapes.sliding import fit_sliding, slide_semilandmarks
    from kernova.shapes.symmetry import guess_pairs, symmetric_components
    from kernova.shapes.tangent import tangent_projection

_NAMES_IN = {
    "anova": "allometry goodall_test interaction procrustes_anova",
    "articulation": "fixed_angle",
    "completion": "complete_specimens",
    "curves": "landmarks_with_curves read_sliders",
    "sliding": "fit_sliding slide_semilandmarks",
    "symmetry": "guess_pairs symmetric_components",
    "tangent": "tangent_projection",
}
_HOME_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}

__all__ = [
    "LandmarkTable",
    "Landmarks",
    "Specimens",
    "allometry",
    "complete_specimens",
    "fit_sliding",
    "fixed_angle",
    "goodall_test",
    "groups_from_column",
    "groups_from_pattern",
    "groups_from_table",
    "guess_pairs",
    "interaction",
    "is_landmark_file",
    "landmark_columns",
    "landmarks_with_curves",
    "procrustes_anova",
    "read_landmark_table",
    "read_landmarks",
    "read_sliders",
    "read_tps",
    "slide_semilandmarks",
    "symmetric_components",
    "tangent_projection",
    "write_landmarks",
    "write_tps",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'kernova.shapes' has no attribute {name!r}")
    value = getattr(import_module(f"kernova.shapes.{_HOME_OF[name]}"), name)
    globals()[name] = value  # the next access does not call this function
    return value

"""Class names in model files of earlier versions, translated to the current ones.

A model file names the module and class of each object. Where these have moved, the names in a
dump's schema are replaced before its types are checked. Only the names listed here are translated,
and only to classes of kernova, so that nothing becomes trusted that was not.
"""

import io
import json
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile

from kernova._moved import current_name
from kernova.persist.archive import SCHEMA, nodes_in, zipped

# Classes that fitted estimators of version 0.1.0 are made of, by their old modules.
_STORED: Final[dict[str, tuple[str, ...]]] = {
    "kernova.decide.calibrated": ("CalibratedDetector",),
    "kernova.describe.centered_description": ("CenteredDescription",),
    "kernova.describe.class_description": ("ClassDescription",),
    "kernova.describe.data_description": ("MulticlassDataDescription",),
    "kernova.describe.feature_scaling": ("FeatureScaling",),
    "kernova.describe.fitting": ("Described",),
    "kernova.describe.one_class": ("OneClassGaussianProcess",),
    "kernova.describe.possibilistic": ("PossibilisticNeighbors", "TypicalDistance"),
    "kernova.describe.table_recognizer": ("TableRecognizer",),
    "kernova.discover.gaussian_mean_shift": ("GaussianMeanShift",),
    "kernova.discover.hierarchy": ("HierarchicalMeanShift",),
    "kernova.kernels.low_rank": ("CentredGram",),
    "kernova.represent.encoding": ("TableEncoder",),
    "kernova.represent.frames": ("Bands", "Framing"),
    "kernova.represent.linear_dynamics": ("HierarchicalLinearDynamics",),
    "kernova.represent.note_rows": ("NoteLook",),
    "kernova.represent.procrustes": ("GeneralizedProcrustes",),
    "kernova.represent.shape_columns": ("ShapeColumns",),
    "kernova.represent.sound_columns": ("HeardRange", "SoundColumns"),
    "kernova.score.baselines": ("LocalDensityFactor", "LocalPeculiarityFactor"),
    "kernova.score.depth_engines": ("LowRankPlan",),
    "kernova.score.local_densities": ("LocalDensities",),
    "kernova.score.outlier_factor": ("RobustKernelOutlierFactor",),
    "kernova.score.sparse_depth": ("SparsePlan",),
    "kernova.score.spatial_depth": ("KernelSpatialDepth", "SpatialDepth"),
    "kernova.studies.note_engines": ("PaperEngine", "SongEngine"),
    "kernova.studies.notes": ("NoteFinder",),
    "kernova.studies.paper_notes": ("KnownFrames",),
    "kernova.studies.song_notes": ("KnownNotes",),
}


def moved_classes() -> dict[str, str]:
    """Return the full names of all moved classes that model files may hold, old to new."""
    return {
        f"{module}.{name}": str(current_name(module, name))
        for module, names in _STORED.items()
        for name in names
    }


def with_current_names(dumped: bytes) -> bytes:
    """Return a skops dump in which moved classes have their current names."""
    with ZipFile(io.BytesIO(dumped)) as archive:
        schema = json.loads(archive.read(SCHEMA))
        if not _rename_classes(schema, moved_classes()):
            return dumped
        parts = {name: archive.read(name) for name in archive.namelist()}
    return zipped({**parts, SCHEMA: json.dumps(schema).encode()}, ZIP_STORED)


def _rename_classes(schema: Any, new_names: dict[str, str]) -> bool:
    """Rename classes in place; return whether there was one to rename."""
    is_changed = False
    for state in nodes_in(schema):
        new = new_names.get(f"{state.get('__module__')}.{state.get('__class__')}")
        if new is not None:
            state["__module__"], _, state["__class__"] = new.rpartition(".")
            is_changed = True
    return is_changed

"""Modules and names of earlier versions that have moved; stand-ins keep old imports working.

Importing an old module warns and gives a stand-in whose attributes come from the new one.
Model files name the classes of their objects: :mod:`kernova.persist.archive` replaces old names by
those of :func:`moved_classes`, so that nothing becomes trusted that was not.
"""

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

_PACKAGES: Final = frozenset(
    f"kernova.{name}" for name in ("load", "represent", "score", "describe", "decide", "studies")
)

MODULES: Final[Mapping[str, str]] = {
    "kernova.anomaly.ensemble.scale": "kernova.surprise",
    "kernova.audio.kalman": "kernova.audio.chains",
    "kernova.datasets": "kernova.media.opening",
    "kernova.blocks": "kernova.parallel",
    "kernova.load.annotations": "kernova.audio.annotations",
    "kernova.load.audio": "kernova.audio.reading",
    "kernova.load.landmarks": "kernova.shapes",
    "kernova.load.segments": "kernova.audio.annotations.segments",
    "kernova.load.tables": "kernova.tables.table",
    "kernova.represent.chains": "kernova.audio.chains",
    "kernova.represent.encoding": "kernova.tables.encoding",
    "kernova.represent.frames": "kernova.audio.frames",
    "kernova.represent.kalman": "kernova.audio.chains",
    "kernova.represent.linear_dynamics": "kernova.audio.linear_dynamics",
    "kernova.represent.note_rows": "kernova.notes.features",
    "kernova.represent.procrustes": "kernova.shapes.procrustes",
    "kernova.represent.shape_columns": "kernova.shapes.columns",
    "kernova.represent.shape_features": "kernova.shapes.features",
    "kernova.represent.sound_columns": "kernova.audio.columns",
    "kernova.score.baselines": "kernova.anomaly.baselines",
    "kernova.score.depth_engines": "kernova.anomaly.depth_engines",
    "kernova.score.local_densities": "kernova.anomaly.local_densities",
    "kernova.score.outlier_factor": "kernova.anomaly.outlier_factor",
    "kernova.score.sparse_depth": "kernova.anomaly.depth_engines",
    "kernova.score.spatial_depth": "kernova.anomaly.spatial_depth",
    "kernova.describe.centered_description": "kernova.description.class_description",
    "kernova.describe.class_description": "kernova.description.class_description",
    "kernova.describe.data_description": "kernova.description.multiclass",
    "kernova.describe.feature_scaling": "kernova.description.hyperparameters",
    "kernova.describe.fitting": "kernova.description.fitting",
    "kernova.describe.one_class": "kernova.description.one_class",
    "kernova.describe.possibilistic": "kernova.description.possibilistic",
    "kernova.describe.table_recognizer": "kernova.description.recognizer",
    "kernova.decide.calibrated": "kernova.calibration.detector",
    "kernova.decide.false_alarms": "kernova.calibration.bounds",
    "kernova.decide.intervals": "kernova.notes.candidates",
    "kernova.decide.p_values": "kernova.calibration.p_values",
    "kernova.decide.segments": "kernova.notes.decoding",
    "kernova.discover.gaussian_mean_shift": "kernova.cluster.gaussian_mean_shift",
    "kernova.discover.hierarchy": "kernova.cluster.hierarchical_mean_shift",
    "kernova.discover.mean_shift": "kernova.cluster.mean_shift",
    "kernova.discover.standardize": "kernova.cluster.standardize",
    "kernova.kernels.distances": "kernova.kernels.functions",
    "kernova.kernels.low_rank": "kernova.kernels.gram",
    "kernova.kernels.profiles": "kernova.kernels.functions",
    "kernova.neighbors.approximate": "kernova.neighbors.index",
    "kernova.neighbors.duplicates": "kernova.neighbors.index",
    "kernova.shapes.groups": "kernova.shapes.wide_tables",
    "kernova.studies.demo": "kernova.workflows.demo",
    "kernova.studies.digit_images": "kernova.media.opening",
    "kernova.studies.learn": "kernova.workflows.learn",
    "kernova.studies.note_check": "kernova.notes.evaluation",
    "kernova.studies.note_engines": "kernova.notes.engines",
    "kernova.studies.note_learning": "kernova.notes.training",
    "kernova.studies.notes": "kernova.notes.finder",
    "kernova.studies.novelty": "kernova.workflows.novelty",
    "kernova.studies.outliers": "kernova.workflows.outliers",
    "kernova.studies.paper_notes": "kernova.notes.engines",
    "kernova.studies.recognition": "kernova.workflows.recognize",
    "kernova.studies.simulation": "kernova.workflows.simulate",
    "kernova.studies.song_notes": "kernova.notes.engines",
    "kernova.studies.species": "kernova.species.study",
    "kernova.studies.species_space": "kernova.species.space",
    "kernova.studies.species_specimens": "kernova.species.specimens",
}

# Names that are called otherwise in the new module, or are in another one.
NAMES: Final[Mapping[str, str]] = {
    "kernova.represent.note_rows.NoteLook": "kernova.notes.features.FeatureSettings",
    "kernova.represent.sound_columns.HeardRange": "kernova.audio.columns.FrequencyRange",
}


# Classes that fitted estimators of version 0.1.0 are made of, by their old modules.
_STORED: Final[dict[str, tuple[str, ...]]] = {
    "kernova.anomaly.ensemble.scale": ("Surprise",),
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


def current_name(module: str, name: str) -> str | None:
    """Return the full name under which a moved class or function is found now, or None."""
    if module not in MODULES:
        return None
    return NAMES.get(f"{module}.{name}", f"{MODULES[module]}.{name}")


def moved_classes() -> dict[str, str]:
    """Return the full names of all moved classes that model files may hold, old to new."""
    return {
        f"{module}.{name}": str(current_name(module, name))
        for module, names in _STORED.items()
        for name in names
    }


def moved_spec(name: str) -> ModuleSpec | None:
    """Return the import specification of an old module's stand-in, or None for other modules."""
    if name not in MODULES and name not in _PACKAGES:
        return None
    return ModuleSpec(name, _StandInLoader(), is_package=name in _PACKAGES)


class _StandIn(ModuleType):
    """A module whose attributes come from another one."""

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else current_name(self.__name__, name)
        if found is not None:
            module, _, attribute = found.rpartition(".")
            if hasattr(import_module(module), attribute):
                return getattr(sys.modules[module], attribute)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return dir(import_module(MODULES[self.__name__])) if self.__name__ in MODULES else []


class _StandInLoader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ in MODULES:
            # The frames of the import system are not counted: this is where the import stands.
            warnings.warn(
                f"{module.__name__} has moved to {MODULES[module.__name__]}; import from there.",
                DeprecationWarning,
                stacklevel=2,
            )

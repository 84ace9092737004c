"""kernova finds what is new in data: novelty detection, outliers, open-set recognition, discovery.

The pipeline, one package per subject::

    tables, shapes, audio    files to rows of numbers
    anomaly                  scores: spatial depth, outlier factors
    cluster, description     mean shift, descriptions of known classes
    discover                 unknown categories, found by asking an expert
    calibration              thresholds, p-values and guarantees
    explain, report          reasons and figures
    persist                  model files
    species, notes           studies of specimens, and of notes in recordings

All names in ``kernova.__all__`` can be imported from here. They are loaded when first used, so
that ``import kernova`` is fast.

>>> import kernova
>>> "KernelSpatialDepth" in dir(kernova)
True
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from kernova._version import __version__

# Public names by the module that defines them; the imports below repeat them for type checkers.
_NAMES_IN = {
    "kernova.tables.table": "read_table Table",
    "kernova.tables.encoding": "TableEncoder",
    "kernova.shapes": "Landmarks read_tps write_tps read_landmark_table groups_from_table "
    "groups_from_pattern",
    "kernova.shapes.procrustes": "GeneralizedProcrustes",
    "kernova.shapes.features": "ShapeFeatures shape_features read_shape_features",
    "kernova.audio.reading": "Audio AudioInfo audio_blocks audio_info read_audio",
    "kernova.audio.annotations.segments": "Segment check_segments segments_by_file",
    "kernova.audio.annotations": "read_annotations write_annotations",
    "kernova.audio.linear_dynamics": "HierarchicalLinearDynamics",
    "kernova.anomaly.spatial_depth": "SpatialDepth KernelSpatialDepth",
    "kernova.anomaly.outlier_factor": "RobustKernelOutlierFactor outlier_factor_path",
    "kernova.anomaly.ensemble.detector": "DetectorEnsemble",
    "kernova.anomaly.baselines": "LocalDensityFactor LocalPeculiarityFactor",
    "kernova.description.multiclass": "MulticlassDataDescription",
    "kernova.description.open_set.classifier": "OpenSetClassifier",
    "kernova.description.one_class": "OneClassGaussianProcess",
    "kernova.description.possibilistic": "PossibilisticNeighbors",
    "kernova.cluster.hierarchical_mean_shift": "HierarchicalMeanShift",
    "kernova.cluster.gaussian_mean_shift": "GaussianMeanShift",
    "kernova.discover.session": "CategoryDiscovery",
    "kernova.discover.simulation": "simulate",
    "kernova.discover.more_like": "more_like",
    "kernova.calibration.bounds": "false_alarm_threshold critical_false_alarm equal_error_rate",
    "kernova.calibration.p_values": "conformal_p_values select_discoveries",
    "kernova.calibration.detector": "CalibratedDetector",
    "kernova.calibration.discoveries": "false_discovery_bound",
    "kernova.calibration.drift": "drift_test",
    "kernova.notes.finder": "NoteFinder",
    "kernova.species.study": "study_unknown study_each",
    "kernova.species.specimens": "judge_specimens",
    "kernova.species.space": "SpeciesSettings",
    "kernova.explain": "explain top_features",
    "kernova.persist": "save_model load_model",
    "kernova.errors": "KernovaError InputError MissingValuesError TooFewRowsError ModelFileError",
}
_HOME_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}

__all__ = [*_HOME_OF, "__version__"]

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from kernova.anomaly.baselines import LocalDensityFactor, LocalPeculiarityFactor
    from kernova.anomaly.ensemble.detector import DetectorEnsemble
    from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor, outlier_factor_path
    from kernova.anomaly.spatial_depth import KernelSpatialDepth, SpatialDepth
    from kernova.audio.annotations import read_annotations, write_annotations
    from kernova.audio.annotations.segments import Segment, check_segments, segments_by_file
    from kernova.audio.linear_dynamics import HierarchicalLinearDynamics
    from kernova.audio.reading import Audio, AudioInfo, audio_blocks, audio_info, read_audio
    from kernova.calibration.bounds import (
        critical_false_alarm,
        equal_error_rate,
        false_alarm_threshold,
    )
    from kernova.calibration.detector import CalibratedDetector
    from kernova.calibration.discoveries import false_discovery_bound
    from kernova.calibration.drift import drift_test
    from kernova.calibration.p_values import conformal_p_values, select_discoveries
    from kernova.cluster.gaussian_mean_shift import GaussianMeanShift
    from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
    from kernova.description.multiclass import MulticlassDataDescription
    from kernova.description.one_class import OneClassGaussianProcess
    from kernova.description.open_set.classifier import OpenSetClassifier
    from kernova.description.possibilistic import PossibilisticNeighbors
    from kernova.discover.more_like import more_like
    from kernova.discover.session import CategoryDiscovery
    from kernova.discover.simulation import simulate
    from kernova.errors import (
        InputError,
        KernovaError,
        MissingValuesError,
        ModelFileError,
        TooFewRowsError,
    )
    from kernova.explain.explanation import explain, top_features
    from kernova.notes.finder import NoteFinder
    from kernova.persist.models import load_model, save_model
    from kernova.shapes import (
        Landmarks,
        groups_from_pattern,
        groups_from_table,
        read_landmark_table,
        read_tps,
        write_tps,
    )
    from kernova.shapes.features import ShapeFeatures, read_shape_features, shape_features
    from kernova.shapes.procrustes import GeneralizedProcrustes
    from kernova.species.space import SpeciesSettings
    from kernova.species.specimens import judge_specimens
    from kernova.species.study import study_each, study_unknown
    from kernova.tables.encoding import TableEncoder
    from kernova.tables.table import Table, read_table


def __getattr__(name: str) -> object:
    try:
        home = _HOME_OF[name]
    except KeyError:
        raise AttributeError(f"module 'kernova' has no attribute {name!r}") from None
    value = getattr(import_module(home), name)
    globals()[name] = value  # the next access does not call this function
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _MovedModules:
    """Finder of modules that earlier versions had; asked only when no other finder has one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        if not name.startswith("kernova."):
            return None
        from kernova._moved import moved_spec

        return moved_spec(name)


sys.meta_path.append(_MovedModules)

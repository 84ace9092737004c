"""kernova finds what is new in data.

The road, one folder per station::

    load -> represent -> score / describe / discover -> decide -> report

==========  ==========================================================================
station     what to import from here
==========  ==========================================================================
load        :func:`read_table`; :func:`read_tps`, :func:`write_tps`,
            :func:`read_landmark_table`, :func:`groups_from_table`,
            :func:`groups_from_pattern`, :class:`Landmarks`; :func:`read_audio`,
            :func:`audio_blocks`, :func:`audio_info`, :func:`read_annotations`,
            :func:`write_annotations`, :func:`check_segments`,
            :func:`segments_by_file`, :class:`Segment`
represent   :class:`TableEncoder`; :class:`GeneralizedProcrustes`,
            :func:`shape_features`, :func:`read_shape_features`,
            :class:`ShapeFeatures`, :class:`HierarchicalLinearDynamics`
score       :class:`SpatialDepth`, :class:`KernelSpatialDepth`,
            :class:`RobustKernelOutlierFactor`, :func:`outlier_factor_path`,
            :class:`LocalDensityFactor`, :class:`LocalPeculiarityFactor`
describe    :class:`MulticlassDataDescription`, :class:`OneClassGaussianProcess`,
            :class:`PossibilisticNeighbors`
discover    :class:`HierarchicalMeanShift`, :class:`GaussianMeanShift`,
            :class:`CategoryDiscovery`, :func:`simulate`
decide      :class:`CalibratedDetector`, :func:`false_alarm_threshold`,
            :func:`critical_false_alarm`, :func:`equal_error_rate`,
            :func:`conformal_p_values`, :func:`select_discoveries`
explain     :func:`explain`, :func:`top_features`
studies     :class:`NoteFinder`; :func:`study_unknown`, :func:`study_each`,
            :func:`judge_specimens`, :class:`SpeciesSettings`
persist     :func:`save_model`, :func:`load_model`
==========  ==========================================================================

Names are imported when they are first used, so that ``import kernova`` costs next to nothing.

>>> import kernova
>>> "KernelSpatialDepth" in dir(kernova)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kernova._version import __version__

_HOME_OF = {
    "read_table": "kernova.tables.table",
    "Table": "kernova.tables.table",
    "Landmarks": "kernova.shapes",
    "read_tps": "kernova.shapes",
    "write_tps": "kernova.shapes",
    "read_landmark_table": "kernova.shapes",
    "groups_from_table": "kernova.shapes",
    "groups_from_pattern": "kernova.shapes",
    "Audio": "kernova.audio.reading",
    "AudioInfo": "kernova.audio.reading",
    "audio_blocks": "kernova.audio.reading",
    "audio_info": "kernova.audio.reading",
    "read_audio": "kernova.audio.reading",
    "Segment": "kernova.audio.annotations.segments",
    "check_segments": "kernova.audio.annotations.segments",
    "segments_by_file": "kernova.audio.annotations.segments",
    "read_annotations": "kernova.audio.annotations",
    "write_annotations": "kernova.audio.annotations",
    "TableEncoder": "kernova.tables.encoding",
    "GeneralizedProcrustes": "kernova.shapes.procrustes",
    "HierarchicalLinearDynamics": "kernova.audio.linear_dynamics",
    "ShapeFeatures": "kernova.shapes.features",
    "shape_features": "kernova.shapes.features",
    "read_shape_features": "kernova.shapes.features",
    "SpatialDepth": "kernova.anomaly.spatial_depth",
    "KernelSpatialDepth": "kernova.anomaly.spatial_depth",
    "RobustKernelOutlierFactor": "kernova.anomaly.outlier_factor",
    "outlier_factor_path": "kernova.anomaly.outlier_factor",
    "LocalDensityFactor": "kernova.anomaly.baselines",
    "LocalPeculiarityFactor": "kernova.anomaly.baselines",
    "MulticlassDataDescription": "kernova.description.multiclass",
    "OneClassGaussianProcess": "kernova.description.one_class",
    "PossibilisticNeighbors": "kernova.description.possibilistic",
    "HierarchicalMeanShift": "kernova.cluster.hierarchical_mean_shift",
    "GaussianMeanShift": "kernova.cluster.gaussian_mean_shift",
    "CategoryDiscovery": "kernova.discover.session",
    "simulate": "kernova.discover.simulation",
    "false_alarm_threshold": "kernova.calibration.bounds",
    "critical_false_alarm": "kernova.calibration.bounds",
    "equal_error_rate": "kernova.calibration.bounds",
    "conformal_p_values": "kernova.calibration.p_values",
    "select_discoveries": "kernova.calibration.p_values",
    "CalibratedDetector": "kernova.calibration.detector",
    "NoteFinder": "kernova.notes.finder",
    "study_unknown": "kernova.species.study",
    "study_each": "kernova.species.study",
    "judge_specimens": "kernova.species.specimens",
    "SpeciesSettings": "kernova.species.space",
    "explain": "kernova.explain",
    "top_features": "kernova.explain",
    "save_model": "kernova.persist",
    "load_model": "kernova.persist",
    "KernovaError": "kernova.errors",
    "InputError": "kernova.errors",
    "MissingValuesError": "kernova.errors",
    "TooFewRowsError": "kernova.errors",
    "ModelFileError": "kernova.errors",
}

__all__ = [*_HOME_OF, "__version__"]

if TYPE_CHECKING:
    from kernova.anomaly.baselines import LocalDensityFactor, LocalPeculiarityFactor
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
    from kernova.calibration.p_values import conformal_p_values, select_discoveries
    from kernova.cluster.gaussian_mean_shift import GaussianMeanShift
    from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
    from kernova.description.multiclass import MulticlassDataDescription
    from kernova.description.one_class import OneClassGaussianProcess
    from kernova.description.possibilistic import PossibilisticNeighbors
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
    globals()[name] = value  # the next access finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

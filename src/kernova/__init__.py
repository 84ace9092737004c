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

__version__ = "0.1.0"

_HOME_OF = {
    "read_table": "kernova.load.tables",
    "Table": "kernova.load.tables",
    "Landmarks": "kernova.load.landmarks",
    "read_tps": "kernova.load.landmarks",
    "write_tps": "kernova.load.landmarks",
    "read_landmark_table": "kernova.load.landmarks",
    "groups_from_table": "kernova.load.landmarks",
    "groups_from_pattern": "kernova.load.landmarks",
    "Audio": "kernova.load.audio",
    "AudioInfo": "kernova.load.audio",
    "audio_blocks": "kernova.load.audio",
    "audio_info": "kernova.load.audio",
    "read_audio": "kernova.load.audio",
    "Segment": "kernova.load.segments",
    "check_segments": "kernova.load.segments",
    "segments_by_file": "kernova.load.segments",
    "read_annotations": "kernova.load.annotations",
    "write_annotations": "kernova.load.annotations",
    "TableEncoder": "kernova.represent.encoding",
    "GeneralizedProcrustes": "kernova.represent.procrustes",
    "HierarchicalLinearDynamics": "kernova.represent.linear_dynamics",
    "ShapeFeatures": "kernova.represent.shape_features",
    "shape_features": "kernova.represent.shape_features",
    "read_shape_features": "kernova.represent.shape_features",
    "SpatialDepth": "kernova.score.spatial_depth",
    "KernelSpatialDepth": "kernova.score.spatial_depth",
    "RobustKernelOutlierFactor": "kernova.score.outlier_factor",
    "outlier_factor_path": "kernova.score.outlier_factor",
    "LocalDensityFactor": "kernova.score.baselines",
    "LocalPeculiarityFactor": "kernova.score.baselines",
    "MulticlassDataDescription": "kernova.describe.data_description",
    "OneClassGaussianProcess": "kernova.describe.one_class",
    "PossibilisticNeighbors": "kernova.describe.possibilistic",
    "HierarchicalMeanShift": "kernova.discover.hierarchy",
    "GaussianMeanShift": "kernova.discover.gaussian_mean_shift",
    "CategoryDiscovery": "kernova.discover.session",
    "simulate": "kernova.discover.simulation",
    "false_alarm_threshold": "kernova.decide.false_alarms",
    "critical_false_alarm": "kernova.decide.false_alarms",
    "equal_error_rate": "kernova.decide.false_alarms",
    "conformal_p_values": "kernova.decide.p_values",
    "select_discoveries": "kernova.decide.p_values",
    "CalibratedDetector": "kernova.decide.calibrated",
    "NoteFinder": "kernova.studies.notes",
    "study_unknown": "kernova.studies.species",
    "study_each": "kernova.studies.species",
    "judge_specimens": "kernova.studies.species_specimens",
    "SpeciesSettings": "kernova.studies.species_space",
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
    from kernova.decide.calibrated import CalibratedDetector
    from kernova.decide.false_alarms import (
        critical_false_alarm,
        equal_error_rate,
        false_alarm_threshold,
    )
    from kernova.decide.p_values import conformal_p_values, select_discoveries
    from kernova.describe.data_description import MulticlassDataDescription
    from kernova.describe.one_class import OneClassGaussianProcess
    from kernova.describe.possibilistic import PossibilisticNeighbors
    from kernova.discover.gaussian_mean_shift import GaussianMeanShift
    from kernova.discover.hierarchy import HierarchicalMeanShift
    from kernova.discover.session import CategoryDiscovery
    from kernova.discover.simulation import simulate
    from kernova.errors import (
        InputError,
        KernovaError,
        MissingValuesError,
        ModelFileError,
        TooFewRowsError,
    )
    from kernova.explain import explain, top_features
    from kernova.load.annotations import read_annotations, write_annotations
    from kernova.load.audio import Audio, AudioInfo, audio_blocks, audio_info, read_audio
    from kernova.load.landmarks import (
        Landmarks,
        groups_from_pattern,
        groups_from_table,
        read_landmark_table,
        read_tps,
        write_tps,
    )
    from kernova.load.segments import Segment, check_segments, segments_by_file
    from kernova.load.tables import Table, read_table
    from kernova.persist import load_model, save_model
    from kernova.represent.encoding import TableEncoder
    from kernova.represent.linear_dynamics import HierarchicalLinearDynamics
    from kernova.represent.procrustes import GeneralizedProcrustes
    from kernova.represent.shape_features import ShapeFeatures, read_shape_features, shape_features
    from kernova.score.baselines import LocalDensityFactor, LocalPeculiarityFactor
    from kernova.score.outlier_factor import RobustKernelOutlierFactor, outlier_factor_path
    from kernova.score.spatial_depth import KernelSpatialDepth, SpatialDepth
    from kernova.studies.notes import NoteFinder
    from kernova.studies.species import study_each, study_unknown
    from kernova.studies.species_space import SpeciesSettings
    from kernova.studies.species_specimens import judge_specimens


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

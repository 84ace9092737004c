"""kernova finds what is new in data.

The road, one folder per station::

    load -> represent -> score / describe / discover -> decide -> report

==========  ==========================================================================
station     what to import from here
==========  ==========================================================================
load        :func:`read_table`
represent   :class:`TableEncoder`
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
    "TableEncoder": "kernova.represent.encoding",
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
    from kernova.load.tables import Table, read_table
    from kernova.persist import load_model, save_model
    from kernova.represent.encoding import TableEncoder
    from kernova.score.baselines import LocalDensityFactor, LocalPeculiarityFactor
    from kernova.score.outlier_factor import RobustKernelOutlierFactor, outlier_factor_path
    from kernova.score.spatial_depth import KernelSpatialDepth, SpatialDepth


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

"""Registry of detectors: what the commands ``novelty`` and ``outliers`` offer as ``--method``.

A detector is added with one entry in ``_DETECTORS``; the workflows, their reports and the command
line read it from there. Factories import their estimators when they are called, so that importing
this module costs little.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from kernova.errors import InputError, quoted
from kernova.text import first_few, plural
from kernova.workflows.settings import (
    NoveltySettings,
    OutlierSettings,
    missing_when_encoding,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from kernova.tables.encoding import TableEncoder
    from kernova.typing import Vector

Command = Literal["novelty", "outliers"]
ALL: Final = "all"  # what users write to compare all methods of the command ``outliers``


@dataclass(frozen=True, kw_only=True)
class Detector:
    """An entry of the registry."""

    name: str  # what users write as the method
    title: str  # the score in full, as reports show it
    # Makes the estimator that learns from known rows and scores new ones; None if the command
    # ``novelty`` does not offer this detector.
    for_novelty: "Callable[[NoveltySettings], BaseEstimator] | None" = None
    # Makes the estimator that scores the rows of one table, or, if its second argument is true,
    # those of another half; None if the command ``outliers`` does not offer this detector.
    for_outliers: "Callable[[OutlierSettings, bool], BaseEstimator] | None" = None
    # The settings that concern this detector only: "bandwidth", "kernel", "n_neighbors", "path".
    parameters: frozenset[str] = frozenset()
    max_neighbor_numbers: int | None = None  # the largest number of entries in ``n_neighbors``
    # The scores are depths from 0 to 1, so that the outlier factor is 1 - score instead of -score.
    is_depth: bool = False
    # Attribute of the fitted estimator with the scores of its own rows; None if it has to score
    # them again.
    training_scores: str | None = "negative_outlier_factor_"
    # The estimator takes tables with columns of numbers and categories as they are, so that no
    # encoder stands before it.
    takes_tables: bool = False
    # Rows of the table itself are explained by a copy that has not learnt from them: new rows are
    # compared with so few rows that one of them decides.
    is_explained_apart: bool = False
    # Largest number of pairs of a row to learn from and a row to score that takes one or two
    # minutes; with more, the estimator learns from a sample. None: time does not grow with pairs,
    # or the estimator draws samples itself.
    most_pairs: float | None = None

    def offered_by(self, command: Command) -> bool:
        """Return whether a command offers this detector."""
        made = self.for_novelty if command == "novelty" else self.for_outliers
        return made is not None

    def factors(self, scores: "Vector") -> "Vector":
        """Turn scores, high for ordinary rows, into outlier factors, high for unusual ones."""
        return (1.0 if self.is_depth else 0.0) - scores


def detector_names(command: Command) -> tuple[str, ...]:
    """Return the names of the detectors that a command offers, its default first.

    Examples
    --------
    >>> from kernova.workflows.detectors import detector_names
    >>> detector_names("outliers")
    ('ensemble', 'isolation-forest', 'rkof', 'lof', 'ldf', 'lpf', 'depth')
    """
    names = [detector.name for detector in _DETECTORS if detector.offered_by(command)]
    return tuple(sorted(names, key=lambda name: name != _DEFAULT[command]))


def detector_help(command: Command) -> str:
    """Return the help of the option ``--method``: each detector with its title.

    Examples
    --------
    >>> from kernova.workflows.detectors import detector_help
    >>> detector_help("outliers")[:48]
    'Score of the rows: ensemble (detector ensemble),'
    """
    titles = [f"{name} ({detector_named(name, command).title})" for name in detector_names(command)]
    return f"Score of the rows: {', '.join(titles)}."


def detector_named(name: str, command: Command) -> Detector:
    """Return an entry of the registry, or raise an error that lists the command's detectors."""
    for detector in _DETECTORS:
        if detector.name == name and detector.offered_by(command):
            return detector
    raise InputError(
        f"There is no method named {quoted(name)}. Use one of {first_few(detector_names(command))}."
    )


def unused_settings(settings: NoveltySettings | OutlierSettings, command: Command) -> list[str]:
    """Return a note on each setting that was given although the method does not use it.

    Examples
    --------
    >>> from kernova.workflows.detectors import unused_settings
    >>> from kernova.workflows.settings import OutlierSettings
    >>> unused_settings(OutlierSettings(kernel="gaussian"), "outliers")
    ['kernel was given, but the method ensemble does not use it; rkof does.']
    """
    entry = detector_named(settings.method, command)
    notes = []
    for name in ("n_neighbors", "kernel", "bandwidth"):
        default = getattr(type(settings), name, None)
        if name in entry.parameters or getattr(settings, name, None) == default:
            continue
        users = [
            one.name for one in _DETECTORS if one.offered_by(command) and name in one.parameters
        ]
        notes.append(
            f"{name} was given, but the method {entry.name} does not use it; {first_few(users)} "
            f"{plural(len(users), 'does', 'do')}."
        )
    return notes


def novelty_estimator(
    settings: NoveltySettings,
    *,
    has_far_cells: bool = False,
    most_fitted: int | None = None,
    first: "BaseEstimator | None" = None,
) -> "Pipeline":
    """Return encoder and detector for known and new rows, not yet fitted.

    Parameters
    ----------
    settings : NoveltySettings
        Method, scaling and treatment of missing values.
    has_far_cells : bool
        Keep far cells from deciding the scale of their columns.
    most_fitted : int, optional
        Let the detector learn from so many rows at most, drawn at random.
    first : transformer, optional
        A step before all others, such as the alignment of specimens.
    """
    entry = detector_named(settings.method, "novelty")
    assert entry.for_novelty is not None
    detector = entry.for_novelty(settings)
    return _chain(entry, detector, settings, has_far_cells, most_fitted, first)


def outlier_estimator(
    settings: OutlierSettings,
    *,
    for_new_rows: bool,
    has_far_cells: bool = False,
    most_fitted: int | None = None,
    first: "BaseEstimator | None" = None,
) -> "Pipeline":
    """Return encoder and detector for the rows of one table, not yet fitted.

    As :func:`novelty_estimator`; a detector that learns from a sample scores all other rows as new
    ones.
    """
    entry = detector_named(settings.method, "outliers")
    assert entry.for_outliers is not None
    detector = entry.for_outliers(settings, for_new_rows or most_fitted is not None)
    return _chain(entry, detector, settings, has_far_cells, most_fitted, first)


def table_encoder(
    scaling: str, missing: str, category_weight: "float | Literal['auto']" = 1.0
) -> "TableEncoder":
    """Return the encoder of a table that was read with the same treatment of missing values.

    With the default ``category_weight`` rows that differ in a category are 1 apart, as in saved
    models and projects.
    """
    from kernova.tables.encoding import TableEncoder

    return TableEncoder(
        scaling=scaling,  # type: ignore[arg-type]
        missing=missing_when_encoding(missing),
        category_weight=category_weight,
    )


def _chain(
    entry: Detector,
    detector: "BaseEstimator",
    settings: NoveltySettings | OutlierSettings,
    has_far_cells: bool,
    most_fitted: int | None,
    first: "BaseEstimator | None",
) -> "Pipeline":
    from sklearn.pipeline import make_pipeline

    from kernova.tables.fill_values import FarCellFilter
    from kernova.workflows.effort import SampledDetector

    steps: list[Any] = [] if first is None else [first]
    if has_far_cells:
        steps.append(FarCellFilter())
    if not entry.takes_tables:
        steps.append(table_encoder(settings.scaling, settings.missing, "auto"))
    if most_fitted is not None:
        detector = SampledDetector(detector, most_fitted, entry.training_scores, settings.seed)
    return make_pipeline(*steps, detector)


# Factories


def _novelty_ensemble(settings: NoveltySettings) -> "BaseEstimator":
    from kernova.anomaly.ensemble.detector import DetectorEnsemble

    return DetectorEnsemble(random_state=settings.seed)


def _outlier_ensemble(settings: OutlierSettings, for_new_rows: bool) -> "BaseEstimator":
    from kernova.anomaly.ensemble.detector import DetectorEnsemble

    return DetectorEnsemble(contamination=settings.contamination, random_state=settings.seed)


def _kernel_depth(settings: NoveltySettings) -> "BaseEstimator":
    from kernova.anomaly.spatial_depth import KernelSpatialDepth

    return KernelSpatialDepth(bandwidth=settings.bandwidth, random_state=settings.seed)


def _outlier_depth(settings: OutlierSettings, for_new_rows: bool) -> "BaseEstimator":
    from kernova.anomaly.spatial_depth import KernelSpatialDepth

    return KernelSpatialDepth(
        bandwidth=settings.bandwidth,
        contamination=settings.contamination,
        random_state=settings.seed,
    )


def _spatial_depth(settings: NoveltySettings) -> "BaseEstimator":
    from kernova.anomaly.spatial_depth import SpatialDepth

    return SpatialDepth()


def _isolation_forest(settings: NoveltySettings) -> "BaseEstimator":
    from sklearn.ensemble import IsolationForest

    return IsolationForest(random_state=settings.seed)


def _outlier_forest(settings: OutlierSettings, for_new_rows: bool) -> "BaseEstimator":
    from sklearn.ensemble import IsolationForest

    return IsolationForest(contamination=settings.contamination, random_state=settings.seed)


def _one_class_svm(settings: NoveltySettings) -> "BaseEstimator":
    from sklearn.svm import OneClassSVM

    return OneClassSVM()


def _novelty_lof(settings: NoveltySettings) -> "BaseEstimator":
    from sklearn.neighbors import LocalOutlierFactor

    return LocalOutlierFactor(novelty=True)


def _outlier_lof(settings: OutlierSettings, for_new_rows: bool) -> "BaseEstimator":
    from sklearn.neighbors import LocalOutlierFactor

    # Fit for new rows in either case: the factors of hypothetical rows explain the real ones.
    own = {} if settings.n_neighbors == "auto" else {"n_neighbors": settings.n_neighbors[0]}
    return LocalOutlierFactor(novelty=True, contamination=settings.contamination, **own)


def _robust_kernel_factor(settings: OutlierSettings, for_new_rows: bool) -> "BaseEstimator":
    from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor

    return RobustKernelOutlierFactor(
        kernel=settings.kernel, **_local_parameters(settings, for_new_rows)
    )


def _local_density_factor(settings: OutlierSettings, for_new_rows: bool) -> "BaseEstimator":
    from kernova.anomaly.baselines import LocalDensityFactor

    return LocalDensityFactor(**_local_parameters(settings, for_new_rows))


def _local_peculiarity_factor(settings: OutlierSettings, for_new_rows: bool) -> "BaseEstimator":
    from kernova.anomaly.baselines import LocalPeculiarityFactor

    return LocalPeculiarityFactor(**_local_parameters(settings, for_new_rows))


def _local_parameters(settings: OutlierSettings, for_new_rows: bool) -> dict[str, Any]:
    numbers = settings.n_neighbors
    return {
        "n_neighbors": numbers if numbers == "auto" else list(numbers),
        "contamination": settings.contamination,
        "novelty": for_new_rows,
    }


_DEFAULT: Final[dict[Command, str]] = {
    "novelty": NoveltySettings.method,
    "outliers": OutlierSettings.method,
}

# Pairs for which each detector takes one to two minutes (measured on one core, 10 columns).
_PAIRS_OF_NEIGHBORS: Final = 1e10
_PAIRS_OF_DISTANCES: Final = 5e9
_PAIRS_OF_KERNELS: Final = 1e9

_DETECTORS: Final = (
    Detector(
        name="ensemble",
        title="detector ensemble",
        for_novelty=_novelty_ensemble,
        for_outliers=_outlier_ensemble,
        training_scores="training_scores_",
        takes_tables=True,
        is_explained_apart=True,
    ),
    Detector(
        name="spatial-depth",
        title="spatial depth",
        for_novelty=_spatial_depth,
        most_pairs=_PAIRS_OF_DISTANCES,
    ),
    Detector(
        name="isolation-forest",
        title="isolation forest",
        for_novelty=_isolation_forest,
        for_outliers=_outlier_forest,
        training_scores=None,
    ),
    Detector(
        name="one-class-svm",
        title="one-class SVM",
        for_novelty=_one_class_svm,
        most_pairs=_PAIRS_OF_KERNELS,
    ),
    Detector(
        name="rkof",
        title="robust kernel outlier factor",
        for_outliers=_robust_kernel_factor,
        parameters=frozenset({"n_neighbors", "path", "kernel"}),
        most_pairs=_PAIRS_OF_NEIGHBORS,
    ),
    Detector(
        name="lof",
        title="local outlier factor",
        for_novelty=_novelty_lof,
        for_outliers=_outlier_lof,
        parameters=frozenset({"n_neighbors"}),
        max_neighbor_numbers=1,
        most_pairs=_PAIRS_OF_NEIGHBORS,
    ),
    Detector(
        name="ldf",
        title="local density factor",
        for_outliers=_local_density_factor,
        parameters=frozenset({"n_neighbors"}),
        most_pairs=_PAIRS_OF_NEIGHBORS,
    ),
    Detector(
        name="lpf",
        title="local peculiarity factor",
        for_outliers=_local_peculiarity_factor,
        parameters=frozenset({"n_neighbors"}),
        most_pairs=_PAIRS_OF_NEIGHBORS,
    ),
    Detector(
        name="depth",
        title="kernelized spatial depth",
        for_novelty=_kernel_depth,
        for_outliers=_outlier_depth,
        parameters=frozenset({"bandwidth"}),
        is_depth=True,
        training_scores="training_depths_",
        most_pairs=_PAIRS_OF_KERNELS,
    ),
)

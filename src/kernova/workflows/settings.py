"""Settings of the workflows: the one place where their defaults stand.

Each workflow takes one of these classes, and the command of the same name reads its options'
defaults from it. Importing this module costs little, so that ``kernova --help`` may do so. Where
an estimator has a parameter of the same name, a test compares the two defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from kernova.calibration import BOUND, CALIBRATION, CONFIDENCE, HOLDOUT, MAX_FALSE_ALARM

Missing = Literal["auto", "refuse", "drop", "fill"]
Scaling = Literal["standard", "minmax", "none"]
Scale = Literal["feature", "common", "none"]
LearnMethod = Literal["open-set", "mddkm"]
ClassWeight = Literal["balanced"]
Bound = Literal["binomial", "hoeffding"]
Calibration = Literal["holdout", "cross"]
OutlierKernel = Literal["volcano", "gaussian", "epanechnikov"]

_READING: Final[Mapping[str, Literal["auto", "refuse", "drop", "keep"]]] = {
    "auto": "auto",
    "refuse": "refuse",
    "drop": "drop",
    "fill": "keep",
}


@dataclass(frozen=True)
class NoveltySettings:
    """Settings of :func:`~kernova.workflows.novelty.find_novelties`."""

    # Name of a detector; see :func:`~kernova.workflows.detectors.detector_names`.
    method: str = "ensemble"
    # Kernel width of the method "depth", a rule's name or a number.
    bandwidth: "str | float" = "half-nearest"
    scaling: Scaling = "standard"  # scaling of number columns
    missing: Missing = "auto"  # treatment of missing values
    # The guarantee, as for :class:`~kernova.CalibratedDetector`.
    max_false_alarm: float = MAX_FALSE_ALARM
    confidence: float = CONFIDENCE
    bound: Bound = BOUND
    holdout: "str | float" = HOLDOUT
    calibration: Calibration = CALIBRATION
    n_folds: "str | int" = "auto"
    group_column: str | None = None  # rows with one value are held out together
    # Also select discoveries, of which at most this fraction is expected to be ordinary.
    false_discovery_rate: float | None = None
    top: int = 10  # number of rows to explain
    seed: int = 0  # random seed of the hold-out split, and of detectors that draw random numbers


@dataclass(frozen=True)
class OutlierSettings:
    """Settings of :func:`~kernova.workflows.outliers.find_outliers`."""

    # Name of a detector; see :func:`~kernova.workflows.detectors.detector_names`.
    method: str = "ensemble"
    # Numbers of neighbours; of several, the factor is the geometric mean. "auto" is the method's
    # own choice.
    n_neighbors: "tuple[int, ...] | Literal['auto']" = "auto"
    path: tuple[int, ...] = ()  # numbers of neighbours over which the report shows the ranks
    kernel: OutlierKernel = "volcano"  # kernel of the method "rkof"
    bandwidth: "str | float" = "half-nearest"  # kernel width of the method "depth"
    scaling: Scaling = "minmax"  # scaling of number columns
    missing: Missing = "auto"  # treatment of missing values
    # Fraction of the rows to call outliers; "auto" calls none so, unless a bound is asked for.
    contamination: "str | float" = "auto"
    # Set the threshold so that, with ``confidence``, no larger fraction of such rows is called an
    # outlier.
    max_false_alarm: float | None = None
    confidence: float = CONFIDENCE  # confidence of that bound
    top: int = 50  # number of rows to explain
    seed: int = 0  # random seed of the two halves


@dataclass(frozen=True)
class FindLikeSettings:
    """Settings of :func:`~kernova.workflows.find_like.search.find_like`."""

    missing: Missing = "auto"  # treatment of missing values
    top: int = 20  # number of rows to explain


@dataclass(frozen=True)
class LearnSettings:
    """Settings of :func:`~kernova.workflows.learn.learn_classes`."""

    # "open-set" is :class:`~kernova.OpenSetClassifier`, "mddkm" the published description,
    # :class:`~kernova.MulticlassDataDescription`.
    method: LearnMethod = "open-set"
    reject: float = 0.05  # fraction of the rows of known classes that are called unknown
    per_class: bool = False  # reject that fraction of every class, not of all rows together
    scale: Scale = "feature"
    class_weight: ClassWeight | None = None
    # Learn from so many rows of a class; "auto" keeps as many as a model of a few MB holds, and
    # the 1,000 most informative ones with "mddkm". None keeps all.
    max_rows_per_class: "int | str | None" = "auto"
    robust: bool = False  # leave out rows far from their class, and scale by medians
    missing: Missing = "auto"  # treatment of missing values
    group_column: str | None = None  # rows with one value stay together in every split
    seed: int = 0  # random seed of the splits and of the classifier


@dataclass(frozen=True)
class RecognizeSettings:
    """Settings of :func:`~kernova.workflows.recognize.recognize_rows`."""

    # Fraction of the rows of known classes that are called unknown; None is that of training.
    reject: float | None = None
    n_nearest: int = 3  # number of training rows to name beside each new row
    top: int = 10  # number of unknown rows to explain


def _all_strategies() -> tuple[str, ...]:
    from kernova.discover.strategies import STRATEGIES

    return STRATEGIES


@dataclass(frozen=True)
class SimulationSettings:
    """Settings of :func:`~kernova.workflows.simulate.simulate_strategies`."""

    # Names of strategies; all by default.
    strategies: tuple[str, ...] = field(default_factory=_all_strategies)
    error_rate: float = 0.0  # fraction of rows that the expert takes for another class
    seeds: int = 5  # number of runs of each strategy, with other random numbers and other mistakes
    questions: int | None = None  # stop a run after so many questions
    missing: Missing = "refuse"  # treatment of missing values


def missing_when_reading(missing: str) -> Literal["auto", "refuse", "drop", "keep"]:
    """Return what ``read_table`` has to do with missing values: what is filled later is kept."""
    return _READING.get(missing, missing)  # type: ignore[arg-type]


def missing_when_encoding(missing: str) -> Literal["auto", "refuse", "fill"]:
    """Return what the encoder has to do with missing values: dropped rows are gone by then."""
    if missing == "auto":
        return "auto"
    return "fill" if missing == "fill" else "refuse"

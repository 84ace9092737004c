"""Settings of the workflows: the one place where their defaults stand.

Each workflow takes one of these classes, and the command of the same name reads its options'
defaults from it. Importing this module costs little, so that ``kernova --help`` may do so. Where
an estimator has a parameter of the same name, a test compares the two defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from kernova.calibration import BOUND, CONFIDENCE, HOLDOUT, MAX_FALSE_ALARM

Missing = Literal["refuse", "drop", "fill"]
Scaling = Literal["standard", "minmax", "none"]
Scale = Literal["feature", "common", "none"]
Bound = Literal["binomial", "hoeffding"]
OutlierKernel = Literal["volcano", "gaussian", "epanechnikov"]

_READING: Final[Mapping[str, Literal["refuse", "drop", "keep"]]] = {
    "refuse": "refuse",
    "drop": "drop",
    "fill": "keep",
}


@dataclass(frozen=True)
class NoveltySettings:
    """Settings of :func:`~kernova.workflows.novelty.find_novelties`.

    Attributes
    ----------
    method : str
        Name of a detector; see :func:`~kernova.workflows.detectors.detector_names`.
    bandwidth : str or float
        Kernel width of the method "depth", a rule's name or a number.
    scaling : {"standard", "minmax", "none"}
        Scaling of number columns.
    missing : {"refuse", "drop", "fill"}
        Treatment of missing values.
    max_false_alarm, confidence, bound, holdout
        The guarantee, as for :class:`~kernova.CalibratedDetector`.
    false_discovery_rate : float or None
        Also select discoveries, of which at most this fraction is expected to be ordinary.
    seed : int
        Random seed of the hold-out split, and of detectors that draw random numbers.
    """

    method: str = "depth"
    bandwidth: "str | float" = "nearest"
    scaling: Scaling = "standard"
    missing: Missing = "refuse"
    max_false_alarm: float = MAX_FALSE_ALARM
    confidence: float = CONFIDENCE
    bound: Bound = BOUND
    holdout: float = HOLDOUT
    false_discovery_rate: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class OutlierSettings:
    """Settings of :func:`~kernova.workflows.outliers.find_outliers`.

    Attributes
    ----------
    method : str
        Name of a detector; see :func:`~kernova.workflows.detectors.detector_names`.
    n_neighbors : tuple of int
        Numbers of neighbours; of several, the factor is the geometric mean.
    path : tuple of int
        Numbers of neighbours over which the report shows the ranks.
    kernel : str
        Kernel of the method "rkof".
    bandwidth : str or float
        Kernel width of the method "depth".
    scaling : {"standard", "minmax", "none"}
        Scaling of number columns.
    missing : {"refuse", "drop", "fill"}
        Treatment of missing values.
    contamination : "auto" or float
        Fraction of the rows to call outliers; "auto" is the method's own convention.
    max_false_alarm : float or None
        Set the threshold so that, with ``confidence``, no larger fraction of such rows is called
        an outlier.
    confidence : float
        Confidence of that bound.
    top : int
        Number of rows to explain.
    seed : int
        Random seed of the two halves.
    """

    method: str = "rkof"
    n_neighbors: tuple[int, ...] = (20,)
    path: tuple[int, ...] = ()
    kernel: OutlierKernel = "volcano"
    bandwidth: "str | float" = "nearest"
    scaling: Scaling = "minmax"
    missing: Missing = "refuse"
    contamination: "str | float" = "auto"
    max_false_alarm: float | None = None
    confidence: float = CONFIDENCE
    top: int = 50
    seed: int = 0


@dataclass(frozen=True)
class LearnSettings:
    """Settings of :func:`~kernova.workflows.learn.learn_classes`.

    Attributes
    ----------
    reject, scale, max_rows_per_class, robust
        As for :class:`~kernova.MulticlassDataDescription`.
    missing : {"refuse", "drop", "fill"}
        Treatment of missing values.
    seed : int
        Random seed of the description.
    """

    reject: float = 0.05
    scale: Scale = "feature"
    max_rows_per_class: int | None = 1000
    robust: bool = False
    missing: Missing = "refuse"
    seed: int = 0


@dataclass(frozen=True)
class RecognizeSettings:
    """Settings of :func:`~kernova.workflows.recognize.recognize_rows`.

    Attributes
    ----------
    n_nearest : int
        Number of training rows to name beside each new row.
    top : int
        Number of unknown rows to explain.
    """

    n_nearest: int = 3
    top: int = 10


def _all_strategies() -> tuple[str, ...]:
    from kernova.discover.strategies import STRATEGIES

    return STRATEGIES


@dataclass(frozen=True)
class SimulationSettings:
    """Settings of :func:`~kernova.workflows.simulate.simulate_strategies`.

    Attributes
    ----------
    strategies : tuple of str
        Names of strategies; all by default.
    error_rate : float
        Fraction of rows that the expert takes for another class.
    seeds : int
        Number of runs of each strategy, with other random numbers and other mistakes.
    questions : int or None
        Stop a run after so many questions.
    missing : {"refuse", "drop", "fill"}
        Treatment of missing values.
    """

    strategies: tuple[str, ...] = field(default_factory=_all_strategies)
    error_rate: float = 0.0
    seeds: int = 5
    questions: int | None = None
    missing: Missing = "refuse"


def missing_when_reading(missing: str) -> Literal["refuse", "drop", "keep"]:
    """Return what ``read_table`` has to do with missing values: what is filled later is kept."""
    return _READING.get(missing, missing)  # type: ignore[arg-type]


def missing_when_encoding(missing: str) -> Literal["refuse", "fill"]:
    """Return what the encoder has to do with missing values: dropped rows are gone by then."""
    return "fill" if missing == "fill" else "refuse"

"""Shape space: aligned landmarks or measured features of specimens, as rows of numbers.

The space is learnt from the reference specimens; held-out and unknown ones are projected into it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.calibration.bounds import check_open_unit_interval
from kernova.errors import InputError, check_count, quoted
from kernova.kernels.gram import principal_directions
from kernova.shapes.features import ShapeFeatures
from kernova.shapes.procrustes import Alignment, GeneralizedProcrustes
from kernova.species import (
    BANDWIDTH,
    COMPONENTS,
    CONFIDENCE,
    FALSE_DISCOVERY_RATE,
    HALVINGS,
    LARGEST_ERROR,
    SCORES,
)
from kernova.typing import Coordinates, Matrix, Vector

# This fraction of the mean variance is added to each direction, which limits the weight of
# directions in which groups hardly vary.
_VARIANCE_FLOOR = 0.05


@dataclass(frozen=True)
class SpeciesSettings:
    """Settings of a species study.

    The command ``kernova species`` has an option for each but ``weighting``, ``remainder`` and
    ``least_group``.

    Attributes
    ----------
    components : int
        The number of principal components of the aligned coordinates, at most.
    features : ShapeFeatures or None
        Measure these instead of taking principal components.
    weighting : {"within", "none"}
        "within" divides each direction by the fourth root of the variance within groups, so that
        directions in which specimens of one group hardly vary get more weight; "none" uses the
        aligned coordinates unweighted.
    remainder : bool
        Add one column: the distance of a specimen from its projection on the components. An
        unknown group may differ exactly where the known ones do not.
    size : bool
        Add one column: the logarithm of centroid size, scaled to the spread of the first column.
    reflection : bool
        Allow mirror images.
    score : str
        The novelty score; one of :data:`kernova.species.SCORES`. "depth" is the kernelized
        spatial depth of the published method.
    bandwidth : str or float
        Of the kernelized depth.
    confidence : float
        Of the bound on false alarms; one minus it is the level of the tests behind the verdict.
    halvings : int
        The number of random splits of the known specimens into reference and held-out ones.
    least_group : int
        Smaller groups are part of the pooled reference, but are not compared one by one.
    largest_error : float
        Single specimens of two groups are called distinguishable up to this error of a
        discriminant.
    false_discovery_rate : float
        For specimens that are tested one by one.
    seed : int
        Determines all splits.
    """

    components: int = COMPONENTS
    features: ShapeFeatures | None = None
    weighting: str = "within"
    remainder: bool = True
    size: bool = False
    reflection: bool = False
    score: str = SCORES[0]
    bandwidth: "str | float" = BANDWIDTH
    confidence: float = CONFIDENCE
    halvings: int = HALVINGS
    least_group: int = 4
    largest_error: float = LARGEST_ERROR
    false_discovery_rate: float = FALSE_DISCOVERY_RATE
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("components", 1), ("halvings", 1), ("least_group", 4)):
            check_count(getattr(self, name), name, least)
        for name in ("confidence", "largest_error", "false_discovery_rate"):
            check_open_unit_interval(getattr(self, name), name)
        if self.confidence < 0.5:
            raise InputError(f"The confidence must be at least 0.5; got {self.confidence}.")
        if self.weighting not in ("within", "none"):
            raise InputError(f"weighting is {quoted(self.weighting)}; choose one of within, none.")
        if self.score not in SCORES:
            raise InputError(f"score is {quoted(self.score)}; choose one of {', '.join(SCORES)}.")
        if not isinstance(self.seed, Integral) or self.seed < 0:
            raise InputError(
                f"The seed must be a whole number of at least 0; got {quoted(self.seed)}."
            )


class Placed(NamedTuple):
    """Specimens projected into a shape space."""

    aligned: Coordinates  # aligned landmarks; shape (n, p, d)
    centroid_sizes: Vector  # sizes in the unit of the coordinates; shape (n,)
    rows: Matrix  # the coordinates that depths are computed on; shape (n, n_columns)


@dataclass(frozen=True)
class ShapeSpace:
    """A mapping from specimens to rows, learnt from the reference specimens.

    ``names`` are the columns; ``procrustes`` holds the consensus. Aligned coordinates (or
    features), minus ``center``, are multiplied by ``weight`` and projected on ``components``.
    """

    procrustes: GeneralizedProcrustes
    features: ShapeFeatures | None
    center: Vector
    weight: Matrix
    components: Matrix
    has_remainder: bool
    size_center: float
    size_scale: float
    names: tuple[str, ...]

    def place(self, coordinates: Coordinates, ids: Sequence[str] | None = None) -> Placed:
        """Align specimens to the reference's consensus and return their rows."""
        found = self.procrustes.align(coordinates)
        rows = self._rows(found, ids)
        if self.size_scale:
            sizes = self.size_scale * (np.log(found.centroid_sizes) - self.size_center)
            rows = np.column_stack([rows, sizes])
        return Placed(found.coordinates, found.centroid_sizes, rows)

    def _rows(self, found: Alignment, ids: Sequence[str] | None) -> Matrix:
        weighted = (_raw_rows(found, self.features, ids) - self.center) @ self.weight
        rows = weighted @ self.components
        if not self.has_remainder:
            return rows
        beyond = np.linalg.norm(weighted - rows @ self.components.T, axis=1)
        return np.column_stack([rows, beyond])


def fit_shape_space(
    coordinates: Coordinates,
    groups: NDArray[np.str_],
    settings: SpeciesSettings,
    ids: Sequence[str] | None = None,
) -> ShapeSpace:
    """Learn alignment, weights and components from reference specimens and their groups."""
    procrustes = GeneralizedProcrustes(coordinates.shape[2], reflection=settings.reflection)
    found = procrustes.fit(coordinates).align(coordinates)
    raw = _raw_rows(found, settings.features, ids)
    center = raw.mean(axis=0)
    if settings.features is None:
        weight = within_group_weight(raw, groups, settings.weighting)
        components = principal_directions((raw - center) @ weight, settings.components)
        names = tuple(f"component {k + 1}" for k in range(components.shape[1]))
    else:
        deviation = raw.std(axis=0)
        weight = np.diag(1 / np.where(deviation > 0, deviation, 1))
        components, names = np.eye(len(weight)), settings.features.names
    has_remainder = settings.remainder and components.shape[1] < len(components)
    sizes = np.log(found.centroid_sizes)
    first = float(((raw - center) @ weight @ components[:, 0]).std())
    size_scale = first / float(sizes.std()) if settings.size and sizes.std() > 0 else 0.0
    return ShapeSpace(
        procrustes=procrustes,
        features=settings.features,
        center=center,
        weight=weight,
        components=components,
        has_remainder=has_remainder,
        size_center=float(sizes.mean()),
        size_scale=size_scale,
        names=names + ("remainder",) * has_remainder + ("size",) * bool(size_scale),
    )


def within_group_weight(rows: Matrix, groups: NDArray[np.str_], weighting: str) -> Matrix:
    """Return the symmetric matrix that reduces the variance within groups to its square root.

    Full whitening would give noise as much weight as shape; this is half-way.
    """
    if weighting == "none":
        return np.eye(rows.shape[1])
    _, member = np.unique(groups, return_inverse=True)
    counts = np.bincount(member)
    sums = np.add.reduceat(rows[np.argsort(member, kind="stable")], np.cumsum(counts) - counts)
    residuals = rows - (sums / counts[:, None])[member]
    variances, directions = np.linalg.eigh(residuals.T @ residuals / len(rows))
    variances = np.maximum(variances, 0) + _VARIANCE_FLOOR * variances.mean()
    if variances[0] <= 0:  # all groups are singletons, or all specimens are equal
        return np.eye(rows.shape[1])
    return np.asarray((directions * variances**-0.25) @ directions.T)


def _raw_rows(
    found: Alignment, features: ShapeFeatures | None, ids: Sequence[str] | None
) -> Matrix:
    if features is not None:
        return features.measure(found.coordinates, ids=ids)
    return found.coordinates.reshape(len(found.coordinates), -1)

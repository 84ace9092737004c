"""Comparison of two groups: as samples, and as single specimens.

Two questions are kept apart. Is one sample a draw from the other's group? That is a permutation
test of mean shape. Can single specimens be distinguished? That is the cross-validated error of a
discriminant. Both are the same whichever of the two groups is called unknown.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from kernova.errors import InputError
from kernova.shapes.anova import within_group_slope
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.shapes.tangent import tangent_projection
from kernova.species.covariates import Covariates, adjustment
from kernova.species.discriminant import DiscriminantError, discriminant_error
from kernova.species.group_tests import (
    GroupTest,
    adjusted_p_value,
    compare_means,
    nested_p_value,
    smallest_p_value,
)
from kernova.species.growth import SizeDifference, growth_terms, size_difference
from kernova.species.scatter import Labels, Scatter, scatter_of, scatter_within
from kernova.species.space import SpeciesSettings
from kernova.typing import Indices, Matrix, Vector

# What the comparison with one known group says of a sample.
RULED_OUT: Final = "ruled out"
NOT_RULED_OUT: Final = "not ruled out"
SIZE_MAY_EXPLAIN: Final = "size may explain it"
COVARIATE_MAY_EXPLAIN: Final = "covariates may explain it"
TOO_FEW_SPECIMENS: Final = "too few specimens"


class Pair(NamedTuple):
    """The comparison of two groups."""

    status: str  # one of the five above
    p_value: float  # of a difference in mean shape as large, if both samples are of one group
    adjusted_p_value: float  # beyond covariates, and size where the samples differ in it; NaN: none
    smallest_p_value: float  # that the numbers of specimens allow
    exchanged: str  # "specimens" or "populations": what was exchanged
    test: GroupTest
    size: SizeDifference | None  # None if size is one of the variables
    discriminant: DiscriminantError

    def line(self) -> dict[str, Any]:
        """Return the comparison as one line of a table."""
        size = self.size
        return {
            "status": self.status,
            "p_value": self.p_value,
            "adjusted_p_value": self.adjusted_p_value,
            "smallest_p_value": self.smallest_p_value,
            "exchanged": self.exchanged,
            "distance": self.test.distance,
            "critical_distance": self.test.critical_distance,
            "dispersion_ratio": self.test.dispersion_ratio,
            "dispersion_p_value": self.test.dispersion_p_value,
            "smaller": np.nan if size is None else size.first_smaller,
            "size_p_value": np.nan if size is None else size.p_value,
            "distance_by_growth": np.nan if size is None else size.expected,
            "distance_beyond_growth": np.nan if size is None else size.remaining,
            "error": self.discriminant.error,
            "error_low": self.discriminant.low,
            "error_high": self.discriminant.high,
            "left_out": self.discriminant.left_out,
        }


@dataclass(frozen=True)
class Comparisons:
    """All specimens of a study, aligned together, ready for comparisons of any two groups.

    The alignment does not know of groups, so that labels stay exchangeable.
    """

    rows: Matrix  # tangent coordinates, or features, of all specimens
    groups: Labels
    log_sizes: Vector  # logarithms of centroid size
    covariates: Covariates
    settings: SpeciesSettings
    within: Scatter  # of all groups
    slope: Vector  # change of shape per unit of log size, within groups

    def compare(self, first: str, second: str) -> Pair:
        """Compare two groups; the first is the one that may be new."""
        members = np.flatnonzero((self.groups == first) | (self.groups == second))
        return self._compared(members, first)

    def _compared(self, members: Indices, first: str) -> Pair:
        settings, level = self.settings, 1 - self.settings.confidence
        rows, is_first = self.rows[members], self.groups[members] == first
        others = self.within.minus(scatter_of(rows[is_first])).minus(scatter_of(rows[~is_first]))
        # Neither the names nor their order has a say in the permutations.
        seeds = [settings.seed, len(members), int(members[0]), int(members[-1])]
        adjusting = adjustment(self.covariates, members, self.groups)
        test = compare_means(rows, is_first, others, np.random.default_rng(seeds), level=level)
        n_first = int(is_first.sum())
        p_value, smallest = test.p_value, smallest_p_value(n_first, len(rows) - n_first)
        exchanged = "specimens"
        units = adjusting.units
        if units is not None:
            n_units = [len(np.unique(units[side])) for side in (is_first, ~is_first)]
            if smallest_p_value(*n_units) <= level:
                exchanged, smallest = "populations", smallest_p_value(*n_units)
                rng = np.random.default_rng(seeds)
                p_value = nested_p_value(rows, is_first, units, others, rng)
        size = None
        if not settings.size:
            size = size_difference(rows, is_first, self.log_sizes[members], self.slope)
        differs_in_size = size is not None and size.p_value <= level
        design = adjusting.design
        if size is not None and (differs_in_size or self.covariates.has_size):
            design = np.column_stack([design, growth_terms(self.log_sizes[members])])
        adjusted = np.nan
        if design.shape[1]:
            rng = np.random.default_rng([*seeds, 1])
            adjusted = adjusted_p_value(rows, is_first, design, others, rng)
        status = _status(p_value, adjusted, smallest, level, size, bool(adjusting.names))
        error = discriminant_error(
            rows, is_first, others, confidence=settings.confidence, seed=settings.seed, units=units
        )
        return Pair(status, p_value, adjusted, smallest, exchanged, test, size, error)


def _status(
    p_value: float,
    adjusted: float,
    smallest: float,
    level: float,
    size: SizeDifference | None,
    has_covariates: bool,
) -> str:
    """Return what the tests say of the hypothesis that both samples are of one group."""
    if smallest > level:
        return TOO_FEW_SPECIMENS
    if p_value > level:
        return NOT_RULED_OUT
    if size is not None and size.p_value <= level and size.is_growth:
        return SIZE_MAY_EXPLAIN
    if adjusted > level:
        is_size = size is not None and size.p_value <= level and not has_covariates
        return SIZE_MAY_EXPLAIN if is_size else COVARIATE_MAY_EXPLAIN
    return RULED_OUT


def comparisons_of(
    landmarks: Landmarks, groups: Labels, settings: SpeciesSettings, covariates: Covariates
) -> Comparisons:
    """Align all specimens together, and learn scatter and growth within groups."""
    if settings.size and covariates.has_size:
        raise InputError(
            "Centroid size is either one of the variables to compare or a covariate to adjust for. "
            "Leave out size=True, or the covariate size."
        )
    procrustes = GeneralizedProcrustes(landmarks.n_dimensions, reflection=settings.reflection)
    found = procrustes.fit(landmarks.coordinates).align(landmarks.coordinates)
    if settings.features is None:
        flat = found.coordinates.reshape(len(landmarks), -1)
        rows = np.asarray(tangent_projection(flat, procrustes.consensus_))
    else:
        measured = settings.features.measure(found.coordinates, ids=landmarks.ids)
        deviation = measured.std(axis=0)
        rows = (measured - measured.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    scales = landmarks.scales
    in_units = np.where(np.isfinite(scales), scales, 1) if np.isfinite(scales).all() else 1.0
    log_sizes = np.log(found.centroid_sizes * in_units)
    if settings.size:
        rows = np.column_stack([rows, _as_wide_as_shape(log_sizes, rows)])
    slope = within_group_slope(rows, log_sizes, groups)
    within = scatter_within(rows, groups)
    return Comparisons(rows, groups, log_sizes, covariates, settings, within, slope)


def _as_wide_as_shape(log_sizes: Vector, rows: Matrix) -> Vector:
    """Return log sizes with the spread of the direction in which shapes vary most."""
    spread = float(log_sizes.std())
    centred = rows - rows.mean(axis=0)
    widest = float(np.linalg.norm(centred, ord=2)) / np.sqrt(len(rows))
    return (log_sizes - log_sizes.mean()) * (widest / spread if spread > 0 else 0.0)

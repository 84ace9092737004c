"""Comparison of two groups: as samples, and as single specimens.

Two questions are kept apart. Is one sample a draw from the other's group? That is a permutation
test of mean shape. Can single specimens be distinguished? That is the cross-validated error of a
discriminant. Both are the same whichever of the two groups is called unknown.
"""

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from kernova.errors import InputError
from kernova.shapes.anova import within_group_slope
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.shapes.tangent import tangent_projection
from kernova.species.covariates import SIZE, Adjustment, Covariates, adjustment
from kernova.species.discriminant import DiscriminantError, discriminant_error
from kernova.species.group_tests import (
    GroupTest,
    adjusted_p_value,
    compare_means,
    smallest_p_value,
    unit_means,
)
from kernova.species.growth import (
    SizeDifference,
    growth_p_value,
    growth_terms,
    size_difference,
)
from kernova.species.scatter import Labels, Scatter, scatter_of, scatter_within
from kernova.species.space import SpeciesSettings
from kernova.typing import Indices, Mask, Matrix, Vector

# What the comparison with one known group says of a sample.
RULED_OUT: Final = "ruled out"
NOT_RULED_OUT: Final = "not ruled out"
GROWTH_MAY_EXPLAIN: Final = "growth may explain it"
NOT_BEYOND_SIZE: Final = "not beyond size"
COVARIATE_MAY_EXPLAIN: Final = "covariates may explain it"
CONFOUNDED: Final = "confounded with covariates"
TOO_FEW_SPECIMENS: Final = "too few specimens"
TOO_FEW_POPULATIONS: Final = "too few populations"


class Pair(NamedTuple):
    """The comparison of two groups."""

    status: str  # one of those above
    p_value: float  # of a difference in mean shape as large, if both samples are of one group
    adjusted_p_value: float  # beyond covariates, and size where it has a part; NaN: none
    smallest_p_value: float  # that the numbers of specimens, or of populations, allow
    exchanged: tuple[int, int]  # how many specimens, or populations, of the two were exchanged
    adjusted_for: tuple[str, ...]  # what the second p-value is adjusted for
    adjustment: Adjustment
    test: GroupTest
    size: SizeDifference
    discriminant: DiscriminantError

    def from_the_other_side(self) -> "Pair":
        """Return the same comparison with the groups in the other order."""
        test, size, error = self.test, self.size, self.discriminant
        return self._replace(
            exchanged=self.exchanged[::-1],
            test=test._replace(dispersion_ratio=1 / test.dispersion_ratio),
            size=size._replace(first_smaller=1 - size.first_smaller),
            discriminant=error._replace(
                first_missed=error.second_missed, second_missed=error.first_missed
            ),
        )

    def line(self) -> dict[str, Any]:
        """Return the comparison as one line of a table."""
        size, adjustment = self.size, self.adjustment
        return {
            "status": self.status,
            "p_value": self.p_value,
            "adjusted_p_value": self.adjusted_p_value,
            "smallest_p_value": self.smallest_p_value,
            "exchanged": "specimens" if adjustment.units is None else "populations",
            "exchanged_unknown": self.exchanged[0],
            "exchanged_known": self.exchanged[1],
            "population_column": adjustment.unit,
            "adjusted_for": ", ".join(self.adjusted_for),
            "confounded_with": ", ".join(adjustment.confounded),
            "too_rarely_stated": ", ".join(adjustment.unstated),
            "shared_populations": ", ".join(adjustment.shared),
            "distance": self.test.distance,
            "critical_distance": self.test.critical_distance,
            "dispersion_ratio": self.test.dispersion_ratio,
            "dispersion_p_value": self.test.dispersion_p_value,
            "smaller": size.first_smaller,
            "size_p_value": size.p_value,
            "sizes_apart": size.is_apart,
            "distance_by_growth": size.expected,
            "distance_beyond_growth": size.remaining,
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

    rows: Matrix  # tangent coordinates, or features, of all specimens; with size if asked for
    shapes: Matrix  # the same without size
    groups: Labels
    log_sizes: Vector  # logarithms of centroid size
    covariates: Covariates
    settings: SpeciesSettings
    within: Scatter  # of all groups
    slope: Vector  # change of shape per unit of log size, within groups
    growth_p_value: float  # of a change of shape with size within groups
    # Pairs that were compared from one side, and perhaps will be from the other.
    _found: dict[tuple[str, str], Pair] = field(default_factory=dict, repr=False)

    def compare(self, first: str, second: str) -> Pair:
        """Compare two groups; the first is the one that may be new."""
        if (second, first) in self._found:
            return self._found.pop((second, first)).from_the_other_side()
        pair = self._found[first, second] = self._compared(first, second)
        return pair

    def _compared(self, first: str, second: str) -> Pair:
        members = np.flatnonzero((self.groups == first) | (self.groups == second))
        rows, is_first = self.rows[members], self.groups[members] == first
        others = self.within.minus(scatter_of(rows[is_first])).minus(scatter_of(rows[~is_first]))
        adjusting = adjustment(self.covariates, members, is_first, self.groups)
        size = size_difference(self.shapes[members], is_first, self.log_sizes[members], self.slope)
        test = self._tested(members, is_first, others, adjusting)
        size_names = (SIZE,) if self._is_adjusted_for_size(size) else ()
        adjusted_for = tuple(dict.fromkeys((*adjusting.names, *size_names)))
        adjusted = np.nan
        if adjusting.confounded:  # adjusting for the rest would leave this difference
            adjusted_for = ()
        if adjusted_for:
            adjusted = self._adjusted(members, is_first, others, adjusting, size)
        if adjusting.names and size_names and adjusted > 1 - self.settings.confidence:
            # Covariates are not blamed for what size explains without them.
            alone = adjusting.without_design()
            by_size = self._adjusted(members, is_first, others, alone, size)
            if by_size > 1 - self.settings.confidence:
                adjusted, adjusted_for, adjusting = by_size, size_names, alone
        exchanged = _numbers(is_first, adjusting.units)
        error = discriminant_error(
            rows, is_first, others,
            confidence=self.settings.confidence, seed=self.settings.seed, units=adjusting.units,
        )  # fmt: skip
        smallest = smallest_p_value(*exchanged)
        pair = Pair(
            "", test.p_value, adjusted, smallest, exchanged, adjusted_for, adjusting, test, size,
            error,
        )  # fmt: skip
        return pair._replace(status=self._status(pair))

    def _tested(
        self, members: Indices, is_first: Mask, others: Scatter, adjusting: Adjustment
    ) -> GroupTest:
        """Test the means of specimens, or of populations, of which dispersion is not tested."""
        level = 1 - self.settings.confidence
        rows, rng = self.rows[members], self._rng(members)
        if adjusting.units is None:
            return compare_means(rows, is_first, others, rng, level=level)
        means = unit_means(rows, is_first, adjusting.units, np.empty((len(rows), 0)))
        found = compare_means(means.rows, means.is_first, others, rng, level=level)
        return found._replace(dispersion_ratio=np.nan, dispersion_p_value=1.0)

    def _adjusted(
        self,
        members: Indices,
        is_first: Mask,
        others: Scatter,
        adjusting: Adjustment,
        size: SizeDifference,
    ) -> float:
        """Return the p-value of a difference beyond covariates, and size if it has a part."""
        is_stated, rows, design = adjusting.is_stated, self.rows[members], adjusting.design
        if self._is_adjusted_for_size(size):
            rows = self.shapes[members]
            others = others.without_last(self.rows.shape[1] - rows.shape[1])
            design = np.column_stack([design, growth_terms(self.log_sizes[members])])
        rows, design, is_first = rows[is_stated], design[is_stated], is_first[is_stated]
        if not 0 < is_first.sum() < len(is_first):
            return np.nan
        if adjusting.units is not None:
            rows, is_first, design = unit_means(rows, is_first, adjusting.units[is_stated], design)
        return adjusted_p_value(rows, is_first, design, others, self._rng(members, 1))

    def _rng(self, members: Indices, *numbers: int) -> np.random.Generator:
        # Neither the names nor their order has a say in the permutations.
        seeds = [self.settings.seed, len(members), int(members[0]), int(members[-1]), *numbers]
        return np.random.default_rng(seeds)

    def _is_adjusted_for_size(self, size: SizeDifference) -> bool:
        """Whether shape changes with size within groups, or the samples differ in size."""
        smallest = min(size.p_value, self.growth_p_value)
        return self.covariates.has_size or smallest <= 1 - self.settings.confidence

    def _status(self, pair: Pair) -> str:
        """Return what the tests say of the hypothesis that both samples are of one group."""
        level = 1 - self.settings.confidence
        is_by_unit = pair.adjustment.units is not None
        if pair.smallest_p_value > level:
            return TOO_FEW_POPULATIONS if is_by_unit else TOO_FEW_SPECIMENS
        if pair.p_value > level:
            return NOT_RULED_OUT
        has_covariates = bool(pair.adjustment.names)
        if pair.adjustment.confounded or (has_covariates and np.isnan(pair.adjusted_p_value)):
            return CONFOUNDED
        if has_covariates and not pair.adjusted_p_value <= level:
            return COVARIATE_MAY_EXPLAIN
        # Growth need not be a straight line or a parabola: with many specimens, the slightest
        # curvature beyond is significant after adjusting.
        differs = max(pair.size.p_value, self.growth_p_value) <= level
        if differs and pair.size.is_growth:
            return GROWTH_MAY_EXPLAIN
        is_within = self._is_adjusted_for_size(pair.size) and not pair.adjusted_p_value <= level
        return NOT_BEYOND_SIZE if is_within else RULED_OUT


def _numbers(is_first: Mask, units: Labels | None) -> tuple[int, int]:
    """Return the numbers of specimens of both samples, or of populations."""
    of = np.arange(len(is_first)) if units is None else units
    return len(np.unique(of[is_first])), len(np.unique(of[~is_first]))


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
    shapes = rows
    if settings.size:
        rows = np.column_stack([rows, _as_wide_as_shape(log_sizes, rows)])
    rng = np.random.default_rng([settings.seed, len(rows)])
    return Comparisons(
        rows,
        shapes,
        groups,
        log_sizes,
        covariates,
        settings,
        scatter_within(rows, groups),
        within_group_slope(shapes, log_sizes, groups),
        growth_p_value(shapes, log_sizes, groups, rng),
    )


def _as_wide_as_shape(log_sizes: Vector, rows: Matrix) -> Vector:
    """Return log sizes with the spread of the direction in which shapes vary most."""
    spread = float(log_sizes.std())
    centred = rows - rows.mean(axis=0)
    widest = float(np.linalg.norm(centred, ord=2)) / np.sqrt(len(rows))
    return (log_sizes - log_sizes.mean()) * (widest / spread if spread > 0 else 0.0)

"""Novelty scores of shapes: how typical a specimen is of the known groups.

The default is a likelihood ratio: how probable a specimen is if it is of one of the known groups,
over how probable it is if it is of a new one. Means of groups, known and new, are drawn from one
normal distribution, specimens from a normal distribution about their group's mean, with a common
covariance times a variance of the group (two-covariance model, as in probabilistic linear
discriminant analysis; Ioffe 2006). A specimen on the outskirts of a known group is novel only if
a new group would explain it better. See ``docs/decisions/033-scores-of-shapes.md``.

All scores are learnt from reference specimens. High is typical.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.special import betaln, logsumexp
from sklearn.metrics.pairwise import euclidean_distances

from kernova.anomaly.depth_engines import exact_depths
from kernova.anomaly.spatial_depth import KernelSpatialDepth
from kernova.errors import InputError, quoted
from kernova.kernels.bandwidth import chosen_bandwidth
from kernova.kernels.functions import kernel_named
from kernova.kernels.gram import principal_directions
from kernova.neighbors.products import kth_distances
from kernova.species import BANDWIDTH, SCORES
from kernova.species.scatter import (
    Labels,
    Scatter,
    group_means,
    scatter_of,
    scatter_within,
    shrunk_covariance,
    whitening,
)
from kernova.typing import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:  # the settings name the scores
    from kernova.species.space import Placed, SpeciesSettings

LIKELIHOOD_RATIO: Final = SCORES[0]
NEIGHBORS: Final = "neighbors"
MAHALANOBIS: Final = "mahalanobis"
DEPTH: Final = "depth"

_N_NEIGHBORS = 5
# In units of the variance within groups. A new group is assumed to differ from the mean of all
# groups at least as much as specimens differ from the mean of their group; otherwise two known
# groups that hardly differ would make every new group impossible.
_LEAST_BETWEEN = 1.0
# Numbers of specimens that the common variance may count for in the variance of a group.
_PRIOR_SPECIMENS = 2.0 ** np.arange(-1, 11)
# Above so many reference rows the depth detector chooses a faster engine.
_EXACT_MAX_ROWS = 2000
# Up to so many rows, computing all distances is faster than building an index of neighbours.
_BRUTE_FORCE_MAX_ROWS = 100
# A scatter within groups below this fraction of that of all rows is rounding.
_ROUNDING = 1e-24


class ShapeScore(Protocol):
    """A score, learnt from the rows of reference specimens and their groups."""

    def typicality(self, queries: Matrix) -> Vector:
        """Return how typical rows are of the known groups together; high is typical."""

    def typicality_in_group(self, queries: Matrix, group: str) -> Vector:
        """Return how typical rows are of one group."""


def fit_score(
    rows: Matrix,
    groups: Labels,
    name: str = LIKELIHOOD_RATIO,
    *,
    bandwidth: "str | float" = BANDWIDTH,
    seed: int = 0,
) -> ShapeScore:
    """Learn a novelty score from reference specimens.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        The reference specimens, as :func:`scored_rows` returns them.
    groups : ndarray of shape (n,)
        Their groups; a group may have one specimen.
    name : str
        "likelihood-ratio", the logarithm of the ratio of the likelihoods of "of a known group" and
        "of a new group"; "neighbors", minus the mean distance to the five nearest specimens;
        "mahalanobis", minus the squared Mahalanobis distance to the nearest group mean; or
        "depth", the kernelized spatial depth.
    bandwidth : str or float
        Of the kernelized spatial depth.
    seed : int
        For the kernelized spatial depth of more than 2,000 specimens.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 0.0], [2.0, 1.0], [1.0, 3.0], [30.0, 0.0], [32.0, 1.0]])
    >>> score = fit_score(rows, np.array(["a", "a", "a", "b", "b"]))
    >>> score.typicality(np.array([[1.0, 1.0], [16.0, 1.0], [31.0, 1.0]])) > 0
    array([ True, False,  True])
    """
    if name == LIKELIHOOD_RATIO:
        return _fit_likelihood_ratio(rows, groups)
    if name == MAHALANOBIS:
        return _fit_mahalanobis(rows, groups)
    if name == NEIGHBORS:
        return NeighborDistance(rows, groups)
    if name == DEPTH:
        return Depth(rows, groups, bandwidth, seed)
    raise InputError(f"There is no score named {quoted(name)}; choose one of {', '.join(SCORES)}.")


def scored_rows(
    placed: "Placed", reference: Indices, name: str, settings: "SpeciesSettings"
) -> Matrix:
    """Return the rows that a score takes, for all placed specimens.

    Likelihood ratio and Mahalanobis distance weight directions themselves and take all principal
    components of the aligned coordinates of the reference specimens. Directions in which these do
    not vary are left out: of 20 specimens in 40 coordinates no variance is known there. The other
    scores take the weighted components of the space; all scores take features as they are.
    """
    if name not in (LIKELIHOOD_RATIO, MAHALANOBIS) or settings.features is not None:
        return placed.rows
    coordinates = placed.aligned.reshape(len(placed.aligned), -1)
    centred = coordinates - coordinates[reference].mean(axis=0)
    if not _varies(coordinates[reference]):
        return centred
    rows = centred @ principal_directions(centred[reference], centred.shape[1])
    if not settings.size:
        return rows
    sizes = np.log(placed.centroid_sizes)
    sizes -= sizes[reference].mean()
    spread = float(sizes[reference].std())
    return np.column_stack([rows, sizes * (rows[reference, 0].std() / spread if spread else 0)])


def _varies(rows: Matrix) -> bool:
    return bool(np.any(rows.min(axis=0) < rows.max(axis=0)))


class _Grouped(NamedTuple):
    """Rows by group: names, the number of each row's group, sizes and means."""

    names: Labels
    member: Indices
    counts: Indices
    means: Matrix


def _grouped(rows: Matrix, groups: Labels) -> _Grouped:
    names, member, counts = np.unique(groups, return_inverse=True, return_counts=True)
    member, counts = member.astype(np.intp), counts.astype(np.intp)
    return _Grouped(names, member, counts, group_means(rows, member, counts))


def _pooled_scatter(rows: Matrix, groups: Labels) -> Scatter:
    """Return the scatter within groups, or that of all rows where no group has two that differ."""
    within, total = scatter_within(rows, groups), scatter_of(rows)
    is_known = np.trace(within.products) > _ROUNDING * np.trace(total.products)
    return within if is_known else total


def _place_of(group: str, names: Labels) -> int:
    places = np.flatnonzero(names == group)
    if not len(places):
        raise InputError(
            f"No reference specimen is of the group {quoted(str(group))}. Choose one of the groups "
            "that the score was learnt from."
        )
    return int(places[0])


def _members(group: str, groups: Labels) -> Mask:
    is_member = groups == group
    if not is_member.any():
        _place_of(group, np.unique(groups))
    return np.asarray(is_member)


# --- likelihood ratio ----------------------------------------------------------------------------


class _Normals(NamedTuple):
    """Normal distributions without correlations, one per group."""

    means: Matrix
    variances: Matrix

    def log_densities(self, rows: Matrix) -> Matrix:
        """Return the logarithms of the densities, rows × groups, up to a common constant."""
        precision = 1 / self.variances
        pull = self.means * precision
        fixed = (pull * self.means).sum(axis=1) + np.log(self.variances).sum(axis=1)
        return np.asarray(rows @ pull.T - (np.square(rows) @ precision.T + fixed) / 2)


@dataclass(frozen=True)
class LikelihoodRatio:
    """Likelihood of "of a known group" over that of "of a new group", as a logarithm.

    Rows minus ``center``, times ``directions``, have unit covariance within groups and none between
    groups. ``known`` are the predictive distributions of the known groups, ``new`` those of a new
    group that varies as much as each of the known; with one known group nothing is known of new
    ones, ``new`` is None, and the likelihood alone is returned.
    """

    names: Labels
    center: Vector
    directions: Matrix
    known: _Normals
    new: _Normals | None

    def typicality(self, queries: Matrix) -> Vector:
        """Return the log ratio; all known groups are equally probable."""
        rows = self._rows(queries)
        known = logsumexp(self.known.log_densities(rows), axis=1) - np.log(len(self.names))
        return np.asarray(known - self._new(rows))

    def typicality_in_group(self, queries: Matrix, group: str) -> Vector:
        """Return the log ratio of "of this group" and "of a new group"."""
        place = slice(_place_of(group, self.names), None)
        one = _Normals(self.known.means[place][:1], self.known.variances[place][:1])
        rows = self._rows(queries)
        return np.asarray(one.log_densities(rows)[:, 0] - self._new(rows))

    def _rows(self, queries: Matrix) -> Matrix:
        return np.asarray((queries - self.center) @ self.directions)

    def _new(self, rows: Matrix) -> "Vector | float":
        if self.new is None:
            return 0.0
        densities = logsumexp(self.new.log_densities(rows), axis=1)
        return np.asarray(densities - np.log(len(self.names)))


def _fit_likelihood_ratio(rows: Matrix, groups: Labels) -> LikelihoodRatio:
    found = _grouped(rows, groups)
    center, n_groups = found.means.mean(axis=0), len(found.names)
    directions = whitening(_pooled_scatter(rows, groups))
    residuals = (rows - found.means[found.member]) @ directions
    spreads = _group_variances(residuals, found.member, found.counts)
    means = (found.means - center) @ directions
    between, axes = _between_groups(means, found.counts)
    known = _predictive(means @ axes, spreads, found.counts, between)
    new = None
    if n_groups > 1:
        # The center is known from n_groups means only, which adds to the variance about it.
        variances = spreads[:, None] + between * (1 + 1 / n_groups)
        new = _Normals(np.zeros_like(variances), variances)
    return LikelihoodRatio(found.names, center, directions @ axes, known, new)


class _Between(NamedTuple):
    """Variances of group means along axes."""

    variances: Vector
    axes: Matrix


def _between_groups(means: Matrix, counts: Indices) -> _Between:
    """Return the variances of true group means; infinite for one group, of which none is known."""
    n_groups, n_columns = means.shape
    if n_groups == 1:
        return _Between(np.full(n_columns, np.inf), np.eye(n_columns))
    covariance = shrunk_covariance(Scatter(means.T @ means, n_groups - 1))
    variances, axes = np.linalg.eigh(covariance)
    # Means of few specimens scatter about the true ones.
    return _Between(np.maximum(variances - np.mean(1 / counts), _LEAST_BETWEEN), axes)


def _predictive(means: Matrix, spreads: Vector, counts: Indices, between: Vector) -> _Normals:
    """Return the distribution of further specimens of each group, given its specimens.

    The mean of a small group is drawn towards the mean of all groups, and its error adds to the
    variance.
    """
    error = (spreads / counts)[:, None]
    trust = 1 / (1 + error / between)  # 1 where the variance between groups is infinite
    return _Normals(trust * means, spreads[:, None] + trust * error)


def _group_variances(residuals: Matrix, member: Indices, counts: Indices) -> Vector:
    """Return the variance of each group relative to the common one, drawn towards 1.

    The variances of groups follow an inverse gamma distribution about the common one; the number
    of specimens that it counts for maximises the likelihood of the variances found, which are then
    F-distributed (as in Smyth 2004).
    """
    n_columns = residuals.shape[1]
    squares = np.bincount(member, np.square(residuals).sum(axis=1))
    freedom = counts - 1
    is_seen = freedom > 0
    if is_seen.sum() < 2 or not squares.any():
        return np.ones(len(counts))
    df = freedom[is_seen] * n_columns
    relative = squares[is_seen] / df * (df.sum() / squares.sum())
    fits = [_log_f_density(relative, df, n * n_columns).sum() for n in _PRIOR_SPECIMENS]
    prior = _PRIOR_SPECIMENS[int(np.argmax(fits))]
    return np.asarray((squares / n_columns + prior) / (freedom + prior))


def _log_f_density(ratios: Vector, df: Vector, prior_df: float) -> Vector:
    """Return log densities of the F distribution, without the factor that has no ``prior_df``."""
    scaled = df / prior_df
    exponent = (df + prior_df) / 2
    return np.asarray(
        df / 2 * np.log(scaled)
        - exponent * np.log1p(scaled * ratios)
        - betaln(df / 2, prior_df / 2)
    )


# --- distances and depth -------------------------------------------------------------------------


@dataclass(frozen=True)
class MahalanobisDistance:
    """Minus the squared Mahalanobis distance to the nearest group mean.

    The covariance within groups is shrunk (OAS).
    """

    names: Labels
    means: Matrix  # whitened, as rows times ``directions`` are
    directions: Matrix

    def typicality(self, queries: Matrix) -> Vector:
        """Return minus the smallest squared distance."""
        return np.asarray(-self._squared(queries, self.means).min(axis=1))

    def typicality_in_group(self, queries: Matrix, group: str) -> Vector:
        """Return minus the squared distance to the mean of the group."""
        mean = self.means[_place_of(group, self.names)]
        return np.asarray(-self._squared(queries, mean[np.newaxis])[:, 0])

    def _squared(self, queries: Matrix, means: Matrix) -> Matrix:
        return np.asarray(euclidean_distances(queries @ self.directions, means, squared=True))


def _fit_mahalanobis(rows: Matrix, groups: Labels) -> MahalanobisDistance:
    directions = whitening(_pooled_scatter(rows, groups))
    found = _grouped(rows @ directions, groups)
    return MahalanobisDistance(found.names, found.means, directions)


@dataclass(frozen=True)
class NeighborDistance:
    """Minus the mean distance to the five nearest specimens, or to all of fewer."""

    rows: Matrix
    groups: Labels

    def typicality(self, queries: Matrix) -> Vector:
        """Return minus the mean distance to the nearest specimens of any group."""
        return _nearness(self.rows, queries)

    def typicality_in_group(self, queries: Matrix, group: str) -> Vector:
        """Return minus the mean distance to the nearest specimens of the group."""
        return _nearness(self.rows[_members(group, self.groups)], queries)


def _nearness(rows: Matrix, queries: Matrix) -> Vector:
    numbers = range(1, min(_N_NEIGHBORS, len(rows)) + 1)
    return np.asarray(-kth_distances(rows, numbers, queries).mean(axis=1))


@dataclass(frozen=True)
class Depth:
    """Kernelized spatial depth among the reference specimens."""

    rows: Matrix
    groups: Labels
    bandwidth: "str | float"
    seed: int

    def typicality(self, queries: Matrix) -> Vector:
        """Return depths among all reference specimens."""
        return kernelized_depths(self.rows, queries, self.bandwidth, self.seed)

    def typicality_in_group(self, queries: Matrix, group: str) -> Vector:
        """Return depths among the reference specimens of the group; the width is its own."""
        members = self.rows[_members(group, self.groups)]
        return kernelized_depths(members, queries, self.bandwidth, self.seed)


def kernelized_depths(rows: Matrix, queries: Matrix, bandwidth: "str | float", seed: int) -> Vector:
    """Return kernelized spatial depths of queries among rows."""
    if len(rows) > _EXACT_MAX_ROWS:
        model = KernelSpatialDepth(bandwidth=bandwidth, random_state=seed, far_rows="literal")
        return model.fit(rows).score_samples(queries)
    return exact_depths(queries, rows, kernel_named("gaussian", kernel_width(bandwidth, rows)))


def kernel_width(bandwidth: "str | float", rows: Matrix) -> float:
    """Return the kernel width by a rule; for few rows, without an index of neighbours."""
    if bandwidth == "nearest" and 1 < len(rows) <= _BRUTE_FORCE_MAX_ROWS:
        distances = squareform(pdist(rows))
        np.fill_diagonal(distances, np.inf)
        width = float(np.median(distances.min(axis=1)))
        if width > 0:
            return width
    return chosen_bandwidth(bandwidth, rows)

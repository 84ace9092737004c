"""Deviations of landmarks from the positions that the rest of a specimen and its group predict.

A specimen is compared with its expected shape: the mean of its group without the specimen itself,
or, for a small group or none, the median of the most similar specimens. With the precision P of
such differences (its prior on position, size and direction is flat) and the difference r of one
specimen, landmark l lies P_ll^-1 (P r)_l from the position that the other landmarks predict, and
the squared length of that in its own metric is (P r)_l' P_ll^-1 (P r)_l. P is learnt from all
specimens of the file but this one: leaving out a specimen changes the covariance by a matrix of
rank one, so that no second inverse is needed.

Specimens that deviate do not take part in means and covariances, and scales are medians, so that
a few errors do not hide one another.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import f as f_distribution
from sklearn.neighbors import NearestNeighbors

from kernova.shapes.missing import fill_missing, frame_directions
from kernova.shapes.procrustes import GeneralizedProcrustes, rotations
from kernova.typing import Coordinates, Indices, Mask, Matrix, Vector

# The number of similar specimens whose median is the expected shape where a group is too small.
_N_SIMILAR = 7
# Specimens as unusual as this take no part in means and covariances.
_LEFT_OUT = 0.01
_N_ROUNDS = 4
# The variance of the prior on position, size and direction, relative to that of all shapes.
_FLAT = 100
# Keeps the covariance of identical specimens invertible; relative to the consensus.
_MIN_VARIANCE = 1e-12
# The quantile that shows how heavy a tail is, and the degrees of freedom that are considered.
_TAIL_AT = 0.95
_FEWEST_FREEDOM, _MOST_FREEDOM = 3.0, 300.0
# A group's own spread counts as much as the pooled one if it has so many specimens.
_GROUP_WEIGHT = 10


class Oriented(NamedTuple):
    """Specimens that all have the handedness of the majority."""

    coordinates: Coordinates  # centred, of unit size; NaN where missing; shape (n, p, d)
    is_mirrored: Mask  # which were reflected to fit better; shape (n,)
    consensus: Coordinates  # shape (p, d)


def oriented_specimens(coordinates: Coordinates) -> Oriented:
    """Reflect the specimens that fit the others better as their mirror image.

    Examples
    --------
    >>> import numpy as np
    >>> shape = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 2.0]])
    >>> oriented_specimens(np.stack([shape, shape, shape * [1, -1]])).is_mirrored
    array([False, False,  True])
    """
    d = coordinates.shape[2]
    procrustes = GeneralizedProcrustes(dimensions=d, reflection=True, tolerance=1e-7)
    consensus = procrustes.fit(coordinates).consensus_
    unit = _unit_frames(coordinates)
    products = np.einsum("npi,pj->nij", np.nan_to_num(unit), consensus)
    is_turned = np.linalg.det(rotations(products, reflection=True)) < 0
    flip = np.ones(d)
    flip[-1] = -1
    if is_turned.mean() > 0.5:
        consensus, is_turned = consensus * flip, ~is_turned
    placed = np.where(is_turned[:, None, None], unit * flip, unit)
    return Oriented(placed, is_turned, consensus)


def _unit_frames(coordinates: Coordinates) -> Coordinates:
    centred = coordinates / np.nanmax(np.abs(coordinates), axis=(1, 2), keepdims=True)
    centred = centred - np.nanmean(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.sqrt(np.nansum(centred**2, axis=(1, 2), keepdims=True)))


def known_landmarks(shapes: Coordinates) -> Mask:
    """Return the mask of landmarks that have all their coordinates, specimens × landmarks."""
    return np.asarray(np.isfinite(shapes).all(axis=2))


def superimposed(specimens: Coordinates, targets: Coordinates) -> Coordinates:
    """Move, turn and scale each specimen to its target, by the landmarks that are known.

    Missing landmarks stay NaN.
    """
    is_known = known_landmarks(specimens)[..., None]
    counts = np.maximum(is_known.sum(axis=1, keepdims=True), 1)
    aims = np.where(is_known, np.broadcast_to(targets, specimens.shape), 0)
    middles = aims.sum(axis=1, keepdims=True) / counts
    centred = np.where(is_known, specimens, 0)
    centred = np.where(is_known, centred - centred.sum(axis=1, keepdims=True) / counts, 0)
    aims = np.where(is_known, aims - middles, 0)
    turned = centred @ rotations(np.einsum("npi,npj->nij", centred, aims))
    lengths = np.sqrt(np.square(centred).sum(axis=(1, 2), keepdims=True))
    wanted = np.sqrt(np.square(aims).sum(axis=(1, 2), keepdims=True))
    placed = turned * wanted / np.where(lengths > 0, lengths, 1) + middles
    return np.where(is_known, placed, np.nan)


class Precision(NamedTuple):
    """The inverse covariance of differences, and what one specimen contributes to it."""

    matrix: Matrix  # shape (p * d, p * d)
    weight: float  # the covariance holds ``weight * r r'`` of each specimen that took part


def learn_precision(rows: Matrix, n_free: float, consensus: Coordinates) -> Precision:
    """Return the inverse of the shrunk covariance, with a flat prior on the frame.

    Parameters
    ----------
    rows : ndarray of shape (n, p * d)
        Differences from the expected shapes.
    n_free : float
        The degrees of freedom: rows less the means that were estimated.
    consensus : ndarray of shape (p, d)
        The shape whose shifts, turns and sizes are free.
    """
    n_columns = rows.shape[1]
    covariance = rows.T @ rows / n_free
    variance = np.trace(covariance) / n_columns
    # Oracle approximating shrinkage towards equal variances.
    squares, square = np.square(covariance).sum(), (n_columns * variance) ** 2
    excess = (n_free + 1 - 2 / n_columns) * (squares - square / n_columns)
    wanted = (1 - 2 / n_columns) * squares + square
    shrinkage = 1.0 if wanted >= excess else float(wanted / excess)
    floor = shrinkage * variance + _MIN_VARIANCE * np.square(consensus).sum()
    frame = frame_directions(consensus, scaling=True)
    whole = (1 - shrinkage) * covariance + floor * np.eye(n_columns)
    whole += _FLAT * n_columns * variance * frame @ frame.T
    return Precision(np.asarray(np.linalg.inv(whole)), (1 - shrinkage) / n_free)


class Deviations(NamedTuple):
    """Squared deviations, each in the metric of what is expected."""

    landmarks: Matrix  # of each landmark given all others; NaN where missing; shape (n, p)
    whole: Vector  # of all landmarks; shape (n,)


def squared_deviations(
    differences: Coordinates, precision: Precision, contributions: Vector
) -> Deviations:
    """Return the deviations of landmarks by the precision without the specimen itself.

    Parameters
    ----------
    differences : ndarray of shape (n, p, d)
        Aligned specimens less their expected shapes; missing landmarks are filled in.
    precision : Precision
        Learnt from these specimens, or from others.
    contributions : ndarray of shape (n,)
        The multiples of r r' with which each specimen took part, 0 if it did not.
    """
    n, n_landmarks, d = differences.shape
    rows = differences.reshape(n, -1)
    pulls = rows @ precision.matrix
    whole = np.einsum("nk,nk->n", rows, pulls)
    pulls = pulls.reshape(n, n_landmarks, d)
    squared = np.einsum("nli,lij,nlj->nl", pulls, own_covariances(precision, d), pulls)
    # Without the specimen, the covariance A becomes A - b r r', and by Sherman and Morrison P r
    # becomes P r / (1 - b r'P r), and P_ll is increased by b (P r)_l (P r)_l' / (1 - b r'P r).
    weight = precision.weight * contributions
    left = np.maximum(1 - weight * whole, 1e-3)
    landmarks = squared / left[:, None] ** 2 / (1 + (weight / left)[:, None] * squared)
    return Deviations(landmarks, whole / left)


def own_covariances(precision: Precision, d: int) -> Coordinates:
    """Return the covariance of each landmark given all others; shape (p, d, d)."""
    n_landmarks = len(precision.matrix) // d
    each = np.arange(n_landmarks)
    blocks = precision.matrix.reshape(n_landmarks, d, n_landmarks, d)[each, :, each, :]
    return np.asarray(np.linalg.inv(blocks))


class Tail(NamedTuple):
    """The law of squared deviations of ordinary specimens: a scaled F, fitted to quantiles."""

    scale: float
    n_numbers: float  # how many coordinates deviate
    freedom: float  # the fewer, the heavier the tail

    def p_values(self, squared: Matrix) -> Matrix:
        """Return the probability that an ordinary specimen deviates at least as much."""
        return np.asarray(
            f_distribution.sf(squared / self.scale / self.n_numbers, self.n_numbers, self.freedom)
        )

    def widened(self, n_free: float) -> "Tail":
        """Return the law with a heavier tail and the same median.

        That of what is estimated from so many degrees of freedom: scales, means and covariances
        vary by 2 / n_free of their variance, which adds to that of ordinary specimens.
        """
        freedom = max(1 / (1 / self.freedom + 1 / n_free), _FEWEST_FREEDOM)
        half = f_distribution.ppf(0.5, self.n_numbers, freedom)
        return Tail(self.median / float(half) / self.n_numbers, self.n_numbers, freedom)

    @property
    def median(self) -> float:
        """The median of the squared deviation."""
        half = f_distribution.ppf(0.5, self.n_numbers, self.freedom)
        return float(self.scale * self.n_numbers * half)


def fit_tail(squared: Vector, n_numbers: float, *, left_out: float = 0) -> Tail:
    """Fit the law to the median and to a high quantile, which a few errors do not move.

    ``left_out`` is the fraction of ordinary values that are not here since they are so high.

    Examples
    --------
    >>> import numpy as np
    >>> squared = np.random.default_rng(0).standard_normal((2000, 2)) ** 2
    >>> tail = fit_tail(squared.sum(axis=1), 2)
    >>> bool(tail.p_values(np.array([40.0]))[0] < 1e-5 < tail.p_values(np.array([15.0]))[0])
    True
    """
    squared = squared[np.isfinite(squared)]
    at = np.array([0.5, _TAIL_AT])
    middle, high = np.quantile(squared, at / (1 - left_out)) if len(squared) else (1.0, 1.0)
    if middle <= 0:
        return Tail(1.0, n_numbers, _MOST_FREEDOM)
    wanted = np.log(high / middle)

    def excess(log_freedom: float) -> float:
        low, top = f_distribution.ppf([0.5, _TAIL_AT], n_numbers, np.exp(log_freedom))
        return float(np.log(top / low) - wanted)

    ends = np.log(_FEWEST_FREEDOM), np.log(_MOST_FREEDOM)
    if excess(ends[0]) <= 0:
        freedom = _FEWEST_FREEDOM
    elif excess(ends[1]) >= 0:
        freedom = _MOST_FREEDOM
    else:
        freedom = float(np.exp(brentq(excess, *ends, xtol=1e-3)))
    half = float(f_distribution.ppf(0.5, n_numbers, freedom))
    return Tail(float(middle) / half / n_numbers, n_numbers, freedom)


class Expected(NamedTuple):
    """The expected shape of each specimen, from others."""

    centres: Coordinates  # NaN where a specimen has too few others; shape (n, p, d)
    # The variance of a specimen in that of its difference from the expected shape; shape (n,).
    fractions: Vector
    n_means: int  # the number of means that were estimated


def group_centres(aligned: Coordinates, codes: Indices, is_used: Mask, least: int) -> Expected:
    """Return the mean of each specimen's group, without the specimen itself.

    Parameters
    ----------
    aligned : ndarray of shape (n, p, d)
        Complete specimens.
    codes : ndarray of int of shape (n,)
        The group of each; negative for none.
    is_used : ndarray of bool of shape (n,)
        Which specimens take part.
    least : int
        The number of specimens that a group must have, itself included.
    """
    centres = np.full(aligned.shape, np.nan)
    fractions = np.ones(len(aligned))
    n_means = 0
    for code in np.unique(codes[codes >= 0]):
        members = np.flatnonzero(codes == code)
        used = members[is_used[members]]
        if len(members) < least or len(used) < 2:
            continue
        n_means += 1
        total = aligned[used].sum(axis=0)
        n_others = len(used) - is_used[members].astype(int)
        own = aligned[members] * is_used[members][:, None, None]
        centres[members] = (total - own) / n_others[:, None, None]
        fractions[members] = n_others / (n_others + 1)
    return Expected(centres, fractions, n_means)


def similar_centres(aligned: Coordinates, is_used: Mask) -> Expected:
    """Return the median of the most similar specimens, without the specimen itself."""
    used = np.flatnonzero(is_used)
    rows = aligned.reshape(len(aligned), -1)
    n_similar = min(_N_SIMILAR, len(used) - 1)
    search = NearestNeighbors(n_neighbors=n_similar + 1, algorithm="brute").fit(rows[used])
    nearest = used[search.kneighbors(rows, return_distance=False)]
    # A specimen that took part is its own nearest; the last of another one is not needed.
    is_self = nearest == np.arange(len(aligned))[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    others = nearest[~is_self].reshape(len(aligned), n_similar)
    return Expected(np.median(aligned[others], axis=1), np.ones(len(aligned)), 0)


class Law(NamedTuple):
    """What is expected of every specimen of a file, and how far ordinary ones deviate from it."""

    expected: Expected
    precision: Precision
    deviations: Deviations  # in multiples of the specimen's own spread; NaN where not judged
    spreads: Vector  # the variance of each specimen's group relative to all; shape (n,)
    medians: Vector  # the median squared deviation of each landmark; shape (p,)
    tail: Tail  # of a landmark's squared deviation in multiples of its median
    whole_tail: Tail
    contributions: Vector  # with which specimens took part in the precision, 0 if not; shape (n,)

    def p_values(self, deviations: Deviations) -> "SpecimenPValues":
        """Return the p-values of deviations of ordinary specimens."""
        return SpecimenPValues(
            self.tail.p_values(deviations.landmarks / self.medians),
            self.whole_tail.p_values(deviations.whole),
        )

    def judge(self, variants: Coordinates, row: int) -> Deviations:
        """Return the deviations of variants of one specimen, such as with a landmark left out."""
        targets = np.broadcast_to(self.expected.centres[row], variants.shape)
        differences = differences_from(variants, targets, self.precision.matrix)
        found = squared_deviations(differences, self.precision, np.zeros(len(variants)))
        factor = self.expected.fractions[row] / self.spreads[row]
        is_known = known_landmarks(variants)
        return Deviations(
            np.where(is_known, found.landmarks * factor, np.nan),
            found.whole * factor * _completeness(is_known),
        )


class SpecimenPValues(NamedTuple):
    """P-values of specimens: of each landmark, and of all together."""

    landmarks: Matrix  # NaN where missing
    whole: Vector

    @property
    def smallest(self) -> Vector:
        """The p-value of the landmark that deviates most, corrected for their number."""
        n_known = np.isfinite(self.landmarks).sum(axis=1)
        least = np.where(np.isfinite(self.landmarks), self.landmarks, 1).min(axis=1)
        return np.minimum(n_known * least, 1)


def _completeness(is_known: Mask) -> Vector:
    """Return the factor that compares the deviation of a few landmarks with that of all."""
    return np.asarray(is_known.shape[1] / np.maximum(is_known.sum(axis=1), 1))


def differences_from(
    specimens: Coordinates, targets: Coordinates, precision: Matrix
) -> Coordinates:
    """Return aligned specimens less their targets; a missing landmark gets its expected value."""
    placed = superimposed(specimens, targets)
    is_known = known_landmarks(placed)
    if not is_known.all():
        placed = fill_missing(
            np.where(is_known[..., None], placed, 0), is_known, targets, precision
        )
    return placed - targets


def learn_law(oriented: Oriented, codes: Indices | None, least: int) -> Law:
    """Learn what is expected of each specimen, by its group or by the most similar ones.

    Parameters
    ----------
    oriented : Oriented
        All specimens of a file.
    codes : ndarray of int of shape (n,), or None
        Groups, negative for none; None compares with the most similar specimens.
    least : int
        The smallest group that is compared with itself.
    """
    shapes = oriented.coordinates
    start = superimposed(shapes, np.broadcast_to(oriented.consensus, shapes.shape))
    aligned = np.where(np.isfinite(start), start, oriented.consensus)
    is_used = np.ones(len(shapes), dtype=np.bool_)
    law = None
    for number in range(_N_ROUNDS):
        if codes is None:
            expected = similar_centres(aligned, is_used)
        elif number == 0:
            expected = _group_medians(aligned, codes, least)
        else:
            expected = group_centres(aligned, codes, is_used, least)
        law = _law_about(oriented, expected, is_used, codes, is_first=number == 0)
        p = law.p_values(law.deviations)
        is_used = ~(np.minimum(p.smallest, p.whole) < _LEFT_OUT)
        # Aligned to their centres, which are aligned to the consensus.
        known = np.isfinite(expected.centres).all(axis=(1, 2))
        placed = expected.centres[known] + differences_from(
            shapes[known], expected.centres[known], law.precision.matrix
        )
        aligned[known] = superimposed(placed, np.broadcast_to(oriented.consensus, placed.shape))
    assert law is not None
    return law


def _group_medians(aligned: Coordinates, codes: Indices, least: int) -> Expected:
    centres = np.full(aligned.shape, np.nan)
    found = np.unique(codes[codes >= 0])
    for code in found:
        members = np.flatnonzero(codes == code)
        if len(members) >= least:
            centres[members] = np.median(aligned[members], axis=0)
    return Expected(centres, np.ones(len(aligned)), len(found))


def _law_about(
    oriented: Oriented, expected: Expected, is_used: Mask, codes: Indices | None, *, is_first: bool
) -> Law:
    shapes = oriented.coordinates
    known = np.flatnonzero(np.isfinite(expected.centres).all(axis=(1, 2)))
    targets, specimens = expected.centres[known], shapes[known]
    p, d = shapes.shape[1:]
    guess = np.eye(p * d)
    for _ in range(2 if np.isnan(specimens).any() else 1):
        differences = differences_from(specimens, targets, guess)
        used = is_used[known]
        # Differences from the mean of all, since the mean without a specimen is farther from it.
        rows = differences.reshape(len(known), -1) * expected.fractions[known][:, None]
        scatter = _without_outliers(rows, d) if is_first else rows[used]
        n_free = max(len(scatter) - expected.n_means, 1)
        precision = learn_precision(scatter, n_free, oriented.consensus)
        guess = precision.matrix
    contributions = np.where(used, expected.fractions[known], 0) * (not is_first)
    found = squared_deviations(differences, precision, contributions)
    every = np.zeros(len(shapes))
    every[known] = contributions
    return _scaled_law(oriented, expected, precision, found, known, every, codes)


def _without_outliers(rows: Matrix, d: int) -> Matrix:
    """Shorten the rows in which a landmark lies much farther out than is usual for it."""
    lengths = np.linalg.norm(rows.reshape(len(rows), -1, d), axis=2)
    typical = np.median(lengths, axis=0)
    ratios = (lengths / np.where(typical > 0, typical, 1)).max(axis=1)
    usual = np.median(ratios)
    return rows * np.minimum(1, 1.5 * usual / np.where(ratios > 0, ratios, 1))[:, None]


def _scaled_law(
    oriented: Oriented,
    expected: Expected,
    precision: Precision,
    found: Deviations,
    known: Indices,
    contributions: Vector,
    codes: Indices | None,
) -> Law:
    n, p, d = oriented.coordinates.shape
    is_known = known_landmarks(oriented.coordinates)
    landmarks, whole = np.full((n, p), np.nan), np.full(n, np.nan)
    factor = expected.fractions[known]
    landmarks[known] = np.where(is_known[known], found.landmarks * factor[:, None], np.nan)
    whole[known] = np.asarray(found.whole * factor) * _completeness(is_known[known])
    spreads = np.ones(n) if codes is None else _group_spreads(whole, codes)
    deviations = Deviations(landmarks / spreads[:, None], whole / spreads)
    used = np.flatnonzero(contributions > 0)
    left_out = _LEFT_OUT if len(used) else 0
    used = used if len(used) else known
    medians = np.nanmedian(deviations.landmarks[used], axis=0)
    medians = np.where(medians > 0, medians, 1)
    # One tail for all landmarks: that of a single one would follow its own errors.
    tail = fit_tail((deviations.landmarks[used] / medians).ravel(), d, left_out=left_out / p)
    n_numbers = max(p * d - d - d * (d - 1) // 2 - 1, 1)
    whole_tail = fit_tail(deviations.whole[used], n_numbers, left_out=left_out)
    n_free = max(len(used) - expected.n_means, 1)
    tail, whole_tail = tail.widened(n_free), whole_tail.widened(n_free)
    return Law(expected, precision, deviations, spreads, medians, tail, whole_tail, contributions)


def _group_spreads(whole: Vector, codes: Indices) -> Vector:
    """Return each group's median deviation relative to all, small groups nearer to 1."""
    spreads = np.ones(len(whole))
    pooled = np.nanmedian(whole)
    for code in np.unique(codes[np.isfinite(whole)]):
        members = codes == code
        n_members = np.count_nonzero(members)
        ratio = np.median(whole[members]) / pooled if pooled > 0 else 1.0
        weight = n_members / (n_members + _GROUP_WEIGHT)
        spreads[members] = max(ratio, 1e-6) ** weight
    return spreads

"""Evidence of digitising errors in each specimen of a file, and its simplest explanation.

P-values of single landmarks and of whole shapes come from the tails of deviations. For exchanged
landmarks and mirror images there is a definite alternative: the specimen as it would be if
corrected. The ratio of the two densities has mean 1 among ordinary specimens, so that its inverse
is a p-value, by Markov's inequality.

A specimen of a group too small to be compared with itself may deviate from others since it is of
another species. What it shares with the others of its group, its mates, is no error.
"""

from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from kernova.species.digitising.deviations import (
    Deviations,
    Expected,
    Law,
    Oriented,
    Tail,
    differences_from,
    known_landmarks,
    learn_law,
    oriented_specimens,
    superimposed,
)
from kernova.typing import Coordinates, Indices, Mask, Vector

MISPLACED: Final = "single landmark"
SEVERAL: Final = "several landmarks"
SWAPPED: Final = "swapped pair"
REORDERED: Final = "other order"
MIRRORED: Final = "mirrored"
OUTLYING: Final = "whole shape"

# A specimen is in order, once corrected, unless fewer ordinary ones than this deviate as much.
_IN_ORDER: Final = 0.001
# How the probability of a false alarm is divided among the tests of one specimen.
_LANDMARK, _WHOLE, _SWAP, _MIRROR = 0.6, 0.2, 0.1, 0.1
# A mirror image whose squared deviation decreases by this factor is one, even with another error.
_MIRROR_GAIN: Final = 4.0
# Specimens with a larger p-value are not tested in other ways.
_WORTH_TESTING: Final = 0.1
# Without mates, landmarks are errors if they deviate so many times as much as all others: fewer
# times if, without them, the specimen is an ordinary one of the nearest group.
_FAR_OUT: Final = 3.0
_FAR_OUT_IN_GROUP: Final = 2.0
_CLOSE: Final = 0.01
# Fewer degrees of freedom do not show how far ordinary specimens deviate.
FEWEST: Final = 10


class Evidence(NamedTuple):
    """What was found of each specimen."""

    p_values: Vector  # of all tests together; 1 for specimens that were not judged
    shapes: Coordinates  # specimens, reflected if they are called mirrored; shape (n, p, d)
    deviations: Deviations
    is_mirrored: Mask
    is_by_group: Mask  # compared with the group, not with the most similar specimens
    by_group: Law | None
    by_similar: Law | None
    # Of small groups, p-values of the same tests against the mates: 0 for specimens without mates.
    p_values_of_mates: Vector
    by_mates: Law | None

    def law(self, row: int) -> Law:
        """Return the law that a specimen was judged by."""
        law = self.by_group if self.is_by_group[row] else self.by_similar
        assert law is not None
        return law


class Explanation(NamedTuple):
    """What would put a specimen in order."""

    kind: str
    places: tuple[int, ...]  # landmarks, counted from 0; empty for all
    is_rest_in_order: bool
    detail: str = ""  # the order, in words
    law: Law | None = None  # by which it was found, if not by that of the evidence

    @property
    def is_vague(self) -> bool:
        """Whether nothing definite would put the specimen in order."""
        is_misplaced = self.kind == MISPLACED and not self.is_rest_in_order
        return self.kind == OUTLYING or is_misplaced


def gather_evidence(
    coordinates: Coordinates, codes: Indices, least: int, false_discovery_rate: float
) -> Evidence:
    """Judge every specimen of a file.

    Parameters
    ----------
    coordinates : ndarray of shape (n, p, d)
        Specimens, each with 4 known landmarks or more.
    codes : ndarray of int of shape (n,)
        Groups; negative for none.
    least : int
        The smallest group that is compared with itself.
    false_discovery_rate : float
        As in the settings; mirror images are decided here.
    """
    oriented = oriented_specimens(coordinates)
    sizes = np.bincount(np.maximum(codes, 0), weights=codes >= 0, minlength=1)
    is_grouped = (codes >= 0) & (sizes[np.maximum(codes, 0)] >= least)
    n_free = np.count_nonzero(is_grouped) - len(np.unique(codes[is_grouped]))
    if n_free < FEWEST:
        is_grouped[:] = False
    by_group = learn_law(oriented, codes, least) if is_grouped.any() else None
    by_similar = None if is_grouped.all() else learn_law(oriented, None, least)
    n, p = coordinates.shape[:2]
    found = Evidence(
        np.ones(n), oriented.coordinates.copy(), Deviations(np.full((n, p), np.nan), np.ones(n)),
        np.zeros(n, dtype=np.bool_), is_grouped, by_group, by_similar, np.zeros(n), None,
    )  # fmt: skip
    for law, rows in ((by_group, is_grouped), (by_similar, ~is_grouped)):
        if law is not None:
            _judge_rows(found, law, np.flatnonzero(rows), oriented, false_discovery_rate)
    if by_similar is not None:
        _compare_with_all(found, oriented, np.flatnonzero(~is_grouped))
        found = _compared_with_mates(found, oriented, codes)
    return found


def _judge_rows(
    found: Evidence, law: Law, rows: Indices, oriented: Oriented, false_discovery_rate: float
) -> None:
    n = len(found.p_values)
    found.deviations.landmarks[rows] = law.deviations.landmarks[rows]
    found.deviations.whole[rows] = law.deviations.whole[rows]
    mirror = np.ones(n)
    for row in rows[oriented.is_mirrored[rows]]:
        given = reflected(oriented.coordinates[row])
        before = law.judge(given[None], row)
        after = float(law.deviations.whole[row])
        mirror[row] = np.exp(-log_ratio(law.whole_tail, float(before.whole[0]), after))
        in_order = law.whole_tail.p_values(np.array([after]))[0] >= _IN_ORDER
        is_clear = in_order or before.whole[0] >= _MIRROR_GAIN * after
        if is_clear and n * mirror[row] / _MIRROR <= false_discovery_rate:
            found.is_mirrored[row] = True
        else:
            mirror[row] = 1
            found.shapes[row] = given
            found.deviations.landmarks[row] = before.landmarks[0]
            found.deviations.whole[row] = before.whole[0]
    p = law.p_values(found.deviations)
    swap = swap_p_values(law, found.shapes[rows], rows)
    each = [p.smallest[rows] / _LANDMARK, p.whole[rows] / _WHOLE, swap / _SWAP]
    found.p_values[rows] = np.minimum(np.min([*each, mirror[rows] / _MIRROR], axis=0), 1)


def _compare_with_all(found: Evidence, oriented: Oriented, rows: Indices) -> None:
    """Require that a specimen without a group deviates among all specimens, too.

    It may be the only one of its kind, and differ from the most similar ones for that reason.
    """
    law = learn_law(oriented, np.zeros(len(found.p_values), dtype=np.intp), 2)
    for row in rows[(found.p_values[rows] < _WORTH_TESTING) & ~found.is_mirrored[rows]]:
        found.p_values[row] = max(found.p_values[row], _p_value_by(law, found.shapes[row], row))


def _compared_with_mates(found: Evidence, oriented: Oriented, codes: Indices) -> Evidence:
    """Test specimens of small groups by the spread within the larger ones, about their mates."""
    law = found.by_group or found.by_similar
    assert law is not None
    n = len(codes)
    start = superimposed(found.shapes, np.broadcast_to(oriented.consensus, found.shapes.shape))
    aligned = np.where(np.isfinite(start), start, oriented.consensus)
    expected = Expected(np.full(aligned.shape, np.nan), np.ones(n), 0)
    by_mates = law._replace(expected=expected, spreads=np.ones(n), contributions=np.zeros(n))
    p_values = np.zeros(n)
    for row in np.flatnonzero(~found.is_by_group & (codes >= 0)).tolist():
        mates = np.flatnonzero((codes == codes[row]) & (np.arange(n) != row))
        p_values[row] = 1 if len(mates) else 0
        if len(mates) and found.p_values[row] < _WORTH_TESTING:
            _expect_as_mates(by_mates, found.shapes[row], row, aligned[mates])
            p_values[row] = _p_value_by(by_mates, found.shapes[row], row)
    return found._replace(p_values_of_mates=p_values, by_mates=by_mates)


def _expect_as_mates(law: Law, shape: Coordinates, row: int, mates: Coordinates) -> None:
    """Enter the mean of the mates, or of all but one where that is nearer: one may be an error.

    Medians of coordinates are no use here, since they do not vary as shapes do.
    """
    sets = [mates]
    if len(mates) > 1:
        sets += [np.delete(mates, k, axis=0) for k in range(len(mates))]
    centres, fractions, wholes = law.expected.centres, law.expected.fractions, []
    for kept in sets:
        centres[row], fractions[row] = kept.mean(axis=0), len(kept) / (len(kept) + 1)
        wholes.append(float(law.judge(shape[None], row).whole[0]))
    nearest = sets[int(np.argmin(wholes))]
    centres[row], fractions[row] = nearest.mean(axis=0), len(nearest) / (len(nearest) + 1)


def _p_value_by(law: Law, shape: Coordinates, row: int) -> float:
    p = law.p_values(law.judge(shape[None], row))
    swap = swap_p_values(law, shape[None], np.array([row]))[0]
    return float(min(p.smallest[0] / _LANDMARK, p.whole[0] / _WHOLE, swap / _SWAP, 1))


def reflected(shapes: Coordinates) -> Coordinates:
    """Return mirror images."""
    flip = np.ones(shapes.shape[-1])
    flip[-1] = -1
    return shapes * flip


def log_ratio(tail: Tail, before: float, after: float, scale: float = 1.0) -> float:
    """Return how much more probable the second squared deviation is, as a logarithm.

    The density is that of the multivariate t distribution that gives the tail its law.
    """
    unit = tail.scale * scale
    power = (tail.freedom + tail.n_numbers) / 2
    return float(
        power * (np.log(tail.freedom + before / unit) - np.log(tail.freedom + after / unit))
    )


def swap_p_values(law: Law, shapes: Coordinates, rows: Indices) -> Vector:
    """Return p-values of specimens against two of their landmarks exchanged.

    The mean, over all pairs, of the ratio of the densities of the two landmarks given all others.
    """
    p, d = shapes.shape[1:]
    centres = law.expected.centres[rows]
    differences = differences_from(shapes, centres, law.precision.matrix)
    is_known = known_landmarks(shapes)
    placed = centres + differences
    pulls = (differences.reshape(len(rows), -1) @ law.precision.matrix).reshape(-1, p, d)
    blocks = law.precision.matrix.reshape(p, d, p, d).transpose(0, 2, 1, 3)
    factor = law.expected.fractions[rows] / law.spreads[rows]
    freedom, total = law.tail.freedom, np.full(len(rows), -np.inf)
    # Without the specimen itself, as in ``squared_deviations``.
    weight = law.precision.weight * law.contributions[rows]
    left = np.maximum(1 - weight * (differences * pulls).sum(axis=(1, 2)), 1e-3)
    weight = weight / left
    for a, b in combinations(range(p), 2):
        move = placed[:, b] - placed[:, a]
        own = np.block([[blocks[a, a], blocks[a, b]], [blocks[b, a], blocks[b, b]]])
        pull = np.concatenate([pulls[:, a], pulls[:, b]], axis=1)
        before = np.einsum("ni,ij,nj->n", pull, np.linalg.inv(own), pull)
        before = before / left**2 / (1 + weight * before)
        both = np.concatenate([move, -move], axis=1)
        along = np.einsum("ni,ni->n", both, pull)
        change = 2 * along / left + np.einsum("ni,ij,nj->n", both, own, both) + weight * along**2
        unit = law.tail.scale * (law.medians[a] + law.medians[b]) / 2 / factor
        after = np.maximum(before + change, 0)
        ratio = np.log(freedom + before / unit) - np.log(freedom + after / unit)
        ratio = np.where(is_known[:, a] & is_known[:, b], (freedom + 2 * d) / 2 * ratio, -np.inf)
        total = np.logaddexp(total, ratio)
    return np.asarray(np.exp(np.minimum(np.log(p * (p - 1) / 2) - total, 0)))


def explain(found: Evidence, row: int) -> Explanation:
    """Return the simplest correction that puts a suspicious specimen in order."""
    law, shape = found.law(row), found.shapes[row]
    if found.is_mirrored[row]:
        if _in_order(law, law.judge(shape[None], row))[0]:
            return Explanation(MIRRORED, (), True)
        order = _order(law, reflected(shape), row)
        return order or Explanation(MIRRORED, (), False)
    return _swap(law, shape, row) or _left_out(law, shape, row)


def explain_beside_species(found: Evidence, row: int) -> Explanation | None:
    """Return the correction of a suspicious specimen that may be the only one of its species.

    None if it may as well be of a species unlike the others.
    """
    explanation, shape = explain(found, row), found.shapes[row]
    if found.is_mirrored[row]:
        return explanation
    mates = found.by_mates
    if mates is None or not np.isfinite(mates.expected.centres[row]).all():
        is_clear = explanation.kind in (SWAPPED, REORDERED) or (
            not explanation.is_vague and _stands_out(found, row, explanation.places)
        )
        return explanation if is_clear else None
    by_mates = _swap(mates, shape, row) or _left_out(mates, shape, row)
    if not by_mates.is_vague:
        return by_mates._replace(law=mates)
    if explanation.is_vague:
        return None
    p_values = mates.p_values(mates.judge(shape[None], row)).landmarks[0]
    is_apart = p_values[list(explanation.places)] * np.isfinite(p_values).sum() < _IN_ORDER
    return explanation if is_apart.all() else None


def _stands_out(found: Evidence, row: int, places: tuple[int, ...]) -> bool:
    """Whether each of these landmarks deviates far more than all others without them."""
    law, shape = found.law(row), found.shapes[row]
    rest = shape.copy()
    rest[list(places)] = np.nan
    variants = np.repeat(rest[None], len(places) + 1, axis=0)
    for variant, place in zip(variants, places, strict=False):
        variant[place] = shape[place]
    squared = law.judge(variants, row).landmarks / law.medians
    own = squared[np.arange(len(places)), list(places)]
    least = _FAR_OUT_IN_GROUP if _is_close(found, rest) else _FAR_OUT
    return bool(own.min() >= least**2 * np.nanmax(squared[-1]))


def _is_close(found: Evidence, shape: Coordinates) -> bool:
    """Whether the landmarks that are known lie as in an ordinary specimen of the nearest group."""
    law, rows = found.by_group, np.flatnonzero(found.is_by_group)
    if law is None:
        return False
    centres = law.expected.centres[rows]
    apart = superimposed(np.broadcast_to(shape, centres.shape), centres) - centres
    nearest = int(rows[np.argmin(np.nansum(apart**2, axis=(1, 2)))])
    p = law.p_values(law.judge(shape[None], nearest))
    return bool(min(p.smallest[0], p.whole[0]) >= _CLOSE)


def _in_order(law: Law, deviations: Deviations) -> Mask:
    p = law.p_values(deviations)
    return np.asarray((p.smallest >= _IN_ORDER) & (p.whole >= _IN_ORDER))


def _swap(law: Law, shape: Coordinates, row: int) -> Explanation | None:
    known = np.flatnonzero(np.isfinite(shape).all(axis=1))
    pairs = np.array(list(combinations(known.tolist(), 2)))
    variants = np.repeat(shape[None], len(pairs), axis=0)
    each = np.arange(len(pairs))
    variants[each, pairs[:, 0]], variants[each, pairs[:, 1]] = (
        shape[pairs[:, 1]],
        shape[pairs[:, 0]],
    )
    after = law.judge(variants, row)
    best = int(np.argmin(after.whole))
    before = float(law.judge(shape[None], row).whole[0])
    gain = log_ratio(law.whole_tail, before, float(after.whole[best])) - np.log(len(pairs))
    if gain < -np.log(_IN_ORDER) or not _in_order(law, after)[best]:
        return None
    a, b = sorted(pairs[best].tolist())
    return Explanation(SWAPPED, (a, b), True)


def _order(law: Law, shape: Coordinates, row: int) -> Explanation | None:
    """Return the explanation by another order of all landmarks: reversed, or shifted in a ring."""
    n = len(shape)
    orders = [np.roll(np.arange(n), k) for k in range(1, n)]
    words = [f"shifted by {min(k, n - k)}" for k in range(1, n)]
    for k in range(n):
        orders.append(np.roll(np.arange(n)[::-1], k))
        words.append("reversed" if k == 0 else "reversed and shifted")
    variants = shape[np.array(orders)]
    after = law.judge(variants, row)
    best = int(np.argmin(after.whole))
    return Explanation(REORDERED, (), True, words[best]) if _in_order(law, after)[best] else None


def _left_out(law: Law, shape: Coordinates, row: int) -> Explanation:
    """Return the explanation by the fewest landmarks without which the others are in order."""
    order = None
    places: list[int] = []
    rest = shape.copy()
    most = max(1, min(len(shape) // 4, np.isfinite(shape).all(axis=1).sum() - 4))
    for _ in range(most):
        known = np.flatnonzero(np.isfinite(rest).all(axis=1))
        variants = np.repeat(rest[None], len(known), axis=0)
        variants[np.arange(len(known)), known] = np.nan
        after = law.judge(variants, row)
        best = int(np.argmin(after.whole))
        places.append(int(known[best]))
        rest = variants[best]
        if _in_order(law, after)[best]:
            return Explanation(MISPLACED if len(places) == 1 else SEVERAL, tuple(places), True)
    order = _order(law, shape, row)
    if order is not None:
        return order
    p = law.p_values(law.judge(shape[None], row))
    if p.whole[0] < _IN_ORDER:
        return Explanation(OUTLYING, (), False)
    return Explanation(MISPLACED, (int(np.nanargmin(p.landmarks[0])),), False)

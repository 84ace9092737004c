"""Training rows judged as new ones will be.

What is learnt, scaling included, is learnt without the part of the rows that they are in.
Neighbours, descriptions and kernels need no learning: there only the row itself, or its group, is
left out, so that as many others are near it as near a new row. Of very many rows one more or less
changes no scale, and descriptions are made once.
"""

from typing import Final, NamedTuple

import numpy as np

from kernova.description.open_set.evidence import (
    Evidence,
    EvidenceSettings,
    SeenRows,
    Training,
    assembled,
    column_scaling,
    described_classes,
    learn,
    smoothed,
)
from kernova.description.open_set.kernel_ridge import (
    MOST_LANDMARKS,
    held_out_log_probabilities,
    left_out_log_probabilities,
)
from kernova.kernels.functions import squared_distances
from kernova.neighbors.products import kth_distances
from kernova.parallel import row_blocks
from kernova.progress import track
from kernova.typing import Indices, Mask, Matrix, Vector

# With so many rows, and so many for each column, a row has no say in the scale of its columns.
_MANY_ROWS: Final = 2000
_ROWS_PER_COLUMN: Final = 50
# With fewer rows for each direction, the scale within classes fits the rows that it was learnt from
# better than any others: rows held out together would be nearer to each other than to these.
_ROWS_PER_DIRECTION: Final = 10
_LEAST: Final = 1e-300  # membership that a left-out row keeps


class HeldOut(NamedTuple):
    """Evidence on the training rows; only rows whose class was present without them count."""

    evidence: Evidence
    is_judged: Mask


def judged_by_others(
    training: Training, parts: Indices, n_classes: int, settings: EvidenceSettings
) -> HeldOut:
    """Judge every training row by a fit without its part; a lone part is judged by itself."""
    numbers = np.unique(parts).tolist()
    rows = column_scaling(training, settings.scale, settings.robust)(training.X)
    by_kernel = _by_kernel(rows, training, parts, settings)
    memberships = None
    if len(rows) > max(_MANY_ROWS, _ROWS_PER_COLUMN * rows.shape[1]):
        memberships = left_out_memberships(rows, training, np.arange(len(rows)), settings)
    shared = _Shared(n_classes, settings, by_kernel, memberships)
    found: list[tuple[Indices, Evidence]] = []
    is_judged = np.zeros(len(parts), dtype=bool)
    for part in track(numbers, "cross-validation"):
        chosen = np.flatnonzero(parts == part)
        found.append((chosen, _evidence_on(training, chosen, shared)))
        is_judged[chosen] = np.isin(training.codes[chosen], training.codes[parts != part])
    return HeldOut(_joined(found, len(parts)), is_judged)


class _Shared(NamedTuple):
    """What the fits to all parts share."""

    n_classes: int
    settings: EvidenceSettings
    by_kernel: Matrix
    memberships: Vector | None


def _by_kernel(
    rows: Matrix, training: Training, parts: Indices, settings: EvidenceSettings
) -> Matrix:
    """Return what the kernel says of the rows: left out one by one, or in parts if very many."""
    present, codes = np.unique(training.codes, return_inverse=True)
    weights = training.weights / training.weights.mean()
    if len(rows) <= MOST_LANDMARKS or len(np.unique(parts)) < 2:
        return left_out_log_probabilities(
            rows, codes, weights, len(present), settings.ridge, training.groups
        )
    return held_out_log_probabilities(rows, codes, weights, len(present), settings.ridge, parts)


def _evidence_on(training: Training, chosen: Indices, shared: _Shared) -> Evidence:
    """Return what all members say of some training rows, by a fit to the others."""
    is_learnt = np.ones(len(training.X), dtype=bool)
    is_learnt[chosen] = False
    learnt = learn(training.part(is_learnt if is_learnt.any() else chosen), shared.settings)
    rows = learnt.seen(training.X)
    if shared.memberships is None:
        membership = left_out_memberships(rows.scaled, training, chosen, shared.settings)
    else:
        membership = shared.memberships[chosen]
    columns = np.searchsorted(np.unique(training.codes), learnt.present)
    return assembled(
        shared.n_classes,
        learnt,
        SeenRows(*(part[chosen] for part in rows)),
        smoothed(shared.by_kernel[np.ix_(chosen, columns)], len(training.X)),
        [
            left_out_distances(rows.scaled, chosen, training.groups),
            _distances_within(rows.turned, chosen, is_learnt, training.groups),
            -membership,
        ],
    )


def _distances_within(turned: Matrix, chosen: Indices, is_learnt: Mask, groups: Indices) -> Vector:
    """Return the distances to the nearest other row, on the scale within classes."""
    n_rows, n_directions = turned.shape
    if n_rows < _ROWS_PER_DIRECTION * n_directions and is_learnt.any():
        return kth_distances(turned[is_learnt], [1], turned[chosen])[:, 0]
    return left_out_distances(turned, chosen, groups)


def left_out_distances(rows: Matrix, chosen: Indices, groups: Indices) -> Vector:
    """Return the distance of chosen rows to the nearest of another group; 0 without one.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [5.0]])
    >>> left_out_distances(rows, np.array([0, 2]), np.array([0, 0, 1]))
    array([5., 4.])
    """
    if len(rows) > 1 and len(np.unique(groups)) == len(rows):
        return kth_distances(rows, [1], rows[chosen], chosen)[:, 0]
    found = np.empty(len(chosen))
    for block in row_blocks(len(chosen), 3 * len(rows)):
        squared = squared_distances(rows[chosen[block]], rows)
        squared[groups[chosen[block], None] == groups] = np.inf
        found[block] = squared.min(axis=1)
    # A row without others is as novel as one of known rows can be told to be: not at all.
    return np.sqrt(np.where(np.isinf(found), 0.0, found))


def left_out_memberships(
    rows: Matrix, training: Training, chosen: Indices, settings: EvidenceSettings
) -> Vector:
    """Return the log of the largest membership of chosen rows, each left out of its own class."""
    largest = np.full(len(chosen), -np.inf)
    codes = np.unique(training.codes)
    of_classes = described_classes(rows, training, settings)
    for code, one in zip(codes.tolist(), of_classes, strict=True):
        is_own = training.codes[chosen] == code
        log_q = np.empty(len(chosen))
        log_q[~is_own] = one.description.log_membership(rows[chosen[~is_own]])
        place = np.searchsorted(np.flatnonzero(training.codes == code), chosen[is_own])
        # Without its only row, a class has no membership.
        log_q[is_own] = np.log(np.maximum(np.nan_to_num(one.left_out[place]), _LEAST))
        largest = np.maximum(largest, log_q)
    return largest


def _joined(found: list[tuple[Indices, Evidence]], n_rows: int) -> Evidence:
    """Put the parts together, with the members of novelty that all of them have."""
    n_members = min(len(one.novelties) for _, one in found)
    n_pooled, _, n_classes = found[0][1].log_probabilities.shape
    log_p = np.empty((n_pooled, n_rows, n_classes))
    novelties = np.empty((n_members, n_rows))
    for chosen, one in found:
        log_p[:, chosen], novelties[:, chosen] = one.log_probabilities, one.novelties[:n_members]
    return Evidence(log_p, novelties)

"""Random baseline: what random sampling would be expected to find, with a band.

If the sizes of all categories were known, the expected number of categories among q random rows
could be computed exactly. During a session only labelled rows are known, and a strategy chose them:
unlabelled rows are divided among the categories near them, and what remains of the bias is removed
by a factor measured on tables with known categories, as is the band.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from kernova.errors import InputError
from kernova.typing import Indices, Matrix, Vector

# A labelled row counts by the rank of its distance to the power of minus this; the next ones only.
_RANK_POWER: Final = 2.0
_MOST_RANKS: Final = 30
# Limits on the work, sufficient for a curve on a page after every answer.
_MAX_LABELLED: Final = 2000
_MAX_SAMPLED: Final = 1000
_MIN_SAMPLED: Final = 200
_MAX_PAIRS: Final = 400_000
_MAX_NUMBERS: Final = 20_000_000
# A longer curve is computed at fewer questions, and interpolated in between.
_MAX_TERMS: Final = 4_000_000


class Corrections(NamedTuple):
    """Factors on the categories expected beyond the first, by the number of labelled rows.

    Attributes
    ----------
    labelled : tuple of int
        Numbers of labelled rows; interpolated in between on a logarithmic scale.
    middle : tuple of float
        Factors that leave no bias, on average over the problems.
    low, high : tuple of float
        Factors between which four of five true values lay where they were fitted.
    """

    labelled: tuple[int, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def at(self, n_labelled: int) -> Vector:
        """Return the three factors: low, middle, high."""
        place = np.log(max(n_labelled, 1))
        knots = np.log(self.labelled)
        return np.array([np.interp(place, knots, of) for of in (self.low, self.middle, self.high)])


#: Fitted on the choosing problems of the proving ground: ``python -m benchmarks.curves_and_stops``.
CORRECTIONS: Final = Corrections(
    labelled=(5, 10, 20, 46, 100, 200, 400),
    middle=(1.27, 1.1, 1.01, 0.973, 0.967, 0.987, 0.996),
    low=(0.718, 0.645, 0.699, 0.755, 0.842, 0.893, 0.95),
    high=(2.34, 1.8, 1.52, 1.32, 1.16, 1.11, 1.04),
)


class BaselineBand(NamedTuple):
    """Expected number of categories after 1, 2 ... random questions, and a band of 80 %."""

    expected: Vector
    low: Vector
    high: Vector


def expected_by_random_sampling(sizes: ArrayLike, n_rows: int, questions: ArrayLike) -> Vector:
    """Return the expected number of categories in a random sample without replacement.

    A sample of q rows misses a category of s of n rows with probability C(n - s, q) / C(n, q).
    This is exact for whole sizes, and interpolated for others.

    Parameters
    ----------
    sizes : array-like of shape (n_categories,)
        Number of rows of each category.
    n_rows : int
        Number of rows.
    questions : array-like of int
        Sample sizes, from 0 to ``n_rows``.

    Returns
    -------
    ndarray
        One number for each of ``questions``.

    Examples
    --------
    >>> from kernova.discover.random_baseline import expected_by_random_sampling
    >>> expected_by_random_sampling([8, 2], 10, [0, 1, 2, 10]).round(3)
    array([0.   , 1.   , 1.356, 2.   ])
    """
    of_each = np.asarray(sizes, dtype=np.float64).reshape(-1, 1)
    sampled = np.asarray(questions, dtype=np.float64)
    _check_sample(of_each, n_rows, sampled)
    unsampled = n_rows - sampled.reshape(1, -1)
    spare = unsampled - of_each  # unsampled rows beyond those of the category
    is_found = (spare <= -1) | (unsampled == 0) & (of_each > 0)
    log_missed = (
        (gammaln(n_rows - of_each + 1) - gammaln(n_rows + 1.0))
        + gammaln(unsampled + 1)
        - gammaln(np.where(is_found, 0.0, spare) + 1)
    )
    missed = np.where(is_found, 0.0, np.exp(np.minimum(log_missed, 0.0)))
    return np.asarray((1 - missed).sum(axis=0).reshape(sampled.shape))


def estimated_sizes(Z: Matrix, labels: Sequence[str | None] | NDArray[Any]) -> dict[str, float]:
    """Estimate the number of rows of each category from the labelled rows.

    The labelled row that is nearest to an unlabelled one counts 1, the next 1/4, the third 1/9,
    each for its category, and these weights are scaled to add up to one row. Ranks do not depend on
    how far apart rows are, which differs between the sparse and the dense regions that a strategy
    asks about. An unlabelled row is assumed to belong to a category found so far.

    Large tables are subsampled: every k-th row, deterministic.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
        Standardised rows.
    labels : sequence of str or None
        Label of each row, None where unknown.

    Returns
    -------
    dict of str to float
        Sizes that add up to the number of rows, in the order of first rows; empty if no row has a
        label.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.random_baseline import estimated_sizes
    >>> Z = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> {name: round(size, 2) for name, size in
    ...  estimated_sizes(Z, ["cod", None, None, "eel"]).items()}
    {'cod': 2.0, 'eel': 2.0}
    """
    members = _members(labels)
    rows = [np.asarray(of, dtype=np.intp) for of in members.values()]
    n_others = len(Z) - sum(map(len, rows))
    if not rows or n_others == 0:
        return {name: float(len(of)) for name, of in members.items()}
    sample = _unlabelled_sample(Z, np.concatenate(rows))
    fractions = _weights(Z, rows, sample).mean(axis=0).tolist()
    return {
        name: len(of) + n_others * fraction
        for (name, of), fraction in zip(members.items(), fractions, strict=True)
    }


def _members(labels: Sequence[str | None] | NDArray[Any]) -> dict[str, list[int]]:
    """Return the rows of each category, in the order of first rows."""
    given = np.asarray(labels, dtype=object)
    members: dict[str, list[int]] = {}
    for row in np.flatnonzero(given != None).tolist():  # noqa: E711 - elementwise
        members.setdefault(str(given[row]), []).append(row)
    return members


def _unlabelled_sample(Z: Matrix, labelled: Indices) -> Indices:
    """Return unlabelled rows, evenly spaced; all of them if they are few."""
    n_pairs = min(_MAX_PAIRS, _MAX_NUMBERS // max(1, Z.shape[1]))
    room = max(_MIN_SAMPLED, min(_MAX_SAMPLED, n_pairs // min(len(labelled), _MAX_LABELLED)))
    n_drawn = room if len(labelled) < len(Z) // 2 else len(Z)
    sample = np.setdiff1d(_evenly_spaced(np.arange(len(Z)), n_drawn), labelled)
    if len(sample) == 0:
        sample = np.setdiff1d(np.arange(len(Z)), labelled)
    return _evenly_spaced(sample, room)


def _weights(Z: Matrix, members: list[Indices], sample: Indices) -> Matrix:
    """Return the weight of each category for each sampled row; a row's weights add up to one."""
    n_labelled = sum(map(len, members))
    kept = [_evenly_spaced(of, -(-len(of) * _MAX_LABELLED // n_labelled)) for of in members]
    codes = np.repeat(np.arange(len(kept)), [len(of) for of in kept])
    distances = cdist(Z[sample], Z[np.concatenate(kept)])
    n_ranks = min(_MOST_RANKS, len(codes))
    nearest = np.argpartition(distances, n_ranks - 1, axis=1)[:, :n_ranks]
    order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1, kind="stable")
    nearest = np.take_along_axis(nearest, order, axis=1)
    of_rank = np.arange(1, n_ranks + 1) ** -_RANK_POWER
    cells = np.arange(len(sample))[:, None] * len(kept) + codes[nearest]
    counted = np.bincount(
        cells.ravel(),
        weights=np.tile(of_rank / of_rank.sum(), len(sample)),
        minlength=len(sample) * len(kept),
    )
    return np.asarray(counted.reshape(len(sample), len(kept)))


def random_baseline(
    Z: Matrix,
    labels: Sequence[str | None] | NDArray[Any],
    n_questions: int,
    *,
    prior_rows: Collection[int] = (),
    corrections: Corrections = CORRECTIONS,
) -> BaselineBand:
    """Return the expected number of categories after 1, 2 ... random questions, with a band.

    The sizes of :func:`estimated_sizes` leave a bias: categories not yet found are missing, and
    small ones come out too large. A factor, which depends on the number of labelled rows alone,
    removes it on average over tables with known categories and questions of the default strategy.
    There, four of five true values lay in the band, and about three of four on other tables; for a
    single table the curve may be off as far as the band says, and further after questions of
    another strategy. Where all rows are labelled, the curve is exact.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
        Standardised rows.
    labels : sequence of str or None
        Label of each row, None where unknown.
    n_questions : int
        Number of questions.
    prior_rows : collection of int
        Rows with a prior label: these are not sampled, and their categories are known from the
        beginning.
    corrections : Corrections
        The factors.

    Returns
    -------
    BaselineBand
        Three arrays of shape (n_questions,), comparable to ``curve_`` of a session.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.random_baseline import random_baseline
    >>> Z = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> random_baseline(Z, ["a", "a", "b", "b"], 2).expected.round(2)
    array([1.  , 1.67])
    """
    given = np.asarray(labels, dtype=object)
    sizes = estimated_sizes(Z, given)
    before = {str(given[row]) for row in prior_rows if given[row] is not None}
    n_open = len(given) - len(set(prior_rows))
    questions = np.minimum(np.arange(1, n_questions + 1), n_open)
    if not sizes or n_questions == 0 or n_open == 0:
        flat = np.full(n_questions, float(len(before)))
        return BaselineBand(flat, flat.copy(), flat.copy())
    unknown = [min(size, float(n_open)) for name, size in sizes.items() if name not in before]
    knots = _knots(questions, max(64, _MAX_TERMS // max(1, len(unknown))))
    expected = expected_by_random_sampling(unknown, n_open, knots)
    if len(knots) < len(questions):
        expected = np.interp(questions, knots, expected)
    n_labelled = int(np.count_nonzero(given != None))  # noqa: E711 - elementwise
    factors = corrections.at(n_labelled) ** (1 - n_labelled / len(given))
    # The first question meets at most one category, whatever the sizes.
    beyond = expected - expected[0]
    low, middle, high = (
        len(before) + np.minimum(expected[0] + factor * beyond, questions) for factor in factors
    )
    return BaselineBand(middle, low, high)


def _knots(questions: Indices, n_max: int) -> Indices:
    """Return at most ``n_max`` of the questions, denser at the beginning, where a curve bends."""
    if len(questions) <= n_max:
        return questions
    last = len(questions) - 1
    bent = np.geomspace(1, last, n_max // 2) - 1
    even = np.linspace(0, last, n_max - n_max // 2)
    return questions[np.unique(np.concatenate([bent, even]).astype(np.intp))]


def _evenly_spaced(rows: Indices, n_max: int) -> Indices:
    """Return at most ``n_max`` of the rows, evenly spaced."""
    if len(rows) <= n_max:
        return rows
    return rows[np.arange(n_max) * len(rows) // n_max]


def _check_sample(sizes: Matrix, n_rows: int, questions: Vector) -> None:
    if not ((sizes >= 0) & (sizes <= n_rows)).all():
        raise InputError(
            f"Sizes must lie between 0 and the number of rows, {n_rows}; got sizes from "
            f"{sizes.min():g} to {sizes.max():g}."
        )
    if not ((questions >= 0) & (questions <= n_rows)).all():
        raise InputError(
            f"Between 0 and {n_rows} rows can be sampled; got {questions.min():g} to "
            f"{questions.max():g} questions."
        )

"""Agreement of experts beyond chance: Cohen's kappa, Fleiss' kappa, Krippendorff's alpha.

All functions take counts: how many experts gave each category to each row, or for two experts how
often each pair of categories occurred. Rows may have different numbers of experts; a row with
fewer than two says nothing about agreement and is left out.

Intervals hold 95 %. For two experts they are asymptotic (Fleiss, Cohen and Everitt 1969); for
several they come from a bootstrap over rows. Both would shrink to a point where all experts agree;
there the lower limit follows from the Wilson interval of the observed agreement instead.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernova.typing import Indices, Matrix, Vector
from kernova.workbench.suggestions import wilson_interval

_Z: Final = 1.959963984540054
_PERCENTILES: Final = (2.5, 97.5)
_DRAWS: Final = 1000
_ALMOST: Final = 1e-12

# Observed agreement and agreement by chance, of weights of the patterns in each line.
_Values = Callable[[Matrix], tuple[Vector, Vector]]


class Coefficient(NamedTuple):
    """An agreement beyond chance with its interval; NaN where only one category was given."""

    value: float
    low: float
    high: float


def cohen_kappa(table: ArrayLike) -> Coefficient:
    """Return Cohen's kappa of two experts.

    Parameters
    ----------
    table : array of shape (n_categories, n_categories)
        How many rows the first expert put into the category of the line and the second into that
        of the column.

    Returns
    -------
    Coefficient
        Kappa with its asymptotic interval.

    Examples
    --------
    >>> from kernova.workbench.colleagues.agreement import cohen_kappa
    >>> kappa = cohen_kappa([[88, 14, 18], [10, 40, 10], [2, 6, 12]])  # Cohen (1960)
    >>> print(f"{kappa.value:.3f} ({kappa.low:.3f} to {kappa.high:.3f})")
    0.492 (0.392 to 0.591)
    """
    counts = np.asarray(table, dtype=np.float64)
    n_rows = counts.sum()
    if n_rows == 0:
        return _undefined()
    p = counts / n_rows
    first, second = p.sum(axis=1), p.sum(axis=0)
    observed, chance = float(np.trace(p)), float(first @ second)
    if 1 - chance < _ALMOST:
        return _undefined()
    kappa = _beyond_chance(observed, chance)
    if 1 - observed < _ALMOST:
        return _perfect(n_rows, chance)
    agreeing = np.diag(p) @ (1 - (first + second) * (1 - kappa)) ** 2
    off_diagonal = p - np.diag(np.diag(p))
    differing = (1 - kappa) ** 2 * (off_diagonal * (second[:, None] + first[None, :]) ** 2).sum()
    centre = (kappa - chance * (1 - kappa)) ** 2
    variance = max((agreeing + differing - centre) / (1 - chance) ** 2 / n_rows, 0.0)
    half = _Z * float(np.sqrt(variance))
    return Coefficient(kappa, max(kappa - half, -1.0), min(kappa + half, 1.0))


def fleiss_kappa(counts: ArrayLike) -> Coefficient:
    """Return Fleiss' kappa of any number of experts.

    Where rows have different numbers of experts, each row counts the same: agreement is the mean
    over rows of the fraction of agreeing pairs, and a category's frequency the mean of its fraction
    of the opinions. With equal numbers, that is Fleiss' definition (1971).

    Parameters
    ----------
    counts : array of shape (n_rows, n_categories)
        How many experts gave each category to each row.

    Returns
    -------
    Coefficient
        Kappa with its interval by a bootstrap over rows.

    Examples
    --------
    >>> from kernova.workbench.colleagues.agreement import fleiss_kappa
    >>> kappa = fleiss_kappa([[3, 0], [2, 1], [0, 3], [0, 2]])
    >>> print(f"{kappa.value:.3f}")
    0.657
    """
    patterns, weights = _patterns(counts)
    if len(patterns) == 0:
        return _undefined()
    n_opinions = patterns.sum(axis=1)
    agreeing = _agreeing_pairs(patterns)
    fractions = patterns / n_opinions[:, None]

    def values(draws: Matrix) -> tuple[Vector, Vector]:
        n_rows = draws.sum(axis=1)
        chance = ((draws @ fractions / n_rows[:, None]) ** 2).sum(axis=1)
        return draws @ agreeing / n_rows, chance

    return _with_interval(values, weights)


def krippendorff_alpha(counts: ArrayLike) -> Coefficient:
    """Return Krippendorff's alpha for categories without order.

    Every opinion counts the same, whatever the number of experts of its row, and chance is
    corrected for small samples.

    Parameters
    ----------
    counts : array of shape (n_rows, n_categories)
        How many experts gave each category to each row.

    Returns
    -------
    Coefficient
        Alpha with its interval by a bootstrap over rows.

    Examples
    --------
    >>> from kernova.workbench.colleagues.agreement import krippendorff_alpha
    >>> alpha = krippendorff_alpha([[3, 0], [2, 1], [0, 3], [0, 2]])
    >>> print(f"{alpha.value:.3f}")
    0.667
    """
    patterns, weights = _patterns(counts)
    if len(patterns) == 0:
        return _undefined()
    n_opinions = patterns.sum(axis=1)
    agreeing = n_opinions * _agreeing_pairs(patterns)  # the diagonal of the coincidences

    def values(draws: Matrix) -> tuple[Vector, Vector]:
        n_all, of_category = draws @ n_opinions, draws @ patterns
        chance = (of_category * (of_category - 1)).sum(axis=1) / (n_all * (n_all - 1))
        return draws @ agreeing / n_all, chance

    return _with_interval(values, weights)


def raw_agreement(counts: ArrayLike) -> float:
    """Return the mean over rows of the fraction of pairs of experts who agree; NaN without rows.

    Examples
    --------
    >>> from kernova.workbench.colleagues.agreement import raw_agreement
    >>> raw_agreement([[2, 0], [1, 1], [0, 2], [1, 0]])
    0.6666666666666666
    """
    patterns, weights = _patterns(counts)
    if len(patterns) == 0:
        return float("nan")
    return float(weights @ _agreeing_pairs(patterns) / weights.sum())


def category_agreement(counts: ArrayLike) -> Vector:
    """Return for each category how often another expert gives it, too, to a row that has it.

    This is the specific agreement of Spitzer and Fleiss (1974); NaN for categories that no row
    with two opinions has.

    Examples
    --------
    >>> from kernova.workbench.colleagues.agreement import category_agreement
    >>> category_agreement([[2, 0], [1, 1], [0, 2]]).round(3).tolist()
    [0.667, 0.667]
    """
    patterns, weights = _patterns(counts)
    others = np.maximum(patterns.sum(axis=1, keepdims=True) - 1, 1)
    agreeing = weights @ (patterns * (patterns - 1))
    possible = weights @ (patterns * others)
    return np.divide(
        agreeing, possible, out=np.full(possible.shape, np.nan), where=possible > 0
    )  # fmt: skip


def confusion(first: Indices, second: Indices, n_categories: int) -> Indices:
    """Return how often each pair of categories occurs; rows that either has not labelled do not.

    Parameters
    ----------
    first, second : array of int
        Each expert's category of every row; negative for none.
    n_categories : int
        Number of categories.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.colleagues.agreement import confusion
    >>> confusion(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    both = (first >= 0) & (second >= 0)
    pairs = first[both] * n_categories + second[both]
    return np.bincount(pairs, minlength=n_categories**2).reshape(n_categories, n_categories)


def category_counts(codes: Indices, n_categories: int) -> Indices:
    """Return how many experts gave each category to each row.

    Parameters
    ----------
    codes : array of int, of shape (n_rows, n_experts)
        Category of each row by each expert; negative for none.
    n_categories : int
        Number of categories.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.colleagues.agreement import category_counts
    >>> category_counts(np.array([[0, 0, 1], [1, -1, 1]]), 2).tolist()
    [[2, 1], [0, 2]]
    """
    n_rows = len(codes)
    rows, experts = np.nonzero(codes >= 0)
    places = rows * n_categories + codes[rows, experts]
    return np.bincount(places, minlength=n_rows * n_categories).reshape(n_rows, n_categories)


# --- internals -------------------------------------------------------------------------------


def _patterns(counts: ArrayLike) -> tuple[Matrix, Vector]:
    """Return the distinct rows of counts with two or more opinions, and how many rows have each."""
    table = np.asarray(counts, dtype=np.float64)
    usable = table[table.sum(axis=1) >= 2]
    patterns, weights = np.unique(usable, axis=0, return_counts=True)
    return patterns, weights.astype(np.float64)


def _agreeing_pairs(patterns: Matrix) -> Vector:
    """Return the fraction of pairs of experts who agree."""
    n = patterns.sum(axis=1)
    return np.asarray((patterns * (patterns - 1)).sum(axis=1) / (n * (n - 1)))


def _beyond_chance(observed: float, chance: float) -> float:
    return (observed - chance) / (1 - chance)


def _undefined() -> Coefficient:
    return Coefficient(float("nan"), float("nan"), float("nan"))


def _perfect(n_rows: float, chance: float) -> Coefficient:
    """Return complete agreement; its lower limit allows for the differences not met yet."""
    return Coefficient(1.0, _beyond_chance(wilson_interval(n_rows, n_rows).low, chance), 1.0)


def _with_interval(values: _Values, weights: Vector) -> Coefficient:
    """Return a coefficient with its interval; rows with the same counts are drawn together."""
    observed, chance = (float(one[0]) for one in values(weights[None, :]))
    if 1 - chance < _ALMOST:
        return _undefined()
    if 1 - observed < _ALMOST:
        return _perfect(float(weights.sum()), chance)
    rng = np.random.default_rng(0)
    n_rows = int(weights.sum())
    draws = rng.multinomial(n_rows, weights / n_rows, size=_DRAWS).astype(np.float64)
    drawn_observed, drawn_chance = values(draws)
    is_defined = 1 - drawn_chance > _ALMOST
    drawn = (drawn_observed - drawn_chance)[is_defined] / (1 - drawn_chance[is_defined])
    low, high = np.percentile(drawn, _PERCENTILES)
    return Coefficient(_beyond_chance(observed, chance), float(low), float(high))

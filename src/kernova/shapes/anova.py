"""Procrustes analysis of variance: sums of squares of shapes, with residual randomisation.

Sums of squares are summed over all coordinates, so that an effect is a Procrustes distance
(Goodall 1991). Their probabilities come from permuting the residuals of the model without the
effect, which keeps what the other terms explain in place (Freedman and Lane 1983; Collyer, Sekora
and Adams 2015).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kernova.errors import InputError, check_count
from kernova.typing import Indices, Matrix, Vector

# Directions of a design below this fraction of its largest repeat earlier ones.
_REPEATED = 1e-9
N_PERMUTATIONS = 999


def procrustes_anova(
    shapes: ArrayLike,
    terms: Mapping[str, ArrayLike],
    *,
    n_permutations: int = N_PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Analysis of variance of shapes, term by term in the given order (type I).

    Parameters
    ----------
    shapes : array-like of shape (n, n_columns) or (n, n_landmarks, n_dimensions)
        Aligned specimens.
    terms : mapping of str to array-like
        For each term a column of numbers (a regression), of text (a factor), or a matrix of
        numbers (a design of its own, such as :func:`interaction`).
    n_permutations : int, default=999
        The number of random permutations of residuals; the data themselves count as one more.
    seed : int, default=0
        Determines the permutations.

    Returns
    -------
    DataFrame
        One line per term, and the lines ``residuals`` and ``total``: ``df``, ``sum_of_squares``,
        ``mean_square``, ``r_squared``, ``f`` and ``p_value``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.anova import procrustes_anova
    >>> shapes = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.1, 0.0]])
    >>> table = procrustes_anova(shapes, {"species": ["a", "a", "b", "b"]})
    >>> table.loc["species", ["df", "sum_of_squares", "f"]].round(3).tolist()
    [1.0, 2.0, 400.0]
    """
    check_count(n_permutations, "n_permutations", 0)
    rows = np.asarray(shapes, dtype=np.float64).reshape(len(np.asarray(shapes)), -1)
    designs = {name: design_of(values, len(rows), name) for name, values in terms.items()}
    order = permutations(len(rows), n_permutations, np.random.default_rng(seed))
    basis = np.full((len(rows), 1), len(rows) ** -0.5)
    total = float(np.square(rows - rows.mean(axis=0)).sum())
    full = _orthonormal(np.column_stack([basis, *designs.values()]))
    df_rest = len(rows) - full.shape[1]
    lines = []
    for name, design in designs.items():
        added = orthonormal_beyond(design, basis)
        lines.append({"term": name, **_term(rows, basis, added, full, df_rest, order, total)})
        basis = np.column_stack([basis, added])
    rest = float(np.square(rows - full @ (full.T @ rows)).sum())
    lines.append({"term": "residuals", **_plain(df_rest, rest, total)})
    lines.append({"term": "total", **_plain(len(rows) - 1, total, total)})
    return pd.DataFrame(lines).set_index("term")


def _plain(df: int, squares: float, total: float) -> dict[str, float]:
    mean = squares / df if df else np.nan
    r_squared = squares / total if total else np.nan
    return {"df": df, "sum_of_squares": squares, "mean_square": mean, "r_squared": r_squared}


def _term(
    rows: Matrix,
    reduced: Matrix,
    added: Matrix,
    full: Matrix,
    df_rest: int,
    order: Indices,
    total: float,
) -> dict[str, float]:
    """Return one line of the table, with the probability of as large an F by permutation."""
    residuals = rows - reduced @ (reduced.T @ rows)
    squares = np.array([np.square(added.T @ residuals[one]).sum() for one in order])
    rests = np.array(
        [np.square(residuals).sum() - np.square(full.T @ residuals[one]).sum() for one in order]
    )
    df = added.shape[1]
    line = _plain(df, float(squares[0]), total)
    if not df or not df_rest:
        return {**line, "f": np.nan, "p_value": np.nan}
    with np.errstate(divide="ignore", invalid="ignore"):
        f = (squares / df) / (np.maximum(rests, 0) / df_rest)
    # Permutations that only change the order of a sum are equal; rounding must not separate them.
    is_as_large = f >= f[0] * (1 - 1e-9)
    return {**line, "f": float(f[0]), "p_value": float(is_as_large.mean())}


def permutations(n: int, n_permutations: int, rng: np.random.Generator) -> Indices:
    """Return the identity and random permutations of n rows, one per line."""
    order = np.tile(np.arange(n), (n_permutations + 1, 1))
    order[1:] = rng.permuted(order[1:], axis=1)
    return order


def design_of(values: ArrayLike, n_rows: int, name: str) -> Matrix:
    """Return the columns of a term: numbers as they are, text as one indicator per level."""
    array = np.asarray(values)
    if len(array) != n_rows:
        raise InputError(
            f"The term {name} has {len(array)} values for {n_rows} specimens; give one for each."
        )
    if array.dtype.kind in "biuf":
        design = array.astype(np.float64).reshape(n_rows, -1)
        if not np.isfinite(design).all():
            raise InputError(
                f"The term {name} has a value that is missing or infinite; leave out these "
                "specimens, or the term."
            )
        return design
    return indicators(array.astype(np.str_))


def indicators(labels: ArrayLike) -> Matrix:
    """Return one column of zeros and ones per level of a factor, levels in sorted order."""
    _, member = np.unique(np.asarray(labels), return_inverse=True)
    return np.eye(int(member.max(initial=-1)) + 1)[member]


def interaction(*terms: ArrayLike) -> Matrix:
    """Return the products of the columns of several terms, as in ``species:site``."""
    n_rows = len(np.asarray(terms[0]))
    design = np.ones((n_rows, 1))
    for number, values in enumerate(terms):
        other = design_of(values, n_rows, str(number))
        design = (design[:, :, None] * other[:, None, :]).reshape(n_rows, -1)
    return design


def orthonormal_beyond(design: Matrix, basis: Matrix) -> Matrix:
    """Return orthonormal columns for what a design adds to an orthonormal basis."""
    lengths = np.linalg.norm(design, axis=0)
    scaled = design / np.where(lengths > 0, lengths, 1)
    # Twice, since one projection leaves rounding errors of the size of what it removes.
    rest = scaled - basis @ (basis.T @ scaled)
    rest = rest - basis @ (basis.T @ rest)
    return _orthonormal(rest)


def _orthonormal(design: Matrix) -> Matrix:
    left, strength, _ = np.linalg.svd(design, full_matrices=False)
    return np.asarray(left[:, strength > _REPEATED])


class GoodallTest(NamedTuple):
    """Goodall's F for two samples of shapes: between-sample over within-sample variance."""

    f: float
    df: tuple[int, int]  # degrees of freedom, times the dimension of shape space
    distance: float  # Procrustes distance of the mean shapes


def goodall_test(first: ArrayLike, second: ArrayLike, n_shape_directions: int) -> GoodallTest:
    """Goodall's F between two samples of aligned specimens.

    Parameters
    ----------
    first, second : array-like of shape (n, n_columns)
        Aligned rows of two samples.
    n_shape_directions : int
        The dimension of shape space: landmarks times dimensions, less position, size, direction.

    Examples
    --------
    >>> from kernova.shapes.anova import goodall_test
    >>> goodall_test([[0.0, 1.0], [0.1, 1.0]], [[1.0, 0.0], [1.1, 0.0]], 4).f.__round__(6)
    400.0
    """
    a, b = (np.asarray(rows, dtype=np.float64) for rows in (first, second))
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    difference = a.mean(axis=0) - b.mean(axis=0)
    between = len(a) * len(b) / (len(a) + len(b)) * float(difference @ difference)
    within = float(np.square(a - a.mean(axis=0)).sum() + np.square(b - b.mean(axis=0)).sum())
    n_rest = len(a) + len(b) - 2
    f = between / (within / n_rest) if within > 0 else np.inf
    df = (n_shape_directions, n_rest * n_shape_directions)
    return GoodallTest(f, df, float(np.linalg.norm(difference)))


class Allometry(NamedTuple):
    """Change of shape with size within groups."""

    slope: Vector  # common slope: change of each coordinate per unit of log centroid size
    r_squared: float  # fraction of the variance within groups that a common slope explains
    p_value: float  # of the hypothesis that shape does not change with size
    slopes_p_value: float  # of the hypothesis that all groups have the same slope


def allometry(
    shapes: ArrayLike,
    log_sizes: ArrayLike,
    groups: Sequence[str],
    *,
    n_permutations: int = N_PERMUTATIONS,
    seed: int = 0,
) -> Allometry:
    """Pooled within-group regression of shape on log centroid size, and a test of its slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.anova import allometry
    >>> size = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0])
    >>> shapes = np.column_stack([size, [5.0, 5.1, 4.9, 7.0, 7.1, 6.9]])
    >>> allometry(shapes, size, list("aaabbb")).slope.round(3)
    array([ 1.  , -0.05])
    """
    rows = np.asarray(shapes, dtype=np.float64).reshape(len(groups), -1)
    sizes = np.asarray(log_sizes, dtype=np.float64)
    terms = {"group": np.asarray(groups, dtype=np.str_), "size": sizes}
    terms["slopes"] = interaction(terms["group"], sizes)
    table = procrustes_anova(rows, terms, n_permutations=n_permutations, seed=seed)
    squares = table["sum_of_squares"]
    within = squares["total"] - squares["group"]
    return Allometry(
        within_group_slope(rows, sizes, np.asarray(groups, dtype=np.str_)),
        float(squares["size"] / within) if within > 0 else 0.0,
        float(table["p_value"]["size"]),
        float(table["p_value"]["slopes"]),
    )


def within_group_slope(rows: Matrix, log_sizes: Vector, groups: ArrayLike) -> Vector:
    """Return the least-squares slope of rows on log size, common to all groups."""
    design = indicators(groups)
    means = np.linalg.lstsq(design, np.column_stack([log_sizes, rows]), rcond=None)[0]
    residuals = np.column_stack([log_sizes, rows]) - design @ means
    squares = float(residuals[:, 0] @ residuals[:, 0])
    # One specimen per group, or all of one size: what is left is rounding error.
    if squares <= _REPEATED**2 * float(log_sizes @ log_sizes):
        return np.zeros(rows.shape[1])
    return np.asarray(residuals[:, 0] @ residuals[:, 1:] / squares)

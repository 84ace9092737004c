"""Hyperparameters of a description: the shared length-scale, and the scaling of the columns.

The rows' squared norms y_i = x_i'x_i are explained by a Gaussian process with the kernel
k(a, b) = sigma^2 exp(-|a - b|^2 / ell^2); its cost is g = y' Kreg^-1 y + log|Kreg|, with
Kreg = K + sigma_reg^2 I. The ratio sigma_reg^2 / sigma^2 cannot be learnt, since y is a smooth
function without noise: every fit would drive it to its bound, and ell with it.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize, minimize_scalar

from kernova.kernels.functions import squared_distances
from kernova.tables.fill_values import check_no_cell_hides_others
from kernova.typing import Matrix, Vector

# The search covers the median distance divided and multiplied by this factor.
_WIDE = 30.0
_GRID = 35
_ENOUGH_ROWS = 400
# The literal fit has several starting points. It would drive sigma_reg / sigma to 0, where the
# matrix is singular.
_STARTS = 5
_SMALLEST_NOISE = 1e-4
# The spread of a normal column in units of its median absolute deviation.
_NORMAL_SPREAD = 1.4826

Scale = Literal["feature", "common", "none"]


class Hyperparameters(NamedTuple):
    """Hyperparameters of all classes; ``ridge`` is sigma_reg^2 / sigma^2."""

    length_scale: float
    signal_variance: float
    ridge: float


class ProfileCost(NamedTuple):
    """The cost at one length-scale, with the best signal variance for it."""

    cost: float
    signal_variance: float


class Cost(NamedTuple):
    """The cost, and its gradient by the logarithms of sigma, ell and sigma_reg."""

    value: float
    gradient: Vector


def squared_norms(rows: Matrix) -> Vector:
    """Return y_i = x_i'x_i."""
    return np.einsum("ij,ij->i", rows, rows)


def full_cost(log_parameters: Vector, distances: Matrix, y: Vector) -> Cost:
    """Return g and its gradient at the logarithms of sigma, ell and sigma_reg."""
    sigma, ell, noise = np.exp(log_parameters)
    K = sigma**2 * np.exp(-distances / ell**2)
    factor = cho_factor(K + noise**2 * np.eye(len(y)), lower=True)
    a = cho_solve(factor, y)
    log_determinant = 2 * np.log(np.diag(factor[0])).sum()
    M = cho_solve(factor, np.eye(len(y))) - np.outer(a, a)
    gradient = np.array(
        [
            2 * np.sum(M * K),
            np.sum(M * K * (2 * distances / ell**2)),
            2 * noise**2 * np.trace(M),
        ]
    )
    return Cost(float(y @ a + log_determinant), gradient)


def profile_cost(log_ell: float, distances: Matrix, y: Vector, ridge: float) -> ProfileCost:
    """Return g with sigma profiled out: sigma^2 = |L^-1 y|^2 / N where R = L L'."""
    R = np.exp(-distances / math.exp(2 * log_ell))
    R[np.diag_indices_from(R)] += ridge
    L = cholesky(R, lower=True, overwrite_a=True, check_finite=False)
    explained = solve_triangular(L, y, lower=True, check_finite=False)
    n = len(y)
    variance = float(explained @ explained) / n
    cost = n + n * math.log(variance) + 2 * float(np.log(np.diag(L)).sum())
    return ProfileCost(cost, variance)


def fit_length_scale(
    rows: Matrix, ridge: float, random_state: np.random.RandomState
) -> Hyperparameters:
    """Find the length-scale by the profiled cost, on 400 rows where there are more."""
    rows = _sampled(rows, random_state)
    distances = squared_distances(rows, rows)
    middle = median_distance(distances)
    y = squared_norms(rows)
    y = y - y.mean()
    if np.ptp(y) <= 1e-9 * max(1.0, float(np.abs(rows).max(initial=0.0)) ** 2):
        return Hyperparameters(middle, 1.0, ridge)  # all norms are equal

    def cost(log_ell: float) -> float:
        return profile_cost(log_ell, distances, y, ridge).cost

    span = math.log(_WIDE)
    grid = np.linspace(math.log(middle) - span, math.log(middle) + span, _GRID)
    costs = [cost(point) for point in grid]
    best = int(np.argmin(costs))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    log_ell = float(minimize_scalar(cost, bounds=(low, high), options={"xatol": 1e-6}).x)
    variance = profile_cost(log_ell, distances, y, ridge).signal_variance
    return Hyperparameters(math.exp(log_ell), variance, ridge)


def fit_all_three(rows: Matrix, random_state: np.random.RandomState) -> Hyperparameters:
    """Find sigma, ell and the ridge together, as published, from several starting points."""
    rows = _sampled(rows, random_state)
    distances = squared_distances(rows, rows)
    y = squared_norms(rows)
    middle = median_distance(distances)
    scale = float(np.sqrt(np.mean(y**2))) or 1.0
    center = np.log([scale, middle, 0.1])
    bounds = [
        (center[0] - 12, center[0] + 12),
        (center[1] - math.log(_WIDE), center[1] + math.log(_WIDE)),
        (math.log(_SMALLEST_NOISE), 0.0),
    ]

    def value_and_gradient(point: Vector) -> tuple[float, Vector]:
        # sigma_reg moves with sigma, so that a bound can be put on their ratio.
        log_sigma, log_ell, log_ratio = point
        cost = full_cost(np.array([log_sigma, log_ell, log_sigma + log_ratio]), distances, y)
        by_sigma, by_ell, by_noise = cost.gradient
        return cost.value, np.array([by_sigma + by_noise, by_ell, by_noise])

    starts = [center + random_state.uniform(-1, 1, size=3) * (k > 0) for k in range(_STARTS)]
    fits = [
        minimize(value_and_gradient, np.clip(start, *np.transpose(bounds)), jac=True,
                 method="L-BFGS-B", bounds=bounds)
        for start in starts
    ]  # fmt: skip
    log_sigma, log_ell, log_ratio = min(fits, key=lambda fit: float(fit.fun)).x
    return Hyperparameters(math.exp(log_ell), math.exp(2 * log_sigma), math.exp(2 * log_ratio))


def median_distance(squared: Matrix) -> float:
    """Return the median distance between two different rows; 1 if there are none."""
    apart = squared[np.triu_indices(len(squared), 1)]
    apart = apart[apart > 0]
    return float(np.sqrt(np.median(apart))) if len(apart) else 1.0


def _sampled(rows: Matrix, random_state: np.random.RandomState) -> Matrix:
    if len(rows) <= _ENOUGH_ROWS:
        return rows
    return rows[np.sort(random_state.choice(len(rows), _ENOUGH_ROWS, replace=False))]


class FeatureScaling(NamedTuple):
    """Centre and scale of the columns."""

    center: Vector
    scale: Vector

    def __call__(self, X: Matrix) -> Matrix:
        """Scale rows; very large numbers are clipped, and stay finite."""
        with np.errstate(over="ignore"):
            rows = X / self.scale - self.center / self.scale
        return np.clip(rows, -1e100, 1e100)


def feature_scaling(
    X: Matrix, how: Scale, *, is_robust: bool = False, is_checked: bool = False
) -> FeatureScaling:
    """Compute the centre and the scale of the columns.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    how : {"feature", "common", "none"}
        Divide each column by its own spread, for mixed units; all columns by one number, for
        columns of one unit; or none.
    is_robust : bool
        Median and median absolute deviation instead of mean and standard deviation.
    is_checked : bool
        The rows are part of others, of which it was checked that no cell hides the others.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [2.0, 20.0]])
    >>> feature_scaling(X, "feature")(X)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    if not (is_robust or is_checked):
        check_no_cell_hides_others(X)
    unit = _column_units(X)
    rows = X / unit
    center = np.median(rows, axis=0) if is_robust else rows.mean(axis=0)
    spread = _robust_spread(rows, center) if is_robust else rows.std(axis=0)
    # A constant column becomes zero.
    is_constant = np.ptp(rows, axis=0) <= 8 * np.finfo(float).eps
    spread = np.where(is_constant | (spread == 0), 1.0, spread)
    if how == "none":
        return FeatureScaling(center * unit, np.ones(X.shape[1]))
    if how == "common":
        largest = unit.max()
        varies = np.where(is_constant, 0.0, spread) * (unit / largest)
        # Squares of all spreads may vanish beside one huge number.
        common = float(np.sqrt(np.mean(varies**2))) or float(varies.max()) or 1.0
        return FeatureScaling(center * unit, np.full(X.shape[1], _product(common, largest)))
    return FeatureScaling(center * unit, _product(spread, unit))


def _product(spread: Vector | float, unit: Vector | float) -> Vector:
    """Multiply; a spread of huge numbers of both signs stays below the largest number."""
    with np.errstate(over="ignore"):
        return np.minimum(np.multiply(spread, unit), np.finfo(np.float64).max)


def _column_units(X: Matrix) -> Vector:
    """Return powers of two near the columns' largest numbers, so that squares stay finite."""
    _, exponents = np.frexp(np.abs(X).max(axis=0, initial=0.0))
    return np.ldexp(1.0, np.clip(exponents, -1000, 1000))


def _robust_spread(rows: Matrix, center: Vector) -> Vector:
    away = np.abs(rows - center)
    spread = _NORMAL_SPREAD * np.median(away, axis=0)
    # More than half of a column may be one value; then the mean distance from it is taken.
    return np.where(spread > 0, spread, away.mean(axis=0))

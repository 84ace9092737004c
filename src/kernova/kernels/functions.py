"""Kernels that carry their own formulas: positive definite ones, and profiles of local densities.

A kernel has three methods::

    kernel(X, Y)                    the inner products k(x, y)
    kernel.diagonal(X)              k(x, x) of each row
    kernel.squared_distance(X, Y)   k(x, x) + k(y, y) - 2 k(x, y), without cancellation

A custom kernel needs the first one only: subclass :class:`Kernel` and write ``__call__``. Write
``squared_distance`` too if there is a form that is exact for near duplicates.

Kernels add and multiply: ``Gaussian(2.0) + 0.5 * Linear()``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.spatial.distance import cdist

from kernova.errors import InputError, quoted
from kernova.typing import Matrix, Vector

# Farther from the origin, in bandwidths, squares would overflow.
_FAR = 1e150
# k(x,x) + k(y,y) - 2k(x,y) from rounded products is noise below this fraction of its terms.
_ROUNDING_FLOOR = 32 * np.finfo(np.float64).eps


@runtime_checkable
class KernelLike(Protocol):
    """The three methods that a kernel must have."""

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products in feature space of the rows of ``X`` with those of ``Y``."""
        ...

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length in feature space of each row."""
        ...

    def squared_distance(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the squared feature-space distances of the rows of ``X`` to those of ``Y``."""
        ...


class Kernel:
    """Base class of kernels: a subclass must define ``__call__`` only."""

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products in feature space of the rows of ``X`` with those of ``Y``."""
        raise TypeError(f"{type(self).__name__} must define __call__(X, Y).")

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length in feature space of each row."""
        # Small squares along the diagonal, never the whole n x n matrix.
        starts = range(0, len(X), 64)
        return np.concatenate([np.diagonal(self(X[i : i + 64], X[i : i + 64])) for i in starts])

    def squared_distance(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the squared feature-space distances of the rows of ``X`` to those of ``Y``.

        Distances below the rounding error of their terms, such as those of duplicate rows, are set
        to zero, since a depth divides by them. Override this method where there is a formula
        without cancellation.
        """
        lengths = self.diagonal(X)[:, None] + self.diagonal(Y)[None, :]
        with np.errstate(invalid="ignore"):  # inf - inf; the caller raises InputError
            squared = lengths - 2 * self(X, Y)
        squared[squared <= _ROUNDING_FLOOR * np.abs(lengths)] = 0.0
        squared[squared_distances(X, Y) == 0.0] = 0.0
        return squared

    def __add__(self, other: "Kernel") -> "Sum":
        return Sum(self, other)

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, float(other))

    __rmul__ = __mul__


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of |x - y| / bandwidth alone, with k(x, x) = 1."""

    bandwidth: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.bandwidth) and self.bandwidth > 0):
            raise InputError(
                f"A kernel's bandwidth must be a positive number; got {quoted(self.bandwidth)}."
            )

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products in feature space of the rows of ``X`` with those of ``Y``."""
        squared = self.squared_distance(X, Y)
        squared *= -0.5
        squared += 1.0
        return squared

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length in feature space of each row: 1."""
        return np.ones(len(X))

    def squared_distance(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the squared feature-space distances of the rows of ``X`` to those of ``Y``."""
        return self.squared_distance_at(self._scaled_squared_distances(X, Y))

    def reach(self, smallest: float) -> float:
        """Return the distance, in bandwidths, from which on k stays below ``smallest``."""
        near, far = 0.0, 1.0
        while self._value_at(far) > smallest:
            near, far = far, 2 * far
        for _ in range(60):
            middle = 0.5 * (near + far)
            near, far = (middle, far) if self._value_at(middle) > smallest else (near, middle)
        return far

    def _value_at(self, bandwidths_apart: float) -> float:
        scaled = np.array([bandwidths_apart**2])
        return 1.0 - 0.5 * float(self.squared_distance_at(scaled)[0])

    def rescaled(self, X: Matrix) -> Matrix:
        """Divide by the power of two next to the bandwidth, which is exact.

        Squares of the result neither overflow nor vanish.
        """
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(X, -math.frexp(self.bandwidth)[1]), -_FAR, _FAR)

    @property
    def rescaled_bandwidth(self) -> float:
        """The bandwidth between ``rescaled`` rows, from 1/2 to 1."""
        return math.frexp(self.bandwidth)[0]

    def _scaled_squared_distances(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return (|x - y| / bandwidth)^2."""
        squared = squared_distances(self.rescaled(X), self.rescaled(Y))
        squared /= self.rescaled_bandwidth**2
        return squared

    def squared_distance_at(self, scaled: Matrix) -> Matrix:
        """Return 2 - 2k for each u = (|x - y| / bandwidth)^2; may overwrite ``scaled``."""
        raise TypeError(f"{type(self).__name__} must define squared_distance_at(scaled).")


class Gaussian(Stationary):
    """Gaussian kernel, k(x, y) = exp(-|x - y|^2 / bandwidth^2), without a 2 in the denominator.

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(bandwidth=2.0)(np.array([[0.0]]), np.array([[0.0], [2.0]]))
    array([[1. , 0.36787944]])
    """

    def squared_distance_at(self, scaled: Matrix) -> Matrix:
        """Return 2 - 2 exp(-u) for each u = (|x - y| / bandwidth)^2; overwrites ``scaled``."""
        # exp(-u) - 1 costs half of expm1(-u) and is as good, but for small u, where it cancels.
        np.negative(scaled, out=scaled)
        is_small = scaled > -0.03125
        near_zero = np.expm1(scaled[is_small])
        squared = np.exp(scaled, out=scaled)
        squared -= 1.0
        squared[is_small] = near_zero
        squared *= -2.0
        return squared


class Laplacian(Stationary):
    """Laplacian kernel, k(x, y) = exp(-|x - y| / bandwidth): Matérn with nu = 1/2."""

    def squared_distance_at(self, scaled: Matrix) -> Matrix:
        """Return 2 - 2 exp(-√u) for each u = (|x - y| / bandwidth)^2; overwrites ``scaled``."""
        squared = np.sqrt(scaled, out=scaled)
        np.negative(squared, out=squared)
        np.expm1(squared, out=squared)
        squared *= -2.0
        return squared


@dataclass(frozen=True)
class Matern(Stationary):
    """Matérn kernel of smoothness ``nu`` 1.5 or 2.5, with r = |x - y| / bandwidth.

    nu = 1.5: (1 + √3 r) exp(-√3 r);  nu = 2.5: (1 + √5 r + 5/3 r²) exp(-√5 r).
    """

    nu: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (1.5, 2.5):
            raise InputError(
                f"The Matérn kernel is available for nu=1.5 and nu=2.5; got nu={quoted(self.nu)}. "
                "For nu=0.5 take 'laplacian'."
            )

    def squared_distance_at(self, scaled: Matrix) -> Matrix:
        """Return 2 - 2k for each u = (|x - y| / bandwidth)^2."""
        r = np.sqrt(2 * self.nu * scaled)
        decay = np.expm1(-r)
        polynomial = r + (r * r / 3 if self.nu == 2.5 else 0.0)
        # 1 - (1 + p) e^-r = -expm1(-r) - p e^-r; both are of order r, their difference r^2.
        squared = -2 * (decay + polynomial * (decay + 1))
        is_small = r < 0.05
        if is_small.any():
            squared[is_small] = _matern_near_zero(r[is_small], self.nu)
        return squared


def _matern_near_zero(r: Vector, nu: float) -> Vector:
    """Return 2 - 2k for small r by its power series: the closed form cancels there."""
    if nu == 1.5:
        # 1 - (1 + r) e^-r = sum_{j>=2} (-1)^j (j - 1) r^j / j!
        terms = [(j - 1) / math.factorial(j) * (-1) ** j for j in range(2, 12)]
    else:
        # 1 - (1 + r + r²/3) e^-r = sum_{j>=2} -(-1)^j (1 - j + j (j - 1) / 3) r^j / j!
        terms = [-((-1) ** j) * (1 - j + j * (j - 1) / 3) / math.factorial(j) for j in range(2, 12)]
    return 2 * r * r * np.polynomial.polynomial.polyval(r, terms)


@dataclass(frozen=True)
class Linear(Kernel):
    """Linear kernel, k(x, y) = x . y; with it, kernelized spatial depth is plain spatial depth."""

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products of the rows of ``X`` with those of ``Y``."""
        return X @ Y.T

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length of each row."""
        return np.einsum("ij,ij->i", X, X)

    def squared_distance(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the squared Euclidean distances of the rows of ``X`` to those of ``Y``."""
        return squared_distances(X, Y)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel, k(x, y) = (x . y / bandwidth² + offset) ** degree."""

    bandwidth: float = 1.0
    degree: int = 3
    offset: float = 1.0

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products in feature space of the rows of ``X`` with those of ``Y``."""
        # Rows are divided, since the square of a tiny or huge bandwidth is 0 or overflows.
        with np.errstate(over="ignore", invalid="ignore"):
            products = (X / self.bandwidth) @ (Y / self.bandwidth).T
            return (products + self.offset) ** self.degree

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length in feature space of each row."""
        with np.errstate(over="ignore"):
            scaled = X / self.bandwidth
            return (np.einsum("ij,ij->i", scaled, scaled) + self.offset) ** self.degree


@dataclass(frozen=True)
class Sum(Kernel):
    """Sum of two kernels; its squared distances are the sums of theirs."""

    first: Kernel
    second: Kernel

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products in feature space of the rows of ``X`` with those of ``Y``."""
        return self.first(X, Y) + self.second(X, Y)

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length in feature space of each row."""
        return self.first.diagonal(X) + self.second.diagonal(X)

    def squared_distance(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the squared feature-space distances of the rows of ``X`` to those of ``Y``."""
        return self.first.squared_distance(X, Y) + self.second.squared_distance(X, Y)


@dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel times a positive number."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.factor) and self.factor > 0):
            raise InputError(
                f"A kernel can be multiplied by a positive number only; got {quoted(self.factor)}."
            )

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products in feature space of the rows of ``X`` with those of ``Y``."""
        return self.factor * self.kernel(X, Y)

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length in feature space of each row."""
        return self.factor * self.kernel.diagonal(X)

    def squared_distance(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the squared feature-space distances of the rows of ``X`` to those of ``Y``."""
        return self.factor * self.kernel.squared_distance(X, Y)


@dataclass(frozen=True)
class Product(Kernel):
    """Product of two kernels, which is positive definite again."""

    first: Kernel
    second: Kernel

    def __call__(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the inner products in feature space of the rows of ``X`` with those of ``Y``."""
        return self.first(X, Y) * self.second(X, Y)

    def diagonal(self, X: Matrix) -> Vector:
        """Return the squared length in feature space of each row."""
        return self.first.diagonal(X) * self.second.diagonal(X)


KERNELS: dict[str, Any] = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "matern": Matern,
    "polynomial": Polynomial,
    "linear": Linear,
}


def kernel_named(kernel: "str | KernelLike", bandwidth: float | None) -> KernelLike:
    """Return the kernel with a name and a bandwidth; a kernel object is returned unchanged."""
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise InputError(
                f"There is no kernel named {quoted(kernel)}. Use one of {', '.join(KERNELS)}, "
                "or pass a kernel object."
            )
        factory = KERNELS[kernel]
        return factory() if bandwidth is None else factory(bandwidth)
    if not isinstance(kernel, KernelLike):
        raise InputError(
            f"A kernel object needs __call__(X, Y), diagonal(X) and squared_distance(X, Y); "
            f"{type(kernel).__name__} does not have them all. Subclass "
            "kernova.kernels.Kernel and define __call__."
        )
    return kernel


# --- squared Euclidean distances, accurate for near duplicates too -------------------------------

# Up to here summing squared differences is as fast as the expanded product (measured: 0.05 s
# against 0.04 s for 2,000 x 5,000 pairs in ten dimensions), and it never cancels.
_FEW_COLUMNS = 24

# |x|^2 + |y|^2 - 2xy loses about eps (|x|^2 + |y|^2) / |x - y|^2: below this ratio of squared
# distance to squared norms, the pair is taken again from its differences.
_CANCELLATION_RATIO = 1e-3

# When more than this fraction of pairs cancels, taking all of them from differences is cheaper.
_MANY_PAIRS = 0.1


def squared_distances(X: Matrix, Y: Matrix) -> Matrix:
    """Return the squared Euclidean distance of every row of ``X`` to every row of ``Y``.

    Zero exactly where two rows are equal, and accurate to a few units in the last place
    wherever they are close.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[1e8, 0.0]]), np.array([[1e8, 0.0], [1e8, 1e-8]]))
    array([[0.e+00, 1.e-16]])
    """
    if X.shape[1] <= _FEW_COLUMNS:
        return cdist(X, Y, "sqeuclidean")
    return _expanded_squared_distances(X, Y)


def _expanded_squared_distances(X: Matrix, Y: Matrix) -> Matrix:
    """Expand the squares by one matrix product, and recompute the pairs that cancel."""
    centre = Y.mean(axis=0)  # near the origin the norms are small, and little cancels
    X_norms = np.einsum("ij,ij->i", X - centre, X - centre)
    Y_norms = np.einsum("ij,ij->i", Y - centre, Y - centre)
    squared = (X - centre) @ (Y - centre).T
    squared *= -2.0
    squared += X_norms[:, None]
    squared += Y_norms[None, :]
    cancelled = squared <= _CANCELLATION_RATIO * (X_norms[:, None] + Y_norms[None, :])
    n_cancelled = np.count_nonzero(cancelled)
    if n_cancelled > _MANY_PAIRS * squared.size:
        return cdist(X, Y, "sqeuclidean")
    if n_cancelled:
        rows, columns = np.nonzero(cancelled)
        # In slices, so that the gathered differences stay small in memory.
        for start in range(0, n_cancelled, 4096):
            pair = slice(start, start + 4096)
            difference = X[rows[pair]] - Y[columns[pair]]
            squared[rows[pair], columns[pair]] = np.einsum("ij,ij->i", difference, difference)
    return squared


# --- radial kernels of local densities (RKOF profiles) -------------------------------------------

# As the logarithm of their value at u = distance / width: a row a thousand widths away has a
# Volcano value of exp(-999), which underflows, but must be distinguished from one at two thousand.

Profile = Callable[[Vector], Vector]

# Below the logarithm of the smallest positive number: less than any value that is not zero.
_LOG_ZERO = -745.0
# A neighbour as near as this to one width is at one width: rounding must not break ties.
_EDGE = 1e-12


def volcano(u: Vector) -> Vector:
    """Return log K = min(0, 1 - u): flat up to one width, then an exponential slope."""
    return np.minimum(1.0 - u, 0.0)


def gaussian(u: Vector) -> Vector:
    """Return log K = -u²/2."""
    return -0.5 * u**2


def epanechnikov(u: Vector) -> Vector:
    """Return log K = log(1 - u²) within one width; beyond, K is zero, see :func:`_log_values`."""
    return _log_values(np.where(u < 1 - _EDGE, 1.0 - u**2, 0.0), u)


def _log_values(values: Vector, u: Vector) -> Vector:
    """Return logarithms of a kernel's values; for zeros finite ones, lower the larger u is.

    So a row beyond the reach of every kernel has a lower density than all others, and its outlier
    factor is finite and grows with its distance.
    """
    with np.errstate(divide="ignore"):
        return np.where(values > 0, np.log(values), _LOG_ZERO - np.log1p(u))


PROFILES: dict[str, Profile] = {
    "volcano": volcano,
    "gaussian": gaussian,
    "epanechnikov": epanechnikov,
}


def profile_named(kernel: "str | Profile") -> Profile:
    """Return the log profile of a named kernel or of a user-defined function."""
    if callable(kernel):
        return _custom_profile(kernel)
    if not isinstance(kernel, str) or kernel not in PROFILES:
        raise InputError(
            f"There is no kernel named {quoted(kernel)}. Use one of {', '.join(PROFILES)}, or give "
            "a function of u = distance / width."
        )
    return PROFILES[kernel]


def _custom_profile(kernel: Profile) -> Profile:
    def log_profile(u: Vector) -> Vector:
        values = np.asarray(kernel(u), dtype=np.float64)
        if values.shape != u.shape:
            raise InputError(
                f"The kernel must give one value for each u; got shape {values.shape} for "
                f"{len(u)} values of u."
            )
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise InputError(
                "The kernel must give finite values of zero or more; got "
                f"{values[~(np.isfinite(values) & (values >= 0))][0]:g}."
            )
        return _log_values(values, u)

    return log_profile

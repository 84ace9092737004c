"""A mixture of Gaussians in which rows with a known category belong to its component."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernova.discover.questions import Rows

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Added to every variance, in units of the rows' mean variance: no component shrinks to a point.
_JITTER: Final = 1e-3


class Mixture(NamedTuple):
    """Weights, means and covariances of the components."""

    weights: Vector
    means: Matrix
    covariances: NDArray[np.float64]

    @property
    def n_components(self) -> int:
        """How many components there are."""
        return len(self.weights)


def first_mixture(Z: Matrix, n_components: int, rng: np.random.Generator) -> Mixture:
    """Start from rows drawn by lot, each the centre of a component as wide as all rows."""
    n_components = min(n_components, len(Z))
    rows = rng.choice(len(Z), n_components, replace=False)
    spread = np.cov(Z, rowvar=False, bias=True).reshape(Z.shape[1], Z.shape[1]) + _jitter(Z)
    # Narrower than all rows together, so that components are told apart from the first step on.
    covariances = np.repeat(spread[None] / n_components ** (2 / Z.shape[1]), n_components, axis=0)
    return Mixture(np.full(n_components, 1 / n_components), Z[rows].copy(), covariances)


def with_component_at(mixture: Mixture, row: Vector, n_rows: int) -> Mixture:
    """Add a component for a new category, around the one row that is known of it."""
    weights = np.append(mixture.weights, 1 / n_rows)
    pooled = np.einsum("k,kij->ij", mixture.weights, mixture.covariances)
    return Mixture(
        weights / weights.sum(),
        np.vstack([mixture.means, row]),
        np.concatenate([mixture.covariances, pooled[None]]),
    )


def log_densities(Z: Matrix, mixture: Mixture) -> Matrix:
    """Give the log density of every row under every component, without the weights."""
    n_rows, n_columns = Z.shape
    found = np.empty((n_rows, mixture.n_components))
    for which, (mean, covariance) in enumerate(
        zip(mixture.means, mixture.covariances, strict=True)
    ):
        factor = np.linalg.cholesky(covariance)
        # One product with a small inverse is ten times as fast as solving for every row.
        whitening = solve_triangular(factor, np.eye(n_columns), lower=True, check_finite=False)
        whitened = (Z - mean) @ whitening.T
        log_volume = np.log(np.diag(factor)).sum()
        found[:, which] = -0.5 * np.einsum("ij,ij->i", whitened, whitened) - log_volume
    return found - 0.5 * n_columns * np.log(2 * np.pi)


def memberships(densities: Matrix, weights: Vector, clamped: Rows) -> Matrix:
    """Give each row's share in every component; a clamped row belongs to its own alone.

    Parameters
    ----------
    densities : array of shape (n_rows, n_components)
        From :func:`log_densities`.
    weights : array of shape (n_components,)
        The components' weights.
    clamped : array of shape (n_rows,)
        The component a row is known to belong to, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.clamped_mixture import memberships
    >>> memberships(np.zeros((2, 2)), np.array([0.75, 0.25]), np.array([-1, 1]))
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    joint = densities + np.log(weights)
    joint -= joint.max(axis=1, keepdims=True)  # the largest becomes 1, and nothing overflows
    shares = np.exp(joint, out=joint)
    shares /= shares.sum(axis=1, keepdims=True)
    is_clamped = clamped >= 0
    shares[is_clamped] = 0.0
    shares[is_clamped, clamped[is_clamped]] = 1.0
    return shares


def reestimated(Z: Matrix, shares: Matrix) -> Mixture:
    """Give the mixture that suits the shares, each covariance drawn towards their common one.

    As many rows as there are columns speak for the common covariance, so that a component of a
    few rows has the shape of the others.
    """
    n_rows, n_columns = Z.shape
    sizes = shares.sum(axis=0) + 10 * np.finfo(np.float64).eps
    means = (shares.T @ Z) / sizes[:, None]
    scatters = np.empty((len(sizes), n_columns, n_columns))
    for which, mean in enumerate(means):
        centred = Z - mean
        scatters[which] = (shares[:, which, None] * centred).T @ centred
    common = scatters.sum(axis=0) / n_rows + _jitter(Z)
    covariances = (scatters + n_columns * common) / (sizes + n_columns)[:, None, None]
    return Mixture(sizes / sizes.sum(), means, covariances + _jitter(Z))


def expectation_maximization(
    Z: Matrix, mixture: Mixture, clamped: Rows, n_steps: int, tolerance: float = 1e-4
) -> Mixture:
    """Take up to ``n_steps`` steps of EM, fewer when the shares hardly change any more."""
    shares = memberships(log_densities(Z, mixture), mixture.weights, clamped)
    for _ in range(n_steps):
        mixture = reestimated(Z, shares)
        before, shares = (
            shares,
            memberships(log_densities(Z, mixture), mixture.weights, clamped),
        )
        if np.abs(shares - before).sum() <= tolerance * len(Z):
            break
    return mixture


def _jitter(Z: Matrix) -> Matrix:
    variance = float(Z.var(axis=0).mean())
    jitter: Matrix = _JITTER * (variance or 1.0) * np.eye(Z.shape[1])
    return jitter

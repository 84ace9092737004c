"""Interleave: each component of a Gaussian mixture proposes its least likely row.

After Pelleg and Moore, "Active Learning for Anomaly and Rare-Category Detection", NIPS 2004. A
mixture of Gaussians is fitted to all rows; in each round every component proposes, of the rows that
it owns, the one with the lowest density. When the mixture is fitted again, labelled rows are
clamped to the component of their category, and a category without a component gets a new one.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached, saved_in_cache
from kernova.discover.questions import Answer, Question, free_rows
from kernova.typing import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation


# Added to every variance, relative to the mean variance, so that no component shrinks to a point.
_JITTER: Final = 1e-3
_FIRST_COMPONENTS: Final = 10
_FIRST_STEPS: Final = 50
# Each round continues from the last; more steps make questions slower, not better.
_STEPS_PER_ROUND: Final = 2


@saved_in_cache
class Mixture(NamedTuple):
    """Weights, means and covariances of the components."""

    weights: Vector
    means: Matrix
    covariances: NDArray[np.float64]

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.weights)


def first_mixture(Z: Matrix, n_components: int, rng: np.random.Generator) -> Mixture:
    """Return a mixture centred at random rows, with narrowed copies of the overall covariance."""
    n_components = min(n_components, len(Z))
    rows = rng.choice(len(Z), n_components, replace=False)
    spread = np.cov(Z, rowvar=False, bias=True).reshape(Z.shape[1], Z.shape[1]) + _jitter(Z)
    # Narrower than all rows together, so that components differ from the first step on.
    covariances = np.repeat(spread[None] / n_components ** (2 / Z.shape[1]), n_components, axis=0)
    return Mixture(np.full(n_components, 1 / n_components), Z[rows].copy(), covariances)


def with_component_at(mixture: Mixture, row: Vector, n_rows: int) -> Mixture:
    """Return the mixture with one more component, centred at the only known row of a category."""
    weights = np.append(mixture.weights, 1 / n_rows)
    pooled = np.einsum("k,kij->ij", mixture.weights, mixture.covariances)
    return Mixture(
        weights / weights.sum(),
        np.vstack([mixture.means, row]),
        np.concatenate([mixture.covariances, pooled[None]]),
    )


def log_densities(Z: Matrix, mixture: Mixture) -> Matrix:
    """Return the log density of every row under every component, without the weights."""
    n_rows, n_columns = Z.shape
    found = np.empty((n_rows, mixture.n_components))
    for which, (mean, covariance) in enumerate(
        zip(mixture.means, mixture.covariances, strict=True)
    ):
        factor = np.linalg.cholesky(covariance)
        # One product with a small inverse is ten times faster than solving for every row.
        whitening = solve_triangular(factor, np.eye(n_columns), lower=True, check_finite=False)
        whitened = (Z - mean) @ whitening.T
        log_volume = np.log(np.diag(factor)).sum()
        found[:, which] = -0.5 * np.einsum("ij,ij->i", whitened, whitened) - log_volume
    return found - 0.5 * n_columns * np.log(2 * np.pi)


def memberships(densities: Matrix, weights: Vector, clamped: Indices) -> Matrix:
    """Return each row's responsibilities; a clamped row belongs to its own component only.

    Parameters
    ----------
    densities : array of shape (n_rows, n_components)
        From :func:`log_densities`.
    weights : array of shape (n_components,)
        The components' weights.
    clamped : array of shape (n_rows,)
        The component of a labelled row, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.interleave import memberships
    >>> memberships(np.zeros((2, 2)), np.array([0.75, 0.25]), np.array([-1, 1]))
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    joint = densities + np.log(weights)
    joint -= joint.max(axis=1, keepdims=True)  # the largest becomes 1, and nothing overflows
    responsibilities = np.exp(joint, out=joint)
    responsibilities /= responsibilities.sum(axis=1, keepdims=True)
    is_clamped = clamped >= 0
    responsibilities[is_clamped] = 0.0
    responsibilities[is_clamped, clamped[is_clamped]] = 1.0
    return responsibilities


def reestimated(Z: Matrix, responsibilities: Matrix) -> Mixture:
    """Return the mixture for given responsibilities, with covariances shrunk to a common one.

    The common covariance has the weight of as many rows as there are columns, so that a component
    of few rows has the shape of the others.
    """
    n_rows, n_columns = Z.shape
    sizes = responsibilities.sum(axis=0) + 10 * np.finfo(np.float64).eps
    means = (responsibilities.T @ Z) / sizes[:, None]
    scatters = np.empty((len(sizes), n_columns, n_columns))
    for which, mean in enumerate(means):
        centred = Z - mean
        scatters[which] = (responsibilities[:, which, None] * centred).T @ centred
    common = scatters.sum(axis=0) / n_rows + _jitter(Z)
    covariances = (scatters + n_columns * common) / (sizes + n_columns)[:, None, None]
    return Mixture(sizes / sizes.sum(), means, covariances + _jitter(Z))


def expectation_maximization(
    Z: Matrix, mixture: Mixture, clamped: Indices, n_steps: int, tolerance: float = 1e-4
) -> Mixture:
    """Run up to ``n_steps`` steps of EM, fewer when the responsibilities hardly change."""
    responsibilities = memberships(log_densities(Z, mixture), mixture.weights, clamped)
    for _ in range(n_steps):
        mixture = reestimated(Z, responsibilities)
        before = responsibilities
        responsibilities = memberships(log_densities(Z, mixture), mixture.weights, clamped)
        if np.abs(responsibilities - before).sum() <= tolerance * len(Z):
            break
    return mixture


def _jitter(Z: Matrix) -> Matrix:
    variance = float(Z.var(axis=0).mean())
    jitter: Matrix = _JITTER * (variance or 1.0) * np.eye(Z.shape[1])
    return jitter


@dataclass
class Interleave:
    """Each component of a Gaussian mixture asks in turn about its least likely row.

    The paper starts with as many components as there are categories. That number is seldom known:
    the default starts with 10 and adds one for every category without a component.

    Parameters
    ----------
    n_components : int
        Initial number of components.
    seed : int or None
        Seed of the random initial centres, which matter much; None takes that of the preparation.
    standardize : {"sphere", "half-sphere", "zscore", "none"}
        How rows are standardised.

    Examples
    --------
    >>> from kernova.discover.strategies.interleave import Interleave
    >>> Interleave(n_components=7).name
    'interleave'
    """

    n_components: int = _FIRST_COMPONENTS
    seed: int | None = None
    standardize: Standardization = "sphere"
    name: str = "interleave"

    def start(self, preparation: "Preparation") -> "InterleaveAsker":
        """Return a fresh asker; the first mixture is cached in the preparation."""
        Z = preparation.rows(self.standardize)
        if Z.shape[1] == 0:  # every column is constant: all rows are one point
            Z = np.zeros((len(Z), 1))
        seed = preparation.random_state if self.seed is None else self.seed
        key = ("mixture", self.n_components, seed, self.standardize)
        mixture = cached(preparation, key, lambda: self._first(Z, seed))
        return InterleaveAsker(Z, mixture)

    def _first(self, Z: Matrix, seed: int) -> Mixture:
        mixture = first_mixture(Z, self.n_components, np.random.default_rng(seed))
        unclamped = np.full(len(Z), -1, dtype=np.intp)
        return expectation_maximization(Z, mixture, unclamped, _FIRST_STEPS)


class _Nomination(NamedTuple):
    """The row with the lowest density of those a component owns."""

    component: int
    row: int


class InterleaveAsker:
    """One run: the mixture, the component of each category, and the rows of this round."""

    def __init__(self, Z: Matrix, mixture: Mixture) -> None:
        self._Z = Z
        self._mixture = mixture
        self._is_asked = np.zeros(len(Z), dtype=np.bool_)
        self._category_of = np.full(len(Z), -1, dtype=np.intp)  # its component, if known
        self._component_of: dict[str, int] = {}
        self._densities, self._owner = self._ownership()
        self._round = self._nominations(~self._is_asked)

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        if self._is_asked.all():
            return None
        is_free = free_rows(self._is_asked, besides)
        # All of this round may be open for other experts; that is no reason to fit again.
        due = [one for one in self._open_round() if is_free[one.row]] or self._nominations(is_free)
        if not due:
            return None
        first, *later = due
        members = np.flatnonzero(self._owner == first.component)
        density = float(self._densities[first.row, first.component])
        median = float(np.median(self._densities[members, first.component]))
        return Question(
            row=first.row,
            members=members,
            reason=(
                f"Component {first.component + 1} of {self._mixture.n_components} fits this row "
                f"worst of its open rows: its log density is {density:.3g} here, and the median is "
                f"{median:.3g} over all {len(members):,}."
            ),
            evidence={
                "component": float(first.component),
                "log_density": density,
                "median_log_density": median,
                "n_owned": float(len(members)),
            },
            alternatives=tuple(one.row for one in later[:5]),
        )

    def observe(self, answer: Answer) -> None:
        """Clamp the row to the component of its category from the next round on."""
        self._open_round()  # the answer must not change the round that was due before it
        self._is_asked[answer.row] = True
        if answer.label is None:
            return
        if answer.label not in self._component_of:
            self._component_of[answer.label] = self._component_for(answer.row)
        self._category_of[answer.row] = self._component_of[answer.label]

    def _component_for(self, row: int) -> int:
        """Return the component that owns the row, or a new one if that has a category."""
        owner = int(self._owner[row])
        if owner not in self._component_of.values():
            return owner
        self._mixture = with_component_at(self._mixture, self._Z[row], len(self._Z))
        return self._mixture.n_components - 1

    def _open_round(self) -> list[_Nomination]:
        """Return the remaining rows of this round; without any, fit again and start another."""
        self._round = [one for one in self._round if not self._is_asked[one.row]]
        if not self._round and not self._is_asked.all():
            self._mixture = expectation_maximization(
                self._Z, self._mixture, self._category_of, _STEPS_PER_ROUND
            )
            self._densities, self._owner = self._ownership()
            self._round = self._nominations(~self._is_asked)
        return self._round

    def _ownership(self) -> tuple[Matrix, Indices]:
        densities = log_densities(self._Z, self._mixture)
        responsibilities = memberships(densities, self._mixture.weights, self._category_of)
        return densities, np.argmax(responsibilities, axis=1)

    def _nominations(self, is_open: Mask) -> list[_Nomination]:
        """Return the open row with the lowest density of each component."""
        named = []
        for component in range(self._mixture.n_components):
            owned = np.flatnonzero((self._owner == component) & is_open)
            if len(owned):
                worst = owned[np.argmin(self._densities[owned, component])]
                named.append(_Nomination(component, int(worst)))
        return named

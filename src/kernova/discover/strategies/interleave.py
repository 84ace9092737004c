"""A mixture of Gaussians in which rows with a known category belong to its component.

Let every component of a mixture ask about the row it owns least (Interleave).

After Pelleg and Moore, "Active Learning for Anomaly and Rare-Category Detection", NIPS 2004. A
mixture of Gaussians is fitted to all rows; in each round every component proposes, of the rows
that it owns, the one it explains worst. Answers hold rows to their component when the mixture is
fitted again, and a category that no component stands for yet gets one of its own.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import kept
from kernova.discover.questions import Answer, Question, free_rows
from kernova.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation


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


def memberships(densities: Matrix, weights: Vector, clamped: Indices) -> Matrix:
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
    >>> from kernova.discover.strategies.interleave import memberships
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
    Z: Matrix, mixture: Mixture, clamped: Indices, n_steps: int, tolerance: float = 1e-4
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


_FIRST_COMPONENTS: Final = 10
_FIRST_STEPS: Final = 50
# Each round goes on where the last ended; more steps make questions slower, and no better.
_STEPS_PER_ROUND: Final = 2


@dataclass
class Interleave:
    """Each component of a Gaussian mixture asks in turn about the row it owns least.

    The paper starts with as many components as there are categories. That number is seldom
    known: by default there are 10 at first, and one more for every category that none of them
    stands for.

    Parameters
    ----------
    n_components : int
        How many components to begin with.
    seed : int or None
        Where the components start is drawn by lot, and much depends on it; None takes the
        preparation's seed.
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
        """Return a fresh asker; the first mixture is kept in the preparation."""
        Z = preparation.rows(self.standardize)
        if Z.shape[1] == 0:  # every column is constant: all rows are one point
            Z = np.zeros((len(Z), 1))
        seed = preparation.random_state if self.seed is None else self.seed
        key = ("mixture", self.n_components, seed, self.standardize)
        mixture = kept(preparation, key, lambda: self._first(Z, seed))
        return InterleaveAsker(Z, mixture)

    def _first(self, Z: Matrix, seed: int) -> Mixture:
        mixture = first_mixture(Z, self.n_components, np.random.default_rng(seed))
        nobody = np.full(len(Z), -1, dtype=np.intp)
        return expectation_maximization(Z, mixture, nobody, _FIRST_STEPS)


class _Nomination(NamedTuple):
    """A row that a component owns and explains worst."""

    component: int
    row: int


class InterleaveAsker:
    """One run: the mixture, which component stands for which category, and who asks next."""

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
        # What others have before them may be all of this round, but no reason to fit again.
        due = [one for one in self._open_round() if is_free[one.row]] or self._nominations(is_free)
        if not due:
            return None
        first, *later = due
        members = np.flatnonzero(self._owner == first.component)
        density = float(self._densities[first.row, first.component])
        usual = float(np.median(self._densities[members, first.component]))
        return Question(
            row=first.row,
            members=members,
            reason=(
                f"Component {first.component + 1} of {self._mixture.n_components} explains this "
                f"row worst of the open ones it owns: its log density is {density:.3g} here, and "
                f"{usual:.3g} in the middle of all {len(members):,}."
            ),
            evidence={
                "component": float(first.component),
                "log_density": density,
                "median_log_density": usual,
                "n_owned": float(len(members)),
            },
            alternatives=tuple(one.row for one in later[:5]),
        )

    def observe(self, answer: Answer) -> None:
        """Hold the row to the component of its category from the next round on."""
        self._open_round()  # what was due before this answer must not be changed by it
        self._is_asked[answer.row] = True
        if answer.label is None:
            return
        if answer.label not in self._component_of:
            self._component_of[answer.label] = self._component_for(answer.row)
        self._category_of[answer.row] = self._component_of[answer.label]

    def _component_for(self, row: int) -> int:
        """Give a new category the component that owns its row, or one more if that is taken."""
        owner = int(self._owner[row])
        if owner not in self._component_of.values():
            return owner
        self._mixture = with_component_at(self._mixture, self._Z[row], len(self._Z))
        return self._mixture.n_components - 1

    def _open_round(self) -> list[_Nomination]:
        """Give who has still to ask; when all have, fit again and begin another round."""
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
        shares = memberships(densities, self._mixture.weights, self._category_of)
        return densities, np.argmax(shares, axis=1)

    def _nominations(self, is_open: NDArray[np.bool_]) -> list[_Nomination]:
        """Let every component name the open row it owns least, the first component first."""
        named = []
        for component in range(self._mixture.n_components):
            owned = np.flatnonzero((self._owner == component) & is_open)
            if len(owned):
                worst = owned[np.argmin(self._densities[owned, component])]
                named.append(_Nomination(component, int(worst)))
        return named

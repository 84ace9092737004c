"""Shapes without position, size and direction: generalized Procrustes alignment."""

import warnings
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova.errors import InputError
from kernova.represent.missing_landmarks import Coordinates, ShapeModel
from kernova.represent.superposition import (
    Alignment,
    Superposition,
    aligned_to,
    consensus_of,
    shapeless_rows,
)


class GeneralizedProcrustes(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Generalized Procrustes analysis (GPA): compare shapes, not where and how large they lie.

    Each specimen is centred, brought to unit centroid size and turned to the consensus, the mean
    of all aligned specimens, until it no longer changes. The consensus lies with its longest
    direction along the first axis and its first landmark at the negative end, so the result does
    not depend on how specimens were placed.

    Missing landmarks (NaN) are estimated in the course of alignment from the specimen's other
    landmarks, by the way landmarks move together in the specimens of ``fit`` and by the complete
    specimens most like it. A landmark of which one coordinate is missing is missing.

    Parameters
    ----------
    dimensions : int, default=2
        Coordinates per landmark. Rows are [x1 y1 x2 y2 ...]; arrays of shape (specimens,
        landmarks, dimensions) are taken as well.
    scaling : bool, default=True
        Bring every specimen to unit centroid size; False keeps sizes in the comparison.
    reflection : bool, default=False
        Allow mirror images, for specimens seen from the left and from the right.
    missing : {"estimate", "refuse"}, default="estimate"
        What to do with missing landmarks.
    tolerance : float, default=1e-10
        Stop when no coordinate moves more than this, relative to a specimen's size. With missing
        landmarks, 1e-7 is enough.
    max_iter : int, default=1000
        Stop after so many rounds at the latest, with a warning.

    Attributes
    ----------
    consensus_ : ndarray of shape (n_landmarks, dimensions)
        Mean of the aligned specimens of ``fit``.
    centroid_sizes_ : ndarray of shape (n_specimens,)
        Root of the summed squared distances of a specimen's landmarks from their centroid, in
        the unit of its coordinates, for the specimens of ``fit``.
    precision_ : ndarray of shape (n_columns, n_columns)
        How landmarks move together: the inverse covariance of aligned rows, with a flat prior on
        position, size and direction. Missing landmarks are estimated with it.
    examples_ : ndarray of shape (n_examples, n_landmarks, dimensions)
        Complete specimens of ``fit``, aligned, 2000 at most. Of fifty or more, the six most like
        an incomplete specimen tell what to expect of it.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of columns: landmarks times dimensions.

    Notes
    -----
    ``transform`` lays each specimen over the consensus by itself, whatever comes with it; the
    specimens of ``fit`` come out as ``fit_transform`` gives them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import GeneralizedProcrustes
    >>> triangle = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 1.0]])
    >>> upright_and_larger = 10 + 3 * triangle @ [[0, 1], [-1, 0]]
    >>> specimens = np.stack([triangle, upright_and_larger])
    >>> procrustes = GeneralizedProcrustes().fit(specimens)
    >>> first, second = procrustes.transform(specimens)
    >>> bool(np.allclose(first, second))
    True
    >>> procrustes.centroid_sizes_ / procrustes.centroid_sizes_[0]
    array([1., 3.])
    """

    def __init__(
        self,
        dimensions: int = 2,
        scaling: bool = True,
        reflection: bool = False,
        missing: Literal["estimate", "refuse"] = "estimate",
        tolerance: float = 1e-10,
        max_iter: int = 1000,
    ) -> None:
        self.dimensions = dimensions
        self.scaling = scaling
        self.reflection = reflection
        self.missing = missing
        self.tolerance = tolerance
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the consensus.

        Parameters
        ----------
        X : array-like of shape (n_specimens, n_landmarks * dimensions)
            Rows [x1 y1 x2 y2 ...], or an array of shape (n_specimens, n_landmarks, dimensions).
        y : ignored
            Here for scikit-learn's convention.

        Returns
        -------
        self
        """
        self._check_parameters()
        specimens = self._specimens(X, reset=True)
        _refuse_unseen_landmarks(specimens)
        found = consensus_of(specimens, self._how())
        if not found.is_settled:
            warnings.warn(
                f"The consensus still moved after {found.n_rounds} rounds. Allow more with "
                "max_iter, or a larger tolerance.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.consensus_, self.precision_, self.examples_ = found.model
        self.n_iter_ = found.n_rounds
        self.centroid_sizes_ = found.centroid_sizes
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Lay specimens over the consensus, each by itself; the layout of ``X`` is kept."""
        aligned = self.align(X).coordinates
        return aligned if _is_three_d(X) else aligned.reshape(len(aligned), -1)

    def align(self, X: ArrayLike) -> Alignment:
        """Lay specimens over the consensus, and tell their sizes too.

        Parameters
        ----------
        X : array-like
            As for ``fit``.

        Returns
        -------
        Alignment
            ``coordinates`` of shape (n_specimens, n_landmarks, dimensions), and
            ``centroid_sizes``.
        """
        check_is_fitted(self)
        model = ShapeModel(self.consensus_, self.precision_, self.examples_)
        return aligned_to(model, self._specimens(X, reset=False), self._how())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "estimate"
        tags.input_tags.three_d_array = True
        return tags

    def _how(self) -> Superposition:
        return Superposition(self.scaling, self.reflection, self.tolerance, self.max_iter)

    def _check_parameters(self) -> None:
        for name in ("dimensions", "max_iter"):
            value = getattr(self, name)
            if not (
                isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
            ):
                raise InputError(f"{name} must be a whole number of at least 1; got {value!r}.")
        if self.missing not in ("estimate", "refuse"):
            raise InputError(f"missing is {self.missing!r}; choose one of estimate, refuse.")
        if not (isinstance(self.tolerance, Real) and 0 < self.tolerance < 1):
            raise InputError(f"The tolerance must lie between 0 and 1; got {self.tolerance!r}.")

    def _specimens(self, X: ArrayLike, *, reset: bool) -> Coordinates:
        d = self.dimensions
        if _is_three_d(X):
            X = np.asarray(X)
            if X.shape[2] != d:
                raise InputError(
                    f"The landmarks have {X.shape[2]} coordinates each; dimensions is {d}."
                )
            X = X.reshape(len(X), -1)
        allowed = "allow-nan" if self.missing == "estimate" else True
        rows = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=allowed)
        if rows.shape[1] % d or rows.shape[1] < 2 * d:
            raise InputError(
                f"Rows of {rows.shape[1]} columns are not two or more landmarks of {d} coordinates "
                f"each (n_features={rows.shape[1]}). Give rows [x1 y1 x2 y2 ...], or another "
                "number of dimensions."
            )
        specimens = rows.reshape(len(rows), -1, d)
        shapeless = shapeless_rows(specimens, scaling=self.scaling)
        if len(shapeless):
            raise InputError(
                f"Row {shapeless[0]} (counted from 0) has no shape: it shows fewer than "
                f"{max(2, d)} landmarks, or all of them in one place. Leave it out."
            )
        return specimens


def _is_three_d(X: Any) -> bool:
    return getattr(X, "ndim", 2) == 3


def _refuse_unseen_landmarks(specimens: Coordinates) -> None:
    is_seen = np.isfinite(specimens).all(axis=2).any(axis=0)
    if not is_seen.all():
        raise InputError(
            f"Landmark {int(np.argmin(is_seen)) + 1} is missing in every specimen to learn "
            "from. Leave it out."
        )

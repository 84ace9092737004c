"""Laying shapes over each other: the algebra under generalized Procrustes alignment.

Shapes without position, size and direction: generalized Procrustes alignment.
"""

import warnings
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova.errors import InputError
from kernova.shapes.missing import (
    ShapeModel,
    fill_missing,
    local_precision,
    shape_model,
    shape_precision,
    similar_means,
)
from kernova.typing import Coordinates, Matrix, Vector

# Landmarks that differ by less than this share of their coordinates coincide.
_COINCIDE = 1e-12
# A missing landmark is never known this well; waiting for more digits would be waiting in vain.
_SETTLED_ESTIMATE = 1e-7
# A specimen rests after about six rounds; one that is far off its kind may take very many.
_MOST_REFINEMENTS = 100
_SEARCHES = 2


class Superposition(NamedTuple):
    """How to lay specimens over a target, and how exactly."""

    scaling: bool = True
    reflection: bool = False
    tolerance: float = 1e-10
    max_iter: int = 1000


class Alignment(NamedTuple):
    """Specimens in one frame.

    Attributes
    ----------
    coordinates : ndarray of shape (n, p, d)
        Aligned landmarks; missing ones are estimated.
    centroid_sizes : ndarray of shape (n,)
        Root of the summed squared distances of a specimen's landmarks from their centroid, in
        the unit that its coordinates came in.
    """

    coordinates: Coordinates
    centroid_sizes: Vector


class Consensus(NamedTuple):
    """What generalized alignment found: a model of shapes, after how many rounds.

    ``centroid_sizes`` are those of the specimens; ``is_settled`` tells whether the last round
    changed less than the tolerance.
    """

    model: ShapeModel
    centroid_sizes: Vector
    n_rounds: int
    is_settled: bool


class Frames(NamedTuple):
    """Specimens about the centroid of their known landmarks, and their known size.

    Missing landmarks stand at the centroid. With scaling, known sizes are divided out.
    """

    specimens: Coordinates
    is_known: NDArray[np.bool_]
    sizes: Vector


def rotations(covariances: Matrix, *, reflection: bool = False) -> Matrix:
    """Give the orthogonal R that maximise trace(R' C), for a stack of d × d matrices C.

    With C = specimen' target of centred landmarks, specimen @ R is nearest to the target.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.array([[-1.0, 0.0], [1.0, 0.0]])
    >>> upright = target[:, ::-1]
    >>> upright @ rotations((upright.T @ target)[np.newaxis])[0]
    array([[-1., 0.],
           [ 1., 0.]])
    """
    if covariances.shape[-1] == 2:
        return _plane_rotations(covariances, reflection)
    left, _, right = np.linalg.svd(covariances)
    if not reflection:
        # The weakest direction pays for keeping left and right apart.
        left[:, :, -1] *= np.where(np.linalg.det(left @ right) < 0, -1.0, 1.0)[:, None]
    return np.asarray(left @ right)


def _plane_rotations(covariances: Matrix, reflection: bool) -> Matrix:
    """In the plane the trace is a cosine of the angle, highest at its phase: no SVD needed."""
    a, b = covariances[:, 0, 0], covariances[:, 0, 1]
    c, d = covariances[:, 1, 0], covariances[:, 1, 1]
    turn, mirror = (a + d) + 1j * (b - c), (a - d) + 1j * (b + c)
    is_mirrored = reflection & (np.abs(mirror) > np.abs(turn))
    phase = np.where(is_mirrored, mirror, turn)
    length = np.abs(phase)
    phase = np.where(length > 0, phase / np.where(length > 0, length, 1), 1)
    side = np.where(is_mirrored, -1.0, 1.0)
    cells = [phase.real, phase.imag, -side * phase.imag, side * phase.real]
    return np.stack(cells, axis=1).reshape(-1, 2, 2)


def known_landmarks(coordinates: Coordinates) -> NDArray[np.bool_]:
    """Tell which landmarks of which specimens have all of their coordinates."""
    is_finite = np.isfinite(coordinates)
    is_known = is_finite[:, :, 0].copy()
    for axis in range(1, coordinates.shape[2]):  # much faster than along so short an axis
        is_known &= is_finite[:, :, axis]
    return is_known


def lengths(specimens: Coordinates) -> Vector:
    """Give the root of the summed squares of all coordinates of each specimen."""
    rows = specimens.reshape(len(specimens), -1)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _sums(specimens: Coordinates) -> Coordinates:
    return np.einsum("npd->nd", specimens)[:, None, :]


def own_frames(coordinates: Coordinates, *, scaling: bool = True) -> Frames:
    """Centre each specimen on its known landmarks; with scaling, give it unit size."""
    is_known = known_landmarks(coordinates)
    present = is_known[..., None]
    n_known = np.maximum(is_known.sum(axis=1), 1)[:, None, None]
    # Dividing by the largest coordinate first: squares then neither overflow nor vanish.
    is_complete = bool(is_known.all())
    raw = coordinates if is_complete else np.where(present, coordinates, 0)
    largest = np.abs(raw).reshape(len(raw), -1).max(axis=1)[:, None, None]
    unit = np.where(largest > 0, largest, 1)
    specimens = raw / unit
    specimens -= _sums(specimens) / n_known
    if not is_complete:
        specimens[~is_known] = 0
    sizes = lengths(specimens)
    sizes[sizes <= _COINCIDE] = 0
    divisor = np.where(sizes > 0, sizes, 1)[:, None, None] if scaling else 1 / unit
    specimens /= divisor
    return Frames(specimens, is_known, sizes * unit[:, 0, 0])


def shapeless_rows(coordinates: Coordinates, *, scaling: bool = True) -> NDArray[np.intp]:
    """Find specimens that no frame can be given to: too few known landmarks, or all in one place.

    Without scaling, a specimen may be a mere point.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> shapeless_rows(np.array([triangle, np.ones((3, 2)), triangle]))
    array([1])
    """
    frames = own_frames(coordinates)
    too_few = frames.is_known.sum(axis=1) < max(2, coordinates.shape[2])
    return np.flatnonzero(too_few | (scaling & (frames.sizes == 0)))


def consensus_of(coordinates: Coordinates, how: Superposition) -> Consensus:
    """Find the shape that is the mean of all specimens, each turned as near to it as can be.

    Its longest direction lies along the first axis, its first landmark towards the negative end.
    """
    frames = own_frames(coordinates, scaling=how.scaling)
    has_gap = np.asarray(~frames.is_known.all(axis=1))
    found = _rested_with_gaps(frames, has_gap, how) if has_gap.any() else _rested(frames, how)
    axes = principal_axes(found.consensus, reflection=how.reflection)
    aligned, consensus = found.aligned @ axes, found.consensus @ axes
    if has_gap.any():
        model = shape_model(aligned, consensus, ~has_gap, scaling=how.scaling)
        aligned[has_gap] = _completed(model, aligned[has_gap], frames.is_known[has_gap], how)
        consensus = aligned.mean(axis=0)
    model = shape_model(aligned, consensus, ~has_gap, scaling=how.scaling)
    # With gaps, sizes hang on what is filled in, so they must be those that aligning will tell.
    sizes = aligned_to(model, coordinates, how).centroid_sizes if has_gap.any() else frames.sizes
    return Consensus(model, sizes, found.n_rounds, found.is_settled)


class _Rested(NamedTuple):
    aligned: Coordinates
    consensus: Coordinates
    n_rounds: int
    is_settled: bool


def _rested(frames: Frames, how: Superposition) -> _Rested:
    """Turn complete specimens to their mean until none turns any more.

    Aligned specimens are never formed on the way: with all landmarks of one axis side by side,
    what the rotations need of the consensus, and it of them, are two matrix products.
    """
    n, n_landmarks, d = frames.specimens.shape
    by_axis = np.ascontiguousarray(frames.specimens.transpose(0, 2, 1)).reshape(n * d, n_landmarks)
    consensus, turns = frames.specimens[0], np.zeros((n, d, d))
    n_rounds, is_settled = 0, False
    while n_rounds < how.max_iter and not is_settled:
        before, old = turns, consensus
        turns = rotations((by_axis @ old).reshape(n, d, d), reflection=how.reflection)
        consensus = by_axis.T @ turns.reshape(n * d, d) / n
        # No coordinate is larger than its specimen, so none moves further than this ...
        is_settled = float(np.abs(turns - before).max()) * d <= how.tolerance
        if not is_settled and np.abs(consensus - old).max() <= how.tolerance * np.abs(old).max():
            # ... but a specimen on one line may turn about it without moving.
            moves = np.matmul(frames.specimens, turns - before)
            is_settled = (
                float(np.abs(moves).max()) <= how.tolerance * lengths(frames.specimens).max()
            )
        n_rounds += 1
    return _Rested(np.matmul(frames.specimens, turns), consensus, n_rounds, is_settled)


def _rested_with_gaps(frames: Frames, has_gap: NDArray[np.bool_], how: Superposition) -> _Rested:
    """Fill gaps and turn, by turns, until no specimen moves any more."""
    aligned, consensus = _rough_start(frames, how)
    tolerance = max(how.tolerance, _SETTLED_ESTIMATE)
    n_rounds, is_settled = 0, False
    while n_rounds < how.max_iter and not is_settled:
        precision = shape_precision(aligned, consensus, scaling=how.scaling)
        filled = aligned.copy()
        filled[has_gap] = fill_missing(
            aligned[has_gap], frames.is_known[has_gap], consensus, precision
        )
        placed = _turned_to(consensus, filled, how)
        is_settled = _largest_change(placed, aligned) <= tolerance
        aligned, consensus = placed, placed.mean(axis=0)
        n_rounds += 1
    return _Rested(aligned, consensus, n_rounds, is_settled)


def _rough_start(frames: Frames, how: Superposition) -> tuple[Coordinates, Coordinates]:
    """Lay all over the specimen that shows most landmarks; gaps start at the others' mean."""
    start = int(np.argmax(frames.is_known.sum(axis=1)))
    laid = _laid_over(
        frames.specimens[start], frames.is_known[start], frames.specimens, frames.is_known, how
    )
    counts = frames.is_known.sum(axis=0)[:, None]
    present = frames.is_known[..., None]
    consensus = np.where(present, laid, 0).sum(axis=0) / counts
    return np.where(present, laid, consensus), consensus


def aligned_to(model: ShapeModel, coordinates: Coordinates, how: Superposition) -> Alignment:
    """Lay specimens over a consensus, each by itself."""
    frames = own_frames(coordinates, scaling=how.scaling)
    placed = _turned_to(model.consensus, frames.specimens, how)
    has_gap = np.asarray(~frames.is_known.all(axis=1))
    if has_gap.any():
        placed[has_gap] = _completed(
            model, frames.specimens[has_gap], frames.is_known[has_gap], how
        )
    return Alignment(placed, _whole_sizes(frames, placed, has_gap))


def _completed(
    model: ShapeModel, specimens: Coordinates, is_known: NDArray[np.bool_], how: Superposition
) -> Coordinates:
    """Complete specimens by the consensus first, and then by the complete ones most like them."""
    everywhere = np.ones(len(model.consensus), dtype=np.bool_)
    placed = _laid_over(model.consensus, everywhere, specimens, is_known, how)
    everyone = np.broadcast_to(model.consensus, placed.shape)
    placed = _settled(placed, is_known, everyone, model.precision, model.consensus, how)
    precision = local_precision(model, scaling=how.scaling)
    if precision is None:
        return placed
    for _ in range(_SEARCHES):  # better completed, a specimen may find others that are more like it
        kinds = similar_means(placed, model.examples)
        placed = _settled(placed, is_known, kinds, precision, model.consensus, how)
    return placed


def _settled(
    placed: Coordinates,
    is_known: NDArray[np.bool_],
    means: Coordinates,
    precision: Matrix,
    consensus: Coordinates,
    how: Superposition,
) -> Coordinates:
    """Fill and turn by turns until a specimen rests; each stops by itself, whoever is with it."""
    placed, moving = placed.copy(), np.arange(len(placed))
    for _ in range(min(how.max_iter, _MOST_REFINEMENTS)):
        before = placed[moving]
        filled = fill_missing(before, is_known[moving], means[moving], precision)
        placed[moving] = _turned_to(consensus, filled, how)
        moves = np.abs(placed[moving] - before).max(axis=(1, 2))
        limits = how.tolerance * np.linalg.norm(before, axis=(1, 2))
        moving = moving[moves > limits]
        if not len(moving):
            break
    return placed


def _whole_sizes(frames: Frames, placed: Coordinates, has_gap: NDArray[np.bool_]) -> Vector:
    """Scale the size of the known landmarks up to all of them, as the filled specimen has it."""
    sizes = frames.sizes.copy()
    if has_gap.any():
        filled, present = placed[has_gap], frames.is_known[has_gap][..., None]
        seen = own_frames(np.where(present, filled, np.nan)).sizes
        sizes[has_gap] *= lengths(filled) / np.where(seen > 0, seen, 1)
    return sizes


def _turned_to(target: Coordinates, specimens: Coordinates, how: Superposition) -> Coordinates:
    """Centre complete specimens, give them unit size if wanted, and turn them to the target."""
    centred = specimens - _sums(specimens) / specimens.shape[1]
    if how.scaling:
        centred /= lengths(centred)[:, None, None]
    covariances = np.matmul(centred.transpose(0, 2, 1), target)
    return np.matmul(centred, rotations(covariances, reflection=how.reflection))


def _laid_over(
    target: Coordinates,
    target_known: NDArray[np.bool_],
    specimens: Coordinates,
    is_known: NDArray[np.bool_],
    how: Superposition,
) -> Coordinates:
    """Lay specimens over a target by the landmarks that both show."""
    shared = (is_known & target_known)[..., None]
    n_shared = np.maximum(shared.sum(axis=1, keepdims=True), 1)
    middle = (shared * target).sum(axis=1, keepdims=True) / n_shared
    own_middle = (shared * specimens).sum(axis=1, keepdims=True) / n_shared
    goal, centred = shared * (target - middle), specimens - own_middle
    covariances = np.matmul((shared * centred).transpose(0, 2, 1), goal)
    turned = np.matmul(centred, rotations(covariances, reflection=how.reflection))
    if how.scaling:
        own_size = np.linalg.norm(shared * centred, axis=(1, 2), keepdims=True)
        size = np.linalg.norm(goal, axis=(1, 2), keepdims=True)
        is_told = (own_size > 0) & (size > 0)
        turned *= np.where(is_told, size / np.where(is_told, own_size, 1), 1)
    return turned + middle


def _largest_change(new: Coordinates, old: Coordinates) -> float:
    """Give the largest move of any coordinate, relative to the size of the largest specimen."""
    size = lengths(new).max()
    return float(np.abs(new - old).max() / size) if size > 0 else 0.0


def principal_axes(consensus: Coordinates, *, reflection: bool = False) -> Matrix:
    """Give the rotation that lays a shape's longest direction along the first axis.

    Along each axis the first landmark off its middle is turned to the negative end; without
    reflection, the last axis follows from the others.
    """
    axes = np.linalg.eigh(consensus.T @ consensus)[1][:, ::-1]
    along = consensus @ axes
    is_off = np.abs(along) > 1e-6 * np.linalg.norm(consensus)
    leading = along[np.argmax(is_off, axis=0), np.arange(along.shape[1])]
    axes = axes * np.where(leading > 0, -1.0, 1.0)
    if not reflection and np.linalg.det(axes) < 0:
        axes[:, -1] *= -1
    return np.asarray(axes)


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

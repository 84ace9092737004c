"""Generalized Procrustes analysis: aligning shapes without position, size and direction."""

import warnings
from numbers import Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.errors import InputError, check_count, quoted
from kernova.shapes.missing import (
    ShapeModel,
    fill_missing,
    local_precision,
    shape_model,
    shape_precision,
    similar_means,
)
from kernova.text import quantity
from kernova.typing import Coordinates, Indices, Mask, Matrix, Vector

# Landmarks that differ by less than this fraction of their coordinates coincide.
_COINCIDE = 1e-12
# Estimates of missing landmarks are never more accurate than this.
_ESTIMATE_TOLERANCE = 1e-7
# A specimen converges after about six rounds; an unusual one may take very many.
_MAX_REFINEMENTS = 100
_TOLERANCE, _MAX_ITER = 1e-10, 1000
_N_SEARCHES = 2


class Superposition(NamedTuple):
    """Options of the alignment: see :class:`GeneralizedProcrustes`."""

    scaling: bool = True
    reflection: bool = False
    tolerance: float = 1e-10
    max_iter: int = 1000


class Alignment(NamedTuple):
    """Aligned specimens."""

    coordinates: Coordinates  # aligned landmarks; missing ones are estimated; shape (n, p, d)
    # Root of the summed squared distances of a specimen's landmarks from their centroid, in the
    # unit of the input; shape (n,).
    centroid_sizes: Vector


class Consensus(NamedTuple):
    """The result of generalized Procrustes analysis: a model of shapes.

    ``centroid_sizes`` are those of the specimens; ``is_converged`` is true if the last round
    changed less than the tolerance.
    """

    model: ShapeModel
    centroid_sizes: Vector
    n_rounds: int
    is_converged: bool


class Frames(NamedTuple):
    """Specimens centred on their known landmarks, and the size of these.

    Missing landmarks are at the centroid. With scaling, specimens are divided by their size.
    """

    specimens: Coordinates
    is_known: Mask
    sizes: Vector


def rotations(covariances: Matrix, *, reflection: bool = False) -> Matrix:
    """Return the orthogonal R that maximise trace(R' C), for a stack of d × d matrices C.

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
        # Without reflection, the direction with the smallest singular value is reversed.
        left[:, :, -1] *= np.where(np.linalg.det(left @ right) < 0, -1.0, 1.0)[:, None]
    return np.asarray(left @ right)


class Similarity(NamedTuple):
    """A similarity transformation: ``(points - center) @ matrix + target_center``."""

    center: Vector
    matrix: Matrix
    target_center: Vector

    def apply(self, points: Matrix) -> Matrix:
        """Transform points, one per row."""
        return (points - self.center) @ self.matrix + self.target_center


def fit_similarity(source: Matrix, target: Matrix, *, reflection: bool = False) -> Similarity:
    """Return the similarity that maps source landmarks onto target ones, by least squares."""
    center, target_center = source.mean(axis=0), target.mean(axis=0)
    centred = source - center
    covariance = centred.T @ (target - target_center)
    rotation = rotations(covariance[np.newaxis], reflection=reflection)[0]
    scale = float((rotation * covariance).sum() / np.square(centred).sum())
    return Similarity(center, rotation * scale, target_center)


def _plane_rotations(covariances: Matrix, reflection: bool) -> Matrix:
    """Return the rotations for d = 2, where the trace is a cosine of the angle; needs no SVD."""
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


def _known_landmarks(coordinates: Coordinates) -> Mask:
    """Return the mask of landmarks with all of their coordinates, specimens × landmarks."""
    is_finite = np.isfinite(coordinates)
    is_known = is_finite[:, :, 0].copy()
    # Much faster than a reduction along so short an axis.
    for axis in range(1, coordinates.shape[2]):
        is_known &= is_finite[:, :, axis]
    return is_known


def lengths(specimens: Coordinates) -> Vector:
    """Return the root of the summed squares of all coordinates of each specimen."""
    rows = specimens.reshape(len(specimens), -1)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _sums(specimens: Coordinates) -> Coordinates:
    return np.einsum("npd->nd", specimens)[:, None, :]


def _own_frames(coordinates: Coordinates, *, scaling: bool = True) -> Frames:
    """Centre each specimen on its known landmarks; with scaling, divide it by its size."""
    is_known = _known_landmarks(coordinates)
    present = is_known[..., None]
    n_known = np.maximum(is_known.sum(axis=1), 1)[:, None, None]
    # Dividing by the largest coordinate first, so that squares neither overflow nor underflow.
    raw = coordinates if is_known.all() else np.where(present, coordinates, 0)
    largest = np.abs(raw).reshape(len(raw), -1).max(axis=1)[:, None, None]
    unit = np.where(largest > 0, largest, 1)
    specimens = raw / unit
    specimens -= _sums(specimens) / n_known
    if raw is not coordinates:
        specimens[~is_known] = 0
    sizes = lengths(specimens)
    sizes[sizes <= _COINCIDE] = 0
    divisor = np.where(sizes > 0, sizes, 1)[:, None, None] if scaling else 1 / unit
    specimens /= divisor
    with np.errstate(over="ignore"):  # such coordinates are refused later
        return Frames(specimens, is_known, sizes * unit[:, 0, 0])


def _check_magnitude(rows: Matrix, largest: float) -> None:
    """Raise for coordinates whose sums, or squares where sizes differ, cannot be computed."""
    size = float(np.nanmax(np.abs(rows), initial=0.0))
    if size > largest or 0 < size < 1 / largest:
        raise InputError(
            f"The largest coordinate is {size:.3g}; alignment takes {1 / largest:g} to "
            f"{largest:g}. Give the coordinates in another unit, or correct it."
        )


def shapeless_rows(coordinates: Coordinates, *, scaling: bool = True) -> Indices:
    """Return the rows of specimens without a shape: too few known landmarks, or all coincide.

    Without scaling, a specimen may be a single point.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> shapeless_rows(np.array([triangle, np.ones((3, 2)), triangle]))
    array([1])
    """
    frames = _own_frames(coordinates)
    too_few = frames.is_known.sum(axis=1) < max(2, coordinates.shape[2])
    return np.flatnonzero(too_few | (scaling & (frames.sizes == 0)))


def _consensus_of(coordinates: Coordinates, options: Superposition) -> Consensus:
    """Return the consensus: the mean of all specimens, each rotated to fit it best.

    Its longest direction lies along the first axis, its first landmark towards the negative end.
    """
    frames = _own_frames(coordinates, scaling=options.scaling)
    has_gap = np.asarray(~frames.is_known.all(axis=1))
    found = _align_with_gaps(frames, has_gap, options) if has_gap.any() else _align(frames, options)
    axes = principal_axes(found.consensus, reflection=options.reflection)
    aligned, consensus = found.aligned @ axes, found.consensus @ axes
    if has_gap.any():
        model = shape_model(aligned, consensus, ~has_gap, scaling=options.scaling)
        aligned[has_gap] = _completed(model, aligned[has_gap], frames.is_known[has_gap], options)
        consensus = aligned.mean(axis=0)
    model = shape_model(aligned, consensus, ~has_gap, scaling=options.scaling)
    # With gaps, sizes depend on the estimates, so they must be those that ``_aligned_to`` returns.
    sizes = (
        _aligned_to(model, coordinates, options).centroid_sizes if has_gap.any() else frames.sizes
    )
    return Consensus(model, sizes, found.n_rounds, found.is_converged)


class _GroupAlignment(NamedTuple):
    aligned: Coordinates
    consensus: Coordinates
    n_rounds: int
    is_converged: bool


def _align(frames: Frames, options: Superposition) -> _GroupAlignment:
    """Rotate complete specimens to their mean until the rotations converge.

    Aligned specimens are not formed in the loop: with the landmarks of one axis stored side by
    side, covariances and consensus are two matrix products.
    """
    n, n_landmarks, d = frames.specimens.shape
    by_axis = np.ascontiguousarray(frames.specimens.transpose(0, 2, 1)).reshape(n * d, n_landmarks)
    consensus, turns = frames.specimens[0], np.zeros((n, d, d))
    tolerance, n_rounds, is_converged = options.tolerance, 0, False
    while n_rounds < options.max_iter and not is_converged:
        before, old = turns, consensus
        turns = rotations((by_axis @ old).reshape(n, d, d), reflection=options.reflection)
        consensus = by_axis.T @ turns.reshape(n * d, d) / n
        # No coordinate is larger than its specimen, so none moves farther than this ...
        is_converged = float(np.abs(turns - before).max()) * d <= tolerance
        if not is_converged and np.abs(consensus - old).max() <= tolerance * np.abs(old).max():
            # ... but a specimen on one line may rotate about it without moving.
            moves = np.matmul(frames.specimens, turns - before)
            is_converged = float(np.abs(moves).max()) <= tolerance * lengths(frames.specimens).max()
        n_rounds += 1
    return _GroupAlignment(np.matmul(frames.specimens, turns), consensus, n_rounds, is_converged)


def _align_with_gaps(frames: Frames, has_gap: Mask, options: Superposition) -> _GroupAlignment:
    """Estimate missing landmarks and rotate, alternately, until no specimen moves."""
    aligned, consensus = _initial_alignment(frames, options)
    tolerance = max(options.tolerance, _ESTIMATE_TOLERANCE)
    n_rounds, is_converged = 0, False
    while n_rounds < options.max_iter and not is_converged:
        precision = shape_precision(aligned, consensus, scaling=options.scaling)
        filled = aligned.copy()
        filled[has_gap] = fill_missing(
            aligned[has_gap], frames.is_known[has_gap], consensus, precision
        )
        placed = _rotated_to(consensus, filled, options)
        is_converged = _largest_change(placed, aligned) <= tolerance
        aligned, consensus = placed, placed.mean(axis=0)
        n_rounds += 1
    return _GroupAlignment(aligned, consensus, n_rounds, is_converged)


def _initial_alignment(frames: Frames, options: Superposition) -> tuple[Coordinates, Coordinates]:
    """Align all to the specimen with most landmarks; gaps start at the mean of the others."""
    start = int(np.argmax(frames.is_known.sum(axis=1)))
    aligned = _superimposed(
        frames.specimens[start], frames.is_known[start], frames.specimens, frames.is_known, options
    )
    counts = frames.is_known.sum(axis=0)[:, None]
    present = frames.is_known[..., None]
    consensus = np.where(present, aligned, 0).sum(axis=0) / counts
    return np.where(present, aligned, consensus), consensus


def _aligned_to(model: ShapeModel, coordinates: Coordinates, options: Superposition) -> Alignment:
    """Align specimens to a consensus, each by itself."""
    frames = _own_frames(coordinates, scaling=options.scaling)
    placed = _rotated_to(model.consensus, frames.specimens, options)
    has_gap = np.asarray(~frames.is_known.all(axis=1))
    if has_gap.any():
        placed[has_gap] = _completed(
            model, frames.specimens[has_gap], frames.is_known[has_gap], options
        )
    return Alignment(placed, _completed_sizes(frames, placed, has_gap))


def _completed(
    model: ShapeModel, specimens: Coordinates, is_known: Mask, options: Superposition
) -> Coordinates:
    """Estimate missing landmarks from the consensus, then from the most similar specimens."""
    everywhere = np.ones(len(model.consensus), dtype=np.bool_)
    placed = _superimposed(model.consensus, everywhere, specimens, is_known, options)
    means = np.broadcast_to(model.consensus, placed.shape)
    placed = _refined(placed, is_known, means, model.precision, model.consensus, options)
    precision = local_precision(model, scaling=options.scaling)
    if precision is None:
        return placed
    for _ in range(_N_SEARCHES):  # a better estimate may find more similar specimens
        means = similar_means(placed, model.examples)
        placed = _refined(placed, is_known, means, precision, model.consensus, options)
    return placed


def _refined(
    placed: Coordinates,
    is_known: Mask,
    means: Coordinates,
    precision: Matrix,
    consensus: Coordinates,
    options: Superposition,
) -> Coordinates:
    """Estimate and rotate alternately; each specimen converges independently of the others."""
    placed, moving = placed.copy(), np.arange(len(placed))
    for _ in range(min(options.max_iter, _MAX_REFINEMENTS)):
        before = placed[moving]
        filled = fill_missing(before, is_known[moving], means[moving], precision)
        placed[moving] = _rotated_to(consensus, filled, options)
        moves = np.abs(placed[moving] - before).max(axis=(1, 2))
        limits = options.tolerance * np.linalg.norm(before, axis=(1, 2))
        moving = moving[moves > limits]
        if not len(moving):
            break
    return placed


def _completed_sizes(frames: Frames, placed: Coordinates, has_gap: Mask) -> Vector:
    """Scale the size of the known landmarks to that of all, as in the completed specimen."""
    sizes = frames.sizes.copy()
    if has_gap.any():
        filled, present = placed[has_gap], frames.is_known[has_gap][..., None]
        seen = _own_frames(np.where(present, filled, np.nan)).sizes
        sizes[has_gap] *= lengths(filled) / np.where(seen > 0, seen, 1)
    return sizes


def _rotated_to(target: Coordinates, specimens: Coordinates, options: Superposition) -> Coordinates:
    """Centre complete specimens, scale them if wanted, and rotate them to the target."""
    centred = specimens - _sums(specimens) / specimens.shape[1]
    if options.scaling:
        centred /= lengths(centred)[:, None, None]
    covariances = np.matmul(centred.transpose(0, 2, 1), target)
    return np.matmul(centred, rotations(covariances, reflection=options.reflection))


def _superimposed(
    target: Coordinates,
    target_known: Mask,
    specimens: Coordinates,
    is_known: Mask,
    options: Superposition,
) -> Coordinates:
    """Fit specimens to a target by a similarity, using the landmarks that both have."""
    shared = (is_known & target_known)[..., None]
    n_shared = np.maximum(shared.sum(axis=1, keepdims=True), 1)
    middle = (shared * target).sum(axis=1, keepdims=True) / n_shared
    own_middle = (shared * specimens).sum(axis=1, keepdims=True) / n_shared
    goal, centred = shared * (target - middle), specimens - own_middle
    covariances = np.matmul((shared * centred).transpose(0, 2, 1), goal)
    turned = np.matmul(centred, rotations(covariances, reflection=options.reflection))
    if options.scaling:
        own_size = np.linalg.norm(shared * centred, axis=(1, 2), keepdims=True)
        size = np.linalg.norm(goal, axis=(1, 2), keepdims=True)
        is_known_size = (own_size > 0) & (size > 0)
        turned *= np.where(is_known_size, size / np.where(is_known_size, own_size, 1), 1)
    return turned + middle


def _largest_change(new: Coordinates, old: Coordinates) -> float:
    """Return the largest move of any coordinate, relative to the size of the largest specimen."""
    size = lengths(new).max()
    return float(np.abs(new - old).max() / size) if size > 0 else 0.0


def principal_axes(consensus: Coordinates, *, reflection: bool = False) -> Matrix:
    """Return the rotation that aligns a shape's longest direction with the first axis.

    Along each axis the first landmark off the middle lies towards the negative end; without
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
    """Generalized Procrustes analysis (GPA): remove position, size and orientation.

    Each specimen is centred, scaled to unit centroid size and rotated to the consensus, the mean
    of all aligned specimens, until the consensus converges. The consensus has its longest
    direction along the first axis and its first landmark at the negative end, so the result does
    not depend on the positions of the specimens.

    Missing landmarks (NaN) are estimated during alignment from the specimen's other landmarks, by
    the covariance of landmarks in the training specimens and by the most similar complete
    specimens. A landmark with one missing coordinate counts as missing.

    Parameters
    ----------
    dimensions : int, default=2
        Coordinates per landmark. Rows are [x1 y1 x2 y2 ...]; arrays of shape (specimens,
        landmarks, dimensions) are accepted as well.
    scaling : bool, default=True
        Scale every specimen to unit centroid size; False keeps sizes in the comparison.
    reflection : bool, default=False
        Allow mirror images, for specimens seen from the left and from the right.
    missing : {"estimate", "raise"}, default="estimate"
        Whether missing landmarks are estimated or raise an error. "refuse" is the deprecated
        name of "raise".
    tolerance : float, default=1e-10
        Convergence: no coordinate moves more than this, relative to a specimen's size. With
        missing landmarks, at least 1e-7.
    max_iter : int, default=1000
        The maximum number of rounds; a warning is issued if it is reached.

    Attributes
    ----------
    consensus_ : ndarray of shape (n_landmarks, dimensions)
        Mean of the aligned specimens of ``fit``.
    centroid_sizes_ : ndarray of shape (n_specimens,)
        Root of the summed squared distances of a specimen's landmarks from their centroid, in
        the unit of its coordinates, for the specimens of ``fit``.
    precision_ : ndarray of shape (n_columns, n_columns)
        The inverse covariance of aligned rows, with a flat prior on position, size and
        orientation. Missing landmarks are estimated with it.
    examples_ : ndarray of shape (n_examples, n_landmarks, dimensions)
        Complete specimens of ``fit``, aligned, 2000 at most. If there are fifty or more, the
        expectation of an incomplete specimen is the mean of the six most similar ones.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of columns: landmarks times dimensions.

    Notes
    -----
    ``transform`` aligns each specimen to the consensus independently of the others; the result for
    the specimens of ``fit`` equals that of ``fit_transform``.

    With ``scaling=False`` and missing landmarks, specimens that are many times smaller than the
    others may prevent convergence: the estimate of a missing landmark is on the scale of the
    consensus, dominates the rotation of a much smaller specimen, and may oscillate with it.

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
        missing: Literal["estimate", "raise", "refuse"] = "estimate",
        tolerance: float = _TOLERANCE,
        max_iter: int = _MAX_ITER,
    ) -> None:
        self.dimensions = dimensions
        self.scaling = scaling
        self.reflection = reflection
        self.missing = missing
        self.tolerance = tolerance
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "estimate"
        tags.input_tags.three_d_array = True
        return tags

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compute the consensus.

        Parameters
        ----------
        X : array-like of shape (n_specimens, n_landmarks * dimensions)
            Rows [x1 y1 x2 y2 ...], or an array of shape (n_specimens, n_landmarks, dimensions).
        y : ignored
            Present for API consistency.

        Returns
        -------
        self
        """
        self._check_parameters()
        specimens = self._specimens(X, reset=True)
        _check_landmarks_seen(specimens)
        found = _consensus_of(specimens, self._options())
        if not found.is_converged:
            text = _convergence_message(found.n_rounds, self._options())
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        self.consensus_, self.precision_, self.examples_ = found.model
        self.n_iter_ = found.n_rounds
        self.centroid_sizes_ = found.centroid_sizes
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Align specimens to the consensus, each by itself; the shape of ``X`` is kept."""
        aligned = self.align(X).coordinates
        return aligned if _is_three_d(X) else aligned.reshape(len(aligned), -1)

    def align(self, X: ArrayLike) -> Alignment:
        """Align specimens (``X`` as for ``fit``) to the consensus, and return their sizes too."""
        check_is_fitted(self)
        model = ShapeModel(self.consensus_, self.precision_, self.examples_)
        return _aligned_to(model, self._specimens(X, reset=False), self._options())

    def _options(self) -> Superposition:
        return Superposition(self.scaling, self.reflection, self.tolerance, self.max_iter)

    def _check_parameters(self) -> None:
        for name in ("dimensions", "max_iter"):
            check_count(getattr(self, name), name, 1)
        if self.missing == "refuse":
            warnings.warn(
                'missing="refuse" is deprecated; use missing="raise".',
                DeprecationWarning,
                stacklevel=3,
            )
        elif self.missing not in ("estimate", "raise"):
            raise InputError(f"missing is {quoted(self.missing)}; choose one of estimate, raise.")
        if not (isinstance(self.tolerance, Real) and 0 < self.tolerance < 1):
            raise InputError(
                f"The tolerance must lie between 0 and 1; got {quoted(self.tolerance)}."
            )

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
        _check_magnitude(rows, 1e300 if self.scaling else 1e100)
        specimens = rows.reshape(len(rows), -1, d)
        shapeless = shapeless_rows(specimens, scaling=self.scaling)
        if len(shapeless):
            raise InputError(
                f"Row {shapeless[0]} (counted from 0) has no shape: it shows fewer than "
                f"{max(2, d)} landmarks, or all of them coincide. Leave it out."
            )
        return specimens


def _is_three_d(X: Any) -> bool:
    return getattr(X, "ndim", 2) == 3


def _convergence_message(n_rounds: int, options: Superposition) -> str:
    """Return what to do; parameters are named only if they were changed, as Python alone can."""
    advice = "Leave out specimens or landmarks of which most are missing"
    if options.max_iter < _MAX_ITER or options.tolerance < _TOLERANCE:
        advice = "Increase max_iter or tolerance"
    elif not options.scaling:
        advice += ", or use scaling=True"
    rounds = quantity(n_rounds, "round")
    return f"The consensus did not converge in {rounds}: alignment is approximate. {advice}."


def _check_landmarks_seen(specimens: Coordinates) -> None:
    is_seen = np.isfinite(specimens).all(axis=2).any(axis=0)
    if not is_seen.all():
        number = int(np.argmin(is_seen)) + 1
        raise InputError(f"Landmark {number} is missing in every training specimen. Leave it out.")

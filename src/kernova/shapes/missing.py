"""Estimation of missing landmarks, from the other landmarks of a specimen.

Aligned specimens are modelled as draws from a Gaussian around the consensus, and a missing landmark
is estimated by its conditional mean given the known ones. Position, size and direction of an
incomplete specimen are not known either, so a flat prior is put on them. Where there are enough
complete specimens, the mean of the most similar ones replaces the consensus, since specimens come
in groups.

The other estimate is a thin-plate spline from the mean of similar specimens, which needs no
covariance and is better where few specimens bend smoothly. :func:`better_estimates` takes the one
with the smaller error on complete specimens without the same landmarks.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors

from kernova.parallel import row_blocks
from kernova.shapes.thin_plate import is_spanning, spline_estimates
from kernova.typing import Coordinates, Mask, Matrix

# The variance of the prior on position, size and direction, in multiples of the variance of all
# shapes. A larger one would change nothing, and reduce numerical precision.
_FLAT = 100
# Keeps the covariance of identical specimens invertible; relative to the consensus.
_MIN_VARIANCE = 1e-12
# The number of similar specimens (on 2,197 cichlids, 4 to 10 gave similar errors, 30 larger ones).
_N_SIMILAR = 6
# With fewer complete specimens, the most similar ones are not similar enough; of more, only so many
# are stored, which keeps time and memory linear in the number of specimens.
_MIN_EXAMPLES, _MAX_EXAMPLES = 50, 2000
# Both estimates are compared on so many complete specimens, each held out; of a large set, all at
# once, since they hardly change the model.
_N_TESTED, _N_FOLDS, _LARGE_SET = 40, 10, 400
# An estimate whose error is smaller by this factor on single landmarks is taken for any gap.
_CLEARLY_BETTER = 0.9


class ShapeModel(NamedTuple):
    """A Gaussian model of shapes: mean, and precision with a flat prior on the frame."""

    consensus: Coordinates  # the mean shape; shape (p, d)
    precision: Matrix  # inverse covariance of the rows [x1 y1 x2 y2 ...]; shape (p * d, p * d)
    examples: Coordinates  # complete specimens, aligned; shape (n, p, d)


def shape_model(
    aligned: Coordinates,
    consensus: Coordinates,
    is_complete: Mask,
    *,
    scaling: bool,
) -> ShapeModel:
    """Learn the model from aligned and completed specimens."""
    complete = np.flatnonzero(is_complete)
    step = -(-len(complete) // _MAX_EXAMPLES) or 1
    precision = shape_precision(aligned, consensus, scaling=scaling)
    return ShapeModel(consensus, precision, aligned[complete[::step]])


def shape_precision(aligned: Coordinates, consensus: Coordinates, *, scaling: bool) -> Matrix:
    """Return the inverse covariance of aligned specimens, with a flat prior on their frames."""
    residuals = (aligned - consensus).reshape(len(aligned), -1)
    covariance = _shrunk_covariance(residuals)
    covariance.flat[:: len(covariance) + 1] += _MIN_VARIANCE * np.square(consensus).sum()
    frame = frame_directions(consensus, scaling=scaling)
    prior = _FLAT * np.trace(covariance)
    return np.asarray(np.linalg.inv(covariance + prior * frame @ frame.T))


def local_precision(model: ShapeModel, *, scaling: bool) -> Matrix | None:
    """Return the precision about the mean of similar specimens, if it predicts landmarks better.

    The criterion is the conditional variance of a landmark given all the others.
    """
    if len(model.examples) < _MIN_EXAMPLES:
        return None
    # The first of the similar ones is the specimen itself.
    deviations = model.examples - similar_means(model.examples, model.examples, n_skipped=1)
    precision = shape_precision(deviations + model.consensus, model.consensus, scaling=scaling)
    is_better = _conditional_variance(precision, model) < _conditional_variance(
        model.precision, model
    )
    return precision if is_better else None


def similar_means(
    specimens: Coordinates, examples: Coordinates, *, n_skipped: int = 0
) -> Coordinates:
    """Return, for each specimen, the mean of the six most similar examples, or of all if fewer."""
    flat = examples.reshape(len(examples), -1)
    n_neighbors = min(_N_SIMILAR + n_skipped, len(examples))
    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(flat)
    similar = search.kneighbors(specimens.reshape(len(specimens), -1), return_distance=False)
    return np.asarray(examples[similar[:, n_skipped:]].mean(axis=1))


def _conditional_variance(precision: Matrix, model: ShapeModel) -> float:
    n_landmarks, d = model.consensus.shape
    blocks = precision.reshape(n_landmarks, d, n_landmarks, d)
    own = blocks[np.arange(n_landmarks), :, np.arange(n_landmarks), :]
    return float(np.trace(np.linalg.inv(own), axis1=1, axis2=2).sum())


def _shrunk_covariance(residuals: Matrix) -> Matrix:
    """Return the covariance with oracle approximating shrinkage.

    The fewer the rows, the more it is shrunk towards equal variances without correlation; then
    missing landmarks are estimated by the consensus.
    """
    n_rows, n_columns = residuals.shape
    covariance = residuals.T @ residuals / n_rows
    mean_variance = np.trace(covariance) / n_columns
    squares, square = np.square(covariance).sum(), (n_columns * mean_variance) ** 2
    excess = (n_rows + 1 - 2 / n_columns) * (squares - square / n_columns)
    wanted = (1 - 2 / n_columns) * squares + square
    shrinkage = 1.0 if wanted >= excess else wanted / excess
    return np.asarray((1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(n_columns))


def frame_directions(consensus: Coordinates, *, scaling: bool) -> Matrix:
    """Return, as orthonormal columns, the derivatives of a row by translation and rotation.

    With ``scaling`` also by size.

    Examples
    --------
    >>> import numpy as np
    >>> frame_directions(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]), scaling=True).shape
    (6, 4)
    """
    n_landmarks, d = consensus.shape
    moves = [np.tile(axis, (n_landmarks, 1)) for axis in np.eye(d)]
    turns = []
    for i, j in zip(*np.triu_indices(d, 1), strict=True):
        turn = np.zeros_like(consensus)
        turn[:, i], turn[:, j] = -consensus[:, j], consensus[:, i]
        turns.append(turn)
    sizes = [consensus] if scaling else []
    directions = np.stack([one.ravel() for one in (*moves, *turns, *sizes)], axis=1)
    # Rotating about the line of collinear landmarks does not change them.
    strengths = np.linalg.norm(directions, axis=0)
    is_change = strengths > 1e-9 * strengths.max()
    directions = directions[:, is_change] / strengths[is_change]
    left, strength, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(left[:, strength > 1e-9])


def fill_missing(
    specimens: Coordinates, is_known: Mask, mean: Coordinates, precision: Matrix
) -> Coordinates:
    """Return a copy with each missing landmark at its conditional mean.

    Parameters
    ----------
    specimens : ndarray of shape (n, p, d)
        Roughly aligned; the values of missing landmarks are ignored.
    is_known : ndarray of bool of shape (n, p)
        Which landmarks were measured.
    mean : ndarray of shape (p, d) or (n, p, d)
        The expected specimen, one for all or one for each.
    precision : ndarray of shape (p * d, p * d)
        The inverse covariance of the deviations from it.
    """
    n_rows, _, d = specimens.shape
    # The missing landmarks of each specimen first, as many as any specimen lacks.
    most_missing = int((~is_known).sum(axis=1).max(initial=0))
    first = np.argsort(is_known, axis=1, kind="stable")[:, :most_missing]
    columns = (first[..., None] * d + np.arange(d)).reshape(n_rows, -1)
    is_gap = np.repeat(~np.take_along_axis(is_known, first, axis=1), d, axis=1)
    filled = specimens.reshape(n_rows, -1).copy()
    expected = np.broadcast_to(mean, specimens.shape).reshape(n_rows, -1)
    present = np.repeat(is_known, d, axis=1)
    for block in row_blocks(n_rows, 3 * (most_missing * d) ** 2):
        here, gap = columns[block], is_gap[block]
        residual = np.where(present[block], filled[block] - expected[block], 0)
        # With precision P: mean of the missing = -P_mm^-1 P_mk residual_k. A specimen that lacks
        # fewer is padded with the identity, so that all solve systems of one size at once.
        pull = gap * np.take_along_axis(residual @ precision, here, axis=1)
        systems = precision[here[:, :, None], here[:, None, :]]
        systems = np.where(gap[:, :, None] & gap[:, None, :], systems, np.eye(here.shape[1]))
        moved = np.linalg.solve(systems, pull[..., None])[..., 0]
        kept = np.take_along_axis(filled[block], here, axis=1)
        guess = np.take_along_axis(expected[block], here, axis=1) - moved
        np.put_along_axis(filled[block], here, np.where(gap, guess, kept), axis=1)
    return filled.reshape(specimens.shape)


class EstimateErrors(NamedTuple):
    """Root mean square errors of two estimates of missing landmarks, on held-out specimens.

    In the unit of the aligned specimens; infinite where an estimate cannot be made.
    """

    conditional_mean: float
    spline: float

    @property
    def taken(self) -> Literal["conditional mean", "thin-plate spline"]:
        """The estimate with the smaller error."""
        return "conditional mean" if self.conditional_mean <= self.spline else "thin-plate spline"


class BetterEstimates(NamedTuple):
    """Specimens completed by the better of two estimates, and which of them were by the spline."""

    coordinates: Coordinates
    is_spline: Mask  # specimens whose missing landmarks a thin-plate spline estimates


class _Fold(NamedTuple):
    model: ShapeModel  # learnt without the tested specimens
    local: Matrix | None
    tested: Coordinates


def better_estimates(
    model: ShapeModel, completed: Coordinates, is_known: Mask, *, scaling: bool
) -> BetterEstimates:
    """Replace conditional means by thin-plate splines where these have the smaller error.

    Each set of missing landmarks is tested on complete specimens that lack the same ones, unless
    the conditional mean is clearly better for single landmarks. The choice for a specimen
    depends on its own missing landmarks and on the model alone.

    Parameters
    ----------
    model : ShapeModel
        The model of shapes, with complete specimens as examples.
    completed : ndarray of shape (n, p, d)
        Aligned specimens, with missing landmarks at their conditional means.
    is_known : ndarray of bool of shape (n, p)
        Which landmarks were measured.
    scaling : bool
        Whether specimens were scaled to unit size.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.missing import better_estimates, shape_model
    >>> shapes = np.random.default_rng(0).normal(size=(1, 6, 2)) + np.zeros((4, 1, 1))
    >>> model = shape_model(shapes, shapes.mean(axis=0), np.ones(4, dtype=bool), scaling=True)
    >>> is_known = np.array([[True, True, False, True, True, True]])
    >>> better_estimates(model, shapes[:1], is_known, scaling=True).is_spline
    array([False])
    """
    is_spline = np.zeros(len(completed), dtype=np.bool_)
    coordinates = completed.copy()
    folds = list(_folds(model, scaling=scaling))
    if not folds or _is_mean_clearly_better(folds):
        return BetterEstimates(coordinates, is_spline)
    patterns, index = np.unique(is_known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.all() or _errors(folds, pattern).taken == "conditional mean":
            continue
        rows = np.flatnonzero(index.ravel() == number)
        is_spline[rows] = True
        coordinates[rows] = _splined(completed[rows], pattern, model.examples)
    return BetterEstimates(coordinates, is_spline)


def estimate_errors(model: ShapeModel, is_known: Mask, *, scaling: bool) -> EstimateErrors:
    """Return the errors of both estimates on complete specimens without the same landmarks.

    The specimens are those of the model, each held out: it is estimated with the others.

    Parameters
    ----------
    model : ShapeModel
        The model of shapes, with complete specimens as examples.
    is_known : ndarray of bool of shape (p,)
        The landmarks that are kept; at least one must be missing.
    scaling : bool
        Whether specimens were scaled to unit size.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.missing import estimate_errors, shape_model
    >>> shapes = np.random.default_rng(0).normal(size=(1, 6, 2)) + np.zeros((4, 1, 1))
    >>> model = shape_model(shapes, shapes.mean(axis=0), np.ones(4, dtype=bool), scaling=True)
    >>> estimate_errors(model, np.arange(6) != 2, scaling=True).taken
    'conditional mean'
    """
    return _errors(list(_folds(model, scaling=scaling)), is_known)


def _folds(model: ShapeModel, *, scaling: bool) -> Iterator[_Fold]:
    """Hold out complete specimens, evenly spaced; each fold's model is learnt without its own."""
    n_examples = len(model.examples)
    if n_examples < 3:
        return
    tested = np.unique(np.linspace(0, n_examples - 1, _N_TESTED).astype(np.intp))
    n_folds = 1 if n_examples >= _LARGE_SET else min(_N_FOLDS, len(tested))
    for first in range(n_folds):
        held_out = tested[first::n_folds]
        rest = np.delete(model.examples, held_out, axis=0)
        consensus = rest.mean(axis=0)
        learnt = ShapeModel(consensus, shape_precision(rest, consensus, scaling=scaling), rest)
        yield _Fold(learnt, local_precision(learnt, scaling=scaling), model.examples[held_out])


def _is_mean_clearly_better(folds: list[_Fold]) -> bool:
    """Compare on single missing landmarks, each tested specimen without another one."""
    n_landmarks = len(folds[0].model.consensus)
    squares, start = np.zeros(2), 0
    for fold in folds:
        gaps = (start + np.arange(len(fold.tested))) % n_landmarks
        is_known = np.arange(n_landmarks) != gaps[:, None]
        squares += _squared_errors(fold, is_known)
        start += len(fold.tested)
    return bool(squares[0] <= _CLEARLY_BETTER**2 * squares[1])


def _errors(folds: list[_Fold], pattern: Mask) -> EstimateErrors:
    if not folds:
        return EstimateErrors(np.inf, np.inf)
    squares, n_tested = np.zeros(2), 0
    for fold in folds:
        squares += _squared_errors(fold, np.tile(pattern, (len(fold.tested), 1)))
        n_tested += len(fold.tested)
    mean, spline = np.sqrt(squares / (n_tested * np.count_nonzero(~pattern)))
    return EstimateErrors(float(mean), float(spline))


def _squared_errors(fold: _Fold, is_known: Mask) -> Matrix:
    """Return the summed squared errors of the conditional mean and of the spline."""
    estimate = fill_missing(fold.tested, is_known, fold.model.consensus, fold.model.precision)
    if fold.local is not None:
        means = similar_means(estimate, fold.model.examples)
        estimate = fill_missing(fold.tested, is_known, means, fold.local)
    sums = np.array([np.square(estimate - fold.tested).sum(), 0.0])
    for specimen, known, truth in zip(estimate, is_known, fold.tested, strict=True):
        splined = _splined(specimen[None], known, fold.model.examples)[0]
        sums[1] += np.square(splined - truth).sum()
    return sums


def _splined(completed: Coordinates, is_known: Mask, examples: Coordinates) -> Coordinates:
    """Estimate the same missing landmarks of all by splines from the mean of similar examples.

    Infinite where the known landmarks do not determine a spline.
    """
    missing, filled = np.flatnonzero(~is_known), completed.copy()
    for row, source in enumerate(similar_means(completed, examples)):
        if is_spanning(source[is_known]):
            filled[row, missing] = spline_estimates(source, completed[row : row + 1], missing)[0]
        else:
            filled[row, missing] = np.inf
    return filled

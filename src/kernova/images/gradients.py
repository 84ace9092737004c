"""Edges of pictures: histograms of their orientations at three scales, by cells or by rings.

The gradient of lightness is taken by derivatives of Gaussians. Each pixel counts by the strength
of its gradient, for the orientation of the edge (0 to 180 degrees, against the clock from
horizontal). Frequencies are divided by the strength of all edges of the picture at that scale, so
that contrast does not matter; the strength itself is one more descriptor.
"""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from kernova.images.histograms import Histogram, soft_histogram
from kernova.images.regions import grid_cells, polar_positions, rings
from kernova.typing import Matrix

# Standard deviations of the Gaussians, in pixels.
SCALES = {"fine": 1.0, "medium": 2.0, "coarse": 4.0}
# Cells along each side, by scale.
_N_CELLS = {"fine": 4, "medium": 4, "coarse": 2}
N_ORIENTATIONS = 8
N_EDGE_RINGS = 4
_N_HARMONICS = 4
# Bins of the histogram whose harmonics are taken; more than twice as many as harmonics.
_N_ANGLES = 16
# Lightness per pixel that counts as no edge, such as noise of compression.
_FAINT = 0.5


class Edges(NamedTuple):
    """Edges of pictures of one size, each of shape (n_pictures, height, width)."""

    strength: Matrix  # change of lightness per pixel
    turns: Matrix  # orientation in half turns: 0 is horizontal, 0.5 vertical


def edges_of(lightness: Matrix, sigma: float) -> Edges:
    """Return strength and orientation of the edges at one scale.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.gradients import edges_of
    >>> lightness = np.zeros((1, 9, 9))
    >>> lightness[:, :, 5:] = 100.0
    >>> edges = edges_of(lightness, 1.0)
    >>> edges.strength[0, 4].round(1).tolist()[3:6], float(edges.turns[0, 4, 4])
    ([12.2, 36.4, 36.4], 0.5)
    """
    smooth = gaussian_filter1d(lightness, sigma, axis=1)
    right = gaussian_filter1d(smooth, sigma, axis=2, order=1)
    smooth = gaussian_filter1d(lightness, sigma, axis=2)
    up = -gaussian_filter1d(smooth, sigma, axis=1, order=1)
    # An edge is at a right angle to its gradient.
    turns = (np.arctan2(up, right) / np.pi + 0.5) % 1.0
    return Edges(np.hypot(right, up), turns)


def _angle_names() -> list[str]:
    return [f"{180 * number / N_ORIENTATIONS:g}°" for number in range(N_ORIENTATIONS)]


# --- by cells ------------------------------------------------------------------------------------


def edge_names() -> list[str]:
    """Return the names of the descriptors of :func:`edge_descriptors`."""
    names = []
    for scale, n_cells in _N_CELLS.items():
        cells = grid_cells(n_cells, n_cells, n_cells).names
        angles = _angle_names()
        names += [f"edges at {angle}, {scale}, {cell}" for cell in cells for angle in angles]
        names.append(f"strength of edges, {scale}")
    return names


def edge_descriptors(lightness: Matrix) -> Matrix:
    """Return histograms of the orientations of edges in cells of a grid, at three scales.

    Parameters
    ----------
    lightness : ndarray of shape (n_pictures, height, width)
        From 0 to 100.
    """
    height, width = lightness.shape[1:]
    parts = []
    for scale, sigma in SCALES.items():
        edges = edges_of(lightness, sigma)
        cells = grid_cells(height, width, _N_CELLS[scale]).numbers
        bins = Histogram(N_ORIENTATIONS, _N_CELLS[scale] ** 2, is_circular=True)
        counts = soft_histogram(edges.turns, edges.strength, cells, bins)
        parts += [np.sqrt(_relative(counts, edges)), _log_strength(edges)]
    return np.hstack(parts)


# --- by rings ------------------------------------------------------------------------------------


def turned_edge_names() -> list[str]:
    """Return the names of the descriptors of :func:`turned_edge_descriptors`."""
    names = []
    for scale in SCALES:
        around = rings(1, 1, N_EDGE_RINGS).names[:-1]
        names += [
            f"edges at {angle} to the radius, {scale}, {ring}"
            for ring in around
            for angle in _angle_names()
        ]
        names += [f"edges, {number} directions, {scale}" for number in range(1, _N_HARMONICS + 1)]
        names.append(f"strength of edges, {scale}")
    return names


def turned_edge_descriptors(lightness: Matrix) -> Matrix:
    """Return descriptors of edges that do not depend on how the picture is turned.

    In rings around the centre, the orientation of an edge is measured from the radius, against the
    clock: spirals of both senses differ. Of the orientations in the whole circle, the magnitudes
    of the Fourier coefficients are taken: one direction is strong where all edges are parallel, two
    where they are at right angles.

    Parameters
    ----------
    lightness : ndarray of shape (n_pictures, height, width)
        From 0 to 100.
    """
    height, width = lightness.shape[1:]
    around = rings(height, width, N_EDGE_RINGS).numbers
    radius = polar_positions(height, width).angle / np.pi
    is_inside = (around < N_EDGE_RINGS).astype(np.float64)
    whole = np.zeros((height, width), dtype=np.intp)
    n_counts = N_EDGE_RINGS * N_ORIENTATIONS
    parts = []
    for sigma in SCALES.values():
        edges = edges_of(lightness, sigma)
        inside = Edges(edges.strength * is_inside, edges.turns)
        bins = Histogram(N_ORIENTATIONS, N_EDGE_RINGS + 1, is_circular=True)
        counts = soft_histogram(edges.turns - radius, inside.strength, around, bins)[:, :n_counts]
        angles = Histogram(_N_ANGLES, is_circular=True)
        directions = _relative(soft_histogram(edges.turns, inside.strength, whole, angles), inside)
        harmonics = np.abs(np.fft.rfft(directions, axis=1))[:, 1 : _N_HARMONICS + 1]
        parts += [np.sqrt(_relative(counts, inside)), harmonics, _log_strength(inside)]
    return np.hstack(parts)


def _relative(counts: Matrix, edges: Edges) -> Matrix:
    """Divide counts by the strength of all edges of each picture."""
    n = len(counts)
    totals = edges.strength.reshape(n, -1).sum(axis=1) + _FAINT * edges.strength[0].size
    return np.asarray(counts / totals[:, None])


def _log_strength(edges: Edges) -> Matrix:
    means = edges.strength.reshape(len(edges.strength), -1).mean(axis=1)
    return np.asarray(np.log(means + _FAINT)[:, None])

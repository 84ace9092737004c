"""Small groups, compared whole: whether the unknown's depths are those of a known group.

Half of a handful of specimens says next to nothing. So alignment and components are learnt from
the other groups, and then the specimens of the two groups in question can change places: if the
unknown ones are of the known group, which of them are called unknown is chance.
"""

import math

import numpy as np
from numpy.typing import NDArray

from kernova.kernels.functions import Gaussian
from kernova.studies.species_halvings import Names, Positions, Vector, kernel_width
from kernova.studies.species_space import Coordinates, Matrix, SpeciesSettings, fit_shape_space

N_PERMUTATIONS = 999
# A known group of at least so many specimens can be halved; of two so large groups together, the
# permutations would take long.
LARGE_GROUP = 20
_MOST_SPECIMENS = 60
# Fewer others than this teach no space to compare the two groups in.
_FEWEST_OTHERS = 10


def is_compared_whole(n_known: int, n_unknown: int, n_others: int) -> bool:
    """Tell by numbers alone, before any specimen is seen, which test a known group gets."""
    is_small = n_known < LARGE_GROUP and n_known + n_unknown <= _MOST_SPECIMENS
    return is_small and n_others >= _FEWEST_OTHERS


def smallest_whole_p_value(n_known: int, n_unknown: int) -> float:
    """Give the smallest p-value that so many specimens and permutations allow."""
    return max(1 / (N_PERMUTATIONS + 1), 1 / math.comb(n_known + n_unknown, n_unknown))


def whole_group_p_value(
    coordinates: Coordinates,
    groups: Names,
    known: Positions,
    unknown: Positions,
    others: Positions,
    settings: SpeciesSettings,
) -> float:
    """Test "the unknown specimens are of this group" in a space that the other groups teach."""
    space = fit_shape_space(coordinates[others], groups[others], settings)
    rows = space.place(coordinates[np.concatenate([unknown, known])]).rows
    rng = np.random.default_rng([settings.seed, len(known), len(unknown)])
    return depth_permutation_p_value(rows, len(unknown), settings.bandwidth, rng)


def depth_permutation_p_value(
    rows: Matrix, n_unknown: int, bandwidth: "str | float", rng: np.random.Generator
) -> float:
    """Give the share of 999 re-namings, and the true one, that set the unknown as far apart.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        The unknown specimens, and behind them those of the known group.
    n_unknown : int
        How many are unknown.
    bandwidth : str or float
        Of the kernelized depth, taken from all rows, so that it favours nobody.
    rng : Generator
        Draws the re-namings.

    Returns
    -------
    float
        Low if each of the two lies shallower in the other than in itself.
    """
    width = kernel_width(bandwidth, rows, seed=0)
    squared = Gaussian(width).squared_distance(rows, rows)
    np.fill_diagonal(squared, 0)
    forms = depth_forms(squared)
    is_known = np.ones((N_PERMUTATIONS + 1, len(rows)), dtype=np.bool_)
    is_known[:, :n_unknown] = False
    is_known[1:] = rng.permuted(is_known[1:], axis=1)
    # From both sides: a known group that is scattered widely does not tell who is far from it,
    # but a compact unknown does.
    gaps = depth_gaps(forms, is_known) + depth_gaps(forms, ~is_known)
    # Re-namings that only change the order of sums are equal; rounding must not tell them apart.
    return float(np.mean(gaps >= gaps[0] - 1e-12))


def depth_forms(squared: Matrix) -> NDArray[np.float64]:
    """Give for each row x the matrix whose sum over i, j of a set is the square under its depth.

    z_i z_j (k(x,x) + k(x_i,x_j) - k(x,x_i) - k(x,x_j)), in terms of squared distances in the
    kernel's space; 0 where x is i or j, so that no row counts towards its own depth.
    """
    inverse = np.where(squared > 0, 1 / np.sqrt(np.where(squared > 0, squared, 1)), 0)
    products = (squared[:, :, None] + squared[:, None, :] - squared[None, :, :]) / 2
    return np.asarray(inverse[:, :, None] * inverse[:, None, :] * products)


def depth_gaps(forms: NDArray[np.float64], is_member: NDArray[np.bool_]) -> Vector:
    """Mean depth of members among each other less that of the rest among them, for each naming."""
    members = is_member.astype(np.float64)
    squares = np.stack([np.einsum("ij,ij->i", members @ form, members) for form in forms], axis=1)
    n_others = members.sum(axis=1, keepdims=True) - members
    depths = 1 - np.sqrt(np.maximum(squares, 0)) / np.maximum(n_others, 1)
    among = (depths * members).sum(axis=1) / members.sum(axis=1)
    outside = (depths * (1 - members)).sum(axis=1) / (1 - members).sum(axis=1)
    return np.asarray(among - outside)

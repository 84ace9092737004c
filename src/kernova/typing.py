"""Array types: the aliases that annotations use throughout the package."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Coordinates", "Indices", "Mask", "Matrix", "Samples", "Single", "Vector"]

Matrix = NDArray[np.float64]  # two axes: rows and columns
Vector = NDArray[np.float64]  # one axis
Indices = NDArray[np.intp]  # row numbers, counted from 0
Mask = NDArray[np.bool_]
Coordinates = NDArray[np.float64]  # landmarks: specimens, landmarks, axes
Samples = NDArray[np.float64]  # sound, one channel
Single = NDArray[np.float32]  # where half the memory is worth the precision

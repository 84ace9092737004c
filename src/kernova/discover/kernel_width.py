"""How wide one Gaussian window should be, by two rules from density estimation."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from kernova.discover.mean_shift import Reference
from kernova.neighbors.neighborhoods import nearest_distances

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Densities are not told apart below this; a row that far from all others is as unlikely as can be.
_SMALLEST_SUM = 1e-300


def silverman_width(rows: Matrix, counts: Vector) -> float:
    """Return the best width for a normal bulk: sigma (4 / ((d + 2) n))^(1 / (d + 4)).

    Rows that are all alike have no scale, and get 1.

    Examples
    --------
    >>> import numpy as np
    >>> round(silverman_width(np.array([[-1.0], [1.0]]), np.array([50.0, 50.0])), 3)
    0.424
    """
    n, n_columns = counts.sum(), rows.shape[1]
    center = counts @ rows / n
    variance = float((counts @ (rows - center) ** 2 / max(n - 1, 1)).mean())
    factor = float((4 / ((n_columns + 2) * n)) ** (1 / (n_columns + 4)))
    return float(np.sqrt(variance)) * factor or 1.0


def likelihood_width(rows: Matrix, counts: Vector) -> float:
    """Return the width under which rows are likeliest, each judged by the others alone.

    Copies are taken once: they would be likeliest under no width at all.
    """
    if len(rows) < 2:
        return 1.0
    reference = Reference(rows)
    nearest = nearest_distances(rows)
    owner = np.arange(len(rows))

    def unlikelihood(log_width: float) -> float:
        width = float(np.exp(log_width))
        sums = reference.kernel_sums(rows, owner, width, nearest_row=nearest)
        others = np.maximum(sums.everyone - 1, _SMALLEST_SUM)
        return -float(np.log(others).sum() - len(rows) * rows.shape[1] * log_width)

    low = np.log(np.median(nearest[nearest > 0]) / 4)
    high = np.log(max(2 * silverman_width(rows, np.ones(len(rows))), 4 * np.exp(low)))
    best = minimize_scalar(unlikelihood, bounds=(low, high), options={"xatol": 0.01})
    return float(np.exp(best.x))

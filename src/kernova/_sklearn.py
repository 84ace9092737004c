"""scikit-learn's private names: the only module that imports them.

A new release of scikit-learn may move these without notice; what has to change then is here.
:func:`validate_data` is scikit-learn's own, without its faults at the ends of the number range.
"""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils import validation
from sklearn.utils._openmp_helpers import (
    _openmp_effective_n_threads as openmp_effective_n_threads,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples as num_samples

_COMPLEX = "Complex data not supported"

__all__ = [
    "Interval",
    "StrOptions",
    "decision_tree_type",
    "gradient_boosting_type",
    "num_samples",
    "openmp_effective_n_threads",
    "safe_indexing",
    "validate_data",
]


def validate_data(estimator: Any, *args: Any, **kwargs: Any) -> Any:
    """Check rows by scikit-learn's function of this name.

    Its check for infinite numbers sums all of them, and 1e308 twice would raise a warning; its
    message about complex numbers would list them.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return validation.validate_data(estimator, *args, **kwargs)
    except ValueError as error:
        if not str(error).startswith(_COMPLEX):
            raise
        raise ValueError(
            f"{_COMPLEX}: {type(estimator).__name__} takes real numbers. Give the real and "
            "imaginary parts as two columns."
        ) from None


def decision_tree_type() -> type:
    """Return the compiled type of a fitted decision tree's nodes."""
    from sklearn.tree._tree import Tree

    return Tree


def gradient_boosting_type() -> type:
    """Return the base class of the gradient boosting estimators."""
    from sklearn.ensemble._gb import BaseGradientBoosting

    return BaseGradientBoosting

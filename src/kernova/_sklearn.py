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
from sklearn.utils.parallel import _get_threadpool_controller as threadpool_controller
from sklearn.utils.validation import _num_samples as num_samples

from kernova.errors import InputError

__all__ = [
    "Interval",
    "StrOptions",
    "decision_tree_type",
    "gradient_boosting_type",
    "num_samples",
    "openmp_effective_n_threads",
    "reject_complex",
    "safe_indexing",
    "threadpool_controller",
    "validate_data",
]


def validate_data(estimator: Any, X: Any = "no_validation", *args: Any, **kwargs: Any) -> Any:
    """Check rows by scikit-learn's function of this name.

    Its check for infinite numbers sums all of them, and 1e308 twice would raise a warning; its
    message about complex numbers would list them.
    """
    if not kwargs.get("skip_check_array"):
        reject_complex(estimator, X)
    with np.errstate(over="ignore", invalid="ignore"):
        return validation.validate_data(estimator, X, *args, **kwargs)


def reject_complex(estimator: Any, X: Any) -> None:
    """Raise InputError if some of the rows' numbers are complex."""
    columns = [X[name] for name in X] if hasattr(X, "dtypes") and hasattr(X, "columns") else [X]
    if any(_is_complex(column) for column in columns):
        raise InputError(
            f"Complex data not supported: {type(estimator).__name__} takes real numbers. Give the "
            "real and imaginary parts as two columns."
        )


def _is_complex(rows: Any) -> bool:
    kind = getattr(getattr(rows, "dtype", None), "kind", "")
    if kind != "O":
        return bool(kind == "c")
    return any(isinstance(value, complex) for value in np.asarray(rows, dtype=object).ravel())


def decision_tree_type() -> type:
    """Return the compiled type of a fitted decision tree's nodes."""
    from sklearn.tree._tree import Tree

    return Tree


def gradient_boosting_type() -> type:
    """Return the base class of the gradient boosting estimators."""
    from sklearn.ensemble._gb import BaseGradientBoosting

    return BaseGradientBoosting

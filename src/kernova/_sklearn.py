"""scikit-learn's private names: the only module that imports them.

A new release of scikit-learn may move these without notice; what has to change then is here.
"""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._openmp_helpers import (
    _openmp_effective_n_threads as openmp_effective_n_threads,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "Interval",
    "StrOptions",
    "decision_tree_type",
    "gradient_boosting_type",
    "num_samples",
    "openmp_effective_n_threads",
    "safe_indexing",
]


def decision_tree_type() -> type:
    """Return the compiled type of a fitted decision tree's nodes."""
    from sklearn.tree._tree import Tree

    return Tree


def gradient_boosting_type() -> type:
    """Return the base class of the gradient boosting estimators."""
    from sklearn.ensemble._gb import BaseGradientBoosting

    return BaseGradientBoosting

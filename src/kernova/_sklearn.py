"""scikit-learn's private names: the only module that imports them.

A new release of scikit-learn may move these without notice; what has to change then is here.
"""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._openmp_helpers import (
    _openmp_effective_n_threads as openmp_effective_n_threads,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples as num_samples

__all__ = ["Interval", "StrOptions", "num_samples", "openmp_effective_n_threads", "safe_indexing"]

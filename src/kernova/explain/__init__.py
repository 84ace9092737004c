"""Explanations of outliers and of class decisions: the contribution of each feature."""

import sys
from functools import wraps
from types import ModuleType
from typing import Any

import pandas as pd

from kernova.explain.explanation import explain, top_features

__all__ = ["explain", "top_features"]


class _CallablePackage(ModuleType):
    """Package that can be called, since ``kernova.explain`` is also the name of its function.

    Python sets a package as an attribute of its parent when it is first imported, over any
    attribute of that name. So ``from kernova import explain`` may be the function or the package;
    both can be called.
    """

    @wraps(explain)
    def __call__(self, *args: Any, **kwargs: Any) -> pd.DataFrame:
        return explain(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage

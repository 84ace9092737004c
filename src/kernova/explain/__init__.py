"""Explanations: which columns made a row unusual, or a member of its class."""

import sys
from functools import wraps
from types import ModuleType
from typing import Any

import pandas as pd

from kernova.explain.explanation import explain, top_features

__all__ = ["explain", "top_features"]


class _CallablePackage(ModuleType):
    """Lets ``kernova.explain`` be called although it is also the name of this package.

    Python puts a package's name into its parent when it is first imported, over whatever stood
    there. So ``from kernova import explain`` gives the function or the package, by what was
    imported before; either can be called.
    """

    @wraps(explain)
    def __call__(self, *args: Any, **kwargs: Any) -> pd.DataFrame:
        return explain(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage

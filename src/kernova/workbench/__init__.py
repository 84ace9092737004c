"""Workbench: the operations of a discovery project that a page or a script can call.

``kernova.workbench.open`` opens the page over a table in memory, from a notebook or a script.
"""

from importlib import import_module

from kernova.workbench.shared import WorkbenchError
from kernova.workbench.workbench import Workbench

__all__ = ["Workbench", "WorkbenchError"]

# Defined above this package, which knows nothing of pages; see docs/decisions/047.
_OPENER = "kernova.web.notebook"


def __getattr__(name: str) -> object:
    if name != "open":
        raise AttributeError(f"module 'kernova.workbench' has no attribute {name!r}")
    try:
        opener: object = import_module(_OPENER).open_page
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("kernova"):
            raise
        raise ImportError(
            f"The page needs {error.name}, which is not installed: pip install 'kernova[web]'."
        ) from error
    globals()["open"] = opener
    return opener

"""The workbench: everything that a page or a script can do with a discovery under way."""

from kernova.workbench.shared import WorkbenchError
from kernova.workbench.workbench import Workbench

__all__ = ["Workbench", "WorkbenchError"]

"""Workbench: the operations of a discovery project that a page or a script can call."""

from kernova.workbench.shared import WorkbenchError
from kernova.workbench.workbench import Workbench

__all__ = ["Workbench", "WorkbenchError"]

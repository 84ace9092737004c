"""The workbench: everything that a page or a script can do with a discovery under way."""

from kernova.studies.workbench.refusals import WorkbenchError
from kernova.studies.workbench.workbench import Workbench

__all__ = ["Workbench", "WorkbenchError"]

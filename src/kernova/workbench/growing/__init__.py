"""Projects that grow: new rows are read like the others, judged, and added."""

from kernova.workbench.growing.adding import add_batch
from kernova.workbench.growing.project import GrowingProject, open_growing

__all__ = ["GrowingProject", "add_batch", "open_growing"]

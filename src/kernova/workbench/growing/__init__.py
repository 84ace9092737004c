"""Projects that grow: new rows are read like the others, judged, and added."""

from kernova.workbench.growing.adding import BatchResult, add_batch, add_to
from kernova.workbench.growing.project import (
    GrowingProject,
    is_project,
    open_growing,
    open_opened,
)

__all__ = [
    "BatchResult",
    "GrowingProject",
    "add_batch",
    "add_to",
    "is_project",
    "open_growing",
    "open_opened",
]

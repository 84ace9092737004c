"""Exports of a project's labels for other programs, one module for each format."""

from kernova.workbench.exports.formats import FORMATS, exported, format_named
from kernova.workbench.exports.part import Exports
from kernova.workbench.exports.snapshot import Snapshot, snapshot_of

__all__ = ["FORMATS", "Exports", "Snapshot", "exported", "format_named", "snapshot_of"]

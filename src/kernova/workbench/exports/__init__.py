"""Exports of a project's labels for other programs, one module for each format."""

from kernova.workbench.exports.labels import Exports

__all__ = ["Exports"]

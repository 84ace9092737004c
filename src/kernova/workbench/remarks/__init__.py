"""Remarks beside the labels: notes, flags, further labels, headings and keys."""

from kernova.workbench.remarks.category_keys import CategoryKeys
from kernova.workbench.remarks.requests import Annotating

__all__ = ["Annotating", "CategoryKeys"]

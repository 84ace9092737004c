"""Review of a session: suggestions accepted and rejected, and what is noted beside the labels."""

from kernova.discover.review.annotations import Annotations
from kernova.discover.review.reviewer import Review

__all__ = ["Annotations", "Review"]

"""``kernova discover``: every category of a table in few questions, on a page or at a prompt."""

from kernova.cli.discover.command import EXAMPLE, discover

__all__ = ["EXAMPLE", "discover"]

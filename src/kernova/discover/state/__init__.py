"""State of a session: the label of every row, what was asked, and the experts' opinions."""

from kernova.discover.state.category_rows import CategoryRows
from kernova.discover.state.session_state import AskedRow, Entry, SessionState, Status

__all__ = ["AskedRow", "CategoryRows", "Entry", "SessionState", "Status"]

"""Report of a session as one printable page: what was asked, found and labelled, and by whom."""

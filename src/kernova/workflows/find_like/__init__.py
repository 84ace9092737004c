"""Rows like a few given ones: search, reasons and the report page."""

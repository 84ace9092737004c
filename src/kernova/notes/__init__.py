"""Calls and notes: finding them in recordings from a few examples."""

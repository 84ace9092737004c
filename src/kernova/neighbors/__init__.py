"""Exact neighbours for the whole project: engines, ties, copies and self-matches handled once."""

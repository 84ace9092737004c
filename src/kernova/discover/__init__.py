"""Discover: which row to show an expert next, so that every category is met soon."""

"""Landmarks as the rows of a study: reading files of specimens, and aligning them."""

"""Clustering: mean shift and hierarchical mean shift (HMS)."""

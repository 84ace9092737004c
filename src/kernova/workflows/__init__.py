"""Whole jobs, each a walk along the road from tables to a result."""

"""Workflows: one module per command, from files to results and their report."""

"""Reproductions of the papers' tables, figures and claims."""

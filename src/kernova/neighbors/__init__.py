"""Nearest neighbours, exact and approximate, with ties and duplicate rows counted."""

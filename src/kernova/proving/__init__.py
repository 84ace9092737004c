"""Proving ground of question strategies: problems, published baselines, runs and comparisons."""

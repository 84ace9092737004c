"""Ratios against peers and growth tables; never part of the tests."""

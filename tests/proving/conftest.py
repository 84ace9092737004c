"""Fixtures of the proving ground."""

import pytest

from tests.proving.stand_ins import use_tiny_problems


@pytest.fixture
def tiny(monkeypatch):
    """Return a function that makes plans of two tiny problems."""
    return use_tiny_problems(monkeypatch)

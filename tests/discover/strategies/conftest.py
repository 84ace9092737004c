"""Fixtures for tests of strategies."""

import pytest

from kernova.discover.preparation import Preparation
from tests.discover.strategies.tables import groups


@pytest.fixture(scope="module")
def preparation():
    return Preparation(groups()[0])

"""MS-Interleave: rounds by literal loops, and rows farthest from their centre."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.discover.strategies import strategy_named
from kernova.discover.strategies.mean_shift_interleave import nearest_level, round_robin


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_round_robin_takes_the_farthest_open_row_of_every_owner_in_turn(pairs):
    owners, shifts = np.array([o for o, _ in pairs]), np.array([float(s) for _, s in pairs])
    queues = {
        owner: sorted(np.flatnonzero(owners == owner), key=lambda row: (-shifts[row], row))
        for owner in sorted(set(owners))
    }
    expected = []
    while any(queues.values()):
        expected += [queue.pop(0) for queue in queues.values() if queue]
    assert round_robin(owners, shifts).tolist() == expected


@pytest.mark.parametrize(("bandwidth", "level"), [(0.0, 0), (0.1, 0), (1.4, 1), (3.1, 2), (9, 2)])
def test_nearest_level(bandwidth, level):
    assert nearest_level(np.array([0.5, 1.5, 4.5]), bandwidth) == level


def test_the_row_farthest_from_its_centre_is_asked(preparation):
    strategy = strategy_named("ms-interleave")
    clusters = strategy.clusters(preparation)
    model, Z = preparation.hierarchy(), preparation.rows()
    level = int(np.argmin(np.abs(model.bandwidths_ - clusters.bandwidth)))
    centres = model.modes_[model.nodes_at(level)]
    assert clusters.shifts == pytest.approx(np.linalg.norm(Z - centres, axis=1))
    question = strategy.start(preparation).propose()
    assert question.row == question.members[np.argmax(clusters.shifts[question.members])]

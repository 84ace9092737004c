"""Bad input to clusterers: one table of calls and messages."""

import numpy as np
import pytest

from kernova import HierarchicalMeanShift, InputError
from kernova.cluster.standardize import standardized_rows

X = np.array([[0.0], [1.0], [5.0]])


def fitted():
    return HierarchicalMeanShift().fit(X)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: standardized_rows(X, "whiten"),
            "standardize='whiten' is not supported; choose one of 'sphere', 'half-sphere', "
            "'zscore', 'none'.",
        ),
        (
            lambda: standardized_rows(X, "sphere", 0),
            "n_components=0 is neither a number of axes nor a fraction of the variance; give an "
            "integer of at least 1, or a number between 0 and 1.",
        ),
        (
            lambda: fitted().labels_at(len(fitted().bandwidths_)),
            "There is no level {n_levels}: the hierarchy has levels 0 to {last}; give one of them.",
        ),
        (
            lambda: fitted().members_of(-1),
            "There is no node -1: the hierarchy has nodes 0 to 4; give one of them.",
        ),
    ],
)
def test_bad_input_is_rejected(act, message):
    n_levels = len(fitted().bandwidths_)
    with pytest.raises(InputError) as caught:
        act()
    assert str(caught.value) == message.format(n_levels=n_levels, last=n_levels - 1)

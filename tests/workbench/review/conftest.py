"""A workbench over fish of three kinds, of which an expert has labelled some."""

import pytest

from tests.web.in_process import fish, opened

N_ROWS = 240


@pytest.fixture
def bench(tmp_path):
    """Return a workbench whose model was learnt from thirty labels; it learns no more by itself."""
    rows = fish(tmp_path, N_ROWS)
    found = opened(tmp_path, strategy="random")
    found.learning.stop()
    found.kinds = rows["kind"]
    for row in range(30):
        found.discovery.session.label_row(rows["fish"][row], rows["kind"][row], expert="Anna")
    learn(found)
    yield found
    found.close()


def learn(bench):
    """Learn from the labels of now; return the run."""
    bench.learning.begin()
    assert bench.learning.wait(120)
    assert bench.learning.state().state == "ready", bench.learning.state().message
    return bench.learning.generation

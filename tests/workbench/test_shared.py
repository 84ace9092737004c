"""Shared state of a workbench: active experts, and parts that are made once."""

import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.tables.table import Table
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery
from kernova.workbench.history import History
from kernova.workbench.shared import BackgroundJob, Part, Presence
from tests.workbench import messages


def test_names_can_be_read_while_others_join():
    presence = Presence(clock=lambda: 0.0)
    coming = threading.Thread(
        target=lambda: [presence.mark_active(f"expert {number}") for number in range(30_000)]
    )
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        coming.start()
        while coming.is_alive():
            assert len(presence.names) <= 30_000
    finally:
        coming.join()
        sys.setswitchinterval(before)
    assert len(presence.names) == 30_000


class RowCount(Part):
    """A part that only this test knows."""

    def n_rows(self):
        return self._shared.n_rows


def test_a_new_part_is_made_once_from_the_shared_state(tmp_path):
    features = pd.DataFrame({"length": np.arange(9.0)})
    ids = pd.Series([f"fish-{row}" for row in range(9)], name="fish")
    discovery = open_discovery(Table(features, ids, None, "fish.csv"), tmp_path / "p")
    workbench = Workbench(discovery)
    assert workbench.part(RowCount) is workbench.part(RowCount)
    assert workbench.part(RowCount).n_rows() == 9
    assert workbench.part(History) is workbench.history
    workbench.close()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("It is too odd."), "It is too odd."),
        (MemoryError(), messages.NO_MEMORY),
    ],
)
def test_a_failed_job_keeps_its_reason_and_the_last_result(error, message):
    def fail():
        raise error

    changes = []
    job = BackgroundJob(lambda: changes.append(job.state))
    job.start(lambda: 42)
    assert job.wait(60)
    job.start(fail)
    assert job.wait(60)
    assert (job.state, job.message, job.result) == ("failed", message, 42)
    assert changes == ["running", "ready", "running", "failed"]


def test_a_job_has_ended_only_when_its_change_is_known():
    """Whoever waits for a job reads a version that no longer changes by it."""
    known = []

    def learn_slowly():
        time.sleep(0.05)
        known.append(job.state)

    job = BackgroundJob(learn_slowly)
    job.start(lambda: None)
    assert job.wait(60)
    assert known == ["running", "ready"]

"""Rows like a given one in a workbench: unlabelled ones up to the cut, with what is labelled."""

import numpy as np
import pandas as pd
import pytest

from kernova import more_like
from kernova.tables.table import Table
from kernova.workbench import Workbench, WorkbenchError
from kernova.workbench.alike import Alike
from kernova.workbench.discovery import open_discovery
from kernova.workflows.find_like.search import MEASURED
from tests.workbench import messages


@pytest.fixture
def bench(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (150, 3)), rng.normal([9, -9, 0], 0.2, (9, 3))])
    return opened(tmp_path, rows)


def opened(folder, rows):
    features = pd.DataFrame(rows, columns=["length", "width", "depth"][: rows.shape[1]])
    ids = pd.Series([f"fish-{row}" for row in range(len(rows))], name="fish")
    table = Table(features, ids, None, "fish.csv")
    return Workbench(open_discovery(table, folder / "p", strategy="random"))


def test_the_rest_of_a_group_is_found(bench):
    reply = bench.part(Alike).more_like([152], 60)
    assert {one.row for one in reply.rows} == set(range(150, 159)) - {152}
    assert (reply.id, reply.label, reply.total) == ("fish-152", None, 8)
    likeness = [one.likeness for one in reply.rows]
    assert likeness == sorted(likeness, reverse=True)
    assert reply.words == messages.ALIKE.format(rows="8 unlabelled rows are", measured=MEASURED)
    expected = more_like(bench.discovery.encoded, [152])
    assert [one.row for one in reply.rows] == expected.found.tolist()
    assert len(bench.part(Alike).more_like([152], 3).rows) == 3
    bench.close()


def test_labels_take_part(bench):
    session = bench.discovery.session
    session.label_rows(["fish-150", "fish-151"], "eel")
    session.label_row("fish-3", "cod")
    reply = bench.part(Alike).more_like([150], 60)
    assert reply.label == "eel"
    expected = more_like(bench.discovery.encoded, [150, 151], [3])
    assert [one.row for one in reply.rows] == expected.found.tolist()
    unlabelled = bench.part(Alike).more_like([152], 60)
    assert not {150, 151} & {one.row for one in unlabelled.rows}
    bench.close()


def test_nothing_is_left_to_find(tmp_path):
    bench = opened(tmp_path, np.arange(6.0).reshape(3, 2))
    bench.discovery.session.label_rows(["fish-1", "fish-2"], "eel")
    reply = bench.part(Alike).more_like([0], 60)
    assert (reply.rows, reply.total, reply.words) == ([], 0, messages.NONE_ALIKE)
    bench.discovery.session.label_row("fish-0", "eel")
    assert bench.part(Alike).more_like([0], 60).total == 0
    bench.close()


def test_equal_rows_are_all_alike(tmp_path):
    bench = opened(tmp_path, np.ones((5, 2)))
    assert bench.part(Alike).more_like([0], 60).total == 4
    bench.close()


def test_a_row_outside_the_table_is_named(bench):
    with pytest.raises(WorkbenchError) as caught:
        bench.part(Alike).more_like([159], 60)
    assert str(caught.value) == messages.NO_ALIKE_ROW
    bench.close()

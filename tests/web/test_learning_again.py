"""What was learnt, after the server was killed and started again."""

import pandas as pd

from tests.web.in_process import fish
from tests.web.running import workbench


def test_suggestions_are_there_after_a_kill(tmp_path):
    kinds = fish(tmp_path)["kind"]
    arguments = ("fish.csv", "--id-column", "fish", "--drop", "kind")
    with workbench(tmp_path, *arguments) as server:
        server.wait_until_ready()
        assert server.get("api/learn")["state"] == "none"
        for label in pd.unique(kinds):
            rows = [int(row) for row in kinds.index[kinds == label][:5]]
            server.post("api/labels", rows=rows, label=label)
        server.post("api/learn")
        server.wait_while_learning()
        before = server.get("api/learn/suggestions?threshold=0")
        server.kill()
    with workbench(tmp_path, *arguments) as server:
        server.wait_until_ready()
        server.wait_while_learning()
        assert server.get("api/learn")["state"] == "ready"
        assert server.get("api/learn/suggestions?threshold=0") == before

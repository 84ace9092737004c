"""New rows at the page: a line on them, questions about them first, and the map."""

import pandas as pd

from kernova.workbench import Workbench
from kernova.workbench.growing import add_to, open_growing
from tests.web.browser.access import check_standing, nameless
from tests.web.browser.screens import expect
from tests.web.in_process import served
from tests.web.running import Running
from tests.workbench.growing.tables import OPTIONS, write_batch, write_first


def test_new_rows_are_announced_asked_and_shown(tmp_path, screen, few_trees):
    table = write_first(tmp_path)
    write_batch(tmp_path, 1, n_new=4)
    project = open_growing(
        tmp_path / "rows.kernova-project", tmp_path / "first.csv", options=OPTIONS
    )
    for row in range(40):
        project.discovery.session.label_row(f"a{row}", table["group"][row])
    result = add_to(project, tmp_path / "batch-1.csv")
    bench = Workbench(project.discovery, project.media)
    bench.prepare()
    with served(bench) as client:
        server = Running(None, client.endpoint.new_link, str(client.base_url), "")
        server.wait_until_ready()
        server.wait_for_the_map()
        _look(screen, server, result)


def _look(screen, server, result):
    (batch,) = server.get("api/batches")["batches"]
    assert (batch["rows"], batch["source"], batch["new"]) == (44, "batch-1.csv", len(
        result.judged.unlike))  # fmt: skip
    screen.open(server, "Anna")
    line = screen.at("batches")
    expect(line).to_contain_text(result.sentences[1])
    n_groups = batch["groups"]
    expect(screen.at("batch-progress")).to_contain_text(f"0 of {n_groups} question")
    asked = screen.asked()
    assert asked.id in {one["id"] for one in batch["unlike"]}
    expect(screen.at("reason")).to_contain_text("It is unlike all 150 rows before it.")
    screen.picture("batches-question")
    screen.push(screen.at("open-batches"))
    expect(screen.at("batches-dialog").get_by_role("listitem")).to_have_count(batch["new"])
    screen.picture("batches-dialog")
    assert nameless(screen.page) == []
    screen.press("Escape")
    screen.answer("odd")
    if n_groups > 1:
        expect(screen.at("batch-progress")).to_contain_text(f"1 of {n_groups} questions")
    else:
        expect(line).to_be_hidden()
    _look_at_the_map(screen)


def _look_at_the_map(screen):
    screen.go("map")
    screen.at("map-colour").select_option("added")
    expect(screen.at("legend")).to_contain_text("added last")
    screen.picture("batches-map")
    check_standing(screen.page)
    labels = pd.Series(list(screen.server.fetch("api/map/labels?colour=added")))
    assert len(labels) == 2 * 194

"""Files at the page by keyboard alone: what can be downloaded, and labels that are imported."""

import json

import pandas as pd
import pytest

from tests.web.browser.access import check_standing
from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import PHONE, expect
from tests.web.browser.tables import GROUPS, write_groups

N_EACH = 20
WINDOWS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "narrow": PHONE,
    "wide": {"viewport": {"width": 2560, "height": 1300}},
}


# Asked for before the window: the server outlives it, as no window is told to expect.
@pytest.fixture
def table(tmp_path):
    """Serve three groups of which some rows have labels, one of them wrong."""
    write_groups(tmp_path / "rows.csv", N_EACH)
    with nearby_workbench(tmp_path / "rows.csv", id_column="id") as server:
        server.post("api/labels", expert="Anna", rows=[0, 1, 2], label=GROUPS[0])
        server.post("api/labels", expert="Anna", rows=[25], label=GROUPS[0])
        yield server


def labels_file(tmp_path, name="theirs.csv"):
    """Write labels of a few rows by another expert, of an unknown row, and of a new category."""
    ids = pd.read_csv(tmp_path / "rows.csv", dtype=str)["id"]
    rows = [0, 1, 20, 25, 40, 41]
    lines = pd.DataFrame({"galaxy": ids[rows], "kind": [GROUPS[row // N_EACH] for row in rows]})
    lines["note"] = [None, "very bright", None, None, None, None]
    lines.loc[99] = ["no such galaxy", "left", None]
    lines.to_csv(tmp_path / name, index=False)
    return tmp_path / name


def download(screen, testid):
    with screen.page.expect_download() as waiting:
        screen.push(screen.at(testid))
    return waiting.value.path().read_bytes()


def test_downloads_by_keyboard(table, screen):
    screen.open(table, "Anna")
    screen.go("categories")
    screen.push(screen.at("open-downloads"))
    dialog = screen.at("downloads-dialog")
    expect(screen.at("format-list").get_by_role("link")).to_have_count(4)
    expect(dialog).to_contain_text("Raven tables need recordings of the rows.")
    report = download(screen, "download-report.html").decode()
    assert "4 rows of 60 have a label, in 1 category." in report
    assert "<script" not in report
    tasks = json.loads(download(screen, "download-label-studio.json"))
    assert len(tasks) == 60
    assert tasks[0]["annotations"][0]["result"][0]["value"] == {"choices": ["left"]}
    check_standing(screen.page)
    screen.press("Escape")
    expect(dialog).to_have_count(0)
    expect(screen.at("open-downloads")).to_be_focused()


def choose(screen, path):
    """Choose a file, and wait until what it holds is shown."""
    screen.at("import-file").set_input_files(path)
    expect(screen.at("import-facts")).to_be_visible()


def test_labels_are_previewed_imported_and_undone(table, screen, tmp_path):
    file = labels_file(tmp_path)
    screen.open(table, "Bob")
    screen.go("categories")
    screen.push(screen.at("open-downloads"))
    screen.push(screen.at("import-labels"))
    expect(screen.at("import-file")).to_be_focused()
    choose(screen, file)
    facts = screen.at("import-facts")
    expect(facts).to_contain_text(
        "6 rows of this project have labels in the file: 3 without one here, 2 with the same, "
        "1 with another."
    )
    expect(facts).to_contain_text("1 id not in this project: no such galaxy.")
    expect(facts).to_contain_text("2 new categories: “right” and “far”.")
    expect(facts).to_contain_text("It also holds 1 note.")
    expect(screen.at("import-conflicts").locator("td")).to_have_text(["left", "right"])
    expect(screen.at("import-act")).to_have_text("Import 3 labels")
    check_standing(screen.page)
    # The radio buttons are one stop of Tab, and arrows choose among them.
    screen.tab_to(screen.at("conflict-keep"))
    screen.press("ArrowDown", "ArrowDown")
    expect(screen.at("conflict-opinion")).to_be_checked()
    expect(screen.at("import-act")).to_have_text("Import 6 labels")
    screen.tab_to(screen.at("import-expert"))
    screen.type("Carla")
    screen.push(screen.at("import-act"))
    expect(screen.at("import-dialog")).to_have_count(0)
    screen.wait_for_words("saved", "Saved. Labels of 6 rows imported from theirs.csv.")
    row = table.get("api/rows/25")
    assert [(one["expert"], one["label"]) for one in row["opinions"]] == [
        ("Anna", "left"), ("Carla", "right"),
    ]  # fmt: skip
    assert table.get("api/state")["disagreements"] == 1
    screen.go("question")
    screen.press("u")
    screen.wait_for_words("saved", "Undone: Labels of 6 rows")
    assert table.get("api/state")["named"] == 4
    assert table.get("api/state")["disagreements"] == 0


def test_files_that_are_no_labels_are_explained(table, screen, tmp_path):
    (tmp_path / "noise.csv").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "other.csv").write_text("name,kind\nx,left\ny,right\n")
    (tmp_path / "list.json").write_text('{"a": [1, 2')
    screen.open(table, "Bob")
    screen.go("categories")
    screen.push(screen.at("open-downloads"))
    screen.push(screen.at("import-labels"))
    problem = screen.at("import-dialog").get_by_role("alert")
    for name, words in (
        ("noise.csv", "noise.csv"),
        ("other.csv", "No column of other.csv holds ids of this project"),
        ("list.json", "list.json is not JSON"),
    ):
        screen.watch.expect("status of 409")
        screen.at("import-file").set_input_files(tmp_path / name)
        expect(problem).to_contain_text(words)
        expect(screen.at("import-facts")).to_have_count(0)


@pytest.mark.parametrize("window", WINDOWS)
def test_the_dialogs_hold_their_width(window, table, new_screen, tmp_path):
    file = labels_file(tmp_path)
    screen = new_screen(**WINDOWS[window])
    screen.open(table, "Bob")
    screen.go("categories")
    screen.at("open-downloads").click()
    expect(screen.at("format-list").get_by_role("link").first).to_be_visible()
    screen.picture(f"downloads-{window}")
    assert screen.overflow() == 0
    screen.at("import-labels").click()
    choose(screen, file)
    screen.picture(f"import-{window}")
    assert screen.overflow() == 0
    check_standing(screen.page)

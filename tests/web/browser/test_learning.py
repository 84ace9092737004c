"""Learning at the page: what is known, what is not, and what one takes home."""

import io

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import expect
from tests.web.browser.tables import GROUPS, write_groups

N_EACH = 40


# A fixture, asked for before the window: the server outlives it, as no window is told to expect.
@pytest.fixture
def unnamed(tmp_path):
    """Serve three groups that nobody has named yet."""
    write_groups(tmp_path / "rows.csv", N_EACH)
    with nearby_workbench(tmp_path / "rows.csv", id_column="id") as server:
        yield server


@pytest.fixture
def groups(unnamed):
    """Name two of the three groups, but for ten rows each."""
    for place, group in enumerate(GROUPS[:2]):
        rows = list(range(place * N_EACH, (place + 1) * N_EACH - 10))
        unnamed.post("api/labels", expert="Anna", rows=rows, label=group)
    return unnamed


def test_learning_asking_unknowns_and_taking_home(groups, screen, tmp_path):
    screen.open(groups, "Anna")
    screen.go("learn")
    screen.push(screen.at("learn"))
    expect(screen.at("precision")).to_contain_text("by cross-validation of")
    counts = groups.get("api/learn")["counts"]
    assert sum(counts.values()) == N_EACH + 20
    expect(screen.at("verdict-unknown").locator("b")).to_have_text(str(counts["unknown"]))
    _check_the_slider(groups, screen)
    screen.push(screen.at("verdict-unknown"))
    expect(screen.at("learn-rows").get_by_role("checkbox")).to_have_count(counts["unknown"])
    unknown = {one["row"] for one in groups.get("api/learn/rows?verdict=unknown")["rows"]}
    assert unknown >= set(range(2 * N_EACH, 3 * N_EACH))
    taken = {name: _download(screen, name) for name in ("labels.csv", "labels.parquet")}
    by_csv = pd.read_csv(io.BytesIO(taken["labels.csv"]), dtype=str)
    by_parquet = pd.read_parquet(io.BytesIO(taken["labels.parquet"]))
    assert by_csv["id"].tolist() == by_parquet["id"].tolist()
    assert by_csv["id"][0] == "587722981741363297"
    expected = {group: N_EACH - 10 for group in GROUPS[:2]}
    assert by_csv["category"].value_counts().to_dict() == expected
    assert by_parquet["category"].value_counts().to_dict() == expected
    assert set(by_csv["expert"].dropna()) == {"Anna"}
    (tmp_path / "model.kernova").write_bytes(_download(screen, "model.kernova"))
    _check_recognition(tmp_path)

    screen.push(screen.at("verdict-unknown"))
    screen.push(screen.at("ask-unknown"))
    expect(screen.page.locator("body")).to_have_attribute("data-view", "question")
    assert screen.asked().row in unknown
    screen.answer(GROUPS[2])
    # The next is unknown, too, until one has had enough of these.
    assert screen.asked().row in unknown
    expect(screen.at("among-unknown")).to_be_visible()
    screen.push(screen.at("leave-unknown"))
    expect(screen.at("among-unknown")).to_be_hidden()
    screen.answer(GROUPS[2])
    # What was learnt is of before this answer, and the map shows both.
    screen.go("map")
    expect(screen.at("map-colour")).to_be_visible()
    screen.at("map-colour").select_option("learnt")
    expect(screen.at("legend")).to_contain_text("unknown")


def _check_the_slider(groups, screen):
    """Move the threshold by keys; number, precision and rows follow."""
    slider, ticks = screen.at("threshold"), screen.at("learn-rows").get_by_role("checkbox")
    points = groups.get("api/learn/precision")["points"]
    slider.focus()
    for key, place in (("Home", 0), ("End", 100), ("ArrowLeft", 99), ("Home", 0)):
        slider.press(key)
        expect(slider).to_have_value(str(place))
        n_rows = points[place]["rows"]
        expect(screen.at("precision")).to_contain_text(f"{n_rows} row")
        expect(ticks).to_have_count(min(n_rows, 60))
    screen.at("suggested-category").select_option(GROUPS[0])
    slider.press("Home")
    n_of_one = groups.get(f"api/learn/suggestions?threshold=0&category={GROUPS[0]}")["total"]
    expect(ticks).to_have_count(n_of_one)
    screen.at("suggested-category").select_option("")


def test_too_few_answers_say_what_is_missing(unnamed, screen):
    screen.open(unnamed, "Anna")
    screen.go("learn")
    screen.push(screen.at("learn"))
    expect(screen.at("learn-status")).to_contain_text("begin with the second labelled row")
    expect(screen.page.locator("#view-learn .problem")).to_have_count(0)
    for row in (0, N_EACH):
        unnamed.post("api/labels", expert="Anna", rows=[row], label=GROUPS[row // N_EACH])
    screen.push(screen.at("learn"))
    expect(screen.at("precision")).to_be_visible()
    expect(screen.at("learn-rows").get_by_role("checkbox").first).to_be_visible()


def _download(screen, name):
    with screen.page.expect_download() as waiting:
        screen.push(screen.at(f"download-{name}"))
    assert waiting.value.suggested_filename == name
    return waiting.value.path().read_bytes()


def _check_recognition(folder):
    arguments = [str(folder / "model.kernova"), str(folder / "rows.csv"), "--id-column", "id"]
    done = CliRunner().invoke(app, ["recognize", *arguments, "-o", str(folder / "classes.csv")])
    assert done.exit_code == 0, done.output
    verdicts = pd.read_csv(folder / "classes.csv", dtype=str)
    assert len(verdicts) == 3 * N_EACH
    assert (verdicts["recognized"][2 * N_EACH :] == "unknown").all()

"""Work that goes on in the background: questions are answered meanwhile, and the map refines."""

import json
from threading import Event

import httpx
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from kernova.discover import sampling
from kernova.discover.strategies.novelty_groups import NoveltyGroupsStrategy
from kernova.workbench.row_map import neighbours, stages
from tests.web.browser.screens import expect
from tests.web.in_process import opened, served

N_ROWS = 900
SAMPLED = "Asked from a sample of 200 of 900 rows, while the rest is prepared."
REST = "Questions come from a sample while all 900 rows are being prepared"


class Held:
    """A server whose preparation and map wait until they are released."""

    def __init__(self, bench, client):
        self.bench, self.client = bench, client
        self.may_prepare, self.may_draw = Event(), Event()

    @property
    def url(self):
        return self.client.endpoint.new_link()

    def get(self, path):
        reply = self.client.get(path)
        assert isinstance(reply, httpx.Response)
        return json.loads(reply.content)


@pytest.fixture
def held(tmp_path, monkeypatch):
    X, _ = load_digits(return_X_y=True)
    frame = pd.DataFrame(X[:N_ROWS]).add_prefix("p")
    frame = frame.loc[:, frame.std() > 0]
    frame.insert(0, "fish", [f"digit {row}" for row in range(N_ROWS)])
    frame.to_csv(tmp_path / "digits.csv", index=False)
    monkeypatch.setattr(sampling, "LARGE_TABLE", 300)
    monkeypatch.setattr(sampling, "SAMPLE_ROWS", 200)
    monkeypatch.setattr(neighbours, "COARSE_FROM", 300)
    monkeypatch.setattr(neighbours, "_COARSE_ROWS", 300)
    bench = opened(tmp_path, data="digits.csv", drop=[], is_prepared=False)
    with served(bench) as client:
        held = Held(bench, client)
        start, draw = NoveltyGroupsStrategy.start, stages.neighbours_map

        def start_later(strategy, preparation):
            if preparation.n_rows == N_ROWS:
                assert held.may_prepare.wait(120)
            return start(strategy, preparation)

        def draw_later(encoded):
            assert held.may_draw.wait(120)
            return draw(encoded)

        monkeypatch.setattr(NoveltyGroupsStrategy, "start", start_later)
        monkeypatch.setattr(stages, "neighbours_map", draw_later)
        bench.prepare()
        yield held
        held.may_prepare.set()
        held.may_draw.set()
        assert bench.map.wait(120)


def test_questions_are_answered_while_the_rest_is_prepared(held, screen):
    screen.open(held, "Anna")
    for number in range(4):
        screen.asked()
        expect(screen.at("reason")).to_contain_text(SAMPLED)
        expect(screen.at("rest-words")).to_contain_text(REST)
        screen.answer(f"kind {number % 2}")
    assert not held.bench.preparation.wait(0)
    screen.picture("refinement-while-preparing")
    held.may_prepare.set()
    expect(screen.at("rest-words")).to_be_hidden()
    screen.answer("kind 1")  # what was open stays open
    screen.asked()
    expect(screen.at("reason")).not_to_contain_text("sample")
    assert held.get("/api/state")["asked"] == 5


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
@pytest.mark.parametrize("layer", ["webgl", "canvas"])
def test_a_better_map_keeps_zoom_focus_and_what_is_looked_at(held, new_screen, layer, motion):
    screen = new_screen(reduced_motion=motion)
    if layer == "webgl":
        screen.page.add_init_script('localStorage.setItem("kernova.layer", "webgl")')
    screen.open(held, "Anna")
    screen.asked()
    screen.go("map")
    stage = screen.page.locator(".map-stage")
    expect(stage).to_have_attribute("data-layer", layer)
    expect(stage).to_have_attribute("data-kind", "sample")
    expect(screen.at("map-words")).to_contain_text("A coarse map of a sample of 300 rows")
    expect(screen.at("map-words")).to_contain_text("A better map is being computed")
    screen.picture(f"refinement-coarse-{layer}-{motion}")
    canvas = screen.at("map-canvas")
    screen.tab_to(canvas)
    for key in ("+", "+", "+"):
        screen.press(key)
    expect(stage).to_have_attribute("data-zoom", "3.375")
    row, left, top = _row_near_the_middle(screen, canvas)
    expect(stage).to_have_attribute("data-refining", "no")
    held.may_prepare.set()
    held.may_draw.set()
    expect(stage).to_have_attribute("data-kind", "neighbours")
    expect(stage).to_have_attribute("data-refining", "no")
    expect(screen.at("map-words")).to_contain_text("Similar rows lie together")
    expect(stage).to_have_attribute("data-zoom", "3.375")
    expect(canvas).to_be_focused()
    screen.picture(f"refinement-whole-{layer}-{motion}")
    # The row under the pointer is still there.
    assert _spot(screen) == pytest.approx((left, top), abs=1.5)
    screen.page.mouse.click(*_on_page(canvas, left, top))
    expect(screen.at("row-dialog").get_by_role("heading").first).to_have_text(row)


def _row_near_the_middle(screen, canvas):
    """Put the pointer on a row near the middle; return its id and place on the canvas."""
    box = canvas.bounding_box()
    for step in range(0, 300, 4):
        x, y = box["width"] / 2 + step / 2, box["height"] / 2 + step % 60
        screen.page.mouse.move(*_on_page(canvas, x, y))
        spot = screen.page.locator(".map-ring:not(.now)")
        if spot.is_visible():
            expect(screen.at("map-tip")).to_be_visible()
            return screen.at("map-tip").locator("b").text_content(), *_spot(screen)
    raise AssertionError("There is no row near the middle of the map.")


def _spot(screen):
    return tuple(
        screen.page.locator(".map-ring:not(.now)").evaluate(
            "node => { const at = new DOMMatrix(getComputedStyle(node).transform);"
            " return [at.e, at.f]; }"
        )
    )


def _on_page(canvas, x, y):
    box = canvas.bounding_box()
    return box["x"] + x, box["y"] + y


def test_the_finished_map_is_shown_at_once_when_the_project_is_opened_again(held, tmp_path):
    held.may_prepare.set()
    held.may_draw.set()
    assert held.bench.map.wait(120)
    points = held.bench.map.points()
    assert held.bench.discovery.map_cache.is_file()
    held.bench.discovery.session.close()
    held.may_draw.clear()
    again = opened(tmp_path, data="digits.csv", drop=[], is_prepared=False)
    again.map.prepare(after=again.preparation)  # which has not begun
    assert again.map.wait(60)
    assert again.map.description().kind == "neighbours"
    assert again.map.points() == points
    again.close()

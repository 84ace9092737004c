"""The map: drawn with and without a graphics card, looked at, and named from, out of turn."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.web.browser.screens import expect
from tests.web.running import workbench

# The page takes the card only where there is one; this browser has it played by the processor.
_LAYERS = {
    "webgl": 'localStorage.setItem("kernova.layer", "webgl")',
    "canvas": "HTMLCanvasElement.prototype.getContext = ((given) => function (kind, ...rest) {"
    ' return kind.startsWith("webgl") ? null : given.call(this, kind, ...rest); })'
    "(HTMLCanvasElement.prototype.getContext)",
}


@pytest.mark.parametrize("layer", _LAYERS)
def test_rows_are_drawn_looked_at_and_named(layer, screen, digits):
    screen.page.add_init_script(_LAYERS[layer])
    screen.open(digits, f"Mapper {layer}")
    asked = screen.asked()
    screen.go("map")
    expect(screen.page.locator(".map-stage")).to_have_attribute("data-layer", layer)
    expect(screen.at("legend")).to_contain_text("unlabelled")
    _wait_for_a_frame(screen)
    # Points of at least the frequent categories, each in its colour.
    assert len(_colours(screen)) >= 5
    row, left, top = _loner(screen, digits, besides=asked.row)
    card = digits.get(f"api/rows/{row}")
    screen.at("map-canvas").click(position={"x": left, "y": top})
    expect(screen.at("row-dialog").get_by_role("heading").first).to_have_text(card["id"])
    screen.at("name-row").click()
    screen.name(f"out of turn on {layer}")
    screen.wait_for_words("saved", f"{card['id']}: out of turn on {layer}, labelled directly.")
    expect(screen.at("legend")).to_contain_text(f"out of turn on {layer}")
    assert digits.get(f"api/rows/{row}")["label"] == f"out of turn on {layer}"
    screen.press("u")
    expect(screen.at("legend")).not_to_contain_text(f"out of turn on {layer}")
    # By keyboard: nearer, aside, everything again; Enter looks at the row in the middle.
    screen.tab_to(screen.at("map-canvas"))
    for key in ("+", "+", "ArrowLeft", "-", "0", "Enter"):
        screen.press(key)
    expect(screen.at("row-dialog")).to_be_visible()
    screen.press("Escape")
    expect(screen.at("row-dialog")).to_have_count(0)


@pytest.mark.soak
def test_many_rows_on_the_map(tmp_path, new_screen, long_bar):
    n_rows = long_bar(100_000)
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=4, size=(12, 6))
    rows = centers[rng.integers(12, size=n_rows)] + rng.normal(size=(n_rows, 6))
    pd.DataFrame(rows.round(3)).add_prefix("c").to_csv(tmp_path / "rows.csv", index=False)
    figures = {}
    # Asking by lot needs no preparation: the map is what is looked at here.
    with workbench(tmp_path, "rows.csv", "--strategy", "random") as server:
        if long_bar(10) > 1:
            server.wait_for_the_map()  # figures of a machine that has nothing else to do
        for layer, script in _LAYERS.items():
            screen = new_screen()
            screen.page.add_init_script(script)
            screen.open(server, "Mapper")
            screen.asked()
            screen.go("map")
            expect(screen.at("legend")).to_contain_text(f"{n_rows:,}")
            _wait_for_a_frame(screen)
            assert len(_colours(screen)) > 1
            figures[layer] = _frame_times(screen)
            screen.page.close()
        peak = server.peak_megabytes
    print(f"\nmap of {n_rows} rows, ms for a frame: {figures}, server {peak:.0f} MB")
    assert peak < 1500


def _wait_for_a_frame(screen):
    """Wait until everything asked for so far is drawn."""
    screen.page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def _colours(screen):
    """Give the colours that many pixels of the map have, the background among them."""
    picture = Image.open(io.BytesIO(screen.at("map-canvas").screenshot())).convert("RGB")
    return [colour for count, colour in picture.getcolors(2**24) if count >= 12]


def _loner(screen, server, besides):
    """Give a row without a name that lies by itself, and where it lies on the canvas."""
    points = np.frombuffer(server.fetch("api/map/points"), "<f4").reshape(-1, 2)
    labels = np.frombuffer(server.fetch("api/map/labels"), "<u2")
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + 9 * np.eye(len(points))
    is_open = labels == 0
    is_open[besides] = False
    row = int(np.argmax(np.where(is_open, gaps.min(axis=1), -1)))
    box = screen.at("map-canvas").bounding_box()
    scale = 0.94 * min(box["width"], box["height"]) / 2  # as camera.js has it
    left = box["width"] / 2 + points[row, 0] * scale
    return row, float(left), float(box["height"] / 2 - points[row, 1] * scale)


def _frame_times(screen):
    """Measure frames of a map at rest and of one that is being dragged, in milliseconds."""
    return screen.page.evaluate(
        """async () => {
            const canvas = document.querySelector("[data-testid=map-canvas]");
            const { left, top, width, height } = canvas.getBoundingClientRect();
            const middle = [left + width / 2, top + height / 2];
            const send = (kind, shift) => canvas.dispatchEvent(new PointerEvent(kind, {
                pointerId: 1, clientX: middle[0] + shift, clientY: middle[1], bubbles: true }));
            canvas.setPointerCapture = () => {};
            const frames = async (number, act) => {
                const start = performance.now();
                for (let frame = 0; frame < number; frame += 1) {
                    act(frame);
                    await new Promise(requestAnimationFrame);
                }
                return Number(((performance.now() - start) / number).toFixed(1));
            };
            const rest = await frames(30, () => {});
            send("pointerdown", 0);
            const moving = await frames(30, (frame) => send("pointermove", 6 + 3 * frame));
            send("pointerup", 100);
            return { rest, moving };
        }"""
    )

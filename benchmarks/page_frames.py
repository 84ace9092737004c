"""Frames of the page with many rows: times between them, and the page's own work in each.

    python -m benchmarks.page_frames [--rows 100000] [--views map,review,table]

Headless Chromium plays the graphics card on the processor, so its times between frames are an upper
bound of those of a person's machine. The work of the page's own thread (scripts, style, layout,
painting) is reported beside them: a screen of 60 frames a second leaves 16.7 ms for it.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from benchmarks.first_question import table
from benchmarks.measuring import report

TOKEN: Final = "a token for benchmarks"
_FRAMES: Final = 120
_WINDOW: Final = {"width": 1440, "height": 900}
_OPTIONS: Final = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader")
_CANVAS: Final = (
    "HTMLCanvasElement.prototype.getContext = ((given) => function (kind, ...rest) {"
    ' return kind.startsWith("webgl") ? null : given.call(this, kind, ...rest); })'
    "(HTMLCanvasElement.prototype.getContext)"
)
_WEBGL: Final = 'localStorage.setItem("kernova.layer", "webgl")'
# What the page's own thread does, by the names of Chromium's trace; frames contain the others.
_WORK: Final = {
    "script_ms": ("FunctionCall", "EvaluateScript", "FireAnimationFrame", "EventDispatch"),
    "style_ms": ("UpdateLayoutTree", "RecalculateStyles"),
    "layout_ms": ("Layout",),
    "paint_ms": ("Paint", "PrePaint", "Layerize", "Commit"),
}
_ACT = """async ([frames, act]) => {
    const run = new Function("frame", "scene", act);
    const scene = {};
    const times = [];
    let before = await new Promise(requestAnimationFrame);
    for (let frame = 0; frame < frames; frame += 1) {
        run(frame, scene);
        const now = await new Promise(requestAnimationFrame);
        times.push(now - before);
        before = now;
    }
    return times;
}"""
_MAP = """
    const canvas = document.querySelector("[data-testid=map-canvas]");
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {
        pointerId: 1, bubbles: true, clientX: left + width / 2 + x,
        clientY: top + height / 2 + y }));
    canvas.setPointerCapture = () => {};
"""
_PAN = (
    _MAP
    + """
    if (frame === 0) send("pointerdown", 0, 0);
    send("pointermove", 80 * Math.sin(frame / 9), 60 * Math.cos(frame / 7));
"""
)
_ZOOM = (
    _MAP
    + """
    if (frame === 0) send("pointerup", 0, 0);
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: frame % 60 < 30 ? -40 : 40,
        clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true }));
"""
)
_HOVER = _MAP + 'send("pointermove", 3 * (frame % 90) - 130, frame % 50);'
# Whatever scrolls in the view, or the page.
_SCROLL = """
    scene.box ??= [...document.querySelectorAll("#view-NAME *"), document.scrollingElement]
        .filter((node) => node.scrollHeight > node.clientHeight + 50 && (
            node === document.scrollingElement || getComputedStyle(node).overflowY !== "visible"))
        .sort((one, other) => other.scrollHeight - one.scrollHeight)[0];
    if (scene.box) scene.box.scrollTop += frame % 40 === 39 ? scene.box.scrollHeight / 7 : 180;
"""


@contextmanager
def served(folder: Path, n_rows: int) -> Iterator[tuple[str, str]]:
    """Serve a table; yield the address and a link that lets a browser in."""
    X, codes = table(n_rows)
    frame = pd.DataFrame(X.round(4)).add_prefix("c")
    frame.insert(0, "id", [f"row-{row:06d}" for row in range(n_rows)])
    # Half of the rows have a category: they take the most work to draw.
    is_known = np.random.default_rng(1).random(n_rows) < 0.5
    frame["kind"] = np.where(is_known, np.char.add("kind ", codes.astype(str)), None)
    frame.to_parquet(folder / "rows.parquet")
    command = [
        sys.executable, "-m", "kernova", "discover", "rows.parquet", "--id-column", "id",
        "--label-column", "kind", "--json", "--no-browser", "--port", "0", "--token", TOKEN,
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        _wait_for_the_map(told["address"])
        yield told["address"], told["url"]
    finally:
        process.terminate()
        process.communicate()  # the summary at the end would fill the pipe


def _wait_for_the_map(address: str) -> None:
    request = urllib.request.Request(f"{address}api/map")
    request.add_header("Authorization", f"Bearer {TOKEN}")
    while True:
        with urllib.request.urlopen(request) as reply:
            if json.load(reply)["better"]["state"] != "running":
                return
        time.sleep(0.5)


def measured(page: Any, act: str) -> dict[str, float]:
    """Return the times between frames while something is done, and the work in each."""
    session = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    session.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    session.send(
        "Tracing.start", {"categories": "devtools.timeline", "transferMode": "ReportEvents"}
    )
    times = page.evaluate(_ACT, [_FRAMES, act])[2:]
    is_done: list[object] = []
    session.on("Tracing.tracingComplete", lambda end: is_done.append(end))
    session.send("Tracing.end")
    while not is_done:
        page.wait_for_timeout(50)
    session.detach()
    median, most, longest = np.quantile(times, [0.5, 0.95, 1])
    found = {"median_ms": median, "p95_ms": most, "longest_ms": longest}
    return found | {name: _work(events, names) for name, names in _WORK.items()}


def _work(events: list[dict[str, Any]], names: tuple[str, ...]) -> float:
    """Return the milliseconds of some kinds of work in each frame; nested ones count once."""
    spans = sorted(
        (one["ts"], one["ts"] + one.get("dur", 0), one["pid"], one["tid"])
        for one in events
        if one.get("ph") == "X" and one["name"] in names
    )
    total, ends = 0.0, dict[tuple[int, int], float]()
    for begin, end, *thread in spans:
        place = (thread[0], thread[1])
        total += max(0.0, end - max(begin, ends.get(place, 0.0)))
        ends[place] = max(end, ends.get(place, 0.0))
    return total / 1000 / _FRAMES


def scenes(views: list[str]) -> dict[str, dict[str, str]]:
    """Return what is done in each view."""
    moving = {"pan": _PAN, "zoom": _ZOOM, "hover": _HOVER}
    return {
        view: moving if view == "map" else {"scroll": _SCROLL.replace("NAME", view)}
        for view in views
    }


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--views", default="map,review,table")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), arguments.rows) as (address, link),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=list(_OPTIONS))
        context = browser.new_context(viewport=_WINDOW)
        first = context.new_page()
        first.goto(link)
        first.get_by_test_id("expert-name").fill("Benchmark")
        first.get_by_test_id("start-button").click()
        first.get_by_test_id("question-id").wait_for()
        first.close()
        for view, acts in scenes(arguments.views.split(",")).items():
            for layer, script in {"webgl": _WEBGL, "canvas": _CANVAS}.items():
                if view != "map" and layer == "canvas":
                    continue
                page = context.new_page()
                page.add_init_script(script)
                page.goto(f"{address}#/{view}")
                if page.locator(f"#tab-{view}").count() == 0:
                    print(f"There is no view {view}.")
                    page.close()
                    break
                page.wait_for_timeout(4000)
                for name, act in acts.items():
                    what = {"view": view, "layer": layer, "act": name}
                    rows.append({"rows": arguments.rows, **what, **measured(page, act)})
                    print(rows[-1], flush=True)
                page.close()
        browser.close()
    report("page frames", rows)


if __name__ == "__main__":
    main()

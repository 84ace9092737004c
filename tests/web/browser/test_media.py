"""One question of each kind that there is something to see or hear of."""

import importlib.util
import math

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import PHONE, expect

N_ROWS = 24


def _values(rng):
    rows = rng.normal(size=(N_ROWS, 3)) + 6 * (np.arange(N_ROWS) % 3)[:, None]
    frame = pd.DataFrame(rows.round(3), columns=["height", "width", "age"])
    frame.insert(0, "id", [f"thing-{row:02d}" for row in range(N_ROWS)])
    return frame


def _write_pictures(folder, rng):
    (folder / "pictures").mkdir()
    rows = _values(rng)
    for place, id_ in enumerate(rows["id"]):
        pixels = rng.integers(0, 255, size=(48, 64, 3), dtype=np.uint8)
        pixels[:, :, place % 3] = 255
        Image.fromarray(pixels).save(folder / "pictures" / f"{id_}.png")
    rows.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv", {"id_column": "id", "images": folder / "pictures"}


def _write_sounds(folder, rng):
    import soundfile

    (folder / "sounds").mkdir()
    rows = _values(rng)
    seconds = np.arange(8000) / 16000
    for place, id_ in enumerate(rows["id"]):
        tone = 0.5 * np.sin(2 * np.pi * (500 + 400 * (place % 3)) * seconds)
        soundfile.write(folder / "sounds" / f"{id_}.wav", tone, 16000)
    rows.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv", {"id_column": "id", "audio": folder / "sounds"}


def _write_outlines(folder, rng):
    lines = []
    for place in range(N_ROWS):
        lines.append("LM=8")
        for mark in range(8):
            angle, wide = mark * math.pi / 4, 1.0 + 0.2 * (place % 3)
            x, y = np.array([wide * math.cos(angle), math.sin(angle)]) + rng.normal(0, 0.02, 2)
            lines.append(f"{100 * x + 200:.2f} {100 * y + 200:.2f}")
        lines.append(f"ID=fish-{place:02d}")
    (folder / "fish.tps").write_text("\n".join(lines) + "\n")
    return folder / "fish.tps", {}


def _check_picture(screen):
    picture = screen.page.get_by_role("img", name="Picture of thing-").first
    assert screen.wait_for_image(picture) == 64
    frame = screen.page.locator(".picture-frame")
    screen.press("i")
    expect(frame).to_contain_class("inverted")
    screen.press("i", "z")
    expect(screen.at("enlarged")).to_be_visible()
    screen.press("Escape")
    expect(screen.at("enlarged")).to_have_count(0)


def _check_sound(screen):
    picture = screen.page.get_by_role("img", name="Spectrogram of thing-").first
    assert screen.wait_for_image(picture) > 1
    expect(screen.page.locator(".axis-up")).to_contain_text("kHz")
    with screen.page.expect_response("**/sound?slowness=2") as heard:
        screen.press("w")
    assert heard.value.ok
    expect(screen.page.get_by_role("button", name="Play at half speed")).to_have_attribute(
        "aria-pressed", "true"
    )


def _check_outline(screen):
    drawing = screen.page.get_by_role("img", name="Landmarks of")
    expect(drawing).to_be_visible()
    expect(drawing.locator("circle.own")).to_have_count(8)
    expect(drawing.locator("circle.mean")).to_have_count(8)


KINDS = {
    "pictures": (_write_pictures, _check_picture),
    "sounds": (_write_sounds, _check_sound),
    "outlines": (_write_outlines, _check_outline),
}


@pytest.fixture
def served(request, tmp_path):
    """Serve rows of one kind."""
    if request.param == "sounds" and importlib.util.find_spec("soundfile") is None:
        pytest.skip("soundfile is not installed")
    data, words = KINDS[request.param][0](tmp_path, np.random.default_rng(0))
    with nearby_workbench(data, **words) as server:
        yield request.param, server


@pytest.mark.parametrize("served", KINDS, indirect=True)
def test_a_question_shows_what_there_is(served, new_screen):
    kind, server = served
    screen = new_screen().open(server, "Anna")
    screen.asked()
    KINDS[kind][1](screen)
    screen.picture(f"{kind}-light")
    screen.answer("something")
    screen.page.emulate_media(color_scheme="dark")
    screen.asked()
    screen.picture(f"{kind}-dark")
    narrow = new_screen(**PHONE).open(server, "Ben")
    narrow.asked()
    KINDS[kind][1](narrow)
    assert narrow.overflow() == 0
    narrow.picture(f"{kind}-narrow")

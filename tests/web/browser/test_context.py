"""Rows looked at closely: context and links, zoom and contrast, side by side, and in a table."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.web.browser.access import check_standing
from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import PHONE, expect

N_ROWS = 60
WIDE = {"viewport": {"width": 2560, "height": 1440}, "color_scheme": "dark"}


def _values(rng):
    kinds = np.arange(N_ROWS) % 3
    frame = pd.DataFrame(
        (rng.normal(size=(N_ROWS, 4)) + 6 * kinds[:, None]).round(3),
        columns=["height", "width", "age", "mass"],
    )
    frame.insert(0, "id", [f"thing-{row:02d}" for row in range(N_ROWS)])
    frame["seen"] = [f"2024-05-{1 + row % 28:02d}" for row in range(N_ROWS)]
    frame["page"] = [f"https://museum.example/things/{row}" for row in range(N_ROWS)]
    frame["remark"] = [f"found by person {row} near the lake" for row in range(N_ROWS)]
    return frame


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """Serve rows with two pictures each, and columns that are no features."""
    folder, rng = tmp_path_factory.mktemp("things"), np.random.default_rng(0)
    rows = _values(rng)
    (folder / "pictures").mkdir()
    for place, id_ in enumerate(rows["id"]):
        for number in (1, 2):
            pixels = rng.integers(0, 90, size=(48, 64 if place % 2 else 32, 3), dtype=np.uint8)
            pixels[10:30, 10:25, place % 3] = 60 + 90 * number
            Image.fromarray(pixels).save(folder / "pictures" / f"{id_}_{number}.png")
    rows.to_csv(folder / "rows.csv", index=False)
    words = {"id_column": "id", "images": folder / "pictures"}
    link = "https://catalogue.example/{id}?page={page}"
    with nearby_workbench(folder / "rows.csv", link=link, **words) as server:
        yield server


@pytest.fixture(scope="module")
def songs(tmp_path_factory):
    """Serve rows with a sound each."""
    if importlib.util.find_spec("soundfile") is None:
        pytest.skip("soundfile is not installed")
    import soundfile

    folder, rng = tmp_path_factory.mktemp("songs"), np.random.default_rng(0)
    rows = _values(rng)
    (folder / "sounds").mkdir()
    seconds = np.arange(8000) / 16000
    for place, id_ in enumerate(rows["id"]):
        tone = 0.5 * np.sin(2 * np.pi * (500 + 400 * (place % 3)) * seconds)
        soundfile.write(folder / "sounds" / f"{id_}.wav", tone, 16000)
    rows.to_csv(folder / "rows.csv", index=False)
    with nearby_workbench(folder / "rows.csv", id_column="id", audio=folder / "sounds") as server:
        yield server


def _scale(screen):
    return float(screen.page.locator("#view-question .picture-frame").get_attribute("data-scale"))


@pytest.mark.parametrize(
    ("window", "options"),
    [("light", {}), ("wide", WIDE), ("narrow", PHONE)],
)
def test_a_question_shows_context_a_link_and_all_pictures(window, options, things, new_screen):
    screen = new_screen(**options).open(things, f"Looker {window}")
    asked = screen.asked()
    context = screen.at("context").first
    expect(context).to_contain_text("2024-05-")
    expect(context).to_contain_text("near the lake")
    number = int(asked.id[-2:])
    link = context.get_by_test_id("row-link")
    expect(link).to_have_attribute(
        "href",
        f"https://catalogue.example/{asked.id}?page=https%3A%2F%2Fmuseum.example%2Fthings%2F{number}",
    )
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")
    files = screen.at("file")
    expect(files).to_have_text(["1", "2"])
    image = screen.page.locator("#view-question .picture-frame img")
    screen.wait_for_image(image)
    with screen.page.expect_response("**/picture?file=1**") as second:
        screen.press("]")
    assert second.value.ok
    expect(files.nth(1)).to_have_attribute("aria-pressed", "true")
    screen.wait_for_image(image)
    screen.picture(f"context-question-{window}")
    assert screen.overflow() == 0
    check_standing(screen.page)


def test_pictures_zoom_pan_and_change_contrast_by_keyboard_and_pointer(things, screen):
    screen.open(things, "Zoomer")
    screen.asked()
    frame = screen.page.locator("#view-question .picture-frame")
    screen.wait_for_image(frame.locator("img"))
    screen.press("+", "+")
    assert _scale(screen) == pytest.approx(1.96)
    screen.tab_to(frame)
    before = frame.locator("img").evaluate("node => node.style.transform")
    screen.press("ArrowRight")
    assert frame.locator("img").evaluate("node => node.style.transform") != before
    screen.press("Home")
    assert _scale(screen) == 1
    box = frame.bounding_box()
    middle = box["x"] + box["width"] / 3, box["y"] + box["height"] / 3
    screen.page.mouse.move(*middle)
    screen.page.mouse.wheel(0, -200)
    expect(frame).to_have_attribute("data-scale", "1.40")
    before = frame.locator("img").evaluate("node => node.style.transform")
    screen.page.mouse.down()
    screen.page.mouse.move(middle[0] + 40, middle[1] + 25, steps=4)
    screen.page.mouse.up()
    assert frame.locator("img").evaluate("node => node.style.transform") != before
    with screen.page.expect_response("**contrast=linear**") as drawn:
        screen.press("x")
    assert drawn.value.ok
    screen.answer("something")
    screen.asked()
    frame = screen.page.locator("#view-question .picture-frame")
    expect(frame).to_have_attribute("data-scale", "1.40")
    expect(screen.at("contrast").first).to_have_value("linear")
    screen.wait_for_image(frame.locator("img"))
    screen.picture("context-zoomed")
    screen.at("zoom-reset").first.click()
    expect(frame).to_have_attribute("data-scale", "1.00")
    screen.press("u")


def test_values_keep_the_order_of_the_table(things, screen):
    screen.open(things, "Reader")
    screen.asked()
    names = screen.page.locator("#view-question .feature-name")
    expect(names).to_have_text(["height", "width", "age", "mass"])
    screen.push(screen.at("unusual-first").first)
    expect(screen.at("unusual-first").first).to_have_attribute("aria-pressed", "true")
    assert sorted(names.all_text_contents()) == ["age", "height", "mass", "width"]


@pytest.mark.parametrize(("window", "options"), [("light", {}), ("wide", WIDE), ("narrow", PHONE)])
def test_rows_are_compared_side_by_side(window, options, things, new_screen):
    screen = new_screen(**options).open(things, f"Comparer {window}")
    for name in ("red", "green"):
        screen.answer(f"{name} {window}")
    screen.asked()
    screen.press("y")
    table = screen.at("comparison")
    # The row, and one of each category that is known by now.
    expect(table.locator("thead th[scope=col]").nth(2)).to_be_visible()
    heads = table.locator("tbody th[scope=row]").all_text_contents()
    order = [head.split()[0] for head in heads if "page" not in head][1:5]
    assert order == ["height", "width", "age", "mass"]
    images = table.locator("img")
    for image in images.all():
        screen.wait_for_image(image)
    # One point of a picture takes as much of the screen in each of them.
    sizes = images.evaluate_all("all => all.map((one) => one.clientWidth / one.naturalWidth)")
    assert max(sizes) - min(sizes) < 0.05 * max(sizes)
    screen.picture(f"compare-{window}")
    check_standing(screen.page)
    screen.push(screen.at("only-differences")) if window == "light" else None
    screen.press("Escape")
    expect(screen.at("compare-dialog")).to_have_count(0)
    screen.press("u", "u")
    expect(screen.page.locator("body")).to_have_attribute("data-pending", "0")


@pytest.mark.parametrize(("window", "options"), [("light", {}), ("wide", WIDE), ("narrow", PHONE)])
def test_the_table_is_sorted_and_filtered(window, options, things, new_screen):
    screen = new_screen(**options).open(things, f"Sorter {window}")
    screen.asked()
    screen.go("table")
    ids = screen.page.locator(".table-line .table-id")
    expect(ids.first).to_have_text("thing-00")
    screen.picture(f"table-{window}")
    assert screen.overflow() == 0
    check_standing(screen.page)
    screen.tab_to(screen.at("sort-f0"))
    screen.press("Enter")
    expect(screen.page.locator("[aria-sort=ascending]")).to_have_count(1)
    rows = screen.server.get("api/table/rows?sort=f0&columns=f0&limit=60")["lines"]
    assert [float(one["values"][0]) for one in rows] == sorted(
        float(one["values"][0]) for one in rows
    )
    expect(ids.first).to_have_text(rows[0]["id"])
    screen.at("table-find").fill("person 7")
    expect(ids).to_have_text(["thing-07"])
    screen.at("table-find").fill("")
    screen.at("table-within").select_option("f0")
    screen.at("table-find").fill("> 8")
    expect(screen.at("table-words")).to_contain_text("of 60 rows")


def test_rows_are_selected_in_the_table_and_labelled_by_keyboard(things, screen):
    screen.open(things, "Selector")
    screen.asked()
    screen.go("table")
    expect(screen.page.locator(".table-line .table-id").first).to_have_text("thing-00")
    screen.tab_to(screen.at("table-grid"))
    screen.press("ArrowDown", "Space", "Shift+ArrowDown", "Shift+ArrowDown")
    expect(screen.at("table-words")).to_contain_text("3 selected")
    screen.tab_to(screen.at("table-grid"))
    screen.press("Enter")
    expect(screen.at("row-dialog")).to_be_visible()
    screen.press("Escape")
    screen.at("table-compare").click()
    expect(screen.at("comparison").locator("thead th[scope=col]")).to_have_count(3)
    screen.press("Escape")
    screen.at("table-alike").click()
    expect(screen.at("alike-words")).to_be_visible()
    screen.press("Escape")
    screen.at("table-label").click()
    screen.name("chosen")
    tags = screen.page.locator(".table-line .label-tag").filter(has_text="chosen")
    expect(tags).to_have_count(3)
    screen.at("table-status").select_option("labelled")
    screen.at("table-find").fill("chosen")
    expect(screen.at("table-words")).to_contain_text("3 of 60 rows")
    screen.press("Escape")
    screen.go("question")
    screen.press("u")
    expect(screen.page.locator("body")).to_have_attribute("data-pending", "0")


def test_sounds_repeat_and_members_play_in_their_place(songs, screen):
    screen.open(songs, "Listener")
    screen.asked()
    image = screen.page.get_by_role("img", name="Spectrogram of thing-").first
    screen.wait_for_image(image)
    screen.page.locator("#view-question .sound-options summary").click()
    screen.at("lowest-khz").fill("0.2")
    with screen.page.expect_response("**/spectrogram?lowest=200**") as drawn:
        screen.at("lowest-khz").press("Enter")
    assert drawn.value.headers["x-kernova-lowest-hz"] == "200"
    with screen.page.expect_response("**contrast=high**") as drawn:
        screen.at("spectrogram-contrast").select_option("high")
    assert drawn.value.ok
    screen.at("loop").check()
    screen.at("autoplay").check()
    screen.picture("sound-options")
    check_standing(screen.page)
    member = screen.at("cluster").locator("input").first
    screen.tab_to(member)
    with screen.page.expect_response("**/sound") as played:
        screen.press("p")
    assert played.value.ok
    expect(screen.at("cluster").locator(".play-beside.playing")).to_have_count(1)
    with screen.page.expect_response("**/sound?slowness=1**"):
        screen.answer("tone")
    screen.asked()
    expect(screen.at("loop")).to_be_checked()

"""Answers of more kinds, fixed keys, headings and long names, by keyboard and by pointer."""

import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.web.browser.access import check_focus, check_standing
from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import LARGE, PHONE, VIEW_KEYS, WIDE, expect

LONG = "barred spiral with a bright bulge and two faint outer rings"
NAMES = (
    "elliptical", "edge on", "spiral", "merger", "ring", "lenticular", LONG, "irregular", "star",
    "trail", "two in one", "empty",
)  # fmt: skip
N_EACH = 8
WINDOWS = {
    "narrow": PHONE,
    "narrow-dark": {**PHONE, "color_scheme": "dark"},
    "wide": WIDE,
    "large": LARGE,
    "large-dark": {**LARGE, "color_scheme": "dark"},
}


def _write_pictures(folder):
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(len(NAMES)), N_EACH)
    rows = pd.DataFrame(rng.normal(size=(len(kinds), 3)) + 9 * kinds[:, None], columns=[*"abc"])
    rows.insert(0, "id", [f"sky-{row:03d}" for row in range(len(kinds))])
    (folder / "pictures").mkdir()
    for id_, kind in zip(rows["id"], kinds, strict=True):
        pixels = rng.integers(0, 200, size=(64, 64, 3), dtype=np.uint8)
        pixels[kind * 5 : kind * 5 + 5] = 255
        Image.fromarray(pixels).save(folder / "pictures" / f"{id_}.png")
    rows.round(3).to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


@pytest.fixture
def sky(tmp_path):
    """Serve pictures of twelve categories, one of each labelled."""
    data = _write_pictures(tmp_path)
    words = {"noun": "galaxy", "multiple_labels": True, "images": tmp_path / "pictures"}
    with nearby_workbench(data, id_column="id", **words) as server:
        for kind, name in enumerate(NAMES):
            server.post("api/labels", expert="Seed", rows=[kind * N_EACH], label=name)
        yield server


@pytest.fixture
def recordings(tmp_path):
    """Serve sounds of twelve categories, one of each labelled."""
    soundfile = pytest.importorskip("soundfile")
    data = _write_pictures(tmp_path)
    (tmp_path / "sounds").mkdir()
    tone = 0.5 * np.sin(np.arange(8000) * 0.3)
    for id_ in pd.read_csv(data)["id"]:
        soundfile.write(tmp_path / "sounds" / f"{id_}.wav", tone, 16000)
    with nearby_workbench(data, id_column="id", audio=tmp_path / "sounds") as server:
        for kind, name in enumerate(NAMES):
            server.post("api/labels", expert="Seed", rows=[kind * N_EACH], label=name)
        yield server


def _entries(server, expert):
    entries = server.get("api/history?limit=100")["entries"]
    return [entry for entry in entries if entry["by"] == expert]


# --- keys ------------------------------------------------------------------------------------


def test_a_key_pressed_too_early_is_announced_and_not_an_answer(sky, screen):
    screen.open(sky, "Quick")
    before = screen.asked()
    screen.page.evaluate(
        """() => {
            const view = document.getElementById("view-question");
            const press = (key) => document.body.dispatchEvent(
                new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            new MutationObserver((_, observer) => {
                observer.disconnect();
                press("3");
            }).observe(view, { childList: true });
            press("1");
        }"""
    )
    screen.wait_for_words("scope", "The question had just changed; press 3 again.")
    expect(screen.at("scope")).to_have_attribute("role", "status")
    screen.wait_for_another(before)
    after = screen.asked()
    assert [entry["label"] for entry in _entries(sky, "Quick")] == ["elliptical"]
    # Again, for the new question this time; the notice is gone with it.
    screen.press("3")
    screen.wait_for_another(after)
    screen.asked()
    expect(screen.at("scope")).to_have_text("The label applies to this galaxy only.")
    assert [entry["label"] for entry in _entries(sky, "Quick")] == ["spiral", "elliptical"]


def test_a_key_pressed_while_an_answer_is_saved_is_announced(sky, screen):
    screen.open(sky, "Quick")
    before = screen.asked()
    screen.page.route(
        "**/api/answers", lambda route: (screen.page.wait_for_timeout(500), route.continue_())
    )
    screen.page.keyboard.press("1")
    screen.page.keyboard.press("2")
    screen.wait_for_words("scope", "The answer before was still being saved; press 2 again.")
    screen.wait_for_another(before)
    assert len(_entries(sky, "Quick")) == 1


def test_twelve_categories_are_reached_by_one_key_or_two(sky, screen):
    screen.open(sky, "Anna")
    screen.asked()
    keys = screen.keys()
    assert list(keys.values()) == [*"123456789", "00", "01", "02"]
    for name, key in keys.items():
        before = screen.asked()
        screen.press(*key)
        screen.wait_for_words("saved", f"Saved: {before.id} is “{name}”.")
        screen.wait_for_another(before)
    screen.asked()
    screen.press("0")
    screen.wait_for_words("scope", "0 … press the second key of the category, or Esc.")
    screen.press("Escape")
    expect(screen.at("scope")).to_have_text("The label applies to this galaxy only.")
    screen.press("0", "z")
    screen.wait_for_words("scope", "No category has the keys 0 Z.")
    assert len(_entries(sky, "Anna")) == len(NAMES)


def test_keys_stay_and_can_be_chosen(sky, screen):
    screen.open(sky, "Anna")
    screen.asked()
    before = screen.keys()
    screen.go("categories")
    # By keyboard alone: a letter that the page uses, then one that another category has.
    ring = screen.page.locator(
        "li.category", has=screen.page.get_by_role("heading", name="ring", exact=True)
    )
    screen.push(ring.get_by_test_id("edit-key"))
    expect(screen.at("key-input")).to_be_focused()
    screen.type("s")
    expect(screen.at("key-words")).to_have_text(
        "S has another use (skip this galaxy). Type 0s for the keys 0 S."
    )
    expect(screen.at("key-save")).to_be_disabled()
    screen.press("ControlOrMeta+a")
    screen.type("1")
    expect(screen.at("key-words")).to_have_text(
        "1 is the key of “elliptical”, which gets another one."
    )
    screen.picture("key-dialog")
    screen.press("Enter")
    screen.wait_for_words("saved", "ring has the key 1 now. “elliptical” has 5 instead.")
    screen.go("question")
    now = screen.keys()
    assert (now["ring"], now["elliptical"]) == ("1", "5")
    assert {name: key for name, key in now.items() if name not in ("ring", "elliptical")} == {
        name: key for name, key in before.items() if name not in ("ring", "elliptical")
    }
    # By pointer, a pair of keys.
    screen.go("categories")
    ring.get_by_test_id("edit-key").click()
    screen.at("key-input").fill("0g")
    screen.at("key-save").click()
    screen.wait_for_words("saved", "ring has the keys 0 G now.")
    screen.go("question")
    asked = screen.asked()
    screen.press("0", "g")
    screen.wait_for_words("saved", f"Saved: {asked.id} is “ring”.")


def test_headings_group_the_categories_everywhere(sky, screen):
    screen.open(sky, "Anna")
    screen.asked()
    keys = screen.keys()
    screen.go("categories")
    screen.push(screen.at("headings"))
    for name in ("star", "trail", "empty"):
        screen.at("heading-dialog").get_by_label(name, exact=False).first.check()
    screen.at("heading-input").fill("artefacts")
    screen.picture("heading-dialog")
    screen.at("heading-save").click()
    screen.wait_for_words("saved", "star, trail and empty are under artefacts now.")
    heading = screen.page.locator("#view-categories h2", has_text="artefacts")
    expect(heading).to_be_visible()
    check_standing(screen.page)
    screen.picture("headings-categories")
    screen.go("map")
    expect(screen.at("legend").locator(".legend-heading")).to_have_text("artefacts")
    screen.go("question")
    screen.asked()
    group = screen.page.get_by_role("list", name="artefacts")
    expect(group.get_by_role("button")).to_have_count(3)
    assert screen.keys() == keys  # the names stand in another order, each with its key
    check_standing(screen.page)
    screen.picture("headings-question")


def test_a_long_name_is_whole_where_the_focus_is(sky, screen):
    screen.open(sky, "Anna")
    screen.asked()
    button = screen.at(f"answer-{LONG}")
    name = button.locator(".answer-name")
    expect(name).to_have_text(re.compile("^barred spiral.*….*outer rings$"))
    expect(button).to_have_accessible_name(f"{LONG}, key 7")
    expect(button).to_have_attribute("title", f"{LONG}, key 7")
    screen.tab_to(button)
    expect(name).to_have_text(LONG)
    screen.press("Tab")
    expect(name).to_have_text(re.compile("…"))


# --- answers ---------------------------------------------------------------------------------


def test_unsure_is_apart_from_skip(sky, screen):
    screen.open(sky, "Anna")
    first = screen.asked()
    screen.press("d")
    screen.wait_for_words("saved", f"Saved: {first.id} is left undecided.")
    screen.wait_for_another(first)
    second = screen.asked()
    screen.at("unsure").click()
    screen.wait_for_another(second)
    third = screen.asked()
    screen.press("s")
    screen.wait_for_another(third)
    expect(screen.at("progress-words")).to_contain_text(
        "3 questions asked (1 skipped, 2 undecided)"
    )
    screen.go("history")
    expect(screen.at("history-list").locator("li[data-kind=unsure]")).to_have_count(2)
    expect(screen.at("history-list")).to_contain_text(f"{first.id} was left undecided.")
    screen.at("history-list").get_by_role("button", name=f"View {first.id}").click()
    expect(screen.at("row-dialog")).to_contain_text("Left undecided.")
    expect(screen.at("row-unsure")).to_have_count(0)
    screen.press("Escape")
    # A labelled row can be left undecided, too.
    screen.at("history-list").get_by_role("button", name="View sky-000").click()
    screen.at("row-unsure").click()
    screen.wait_for_words("saved", "Saved. sky-000 marked as undecided.")


def test_a_note_and_a_flag_stay_with_the_row(sky, screen):
    screen.open(sky, "Anna")
    asked = screen.asked()
    screen.press("t")
    expect(screen.at("note-text")).to_be_focused()
    screen.type("bright star nearby")
    screen.picture("note-dialog")
    screen.press("Enter")
    screen.wait_for_words("saved", f"Saved. Note on {asked.id}: bright star nearby")
    expect(screen.at("remark-note")).to_have_text("bright star nearby")
    expect(screen.page.locator("body")).to_have_attribute("data-accepts", "yes")
    screen.press("f")
    screen.wait_for_words("saved", f"Saved. {asked.id} flagged.")
    expect(screen.at("remark-flag")).to_be_visible()
    expect(screen.at("flag")).to_have_attribute("aria-pressed", "true")
    assert screen.asked() == asked  # the same question, still open
    screen.picture("remarks-question")
    # By pointer: the flag is removed; the note is changed in the dialog of the row.
    screen.at("flag").click()
    expect(screen.at("remark-flag")).to_have_count(0)
    screen.press("1")
    screen.wait_for_another(asked)
    screen.go("history")
    screen.at("history-list").get_by_role("button", name=f"View {asked.id}").first.click()
    expect(screen.at("row-dialog").get_by_test_id("remark-note")).to_have_text("bright star nearby")
    screen.at("row-note").click()
    screen.at("note-remove").click()
    expect(screen.at("row-dialog").get_by_test_id("remark-note")).to_have_count(0)
    screen.at("row-flag").click()
    expect(screen.at("row-dialog").get_by_test_id("remark-flag")).to_be_visible()
    screen.picture("remarks-row")
    kinds = [entry["kind"] for entry in _entries(sky, "Anna")]
    assert kinds == ["flag", "note", "answer", "flag", "flag", "note"]


def test_confidence_belongs_to_the_next_answer_only(sky, screen):
    screen.open(sky, "Anna")
    first = screen.asked()
    screen.press("k", "k")
    screen.wait_for_words("scope", "The next answer is saved with medium confidence.")
    expect(screen.at("confidence")).to_have_text("KConfidence: medium")
    screen.press("2")
    screen.wait_for_words("saved", f"Saved: {first.id} is “edge on”, with medium confidence.")
    screen.wait_for_another(first)
    second = screen.asked()
    expect(screen.at("confidence")).to_have_text("KConfidence")
    screen.at("confidence").click()
    expect(screen.at("confidence")).to_have_attribute("aria-pressed", "true")
    screen.press("s")
    screen.wait_for_another(second)
    screen.asked()
    expect(screen.at("confidence")).to_have_attribute("aria-pressed", "false")
    assert sky.get(f"api/rows/{first.row}")["confidence"] == "medium"
    # In the dialog of a row, it is a field beside the name.
    screen.go("history")
    screen.at("history-list").get_by_role("button", name=f"View {first.id}").click()
    screen.at("name-row").click()
    screen.at("given-confidence").select_option("high")
    screen.at("name-input").fill("ring")
    screen.at("name-save").click()
    screen.wait_for_words("saved", f"{first.id}: ring, labelled directly, with high confidence.")


def test_further_labels_where_the_project_allows_them(sky, screen):
    screen.open(sky, "Anna")
    asked = screen.asked()
    screen.press("o")
    screen.name("satellite trail")
    screen.wait_for_words("saved", f"{asked.id}: also satellite trail.")
    expect(screen.at("remark-also")).to_contain_text("also satellite trail")
    screen.page.get_by_role("button", name="Remove the further label satellite trail").click()
    expect(screen.at("remark-also")).to_have_count(0)
    screen.go("categories")
    screen.at("further-labels").uncheck()
    screen.wait_for_words("saved", "No galaxy may have further labels.")
    screen.go("question")
    expect(screen.at("also")).to_be_hidden()
    screen.press("o")
    expect(screen.at("naming")).to_have_count(0)


# --- words and sizes -------------------------------------------------------------------------


def test_rows_are_called_what_the_user_calls_them(sky, screen):
    sky.post("api/learn", expert="Seed")
    sky.wait_while_learning()
    screen.open(sky)
    expect(screen.at("expert-name")).to_be_focused()
    seen = {"start": screen.page.locator("body").inner_text()}
    screen.come_in("Anna")
    screen.asked()
    for view in VIEW_KEYS:
        screen.go(view)
        screen.page.wait_for_load_state("networkidle")
        seen[view] = screen.page.locator("body").inner_text()
    screen.go("question")
    for opener, testid in (("?", "help"), ("n", "naming"), ("r", "alike-dialog")):
        screen.press(opener)
        expect(screen.at(testid)).to_be_visible()
        screen.page.wait_for_load_state("networkidle")
        seen[testid] = screen.at(testid).inner_text()
        screen.press("Escape")
    # A file may be called rows; and the history says what rows are called.
    wanted = r"^(?!Rows are called).*\brows?\b(?!\.).*"
    found = {place: re.findall(wanted, text, re.I | re.M) for place, text in seen.items()}
    assert [(place, line) for place, lines in found.items() for line in lines] == []
    assert "galaxies" in seen["question"]


@pytest.mark.parametrize("window", WINDOWS)
def test_picture_and_answers_are_seen_at_once(window, sky, new_screen):
    screen = new_screen(**WINDOWS[window]).open(sky, "Anna")
    screen.asked()
    picture = screen.page.get_by_role("img", name="Picture of sky-").first
    screen.wait_for_image(picture)
    screen.page.wait_for_timeout(100)  # until the room is measured
    wide, high = WINDOWS[window]["viewport"].values()
    bottom = high if wide > 1000 else screen.page.locator("#tabs").bounding_box()["y"]
    for part in ("[data-testid=answers] button", ".answer-tools button", "[data-testid=scope]"):
        for box in (one.bounding_box() for one in screen.page.locator(part).all()):
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= wide, (part, box)
            assert box["y"] + box["height"] <= bottom + 0.5, (part, box)
    box = picture.bounding_box()
    pad = screen.page.locator(".answers").bounding_box()
    assert box["y"] + box["height"] <= (pad["y"] + 0.5 if wide < 1000 else bottom)
    assert box["height"] >= {360: 120, 1440: 400, 2560: 800}[wide]
    assert screen.overflow() == 0
    screen.picture(f"answers-{window}")
    _check_nothing_is_cut(
        screen, ".top, .words-line, .top :not(#tabs *), .answer-list, .answer-name"
    )
    screen.go("map")
    expect(screen.at("legend").locator("li").first).to_be_visible()
    _check_nothing_is_cut(screen, ".legend, .legend li")
    screen.picture(f"answers-map-{window}")
    screen.go("categories")
    expect(screen.page.locator("li.category")).to_have_count(len(NAMES))
    _check_nothing_is_cut(screen, ".category-head, .category-head *")
    assert screen.overflow() == 0
    screen.picture(f"answers-categories-{window}")


def test_sound_and_answers_are_seen_at_once_on_a_phone(recordings, new_screen):
    screen = new_screen(**PHONE).open(recordings, "Anna")
    screen.asked()
    picture = screen.page.get_by_role("img", name="Spectrogram of sky-").first
    screen.wait_for_image(picture)
    screen.page.wait_for_timeout(100)
    pad = screen.page.locator(".answers").bounding_box()
    assert pad["y"] + pad["height"] <= screen.page.locator("#tabs").bounding_box()["y"]
    for one in (picture, screen.at("play")):
        box = one.bounding_box()
        assert box["height"] >= 30
        assert box["y"] + box["height"] <= pad["y"] + 0.5
    screen.picture("answers-sound-narrow")


def test_everything_is_named_and_reached_by_tab(sky, screen):
    screen.open(sky, "Anna")
    screen.asked()
    for view in ("question", "categories"):
        screen.go(view)
        screen.page.wait_for_load_state("networkidle")
        check_standing(screen.page)
        assert check_focus(screen.page) > 20
        screen.page.evaluate("document.activeElement.blur()")


def _check_nothing_is_cut(screen, selector):
    cut = screen.page.evaluate(
        """(selector) => [...document.querySelectorAll(selector)]
            .filter((one) => one.checkVisibility() && !one.closest("svg, .unseen, .picture-frame"))
            .filter((one) => getComputedStyle(one).overflowX !== "visible"
                || getComputedStyle(one).overflowY !== "visible")
            .filter((one) => one.scrollWidth > one.clientWidth + 1
                || one.scrollHeight > one.clientHeight + 1)
            .map((one) => one.outerHTML.slice(0, 120))""",
        selector,
    )
    assert cut == []

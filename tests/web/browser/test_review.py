"""The review at the page: a grid of any size, selections, decisions, thresholds and taking back."""

import re

import numpy as np
import pandas as pd
import pytest

from tests.web.browser.access import check_focus, check_standing
from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import PHONE, expect

N_EACH = 400
KINDS = ("carp", "pike", "eel")


@pytest.fixture
def lake(tmp_path):
    """Serve 1,200 fish of three kinds, of which twelve of each are labelled and learnt."""
    rng = np.random.default_rng(0)
    centers = np.repeat([[0, 0, 0], [6, 0, 3], [3, 9, -5]], N_EACH, axis=0)
    rows = pd.DataFrame(
        (centers + rng.normal(size=centers.shape)).round(3), columns=["length", "width", "depth"]
    )
    rows.insert(0, "id", [f"fish-{row:04}" for row in range(len(rows))])
    rows["place"] = np.tile(["lake", "river"], len(rows) // 2)
    rows.to_csv(tmp_path / "fish.csv", index=False)
    with nearby_workbench(tmp_path / "fish.csv", id_column="id") as server:
        for number in range(12):
            for kind, name in enumerate(KINDS):
                row = kind * N_EACH + 7 * number
                server.post("api/labels", expert="Anna", rows=[row], label=name)
        server.post("api/learn", expert="Anna")
        server.wait_while_learning()
        yield server


@pytest.fixture
def review(lake, screen):
    """Open the review as Anna; the list begins with the suggestions to accept."""
    screen.open(lake, "Anna")
    screen.go("review")
    _first_row(screen)
    return screen


def _first_row(screen):
    card = cards(screen).first
    expect(card).to_be_visible()
    expect(card).to_have_attribute("data-row", re.compile(r"\d"))
    return card.get_attribute("data-row")


def cards(screen):
    return screen.at("review-card")


def card_of(screen, place):
    return screen.page.locator(f"[data-testid=review-card][data-place='{place}']")


def row_at(screen, place):
    """Return the row at a place, once it has come."""
    expect(card_of(screen, place)).to_have_attribute("data-row", re.compile(r"\d"))
    return int(card_of(screen, place).get_attribute("data-row"))


def total(screen):
    words = screen.at("review-words").text_content()
    return int(words.partition(" row")[0].replace(",", ""))


def show(screen, status, n_rows):
    """Choose which rows are listed; wait until the list has so many."""
    screen.at("review-status").select_option(status)
    expect(screen.at("review-words")).to_contain_text(f"{n_rows:,} row" if n_rows else "0 rows")


def matching(server, **query):
    return server.post("api/review/numbers", query=query)["rows"]


def saved(screen, words):
    """Wait until something is saved, and the list is shown as it is since."""
    expect(screen.at("saved")).to_contain_text(words)
    expect(screen.page.locator("body")).to_have_attribute("data-pending", "0")
    expect(screen.page.locator("[data-testid=review-grid][aria-busy=true]")).to_have_count(0)


def test_only_cards_on_the_screen_are_in_the_page(review, lake):
    show(review, "all", 3 * N_EACH)
    assert total(review) == 3 * N_EACH
    assert 5 < cards(review).count() < 150
    # By the scroll bar to the end, and to the middle.
    for place, where in ((3 * N_EACH - 1, "document.body.scrollHeight"), (None, "9000")):
        review.page.evaluate(f"scrollTo(0, {where})")
        if place is not None:
            expect(card_of(review, place)).to_be_visible()
            assert row_at(review, place) == matching(lake)[place]
        expect(review.page.locator("[data-testid=review-card]:not([data-row])")).to_have_count(0)
        assert cards(review).count() < 150
    # By keys from the first to the last.
    review.page.evaluate("scrollTo(0, 0)")
    review.at("review-grid").focus()
    review.press("End")
    expect(card_of(review, 3 * N_EACH - 1)).to_have_class("review-card active")
    expect(card_of(review, 3 * N_EACH - 1)).to_be_in_viewport()
    review.press("Home")
    expect(card_of(review, 0)).to_be_in_viewport()
    active = review.at("review-grid").get_attribute("aria-activedescendant")
    assert active == "review-card-0"


def test_click_shift_band_and_all(review):
    count = review.at("review-count")
    card_of(review, 1).click()
    card_of(review, 4).click(modifiers=["Shift"])
    expect(count).to_have_text("4 selected")
    card_of(review, 2).click()
    expect(count).to_have_text("3 selected")
    expect(card_of(review, 2)).to_have_attribute("aria-selected", "false")
    review.press("Escape")
    expect(count).to_have_text("The marked row")
    _pull(review, 0, 2)
    expect(count).to_have_text("3 selected")
    for place in (0, 1, 2):
        expect(card_of(review, place)).to_have_attribute("aria-selected", "true")
    _pull(review, 4, 5, shift=True)
    expect(count).to_have_text("5 selected")
    _pull(review, 3, 3)
    expect(count).to_have_text("1 selected")
    review.press("ControlOrMeta+a")
    expect(count).to_have_text(f"{total(review):,} selected")
    # One is left out of all of them.
    card_of(review, 0).click()
    expect(count).to_have_text(f"{total(review) - 1:,} selected")
    review.at("review-clear").click()
    expect(review.at("review-clear")).to_be_hidden()


def _pull(screen, first, last, *, shift=False):
    """Draw a band from the middle of one card to the middle of another."""
    mouse, keyboard = screen.page.mouse, screen.page.keyboard
    one, other = (card_of(screen, place).bounding_box() for place in (first, last))
    if shift:
        keyboard.down("Shift")
    mouse.move(one["x"] + one["width"] / 2, one["y"] + 20)
    mouse.down()
    mouse.move(one["x"] + one["width"] / 2 + 20, one["y"] + 40)
    mouse.move(other["x"] + other["width"] / 2 + 30, other["y"] + 60)
    mouse.up()
    if shift:
        keyboard.up("Shift")


def test_accepting_and_undoing_by_keyboard_alone(review, lake):
    grid, before = review.at("review-grid"), total(review)
    rows = [row_at(review, place) for place in range(4)]
    review.tab_to(grid)
    review.press("Shift+ArrowRight", "Shift+ArrowRight")
    expect(review.at("review-count")).to_have_text("3 selected")
    review.press("Enter")
    saved(review, "Saved. 3 suggestions accepted")
    expect(review.at("review-words")).to_contain_text(f"{before - 3:,} row")
    assert sorted(matching(lake, status="accepted")) == sorted(rows[:3])
    # The next one is where the first was; it is accepted alone.
    assert row_at(review, 0) == rows[3]
    expect(grid).to_be_focused()
    review.press("Home", "Enter")
    saved(review, "Saved. 1 suggestion accepted")
    expect(review.at("progress-words")).to_contain_text("(4 accepted)")
    for left in (3, 0):
        review.press("u")
        saved(review, "Undone: ")
        review.catch_up()
        assert len(matching(lake, status="accepted")) == left


def test_moving_rejecting_and_all_other_keys(review, lake):
    grid = review.at("review-grid")
    categories = [one["name"] for one in lake.get("api/state")["categories"]]
    grid.focus()
    row = row_at(review, 0)
    review.press("2")
    saved(review, f"fish-{row:04}: {categories[1]}, labelled directly.")
    row = row_at(review, 0)
    review.press("n")
    review.name("whale")
    saved(review, "whale")
    assert lake.get(f"api/rows/{row}")["label"] == "whale"
    row = row_at(review, 0)
    suggested = lake.get(f"api/learn/rows/{row}")["suggested"]
    review.press("x")
    saved(review, f"not {suggested}.")
    assert lake.get(f"api/learn/rows/{row}")["suggested"] != suggested
    row = row_at(review, 0)
    review.press("d")
    saved(review, "undecided")
    assert matching(lake, status="unsure") == [row]
    row = row_at(review, 0)
    review.press("f")
    saved(review, "flagged.")
    assert matching(lake, status="flagged") == [row]
    expect(card_of(review, 0).locator(".flag")).to_be_visible()
    review.press("f")
    saved(review, "no longer flagged.")
    assert matching(lake, status="flagged") == []
    review.at("review-status").select_option("hand")
    expect(review.at("review-words")).to_contain_text("38 rows.")
    row = row_at(review, 0)
    grid.focus()
    review.press("o")
    saved(review, "opened again.")
    assert lake.get(f"api/rows/{row}")["label"] is None
    review.press("p")
    expect(review.at("row-dialog")).to_be_visible()
    review.press("Escape")
    expect(review.at("row-dialog")).to_have_count(0)
    review.press("Escape")
    expect(review.page.locator("body")).to_have_attribute("data-view", "question")


def test_the_threshold_accepts_what_it_counts(review, lake):
    slider, accept = review.at("review-threshold"), review.at("review-accept-all")
    review.at("review-category").select_option("=pike")
    expect(review.at("review-precision")).to_contain_text("by cross-validation of")
    points = lake.post("api/review/precision", query={"category": "pike"})["points"]
    review.tab_to(slider)
    for key, place in (("Home", 0), ("End", 100), ("Home", 0), ("ArrowRight", 1)):
        review.press(key)
        expect(slider).to_have_value(str(place))
        expect(review.at("review-words")).to_contain_text(f"{points[place]['rows']:,} row")
    count = points[1]["rows"]
    expect(accept).to_have_text(f"Accept these {count} rows")
    review.push(accept)
    if review.at("confirm").count():
        review.press("Enter")
    saved(review, f"Saved. {count} suggestions accepted: pike.")
    assert len(matching(lake, status="accepted", category="pike")) == count
    expect(review.at("review-empty")).to_have_text("No row matches.")
    show(review, "accepted", count)
    expect(card_of(review, 0)).to_have_attribute("data-status", "accepted")
    _take_back(review, lake, count)


def _take_back(screen, server, count):
    """Take back the less probable accepted rows, then undo that."""
    rows = server.post("api/review/rows", query={"status": "accepted"}, limit=1000)["rows"]
    middle = round(sorted(one["probability"] for one in rows)[count // 2], 3)
    expected = sum(one["probability"] < middle for one in rows)
    screen.at("review-take-back").click()
    expect(screen.at("take-words")).to_contain_text(f"{count} accepted rows match.")
    screen.at("take-below").fill("two")
    expect(screen.at("take-words")).to_have_text("A probability is a number from 0 to 1.")
    screen.at("take-below").fill(str(middle))
    expect(screen.at("take-words")).to_contain_text(f"{expected} accepted row")
    screen.at("take-category").select_option("=pike")
    expect(screen.at("take-words")).to_contain_text(f"{expected} accepted row")
    screen.push(screen.at("take-yes"))
    saved(screen, "opened again.")
    assert len(matching(server, status="accepted")) == count - expected
    screen.press("u")
    saved(screen, "Undone: ")
    assert len(matching(server, status="accepted")) == count


def test_all_of_a_query_are_decided_about_unless_they_have_changed(review, lake):
    before = total(review)
    review.press("ControlOrMeta+a")
    other = row_at(review, 0)
    lake.post("api/labels", expert="Bob", rows=[other], label="pike")
    review.watch.expect(r"status of 409 \(Conflict\)")
    review.at("review-flag").click()
    expect(review.at("saved")).to_contain_text("Not saved: ")
    expect(review.at("saved")).to_contain_text(f"{before - 1:,} match by now")
    assert matching(lake, status="flagged") == []


def test_conditions_on_columns(review, lake):
    show(review, "all", 3 * N_EACH)
    review.at("review-more").click()
    review.at("review-add-condition").click()
    review.at("review-column").select_option("length")
    review.at("review-low").fill("5")
    review.at("review-low").press("Enter")
    review.at("review-high").fill("7")
    review.at("review-high").press("Enter")
    condition = {"column": "length", "low": 5, "high": 7}
    expected = len(matching(lake, columns=[condition]))
    assert 0 < expected < 3 * N_EACH
    expect(review.at("review-words")).to_contain_text(f"{expected} rows")
    review.at("review-column").select_option("place")
    review.at("review-contains").fill("RIV")
    review.at("review-contains").press("Enter")
    expect(review.at("review-words")).to_contain_text("600 rows")


def test_the_best_guess_is_accepted_with_one_key(lake, screen):
    screen.open(lake, "Anna")
    asked = screen.asked()
    guess = lake.get(f"api/learn/rows/{asked.row}")["suggested"]
    expect(screen.at("guess")).to_contain_text(guess)
    expect(screen.at("guess")).to_contain_text("%")
    screen.press("Enter")
    screen.wait_for_another(asked)
    card = lake.get(f"api/rows/{asked.row}")
    assert card["label"] == guess
    assert matching(lake, status="accepted") == []  # an answer is by hand


def test_suggestions_begin_with_the_second_answer_by_themselves(tmp_path, new_screen):
    rows = pd.DataFrame({"id": [f"r{row}" for row in range(40)], "x": np.arange(40) % 2 * 9.0})
    rows["y"] = np.linspace(0, 1, 40)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with nearby_workbench(tmp_path / "rows.csv", id_column="id") as server:
        screen = new_screen().open(server, "Anna")
        for _ in range(2):
            asked = screen.asked()
            assert not screen.at("guess").get_by_role("button").count()
            screen.answer("odd" if asked.row % 2 else "even")
        expect(screen.at("accept-guess")).to_be_visible()
        screen.page.close()


def test_a_category_is_reviewed_from_its_own_place(lake, screen):
    screen.open(lake, "Anna")
    screen.go("categories")
    item = screen.page.locator(".category[data-name=eel]")
    item.get_by_test_id("review-category-rows").click()
    expect(screen.page.locator("body")).to_have_attribute("data-view", "review")
    expect(screen.at("review-category")).to_have_value("=eel")
    n_rows = len(matching(lake, category="eel"))
    expect(screen.at("review-words")).to_contain_text(f"{n_rows} rows")


WINDOWS = {
    "light": {"viewport": {"width": 1440, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1440, "height": 900}},
    "phone": PHONE,
    "large": {"viewport": {"width": 2560, "height": 1440}},
}


def test_it_looks_well_in_every_window(lake, new_screen):
    for name, window in WINDOWS.items():
        screen = new_screen(**window)
        screen.open(lake, "Looker")
        screen.go("review")
        _first_row(screen)
        assert screen.overflow() == 0, name
        screen.picture(f"review-{name}")
        check_standing(screen.page)
        show(screen, "hand", 36)
        screen.picture(f"review-labelled-{name}")
        screen.at("review-take-back").click()
        expect(screen.at("take-words")).to_have_text("No accepted row matches.")
        screen.picture(f"review-take-back-{name}")
        check_standing(screen.page)
        screen.press("Escape")


def test_tab_reaches_everything(review):
    review.at("review-more").click()
    assert check_focus(review.page) > 15


def test_a_finger_selects_row_by_row(lake, new_screen):
    screen = new_screen(**PHONE)
    screen.open(lake, "Toucher")
    screen.go("review")
    row = int(_first_row(screen))
    card_of(screen, 0).tap()
    card_of(screen, 1).tap()
    expect(screen.at("review-count")).to_have_text("2 selected")
    screen.at("review-flag").tap()
    saved(screen, "2 rows flagged.")
    assert row in matching(lake, status="flagged")

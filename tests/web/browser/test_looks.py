"""Every view, light, dark and on a phone: nothing runs over, everything is named and reached."""

import pytest

from tests.web.browser.access import check_focus, check_standing
from tests.web.browser.screens import PHONE, VIEW_KEYS, expect

WINDOWS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "narrow": PHONE,
}


@pytest.fixture(scope="module")
def learnt(digits):
    """Let the demo have a disagreement, and something learnt."""
    row = digits.get("api/history?limit=1000")["entries"][-1]["row"]
    digits.post("api/labels", expert="Doubter", rows=[row], label="a long name for a doubtful row")
    digits.post("api/learn", expert="Seed")
    digits.wait_while_learning()
    yield digits
    digits.post("api/undo", expert="Doubter")


@pytest.mark.parametrize("window", WINDOWS)
def test_every_view_holds_its_width(window, learnt, new_screen):
    screen = new_screen(**WINDOWS[window])
    screen.open(learnt)
    expect(screen.at("expert-name")).to_be_focused()
    _look(screen, f"start-{window}")
    screen.come_in("Looker")
    screen.asked()
    for view in VIEW_KEYS:
        screen.go(view)
        _wait_until_filled(screen, view)
        _look(screen, f"{view}-{window}")
        check_standing(screen.page)
    screen.go("question")
    for opener, testid in (("n", "naming"), ("?", "help"), ("z", "enlarged")):
        screen.press(opener)
        expect(screen.at(testid)).to_be_visible()
        for image in screen.at(testid).locator("img").all():
            screen.wait_for_image(image)
        _look(screen, f"{testid}-{window}")
        check_standing(screen.page)
        screen.press("Escape")
        expect(screen.at(testid)).to_have_count(0)
    screen.go("categories")
    for opener, testid in (("merge", "merge-dialog"), ("delete", "confirm")):
        screen.at(opener).first.click()
        expect(screen.at(testid)).to_be_visible()
        _look(screen, f"{testid}-{window}")
        screen.press("Escape")
    screen.go("experts")
    screen.at("disagreements").get_by_role("button", name="View").first.click()
    expect(screen.at("name-row")).to_be_visible()
    _look(screen, f"row-dialog-{window}")


def test_tab_reaches_everything_and_shows_where_it_is(learnt, screen):
    screen.open(learnt, "Tabber")
    screen.asked()
    for view in VIEW_KEYS:
        screen.go(view)
        _wait_until_filled(screen, view)
        assert check_focus(screen.page) > 10
        # Single keys must not end in a field that the last Tab left the focus in.
        screen.page.evaluate("document.activeElement.blur()")


def _wait_until_filled(screen, view):
    """Wait until a view shows what it shows."""
    filled = {
        "question": "#view-question .asked",
        "review": "[data-testid=review-card][data-row]",
        "categories": "[data-testid=category-list] .thumb-row *",
        "history": "[data-testid=history-list] li",
        "map": "[data-testid=legend] li",
        "table": "[data-testid=table-grid] .table-line .table-id",
        "curve": "[data-testid=curve] svg",
        "learn": "[data-testid=learn-rows] li",
        "experts": "[data-testid=disagreements] li",
    }
    expect(screen.page.locator(filled[view]).first).to_be_visible()


def _look(screen, name):
    assert screen.overflow() == 0, name
    screen.picture(name)

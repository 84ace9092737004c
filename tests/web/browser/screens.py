"""One expert at the page: reads what is shown, presses keys, waits for what comes of it."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

# Whatever drives a browser comes from here: where Playwright is missing, such tests are skipped.
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

VIEW_KEYS = {
    "question": "q",
    "review": "g",
    "categories": "c",
    "history": "h",
    "map": "m",
    "table": "j",
    "curve": "v",
    "learn": "l",
    "experts": "e",
}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
WIDE = {"viewport": {"width": 1440, "height": 900}}
LARGE = {"viewport": {"width": 2560, "height": 1440}}
_MOST_TABS = 400


class Asked(NamedTuple):
    """A question as the page shows it."""

    row: int
    number: int
    id: str


class Screen:
    """A window on a workbench.

    Parameters
    ----------
    page : Page
        The window.
    watch : Watch
        What happens behind it.
    """

    def __init__(self, page, watch):
        self.page = page
        self.watch = watch
        self.server = None

    def open(self, server, expert=None):
        """Open the address that the terminal shows; give a name, if there is one."""
        self.server = server
        self.page.goto(server.url)
        if expert is not None:
            self.come_in(expert)
        return self

    def come_in(self, expert):
        """Type one's name: the field has the focus already.

        Another test may have used the name a moment ago, which the page notices.
        """
        expect(self.at("expert-name")).to_be_focused()
        self.type(expert)
        self.press("Enter")
        entered, doubt = self.at("expert-button"), self.at("doubt-same")
        expect(entered.or_(doubt).filter(visible=True)).to_be_visible()
        if doubt.is_visible():
            self.press("Enter")
        expect(entered).to_have_text(expert)
        self.page.wait_for_function("document.body.dataset.version !== ''")

    def at(self, testid):
        """Find an element by its hook."""
        return self.page.get_by_test_id(testid)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.type(text)

    def go(self, view):
        """Go to a view by its key, and wait until its heading is there."""
        self.press(VIEW_KEYS[view])
        expect(self.page.locator("body")).to_have_attribute("data-view", view)
        heading = "question-heading" if view == "question" else f"{view}-heading"
        expect(self.page.locator(f"#{heading}")).to_be_visible()

    def tab_to(self, target):
        """Press Tab until an element has the focus, as one who has no mouse."""
        expect(target).to_be_visible()
        for _ in range(_MOST_TABS):
            if target.evaluate("node => node === document.activeElement"):
                return target
            self.press("Tab")
        raise AssertionError(f"Tab never comes to {target}")

    def push(self, target):
        """Press a button by keyboard alone."""
        self.tab_to(target)
        self.press("Enter")

    def asked(self):
        """Wait until an answer can be given, and read what is asked."""
        expect(self.page.locator("body")).to_have_attribute("data-accepts", "yes")
        return Asked(
            **self.page.locator("#view-question .asked").evaluate(
                "node => ({row: Number(node.dataset.row), number: Number(node.dataset.number),"
                " id: node.querySelector('[data-testid=question-id]').textContent})"
            )
        )

    def categories(self):
        """Read the names on the buttons, in order; they may be those of a moment ago."""
        return (
            self.at("answers")
            .locator("button")
            .evaluate_all("buttons => buttons.map((button) => button.dataset.name)")
        )

    def keys(self):
        """Read the key of each category, as its button shows it; two characters are two keys."""
        buttons = self.at("answers").locator("button")
        return dict(
            buttons.evaluate_all(
                "buttons => buttons.map(({ dataset: { name, key } }) => [name, key ?? ''])"
            )
        )

    def cluster(self):
        """Read the ids of the rows that the question stands for, as far as they are shown."""
        return self.at("cluster").locator(".caption").all_text_contents()

    def answer(self, name):
        """Name the row in question, and wait for the next; give the one that was named."""
        before = self.asked()
        self.say(name)
        self.wait_for_another(before)
        return before

    def say(self, name):
        """Name the row in question by keyboard: by its key, or by typing."""
        key = self.keys().get(name)
        if key:
            self.press(*key)
        else:
            self.press("n")
            self.name(name)

    def name(self, name):
        """Type a name where one is asked for."""
        expect(self.at("name-input")).to_be_focused()
        self.page.keyboard.press("ControlOrMeta+a")
        self.type(name)
        self.press("Enter")
        expect(self.at("naming")).to_have_count(0)

    def wait_for_another(self, before):
        """Wait until the page shows another question, or none."""
        if before is not None:
            shown = f".asked[data-row='{before.row}'][data-number='{before.number}']"
            expect(self.page.locator(shown)).to_have_count(0)
        expect(self.page.locator("body")).to_have_attribute("data-pending", "0")

    def catch_up(self, testid=None):
        """Wait until the page, or a list on it, shows the state as the server has it now."""
        version = self.server.get("api/state")["version"]
        shown = "body" if testid is None else f"[data-testid={testid}]"
        self.page.wait_for_function(
            "([shown, seen]) => Number(document.querySelector(shown)?.dataset.version) >= seen",
            arg=[shown, version],
        )

    def wait_for_words(self, testid, words):
        """Wait until an element says something (a text or a pattern)."""
        expect(self.at(testid)).to_contain_text(words)

    def overflow(self):
        """Give how far the page is wider than the room that it has, in pixels."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth"
            " - Math.round(document.body.getBoundingClientRect().width)"
        )

    def wait_for_image(self, image):
        """Wait until a picture has come; give its own width."""
        expect(image).to_be_visible()
        loaded = "image => image.complete && image.naturalWidth"
        return self.page.wait_for_function(loaded, arg=image.element_handle()).json_value()

    def picture(self, name):
        """Keep a picture of the page, if a folder for them was named; of a dialog, what is seen."""
        folder = os.environ.get("KERNOVA_SCREENSHOTS")
        if folder:
            self.page.wait_for_load_state("networkidle")
            Path(folder).mkdir(parents=True, exist_ok=True)
            is_whole = self.page.locator("dialog").count() == 0
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=is_whole)

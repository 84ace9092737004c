"""A browser for all tests of the page, and workbenches to look at."""

import shutil

import pytest

from tests.web.browser.digits import answer_as_expert
from tests.web.running import workbench

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    # Whatever a page might ask for, no name but this machine's is ever looked up.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--autoplay-policy=no-user-gesture-required",
)
_PATIENCE_MS = 60_000
_WINDOW = {"width": 1280, "height": 900}


def find_browser():
    """Return the path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), None)


# Only while tests of this folder run: Playwright's loop would be in the way of others.
@pytest.fixture(scope="package")
def browser():
    """Start the system's Chromium once."""
    program = find_browser()
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(_PROGRAMS)} is installed")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=_PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_OPTIONS))
        yield browser
        browser.close()


@pytest.fixture
def new_screen(browser):
    """Give windows that share nothing; at the end, nothing unexpected may have happened in any."""
    from tests.web.browser.screens import Screen
    from tests.web.browser.watching import Watch

    opened = []

    def make(**options):
        context = browser.new_context(**{"viewport": _WINDOW, "reduced_motion": "reduce"} | options)
        context.set_default_timeout(_PATIENCE_MS)
        watch = Watch(context)
        opened.append((context, watch))
        return Screen(context.new_page(), watch)

    yield make
    for context, _ in opened:
        context.close()
    assert [event for _, watch in opened for event in watch.unexpected] == []


@pytest.fixture
def screen(new_screen):
    """Give one window."""
    return new_screen()


@pytest.fixture(scope="package")
def digits(tmp_path_factory):
    """Serve the demo, with the first answers given: tests add their own under their own names."""
    with workbench(tmp_path_factory.mktemp("digits"), "--demo") as server:
        answer_as_expert(server, "Seed", 30)
        server.wait_for_the_map()
        yield server

"""Who may see the page, and that whatever a table holds is shown and never run."""

import numpy as np
import pandas as pd
import pytest

from tests.web.browser.nearby import nearby_workbench
from tests.web.browser.screens import PHONE, VIEW_KEYS, expect
from tests.web.running import TOKEN

_SCRIPT = "<script>alert(1)</script>"
_IMAGE = '"><img src=x onerror=alert(2)>'
_LINK = "javascript:alert(3)//</textarea><svg onload=alert(4)>"
_ENTITY = "&lt;b&gt; ${alert(5)} {{7*7}} </title>"
NASTY = (_SCRIPT, _IMAGE, _LINK, _ENTITY)


def test_without_a_login_there_is_the_login_page_only(screen, digits):
    screen.watch.expect("status of 401")
    for path in ("", f"?token={TOKEN}", "?token=wrong", "api/state", "login?code=wrong"):
        reply = screen.page.goto(f"{digits.address}{path}")
        assert reply.status == 401
        expect(screen.page.get_by_role("heading", name="Log in to kernova")).to_be_visible()
        sentence = screen.page.get_by_text("A token in an address is not accepted")
        expect(sentence).to_have_count(1 if "token" in path else 0)
    assert screen.page.context.cookies() == []
    screen.open(digits)
    assert screen.page.url == f"{digits.address}#/question" or screen.page.url == digits.address
    (cookie,) = screen.page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert screen.page.evaluate("document.cookie") == ""


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """Serve a table whose every text is an attempt: ids, columns, values, labels, its own name."""
    folder = tmp_path_factory.mktemp("nasty")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "id": [f"{NASTY[row % 4]}{row}" for row in range(48)],
            "height": (rng.normal(size=48) + 6 * (np.arange(48) % 3)).round(3),
            _IMAGE: rng.normal(size=48).round(3),
            "kind": [NASTY[row % 3] for row in range(48)],
            "known": [_SCRIPT if row < 2 else None for row in range(48)],
        }
    )
    rows.loc[3, "height"] = np.nan
    data = folder / "<img src=x onerror=alert(6)>.csv"
    rows.to_csv(data, index=False)
    words = {"id_column": "id", "label_column": "known", "missing": "fill"}
    with nearby_workbench(data, **words) as server:
        yield server


def test_what_a_table_holds_is_never_markup(nasty, screen):
    screen.open(nasty, _IMAGE)
    expect(screen.at("data-name")).to_have_text("<img src=x onerror=alert(6)>.csv")
    asked = screen.answer(_LINK)
    assert asked.id.startswith(NASTY)
    screen.answer(_ENTITY)
    screen.answer(_SCRIPT)
    nasty.post("api/labels", expert=_SCRIPT, rows=[asked.row], label=_IMAGE)
    screen.catch_up()
    assert set(screen.categories()) >= set(NASTY) - {_LINK}
    for view in VIEW_KEYS:
        screen.go(view)
        _check_is_harmless(screen)
    screen.catch_up("disagreements")
    screen.push(screen.at("disagreements").get_by_role("button", name="View").first)
    expect(screen.at("row-dialog")).to_contain_text(asked.id)
    _check_is_harmless(screen)
    screen.press("Escape")
    screen.go("categories")
    screen.push(screen.at("rename").first)
    expect(screen.at("naming")).to_contain_text("Rename “")
    screen.press("Escape")
    screen.go("history")
    screen.tab_to(screen.at("history-find"))
    screen.type(_SCRIPT)
    expect(screen.at("history-words")).to_contain_text("found")
    _check_is_harmless(screen)


@pytest.mark.parametrize("window", ["light", "dark", "narrow"])
def test_a_plain_row_is_drawn_against_all_rows(window, nasty, new_screen):
    nasty.post("api/labels", expert="Anna", rows=[3], label=_SCRIPT)  # its height is missing
    looks = PHONE if window == "narrow" else {"color_scheme": window}
    screen = new_screen(**looks).open(nasty, "Anna")
    screen.asked()
    features = screen.at("features").first.locator("li")
    expect(features).to_have_count(3)
    expect(features.filter(has_text="height").locator("svg.histogram .needle")).to_have_count(1)
    expect(features.filter(has_text="height")).to_contain_text("typically")
    expect(features.filter(has_text="kind").locator(".fraction")).to_have_count(3)
    expect(features.filter(has_text="kind")).to_contain_text(_SCRIPT)
    _check_is_harmless(screen)
    screen.picture(f"values-{window}")


def _check_is_harmless(screen):
    """Nothing of the table has become an element; dialogs and requests are watched anyway."""
    for made in ("img[src=x]", "svg[onload]", "body script", "b b", "a[href^=javascript]"):
        expect(screen.page.locator(made)).to_have_count(0)
    assert screen.overflow() == 0

"""Who may see the page, and that whatever a table holds is shown and never run."""

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.web.browser.screens import VIEW_KEYS
from tests.web.running import workbench

_SCRIPT = "<script>alert(1)</script>"
_IMAGE = '"><img src=x onerror=alert(2)>'
_LINK = "javascript:alert(3)//</textarea><svg onload=alert(4)>"
_ENTITY = "&lt;b&gt; ${alert(5)} {{7*7}} </title>"
NASTY = (_SCRIPT, _IMAGE, _LINK, _ENTITY)


def test_a_wrong_token_sees_the_notice_only(screen, digits):
    screen.watch.expect("status of 401")
    for address in (digits.address, f"{digits.address}?token=wrong", f"{digits.address}api/state"):
        reply = screen.page.goto(address)
        assert reply.status == 401
        expect(screen.page.get_by_text("needs the token that kernova printed")).to_be_visible()
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
    rows = pd.DataFrame(
        {
            "id": [f"{NASTY[row % 4]}{row}" for row in range(48)],
            "a <b>number</b>": [float(row % 7) for row in range(48)],
            _IMAGE: [float(row * row % 11) for row in range(48)],
            "kind": [NASTY[row % 3] for row in range(48)],
            "known": [_SCRIPT if row < 2 else None for row in range(48)],
        }
    )
    name = "<img src=x onerror=alert(6)>.csv"
    rows.to_csv(folder / name, index=False)
    arguments = (name, "--id-column", "id", "--label-column", "known")
    with workbench(folder, *arguments, "--project", "nasty.kernova-project") as server:
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
    screen.push(screen.at("disagreements").get_by_role("button", name="Look at").first)
    expect(screen.at("row-dialog")).to_contain_text(asked.id)
    _check_is_harmless(screen)
    screen.press("Escape")
    screen.go("categories")
    screen.push(screen.at("rename").first)
    expect(screen.at("naming")).to_contain_text(f"Rename “{_SCRIPT}”")
    screen.press("Escape")
    screen.go("history")
    screen.tab_to(screen.at("history-find"))
    screen.type(_SCRIPT)
    expect(screen.at("history-words")).to_contain_text("found")
    _check_is_harmless(screen)


def _check_is_harmless(screen):
    """Nothing of the table has become an element; dialogs and requests are watched anyway."""
    for made in ("img[src=x]", "svg[onload]", "body script", "b b", "a[href^=javascript]"):
        expect(screen.page.locator(made)).to_have_count(0)
    assert screen.overflow() == 0
